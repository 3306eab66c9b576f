package geoparse

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// Weights that decide between places that match the text equally. Each is greater than the sum of
// those below it, and less than one more matched word of the name.
const (
	weightWord  = 100
	weightPart  = -250 // only a part of the city's name is there
	weightUsual = 1    // the usual name of the city, not an alias
)

// evidence are the evidence for a place besides the words of the address: the region of the crawl,
// then the country of the caller or the host, the language of the page, and its telephone numbers.
// reason describes it for people.
var evidence = [...]struct {
	weight int
	holds  func(*hints, *gazetteer.Place) bool
	reason string
}{
	{50, (*hints).inRegion, "lies in the region"},
	{25, func(h *hints, p *gazetteer.Place) bool { return p.Country == h.hint },
		"is in the country of the host or caller"},
	{12, func(h *hints, p *gazetteer.Place) bool { return grammar.Speaks(p.Country, h.lang) },
		"speaks the language of the page"},
	{6, func(h *hints, p *gazetteer.Place) bool { return p.Country == h.phone() },
		"has the telephone prefix on the page"},
	{0, func(_ *hints, p *gazetteer.Place) bool { return p.Population > 0 }, "has more people"},
}

// hints are a text and where it stands, which together choose between places and countries.
type hints struct {
	p       *Parser
	text    string
	lang    string        // of the page
	country string        // that the caller stated
	hint    string        // country that the input speaks for
	only    grammar.Form  // of the addresses that are looked for
	phone   func() string // country of the first telephone number with an international prefix, or ""
}

func newHints(p *Parser, text string, in Input, hint string) hints {
	return hints{
		p: p, text: text, lang: in.Lang, country: in.Country, hint: hint,
		only:  grammar.Find(strings.ToUpper(in.Country)).Form,
		phone: sync.OnceValue(func() string { return p.phoneCountry(text) }),
	}
}

func (h *hints) inRegion(p *gazetteer.Place) bool { return h.p.region != nil && h.p.region.Has(*p) }

// weigh returns the weight of the evidence for the place.
func (h *hints) weigh(place *gazetteer.Place) (score int) {
	for _, l := range evidence {
		if l.weight > 0 && l.holds(h, place) {
			score += l.weight
		}
	}
	return score
}

// whyChosen returns the first evidence for a that b lacks.
func (h *hints) whyChosen(a, b *gazetteer.Place) string {
	for _, l := range evidence {
		if l.holds(h, a) && !l.holds(h, b) {
			return l.reason
		}
	}
	return "comes first"
}

// prefer returns the most likely place; of equally likely ones the first, which is the largest.
func (h *hints) prefer(places []gazetteer.Place) (gazetteer.Place, bool) {
	best, score := -1, -1
	for i := range places {
		if n := h.weigh(&places[i]); n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		return gazetteer.Place{}, false
	}
	return places[best], true
}

// phoneCountry returns the country of the first telephone number with an international
// prefix, or "".
func (p *Parser) phoneCountry(text string) string {
	for {
		i := strings.IndexByte(text, '+')
		if i < 0 || i+3 > len(text) {
			return ""
		}
		text = text[i+1:]
		if c := grammar.CountryOfPhone(text); c != "" && (p.has[c] || !grammar.Find(c).Listed) {
			return c
		}
	}
}

// maxOthers is the most places listed beside the one that was chosen.
const maxOthers = 5

// others records, for Explain, the places that the address could also mean and why they were not
// chosen.
func (s *source) others(a *Address) {
	if s.log == nil {
		return
	}
	n := 0
	other := func(pl gazetteer.Place, name, reason string) {
		n++
		if n <= maxOthers && len(*s.log) < maxRejected {
			parts := []string{name, strings.TrimSpace(pl.Postcode + " " + pl.City), pl.State, pl.Country}
			parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
			*s.log = append(*s.log,
				Candidate{Text: strings.Join(parts, ", "), Start: a.Start, End: a.End, Reason: reason, Other: true})
		}
	}
	same := func(pl *gazetteer.Place) bool {
		return pl.Country == a.Country && gazetteer.Key(pl.City) == gazetteer.Key(a.Place.City) &&
			pl.State == a.Place.State && (a.Postcode == "" || pl.Postcode == "" || pl.Postcode == a.Place.Postcode)
	}
	named := "the page names " + strings.TrimSpace(a.Postcode+" "+a.City)
	if a.Postcode != "" {
		var countries []string
		for _, area := range s.p.codes.areas(a.Postcode) {
			pl := area.place
			if pl.Country == a.Country || slices.Contains(countries, pl.Country) {
				continue
			}
			countries = append(countries, pl.Country)
			reason := fmt.Sprintf("the postcode exists in %s too, but there it is %s", pl.Country, pl.City)
			for _, name := range area.names {
				if name.key == gazetteer.Key(a.City) {
					reason = fmt.Sprintf("fits as well, but %s, %s %s", a.City, a.Country, s.whyChosen(&a.Place, &pl))
				}
			}
			other(pl, "", reason)
		}
	} else if a.City != "" {
		for _, pl := range s.p.codes.cities("", a.City) {
			if pl.Country != a.Country || pl.State != a.Place.State {
				reason := "another " + a.City + "; the page names " + a.State
				if a.State == "" {
					reason = fmt.Sprintf("another %s; %s, %s %s", a.City, a.Place.City, a.Country,
						s.whyChosen(&a.Place, &pl))
				}
				other(pl, "", reason)
			}
		}
	}
	if a.Street != "" && s.p.streets {
		for _, pl := range s.p.g.Streets(gazetteer.Query{Street: a.Street}) {
			if !same(&pl) {
				other(pl, pl.Street, "a street of the same name; "+named)
			}
		}
	}
}
