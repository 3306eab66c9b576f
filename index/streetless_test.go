package index

import (
	"testing"

	"gazehound/geoparse"
)

// A card of no street that strangers share has nobody's name, telephone or hours; one of a single
// organisation keeps them.
func TestStreetlessCards(t *testing.T) {
	x := open(t)
	state := func(url, name, phone, hours string) Document {
		d := page(url, name, "de", name+"\n{26123 Oldenburg|8.2 53.1}\n")
		a := &d.Addresses[0]
		a.Street, a.HouseNumber, a.Postcode, a.City = "", "", "26123", "Oldenburg"
		a.Belongings = geoparse.Belongings{Name: name, Phone: phone, Hours: hours}
		return d
	}
	put(t, x, state("https://uni.example/chor", "Chor Oldenburg", "+4944112345", ""))
	r := find(t, x, Query{Text: "26123"})
	if len(r.Hits) != 1 || r.Hits[0].Name != "Chor Oldenburg" || r.Hits[0].Phone != "+4944112345" {
		t.Fatalf("one organisation: %+v", r.Hits)
	}
	put(t, x, state("https://uni.example/rudern", "Ruderclub Nord", "", "Mo-Fr 08:00-18:00"))
	r = find(t, x, Query{Text: "26123"})
	if len(r.Hits) != 1 || r.Hits[0].Name != "" || r.Hits[0].Phone != "" || r.Hits[0].Hours != "" || r.Hits[0].Mentions != 2 {
		t.Fatalf("two organisations: %+v", r.Hits)
	}
}
