package predictor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

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

// processorTime returns what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLink reports what it costs to score a link, to learn it at three
// depths, and to learn its worth, too, as a crawl does with every page; and the
// memory of the counts; beside the bayesian package used as it comes. cpu-µs/op
// is processor time, which a busy machine does not blur as much as the clock.
func BenchmarkLink(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		vocabulary := names(n)
		b.Run(fmt.Sprintf("score/terms=%d", n), func(b *testing.B) {
			m, random := full(b, vocabulary)
			began := processorTime(b)
			for b.Loop() {
				m.Predict(draw(random, vocabulary))
			}
			reportTime(b, began)
		})
		b.Run(fmt.Sprintf("learn/terms=%d", n), func(b *testing.B) {
			m, random := full(b, vocabulary)
			began := processorTime(b)
			for b.Loop() {
				m.Learn(drawTrail(random, vocabulary), random.IntN(8) == 0)
			}
			reportTime(b, began)
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-heap")
			runtime.KeepAlive(m)
		})
		b.Run(fmt.Sprintf("teach/terms=%d", n), func(b *testing.B) {
			m, random := full(b, vocabulary)
			link := Link{Host: "www.example.org", Path: "/a/b/12.html", Distance: 2}
			began := processorTime(b)
			for b.Loop() {
				m.Teach(Example{Link: link, Trail: drawTrail(random, vocabulary), Relevant: random.IntN(8) == 0})
			}
			reportTime(b, began)
		})
		b.Run(fmt.Sprintf("bayesian/terms=%d", n), func(b *testing.B) {
			var depths [MaxDepth]*bayesian.Classifier
			for d := range depths {
				depths[d] = bayesian.NewClassifier("relevant", "other")
				for i, term := range vocabulary {
					depths[d].Observe(term, 1, []bayesian.Class{"relevant", "other"}[i%2])
				}
			}
			random := rand.New(rand.NewPCG(1, 1))
			began := processorTime(b)
			for b.Loop() {
				terms := draw(random, vocabulary)
				for _, c := range depths {
					c.LogScores(terms)
				}
			}
			reportTime(b, began)
		})
	}
}

// drawTrail returns the terms of three links, one for each depth.
func drawTrail(random *rand.Rand, vocabulary []string) [][]string {
	return [][]string{draw(random, vocabulary), draw(random, vocabulary), draw(random, vocabulary)}
}

// reportTime reports the processor time of one iteration since then.
func reportTime(b *testing.B, began time.Duration) {
	b.ReportMetric(float64((processorTime(b)-began).Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
}

// full returns a model whose vocabulary is full.
func full(b *testing.B, vocabulary []string) (*Model, *rand.Rand) {
	m := newModel(b, func(o *Options) { o.Vocabulary = len(vocabulary) })
	for i, term := range vocabulary {
		m.Learn([][]string{{term}, {term}, {term}}, i%8 == 0)
	}
	return m, rand.New(rand.NewPCG(1, 1))
}
