package crawler

import (
	"bytes"
	"context"
	"errors"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/polite/sitemap"
	"gazehound/crawler/weburl"
)

// A FileFetcher is a Fetcher that also fetches files other than pages, cut after max bytes. Other
// Fetchers read no sitemaps.
type FileFetcher interface {
	FetchPrefix(ctx context.Context, u weburl.URL, limit int64) (*page.Response, error)
}

// Bounds of sitemaps. The frontier's limit of URLs per host applies as well.
const (
	sitemapBytes    = 10 << 20 // of a decoded file
	sitemapPages    = 10_000   // of a file
	sitemapLists    = 50       // of an index
	sitemapNests    = 3        // indexes in indexes
	sitemapDistance = 2        // of URLs in a sitemap, which lack the words of links
)

// usualSitemap is where the sitemap of a host is that names none.
const usualSitemap = "/sitemap.xml"

// sitemaps queues the sitemaps that the host of a relevant page names in its robots.txt, or else
// usualSitemap, and the feeds that the page names, once per run.
func (c *Crawler) sitemaps(v *Visit) error {
	host := v.Entry.URL.Host()
	if !c.Options.Sitemaps || !v.Verdict.Relevant || c.mapped.has(host) {
		return nil
	}
	if _, ok := c.Fetcher.(FileFetcher); !ok {
		return nil
	}
	c.mapped.add(host)
	named := v.sitemaps
	if len(named) == 0 {
		named = []string{v.Entry.URL.Scheme() + "://" + host + usualSitemap}
	}
	var found []frontier.Entry
	add := func(u weburl.URL) {
		found = append(found, frontier.Entry{
			URL: u, Sitemap: true, Depth: v.Entry.Depth + 1, Distance: 1, Parent: frontier.KeyOf(
				v.Entry.URL), Found: v.Outcome.At,
		})
	}
	for _, raw := range named {
		u, err := weburl.Parse(raw)
		if err != nil || !sitemap.SameHost(u, v.Entry.URL) { // sitemaps of other hosts are ignored
			v.drop("sitemap_foreign", 1)
			continue
		}
		add(u)
	}
	for _, u := range v.Page.Feeds {
		if sitemap.SameHost(u, v.Entry.URL) {
			add(u)
		}
	}
	return c.find(v, found)
}

// readSitemap queues the URLs in a sitemap as if they were links of the relevant page that caused
// it to be read.
func (c *Crawler) readSitemap(v *Visit) error {
	e := &v.Entry
	file, err := sitemap.Read(bytes.NewReader(v.Response.Body), e.URL,
		sitemap.Limits{Bytes: sitemapBytes, Entries: sitemapPages})
	switch {
	case errors.Is(err, sitemap.ErrFormat) && e.URL.Path() == usualSitemap:
		v.end(frontier.KindSkipped, ReasonNoSitemap) // a page in its place says so with status 200
		return nil
	case err != nil && len(file.Pages)+len(file.Lists) == 0:
		v.end(frontier.KindError, "sitemap")
		return nil
	}
	v.Outcome.Kind = frontier.KindSitemap
	v.drop("sitemap_foreign", int64(file.Foreign))
	v.drop("bad_url", int64(file.Bad))
	var found []frontier.Entry
	for i, u := range file.Lists {
		switch {
		case e.Distance >= sitemapNests:
			v.drop("sitemap_nested", 1)
		case i >= sitemapLists:
			v.drop("sitemap_limit", 1)
		default:
			found = append(found, frontier.Entry{URL: u, Sitemap: true, Depth: e.Depth, Distance: e.Distance + 1,
				Parent: e.Parent, Found: v.Outcome.At})
		}
	}
	for _, u := range file.Pages {
		found = append(found, frontier.Entry{URL: u, Depth: e.Depth, Distance: sitemapDistance, Parent: e.Parent,
			Found: v.Outcome.At})
	}
	return c.find(v, found)
}
