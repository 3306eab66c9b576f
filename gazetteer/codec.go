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

	"gazehound/internal/disk"

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
	if p.Object = p.Object.check(); p.Kind != House {
		p.Object = nil
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
	return disk.AppendString(append(b, 0), id)
}

// putLine encodes points with the differences between them. The first one's
// is from at, in units, where the last one is left.
func putLine(b []byte, line []orb.Point, at *[2]int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(line)))
	for _, p := range line {
		lon, lat := toUnits(p)
		b = binary.AppendVarint(binary.AppendVarint(b, lon-at[0]), lat-at[1])
		*at = [2]int64{lon, lat}
	}
	return b
}

// line decodes what putLine wrote.
func (d *decoder) line(at *[2]int64) []orb.Point {
	var line []orb.Point
	for range d.Count() {
		at[0] += d.Varint()
		at[1] += d.Varint()
		if d.Failed() {
			return nil
		}
		line = append(line, fromUnits(at[0], at[1]))
	}
	return line
}

// putArea encodes an outline with differences between its points.
func putArea(b []byte, area orb.MultiPolygon) []byte {
	b = binary.AppendUvarint(b, uint64(len(area)))
	var at [2]int64
	for _, poly := range area {
		b = binary.AppendUvarint(b, uint64(len(poly)))
		for _, ring := range poly {
			b = putLine(b, ring, &at)
		}
	}
	return b
}

// putRange encodes r, whose first point lies near start.
func putRange(b []byte, r *Range, start orb.Point) []byte {
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.From)), uint64(r.To))
	b = append(b, byte(r.Step))
	var at [2]int64
	at[0], at[1] = toUnits(start)
	return putLine(b, r.Line, &at)
}

// streetRange decodes what putRange wrote.
func (d *decoder) streetRange(start orb.Point) Range {
	r := Range{From: int(d.Uvarint()), To: int(d.Uvarint()), Step: int(d.Byte())}
	var at [2]int64
	at[0], at[1] = toUnits(start)
	r.Line = d.line(&at)
	if len(r.Line) == 0 {
		d.Fail()
	}
	return r
}

// putPlace encodes p without its Area and Range.
func putPlace(b []byte, p *Place) []byte {
	b = append(b, byte(p.Kind))
	b = putID(b, p.ID)
	b = disk.AppendStrings(b, p.Names)
	b = putPoint(b, p.HasPoint, p.Point)
	for _, s := range []string{p.Street, p.HouseNumber, p.Postcode, p.City, p.State, p.Country} {
		b = disk.AppendString(b, s)
	}
	for _, n := range []int{p.MaxNumber, p.Population, p.AdminLevel} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	return b
}

// A decoder reads what the put functions wrote.
type decoder struct{ disk.Decoder }

func decode(b []byte) decoder { return decoder{disk.Decode(b)} }

func (d *decoder) point() (p orb.Point, has bool) {
	if d.Byte() == 0 {
		return p, false
	}
	lon := d.Varint()
	return fromUnits(lon, d.Varint()), !d.Failed()
}

func (d *decoder) id() string {
	tag := d.Byte()
	if tag == 0 {
		return d.String()
	}
	if int(tag) >= len(idPrefixes) {
		d.Fail()
		return ""
	}
	return idPrefixes[tag] + strconv.FormatUint(d.Uvarint(), 10)
}

// skipID passes over an id.
func (d *decoder) skipID() {
	if d.Byte() == 0 {
		d.Bytes()
	} else {
		d.Uvarint()
	}
}

func (d *decoder) area() orb.MultiPolygon {
	var area orb.MultiPolygon
	var at [2]int64
	for range d.Count() {
		var poly orb.Polygon
		for range d.Count() {
			poly = append(poly, d.line(&at))
		}
		area = append(area, poly)
	}
	if d.Failed() {
		return nil
	}
	return area
}

func (d *decoder) place() Place {
	var p Place
	p.Kind = Kind(d.Byte())
	p.ID = d.id()
	p.Names = d.Strings()
	p.Point, p.HasPoint = d.point()
	for _, s := range []*string{&p.Street, &p.HouseNumber, &p.Postcode, &p.City, &p.State, &p.Country} {
		*s = d.String()
	}
	for _, n := range []*int{&p.MaxNumber, &p.Population, &p.AdminLevel} {
		*n = int(d.Uvarint())
	}
	return p
}
