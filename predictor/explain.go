package predictor

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A TermWeight says what one term tells.
type TermWeight struct {
	Term     string  // as the model knows it: "anchor:kontakt", "path:<unk>"
	LogOdds  float64 // natural log; above 0 it speaks for a relevant page
	Relevant int     // links with the term that led to a relevant page
	Other    int     // links with the term that led to another page
}

// An Explanation shows how a probability came about:
// LogOdds = Prior + the sum of Terms' LogOdds, and
// Probability = 1/(1+exp(-LogOdds)).
type Explanation struct {
	Trained     bool // false: too little learned, Probability is 0 and all else empty
	Probability float64
	LogOdds     float64
	Prior       float64      // log-odds of a link of which nothing is known
	Terms       []TermWeight // the one that tells most first
	Relevant    int          // links learned that led to a relevant page
	Other       int          // links learned that led to another page
}

// Explain returns how Score comes to its probability for a link with these
// terms at a depth from 1 to MaxDepth. The terms' weights are as they count
// for this link: a tempered model divides them by √n.
func (m *Model) Explain(terms []string, depth int) Explanation {
	if depth < 1 || depth > m.options.Depths {
		return Explanation{}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.depths[depth-1]
	e := Explanation{Relevant: c.relevant, Other: c.other}
	if !m.speaks(depth - 1) {
		return e
	}
	e.Trained, e.Prior = true, c.prior()
	e.LogOdds = e.Prior
	known, relevant, other := c.resolve(terms)
	scale, temper := c.scale(), c.temper(len(terms))
	for i, term := range known {
		w := scale.logOdds(relevant[i], other[i]) / temper
		e.LogOdds += w
		e.Terms = append(e.Terms, TermWeight{term, w, int(relevant[i]), int(other[i])})
	}
	e.Probability = sigmoid(e.LogOdds)
	slices.SortStableFunc(e.Terms, byWeight)
	return e
}

// byWeight orders the terms that tell most, either way, first.
func byWeight(a, b TermWeight) int {
	return cmp.Or(cmp.Compare(math.Abs(b.LogOdds), math.Abs(a.LogOdds)), strings.Compare(a.Term, b.Term))
}

// Top returns at most n terms of a family ("" is any) that tell most at a depth
// from 1 to MaxDepth, the strongest first, as evidence of a link with no other
// term. It looks at the whole vocabulary: not for the hot path.
func (m *Model) Top(depth int, family string, n int) []TermWeight {
	if depth < 1 || depth > MaxDepth || n < 1 {
		return nil
	}
	c := m.depths[depth-1]
	m.mu.RLock()
	terms := c.terms
	m.mu.RUnlock()
	var top []TermWeight
	for len(terms) > 0 {
		chunk := terms[:min(len(terms), snapshotTerms)]
		terms = terms[len(chunk):]
		m.mu.RLock()
		relevant, other := c.counts(chunk)
		scale := c.scale()
		m.mu.RUnlock()
		for i, term := range chunk {
			if family == "" || strings.HasPrefix(term, family+":") {
				top = append(top, TermWeight{term, scale.logOdds(relevant[i], other[i]), int(relevant[i]), int(other[i])})
			}
		}
		if len(top) > 2*n+snapshotTerms {
			slices.SortFunc(top, byWeight)
			top = top[:n]
		}
	}
	slices.SortFunc(top, byWeight)
	return top[:min(len(top), n)]
}

// Stats says what a model has learned.
type Stats struct {
	Depths [MaxDepth]DepthStats
}

// DepthStats says what the classifier of one depth has learned.
type DepthStats struct {
	Relevant int // links that led to a relevant page
	Other    int // links that led to another page
	Terms    int // vocabulary
}

// Stats returns what the model has learned.
func (m *Model) Stats() Stats {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var s Stats
	for d, c := range m.depths {
		s.Depths[d] = DepthStats{Relevant: c.relevant, Other: c.other, Terms: len(c.terms)}
	}
	return s
}
