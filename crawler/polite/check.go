package polite

import (
	"context"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
)

// A Decision is whether a URL may be requested in the slot that Claim took.
type Decision struct {
	// it may; the slot is held until Visited. In all other cases it is released
	Now     bool
	Refused string        // why it may never be: "robots", or the reason of Options.Barred
	Wait    time.Duration // otherwise: time until the next try, in another slot

	// Unreachable means that robots.txt cannot be fetched, which forbids the whole host for Wait.
	// Err is the reason, such as a *fetch.Error of class dns, or nil if the host answered with a
	// bad status.
	Unreachable bool
	Err         error

	Sitemaps []string // canonical URLs in robots.txt, at most 100; read-only
}

// Check reports whether u may be requested now, in the slot of its host that Claim took. If the
// host's robots.txt is not known, the slot is used to fetch it. The only error is that of ctx.
func (g *Gate) Check(ctx context.Context, u weburl.URL) (d Decision, err error) {
	host := u.Host()
	used := noRequest // the request of the slot, unless the slot is kept
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
	d.Wait = g.recall(host)
	if d.Wait > 0 {
		return d, nil
	}
	rules := robots.Decision{Allowed: true}
	if g.robots != nil {
		rules, err = g.robots.Check(ctx, u)
		if err != nil {
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
	case rules.Fetched: // robots.txt has moved and used the slot of another host
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
	case rules.Fetched: // the page gets the next slot
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

// setCrawlDelay stores the Crawl-delay of a host.
func (g *Gate) setCrawlDelay(name string, delay time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.hosts[name]; h != nil {
		h.crawl = delay
	}
}

// raiseCrawlDelay raises the delay of a host to that of Options.HostDelay; the host may not have
// been checked in this run.
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

// VisitOf returns the Visit for a response or an error.
func VisitOf(r *page.Response, err error) Visit {
	v := Visit{Err: err, CrawlDelay: -1}
	if r != nil {
		v.IP, v.Took, v.Status = r.RemoteIP, r.Took, r.Status
		v.RetryAfter = RetryAfter(r.Header.Get("Retry-After"), r.Fetched)
	}
	return v
}

// noRequest releases a slot that was not used.
var noRequest = Visit{NoRequest: true}
