package crawler

import (
	"bytes"
	"context"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/sitemap"
	"gazehound/crawler/tdm"
	"gazehound/crawler/weburl"
)

// A FileFetcher also brings files that are no pages, cut after max bytes. A
// Fetcher that is none asks for no sitemaps and no reservations.
type FileFetcher interface {
	FetchPrefix(ctx context.Context, u weburl.URL, max int64) (*page.Response, error)
}

// Bounds of what is taken from sitemaps. The frontier's limit of URLs per host
// stands above them.
const (
	sitemapBytes    = 10 << 20 // of a decoded file
	sitemapPages    = 10_000   // of a file
	sitemapLists    = 50       // of an index
	sitemapNests    = 3        // indexes in indexes
	sitemapDistance = 2        // of what a sitemap names: further off than a link of a relevant page, which has words
)

// sitemaps queues the lists that the host of a relevant page names in its
// robots.txt, once a run.
func (c *Crawler) sitemaps(v *Visit) {
	host := v.Entry.URL.Host()
	if !c.Options.Sitemaps || !v.Verdict.Relevant || len(v.sitemaps) == 0 || c.mapped.has(host) {
		return
	}
	if _, ok := c.Fetcher.(FileFetcher); !ok {
		return
	}
	c.mapped.add(host)
	for _, raw := range v.sitemaps {
		u, err := weburl.Parse(raw)
		if err != nil || u.Host() != host { // a host speaks for itself only
			v.drop("sitemap_foreign", 1)
			continue
		}
		c.find(v, frontier.Entry{
			URL: u, Sitemap: true, Depth: v.Entry.Depth + 1, Distance: 1, Parent: frontier.KeyOf(v.Entry.URL), Found: v.Outcome.At,
		})
	}
}

// readSitemap queues what a sitemap names, in the place of links of the
// relevant page because of which it was read.
func (c *Crawler) readSitemap(v *Visit) {
	e := &v.Entry
	file, err := sitemap.Read(bytes.NewReader(v.Response.Body), e.URL, sitemap.Limits{Bytes: sitemapBytes, Entries: sitemapPages})
	if err != nil && len(file.Pages)+len(file.Lists) == 0 {
		v.Outcome.Kind, v.Outcome.Reason = "error", "sitemap"
		return
	}
	v.Outcome.Kind = "sitemap"
	v.drop("sitemap_foreign", int64(file.Foreign))
	v.drop("bad_url", int64(file.Bad))
	for i, s := range file.Lists {
		switch {
		case e.Distance >= sitemapNests:
			v.drop("sitemap_nested", 1)
		case i >= sitemapLists:
			v.drop("sitemap_limit", 1)
		default:
			c.find(v, frontier.Entry{URL: s.URL, Sitemap: true, Depth: e.Depth, Distance: e.Distance + 1, Parent: e.Parent, Found: v.Outcome.At})
		}
	}
	for _, p := range file.Pages {
		c.find(v, frontier.Entry{URL: p.URL, Depth: e.Depth, Distance: sitemapDistance, Parent: e.Parent, Found: v.Outcome.At})
	}
}

// Reservations of rights are asked for once a host, in a turn of its own, and
// only when a page of the host is about to be kept: most hosts never have one.
// The page waits meanwhile.

// reserves tells what the host of u reserves; not known where nobody asked
// yet or it is too long ago.
func (r *reservations) reserves(u weburl.URL) (reserved, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.hosts[u.Host()]
	if !known || time.Now().After(h.until) {
		return false, false
	}
	return h.rules.Reserved(u), true
}

// asked tells whether the host of u has been asked.
func (r *reservations) asked(u weburl.URL) bool {
	_, known := r.reserves(u)
	return known
}

// A reservations remembers the hosts' reservations and the pages that wait for
// them.
type reservations struct {
	mu    sync.Mutex
	hosts map[string]reservation
	pages map[weburl.URL]*page.Response
}

type reservation struct {
	rules tdm.Rules
	until time.Time
}

const (
	maxReservations = 50_000 // hosts; beyond it all are asked again
	maxHeld         = 64     // pages; beyond it they are fetched again
	reservationTTL  = 24 * time.Hour
	reservationWait = 10 * time.Minute // after a failure
)

// hold keeps a page until its entry is visited again.
func (r *reservations) hold(p *page.Response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages == nil || len(r.pages) >= maxHeld {
		r.pages = make(map[weburl.URL]*page.Response)
	}
	r.pages[p.URL] = p
}

// held returns the page at u if it waits, and forgets it.
func (r *reservations) held(u weburl.URL) *page.Response {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pages[u]
	delete(r.pages, u)
	return p
}

// ask makes the request for the reservations of u's host. A host that does not
// answer has said nothing.
func (r *reservations) ask(ctx context.Context, f FileFetcher, u weburl.URL) (*page.Response, error) {
	at, err := u.Resolve(tdm.Path)
	if err != nil {
		return nil, err
	}
	response, err := f.FetchPrefix(ctx, at, tdm.MaxSize)
	said := reservation{until: time.Now().Add(reservationTTL)}
	switch {
	case err != nil || response.Status == 429 || response.Status >= 500:
		said.until = time.Now().Add(reservationWait)
	case response.Status == 200:
		said.rules = tdm.Parse(response.Body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil || len(r.hosts) >= maxReservations {
		r.hosts = make(map[string]reservation)
	}
	r.hosts[u.Host()] = said
	return response, err
}
