package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/index/export"

	"github.com/spf13/cobra"
)

// pageFormats are the formats of pages; --json is the third.
var pageFormats = []string{"text", "csv"}

// maxBest bounds --best: so many pages are held in memory.
const maxBest = 100_000

func newPagesCommand(a *app) *cobra.Command {
	var format, output string
	var best int
	cmd := &cobra.Command{
		Use:   "pages",
		Short: "List the relevant pages that the crawl found",
		Long: `Lists the relevant pages of the crawl with title, score and evidence, in the order
in which they were visited: what a crawl by language or topic is for, where search
and export have nothing, since they serve addresses.

The evidence is the code page or language of a page, the words of the topic that it
has and how often, or how many addresses it states. The score is 1 for a language,
how well the page fits for a topic, the best confidence for addresses. Pages that
ask not to be indexed are left out.

--json prints a line for each page, with its addresses if it has any, and a summary.

Exit status: 0 done, 2 unusable flag, 4 damaged data, 5 a crawl is running, 10 no
crawl.`,
		Example: `  gazehound pages --best 20
  gazehound pages --format csv -o pages.csv
  gazehound pages --json | jq -r 'select(.type == "page") | .url'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(pageFormats, format) {
				return fail(exitUsage, "--format: %.40q is not one of text, csv; --json is JSON.%s", format, didYouMean(format, pageFormats))
			}
			if a.flags.Changed("best") && (best < 1 || best > maxBest) {
				return fail(exitUsage, "--best must be 1 to %d, got %d", maxBest, best)
			}
			if a.json {
				format = "json"
			}
			return a.pages(cmd.Context(), format, output, best)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&best, "best", 0, "only the `N` pages with the highest score, the best first")
	f.StringVar(&format, "format", "text", "text | csv")
	f.StringVarP(&output, "output", "o", "-", "`FILE` for that; - is standard output")
	return cmd
}

// A foundPage is one relevant page.
type foundPage struct {
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

func foundPageOf(n *frontier.Node) foundPage {
	o := &n.Outcome
	p := foundPage{Type: "page", URL: n.URL.String(), Title: o.Title, Score: round(o.Score, 3), Evidence: o.Evidence, Addresses: o.Addresses,
		SiteWide: o.SiteWide, Links: n.Depth, Visit: n.Seq, At: o.At}
	if len(o.Addresses) > 0 {
		p.Evidence = several(len(o.Addresses), "address")
		if o.SiteWide {
			p.Evidence += ", as on most pages of the host"
		}
	}
	return p
}

// pages lists the relevant pages of the project's crawl.
func (a *app) pages(ctx context.Context, format, output string, best int) (err error) {
	ctx, stop := signals(ctx)
	defer stop()
	p, cfg, err := a.project(nil)
	if err != nil {
		return err
	}
	f, err := p.openCrawl(int64(cfg.Storage.Memory))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()

	listed := 0
	err = a.writeOut(output, func(w io.Writer) error {
		list, end := pageWriter(w, format)
		walk := func(fn func(foundPage) error) error {
			return f.Walk(ctx, 0, func(n frontier.Node) error {
				if o := &n.Outcome; o.Kind != "page" || !o.Relevant || o.Reason == crawler.ReasonNoIndex {
					return nil
				}
				return fn(foundPageOf(&n))
			})
		}
		count := func(p foundPage) error {
			listed++
			return list(p)
		}
		if best > 0 {
			all, err := bestPages(walk, best)
			if err != nil {
				return err
			}
			for _, p := range all {
				if err := count(p); err != nil {
					return err
				}
			}
		} else if err := walk(count); err != nil {
			return err
		}
		return end()
	})
	if ctx.Err() != nil {
		return fail(exitStopped, "stopped; the list is not complete")
	} else if err != nil {
		return err
	}
	t := f.Totals()
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "listed": listed, "relevant": t.Relevant, "pages": t.Pages, "exit_code": exitOK})
	}
	a.say("%s listed; %s of %s are relevant", several(listed, "page"), count(t.Relevant), several(t.Pages, "page"))
	return nil
}

// bestPages returns the n pages with the highest score, the best first and the
// earlier visit before the later one, and holds no more than 2n.
func bestPages(walk func(func(foundPage) error) error, n int) ([]foundPage, error) {
	var all []foundPage
	keep := func() {
		slices.SortFunc(all, func(a, b foundPage) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Visit, b.Visit)) })
		all = all[:min(len(all), n)]
	}
	err := walk(func(p foundPage) error {
		if all = append(all, p); len(all) >= 2*n {
			keep()
		}
		return nil
	})
	keep()
	return all, err
}

// pageWriter returns what writes a page in a format, and what ends the list.
func pageWriter(w io.Writer, format string) (list func(foundPage) error, end func() error) {
	nothing := func() error { return nil }
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(p foundPage) error { return enc.Encode(p) }, nothing
	case "csv":
		c := csv.NewWriter(w)
		c.Write([]string{"url", "title", "score", "evidence", "links_from_seed", "visit", "at"}) // an error comes again at the end
		return func(p foundPage) error {
				return c.Write([]string{export.Guard(p.URL), export.Guard(p.Title), strconv.FormatFloat(p.Score, 'f', -1, 64), export.Guard(p.Evidence),
					strconv.Itoa(p.Links), strconv.FormatUint(p.Visit, 10), p.At.UTC().Format(time.RFC3339)})
			}, func() error {
				c.Flush()
				return c.Error()
			}
	}
	return func(p foundPage) error {
		_, err := fmt.Fprintf(w, "%5.3f  %s\n       %s  (%s)\n", p.Score, oneLine(p.URL), oneLine(cmp.Or(p.Title, "without a title")), oneLine(p.Evidence))
		return err
	}, nothing
}

// withoutAddresses says what a crawl has found whose relevant pages hold no
// address, as one by language or topic; "" where they do or there are none.
func (p project) withoutAddresses() string {
	relevant, addresses, about := int64(0), int64(0), ""
	if s, err := monitor.Read(p.status()); err == nil {
		relevant, addresses, about = s.Relevant, s.Addresses, " are about "+s.Region+" and"
	} else if f, err := p.openCrawl(0); err == nil { // replay writes no status
		t := f.Totals()
		relevant, addresses = t.Relevant, t.Addresses
		f.Close() // nothing was written
	}
	if relevant == 0 || addresses > 0 {
		return ""
	}
	return fmt.Sprintf("the %s of this crawl%s hold no addresses, which are what search, serve and export offer. \"gazehound pages\" lists them", several(relevant, "relevant page"), about)
}

// emptyIndex says what to do where the index holds nothing.
func (p project) emptyIndex() string {
	if text := p.withoutAddresses(); text != "" {
		return text
	}
	return fmt.Sprintf("no pages in %s yet. Start: gazehound crawl", p.dir)
}
