package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gazehound/crawler/frontier"
)

// Recent is the number of last pages that count as recent.
const Recent = 1000

// maxPoints bounds a curve.
const maxPoints = 120

// maxRenderedHosts bounds the rendered hosts of a report.
const maxRenderedHosts = 20

// maxSilentHosts bounds the silent hosts of a report.
const maxSilentHosts = 20

// Options tune a report.
type Options struct {
	// Street returns the id of the street of an address that the crawl tree
	// names, or "" for one that the gazetteer does not have in the region. Nil:
	// there is no gazetteer, and Crawl.Streets is nil.
	Street  func(address string) string
	Streets int // that the gazetteer has in the region
}

// A Crawl is what a crawl has achieved, as its tree records it. Every URL counts
// once, however often it was visited.
type Crawl struct {
	Name           string  `json:"name"`
	Pages          int     `json:"pages"` // HTML pages
	Relevant       int     `json:"relevant"`
	Harvest        float64 `json:"harvest"`         // relevant ÷ pages
	HarvestRecent  float64 `json:"harvest_recent"`  // of the last Recent pages
	Contents       int     `json:"contents"`        // different texts among the relevant pages
	ContentHarvest float64 `json:"content_harvest"` // contents ÷ pages
	// relevant pages that held, at their visit, no address but site-wide ones
	SiteWide      int     `json:"site_wide"`
	OwnHarvest    float64 `json:"own_harvest"`        // (relevant − site-wide) ÷ pages
	Addresses     int     `json:"addresses"`          // distinct
	PerPage       float64 `json:"addresses_per_page"` // addresses ÷ pages
	Hosts         int     `json:"hosts"`              // with a page
	RelevantHosts int     `json:"relevant_hosts"`     // with a relevant page
	Biggest       Host    `json:"biggest_host"`       // the one with most relevant pages
	OffBiggest    Host    `json:"off_biggest_host"`   // all others together
	Branches
	Waiting int64   `json:"waiting"`           // links
	Curve   []Point `json:"curve"`             // the last point is the whole crawl
	Streets *Meter  `json:"streets,omitempty"` // nil without a gazetteer
	// hosts that gave nothing, those with the most URLs first, at most maxSilentHosts
	Silent []SilentHost `json:"silent_hosts,omitempty"`
	// hosts of which pages were rendered, those with the most pages first, at most maxRenderedHosts
	Rendered []RenderedHost `json:"rendered_hosts,omitempty"`
	// relevant pages whose text was not kept for comparing; each counts as different
	Untexted  int               `json:"untexted,omitzero"`
	addresses map[string]string // each with the host where it was found first
}

// A Host is what was found on a host, or on several.
type Host struct {
	Host      string  `json:"host,omitzero"`
	Pages     int     `json:"pages"`
	Relevant  int     `json:"relevant"`
	Harvest   float64 `json:"harvest"`
	Addresses int     `json:"addresses"` // distinct; other hosts may have some of them, too
}

// A RenderedHost is a host of which pages were rendered: their scripts were run.
type RenderedHost struct {
	Host     string `json:"host"`
	Pages    int    `json:"pages"`
	Relevant int    `json:"relevant"` // of these
}

// A Point is what had been found after some pages.
type Point struct {
	Pages     int `json:"pages"`
	Relevant  int `json:"relevant"`
	Addresses int `json:"addresses"`
	Streets   int `json:"streets"`
}

// Read computes the report on the crawl in f. It reads the crawl tree once and
// the queue once, and keeps the distinct addresses in memory.
func Read(ctx context.Context, name string, f *frontier.Frontier, o Options) (*Crawl, error) {
	totals := f.Totals()
	t := newCounter(o, int(max(1, (totals.Pages+maxPoints-1)/maxPoints)))
	err := f.Walk(ctx, 0, func(n frontier.Node) error {
		text := uint64(0)
		if n.Outcome.Kind == frontier.KindPage && n.Outcome.Relevant {
			check, _, err := f.Check(frontier.KeyOf(n.URL)) // zero where none was kept
			if err != nil {
				return err
			}
			text = check.Text
		}
		t.add(&n, text)
		return nil
	})
	if err == nil {
		err = f.WalkQueue(ctx, func(frontier.Node) error {
			t.crawl.Waiting++
			return nil
		})
	}
	var parked []frontier.ParkedPattern
	if err == nil {
		parked, err = f.Parked()
	}
	if err != nil {
		return nil, fmt.Errorf("report: %s: %w", name, err)
	}
	t.crawl.Name = name
	t.crawl.Silent = t.silence.Top(maxSilentHosts, parked)
	return t.finish(), nil
}

// A counter counts a crawl.
type counter struct {
	options Options
	step    int // pages from one point of the curve to the next
	crawl   *Crawl
	texts   map[uint64]bool
	hosts   map[string]*Host
	more    map[string]bool // addresses that a second host has, too
	meter   *meter
	silence Silence
	renders map[string]*RenderedHost
	recent  [Recent + 1]Point // after each of the last pages, by their number
}

func newCounter(o Options, step int) *counter {
	t := &counter{options: o, step: step, crawl: &Crawl{addresses: map[string]string{}}, texts: map[uint64]bool{},
		hosts: map[string]*Host{}, renders: map[string]*RenderedHost{}, more: map[string]bool{}}
	if o.Street != nil {
		t.meter = newMeter(o)
	}
	return t
}

// add counts a visit, in the order of the visits; text is the fingerprint of a relevant page, or 0.
func (t *counter) add(v *frontier.Node, text uint64) {
	c := t.crawl
	isPage := v.Outcome.Kind == frontier.KindPage
	t.silence.Visit(&v.Entry, &v.Outcome)
	if v.Outcome.Rendered {
		t.rendered(v)
	}
	if !isPage {
		return
	}
	c.Pages++
	c.Branches.Page(&v.Entry, v.Outcome.Relevant)
	name := v.URL.Host()
	host := t.hosts[name]
	if host == nil {
		host = &Host{Host: name}
		t.hosts[name] = host
	}
	host.Pages++
	if v.Outcome.Relevant {
		t.relevant(v, text, host)
	}
	now := t.point()
	if c.Pages%t.step == 0 {
		c.Curve = append(c.Curve, now)
	}
	t.recent[c.Pages%len(t.recent)] = now
}

// rendered counts a rendered page.
func (t *counter) rendered(v *frontier.Node) {
	name := v.URL.Host()
	host := t.renders[name]
	if host == nil {
		host = &RenderedHost{Host: name}
		t.renders[name] = host
	}
	host.Pages++
	if v.Outcome.Relevant {
		host.Relevant++
	}
}

// relevant counts a relevant page of host.
func (t *counter) relevant(v *frontier.Node, text uint64, host *Host) {
	c := t.crawl
	c.Relevant++
	host.Relevant++
	if text == 0 {
		c.Untexted++
	}
	if text == 0 || !t.texts[text] {
		t.texts[text] = true
		c.Contents++
	}
	if v.Outcome.SiteWide {
		c.SiteWide++
	}
	for _, a := range v.Outcome.Kept() {
		switch first, known := c.addresses[a]; {
		case !known:
			c.addresses[a] = host.Host
			host.Addresses++
		case first != host.Host:
			t.more[a] = true
		}
		if t.meter != nil {
			t.meter.mention(v.URL.Site(), a)
		}
	}
}

func (t *counter) point() Point {
	p := Point{Pages: t.crawl.Pages, Relevant: t.crawl.Relevant, Addresses: len(t.crawl.addresses)}
	if t.meter != nil {
		p.Streets = len(t.meter.streets)
	}
	return p
}

// finish completes the report.
func (t *counter) finish() *Crawl {
	c := t.crawl
	c.Branches.End()
	now := t.point()
	if len(c.Curve) == 0 || c.Curve[len(c.Curve)-1].Pages != c.Pages {
		c.Curve = append(c.Curve, now)
	}
	before := t.recent[(c.Pages+1)%len(t.recent)] // none where there were fewer pages
	c.Harvest = share(c.Relevant, c.Pages)
	c.HarvestRecent = share(c.Relevant-before.Relevant, c.Pages-before.Pages)
	c.ContentHarvest = share(c.Contents, c.Pages)
	c.OwnHarvest = share(c.Relevant-c.SiteWide, c.Pages)
	c.Addresses = len(t.crawl.addresses)
	c.PerPage = share(c.Addresses, c.Pages)
	c.Hosts = len(t.hosts)
	for _, h := range t.hosts {
		if h.Relevant > 0 {
			c.RelevantHosts++
		}
		if b := &c.Biggest; h.Relevant > b.Relevant || h.Relevant == b.Relevant && h.Relevant > 0 && h.Host < b.Host {
			c.Biggest = *h
		}
	}
	for _, h := range t.renders {
		c.Rendered = append(c.Rendered, *h)
	}
	slices.SortFunc(c.Rendered, func(a, b RenderedHost) int {
		return cmp.Or(b.Pages-a.Pages, cmp.Compare(a.Host, b.Host))
	})
	c.Rendered = c.Rendered[:min(len(c.Rendered), maxRenderedHosts)]
	c.Biggest.Addresses = 0
	for a, host := range c.addresses {
		if host == c.Biggest.Host {
			c.Biggest.Addresses++
		}
		if host != c.Biggest.Host || t.more[a] {
			c.OffBiggest.Addresses++
		}
	}
	c.OffBiggest.Pages, c.OffBiggest.Relevant = c.Pages-c.Biggest.Pages, c.Relevant-c.Biggest.Relevant
	c.OffBiggest.Harvest, c.Biggest.Harvest = share(c.OffBiggest.Relevant, c.OffBiggest.Pages),
		share(c.Biggest.Relevant, c.Biggest.Pages)
	if t.meter != nil {
		c.Streets = t.meter.read(now.Streets-before.Streets, c.Pages, c.Waiting)
	}
	return c
}

// Against compares the addresses of two crawls: added are only in c, gone only in the earlier one.
func (c *Crawl) Against(earlier *Crawl) (added, gone int) {
	for a := range c.addresses {
		if _, known := earlier.addresses[a]; !known {
			added++
		}
	}
	return added, len(earlier.addresses) - (len(c.addresses) - added)
}

// share returns a ÷ b, or 0 where b is 0.
func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
