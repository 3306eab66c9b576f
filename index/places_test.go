package index

import (
	"slices"
	"strconv"
	"testing"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// An area finds the same rows through the order of places as a look at every
// row does: at the poles, at the antimeridian, of any size.
func TestWithin(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		middle := orb.Point{rapid.SampledFrom([]float64{8.2, 179.99, -179.99, 0, -90}).Draw(t, "lon"), rapid.SampledFrom([]float64{53.1, 89.99, -89.999, 0, 66}).Draw(t, "lat")}
		spread := rapid.SampledFrom([]float64{0.02, 0.5, 30}).Draw(t, "spread")
		near := func(at float64, most float64, name string) float64 {
			v := at + rapid.Float64Range(-spread, spread).Draw(t, name)
			switch {
			case most == 180 && v > 180:
				return v - 360
			case most == 180 && v < -180:
				return v + 360
			}
			return max(-most, min(most, v))
		}
		r := &rows{}
		for range rapid.IntRange(1, 300).Draw(t, "rows") {
			m := &mention{Precision: gazetteer.Precision(rapid.IntRange(0, 3).Draw(t, "precision")), Point: orb.Point{near(middle[0], 180, "x"), near(middle[1], 90, "y")}}
			r.all = append(r.all, newTable().add(1, m))
		}
		r.place()
		q := Query{Center: &orb.Point{near(middle[0], 180, "cx"), near(middle[1], 90, "cy")}, Radius: rapid.SampledFrom([]float64{1, 100, 5000, 300_000, MaxRadius}).Draw(t, "radius")}
		if rapid.Bool().Draw(t, "box") {
			a, b := near(middle[1], 90, "y1"), near(middle[1], 90, "y2")
			q = Query{Box: &orb.Bound{Min: orb.Point{near(middle[0], 180, "x1"), min(a, b)}, Max: orb.Point{near(middle[0], 180, "x2"), max(a, b)}}}
		}
		f := newTable().filterOf(q)
		var want, got []uint32
		for n := range r.all {
			if f.fits(&r.all[n]) {
				want = append(want, uint32(n))
			}
		}
		w, ok := f.window()
		if !ok {
			t.Fatal("an area has no window")
		}
		if w.south > w.north {
			return
		}
		r.within(w, func(n uint32) {
			if f.fits(&r.all[n]) {
				got = append(got, n)
			}
		})
		slices.Sort(got)
		if found += len(got); !slices.Equal(got, want) {
			t.Errorf("%+v, %+v: rows %v, want %v", q, w, got, want)
		}
	})
	if found == 0 {
		t.Error("no area held anything")
	}
}

// A list that is kept is the one that Bleve has, whatever was asked for since.
func TestLists(t *testing.T) {
	l := &lists{}
	list := func(i int) []posting {
		return []posting{newPosting(uint32(i), uint64(i%mostWeight)), newPosting(maxRows-1, 1000)}
	}
	for i := range 200_000 {
		key := listKey{1, inWords, strconv.Itoa(i)}
		l.keep(key, list(i))
		got, ok := l.get(key)
		if !ok || got[0].row() != uint32(i) || got[0].weight() != uint32(i%mostWeight) || got[1].row() != maxRows-1 || got[1].weight() != mostWeight {
			t.Fatalf("%d: %v %v", i, got, ok)
		}
	}
	if len(l.now)+len(l.old) == 200_000 || l.size > maxListsBytes {
		t.Errorf("%d and %d lists are kept, %d bytes", len(l.now), len(l.old), l.size)
	}
}

// The nearest are those whose distance is the smallest, wherever the centre is and
// in however many segments they lie.
func TestNearest(t *testing.T) {
	x := open(t)
	docs := made(2400)
	for _, piece := range [][]Document{docs[:2000], docs[2000:2390], docs[2390:]} { // a small segment has no bands
		putAll(t, x, piece, 64)
		if err := x.queue.settle(); err != nil {
			t.Fatal(err)
		}
	}
	v, err := x.seeAll()
	if err != nil {
		t.Fatal(err)
	}
	defer v.release()
	for _, centre := range []orb.Point{{8.2, 53.12}, {8.1, 53.05}, {8.2001, 53.9}, {-171, 10}, {8.2, 90}} {
		for _, q := range []Query{{}, {Text: "stadt", Sort: Distance}} {
			q.Center, q.Limit = &centre, 20
			r := find(t, x, q)
			if r.Total < 4*256 {
				t.Fatalf("%d addresses are looked at one by one", r.Total)
			}
			c := newCentre(centre)
			var all []float64
			for _, at := range v.spots() {
				all = append(all, metres(c.haversine(at)))
			}
			slices.Sort(all)
			for i, h := range r.Hits {
				if h.Distance != all[i] {
					t.Errorf("%v %+v: number %d is %v m away, want %v", centre, q, i, h.Distance, all[i])
				}
			}
		}
	}
}
