package forget

import (
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
)

// The crawl tree loses what is forgotten under the key that it has there, in
// every unit, and in the spelling of trees that were written before.
func TestStated(t *testing.T) {
	house := gazetteer.Place{ID: "node/12", Kind: gazetteer.House, Street: "Nadorster Straße", HouseNumber: "12", Postcode: "26123", City: "Oldenburg", Country: "DE"}
	for _, c := range []struct {
		a   geoparse.Address
		old []string
	}{
		{geoparse.Address{Country: "DE", Street: "Nadorster Strase", HouseNumber: "12", Postcode: "26123", City: "Oldenburg-Nord", Place: house}, []string{"DE|26123|oldenburgnord|nadorsterstr|12"}},
		{geoparse.Address{Country: "DE", Street: "Nadorster Str.", HouseNumber: "12", City: "Oldenburg", Place: house}, []string{"DE||oldenburg|nadorsterstr|12"}},
		{geoparse.Address{Country: "US", State: "CA", Street: "Main Street", HouseNumber: "5", Unit: "Suite 200", Postcode: "92612-1234", City: "Irvine"}, []string{"US|92612-1234|irvine|mainst|5", "US|92612|irvine|mainst|5#300", "US-CA||irvine|mainst|5"}},
		{geoparse.Address{Country: "NL", Street: "Damrak", HouseNumber: "1", Postcode: "1012 LG", City: "Amsterdam"}, []string{"NL|1012 LG|amsterdam|damrak|1"}},
	} {
		var lines []string
		for _, place := range index.Places(c.a) {
			lines = append(lines, "address "+place)
		}
		list, err := NewBlocklist(lines...)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(c.old, c.a.Key()) {
			if !list.hasKey(key) {
				t.Errorf("%s stays when %+v is forgotten", key, c.a)
			}
		}
		for _, other := range []string{"", "DE|26123|oldenburg|nadorsterstr|12a", "DE|26123|oldenburg||", "US|92612|irvine|mainst|51", "NL|1012LG|amsterdam|damrak|2"} {
			if list.hasKey(other) {
				t.Errorf("%s goes when %+v is forgotten", other, c.a)
			}
		}
	}
}
