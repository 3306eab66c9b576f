package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
)

// exportedBy reads an export of a service: the addresses by their IDs, with their pages and whether they
// are gone.
func exportedBy(t *testing.T, file string) map[string]exportedAddress {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil // not yet
	}
	var v struct {
		Features []struct {
			ID         string
			Properties exportedAddress
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", file, err) // it is replaced at once
	}
	all := map[string]exportedAddress{}
	for _, f := range v.Features {
		f.Properties.ID = f.ID
		all[f.ID] = f.Properties
	}
	return all
}

type exportedAddress struct {
	ID       string `json:"-"`
	URL      string `json:"@source_uri"`
	Mentions int    `json:"@mentions"`
	Gone     string `json:"@gone"`
}

// A service goes through its rounds: it finds a town, exports and serves it; a shop that closes is
// marked in the next round and leaves the file for mappers; a page that a person rejects stays away. SIGHUP
// changes the schedule, SIGTERM ends it, and an upgrade keeps all of it.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("several rounds of a crawl")
	}
	t.Parallel()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 40, 20
	data, flags, _, ledger := projectOf(t, o)
	var closed atomic.Pointer[string]
	town := ledger.Handler
	ledger.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if url := closed.Load(); url != nil && r.URL.String() == *url {
			http.Error(w, "closed", http.StatusGone)
			return
		}
		town.ServeHTTP(w, r)
	})
	exports := filepath.Join(t.TempDir(), "exports")
	config := filepath.Join(t.TempDir(), "config.yaml")
	write := func(schedule string) {
		t.Helper()
		text := "revisit: {first: 1s, min: 1s, max: 1s}\nfetch: {allow_private_addresses: true}\nwarc: {dir: " + filepath.Join(data, "archive") +
			"}\nrun: {round: 4s, schedule: \"" +
			schedule + "\", exports: " + exports + ", formats: [geojson, conflator]}\n"
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("continuous")
	p := startProgram(t, append([]string{"run", "--config", config, "--listen", "127.0.0.1:0"}, flags...)...)
	p.says(t, "dashboard")
	d, err := readAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	site := strings.TrimSuffix(d.URL, "operator/")

	var shop exportedAddress
	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("never: %s", what)
			}
		}
	}
	until("an export", func() bool {
		for _, a := range exportedBy(t, filepath.Join(exports, "addresses.geojson")) {
			if a.Mentions == 1 && a.URL != "" && a.Gone == "" {
				shop = a
			}
		}
		return shop.ID != ""
	})
	until("the address is served, from a snapshot some seconds younger than the export", func() bool {
		status, _ := fetchText(t, site+"v1/addresses/"+shop.ID)
		return status == http.StatusOK
	})
	closed.Store(&shop.URL)
	until("the closed shop is marked", func() bool {
		return exportedBy(t, filepath.Join(exports, "addresses.geojson"))[shop.ID].Gone != ""
	})
	until("it leaves the file for mappers", func() bool {
		text, err := os.ReadFile(filepath.Join(exports, "addresses.conflator"))
		return err == nil && len(text) > 0 && !strings.Contains(string(text), shop.ID)
	})

	// What a person says stays in the next round, which retrains, too.
	soak := os.Getenv("GAZEHOUND_SOAK") != ""
	rejected := func() bool { return true }
	if soak {
		rejected = rejectOne(t, data, filepath.Join(exports, "addresses.geojson"), shop.ID, until)
	}

	// The operator's pages need the token; they are there while a round runs.
	until("the dashboard", func() bool { status, _ := d.get(t, ""); return status == http.StatusOK })
	until("a refusal", func() bool { status, _ := d.get(t, "v1/crawl"); return status == http.StatusUnauthorized })

	// Another schedule: the service waits, serves, and leaves the data to other commands.
	later := time.Now().Add(6 * time.Hour).Format("15:04")
	write("someday")
	p.Process.Signal(syscall.SIGHUP)
	p.says(t, "run.schedule")
	write(later)
	p.Process.Signal(syscall.SIGHUP)
	p.says(t, "The next round begins at")
	if status, body := d.get(t, "v1/crawl"); status != http.StatusServiceUnavailable || !strings.Contains(body, "next round") {
		t.Errorf("between rounds: %d %s", status, body)
	}
	if status, _ := fetchText(t, site+"healthz"); status != http.StatusOK {
		t.Errorf("healthz between rounds: %d", status)
	}
	// The operator corrects on the same port, also between rounds.
	if status, q := askOperator(d.Token, http.MethodGet, site+"v1/doubts", nil); status != http.StatusOK || q["waiting"] == 0. {
		t.Errorf("doubts: %d %v", status, q)
	}
	const name = "Kontor Quendel"
	if status, answer := askOperator(d.Token, http.MethodPost, site+"v1/corrections",
		map[string]any{"address": shop.ID, "what": "name", "value": name}); status != http.StatusCreated {
		t.Errorf("a correction: %d %v", status, answer)
	}
	until("the correction is found", func() bool {
		_, body := fetchText(t, site+"v1/search?q=quendel")
		return strings.Contains(body, shop.ID)
	})
	p.Process.Signal(syscall.SIGTERM)
	if code := p.end(t); code != exitOK {
		t.Errorf("exit %d after SIGTERM", code)
	}

	// A new version with other formats: after the upgrade the shop is closed, and the page rejected.
	if !soak {
		return
	}
	if err := age(project{data}, frontier.OldestFormat); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"upgrade"}, {"export", "geojson", "-o", filepath.Join(exports, "addresses.geojson")}} {
		if out, err := program(append(args, "--data", data)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if exportedBy(t, filepath.Join(exports, "addresses.geojson"))[shop.ID].Gone == "" || !rejected() {
		t.Error("after the upgrade the shop is open, or the rejected page is back")
	}
}

// rejectOne labels a page that alone states an address, waits until the address has left the export and
// a further round is over, and returns a function that reports whether it is still away.
func rejectOne(t *testing.T, data, export, not string, until func(what string, ok func() bool)) (rejected func() bool) {
	t.Helper()
	var wrong exportedAddress
	for _, a := range exportedBy(t, export) {
		if a.Mentions == 1 && a.Gone == "" && a.ID != not {
			wrong = a
		}
	}
	if out, err := program("label", wrong.URL, "not", "--data", data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rejected = func() bool {
		all := exportedBy(t, export)
		_, there := all[wrong.ID]
		return len(all) > 0 && !there
	}
	until("the rejected page leaves the export", rejected)
	info, err := os.Stat(export)
	if err != nil {
		t.Fatal(err)
	}
	until("another round", func() bool {
		now, err := os.Stat(export)
		return err == nil && now.ModTime().After(info.ModTime())
	})
	if !rejected() {
		t.Error("the page that was rejected is back")
	}
	return rejected
}

// Rounds follow the schedule in virtual time: one a night, none twice, and none after the end.
func TestServiceNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is midnight UTC, 2000-01-01
		cfg := DefaultConfig()
		s := &service{cfg: &cfg}
		cfg.Run.Schedule = "22:00-06:00"
		day := time.Date(2000, 1, 1, 12, 0, 0, 0, time.Local)
		time.Sleep(time.Until(day))
		w := s.next()
		if w.Start.Sub(day) != 10*time.Hour || w.End.Sub(w.Start) != 8*time.Hour {
			t.Errorf("at noon: %v", w)
		}
		time.Sleep(11 * time.Hour)
		if w := s.next(); !w.Start.Equal(time.Now()) {
			t.Errorf("within the window: %v", w)
		}
		s.done = w.End // this night's round has ended early
		if next := s.next(); next.Start.Sub(w.Start) != 24*time.Hour {
			t.Errorf("after this night's round: %v", next)
		}
		cfg.Run.Schedule = "continuous"
		if w := s.next(); !w.Start.Equal(time.Now()) || w.End.Sub(w.Start) != cfg.Run.Round {
			t.Errorf("continuous: %v", w)
		}
	})
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--schedule", "25:00"}, exitInvalidInput, "run.schedule (--schedule) must be continuous"},
		{[]string{"--schedule", "Someday 02:00"}, exitInvalidInput, `"someday" is no day of the week`},
		{[]string{"--round", "10ms"}, exitInvalidInput, "run.round"},
		{[]string{"--export-format", "geojsn"}, exitInvalidInput, "Did you mean geojson?"},
		{[]string{"--check", "--listen", "127.0.0.1:1"}, exitError, "the service does not answer"},
		{[]string{"extra"}, exitUsage, "run takes no arguments"},
	} {
		var errs lockedBuffer
		code := run(t.Context(), append([]string{"run", "--data", t.TempDir()}, c.args...), strings.NewReader(""), &errs, &errs)
		if code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: exit %d, %s", c.args, code, errs.String())
		}
	}
}
