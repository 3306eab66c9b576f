package predictor

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// A TermWeight is the evidence of one term.
type TermWeight struct {
	Depth    int     `json:"depth"`    // depth, from 1; 0 for a link's value
	Term     string  `json:"term"`     // in the vocabulary: "anchor:kontakt", "path:<unk>"
	LogOdds  float64 `json:"log_odds"` // natural log; above 0 for a relevant page
	Relevant int     `json:"relevant"` // links with the term that led to a relevant page
	Other    int     `json:"other"`    // links with the term that led to another page
}

// String writes a term for people.
func (w TermWeight) String() string {
	if w.Relevant+w.Other == 0 {
		return fmt.Sprintf("  %s  %s", FormatLogOdds(w.LogOdds), w.Name())
	}
	counts := fmt.Sprintf("%d relevant / %d other", w.Relevant, w.Other)
	return fmt.Sprintf("  %s  %-24s  %s", FormatLogOdds(w.LogOdds), counts, w.Name())
}

// FormatLogOdds writes a number with its sign, in six columns.
func FormatLogOdds(x float64) string {
	x = math.Round(x*100) / 100
	if x == 0 {
		x = 0 // and not -0
	}
	return fmt.Sprintf("%+6.2f", x)
}

// Name writes the term in two columns, family and word.
func (w TermWeight) Name() string {
	family, word, _ := strings.Cut(textutil.OneLine(w.Term), ":")
	return strings.TrimSpace(fmt.Sprintf("%-6s  %s", family, word))
}

// An Explanation shows how a probability is computed: LogOdds = Prior + the sum of Terms' LogOdds,
// and Probability = 1/(1+exp(-LogOdds)).
type Explanation struct {
	// false: too little learned; Probability is 0 and other fields are empty
	Trained     bool         `json:"trained"`
	Probability float64      `json:"probability"`
	LogOdds     float64      `json:"log_odds"`
	Prior       float64      `json:"prior"`    // log-odds of a link without terms
	Relevant    int          `json:"relevant"` // links learned that led to a relevant page
	Other       int          `json:"other"`    // links learned that led to another page
	Terms       []TermWeight `json:"terms"`    // the strongest first
}

// Explain returns how Score computes its probability for a link with these terms at a depth from 1
// to Options.Depths. A tempered model divides the terms' weights by √n.
func (m *Model) Explain(terms []string, depth int) Explanation {
	if depth < 1 || depth > len(m.depths) {
		return Explanation{}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.depths[depth-1]
	e := Explanation{Relevant: c.relevant, Other: c.other, Terms: []TermWeight{}}
	if !m.isTrained(depth - 1) {
		return e
	}
	e.Trained, e.Prior = true, c.prior()
	e.LogOdds = e.Prior
	known, relevant, other := c.resolve(terms)
	scale, temper := c.scale(relevant, other), c.temper(len(terms))
	for i, term := range known {
		w := scale.logOdds(relevant[i], other[i]) / temper
		e.LogOdds += w
		e.Terms = append(e.Terms, TermWeight{depth, term, w, int(relevant[i]), int(other[i])})
	}
	e.Probability = sigmoid(e.LogOdds)
	slices.SortStableFunc(e.Terms, byWeight)
	return e
}

// byWeight orders terms by falling absolute weight.
func byWeight(a, b TermWeight) int {
	return cmp.Or(cmp.Compare(math.Abs(b.LogOdds), math.Abs(a.LogOdds)), strings.Compare(a.Term, b.Term))
}

// Top returns the n strongest terms of a family ("" is any) at a depth from 1, the strongest first,
// with their weights in a link with no other term. It reads the whole vocabulary: not for the hot
// path.
func (m *Model) Top(depth int, family string, n int) []TermWeight {
	return first(m.Weights(depth, family), n, byWeight)
}

// Weights yields all terms of a family ("" is any) at a depth from 1
// on in the order in which they were learned, each as evidence of a link
// with no other term. The model may learn meanwhile.
func (m *Model) Weights(depth int, family string) iter.Seq[TermWeight] {
	return func(yield func(TermWeight) bool) {
		if depth < 1 || depth > len(m.depths) {
			return
		}
		c := m.depths[depth-1]
		m.mu.RLock()
		terms := c.terms
		m.mu.RUnlock()
		for chunk := range slices.Chunk(terms, 1024) {
			m.mu.RLock()
			relevant, other := c.counts(chunk)
			alone := make([]scale, len(chunk))
			for i := range chunk {
				alone[i] = c.scale(relevant[i:i+1], other[i:i+1])
			}
			m.mu.RUnlock()
			for i, term := range chunk {
				if family != "" && !strings.HasPrefix(term, family+":") {
					continue
				}
				if !yield(TermWeight{depth, term, alone[i].logOdds(relevant[i], other[i]), int(relevant[i]),
					int(other[i])}) {
					return
				}
			}
		}
	}
}

// first returns the first n of all in order, which holds for any two that
// differ; it keeps few more than n in memory.
func first[T any](all iter.Seq[T], n int, order func(a, b T) int) []T {
	if n < 1 {
		return nil
	}
	var top []T
	for t := range all {
		top = append(top, t)
		if len(top) >= 2*n+1024 {
			slices.SortFunc(top, order)
			top = top[:n]
		}
	}
	slices.SortFunc(top, order)
	return top[:min(len(top), n)]
}

// A Difference is one term in two models.
type Difference struct {
	Here, There TermWeight // of one term; unknown ones have counts of 0
}

// Change returns by how much the weight of the term differs.
func (d Difference) Change() float64 { return d.Here.LogOdds - d.There.LogOdds }

// Diff returns at most n terms of a family ("" is any) that the two models
// weigh most differently at a depth from 1 on, the largest difference
// first.
func Diff(here, there *Model, depth int, family string, n int) []Difference {
	all := func(yield func(Difference) bool) {
		for w := range here.Weights(depth, family) {
			if !yield(Difference{w, there.weight(depth, w.Term)}) {
				return
			}
		}
		for w := range there.Weights(depth, family) {
			mine := here.weight(depth, w.Term)
			if mine.Relevant+mine.Other == 0 && !yield(Difference{mine, w}) {
				return
			}
		}
	}
	return first(all, n, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())), strings.Compare(a.Here.Term,
			b.Here.Term))
	})
}

// weight returns the evidence of a single term at a depth from 1.
func (m *Model) weight(depth int, term string) TermWeight {
	if depth > len(m.depths) {
		return TermWeight{Depth: depth, Term: term}
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	c := m.depths[depth-1]
	relevant, other := c.counts([]string{term})
	return TermWeight{depth, term, c.scale(relevant, other).logOdds(relevant[0], other[0]), int(relevant[0]),
		int(other[0])}
}

// Stats counts what a model has learned.
type Stats struct {
	Depths []DepthStats // as many as Options.Depths
}

// DepthStats counts what the classifier of one depth has learned.
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
	for _, c := range m.depths {
		s.Depths = append(s.Depths, DepthStats{Relevant: c.relevant, Other: c.other, Terms: len(c.terms)})
	}
	return s
}
