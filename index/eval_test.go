package index

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

// A judged query is one that people said for which addresses are right.
type judged struct {
	text   string
	center *orb.Point
	grades map[string]float64 // of "street number"
}

func readPages(t testing.TB) (all []Document) {
	text, err := os.ReadFile("testdata/eval/pages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(text), "\n= ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, " | ")
		all = append(all, page(fields[0], strings.Join(fields[1:len(fields)-1], " | "), fields[len(fields)-1], strings.TrimSpace(body)))
	}
	return all
}

func readQueries(t testing.TB) (all []judged) {
	text, err := os.ReadFile("testdata/eval/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		query, right, ok := strings.Cut(strings.TrimSpace(line), " => ")
		j := judged{grades: map[string]float64{}}
		var at string
		if j.text, at, _ = strings.Cut(query, " @"); at != "" {
			j.center = &orb.Point{}
			if _, err := fmt.Sscanf(at, "%g,%g", &j.center[1], &j.center[0]); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		for one := range strings.SplitSeq(right, "; ") {
			where, grade, _ := strings.Cut(one, " = ")
			g, err := strconv.ParseFloat(grade, 64)
			if err != nil || !ok {
				t.Fatalf("%s: %v", line, err)
			}
			j.grades[where] = g
		}
		all = append(all, j)
	}
	return all
}

// ndcg is the normalised discounted cumulative gain of the first ten hits
// (Järvelin and Kekäläinen 2002), with gain 2^grade - 1. Of two hits at one
// place, such as a site and a directory, only the first gains.
func (j judged) ndcg(hits []Hit) float64 {
	gain := func(grade float64) float64 { return math.Exp2(grade) - 1 }
	got, ideal := 0.0, 0.0
	seen := map[string]bool{}
	rank := 0
	for _, h := range hits {
		where := strings.Replace(h.Street, "Str.", "Straße", 1) + " " + h.HouseNumber
		if seen[where] {
			continue
		}
		seen[where] = true
		if rank++; rank > 10 {
			break
		}
		got += gain(j.grades[where]) / math.Log2(float64(rank)+1)
	}
	var best []float64
	for _, g := range j.grades {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, g := range best[:min(10, len(best))] {
		ideal += gain(g) / math.Log2(float64(i)+2)
	}
	return got / ideal
}

// The order of hits is the one that a person would call right. "make eval"
// prints the figures.
func TestRanking(t *testing.T) {
	x := open(t)
	put(t, x, readPages(t)...)
	queries := readQueries(t)
	if len(queries) < 60 {
		t.Fatalf("only %d queries", len(queries))
	}
	sum, first := 0.0, 0
	for _, j := range queries {
		r := find(t, x, Query{Text: j.text, Center: j.center, Bias: 0.8, Limit: 30, Explain: true})
		n := j.ndcg(r.Hits)
		sum += n
		if len(r.Hits) > 0 && j.grades[strings.Replace(r.Hits[0].Street, "Str.", "Straße", 1)+" "+r.Hits[0].HouseNumber] == 3 {
			first++
		}
		if n < 0.9 {
			t.Logf("%.2f %q", n, j.text)
			for _, h := range r.Hits[:min(4, len(r.Hits))] {
				t.Logf("      %s, %s %s  %.2f %v", h.Name, h.Street, h.HouseNumber, h.Score, h.Parts)
			}
		}
	}
	mean := sum / float64(len(queries))
	t.Logf("%d queries: nDCG@10 %.3f; the first hit is right in %d", len(queries), mean, first)
	if mean < leastNDCG {
		t.Errorf("nDCG@10 is %.3f; it was %.3f before", mean, leastNDCG)
	}
}

// leastNDCG is what ranking reached when its weights were chosen last.
const leastNDCG = 0.985
