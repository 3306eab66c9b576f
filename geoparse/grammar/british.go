package grammar

import "strings"

var british = readLists("british")

func init() {
	towns := make(map[string]bool)
	for _, names := range postTowns {
		for name := range strings.FieldsSeq(names) {
			towns[name] = true
		}
	}
	counties := make(map[string]bool)
	for _, name := range british.Phrases("counties") {
		counties[name] = true
	}
	add(Country{
		Code: "GB", Form: CityPostcode,
		Domains: "uk", Languages: "en", Phone: "44", Cities: towns, Counties: counties,
		Codes: "A9 9AA,A99 9AA,AA9 9AA,AA99 9AA,A9A 9AA,AA9A 9AA",
		Names: "united kingdom,uk,gb,great britain,england,scotland,wales,northern ireland",
		Parts: []string{"England", "Scotland", "Wales", "Northern Ireland"},
	})
}

// postTowns are the towns after which the postcode areas of Great Britain are
// named, with others that stand for many of their codes.
var postTowns = readLists("post-towns")

// PostTowns returns the folded names of the towns that the area of a British
// outward code is named after.
func PostTowns(outward string) []string {
	i := strings.IndexAny(outward, "0123456789")
	return strings.Fields(postTowns[outward[:max(i, 0)]])
}

var (
	// britishRoads end the name of a street, and premises that of a building, an
	// estate or a park, which stands in British addresses where others have a
	// street and number.
	britishRoads = british.Words("roads")
	premises     = british.Words("premises")
	// villages are the ends of roads that names of villages have too.
	villages = british.Words("villages")
)

// PremisesBefore reads a British address without a house number from the last
// parts, between lines or commas, before the city: a street, else the name of a
// building, estate or park, with unit and post box: "Unit 5 Princes Park". The
// name of a quarter may stand between them and the city.
func PremisesBefore(t Tokens) (Street, bool) {
	var s Street
	k, passed, found := len(t), 0, false
	for passed < 3 {
		start := 0
		start, k = partBefore(t, k)
		start = behindLead(t[:k], start)
		if start == k || k-start > 10 {
			break
		}
		unit := usUnit(t[:k], start)
		unit += usUnit(t[:k], start+unit) // "Block 1 Unit A"
		name := roadName(t[start+unit : k])
		switch {
		case postBox(t[:k], start) > 0:
			s.POBox = Span{t[start].Start, t[start+unit-1].End}
			return s, true
		case unit > 0 && (found || len(name) > 0 || t[start+unit-1].Kind == Number):
			s.Unit = Span{t[start].Start, t[start+unit-1].End}
		case unit > 0, len(name) == 0 && !quarter(t[start:k]):
			return s, found
		}
		road := len(name) > 0 && britishRoads[name[len(name)-1].lower()]
		if road && villages[name[len(name)-1].lower()] && behindRoad(t, start) {
			road, name = false, nil // "Larksfield Rd, Harrow Hill"
		}
		if len(name) > 0 && (road || unit > 0 || s.Name.Empty()) {
			s.Name, s.Strength = Span{name[0].Start, trimWord(name[len(name)-1])}, 3
		}
		if road {
			if s.Unit.Empty() {
				s.Unit = unitAhead(t, start)
			}
			return s, true
		}
		found = found || s != (Street{})
		if found {
			passed++ // the street may stand before the estate
		}
		passed++
		k = start
	}
	return s, found
}

// behindLead returns where the part t[start:] begins without a label or sentence before it: "Address Worth Park",
// "Training at Highside Playing Fields".
func behindLead(t Tokens, start int) int {
	for i := start; i+1 < len(t); i++ {
		if t[i].isWord("at") || i == start && t[i].isWord("address", "location", "venue") && t[i+1].capital() {
			start = i + 1
		}
	}
	return start
}

// partBefore returns where the part between lines or commas before t[k] begins and ends.
func partBefore(t Tokens, k int) (start, end int) {
	end = backOver(t, k, ",;|·•-–()")
	start = end
	for start > 0 && t[start-1].Kind != Break && !t[start-1].isMark(",;|·•:()") {
		start--
	}
	return start, end
}

// behindRoad reports whether the part before t[k] is a road, and cannot be a village.
func behindRoad(t Tokens, k int) bool {
	start, end := partBefore(t, k)
	if end-start > 10 {
		return false
	}
	name := roadName(t[start:end])
	last := ""
	if len(name) > 0 {
		last = name[len(name)-1].lower()
	}
	return britishRoads[last] && !villages[last]
}

// roadName returns the tokens of t that name a street, building or park: all of
// them, or a street before the name of an estate ("Malmesbury Road Kingsditch
// Trading Estate"); none where they are something else.
func roadName(t Tokens) Tokens {
	if len(t) < 2 {
		return nil
	}
	last := t[len(t)-1].lower()
	if britishRoads[last] {
		first := len(t) - 1 // "The clinic is on Mill Lane"
		for first > 0 && len(t)-first < 5 && (capitals(t[first-1:first]) || t[first-1].isMark("'’.")) {
			first--
		}
		if len(t)-first >= 2 && capitals(t[first:]) {
			return t[first:]
		}
		return nil
	}
	if !premises[last] || !capitals(t) {
		return nil
	}
	for i := 1; i+3 < len(t) && i < 5; i++ {
		if britishRoads[t[i].lower()] {
			return t[:i+1]
		}
	}
	if len(t) <= 5 {
		return t
	}
	return nil
}

// quarter reports whether t may name a part of a city, or leads on to its name:
// "East Finchley", "Nr" before Ormskirk.
func quarter(t Tokens) bool {
	return len(t) <= 4 && capitals(t) || len(t) == 1 && t[0].isWord("nr", "near")
}

// capitals reports whether t are words with capitals, or small ones between them.
func capitals(t Tokens) bool {
	for _, tok := range t {
		s := tok.Text()
		if tok.Kind == Word && (!Capital(s) && !usSmall[s] || usStops[LowerASCII(s)]) ||
			tok.Kind == Number && !Ordinal(s) || tok.Kind == Mark && !tok.isMark("&'’/.-") {
			return false
		}
	}
	return t[0].Kind == Word && t[0].capital()
}
