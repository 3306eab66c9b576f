package monitor

import (
	"context"
	"maps"
	"os"
	"runtime"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/polite"
	"gazehound/internal/disk"
)

// A Recorder follows one run of a crawl and takes Snapshots of it. Counts are
// the frontier's own, so that they cover resumed runs and never disagree with
// what is stored. Its exported fields are set before Start; it is safe for
// concurrent use.
type Recorder struct {
	Board    *Board
	Crawler  *crawler.Crawler
	Frontier *frontier.Frontier
	Gate     *polite.Gate // nil: recorded pages are read
	Dir      string       // of the crawl's data, for the space that is left
	File     string       // for the Snapshot of every second
	Region   string
	Strategy string
	Ceiling  int64 // bytes of memory that the process may take

	began  time.Time
	before frontier.Totals // when the run began

	mu       sync.Mutex
	recent   [recent]bool // relevance of the last pages
	pages    int          // that went through recent
	relevant int          // among recent
	again    map[string]int
	private  int64 // mentions of private persons' addresses
	links    int64 // parked, when patterns were read
	patterns []frontier.ParkedPattern
	silence  report.Silence      // of this run and the visits before it that Start reads
	silent   []report.SilentHost // at silentAt
	silentAt time.Time
	end      string
	stopping bool
	samples  []sample // of the last seconds, the oldest first
}

// A sample is what rates are computed from.
type sample struct {
	at    time.Time
	pages int64
	cpu   time.Duration
}

// rateSpan is how far back rates reach.
const rateSpan = 10 * time.Second

// Start begins the run. It loads the curves and which of the last pages were relevant, so that the
// run continues the figures of the previous one.
func (r *Recorder) Start(ctx context.Context) error {
	r.began, r.before, r.again = time.Now(), r.Frontier.Totals(), map[string]int{}
	r.samples = []sample{{r.began, r.before.Pages, processorTime()}}
	visits := uint64(r.before.Visited)
	err := r.Frontier.Walk(ctx, visits-min(visits, 2*recent), func(n frontier.Node) error {
		r.silence.Visit(&n.Entry, &n.Outcome)
		if n.Outcome.Kind == frontier.KindPage {
			r.count(n.Outcome.Relevant)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.Board.Load(r.Frontier)
}

// Before returns the totals of the crawl when the run began.
func (r *Recorder) Before() frontier.Totals { return r.before }

// Took returns how long the run has taken so far.
func (r *Recorder) Took() time.Duration { return time.Since(r.began) }

// count adds a page to the last ones. The caller holds r.mu, or is Start.
func (r *Recorder) count(relevant bool) {
	slot := &r.recent[r.pages%recent]
	if *slot && r.pages >= recent {
		r.relevant--
	}
	*slot = relevant
	if relevant {
		r.relevant++
	}
	r.pages++
}

// Visit counts a stored visit.
func (r *Recorder) Visit(v *crawler.Visit) {
	r.Board.Visit(v)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range v.Verdict.Addresses {
		if v.Verdict.Addresses[i].Private {
			r.private++
		}
	}
	r.silence.Visit(&v.Entry, &v.Outcome)
	if v.Before != nil {
		r.again[v.Revisit.String()]++
	} else if v.Outcome.Kind == frontier.KindPage {
		r.count(v.Outcome.Relevant)
	}
}

// Revisited counts the revisits of this run by what became of the pages.
func (r *Recorder) Revisited() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.again)
}

// Stop notes that the crawl is about to end.
func (r *Recorder) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
}

// End notes why the run has ended, and writes the last status file.
func (r *Recorder) End(reason string) {
	r.mu.Lock()
	r.end = reason
	r.mu.Unlock()
	r.Tick()
}

// Tick takes the Snapshot of a second, gives it to the Board and writes it to
// the status file. That the file cannot be written does not stop a crawl.
func (r *Recorder) Tick() State {
	s := r.Board.Tick(r.Snapshot())
	Write(r.File, s.Snapshot)
	return s
}

// Bounds of the silent hosts of a Snapshot, and how often they are chosen.
const (
	maxSilentHosts = 5
	silentEvery    = 10 * time.Second
)

// maxParkedPatterns bounds the patterns of a Snapshot.
const maxParkedPatterns = 20

// parked returns the patterns with the most parked links, of which there are now all together.
func (r *Recorder) parked(now int64) []frontier.ParkedPattern {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now != r.links {
		if patterns, err := r.Frontier.Parked(); err == nil {
			r.links, r.patterns = now, patterns[:min(len(patterns), maxParkedPatterns)]
		}
	}
	return r.patterns
}

// Snapshot returns the state of the crawl as of now.
func (r *Recorder) Snapshot() Snapshot {
	t := r.Frontier.Totals()
	s := Snapshot{
		Region: r.Region, Strategy: r.Strategy, PID: os.Getpid(), Started: r.began.UTC(), At: time.Now().UTC(),
		Pages: t.Pages, PagesRun: t.Pages - r.before.Pages, Relevant: t.Relevant, Addresses: t.Addresses,
		Bytes: t.Bytes,
		Seen:  t.Links, Queued: t.Queued, Parked: t.Parked, Visited: t.Visited, Repeats: t.Repeats, Dropped: t.Dropped,
		Redirects: t.Redirects, Errors: t.Errors, Skipped: t.Skipped, Rendered: t.Rendered,
		Damaged: t.Damaged,
		Workers: r.Crawler.Options.Workers, Ceiling: r.Ceiling, Cores: runtime.NumCPU(),
		Paused: r.Crawler.Brake.Held(), Resting: r.Crawler.Resting(),
	}
	work := t
	if due, revisiting := r.Crawler.Due(); revisiting { // the workers are busy with these
		work, s.Due = due, due.Queued
	}
	s.Leased, s.Selecting = work.Leased, work.Selecting
	s.Hosts = Hosts{Known: t.Hosts, Ready: work.ReadyHosts, Waiting: work.WaitingHosts, Next: work.NextHost}
	if r.Gate != nil {
		g := r.Gate.Stats()
		s.Hosts.Asked, s.Hosts.Backoff = int64(g.Asked), int64(g.Backoff)
	}
	s.Own, s.Mapped = memoryUse()
	s.ParkedBy = r.parked(t.Parked)
	if free, err := disk.Free(r.Dir); err == nil {
		s.DiskFree = int64(free)
	}

	now := sample{s.At, t.Pages, processorTime()}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.again {
		now.pages += int64(n)
	}
	if s.At.Sub(r.silentAt) >= silentEvery || r.end != "" {
		r.silent, r.silentAt = r.silence.Top(maxSilentHosts, r.patterns), s.At
	}
	s.Silent = r.silent
	s.End, s.Stopping, s.Private = r.end, r.stopping, r.private
	if r.pages > 0 {
		s.HarvestRecent = round(float64(r.relevant)/float64(min(r.pages, recent)), 4)
	}
	for len(r.samples) > 1 && now.at.Sub(r.samples[1].at) >= rateSpan {
		r.samples = r.samples[1:]
	}
	since := r.samples[0]
	if span := now.at.Sub(since.at).Seconds(); span > 0 {
		s.Rate, s.CPU = round(float64(now.pages-since.pages)/span, 1), round((now.cpu-since.cpu).Seconds()/span, 2)
	}
	if now.at.Sub(r.samples[len(r.samples)-1].at) >= time.Second/2 {
		r.samples = append(r.samples, now)
	}
	return s
}
