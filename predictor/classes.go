package predictor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/jbrukh/bayesian"
)

// Classes is a naive Bayes classifier of texts into any number of classes,
// such as the nodes of a collaborative crawl (Gao, Lee & Miao 2006, section
// 3.4.4). It is safe for concurrent use once it has learned.
type Classes struct {
	names      []string
	store      *bayesian.Classifier
	texts      []int // learned per class
	vocabulary map[string]bool
	weights    sync.Map // cache since the last Learn: word → []float64, log p(word|class)
}

// MaxVocabulary bounds the words of Classes; words that come later are
// not learned.
const MaxVocabulary = 1 << 20

// NewClasses makes a classifier with these classes, two or more.
func NewClasses(names ...string) (*Classes, error) {
	if len(names) < 2 {
		return nil, errors.New("predictor: a classifier needs two classes")
	}
	var classes []bayesian.Class
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return nil, fmt.Errorf("predictor: two classes are called %q", n)
		}
		classes = append(classes, bayesian.Class(n))
	}
	return &Classes{names: slices.Clone(names), store: bayesian.NewClassifier(classes...),
		texts: make([]int, len(names)), vocabulary: map[string]bool{}}, nil
}

// Names returns the classes in their order.
func (c *Classes) Names() []string { return c.names }

// Learn counts one text of a class, by its number in Names.
func (c *Classes) Learn(class int, words []string) {
	c.texts[class]++
	c.weights.Clear()
	for _, w := range words {
		if !c.vocabulary[w] {
			if len(c.vocabulary) >= MaxVocabulary || len(w) > MaxTermLength {
				continue
			}
			c.vocabulary[w] = true
		}
		c.store.Observe(w, 1, bayesian.Class(c.names[class]))
	}
}

// Scores returns the logarithm of p(class) · Π p(word|class) for every class, with Laplace
// smoothing and priors by texts learned; unknown words are ignored.
func (c *Classes) Scores(words []string) []float64 {
	texts := 0
	for _, n := range c.texts {
		texts += n
	}
	scores := make([]float64, len(c.names))
	for i := range scores {
		scores[i] = math.Log(float64(c.texts[i]+1) / float64(texts+len(c.texts)))
	}
	for _, word := range words {
		for i, w := range c.weight(word) {
			scores[i] += w
		}
	}
	return scores
}

// weight returns log p(word|class) for every class; nil for an unknown word.
func (c *Classes) weight(word string) []float64 {
	if !c.vocabulary[word] {
		return nil
	}
	if w, ok := c.weights.Load(word); ok {
		return w.([]float64)
	}
	totals, frequencies := c.store.WordCount(), c.store.WordFrequencies([]string{word})
	weights := make([]float64, len(c.names))
	for i := range weights {
		times := math.Round(frequencies[i][0] * float64(totals[i]))
		weights[i] = math.Log(times+1) - math.Log(float64(totals[i]+len(c.vocabulary)+1))
	}
	c.weights.Store(word, weights)
	return weights
}

// Best returns the number of the class with the highest score, the first of
// several.
func (c *Classes) Best(words []string) int {
	best, scores := 0, c.Scores(words)
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return best
}
