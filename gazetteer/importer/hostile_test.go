package importer

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The files and the limits that their imports are given are a small part of those in use,
// so that the test is quick.
const (
	withinMemory = 20_000_000
	growth       = 500_000
	mostHeap     = 100_000_000 // with what is not collected yet
)

// A hostile file is written by fill; refused says that its import must be an error.
type hostileFile struct {
	name    string
	refused bool
	fill    func(w io.Writer)
}

// msg writes fields of a protocol buffer: numbers, or bytes.
func msg(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := uint64(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = binary.AppendUvarint(binary.AppendUvarint(b, number<<3), uint64(v))
		case string:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, number<<3|2), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, number<<3|2), uint64(len(v))), v...)
		}
	}
	return b
}

func pack(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func blob(kind string, blob []byte) []byte {
	head := msg(1, kind, 3, len(blob))
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...), blob...)
}

// pbf returns an extract of PrimitiveBlocks.
func pbf(blocks ...[]byte) func(io.Writer) {
	return func(w io.Writer) {
		w.Write(blob("OSMHeader", msg(1, msg(4, "OsmSchema-V0.6", 4, "DenseNodes"))))
		for _, b := range blocks {
			w.Write(blob("OSMData", msg(2, len(b), 3, pack(b))))
		}
	}
}

// rawPBF returns an extract whose second block is this Blob.
func rawPBF(b []byte) func(io.Writer) {
	return func(w io.Writer) {
		w.Write(blob("OSMHeader", msg(1, msg(4, "OsmSchema-V0.6"))))
		w.Write(blob("OSMData", b))
	}
}

// primitive returns a PrimitiveBlock with a table of texts.
func primitive(texts []string, groups ...[]byte) []byte {
	var table []byte
	for _, s := range texts {
		table = append(table, msg(1, s)...)
	}
	b := msg(1, table)
	for _, g := range groups {
		b = append(b, msg(2, g)...)
	}
	return b
}

func zeros(n int) []byte { return make([]byte, n) }
func ones(n int) []byte  { return bytes.Repeat([]byte{1}, n) }

func packed(text func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z := gzip.NewWriter(w)
		text(z)
		z.Close()
	}
}

func zipped(members map[string]func(io.Writer)) func(io.Writer) {
	return func(w io.Writer) {
		z := zip.NewWriter(w)
		for name, fill := range members {
			m, _ := z.Create(name)
			fill(m)
		}
		z.Close()
	}
}

func text(s string) func(io.Writer) { return func(w io.Writer) { io.WriteString(w, s) } }

// many writes head, and part until there are n bytes, and tail.
func many(head, part, tail string, n int) func(io.Writer) {
	return func(w io.Writer) {
		io.WriteString(w, head)
		chunk := strings.Repeat(part, max(1, (1<<16)/len(part)))
		for left := n; left > 0; left -= len(chunk) {
			io.WriteString(w, chunk)
		}
		io.WriteString(w, tail)
	}
}

const (
	osmHead = `<?xml version="1.0"?><osm version="0.6">`
	csvHead = "street;housenumber;postcode;city;lat;lon\n"
	csvRow  = "Lange Straße;5;26122;Oldenburg;53.14;8.21\n"
	wideRow = "Lange Straße;5;26122;Oldenburg" + blanks + ";53.14;8.21\n"
	blanks  = "                                                                                                                                                                "
)

// GAZEHOUND_HOSTILE multiplies the size of the files; they are then imported with the limits that
// the program uses.
var (
	larger, _ = strconv.Atoi(os.Getenv("GAZEHOUND_HOSTILE"))
	mega      = 1 << 14 * max(1, larger)
)

var boundary = []string{"", "boundary", "administrative", "type", "multipolygon", "natural", "water", "addr:street", "website"}

// relations returns a group of n boundaries with as many ways each.
func relations(n, members int) []byte {
	r := msg(1, 7, 2, []byte{1}, 3, []byte{2}, 8, zeros(members), 9, bytes.Repeat([]byte{2}, members), 10, ones(members))
	return bytes.Repeat(msg(4, r), n)
}

func shp(kind, records int, record []byte) func(io.Writer) {
	return func(w io.Writer) {
		head := make([]byte, 100)
		binary.BigEndian.PutUint32(head, 9994)
		binary.BigEndian.PutUint32(head[24:], uint32(50+records*(len(record)+8)/2))
		binary.LittleEndian.PutUint32(head[32:], uint32(kind))
		w.Write(head)
		for range records {
			w.Write(binary.BigEndian.AppendUint32(zeros(4), uint32(len(record)/2)))
			w.Write(record)
		}
	}
}

var hostileFiles = []hostileFile{
	{"text-of-node-lies.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "a"}, msg(2, msg(1, []byte{2}, 8, []byte{2}, 9, []byte{2}, 10, []byte{9, 9, 0}))))(w)
	}},
	{"text-of-way-lies.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(3, msg(1, 1, 2, []byte{5}, 3, []byte{5}, 8, []byte{2}))))(w)
	}},
	{"text-of-value-lies.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "name"}, msg(3, msg(1, 1, 2, []byte{1}, 3, []byte{5}, 8, []byte{2}))))(w)
	}},
	{"role-lies.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(4, msg(1, 1, 8, []byte{9}, 9, []byte{2}, 10, []byte{1}))))(w)
	}},
	{"kind-of-member-lies.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(4, msg(1, 1, 8, []byte{0}, 9, []byte{2}, 10, []byte{7}))))(w)
	}},
	{"no-texts.osm.pbf", true, func(w io.Writer) {
		pbf(primitive(nil, msg(2, msg(1, []byte{2}, 8, []byte{2}, 9, []byte{2}, 10, []byte{1, 1, 0}))))(w)
	}},
	{"index-of-20-digits.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(3, msg(1, 1, 2, bytes.Repeat([]byte{0xff}, 9), 3, []byte{0}))))(w)
	}},
	{"plain-nodes.osm.pbf", false, func(w io.Writer) { pbf(primitive([]string{""}, msg(1, msg(1, 2, 8, 2, 9, 2))))(w) }},
	{"keys-without-values.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "a"}, msg(3, msg(1, 1, 2, []byte{1, 1}, 3, []byte{1}))))(w)
	}},
	{"latitudes-missing.osm.pbf", true, func(w io.Writer) { pbf(primitive([]string{""}, msg(2, msg(1, []byte{2, 2}, 9, []byte{2, 2}))))(w) }},
	{"longitudes-short.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(2, msg(1, []byte{2, 2}, 8, []byte{2, 2}, 9, []byte{2}))))(w)
	}},
	{"tag-without-end.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "a"}, msg(2, msg(1, []byte{2}, 8, []byte{2}, 9, []byte{2}, 10, []byte{1}))))(w)
	}},
	{"way-of-30-million-nodes.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "highway", "name"}, msg(3, msg(1, 1, 2, []byte{1, 2}, 3, []byte{1, 2}, 8, zeros(30*mega)))))(w)
	}},
	{"relation-of-10-million.osm.pbf", true, func(w io.Writer) { pbf(primitive(boundary, relations(1, 20*mega)))(w) }},
	{"relations-of-30000-members.osm.pbf", true, func(w io.Writer) {
		pbf(primitive(boundary, relations(50, 30_000)), primitive(boundary, relations(50, 30_000)))(w)
	}},
	{"boundaries-by-the-million.osm.pbf", true, func(w io.Writer) {
		pbf(primitive(boundary, relations(mega, 0)), primitive(boundary, relations(mega, 1)), primitive(boundary, relations(mega, 0)), primitive(boundary, relations(mega, 0)))(w)
	}},
	{"node-of-10-million-tags.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "a"}, msg(2, msg(1, []byte{2}, 8, []byte{2}, 9, []byte{2}, 10, append(ones(20*mega), 0)))))(w)
	}},
	{"way-of-10-million-tags.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "a"}, msg(3, msg(1, 1, 2, ones(10*mega), 3, ones(10*mega)))))(w)
	}},
	{"texts-by-the-million.osm.pbf", true, func(w io.Writer) {
		pbf(msg(1, bytes.Repeat([]byte{10, 0}, 2<<20), 2, msg(2, msg(1, []byte{2}, 8, []byte{2}, 9, []byte{2}))))(w)
	}},
	{"nodes-by-the-million.osm.pbf", false, func(w io.Writer) {
		pbf(primitive([]string{""}, msg(2, msg(1, ones(10*mega), 8, zeros(10*mega), 9, zeros(10*mega)))))(w)
	}},
	{"ways-by-the-million.osm.pbf", false, func(w io.Writer) {
		pbf(primitive([]string{"", "highway", "name"}, bytes.Repeat(msg(3, msg(1, 1, 2, []byte{1, 2}, 3, []byte{1, 2}, 8, []byte{2, 2})), mega)))(w)
	}},
	{"sites-by-the-million.osm.pbf", true, func(w io.Writer) {
		pbf(primitive([]string{"", "website", "http://a.example/" + strings.Repeat("x", 100)}, msg(2, msg(1, ones(8*mega), 8, zeros(8*mega), 9, zeros(8*mega), 10, bytes.Repeat([]byte{1, 2, 0}, 8*mega)))))(w)
	}},
	{"unpacks-to-more.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 10, 3, pack(zeros(30*mega))))(w) }},
	{"unpacks-to-less.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 30*mega, 3, pack(zeros(10))))(w) }},
	{"says-2-gb.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 1<<31-1, 3, pack(zeros(10))))(w) }},
	{"says-minus-1.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, -1, 3, pack(zeros(10))))(w) }},
	{"no-data.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 10))(w) }},
	{"lzma.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 10, 4, "xxxx"))(w) }},
	{"zlib-noise.osm.pbf", true, func(w io.Writer) { rawPBF(msg(2, 10, 3, "noise"))(w) }},
	{"empty-blob.osm.pbf", true, func(w io.Writer) { rawPBF(nil)(w) }},
	{"field-of-4-gb.osm.pbf", true, func(w io.Writer) { pbf(append(msg(17, 1), 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f))(w) }},
	{"wire-type-3.osm.pbf", true, func(w io.Writer) { pbf([]byte{0x13, 0x13, 0x13})(w) }},
	{"granularity-overflows.osm.pbf", false, func(w io.Writer) {
		pbf(append(primitive([]string{"", "addr:housenumber"}, msg(2, msg(1, []byte{2}, 8, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 9, []byte{2}, 10, []byte{1, 1, 0}))), msg(17, 1<<31-1, 19, 1<<62)...))(w)
	}},
	{"unknown-feature.osm.pbf", true, func(w io.Writer) { w.Write(blob("OSMHeader", msg(1, msg(4, "OsmSchema-V9")))) }},
	{"header-of-4-gb.osm.pbf", true, func(w io.Writer) { pbf()(w); w.Write([]byte{0xff, 0xff, 0xff, 0xff, 1, 2}) }},
	{"blob-says-1-tb.osm.pbf", true, func(w io.Writer) {
		pbf()(w)
		head := msg(1, "OSMData", 3, 1<<40)
		w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...))
	}},

	{"nodes.osm.gz", true, packed(many(osmHead, `<node id="1" lat="53" lon="8"/>`, "</osm>", 170*mega))},
	{"way-of-nodes.osm.gz", true, packed(many(osmHead+`<way id="1">`, `<nd ref="1"/>`, "</way></osm>", 170*mega))},
	{"members.osm.gz", true, packed(many(osmHead+`<relation id="1">`, `<member type="way" ref="1" role=""/>`, "</relation></osm>", 170*mega))},
	{"tags.osm.gz", true, packed(many(osmHead+`<node id="1" lat="53" lon="8">`, `<tag k="a" v="`+strings.Repeat("b", 8000)+`"/>`, "</node></osm>", 170*mega))},
	{"attribute.osm.gz", true, packed(many(osmHead+`<node id="`, "1", `"/></osm>`, 170*mega))},
	{"comment.osm.gz", true, packed(many(osmHead+"<!-- ", "<node ", "--></osm>", 170*mega))},
	{"blanks.osm.gz", true, packed(many(osmHead, "          ", "</osm>", 170*mega))},
	{"nested.osm.gz", true, packed(many(osmHead, "<a>", "", 170*mega))},
	{"laughs.osm", true, text(`<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><osm>&b;</osm>`)},
	{"gzip-in-gzip.osm.gz", true, packed(packed(many(osmHead, "<a/>", "</osm>", mega)))},

	{"zeros.csv.gz", true, packed(many("", "\x00", "", 170*mega))},
	{"line.csv.gz", true, packed(many(csvHead, "x", "\n"+csvRow, 170*mega))},
	{"rows.csv.gz", false, packed(many(csvHead, wideRow, "", 30*mega))},
	{"columns.csv", true, many("", "a;", "\n", mega/2)},
	{"quotes.csv", false, many(csvHead, "\"\n", csvRow, 10*mega)},
	{"utf-16.csv.gz", true, packed(many("\xff\xfe", "x\x00", "", 170*mega))},
	{"nested.geojson", true, many(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"coordinates":`, "[", "", 10*mega)},
	{"string.geojson", true, many(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"street":"`, "x", "", 17<<20)},
	{"numbers.json", true, many(`[{"lat":1`, "0", `}]`, 10*mega)},
	{"bomb.zip", true, zipped(map[string]func(io.Writer){"a.csv": many(csvHead, "\n", "", 170*mega)})},
	{"members.zip", true, func(w io.Writer) {
		z := zip.NewWriter(w)
		for i := range 5_000 {
			z.Create(strconv.Itoa(i))
		}
		z.Close()
	}},
	{"zip-in-zip.zip", true, zipped(map[string]func(io.Writer){"a.zip": zipped(map[string]func(io.Writer){"a.csv": text(csvHead + csvRow)})})},
	{"places.txt", true, packed(many("US\t92602\tIrvine\tCalifornia\tCA\tOrange\t059\t\t\t33.7419\t-117.7467\t1\n", "\t", "\n", 170*mega))},
	{"alternates.txt", true, many("", "1\t2\tde\t", "", 10*mega)},

	{"shape-of-2-gb.zip", true, zipped(map[string]func(io.Writer){"a.shp": func(w io.Writer) { shp(3, 0, nil)(w); w.Write([]byte{0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff}) }, "a.dbf": text("x")})},
	{"parts-of-4-billion.zip", true, zipped(map[string]func(io.Writer){"a.shp": shp(3, 3, append(append([]byte{3, 0, 0, 0}, zeros(32)...), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)), "a.dbf": text("x")})},
	{"table-of-noise.zip", true, zipped(map[string]func(io.Writer){"a.shp": shp(3, 1, zeros(44)), "a.dbf": func(w io.Writer) { w.Write(bytes.Repeat([]byte{0xff}, 100_000)) }})},
	{"shapes.zip", true, zipped(map[string]func(io.Writer){"a.shp": shp(3, 12_000, zeros(44)), "a.dbf": many("\x03\x00\x00\x00\xff\xff\xff\x7f\x41\x00\x02\x00"+string(zeros(20))+"\x0d"+string(zeros(32)), " ", "", mega)})},
}

// TestHostileFiles imports each hostile file with small limits: it ends with an error
// that names the file, or with a gazetteer, never by a panic and never beyond its memory.
func TestHostileFiles(t *testing.T) {
	live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 {
		metrics.Read(live)
		return live[0].Value.Uint64()
	}
	// The bounds hold for the collector as the program runs it, whatever GOGC the tests run with.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if larger > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(425_000_000)) // as the program does
	}
	refused := 0
	for _, h := range hostileFiles {
		dir := t.TempDir()
		file := filepath.Join(dir, h.name)
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		h.fill(f)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		before, begun, done := heap(), time.Now(), make(chan error)
		go func() {
			o := Options{Memory: withinMemory, Growth: growth, TempDir: dir, Country: "DE"}
			if larger > 0 {
				o.Memory, o.Growth = 500_000_000, 0
			}
			_, err := o.Import(t.Context(), filepath.Join(dir, "gazetteer"), []string{file}, func(*Imported) {})
			done <- err
		}()
		largest := uint64(0)
		for ended := false; !ended; {
			select {
			case err = <-done:
				ended = true
			case <-time.After(time.Millisecond):
			}
			largest = max(largest, heap())
		}
		largest -= min(before, largest)
		if largest > mostHeap && larger == 0 || largest > 500_000_000 {
			t.Errorf("%s: %d MB of memory", h.name, largest/1e6)
		}
		if larger == 0 && (err != nil) != h.refused || err != nil && (strings.Contains(err.Error(), "panic") || !strings.Contains(err.Error(), h.name)) {
			t.Errorf("%s: refused %v, want %v: %v", h.name, err != nil, h.refused, err)
		}
		if err != nil {
			refused++
		}
		t.Logf("%-36s %4d MB %4.2f s  %.160v", h.name, largest/1e6, time.Since(begun).Seconds(), err)
	}
	t.Logf("%d of %d hostile files refused", refused, len(hostileFiles))
}
