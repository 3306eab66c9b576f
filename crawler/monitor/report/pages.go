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
	Type      string    `json:"type"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	Score     float64   `json:"score"`
	Evidence  string    `json:"evidence"`
	Addresses []string  `json:"addresses,omitempty"` // ids
	SiteWide  bool      `json:"site_wide,omitempty"`
	Links     int       `json:"links_from_seed"`
	Visit     uint64    `json:"visit"` // its number in the order of all visits
	At        time.Time `json:"at"`
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

// WritePages writes the relevant pages of a crawl in a format, in the order of
// their visits, or the best ones where best is above 0, and says how many.
func WritePages(ctx context.Context, w io.Writer, f *frontier.Frontier, format string, best int) (
	listed int, err error) {
	b := bufio.NewWriter(w)
	write := pageWriter(b, format)
	list := func(p Page) error {
		listed++
		return write(p)
	}
	walk := func(fn func(Page) error) error {
		return f.Walk(ctx, 0, func(n frontier.Node) error {
			if o := &n.Outcome; o.Kind != frontier.KindPage || !o.Relevant || o.Reason == crawler.ReasonNoIndex {
				return nil
			}
			return fn(pageOf(&n))
		})
	}
	if best == 0 {
		err = walk(list)
	} else {
		var all []Page
		all, err = bestPages(walk, best)
		for _, p := range all {
			err = cmp.Or(err, list(p))
		}
	}
	return listed, cmp.Or(err, b.Flush())
}

// bestPages returns the n pages with the highest score, the best first and the
// earlier visit before the later one, and holds no more than 2n.
func bestPages(walk func(func(Page) error) error, n int) ([]Page, error) {
	var all []Page
	keep := func() {
		slices.SortFunc(all, func(a, b Page) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score),
				cmp.Compare(a.Visit, b.Visit))
		})
		all = all[:min(len(all), n)]
	}
	err := walk(func(p Page) error {
		all = append(all, p)
		if len(all) >= 2*n {
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
		c.Write([]string{"url", "title", "score", "evidence", "links_from_seed", "visit", "at"})
		c.Flush() // an error comes again with the next page and at the end
		return func(p Page) error {
			c.Write([]string{textutil.Guard(p.URL), textutil.Guard(p.Title),
				strconv.FormatFloat(p.Score, 'f', -1, 64), textutil.Guard(p.Evidence),
				strconv.Itoa(p.Links), strconv.FormatUint(p.Visit, 10), p.At.UTC().Format(time.RFC3339)})
			c.Flush()
			return c.Error()
		}
	}
	return func(p Page) error {
		_, err := fmt.Fprintf(w, "%5.3f  %s\n       %s  (%s)\n", p.Score, textutil.OneLine(p.URL),
			textutil.OneLine(cmp.Or(p.Title, "without a title")), textutil.OneLine(p.Evidence))
		return err
	}
}
