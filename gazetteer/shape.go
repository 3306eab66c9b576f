package gazetteer

import (
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A ShapeKind is what a Shape is on a map.
type ShapeKind uint8

// The kinds of shapes. Files hold their numbers.
const (
	MajorRoad ShapeKind = iota + 1
	Water               // an area
	MiddleRoad
	Rail
	River
	MinorRoad
	Green // an area: wood, park
	Path
	Building     // an area
	CityLabel    // a point with a name
	TownLabel    // the same, of a smaller place
	VillageLabel // the same, also of a part of a town
	PlaceLabel   // a point with the name of a shop, an office, a church
	NumberLabel  // a point with a house number
)

var shapeNames = [...]string{"none", "major", "water", "middle", "rail", "river", "minor", "green", "path",
	"building", "city", "town", "village", "place", "number"}

// drawnFirst lists all kinds, those first that a crowded map keeps longest.
var drawnFirst = [...]ShapeKind{CityLabel, TownLabel, VillageLabel, MajorRoad, Water, MiddleRoad, Rail, River,
	MinorRoad, Green, Path, PlaceLabel, Building, NumberLabel}

// String returns the name of k, such as "major".
func (k ShapeKind) String() string {
	if int(k) >= len(shapeNames) {
		k = 0
	}
	return shapeNames[k]
}

func (k ShapeKind) isArea() bool { return k == Water || k == Green || k == Building }

func (k ShapeKind) isLabel() bool { return k >= CityLabel }

// A Shape is a street or a piece of land as a map shows it.
type Shape struct {
	Kind ShapeKind
	Name string // of a street, water, wood or place; may be empty
	// Lines are lon, lat in degrees: of a road one line, of an area its rings,
	// where a ring inside another one is a hole; of a label one point.
	Lines []orb.LineString
}

// Shape keeps a shape of the source that is being added. Only read of Add may
// call it. Shapes without a line are left out.
func (b *Builder) Shape(s Shape) error {
	if !s.clean() {
		return nil
	}
	if b.shapes == nil {
		var err error
		b.shapes, err = b.newRecordFile("*.shapes")
		if err != nil {
			return err
		}
	}
	return b.shapes.write(func(c *codec) { c.shape(&s) })
}

// clean drops what cannot be shown of s, and reports whether anything is left.
func (s *Shape) clean() bool {
	if s.Kind == 0 || int(s.Kind) >= len(shapeNames) {
		return false
	}
	least := 2
	switch {
	case s.Kind.isArea():
		least = 4
	case s.Kind.isLabel():
		least = 1
	}
	s.Lines = slices.DeleteFunc(slices.Clone(s.Lines), func(l orb.LineString) bool {
		return len(l) < least || slices.ContainsFunc(l, func(p orb.Point) bool { return checkPoint(p) != nil })
	})
	s.Name, _ = cleanText(s.Name)
	return len(s.Lines) > 0
}

func (c *codec) shape(s *Shape) {
	disk.Unsigned(&c.Codec, &s.Kind)
	c.Text(&s.Name)
	disk.List(&c.Codec, &s.Lines, func(l *orb.LineString) { c.line((*[]orb.Point)(l), &[2]int64{}) })
	if s.Kind == 0 || int(s.Kind) >= len(shapeNames) {
		c.Fail()
	}
}
