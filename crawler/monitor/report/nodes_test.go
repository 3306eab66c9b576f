package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gazehound/crawler/frontier"
)

// name makes the key of a page of a test.
func name(s string) (k frontier.Key) {
	copy(k[:], s)
	return k
}

// The worked example of the paper: figure 2 and example 3.
func TestCentralityOfThePaper(t *testing.T) {
	r := NewNodes([]bool{false})
	add := func(page string, links ...string) {
		f := Fetch{Page: name(page), Entities: []Entity{{ID: page}}}
		for _, l := range links {
			f.Links = append(f.Links, name(l))
		}
		r.Fetched(f)
	}
	add("1", "2", "3", "4")
	add("2", "5", "6")
	add("3", "7")
	add("4", "8", "1")
	for _, leaf := range []string{"5", "6", "7", "8"} {
		add(leaf)
	}
	root := r.number[name("1")]
	if got := r.around(root, 3, 10, make([]int, len(r.pages)), 1); math.Abs(got-1.34) > 1e-12 {
		t.Errorf("geo-centrality of the root is %v, want 1.34", got)
	}
	if got := r.around(root, 1, 10, make([]int, len(r.pages)), 1); got != 1 {
		t.Errorf("with k = 1: %v, want the page itself, 1", got)
	}
	for _, bad := range []func() (Metrics, error){
		func() (Metrics, error) { return r.Metrics(0, 10) },
		func() (Metrics, error) { return r.Metrics(3, 0) },
		func() (Metrics, error) { return r.Metrics(3, math.NaN()) },
	} {
		if _, err := bad(); err == nil {
			t.Error("no error")
		}
	}
}

// Nothing fetched: every ratio is undefined, none is 0 or panics.
func TestNoFetch(t *testing.T) {
	m, err := NewNodes([]bool{true, false}).Metrics(3, 10)
	if err != nil || !math.IsNaN(m.GeoCoverage) || !math.IsNaN(m.Overlap) || !math.IsNaN(m.GeoFocus) || !math.IsNaN(m.Linked) {
		t.Errorf("%+v, %v", m, err)
	}
}

// All metrics equal a recount by their definitions over a small made-up crawl.
func TestMetricsRecount(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		const nodes, pages = 4, 40 // node 0 is general
		places := []string{"", "a", "b", "c", "d"}
		web := make([]Fetch, pages)
		for i := range web {
			f := Fetch{Page: name(fmt.Sprint(i)), Domain: fmt.Sprint("d", r.IntN(9)), Place: places[r.IntN(5)]}
			for range r.IntN(3) {
				id := r.IntN(12)
				f.Entities = append(f.Entities, Entity{fmt.Sprint(id), 1 + id%(nodes-1)})
			}
			for range r.IntN(6) {
				f.Links = append(f.Links, name(fmt.Sprint(r.IntN(pages+5))))
			}
			web[i] = f
		}
		var all []Fetch
		report := NewNodes([]bool{true, false, false, false})
		for range 60 {
			f := web[r.IntN(pages)]
			f.Node = r.IntN(nodes)
			all = append(all, f)
			report.Fetched(f)
		}
		report.Exchanged(31)
		report.Exchanged(11)
		got, err := report.Metrics(3, 10)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9 || math.IsNaN(got) != math.IsNaN(want) {
				t.Errorf("seed %d: %s is %v, want %v", seed, what, got, want)
			}
		}
		count := func(of func(Fetch) bool) (n float64) {
			for _, f := range all {
				if of(f) {
					n++
				}
			}
			return n
		}
		geo := func(f Fetch) bool { return len(f.Entities) > 0 }
		N := float64(len(all))
		check("geo-coverage", got.GeoCoverage, count(geo)/N)
		check("geographic coverage", got.GeographicCoverage, count(func(f Fetch) bool { return f.Node > 0 && geo(f) })/count(func(f Fetch) bool { return f.Node > 0 }))
		focus := 0.0
		for n := 1; n < nodes; n++ {
			own := count(func(f Fetch) bool {
				for _, e := range f.Entities {
					if e.Node == n && f.Node == n {
						return true
					}
				}
				return false
			})
			of := count(func(f Fetch) bool { return f.Node == n && geo(f) })
			check("focus of a node", got.Nodes[n].GeoFocus, own/of)
			focus += own / of / (nodes - 1)
			check("coverage of a node", got.Nodes[n].GeoCoverage, of/count(func(f Fetch) bool { return f.Node == n }))
		}
		check("geo-focus", got.GeoFocus, focus)
		unique, domains, distinct, entities := map[string]bool{}, map[string]bool{}, map[frontier.Key]Fetch{}, 0.0
		for _, f := range all {
			domains[f.Domain] = true
			distinct[f.Page] = f
			for _, e := range f.Entities {
				unique[e.ID] = true
				entities++
			}
		}
		I := float64(len(distinct))
		check("unique", got.Unique, float64(len(unique))/entities)
		check("overlap", got.Overlap, (N-I)/N)
		check("diversity", got.Diversity, float64(len(domains))/N)
		check("communication", got.Communication, 42/N)

		linked := func(a, b Fetch) bool {
			for _, l := range a.Links {
				if l == b.Page {
					return true
				}
			}
			return false
		}
		// Distances by Floyd and Warshall.
		var keys []frontier.Key
		for k := range distinct {
			keys = append(keys, k)
		}
		d := map[[2]frontier.Key]int{}
		for _, a := range keys {
			for _, b := range keys {
				d[[2]frontier.Key{a, b}] = 1000
				if linked(distinct[a], distinct[b]) {
					d[[2]frontier.Key{a, b}] = 1
				}
			}
			d[[2]frontier.Key{a, a}] = 0
		}
		for _, via := range keys {
			for _, a := range keys {
				for _, b := range keys {
					d[[2]frontier.Key{a, b}] = min(d[[2]frontier.Key{a, b}], d[[2]frontier.Key{a, via}]+d[[2]frontier.Key{via, b}])
				}
			}
		}
		centrality, same, pairs, sameNot, not := 0.0, 0.0, 0.0, 0.0, 0.0
		for i, a := range keys {
			for j, b := range keys {
				if dist := d[[2]frontier.Key{a, b}]; dist < 3 && geo(distinct[b]) {
					centrality += math.Pow(10, -float64(dist)) / I
				}
				if j >= i {
					continue
				}
				gs := 0.0
				if p := distinct[a].Place; p != "" && p == distinct[b].Place {
					gs = 1
				}
				if linked(distinct[a], distinct[b]) || linked(distinct[b], distinct[a]) {
					same, pairs = same+gs, pairs+1
				} else {
					sameNot, not = sameNot+gs, not+1
				}
			}
		}
		check("geo-centrality", got.Centrality, centrality)
		check("δ", got.Linked, same/pairs)
		check("δ~", got.Unlinked, sameNot/not)
	}
}
