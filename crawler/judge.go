package crawler

import (
	"context"
	"slices"

	"gazehound/crawler/language"
	"gazehound/crawler/page"
	"gazehound/geoparse"
	"gazehound/predictor/bm25"
)

// Geo judges pages by the addresses of the region that they hold.
type Geo struct {
	Parser  *geoparse.Parser
	Country string // hint where a page does not say, ISO 3166-1 alpha-2 or ""
	// Forgotten tells the addresses that must not be kept: they are taken out
	// of the verdict and of the page's text, and no copy of the page is kept.
	// Nil: none.
	Forgotten func(geoparse.Address) bool
}

// Judge parses the addresses of p.
func (g Geo) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	v, err := g.Parser.Parse(ctx, geoparse.Input{Text: p.Text, Doc: p.Doc, Title: p.Title, Host: p.URL.Hostname(), Lang: p.Lang, Country: g.Country})
	if err != nil || g.Forgotten == nil || !slices.ContainsFunc(v.Addresses, g.Forgotten) {
		return v, err
	}
	p.NoArchive = true
	text := []rune(p.Text)
	var left []geoparse.Address
	for _, a := range v.Addresses {
		if !g.Forgotten(a) {
			left = append(left, a)
			continue
		}
		for i := max(0, a.Start); i < min(a.End, len(text)); i++ {
			text[i] = ' ' // the spans of the others still count
		}
	}
	p.Text = string(text)
	return g.Parser.Judge(left), nil
}

// Language judges pages by their language (Somboonviwat et al. 2005, section
// 3.2): by the script of the text, by what the page declares, and by a code page
// that only one language is written in.
type Language struct {
	Code string // ISO 639-1, such as "th"
}

// Judge returns whether p is in the language.
func (j Language) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	if p.Lang == j.Code || language.OfCharset(p.Charset) == j.Code {
		return geoparse.Verdict{Relevant: true, Score: 1}, nil
	}
	return geoparse.Verdict{}, nil
}

// Topic judges pages by how well their text fits a topic: Okapi BM25 as a
// share of what the fullest text would have (Ahmadi-Abkenari & Selamat 2010,
// equation 7). The pages that it judges are not observed, so that a verdict does
// not depend on the order of the crawl.
type Topic struct {
	Topic *bm25.Topic
	Share float64 // from which a page is relevant, in (0, 1]
}

// Judge returns whether p fits, and how well as the score.
func (j Topic) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	fit := j.Topic.Similarity(j.Topic.Read(p.Title + "\n" + p.Text))
	return geoparse.Verdict{Relevant: fit >= j.Share, Score: fit}, nil
}
