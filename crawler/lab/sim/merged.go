package sim

import (
	"context"
	"fmt"

	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/predictor/topic"
)

// MergeSeeds merges the recorded pages of all seeds into one document, by which Ahmadi-Abkenari &
// Selamat 2010 (section 9) want to evaluate a crawl, and returns what rates texts by it: Okapi
// with N, df and the mean length of all pages that can be reached.
func MergeSeeds(ctx context.Context, a *warc.Archive, seeds []weburl.URL, o topic.Options) (*topic.Okapi, error) {
	var words []string
	for _, u := range seeds {
		r, err := a.Fetch(ctx, u)
		if err != nil {
			continue // was not recorded
		}
		if p, err := page.Parse(r); err == nil {
			words = append(words, topic.Words(wholeText(p))...)
		}
	}
	okapi, err := topic.NewOkapi(words, o)
	if err != nil {
		return nil, fmt.Errorf("sim: no page of a seed was recorded: %w", err)
	}
	_, err = FromWARC(ctx, "all pages", a, seeds, func(p *page.Page) (Page, error) {
		okapi.Observe(okapi.Read(wholeText(p)))
		return Page{}, nil
	})
	return okapi, err
}

func wholeText(p *page.Page) string { return p.Title + "\n" + p.Text }

// WithText is a Labeller that keeps, beside what label does, the text of a page: a strategy whose
// Okapi rates by the pages of the crawl reads it.
func WithText(label Labeller) Labeller {
	return func(p *page.Page) (Page, error) {
		known, err := label(p)
		known.Text = wholeText(p)
		return known, err
	}
}

// Rated is a Labeller that says, beside what label does, how well a page fits a document.
func Rated(label Labeller, by *topic.Okapi) Labeller {
	return func(p *page.Page) (Page, error) {
		known, err := label(p)
		known.Relevancy = by.Score(by.Read(wholeText(p)))
		return known, err
	}
}
