package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor"
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
	ID       string   `json:"-"`
	URL      string   `json:"@source_uri"`
	Pages    []string `json:"@pages"`
	Mentions int      `json:"@mentions"`
	Gone     string   `json:"@gone"`
}

// A service goes through its rounds: it finds a town, exports and serves it; a shop that closes is
// marked in the next round and leaves the file for mappers; a page that a person rejects stays away. SIGHUP
// changes the schedule, SIGTERM ends it, and an upgrade keeps all of it.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("several rounds of a crawl")
	}
	t.Parallel()
	s := startService(t)
	shop := s.findsShop(t)
	s.marksClosed(t, shop)
	soak := os.Getenv("GAZEHOUND_SOAK") != ""
	rejected := ""
	if soak {
		rejected = s.rejectOne(t, shop)
	}
	s.guardsOperator(t)
	s.waitsForRound(t)
	s.corrects(t, shop)
	s.p.Process.Signal(syscall.SIGTERM)
	if code := s.p.end(t); code != exitOK {
		t.Errorf("exit %d after SIGTERM", code)
	}
	if soak {
		s.upgraded(t, shop, rejected)
	}
}

// A runningService is "gazehound run" beside a town in which a page can go.
type runningService struct {
	p               *process
	data            string
	config, exports string
	admin           adminAddress
	site            string   // where it serves, with a slash at its end
	closed          sync.Map // URLs of the pages that are gone
}

// startService runs a service whose rounds follow each other.
func startService(t *testing.T) *runningService {
	t.Helper()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 40, 20
	data, flags, _, ledger := projectOf(t, o)
	s := &runningService{data: data, config: filepath.Join(t.TempDir(), "config.yaml"), exports: filepath.Join(t.TempDir(), "exports")}
	town := ledger.Handler
	ledger.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, closed := s.closed.Load(r.URL.String())
		if closed {
			http.Error(w, "closed", http.StatusGone)
			return
		}
		town.ServeHTTP(w, r)
	})
	s.schedule(t, "continuous")
	s.p = startProgram(t, append([]string{"run", "--config", s.config, "--listen", "127.0.0.1:0"}, flags...)...)
	s.p.says(t, "dashboard")
	var err error
	s.admin, err = readAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	s.site = strings.TrimSuffix(s.admin.URL, "operator/")
	return s
}

// schedule writes the configuration with a schedule.
func (s *runningService) schedule(t *testing.T, schedule string) {
	t.Helper()
	text := fmt.Sprintf("revisit: {first: 1s, min: 1s, max: 1s}\nfetch: {allow_private_addresses: true}\nwarc: {dir: %s}\n"+
		"run: {round: 2s, schedule: \"%s\", exports: %s, formats: [geojson, conflator]}\n",
		filepath.Join(s.data, "archive"), schedule, s.exports)
	if err := os.WriteFile(s.config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// geojson is the export with what is gone.
func (s *runningService) geojson() string { return filepath.Join(s.exports, "addresses.geojson") }

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// findsShop holds that addresses are exported and served. It returns one that a single page states.
func (s *runningService) findsShop(t *testing.T) (shop exportedAddress) {
	t.Helper()
	eventually(t, "an export", func() bool {
		for _, a := range exportedBy(t, s.geojson()) {
			if a.Mentions == 1 && a.URL != "" && a.Gone == "" {
				shop = a
			}
		}
		return shop.ID != ""
	})
	eventually(t, "the address is served, from a snapshot some seconds younger than the export", func() bool {
		status, _ := fetchText(t, s.site+"v1/addresses/"+shop.ID)
		return status == http.StatusOK
	})
	return shop
}

// marksClosed closes the shop: the export marks it, and the file for mappers leaves it out. Where rounds
// are slow, pages that are found later state the address, too; they all close as they come.
func (s *runningService) marksClosed(t *testing.T, shop exportedAddress) {
	t.Helper()
	eventually(t, "the closed shop is marked", func() bool {
		now := exportedBy(t, s.geojson())[shop.ID]
		for _, page := range now.Pages {
			s.closed.Store(page, true)
		}
		return now.Gone != ""
	})
	eventually(t, "it leaves the file for mappers", func() bool {
		text, err := os.ReadFile(filepath.Join(s.exports, "addresses.conflator"))
		return err == nil && len(text) > 0 && !strings.Contains(string(text), shop.ID)
	})
}

// rejectOne rejects a page that alone states an address, not that of the shop. It holds that the
// address leaves the export and stays away in the next round, which retrains, too.
func (s *runningService) rejectOne(t *testing.T, shop exportedAddress) (id string) {
	t.Helper()
	var wrong exportedAddress
	for _, a := range exportedBy(t, s.geojson()) {
		if a.Mentions == 1 && a.Gone == "" && a.ID != shop.ID {
			wrong = a
		}
	}
	if out, err := program("label", wrong.URL, "not", "--data", s.data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	eventually(t, "the rejected page leaves the export", func() bool { return s.lacks(t, wrong.ID) })
	info, err := os.Stat(s.geojson())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "another round", func() bool {
		now, err := os.Stat(s.geojson())
		return err == nil && now.ModTime().After(info.ModTime())
	})
	if !s.lacks(t, wrong.ID) {
		t.Error("the page that was rejected is back")
	}
	return wrong.ID
}

// lacks reports whether there is an export without an address.
func (s *runningService) lacks(t *testing.T, id string) bool {
	t.Helper()
	all := exportedBy(t, s.geojson())
	_, there := all[id]
	return len(all) > 0 && !there
}

// guardsOperator holds that the operator's pages are there while a round runs, and need the token.
func (s *runningService) guardsOperator(t *testing.T) {
	t.Helper()
	eventually(t, "the dashboard", func() bool { status, _ := s.admin.get(t, ""); return status == http.StatusOK })
	eventually(t, "a refusal", func() bool { status, _ := s.admin.get(t, "v1/crawl"); return status == http.StatusUnauthorized })
}

// waitsForRound holds that SIGHUP changes the schedule unless it is wrong, and that the service
// serves while it waits for the next round.
func (s *runningService) waitsForRound(t *testing.T) {
	t.Helper()
	later := time.Now().Add(6 * time.Hour).Format("15:04")
	s.schedule(t, "someday")
	s.p.Process.Signal(syscall.SIGHUP)
	s.p.says(t, "run.schedule")
	s.schedule(t, later)
	s.p.Process.Signal(syscall.SIGHUP)
	s.p.says(t, "The next round begins at")
	if status, body := s.admin.get(t, "v1/crawl"); status != http.StatusServiceUnavailable || !strings.Contains(body, "next round") {
		t.Errorf("between rounds: %d %s", status, body)
	}
	if status, _ := fetchText(t, s.site+"healthz"); status != http.StatusOK {
		t.Errorf("healthz between rounds: %d", status)
	}
}

// corrects holds that the operator corrects on the same port, also between rounds.
func (s *runningService) corrects(t *testing.T, shop exportedAddress) {
	t.Helper()
	status, q := askOperator(s.admin.Token, http.MethodGet, s.site+"v1/doubts", nil)
	if status != http.StatusOK || q["waiting"] == 0. {
		t.Errorf("doubts: %d %v", status, q)
	}
	status, answer := askOperator(s.admin.Token, http.MethodPost, s.site+"v1/corrections",
		map[string]any{"address": shop.ID, "what": "name", "value": "Kontor Quendel"})
	if status != http.StatusCreated {
		t.Errorf("a correction: %d %v", status, answer)
	}
	eventually(t, "the correction is found", func() bool {
		_, body := fetchText(t, s.site+"v1/search?q=quendel")
		return strings.Contains(body, shop.ID)
	})
}

// upgraded holds that after an upgrade from the oldest formats the shop is closed, and the rejected
// page away.
func (s *runningService) upgraded(t *testing.T, shop exportedAddress, rejected string) {
	t.Helper()
	if err := age(project{s.data}, frontier.OldestFormat); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"upgrade"}, {"export", "geojson", "-o", s.geojson()}} {
		if out, err := program(append(args, "--data", s.data)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if exportedBy(t, s.geojson())[shop.ID].Gone == "" || !s.lacks(t, rejected) {
		t.Error("after the upgrade the shop is open, or the rejected page is back")
	}
}

// "ctl stop" ends a service that waits for its first round, and says so. What a killed one left behind
// stops nothing, not even another service of the same operator at the same address.
func TestRunStops(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	later := time.Now().Add(6 * time.Hour).Format("15:04")
	p := startProgram(t, append([]string{"run", "--schedule", later, "--listen", "127.0.0.1:0"}, flags...)...)
	p.says(t, "The next round begins at")
	admin, err := readAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	stop := func(owner string) (code int, said string) {
		left, _ := json.Marshal(monitor.Address{URL: admin.URL, Token: admin.Token, Owner: owner, PID: admin.PID})
		if err := os.WriteFile(project{data}.admin(), left, 0o600); err != nil {
			t.Fatal(err)
		}
		var errs lockedBuffer
		code = run(t.Context(), []string{"ctl", "stop", "--data", data}, strings.NewReader(""), &errs, &errs)
		return code, errs.String()
	}
	for _, owner := range []string{"", "that of a killed process"} {
		if code, said := stop(owner); code != exitNoData || !strings.Contains(said, "no crawl runs") {
			t.Errorf("owner %q: exit %d, %s", owner, code, said)
		}
	}
	status, _ := askOperator("guess", http.MethodPost, admin.URL+monitor.StopPath, nil)
	if status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", status)
	}
	if code, said := stop(admin.Owner); code != exitOK || !strings.Contains(said, "stopped") {
		t.Errorf("between rounds: exit %d, %s", code, said)
	}
	if code := p.end(t); code != exitOK {
		t.Errorf("the service: exit %d", code)
	}
	if code, said := stop(admin.Owner); code != exitNoData {
		t.Errorf("after the end: exit %d, %s", code, said)
	}
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
