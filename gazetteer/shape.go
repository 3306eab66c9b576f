package gazetteer

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/s2"
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

// A shapeWriter writes shapes, each with its length before it.
type shapeWriter struct {
	f   *os.File
	w   *s2.Writer
	buf []byte
}

// Shape keeps a shape of the source that is being added. Only read of Add may
// call it. Shapes without a line are left out.
func (b *Builder) Shape(s Shape) error {
	if b.shapes == nil {
		f, err := os.CreateTemp(filepath.Join(b.dir, sourcesDir), "*.shapes")
		if err != nil {
			return fmt.Errorf("gazetteer: %w", err)
		}
		b.shapes = &shapeWriter{f: f, w: s2.NewWriter(f, s2.WriterConcurrency(1))}
	}
	w := b.shapes
	w.buf = putShape(w.buf[:0], s)
	if len(w.buf) == 0 {
		return nil
	}
	var head [binary.MaxVarintLen64]byte
	if _, err := w.w.Write(binary.AppendUvarint(head[:0], uint64(len(w.buf)))); err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	if _, err := w.w.Write(w.buf); err != nil {
		return fmt.Errorf("gazetteer: %w", err)
	}
	return nil
}

// endShapes closes the shapes of a source and returns the name of their file,
// "" where there are none. After a failure they are thrown away.
func (b *Builder) endShapes(failed bool) (string, error) {
	w := b.shapes
	if b.shapes = nil; w == nil {
		return "", nil
	}
	err := w.w.Close()
	if e := w.f.Close(); err == nil {
		err = e
	}
	if err == nil && !failed {
		err = os.Chmod(w.f.Name(), 0o644)
	}
	if err != nil || failed {
		os.Remove(w.f.Name())
		return "", err
	}
	return filepath.Base(w.f.Name()), nil
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
	b = putString(append(b, byte(s.Kind)), name)
	b = binary.AppendUvarint(b, uint64(len(lines)))
	for _, l := range lines {
		b = binary.AppendUvarint(b, uint64(len(l)))
		var lastLon, lastLat int64
		for _, p := range l {
			lon, lat := toUnits(p)
			b = binary.AppendVarint(binary.AppendVarint(b, lon-lastLon), lat-lastLat)
			lastLon, lastLat = lon, lat
		}
	}
	return b
}

func offEarth(p orb.Point) bool {
	return !(math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90)
}

// shape decodes what putShape wrote.
func (d *decoder) shape() Shape {
	s := Shape{Kind: ShapeKind(d.byte()), Name: d.string()}
	for range d.count() {
		n := d.count()
		line := make(orb.LineString, 0, n)
		var lon, lat int64
		for range n {
			lon += d.varint()
			lat += d.varint()
			if d.bad {
				return Shape{}
			}
			line = append(line, fromUnits(lon, lat))
		}
		s.Lines = append(s.Lines, line)
	}
	if s.Kind == 0 || int(s.Kind) >= len(shapeNames) {
		d.fail()
	}
	return s
}

// readShapes calls fn for the shapes of a file.
func readShapes(path string, fn func(Shape) error) error {
	return readRecords(path, func(d *decoder) error {
		s := d.shape()
		if d.bad {
			return errRecord
		}
		return fn(s)
	})
}
