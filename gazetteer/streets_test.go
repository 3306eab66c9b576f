package gazetteer

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
)

func TestStreetsIn(t *testing.T) {
	g := Of(town...)
	defer g.Close()
	all := func(r *Region) map[string]int {
		found := map[string]int{}
		if err := g.StreetsIn(t.Context(), r, func(s Place, houses int) error {
			found[s.Street+" "+s.Postcode] += houses
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	box := orb.Bound{Min: orb.Point{8.1, 53}, Max: orb.Point{8.3, 53.2}}
	region := &Region{Name: "box", Area: orb.MultiPolygon{box.ToPolygon()}}
	want := map[string]int{"Lange Straße 26121": 8 /* 68a and 68b are two */, "Lange Straße 26123": 3, "Kurzer Weg 26123": 0}
	if diff := cmp.Diff(want, all(region)); diff != "" {
		t.Error(diff)
	}
	nowhere := orb.Bound{Min: orb.Point{1, 1}, Max: orb.Point{2, 2}}
	if found := all(&Region{Area: orb.MultiPolygon{nowhere.ToPolygon()}}); len(found) > 0 {
		t.Errorf("far away: %v", found)
	}
	stop := errors.New("stop")
	if err := g.StreetsIn(t.Context(), region, func(Place, int) error { return stop }); err != stop {
		t.Errorf("error of fn: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.StreetsIn(ctx, region, func(Place, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
