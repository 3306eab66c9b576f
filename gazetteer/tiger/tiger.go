// Package tiger reads the address ranges of the U.S. Census Bureau's TIGER/Line
// files: the shapefiles of address features (ADDRFEAT), and the CSV that
// Nominatim makes of them.
package tiger

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"

	"gazehound/gazetteer"
)

// Licence and Attribution are those of works of the United States.
const (
	Licence     = "public domain"
	Attribution = "U.S. Census Bureau, TIGER/Line"
)

// The header of the CSV.
const header = "from;to;interpolation;street;city;state;postcode;geometry"

// SniffCSV reports whether head, the start of a file, looks like the CSV.
func SniffCSV(head []byte) bool { return strings.HasPrefix(string(head), header) }

const maxLine = 1 << 20 // bytes of a row of the CSV

// CSV returns a reader of the CSV: one Street with a Range per row. Its column
// "city" holds the county, which is no city, and is passed over.
func CSV(refuse gazetteer.Refuse) gazetteer.Reader {
	rows := gazetteer.Rows{What: "TIGER/Line", MaxLine: maxLine, Refuse: refuse}
	rows.Row = func(line string, emit func(gazetteer.Place) error) error {
		p, err := csvPlace(line)
		if err != nil {
			return err
		}
		return emit(p)
	}
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		r := bufio.NewReaderSize(src, 64<<10)
		line, err := gazetteer.ReadLine(r, maxLine)
		if err != nil && err != io.EOF && !errors.Is(err, gazetteer.ErrTooLong) {
			return fmt.Errorf("line 1: %w", err)
		}
		if !strings.HasPrefix(string(line), header) {
			return fmt.Errorf("%w: line 1 is not %q", gazetteer.ErrFormat, header)
		}
		return rows.Read(ctx, r, 2, emit)
	}
}

func csvPlace(line string) (gazetteer.Place, error) {
	cols := strings.Split(line, ";")
	if len(cols) != 8 {
		return gazetteer.Place{}, fmt.Errorf("it has %d columns instead of 8", len(cols))
	}
	shape, err := wkt.UnmarshalLineString(strings.TrimSpace(cols[7]))
	if err != nil {
		return gazetteer.Place{}, fmt.Errorf("%.40q is not a LINESTRING(lon lat,lon lat …)", cols[7])
	}
	r, err := newRange(cols[0], cols[1], cols[2] == "all", shape)
	if err != nil {
		return gazetteer.Place{}, err
	}
	return place(cols[3], cols[6], strings.ToUpper(strings.TrimSpace(cols[5])), r)
}

// place returns a stretch of a street.
func place(street, zip, state string, r *gazetteer.Range) (gazetteer.Place, error) {
	street, zip = strings.TrimSpace(street), strings.TrimSpace(zip)
	switch {
	case street == "":
		return gazetteer.Place{}, errors.New("no street")
	case zip == "":
		return gazetteer.Place{}, errors.New("no ZIP code")
	}
	return gazetteer.Place{Kind: gazetteer.Street, Names: []string{street}, Street: street, Postcode: zip,
		State: state, Country: "US", Range: r}, nil
}

// newRange returns the range of house numbers along line. Numbers on both
// sides where they are of both parities.
func newRange(from, to string, all bool, line orb.LineString) (*gazetteer.Range, error) {
	a, err := houseNumber(from)
	if err != nil {
		return nil, err
	}
	b, err := houseNumber(to)
	if err != nil {
		return nil, err
	}
	r := &gazetteer.Range{From: a, To: b, Step: 2, Line: line}
	if all || a%2 != b%2 {
		r.Step = 1
	}
	return r, nil
}

func houseNumber(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("house number %.20q is not a whole number", s)
	}
	return n, nil
}

// Options tune Shapefile.
type Options struct {
	State  string // code of the state that the file is of; see StateOf
	Refuse gazetteer.Refuse
}

var countyFile = regexp.MustCompile(`(?i)^tl_[0-9]{4}_([0-9]{2})[0-9]{3}_addrfeat\b`)

// StateOf returns the code of the state that a file such as
// tl_2024_06059_addrfeat.zip is of, or "".
func StateOf(name string) string {
	m := countyFile.FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	return states[m[1]]
}

//go:embed states.txt
var stateList string

// states are those of the FIPS codes: "01AL" is Alabama.
var states = func() map[string]string {
	m := map[string]string{}
	for part := range strings.FieldsSeq(stateList) {
		m[part[:2]] = part[2:]
	}
	return m
}()

// Shapefile emits the streets of a shapefile of address features: for each
// side of a feature that has house numbers a Street with a Range, beside the
// middle of the road; without numbers the Street alone. The two files are read
// side by side. Rows that cannot be kept are refused; files that are cut off,
// or that belong to another format, end the reading.
func Shapefile(ctx context.Context, shp, dbf io.Reader, o Options, emit func(gazetteer.Place) error) error {
	shapes, err := newShapes(shp)
	if err != nil {
		return err
	}
	rows, err := newRows(dbf)
	if err != nil {
		return err
	}
	for _, c := range []string{"FULLNAME", "LFROMHN", "LTOHN", "RFROMHN", "RTOHN", "ZIPL", "ZIPR"} {
		if _, ok := rows.fields[c]; !ok {
			return fmt.Errorf("%w: its table has no column %s; wanted TIGER/Line address features "+
				"(tl_…_addrfeat)", gazetteer.ErrFormat, c)
		}
	}
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, bad, err := shapes.next()
		if err == io.EOF {
			return rows.end(n)
		}
		if err != nil {
			return fmt.Errorf("shape %d: %w", n, err)
		}
		err = rows.next()
		if err != nil {
			return fmt.Errorf("row %d of the table: %w", n, err)
		}
		refuse := func(why error) {
			if o.Refuse != nil {
				o.Refuse(n, rows.text(), why)
			}
		}
		if bad != nil {
			refuse(bad)
			continue
		}
		for _, p := range features(rows, line, o.State, refuse) {
			if err := emit(p); err != nil {
				if !errors.Is(err, gazetteer.ErrBadPlace) {
					return err
				}
				refuse(err)
			}
		}
	}
}

// sideOffset is how far, in metres, houses lie from the middle of the road.
const sideOffset = 10

// features returns the places of one row.
func features(r *rows, line orb.LineString, state string, refuse func(error)) (found []gazetteer.Place) {
	street, zips := r.value("FULLNAME"), [2]string{r.value("ZIPL"), r.value("ZIPR")}
	if street == "" {
		return nil // a road without a name has no address
	}
	for side, name := range []string{"L", "R"} {
		from, to := r.value(name+"FROMHN"), r.value(name+"TOHN")
		if from == "" && to == "" {
			continue
		}
		zip := zips[side]
		if zip == "" {
			zip = zips[1-side]
		}
		rng, err := newRange(from, to, r.value("PARITY"+name) == "B",
			beside(line, []float64{sideOffset, -sideOffset}[side]))
		var p gazetteer.Place
		if err == nil {
			p, err = place(street, zip, state, rng)
		}
		if err != nil {
			refuse(err)
			continue
		}
		p.ID = "tiger/" + r.value("TLID")
		found = append(found, p)
	}
	if len(found) > 0 {
		return found
	}
	p, err := place(street, cmp.Or(zips[0], zips[1]), state, nil)
	if err != nil {
		refuse(err)
		return nil
	}
	p.Point, p.HasPoint = line[len(line)/2], true
	return []gazetteer.Place{p}
}

// beside moves a line to its left, in metres; a negative distance is to its
// right.
func beside(line orb.LineString, metres float64) orb.LineString {
	if len(line) < 2 {
		return line
	}
	moved := make(orb.LineString, len(line))
	for i, p := range line {
		before, after := line[max(i-1, 0)], line[min(i+1, len(line)-1)]
		narrow := math.Max(math.Cos(p[1]*math.Pi/180), 0.01)
		dx, dy := (after[0]-before[0])*narrow, after[1]-before[1]
		length := math.Hypot(dx, dy)
		moved[i] = p
		if length > 0 {
			d := metres / 111_195
			moved[i] = orb.Point{p[0] - dy/length*d/narrow, p[1] + dx/length*d}
		}
	}
	return moved
}
