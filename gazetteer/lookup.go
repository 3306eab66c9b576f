package gazetteer

import (
	"cmp"
	"slices"
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
				p, precision = g.House(s, q.HouseNumber)
				if precision == NoPrecision {
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
