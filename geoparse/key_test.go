package geoparse

import (
	"strings"
	"testing"

	"gazehound/gazetteer"

	"pgregory.net/rapid"
)

// What pages write for one address has one key, whatever the gazetteer knows of
// it; other addresses have others.
func TestKey(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for want, texts := range map[string][]string{
		"DE|26123|oldenburg|nadorsterstr|12": {
			"Nadorster Straße 12, 26123 Oldenburg", "NADORSTER STR. 12 · 26123 OLDENBURG", "Nadorster Strase 12\n26123 Oldenburg",
			"Nadorster Str. 12, D-26123 Oldenburg-Nord", "26123 Oldenburg (Nord), Nadorster Str. 12", "Nadorster Straße 12 in Oldenburg",
			"Nadorster Straße 12, 26122 Oldenburg", // the house is known, and under another postcode
		},
		"DE|26123|oldenburg|nadorsterstr|12a": {"Nadorster Straße 12a, 26123 Oldenburg", "Nadorster Str. 12 A, 26123 Oldenburg"},
		"DE|26123|oldenburg|nadorsterstr|13":  {"Nadorster Straße 13, 26123 Oldenburg"},
		"DE|26122|oldenburg|langestr|12":      {"Lange Straße 12, 26122 Oldenburg", "Langestraße 12, 26122 Oldenburg-Mitte"},
		"DE|26121|oldenburg||@postfach1234":   {"Postfach 12 34, 26121 Oldenburg", "Postfach 1234, 26121 Oldenburg"},
	} {
		for _, text := range texts {
			v := parse(t, p, Input{Text: text})
			if len(v.Addresses) != 1 {
				t.Errorf("%q: %+v", text, v.Addresses)
				continue
			}
			key := v.Addresses[0].Key()
			if key != want {
				t.Errorf("%q has the key %q, want %q", text, key, want)
			}
			if other, known := seen[key]; known && other != want {
				t.Errorf("%q and %q have one key", want, other)
			}
			seen[key] = want
		}
	}
}

// A street is spelled as the gazetteer does, also for a house that it does not
// know: those are what people add to a map.
func TestPartsAreSpelledAsKnown(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Nadorster Str. 12, 26123 Oldenburg", "Nadorster Str. 13, 26123 Oldenburg", "NADORSTER STRASSE 13, 26123 Oldenburg", "Nadorster Strase 999, 26123 Oldenburg"} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 || v.Addresses[0].Parts().Street != "Nadorster Straße" {
			t.Errorf("%q: %+v", text, v.Addresses)
		}
	}
}

// A house that is known has the postcode of the gazetteer. Where only its street is, or its neighbours
// are, the page's counts: a street may run through several.
func TestPostcodeOfKnownHouse(t *testing.T) {
	street := gazetteer.Place{Kind: gazetteer.Street, Street: "Lange Straße", Postcode: "26122", City: "Oldenburg"}
	house := street
	house.Kind, house.HouseNumber = gazetteer.House, "5"
	for _, c := range []struct {
		place     gazetteer.Place
		precision gazetteer.Precision
		want      string
	}{
		{house, gazetteer.HousePrecision, "26122"},
		{house, gazetteer.InterpolatedPrecision, "26121"},
		{street, gazetteer.StreetPrecision, "26121"},
	} {
		a := Address{Street: "Lange Str.", HouseNumber: "5", Postcode: "26121", Place: c.place, Precision: c.precision}
		if got := a.Parts().Postcode; got != c.want {
			t.Errorf("%v: postcode %s, want %s", c.precision, got, c.want)
		}
	}
}

// Two addresses have one key where, and only where, their parts are the same in
// any spelling; a key is read as what it was made of.
func TestKeyIsIdentity(t *testing.T) {
	spellings := [...][][]string{ // of each value of a part
		{{""}, {"97201", "97201-1234"}, {"97202"}},
		{{"Portland", "PORTLAND", " Portland", "Portland Heights"}, {"Bend"}},
		{{""}, {"Main Street", "Main St.", "MAIN ST"}, {"Oak Avenue", "Oak Ave"}},
		{{""}, {"5", "05"}, {"5a", "5 A"}},
		{{""}, {"Suite 200", "Ste. 200", "#200"}, {"Suite 300"}},
		{{""}, {"P.O. Box 9", "PO Box 9"}},
		{{"OR"}, {"ME"}},
	}
	type address [len(spellings)]int // the value of each part
	draw := func(t *rapid.T) (x address) {
		for i := range x {
			x[i] = rapid.IntRange(0, len(spellings[i])-1).Draw(t, "value")
		}
		if x[0] != 0 {
			x[6] = 0 // the postcode says which Portland is meant
		}
		return x
	}
	write := func(t *rapid.T, x address) Address {
		var part [len(spellings)]string
		for i := range x {
			part[i] = rapid.SampledFrom(spellings[i][x[i]]).Draw(t, "spelling")
		}
		a := Address{Country: "US", Postcode: part[0], City: part[1], Street: part[2], HouseNumber: part[3], Unit: part[4], POBox: part[5], State: part[6]}
		if a.City == "Portland Heights" || rapid.Bool().Draw(t, "matched") {
			a.Place = gazetteer.Place{ID: "geonames/US/1", Kind: gazetteer.Postcode, City: spellings[1][x[1]][0], State: a.State}
		}
		if a.Postcode != "" && rapid.Bool().Draw(t, "no state") {
			a.State = ""
		}
		return a
	}
	rapid.Check(t, func(t *rapid.T) {
		x := draw(t)
		y := x
		if rapid.Bool().Draw(t, "another") {
			y = draw(t)
		}
		a, b := write(t, x), write(t, y)
		if one := a.Key() == b.Key(); one != (x == y) {
			t.Fatalf("%q of %+v\n%q of %+v", a.Key(), a, b.Key(), b)
		}
		read, ok := ReadKey(a.Key())
		if !ok || read != a.Parts().Folded() || read.Key() != a.Key() {
			t.Fatalf("%q is read as %+v; it is %+v", a.Key(), read, a.Parts().Folded())
		}
	})
	for _, none := range []string{"", "DE|26122|oldenburg|langestr", "DE|26122|oldenburg|langestr|5|6"} {
		if p, ok := ReadKey(none); ok || p != (Parts{}) {
			t.Errorf("%q is read as %+v", none, p)
		}
	}
}

// A city of whose postcodes the gazetteer has the quarters is called as its page does.
func TestPartsOfQuarters(t *testing.T) {
	quarter := gazetteer.Place{City: "York (Fairbank / Oakwood)", State: "ON", Country: "CA"}
	for city, want := range map[string]string{"Toronto": "Toronto", "Fairbank": quarter.City} {
		a := Address{Country: "CA", City: city, Postcode: "M6E 1B6", Place: quarter}
		if got := a.Parts().City; got != want {
			t.Errorf("%q is shown as %q, want %q", city, got, want)
		}
	}
}

// A page that states an address with one unit and without means one address;
// with several units they are several.
func TestUnits(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Visit us: 5 Main Street, Irvine, CA 92612. Mail: 5 Main St, Suite 200, Irvine, CA 92612":                                             "200",
		"5 Main Street, Ste. 200, Irvine, CA 92612\n5 Main St #200, Irvine, CA 92612":                                                         "200",
		"5 Main Street, Suite 200, Irvine, CA 92612\n5 Main St, Suite 300, Irvine, CA 92612\nWe are at 5 Main Street, Irvine, CA 92612-1234.": "200 300 ",
	} {
		var units []string
		for _, a := range parse(t, p, Input{Text: text}).Addresses {
			units = append(units, a.Parts().Folded().Unit)
		}
		if got := strings.Join(units, " "); got != want {
			t.Errorf("%q: units %q, want %q", text, got, want)
		}
	}
}

// Whatever a page writes into an address: its key is read as the parts that it
// was made of, and is the key of these.
func FuzzKey(f *testing.F) {
	f.Add("", "26122", "Oldenburg", "Lange Straße", "5", "", "")
	f.Add("OR", "", "Portland", "Main St", "12 1/2", "Suite 200", "17")
	f.Add("a|b", "1|2", "#", "@", "|#@", "no |", "@@")
	f.Add("-", "-", "-", "-", "5-7", "-", "-")
	f.Fuzz(func(t *testing.T, state, postcode, city, street, number, unit, box string) {
		p := Parts{Country: "US", State: state, Postcode: postcode, City: city, Street: street, Number: number, Unit: unit, POBox: box}
		read, ok := ReadKey(p.Key())
		if !ok || read != p.Folded() || read.Key() != p.Key() {
			t.Errorf("%q of %+v is read as %+v, %v; want %+v", p.Key(), p, read, ok, p.Folded())
		}
	})
}
