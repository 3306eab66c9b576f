package gazetteer

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/project"
	"github.com/paulmach/orb/simplify"
)

// BasemapLevels are the zoom levels at which a Basemap has tiles; a map between
// them shows those of the level below. The page's script knows them as well.
var BasemapLevels = [...]int{5, 8, 11, 13, 15}

// Tiles are in units of TileExtent across, and reach tileMargin beyond their
// edges so that lines have none.
const (
	TileExtent = 8192
	tileMargin = 64
)

// Bounds of a tile. What comes last by its kind is left out of a crowded one.
const (
	maxTileShapes = 8000
	maxTileBytes  = 1 << 20 // of JSON
)

// firstLevel is the level at which a kind appears.
var firstLevel = [...]int{MajorRoad: 5, Water: 5, MiddleRoad: 8, Rail: 8, River: 8, MinorRoad: 11, Green: 11,
	Path: 13, Building: 15, CityLabel: 5, TownLabel: 8, VillageLabel: 11, PlaceLabel: 15, NumberLabel: 15}

// namedLevel is the level at which the names of streets, waters and woods
// appear.
const namedLevel = 13

// coarseness is the simplification of a level: corners closer than this to their line are dropped,
// as are smaller areas and roads, in units.
var coarseness = map[int]struct{ corner, small float64 }{5: {5, 40}, 8: {5, 24}, 11: {4, 12}, 13: {1, 0}, 15: {1, 0}}

// A Basemap has the streets, waters, woods, buildings, names and house numbers of a region as
// tiles, ready to be sent: a zip with a member for each tile, LEVEL/X/Y. It may be
// used from several goroutines.
type Basemap struct {
	f     io.Closer
	tiles map[string]*zip.File
}

func tileName(level, x, y int) string { return fmt.Sprintf("%d/%d/%d", level, x, y) }

// The tile of a map, as JSON: by the name of each kind its shapes.
type tile map[string][]tileShape

// A tileShape is a shape in one tile. Each line or ring is its first point and the
// steps from there, in units of TileExtent, x to the east, y to the south.
type tileShape struct {
	Name  string    `json:"n,omitempty"`
	Lines [][]int64 `json:"p"`
}

// WriteBasemap draws the map of the region and its surroundings from the gazetteer in dir. A region
// without an outline has no map.
func (r *Region) WriteBasemap(ctx context.Context, dir, path string) error {
	box := r.Bound()
	if box.IsEmpty() || len(r.Area) == 0 {
		return nil
	}
	const around = 0.15 // of the region's size
	dx, dy := around*(box.Max[0]-box.Min[0])+0.01, around*(box.Max[1]-box.Min[1])+0.01
	box.Min, box.Max = orb.Point{box.Min[0] - dx, box.Min[1] - dy}, orb.Point{box.Max[0] + dx, box.Max[1] + dy}
	_, err := WriteBasemap(ctx, dir, path, box)
	return err
}

// WriteBasemap makes the file at path of what the sources of the gazetteer in dir have within box:
// their shapes, and their places as labels. Where there is nothing there is no file afterwards. It
// returns how many tiles the file has.
func WriteBasemap(ctx context.Context, dir, path string, box orb.Bound) (tiles int, err error) {
	b, err := NewBuilder(dir)
	if err != nil {
		return 0, err
	}
	s := disk.Sorter{Dir: dir, Memory: buildMemory}
	defer s.Close()
	shapes, seen := 0, 0
	add := func(shape *Shape) error {
		seen++
		if seen%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !orb.MultiLineString(shape.Lines).Bound().Intersects(box) {
			return nil
		}
		shapes++
		return cut(&s, *shape, box)
	}
	drawn := slices.ContainsFunc(b.sources, func(e sourceEntry) bool { return e.Shapes != "" })
	for _, e := range b.sources {
		err := b.eachShape(e, drawn, add)
		if err != nil {
			return 0, fmt.Errorf("gazetteer: base map: %w", err)
		}
	}
	if shapes == 0 {
		err := os.Remove(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("gazetteer: base map: %w", err)
		}
		return 0, nil
	}
	err = disk.Replace(path, 0o644, func(w io.Writer) error {
		n, err := writeTiles(ctx, w, &s)
		tiles = n
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("gazetteer: base map: %w", err)
	}
	return tiles, nil
}

// eachShape calls fn for the shapes of a source and for its places as a map shows them. Where a source
// is drawn, its shapes have the streets and towns.
func (b *Builder) eachShape(e sourceEntry, drawn bool, fn func(*Shape) error) error {
	if e.Shapes != "" {
		err := readRecords(filepath.Join(b.dir, sourcesDir, e.Shapes), (*codec).shape, fn)
		if err != nil {
			return err
		}
	}
	return b.places(e, func(p *Place) error {
		for _, shape := range shapesOf(p, drawn) {
			if !shape.clean() {
				continue
			}
			if err := fn(&shape); err != nil {
				return err
			}
		}
		return nil
	})
}

// shapesOf returns how a map shows a place, if at all. On a drawn map the streets and towns are there
// already.
func shapesOf(p *Place, drawn bool) []Shape {
	label := func(kind ShapeKind, name string) Shape {
		s := Shape{Kind: kind, Name: name}
		if p.HasPoint {
			s.Lines = []orb.LineString{{p.Point}}
		}
		return s
	}
	switch {
	case p.Kind == House && p.HouseNumber != "":
		return []Shape{label(NumberLabel, p.HouseNumber)}
	case p.Kind == POI:
		return []Shape{label(PlaceLabel, p.Names[0])}
	case drawn:
		return nil
	case p.Range != nil:
		return []Shape{{Kind: MinorRoad, Name: p.Street, Lines: []orb.LineString{p.Range.Line}}}
	case p.Kind == City:
		return []Shape{label(TownLabel, p.City)}
	case p.Kind == Postcode: // the page writes the name of its town once for all of them
		return []Shape{label(TownLabel, p.City), label(VillageLabel, p.Postcode)}
	}
	return nil
}

// world returns a point on the Mercator map of the world, 0 to 1 from the
// north-west.
func world(p orb.Point) orb.Point {
	lat := max(-85, min(85, p[1])) * math.Pi / 180
	return orb.Point{(p[0] + 180) / 360, (1 - math.Asinh(math.Tan(lat))/math.Pi) / 2}
}

// unworld returns the point that world was given.
func unworld(p orb.Point) orb.Point {
	return orb.Point{p[0]*360 - 180, math.Atan(math.Sinh(math.Pi*(1-2*p[1]))) * 180 / math.Pi}
}

// cut adds the pieces of a shape in the tiles of every level that shows it.
func cut(s *disk.Sorter, shape Shape, box orb.Bound) error {
	for _, level := range BasemapLevels {
		at := coarseness[level]
		if level < firstLevel[shape.Kind] {
			continue
		}
		n := math.Exp2(float64(level))
		units := func(p orb.Point) orb.Point {
			w := world(p)
			return orb.Point{w[0] * n * TileExtent, w[1] * n * TileExtent}
		}
		var lines orb.MultiLineString // in units of the level
		for _, l := range shape.Lines {
			line := simplify.DouglasPeucker(at.corner).LineString(project.LineString(l.Clone(), units))
			b := line.Bound()
			small := max(b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]) < at.small
			if !(small && !shape.Kind.isLabel() || shape.Kind.isArea() && len(line) < 4) {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		// The tiles whose inside or margin the shape touches within the box.
		bound, drawn := lines.Bound(), project.Bound(box, units)
		tiles := func(axis int) (from, to int) {
			lo, hi := max(bound.Min[axis], drawn.Min[axis]), min(bound.Max[axis], drawn.Max[axis])
			return max(0, int(math.Floor((lo-tileMargin)/TileExtent))),
				min(int(n)-1, int(math.Floor((hi+tileMargin)/TileExtent)))
		}
		x0, x1 := tiles(0)
		y0, y1 := tiles(1)
		for x := x0; x <= x1; x++ {
			for y := y0; y <= y1; y++ {
				if err := addPiece(s, level, x, y, shape, lines); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A piece is what one tile shows of a shape.
type piece struct {
	Name  string
	Lines [][]orb.Point // in units of the tile
}

// addPiece adds what a tile shows of lines, below a key that sorts the pieces by tile
// and what is drawn first.
func addPiece(s *disk.Sorter, level, x, y int, shape Shape, lines orb.MultiLineString) error {
	left, top := float64(x)*TileExtent, float64(y)*TileExtent
	frame := orb.Bound{Min: orb.Point{left, top}, Max: orb.Point{left + TileExtent, top + TileExtent}}.Pad(tileMargin)
	p := piece{Name: shape.Name}
	if level < namedLevel && !shape.Kind.isLabel() {
		p.Name = ""
	}
	keep := func(line []orb.Point, least int) {
		var points []orb.Point
		for _, q := range line {
			points = append(points, orb.Point{math.Round(q[0] - left), math.Round(q[1] - top)})
		}
		points = slices.Compact(points)
		if len(points) >= least {
			p.Lines = append(p.Lines, points)
		}
	}
	for _, line := range lines {
		switch {
		case shape.Kind.isArea():
			keep(clip.Ring(frame, orb.Ring(line).Clone()), 4)
		case shape.Kind.isLabel() && frame.Contains(line[0]):
			keep(line, 1)
		case !shape.Kind.isLabel():
			for _, part := range clip.LineString(frame, line) {
				keep(part, 2)
			}
		}
	}
	if len(p.Lines) == 0 {
		return nil
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(level)<<56|uint64(x)<<28|uint64(y))
	value, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.Add(append(key, byte(slices.Index(drawnFirst[:], shape.Kind))), value)
}

// writeTiles writes the tiles of all pieces and returns their number.
func writeTiles(ctx context.Context, w io.Writer, s *disk.Sorter) (count int, err error) {
	z := zip.NewWriter(w)
	shapes := map[ShapeKind][]piece{}
	n, cost := 0, 0 // of the pieces in the tile
	current := uint64(0)
	flush := func() error {
		if n == 0 {
			return nil
		}
		count, n, cost = count+1, 0, 0
		level, x, y := int(current>>56), int(current>>28&(1<<28-1)), int(current&(1<<28-1))
		f, err := z.CreateHeader(&zip.FileHeader{Name: tileName(level, x, y)}) // which is packed already
		if err != nil {
			return err
		}
		packed, err := gzip.NewWriterLevel(f, gzip.BestCompression)
		if err != nil {
			return err
		}
		err = json.NewEncoder(packed).Encode(newTile(shapes))
		clear(shapes)
		return errors.Join(err, packed.Close())
	}
	err = s.Each(func(key, value []byte) error {
		if at := binary.BigEndian.Uint64(key); at != current {
			if err := errors.Join(ctx.Err(), flush()); err != nil {
				return err
			}
			current = at
		}
		cost += len(value)
		if n >= maxTileShapes || cost > maxTileBytes {
			return nil
		}
		var p piece
		if err := json.Unmarshal(value, &p); err != nil {
			return err
		}
		kind := drawnFirst[key[8]]
		shapes[kind] = append(shapes[kind], p)
		n++
		return nil
	})
	if err == nil {
		err = flush()
	}
	return count, errors.Join(err, z.Close())
}

// newTile returns what is sent of the pieces of a tile.
func newTile(pieces map[ShapeKind][]piece) tile {
	t := tile{}
	for kind, group := range pieces {
		if !kind.isArea() {
			group = joinStreets(group)
		}
		for _, p := range group {
			shape := tileShape{Name: p.Name}
			for _, points := range p.Lines {
				var steps []int64
				var last orb.Point
				for _, q := range points {
					steps = append(steps, int64(q[0]-last[0]), int64(q[1]-last[1]))
					last = q
				}
				shape.Lines = append(shape.Lines, steps)
			}
			t[kind.String()] = append(t[kind.String()], shape)
		}
	}
	return t
}

// maxShownTiles bounds what Shapes reads.
const maxShownTiles = 9

// Shapes returns what the map shows in a box, at the finest level that has it
// in a few tiles, without names, paths and buildings.
func (m *Basemap) Shapes(box orb.Bound) ([]Shape, error) {
	at := project.Bound(box, world)
	for _, level := range slices.Backward(BasemapLevels[:]) {
		n := math.Exp2(float64(level))
		x0, x1, y0, y1 := int(at.Min[0]*n), int(at.Max[0]*n), int(at.Min[1]*n), int(at.Max[1]*n)
		if tiles := (x1 - x0 + 1) * (y1 - y0 + 1); tiles > maxShownTiles || x1 < x0 || y1 < y0 {
			continue
		}
		var shapes []Shape
		for x := x0; x <= x1; x++ {
			for y := y0; y <= y1; y++ {
				packed, err := m.Tile(level, x, y)
				if err != nil {
					return nil, err
				}
				if packed == nil {
					continue
				}
				some, err := unpackTile(packed, float64(x), float64(y), n)
				if err != nil {
					return nil, fmt.Errorf("gazetteer: base map: tile %d/%d/%d: %w", level, x, y, err)
				}
				shapes = append(shapes, some...)
			}
		}
		return shapes, nil
	}
	return nil, nil
}

// unpackTile returns the shapes of the tile at column x and row y of n, in
// degrees.
func unpackTile(packed []byte, x, y, n float64) ([]Shape, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var t tile
	if err := json.NewDecoder(io.LimitReader(z, 4*maxTileBytes)).Decode(&t); err != nil {
		return nil, err
	}
	var shapes []Shape
	for _, kind := range drawnFirst {
		if kind.isLabel() || kind == Path || kind == Building {
			continue
		}
		for _, s := range t[kind.String()] {
			shape := Shape{Kind: kind}
			for _, steps := range s.Lines {
				var line orb.LineString
				var at orb.Point
				for step := range slices.Chunk(steps[:len(steps)&^1], 2) {
					at = orb.Point{at[0] + float64(step[0]), at[1] + float64(step[1])}
					line = append(line, unworld(orb.Point{(x + at[0]/TileExtent) / n, (y + at[1]/TileExtent) / n}))
				}
				shape.Lines = append(shape.Lines, line)
			}
			shapes = append(shapes, shape)
		}
	}
	return shapes, nil
}

// joinStreets makes one shape of the pieces of each name, and one line of
// those that meet end to end, so that a name finds room along it.
func joinStreets(pieces []piece) []piece {
	byName := map[string][][]orb.Point{}
	for _, p := range pieces {
		byName[p.Name] = append(byName[p.Name], p.Lines...)
	}
	var joined []piece
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		joined = append(joined, piece{name, joinLines(byName[name])})
	}
	return joined
}

// joinLines joins each line to the one that begins where it ends.
func joinLines(lines [][]orb.Point) (joined [][]orb.Point) {
	starts := map[orb.Point][]int{} // lines that are left
	ends := map[orb.Point]bool{}
	for i, l := range lines {
		starts[l[0]] = append(starts[l[0]], i)
		ends[l[len(l)-1]] = true
	}
	used := make([]bool, len(lines))
	grow := func(i int) {
		used[i] = true
		line := slices.Clone(lines[i])
		for {
			end := line[len(line)-1]
			next := slices.IndexFunc(starts[end], func(j int) bool { return !used[j] })
			if next < 0 {
				break
			}
			j := starts[end][next]
			used[j] = true
			line = append(line, lines[j][1:]...)
		}
		joined = append(joined, line)
	}
	for _, first := range []bool{true, false} { // those first that nothing leads to
		for i, l := range lines {
			if !used[i] && !(first && ends[l[0]]) {
				grow(i)
			}
		}
	}
	return joined
}

// OpenBasemap opens a file of WriteBasemap. The error wraps fs.ErrNotExist
// where there is none, and ErrDamaged.
func OpenBasemap(path string) (*Basemap, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("gazetteer: base map %s: %w: %w; \"gazehound gazetteer import\" of its "+
			"source makes it again", path, ErrDamaged, err)
	}
	return newBasemap(&z.Reader, z), nil
}

func newBasemap(z *zip.Reader, f io.Closer) *Basemap {
	m := &Basemap{f, map[string]*zip.File{}}
	for _, member := range z.File {
		m.tiles[member.Name] = member
	}
	return m
}

// Levels returns those of BasemapLevels at which the file has tiles.
func (m *Basemap) Levels() (levels []int) {
	has := map[string]bool{}
	for name := range m.tiles {
		level, _, _ := strings.Cut(name, "/")
		has[level] = true
	}
	for _, level := range BasemapLevels {
		if has[strconv.Itoa(level)] {
			levels = append(levels, level)
		}
	}
	return levels
}

// Close closes the file.
func (m *Basemap) Close() error { return m.f.Close() }

// Tiles returns how many tiles there are.
func (m *Basemap) Tiles() int { return len(m.tiles) }

// Tile returns a tile as JSON, packed with gzip: by the name of each kind its
// shapes, {"n": name, "p": lines or rings}, each of them its first point and
// the steps from there in units of TileExtent, x to the east, y to the south.
// It is nil where there is nothing.
func (m *Basemap) Tile(level, x, y int) ([]byte, error) {
	member := m.tiles[tileName(level, x, y)]
	if member == nil {
		return nil, nil
	}
	packed, err := readTile(member)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: base map: tile %s: %w: %w", member.Name, ErrDamaged, err)
	}
	return packed, nil
}

func readTile(member *zip.File) ([]byte, error) {
	if member.Method != zip.Store || member.UncompressedSize64 > 2*maxTileBytes {
		return nil, fmt.Errorf("method %d, %d bytes", member.Method, member.UncompressedSize64)
	}
	f, err := member.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
