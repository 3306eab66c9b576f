package crawler

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/crawler/page"
	"gazehound/geoparse"
	"gazehound/predictor/topic"
)

// Geo judges pages by the addresses of the region that they hold.
type Geo struct {
	Parser  *geoparse.Parser
	Country string // default for pages without a hint, ISO 3166-1 alpha-2 or ""
	// Forgotten reports whether an address must not be kept: it is taken out of the verdict and of
	// the page's text, and no copy of the page is archived. nil: none.
	Forgotten func(geoparse.Address) bool
}

// Judge parses the addresses of p.
func (g Geo) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	v, err := g.Parser.Parse(ctx, geoparse.Input{
		Text: p.Text, Doc: p.Doc, Title: p.Title, Host: p.URL.Hostname(),
		Path: p.URL.RequestURI(), Lang: p.Lang, Country: g.Country, Relevant: p.Relevant,
	})
	if err != nil || len(v.Addresses) == 0 {
		return v, err
	}
	forgotten := func(a geoparse.Address) bool { return g.Forgotten != nil && g.Forgotten(a) }
	if !slices.ContainsFunc(v.Addresses, func(a geoparse.Address) bool { return a.Private || forgotten(a) }) {
		return v, nil
	}
	text := []rune(p.Text)
	var left []geoparse.Address
	for _, a := range v.Addresses {
		if a.Private || forgotten(a) {
			blankLinks(p.Links, text, a)
		}
		if !forgotten(a) {
			left = append(left, a)
		}
	}
	if len(left) == len(v.Addresses) {
		return v, nil
	}
	for _, a := range v.Addresses {
		if forgotten(a) {
			for i := max(0, a.Start); i < min(a.End, len(text)); i++ {
				text[i] = ' ' // same length, so that the other spans stay valid
			}
		}
	}
	p.NoArchive, p.Text = true, string(text)
	notes := v.Notes
	v = g.Parser.Judge(left)
	v.Notes = notes
	return v, nil
}

// beside is how many characters before and after an address may name who lives there.
const beside = 150

// blankLinks removes link words of a page that may name who lives at an address: the words around
// all links, and the anchors near the address with two words or more, like names, or with digits,
// like telephone numbers.
func blankLinks(links []page.Link, text []rune, a geoparse.Address) {
	from := max(0, min(a.Start, len(text))-beside)
	to := max(from, min(a.End+beside, len(text)))
	words := strings.Join(strings.Fields(string(text[from:to])), " ")
	for i := range links {
		l := &links[i]
		l.Around, l.Split = "", 0
		for _, own := range []*string{&l.Anchor, &l.Title} {
			if strings.ContainsAny(*own, " 0123456789") &&
				strings.Contains(words, strings.Join(strings.Fields(*own), " ")) {
				*own = ""
			}
		}
	}
}

// Language judges pages by their language (Somboonviwat et al. 2005, section 3.2).
type Language struct {
	Code string // ISO 639-1, such as "th"
	// By is the evidence: "meta", the charset that a meta element declares (section 3.2.1, table
	// 1); "script", the script of the text (3.2.2); both know th and ja only. "mixed" or "" is
	// ours: script, declared language, sentences, and a charset that only one language uses.
	By string
}

// Judge returns whether p is in the language.
func (j Language) Judge(_ context.Context, p *page.Page) (v geoparse.Verdict, err error) {
	switch {
	case j.By == "meta":
		if page.CharsetLanguage(p.Meta) == j.Code {
			v.Evidence = "meta element with code page " + p.Meta
		}
	case j.By == "script":
		if p.Script == j.Code {
			v.Evidence = "script of " + p.Script
		}
	case page.CharsetLanguage(p.Charset) == j.Code:
		v.Evidence = "code page " + p.Charset
	case p.Lang == j.Code:
		v.Evidence = "language " + p.Lang + ", declared or by the text"
	}
	if v.Evidence != "" {
		v.Relevant, v.Score = true, 1
	}
	return v, nil
}

// Topic judges pages by how well their text fits a topic: Okapi BM25 as a share of the highest
// possible score (Ahmadi-Abkenari & Selamat 2010, equation 7). Judged pages are not added to the
// collection, so a verdict does not depend on the order of the crawl.
type Topic struct {
	Topic *topic.Okapi
	Share float64 // from which a page is relevant, in (0, 1]
}

// Judge returns whether p fits, and how well as the score.
func (j Topic) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	text := j.Topic.Read(p.Title + "\n" + p.Text)
	v := geoparse.Verdict{Score: j.Topic.Similarity(text)}
	v.Relevant = v.Score >= j.Share
	if v.Relevant {
		v.Evidence = counted(text.Counts)
	}
	return v, nil
}

// maxWords is how many words of a topic the evidence names.
const maxWords = 12

// counted lists words with their counts, the most frequent first: "bicycle 5, repair 2".
func counted(words map[string]int) string {
	order := slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(cmp.Compare(words[b], words[a]), cmp.Compare(a, b))
	})
	parts := make([]string, min(len(order), maxWords))
	for i := range parts {
		parts[i] = fmt.Sprintf("%s %d", order[i], words[order[i]])
	}
	return strings.Join(parts, ", ")
}
