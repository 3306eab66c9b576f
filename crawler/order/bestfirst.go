package order

import (
	"slices"
	"strings"
	"unicode"

	"gazehound/crawler/frontier"
)

// BestFirstSettings are the options of best-first-url and best-first-anchor.
type BestFirstSettings struct {
	Places []string `flag:"place"` // names of the wanted places
}

var (
	bestFirstURL = bestFirst("best-first-url",
		"links whose URL names one of --place, then all others (Gao 2006)", false)
	bestFirstAnchor = bestFirst("best-first-anchor",
		"links whose words, or words around them, name one of --place, then all others", true)
)

func bestFirst(name, help string, anchor bool) Kind {
	return Kind{
		Name: name,
		Help: help,
		Keys: []string{"places"},
		Missing: func(s Settings) *MissingError {
			if len(s.Places) > 0 {
				return nil
			}
			return &MissingError{Key: "places", Need: " (--place NAME): the names that it looks for"}
		},
		New: func(o Options) (Strategy, error) { return BestFirst{Nearness{0.5, o.Decay}, o.Places, anchor}, nil },
	}
}

// BestFirst serves the links that name a wanted place before all others, and in both groups those
// near a relevant page first: the features of Gao, Lee & Miao 2006 on one node. Without Anchor it
// looks for the place in the URL (section 3.4.1), with it in the words of the link and around it
// (3.4.2).
type BestFirst struct {
	Near   Nearness // within each group
	Places []string
	Anchor bool
}

// Score returns (1 + decay^distance)/2 for a link that names a place and for a
// seed, and decay^distance/2 for the others.
func (s BestFirst) Score(e *frontier.Entry) (float64, bool) {
	score := s.Near.Score(e.Distance)
	if e.Depth == 0 || s.named(e) {
		score += 0.5
	}
	return score, true
}

// Explain returns the parts for distance and name.
func (s BestFirst) Explain(e *frontier.Entry) Explanation {
	priority, _ := s.Score(e)
	near := s.Near.Score(e.Distance)
	x := whole(near, "%s", s.Near.describe(e.Distance))
	if priority > near {
		x.Parts = append(x.Parts, Part{"it names a place, or is a seed", priority - near})
	}
	return x
}

// named reports whether the link names a place as whole words. In a URL, where
// names are run together, a place of one word may be a part of a longer one
// if it has five letters.
func (s BestFirst) named(e *frontier.Entry) bool {
	text := e.URL.Host() + e.URL.Path() + " " + e.URL.Query()
	if s.Anchor {
		text = e.Anchor + " " + e.Title + " " + e.Around
	}
	words := placeWords(text)
	for _, place := range s.Places {
		name := placeWords(place)
		for i := range words {
			if len(name) > 0 && i+len(name) <= len(words) && slices.Equal(words[i:i+len(name)], name) {
				return true
			}
		}
		joined := strings.Join(name, "")
		if !s.Anchor && len(joined) >= 5 && slices.ContainsFunc(words,
			func(w string) bool { return strings.Contains(w, joined) }) {
			return true
		}
	}
	return false
}

// placeWords cuts a text into words of letters in lower case.
func placeWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}
