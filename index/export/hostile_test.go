package export

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/internal/textutil"

	"github.com/paulmach/orb"
	"golang.org/x/net/html"
)

// dangerous reports whether a spreadsheet would compute a cell, by a rule of its
// own: the first character decides, and after a sign anything but digits and
// what stands between them.
func dangerous(cell string) bool {
	if cell == "" {
		return false
	}
	switch []rune(cell)[0] {
	case '=', '@', '\t', '\r', '\n', '＝', '＠', '＋', '－':
		return true
	case '+', '-':
		return strings.Trim(cell[1:], "0123456789 ()/.-") != "" || cell == "+" || cell == "-"
	}
	return false
}

func TestGuard(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "Lange Straße": "Lange Straße", "=1+1": "'=1+1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "+49 441 12345": "+49 441 12345", "+49 (0)441/123-45": "+49 (0)441/123-45",
		"-8.5": "-8.5", "-1+cmd|' /C calc'!A0": "'-1+cmd|' /C calc'!A0", "+A1": "'+A1", "-": "'-", "-.-": "'-.-", "'=1": "'=1", "＝1": "'＝1", " =1": " =1", "+": "'+", "- Platz -": "'- Platz -",
	} {
		if got := textutil.Guard(cell); got != want {
			t.Errorf("%q becomes %q, want %q", cell, got, want)
		}
	}
}

// No cell is a formula, none is lost, and a guarded one stays as it is.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"=1", "+49 441", "-1-1", "\r\n=1", "@a", "\"=1\"", "a,b;c", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		got := textutil.Guard(cell)
		if dangerous(got) {
			t.Errorf("%q is still a formula", got)
		}
		if got != cell && got != "'"+cell {
			t.Errorf("%q becomes %q", cell, got)
		}
		if textutil.Guard(got) != got {
			t.Errorf("guarded twice: %q", textutil.Guard(got))
		}
		if got != cell && !strings.ContainsRune("=@+-\t\r\n＝＠＋－", []rune(cell)[0]) {
			t.Errorf("%q becomes %q without need", cell, got)
		}
		if plain.MatchString(cell) && strings.ContainsAny(cell, "\"=(){}&|!,;") {
			t.Errorf("%q goes into a formula", cell)
		}
	})
}

// Whatever is escaped is one text of the same characters for a reader, but
// for those that XML cannot hold.
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"<a>", "]]>", "\x00\x0b", "&amp;", `"'`, "\ufffe", "\xff", "\r\n\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := `<a b="` + escape(text) + `">` + escape(text) + "</a>"
		want := strings.Map(func(r rune) rune {
			if r == '\t' || r == '\n' || r == '\r' || 0x20 <= r && r <= 0xd7ff || 0xe000 <= r && r <= 0xfffd || 0x10000 <= r {
				return r
			}
			return '\ufffd'
		}, text)
		dec := xml.NewDecoder(strings.NewReader(doc))
		for i := 0; ; i++ {
			token, err := dec.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: %v", doc, err)
			}
			switch e := token.(type) {
			case xml.StartElement:
				if i > 0 || len(e.Attr) != 1 || e.Attr[0].Value != want {
					t.Errorf("%q is read as %+v", doc, e)
				}
			case xml.CharData:
				if string(e) != want {
					t.Errorf("%q is read as %q", doc, e)
				}
			}
		}
	})
}

// Whatever pages write: every export is read back by its readers, with every
// address, and nothing of a page becomes markup, script, formula or line.
func TestHostile(t *testing.T) {
	pieces := []string{"<script>alert(1)</script>", "\"><b>", "'", "]]>", "<!--", "{{.}}", "=1+1", "+A1", "@x", "\t", "\r\n", "\x1e", "\x00", "\u2028", "\u202e", "&lt;", "javascript:alert(1)", "Lange Straße", "12", ",", ";", "--", "\ufffd", "<![CDATA["}
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var s string
		for range 1 + random.IntN(4) {
			s += pieces[random.IntN(len(pieces))]
		}
		return s
	}
	var all []shop
	for i := range 60 {
		s := shop{
			url: fmt.Sprintf("https://a%d.example/%s", i, text()), title: text(), name: text(), street: text(), number: text(), code: text(), city: text(),
			before: text(), osm: text(), lon: 8 + float64(i)/100, lat: 53, precision: gazetteer.StreetPrecision, confidence: 1,
		}
		if !stored.MatchString(s.url) {
			s.url = fmt.Sprintf("https://a%d.example/", i)
		}
		all = append(all, s)
	}
	x := town(t, all)
	for range 5 {
		for _, f := range Formats() {
			o := options()
			o.Evidence = !f.facts
			o.Region, o.Attribution, o.Licence = text(), text(), text()
			got, _ := export(t, x, f.Name, o)
			check(t, f.Name, got, len(all))
		}
	}
}

// stored matches URLs that the crawl can have kept.
var stored = regexp.MustCompile(`^https?://[^\s\x00-\x1f\x7f]+$`)

// checkHTML reads a page as a browser does: nothing on it runs or loads, every
// link leads to a page of the web or within, and every dot to an entry.
func checkHTML(t testing.TB, text string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields("html head meta title style body h1 h2 p svg g path a circle main ul li b br small q footer")
	ids := map[string]bool{}
	var targets []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(known, n.Data) {
			t.Errorf("html: element %s comes from a page", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
				t.Errorf("html: attribute %s=%q", a.Key, a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				targets = append(targets, a.Val[1:])
			case a.Key == "href" && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://"):
				t.Errorf("html: link to %q", a.Val)
			}
		}
	}
	for _, id := range targets {
		if !ids[id] {
			t.Errorf("html: no entry %q", id)
		}
	}
}

// The page has the streets of the base map that lie on its map, and words of its
// own in the language that was chosen.
func TestPageInGerman(t *testing.T) {
	o := options()
	o.Lang = "de"
	var asked orb.Bound
	o.Shapes = func(b orb.Bound) []gazetteer.Shape {
		asked = b
		return []gazetteer.Shape{{Kind: gazetteer.MajorRoad, Lines: []orb.LineString{{{8.2, 53.1}, {8.25, 53.15}}}}, {Kind: gazetteer.Water, Lines: []orb.LineString{{{8.2, 53.1}, {8.21, 53.1}, {8.21, 53.11}, {8.2, 53.1}}}}}
	}
	text, _ := export(t, town(t, shops), "html", o)
	checkHTML(t, text)
	for _, want := range []string{`<html lang="de">`, "Adressen in Oldenburg", "Lage zwischen Nachbarn geschätzt", `<path class="water" d="M`, `<path class="major" d="M`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page is without %s", want)
		}
	}
	if !asked.Contains(orb.Point{8.2187, 53.15262}) || !asked.Contains(orb.Point{13.73, 51.05}) {
		t.Errorf("the base map was asked for %v", asked)
	}
	for name, o := range map[string]Options{"csv": {Lang: "de"}, "html": {Lang: "fr"}, "kml": {Datasette: true}} {
		f, _ := Lookup(name)
		if err := o.Validate(f); !errors.Is(err, ErrOptions) {
			t.Errorf("%s with %+v: %v", name, o, err)
		}
	}
}

func TestDatasette(t *testing.T) {
	o := options()
	o.Datasette = true
	if text, _ := export(t, town(t, shops), "csv", o); !strings.HasPrefix(text, "latitude,longitude,ref,") {
		t.Errorf("%.60q", text)
	}
}

// Excel's form of a number is read back as the number.
func TestExcel(t *testing.T) {
	o := options()
	o.Excel = true
	text, _ := export(t, town(t, shops), "csv", o)
	text, ok := strings.CutPrefix(text, byteOrderMark)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	column := slices.Index(rows[0], "addr:postcode")
	found := false
	for _, row := range rows[1:] {
		found = found || row[column] == `="01067"`
	}
	if !found {
		t.Error(`no postcode ="01067"`)
	}
}
