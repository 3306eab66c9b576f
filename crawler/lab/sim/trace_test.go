package sim_test

import (
	"bytes"
	"strings"
	"testing"

	"gazehound/crawler/lab/demo"
	"gazehound/crawler/lab/sim"
)

// The trace of a made-up town has no page where a host answers 500 or closes the connection.
func TestTraceOfBrokenHosts(t *testing.T) {
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Finite = 120, 20, true
	town, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.FromTown(town, "")
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	if err := w.WriteTrace(t.Context(), &trace, nil); err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	town.Pages(func(p demo.Page) {
		if !p.Answers {
			broken[p.URL.String()] = true
		}
	})
	if len(broken) == 0 {
		t.Fatal("no host is broken")
	}
	for line := range strings.Lines(trace.String()) {
		url, _, _ := strings.Cut(strings.TrimPrefix(line, `{"url":"`), `"`)
		if broken[url] && strings.Contains(line, `"page":true`) {
			t.Errorf("a page: %s", line)
		}
	}
}
