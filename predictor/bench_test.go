//go:build unix

package predictor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jbrukh/bayesian"
)

// benchTerms is how many terms of a link are drawn for a benchmark.
const benchTerms = 24

// draw returns the terms of one link out of a vocabulary of n, the common ones
// far oftener than the rare ones, in one piece of memory as Terms gives them.
func draw(random *rand.Rand, vocabulary []string) []string {
	terms := make([]string, benchTerms)
	for i := range terms {
		x := random.Float64()
		terms[i] = vocabulary[int(x*x*x*float64(len(vocabulary)))]
	}
	all := strings.Join(terms, "")
	for i, term := range terms {
		terms[i], all = all[:len(term)], all[len(term):]
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

// BenchmarkLink measures scoring a link, learning three links, one at each depth, learning also the
// value of the last one, as a crawl does with every page, and the memory of the counts; all beside
// the bayesian package as it is. cpu-µs/op is processor time, which varies less on a busy machine.
// Drawing the links is not measured.
func BenchmarkLink(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		vocabulary := names(n)
		b.Run(fmt.Sprintf("score/terms=%d", n), func(b *testing.B) {
			m := full(b, vocabulary)
			timed(b, vocabulary, func(l sample) { m.Predict(l.trail[0]) })
		})
		b.Run(fmt.Sprintf("learn/terms=%d", n), func(b *testing.B) {
			m := full(b, vocabulary)
			timed(b, vocabulary, func(l sample) { m.Learn(l.trail, l.relevant) })
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-heap")
			runtime.KeepAlive(m)
		})
		b.Run(fmt.Sprintf("teach/terms=%d", n), func(b *testing.B) {
			m := full(b, vocabulary)
			link := Link{Host: "www.example.org", Path: "/a/b/12.html", Distance: 2}
			timed(b, vocabulary, func(l sample) { m.Teach(Example{Link: link, Trail: l.trail, Relevant: l.relevant}) })
		})
		var depths [DefaultDepths]*bayesian.Classifier
		for d := range depths {
			depths[d] = bayesian.NewClassifier(relevantClass, otherClass)
			for i, term := range vocabulary {
				depths[d].Observe(term, 1, []bayesian.Class{relevantClass, otherClass}[i%2])
			}
		}
		b.Run(fmt.Sprintf("bayesian/score/terms=%d", n), func(b *testing.B) {
			timed(b, vocabulary, func(l sample) {
				for _, c := range depths {
					c.LogScores(l.trail[0])
				}
			})
		})
		b.Run(fmt.Sprintf("bayesian/learn/terms=%d", n), func(b *testing.B) {
			timed(b, vocabulary, func(l sample) {
				for d, c := range depths {
					c.Learn(l.trail[d], classOf(l.relevant))
				}
			})
		})
	}
}

// timed calls do with one sample after the other and reports the processor time
// of one call.
func timed(b *testing.B, vocabulary []string, do func(sample)) {
	random := rand.New(rand.NewPCG(1, 1))
	samples, next := make([]sample, 256), 0
	var spent, began time.Duration
	for b.Loop() {
		if next == 0 {
			b.StopTimer()
			if began > 0 {
				spent += processorTime(b) - began
			}
			for i := range samples {
				samples[i] = sample{[][]string{draw(random, vocabulary), draw(random, vocabulary), draw(random, vocabulary)}, random.IntN(8) == 0}
			}
			began = processorTime(b)
			b.StartTimer()
		}
		do(samples[next])
		next = (next + 1) % len(samples)
	}
	spent += processorTime(b) - began
	b.ReportMetric(float64(spent.Nanoseconds())/1e3/float64(b.N), "cpu-µs/op")
}

// full returns a model whose vocabulary is full.
func full(b *testing.B, vocabulary []string) *Model {
	m := newModel(b, func(o *Options) { o.Vocabulary = len(vocabulary) })
	for i, term := range vocabulary {
		m.Learn([][]string{{term}, {term}, {term}}, i%8 == 0)
	}
	return m
}
