package gazetteer

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A codec appends the records of the gazetteer's files, or reads them.
type codec struct{ disk.Codec }

func appendTo(b []byte) *codec { return &codec{disk.Append(b)} }

func readFrom(b []byte) *codec { return &codec{disk.Read(b)} }

// Coordinates are kept in units of 1e-7 degrees, as OpenStreetMap does.
const unitsPerDegree = 1e7

func toUnits(p orb.Point) (lon, lat int64) {
	return int64(math.Round(p[0] * unitsPerDegree)), int64(math.Round(p[1] * unitsPerDegree))
}

func fromUnits(lon, lat int64) orb.Point {
	return orb.Point{float64(lon) / unitsPerDegree, float64(lat) / unitsPerDegree}
}

// step codes a point by its difference to at, in units, which moves to the point.
func (c *codec) step(p *orb.Point, at *[2]int64) {
	lon, lat := toUnits(*p)
	c.Difference(&lon, &at[0])
	c.Difference(&lat, &at[1])
	if c.Reading() {
		*p = fromUnits(lon, lat)
	}
}

// point codes a coordinate that may be missing.
func (c *codec) point(p *orb.Point, has *bool) { c.pointNear(p, has, orb.Point{}) }

// pointNear codes a coordinate by its difference to start.
func (c *codec) pointNear(p *orb.Point, has *bool, start orb.Point) {
	c.Flag(has)
	if *has {
		var at [2]int64
		at[0], at[1] = toUnits(start)
		c.step(p, &at)
	}
}

// line codes points, each by its difference to the one before and the first by that to at.
func (c *codec) line(line *[]orb.Point, at *[2]int64) {
	disk.List(&c.Codec, line, func(p *orb.Point) { c.step(p, at) })
}

func (c *codec) area(area *orb.MultiPolygon) {
	var at [2]int64
	disk.List(&c.Codec, (*[]orb.Polygon)(area), func(polygon *orb.Polygon) {
		disk.List(&c.Codec, (*[]orb.Ring)(polygon), func(ring *orb.Ring) {
			c.line((*[]orb.Point)(ring), &at)
		})
		if len(*polygon) == 0 {
			c.Fail() // orb looks for the outer ring without asking
		}
	})
}

// numberRange codes a range whose line begins near start.
func (c *codec) numberRange(r *Range, start orb.Point) {
	disk.Unsigned(&c.Codec, &r.From)
	disk.Unsigned(&c.Codec, &r.To)
	disk.Unsigned(&c.Codec, &r.Step)
	var at [2]int64
	at[0], at[1] = toUnits(start)
	c.line((*[]orb.Point)(&r.Line), &at)
	if len(r.Line) == 0 {
		c.Fail()
	}
}

// An objectID is the id of a place; those of OpenStreetMap are kept as numbers.
type objectID struct {
	kind   int // index of idPrefixes
	number uint64
	text   string // of other sources, where kind is 0
}

var idPrefixes = [...]string{"", "node/", "way/", "relation/"}

func parseID(id string) objectID {
	for kind, prefix := range idPrefixes[1:] {
		rest, ok := strings.CutPrefix(id, prefix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseUint(rest, 10, 63); err == nil && strconv.FormatUint(n, 10) == rest {
			return objectID{kind: kind + 1, number: n}
		}
	}
	return objectID{text: id}
}

func (id objectID) String() string {
	if id.kind == 0 {
		return id.text
	}
	return idPrefixes[id.kind] + strconv.FormatUint(id.number, 10)
}

func (c *codec) objectID(id *objectID) {
	disk.Unsigned(&c.Codec, &id.kind)
	switch {
	case id.kind < 0 || id.kind >= len(idPrefixes):
		c.Fail()
		id.kind = 0
	case id.kind == 0:
		c.Text(&id.text)
	default:
		disk.Unsigned(&c.Codec, &id.number)
	}
}

func (c *codec) id(text *string) {
	id := parseID(*text)
	c.objectID(&id)
	*text = id.String()
}

// place codes p without its Area, Range and Object.
func (c *codec) place(p *Place) {
	disk.Unsigned(&c.Codec, &p.Kind)
	c.id(&p.ID)
	c.Texts(&p.Names)
	c.point(&p.Point, &p.HasPoint)
	for _, s := range []*string{&p.Street, &p.HouseNumber, &p.Postcode, &p.City, &p.State, &p.Country} {
		c.Text(s)
	}
	for _, n := range []*int{&p.MaxNumber, &p.Population, &p.AdminLevel} {
		disk.Unsigned(&c.Codec, n)
	}
}

// sourcePlace codes a place with all that a source says of it.
func (c *codec) sourcePlace(p *Place) {
	c.place(p)
	c.area(&p.Area)
	if c.Reading() && c.Len() > 0 {
		if p.Kind == House || p.Kind == POI {
			p.Object = new(Object)
		} else {
			p.Range = new(Range)
		}
	}
	switch {
	case p.Range != nil:
		c.numberRange(p.Range, orb.Point{})
	case p.Object != nil:
		c.object(p.Object)
	}
}

func (c *codec) object(o *Object) {
	c.id(&o.ID)
	c.Texts(&o.Names)
	c.Texts(&o.Tags)
}

// readRecords calls fn for the records of a source file. The error wraps
// ErrDamaged where one of them cannot be decoded.
func readRecords[T any](path string, code func(*codec, *T), fn func(*T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := disk.NewReader(f)
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		c, v := readFrom(b), new(T)
		code(c, v)
		if err != nil || c.Failed() {
			return fmt.Errorf("%s: %w; import the source again", path, ErrDamaged)
		}
		if err := fn(v); err != nil {
			return err
		}
	}
}
