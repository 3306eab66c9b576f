package tiger

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"

	"gazehound/gazetteer"
)

const csvHead = header + "\n"

func readCSV(text string, refuse gazetteer.Refuse) (places []gazetteer.Place, err error) {
	err = CSV(refuse)(context.Background(), strings.NewReader(text), func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	return places, err
}

func TestCSV(t *testing.T) {
	var refused []string
	places, err := readCSV(csvHead+
		"199;101;odd;Glenbrooke Ln;Autauga;AL;36066;LINESTRING(-86.418881 32.490945,-86.420629 32.490954)\n"+
		"302;305;even;Golson Rd;Autauga;AL;36067;LINESTRING(-86.55 32.45, -86.54 32.45)\n"+
		"1047;1075;all;Spring St;Autauga;al;36067;LINESTRING(-86.46 32.42)\n"+
		"\n"+
		"A1;5;odd;Spring St;Autauga;AL;36067;LINESTRING(-86.46 32.42)\n"+
		"1;5;odd;;Autauga;AL;36067;LINESTRING(-86.46 32.42)\n"+
		"1;5;odd;Spring St;Autauga;AL;;LINESTRING(-86.46 32.42)\n"+
		"1;5;odd;Spring St;Autauga;AL;36067;POINT(-86.46 32.42)\n"+
		"1;5;odd\n", func(row int, _ string, why error) { refused = append(refused, fmt.Sprint(row, " ", why)) })
	if err != nil || len(places) != 3 || len(refused) != 5 {
		t.Fatalf("%d places, refused %q, %v", len(places), refused, err)
	}
	for i, want := range []gazetteer.Range{{From: 199, To: 101, Step: 2}, {From: 302, To: 305, Step: 1}, {From: 1047, To: 1075, Step: 1}} {
		p := places[i]
		if r := p.Range; r.From != want.From || r.To != want.To || r.Step != want.Step || p.City != "" || p.State != "AL" || p.Country != "US" || p.Kind != gazetteer.Street {
			t.Errorf("%+v, range %+v", p, p.Range)
		}
	}
	if _, err := readCSV("a;b\n1;2\n", nil); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("another header: %v", err)
	}
	if _, err := readCSV(csvHead+"x\n", nil); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("no row: %v", err)
	}
}

func TestRealCounty(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "data", "gazetteer", "tiger-autauga-al-us", "01001.csv")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Skip("real data is missing: ", err)
	}
	if !SniffCSV(data) {
		t.Error("not recognised")
	}
	refused := 0
	places, err := readCSV(string(data), func(row int, text string, why error) {
		if refused++; refused < 10 {
			t.Logf("%d: %v: %.80s", row, why, text)
		}
	})
	if err != nil || len(places)+refused != 6213 || refused > 62 {
		t.Errorf("%d places, %d refused, %v", len(places), refused, err)
	}
}

// A feature is one row of a made-up shapefile.
type feature struct {
	line orb.LineString
	row  map[string]string
}

var columns = []string{"TLID", "FULLNAME", "LFROMHN", "LTOHN", "RFROMHN", "RTOHN", "ZIPL", "ZIPR", "PARITYL", "PARITYR"}

const columnWidth = 20

// shapefile makes the bytes of a .shp and its .dbf.
func shapefile(features []feature) (shp, dbf []byte) {
	var body []byte
	for i, f := range features {
		var rec []byte
		rec = binary.LittleEndian.AppendUint32(rec, 3)
		rec = append(rec, make([]byte, 32)...) // its box
		rec = binary.LittleEndian.AppendUint32(rec, 1)
		rec = binary.LittleEndian.AppendUint32(rec, uint32(len(f.line)))
		rec = binary.LittleEndian.AppendUint32(rec, 0)
		for _, p := range f.line {
			rec = binary.LittleEndian.AppendUint64(rec, math.Float64bits(p[0]))
			rec = binary.LittleEndian.AppendUint64(rec, math.Float64bits(p[1]))
		}
		body = binary.BigEndian.AppendUint32(body, uint32(i+1))
		body = binary.BigEndian.AppendUint32(body, uint32(len(rec)/2))
		body = append(body, rec...)
	}
	shp = binary.BigEndian.AppendUint32(nil, 9994)
	shp = append(shp, make([]byte, 20)...)
	shp = binary.BigEndian.AppendUint32(shp, uint32(100+len(body))/2)
	shp = binary.LittleEndian.AppendUint32(shp, 1000)
	shp = binary.LittleEndian.AppendUint32(shp, 3)
	shp = append(append(shp, make([]byte, 64)...), body...)

	width := 1 + columnWidth*len(columns)
	dbf = append([]byte{3, 124, 1, 1}, binary.LittleEndian.AppendUint32(nil, uint32(len(features)))...)
	dbf = binary.LittleEndian.AppendUint16(dbf, uint16(32+32*len(columns)+1))
	dbf = binary.LittleEndian.AppendUint16(dbf, uint16(width))
	dbf = append(dbf, make([]byte, 20)...)
	for _, c := range columns {
		d := make([]byte, 32)
		copy(d, c)
		d[11], d[16] = 'C', columnWidth
		dbf = append(dbf, d...)
	}
	dbf = append(dbf, '\r')
	for _, f := range features {
		dbf = append(dbf, ' ')
		for _, c := range columns {
			dbf = append(dbf, fmt.Sprintf("%-*s", columnWidth, f.row[c])...)
		}
	}
	return shp, append(dbf, 0x1a)
}

var roads = []feature{
	{orb.LineString{{-86.41, 32.49}, {-86.42, 32.49}}, map[string]string{"TLID": "77", "FULLNAME": "Glenbrooke Ln", "LFROMHN": "101", "LTOHN": "199", "RFROMHN": "100", "RTOHN": "198",
		"ZIPL": "36066", "PARITYL": "O", "PARITYR": "E"}},
	{orb.LineString{{-86.43, 32.49}, {-86.43, 32.5}}, map[string]string{"FULLNAME": "Golson Rd", "ZIPR": "36067"}},
	{orb.LineString{{-86.43, 32.49}, {-86.43, 32.5}}, map[string]string{}},
	{orb.LineString{{-86.43, 32.49}, {-86.43, 32.5}}, map[string]string{"FULLNAME": "Ca\xf1on Dr", "LFROMHN": "12-1", "LTOHN": "12-9", "RFROMHN": "2", "RTOHN": "9", "ZIPL": "36067", "ZIPR": "36067", "PARITYR": "B"}},
}

func readShapes(shp, dbf []byte, o Options) (places []gazetteer.Place, err error) {
	err = Shapefile(context.Background(), bytes.NewReader(shp), bytes.NewReader(dbf), o, func(p gazetteer.Place) error {
		places = append(places, p)
		return nil
	})
	return places, err
}

func TestShapefile(t *testing.T) {
	shp, dbf := shapefile(roads)
	refused := 0
	places, err := readShapes(shp, dbf, Options{State: "AL", Refuse: func(int, string, error) { refused++ }})
	if err != nil || len(places) != 4 || refused != 1 {
		t.Fatalf("%+v, %d refused, %v", places, refused, err)
	}
	left, right, bare, both := places[0], places[1], places[2], places[3]
	if left.Range.From != 101 || left.Range.Step != 2 || left.Postcode != "36066" || left.State != "AL" || left.ID != "tiger/77" || right.Range.To != 198 || right.Postcode != "36066" {
		t.Errorf("left %+v %+v, right %+v %+v", left, left.Range, right, right.Range)
	}
	// The road runs west, so its left is the south.
	l, r := left.Range.Line[0], right.Range.Line[0]
	if l[1] >= r[1] || math.Abs(geo.Distance(l, r)-2*sideOffset) > 0.1 {
		t.Errorf("left %v, right %v: %.2f m apart", l, r, geo.Distance(l, r))
	}
	if bare.Range != nil || !bare.HasPoint || bare.Street != "Golson Rd" || bare.Postcode != "36067" {
		t.Errorf("%+v", bare)
	}
	if both.Range.Step != 1 || both.Street != "Cañon Dr" {
		t.Errorf("%+v %+v", both, both.Range)
	}

	dir := t.TempDir()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for name, data := range map[string][]byte{"tl_2024_01001_addrfeat.shp": shp, "tl_2024_01001_addrfeat.dbf": dbf, "tl_2024_01001_addrfeat.prj": []byte("GEOGCS")} {
		w, _ := z.Create(name)
		w.Write(data)
		os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	z.Close()
	os.WriteFile(filepath.Join(dir, "tl_2024_01001_addrfeat.zip"), packed.Bytes(), 0o644)
	for _, name := range []string{"tl_2024_01001_addrfeat.shp", "tl_2024_01001_addrfeat.zip"} {
		path, n := filepath.Join(dir, name), 0
		err := Read(context.Background(), path, nil, func(p gazetteer.Place) error {
			n++
			if p.State != "AL" {
				t.Errorf("%s: state %q", name, p.State)
			}
			return nil
		})
		if err != nil || n != 4 || !IsShapefileAt(path) {
			t.Errorf("%s: %d places, %v", name, n, err)
		}
	}
	os.Remove(filepath.Join(dir, "tl_2024_01001_addrfeat.dbf"))
	if err := Read(context.Background(), filepath.Join(dir, "tl_2024_01001_addrfeat.shp"), nil, nil); err == nil || !strings.Contains(err.Error(), ".dbf is missing") {
		t.Errorf("without the table: %v", err)
	}
}

// TestBadShapefile cuts the files off at every byte: none of the pieces may be
// taken for a whole.
func TestBadShapefile(t *testing.T) {
	shp, dbf := shapefile(roads)
	for i := range shp {
		if _, err := readShapes(shp[:i], dbf, Options{}); err == nil {
			t.Errorf("the first %d of %d bytes of the shapes pass", i, len(shp))
		}
	}
	for i := range dbf[:len(dbf)-1] { // the last byte is the mark of the end
		if _, err := readShapes(shp, dbf[:i], Options{}); err == nil {
			t.Errorf("the first %d of %d bytes of the table pass", i, len(dbf))
		}
	}
	utm := bytes.Clone(shp)
	binary.LittleEndian.PutUint64(utm[36:], math.Float64bits(446531))
	if _, err := readShapes(utm, dbf, Options{}); !errors.Is(err, gazetteer.ErrFormat) || !strings.Contains(err.Error(), "ogr2ogr") {
		t.Errorf("metres: %v", err)
	}
	points := bytes.Clone(shp)
	points[32] = 1
	if _, err := readShapes(points, dbf, Options{}); !errors.Is(err, gazetteer.ErrFormat) {
		t.Errorf("points: %v", err)
	}
}

func TestStateOf(t *testing.T) {
	for name, want := range map[string]string{"tl_2024_06059_addrfeat.zip": "CA", "TL_2023_01001_ADDRFEAT.shp": "AL", "tl_2024_99001_addrfeat.shp": "", "x.shp": ""} {
		if got := StateOf(name); got != want {
			t.Errorf("StateOf(%q) = %q, want %q", name, got, want)
		}
	}
	if len(states) != 56 {
		t.Errorf("%d states", len(states))
	}
}

func checkPlace(t *testing.T, p gazetteer.Place) {
	t.Helper()
	if p.Street == "" || p.Postcode == "" {
		t.Errorf("a place without a street or postcode: %+v", p)
	}
	if p.Range != nil && (p.Range.From < 0 || p.Range.To < 0 || len(p.Range.Line) == 0 || p.Range.Step == 2 && p.Range.From%2 != p.Range.To%2) {
		t.Errorf("range %+v", p.Range)
	}
}

// FuzzCSV holds the law that every row is emitted or refused; a line that begins with # is no row.
func FuzzCSV(f *testing.F) {
	f.Add("199;101;odd;Glenbrooke Ln;Autauga;AL;36066;LINESTRING(-86.418881 32.490945,-86.420629 32.490954)\n")
	f.Add("1;5;all;a;b;c;d;LINESTRING(NaN 1e309)\n;;;;;;;\n")
	f.Add("# a comment\n")
	f.Fuzz(func(t *testing.T, text string) {
		refused := 0
		places, _ := readCSV(csvHead+text, func(int, string, error) { refused++ })
		for _, p := range places {
			checkPlace(t, p)
		}
		rows := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimRight(line, "\r") != "" && line[0] != '#' {
				rows++
			}
		}
		if rows != len(places)+refused {
			t.Errorf("%d rows, %d places, %d refused", rows, len(places), refused)
		}
	})
}

// FuzzShapefile: every place has a name and a coordinate on Earth.
func FuzzShapefile(f *testing.F) {
	shp, dbf := shapefile(roads)
	f.Add(shp, dbf)
	f.Fuzz(func(t *testing.T, shp, dbf []byte) {
		places, _ := readShapes(shp, dbf, Options{})
		for _, p := range places {
			checkPlace(t, p)
			if p.HasPoint && !(math.Abs(p.Point[0]) <= 180 && math.Abs(p.Point[1]) <= 90) {
				t.Errorf("%+v", p)
			}
		}
	})
}
