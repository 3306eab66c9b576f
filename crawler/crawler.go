// Package crawler is the loop of gazehound: fetch a page, judge it, learn from
// the verdict, score its links, store what was found.
//
// A Crawler is put together from parts that it only knows by their interfaces,
// so that the same loop runs on the live web, on WARC files and on a made-up
// web. Start with [Crawler.Run]; one page's way is [Crawler.visit].
package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/robots"
	"gazehound/crawler/strategy"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/predictor"

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

// A Sink stores what a visit found. What it was told is durable when it
// returns; it may be told of one URL again after a crash.
type Sink interface {
	Visit(ctx context.Context, v *Visit) error
}

// A Visit is everything that one step of the crawl learned. Page and Verdict
// are set for HTML pages only.
type Visit struct {
	Entry    frontier.Entry
	Outcome  frontier.Outcome
	Response *page.Response
	Page     *page.Page
	Verdict  geoparse.Verdict
	Found    []frontier.Entry // links that entered the queue or raised a priority there
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
}

// MaxRedirects is the number of redirects in a row that a crawl goes along with.
const MaxRedirects = 10

// The reasons for which a run ends.
var (
	ErrPageLimit = errors.New("page limit reached")
	ErrFailures  = errors.New("too many failures in a row")
)

// A Crawler runs one crawl. All fields but Rules and Report are required.
type Crawler struct {
	Options  Options
	Frontier *frontier.Frontier
	Fetcher  Fetcher
	Gate     Gate
	Rules    Rules // nil: everything may be fetched
	Judge    Judge
	Strategy strategy.Strategy
	Sinks    []Sink
	// Scope returns why a URL is outside of the crawl, or "".
	Scope func(u weburl.URL) (reason string)
	// Report is told of every visit after it was stored, in that order.
	Report func(v *Visit)

	pages    pageBudget
	plain    hostSet // whose https has failed
	failures atomic.Int64
	report   sync.Mutex
}

// Seed puts the start URLs into the queue. Those that the crawl has seen
// before are left as they are.
func (c *Crawler) Seed(ctx context.Context, urls []weburl.URL) (added int, err error) {
	entries := make([]frontier.Entry, 0, len(urls))
	for _, u := range urls {
		e := frontier.Entry{URL: u, Found: time.Now()}
		e.Priority, _ = c.Strategy.Score(&e)
		entries = append(entries, e)
	}
	return c.Frontier.Push(ctx, entries...)
}

// Run crawls until the queue is empty (nil), the page limit is reached
// (ErrPageLimit), errors follow one another (ErrFailures), ctx ends (its
// cause) or something cannot be stored. Once it is to stop, pages in flight
// have Options.Grace to finish; what did not finish is still queued. All
// goroutines that it starts have ended when it returns.
func (c *Crawler) Run(ctx context.Context) error {
	totals := c.Frontier.Totals()
	c.pages = pageBudget{limit: c.Options.MaxPages, done: totals.Pages}
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
			err := c.work(stop, work)
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
func (c *Crawler) work(stop, work context.Context) error {
	for {
		if err := c.pages.take(); err != nil {
			if stop.Err() != nil || errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		e, err := c.Frontier.Next(stop, c.Gate.Claim)
		if err != nil {
			c.pages.give(false)
			if errors.Is(err, io.EOF) || stop.Err() != nil {
				return nil
			}
			return fmt.Errorf("next link: %w", err)
		}
		isPage, err := c.visit(work, e)
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

// visit is one page's way through the house. The entry is given up last, so
// that a crash repeats a visit and never loses one.
func (c *Crawler) visit(ctx context.Context, e frontier.Entry) (isPage bool, err error) {
	v := &Visit{Entry: e}
	again, err := c.look(ctx, v)
	if err != nil {
		return false, err
	}
	if again >= 0 {
		return false, c.Frontier.Return(v.Entry, again)
	}
	if v.Page != nil {
		if err := c.learn(v); err != nil {
			return false, err
		}
		c.expand(v)
	}
	for _, s := range c.Sinks {
		if err := s.Visit(ctx, v); err != nil {
			return false, fmt.Errorf("store %s: %w", e.URL, err)
		}
	}
	if _, err := c.Frontier.Done(ctx, v.Entry, v.Outcome, v.Found...); err != nil {
		return false, fmt.Errorf("finish %s: %w", e.URL, err)
	}
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
	return v.Outcome.Kind == "page", nil
}

// notAgain is what look returns for a visit that is over.
const notAgain = -1

// look fetches and judges the page of v.Entry and fills in v.Outcome. A
// visit that should be made again later returns the time to wait, ≥ 0. The
// host's turn, which Frontier.Next took, ends here.
func (c *Crawler) look(ctx context.Context, v *Visit) (again time.Duration, err error) {
	e := &v.Entry
	if c.plain.has(e.URL.Host()) {
		e.URL = e.URL.Plain()
	}
	u := e.URL
	v.Outcome.At = time.Now()
	var crawlDelay time.Duration
	if c.Rules != nil {
		d, err := c.Rules.Check(ctx, u)
		crawlDelay = d.Delay
		switch {
		case d.Fetched:
			c.Gate.Visited(u.Host(), turnOf(d.Response, d.Err, crawlDelay))
		case err != nil || d.Retry > 0 || !d.Allowed:
			c.Gate.Visited(u.Host(), polite.Visit{NoRequest: true})
		}
		switch {
		case err != nil:
			return 0, err
		case d.Retry > 0 && d.Err != nil && (c.goPlain(e, d.Err) || hopeless(fetch.Class(d.Err))):
			return c.failed(v, d.Err), nil
		case d.Retry > 0 && e.Retries < c.Options.Retries:
			e.Retries++
			return d.Retry, nil
		case d.Retry > 0:
			v.Outcome.Kind, v.Outcome.Reason = "skipped", "robots_unreachable"
			return notAgain, nil
		case !d.Allowed:
			v.Outcome.Kind, v.Outcome.Reason = "skipped", "robots"
			return notAgain, nil
		case d.Fetched: // robots.txt took this turn; the page gets another
			return 0, nil
		}
	}

	r, err := c.Fetcher.Fetch(ctx, u)
	c.Gate.Visited(u.Host(), turnOf(r, err, crawlDelay))
	if ctx.Err() != nil {
		return 0, ctx.Err() // our stop is not the page's fault
	}
	if err != nil {
		return c.failed(v, err), nil
	}
	v.Response = r
	v.Outcome.Status, v.Outcome.Bytes = r.Status, int64(len(r.Body))
	switch {
	case r.Status >= 300 && r.Status < 400 && r.Status != 304:
		return c.redirected(v), nil
	case r.Status == 429 || r.Status >= 500:
		return c.refused(v), nil
	case r.Status != 200 && r.Status != 203:
		v.Outcome.Kind, v.Outcome.Reason = "error", "http_4xx"
		return notAgain, nil
	}
	p, err := page.Parse(r)
	if err != nil {
		v.Outcome.Kind, v.Outcome.Reason = "error", "parse"
		return notAgain, nil
	}
	verdict, err := c.Judge.Judge(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("judge %s: %w", u, err)
	}
	v.Page, v.Verdict = p, verdict
	v.Outcome.Kind = "page"
	v.Outcome.Relevant, v.Outcome.Score = verdict.Relevant, verdict.Score
	v.Outcome.Addresses = addressKeys(verdict)
	return notAgain, nil
}

// turnOf tells the gate what a request met.
func turnOf(r *page.Response, err error, crawlDelay time.Duration) polite.Visit {
	t := polite.Visit{Err: err, CrawlDelay: crawlDelay}
	if r != nil {
		t.IP, t.Took, t.Status = r.RemoteIP, r.Took, r.Status
		t.RetryAfter = polite.RetryAfter(r.Header.Get("Retry-After"), r.Fetched)
	}
	return t
}

// hopeless tells whether a host that fails like this will fail for its pages too.
func hopeless(class string) bool {
	return class == fetch.ClassDNS || class == fetch.ClassTLS || class == fetch.ClassPrivateAddress
}

// goPlain tells whether an https page is to be asked for by http because of
// err: no connection, or a certificate that proves nothing, as small sites
// often have. The host is remembered, so that this costs one request a host.
func (c *Crawler) goPlain(e *frontier.Entry, err error) bool {
	switch fetch.Class(err) {
	case fetch.ClassTLS, fetch.ClassConnect, fetch.ClassProtocol:
		return e.URL.Plain() != e.URL && e.Redirects < MaxRedirects
	}
	return false
}

// failed files an error of the fetcher, or asks for another try.
func (c *Crawler) failed(v *Visit, err error) (again time.Duration) {
	class := fetch.Class(err)
	if c.goPlain(&v.Entry, err) {
		c.plain.add(v.Entry.URL.Host())
		v.Entry.URL = v.Entry.URL.Plain()
		v.Entry.Redirects++
		return 0
	}
	switch class {
	case fetch.ClassContentType, fetch.ClassTooLarge, fetch.ClassPrivateAddress:
		v.Outcome.Kind, v.Outcome.Reason = "skipped", class
		return notAgain
	case fetch.ClassTimeout, fetch.ClassConnect:
		if v.Entry.Retries < c.Options.Retries {
			v.Entry.Retries++
			return c.Options.RetryWait << (v.Entry.Retries - 1)
		}
	}
	v.Outcome.Kind, v.Outcome.Reason = "error", class
	return notAgain
}

// refused files a 429 or 5xx answer, or asks for another try; how long the
// host then rests is the gate's business.
func (c *Crawler) refused(v *Visit) (again time.Duration) {
	if v.Entry.Retries < c.Options.Retries {
		v.Entry.Retries++
		return c.Options.RetryWait << (v.Entry.Retries - 1)
	}
	v.Outcome.Kind, v.Outcome.Reason = "error", "http_5xx"
	if v.Response.Status == 429 {
		v.Outcome.Reason = "http_429"
	}
	return notAgain
}

// redirected queues the target in the place of the page itself: same words,
// same parent, same distance. It passes the seen set, scope, robots rules and
// the address guard like any other link. A target that is the same page under
// another spelling, such as https for http, is what this entry is fetched from
// next.
func (c *Crawler) redirected(v *Visit) (again time.Duration) {
	e, target := &v.Entry, v.Response.Location
	v.Outcome.Kind = "redirect"
	switch {
	case target.IsZero():
		v.Outcome.Kind, v.Outcome.Reason = "error", "bad_redirect"
	case target == e.URL, e.Redirects >= MaxRedirects:
		v.Outcome.Kind, v.Outcome.Reason = "error", "redirect_loop"
	case c.Scope(target) != "":
		v.Outcome.Reason = c.Scope(target)
	case frontier.KeyOf(target) == frontier.KeyOf(e.URL):
		e.URL = target
		e.Redirects++
		return 0
	default:
		next := *e
		next.URL, next.Redirects, next.Retries, next.Found = target, e.Redirects+1, 0, v.Outcome.At
		v.Found = []frontier.Entry{next}
	}
	return notAgain
}

// learn tells the strategy what the trail of links to this page led to.
func (c *Crawler) learn(v *Visit) error {
	trail := []frontier.Node{{Entry: v.Entry}}
	if v.Entry.Depth > 0 {
		parents, err := c.Frontier.Trail(v.Entry.Parent, predictor.MaxDepth-1)
		if err != nil {
			return fmt.Errorf("trail of %s: %w", v.Entry.URL, err)
		}
		trail = append(trail, parents...)
	}
	c.Strategy.Learn(trail, v.Verdict.Relevant)
	return nil
}

// expand scores the links of a page. Distance counts links since the last
// relevant page, so it starts again behind a relevant one.
func (c *Crawler) expand(v *Visit) {
	depth, distance := v.Entry.Depth+1, v.Entry.Distance+1
	if v.Verdict.Relevant {
		distance = 1
	}
	v.Outcome.Dropped = map[string]int64{}
	key := frontier.KeyOf(v.Entry.URL)
	for _, l := range v.Page.Links {
		reason := c.Scope(l.To)
		if limit := c.Options.MaxDepth; reason == "" && limit > 0 && depth > limit {
			reason = "depth"
		}
		if reason != "" {
			v.Outcome.Dropped[reason]++
			continue
		}
		e := frontier.Entry{
			URL: l.To, Depth: depth, Distance: distance, Parent: key, Found: v.Outcome.At,
			Anchor: l.Anchor, Title: l.Title, Around: l.Around, Switch: l.From.Site() != l.To.Site(),
		}
		var keep bool
		if e.Priority, keep = c.Strategy.Score(&e); !keep {
			v.Outcome.Dropped["strategy"]++
			continue
		}
		v.Found = append(v.Found, e)
	}
}

// maxAddressKeys bounds the addresses of one page that are counted.
const maxAddressKeys = 1000

// addressKeys returns the distinct addresses of a page that lie in the region.
func addressKeys(v geoparse.Verdict) []string {
	var keys []string
	seen := map[string]bool{}
	for _, a := range v.Addresses {
		if k := a.Key(); a.InRegion && !seen[k] && len(keys) < maxAddressKeys {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// A hostSet remembers hosts, up to a bound beyond which it starts anew.
type hostSet struct {
	mu    sync.Mutex
	hosts map[string]bool
}

const maxHostSet = 100_000

func (s *hostSet) has(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host]
}

func (s *hostSet) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil || len(s.hosts) >= maxHostSet {
		s.hosts = map[string]bool{}
	}
	s.hosts[host] = true
}

// A pageBudget keeps pages done and in flight within the limit, so that a
// crawl of 1,000 pages does not end with 1,015.
type pageBudget struct {
	mu          sync.Mutex
	changed     *sync.Cond
	limit, done int64
	inFlight    int64
	closed      bool
}

// take waits for leave to visit one more page. It returns ErrPageLimit when
// the limit is reached and io.EOF when the run is over.
func (b *pageBudget) take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.limit > 0 && !b.closed && b.done < b.limit && b.done+b.inFlight >= b.limit {
		b.changed.Wait()
	}
	switch {
	case b.limit > 0 && b.done >= b.limit:
		return ErrPageLimit
	case b.closed:
		return io.EOF
	}
	b.inFlight++
	return nil
}

// give hands the leave back; isPage tells that it was used.
func (b *pageBudget) give(isPage bool) {
	b.mu.Lock()
	b.inFlight--
	if isPage {
		b.done++
	}
	b.mu.Unlock()
	b.changed.Broadcast()
}

// close ends all waiting.
func (b *pageBudget) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.changed.Broadcast()
}
