package geoparse

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"
)

var learn = flag.Bool("learn", false, "write the weights that the evaluations learn")

// A learning is logistic regression with a penalty on the squares of how far weights are from the prior ones.
type learning struct {
	names         []string // of the weights
	prior         map[string]float64
	given         int // weights that stay as they are, the first ones
	penalty, rate float64
	rounds        int
}

// weights descends from the prior weights; add adds what the examples say to the gradient.
func (l learning) weights(add func(w, gradient []float64)) []float64 {
	w, velocity := make([]float64, len(l.names)), make([]float64, len(l.names))
	for i, name := range l.names {
		w[i] = l.prior[name]
	}
	for range l.rounds {
		gradient := make([]float64, len(w))
		for i, name := range l.names {
			gradient[i] = l.penalty * (l.prior[name] - w[i])
		}
		add(w, gradient)
		for i := l.given; i < len(w); i++ {
			velocity[i] = 0.9*velocity[i] + l.rate*gradient[i]/10
			w[i] += velocity[i]
		}
	}
	return w
}

// writeWeights logs the weights, and writes them to a file if that is asked for.
func writeWeights(t *testing.T, file string, names []string, weights []float64) {
	var text strings.Builder
	for i, name := range names {
		t.Logf("%-20s %6.2f", name, weights[i])
		fmt.Fprintf(&text, "%s\t%.2f\n", name, weights[i])
	}
	if !*learn {
		return
	}
	err := os.WriteFile(file, []byte(text.String()), 0o644)
	if err != nil {
		t.Fatal(err)
	}
}

// foldOf returns which of some parts a site belongs to.
func foldOf(site string, parts int) int {
	h := fnv.New32a()
	fmt.Fprint(h, site)
	return int(h.Sum32()) % parts
}
