package main

import (
	"context"
	"fmt"
	"io"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

const pagesHelp = `Lists the relevant pages of the crawl with title, score and evidence, in the order of
their visits. It is the result of a crawl by language or topic, for which search and
export, which serve addresses, have nothing.

The evidence is the charset or language of a page, the topic's words with their counts,
or the number of its addresses. The score is 1 for a language, else how well the page
fits a topic, or the best confidence of its addresses. Pages marked noindex are left out.

Of a crawl by strategy trend each page also has its importance, from 0 to 1: how well its text
fits the topic, by all pages that the crawl has read by now, and how long people stay on it.
--best N --by importance lists the most important ones. The flags of the crawl are known; others
take their place.

--json prints one line per page, with its addresses if it has any, and a summary.

Exit status: 0 done, 2 unusable flag, 4 damaged data, 5 a crawl runs with
--admin off, 10 no crawl.

Examples:
  gazehound pages --best 20
  gazehound pages --format csv -o pages.csv
  gazehound pages --best 20 --by importance
  gazehound pages --json | jq -r 'select(.type == "page") | .url'
`

// pagesOptions are the flags of pages.
type pagesOptions struct {
	format, output, by string
	best               int
}

func newPagesCommand(a *app) *cobra.Command {
	var o pagesOptions
	cmd := command("pages", "List the relevant pages that the crawl found", pagesHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if a.json {
				o.format = "json"
			}
			return a.readCrawl(func(p project, cfg *Config, f *frontier.Frontier) error {
				importance, err := a.importanceOf(ctx, p, cfg, f)
				if err != nil && (o.by == "importance" || a.flags.Changed("strategy")) {
					return err
				} else if err != nil { // the topics of the crawl may be gone
					a.warn("pages are listed without their importance: %s", oneLine(err.Error()))
				}
				return a.pages(ctx, f, o, importance)
			})
		}, "the list is not complete"))
	f := cmd.Flags()
	f.IntVar(&o.best, "best", 0, "only the `N` best pages, the best first")
	f.StringVar(&o.by, "by", "score", "what --best goes by: score | importance")
	f.StringVar(&o.format, "format", "text", "text | csv")
	f.StringVarP(&o.output, "output", "o", "-", "`FILE` for that; - is standard output")
	between(f, "best", 1, report.MaxBest)
	oneOf(f, "by", []string{"score", "importance"})
	oneOf(f, "format", report.PageFormats)
	strategyFlags(f)
	config.All().AddFlags(f, "crawl.topics", "crawl.topic")
	return cmd
}

// importanceOf returns what rates the pages of a crawl by strategy trend; nil with other strategies.
func (a *app) importanceOf(ctx context.Context, p project, cfg *Config, f *frontier.Frontier) (
	func(*frontier.Node) float64, error) {
	model := predictor.NewModel(cfg.ModelOptions()) // trend asks it of links only
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return nil, err
	}
	rater, ok := strategy.(order.PageRater)
	if !ok {
		return nil, nil
	}
	err = (&crawler.Learned{Tree: f, Model: model, Strategy: strategy}).Restore(ctx)
	return func(n *frontier.Node) float64 { return rater.Importance(n.URL, &n.Outcome) }, err
}

// pages lists the relevant pages of a crawl.
func (a *app) pages(ctx context.Context, f *frontier.Frontier, o pagesOptions,
	importance func(*frontier.Node) float64) error {
	switch {
	case o.by == "importance" && o.best == 0:
		return fail(badUsage, "--by importance belongs to --best N: without it pages are listed in the order of "+
			"their visits")
	case o.by == "importance" && importance == nil:
		return fail(badUsage, "--by importance needs a crawl by --strategy trend; give its flags again, or set "+
			"crawl.strategy and crawl.topics in the configuration of the crawl")
	}
	listed := 0
	err := a.writeReport(o.output, o.format, func(w io.Writer) (err error) {
		listed, err = report.WritePages(ctx, w, f, report.PageOptions{Format: o.format, Best: o.best,
			ByImportance: o.by == "importance", Importance: importance})
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
