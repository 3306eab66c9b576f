package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/page/simhash"
	"gazehound/crawler/polite"
)

// The reasons that the outcome of a page can have.
const (
	ReasonNoIndex = "noindex" // it asks not to be indexed
	ReasonNoCopy  = "no_copy" // it was replayed from an archive that may hold no copy of it
)

// MaxRedirects is the number of redirects in a row that a crawl goes along with.
const MaxRedirects = 10

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
		crawlDelay, v.sitemaps = d.Delay, d.Sitemaps
		switch {
		case d.Fetched && d.Asked != u.Host(): // robots.txt has moved, and took the other's turn
			c.Gate.Visited(d.Asked, turnOf(d.Response, d.Err, -1)) // the rules of the other are not these
			c.Gate.Visited(u.Host(), noRequest)
		case d.Fetched:
			c.Gate.Visited(u.Host(), turnOf(d.Response, d.Err, crawlDelay))
		case d.Wait > 0:
			c.Gate.Visited(u.Host(), noRequest)
			return d.Wait, nil
		case err != nil || d.Retry > 0 || !d.Allowed:
			c.Gate.Visited(u.Host(), noRequest)
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
			v.Outcome.Kind, v.Outcome.Reason = "skipped", cmp.Or(d.Barred, "robots")
			return notAgain, nil
		case d.Fetched: // robots.txt took this turn; the page gets another
			return 0, nil
		}
	}

	if c.reserved.first.has(u.Host()) {
		if _, known := c.reserved.of(u.Host()); !known {
			_, err := c.askReservations(ctx, u, crawlDelay)
			return 0, err
		}
	}
	r, err := c.fetch(ctx, v)
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
	case r.Status == 304 && v.Before != nil:
		v.Again = Same
		return notAgain, nil
	case r.Status == 304: // nobody asked on condition
		v.Outcome.Kind, v.Outcome.Reason = "error", fetch.ClassProtocol
		return notAgain, nil
	case r.Status >= 400:
		v.Outcome.Kind, v.Outcome.Reason = "error", "http_4xx"
		return notAgain, nil
	case r.Status != 200 && r.Status != 203:
		v.Outcome.Kind, v.Outcome.Reason = "skipped", "no_content"
		return notAgain, nil
	}
	if e.Sitemap {
		return notAgain, c.readSitemap(v)
	}
	nodes, _ := c.nodes.Get().(*page.Nodes)
	if nodes == nil {
		nodes = new(page.Nodes)
	}
	p, err := page.ParseIn(nodes, r)
	if err != nil {
		v.Outcome.Kind, v.Outcome.Reason = "error", "parse"
		return notAgain, nil
	}
	if p.Reserved && c.Options.Reservations {
		v.Outcome.Kind, v.Outcome.Reason = "skipped", "tdm_reserved"
		return notAgain, nil
	}
	verdict, err := c.Judge.Judge(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("judge %s: %w", u, err)
	}
	if r.Parsed == nil { // nobody else has the page: another one gets the memory of its tree
		p.Doc = nil
		nodes.Free()
		c.nodes.Put(nodes)
	}
	if verdict.Relevant && c.Options.Reservations {
		reserved, wait, err := c.reserves(ctx, u, crawlDelay)
		switch {
		case err != nil:
			return 0, err
		case wait > 0:
			return wait, nil
		case reserved:
			v.Outcome.Kind, v.Outcome.Reason = "skipped", "tdm_reserved"
			return notAgain, nil
		}
	}
	v.Page, v.Verdict = p, verdict
	if c.Traps != nil || c.Options.Revisits.First > 0 {
		v.text = simhash.Of(p.Text)
	}
	v.judged()
	return notAgain, nil
}

// fetch asks for e as what it is.
func (c *Crawler) fetch(ctx context.Context, v *Visit) (*page.Response, error) {
	e := &v.Entry
	files, ok := c.Fetcher.(FileFetcher)
	switch {
	case e.Sitemap && ok:
		return files.FetchPrefix(ctx, e.URL, sitemapBytes)
	case v.Before != nil:
		return c.fetchAgain(ctx, e.URL, v.Before)
	default:
		return c.Fetcher.Fetch(ctx, e.URL)
	}
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

// noRequest ends a turn that was not used.
var noRequest = polite.Visit{NoRequest: true}

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
	case fetch.ClassProtocol:
		if e, ok := errors.AsType[*fetch.Error](err); ok && e.Reused && v.Entry.Retries < c.Options.Retries {
			return c.retry(v)
		}
	case fetch.ClassTimeout, fetch.ClassConnect:
		if v.Entry.Retries < c.Options.Retries {
			return c.retry(v)
		}
	}
	v.Outcome.Kind, v.Outcome.Reason = "error", class
	return notAgain
}

// retry returns how long the page rests before it is asked for once more. How
// long its host rests is the gate's business.
func (c *Crawler) retry(v *Visit) (again time.Duration) {
	v.Entry.Retries++
	v.alone = true
	return c.Options.RetryWait << (v.Entry.Retries - 1)
}

// refused files a 429 or 5xx answer, or asks for another try.
func (c *Crawler) refused(v *Visit) (again time.Duration) {
	if v.Entry.Retries < c.Options.Retries {
		return c.retry(v)
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
