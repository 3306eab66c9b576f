package geoparse

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/gazetteer/osm"
	"gazehound/gazetteer/table"
	"gazehound/gazetteer/tiger"
)

// maxEvalStreets bounds the streets of one table or extract.
const maxEvalStreets = 1500

// A landSource is a table or extract with streets of one country. Those without a postcode of their own
// get code.
type landSource struct {
	name, country, code, city string
	places                    func(*testing.T) []gazetteer.Place
}

func landSources(gaz string) []landSource {
	extract := func(pattern, country string) func(*testing.T) []gazetteer.Place {
		return func(t *testing.T) (all []gazetteer.Place) {
			_, err := osm.Read(t.Context(), glob(t, filepath.Join(gaz, pattern)), osm.Options{Country: country},
				func(p gazetteer.Place) error {
					all = append(all, p)
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
	}
	tigerTable := func(t *testing.T) (all []gazetteer.Place) {
		src, _, err := gazetteer.OpenSource(glob(t, filepath.Join(gaz, "tiger-autauga-al-us/*.csv*")), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		err = tiger.CSV(nil)(t.Context(), src, func(p gazetteer.Place) error {
			all = append(all, p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	return []landSource{
		{"osm-andorra", "AD", "AD500", "Andorra la Vella", extract("osm-andorra/*.gz", "AD")},
		{"osm-monaco", "MC", "98000", "Monaco", extract("osm-monaco/*.gz", "MC")},
		{"osm-liechtenstein", "LI", "9490", "Vaduz", extract("osm-liechtenstein/*.pbf", "LI")},
		{"osm-krems-at", "AT", "3500", "Krems", extract("osm-krems-at/*.gz", "AT")},
		{"osm-kaiserslautern-de", "DE", "67655", "Kaiserslautern", extract("osm-kaiserslautern-de/*.gz", "DE")},
		{"tiger-autauga-al-us", "US", "36067", "Prattville", tigerTable},
		{"a table like BAG", "NL", "", "Amersfoort", nationalTable(dutchTable)},
		{"a table with unit postcodes", "GB", "", "Leeds", nationalTable(britishTable)},
		{"a table with whole postcodes", "CA", "", "Brampton", nationalTable(canadianTable)},
	}
}

// streets returns the streets of a source in a gazetteer, and at most maxEvalStreets of their names with
// the postcode of each.
func (c *landSource) streets(t *testing.T) (g *gazetteer.Gazetteer, names []string, postcodes map[string]string) {
	postcodes = map[string]string{}
	var places []gazetteer.Place
	for _, p := range c.places(t) {
		if p.Kind != gazetteer.Street && p.Kind != gazetteer.House {
			continue
		}
		name := fold(p.Street)
		if !strings.ContainsFunc(name, isLetterRune) || strings.ContainsAny(name, ";,_?!()\"") {
			continue
		}
		if c.code != "" {
			p.Postcode, p.State = c.code, map[string]string{"US": "AL"}[c.country]
		}
		p.City, p.Country = c.city, c.country
		if _, ok := postcodes[name]; !ok {
			postcodes[name] = p.Postcode
			places = append(places, p)
		}
	}
	names = slices.Sorted(maps.Keys(postcodes))
	return gazetteer.Of(places...), names[:min(len(names), maxEvalStreets)], postcodes
}

// A landCount counts texts with an address, those of them in which it was found, and those where it was
// read exactly.
type landCount struct{ tried, found, exact int }

// TestEvalLands writes every street of each extract and table in the order of its country, as lines and
// in sentences, and reads them with a gazetteer of that extract or table. found: an address with that
// postcode and number; exact: with the street's name, and confirmed by the gazetteer.
func TestEvalLands(t *testing.T) {
	needEval(t)
	fmt.Printf("\n%-34s %-7s %7s  %-15s %-15s %-15s %s\n", "streets of", "country", "streets",
		"lines found", "lines exact", "in text found", "in text exact")
	for _, c := range landSources(filepath.Join(sharedData(t), "gazetteer")) {
		g, names, postcodes := c.streets(t)
		p, err := New(g, nil, Options{EveryMention: true})
		if err != nil {
			t.Fatal(err)
		}
		var counts [2]landCount // in lines, in sentences
		for _, name := range names {
			for form, texts := range landTexts(c.country, name, "12", postcodes[name], c.city) {
				for _, text := range texts {
					counts[form].add(t, p, c.country, name, text)
				}
			}
		}
		fmt.Printf("%-34s %-7s %7d", c.name, c.country, len(names))
		for _, n := range counts {
			fmt.Printf("  %.3f %-8d  %.3f %-8d", ratio(n.found, n.tried), n.found, ratio(n.exact, n.tried), n.exact)
		}
		fmt.Println()
		if len(names) == 0 {
			t.Errorf("%s: no streets", c.name)
		}
	}
}

// add counts a text with number 12 of a street.
func (n *landCount) add(t *testing.T, p *Parser, country, street, text string) {
	n.tried++
	v := parse(t, p, Input{Text: text})
	i := slices.IndexFunc(v.Addresses, func(a Address) bool { return a.HouseNumber == "12" })
	if i < 0 {
		t.Logf("%s: missed %q: %v", country, text, v.Addresses)
		return
	}
	n.found++
	a := v.Addresses[i]
	if gazetteer.StreetKey(a.Street) == gazetteer.StreetKey(street) && a.Place.Kind >= gazetteer.Street {
		n.exact++
	} else {
		t.Logf("%s: %q read as %q", country, text, a.Street)
	}
}

func isLetterRune(r rune) bool { return r > '9' && r != '_' }

// glob returns the one file of a pattern.
func glob(t *testing.T, pattern string) string {
	t.Helper()
	files, _ := filepath.Glob(pattern)
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "SOURCE.txt") })
	if len(files) == 0 {
		t.Skipf("no file %s", pattern)
	}
	return files[0]
}

// landTexts writes an address in the order of its country: as lines, and in sentences.
func landTexts(country, street, number, code, city string) [2][]string {
	place := code + " " + city
	behind, ahead := street+" "+number, number+" "+street
	switch country {
	case "US":
		place = city + ", AL " + code
	case "CA":
		place = city + ", ON " + code
	case "GB":
		place = city + " " + code
	case "MC":
		return [2][]string{
			{"Les Amis\n" + ahead + "\n" + place + "\nTél. 9999 0000", "Les Amis, " + number + ", " + street + ", " + place},
			{"Retrouvez-nous au " + ahead + ", " + place + ".", "Un magasin situé " + ahead + " à " + place + "."},
		}
	case "AD":
		return [2][]string{
			{"Llibreria\n" + street + ", " + number + "\n" + place + "\nTel. 800 000", "Llibreria, " + street + ", núm. " + number + ", " + place},
			{"Ens trobareu al " + street + ", " + number + ", " + place + ".", "La botiga de " + street + " " + number + ", " + place + ", és oberta."},
		}
	case "NL":
		return [2][]string{
			{"Atelier\n" + behind + "\n" + place + "\nTel. 010 000000", "Atelier, " + behind + ", " + place},
			{"U vindt ons aan de " + behind + ", " + place + ".", "De winkel (" + behind + ", " + place + ") is open."},
		}
	case "DE", "AT", "LI":
		return [2][]string{
			{"Muster GmbH\n" + behind + "\n" + place + "\nTelefon", "Muster GmbH, " + behind + ", " + place},
			{"Sie finden uns in der Straße " + behind + ", " + place + ".", "Das Büro (" + behind + ", " + place + ") ist offen."},
		}
	}
	return [2][]string{
		{"Sample Ltd\n" + ahead + "\n" + place + "\nPhone", "Sample Ltd, " + ahead + ", " + place},
		{"Find us at " + ahead + ", " + place + ".", "The office (" + ahead + ", " + place + ") is open."},
	}
}

// nationalTable reads a table of made-up addresses in the columns of a country.
func nationalTable(text func() string) func(*testing.T) []gazetteer.Place {
	return func(t *testing.T) (all []gazetteer.Place) {
		err := table.Reader(table.Options{})(t.Context(), strings.NewReader(text()), func(p gazetteer.Place) error {
			all = append(all, p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// composed writes a row for each first and last part of a name.
func composed(header, firsts, lasts string, row func(i int, name string) string) string {
	var b strings.Builder
	b.WriteString(header)
	i := 0
	for first := range strings.FieldsSeq(firsts) {
		for last := range strings.FieldsSeq(lasts) {
			i++
			b.WriteString(row(i, strings.ReplaceAll(first+cmp.Or(last, ""), "_", " ")))
		}
	}
	return b.String()
}

func dutchTable() string {
	return composed("openbareruimte;huisnummer;huisletter;huisnummertoevoeging;postcode;woonplaats;lat;lon\n",
		"Molen Kerk Linden Oude_ Prins_Maurits 't_Zand_ Zuider Lange_ Sint_Jans Burgemeester_Vos",
		"straat weg laan gracht kade plein steeg pad hoek wijk erf veld",
		func(i int, name string) string {
			return fmt.Sprintf("%s;12;;;%d%c%c;Amersfoort;52.%d;5.3\n", name, 3811+i%9, 'A'+i%23, 'B'+i%7, 100+i)
		})
}

func britishTable() string {
	return composed("street,housenumber,postcode,city,lat,lon\n",
		"Tanner_ High_ St_Mary's_ Mill_ Upper_Moor_ The_ Old_School_ King's_ Nether_ Saint_John's_",
		"Street Road Lane Avenue Close Mews Hill Row Gate Parade Drive Croft",
		func(i int, name string) string {
			return fmt.Sprintf("%s,12,LS%d %d%c%c,Leeds,53.%d,-1.5\n", name, 1+i%29, i%10, "ABDEFGHJ"[i%8], "LNPQRSTU"[i%8], 700+i)
		})
}

func canadianTable() string {
	return composed("street,number,postcode,city,region,country,lat,lon\n",
		"Otter_ Queen_ Lake_Shore_ Maple_ Sir_Lou_ Main_ Bovaird_ Steeles_ Old_Mill_ Peel_",
		"Street Road Lane Avenue Crescent Court Trail Drive Gate Circle Boulevard Way",
		func(i int, name string) string {
			return fmt.Sprintf("%s,12,L6%c %d%c%d,Brampton,ON,CA,43.%d,-79.7\n", name, "PRSTVWXY"[i%8], i%10, "ABCEGHJK"[i%8], i%7, 600+i)
		})
}
