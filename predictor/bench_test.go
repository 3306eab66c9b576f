package predictor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/jbrukh/bayesian"
)

// benchTerms is how many terms of a link are drawn for a benchmark.
const benchTerms = 24

// draw returns the terms of one link out of a vocabulary of n, the common ones
// far oftener than the rare ones.
func draw(random *rand.Rand, vocabulary []string) []string {
	terms := make([]string, benchTerms)
	for i := range terms {
		x := random.Float64()
		terms[i] = vocabulary[int(x*x*x*float64(len(vocabulary)))]
	}
	return terms
}

func names(n int) []string {
	vocabulary := make([]string, n)
	for i := range vocabulary {
		vocabulary[i] = fmt.Sprint("path:", i)
	}
	return vocabulary
}

// BenchmarkLink reports what it costs to score a link and to learn it at three
// depths, and the memory of the counts, beside the bayesian package used as it
// comes.
func BenchmarkLink(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		vocabulary := names(n)
		b.Run(fmt.Sprintf("score/terms=%d", n), func(b *testing.B) {
			m, random := full(b, vocabulary)
			for b.Loop() {
				m.Predict(draw(random, vocabulary))
			}
		})
		b.Run(fmt.Sprintf("learn/terms=%d", n), func(b *testing.B) {
			m, random := full(b, vocabulary)
			for b.Loop() {
				terms := draw(random, vocabulary)
				m.Learn([][]string{terms, terms, terms}, random.IntN(8) == 0)
			}
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-heap")
			runtime.KeepAlive(m)
		})
		b.Run(fmt.Sprintf("bayesian/terms=%d", n), func(b *testing.B) {
			var depths [MaxDepth]*bayesian.Classifier
			for d := range depths {
				depths[d] = bayesian.NewClassifier(relevantClass, otherClass)
				for i, term := range vocabulary {
					depths[d].Observe(term, 1, []bayesian.Class{relevantClass, otherClass}[i%2])
				}
			}
			random := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				terms := draw(random, vocabulary)
				for _, c := range depths {
					c.LogScores(terms)
				}
			}
		})
	}
}

// full returns a model whose vocabulary is full.
func full(b *testing.B, vocabulary []string) (*Model, *rand.Rand) {
	m := newModel(b, func(o *Options) { o.Vocabulary = len(vocabulary) })
	for i, term := range vocabulary {
		m.Learn([][]string{{term}, {term}, {term}}, i%8 == 0)
	}
	return m, rand.New(rand.NewPCG(1, 1))
}
