package geoparse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/geoparse/markup"
)

// benchText is the text of the labelled pages, the size of a small crawl.
func benchText(b *testing.B) []string {
	var texts []string
	for _, file := range []string{"detect/de_pages.jsonl", "detect/webstruct.jsonl"} {
		for _, row := range readLabelled(b, file) {
			texts = append(texts, row.Text)
		}
	}
	return texts
}

// naive is what people write first: a German and a US address as one regular
// expression each.
var naive = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b[A-ZÄÖÜ][\wäöüß.-]+(?:\s[\wäöüß.-]+){0,3}\s+\d{1,4}\s?[a-z]?[\s,|]+(?:D-)?\d{5}\s+[A-ZÄÖÜ][\wäöüß.-]+`),
	regexp.MustCompile(`\b\d{1,5}\s+(?:[A-Z][\w.]*\s+){1,5}(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Way|Court|Ct)\b[^\n]{0,40}[\n,]\s*[A-Z][\w. ]+,?\s+[A-Z]{2}\s+\d{5}`),
}

// perCore reports how many MB of text were read in a second of processor time,
// which other programs on the machine do not change.
func perCore(b *testing.B, size int, before time.Duration) {
	if used := cpuTime() - before; used > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
	}
}

// BenchmarkParse reads the text of real pages with the gazetteer of postal
// codes; a regular expression that proves nothing stands beside it. The same
// text four times over must take four times as long.
func BenchmarkParse(b *testing.B) {
	texts := benchText(b)
	p, err := New(evalGazetteer(b), nil, DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	warm(b, p, texts)
	benchParse(b, "parser", p, Input{}, texts)
	g, r := town(b)
	streets, err := New(g, r, DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	warm(b, streets, texts)
	benchParse(b, "parser with streets and region", streets, Input{}, texts)
	benchCrawl(b, texts)
	for _, times := range []int{1, 4} {
		var long []string // of the same number of texts
		for _, text := range texts {
			if len(text)*times <= maxText {
				long = append(long, strings.Repeat(text+"\n", times))
			}
		}
		benchParse(b, fmt.Sprintf("parser of pages %d times as long", times), p, Input{}, long)
	}
	benchTexts(b, "regexp", texts, func(text string) error {
		for _, re := range naive {
			re.FindAllStringIndex(text, -1)
		}
		return nil
	})
	benchParse(b, "digits only", p, Input{}, []string{strings.Repeat("12345 67890 1234 ", 60000)})
	benchParse(b, "address lines", p, Input{}, []string{strings.Repeat("Hauptstraße 5, 10115 Berlin\n", 50000)})
}

// benchTexts runs read over all texts.
func benchTexts(b *testing.B, name string, texts []string, read func(text string) error) {
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		defer perCore(b, size, cpuTime())
		for b.Loop() {
			for _, text := range texts {
				if err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// benchParse parses all texts as in describes them.
func benchParse(b *testing.B, name string, p *Parser, in Input, texts []string) {
	benchTexts(b, name, texts, func(text string) error {
		in.Text = text
		_, err := p.Parse(b.Context(), in)
		return err
	})
}

// benchCrawl reads texts as a crawl does: who is at an address is read on relevant pages alone.
func benchCrawl(b *testing.B, texts []string) {
	p, err := New(evalGazetteer(b), nil, Options{MinPrecision: "auto", OnlyRelevant: true})
	if err != nil {
		b.Fatal(err)
	}
	warm(b, p, texts)
	var relevant []string
	for _, text := range texts {
		v, err := p.Parse(b.Context(), Input{Text: text})
		if err != nil {
			b.Fatal(err)
		}
		if slices.ContainsFunc(v.Addresses, func(a Address) bool { return a.Street != "" }) {
			relevant = append(relevant, text)
		}
	}
	benchParse(b, "pages without an address of the region", p, Input{}, texts)
	benchParse(b, "pages with an address of the region", p, Input{Relevant: true}, relevant)
}

// warm fills the caches of p with the postcodes of the pages, as they are in a
// crawl.
func warm(b *testing.B, p *Parser, texts []string) {
	for _, text := range texts {
		if _, err := p.Parse(b.Context(), Input{Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile reads texts that look like addresses everywhere and hold
// none, or far too many, at 1, 2, 4 and 8 MB, and an HTML page of entities from
// its bytes on. cpu-ms is the processor time of one page: up to 2 MB it may grow
// with the text, and no more beyond.
func BenchmarkHostile(b *testing.B) {
	g, r := town(b)
	region, err := New(g, r, DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	countries, err := New(evalGazetteer(b), nil, DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, unit string
		html       bool
	}{
		{"address lines", "Lange Straße 5, 26122 Oldenburg\n", false},
		{"one line", "Lange Straße 5 26122 Oldenburg ", false},
		{"wrong postcodes", "Lange Straße 5, 26123 Hamburg\n", false},
		{"postcodes and cities", "12345 Berlin ", false},
		{"states", "5 Ohio Ontario Quebec Texas NSW ", false},
		{"postcodes of Canada", "K1A 0B1 ", false},
		{"digits", "1", false},
		{"entities", "&#49;&nbsp;&amp;&Uuml;", true},
		{"tags", "<b>5<i>26122", true},
	} {
		for _, mb := range []int{1, 2, 4, 8} {
			text := strings.Repeat(c.unit, mb*1_000_000/len(c.unit))
			b.Run(fmt.Sprintf("%s/%dMB", strings.ReplaceAll(c.name, " ", "-"), mb), func(b *testing.B) {
				before := cpuTime()
				n := 0
				for b.Loop() {
					for _, p := range []*Parser{region, countries} {
						in := Input{Text: text}
						if c.html {
							in.Doc = markup.Parse([]byte(text))
							in.Text = markup.Text(in.Doc)
						}
						if _, err := p.Parse(b.Context(), in); err != nil {
							b.Fatal(err)
						}
						n++
					}
				}
				b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000/float64(n), "cpu-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
