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
	postalColumns = 12
	dumpColumns   = 19
	maxLine       = 64 << 10 // bytes; the longest real line has about 12,000
)

// Sniff returns "geonames-postal" or "geonames" if head, the start of a file,
// looks like that format, else "".
func Sniff(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	cols := strings.Split(strings.TrimSuffix(string(line), "\r"), "\t")
	switch {
	case len(cols) == postalColumns && isCountry(cols[0]) && isNumber(cols[9]) && isNumber(cols[10]):
		return "geonames-postal"
	case len(cols) == dumpColumns && isNumber(cols[0]) && isNumber(cols[4]) && isNumber(cols[5]) && isCountry(cols[8]):
		return "geonames"
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

// Postal returns a reader of postal codes (12 columns, tab separated): one
// Postcode per row. The state is the code of the first administrative level
// where that has letters ("CA", "NI"), else its name.
func Postal(refuse gazetteer.Refuse) gazetteer.Reader {
	return reader("GeoNames postal codes", postalColumns, postalPlace, refuse)
}

// Dump returns a reader of the dump of places (19 columns, tab separated): one
// City per populated place; other features are passed over.
func Dump(refuse gazetteer.Refuse) gazetteer.Reader {
	return reader("GeoNames dump", dumpColumns, dumpPlace, refuse)
}

// badStart is the number of rows after which a file without a good one is
// taken for another format.
const badStart = 20

func reader(what string, columns int, parse func(cols []string) (*gazetteer.Place, error), refuse gazetteer.Refuse) gazetteer.Reader {
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		r := bufio.NewReaderSize(src, 64<<10)
		good := 0
		for row := 1; ; row++ {
			line, err := gazetteer.ReadLine(r, maxLine)
			if err == io.EOF {
				if good == 0 {
					return fmt.Errorf("%w: no row of %s in %d lines; wanted %d columns divided by tabs", gazetteer.ErrFormat, what, row-1, columns)
				}
				return nil
			}
			if err != nil && !errors.Is(err, gazetteer.ErrTooLong) {
				return fmt.Errorf("line %d: %w", row, err)
			}
			if row%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && (len(line) == 0 || line[0] == '#') {
				continue
			}
			var p *gazetteer.Place
			if err == nil {
				cols := strings.Split(string(line), "\t")
				if len(cols) != columns {
					err = fmt.Errorf("it has %d columns instead of %d", len(cols), columns)
				} else {
					p, err = parse(cols)
				}
			}
			if p != nil && err == nil {
				if err = emit(*p); err != nil && !errors.Is(err, gazetteer.ErrBadPlace) {
					return err
				}
			}
			if err != nil {
				if refuse != nil {
					refuse(row, string(line[:min(len(line), 1024)]), err)
				}
				if good == 0 && row >= badStart {
					return fmt.Errorf("%w: line 1 to %d are no %s (%w); wanted %d columns divided by tabs", gazetteer.ErrFormat, row, what, err, columns)
				}
				continue
			}
			good++
		}
	}
}

func point(lat, lon string) (orb.Point, bool, error) {
	if lat == "" && lon == "" {
		return orb.Point{}, false, nil
	}
	y, err := strconv.ParseFloat(lat, 64)
	if err != nil {
		return orb.Point{}, false, fmt.Errorf("latitude %.20q is no number", lat)
	}
	x, err := strconv.ParseFloat(lon, 64)
	if err != nil {
		return orb.Point{}, false, fmt.Errorf("longitude %.20q is no number", lon)
	}
	return orb.Point{x, y}, true, nil
}

func state(name, code string) string {
	if strings.ContainsFunc(code, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return code
	}
	return name
}

// delivery is what some countries put behind the name of a city: a delivery
// office ("Aarau 1", "København K").
var delivery = regexp.MustCompile(` ([0-9]{1,2}|[A-Z]{1,2})$`)

func postalPlace(cols []string) (*gazetteer.Place, error) {
	if !isCountry(cols[0]) {
		return nil, fmt.Errorf("%.10q is no country code", cols[0])
	}
	at, has, err := point(cols[9], cols[10])
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(cols[2])
	names := []string{name}
	if loc := delivery.FindStringIndex(name); loc != nil && loc[0] > 0 {
		names = []string{name[:loc[0]], name}
	} else if head, _, ok := strings.Cut(name, ", "); ok && head != "" {
		names = []string{head, name} // "Wien, Innere Stadt"
	} else if cols[0] == "MC" && cols[3] != "" {
		names = []string{cols[3], name} // its rows name quarters
	}
	return &gazetteer.Place{
		Kind: gazetteer.Postcode, ID: "geonames/" + cols[0] + "/" + cols[1], Names: names, Postcode: cols[1],
		Country: cols[0], State: state(cols[3], cols[4]), Point: at, HasPoint: has,
	}, nil
}

func dumpPlace(cols []string) (*gazetteer.Place, error) {
	if _, err := strconv.ParseUint(cols[0], 10, 63); err != nil {
		return nil, fmt.Errorf("%.20q is no GeoNames id", cols[0])
	}
	if cols[6] != "P" {
		return nil, nil
	}
	at, has, err := point(cols[4], cols[5])
	if err != nil {
		return nil, err
	}
	names := []string{cols[1]}
	for _, name := range append([]string{cols[2]}, strings.Split(cols[3], ",")...) {
		// Airport codes and the like are no names.
		if len(name) > 3 || name != strings.ToUpper(name) {
			names = append(names, name)
		}
	}
	population, _ := strconv.Atoi(cols[14])
	return &gazetteer.Place{
		Kind: gazetteer.City, ID: "geonames/" + cols[0], Names: names, Country: cols[8], State: state("", cols[10]),
		Point: at, HasPoint: has, Population: max(population, 0),
	}, nil
}
