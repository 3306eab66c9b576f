// Package crawler is the loop of gazehound: fetch a page, judge it, learn from
// the verdict, score its links, store what was found.
//
// A Crawler is put together from parts that it only knows by their interfaces,
// so that the same loop runs on the live web, on WARC files and on a made-up
// web. Start with [Crawler.Run]; one page's way is [Crawler.Visit].
package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"

	"golang.org/x/sync/errgroup"
)

// A Fetcher brings one page: from the live web, from WARC files or from a
// made-up web. It never follows a redirect.
type Fetcher interface {
	Fetch(ctx context.Context, u weburl.URL) (*page.Response, error)
}

// A Gate keeps the crawl polite. Claim takes the turn of a host and returns 0,
// or says how long to wait before asking again; Visited ends the turn.
type Gate interface {
	Claim(host string) (wait time.Duration)
	Visited(host string, v polite.Visit)
}

// Rules say what a site's robots.txt allows.
type Rules interface {
	Check(ctx context.Context, u weburl.URL) (robots.Decision, error)
}

// A Judge says whether a page is what the crawl is after.
type Judge interface {
	Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error)
}

// A Frontier is the queue of a crawl and its tree: on disk
// (frontier.Frontier), or in memory for the simulator (frontier.Memory).
type Frontier interface {
	Push(ctx context.Context, es ...frontier.Entry) (added int, err error)
	Next(ctx context.Context, claim func(host string) time.Duration) (frontier.Entry, error)
	Return(e frontier.Entry, b frontier.Backoff) error
	Done(ctx context.Context, e frontier.Entry, o frontier.Outcome, found ...frontier.Entry) (added int, err error)
	Trail(k frontier.Key, n int) ([]frontier.Node, error)
	States(keys ...frontier.Key) ([]frontier.State, error)
	Totals() frontier.Totals
}

// A Sink stores what a visit found. What it was told is durable when it
// returns; it may be told of one URL again after a crash.
type Sink interface {
	Visit(ctx context.Context, v *Visit) error
}

// Peers are the other nodes of a crawl. They and this one share its links out.
type Peers interface {
	// Route hands the entries that p led to, nil where there is no page, to the
	// nodes that own them, and returns our own. The others are safe when it
	// returns.
	Route(ctx context.Context, p *page.Page, found []frontier.Entry) (own []frontier.Entry, err error)
	// Moved hands an entry of our queue to the node that owns it by now, and
	// takes it out of the queue; false: it is ours.
	Moved(ctx context.Context, e frontier.Entry) (moved bool, err error)
	// Visited says that another node has visited an entry of our queue.
	Visited(e frontier.Entry) bool
	// Turn waits until we may begin a page, where all nodes keep one order.
	Turn(ctx context.Context) error
	// Wait is called when our queue is empty. It returns true when more may
	// have come and false when the whole crawl is over.
	Wait(ctx context.Context) (more bool, err error)
}

// A Visit is everything that one step of the crawl learned. Page, Verdict and
// Trail are set for HTML pages only. The Body of its Response is there for as long
// as it is stored and reported.
type Visit struct {
	Entry    frontier.Entry
	Outcome  frontier.Outcome
	Response *page.Response
	Page     *page.Page
	Verdict  geoparse.Verdict
	Trail    []frontier.Node  // the page, the page that held the link to it, and so on; addresses of the first only
	Found    []frontier.Entry // links that entered the queue or raised a priority there
	New      int              // of them, were not known; set once the visit is stored

	// Before is what was known of a page that is asked again, or nil, and Again
	// what became of it. A page that has not changed has neither Page nor
	// Verdict; its Outcome is the one it had.
	Before *frontier.Check
	Again  Again

	best     []frontier.Entry // of Found the order.Promising best that the queue did not know, for a Valuer; the best first
	sitemaps []string         // that the host names
	text     uint64           // fingerprint of the page's text
	alone    bool             // a wait of the visit is the page's own, not its host's
}

// Options tune a Crawler.
type Options struct {
	Workers     int           // pages at a time, ≥ 1
	MaxPages    int64         // HTML pages of the whole crawl; 0: no limit
	MaxDepth    int           // links from a seed; 0: no limit
	MaxFailures int           // errors in a row that end the run; 0: no limit
	Retries     int           // after a failure that may pass
	RetryWait   time.Duration // before the first retry; doubles
	Grace       time.Duration // for pages in flight once the run is to stop

	Sitemaps     bool // of hosts that have a relevant page are read
	Reservations bool // of rights to text and data mining are heeded

	Revisits Schedule // zero: nothing is kept for asking again
}

// The reasons for which a run ends.
var (
	ErrPageLimit = errors.New("page limit reached")
	ErrFailures  = errors.New("too many failures in a row")
)

// A Crawler runs one crawl. Rules, Peers, Traps, SiteWide, Report, Lesson and
// Brake may be nil; all other fields are required.
type Crawler struct {
	Options  Options
	Frontier Frontier
	Fetcher  Fetcher
	Gate     Gate
	Rules    Rules // nil: everything may be fetched
	Judge    Judge
	Strategy order.Strategy
	Sinks    []Sink
	Peers    Peers // nil: this node crawls alone
	// Traps learns what multiplies pages, and demotes it; nil: nothing is demoted.
	// The Score of the frontier has to ask it, too.
	Traps *trap.Detector
	// SiteWide counts which addresses stand on most pages of a host; nil: no
	// verdict says so.
	SiteWide *sitewide.Counter
	// Scope returns why a URL is outside of the crawl, or "". It is asked when a
	// link is found and, since it may change, again before it is visited.
	Scope func(u weburl.URL) (reason string)
	// Report is told of every visit after it was stored, in that order.
	Report func(v *Visit)
	// Lesson is told of every judged page that a link led to before the strategy
	// learns from it, by several workers at once; nil: nobody is.
	Lesson func(trail []frontier.Node, relevant bool)
	// Brake holds the crawl; nil: nobody does.
	Brake *Brake

	pages    pageBudget
	nodes    sync.Pool // of *page.Nodes that no page has
	plain    hostSet   // whose https has failed
	mapped   hostSet   // whose sitemaps are queued
	reserved reservations
	trails   trails
	failures atomic.Int64
	resting  atomic.Bool                       // Stay waits for its next round
	due      atomic.Pointer[frontier.Frontier] // the queue of Revisit while it asks
	seeded   chan struct{}                     // holds a token once Seed has added something; see wake
	waking   sync.Once
	report   sync.Mutex
}

// Seed puts the start URLs into the queue, and what the strategy knows beside
// them, if that lies in the scope. Those that the crawl has seen before are
// left as they are.
func (c *Crawler) Seed(ctx context.Context, urls []weburl.URL) (added int, err error) {
	entries := make([]frontier.Entry, 0, len(urls))
	for _, u := range urls {
		e := frontier.Entry{URL: u, Found: time.Now()}
		e.Priority, _ = c.Strategy.Score(&e)
		entries = append(entries, e)
	}
	if s, ok := c.Strategy.(order.Guide); ok {
		for _, e := range s.Unlinked() {
			e.Found = time.Now()
			keep := false
			if e.Priority, keep = c.Strategy.Score(&e); keep && c.Scope(e.URL) == "" {
				entries = append(entries, e)
			}
		}
	}
	if entries, err = c.route(ctx, nil, entries); err != nil {
		return 0, err
	}
	if added, err = c.Frontier.Push(ctx, entries...); added > 0 {
		select {
		case c.wake() <- struct{}{}:
		default:
		}
	}
	return added, err
}

// wake tells Stay that there are new seeds.
func (c *Crawler) wake() chan struct{} {
	c.waking.Do(func() { c.seeded = make(chan struct{}, 1) })
	return c.seeded
}

// Run crawls until the queue is empty (nil), the page limit is reached
// (ErrPageLimit), errors follow one another (ErrFailures), ctx ends (its
// cause) or something cannot be stored. Once it is to stop, pages in flight
// have Options.Grace to finish; what did not finish is still queued. All
// goroutines that it starts have ended when it returns.
func (c *Crawler) Run(ctx context.Context) error {
	return c.run(ctx, c.Frontier, c.Options.MaxPages, c.Visit)
}

// A step visits one entry of a queue and tells whether that used up one page
// of the budget.
type step func(ctx context.Context, e frontier.Entry) (isPage bool, err error)

// run is Run for any queue and step; with maxPages 0 there is no budget.
func (c *Crawler) run(ctx context.Context, queue Frontier, maxPages int64, visit step) error {
	c.pages = pageBudget{limit: maxPages, done: queue.Totals().Pages}
	c.pages.changed = sync.NewCond(&c.pages.mu)

	stop, cancelStop := context.WithCancelCause(ctx)
	defer cancelStop(nil)
	work, cancelWork := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelWork()
	graceful := context.AfterFunc(stop, func() {
		c.pages.close()
		timer := time.AfterFunc(c.Options.Grace, cancelWork)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	defer graceful()

	var g errgroup.Group
	for range c.Options.Workers {
		g.Go(func() error {
			err := c.work(stop, work, queue, visit)
			if err != nil {
				cancelStop(err)
			} else {
				c.pages.close()
			}
			return err
		})
	}
	err := g.Wait()
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return nil
	}
}

// work visits one entry after the other until stop ends.
func (c *Crawler) work(stop, work context.Context, queue Frontier, visit step) error {
	for {
		if err := c.pages.take(); err != nil {
			if stop.Err() != nil || errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		e, err := c.next(stop, queue)
		if err != nil {
			c.pages.give(false)
			if errors.Is(err, io.EOF) && c.Peers != nil && queue == c.Frontier && stop.Err() == nil {
				more, err := c.Peers.Wait(stop)
				if more {
					continue
				}
				if err == nil || stop.Err() != nil {
					return nil
				}
				return fmt.Errorf("wait for links of other nodes: %w", err)
			}
			if errors.Is(err, io.EOF) || stop.Err() != nil {
				return nil
			}
			return fmt.Errorf("next link: %w", err)
		}
		isPage, err := visit(work, e)
		c.pages.give(isPage)
		if err != nil {
			if work.Err() != nil {
				return nil // out of grace: the entry is still queued
			}
			return err
		}
		if limit := c.Options.MaxFailures; limit > 0 && c.failures.Load() >= int64(limit) {
			return ErrFailures
		}
	}
}

// next waits for the turn of this node and takes its best entry.
func (c *Crawler) next(ctx context.Context, queue Frontier) (frontier.Entry, error) {
	if c.Peers != nil && queue == c.Frontier {
		if err := c.Peers.Turn(ctx); err != nil {
			return frontier.Entry{}, err
		}
	}
	return c.Brake.next(ctx, queue, c.Gate.Claim)
}

// Visit is one page's way through the house: the step that Run repeats, and
// that a simulator takes in its own time. It tells whether an HTML page was
// downloaded. The entry is given up last, so that a crash repeats a visit and
// never loses one.
func (c *Crawler) Visit(ctx context.Context, e frontier.Entry) (isPage bool, err error) {
	v := &Visit{Entry: e}
	defer v.free()
	if c.Peers != nil {
		if moved, err := c.Peers.Moved(ctx, e); moved || err != nil {
			c.Gate.Visited(e.URL.Host(), noRequest)
			return false, err
		}
		if c.Peers.Visited(e) {
			c.Gate.Visited(e.URL.Host(), noRequest)
			v.Outcome = frontier.Outcome{Kind: "skipped", Reason: "visited_elsewhere", At: time.Now()}
			return false, c.file(ctx, v)
		}
	}
	if reason := c.Scope(e.URL); reason != "" && e.Depth > 0 { // it was within when the link was found
		c.Gate.Visited(e.URL.Host(), noRequest)
		v.Outcome = frontier.Outcome{Kind: "skipped", Reason: reason, At: time.Now()}
		return false, c.file(ctx, v)
	}
	again, err := c.look(ctx, v)
	if err != nil {
		return false, err
	}
	if again >= 0 {
		err := c.Frontier.Return(v.Entry, frontier.Backoff{Wait: again, Host: !v.alone})
		if !errors.Is(err, frontier.ErrNotLeased) { // else it went to another node meanwhile
			return false, err
		}
		return false, nil
	}
	return v.Outcome.Kind == "page", c.file(ctx, v)
}

// file learns from a visit, stores it, and gives its entry up.
func (c *Crawler) file(ctx context.Context, v *Visit) error {
	if v.Page != nil {
		c.markSiteWide(v)
		if c.Traps != nil {
			c.Traps.Saw(trap.Page{URL: v.Entry.URL, Text: v.text, Relevant: v.Verdict.Relevant})
		}
		if err := c.expand(v); err != nil {
			return err
		}
		if err := c.learn(v); err != nil {
			return err
		}
	}
	own, err := c.route(ctx, v.Page, v.Found)
	if err != nil {
		return fmt.Errorf("links of %s: %w", v.Entry.URL, err)
	}
	v.drop("other_node", int64(len(v.Found)-len(own)))
	v.Found = own
	for _, s := range c.Sinks {
		if err := s.Visit(ctx, v); err != nil {
			return fmt.Errorf("store %s: %w", v.Entry.URL, err)
		}
	}
	v.Outcome.Check = c.Options.Revisits.first(v)
	if v.New, err = c.Frontier.Done(ctx, v.Entry, v.Outcome, v.Found...); err != nil {
		return fmt.Errorf("finish %s: %w", v.Entry.URL, err)
	}
	c.tell(v)
	return nil
}

// markSiteWide says which addresses of the page most pages of its host state,
// and whether it has others.
func (c *Crawler) markSiteWide(v *Visit) {
	if c.SiteWide == nil {
		return
	}
	var mentions []sitewide.Mention
	place := map[string]int{} // of the key in mentions
	found := v.Verdict.Addresses
	for i := range found {
		if key := found[i].Key(); found[i].Counts() {
			n, known := place[key]
			if !known {
				n = len(mentions)
				place[key] = n
				mentions = append(mentions, sitewide.Mention{Key: key, Footer: true})
			}
			mentions[n].Footer = mentions[n].Footer && found[i].Footer
		}
	}
	wide := c.SiteWide.Saw(v.Entry.URL.Host(), mentions, v.Before != nil)
	all := len(wide) > 0
	for i := range found {
		if n, ok := place[found[i].Key()]; ok {
			found[i].SiteWide = wide[n]
			all = all && wide[n]
		}
	}
	v.Verdict.SiteWide = all && v.Verdict.Relevant
	v.Outcome.SiteWide = v.Verdict.SiteWide
}

// tell reports a visit that is stored.
func (c *Crawler) tell(v *Visit) {
	if v.Outcome.Kind == "error" {
		c.failures.Add(1)
	} else {
		c.failures.Store(0)
	}
	if c.Report != nil {
		c.report.Lock()
		defer c.report.Unlock()
		c.Report(v)
	}
}

// route hands links to the nodes that own them and returns our own.
func (c *Crawler) route(ctx context.Context, p *page.Page, found []frontier.Entry) (own []frontier.Entry, err error) {
	if c.Peers == nil {
		return found, nil
	}
	return c.Peers.Route(ctx, p, found)
}

// learn tells the strategy what the trail of links to this page led to.
func (c *Crawler) learn(v *Visit) error {
	if s, ok := c.Strategy.(order.Valuer); ok && !v.Verdict.Relevant {
		v.Outcome.Promise = s.Promise(v.best)
	}
	var parents []frontier.Node
	if v.Entry.Depth > 0 {
		var err error
		if parents, err = c.parents(&v.Entry); err != nil {
			return err
		}
	}
	trail := append(make([]frontier.Node, 0, 1+len(parents)), frontier.Node{Entry: v.Entry, Outcome: v.Outcome})
	trail = append(trail, parents...)
	v.Trail = trail
	c.trails.keep(frontier.KeyOf(v.Entry.URL), trail)
	if c.Lesson != nil && v.Entry.Depth > 0 {
		c.Lesson(trail, v.Verdict.Relevant)
	}
	c.Strategy.Learn(trail, v.Verdict.Relevant)
	return nil
}

// promise takes a link that the queue does not know among the best of the page,
// if it is.
func (v *Visit) promise(e *frontier.Entry) {
	at := len(v.best)
	for at > 0 && v.best[at-1].Priority < e.Priority {
		at--
	}
	if e.Priority > 0 && at < order.Promising { // else it promises nothing
		v.best = slices.Insert(v.best, at, *e)
		v.best = v.best[:min(len(v.best), order.Promising)]
	}
}

// expand scores the links of a page. Distance counts links since the last
// relevant page, so it starts again behind a relevant one.
func (c *Crawler) expand(v *Visit) error {
	depth, distance := v.Entry.Depth+1, v.Entry.Distance+1
	if v.Verdict.Relevant {
		distance = 1
	}
	for reason, n := range v.Page.Left {
		v.drop(reason, n)
	}
	key := frontier.KeyOf(v.Entry.URL)
	host, site := v.Page.URL.Host(), v.Page.URL.Site()
	found := make([]frontier.Entry, 0, len(v.Page.Links))
	for _, l := range v.Page.Links {
		found = append(found, frontier.Entry{
			URL: l.To, Depth: depth, Distance: distance, Parent: key, Found: v.Outcome.At,
			Anchor: l.Anchor, Title: l.Title, Around: l.Around, Switch: l.To.Host() != host && l.To.Site() != site,
		})
	}
	if err := c.find(v, found); err != nil {
		return err
	}
	return c.sitemaps(v)
}

// find scores entries that v has found, or counts why they are left out. Those
// that were visited keep the priority 0: the queue only counts them. But a
// strategy that does not rescore keeps every link, and with Peers the page may be
// another node's by now. It does as it likes with found.
func (c *Crawler) find(v *Visit, found []frontier.Entry) error {
	rescorer, rescores := c.Strategy.(order.Rescorer)
	passVisited := rescores && rescorer.Rescores() && c.Peers == nil
	_, values := c.Strategy.(order.Valuer)
	states := make([]frontier.State, len(found))
	if passVisited || values {
		var err error
		if states, err = c.Frontier.States(frontier.KeysOf(found)...); err != nil {
			return fmt.Errorf("links of %s: %w", v.Entry.URL, err)
		}
	}
	kept := found[:0]
	for i := range found {
		e := &found[i]
		if reason := c.outside(e, states[i]); reason != "" {
			v.drop(reason, 1)
			continue
		}
		if !passVisited || states[i] != frontier.Visited {
			var keep bool
			if e.Priority, keep = c.Strategy.Score(e); !keep {
				v.drop("strategy", 1)
				continue
			}
			if c.Traps != nil && !e.Sitemap {
				e.Priority *= c.Traps.Look(e.URL).Factor
			}
		}
		if values && states[i] == 0 {
			v.promise(e)
		}
		kept = append(kept, *e)
	}
	if v.Found == nil {
		v.Found = kept
	} else {
		v.Found = append(v.Found, kept...)
	}
	return nil
}

// outside says why an entry that was found is left out, or "". A URL that the
// queue has was within the crawl when it came there, and is asked about again
// when it is visited.
func (c *Crawler) outside(e *frontier.Entry, was frontier.State) string {
	if was == 0 {
		if reason := c.Scope(e.URL); reason != "" {
			return reason
		}
	}
	if limit := c.Options.MaxDepth; limit > 0 && e.Depth > limit {
		return "depth"
	}
	return ""
}

// free gives back what the visit had of the fetcher, once nobody uses it.
func (v *Visit) free() {
	if v.Response != nil && v.Response.Free != nil {
		v.Response.Free()
	}
}

// drop counts links that are not queued.
func (v *Visit) drop(reason string, n int64) {
	if n == 0 {
		return
	}
	if v.Outcome.Dropped == nil {
		v.Outcome.Dropped = map[string]int64{}
	}
	v.Outcome.Dropped[reason] += n
}

// judged notes what the verdict says of the page. Of one that asks not to be
// indexed no words are kept. Which addresses count is up to Outcome.Kept.
func (v *Visit) judged() {
	o := &v.Outcome
	o.Kind, o.Relevant, o.Score, o.Addresses = "page", v.Verdict.Relevant, v.Verdict.Score, addressKeys(v.Verdict)
	switch {
	case v.Page.NoIndex:
		o.Reason = ReasonNoIndex
	case o.Relevant:
		o.Title, o.Evidence = v.Page.Title, v.Verdict.Evidence
	}
}

// maxAddressKeys bounds the addresses of one page that are counted.
const maxAddressKeys = 1000

// addressKeys returns the distinct addresses of a page that lie in the region.
func addressKeys(v geoparse.Verdict) []string {
	var keys []string
	seen := map[string]bool{}
	for _, a := range v.Addresses {
		if k := a.Key(); a.Counts() && !seen[k] && len(keys) < maxAddressKeys {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}
