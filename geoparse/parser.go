package geoparse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
)

// Limits of one page.
const (
	maxText      = 2 << 20 // bytes of text that are read
	maxAddresses = 1000
	maxShown     = 300 // characters of Address.Text
)

// Options tune a Parser.
type Options struct {
	// MinPrecision is what an address must be known to in the region to make a
	// page relevant: "house", "street" or "postcode" (postcode and city agree);
	// "auto" is street where the region has streets in the gazetteer, else
	// postcode.
	MinPrecision string

	// EveryMention keeps each mention of an address; else an address that a
	// page states twice is found once.
	EveryMention bool

	// Persons has the addresses of private persons treated like others.
	Persons bool

	// OnlyRelevant leaves the Belongings of a page's addresses out, but for what markup states,
	// unless the page is relevant: who is at an address takes longer to read than the address.
	OnlyRelevant bool
}

// DefaultOptions returns the options of config.yaml as shipped.
func DefaultOptions() Options { return Options{MinPrecision: "auto"} }

// Validate returns an error for an invalid option.
func (o Options) Validate() error {
	switch o.MinPrecision {
	case "", "auto", "house", "street", "postcode":
		return nil
	}
	return fmt.Errorf("geoparse: min precision is %q; it must be auto, house, street or postcode", o.MinPrecision)
}

// A Parser finds addresses in pages and judges them against one region. It is
// safe for concurrent use.
type Parser struct {
	g       *gazetteer.Gazetteer
	region  *gazetteer.Region // nil: no region
	options Options
	min     gazetteer.Precision
	streets bool               // the gazetteer has streets
	has     map[string]bool    // countries of the gazetteer
	lands   []*grammar.Country // the same, as far as the grammar knows them
	letters bool               // the postcodes of one of them end with two letters
	codes   *codeCache
	speller *gazetteer.Speller

	// Hooks for tests.
	onName func(*Address, *place.Page, place.Around)
	onDoor func(*Address, *place.Door)
}

// New returns a Parser on g for the region r, which may be nil: then no page
// is relevant.
func New(g *gazetteer.Gazetteer, r *gazetteer.Region, o Options) (*Parser, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	speller, err := gazetteer.NewSpeller(g)
	if err != nil {
		return nil, fmt.Errorf("geoparse: %w", err)
	}
	p := &Parser{g: g, speller: speller, region: r, options: o, has: make(map[string]bool), codes: newCodeCache(g)}
	for _, c := range g.Countries() {
		p.has[c] = true
		if land := grammar.Find(c); land.Code != "" {
			p.lands = append(p.lands, land)
			p.letters = p.letters || land.Letters
		}
	}
	stats := g.Stats()
	p.streets = stats.Streets > 0
	switch o.MinPrecision {
	case "house":
		p.min = gazetteer.InterpolatedPrecision
	case "street":
		p.min = gazetteer.StreetPrecision
	case "postcode":
		p.min = gazetteer.PostcodePrecision
	default:
		p.min = gazetteer.PostcodePrecision
		if p.streets {
			p.min = gazetteer.StreetPrecision
		}
	}
	return p, nil
}

// Parse returns the addresses of a page in the order of the text, those that only markup states
// last, and whether they make the page relevant. At most 2 MB of text, 12,000 places in it that may
// be addresses, and 1,000 addresses are read. Its error is that of ctx.
func (p *Parser) Parse(ctx context.Context, in Input) (Verdict, error) {
	return p.parse(ctx, in, nil)
}

// parse is Parse; it records rejected candidates if rejected is not nil.
func (p *Parser) parse(ctx context.Context, in Input, rejected *[]Candidate) (Verdict, error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	text := in.Text
	if len(text) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	if !utf8.ValidString(text) {
		// a replacement character for each bad byte keeps the count of characters
		text = strings.Map(func(r rune) rune { return r }, text)
	}
	var gone []int
	if in.Doc == nil { // the text of a page has none
		text, gone = withoutUnseen(text)
	}
	hint := countryHint(in)
	if in.Country == "" && grammar.Find(hint).Listed && !p.has[hint] {
		hint = "" // a top-level domain alone does not exclude the countries of the gazetteer
	}
	s := p.newSource(text, in, hint, rejected)
	found := s.scan(ctx)
	if len(found) == 0 {
		found = s.single()
	}
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	if rejected != nil {
		s.withoutCode(found)
	}
	var marked *markup.Page
	if in.Doc != nil {
		marked = markup.Read(in.Doc)
		found = p.addStatements(ctx, found, marked.Statements, in)
		markFooter(text, marked.Footers, found)
	}
	found = withoutPlaceholders(found, in.Doc == nil && s.isShort(), rejected)
	p.assign(text, in, marked, found)
	if !p.options.EveryMention {
		found = deduplicate(found, p.options.Persons)
	}
	said := p.notes(text, in, marked, found)
	countCharacters(text, gone, positions(found, rejected))
	v := p.Judge(found)
	v.Notes = said
	return v, nil
}

// Judge derives the verdict from the addresses of a page.
func (p *Parser) Judge(found []Address) Verdict {
	v := Verdict{Addresses: found}
	for i := range found {
		a := &found[i]
		if !a.Counts() || proven(a) < p.min {
			continue
		}
		v.Relevant = true
		v.Score = max(v.Score, a.Confidence)
	}
	return v
}

// proven returns the precision to which the gazetteer confirms the address.
func proven(a *Address) gazetteer.Precision {
	switch a.Place.Kind {
	case gazetteer.House:
		return max(a.Precision, gazetteer.InterpolatedPrecision)
	case gazetteer.Street:
		if a.Level == VerifiedLevel {
			return gazetteer.InterpolatedPrecision
		}
		return gazetteer.StreetPrecision
	case gazetteer.Postcode:
		return gazetteer.PostcodePrecision
	case gazetteer.City:
		return gazetteer.CityPrecision
	}
	return gazetteer.NoPrecision
}

// deduplicate keeps the best of the addresses with one key, at the place of
// the first.
func deduplicate(found []Address, persons bool) []Address {
	withPostcodes(found)
	withUnits(found)
	first := make(map[string]int, len(found))
	kept := found[:0]
	for _, a := range found {
		key := a.Key()
		if i, ok := first[key]; ok {
			if a.Level > kept[i].Level || a.Level == kept[i].Level && a.Confidence > kept[i].Confidence {
				a, kept[i] = kept[i], a
			}
			kept[i].unite(&a, persons)
			kept[i].Footer = kept[i].Footer && a.Footer
			continue
		}
		first[key] = len(kept)
		kept = append(kept, a)
	}
	return kept
}

// markFooter marks the addresses that stand in a footer of the page. The text
// of a footer is a part of the page's, nearly always its last.
func markFooter(text string, footers []string, found []Address) {
	if len(found) == 0 {
		return
	}
	for _, footer := range footers {
		start := strings.LastIndex(text, footer)
		if start < 0 {
			continue
		}
		for i := range found {
			a := &found[i]
			a.Footer = a.Footer || a.Start >= start && a.End <= start+len(footer)
		}
	}
}

// withoutUnseen returns text without invisible characters, such as
// those of no width and marks of direction: "1\u200b2" is read as 12. gone has
// the offsets in the result at which they stood.
func withoutUnseen(text string) (seen string, gone []int) {
	at := 0
	seen = strings.Map(func(r rune) rune {
		if isUnseen(r) {
			gone = append(gone, at)
			return -1
		}
		at += utf8.RuneLen(r)
		return r
	}, text)
	return seen, gone
}

func isUnseen(r rune) bool { return r >= 0xAD && unicode.Is(unicode.Cf, r) }

// A position is one end of a span.
type position struct {
	at    *int
	start bool
}

// positions returns the ends of all spans.
func positions(found []Address, rejected *[]Candidate) []position {
	order := make([]position, 0, 2*len(found))
	for i := range found {
		if a := &found[i]; a.Start >= 0 {
			order = append(order, position{&a.Start, true}, position{&a.End, false})
		}
	}
	if rejected != nil {
		for i := range *rejected {
			c := &(*rejected)[i]
			order = append(order, position{&c.Start, true}, position{&c.End, false})
		}
	}
	return order
}

// countCharacters turns offsets in bytes of the text that was read into counts of
// characters, with those that are gone from it. These are no part of a span that they
// stand before or behind.
func countCharacters(text string, gone []int, order []position) {
	slices.SortFunc(order, func(a, b position) int { return *a.at - *b.at })
	at, count := 0, 0
	for _, p := range order {
		count += utf8.RuneCountInString(text[at:*p.at])
		at = *p.at
		unseen, _ := slices.BinarySearch(gone, at)
		if p.start {
			unseen, _ = slices.BinarySearch(gone, at+1)
		}
		*p.at = count + unseen
	}
}

// shown returns s on one line and cut to maxShown characters.
func shown(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimRight(fold(line), " ,;")
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	s = strings.Join(lines, ", ")
	n := 0
	for i := range s {
		if n == maxShown {
			return s[:i]
		}
		n++
	}
	return s
}

// fold returns s with its white space folded.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// countryHint returns the country that an input speaks for, or "".
func countryHint(in Input) string {
	if in.Country != "" {
		return strings.ToUpper(in.Country)
	}
	host := strings.TrimSuffix(in.Host, ".")
	if i := strings.LastIndexByte(host, '.'); i >= 0 {
		if c := grammar.CountryOfDomain(host[i+1:]); c != "" {
			return c
		}
	}
	return ""
}
