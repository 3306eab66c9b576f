package gazetteer

import (
	"slices"
	"strings"

	"github.com/blevesearch/vellum/levenshtein"
)

// minStem is how many letters of a street's name, without its street word, a
// misspelling must leave to tell it from other streets: "mozart" of
// "Mosartstraße" is enough, "haupt" is not.
const minStem = 6

// maxSimilar is the greatest number of names that Similar compares.
const maxSimilar = 64

// A Speller finds streets whose names a text misspells. It is safe for
// concurrent use.
type Speller struct {
	g    *Gazetteer
	edit *levenshtein.LevenshteinAutomatonBuilder
}

// NewSpeller returns a Speller on g.
func NewSpeller(g *Gazetteer) (*Speller, error) {
	edit, err := levenshtein.NewLevenshteinAutomatonBuilder(1, true)
	if err != nil {
		return nil, err
	}
	return &Speller{g: g, edit: edit}, nil
}

// Similar returns the streets of q, which must have postcode and city, whose names differ from
// q.Street by one letter: missing, extra, replaced, or swapped with its neighbour. It returns none
// if the name is short, if a digit differs, or if two streets of the place match, since the
// intended one is then unknown.
func (s *Speller) Similar(q Query) []Place {
	key := StreetKey(q.Street)
	if q.Postcode == "" || q.City == "" || len(stem(key)) < minStem-1 || len(key) > 60 || s.g.closed.Load() {
		return nil
	}
	dfa, err := s.edit.BuildDfa(nameKey+key, 1)
	if err != nil {
		return nil
	}
	it, err := s.g.index.Search(dfa, []byte(nameKey), []byte(nameKey+"\xff"))
	var found []Place
	for n := 0; err == nil && n < maxSimilar; n++ {
		name, _ := it.Current()
		if other := string(name[len(nameKey):]); other != key && len(stem(other)) >= minStem &&
			digitsOf(other) == digitsOf(key) {
			q.Street = other
			streets := slices.DeleteFunc(s.g.Streets(q), func(p Place) bool {
				return p.Postcode != "" &&
					PostcodeKey(p.Postcode) != PostcodeKey(q.Postcode)
			})
			if len(streets) > 0 {
				if found != nil {
					return nil
				}
				found = streets
			}
		}
		err = it.Next()
	}
	return found
}

// stem returns the key of a street's name (see StreetKey) without the street
// word at its end.
func stem(key string) string {
	for _, word := range [...]string{"strasse", "allee", "gasse", "blvd", "pkwy", "damm", "ring", "str", "weg",
		"ave", "cir", "pl", "st", "rd", "ln", "dr", "ct"} {
		if rest, ok := strings.CutSuffix(key, word); ok {
			return rest
		}
	}
	return key
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
