// Package crawler is the crawl loop. For each page:
//
//  1. The frontier leases the best entry of its queue whose host is ready ([Frontier], [Gate]).
//  2. The fetcher fetches it, where robots.txt allows it ([Fetcher]).
//  3. The judge decides whether the page is relevant: whether it states addresses of the region ([Judge]).
//  4. The strategy learns from the verdict, with the trail of links that led to the page.
//  5. It scores the links of the page: their priorities in the queue ([order.Strategy]).
//  6. The sinks store what was found, and then the frontier ends the visit and queues the links ([Sink]).
//
// A bridge is a page that is not relevant on the way to one that is. A visit is one fetch with what
// follows from it. A Crawler knows its parts by their interfaces, so that the same loop runs on the live
// web, on WARC files and on made-up webs. Start with [Crawler.Run]; [Crawler.Visit] processes one page.
package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"

	"golang.org/x/sync/errgroup"
)

// A Fetcher fetches one page: from the live web, from WARC files or from a made-up web. It never
// follows redirects.
type Fetcher interface {
	Fetch(ctx context.Context, u weburl.URL) (*page.Response, error)
}

// A Gate keeps the crawl polite: see polite.Gate. Any number of goroutines may call it.
type Gate interface {
	// Claim takes the slot of a host (weburl.URL.Host) and returns 0, or how long the host is not ready.
	// It never blocks.
	Claim(host string) (wait time.Duration)
	// Check reports whether u may be requested, in the slot that Claim took. It blocks while robots.txt
	// is fetched. The only error is that of ctx.
	Check(ctx context.Context, u weburl.URL) (polite.Decision, error)
	// Visited releases the slot and starts the delay of the host. Each Claim that returned 0 ends so.
	Visited(host string, v polite.Visit)
	// Reserved reports whether the host reserves its rights to text and data mining at u. It may block for
	// a minute while it asks the host; after that it returns how long to wait before u is tried again.
	Reserved(ctx context.Context, u weburl.URL) (reserved bool, wait time.Duration, err error)
}

// A Renderer runs the scripts of a page: see render.Browser. fetch is called for each of its requests.
type Renderer interface {
	Render(ctx context.Context, r *page.Response,
		fetch func(ctx context.Context, u weburl.URL) (*page.Response, error)) (html []byte, err error)
}

// A Judge decides whether a page is relevant.
type Judge interface {
	Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error)
}

// A Frontier is the queue of a crawl and its tree: on disk
// (frontier.Frontier), or in memory for the simulator (frontier.Memory).
// Any number of goroutines may call it. What a method accepts is durable when it returns, unless it is in
// memory. None but Next blocks for longer than a write takes.
type Frontier interface {
	// Push queues entries and returns how many were new. One that is queued already takes the better link.
	// Those of other nodes are kept until they are sent; so do all methods that take entries found.
	Push(ctx context.Context, es ...frontier.Entry) (added int, err error)
	// Next leases the best entry of a host that claim gives, to this caller alone, until Done, Return or
	// Park. It blocks until there is one, and returns io.EOF when nothing is queued and nothing leased. A
	// lease is not stored: a killed crawl finds the entry queued.
	Next(ctx context.Context, claim func(host string) time.Duration) (frontier.Entry, error)
	// Return ends a lease without a visit; the entry is queued again and waits as b says. A wait of the
	// entry alone, not of its host, ends with the process.
	Return(e frontier.Entry, b frontier.Backoff) error
	// Done ends the visit of e, stores its outcome and queues what was found, in one transaction. A second
	// Done of the same URL only queues.
	Done(ctx context.Context, e frontier.Entry, o frontier.Outcome, found ...frontier.Entry) (added int, err error)
	// Park ends a lease by keeping the entry out of the queue, under the pattern e.Parked.
	Park(ctx context.Context, e frontier.Entry) error
	// Parked returns the patterns under which entries are parked, those with the most first.
	Parked() ([]frontier.ParkedPattern, error)
	// Unpark queues the entries of a pattern, with the priorities that score returns.
	Unpark(ctx context.Context, p frontier.ParkedPattern, score func(*frontier.Entry) float64) (released int, err error)
	// Trail returns the node of k, the page it was found on, and so on towards its seed, at most n.
	Trail(k frontier.Key, n int) ([]frontier.Node, error)
	// Known returns what is known of each URL.
	Known(keys ...frontier.Key) ([]frontier.Known, error)
	// Totals returns the counts of the crawl as of now.
	Totals() frontier.Totals
}

// A Sink stores what a visit found; it is durable when Visit returns. After a crash the same URL
// may come again.
type Sink interface {
	Visit(ctx context.Context, v *Visit) error
}

// Peers are the other nodes of a crawl, among which links are partitioned.
type Peers interface {
	// Route divides the entries found on p (nil for redirects and sitemaps) into our own and those of
	// other nodes: each of these once for every node that owns it, with its Owner. The Frontier takes both.
	// While too many wait to be sent, it blocks.
	Route(ctx context.Context, p *page.Page, found []frontier.Entry) (own, others []frontier.Entry, err error)
	// Moved gives an entry of our queue to the node that owns it now; false: it is ours.
	Moved(ctx context.Context, e frontier.Entry) (moved bool, err error)
	// Visited reports whether another node has visited an entry of our queue.
	Visited(e frontier.Entry) bool
	// Admit waits until this node may begin a page, if all nodes keep one order.
	Admit(ctx context.Context) error
	// Wait is called when our queue is empty. It returns true when links may have arrived and false
	// when the whole crawl is over.
	Wait(ctx context.Context) (more bool, err error)
}

// A Placer is a Peers that knows places.
type Placer interface {
	// Place returns the target place that a page is most probably about, or "".
	Place(p *page.Page) string
}

// Options tune a Crawler.
type Options struct {
	Workers  int   // pages at a time, ≥ 1
	MaxPages int64 // HTML pages of the whole crawl; 0: no limit
	MaxDepth int   // links from a seed; 0: no limit
	// DomainLevels is how many links within a domain are followed from the page by which the crawl came to
	// it (Gao, Lee & Miao 2006, section 5.1); 0: any number.
	DomainLevels int
	MaxFailures  int           // errors in a row that end the run; 0: no limit
	Depths       int           // links ahead that are learned; 0: predictor.MaxDepth
	Retries      int           // after a failure that may pass
	RetryWait    time.Duration // before the first retry; doubles
	Grace        time.Duration // for pages in flight when the run stops

	PlainForBadTLS bool // an https page with a bad certificate is requested by http

	Cookies bool // the Fetcher sends back the cookies of a site

	Sitemaps bool // reads the sitemaps of hosts that have a relevant page
	// Languages limits judging and following links to pages in these languages (ISO 639-1) or in an
	// unknown one. Empty: all (Ahlers & Boll 2009, section 5).
	Languages []string

	Reservations bool // respects reservations of rights to text and data mining

	Rendering Rendering // which pages the Renderer renders

	Revisits Schedule // zero: nothing is kept for revisits
}

// Reasons why a run ends.
var (
	ErrPageLimit = errors.New("page limit reached")
	ErrFailures  = errors.New("too many failures in a row")
)

// A Crawler runs one crawl. Peers, Renderer, Traps, SiteWide, Report, Example and
// Brake may be nil; all other fields are required.
type Crawler struct {
	Options  Options
	Frontier Frontier
	Fetcher  Fetcher
	Gate     Gate
	Judge    Judge
	Strategy order.Strategy
	Sinks    []Sink
	Peers    Peers    // nil: a crawl by one node
	Renderer Renderer // nil: no page is rendered
	// Traps learns which URLs repeat pages, and parks or demotes them; nil: none. The Frontier's
	// Rescore must use the same Traps.
	Traps *trap.Detector
	// Forgotten is blanked in pages before they are judged; nil: nothing was.
	Forgotten Forgotten
	// SiteWide counts which addresses are on most pages of a host; nil: none is marked.
	SiteWide *sitewide.Counter
	// Scope returns why a URL is outside of the crawl, or "". It is called when a link is found
	// and, since it may change, again before the visit.
	Scope func(u weburl.URL) (reason string)
	// Report runs after a visit is committed, in commit order; nil disables it.
	Report func(v *Visit)
	// Example is called with every judged page that a link led to, before the strategy learns from
	// it, by several workers at once; nil disables it. If the strategy does not learn, it is not called.
	Example func(trail []frontier.Node, relevant bool)
	// Brake pauses the crawl; nil: it is never paused.
	Brake *Brake

	pages    pageBudget
	plain    hostSet // hosts whose https has failed
	mapped   hostSet // hosts whose sitemaps are queued
	walls    hostSet // hosts one of whose redirects was followed and fetched again
	failures atomic.Int64
	renders  atomic.Int64                      // in work
	resting  atomic.Bool                       // Stay is waiting for its next round
	due      atomic.Pointer[frontier.Frontier] // the queue of Revisit while it runs
	seeded   chan struct{}                     // holds a token once Seed has added something; see wake
	waking   sync.Once
	report   sync.Mutex
}

// Seed queues the start URLs and, if they are in scope, the pages of the strategy's own seed
// source. URLs that the crawl has seen before stay as they are.
func (c *Crawler) Seed(ctx context.Context, urls []weburl.URL) (added int, err error) {
	entries := make([]frontier.Entry, 0, len(urls))
	for _, u := range urls {
		e := frontier.Entry{URL: u, Found: time.Now()}
		e.Priority, _ = c.Strategy.Score(&e)
		entries = append(entries, e)
	}
	if s, ok := c.Strategy.(order.SeedSource); ok {
		for _, e := range s.Seeds() {
			e.Found = time.Now()
			keep := false
			e.Priority, keep = c.Strategy.Score(&e)
			if keep && c.Scope(e.URL) == "" {
				entries = append(entries, e)
			}
		}
	}
	own, others, err := c.route(ctx, nil, entries)
	if err != nil {
		return 0, err
	}
	added, err = c.Frontier.Push(ctx, append(own, others...)...)
	if added > 0 {
		select {
		case c.wake() <- struct{}{}:
		default:
		}
	}
	return added, err
}

// wake returns the channel on which Seed announces new seeds to Stay.
func (c *Crawler) wake() chan struct{} {
	c.waking.Do(func() { c.seeded = make(chan struct{}, 1) })
	return c.seeded
}

// Run crawls until the queue is empty (nil), the page limit is reached (ErrPageLimit), too many
// errors come in a row (ErrFailures), ctx ends (its cause) or something cannot be stored. Then
// pages in flight have Options.Grace to finish; what does not finish stays queued. All goroutines
// that it starts have ended when it returns.
func (c *Crawler) Run(ctx context.Context) error {
	return c.run(ctx, c.Frontier, c.Options.MaxPages, c.Visit)
}

// A step visits one entry of a queue and reports whether that used one page of the budget.
type step func(ctx context.Context, e frontier.Entry) (isPage bool, err error)

// run is Run for any queue and step; with maxPages 0 there is no budget.
func (c *Crawler) run(ctx context.Context, queue Frontier, maxPages int64, visit step) error {
	c.pages = pageBudget{limit: maxPages, done: queue.Totals().Pages}
	c.pages.changed = sync.NewCond(&c.pages.mu)

	stop, cancelStop := context.WithCancelCause(ctx)
	defer cancelStop(nil)
	work, cancelWork := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelWork()
	var grace *time.Timer
	stopping := make(chan struct{})
	running := context.AfterFunc(stop, func() {
		defer close(stopping)
		c.pages.close()
		grace = time.AfterFunc(c.Options.Grace, cancelWork)
	})
	defer func() {
		if !running() {
			<-stopping
			grace.Stop()
		}
	}()

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
		err := c.pages.take()
		if err != nil {
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
				return nil // the grace period is over; the entry is still queued
			}
			return err
		}
		if limit := c.Options.MaxFailures; limit > 0 && c.failures.Load() >= int64(limit) {
			return ErrFailures
		}
	}
}

// next waits until this node may begin a page and takes its best entry.
func (c *Crawler) next(ctx context.Context, queue Frontier) (frontier.Entry, error) {
	if c.Peers != nil && queue == c.Frontier {
		if err := c.Peers.Admit(ctx); err != nil {
			return frontier.Entry{}, err
		}
	}
	return c.nextFree(ctx, queue)
}

// route divides links into our own and those of other nodes: see Peers.Route.
func (c *Crawler) route(
	ctx context.Context, p *page.Page, found []frontier.Entry,
) (own, others []frontier.Entry, err error) {
	if c.Peers == nil {
		return found, nil, nil
	}
	return c.Peers.Route(ctx, p, found)
}
