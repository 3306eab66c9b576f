package gazetteer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/paulmach/orb"
)

// ErrBadPlace is the error of a Place that cannot be kept: without a name,
// with a coordinate that is none. Readers count such places and go on.
var ErrBadPlace = errors.New("bad place")

// Limits of a Place.
const (
	maxText      = 256     // bytes of a name or another part
	maxNames     = 64      // aliases beyond them are dropped
	maxAreaPoint = 1 << 20 // points of an outline
	maxRangeLine = 4096    // points of a Range
)

// check folds white space, fills in what follows from the rest, and returns an
// ErrBadPlace that says what is wrong.
func (p *Place) check() error {
	for _, s := range []*string{&p.ID, &p.Street, &p.HouseNumber, &p.Postcode, &p.City, &p.State, &p.Country, &p.Source} {
		clean, err := cleanText(*s)
		if err != nil {
			return err
		}
		*s = clean
	}
	p.Country = strings.ToUpper(p.Country)
	if len(p.Country) != 2 || p.Country[0] < 'A' || p.Country[0] > 'Z' || p.Country[1] < 'A' || p.Country[1] > 'Z' {
		p.Country = ""
	}
	if len(p.Postcode) == 10 && p.Postcode[5] == '-' {
		p.Postcode = PostcodeKey(p.Postcode)
	}
	var names []string
	for _, n := range p.Names[:min(len(p.Names), maxNames)] {
		clean, err := cleanText(n)
		if err != nil || Key(clean) == "" {
			continue
		}
		names = append(names, clean)
	}
	p.Names = names
	if p.HasPoint && p.Point == (orb.Point{}) {
		p.HasPoint = false // 0,0 is what empty columns become
	}
	if p.HasPoint {
		if err := checkPoint(p.Point); err != nil {
			return fmt.Errorf("%w: %w", ErrBadPlace, err)
		}
	} else {
		p.Point = orb.Point{}
	}
	first := ""
	if len(names) > 0 {
		first = names[0]
	}
	switch p.Kind {
	case House, Street:
		if p.Street == "" {
			p.Street = first
		}
		if StreetKey(p.Street) == "" {
			return fmt.Errorf("%w: no street", ErrBadPlace)
		}
		if len(names) == 0 || names[0] != p.Street {
			p.Names = append([]string{p.Street}, names...)
		}
		if p.Kind == House && Key(NumberKey(p.HouseNumber)) == "" {
			return fmt.Errorf("%w: no house number", ErrBadPlace)
		}
		if p.MaxNumber < 0 || p.MaxNumber > maxHouseNumber {
			return fmt.Errorf("%w: highest house number %d", ErrBadPlace, p.MaxNumber)
		}
	case Postcode:
		if PostcodeKey(p.Postcode) == "" {
			return fmt.Errorf("%w: no postcode", ErrBadPlace)
		}
		if p.City == "" {
			p.City = first
		}
		if p.City != "" && (len(names) == 0 || names[0] != p.City) {
			p.Names = append([]string{p.City}, names...)
		}
	case City, Outline:
		if first == "" {
			first = p.City
		}
		if Key(first) == "" {
			return fmt.Errorf("%w: no name", ErrBadPlace)
		}
		if len(p.Names) == 0 {
			p.Names = []string{first}
		}
		if p.Kind == City {
			p.City = first
		}
	default:
		return fmt.Errorf("%w: kind %d", ErrBadPlace, p.Kind)
	}
	if p.Range != nil {
		if p.Kind != Street {
			return fmt.Errorf("%w: a range of house numbers on a %v", ErrBadPlace, p.Kind)
		}
		if err := p.Range.check(); err != nil {
			return fmt.Errorf("%w: %w", ErrBadPlace, err)
		}
	}
	points := 0
	for _, poly := range p.Area {
		for _, ring := range poly {
			points += len(ring)
			for _, pt := range ring {
				if err := checkPoint(pt); err != nil {
					return fmt.Errorf("%w: outline: %w", ErrBadPlace, err)
				}
			}
		}
	}
	if points > maxAreaPoint {
		return fmt.Errorf("%w: outline of %d points", ErrBadPlace, points)
	}
	return nil
}

func (r *Range) check() error {
	switch {
	case min(r.From, r.To) < 0 || max(r.From, r.To) > maxHouseNumber || max(r.From, r.To) == 0:
		return fmt.Errorf("house numbers %d to %d", r.From, r.To)
	case r.Step != 1 && r.Step != 2:
		return fmt.Errorf("every %d. house number", r.Step)
	case r.Step == 2 && r.From%2 != r.To%2:
		return fmt.Errorf("house numbers %d to %d on one side of a street", r.From, r.To)
	case len(r.Line) == 0 || len(r.Line) > maxRangeLine:
		return fmt.Errorf("a range of house numbers along %d points", len(r.Line))
	}
	for _, pt := range r.Line {
		if err := checkPoint(pt); err != nil {
			return err
		}
	}
	return nil
}

const maxHouseNumber = 9_999_999

func cleanText(s string) (string, error) {
	plain := len(s) <= maxText
	for i := 0; plain && i < len(s); i++ {
		plain = ' ' < s[i] && s[i] < utf8.RuneSelf-1 || s[i] == ' ' && i > 0 && i < len(s)-1 && s[i+1] != ' '
	}
	if plain {
		return s, nil
	}
	if len(s) > 16*maxText {
		return "", fmt.Errorf("%w: a name of %d bytes", ErrBadPlace, len(s))
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if len(s) > maxText {
		return "", fmt.Errorf("%w: a name of %d bytes", ErrBadPlace, len(s))
	}
	return s, nil
}

// Coordinates are kept in units of 1e-7 degrees, as OpenStreetMap does.
const unitsPerDegree = 1e7

func toUnits(p orb.Point) (lon, lat int64) {
	return int64(math.Round(p[0] * unitsPerDegree)), int64(math.Round(p[1] * unitsPerDegree))
}

func fromUnits(lon, lat int64) orb.Point {
	return orb.Point{float64(lon) / unitsPerDegree, float64(lat) / unitsPerDegree}
}

// The encoding appends to a byte slice: uvarints, zig-zag varints, strings
// with their length.

func putString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func putStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = putString(b, s)
	}
	return b
}

func putPoint(b []byte, has bool, p orb.Point) []byte {
	if !has {
		return append(b, 0)
	}
	lon, lat := toUnits(p)
	return binary.AppendVarint(binary.AppendVarint(append(b, 1), lon), lat)
}

// idPrefixes are those of OpenStreetMap, whose ids are kept as numbers.
var idPrefixes = [...]string{"", "node/", "way/", "relation/"}

func putID(b []byte, id string) []byte {
	for i, prefix := range idPrefixes[1:] {
		rest, ok := strings.CutPrefix(id, prefix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(rest, 10, 63); err == nil && strconv.FormatUint(n, 10) == rest {
			return binary.AppendUvarint(append(b, byte(i+1)), n)
		}
	}
	return putString(append(b, 0), id)
}

// putArea encodes an outline with differences between its points.
func putArea(b []byte, area orb.MultiPolygon) []byte {
	b = binary.AppendUvarint(b, uint64(len(area)))
	var lastLon, lastLat int64
	for _, poly := range area {
		b = binary.AppendUvarint(b, uint64(len(poly)))
		for _, ring := range poly {
			b = binary.AppendUvarint(b, uint64(len(ring)))
			for _, p := range ring {
				lon, lat := toUnits(p)
				b = binary.AppendVarint(binary.AppendVarint(b, lon-lastLon), lat-lastLat)
				lastLon, lastLat = lon, lat
			}
		}
	}
	return b
}

// putRange encodes r with differences between its points, the first from at.
func putRange(b []byte, r *Range, at orb.Point) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.From)), uint64(r.To))
	b = append(b, byte(r.Step))
	b = binary.AppendUvarint(b, uint64(len(r.Line)))
	lastLon, lastLat := toUnits(at)
	for _, p := range r.Line {
		lon, lat := toUnits(p)
		b = binary.AppendVarint(binary.AppendVarint(b, lon-lastLon), lat-lastLat)
		lastLon, lastLat = lon, lat
	}
	return b
}

// streetRange decodes what putRange wrote.
func (d *decoder) streetRange(at orb.Point) Range {
	r := Range{From: int(d.uvarint()), To: int(d.uvarint()), Step: int(d.byte())}
	lon, lat := toUnits(at)
	for range d.count() {
		lon += d.varint()
		lat += d.varint()
		if d.bad {
			return Range{}
		}
		r.Line = append(r.Line, fromUnits(lon, lat))
	}
	if len(r.Line) == 0 {
		d.fail()
	}
	return r
}

// putPlace encodes p without its Area and Range.
func putPlace(b []byte, p *Place) []byte {
	b = append(b, byte(p.Kind))
	b = putID(b, p.ID)
	b = putStrings(b, p.Names)
	b = putPoint(b, p.HasPoint, p.Point)
	for _, s := range []string{p.Street, p.HouseNumber, p.Postcode, p.City, p.State, p.Country} {
		b = putString(b, s)
	}
	for _, n := range []int{p.MaxNumber, p.Population, p.AdminLevel} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	return b
}

// A decoder reads what the put functions wrote. It never panics: after the
// first impossible value it is bad and returns zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() {
	d.b, d.bad = nil, true
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the length of a list whose items take at least one byte each.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// raw returns the next n bytes, not copied.
func (d *decoder) raw(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fail()
		return nil
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) bytes() []byte  { return d.raw(d.count()) }
func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, 0, min(n, maxNames))
	for range n {
		s := d.string()
		if d.bad {
			return nil
		}
		list = append(list, s)
	}
	return list
}

func (d *decoder) point() (p orb.Point, has bool) {
	if d.byte() == 0 {
		return p, false
	}
	lon := d.varint()
	return fromUnits(lon, d.varint()), !d.bad
}

func (d *decoder) id() string {
	tag := d.byte()
	if tag == 0 {
		return d.string()
	}
	if int(tag) >= len(idPrefixes) {
		d.fail()
		return ""
	}
	return idPrefixes[tag] + strconv.FormatUint(d.uvarint(), 10)
}

// skipID passes over an id.
func (d *decoder) skipID() {
	if d.byte() == 0 {
		d.bytes()
	} else {
		d.uvarint()
	}
}

func (d *decoder) area() orb.MultiPolygon {
	n := d.count()
	if n == 0 {
		return nil
	}
	var area orb.MultiPolygon
	var lon, lat int64
	for range n {
		var poly orb.Polygon
		for range d.count() {
			var ring orb.Ring
			for range d.count() {
				lon += d.varint()
				lat += d.varint()
				ring = append(ring, fromUnits(lon, lat))
				if d.bad {
					return nil
				}
			}
			poly = append(poly, ring)
		}
		area = append(area, poly)
	}
	if d.bad {
		return nil
	}
	return area
}

func (d *decoder) place() Place {
	var p Place
	p.Kind = Kind(d.byte())
	p.ID = d.id()
	p.Names = d.strings()
	p.Point, p.HasPoint = d.point()
	for _, s := range []*string{&p.Street, &p.HouseNumber, &p.Postcode, &p.City, &p.State, &p.Country} {
		*s = d.string()
	}
	for _, n := range []*int{&p.MaxNumber, &p.Population, &p.AdminLevel} {
		*n = int(d.uvarint())
	}
	return p
}
