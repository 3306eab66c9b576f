package gazetteer

import (
	"cmp"
	"slices"
	"strings"
)

// A Match is one answer of Lookup.
type Match struct {
	Place     Place     `json:"place"`
	Precision Precision `json:"precision"`
	Score     float64   `json:"score"` // 0 to 1; only the order counts
}

// maxMatches is the most that Lookup returns.
const maxMatches = 20

// Lookup returns at most 20 matches, the best first: houses and streets if q has a street,
// otherwise postcodes, otherwise cities. If the street is not in the place of q, the same street
// elsewhere is returned with half the score.
func (g *Gazetteer) Lookup(q Query) []Match {
	var found []Match
	switch {
	case q.Street != "":
		streets, factor := g.Streets(q), 1.0
		if len(streets) == 0 && (q.Postcode != "" || q.City != "") {
			streets, factor = g.Streets(Query{Street: q.Street, Country: q.Country}), 0.5
		}
		for _, s := range streets {
			p, precision := s, StreetPrecision
			var twins []Place
			if q.HouseNumber != "" {
				if p, precision = g.House(s, q.HouseNumber); precision == NoPrecision {
					precision = StreetPrecision
				}
				if precision == HousePrecision {
					twins = g.Houses(s, q.HouseNumber)
				}
			}
			score := float64(precision) / float64(HousePrecision)
			if q.City != "" && p.City != "" && Key(p.City) != Key(q.City) {
				score *= 0.9
			}
			found = append(found, Match{p, precision, score * factor})
			for _, twin := range twins[min(1, len(twins)):] {
				found = append(found, Match{twin, precision, score * factor})
			}
		}
	case q.Postcode != "":
		for _, p := range g.Postcodes(q.Country, q.Postcode) {
			score := 1.0
			if q.City != "" && !slices.ContainsFunc(p.Names, func(n string) bool { return Key(n) == Key(q.City) }) {
				score = 0.5
			}
			found = append(found, Match{p, PostcodePrecision, score})
		}
	default:
		for _, p := range g.Cities(q.Country, q.City) {
			if g.agreeState(p.Country, q.State, p.State) {
				found = append(found, Match{p, CityPrecision, 1})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return found[:min(len(found), maxMatches)]
}

// ParseQuery splits an address as a person types it into a search box: parts
// divided by commas, the usual German or American order. The geoparser, not
// this, reads addresses in pages.
func (g *Gazetteer) ParseQuery(text string) Query {
	var q Query
	for i, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		if i == 0 && g.parseStreet(&q, words) {
			continue
		}
		g.parsePlace(&q, words)
	}
	return q
}

// parseStreet reads "Main St 12 a" or "12 Main St" if it has a number beside a
// known street, or is a known street and no city.
func (g *Gazetteer) parseStreet(q *Query, words []string) bool {
	for n := len(words) - 1; n > 0; n-- {
		street, number := strings.Join(words[:n], " "), strings.Join(words[n:], " ")
		if startsWithDigit(number) && len(number) <= 12 && g.HasStreet(street) {
			q.Street, q.HouseNumber = street, number
			return true
		}
		street, number = strings.Join(words[len(words)-n:], " "), strings.Join(words[:len(words)-n], " ")
		if startsWithDigit(number) && len(number) <= 12 && g.HasStreet(street) {
			q.Street, q.HouseNumber = street, number
			return true
		}
	}
	whole := strings.Join(words, " ")
	if len(g.Postcodes("", words[0])) > 0 || len(g.Cities("", whole)) > 0 {
		return false
	}
	if g.HasStreet(whole) {
		q.Street = whole
		return true
	}
	// "Main St 12 Springfield" without a comma
	for n := len(words) - 1; n > 0; n-- {
		rest := words[n:]
		street := strings.Join(words[:n], " ")
		if g.HasStreet(street) {
			q.Street = street
			if startsWithDigit(rest[0]) && len(g.Postcodes("", rest[0])) == 0 {
				q.HouseNumber, rest = rest[0], rest[1:]
			}
			g.parsePlace(q, rest)
			return true
		}
	}
	return false
}

// parsePlace reads "26121 Oldenburg", "Irvine", "CA 92612", "CA" or "DE".
func (g *Gazetteer) parsePlace(q *Query, words []string) {
	var name []string
	for _, w := range words {
		switch {
		case q.Postcode == "" && strings.ContainsAny(w, "0123456789") && len(g.Postcodes("", trimCountry(w))) > 0:
			q.Postcode = trimCountry(w)
		case len(w) == 2 && w == strings.ToUpper(w) && (q.City != "" || len(name) > 0 || q.Postcode != ""):
			if q.State == "" {
				q.State = w
			} else if q.Country == "" {
				q.Country = w
			}
		default:
			name = append(name, w)
		}
	}
	if len(name) > 0 && q.City == "" {
		q.City = strings.Join(name, " ")
	}
}

// trimCountry takes the country off "D-26121".
func trimCountry(code string) string {
	if head, rest, ok := strings.Cut(code, "-"); ok && len(head) <= 3 && !strings.ContainsAny(head, "0123456789") {
		return rest
	}
	return code
}

func startsWithDigit(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }
