package table

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/paulmach/orb"
)

// What the values of a column must be like, to be recognised.
const (
	leastValues  = 3  // not empty
	leastOfForm  = .9 // share that has the form of the field
	leastOfWords = .5 // share that has a word of streets
	decimals     = 3  // of a coordinate in degrees, at least
)

var (
	numberForm = regexp.MustCompile(`^\d{1,4} ?\pL?(?:[-/+] ?\d{1,4} ?\pL?)?$`)
	degreeForm = regexp.MustCompile(`^-?\d{1,3}[.,]\d{` + strconv.Itoa(decimals) + `,}$`)
)

// A column is one that no name tells, with its values in the first rows.
type column struct {
	name   string
	values []string // not empty
	used   bool
}

// share returns the share of the values that fit.
func (c *column) share(fits func(string) bool) float64 {
	n := 0
	for _, v := range c.values {
		if fits(v) {
			n++
		}
	}
	return float64(n) / float64(len(c.values))
}

// recognise adds to t.m the columns that no name tells and the first rows do, and returns their
// fields. Where two columns could be one field, neither is.
func (t *reading) recognise() map[string]bool {
	columns, found := t.unknown(), map[string]bool{}
	take := func(field string, c *column) {
		if c != nil {
			t.m[field], c.used, found[field] = []string{c.name}, true, true
		}
	}
	if !t.hasPoints() && len(t.m["lat"])+len(t.m["lon"]) == 0 {
		lat, lon := t.degreeColumns(columns)
		take("lat", lat)
		take("lon", lon)
	}
	if len(t.m["street"])+len(t.m["street_address"]) == 0 {
		street := only(columns, func(c *column) bool { return len(countriesOf(c.values)) > 0 })
		field := "street"
		if street != nil && street.share(hasNumber) > leastOfWords {
			field = "street_address"
		}
		take(field, street)
	}
	if len(t.m["postcode"]) == 0 {
		countries := t.countries()
		take("postcode", only(columns, func(c *column) bool {
			return !c.steps(1, math.MaxFloat64) && slices.ContainsFunc(countries, func(code string) bool {
				return c.share(shapes[code].postcode.MatchString) >= leastOfForm
			})
		}))
	}
	if len(t.m["housenumber"]) == 0 && len(t.m["street"]) > 0 {
		take("housenumber", t.beside("street", columns, func(c *column) bool {
			return !c.steps(1, 1) && c.share(numberForm.MatchString) >= leastOfForm
		}))
	}
	if len(t.m["city"]) == 0 && len(t.m["postcode"]) > 0 {
		take("city", t.beside("postcode", columns, func(c *column) bool { return c.share(isName) >= leastOfForm }))
	}
	return found
}

// unknown returns the columns that are read as nothing, with enough values, in their order.
func (t *reading) unknown() (all []*column) {
	used := map[string]bool{}
	for _, names := range t.m {
		for _, name := range names {
			used[name] = true
		}
	}
	for _, name := range t.header {
		c := &column{name: name}
		for _, r := range t.waiting {
			if v := valueText(r.values[name]); v != "" {
				c.values = append(c.values, v)
			}
		}
		if !used[name] && len(c.values) >= leastValues {
			all = append(all, c)
		}
	}
	return all
}

func (t *reading) hasPoints() bool {
	return slices.ContainsFunc(t.waiting, func(r row) bool { return r.has })
}

// only returns the one column that is not used and fits; nil if there is none or a second one.
func only(columns []*column, fits func(*column) bool) (one *column) {
	for _, c := range columns {
		if c.used || !fits(c) {
			continue
		}
		if one != nil {
			return nil
		}
		one = c
	}
	return one
}

// beside returns the column that fits right behind that of a field, else the only one.
func (t *reading) beside(field string, columns []*column, fits func(*column) bool) *column {
	of := t.m[field]
	next := slices.Index(t.header, of[len(of)-1]) + 1
	for _, c := range columns {
		if next < len(t.header) && c.name == t.header[next] && !c.used && fits(c) {
			return c
		}
	}
	return only(columns, fits)
}

// degreeColumns returns the two columns of coordinates in degrees, told apart by the bounds of the
// countries that they can lie in; nil if there are no two, or both orders are possible.
func (t *reading) degreeColumns(columns []*column) (lat, lon *column) {
	var both []*column
	for _, c := range columns {
		if c.share(degreeForm.MatchString) >= leastOfForm {
			both = append(both, c)
		}
	}
	if len(both) != 2 {
		return nil, nil
	}
	fits := func(lat, lon *column) bool {
		for code, s := range shapes {
			inside := 0
			for i := range min(len(lat.values), len(lon.values)) {
				y, _ := degrees(lat.values[i])
				x, _ := degrees(lon.values[i])
				if s.box.Contains(orb.Point{x, y}) {
					inside++
				}
			}
			if (t.o.Country == "" || t.o.Country == code) && float64(inside) >= leastOfForm*float64(len(lat.values)) {
				return true
			}
		}
		return false
	}
	first, second := fits(both[0], both[1]), fits(both[1], both[0])
	switch {
	case first && !second:
		return both[0], both[1]
	case second && !first:
		return both[1], both[0]
	}
	return nil, nil
}

// countries returns the countries that the table can be of, by the option or the words of its streets.
func (t *reading) countries() []string {
	if _, known := shapes[t.o.Country]; known {
		return []string{t.o.Country}
	}
	var streets []string
	for _, r := range t.waiting {
		streets = append(streets, t.text(r, "street")+t.text(r, "street_address"))
	}
	return countriesOf(streets)
}

// countriesOf returns the countries with whose words most of the streets are named, none where they
// are no streets.
func countriesOf(streets []string) (codes []string) {
	for code, s := range shapes {
		n := 0
		for _, street := range streets {
			lower := " " + strings.ToLower(street) + " "
			if slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(lower, word) }) {
				n++
			}
		}
		if n > 0 && float64(n) >= leastOfWords*float64(len(streets)) {
			codes = append(codes, code)
		}
	}
	return codes
}

func hasNumber(address string) bool {
	_, number := splitAddress(address)
	return number != ""
}

// steps reports whether each value is a number greater than the one before by least to most, as
// numbers of rows are.
func (c *column) steps(least, most float64) bool {
	for i, v := range c.values {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return false
		}
		if i > 0 {
			last, _ := strconv.ParseFloat(c.values[i-1], 64)
			if f-last < least || f-last > most {
				return false
			}
		}
	}
	return true
}

// isName reports whether a value can be the name of a town.
func isName(v string) bool {
	return len(v) > 3 && !strings.ContainsFunc(v, unicode.IsDigit) && strings.ContainsFunc(v, unicode.IsLower)
}
