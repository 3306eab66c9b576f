package report

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/internal/textutil"
)

// PageFormats are the formats of WritePages besides json.
var PageFormats = []string{"text", "csv"}

// MaxBest bounds the best pages that WritePages lists: it holds twice as
// many in memory.
const MaxBest = 100_000

// A Page is one relevant page.
type Page struct {
	Type  string  `json:"type"`
	URL   string  `json:"url"`
	Title string  `json:"title"`
	Score float64 `json:"score"`
	// by strategy trend, from 0 to 1; nil by others
	Importance *float64  `json:"importance,omitempty"`
	Evidence   string    `json:"evidence"`
	Addresses  []string  `json:"addresses,omitempty"` // ids
	SiteWide   bool      `json:"site_wide,omitempty"`
	Links      int       `json:"links_from_seed"`
	Visit      uint64    `json:"visit"` // its number in the order of all visits
	At         time.Time `json:"at"`
}

// PageOptions say which pages WritePages lists, and how.
type PageOptions struct {
	Format string // json, or one of PageFormats
	Best   int    // how many of the best pages; 0: all, in the order of their visits
	// ByImportance: the best pages are the most important ones, not those with the highest score
	ByImportance bool
	Importance   func(n *frontier.Node) float64 // of a page, from 0 to 1; nil: the crawl rates none
}

func (o *PageOptions) page(n *frontier.Node) Page {
	p := pageOf(n)
	if o.Importance != nil {
		i := math.Round(o.Importance(n)*1e6) / 1e6
		p.Importance = &i
	}
	return p
}

// rank is what the best pages have most of.
func (o *PageOptions) rank(p *Page) float64 {
	if o.ByImportance {
		return *p.Importance
	}
	return p.Score
}

func pageOf(n *frontier.Node) Page {
	o := &n.Outcome
	p := Page{Type: "page", URL: n.URL.String(), Title: o.Title, Score: math.Round(o.Score*1000) / 1000,
		Evidence: o.Evidence, Addresses: o.Addresses,
		SiteWide: o.SiteWide, Links: n.Depth, Visit: n.Seq, At: o.At}
	if len(o.Addresses) > 0 {
		p.Evidence = textutil.Several(len(o.Addresses), "address")
		if o.SiteWide {
			p.Evidence += ", as on most pages of the host"
		}
	}
	return p
}

// WritePages writes the relevant pages of a crawl, and says how many.
func WritePages(ctx context.Context, w io.Writer, f *frontier.Frontier, o PageOptions) (listed int, err error) {
	b := bufio.NewWriter(w)
	write := pageWriter(b, o.Format)
	list := func(p Page) error {
		listed++
		return write(p)
	}
	walk := func(fn func(Page) error) error {
		return f.Walk(ctx, 0, func(n frontier.Node) error {
			if o := &n.Outcome; o.Kind != frontier.KindPage || !o.Relevant || o.Reason == crawler.ReasonNoIndex {
				return nil
			}
			return fn(o.page(&n))
		})
	}
	if o.Best == 0 {
		err = walk(list)
	} else {
		var all []Page
		all, err = o.bestPages(walk)
		for _, p := range all {
			err = cmp.Or(err, list(p))
		}
	}
	return listed, cmp.Or(err, b.Flush())
}

// bestPages returns the best pages, the best first and the earlier visit before the later one, and
// holds no more than twice as many.
func (o *PageOptions) bestPages(walk func(func(Page) error) error) ([]Page, error) {
	var all []Page
	keep := func() {
		slices.SortFunc(all, func(a, b Page) int {
			return cmp.Or(cmp.Compare(o.rank(&b), o.rank(&a)), cmp.Compare(a.Visit, b.Visit))
		})
		all = all[:min(len(all), o.Best)]
	}
	err := walk(func(p Page) error {
		all = append(all, p)
		if len(all) >= 2*o.Best {
			keep()
		}
		return nil
	})
	keep()
	return all, err
}

// pageWriter returns what writes a page in a format.
func pageWriter(w io.Writer, format string) func(Page) error {
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(p Page) error { return enc.Encode(p) }
	case "csv":
		c := csv.NewWriter(w)
		c.Write([]string{"url", "title", "score", "evidence", "links_from_seed", "visit", "at", "importance"})
		c.Flush() // an error comes again with the next page and at the end
		return func(p Page) error {
			importance := ""
			if p.Importance != nil {
				importance = strconv.FormatFloat(*p.Importance, 'f', -1, 64)
			}
			c.Write([]string{textutil.Guard(p.URL), textutil.Guard(p.Title),
				strconv.FormatFloat(p.Score, 'f', -1, 64), textutil.Guard(p.Evidence),
				strconv.Itoa(p.Links), strconv.FormatUint(p.Visit, 10), p.At.UTC().Format(time.RFC3339), importance})
			c.Flush()
			return c.Error()
		}
	}
	return func(p Page) error {
		importance := ""
		if p.Importance != nil {
			importance = fmt.Sprintf(", importance %.3f", *p.Importance)
		}
		_, err := fmt.Fprintf(w, "%5.3f  %s\n       %s  (%s%s)\n", p.Score, textutil.OneLine(p.URL),
			textutil.OneLine(cmp.Or(p.Title, "without a title")), textutil.OneLine(p.Evidence), importance)
		return err
	}
}
