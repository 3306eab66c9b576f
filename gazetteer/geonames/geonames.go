// Package geonames reads the files of geonames.org: postal codes and the dump
// of places.
package geonames

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"gazehound/gazetteer"
)

// Licence and Attribution are those of GeoNames.
const (
	Licence     = "CC-BY-4.0"
	Attribution = "GeoNames (geonames.org)"
)

const (
	postalColumns  = 12
	dumpColumns    = 19
	countryColumns = 19
	adminColumns   = 4
	maxLine        = 64 << 10 // bytes; the longest real line has about 12,000
)

// The formats that Sniff tells apart.
const (
	FormatPostal    = "geonames-postal"
	FormatDump      = "geonames"
	FormatNames     = "geonames-names"
	FormatAdmin     = "geonames-admin"
	FormatCountries = "geonames-countries"
)

// Sniff returns the format that head, the start of a file, looks like, or "".
func Sniff(head []byte) string {
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	for bytes.HasPrefix(line, []byte("#")) && len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	cols := strings.Split(strings.TrimSuffix(string(line), "\r"), "\t")
	switch {
	case len(cols) == postalColumns && isCountry(cols[0]) && isNumber(cols[9]) && isNumber(cols[10]):
		return FormatPostal
	case len(cols) == dumpColumns && isNumber(cols[0]) && isNumber(cols[4]) && isNumber(cols[5]) && isCountry(cols[8]):
		return FormatDump
	case len(cols) == countryColumns && isCountry(cols[0]) && len(cols[1]) == 3:
		return FormatCountries
	case len(cols) == adminColumns && isNumber(cols[3]) && strings.IndexByte(cols[0], '.') == 2 &&
		isCountry(cols[0][:2]):
		return FormatAdmin
	case (len(cols) == 8 || len(cols) == 10) && isNumber(cols[0]) && isNumber(cols[1]) && !isNumber(cols[2]):
		return FormatNames
	}
	return ""
}

func isCountry(s string) bool {
	return len(s) == 2 && 'A' <= s[0] && s[0] <= 'Z' && 'A' <= s[1] && s[1] <= 'Z'
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// A parser emits the places of one row. Its error is why the row is refused.
type parser func(cols []string, emit func(gazetteer.Place) error) error

// Postal returns a reader of postal codes (12 columns, tab separated): one
// Postcode per row, and before the first of a state an Outline with its name
// and code. The state of a Postcode is the code of the first administrative
// level where that has letters ("CA", "NI"), else its name. A German village that has its
// municipality's name before its own, "Schipkau Meuro", is a Postcode once more, "Meuro".
func Postal(refuse gazetteer.Refuse) gazetteer.Reader {
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		seen := map[string]bool{}
		var rows []gazetteer.Place // of one postcode
		parse := func(cols []string, emit func(gazetteer.Place) error) error {
			p, err := postalPlace(cols)
			if err != nil {
				return err
			}
			if len(rows) > 0 && rows[0].ID != p.ID {
				err = emitVillages(rows, emit)
				if err != nil {
					return err
				}
				rows = rows[:0]
			}
			if len(rows) < maxRows && p.Country == "DE" {
				rows = append(rows, p)
			}
			if key := cols[0] + "." + cols[4]; cols[3] != "" && cols[4] != "" && !seen[key] && len(seen) < maxStates {
				seen[key] = true
				err := emit(state(cols[0], cols[4], cols[3]))
				if err != nil && !errors.Is(err, gazetteer.ErrBadPlace) {
					return err
				}
			}
			return emit(p)
		}
		err := reader("GeoNames postal codes", []int{postalColumns}, parse, refuse)(ctx, src, emit)
		if err != nil {
			return err
		}
		return emitVillages(rows, emit)
	}
}

const (
	maxRows         = 500 // of one postcode that are looked at for the names of villages
	shortestVillage = 4   // bytes
)

// emitVillages emits those rows of a postcode once more whose names begin with that of another row, under
// what follows it.
func emitVillages(rows []gazetteer.Place, emit func(gazetteer.Place) error) error {
	for _, p := range rows {
		for _, municipality := range rows {
			village, ok := strings.CutPrefix(p.Names[0], municipality.Names[0]+" ")
			if !ok || len(village) < shortestVillage || village[0] >= 'a' && village[0] <= 'z' { // "am Main"
				continue
			}
			p.Names = append([]string{village}, p.Names...)
			err := emit(p)
			if err != nil && !errors.Is(err, gazetteer.ErrBadPlace) {
				return err
			}
			break
		}
	}
	return nil
}

// maxStates bounds what Postal keeps of states; the world has about 4,000.
const maxStates = 100_000

// Dump returns a reader of the dump of places (19 columns, tab separated): one
// City per populated place; other features are passed over.
func Dump(refuse gazetteer.Refuse) gazetteer.Reader {
	return reader("GeoNames dump", []int{dumpColumns}, dumpPlace, refuse)
}

// Admin returns a reader of admin1CodesASCII.txt (4 columns): an Outline with
// the names and the code of each state. Rows of the second level are passed
// over; a file of nothing else is refused.
func Admin(refuse gazetteer.Refuse) gazetteer.Reader {
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		states, other := 0, 0
		err := reader("GeoNames names of states", []int{adminColumns},
			func(cols []string, emit func(gazetteer.Place) error) error {
				parts := strings.Split(cols[0], ".")
				if len(parts) < 2 || !isCountry(parts[0]) {
					return fmt.Errorf("%.20q is not a state code", cols[0])
				}
				if len(parts) > 2 {
					other++
					return nil
				}
				states++
				return emit(state(parts[0], parts[1], cols[1], cols[2]))
			}, refuse)(ctx, src, emit)
		if err == nil && states == 0 && other > 0 {
			return fmt.Errorf("%w: it names counties, which gazehound does not use; "+
				"admin1CodesASCII.txt names the states", gazetteer.ErrFormat)
		}
		return err
	}
}

// Countries returns a reader of countryInfo.txt (19 columns): an Outline with
// the name and the code of each country.
func Countries(refuse gazetteer.Refuse) gazetteer.Reader {
	return reader("GeoNames countries", []int{countryColumns},
		func(cols []string, emit func(gazetteer.Place) error) error {
			if !isCountry(cols[0]) {
				return fmt.Errorf("%.10q is not a country code", cols[0])
			}
			return emit(gazetteer.Place{Kind: gazetteer.Outline, ID: "geonames/" + cols[16],
				Names: []string{cols[4], cols[1]}, Country: cols[0], AdminLevel: 2})
		}, refuse)
}

// Names returns a reader of alternate names (8 or 10 columns): for each row
// whose GeoNames id is one of cities, that city with the name as an alias.
// Codes, links and postcodes are passed over.
func Names(cities map[string]gazetteer.Place, refuse gazetteer.Refuse) gazetteer.Reader {
	return reader("GeoNames alternate names", []int{10, 8}, func(cols []string,
		emit func(gazetteer.Place) error) error {
		if _, err := strconv.ParseUint(cols[1], 10, 63); err != nil {
			return fmt.Errorf("%.20q is not a GeoNames id", cols[1])
		}
		p, ok := cities["geonames/"+cols[1]]
		if !ok || !isLanguage(cols[2]) || cols[3] == "" {
			return nil
		}
		p.Names = []string{p.Names[0], cols[3]}
		return emit(p)
	}, refuse)
}

// isLanguage distinguishes languages ("de", "bar", "zh-Hant") from other values of their column:
// link, post, iata, fr_1793 and the like. Names without a language count.
func isLanguage(s string) bool {
	head, _, _ := strings.Cut(s, "-")
	return len(head) <= 3
}

// badStart is the number of rows after which a file without a good one is
// taken for another format.
const badStart = 20

// reader returns a reader of rows that have one of these numbers of columns.
func reader(what string, columns []int, parse parser, refuse gazetteer.Refuse) gazetteer.Reader {
	rows := gazetteer.Rows{What: what, MaxLine: maxLine, Probe: badStart, Refuse: refuse}
	rows.Row = func(line string, emit func(gazetteer.Place) error) error {
		cols := strings.Split(line, "\t")
		if !slices.Contains(columns, len(cols)) {
			return fmt.Errorf("it has %d columns instead of %d", len(cols), columns[0])
		}
		return parse(cols, emit)
	}
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		return rows.Read(ctx, bufio.NewReaderSize(src, 64<<10), 1, emit)
	}
}

func point(lat, lon string) (orb.Point, bool, error) {
	if lat == "" && lon == "" {
		return orb.Point{}, false, nil
	}
	y, err := strconv.ParseFloat(lat, 64)
	if err != nil {
		return orb.Point{}, false, fmt.Errorf("latitude %.20q is not a number", lat)
	}
	x, err := strconv.ParseFloat(lon, 64)
	if err != nil {
		return orb.Point{}, false, fmt.Errorf("longitude %.20q is not a number", lon)
	}
	return orb.Point{x, y}, true, nil
}

// state returns the place that names a state.
func state(country, code string, names ...string) gazetteer.Place {
	return gazetteer.Place{Kind: gazetteer.Outline, Names: names, Country: country, State: code, AdminLevel: 4}
}

// codeOrName returns the code of a state where it has letters, else its name.
func codeOrName(name, code string) string {
	if strings.ContainsFunc(code, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return code
	}
	return name
}

// delivery is what some countries put behind the name of a city: a delivery
// office ("Aarau 1", "København K", "Lille Cedex 9", "Bristol (PO Boxes)").
var delivery = regexp.MustCompile(` (?:[0-9]{1,2}|[A-Z]{1,2}|(?i:cedex)(?: [0-9]{1,2})?|\((?i:po box(?:es)?)\))$`)

// cityNames returns the names of the city of a postcode, its usual one first.
// The files write more than that: delivery offices, districts, two languages.
func cityNames(country, name, state, municipality string) []string {
	name = strings.TrimSpace(name)
	if loc := delivery.FindStringIndex(name); loc != nil && loc[0] > 0 {
		return []string{strings.TrimSpace(name[:loc[0]]), name}
	}
	if head, rest, ok := strings.Cut(name, ","); ok && strings.TrimSpace(head) != "" {
		// "Wien, Innere Stadt", "Klagenfurt,13.Bez.:Viktring", "Ash,Canterbury"
		names := []string{strings.TrimSpace(head), name}
		if country == "AT" {
			if _, district, ok := strings.Cut(rest, ":"); ok {
				rest = district
			}
			names = append(names, strings.TrimSpace(rest))
			if strings.HasPrefix(municipality, names[0]+" ") {
				names = append(names, municipality)
			}
		}
		return names
	}
	switch country {
	case "MC":
		if state != "" {
			return []string{state, name} // its rows name quarters
		}
	case "IT", "CH", "BE": // "Bozen/Bolzano", "Biel/Bienne"
		if a, b, ok := strings.Cut(name, "/"); ok && a != "" && b != "" {
			return []string{name, strings.TrimSpace(a), strings.TrimSpace(b)}
		}
	}
	return []string{name}
}

func postalPlace(cols []string) (gazetteer.Place, error) {
	if !isCountry(cols[0]) {
		return gazetteer.Place{}, fmt.Errorf("%.10q is not a country code", cols[0])
	}
	at, has, err := point(cols[9], cols[10])
	return gazetteer.Place{
		Kind: gazetteer.Postcode, ID: "geonames/" + cols[0] + "/" + cols[1],
		Names: cityNames(cols[0], cols[2], cols[3], cols[7]), Postcode: cols[1],
		Country: cols[0], State: codeOrName(cols[3], cols[4]), Point: at, HasPoint: has,
	}, err
}

func dumpPlace(cols []string, emit func(gazetteer.Place) error) error {
	if _, err := strconv.ParseUint(cols[0], 10, 63); err != nil {
		return fmt.Errorf("%.20q is not a GeoNames id", cols[0])
	}
	if cols[6] != "P" {
		return nil
	}
	at, has, err := point(cols[4], cols[5])
	if err != nil {
		return err
	}
	names := []string{cols[1]}
	for _, name := range append([]string{cols[2]}, strings.Split(cols[3], ",")...) {
		// Airport codes and the like are no names.
		if len(name) > 3 || name != strings.ToUpper(name) {
			names = append(names, name)
		}
	}
	population, _ := strconv.Atoi(cols[14])
	level := 0
	if cols[7] == "PPLX" { // part of a city
		level = 10
	}
	return emit(gazetteer.Place{
		Kind: gazetteer.City, ID: "geonames/" + cols[0], Names: names, Country: cols[8],
		State: codeOrName("", cols[10]),
		Point: at, HasPoint: has, Population: max(population, 0), TimeZone: cols[17], AdminLevel: level,
	})
}
