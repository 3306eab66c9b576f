package crawler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
)

// Rendering says which pages are rendered.
type Rendering struct {
	Auto  bool            // those whose text exists only after their scripts have run
	Hosts map[string]bool // all pages of these, by host as for ForHost
	Share float64         // of all pages at most, beside the first firstRenders of a crawl
}

// Bounds of rendering. A Renderer has further ones.
const (
	firstRenders  = 20
	renderedBytes = 4 << 20     // of a script, or of data that a page requests
	maxRenderWait = time.Minute // for the next slot of a host that a page requests something of
)

// wantsRendering reports whether to run the scripts of a page, as far as the share allows.
func (c *Crawler) wantsRendering(r *page.Response, p *page.Page) bool {
	listed, _ := ForHost(c.Options.Rendering.Hosts, r.URL)
	wanted := c.Renderer != nil && r.Rendered == nil && !p.NoIndex && (listed || c.Options.Rendering.Auto && p.NeedsScript)
	if !wanted || !strings.Contains(r.Header.Get("Content-Type"), "html") {
		return false
	}
	t := c.Frontier.Totals()
	return t.Rendered+c.renders.Load() < firstRenders+int64(c.Options.Rendering.Share*float64(t.Pages))
}

// render runs the scripts of the page p that was fetched and returns what they make of it, or p where
// they fail.
func (c *Crawler) render(ctx context.Context, v *Visit, p *page.Page) (*page.Page, error) {
	c.renders.Add(1)
	defer c.renders.Add(-1)
	r := v.Response
	html, err := c.Renderer.Render(ctx, r, c.fetchFor)
	v.RenderErr = err
	if err != nil {
		return p, nil
	}
	r.Rendered, v.Outcome.Rendered = html, true
	return page.Parse(r)
}

// fetchFor makes one request of a page that is rendered: as any other request it waits for the slot of
// its host, obeys robots.txt and respects what is barred.
func (c *Crawler) fetchFor(ctx context.Context, u weburl.URL) (*page.Response, error) {
	files, ok := c.Fetcher.(FileFetcher)
	if !ok {
		return nil, errors.New("crawl: the web has no files")
	}
	for {
		wait := c.Gate.Claim(u.Host())
		if wait <= 0 {
			d, err := c.Gate.Check(ctx, u)
			switch {
			case err != nil:
				return nil, err
			case d.Refused != "" || d.Unreachable:
				return nil, fmt.Errorf("crawl: %s may not be requested (%s)", u, d.Refused)
			case d.Now:
				r, err := files.FetchPrefix(ctx, u, renderedBytes)
				c.Gate.Visited(u.Host(), polite.VisitOf(r, err))
				return r, err
			}
			wait = d.Wait
		}
		if wait > maxRenderWait {
			return nil, fmt.Errorf("crawl: the host of %s has to wait for %v", u, wait)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
