package gazetteer

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
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
var firstLevel = [...]int{MajorRoad: 5, Water: 5, MiddleRoad: 8, Rail: 8, River: 8, MinorRoad: 11, Green: 11, Path: 13, Building: 15, CityLabel: 5, TownLabel: 8, VillageLabel: 11}

// namedLevel is the level at which the names of streets, waters and woods
// appear.
const namedLevel = 13

// coarseness says how coarse a level is: a corner less than so many units
// beside its line goes, and an area or road smaller than so many units.
var coarseness = map[int]struct{ corner, small float64 }{5: {5, 40}, 8: {5, 24}, 11: {4, 12}, 13: {1, 0}, 15: {1, 0}}

// A Basemap has the streets, waters, woods, buildings and names of a region as
// tiles, ready to be sent. It may be used from several goroutines.
type Basemap struct {
	f interface {
		io.ReaderAt
		io.Closer
	}
	index []tileEntry // by key
}

type tileEntry struct {
	key, offset uint64
	length      uint32
}

const (
	basemapMagic = "gazmap1\n"
	tileEntryLen = 20
	trailerLen   = 8 + 4 + 4 + len(basemapMagic) // offset and length of the index, its checksum
)

func tileKey(level, x, y int) uint64 { return uint64(level)<<56 | uint64(x)<<28 | uint64(y) }

// WriteBasemap draws the map of the region and its surroundings from the extracts of the gazetteer in
// dir, if it has any. A region without an outline has no map.
func (r *Region) WriteBasemap(ctx context.Context, dir, path string) error {
	box := r.Bound()
	if box.IsEmpty() || len(r.Area) == 0 {
		return nil
	}
	const around = 0.15 // of the region's size
	dx, dy := around*(box.Max[0]-box.Min[0])+0.01, around*(box.Max[1]-box.Min[1])+0.01
	_, err := WriteBasemap(ctx, dir, path, orb.Bound{Min: orb.Point{box.Min[0] - dx, box.Min[1] - dy}, Max: orb.Point{box.Max[0] + dx, box.Max[1] + dy}})
	return err
}

// WriteBasemap makes the file at path of the shapes that the sources of the
// gazetteer in dir have within box. Where there are none there is no file
// afterwards. It returns how many tiles the file has.
func WriteBasemap(ctx context.Context, dir, path string, box orb.Bound) (tiles int, err error) {
	b, err := NewBuilder(dir)
	if err != nil {
		return 0, err
	}
	s := disk.Sorter{Dir: dir, Memory: buildMemory}
	defer s.Close()
	shapes, seen := 0, 0
	for _, e := range b.sources {
		if e.Shapes == "" {
			continue
		}
		err := readShapes(filepath.Join(dir, sourcesDir, e.Shapes), func(shape Shape) error {
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			bound := orb.MultiLineString(shape.Lines).Bound()
			if !bound.Intersects(box) {
				return nil
			}
			shapes++
			return cut(&s, shape, box)
		})
		if err != nil {
			return 0, fmt.Errorf("gazetteer: base map: %w", err)
		}
	}
	if shapes == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	lo, hi := world(orb.Point{box.Min[0], box.Max[1]}), world(orb.Point{box.Max[0], box.Min[1]})
	area := shape.Kind.isArea()
	for _, level := range BasemapLevels {
		at := coarseness[level]
		if level < firstLevel[shape.Kind] {
			continue
		}
		scale := math.Exp2(float64(level)) * TileExtent
		var lines []orb.LineString // in units of the level
		bound := orb.MultiPoint{}.Bound()
		for _, l := range shape.Lines {
			line := make(orb.LineString, len(l))
			for j, p := range l {
				w := world(p)
				line[j] = orb.Point{w[0] * scale, w[1] * scale}
			}
			line = simplify.DouglasPeucker(at.corner).LineString(line)
			b := line.Bound()
			if !shape.Kind.isLabel() && max(b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]) < at.small || area && len(line) < 4 {
				continue
			}
			if lines = append(lines, line); len(lines) == 1 {
				bound = b
			} else {
				bound = bound.Union(b)
			}
		}
		if len(lines) == 0 {
			continue
		}
		last := int(math.Exp2(float64(level))) - 1
		x0, x1 := tileRange(max(bound.Min[0], lo[0]*scale), min(bound.Max[0], hi[0]*scale), last)
		y0, y1 := tileRange(max(bound.Min[1], lo[1]*scale), min(bound.Max[1], hi[1]*scale), last)
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

// tileRange returns the tiles whose inside or margin a stretch of units
// touches.
func tileRange(from, to float64, last int) (int, int) {
	return max(0, int(math.Floor((from-tileMargin)/TileExtent))), min(last, int(math.Floor((to+tileMargin)/TileExtent)))
}

// addPiece adds what a tile shows of lines.
func addPiece(s *disk.Sorter, level, x, y int, shape Shape, lines []orb.LineString) error {
	left, top := float64(x)*TileExtent, float64(y)*TileExtent
	frame := orb.Bound{Min: orb.Point{left - tileMargin, top - tileMargin}, Max: orb.Point{left + TileExtent + tileMargin, top + TileExtent + tileMargin}}
	var pieces [][][2]int64
	keep := func(line orb.LineString, least int) {
		var piece [][2]int64
		for _, p := range line {
			q := [2]int64{int64(math.Round(p[0] - left)), int64(math.Round(p[1] - top))}
			if len(piece) == 0 || piece[len(piece)-1] != q {
				piece = append(piece, q)
			}
		}
		if len(piece) >= least {
			pieces = append(pieces, piece)
		}
	}
	for _, line := range lines {
		if shape.Kind.isArea() {
			keep(orb.LineString(clip.Ring(frame, orb.Ring(line).Clone())), 4)
			continue
		}
		if shape.Kind.isLabel() {
			if frame.Contains(line[0]) {
				keep(line, 1)
			}
			continue
		}
		for _, piece := range clip.LineString(frame, line) {
			keep(piece, 2)
		}
	}
	if len(pieces) == 0 {
		return nil
	}
	name := shape.Name
	if level < namedLevel && !shape.Kind.isLabel() {
		name = ""
	}
	key := append(binary.BigEndian.AppendUint64(nil, tileKey(level, x, y)), byte(slices.Index(drawnFirst[:], shape.Kind)))
	value := binary.AppendUvarint(disk.AppendString(nil, name), uint64(len(pieces)))
	for _, piece := range pieces {
		value = binary.AppendUvarint(value, uint64(len(piece)))
		for _, q := range piece {
			value = binary.AppendVarint(binary.AppendVarint(value, q[0]), q[1])
		}
	}
	return s.Add(key, value)
}

// A tileShape is a shape in one tile.
type tileShape struct {
	kind   ShapeKind
	name   string
	pieces [][][2]int64
}

// writeTiles writes the tiles of all pieces, and the index.
func writeTiles(ctx context.Context, w io.Writer, s *disk.Sorter) (int, error) {
	offset := uint64(0)
	write := func(b []byte) error {
		n, err := w.Write(b)
		offset += uint64(n)
		return err
	}
	if err := write([]byte(basemapMagic)); err != nil {
		return 0, err
	}
	var index []byte
	var shapes []tileShape
	current := uint64(0)
	flush := func() error {
		if len(shapes) == 0 {
			return nil
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(tileJSON(shapes))
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			return err
		}
		index = binary.BigEndian.AppendUint64(index, current)
		index = binary.BigEndian.AppendUint64(index, offset)
		index = binary.BigEndian.AppendUint32(index, uint32(packed.Len()))
		shapes = shapes[:0]
		return write(packed.Bytes())
	}
	n, cost := 0, 0
	err := s.Each(func(key, value []byte) error {
		if tile := binary.BigEndian.Uint64(key); tile != current {
			if n++; n%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := flush(); err != nil {
				return err
			}
			current, cost = tile, 0
		}
		// A varint of a byte is about three characters of JSON.
		if cost += 3*len(value) + 16; len(shapes) >= maxTileShapes || cost > maxTileBytes {
			return nil
		}
		d := decode(value)
		shape := tileShape{kind: drawnFirst[key[8]], name: d.String()}
		for range d.Count() {
			piece := make([][2]int64, d.Count())
			for i := range piece {
				piece[i] = [2]int64{d.Varint(), d.Varint()}
			}
			shape.pieces = append(shape.pieces, piece)
		}
		shapes = append(shapes, shape)
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return 0, err
	}
	at, count := offset, len(index)/tileEntryLen
	if err := write(index); err != nil {
		return 0, err
	}
	trailer := binary.BigEndian.AppendUint64(nil, at)
	trailer = binary.BigEndian.AppendUint32(trailer, uint32(count))
	trailer = binary.BigEndian.AppendUint32(trailer, crc32.ChecksumIEEE(index))
	return count, write(append(trailer, basemapMagic...))
}

// tileJSON writes {"major":[{"n":"Lange Straße","p":[[x,y,dx,dy,…],…]},…],…}.
func tileJSON(shapes []tileShape) []byte {
	out := []byte{'{'}
	for i := 0; i < len(shapes); {
		kind := shapes[i].kind
		end := i
		for end < len(shapes) && shapes[end].kind == kind {
			end++
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:[", kind.String())
		group := shapes[i:end]
		if !kind.isArea() {
			group = joinStreets(group)
		}
		for j, s := range group {
			if j > 0 {
				out = append(out, ',')
			}
			out = append(out, '{')
			if s.name != "" {
				name, _ := json.Marshal(s.name) // a string always can be
				out = append(append(append(out, `"n":`...), name...), ',')
			}
			out = append(out, `"p":[`...)
			for k, piece := range s.pieces {
				if k > 0 {
					out = append(out, ',')
				}
				last := [2]int64{}
				for l, q := range piece {
					if l > 0 {
						out = append(out, ',')
					} else {
						out = append(out, '[')
					}
					out = fmt.Appendf(out, "%d,%d", q[0]-last[0], q[1]-last[1])
					last = q
				}
				out = append(out, ']')
			}
			out = append(out, "]}"...)
		}
		out = append(out, ']')
		i = end
	}
	return append(out, '}')
}

// maxShownTiles bounds what Shapes reads.
const maxShownTiles = 9

// Shapes returns what the map shows in a box, at the finest level that has it
// in a few tiles, without names, paths and buildings.
func (m *Basemap) Shapes(box orb.Bound) ([]Shape, error) {
	lo, hi := world(orb.Point{box.Min[0], box.Max[1]}), world(orb.Point{box.Max[0], box.Min[1]})
	for i := len(BasemapLevels) - 1; i >= 0; i-- {
		level := BasemapLevels[i]
		n := math.Exp2(float64(level))
		x0, x1, y0, y1 := int(lo[0]*n), int(hi[0]*n), int(lo[1]*n), int(hi[1]*n)
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
	var tile map[string][]struct {
		P [][]int `json:"p"`
	}
	if err := json.NewDecoder(io.LimitReader(z, 4*maxTileBytes)).Decode(&tile); err != nil {
		return nil, err
	}
	var shapes []Shape
	for _, kind := range drawnFirst {
		if kind.isLabel() || kind == Path || kind == Building {
			continue
		}
		for _, s := range tile[kind.String()] {
			shape := Shape{Kind: kind}
			for _, steps := range s.P {
				var line orb.LineString
				at := [2]int{}
				for i := 0; i+1 < len(steps); i += 2 {
					at[0], at[1] = at[0]+steps[i], at[1]+steps[i+1]
					line = append(line, unworld(orb.Point{(x + float64(at[0])/TileExtent) / n, (y + float64(at[1])/TileExtent) / n}))
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
func joinStreets(shapes []tileShape) []tileShape {
	byName := map[string]int{}
	var joined []tileShape
	for _, s := range shapes {
		i, ok := byName[s.name]
		if !ok {
			i = len(joined)
			byName[s.name] = i
			joined = append(joined, tileShape{kind: s.kind, name: s.name})
		}
		joined[i].pieces = append(joined[i].pieces, s.pieces...)
	}
	for i := range joined {
		joined[i].pieces = joinLines(joined[i].pieces)
	}
	slices.SortStableFunc(joined, func(a, b tileShape) int { return cmp.Compare(a.name, b.name) })
	return joined
}

// joinLines joins each line to the one that begins where it ends.
func joinLines(lines [][][2]int64) [][][2]int64 {
	starts := map[[2]int64][]int{}
	for i, l := range lines {
		starts[l[0]] = append(starts[l[0]], i)
	}
	used := make([]bool, len(lines))
	var out [][][2]int64
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
		out = append(out, line)
	}
	ends := map[[2]int64]bool{}
	for _, l := range lines {
		ends[l[len(l)-1]] = true
	}
	for i, l := range lines { // those first that nothing leads to
		if !ends[l[0]] && !used[i] {
			grow(i)
		}
	}
	for i := range lines {
		if !used[i] {
			grow(i)
		}
	}
	return out
}

// OpenBasemap opens a file of WriteBasemap. The error wraps fs.ErrNotExist
// where there is none, and ErrDamaged.
func OpenBasemap(path string) (*Basemap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gazetteer: %w", err)
	}
	m := &Basemap{f: f}
	info, err := f.Stat()
	if err == nil {
		err = m.read(info.Size())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("gazetteer: base map %s: %w; \"gazehound gazetteer import\" of its source makes it again", path, err)
	}
	return m, nil
}

// read reads the index of a file of this size.
func (m *Basemap) read(size int64) error {
	var trailer [trailerLen]byte
	if size < int64(len(basemapMagic)+trailerLen) {
		return ErrDamaged
	}
	end := size - int64(trailerLen)
	if _, err := m.f.ReadAt(trailer[:], end); err != nil {
		return err
	}
	at, count := binary.BigEndian.Uint64(trailer[:]), int64(binary.BigEndian.Uint32(trailer[8:]))
	if string(trailer[16:]) != basemapMagic || at > uint64(end) || count*tileEntryLen != end-int64(at) {
		return ErrDamaged
	}
	index := make([]byte, count*tileEntryLen)
	if _, err := m.f.ReadAt(index, int64(at)); err != nil {
		return err
	}
	if crc32.ChecksumIEEE(index) != binary.BigEndian.Uint32(trailer[12:]) {
		return ErrDamaged
	}
	m.index = make([]tileEntry, count)
	for i := range m.index {
		b := index[i*tileEntryLen:]
		e := tileEntry{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[16:])}
		if e.offset > at || uint64(e.length) > at-e.offset || e.length > 2*maxTileBytes || i > 0 && e.key <= m.index[i-1].key {
			return ErrDamaged
		}
		m.index[i] = e
	}
	return nil
}

// Levels returns those of BasemapLevels at which the file has tiles: one that an
// older gazehound wrote lacks the finest.
func (m *Basemap) Levels() []int {
	var levels []int
	for _, e := range m.index { // in the order of levels
		if level := int(e.key >> 56); len(levels) == 0 || levels[len(levels)-1] != level {
			levels = append(levels, level)
		}
	}
	return levels
}

// Close gives the file up.
func (m *Basemap) Close() error { return m.f.Close() }

// Tiles returns how many tiles there are.
func (m *Basemap) Tiles() int { return len(m.index) }

// Tile returns a tile as JSON, packed with gzip: by the name of each kind its
// shapes, {"n": name, "p": lines or rings}, each of them its first point and
// the steps from there in units of TileExtent, x to the east, y to the south.
// It is nil where there is nothing.
func (m *Basemap) Tile(level, x, y int) ([]byte, error) {
	if !slices.Contains(BasemapLevels[:], level) || x < 0 || y < 0 || x >= 1<<level || y >= 1<<level {
		return nil, nil
	}
	i, ok := slices.BinarySearchFunc(m.index, tileKey(level, x, y), func(e tileEntry, key uint64) int { return cmp.Compare(e.key, key) })
	if !ok {
		return nil, nil
	}
	b := make([]byte, m.index[i].length)
	if _, err := m.f.ReadAt(b, int64(m.index[i].offset)); err != nil {
		return nil, fmt.Errorf("gazetteer: base map: %w", err)
	}
	return b, nil
}
