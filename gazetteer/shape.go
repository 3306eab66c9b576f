package gazetteer

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// A ShapeKind says what a Shape is on a map.
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
)

var shapeNames = [...]string{"none", "major", "water", "middle", "rail", "river", "minor", "green", "path", "building", "city", "town", "village"}

// drawnFirst lists all kinds, those first that a crowded map keeps longest.
var drawnFirst = [...]ShapeKind{CityLabel, TownLabel, VillageLabel, MajorRoad, Water, MiddleRoad, Rail, River, MinorRoad, Green, Path, Building}

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
	record := putShape(nil, s)
	if len(record) == 0 {
		return nil
	}
	if b.shapes == nil {
		var err error
		if b.shapes, err = b.newRecordFile("*.shapes"); err != nil {
			return err
		}
	}
	if err := b.shapes.w.Write(record); err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	return nil
}

// putShape encodes a shape; b is not longer where nothing of it can be shown.
func putShape(b []byte, s Shape) []byte {
	if s.Kind == 0 || int(s.Kind) >= len(shapeNames) {
		return b
	}
	least := 2
	switch {
	case s.Kind.isArea():
		least = 4
	case s.Kind.isLabel():
		least = 1
	}
	lines := slices.DeleteFunc(slices.Clone(s.Lines), func(l orb.LineString) bool { return len(l) < least || slices.ContainsFunc(l, offEarth) })
	if len(lines) == 0 {
		return b
	}
	name, err := cleanText(s.Name)
	if err != nil {
		name = ""
	}
	b = disk.AppendString(append(b, byte(s.Kind)), name)
	b = binary.AppendUvarint(b, uint64(len(lines)))
	for _, l := range lines {
		b = putLine(b, l, &[2]int64{})
	}
	return b
}

func offEarth(p orb.Point) bool {
	return !(math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90)
}

// shape decodes what putShape wrote.
func (d *decoder) shape() Shape {
	s := Shape{Kind: ShapeKind(d.Byte()), Name: d.String()}
	for range d.Count() {
		s.Lines = append(s.Lines, d.line(&[2]int64{}))
	}
	if s.Kind == 0 || int(s.Kind) >= len(shapeNames) {
		d.Fail()
	}
	return s
}

// readShapes calls fn for the shapes of a file.
func readShapes(path string, fn func(Shape) error) error {
	return readRecords(path, (*decoder).shape, fn)
}
