package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Boxes and circles find what a look at every address finds, wherever they lie.
func TestAreaIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	near := func(p orb.Point, spread float64) orb.Point {
		lon := p[0] + spread*(r.Float64()-0.5)
		if lon > 180 {
			lon -= 360
		} else if lon < -180 {
			lon += 360
		}
		return orb.Point{lon, max(-90, min(p[1]+spread*(r.Float64()-0.5), 90))}
	}
	towns := []orb.Point{{8.2, 53.1}, {179.999, -16.5}, {-122.4, 37.8}, {15, 89.99}, {0, 0}}
	x := open(t)
	var docs []Document
	for i := range 150 {
		p := near(towns[i%len(towns)], []float64{0.05, 0.5, 5}[i/len(towns)%3])
		docs = append(docs, page(fmt.Sprintf("https://h%d.example/", i), "", "de",
			fmt.Sprintf("{Lange Straße %d, 26122 Oldenburg|%.9f %.9f}", i+1, p[0], p[1])))
	}
	put(t, x, docs...)
	all := find(t, x, Query{Limit: MaxLimit})
	if all.Total != len(docs) {
		t.Fatalf("%d of %d addresses", all.Total, len(docs))
	}
	located := 0
	check := func(q Query, inside func(orb.Point) bool) {
		t.Helper()
		var want, got []string
		for _, h := range all.Hits {
			if inside(h.Point) {
				want = append(want, h.ID)
			}
		}
		q.Limit = MaxLimit
		for _, h := range find(t, x, q).Hits {
			got = append(got, h.ID)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("box %v, %v m around %v: %d addresses, want %d", q.Box, q.Radius, q.Center, len(got), len(want))
		}
		located += len(want)
	}
	boxes := []orb.Bound{
		{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}, {Min: orb.Point{179, -20}, Max: orb.Point{-179, -10}},
		{Min: orb.Point{170, -90}, Max: orb.Point{160, 90}}, {Min: orb.Point{8.2, 53.1}, Max: orb.Point{8.2, 53.1}},
	}
	for range 40 {
		p := near(towns[r.IntN(len(towns))], 1)
		w, h := 2*r.Float64(), 2*r.Float64()
		boxes = append(boxes, orb.Bound{
			Min: orb.Point{max(-180, p[0]-w), max(-90, p[1]-h)}, Max: orb.Point{min(180, p[0]+w), min(90, p[1]+h)},
		})
	}
	for _, b := range boxes {
		check(Query{Filters: Filters{Box: &b}}, func(p orb.Point) bool {
			lon := b.Min[0] <= p[0] && p[0] <= b.Max[0]
			if b.Min[0] > b.Max[0] {
				lon = b.Min[0] <= p[0] || p[0] <= b.Max[0]
			}
			return lon && b.Min[1] <= p[1] && p[1] <= b.Max[1]
		})
	}
	for range 40 {
		center := near(towns[r.IntN(len(towns))], 1)
		for _, radius := range []float64{500, 20_000, MaxRadius} {
			check(Query{Filters: Filters{Center: &center, Radius: radius}}, func(p orb.Point) bool {
				return geo.DistanceHaversine(center, p) <= radius
			})
		}
	}
	if located == 0 {
		t.Fatal("no area holds an address")
	}
}
