package tiger

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/paulmach/orb"
	"golang.org/x/text/encoding/charmap"

	"gazehound/gazetteer"
)

// A shapefile is two files of records in the same order: lines (.shp) and the
// rows of a table (.dbf). Both are read as streams, so that they may lie in a
// zip, and no length in them is trusted. Format: ESRI Shapefile Technical
// Description, July 1998.

// Limits of one record.
const (
	maxShape  = 1 << 20 // bytes
	maxRow    = 64 << 10
	maxFields = 512
)

var errTruncated = errors.New("the file is cut off; download it again")

// cutOff turns the end of a file in the middle of a record into an error that says so.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTruncated
	}
	return err
}

// shapes reads the lines of a .shp file.
type shapes struct {
	r    *bufio.Reader
	left int64 // bytes that the header promises
	buf  []byte
}

// IsShapefile reports whether head is the beginning of a .shp file.
func IsShapefile(head []byte) bool {
	return len(head) >= 4 && binary.BigEndian.Uint32(head) == 9994
}

func newShapes(r io.Reader) (*shapes, error) {
	s := &shapes{r: bufio.NewReaderSize(r, 64<<10)}
	var head [100]byte
	_, err := io.ReadFull(s.r, head[:])
	if err != nil {
		return nil, fmt.Errorf("header of the shapefile: %w", cutOff(err))
	}
	if !IsShapefile(head[:]) {
		return nil, fmt.Errorf("%w: it is not a shapefile", gazetteer.ErrFormat)
	}
	if kind := binary.LittleEndian.Uint32(head[32:]); !isLine(kind) {
		return nil, fmt.Errorf("%w: a shapefile of kind %d instead of lines (3)", gazetteer.ErrFormat, kind)
	}
	minX, minY := float(head[36:]), float(head[44:])
	maxX, maxY := float(head[52:]), float(head[60:])
	if max(math.Abs(minX), math.Abs(maxX)) > 180 || max(math.Abs(minY), math.Abs(maxY)) > 90 {
		return nil, fmt.Errorf("%w: X=%.0f, Y=%.0f are not degrees. Convert first: ogr2ogr -t_srs EPSG:4326 …",
			gazetteer.ErrFormat, maxX, maxY)
	}
	s.left = int64(binary.BigEndian.Uint32(head[24:]))*2 - int64(len(head))
	return s, nil
}

func isLine(kind uint32) bool { return kind == 3 || kind == 13 || kind == 23 }

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// next returns the line of the next record, or in bad why it has none. err is of the file, io.EOF
// at its end.
func (s *shapes) next() (line orb.LineString, bad, err error) {
	var head [8]byte
	n, err := io.ReadFull(s.r, head[:])
	if err != nil {
		if err == io.EOF && n == 0 && s.left <= 0 {
			return nil, nil, io.EOF
		}
		return nil, nil, cutOff(err)
	}
	size := int64(binary.BigEndian.Uint32(head[4:])) * 2
	s.left -= size + int64(len(head))
	if size > maxShape {
		_, err := io.CopyN(io.Discard, s.r, size)
		if err != nil {
			return nil, nil, cutOff(err)
		}
		return nil, fmt.Errorf("a shape of %d bytes", size), nil
	}
	if int64(cap(s.buf)) < size {
		s.buf = make([]byte, size)
	}
	b := s.buf[:size]
	_, err = io.ReadFull(s.r, b)
	if err != nil {
		return nil, nil, cutOff(err)
	}
	line, bad = polyline(b)
	return line, bad, nil
}

// polyline reads the first part of a line: kind, box, number of parts, number
// of points, where the parts begin, the points.
func polyline(b []byte) (orb.LineString, error) {
	if len(b) < 44 || !isLine(binary.LittleEndian.Uint32(b)) {
		return nil, errors.New("no line")
	}
	parts, points := int64(binary.LittleEndian.Uint32(b[36:])), int64(binary.LittleEndian.Uint32(b[40:]))
	if parts < 1 || points < 1 || 44+4*parts+16*points > int64(len(b)) {
		return nil, fmt.Errorf("a line of %d parts and %d points in %d bytes", parts, points, len(b))
	}
	end := points
	if parts > 1 {
		end = int64(binary.LittleEndian.Uint32(b[48:]))
	}
	if end < 1 || end > points {
		return nil, fmt.Errorf("a part of %d of %d points", end, points)
	}
	line := make(orb.LineString, 0, end)
	for b := b[44+4*parts:]; len(line) < int(end); b = b[16:] {
		p := orb.Point{float(b), float(b[8:])}
		if !(math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90) {
			return nil, fmt.Errorf("the coordinate %g, %g is not on Earth", p[0], p[1])
		}
		line = append(line, p)
	}
	return line, nil
}

// rows reads the rows of a .dbf file.
type rows struct {
	r      *bufio.Reader
	count  int
	read   int
	fields map[string][2]int // name → from, to in the row
	row    []byte
}

func newRows(r io.Reader) (*rows, error) {
	t := &rows{r: bufio.NewReaderSize(r, 64<<10), fields: map[string][2]int{}}
	var head [32]byte
	_, err := io.ReadFull(t.r, head[:])
	if err != nil {
		return nil, fmt.Errorf("header of the table: %w", cutOff(err))
	}
	t.count = int(binary.LittleEndian.Uint32(head[4:]))
	length, row := int(binary.LittleEndian.Uint16(head[8:])), int(binary.LittleEndian.Uint16(head[10:]))
	if length < 33 || row < 1 || row > maxRow || length > 32*(maxFields+2) {
		return nil, fmt.Errorf("%w: the .dbf has a header of %d bytes and rows of %d", gazetteer.ErrFormat, length, row)
	}
	desc := make([]byte, length-len(head))
	_, err = io.ReadFull(t.r, desc)
	if err != nil {
		return nil, fmt.Errorf("header of the table: %w", cutOff(err))
	}
	at := 1 // behind the mark of deleted rows
	for ; len(desc) >= 32 && desc[0] != '\r'; desc = desc[32:] {
		name, _, _ := bytes.Cut(desc[:11], []byte{0})
		size := int(desc[16])
		if at+size > row {
			return nil, fmt.Errorf("%w: the columns of the .dbf are wider than its rows", gazetteer.ErrFormat)
		}
		t.fields[strings.ToUpper(string(name))] = [2]int{at, at + size}
		at += size
	}
	t.row = make([]byte, row)
	return t, nil
}

func (t *rows) next() error {
	t.read++
	if t.read > t.count {
		return fmt.Errorf("%w: the table has %d rows, fewer than there are shapes", gazetteer.ErrFormat, t.count)
	}
	_, err := io.ReadFull(t.r, t.row)
	return cutOff(err)
}

// end is called when the shapes end before the n-th.
func (t *rows) end(n int) error {
	if n-1 < t.count {
		return fmt.Errorf("%w: %d shapes for %d rows of the table", gazetteer.ErrFormat, n-1, t.count)
	}
	return nil
}

// value returns the text of a column of the row, or "" if there is none.
func (t *rows) value(column string) string {
	at, ok := t.fields[column]
	if !ok {
		return ""
	}
	return decode(bytes.Trim(t.row[at[0]:at[1]], " \x00"))
}

func (t *rows) text() string {
	return strings.Join(strings.Fields(decode(t.row[:min(len(t.row), 1024)])), " ")
}

// decode decodes UTF-8, or Latin-1 if b is not UTF-8.
func decode(b []byte) string {
	if !utf8.Valid(b) {
		b, _ = charmap.Windows1252.NewDecoder().Bytes(b)
	}
	return string(b)
}

// IsShapefileAt reports whether the file at path is a .shp or a zip with one.
func IsShapefileAt(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	_, err = io.ReadFull(f, head[:])
	if err != nil {
		return false
	}
	if IsShapefile(head[:]) {
		return true
	}
	info, err := f.Stat()
	if err != nil || string(head[:]) != "PK\x03\x04" {
		return false
	}
	z, err := zip.NewReader(f, info.Size())
	return err == nil && memberOf(z, ".shp") != nil
}

// memberOf returns the first file of a zip whose name ends so, or nil.
func memberOf(z *zip.Reader, ending string) *zip.File {
	for _, m := range z.File {
		if strings.EqualFold(filepath.Ext(m.Name), ending) {
			return m
		}
	}
	return nil
}

// Read is Shapefile for the file at path: a .shp with its .dbf beside it, or a
// zip that holds both. The name of the file has the state.
func Read(ctx context.Context, path string, refuse gazetteer.Refuse, emit func(gazetteer.Place) error) error {
	shp, dbf, done, err := open(path)
	if err != nil {
		return err
	}
	defer done()
	return Shapefile(ctx, shp, dbf, Options{State: StateOf(filepath.Base(path)), Refuse: refuse}, emit)
}

func open(path string) (shp, dbf io.Reader, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	files := []io.Closer{f}
	closeAll := func() {
		for _, f := range files {
			f.Close()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, nil, err
	}
	if z, err := zip.NewReader(f, info.Size()); err == nil {
		var members [2]io.Reader
		for i, ending := range []string{".shp", ".dbf"} {
			m := memberOf(z, ending)
			if m == nil {
				return nil, nil, nil, fmt.Errorf("%w: the zip has no %s", gazetteer.ErrFormat, ending)
			}
			r, err := m.Open()
			if err != nil {
				return nil, nil, nil, err
			}
			files = append(files, r)
			members[i] = gazetteer.Unpacked(r, info.Size(), 0)
		}
		return members[0], members[1], closeAll, nil
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	for _, ending := range []string{".dbf", ".DBF"} {
		d, err := os.Open(base + ending)
		if err == nil {
			files = append(files, d)
			return f, d, closeAll, nil
		}
	}
	return nil, nil, nil, fmt.Errorf("%s.dbf is missing: a shapefile consists of .shp and .dbf", filepath.Base(base))
}
