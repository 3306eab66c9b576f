package geoparse

import (
	"strconv"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// formats are how each country writes an address: {n} the house number, {s} the
// street, {c} postcode, {t} city.
var countryFormats = []struct {
	country, code, city string
	streets, layouts    []string
}{
	{"DE", "26122", "Oldenburg", []string{"Nadorster Straße", "Am Alten Markt", "Eichenallee"}, []string{"{s} {n}\n{c} {t}", "{s} {n}, D-{c} {t}", "PLZ/Ort: {c} {t}\nStraße: {s} {n}", "{s} {n} in {c} {t}"}},
	{"AT", "1060", "Wien", []string{"Gumpendorfer Straße", "Hofmühlgasse"}, []string{"{s} {n}\n{c} {t}", "{s} {n}, A-{c} {t}, Österreich", "{s} {n} | {c} {t}"}},
	{"CH", "8001", "Zürich", []string{"Bahnhofstrasse", "Limmatquai"}, []string{"{s} {n}\nCH-{c} {t}", "{s} {n}, {c} {t}", "{s} {n} · {c} {t} · Schweiz"}},
	{"LI", "9490", "Vaduz", []string{"Landstrasse", "Im alten Riet"}, []string{"{s} {n}\nFL-{c} {t}", "{s} {n}, {c} {t}"}},
	{"US", "62701", "Springfield", []string{"Elm Street", "N 5th Ave", "Martin Luther King Jr Blvd"}, []string{"{n} {s}\n{t}, IL {c}", "{n} {s}, {t}, Illinois {c}", "{n} {s}, Suite 5, {t} IL {c}", "{n} {s}\n{t}\nIL\n{c}"}},
	{"GB", "LS1 1AA", "Leeds", []string{"High Street", "Mill Lane"}, []string{"{n} {s}\n{t}\n{c}", "{n} {s}, {t} {c}", "{n} {s}, {t}, West Yorkshire, {c}"}},
	{"CA", "M5J 0B8", "Toronto", []string{"Queens Quay West", "Spadina Ave"}, []string{"{n} {s}\n{t}, ON {c}", "{n} {s}, {t}, Ontario, Canada {c}"}},
	{"AU", "2000", "Sydney", []string{"Martin Place", "George Street"}, []string{"{n} {s}\n{t} NSW {c}", "{n} {s}, {t}, NSW, {c}"}},
	{"NL", "1012 JS", "Amsterdam", []string{"Keizersgracht", "Wibautstraat"}, []string{"{s} {n}\n{c} {t}", "{s} {n}, {c} {t}"}},
	{"BE", "1000", "Bruxelles", []string{"Rue Haute", "Avenue Louise"}, []string{"{s} {n}\n{c} {t}", "{s} {n}, B-{c} {t}", "{n}, {s}\n{c} {t}, Belgique"}},
	{"LU", "1611", "Luxembourg", []string{"rue de la Gare", "Boulevard Royal"}, []string{"{n}, {s}\nL-{c} {t}", "{n} {s}, L-{c} {t}"}},
	{"DK", "8000", "Aarhus C", []string{"Vestergade", "Strandvejen"}, []string{"{s} {n}\n{c} {t}", "{s} {n}, DK-{c} {t}"}},
	{"IT", "20122", "Milano", []string{"Via Roma", "Piazza del Duomo"}, []string{"{s} {n}\n{c} {t}", "{s}, {n} - {c} {t} (MI)"}},
	{"FR", "75002", "Paris", []string{"rue de la Paix", "avenue du Général Leclerc"}, []string{"{n} {s}\nF-{c} {t}", "{n}, {s}, {c} {t}, France"}},
	{"ES", "28013", "Madrid", []string{"Calle Mayor", "Gran Vía de San Marcos"}, []string{"{s}, {n}\nE-{c} {t}", "{s} {n}, {c} {t}, España"}},
}

// A city and its postcode without the state are an address in Australia, and elsewhere none.
func TestPostcodeWithoutState(t *testing.T) {
	p, err := New(layoutGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{"reents.com.au": 1, "reents.example": 0} {
		v := parse(t, p, Input{Text: "5 George Street,\nSydney, 2000\n02 5550 1234", Host: host})
		if len(v.Addresses) != want {
			t.Errorf("%s: %+v, want %d", host, v.Addresses, want)
		}
	}
}

// FuzzCountries writes an address in a form of its country between other lines;
// the parser gives the parts back.
func FuzzCountries(f *testing.F) {
	for i := range countryFormats {
		f.Add(uint8(i), uint16(12+i), uint8(i), uint8(i), uint8(i))
	}
	p, err := New(layoutGazetteer(f), nil, DefaultOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, country uint8, number uint16, street, layout, around uint8) {
		c := countryFormats[int(country)%len(countryFormats)]
		n := strconv.Itoa(1 + int(number)%899)
		s := c.streets[int(street)%len(c.streets)]
		text := strings.NewReplacer("{n}", n, "{s}", s, "{c}", c.code, "{t}", c.city).Replace(c.layouts[int(layout)%len(c.layouts)])
		text = []string{"", "Kontakt\n", "Muster GmbH\n", "Welcome!\n\n", "Home | About\n"}[int(around)%5] + text + []string{"", "\nTel. 5", "\n\nImpressum", "\nwww.example.org"}[int(around/8)%4]
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 {
			t.Fatalf("%q: %+v", text, v.Addresses)
		}
		a := v.Addresses[0]
		if a.Street != s || gazetteer.NumberKey(a.HouseNumber) != n || a.Postcode != c.code || a.City != c.city || a.Country != c.country {
			t.Fatalf("%q: street %q, number %q, code %q, city %q, country %q", text, a.Street, a.HouseNumber, a.Postcode, a.City, a.Country)
		}
		checkLaws(t, text, v)
	})
}
