package gazetteer

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"pgregory.net/rapid"
)

func stretch(street, code, city string, from, to, step int, line ...orb.Point) Place {
	return Place{Kind: Street, Street: street, Postcode: code, City: city, State: "AL", Country: "US", Range: &Range{from, to, step, line}}
}

func TestRanges(t *testing.T) {
	west, east := orb.Point{-86.42, 32.49}, orb.Point{-86.41, 32.49}
	g := Of(
		stretch("Spring St", "36067", "", 101, 199, 2, west, east),
		stretch("Spring St", "36067", "", 198, 100, 2, orb.Point{-86.41, 32.48}, orb.Point{-86.42, 32.48}),
		Place{Kind: House, Street: "Spring Street", HouseNumber: "150", Postcode: "36067", City: "Prattville", Country: "US", State: "AL", Point: orb.Point{-86.4141, 32.4801}, HasPoint: true},
	)
	// One street: that of the postcode without a city is part of the one with.
	streets := g.Streets(Query{Street: "Spring St", Postcode: "36067"})
	if len(streets) != 1 || streets[0].City != "Prattville" || g.Stats().Streets != 1 {
		t.Fatalf("%+v", streets)
	}
	for number, want := range map[string]struct {
		precision Precision
		at        orb.Point
	}{
		"150": {HousePrecision, orb.Point{-86.4141, 32.4801}},
		"101": {InterpolatedPrecision, west},
		"199": {InterpolatedPrecision, east},
		"125": {InterpolatedPrecision, orb.Point{-86.42 + 0.01*24/98, 32.49}},
		"198": {InterpolatedPrecision, orb.Point{-86.41, 32.48}},
		"201": {NoPrecision, orb.Point{}},
		"99":  {NoPrecision, orb.Point{}},
	} {
		p, precision := g.House(streets[0], number)
		if precision != want.precision || precision != NoPrecision && geo.Distance(p.Point, want.at) > 1 {
			t.Errorf("%s: %v %v, want %v %v", number, precision, p.Point, want.precision, want.at)
		}
	}
	if cities := g.Postcodes("US", "36067"); len(cities) != 1 || cities[0].City != "Prattville" {
		t.Errorf("36067: %+v", cities)
	}
}

// TestInterpolation checks House: a known number has its own coordinate, any other is between its
// neighbours in the street or in a range, and the precision says which.
func TestInterpolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 200), 1, 12, rapid.ID[int]).Draw(t, "numbers")
		// Odd numbers in the north, even ones in the south, both from west to east.
		at := func(n int) orb.Point { return orb.Point{8 + float64(n)*5e-5, 53 + float64(n%2)*1e-4} }
		var places []Place
		known := map[int]bool{}
		for _, n := range numbers {
			known[n] = true
			places = append(places, Place{Kind: House, Street: "Weg", HouseNumber: strconv.Itoa(n), City: "Ort", Country: "DE", Point: at(n), HasPoint: true})
		}
		lo, hi := rapid.IntRange(1, 100).Draw(t, "from"), rapid.IntRange(101, 200).Draw(t, "to")
		step := 1 + (lo+hi+1)%2
		if rapid.Bool().Draw(t, "range") {
			places = append(places, Place{Kind: Street, Street: "Weg", City: "Ort", Country: "DE", Range: &Range{lo, hi, step, orb.LineString{at(lo), at(hi)}}})
		} else {
			lo, hi = 0, -1
		}
		g := Of(places...)
		street := g.Streets(Query{Street: "Weg", City: "Ort"})[0]
		for n := 1; n <= 200; n++ {
			p, precision := g.House(street, strconv.Itoa(n))
			var low, high, lowSide, highSide bool
			for k := range known {
				low, high = low || k < n, high || k > n
				lowSide, highSide = lowSide || k < n && k%2 == n%2, highSide || k > n && k%2 == n%2
			}
			inRange := lo <= n && n <= hi && (step == 1 || n%2 == lo%2)
			want := NoPrecision
			switch {
			case known[n]:
				want = HousePrecision
			case low && high || inRange:
				want = InterpolatedPrecision
			}
			if precision != want {
				t.Fatalf("%d among %v: %v, want %v", n, numbers, precision, want)
			}
			if want == HousePrecision && geo.Distance(p.Point, at(n)) > 0.1 {
				t.Fatalf("%d at %v, not its own %v", n, p.Point, at(n))
			}
			if want == InterpolatedPrecision && lowSide && highSide && geo.Distance(p.Point, at(n)) > 0.1 {
				t.Fatalf("%d at %v, not on its side between its neighbours, %v", n, p.Point, at(n))
			}
			if want != NoPrecision && (!p.HasPoint || math.IsNaN(p.Point[0]) || math.IsNaN(p.Point[1])) {
				t.Fatalf("%d: %v without a coordinate", n, precision)
			}
		}
	})
}

func TestBadRanges(t *testing.T) {
	line := orb.LineString{{8, 53}, {8.1, 53}}
	for name, r := range map[string]Range{
		"no line": {1, 9, 1, nil}, "no step": {1, 9, 0, line}, "negative": {-1, 9, 1, line}, "two sides": {1, 10, 2, line}, "nothing": {0, 0, 1, line},
		"not on Earth": {1, 9, 1, orb.LineString{{math.NaN(), 1}}},
	} {
		p := Place{Kind: Street, Street: "Weg", Range: &r}
		if p.check() == nil {
			t.Errorf("%s is kept", name)
		}
	}
	p := Place{Kind: House, Street: "Weg", HouseNumber: "1", Range: &Range{1, 9, 1, line}}
	if p.check() == nil {
		t.Error("a house with a range is kept")
	}
}

func TestStates(t *testing.T) {
	g := Of(
		Place{Kind: Outline, Names: []string{"California"}, Country: "US", State: "CA", AdminLevel: 4},
		Place{Kind: Outline, Names: []string{"Kalifornien", "California"}, Country: "US", State: "ca", AdminLevel: 4},
		Place{Kind: Outline, Names: []string{"United States", "USA"}, Country: "US", AdminLevel: 2},
		Place{Kind: Outline, Names: []string{"Tirol"}, Country: "AT", State: "07", AdminLevel: 4},
		Place{Kind: Outline, Names: []string{"Tyrol"}, Country: "AT", State: "07", AdminLevel: 4},
		Place{Kind: Postcode, Names: []string{"Irvine"}, Postcode: "92602", Country: "US", State: "CA", Point: orb.Point{-117.7, 33.7}, HasPoint: true},
		Place{Kind: Postcode, Names: []string{"Irvine"}, Postcode: "40336", Country: "US", State: "KY", Point: orb.Point{-83.9, 37.7}, HasPoint: true},
		Place{Kind: Postcode, Names: []string{"Innsbruck"}, Postcode: "6020", Country: "AT", State: "Tirol", Point: orb.Point{11.4, 47.3}, HasPoint: true},
	)
	for spec, postcode := range map[string]string{
		"Irvine, California": "US 92602", "Irvine, CA": "US 92602", "irvine, kalifornien, usa": "US 92602", "Irvine, KY, United States": "US 40336", "Innsbruck, Tyrol": "AT 6020",
		"Innsbruck, Tirol, AT": "AT 6020",
	} {
		r, err := g.Region(spec)
		if err != nil || len(r.Postcodes) != 1 || r.Postcodes[0] != postcode {
			t.Errorf("%s: %+v, %v", spec, r, err)
		}
	}
	if got := g.State("US", "Kalifornien"); got != "CA" {
		t.Errorf("Kalifornien = %q", got)
	}
	if m := g.Lookup(Query{City: "Irvine", State: "California"}); len(m) != 1 || m[0].Place.State != "CA" {
		t.Errorf("Irvine in California: %+v", m)
	}
}

// TestSameBytes compiles the same places several times: the file must not differ.
func TestSameBytes(t *testing.T) {
	var places []Place
	for _, state := range []string{"AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA"} {
		places = append(places,
			Place{Kind: Outline, Names: []string{"State " + state}, Country: "US", State: state, AdminLevel: stateLevel},
			Place{Kind: Postcode, Names: []string{"Springfield"}, Postcode: "100" + state, Country: "US", State: state})
	}
	first := Of(places...).data
	for range 5 {
		if again := Of(places...).data; !bytes.Equal(first, again) {
			t.Fatal("the compiled files of the same places differ")
		}
	}
}
