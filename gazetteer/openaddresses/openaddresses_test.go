package openaddresses

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"gazehound/gazetteer"
)

const (
	csvRows = "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n" +
		"-117.82,33.68,1,MAIN ST,,IRVINE,,CA,92614,7,a1\n" +
		"-117.83,33.69,0,OAK AVE,,IRVINE,,CA,92614,8,a2\n" +
		"-117.83,NaN,5,OAK AVE,,IRVINE,,CA,92614,8,a3\n" +
		"-117.83,33.69,5,,,IRVINE,,CA,92614,8,a4\n"
	jsonRows = `{"type":"Feature","properties":{"hash":"a1","number":"1","street":"MAIN ST","unit":"","city":"IRVINE","district":"","region":"CA","postcode":"92614","id":""},"geometry":{"type":"Point","coordinates":[-117.82,33.68]}}
{"type":"Feature","properties":{"hash":"a2","number":"","street":"OAK AVE","unit":"","city":"IRVINE","district":"","region":"CA","postcode":"92614","id":""},"geometry":{"type":"Point","coordinates":[-117.83,33.69]}}
`
)

func read(text string, o Options) (places []gazetteer.Place, err error) {
	g := checker{}
	err = Reader(o)(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
		if err := g.check(p); err != nil {
			return err
		}
		places = append(places, p)
		return nil
	})
	return places, err
}

// A checker refuses what a gazetteer refuses.
type checker struct{}

func (checker) check(p gazetteer.Place) error {
	if p.HasPoint && (math.IsNaN(p.Point[0]) || math.IsNaN(p.Point[1])) {
		return gazetteer.ErrBadPlace
	}
	return nil
}

func TestReader(t *testing.T) {
	for name, text := range map[string]string{"CSV": csvRows, "GeoJSON": jsonRows} {
		if !Sniff([]byte(text)) {
			t.Errorf("%s is not recognised", name)
		}
		places, err := read(text, Options{Country: "US"})
		if err != nil || len(places) != 2 {
			t.Fatalf("%s: %+v, %v", name, places, err)
		}
		house, street := places[0], places[1]
		if house.Kind != gazetteer.House || house.Street != "MAIN ST" || house.HouseNumber != "1" || house.City != "IRVINE" || house.State != "CA" ||
			house.Postcode != "92614" || house.Country != "US" || house.Point != (orb.Point{-117.82, 33.68}) || house.ID != "openaddresses/a1" {
			t.Errorf("%s: house %+v", name, house)
		}
		if street.Kind != gazetteer.Street || street.Street != "OAK AVE" || street.HouseNumber != "" {
			t.Errorf("%s: street %+v", name, street)
		}
	}
	refused := 0
	read(csvRows, Options{Refuse: func(int, string, error) { refused++ }})
	if refused != 2 {
		t.Errorf("%d refused, want the NaN and the one without a street", refused)
	}
	for _, other := range []string{"", "street,number\n", "{}", "name;ort\n", `{"type":"FeatureCollection"}`} {
		if Sniff([]byte(other)) {
			t.Errorf("%q is taken for OpenAddresses", other)
		}
	}
}

// FuzzReader holds the laws that every row is emitted or refused, and that
// every place has a street.
func FuzzReader(f *testing.F) {
	f.Add(csvRows)
	f.Add(jsonRows)
	f.Fuzz(func(t *testing.T, text string) {
		places, _ := read(text, Options{})
		for _, p := range places {
			if p.Street == "" && p.Postcode == "" && p.City == "" {
				t.Errorf("a place without a name: %+v", p)
			}
		}
	})
}
