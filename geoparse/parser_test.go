package geoparse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"

	"github.com/paulmach/orb"
)

// town returns a gazetteer with two streets of Oldenburg, and its region.
func town(t testing.TB) (*gazetteer.Gazetteer, *gazetteer.Region) {
	t.Helper()
	at := func(p gazetteer.Place, lon, lat float64) gazetteer.Place {
		p.Point, p.HasPoint = orb.Point{lon, lat}, true
		p.Country, p.City = "DE", "Oldenburg"
		p.Names = []string{p.Street}
		return p
	}
	g := testGazetteer(t,
		at(gazetteer.Place{ID: "way/1", Kind: gazetteer.Street, Street: "Nadorster Straße", Postcode: "26123"}, 8.22, 53.15),
		at(gazetteer.Place{ID: "node/12", Kind: gazetteer.House, Street: "Nadorster Straße", HouseNumber: "12", Postcode: "26123"}, 8.2187, 53.1526),
		at(gazetteer.Place{ID: "node/20", Kind: gazetteer.House, Street: "Nadorster Straße", HouseNumber: "20", Postcode: "26123"}, 8.2191, 53.1536),
		at(gazetteer.Place{ID: "node/7", Kind: gazetteer.House, Street: "Rauhweid", HouseNumber: "7", Postcode: "26122"}, 8.21, 53.14),
	)
	r, err := g.Region("Oldenburg")
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

func parse(t testing.TB, p *Parser, in Input) Verdict {
	t.Helper()
	v, err := p.Parse(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLevels(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text      string
		level     Level
		precision gazetteer.Precision
		relevant  bool
	}{
		{"Nadorster Straße 12, 26123 Oldenburg", VerifiedLevel, gazetteer.HousePrecision, true},
		{"Nadorsterstr. 12, 26123 Oldenburg", VerifiedLevel, gazetteer.HousePrecision, true},
		{"NADORSTER STR. 12\n26123 OLDENBURG", VerifiedLevel, gazetteer.HousePrecision, true},
		{"nadorster strasse 12, 26123 oldenburg", VerifiedLevel, gazetteer.HousePrecision, true},
		{"Firma Ernst Müller Nadorster Straße 12, D-26123 Oldenburg", VerifiedLevel, gazetteer.HousePrecision, true},
		{"Haus der Kunst Rauhweid 7, 26122 Oldenburg", VerifiedLevel, gazetteer.HousePrecision, true},
		{"Nadorster Straße 14, 26123 Oldenburg", VerifiedLevel, gazetteer.InterpolatedPrecision, true},
		{"Nadorster Straße 900, 26123 Oldenburg", StreetLevel, gazetteer.StreetPrecision, true},
		{"Erfundene Straße 5, 26123 Oldenburg", StreetLevel, gazetteer.PostcodePrecision, false},
		{"Der Verein sitzt in 26123 Oldenburg", CityLevel, gazetteer.PostcodePrecision, false},
		{"Postfach 1234, 26123 Oldenburg", CityLevel, gazetteer.NoPrecision, false},
		{"Nadorster Straße 12, 28195 Bremen", StreetLevel, gazetteer.PostcodePrecision, false},
		{"In Oldenburg: Nadorster Straße 12, Tel. 0441 123", VerifiedLevel, gazetteer.HousePrecision, true},
	} {
		v := parse(t, p, Input{Text: c.text})
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %d addresses: %+v", c.text, len(v.Addresses), v.Addresses)
			continue
		}
		a := v.Addresses[0]
		if a.Level != c.level || a.Precision != c.precision || v.Relevant != c.relevant {
			t.Errorf("%q: level %v, precision %v, relevant %v; want %v, %v, %v", c.text, a.Level, a.Precision, v.Relevant, c.level, c.precision, c.relevant)
		}
		if v.Relevant && v.Score <= 0 {
			t.Errorf("%q: score %v", c.text, v.Score)
		}
	}
	for _, text := range []string{
		"Nadorster Straße 12, Hamburg", // the street exists, but nothing names the town
		"Nadorster Straße 900 in Oldenburg",
		"Rauhweid bei Oldenburg",
		"Nadorster Straße 12",
	} {
		if v := parse(t, p, Input{Text: text}); v.Relevant {
			t.Errorf("%q is relevant: %+v", text, v.Addresses)
		}
		if v := parse(t, p, Input{Text: text, Country: "DE"}); v.Relevant {
			t.Errorf("%q of DE is relevant: %+v", text, v.Addresses)
		}
	}
}

func TestMinPrecision(t *testing.T) {
	g, r := town(t)
	for _, c := range []struct {
		min, text string
		want      bool
	}{
		{"postcode", "26123 Oldenburg, Postfach 5", true},
		{"street", "26123 Oldenburg, Postfach 5", false},
		{"auto", "26123 Oldenburg, Postfach 5", false},
		{"street", "Nadorster Straße 900, 26123 Oldenburg", true},
		{"house", "Nadorster Straße 900, 26123 Oldenburg", false},
		{"house", "Nadorster Straße 12, 26123 Oldenburg", true},
	} {
		p, err := New(g, r, Options{MinPrecision: c.min})
		if err != nil {
			t.Fatal(err)
		}
		if v := parse(t, p, Input{Text: c.text}); v.Relevant != c.want {
			t.Errorf("min %s, %q: relevant %v, want %v", c.min, c.text, v.Relevant, c.want)
		}
	}
	if _, err := New(g, r, Options{MinPrecision: "exact"}); err == nil || !strings.Contains(err.Error(), `"exact"`) {
		t.Errorf("New with a bad precision: %v", err)
	}
}

func TestPostcodeOnlyRegion(t *testing.T) {
	g := testGazetteer(t)
	r, err := g.Region("Irvine")
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	v := parse(t, p, Input{Text: "Department of Informatics\n6210 Donald Bren Hall, Irvine, CA 92697-3425"})
	if !v.Relevant || len(v.Addresses) != 1 || !v.Addresses[0].InRegion {
		t.Errorf("verdict %+v", v)
	}
	if v := parse(t, p, Input{Text: "1 Main St, Austin, TX 78701"}); v.Relevant {
		t.Errorf("verdict %+v", v)
	}
}

func TestDeduplicate(t *testing.T) {
	text := "Lange Str. 5, 26122 Oldenburg\nKontakt\nLange Straße 5\n26122 Oldenburg\nLange Straße 6, 26122 Oldenburg"
	for _, c := range []struct {
		every bool
		want  int
	}{{false, 2}, {true, 3}} {
		p, err := New(testGazetteer(t), nil, Options{EveryMention: c.every})
		if err != nil {
			t.Fatal(err)
		}
		if v := parse(t, p, Input{Text: text}); len(v.Addresses) != c.want {
			t.Errorf("every mention %v: %d addresses, want %d", c.every, len(v.Addresses), c.want)
		}
	}
}

// Codes that two countries share are distinguished by the city, then by hints.
func TestCountries(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Hof 4, 6900 Bregenz":                       "AT",
		"Via Nassa 5, 6900 Lugano":                  "CH",
		"Via Nassa, 5/A – 6900 Lugano":              "CH",
		"500 Main St, Beverly Hills, CA 90210":      "US",
		"Lange Straße 5, 26122 Oldenburg":           "DE",
		"Städtle 38, FL-9490 Vaduz":                 "LI",
		"Mühlenweg 3, A-6900 Bregenz, Österreich":   "AT",
		"123 Example Rd, Germantown, Wisc. 53022 ?": "US",
	} {
		v := parse(t, p, Input{Text: text})
		got := ""
		if len(v.Addresses) > 0 {
			got = v.Addresses[0].Country
		}
		if got != want {
			t.Errorf("%q: country %q, want %q", text, got, want)
		}
	}
}

func TestCountryKeepsToItsForm(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text := "500 Main St, Austin, TX 78701\nLange Straße 5, 26122 Oldenburg"
	for country, want := range map[string]string{"DE": "DE", "US": "US"} {
		v := parse(t, p, Input{Text: text, Country: country})
		if len(v.Addresses) != 1 || v.Addresses[0].Country != want {
			t.Errorf("country %s: %+v", country, v.Addresses)
		}
	}
	if v := parse(t, p, Input{Text: text}); len(v.Addresses) != 2 {
		t.Errorf("no country: %+v", v.Addresses)
	}
}

func TestSingle(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ country, text, number, street, city string }{
		{"US", "3600 West 5th Ave", "3600", "West 5th Ave", ""},
		{"US", "2610 West 25th Place Lower level", "2610", "West 25th Place", ""},
		{"US", "430 webster st, austin", "430", "webster st", "austin"},
		{"US", "P.O. Box 370316", "", "", ""},
		{"AT", "Eduard-Sueß Gasse 9", "9", "Eduard-Sueß Gasse", ""},
		{"DE", "Lange Straße 5, Oldenburg, Germany", "5", "Lange Straße", "Oldenburg"},
		{"DE", "Lange Str. 5 b Oldenburg", "5 b", "Lange Str.", "Oldenburg"},
		{"DE", "Nordmole, Oldenburg", "", "Nordmole", "Oldenburg"},
		{"DE", "Cologne\nNorth Rhine-Westphalia\nGermany", "", "", "Cologne"},
		{"US", "1000 Cathedral Pl 925 W Georgia St", "925", "W Georgia St", ""},
		{"US", "500 Spectrum Dr Suite 100 Attn: John Doe", "500", "Spectrum Dr", ""},
		{"FR", "11 bis Rue de la Caverne 67210", "11 bis", "Rue de la Caverne", ""},
		{"FR", "24 rue Chaptal\n75009 Paris\nFrance", "24", "rue Chaptal", "Paris"},
		{"ES", "Avinguda del Bogatell, 17\n08005 Barcelona\nSpain", "17", "Avinguda del Bogatell", "Barcelona"},
		{"IT", "Via Vittor Pisani, 13\n20124 Milano MI", "13", "Via Vittor Pisani", "Milano"},
		{"NL", "Brinkstraat 87, 7512EC, Enschede", "87", "Brinkstraat", "Enschede"},
		{"BE", "31, Place de Brouckère, 1000 Bruxelles", "31", "Place de Brouckère", "Bruxelles"},
		{"DK", "Kastanievej 15, DK-8660 Skanderborg, Denmark", "15", "Kastanievej", "Skanderborg"},
		{"LU", "13 Route d'Esch\nL-2016 Luxembourg", "13", "Route d'Esch", "Luxembourg"},
	} {
		v := parse(t, p, Input{Text: c.text, Country: c.country})
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %+v", c.text, v.Addresses)
			continue
		}
		if a := v.Addresses[0]; a.HouseNumber != c.number || a.Street != c.street || a.City != c.city {
			t.Errorf("%q: number %q, street %q, city %q", c.text, a.HouseNumber, a.Street, a.City)
		}
	}
}

// Markup adds origin and coordinate to the text's address and never moves it.
func TestMarkup(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	page := `<script type="application/ld+json">{"@type":"Shop","address":{"@type":"PostalAddress","streetAddress":"Nadorster Str. 12",
"postalCode":"26123","addressLocality":"Oldenburg"}}</script><p>Besuchen Sie uns: Nadorster Straße 12, 26123 Oldenburg</p>`
	doc := markup.Parse([]byte(page))
	text := markup.Text(doc)
	v := parse(t, p, Input{Text: text, Doc: doc})
	if len(v.Addresses) != 1 {
		t.Fatalf("%+v", v.Addresses)
	}
	a := v.Addresses[0]
	if a.Origin != markup.JSONLD || a.Start < 0 || string([]rune(text)[a.Start:a.End]) != "Nadorster Straße 12, 26123 Oldenburg" || !v.Relevant {
		t.Errorf("%+v", a)
	}
}

// Of two statements of an address, in either order, that of an organisation says who is there.
func TestMarkupOfFounder(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	statements := []string{
		`{"@type":"Person","name":"Uwe Reents","address":
			{"streetAddress":"Lange Str. 5","postalCode":"26122","addressLocality":"Oldenburg"}}`,
		`{"@type":"Bakery","name":"Backhaus Reents","address":
			{"streetAddress":"Lange Straße 5","postalCode":"26122","addressLocality":"Oldenburg"}}`,
	}
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		page := `<script type="application/ld+json">[` + statements[order[0]] + "," + statements[order[1]] + `]</script>`
		v := parse(t, p, Input{Doc: markup.Parse([]byte(page))})
		if len(v.Addresses) != 1 || v.Addresses[0].Name != "Backhaus Reents" || v.Addresses[0].Private {
			t.Errorf("%v: %+v", order, v.Addresses)
		}
	}
}

func TestParseEndsWithContext(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Parse(ctx, Input{Text: "Lange Straße 5, 26122 Oldenburg"}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// Hostile texts take bounded time and find nothing that is not there.
func TestHostile(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		max  int
	}{
		"digits":                         {strings.Repeat("1", 3<<20), 0},
		"codes":                          {strings.Repeat("26122 ", 500000), 0},
		"one line":                       {strings.Repeat("x", 5<<20), 0},
		"address lines":                  {strings.Repeat("Lange Straße 5, 26122 Oldenburg\n", 50000), 1},
		"streets":                        {strings.Repeat("Nadorster Straße 12 ", 100000), 500},
		"open brackets":                  {strings.Repeat("(", 1<<20) + "5, 26122 Oldenburg", 1},
		"states":                         {strings.Repeat("5 Main St Austin TX ", 100000), 1},
		"invalid UTF-8":                  {strings.Repeat("\xff\xfe 26122 Oldenburg\xc3", 10000), 1},
		"zero-width":                     {"Lange Straße 5, 26\u200b122 Oldenburg", 1},
		"right to left":                  {"\u202eLange Straße 5, 26122 Oldenburg", 1},
		"zero-width in the house number": {"Lange Straße 1\u200b2, 26122 Oldenburg", 1},
		"marks in numbers":               {"Lange Straße 1\u200f2, 26\u200e1\u202e22 Oldenburg", 1},
		"thousands of addresses":         {numbered("Lange Straße %d, 26122 Oldenburg\n", 50000), maxAddresses},
		"one long line":                  {strings.Repeat("Lange Straße 5 26122 Oldenburg ", 170000), 1},
		"postcodes of Canada":            {strings.Repeat("K1A 0B1 ", 100000), 0},
		"postcodes of Great Britain":     {strings.Repeat("A1 1AA SW1A 1AA ", 50000), 0},
		"names of states":                {strings.Repeat("5 Ohio Ontario Quebec Texas NSW ", 30000), 0},
		"streets behind cities":          {strings.Repeat("26122 Oldenburg\nLange Straße 5\n", 60000), 2},
		"letters behind numbers":         {strings.Repeat("Straße 12 a + b - 14 c / ", 80000) + "26122 Oldenburg", 1},
		"plus signs":                     {strings.Repeat("+ 4711 Hausen ", 30000), 0},
		"labels":                         {strings.Repeat("PLZ Ort : ", 100000) + "26122", 0},
		"nothing":                        {"", 0},
		"numbers in words":               {strings.Repeat("a1b2c3 ", 200000), 0},
	} {
		before := cpuTime()
		v := parse(t, p, Input{Text: c.text})
		if took := cpuTime() - before; took > 4*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		for _, a := range v.Addresses {
			if a.Postcode != "" && a.Postcode != "26122" {
				t.Errorf("%s: invented %+v", name, a)
			}
		}
		if len(v.Addresses) > c.max {
			t.Errorf("%s: %d addresses, at most %d", name, len(v.Addresses), c.max)
		}
	}
}

// The city of an American address is known to the gazetteer, or the words that
// fill its line.
func TestUSCities(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"12 Stone Way North Austin, TX 78701":                "Austin",
		"12 Stone Way, Austin, TX 78\u200f7\u200b01":         "Austin", // marks in a number
		"12 Stone Way North Austin, Travis County, TX 78701": "Austin",
		"12 Stone Way\nAustin\nTravis County, TX":            "Austin",
		"62-100 Kauna'oa Drive\nKohala Coast, TX 78701":      "Kohala Coast",
		"1615 Stradella Rd, Suite 5\nBel Air, TX 78701":      "Bel Air",
		"1615 Stradella Rd Westlake, TX 78701":               "Westlake",
		"1615 Stradella Rd, Travis County, TX 78701":         "Travis County",
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 || v.Addresses[0].City != want || v.Addresses[0].Street == "" || strings.Contains(v.Addresses[0].Unit, "Bel") {
			t.Errorf("%q: %+v", text, v.Addresses)
		}
	}
}

// Without a postcode what holds a date or a piece of a sentence is no address.
func TestNoAddressWithoutCode(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"5 Main St, Austin, TX":                                      1,
		"5 Main St., Suite 12, Austin TX, May 12, 2004":              1,
		"On May 12, 2004\n1600 Main St, Austin, TX":                  1,
		"Jun 3, 1953 Palm Beach FL - May 4, 2011 Austin TX":          0,
		"divorced 1979 Austin TX\n+ Laurie COSKEY 1957 Austin TX":    0,
		"5 Round Rock Rd, Austin TX":                                 1,
		"born 7 May 1953 Los Angeles CA\nmarried Austin TX":          0,
		"7x Adam HALL Nov 10, 1957 Austin TX":                        0,
		"in 2017, at the Research Park in Austin, TX":                0,
		"computed from 3 edge points\nOrganization: X, Austin, TX":   0,
		"LEE\n27 Mar 1918\n20 Jan 2000\n78701 Austin, Austin, Texas": 0,
	} {
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != want {
			t.Errorf("%q: %d addresses, want %d: %+v", text, len(v.Addresses), want, v.Addresses)
		}
	}
}

// In a sentence the city follows with "in", also behind a number with a letter.
func TestInCity(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, number := range map[string]string{
		"Sie finden uns unter der Anschrift Lange Straße 12 in 26122 Oldenburg.": "12",
		"Wir wohnen in der Lange Straße 12a in 26122 Oldenburg.":                 "12a",
		"Wir wohnen Lange Straße 12 a in 26122 Oldenburg.":                       "12a",
	} {
		v := parse(t, p, Input{Text: text})
		got := ""
		if len(v.Addresses) > 0 {
			got = strings.ReplaceAll(v.Addresses[0].HouseNumber, " ", "")
		}
		if got != number {
			t.Errorf("%q: number %q, want %q", text, got, number)
		}
	}
}

// What nobody sees is no part of what is read, neither in a plain text nor in a
// page; spans count it.
func TestUnseen(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for text, span := range map[string]string{
		"Lange Straße 1\u200b2, 26\u200b122 Oldenburg\u200b":                     "Lange Straße 1\u200b2, 26\u200b122 Oldenburg",
		"\ufeff\u202bLange Straße 12\u200f, 26122 Olden\u00adburg\u202c":         "Lange Straße 12\u200f, 26122 Olden\u00adburg",
		"é\u200d Lange Stra\u200b\u200bße 1\u202e2\n\u206626122\u2069 Oldenburg": "Lange Stra\u200b\u200bße 1\u202e2\n\u206626122\u2069 Oldenburg",
	} {
		v := parse(t, p, Input{Text: text})
		checkLaws(t, text, v)
		if len(v.Addresses) != 1 {
			t.Errorf("%q: %+v", text, v.Addresses)
			continue
		}
		a := v.Addresses[0]
		if got := string([]rune(text)[a.Start:a.End]); got != span || a.Street != "Lange Straße" || a.HouseNumber != "12" || a.Postcode != "26122" || a.City != "Oldenburg" {
			t.Errorf("%q: span %q, street %q, number %q, postcode %q, city %q", text, got, a.Street, a.HouseNumber, a.Postcode, a.City)
		}
		doc := markup.Parse([]byte("<html><body><p>" + strings.ReplaceAll(text, "\n", "<br>")))
		if page := parse(t, p, Input{Text: markup.Text(doc), Doc: doc}); len(page.Addresses) != 1 || page.Addresses[0].Key() != a.Key() {
			t.Errorf("%q as a page: %+v", text, page.Addresses)
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i%9999+1)
	}
	return b.String()
}

// Hostile markup states nothing that can be believed.
func TestHostileMarkup(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	ld := func(json string) string { return `<script type="application/ld+json">` + json + `</script>` }
	address := `"@type":"PostalAddress","streetAddress":"Nadorster Straße 12","postalCode":"26123","addressLocality":"Oldenburg"`
	var many strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&many, `{"address":{"streetAddress":"Nadorster Straße %d","postalCode":"26123","addressLocality":"Oldenburg"}},`, i+1)
	}
	for name, c := range map[string]struct {
		page string
		max  int
	}{
		"a cycle":              {ld(`{"@graph":[{"@id":"#a","address":{"@id":"#b"}},{"@id":"#b","address":{"@id":"#a"},"location":{"@id":"#a"}}]}`), 0},
		"its own part":         {ld(`{"@id":"#a","address":{"@id":"#a"},"location":[{"@id":"#a"},{"@id":"#a"}],` + address + `}`), 1},
		"wrong types":          {ld(`{"address":{"@type":7,"streetAddress":{"a":[]},"postalCode":[[26123]],"addressLocality":null,"addressCountry":{"name":{}}}}`), 0},
		"numbers":              {ld(`{"address":{"streetAddress":12,"postalCode":26123,"addressLocality":false}}`), 1},
		"beyond a float":       {ld(`{"geo":{"latitude":1e309,"longitude":-1e309},"address":{` + address + `}}`), 1},
		"not a number":         {ld(`{"geo":{"latitude":"NaN","longitude":"Infinity"},"address":{` + address + `}}`), 1},
		"10,000 entries":       {ld("[" + many.String() + "1]"), maxAddresses},
		"a storm of entities":  {"<p>" + strings.Repeat("&amp;&#38;&lt;&#x26;&nbsp;&zwnj;", 60000), 0},
		"entities in a street": {"<p>Nadorster" + strings.Repeat("&nbsp;", 5000) + "Straße&nbsp;12,&#32;2&#54;123&nbsp;Oldenburg", 1},
		"nested":               {strings.Repeat("<div>", 5000) + "Nadorster Straße 12, 26123 Oldenburg", 1},
	} {
		doc := markup.Parse([]byte("<html><body>" + c.page))
		v := parse(t, p, Input{Text: markup.Text(doc), Doc: doc})
		if len(v.Addresses) > c.max {
			t.Errorf("%s: %d addresses, at most %d", name, len(v.Addresses), c.max)
		}
		for _, a := range v.Addresses {
			if a.Postcode != "26123" || math.IsNaN(a.Point[0]) || math.Abs(a.Point[0]-8.2) > 1 || math.Abs(a.Point[1]-53.1) > 1 {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}

// checkLaws tests what holds of every address of every text.
func checkLaws(t *testing.T, text string, v Verdict) {
	t.Helper()
	runes := []rune(text)
	unseen := func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	for _, a := range v.Addresses {
		if a.Start < 0 || a.End > len(runes) || a.Start >= a.End {
			t.Fatalf("span %d-%d of %d characters: %+v", a.Start, a.End, len(runes), a)
		}
		if span := runes[a.Start:a.End]; unicode.Is(unicode.Cf, span[0]) || unicode.Is(unicode.Cf, span[len(span)-1]) {
			t.Fatalf("the span %q begins or ends with what nobody sees", string(span))
		}
		span := fold(strings.Map(unseen, string(runes[a.Start:a.End])))
		for _, field := range []string{a.Street, a.HouseNumber, a.Unit, a.POBox, a.Postcode, a.City} {
			if !strings.Contains(span, field) {
				t.Fatalf("%q is not in %q", field, span)
			}
		}
		if a.Confidence < 0 || a.Confidence > 1 || a.Level < CityLevel || a.Level > VerifiedLevel {
			t.Fatalf("confidence %v, level %d", a.Confidence, a.Level)
		}
		if a.Level == CityLevel && a.Street != "" || a.Level > CityLevel && a.Street == "" {
			t.Fatalf("level %v with street %q", a.Level, a.Street)
		}
		if a.Postcode == "" && a.City == "" && a.Street == "" && a.POBox == "" {
			t.Fatalf("an address of nothing: %+v", a)
		}
		if utf8.RuneCountInString(a.Text) > maxShown {
			t.Fatalf("text of %d characters", utf8.RuneCountInString(a.Text))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Nadorster Straße 12a\n26123 Oldenburg", "")
	f.Add("Hof 4, A - 6900 Bregenz (Vorarlberg)", "AT")
	f.Add("Suite 5, 1300 New York Ave., N.W. Washington, D.C. 20577-1234", "US")
	f.Add("12, rue du Rhône, 1204 Genève", "CH")
	f.Add("PO Box # A3 Austin TX 78701", "US")
	f.Add("Winterstraße 226123 Oldenburg", "DE")
	f.Add("\xff26122 Oldenburg)(", "DE")
	f.Add("Lange Stra\u200bße 1\u200b2, 26\u00ad122 Oldenburg\u202c\n\u200b5 Main St, Austin", "")
	g, r := town(f)
	p, err := New(g, r, Options{EveryMention: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, country string) {
		v := parse(t, p, Input{Text: text, Country: country})
		checkLaws(t, text, v)
		last := 0
		for _, a := range v.Addresses {
			if a.Start < last {
				t.Fatalf("addresses overlap or are out of order at %d: %+v", a.Start, v.Addresses)
			}
			last = a.End
		}
		explained, rejected, err := p.Explain(t.Context(), Input{Text: text, Country: country})
		if err != nil || len(explained.Addresses) != len(v.Addresses) {
			t.Fatalf("%v; explained %+v, parsed %+v", err, explained.Addresses, v.Addresses)
		}
		for _, c := range rejected {
			if c.Start < 0 || c.Start > c.End || c.End > utf8.RuneCountInString(text) || c.Reason == "" {
				t.Fatalf("rejected %+v of %d characters", c, utf8.RuneCountInString(text))
			}
		}
	})
}

// FuzzFormatted writes an address in the form of its country; the parser gives
// the parts back.
func FuzzFormatted(f *testing.F) {
	f.Add(uint16(12), uint8(0), uint8(0), uint8(0))
	f.Add(uint16(7), uint8(1), uint8(3), uint8(1))
	f.Add(uint16(999), uint8(5), uint8(2), uint8(2))
	g := testGazetteer(f)
	p, err := New(g, nil, DefaultOptions())
	if err != nil {
		f.Fatal(err)
	}
	names := []string{"Nadorster Straße", "Hauptstr.", "Am Alten Markt", "Platz der Republik", "Eichenallee", "An der Mühle"}
	f.Fuzz(func(t *testing.T, number uint16, name, suffix, layout uint8) {
		n := 1 + int(number)%998
		street := names[int(name)%len(names)]
		house := strconv.Itoa(n) + []string{"", "a", " b", "-" + strconv.Itoa(n+2), "/1"}[int(suffix)%5]
		text := []string{
			street + " " + house + ", 26122 Oldenburg",
			street + " " + house + "\n26122 Oldenburg",
			"Firma GmbH\n" + street + " " + house + "\nD-26122 Oldenburg\nTel. 0441 5",
			"26122 Oldenburg, " + street + " " + house,
			street + " " + house + " | 26122 Oldenburg | Kontakt",
		}[int(layout)%5]
		v := parse(t, p, Input{Text: text})
		if len(v.Addresses) != 1 {
			t.Fatalf("%q: %+v", text, v.Addresses)
		}
		a := v.Addresses[0]
		if a.Street != street || a.HouseNumber != house || a.Postcode != "26122" || a.City != "Oldenburg" {
			t.Fatalf("%q: street %q, number %q, code %q, city %q", text, a.Street, a.HouseNumber, a.Postcode, a.City)
		}
	})
}
