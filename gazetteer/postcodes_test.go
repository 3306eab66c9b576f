package gazetteer

import (
	"testing"
)

// TestSeveralPostcodes builds places that a source gives several postcodes.
func TestSeveralPostcodes(t *testing.T) {
	for _, codes := range []string{"26121;26122", "26121; 26122", "26121, 26122", "26121|26122", "26121;26122;26121;"} {
		dir := t.TempDir()
		b, err := NewBuilder(dir)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Add(&Source{Name: "a"}, func(emit func(Place) error) error {
			return emit(Place{Kind: House, Street: "Amselweg", HouseNumber: "4", Postcode: codes, City: "Oldenburg",
				Country: "DE", HasPoint: true, Point: [2]float64{8.2, 53.1}})
		})
		if err == nil {
			err = b.Finish(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		g, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{"26121", "26122"} {
			m := g.Lookup(Query{Street: "Amselweg", HouseNumber: "4", Postcode: code, City: "Oldenburg"})
			if len(m) == 0 || m[0].Precision != HousePrecision || m[0].Place.Postcode != code || m[0].Score != 1 {
				t.Errorf("%q: %s gives %v", codes, code, m)
			}
		}
		g.Close()
	}
}
