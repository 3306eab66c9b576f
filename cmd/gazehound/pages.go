package main

import (
	"context"
	"fmt"
	"io"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/monitor/report"

	"github.com/spf13/cobra"
)

const pagesHelp = `Lists the relevant pages of the crawl with title, score and evidence, in the order of
their visits. It is the result of a crawl by language or topic, for which search and
export, which serve addresses, have nothing.

The evidence is the charset or language of a page, the topic's words with their counts,
or the number of its addresses. The score is 1 for a language, else how well the page
fits a topic, or the best confidence of its addresses. Pages marked noindex are left out.

--json prints one line per page, with its addresses if it has any, and a summary.

Exit status: 0 done, 2 unusable flag, 4 damaged data, 5 a crawl runs with
--admin off, 10 no crawl.

Examples:
  gazehound pages --best 20
  gazehound pages --format csv -o pages.csv
  gazehound pages --json | jq -r 'select(.type == "page") | .url'
`

// pagesOptions are the flags of pages.
type pagesOptions struct {
	format, output string
	best           int
}

func newPagesCommand(a *app) *cobra.Command {
	var o pagesOptions
	cmd := command("pages", "List the relevant pages that the crawl found", pagesHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if a.json {
				o.format = "json"
			}
			return a.readCrawl(func(_ project, _ *Config, f *frontier.Frontier) error {
				return a.pages(ctx, f, o)
			})
		}, "the list is not complete"))
	f := cmd.Flags()
	f.IntVar(&o.best, "best", 0, "only the `N` pages with the highest score, the best first")
	f.StringVar(&o.format, "format", "text", "text | csv")
	f.StringVarP(&o.output, "output", "o", "-", "`FILE` for that; - is standard output")
	between(f, "best", 1, report.MaxBest)
	oneOf(f, "format", report.PageFormats)
	return cmd
}

// pages lists the relevant pages of a crawl.
func (a *app) pages(ctx context.Context, f *frontier.Frontier, o pagesOptions) error {
	listed := 0
	err := a.writeReport(o.output, o.format, func(w io.Writer) (err error) {
		listed, err = report.WritePages(ctx, w, f, o.format, o.best)
		return err
	})
	if err != nil {
		return err
	}
	t := f.Totals()
	if a.json {
		return a.printJSON(fields{"type": "summary", "listed": listed, "relevant": t.Relevant, "pages": t.Pages,
			"exit_code": exitOK})
	}
	a.say("%s listed; %s of %s are relevant", several(listed, "page"), count(t.Relevant), several(t.Pages, "page"))
	return nil
}

// withoutAddresses describes the result of a crawl whose relevant pages have no addresses, as with
// judge language or topic; "" for other crawls or without relevant pages.
func (p project) withoutAddresses() string {
	relevant, addresses, about := int64(0), int64(0), ""
	if s, err := monitor.Read(p.status()); err == nil {
		relevant, addresses, about = s.Relevant, s.Addresses, " are about "+s.Region+" and"
	} else if f, err := p.crawlToRead(0); err == nil { // a replay writes no status file
		t := f.Totals()
		relevant, addresses = t.Relevant, t.Addresses
		f.Close() // nothing was written
	}
	if relevant == 0 || addresses > 0 {
		return ""
	}
	return fmt.Sprintf("the %s of this crawl%s hold no addresses, which are what search, serve and export offer. "+
		"\"gazehound pages\" lists them", several(relevant, "relevant page"), about)
}

// emptyIndex returns the advice for an empty index.
func (p project) emptyIndex() string {
	if text := p.withoutAddresses(); text != "" {
		return text
	}
	return fmt.Sprintf("no addresses in %s yet. Next: gazehound crawl", p.dir)
}
