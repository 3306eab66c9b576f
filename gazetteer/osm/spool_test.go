package osm

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"
)

// TestNodes holds the law that a store knows the coordinates of the nodes that were asked
// for, sorted in memory or in files.
func TestNodes(t *testing.T) {
	for _, memory := range []int{0, 500} {
		r := rand.New(rand.NewPCG(1, 2))
		var s nodeStore
		s.wanted = disk.Sorter{Dir: t.TempDir(), Memory: memory}
		defer s.close()
		var asked []int64
		for range 200 {
			ids := []int64{r.Int64N(2000) - 100, r.Int64N(2000), r.Int64N(2000)}
			asked = append(asked, ids...)
			if err := s.want(ids); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.add(5000, units(orb.Point{8, 53})); err != nil {
			t.Fatal(err)
		}
		if err := s.ready(); err != nil {
			t.Fatal(err)
		}
		at := func(id int64) orb.Point { return orb.Point{float64(id) / 100, -float64(id) / 50} }
		for id := int64(-100); id < 2000; id++ {
			if id%3 != 0 { // the extract holds it
				s.set(id, at(id))
			}
		}
		for id := int64(-100); id < 2000; id++ {
			p, ok := s.get(id)
			if ok != (slices.Contains(asked, id) && id%3 != 0) || ok && p != at(id) {
				t.Fatalf("node %d: %v, %v", id, p, ok)
			}
		}
		if p, ok := s.get(5000); !ok || p != (orb.Point{8, 53}) {
			t.Errorf("a node whose coordinate was known: %v, %v", p, ok)
		}
	}
}

// TestSpool holds the law that features come out as they went in, and in order.
func TestSpool(t *testing.T) {
	text := rapid.StringN(0, 20, -1)
	one := rapid.Custom(func(t *rapid.T) feature {
		f := feature{
			id: rapid.Int64().Draw(t, "id"), kind: rapid.SampledFrom([]byte("nwr")).Draw(t, "kind"), has: rapid.Bool().Draw(t, "has"), way: rapid.Int64().Draw(t, "way"),
			names: rapid.SliceOfN(text, 1, 3).Draw(t, "names"), refs: rapid.SliceOfN(rapid.Int64Range(-1<<60, 1<<60), 1, 9).Draw(t, "refs"),
		}
		if f.has {
			f.point = fromUnits([2]int32{rapid.Int32Range(-1800000000, 1800000000).Draw(t, "lon"), rapid.Int32Range(-900000000, 900000000).Draw(t, "lat")})
		}
		for _, s := range []*string{&f.street, &f.number, &f.postcode, &f.city, &f.state, &f.country} {
			*s = text.Draw(t, "text")
		}
		return f
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(one, 0, 10).Draw(t, "features")
		s, err := newSpool(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		for i := range list {
			s.add(&list[i])
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // it can be read more than once
			var got []feature
			if err := s.each(context.Background(), func(f *feature) error { got = append(got, *f); return nil }); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(list) {
				t.Fatalf("%d of %d features", len(got), len(list))
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], list[i]) {
					t.Fatalf("%+v came out as %+v", list[i], got[i])
				}
			}
		}
	})
}

// FuzzFeature holds the law that no bytes make the decoder panic or take more
// memory than they have.
func FuzzFeature(f *testing.F) {
	full := feature{id: 7, kind: 'w', has: true, street: "Weg", number: "1", names: []string{"a"}, refs: []int64{5, 3}}
	out := disk.Append(nil)
	full.code(&out)
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var g feature
		in := disk.Read(b)
		if g.code(&in); len(g.refs)+len(g.names) > len(b) {
			t.Errorf("%d refs and %d names of %d bytes", len(g.refs), len(g.names), len(b))
		}
	})
}

// TestAreaGrid holds the law that the grid answers as a look at every outline.
func TestAreaGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var areas []*area
		for i := range rapid.IntRange(1, 6).Draw(t, "areas") {
			x, y := rapid.Float64Range(7, 8).Draw(t, "x"), rapid.Float64Range(52, 53).Draw(t, "y")
			w, h := rapid.Float64Range(0.001, 0.5).Draw(t, "w"), rapid.Float64Range(0.001, 0.5).Draw(t, "h")
			a := &area{level: i, shape: orb.MultiPolygon{{orb.Ring{{x, y}, {x + w, y + h/3}, {x + w/2, y + h}, {x, y}}}}}
			a.id, a.bound = int64(i), a.shape.Bound()
			areas = append(areas, a)
		}
		g := newAreaGrid(areas)
		for range 50 {
			p := orb.Point{rapid.Float64Range(6.9, 8.6).Draw(t, "lon"), rapid.Float64Range(51.9, 53.6).Draw(t, "lat")}
			var want []*area
			for _, a := range areas {
				if planar.MultiPolygonContains(a.shape, p) {
					want = append(want, a)
				}
			}
			slices.SortFunc(want, byLevel)
			if got := g.around(p); !slices.Equal(got, want) {
				t.Fatalf("%v lies in %d outlines, the grid says %d", p, len(want), len(got))
			}
		}
	})
}

// TestNeighbours holds the law that the ring search finds the nearest cell.
func TestNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNeighbours(fineGrain)
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) orb.Point {
			return orb.Point{rapid.Float64Range(8, 8.1).Draw(t, "lon"), rapid.Float64Range(52.9, 53).Draw(t, "lat")}
		}), 0, 8).Draw(t, "points")
		for i, p := range points {
			n.vote(p, string(rune('a'+i)))
		}
		n.ready()
		p := orb.Point{rapid.Float64Range(8, 8.1).Draw(t, "lon"), rapid.Float64Range(52.9, 53).Draw(t, "lat")}
		least := 1e9
		for c := range n.cells {
			least = min(least, flatDistance(orb.Point{(float64(c[0]) + .5) * fineGrain, (float64(c[1]) + .5) * fineGrain}, p))
		}
		got := n.near(p, 3000)
		if (got != "") != (least < 3000) && math.Abs(least-3000) > 1e-6 {
			t.Fatalf("near %v: %q, the nearest cell lies %.0f m away", p, got, least)
		}
		if got != "" {
			i := int(got[0] - 'a')
			c := cellOf(points[i], fineGrain)
			if d := flatDistance(orb.Point{(float64(c[0]) + .5) * fineGrain, (float64(c[1]) + .5) * fineGrain}, p); d > least+1e-6 {
				t.Fatalf("near %v: %q at %.0f m, the nearest lies at %.0f m", p, got, d, least)
			}
		}
	})
}

// flatDistance is the distance of p from q in metres.
func flatDistance(p, q orb.Point) float64 {
	a := flat(q, p)
	return math.Hypot(a[0], a[1]) * 111_195
}

// What lies 700 m to the north is nearer than what lies 1000 m to the east, wherever on earth that is.
func TestNeighboursEverywhere(t *testing.T) {
	for _, p := range []orb.Point{
		{0.001, 0.001}, {8.201, 53.101}, {-117.701, 33.701}, {151.201, -33.901}, {-68.301, -54.801},
	} {
		n := newNeighbours(fineGrain)
		narrow := math.Cos(p[1] * math.Pi / 180)
		n.vote(orb.Point{p[0], p[1] + 700/111_195.0}, "north")
		n.vote(orb.Point{p[0] + 1000/111_195.0/narrow, p[1]}, "east")
		n.ready()
		if got := n.near(p, 3000); got != "north" {
			t.Errorf("at %v the nearest is %q", p, got)
		}
	}
}
