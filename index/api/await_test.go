package api

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/index"
)

// A server without an index says why, and takes it up when it is there.
func TestAwait(t *testing.T) {
	full := town(t, 3)
	empty, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	synctest.Test(t, func(t *testing.T) {
		var reports []string
		var next error = errors.New("locked by a crawl")
		h, end := Await(empty, func() (*index.Index, error) { return full, next }, func(err error) {
			reports = append(reports, strings.TrimSpace("report "+errorText(err)))
		}, options())
		for range 3 {
			if r, body := get(h, "/readyz"); r.StatusCode != 503 || !strings.Contains(body, "locked by a crawl") {
				t.Errorf("locked: %d %s", r.StatusCode, body)
			}
			time.Sleep(retryOpen)
		}
		next = nil
		if r, body := get(h, "/readyz"); r.StatusCode != 200 {
			t.Errorf("opened: %d %s", r.StatusCode, body)
		}
		if v := ask(t, h, "/status"); v["addresses"] == 0.0 {
			t.Errorf("status %v", v)
		}
		if got := strings.Join(reports, "|"); got != "report locked by a crawl|report" {
			t.Errorf("reports %q", got)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
