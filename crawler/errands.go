package crawler

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/polite/sitemap"
	"gazehound/crawler/polite/tdm"
	"gazehound/crawler/weburl"

	"golang.org/x/sync/singleflight"
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
func (c *Crawler) sitemaps(v *Visit) error {
	host := v.Entry.URL.Host()
	if !c.Options.Sitemaps || !v.Verdict.Relevant || len(v.sitemaps) == 0 || c.mapped.has(host) {
		return nil
	}
	if _, ok := c.Fetcher.(FileFetcher); !ok {
		return nil
	}
	c.mapped.add(host)
	var found []frontier.Entry
	for _, raw := range v.sitemaps {
		u, err := weburl.Parse(raw)
		if err != nil || u.Host() != host { // a host speaks for itself only
			v.drop("sitemap_foreign", 1)
			continue
		}
		found = append(found, frontier.Entry{
			URL: u, Sitemap: true, Depth: v.Entry.Depth + 1, Distance: 1, Parent: frontier.KeyOf(v.Entry.URL), Found: v.Outcome.At,
		})
	}
	return c.find(v, found)
}

// readSitemap queues what a sitemap names, in the place of links of the
// relevant page because of which it was read.
func (c *Crawler) readSitemap(v *Visit) error {
	e := &v.Entry
	file, err := sitemap.Read(bytes.NewReader(v.Response.Body), e.URL, sitemap.Limits{Bytes: sitemapBytes, Entries: sitemapPages})
	if err != nil && len(file.Pages)+len(file.Lists) == 0 {
		v.Outcome.Kind, v.Outcome.Reason = "error", "sitemap"
		return nil
	}
	v.Outcome.Kind = "sitemap"
	v.drop("sitemap_foreign", int64(file.Foreign))
	v.drop("bad_url", int64(file.Bad))
	var found []frontier.Entry
	for i, s := range file.Lists {
		switch {
		case e.Distance >= sitemapNests:
			v.drop("sitemap_nested", 1)
		case i >= sitemapLists:
			v.drop("sitemap_limit", 1)
		default:
			found = append(found, frontier.Entry{URL: s.URL, Sitemap: true, Depth: e.Depth, Distance: e.Distance + 1, Parent: e.Parent, Found: v.Outcome.At})
		}
	}
	for _, p := range file.Pages {
		found = append(found, frontier.Entry{URL: p.URL, Depth: e.Depth, Distance: sitemapDistance, Parent: e.Parent, Found: v.Outcome.At})
	}
	return c.find(v, found)
}

// Reservations of rights are asked for once a host, in a turn of its own, and
// only when a page of the host is about to be kept: most hosts never have one.
// The page waits for that turn in the hands of its worker. So no more pages are
// fetched and not yet stored than there are workers, and that is what a crash
// can make the crawl fetch again.

// A reservations remembers what hosts reserve.
type reservations struct {
	mu     sync.Mutex
	hosts  map[string]reservation
	first  hostSet            // hosts that are asked before another page of theirs is fetched
	asking singleflight.Group // by host
}

type reservation struct {
	rules tdm.Rules
	until time.Time
}

const (
	maxReservations     = 50_000 // hosts; beyond it all are asked again
	reservationTTL      = 24 * time.Hour
	reservationWait     = 10 * time.Minute // after a failure
	reservationPatience = time.Minute      // that a page waits for the next turn of its host
)

// of returns what a host reserves; not known where nobody asked yet or it is
// too long ago.
func (r *reservations) of(host string) (rules tdm.Rules, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.hosts[host]
	return h.rules, known && time.Now().Before(h.until)
}

func (r *reservations) remember(host string, said reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil || len(r.hosts) >= maxReservations {
		r.hosts = make(map[string]reservation)
	}
	r.hosts[strings.Clone(host)] = said
}

// reserves tells whether its host reserves the rights to u. It waits until the
// host may be asked, if nobody has. A host that rests for longer than
// reservationPatience is asked in its next turn, before the page is fetched
// again; then the time until that is returned.
func (c *Crawler) reserves(ctx context.Context, u weburl.URL, crawlDelay time.Duration) (reserved bool, wait time.Duration, err error) {
	if _, ok := c.Fetcher.(FileFetcher); !ok {
		return false, 0, nil
	}
	host := u.Host()
	type answer struct {
		rules tdm.Rules
		wait  time.Duration
	}
	said, err, _ := c.reserved.asking.Do(host, func() (any, error) {
		for {
			if rules, known := c.reserved.of(host); known {
				return answer{rules: rules}, nil
			}
			wait := c.Gate.Claim(host)
			switch {
			case wait <= 0:
				rules, err := c.askReservations(ctx, u, crawlDelay)
				return answer{rules: rules}, err
			case wait > reservationPatience:
				c.reserved.first.add(host)
				return answer{wait: wait}, nil
			}
			turn := time.NewTimer(wait)
			select {
			case <-turn.C:
			case <-ctx.Done():
				turn.Stop()
				return answer{}, ctx.Err()
			}
		}
	})
	a := said.(answer)
	return a.rules.Reserved(u), a.wait, err
}

// askReservations uses the turn of u's host to ask what it reserves. A host
// that does not answer has said nothing.
func (c *Crawler) askReservations(ctx context.Context, u weburl.URL, crawlDelay time.Duration) (tdm.Rules, error) {
	at, err := u.Resolve(tdm.Path)
	if err != nil {
		c.Gate.Visited(u.Host(), noRequest)
		return tdm.Rules{}, err
	}
	response, err := c.Fetcher.(FileFetcher).FetchPrefix(ctx, at, tdm.MaxSize)
	c.Gate.Visited(u.Host(), turnOf(response, err, crawlDelay))
	if ctx.Err() != nil {
		return tdm.Rules{}, ctx.Err()
	}
	said := reservation{until: time.Now().Add(reservationTTL)}
	switch {
	case err != nil || response.Status == 429 || response.Status >= 500:
		said.until = time.Now().Add(reservationWait)
	case response.Status == 200:
		said.rules = tdm.Parse(response.Body)
	}
	c.reserved.remember(u.Host(), said)
	return said.rules, nil
}
