package gazetteer

import (
	"fmt"
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Nearest finds the same houses as a scan of all, in streets of one and of many blocks.
func TestNearest(t *testing.T) {
	var all []Place
	for s := range 12 {
		name := fmt.Sprintf("%c-Straße", 'A'+s)
		at := orb.Point{8.2 + float64(s%4)*0.004, 53.1 + float64(s/4)*0.004}
		all = append(all, Place{ID: fmt.Sprint("way/", s+1), Kind: Street, Names: []string{name}, Street: name, City: "Ort", Country: "DE", Point: at, HasPoint: true})
		for n := range 10 * s {
			all = append(all, Place{ID: fmt.Sprint("node/", 1000*s+n+1), Kind: House, Names: []string{name}, Street: name, HouseNumber: fmt.Sprint(n + 1), City: "Ort", Country: "DE",
				Point: orb.Point{at[0] + 0.0002*float64(n), at[1] + 0.00001*float64(n%7)}, HasPoint: true})
		}
	}
	g := Of(all...)
	for i, at := range []orb.Point{{8.2, 53.1}, {8.2105, 53.1041}, {8.23, 53.108}, {8.3, 53.1}} {
		best := math.Inf(1)
		houses := 0
		for _, p := range all {
			d := geo.Distance(at, p.Point)
			best = min(best, d)
			if p.Kind == House && d <= 500 {
				houses++
			}
		}
		got := g.Nearest(at, 500, 10_000)
		if best > 500 {
			if len(got) > 0 {
				t.Errorf("%d: %v, where the nearest is at %.0f m", i, got[0], best)
			}
			continue
		}
		seen := 0
		for j, n := range got {
			if d := geo.Distance(at, n.Place.Point); math.Abs(d-n.Distance) > 0.1 || n.Distance > 500 || j > 0 && n.Distance < got[j-1].Distance {
				t.Errorf("%d: %v at %.1f, said %.1f", i, n.Place, d, n.Distance)
			}
			if n.Place.Kind == House {
				seen++
			}
		}
		if len(got) == 0 || math.Abs(got[0].Distance-best) > 0.5 || seen != houses {
			t.Errorf("%d: nearest %+v, want %.1f m; %d of %d houses", i, got[:min(1, len(got))], best, seen, houses)
		}
		if few := g.Nearest(at, 500, 3); len(few) != 3 || few[0].Distance != got[0].Distance {
			t.Errorf("%d: the first 3 are %v", i, few)
		}
	}
}
