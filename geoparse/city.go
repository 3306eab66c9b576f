package geoparse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// A match is a city found beside a postcode.
type match struct {
	area  *area
	start int // of the city in the text
	end   int
	weak  bool // only a part of its name
	score int
	doubt float64 // that it is the postcode's, subtracted from the confidence

	neighbour bool // the postcode is that of a place close by
	unlocated bool // the gazetteer knows the city and not the postcode
}

// cityAfter returns the longest name of a city of the code that begins with
// token k.
func (h *hints) cityAfter(code, country string, t grammar.Tokens, k int, letters bool) (match, bool) {
	best, ok := h.longest(h.p.codes.areas(code), country, t, k, letters)
	for _, land := range h.p.lands {
		if ok || country != "" && country != land.Code {
			continue
		}
		if land.CodePrefix != "" && land.Fits(code) {
			best, ok = h.longest(h.p.codes.areas(land.CodePrefix+code), land.Code, t, k, letters)
		}
		if land.LostZero && len(code) == 4 {
			best, ok = h.longest(h.p.codes.areas("0"+code), land.Code, t, k, letters)
			ok = ok && !best.weak
		}
	}
	return best, ok
}

// longest matches the names of areas with the words from token k on.
func (h *hints) longest(areas []area, country string, t grammar.Tokens, k int, letters bool) (match, bool) {
	fits := func(a area) bool {
		land := grammar.Find(a.place.Country)
		return (country == "" || land.Code == country) && land.Form == grammar.CodeCity &&
			(letters == land.Letters || !letters)
	}
	if !slices.ContainsFunc(areas, fits) {
		return match{}, false
	}
	var best match
	start := t[k].Start
	if k > 0 && t[k-1].Kind == grammar.Mark && strings.Contains("'’‘", t[k-1].Text()) {
		start = t[k-1].Start // "'s-Hertogenbosch"
	}
	for m := k; m < len(t) && m < k+8; m++ {
		tok := t[m]
		if tok.Kind == grammar.Mark && m > k && strings.Contains("/(-.'’&", tok.Text()) {
			continue
		}
		if tok.Kind != grammar.Word && tok.Kind != grammar.Number {
			break
		}
		name := grammar.Phrase(t[k : m+1])
		found := match{start: start, end: trimCity(h.text, t[k].Start, tok.End)}
		best = h.better(best, found, areas, fits, gazetteer.Key(name), m-k)
		if hyphen := strings.IndexByte(name, '-'); m == k && hyphen >= 3 { // "Beelitz-Heilstätten" of 14547 Beelitz
			part := h.better(match{}, found, areas, fits, gazetteer.Key(name[:hyphen]), 0)
			if part.area != nil {
				best = part
			}
		}
	}
	if best.area == nil {
		return match{}, false
	}
	best.end = qualifier(h.text, best, t)
	return best, true
}

// trimCity returns the end of a city's name without a full stop.
func trimCity(text string, start, end int) int {
	for end > start && (text[end-1] == '.' || text[end-1] == '-') {
		end--
	}
	return end
}

// better returns found with the area that fits and is called key, if that is better than best.
func (h *hints) better(best, found match, areas []area, fits func(area) bool, key string, words int) match {
	for i := range areas {
		a := &areas[i]
		n := slices.IndexFunc(a.names, func(name cityName) bool { return name.key == key })
		if key == "" || n < 0 || !fits(*a) {
			continue
		}
		found.area, found.weak = a, a.names[n].weak
		found.score = weightWord*(words+1) + h.weigh(&a.place)
		if found.weak {
			found.score += weightPart
		}
		if key == gazetteer.Key(a.place.City) {
			found.score += weightUsual
		}
		if best.area == nil || found.score > best.score {
			best = found
		}
	}
	return best
}

// qualifier returns the end of the city with its qualifier in another spelling: "Frankfurt/M.",
// "Halle (Saale)".
func qualifier(text string, m match, t grammar.Tokens) int {
	k := 0
	for k < len(t) && t[k].Start < m.end {
		k++
	}
	var initial byte
	for _, name := range m.area.names {
		if name.rest != 0 {
			initial = name.rest
		}
	}
	if k < len(t) && t[k].Text()[0] == ')' && strings.Contains(text[m.start:m.end], "(") {
		return t[k].End
	}
	marks := 0
	for i := k; i < len(t) && i < k+5; i++ {
		tok := t[i]
		s := tok.Text()
		switch tok.Kind {
		case grammar.Mark:
			if s != "/" && s != "(" && s != "-" && s != "." || marks == 2 {
				return m.end
			}
			marks++
		case grammar.Word:
			if grammar.CityLink(s) && t.At(i+1).Kind == grammar.Word {
				continue
			}
			r, _ := utf8.DecodeRuneInString(s)
			if strings.HasPrefix(s, "a.") && len(s) > 2 || strings.HasPrefix(s, "i.") && len(s) > 2 {
				r, _ = utf8.DecodeRuneInString(s[2:])
			}
			glued := i == k+1 && marks == 1 && !t[k].Space && !tok.Space && t[k].Text()[0] == '/' &&
				grammar.Capital(s)
			if i == k && !strings.Contains(s, ".") || !glued &&
				(initial == 0 || grammar.FoldInitial(r) != initial || marks == 0 && i == k) {
				return m.end
			}
			end := tok.End
			if i+1 < len(t) && t[i+1].Text() == ")" {
				end = t[i+1].End
			}
			return trimCity(text, m.start, end)
		default:
			return m.end
		}
	}
	return m.end
}

// near is how far the known areas of a city may lie from a postcode that
// belongs to a neighbour, in kilometres.
const near = 25

// cityNear accepts a city beside a postcode that the gazetteer does not have
// (post boxes, bulk users) if the city has other codes with the same first two
// digits, or a known city beside a postcode of its neighbour if their areas lie
// close.
func (h *hints) cityNear(code, country string, t grammar.Tokens, k int) (match, bool) {
	text := h.text
	start := t[k].Start
	if !grammar.Capital(text[start:]) {
		return match{}, false
	}
	areas := h.p.codes.areas(code)
	isNew := func(city gazetteer.Place) bool {
		return h.wants(city.Country, country) &&
			!slices.ContainsFunc(areas, func(a area) bool { return a.place.Country == city.Country })
	}
	for n := min(k+3, len(t)) - 1; n >= k; n-- {
		end := trimCity(text, start, t[n].End)
		if end-start < 3 || !nameTokens(text, t[k:n+1]) {
			continue
		}
		cities := h.p.codes.cities(country, text[start:end])
		if len(cities) > 0 && grammar.Find(country).BoxCodes {
			return match{area: &area{place: cities[0]}, start: start, end: end}, true
		}
		if slices.ContainsFunc(cities, isNew) {
			likely := h.p.g.CitiesByCode(country, text[start:end], code)
			if i := slices.IndexFunc(likely, isNew); i >= 0 {
				return match{area: &area{place: likely[i]}, start: start, end: end}, true
			}
		}
		for _, city := range cities {
			if !h.wants(city.Country, country) || !grammar.Find(city.Country).Fits(code) {
				continue
			}
			if h.p.streets && grammar.Find(city.Country).Listed {
				return match{area: &area{place: city}, start: start, end: end, unlocated: true}, true
			}
			for i := range areas {
				a := areas[i].place
				if isNear(a, city) {
					return match{area: &areas[i], start: start, end: end, neighbour: true}, true
				}
			}
		}
	}
	return match{}, false
}

// isNear reports whether two places of a country lie close.
func isNear(a, b gazetteer.Place) bool {
	return a.Country == b.Country && a.HasPoint && b.HasPoint && kilometres(a.Point, b.Point) < near
}

// mostHamlet is how many words the name of a village has.
const mostHamlet = 3

// hamlet accepts a place that the gazetteer has nowhere beside a postcode that it has: a village of the
// parish, "19395 Klein Okken" of 19395 Ganzlin, or the parish itself, of which it has the villages. Its name fills
// the rest of the line or ends at a mark or "OT", and a street word with a house number must stand beside it. A
// gazetteer with streets is of one region: it has that region's villages, and what it has not may be any other town.
func (h *hints) hamlet(code, country string, t grammar.Tokens, k int) (match, bool) {
	text := h.text
	areas := h.p.codes.areas(code)
	i := slices.IndexFunc(areas, func(a area) bool { return h.wants(a.place.Country, country) })
	if i < 0 || h.p.streets || !grammar.Capital(text[t[k].Start:]) {
		return match{}, false
	}
	end := k + 1
	for end < len(t) && t[end].Kind == grammar.Word && !grammar.Remark(t[end].Text()) {
		end++
	}
	ends := end == len(t) || t[end].Kind == grammar.Break || t[end].Kind == grammar.Word ||
		strings.Contains(",·|/(–", t[end].Text())
	if !ends || end-k > mostHamlet {
		return match{}, false
	}
	start, stop := t[k].Start, t[end-1].End
	isOther := func(name string) bool {
		cities := h.p.codes.cities("", name)
		isClose := func(city gazetteer.Place) bool { return isNear(areas[i].place, city) }
		return len(cities) > 0 && !slices.ContainsFunc(cities, isClose)
	}
	for n := k; n < end; n++ {
		if !grammar.Capital(text[t[n].Start:]) || isOther(text[t[n].Start:stop]) || isOther(text[start:t[n].End]) {
			return match{}, false
		}
	}
	return match{area: &areas[i], start: start, end: stop}, true
}

// unproven accepts what has the form of postcode and city in a country that the
// gazetteer knows nothing of, if the caller, the host, the prefix of the code or
// the name behind the city says which. A street word and a house number must
// stand beside it.
func (h *hints) unproven(code, country string, t grammar.Tokens, k int) (match, bool) {
	text := h.text
	if !grammar.Capital(text[t[k].Start:]) {
		return match{}, false
	}
	m := k
	for m+1 < len(t) && m < k+6 && inCity(t[m+1]) && (t[m+1].Kind == grammar.Mark ||
		grammar.Capital(text[t[m+1].Start:]) || m+2 < len(t) && grammar.NameParticle(t[m+1].Text())) {
		m++
	}
	named := country
	for _, by := range [...]string{strings.ToUpper(h.country), h.hint, grammar.CountryAfter(t[m+1:])} {
		if named == "" {
			named = by
		}
	}
	land := grammar.Find(named)
	if !h.isUnproven(named) || !h.only.Allows(named) || !land.Fits(code) {
		return match{}, false
	}
	end := endOfCity(land, t, k, m)
	state := ""
	if land.StateOf != nil {
		state = land.StateOf(code)
		if short := strings.TrimSuffix(text[t[k].Start:end], " "+state); strings.HasSuffix(short, ".") {
			end = t[k].Start + len(short) - 1 // "28232 Las Rozas. Madrid"
		}
	}
	city := fold(text[t[k].Start:end])
	place := gazetteer.Place{Names: []string{city}, Postcode: code, City: city, State: state, Country: named}
	return match{area: &area{place: place}, start: t[k].Start, end: end}, true
}

// inCity reports whether tok may stand in the name of a city.
func inCity(tok grammar.Token) bool {
	return tok.Kind == grammar.Word || tok.Kind == grammar.Mark && strings.Contains("-'’", tok.Text())
}

// endOfCity returns where the name of the city t[k:m+1] behind a postcode ends in the text: before a
// province, and behind the number of a French office of delivery.
func endOfCity(land *grammar.Country, t grammar.Tokens, k, m int) int {
	for m > k && (t[m].Kind != grammar.Word || land.Province && t[m].End-t[m].Start == 2) {
		m-- // "Milano MI"
	}
	if t.At(m+1).Kind == grammar.Number && t[m+1].End-t[m+1].Start <= 2 &&
		strings.EqualFold(t[m].Text(), "cedex") {
		return t[m+1].End // "Paris Cedex 08"
	}
	return t[m].End
}

// isUnproven reports whether the gazetteer has no data of a country.
func (h *hints) isUnproven(country string) bool { return country != "" && !h.p.has[country] }

// wants reports whether a place of country may be meant where the text names the
// country written, or none.
func (h *hints) wants(country, written string) bool {
	if written != "" {
		return country == written
	}
	return grammar.Find(country).Form == grammar.CodeCity && (h.hint == "" || h.hint == country)
}

// nameTokens reports whether the tokens are the words of one name.
func nameTokens(text string, t grammar.Tokens) bool {
	for _, tok := range t {
		if tok.Kind != grammar.Word && !(tok.Kind == grammar.Mark && tok.Text()[0] == '.') {
			return false
		}
	}
	return t[len(t)-1].Kind == grammar.Word
}

// kilometres returns the distance of two points.
func kilometres(a, b orb.Point) float64 { return geo.Distance(a, b) / 1000 }
