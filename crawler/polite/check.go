package polite

import (
	"context"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// A Decision reports whether a URL may be asked for in the turn that Claim gave.
type Decision struct {
	Now     bool          // it may; the turn goes on until Visited. In all other cases the turn has ended
	Refused string        // why it may never be, in a word: "robots", or what Options.Barred said
	Wait    time.Duration // where neither: until the next try, in another turn

	// Unreachable tells that the robots.txt cannot be had, which forbids the whole
	// host for Wait. Err is why, such as a *fetch.Error of class dns, or nil where
	// the host answered with a bad status.
	Unreachable bool
	Err         error

	Sitemaps []string // canonical URLs that the host names, at most 100; not to be changed
}

// Check reports whether u may be asked for now, in the turn of its host that Claim
// gave. Where the robots.txt of the host is not known, the turn is used to fetch it.
// The only error is that of ctx.
func (g *Gate) Check(ctx context.Context, u weburl.URL) (d Decision, err error) {
	host := u.Host()
	used := noRequest // what the turn was used for, unless it goes on
	defer func() {
		if !d.Now {
			g.Visited(host, used)
		}
	}()
	if g.options.Barred != nil {
		if reason := g.options.Barred(u); reason != "" {
			return Decision{Refused: reason}, nil
		}
	}
	rules := robots.Decision{Allowed: true}
	if g.robots != nil {
		if rules, err = g.robots.Check(ctx, u); err != nil {
			return Decision{}, err
		}
	}
	delay := rules.Delay
	if g.options.HostDelay != nil {
		delay = max(delay, g.options.HostDelay(u))
	}
	g.setCrawlDelay(host, delay)
	switch {
	case rules.Fetched && rules.Asked == host:
		used = VisitOf(rules.Response, rules.Err)
	case rules.Fetched: // robots.txt has moved, and took the turn of another host
		g.raiseCrawlDelay(rules.Asked)
		g.Visited(rules.Asked, VisitOf(rules.Response, rules.Err))
	}
	d.Sitemaps = rules.Sitemaps
	switch {
	case rules.Wait > 0:
		d.Wait = rules.Wait
	case rules.Retry > 0:
		d.Unreachable, d.Wait, d.Err = true, rules.Retry, rules.Err
	case !rules.Allowed:
		d.Refused = "robots"
	case rules.Fetched: // the page gets the next turn
	default:
		d.Wait = g.owed(delay)
		d.Now = d.Wait == 0
	}
	if d.Now && g.awaitsReservations(host) {
		d.Now = false
		_, used, err = g.askReservations(ctx, u)
	}
	return d, err
}

// setCrawlDelay notes the delay that a host wants.
func (g *Gate) setCrawlDelay(name string, delay time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.hosts[name]; h != nil {
		h.crawl = delay
	}
}

// raiseCrawlDelay notes the delay that the options want for a host, which may not
// have been checked in this run, where it is the longer one.
func (g *Gate) raiseCrawlDelay(name string) {
	u, err := weburl.Parse("http://" + name + "/")
	if err != nil || g.options.HostDelay == nil {
		return
	}
	delay := g.options.HostDelay(u)
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.hosts[name]; h != nil {
		h.crawl = max(h.crawl, delay)
	}
}

// VisitOf is how a request ended: with a response or an error.
func VisitOf(r *page.Response, err error) Visit {
	v := Visit{Err: err, CrawlDelay: -1}
	if r != nil {
		v.IP, v.Took, v.Status = r.RemoteIP, r.Took, r.Status
		v.RetryAfter = RetryAfter(r.Header.Get("Retry-After"), r.Fetched)
	}
	return v
}

// noRequest ends a turn that was not used.
var noRequest = Visit{NoRequest: true}
