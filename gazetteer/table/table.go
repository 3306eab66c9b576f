// Package table reads tables of addresses, streets, postcodes or cities: CSV,
// TSV and the like, GeoJSON, GeoJSONSeq, JSON arrays and JSON lines, with a map
// from the fields of a place to the columns of the table. Columns that the map does not name are
// recognised by their names, else by their values.
package table

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"gazehound/gazetteer"
	"gazehound/internal/textutil"
)

// Fields are those that a column can be mapped to.
var Fields = []string{"street", "housenumber", "postcode", "city", "state", "country", "lat", "lon",
	"housenumber_max", "aliases", "population", "id", "street_address"}

// Errors of a table that cannot be used at all.
var (
	ErrColumns     = errors.New("columns are missing")
	ErrCoordinates = errors.New("the coordinates are not degrees")
)

// A Map assigns columns to fields; several columns are joined ("HNR+HNRZ").
type Map map[string][]string

// ParseMap reads "street=STRNAME,housenumber=HNR+HNRZ,postcode=PLZ".
func ParseMap(text string) (Map, error) {
	m := Map{}
	if strings.TrimSpace(text) == "" {
		return m, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		field, columns, ok := strings.Cut(part, "=")
		field = strings.ToLower(strings.TrimSpace(field))
		if field == "number" {
			field = "housenumber"
		}
		if !ok || strings.TrimSpace(columns) == "" {
			return nil, fmt.Errorf("a column map is written street=STRNAME,housenumber=HNR,…; got %.60q", part)
		}
		if !slices.Contains(Fields, field) {
			return nil, fmt.Errorf("the column map has no field %.60q; the fields are %s", field,
				strings.Join(Fields, ", "))
		}
		for c := range strings.SplitSeq(columns, "+") {
			m[field] = append(m[field], strings.TrimSpace(c))
		}
	}
	return m, nil
}

//go:embed columns.txt
var columnLists string

// usual are the names of columns, folded, by which a field is known without a
// map; earlier ones win. "suffix" are columns with the letter of a house number; "street_address" is
// used only without a column of streets.
var usual = textutil.ReadLists(columnLists)

// named adds columns with usual names to m. A column of m that is missing is an ErrColumns.
func named(m Map, columns []string) (Map, error) {
	full := Map{}
	used := map[string]bool{}
	for field, names := range m {
		for _, name := range names {
			i := slices.IndexFunc(columns, func(c string) bool { return c == name })
			if i < 0 {
				i = slices.IndexFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
			}
			if i < 0 {
				return nil, fmt.Errorf("%w: no column %q. Columns: %s. Use --map %s=…", ErrColumns, name,
					list(columns), field)
			}
			full[field] = append(full[field], columns[i])
			used[columns[i]] = true
		}
	}
	guess := func(names string) string {
		for name := range strings.FieldsSeq(names) {
			for _, c := range columns {
				if !used[c] && gazetteer.Key(c) == name {
					used[c] = true
					return c
				}
			}
		}
		return ""
	}
	for _, field := range Fields {
		if len(full[field]) > 0 {
			continue
		}
		whole := field == "street_address" && len(full["street"]) > 0 && !isMapped(m, field)
		if whole || field == "population" && len(m) > 0 {
			continue
		}
		if c := guess(usual[field]); c != "" {
			full[field] = []string{c}
			if field == "housenumber" {
				for z := guess(usual["suffix"]); z != ""; z = guess(usual["suffix"]) {
					full[field] = append(full[field], z)
				}
			}
		}
	}
	return full, nil
}

// check returns an ErrColumns if the columns of full say of no place where it is. m are those that the
// caller named.
func check(full, m Map, columns []string) error {
	if len(full["street"]) == 0 && len(full["street_address"]) == 0 && len(full["postcode"]) == 0 &&
		len(full["city"]) == 0 {
		return fmt.Errorf("%w: no column \"street\". Columns: %s. Use --map "+
			"street=…,housenumber=…,postcode=…,city=…,lat=…,lon=…", ErrColumns, list(columns))
	}
	if number := full["housenumber"]; len(number) > 0 && len(full["street"])+len(full["street_address"]) == 0 &&
		(len(m) > 0 || !vague[gazetteer.Key(number[0])]) {
		return fmt.Errorf("%w: house numbers without a column \"street\". Columns: %s. Use --map street=…",
			ErrColumns, list(columns))
	}
	return nil
}

// vague are names of columns that hold house numbers beside a column of streets only.
var vague = map[string]bool{"number": true, "numero": true, "nummer": true}

func isMapped(m Map, field string) bool { return len(m[field]) > 0 }

// describe says which columns are read as what, and which are not used. byContent are the fields whose
// columns were recognised by their values.
func describe(m Map, columns []string, byContent map[string]bool) string {
	var parts []string
	used := map[string]bool{}
	for _, field := range Fields {
		if len(m[field]) > 0 {
			part := field + "=" + list(m[field][:1]) + strings.Join(append([]string{""}, m[field][1:]...), "+")
			if byContent[field] {
				part += " (by its values)"
			}
			parts = append(parts, part)
		}
		for _, c := range m[field] {
			used[c] = true
		}
	}
	text := "read as " + strings.Join(parts, ", ")
	var missing []string
	for _, field := range []string{"street", "housenumber", "postcode", "city"} {
		isWhole := len(m["street_address"]) > 0 && (field == "street" || field == "housenumber")
		if len(m[field]) == 0 && !isWhole && len(m["street"])+len(m["street_address"]) > 0 {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		text += "; no column for " + strings.Join(missing, ", ")
	}
	if unused := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return used[c] }); len(unused) > 0 {
		text += "; not used: " + list(unused[:min(len(unused), 20)])
	}
	return text
}

func list(columns []string) string {
	shown := make([]string, 0, 40)
	for _, c := range columns[:min(len(columns), 40)] {
		shown = append(shown, strings.TrimFunc(strconv.Quote(textutil.ClipBytes(c, 40)),
			func(r rune) bool { return r == '"' }))
	}
	if len(columns) > len(shown) {
		shown = append(shown, "…")
	}
	return strings.Join(shown, ", ")
}

// Options tune Read.
type Options struct {
	Map     Map    // for columns whose names are not recognised
	Country string // of rows that do not say it, ISO 3166-1 alpha-2; "" is guessed from the first rows
	Refuse  gazetteer.Refuse
	// Columns is told which columns are read as what, before the first place. It may be nil.
	Columns func(text string)
}

// A row is one line or object, its values by column.
type row struct {
	number  int
	values  map[string]any // string, []string or float64
	text    string
	raw     map[string]json.RawMessage // of an object, where text is empty
	point   orb.Point                  // of a GeoJSON geometry
	has     bool
	nowhere bool // its coordinate is not looked at
	refused error
}

// probe is the number of rows whose coordinates are looked at before the
// first is emitted.
const probe = 200

// Reader returns a reader of tables. A row with a house number is a House, one
// with a street a Street, one with a postcode a Postcode, else it is a City.
// Rows that cannot be kept are refused and never end the reading; a table
// without the needed columns, or in metres instead of degrees, does.
func Reader(o Options) gazetteer.Reader {
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		t := &reading{o: o, emit: emit}
		b := bufio.NewReaderSize(src, 64<<10)
		head, err := b.Peek(64)
		if err != nil && err != io.EOF {
			return err
		}
		take := func(r row) error {
			if r.number%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return t.take(r)
		}
		if isJSON(head) {
			err = readJSON(b, take)
		} else {
			err = readCSV(b, take, func(columns []string) { t.header = columns })
		}
		if err == nil {
			err = t.flush()
		}
		if err == nil && t.good == 0 {
			if t.firstErr != nil {
				return fmt.Errorf("%w: none of %d rows can be used; the first: %w", gazetteer.ErrFormat, t.rows,
					t.firstErr)
			}
			return fmt.Errorf("%w: the table holds no row", gazetteer.ErrFormat)
		}
		return err
	}
}

// A reading is the state of one run of a reader.
type reading struct {
	o        Options
	m        Map
	header   []string // columns in their order
	emit     func(gazetteer.Place) error
	waiting  []row // until the coordinates are known to be degrees
	probed   bool
	rows     int
	good     int
	firstErr error
}

func (t *reading) take(r row) error {
	t.rows++
	if r.refused != nil {
		t.refuse(r, r.refused)
		return nil
	}
	if t.probed {
		return t.send(r)
	}
	t.waiting = append(t.waiting, r)
	if len(t.waiting) >= probe {
		return t.flush()
	}
	return nil
}

// columns returns the members of the objects that wait.
func (t *reading) columns() []string {
	set := map[string]bool{}
	for _, r := range t.waiting {
		for k := range r.values {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// flush checks the columns and coordinates of the rows that wait, then sends
// them.
func (t *reading) flush() error {
	if t.probed {
		return nil
	}
	t.probed = true
	if t.header == nil { // JSON: every object has its columns
		t.header = t.columns()
	}
	if len(t.header) > 0 {
		var err error
		t.m, err = named(t.o.Map, t.header)
		if err != nil {
			return err
		}
		byContent := t.recognise()
		if err := check(t.m, t.o.Map, t.header); err != nil {
			return err
		}
		if t.o.Columns != nil {
			t.o.Columns(describe(t.m, t.header, byContent))
		}
	}
	if err := t.checkDegrees(); err != nil {
		return err
	}
	if t.o.Country == "" {
		t.o.Country = t.guess(t.waiting)
	}
	for _, r := range t.waiting {
		err := t.send(r)
		if err != nil {
			return err
		}
	}
	t.waiting = nil
	return nil
}

func (t *reading) refuse(r row, why error) {
	if t.firstErr == nil {
		t.firstErr = fmt.Errorf("row %d: %w", r.number, why)
	}
	if t.o.Refuse != nil {
		if r.raw != nil && r.text == "" {
			text, _ := json.Marshal(r.raw)
			r.text = string(text)
		}
		t.o.Refuse(r.number, textutil.ClipBytes(r.text, 1024), why)
	}
}

func (t *reading) send(r row) error {
	p, err := t.place(r)
	if err == nil {
		err = t.emit(p)
		if err == nil {
			t.good++
			return nil
		}
		if !errors.Is(err, gazetteer.ErrBadPlace) {
			return err
		}
	}
	t.refuse(r, err)
	return nil
}

// text returns the joined values of the columns of a field.
func (t *reading) text(r row, field string) string {
	var parts []string
	for _, c := range t.m[field] {
		s := clean(valueText(r.values[c]), field)
		if s == "" {
			continue
		}
		if n := len(parts); n > 0 && field == "housenumber" && strings.Trim(s, "0123456789") == "" {
			parts[n-1] += "-" + s // the Dutch "3", "", "2" is 3-2
			continue
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

// valueText returns a value of a row as text, the first of several.
func valueText(value any) string {
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		if len(v) > 0 {
			return v[0]
		}
	}
	return ""
}

// clean removes what spreadsheets and programs put in place of a value or add to it: NULL, nan, the
// decimals of "12.0".
func clean(s, field string) string {
	s = strings.TrimSpace(s)
	switch s {
	case "NULL", "null", "nan", "NaN", "#N/A", "<NA>", `\N`:
		return ""
	case "None", "N/A", "n/a":
		if field != "city" && field != "street" {
			return ""
		}
	}
	if whole, decimals, ok := strings.Cut(s, "."); ok && field != "lat" && field != "lon" &&
		whole != "" && strings.Trim(whole, "0123456789") == "" && decimals != "" && strings.Trim(decimals, "0") == "" {
		return whole
	}
	return s
}

// splitAddress splits "Lange Straße 5" or "5 Main Street" into street and house number.
func splitAddress(s string) (street, number string) {
	s, _, _ = strings.Cut(s, "\n")
	if first, _, ok := strings.Cut(s, ","); ok && strings.ContainsAny(first, "0123456789") &&
		!bareNumber.MatchString(first) {
		s = first
	}
	if m := numberBehind.FindStringSubmatch(s); m != nil {
		return strings.TrimRight(m[1], " ,"), m[2]
	}
	if m := numberAhead.FindStringSubmatch(s); m != nil {
		return m[2], m[1]
	}
	return strings.TrimSpace(s), ""
}

var (
	bareNumber   = regexp.MustCompile(`^\d+(?: ?(?:[a-zA-Z]|bis|ter))?$`)
	numberBehind = regexp.MustCompile(`^(\pL.*?)[ ,]+(?:[nN][or°º]\.? ?)?(\d+ ?(?:\pL|bis|ter)?(?:[-/+]\d+ ?\pL?)*)$`)
	numberAhead  = regexp.MustCompile(`^(\d+(?:[a-zA-Z]| ?bis| ?ter)?(?:[-/+]\d+)?(?: 1/2)?),? +` +
		`(\pL.*|\d+(?:st|nd|rd|th)? \pL.*)$`)
)

func (t *reading) place(r row) (gazetteer.Place, error) {
	p := gazetteer.Place{
		ID: t.text(r, "id"), Street: t.text(r, "street"), HouseNumber: t.text(r, "housenumber"),
		Postcode: t.text(r, "postcode"),
		City:     t.text(r, "city"), State: t.text(r, "state"), Country: country(t.text(r, "country")),
	}
	if p.Country == "" {
		p.Country = t.o.Country
	}
	if p.Street == "" {
		p.Street, p.HouseNumber = splitAddress(t.text(r, "street_address"))
		if p.HouseNumber == "" {
			p.HouseNumber = t.text(r, "housenumber")
		}
	}
	p.Postcode = withZero(p.Country, p.Postcode)
	switch p.State {
	case "AA", "AE", "AP": // military post offices abroad have American codes
		p.Country = "US"
	}
	var err error
	p.MaxNumber, err = whole(t.text(r, "housenumber_max"))
	if err != nil {
		return p, err
	}
	p.Population, err = whole(t.text(r, "population"))
	if err != nil {
		p.Population = 0
	}
	p.Point, p.HasPoint, err = t.point(r)
	if err != nil {
		return p, err
	}
	if p.HasPoint && swappedIn(p.Country, p.Point) {
		return p, fmt.Errorf("lat=%g, lon=%g look swapped: that is not in %s", p.Point[1], p.Point[0], p.Country)
	}
	aliases := t.aliases(r)
	switch {
	case p.HouseNumber != "" && p.Street != "":
		p.Kind = gazetteer.House
	case p.Street != "":
		p.Kind = gazetteer.Street
		p.Names = append([]string{p.Street}, aliases...)
	case len(t.m["street"]) > 0 && len(t.m["postcode"])+len(t.m["city"]) > 0 && p.HouseNumber != "":
		return p, errors.New("no street")
	case p.Postcode != "":
		p.Kind = gazetteer.Postcode
		if p.City != "" {
			p.Names = append([]string{p.City}, aliases...)
		}
	case p.City != "":
		p.Kind = gazetteer.City
		p.Names = append([]string{p.City}, aliases...)
	default:
		return p, errors.New("no street, postcode or city")
	}
	return p, nil
}

// withZero returns a postcode with the zero that a spreadsheet has cut off it: 01067 for 1067 in
// Germany.
func withZero(country, code string) string {
	if s, known := shapes[country]; known && len(code) > 2 && code[0] != '0' && !s.postcode.MatchString(code) &&
		s.postcode.MatchString("0"+code) {
		return "0" + code
	}
	return code
}

func (t *reading) aliases(r row) []string {
	var all []string
	for _, c := range t.m["aliases"] {
		switch v := r.values[c].(type) {
		case []string:
			all = append(all, v...)
		case string:
			for _, sep := range []string{"|", ";", ","} {
				if strings.Contains(v, sep) {
					all = append(all, strings.Split(v, sep)...)
					v = ""
				}
			}
			if v != "" {
				all = append(all, v)
			}
		}
	}
	return all
}

func whole(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > 1e9 {
		return 0, fmt.Errorf("%.20q is not a whole number", s)
	}
	return int(f), nil
}

// point returns the coordinate of a row, from its geometry or its columns; false if both are empty.
func (t *reading) point(r row) (orb.Point, bool, error) {
	if r.nowhere {
		return orb.Point{}, false, nil
	}
	if r.has {
		return r.point, true, nil
	}
	lat, lon := t.text(r, "lat"), t.text(r, "lon")
	if lat == "" || lon == "" {
		if lat != lon {
			return orb.Point{}, false, errors.New("a latitude or a longitude alone")
		}
		return orb.Point{}, false, nil
	}
	y, err := degrees(lat)
	if err != nil {
		return orb.Point{}, false, err
	}
	x, err := degrees(lon)
	return orb.Point{x, y}, err == nil, err
}

// degrees reads "53.14" and "53,14".
func degrees(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		f, err = strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	}
	if err != nil {
		return 0, fmt.Errorf("coordinate %.20q is not a number", s)
	}
	return f, nil
}

// checkDegrees checks the first rows: coordinates in metres, or swapped ones, are a mistake of the
// whole table.
func (t *reading) checkDegrees() error {
	var seen, metres, swapped int
	var example orb.Point
	for _, r := range t.waiting {
		p, ok, err := t.point(r)
		if err != nil || !ok || math.IsNaN(p[0]) || math.IsNaN(p[1]) {
			continue
		}
		seen++
		c := country(t.text(r, "country"))
		if c == "" {
			c = t.o.Country
		}
		switch {
		case math.Abs(p[0]) > 180 || math.Abs(p[1]) > 180:
			metres++
			example = p
		case math.Abs(p[1]) > 90, swappedIn(c, p):
			swapped++
			if swapped == 1 {
				example = p
			}
		}
	}
	switch {
	case metres*2 > seen:
		return fmt.Errorf("%w: X=%.0f, Y=%.0f; this looks like %s. Convert first: ogr2ogr -t_srs EPSG:4326 …",
			ErrCoordinates, example[0], example[1], metric(t.grid(), example))
	case swapped*2 > seen:
		return fmt.Errorf("%w as mapped: lat=%g, lon=%g look swapped. Use --map lat=%s,lon=%s", ErrCoordinates,
			example[1], example[0],
			strings.Join(t.m["lon"], "+"), strings.Join(t.m["lat"], "+"))
	}
	return nil
}

// grid returns the country of the rows that wait, by the column or option or else by the forms of
// their postcodes and the words of their streets.
func (t *reading) grid() string {
	if t.o.Country != "" {
		return t.o.Country
	}
	rows := slices.Clone(t.waiting)
	for i := range rows {
		if c := country(t.text(rows[i], "country")); c != "" {
			return c
		}
		rows[i].nowhere = true
	}
	return t.guess(rows)
}

// swappedIn reports whether p would lie in the country if its longitude were its
// latitude, and does not as it is.
func swappedIn(country string, p orb.Point) bool {
	c, known := shapes[country]
	return known && !c.box.Contains(p) && c.box.Contains(orb.Point{p[1], p[0]})
}

// metric names the grid that a coordinate in metres seems to be of, in a country or in any ("").
func metric(country string, p orb.Point) string {
	x, y := math.Abs(p[0]), math.Abs(p[1])
	switch {
	case x >= 31e6 && x < 34e6:
		return fmt.Sprintf("UTM zone %d (EPSG:258%d)", int(x/1e6), int(x/1e6))
	case x >= 1e5 && x < 1.3e6 && y >= 6.2e6 && y < 7.2e6 && country == "FR":
		return "Lambert-93 (EPSG:2154)"
	case x < 3e5 && y >= 3e5 && y < 6.3e5 && country == "NL":
		return "the Dutch grid RD New (EPSG:28992)"
	case x < 7e5 && y < 1.3e6 && country == "GB":
		return "the British National Grid (EPSG:27700)"
	case x < 9e5 && y >= 1e5 && y < 6e5 && country == "AT":
		return "the Austrian grid (EPSG:31254 to 31256, or 31287)"
	case x >= 1e5 && x < 9e5 && y >= 1e5 && y < 9e5 && country == "PL":
		return "the Polish grid PUWG 1992 (EPSG:2180)"
	case x >= 100e3 && x <= 900e3 && y >= 5.2e6 && y <= 6.2e6:
		return "UTM zone 32 (EPSG:25832)"
	case x >= 100e3 && x <= 900e3 && y <= 10e6:
		return "UTM"
	case x >= 2e6 && x < 6e6 && y >= 5e6 && y < 6.2e6:
		return "Gauß-Krüger (EPSG:31466 to 31469)"
	case x >= 2.4e6 && x < 2.9e6 && y >= 1e6 && y < 1.4e6:
		return "Swiss coordinates (EPSG:2056)"
	case x <= 20037509 && y <= 20048967:
		return "web mercator (EPSG:3857)"
	}
	return "a grid in metres"
}
