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
	"unicode/utf8"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/render"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/internal/console"
	"gazehound/internal/textutil"
)

// A progress prints the state of a run: for people on standard error, for scripts on standard
// output.
type progress struct {
	*monitor.Recorder
	a       *app
	stats   time.Duration
	emit    map[string]bool
	resumed bool
	redraws bool                          // one line on a terminal, redrawn
	rater   order.PageRater               // strategy trend; nil with others
	index   *index.Index                  // nil: there is none
	osm     bool                          // the gazetteer has data from OpenStreetMap
	admin   atomic.Pointer[monitor.Admin] // nil: there is no listener
	labels  *crawler.Labelled             // nil: pages cannot be labelled
	traps   *trap.Detector
	left    int // pages that are due and were not revisited

	browserFailed bool // a warning told so; of visited alone

	mu    sync.Mutex
	drawn int // width of the line on the terminal
}

func newProgress(s *session) *progress {
	w := &progress{a: s.a, stats: s.o.stats, emit: map[string]bool{}, resumed: s.resumed, traps: s.c.Traps,
		index: s.x, osm: s.places != nil && s.places.KnowsOSM(), labels: s.labels}
	w.Recorder = &monitor.Recorder{
		Board: monitor.NewBoard(), Crawler: s.c, Frontier: s.f, Gate: s.web.polite, Dir: s.p.dir, File: s.p.status(),
		Region: s.region.Name, Strategy: s.cfg.Crawl.Strategy, Ceiling: int64(s.cfg.Storage.Memory),
	}
	w.rater, _ = s.strategy.(order.PageRater)
	for _, kind := range s.o.emit {
		w.emit[kind] = true
	}
	w.redraws = s.a.Columns > 0 && s.a.Log() == nil
	return w
}

// start prints the head of the run.
func (w *progress) start(cfg *Config) {
	w.Tick()
	before, resume := w.Before(), "no"
	if w.resumed {
		resume = fmt.Sprintf("yes, %s so far", several(before.Pages, "page"))
	}
	w.a.say("gazehound %s  region %s  strategy %s (decay %v)  resume: %s", version, oneLine(w.Region), w.Strategy,
		cfg.Crawl.Decay, resume)
	if cfg.Fetch.Contact != "" {
		w.a.say("robots token %q  contact %s", cfg.Fetch.UserAgentName, oneLine(cfg.Fetch.Contact))
	}
	w.a.say("Ctrl-C once: finish the pages being fetched and save.  Twice: stop now.")
	if w.a.json {
		w.a.printJSON(fields{
			"type": "start", "region": w.Region, "strategy": w.Strategy, "resumed": w.resumed,
			"pages": before.Pages, "links": before.Queued,
		})
	}
}

// visited reports every committed visit, one at a time.
func (w *progress) visited(v *crawler.Visit) {
	w.Visit(v)
	w.a.warnOfPanic(v)
	if errors.Is(v.RenderErr, render.ErrBrowser) && !w.browserFailed {
		w.browserFailed = true
		w.a.warn("%s is not rendered, and others may not be either: %s", oneLine(v.Entry.URL.String()),
			oneLine(v.RenderErr.Error()))
	}
	if w.labels != nil {
		err := w.labels.Visited(v)
		if err != nil {
			w.a.warn("%s", oneLine(err.Error())) // a store that fails ends the crawl at the next visit
		}
	}
	if w.a.Says(slog.LevelDebug) {
		w.line(slog.LevelDebug, "visit", v.Outcome.At, monitor.VisitValues(v))
	}
	if v.Outcome.Kind == frontier.KindPage && w.emit["page"] {
		line := monitor.NewPageLine(v)
		if w.rater != nil {
			i := w.rater.Importance(v.Entry.URL, &v.Outcome)
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

// warnOfPanic warns of a page that made the program panic.
func (a *app) warnOfPanic(v *crawler.Visit) {
	if v.Panic != "" {
		a.warn("%s is left out: the program panicked on it; please report: %s", oneLine(v.Entry.URL.String()),
			oneLine(v.Panic))
	}
}

// run prints the state at regular intervals until ctx ends.
func (w *progress) run(ctx context.Context) error {
	period := w.stats
	if w.redraws {
		period = min(period, 500*time.Millisecond)
	}
	return every(ctx, period, func() error {
		w.print(!w.a.Says(slog.LevelInfo))
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
		line := monitor.StatusLine(&s)
		w.a.printJSON(line)
	}
	switch {
	case quiet:
	case w.redraws:
		line := " " + monitor.Brief(&s, console.Columns(w.a.Err)-2) // the last column would wrap
		w.mu.Lock()
		length := utf8.RuneCountInString(line)
		pad := max(w.drawn-length, 0)
		w.drawn = length
		fmt.Fprintf(w.a.Err, "\r%s%s", line, strings.Repeat(" ", pad))
		w.mu.Unlock()
	default:
		w.line(slog.LevelInfo, "status", s.At, append(values,
			monitor.Value{Key: "state", Value: bottleneck}))
	}
}

// line writes a line of values, whatever the level of the log.
func (w *progress) line(level slog.Level, what string, at time.Time, values []monitor.Value) {
	w.newLine()
	w.a.Line(level, what, at, func(yield func(string, any) bool) {
		for _, v := range values {
			if !yield(v.Key, v.Value) {
				return
			}
		}
	})
}

// stopping reports that the crawl is about to end.
func (w *progress) stopping(grace time.Duration) {
	w.Stop()
	w.newLine()
	w.a.say("Stopping: %s, up to %v …", several(w.Frontier.Totals().Leased, "open page"), grace)
}

// newLine ends the line that is redrawn.
func (w *progress) newLine() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.redraws && w.drawn > 0 {
		fmt.Fprintln(w.a.Err)
		w.drawn = 0
	}
}

// An ending is a way in which a run ends.
type ending struct {
	err    error  // error of the run; nil: none or any
	reason string // for scripts
	text   string // of the summary and of "gazehound status"
	kind   errorKind
}

// endings are all of them; the last one is for every other error.
var endings = []ending{
	{nil, "done", "no link is left.", success},
	{nil, "crawl-failed", "no seed could be downloaded.", crawlFailed},
	{crawler.ErrPageLimit, "page-limit", "it reached its page limit; a higher --max-pages goes on.", success},
	{crawler.ErrFailures, "failures", "too many failures in a row; " + sameCommand, tooManyFailures},
	{errTimeLimit, "time-limit", "it reached its time limit; " + sameCommand, timeLimit},
	{errDiskReserve, "disk-reserve", "the disk is nearly full; make room, and " + sameCommand, diskReserve},
	{errRound, "round", "the time of this round is over; the next one goes on.", success},
	{errAsked, "request", "it was stopped on request; " + sameCommand, interrupted},
	{errSignal, "signal", "it was stopped by a signal; " + sameCommand, interrupted},
	{context.Canceled, "signal", "it was stopped by a signal; " + sameCommand, interrupted},
	{nil, "error", "it ended by an error; " + sameCommand, unexpected},
}

const sameCommand = "the same command resumes it."

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
	e.kind = kindOf(err)
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
	all := w.Summary()
	all.Reason, all.ExitCode, all.Resumed = end.reason, end.kind.code(), w.resumed
	all.Resumable = end.kind != success || end.reason == "page-limit"
	all.Due = w.left
	all.Patterns, all.Params = w.traps.Counts()
	missing := 0
	if w.index != nil && end.reason != "error" { // which may be the index's; counts only
		all.Wide, all.WidePages, _ = w.index.SiteWide(context.Background())
		missing = w.missing()
	}
	if w.a.Log() != nil {
		w.a.Log().Info("summary", "crawl", all)
	} else {
		w.a.say("Crawl of %s ended after %s: %s", oneLine(w.Region), took.Round(time.Second/10), end.text)
	}
	last := w.Board.State().Snapshot
	for _, line := range all.Lines(&last, missing, w.a.dataFlag()) {
		w.a.say("%s", line)
	}
	if end.kind == crawlFailed {
		both := maps.Clone(t.Errors)
		for reason, n := range t.Skipped {
			both[reason] += n
		}
		w.a.Failed(end.kind.code(), fmt.Sprintf("none of the seeds could be downloaded (%s). Is this machine online?",
			textutil.Reasons(both)))
	}
	if w.a.json {
		w.a.printJSON(all)
	}
	switch {
	case end.kind == success:
		return nil
	case end.reason == "error":
		w.a.Failed(end.kind.code(), advised(runErr))
	}
	return silentExit(end.kind)
}

// missing counts the addresses of the index that are not on the map, as far as that is known.
func (w *progress) missing() int {
	if !w.osm {
		return 0
	}
	no := false
	r, err := w.index.Search(context.Background(), index.Query{Filters: index.Filters{InOSM: &no}, Limit: 1})
	if err != nil {
		return 0
	}
	return r.Total
}

// dataFlag returns the --data flag that other commands need to find the same data directory, with a
// space before it; "" if they need none.
func (a *app) dataFlag() string {
	if !a.dataGiven {
		return ""
	}
	return " --data " + textutil.ShellQuote(a.data)
}
