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

func newPagesCommand(a *app) *cobra.Command {
	var format, output string
	var best int
	cmd := command("pages", "List the relevant pages that the crawl found", noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if a.json {
				format = "json"
			}
			return a.readCrawl(func(_ project, _ *Config, f *frontier.Frontier) error {
				return a.pages(ctx, f, format, output, best)
			})
		}, "the list is not complete"))
	f := cmd.Flags()
	f.IntVar(&best, "best", 0, "only the `N` pages with the highest score, the best first")
	f.StringVar(&format, "format", "text", "text | csv")
	f.StringVarP(&output, "output", "o", "-", "`FILE` for that; - is standard output")
	between(f, "best", 1, report.MaxBest)
	oneOf(f, "format", report.PageFormats)
	return cmd
}

// pages lists the relevant pages of a crawl.
func (a *app) pages(ctx context.Context, f *frontier.Frontier, format, output string, best int) error {
	listed := 0
	err := a.writeReport(output, format, func(w io.Writer) (err error) {
		listed, err = report.WritePages(ctx, w, f, format, best)
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
