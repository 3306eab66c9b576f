package report

import (
	"math"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
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

// Six fetches of five pages, of which node 0 is general, node 1 owns the entities 1 and 4, node 2 the others:
//
//	A ──► B ──► D ──► A    B and D are about place a, as C is
//	└───► C     E
func TestMetrics(t *testing.T) {
	entities := func(ids ...string) (all []Entity) {
		owners := map[string]int{"1": 1, "2": 2, "3": 2, "4": 1}
		for _, id := range ids {
			all = append(all, Entity{id, owners[id]})
		}
		return all
	}
	b := Fetch{Page: name("B"), Domain: "one.example", Place: "a", Entities: entities("1"), Links: []frontier.Key{name("D")}}
	again := b
	b.Node, again.Node = 1, 2
	r := NewNodes([]bool{true, false, false})
	for _, f := range []Fetch{
		{Node: 0, Page: name("A"), Domain: "one.example", Links: []frontier.Key{name("B"), name("C")}},
		b,
		{Node: 1, Page: name("C"), Domain: "two.example", Place: "a", Entities: entities("1", "2")},
		{Node: 1, Page: name("E"), Domain: "two.example", Links: []frontier.Key{name("never fetched")}},
		again,
		{Node: 2, Page: name("D"), Domain: "three.example", Place: "a", Entities: entities("3"), Links: []frontier.Key{name("A")}},
	} {
		r.Fetched(f)
	}
	r.Exchanged(2)
	r.Exchanged(1)
	m, err := r.Metrics(3, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"fetches", float64(m.Fetches), 6},
		{"geo-coverage: B, C, B, D", m.GeoCoverage, 4. / 6},
		{"geographic coverage, without A of the general node", m.GeographicCoverage, 4. / 5},
		{"geo-coverage of node 1: B, C of three", m.Nodes[1].GeoCoverage, 2. / 3},
		{"geo-coverage of node 2", m.Nodes[2].GeoCoverage, 1},
		{"geo-focus of node 1: B and C", m.Nodes[1].GeoFocus, 1},
		{"geo-focus of node 2: D and not B", m.Nodes[2].GeoFocus, 1. / 2},
		{"geo-focus, the mean of the two", m.GeoFocus, 3. / 4},
		{"unique: 1, 2, 3 of 1, 1, 2, 1, 3", m.Unique, 3. / 5},
		{"overlap: five pages", m.Overlap, 1. / 6},
		{"diversity: three sites", m.Diversity, 3. / 6},
		{"communication", m.Communication, 3. / 6},
		{"geo-centrality: A .1 + .1 + .01, B 1 + .1, C 1, D 1 + .01 + .01, E 0", m.Centrality, (.21 + 1.1 + 1 + 1.02) / 5},
		{"δ: BD of AB, AC, BD, DA", m.Linked, 1. / 4},
		{"δ~: BC, CD of AE, BC, BE, CD, CE, DE", m.Unlinked, 2. / 6},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}

// Two trees: node 0 has A, which links to B and to C of the other node, and a redirect, which is no page.
func TestNodesReader(t *testing.T) {
	visit := func(path string, depth int, o frontier.Outcome) frontier.Node {
		u, err := weburl.Parse("http://one.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		parent, err := weburl.Parse("http://one.example/a")
		if err != nil {
			t.Fatal(err)
		}
		return frontier.Node{Entry: frontier.Entry{URL: u, Depth: depth, Parent: frontier.KeyOf(parent)}, Outcome: o}
	}
	for _, place := range []string{"", "m"} { // by the addresses, and by the partition of the crawl
		trees := []walker{
			{
				visit("/a", 0, frontier.Outcome{Kind: "page", Place: place, Dropped: map[string]int64{"other_node": 1, "nofollow": 5}}),
				visit("/b", 1, frontier.Outcome{Kind: "page", Place: place, Addresses: []string{"elm 1", "ash 1", "ash 2", "oak 1"}}),
				visit("/r", 1, frontier.Outcome{Kind: "redirect"}),
			},
			{visit("/c", 1, frontier.Outcome{Kind: "page", Place: place, Addresses: []string{"elm 1", "oak 1"}})},
		}
		r := NodesReader{Owner: func(address string) (string, int) {
			street := address[:3]
			if street == "oak" {
				return "", -1 // no target
			}
			return street, map[string]int{"ash": 0, "elm": 1}[street]
		}}
		for i, tree := range trees {
			if err := r.Read(t.Context(), i, tree); err != nil {
				t.Fatal(err)
			}
		}
		m, err := r.Nodes([]bool{false, false}).Metrics(3, 10)
		if err != nil {
			t.Fatal(err)
		}
		linked, unlinked := 0., 0. // B is about ash, C about elm, A about nothing
		if place != "" {
			linked, unlinked = 1, 1
		}
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"fetches", float64(m.Fetches), 3}, {"geo-coverage: B, C", m.GeoCoverage, 2. / 3}, {"geo-focus", m.GeoFocus, 1},
			{"unique: elm 1 twice", m.Unique, 3. / 4}, {"communication", m.Communication, 1. / 3},
			{"geo-centrality: A .1 + .1, B 1, C 1", m.Centrality, 2.2 / 3}, {"δ of AB, AC", m.Linked, linked},
			{"δ~ of BC", m.Unlinked, unlinked},
		} {
			if math.Abs(c.got-c.want) > 1e-12 {
				t.Errorf("place %q: %s is %v, want %v", place, c.what, c.got, c.want)
			}
		}
	}
}
