package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/polite"
	"gazehound/index"
	"gazehound/predictor"
)

// A progress tells people on standard error, and scripts on standard output,
// how a crawl goes. Its counts are the frontier's own, so that they cover
// resumed runs too and never disagree with what is stored.
type progress struct {
	a        *app
	f        *frontier.Frontier
	p        project
	gate     *polite.Gate // nil: nobody rests
	region   string
	workers  int
	ceiling  int64
	stats    time.Duration
	emit     map[string]bool
	resumed  bool
	began    time.Time
	redraws  bool // one line on a terminal, redrawn
	strategy string
	// importance is that of a fetched page, by strategy trend; nil by others.
	importance func(*crawler.Visit) float64
	board      *monitor.Board
	index      *index.Index                  // nil: none to ask
	osm        bool                          // the gazetteer knows OpenStreetMap
	admin      atomic.Pointer[monitor.Admin] // nil: nobody watches
	brake      *crawler.Brake
	resting    func() bool                    // the crawl waits until pages are due
	due        func() (frontier.Totals, bool) // the pages that are asked again now
	labels     *labelled                      // nil: nobody can label

	mu       sync.Mutex
	before   frontier.Totals // when the run began
	recent   [1000]bool      // relevance of the last pages
	pages    int             // that went through it
	relevant int             // among recent
	traps    *trap.Detector
	again    map[string]int // pages that were asked again, by what became of them
	left     int            // pages that are due and were not asked again
	drawn    int            // width of the line on the terminal
	end      string         // why the run ended, or ""
	halting  bool           // open pages finish
	samples  []sample       // of the last seconds, the oldest first
}

// A sample is what rates are computed from.
type sample struct {
	at    time.Time
	pages int64
	cpu   time.Duration
}

// rateSpan is how far back rates reach.
const rateSpan = 10 * time.Second

func newProgress(a *app, p project, f *frontier.Frontier, gate *polite.Gate, o crawlOptions, region string, resumed bool) *progress {
	w := &progress{a: a, p: p, f: f, gate: gate, region: region, stats: o.stats, emit: map[string]bool{}, again: map[string]int{}, resumed: resumed, began: time.Now(), board: monitor.NewBoard()}
	for _, kind := range o.emit {
		w.emit[kind] = true
	}
	w.redraws = isTerminal(a.stderr) && a.log == nil
	w.before = f.Totals()
	w.samples = []sample{{w.began, w.before.Pages, processorTime()}}
	return w
}

// takeUp reads back which of the last pages were relevant, so that a run goes on
// with the harvest rate of the one before.
func (w *progress) takeUp(ctx context.Context) error {
	visits := uint64(w.before.Visited)
	return w.f.Walk(ctx, visits-min(visits, uint64(2*len(w.recent))), func(n frontier.Node) error {
		if n.Outcome.Kind == "page" {
			w.judged(n.Outcome.Relevant)
		}
		return nil
	})
}

// judged takes note of a page. The caller holds the lock, or nobody else is there.
func (w *progress) judged(relevant bool) {
	slot := &w.recent[w.pages%len(w.recent)]
	if *slot && w.pages >= len(w.recent) {
		w.relevant--
	}
	if *slot = relevant; *slot {
		w.relevant++
	}
	w.pages++
}

// start prints the head of the run.
func (w *progress) start(cfg *Config) {
	w.strategy, w.workers, w.ceiling = cfg.Crawl.Strategy, cfg.Fetch.Workers, int64(cfg.Storage.Memory)
	monitor.Write(w.p.status(), w.board.Tick(w.snapshot()).Snapshot)
	resume := "no"
	if w.resumed {
		resume = fmt.Sprintf("yes, %s so far", several(w.before.Pages, "page"))
	}
	w.a.say("gazehound %s  region %s  strategy %s (decay %v)  resume: %s", version, oneLine(w.region), w.strategy, cfg.Crawl.Decay, resume)
	if cfg.Fetch.Contact != "" {
		w.a.say("robots token %q  contact %s", cfg.Fetch.UserAgentName, oneLine(cfg.Fetch.Contact))
	}
	w.a.say("Ctrl-C once: finish open pages and save.  Twice: stop now.")
	if w.a.json {
		w.a.printJSON(map[string]any{"type": "start", "region": w.region, "strategy": w.strategy, "resumed": w.resumed, "pages": w.before.Pages, "links": w.before.Queued})
	}
}

// visited is told of every stored visit, one at a time.
func (w *progress) visited(v *crawler.Visit) {
	isPage := v.Outcome.Kind == "page"
	w.board.Visit(v)
	if w.labels != nil {
		if err := w.labels.visited(v); err != nil {
			w.a.warn("%s", oneLine(err.Error())) // a store that fails ends the crawl at the next visit
		}
	}
	w.mu.Lock()
	if v.Before != nil {
		w.again[v.Revisit.String()]++
	} else if isPage {
		w.judged(v.Outcome.Relevant)
	}
	w.mu.Unlock()
	switch {
	case w.a.log != nil:
		w.a.log.Debug("visit", "kind", v.Outcome.Kind, "reason", v.Outcome.Reason, "status", v.Outcome.Status, "relevant", v.Outcome.Relevant,
			"addresses", len(v.Outcome.Addresses), "priority", round(v.Entry.Priority, 3), "distance", v.Entry.Distance, "url", v.Entry.URL.String())
	case w.a.says(slog.LevelDebug):
		w.newLine()
		fmt.Fprintf(w.a.stderr, "%s INFO visit kind=%s reason=%q status=%d relevant=%t addresses=%d priority=%.3f distance=%d url=%s\n",
			v.Outcome.At.UTC().Format(time.RFC3339), v.Outcome.Kind, v.Outcome.Reason, v.Outcome.Status, v.Outcome.Relevant,
			len(v.Outcome.Addresses), v.Entry.Priority, v.Entry.Distance, v.Entry.URL)
	}
	if isPage && w.emit["page"] {
		line := pageLine{"page", v.Entry.URL.String(), v.Outcome.Status, v.Outcome.Relevant,
			len(v.Outcome.Addresses), v.Entry.Priority, v.Entry.Distance, v.Entry.Depth, v.Outcome.SiteWide, nil}
		if w.importance != nil && v.Page != nil {
			i := w.importance(v)
			line.Importance = &i
		}
		w.a.printJSON(line)
	}
	if !w.emit["address"] {
		return
	}
	for i := range v.Verdict.Addresses {
		if ad := &v.Verdict.Addresses[i]; ad.Counts() {
			w.a.printJSON(struct {
				Type string `json:"type"`
				URL  string `json:"url"`
				addressJSON
			}{"address", v.Entry.URL.String(), newAddressJSON(*ad)})
		}
	}
}

// lesson tells the board what the model is about to learn, and what it would
// have said.
func (w *progress) lesson(model *predictor.Model) func(trail []frontier.Node, relevant bool) {
	return func(trail []frontier.Node, relevant bool) { w.board.Lesson(trail, relevant, model.Score) }
}

// run prints the state from time to time until ctx ends.
func (w *progress) run(ctx context.Context) error {
	period := w.stats
	if w.redraws {
		period = min(period, 500*time.Millisecond)
	}
	return every(ctx, period, func() error {
		w.status()
		return nil
	})
}

// snapshot returns the state of the crawl as of now.
func (w *progress) snapshot() monitor.Snapshot {
	t := w.f.Totals()
	s := monitor.Snapshot{
		Region: w.region, Strategy: w.strategy, PID: os.Getpid(), Started: w.began.UTC(), At: time.Now().UTC(),
		Pages: t.Pages, PagesRun: t.Pages - w.before.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Bytes: t.Bytes,
		Seen: t.Links, Queued: t.Queued, Visited: t.Visited, Repeats: t.Repeats, Dropped: t.Dropped,
		Redirects: t.Redirects, Errors: t.Errors, Skipped: t.Skipped, Damaged: t.Damaged, Leased: t.Leased, Workers: w.workers,
		Hosts: monitor.Hosts{Known: t.Hosts, Ready: t.ReadyHosts, Waiting: t.ParkedHosts, Next: t.NextHost}, Selecting: t.Selecting,
		Ceiling: w.ceiling, Cores: runtime.NumCPU(),
	}
	if t, asking := w.due(); asking { // workers and hosts are those of the pages that are due
		s.Due, s.Leased, s.Selecting = t.Queued, t.Leased, t.Selecting
		s.Hosts.Ready, s.Hosts.Waiting, s.Hosts.Next = t.ReadyHosts, t.ParkedHosts, t.NextHost
	}
	if w.gate != nil {
		g := w.gate.Stats()
		s.Hosts.Asked, s.Hosts.Backoff = int64(g.Asked), int64(g.Backoff)
	}
	s.Own, s.Mapped = memoryUse()
	if free, err := diskFree(w.p.dir); err == nil {
		s.DiskFree = int64(free)
	}
	now := sample{s.At, t.Pages, processorTime()}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.again {
		now.pages += int64(n)
	}
	s.End, s.Stopping, s.Paused, s.Resting = w.end, w.halting, w.brake.Held(), w.resting()
	s.HarvestRecent = round(ratio(int64(w.relevant), int64(min(w.pages, len(w.recent)))), 4)
	for len(w.samples) > 1 && now.at.Sub(w.samples[1].at) >= rateSpan {
		w.samples = w.samples[1:]
	}
	since := w.samples[0]
	if span := now.at.Sub(since.at).Seconds(); span > 0 {
		s.Rate, s.CPU = round(float64(now.pages-since.pages)/span, 1), round((now.cpu-since.cpu).Seconds()/span, 2)
	}
	if now.at.Sub(w.samples[len(w.samples)-1].at) >= time.Second/2 {
		w.samples = append(w.samples, now)
	}
	return s
}

// keep writes the status file once a second until ctx ends. That it cannot be
// written does not stop a crawl.
func (w *progress) keep(ctx context.Context) error {
	return every(ctx, time.Second, func() error {
		s := w.board.Tick(w.snapshot())
		monitor.Write(w.p.status(), s.Snapshot)
		if admin := w.admin.Load(); admin != nil {
			admin.Publish(s)
		}
		return nil
	})
}

// status prints one state line.
func (w *progress) status() { w.print(!w.a.says(slog.LevelInfo)) }

func (w *progress) print(quiet bool) {
	s := w.snapshot()
	bound, _ := s.Bottleneck()
	w.mu.Lock()
	defer w.mu.Unlock()
	with := s.Hosts.Ready + s.Hosts.Waiting
	if w.a.json {
		w.a.printJSON(map[string]any{
			"type": "status", "t": s.At.Format(time.RFC3339), "pages": s.Pages, "relevant": s.Relevant, "harvest": round(s.Harvest(), 4),
			"harvest_1000": s.HarvestRecent, "addresses": s.Addresses, "pps": s.Rate, "bound": bound,
			"frontier": map[string]any{"links": s.Queued, "leased": s.Leased,
				"hosts": map[string]any{"ready": s.Hosts.Ready, "waiting": s.Hosts.Waiting, "backoff": s.Hosts.Backoff}},
		})
	}
	switch {
	case quiet:
	case w.a.log != nil:
		line := slog.NewRecord(s.At, slog.LevelInfo, "status", 0)
		line.Add("pages", s.Pages, "relevant", s.Relevant, "harvest", round(s.Harvest(), 4), "harvest_1000", s.HarvestRecent,
			"addresses", s.Addresses, "pps", s.Rate, "links", s.Queued, "hosts", with, "state", boundBy(bound))
		w.a.log.Handler().Handle(context.Background(), line) // whatever the level: somebody asked
	case w.redraws:
		line := fmt.Sprintf(" %s  %.1f %% relevant (last 1,000: %.1f %%)  %s  %.1f p/s  %s on %s (%s ready, %s waiting)  %s  %s",
			several(s.Pages, "page"), 100*s.Harvest(), 100*s.HarvestRecent, several(s.Addresses, "address"), s.Rate, several(s.Queued, "link"), several(with, "host"), count(s.Hosts.Ready), count(s.Hosts.Waiting),
			s.At.Sub(w.began).Round(time.Second), boundBy(bound))
		pad := max(w.drawn-len(line), 0)
		w.drawn = len(line)
		fmt.Fprintf(w.a.stderr, "\r%s%s", line, strings.Repeat(" ", pad))
	default:
		fmt.Fprintf(w.a.stderr, "%s INFO status pages=%d relevant=%d harvest=%.3f harvest_1000=%.3f addresses=%d pps=%.1f links=%d hosts=%d state=%s\n",
			s.At.Format(time.RFC3339), s.Pages, s.Relevant, s.Harvest(), s.HarvestRecent, s.Addresses, s.Rate, s.Queued, with, boundBy(bound))
	}
}

// boundBy says what holds a crawl back, such as "network-bound".
func boundBy(bottleneck string) string {
	switch bottleneck {
	case monitor.Held, monitor.Rests, monitor.Blocked, monitor.Finished:
		return bottleneck
	}
	return bottleneck + "-bound"
}

// stopping tells that the crawl is to end.
func (w *progress) stopping(grace time.Duration) {
	w.mu.Lock()
	w.halting = true
	w.mu.Unlock()
	w.newLine()
	w.a.say("Stopping: %d open pages, up to %v …", w.f.Totals().Leased, grace)
}

// newLine leaves the line that is redrawn.
func (w *progress) newLine() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.redraws && w.drawn > 0 {
		fmt.Fprintln(w.a.stderr)
		w.drawn = 0
	}
}

// finish prints the summary of the crawl and turns the end of the run into
// the program's.
func (w *progress) finish(runErr error) error {
	t := w.f.Totals()
	took := time.Since(w.began)
	reason, text, code := "done", "finished: no link is left", exitOK
	switch {
	case runErr == nil && t.Pages == 0 && t.Queued == 0:
		reason, text, code = "crawl-failed", "failed: no seed could be downloaded", exitCrawlFailed
	case runErr == nil:
	case errors.Is(runErr, crawler.ErrPageLimit):
		reason, text = "page-limit", "reached its page limit"
	case errors.Is(runErr, crawler.ErrFailures):
		reason, text, code = "failures", "gave up after too many failures in a row", exitTooManyFailures
	case errors.Is(runErr, errTimeLimit):
		reason, text, code = "time-limit", "reached its time limit (resume with the same command)", exitTimeLimit
	case errors.Is(runErr, errDiskReserve):
		reason, text, code = "disk-reserve", "stopped because the disk is nearly full (resume with the same command)", exitDiskReserve
	case errors.Is(runErr, errAsked):
		reason, text, code = "request", "stopped on request (resume with the same command)", exitStopped
	case errors.Is(runErr, errSignal), errors.Is(runErr, context.Canceled):
		reason, text, code = "signal", "stopped by signal (resume with the same command)", exitStopped
	default:
		reason, text, code = "error", "ended by an error (resume with the same command)", codeOf(runErr)
	}
	w.newLine()
	w.mu.Lock()
	w.end = reason
	w.mu.Unlock()
	monitor.Write(w.p.status(), w.board.Tick(w.snapshot()).Snapshot) // what it would tell is printed here, too
	patterns, params := w.traps.Counts()
	var wide index.Stats
	if w.index != nil {
		wide, _ = w.index.Stats(context.Background()) // counts only; what cannot be read has been told before
	}
	all := summaryLine{"summary", w.region, w.strategy, t.Pages, t.Relevant, round(ratio(t.Relevant, t.Pages), 4), t.Addresses,
		round(took.Seconds(), 3), reason, code, w.resumed, code != exitOK || reason == "page-limit",
		t.Pages - w.before.Pages, t.Bytes, t.Redirects, t.Errors, t.Skipped, t.Dropped, t.Queued, t.Hosts, t.Links, t.Visited, t.Repeats, w.again, w.left, patterns, params, wide.SiteWide, wide.SiteWidePages}
	if w.a.log != nil {
		w.a.log.Info("summary", "crawl", all)
	} else {
		w.a.say("Crawl of %s %s, after %s\n", oneLine(w.region), text, took.Round(time.Second/10))
		w.table(&all)
	}
	if code == exitCrawlFailed {
		w.a.failed(code, fmt.Sprintf("none of the seeds could be downloaded (%s). Is this machine online?", byReason(merge(t.Errors, t.Skipped))))
	}
	w.next(reason, t)
	if w.a.json {
		w.a.printJSON(all)
	}
	switch {
	case code == exitOK:
		return nil
	case reason == "error":
		w.a.failed(code, runErr.Error())
	}
	return silentExit(code)
}

// table prints the counts of a crawl that has ended.
func (w *progress) table(s *summaryLine) {
	w.a.say("  pages fetched  %9s      relevant    %8s   %.1f %%", count(s.Pages), count(s.Relevant), 100*ratio(s.Relevant, s.Pages))
	w.a.say("  bytes          %9s      addresses   %8s", megabytes(s.Bytes), count(s.Addresses))
	w.a.say("  links waiting  %9s      hosts       %8s", count(s.Links), count(s.Hosts))
	w.a.say("  links seen     %9s      = %s", count(s.Seen), accounts(s.Links, s.Visited, s.Repeats, s.Dropped))
	if n := s.Again["same"] + s.Again["changed"] + s.Again["gone"] + s.Again["unknown"]; n > 0 {
		w.a.say("  asked again    %9s      the same %s · changed %s · gone %s · no answer %s", count(n), count(s.Again["same"]), count(s.Again["changed"]), count(s.Again["gone"]), count(s.Again["unknown"]))
	}
	if s.Due > 0 {
		w.a.say("  still due      %9s      --revisit again goes on with them", count(s.Due))
	}
	if s.Patterns+s.Params > 0 {
		w.a.say("  demoted        %9s      patterns of URLs, %s that %s nothing (explain URL says why)", count(s.Patterns), several(s.Params, "parameter"), map[bool]string{true: "changes", false: "change"}[s.Params == 1])
	}
	if c := w.board.State().Streets; c.All > 0 {
		w.a.say("  streets found  %9s      of %s, %.1f %%; %d of them by the last 1,000 pages", count(c.Found), count(c.All), 100*ratio(int64(c.Found), int64(c.All)), c.Recent)
	}
	if w.index != nil && w.osm {
		no := false
		if r, err := w.index.Search(context.Background(), index.Query{InOSM: &no, Limit: 1}); err == nil && r.Total > 0 {
			w.a.say("  not on the map %9s      the gazetteer has no house there: gazehound export maproulette --only-missing%s", count(r.Total), w.a.dataFlag())
		}
	}
	if s.Wide > 0 {
		w.a.say("  site-wide      %9s      addresses, as of a footer; %s hold no other", count(s.Wide), several(s.WidePages, "relevant page"))
	}
	for _, left := range []struct {
		name    string
		reasons map[string]int64
	}{{"skipped", s.Skipped}, {"errors", s.Errors}} {
		w.a.say("%s", strings.TrimRight(fmt.Sprintf("  %-14s %9s      %s", left.name, count(sum(left.reasons)), byReason(left.reasons)), " "))
	}
}

// next says what may be done after a crawl that has ended as it should.
func (w *progress) next(reason string, t frontier.Totals) {
	flags := w.a.dataFlag()
	if reason == "page-limit" {
		w.a.say("A higher --max-pages goes on.")
	}
	if t.Relevant > 0 && (reason == "page-limit" || reason == "done") {
		w.a.say("Next:  gazehound serve%s   (search page and map)   gazehound report%[1]s   (what it achieved)", flags)
	}
}

// dataFlag returns the flag that leads other commands to the same data
// directory, with a space before it; "" where they find it without.
func (a *app) dataFlag() string {
	if !a.dataGiven {
		return ""
	}
	return " --data " + a.data
}

// The lines of --json that scripts read most.
type (
	pageLine struct {
		Type      string  `json:"type"`
		URL       string  `json:"url"`
		Status    int     `json:"status"`
		Relevant  bool    `json:"relevant"`
		Addresses int     `json:"addresses"` // distinct ones of the region
		Priority  float64 `json:"priority"`
		Distance  int     `json:"distance"`            // links since the last relevant page
		Depth     int     `json:"depth"`               // links from a seed
		SiteWide  bool    `json:"site_wide,omitempty"` // it states what most pages of its host do, and nothing else

		Importance *float64 `json:"importance,omitempty"` // by strategy trend
	}
	summaryLine struct {
		Type      string           `json:"type"`
		Region    string           `json:"region"`
		Strategy  string           `json:"strategy"`
		Pages     int64            `json:"pages"` // of the whole crawl, like all counts but PagesRun
		Relevant  int64            `json:"relevant"`
		Harvest   float64          `json:"harvest"`
		Addresses int64            `json:"addresses"` // distinct
		Duration  float64          `json:"duration_s"`
		Reason    string           `json:"reason"`
		ExitCode  int              `json:"exit_code"`
		Resumed   bool             `json:"resumed"`
		Resumable bool             `json:"resumable"`
		PagesRun  int64            `json:"pages_this_run"`
		Bytes     int64            `json:"bytes"`
		Redirects int64            `json:"redirects"`
		Errors    map[string]int64 `json:"errors"`
		Skipped   map[string]int64 `json:"skipped"` // pages not fetched
		Dropped   map[string]int64 `json:"dropped"` // links not queued
		Links     int64            `json:"links"`
		Hosts     int64            `json:"hosts"`
		Seen      int64            `json:"links_seen"` // links + links_visited + links_repeated + all of dropped
		Visited   int64            `json:"links_visited"`
		Repeats   int64            `json:"links_repeated"`
		Again     map[string]int   `json:"asked_again,omitempty"`       // in this run: same, changed, gone, unknown
		Due       int              `json:"still_due,omitzero"`          // pages that --revisit did not come to
		Patterns  int              `json:"demoted_patterns,omitzero"`   // of URLs that multiply pages
		Params    int              `json:"demoted_parameters,omitzero"` // that never change a page
		Wide      int              `json:"site_wide,omitzero"`          // addresses on most indexed pages of their site
		WidePages int              `json:"site_wide_pages,omitzero"`    // indexed pages that hold no other address
	}
)

// accounts says where all the links went that were seen.
func accounts(queued, visited, repeats int64, dropped map[string]int64) string {
	text := fmt.Sprintf("%s queued + %s visited + %s known before + %s dropped", count(queued), count(visited), count(repeats), count(sum(dropped)))
	if by := byReason(dropped); by != "" {
		text += " (" + by + ")"
	}
	return text
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// megabytes writes a number of bytes for people; from ten gigabytes on in those.
func megabytes(n int64) string {
	if n >= 1e10 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func round(x float64, digits int) float64 {
	p := 1.0
	for range digits {
		p *= 10
	}
	return float64(int64(x*p+0.5)) / p
}

func sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func merge(a, b map[string]int64) map[string]int64 {
	both := map[string]int64{}
	for _, m := range []map[string]int64{a, b} {
		for k, n := range m {
			both[k] += n
		}
	}
	return both
}

// byReason lists counts, the largest first: "timeout 96 · dns 61".
func byReason(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for k, n := range counts {
		if n > 0 {
			names = append(names, k)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		if counts[names[i]] != counts[names[j]] {
			return counts[names[i]] > counts[names[j]]
		}
		return names[i] < names[j]
	})
	for i, k := range names {
		names[i] = fmt.Sprintf("%s %s", strings.ReplaceAll(k, "_", " "), count(counts[k]))
	}
	return strings.Join(names, " · ")
}
