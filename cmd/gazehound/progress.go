package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/polite"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/textutil"
	"gazehound/predictor"
)

// A progress prints for people on standard error, and for scripts on standard
// output, what its Recorder knows of a run.
type progress struct {
	*monitor.Recorder
	a       *app
	stats   time.Duration
	emit    map[string]bool
	resumed bool
	redraws bool // one line on a terminal, redrawn
	// importance is that of a fetched page, by strategy trend; nil by others.
	importance func(*crawler.Visit) float64
	index      *index.Index                  // nil: none to ask
	osm        bool                          // the gazetteer knows OpenStreetMap
	admin      atomic.Pointer[monitor.Admin] // nil: there is no listener
	labels     *crawler.Labelled             // nil: nobody can label
	traps      *trap.Detector
	left       int // pages that are due and were not revisited

	mu    sync.Mutex
	drawn int // width of the line on the terminal
}

func newProgress(a *app, p project, cfg *Config, c *crawler.Crawler, f *frontier.Frontier, gate *polite.Gate, o crawlOptions, region string, resumed bool) *progress {
	w := &progress{a: a, stats: o.stats, emit: map[string]bool{}, resumed: resumed, traps: c.Traps}
	w.Recorder = &monitor.Recorder{
		Board: monitor.NewBoard(), Crawler: c, Frontier: f, Gate: gate, Dir: p.dir, File: p.status(),
		Region: region, Strategy: cfg.Crawl.Strategy, Ceiling: int64(cfg.Storage.Memory),
	}
	for _, kind := range o.emit {
		w.emit[kind] = true
	}
	w.redraws = isTerminal(a.stderr) && a.log == nil
	return w
}

// start prints the head of the run.
func (w *progress) start(cfg *Config) {
	w.Tick()
	before, resume := w.Before(), "no"
	if w.resumed {
		resume = fmt.Sprintf("yes, %s so far", several(before.Pages, "page"))
	}
	w.a.say("gazehound %s  region %s  strategy %s (decay %v)  resume: %s", version, oneLine(w.Region), w.Strategy, cfg.Crawl.Decay, resume)
	if cfg.Fetch.Contact != "" {
		w.a.say("robots token %q  contact %s", cfg.Fetch.UserAgentName, oneLine(cfg.Fetch.Contact))
	}
	w.a.say("Ctrl-C once: finish open pages and save.  Twice: stop now.")
	if w.a.json {
		w.a.printJSON(map[string]any{
			"type": "start", "region": w.Region, "strategy": w.Strategy, "resumed": w.resumed,
			"pages": before.Pages, "links": before.Queued,
		})
	}
}

// visited reports every stored visit, one at a time.
func (w *progress) visited(v *crawler.Visit) {
	w.Visit(v)
	w.a.warnOfPanic(v)
	if w.labels != nil {
		if err := w.labels.Visited(v); err != nil {
			w.a.warn("%s", oneLine(err.Error())) // a store that fails ends the crawl at the next visit
		}
	}
	if w.a.says(slog.LevelDebug) {
		w.line(slog.LevelDebug, "visit", v.Outcome.At, []monitor.Value{
			{Key: "kind", Value: v.Outcome.Kind}, {Key: "reason", Value: v.Outcome.Reason}, {Key: "status", Value: v.Outcome.Status},
			{Key: "relevant", Value: v.Outcome.Relevant}, {Key: "addresses", Value: len(v.Outcome.Addresses)},
			{Key: "priority", Value: round(v.Entry.Priority, 3)}, {Key: "distance", Value: v.Entry.Distance}, {Key: "url", Value: v.Entry.URL.String()},
		})
	}
	if v.Outcome.Kind == "page" && w.emit["page"] {
		line := pageLine{
			"page", v.Entry.URL.String(), v.Outcome.Status, v.Outcome.Relevant,
			len(v.Outcome.Addresses), v.Entry.Priority, v.Entry.Distance, v.Entry.Depth, v.Outcome.SiteWide, nil,
		}
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
				geoparse.Record
			}{"address", v.Entry.URL.String(), geoparse.NewRecord(*ad)})
		}
	}
}

// warnOfPanic names the page that hit a defect of the program.
func (a *app) warnOfPanic(v *crawler.Visit) {
	if v.Panic != "" {
		a.warn("%s is left out, for the program panicked over it; please report: %s", oneLine(v.Entry.URL.String()), oneLine(v.Panic))
	}
}

// example gives the board what the model is about to learn, and what it would
// have predicted.
func (w *progress) example(model *predictor.Model) func(trail []frontier.Node, relevant bool) {
	return func(trail []frontier.Node, relevant bool) { w.Board.Lesson(trail, relevant, model.Score) }
}

// run prints the state from time to time until ctx ends.
func (w *progress) run(ctx context.Context) error {
	period := w.stats
	if w.redraws {
		period = min(period, 500*time.Millisecond)
	}
	return every(ctx, period, func() error {
		w.print(!w.a.says(slog.LevelInfo))
		return nil
	})
}

// keep writes the status file and updates the dashboard once a second until ctx
// ends.
func (w *progress) keep(ctx context.Context) error {
	return every(ctx, time.Second, func() error {
		s := w.Tick()
		if admin := w.admin.Load(); admin != nil {
			admin.Publish(s)
		}
		return nil
	})
}

// print prints the state: for scripts, and for people unless it is quiet.
func (w *progress) print(quiet bool) {
	s := w.Snapshot()
	bottleneck, _ := s.Bottleneck()
	values := monitor.Values(&s)
	if w.a.json {
		line := map[string]any{"type": "status", "t": s.At.Format(time.RFC3339), "bound": bottleneck}
		for _, v := range values {
			line[v.Key] = v.Value
		}
		delete(line, "links")
		delete(line, "hosts")
		line["frontier"] = map[string]any{"links": s.Queued, "leased": s.Leased,
			"hosts": map[string]any{"ready": s.Hosts.Ready, "waiting": s.Hosts.Waiting, "backoff": s.Hosts.Backoff}}
		w.a.printJSON(line)
	}
	switch {
	case quiet:
	case w.redraws:
		line := " " + monitor.Brief(&s)
		w.mu.Lock()
		pad := max(w.drawn-len(line), 0)
		w.drawn = len(line)
		fmt.Fprintf(w.a.stderr, "\r%s%s", line, strings.Repeat(" ", pad))
		w.mu.Unlock()
	default:
		w.line(slog.LevelInfo, "status", s.At, append(values, monitor.Value{Key: "state", Value: monitor.BoundBy(bottleneck)}))
	}
}

// line writes a line of values, whatever the level of the log.
func (w *progress) line(level slog.Level, what string, at time.Time, values []monitor.Value) {
	if w.a.log != nil {
		line := slog.NewRecord(at, level, what, 0)
		for _, v := range values {
			line.Add(v.Key, v.Value)
		}
		w.a.log.Handler().Handle(context.Background(), line)
		return
	}
	w.newLine()
	text := at.UTC().Format(time.RFC3339) + " INFO " + what
	for _, v := range values {
		value := fmt.Sprint(v.Value)
		if value == "" || strings.ContainsAny(value, " \"") {
			value = fmt.Sprintf("%q", value)
		}
		text += " " + v.Key + "=" + value
	}
	fmt.Fprintln(w.a.stderr, text)
}

// stopping reports that the crawl is about to end.
func (w *progress) stopping(grace time.Duration) {
	w.Stop()
	w.newLine()
	w.a.say("Stopping: %s, up to %v …", several(w.Frontier.Totals().Leased, "open page"), grace)
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

// An ending is a way in which a run ends.
type ending struct {
	err    error  // that the run returned; nil: none or any
	reason string // for scripts
	text   string // of the summary
	status string // of "gazehound status"
	code   int
}

// endings are all of them; the last one is for every other error.
var endings = []ending{
	{nil, "done", "finished: no link is left", "no link is left.", exitOK},
	{nil, "crawl-failed", "failed: no seed could be downloaded", "no seed could be downloaded.", exitCrawlFailed},
	{crawler.ErrPageLimit, "page-limit", "reached its page limit", "it reached its page limit; a higher --max-pages goes on.", exitOK},
	{crawler.ErrFailures, "failures", "gave up after too many failures in a row", "too many failures in a row; " + sameCommand, exitTooManyFailures},
	{errTimeLimit, "time-limit", "reached its time limit" + resumable, "it reached its time limit; " + sameCommand, exitTimeLimit},
	{errDiskReserve, "disk-reserve", "stopped because the disk is nearly full" + resumable,
		"the disk is nearly full; make room, and " + sameCommand, exitDiskReserve},
	{errAsked, "request", "stopped on request" + resumable, "it was stopped on request; " + sameCommand, exitStopped},
	{errSignal, "signal", "stopped by signal" + resumable, "it was stopped by a signal; " + sameCommand, exitStopped},
	{context.Canceled, "signal", "stopped by signal" + resumable, "it was stopped by a signal; " + sameCommand, exitStopped},
	{nil, "error", "ended by an error" + resumable, "it ended by an error; " + sameCommand, exitError},
}

const (
	resumable   = " (resume with the same command)"
	sameCommand = "the same command resumes it."
)

// endingOf returns the ending of a run that returned err.
func endingOf(err error, t frontier.Totals) ending {
	switch {
	case err == nil && t.Pages == 0 && t.Queued == 0:
		return endings[1]
	case err == nil:
		return endings[0]
	}
	for _, e := range endings {
		if e.err != nil && errors.Is(err, e.err) {
			return e
		}
	}
	e := endings[len(endings)-1]
	e.code = codeOf(err)
	return e
}

// finish prints the summary of the crawl and turns the end of the run into
// the program's.
func (w *progress) finish(runErr error) error {
	t := w.Frontier.Totals()
	took := w.Took()
	end := endingOf(runErr, t)
	w.newLine()
	w.End(end.reason)
	patterns, params := w.traps.Counts()
	wide, widePages := 0, 0
	if w.index != nil {
		wide, widePages, _ = w.index.SiteWide(context.Background()) // what cannot be read was reported before
	}
	all := summaryLine{
		"summary", w.Region, w.Strategy, t.Pages, t.Relevant, round(ratio(t.Relevant, t.Pages), 4), t.Addresses,
		round(took.Seconds(), 3), end.reason, end.code, w.resumed, end.code != exitOK || end.reason == "page-limit",
		t.Pages - w.Before().Pages, t.Bytes, t.Redirects, t.Errors, t.Skipped, t.Dropped, t.Queued, t.Hosts, t.Links, t.Visited,
		t.Repeats, w.Revisited(), w.left, patterns, params, wide, widePages,
	}
	if w.a.log != nil {
		w.a.log.Info("summary", "crawl", all)
	} else {
		w.a.say("Crawl of %s %s, after %s\n", oneLine(w.Region), end.text, took.Round(time.Second/10))
		w.table(&all)
	}
	if end.code == exitCrawlFailed {
		both := maps.Clone(t.Errors)
		for reason, n := range t.Skipped {
			both[reason] += n
		}
		w.a.failed(end.code, fmt.Sprintf("none of the seeds could be downloaded (%s). Is this machine online?", textutil.Reasons(both)))
	}
	w.next(end.reason, t)
	if w.a.json {
		w.a.printJSON(all)
	}
	switch {
	case end.code == exitOK:
		return nil
	case end.reason == "error":
		w.a.failed(end.code, runErr.Error())
	}
	return silentExit(end.code)
}

// table prints the counts of a crawl that has ended.
func (w *progress) table(s *summaryLine) {
	w.a.say("  pages fetched  %9s      relevant    %8s   %.1f %%", count(s.Pages), count(s.Relevant), 100*ratio(s.Relevant, s.Pages))
	w.a.say("  bytes          %9s      addresses   %8s", megabytes(s.Bytes), count(s.Addresses))
	w.a.say("  links waiting  %9s      hosts       %8s", count(s.Links), count(s.Hosts))
	w.a.say("  links seen     %9s      = %s", count(s.Seen), monitor.Accounts(s.Links, s.Visited, s.Repeats, s.Dropped))
	if n := s.Again["same"] + s.Again["changed"] + s.Again["gone"] + s.Again["unknown"]; n > 0 {
		w.a.say("  revisited      %9s      the same %s · changed %s · gone %s · no answer %s", count(n), count(s.Again["same"]), count(s.Again["changed"]), count(s.Again["gone"]), count(s.Again["unknown"]))
	}
	if s.Due > 0 {
		w.a.say("  still due      %9s      --revisit again goes on with them", count(s.Due))
	}
	if s.Patterns+s.Params > 0 {
		w.a.say("  demoted        %9s      patterns of URLs, %s that %s nothing (explain URL says why)", count(s.Patterns), several(s.Params, "parameter"), map[bool]string{true: "changes", false: "change"}[s.Params == 1])
	}
	if c := w.Board.State().Streets; c.All > 0 {
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
		w.a.say("%s", strings.TrimRight(fmt.Sprintf("  %-14s %9s      %s", left.name, count(textutil.Sum(left.reasons)), textutil.Reasons(left.reasons)), " "))
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
