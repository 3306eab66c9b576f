package web

import (
	"bytes"
	"compress/gzip"
	"html/template"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/index/texts"
	"gazehound/internal/localtime"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

func TestLanguage(t *testing.T) {
	for _, c := range []struct{ asked, accept, want string }{
		{"", "", "en"}, {"", "de", "de"}, {"", "de-CH,fr;q=0.5", "de"}, {"", "fr", "en"}, {"", "fr,de;q=0.3", "de"}, {"de", "en", "de"}, {"en", "de", "en"}, {"fr", "de", "de"},
		{"<script>", "de", "de"}, {"", "\x00\xff;;;q=", "en"}, {"", strings.Repeat("de,", 1000), "en"}, {"DE-at", "", "de"},
	} {
		if got := Language(c.asked, c.accept); got != c.want {
			t.Errorf("Language(%q, %.20q) = %s, want %s", c.asked, c.accept, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	en, de := &view{Page: Page{Lang: "en"}, T: texts.Of("page", "en")}, &view{Page: Page{Lang: "de"}, T: texts.Of("page", "de")}
	day := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ got, want string }{
		{en.number(0), "0"}, {en.number(999), "999"}, {en.number(1000), "1,000"}, {de.number(1234567), "1.234.567"},
		{en.distance(0), "0 m"}, {en.distance(412), "410 m"}, {de.distance(999), "1,0 km"}, {en.distance(1234), "1.2 km"}, {de.distance(1234), "1,2 km"}, {de.distance(23456), "23 km"},
		{en.count("n_pages", 1), "1 page"}, {de.count("n_pages", 1200), "1.200 Seiten"}, {en.date(day), "3 Mar 2026"}, {de.date(day), "3. März 2026"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestSafeLink(t *testing.T) {
	for _, raw := range []string{"javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "vbscript:x", "", "//a.example/", "ftp://a.example/", "\x01javascript:x", "file:///etc/passwd"} {
		if got := safeLink(raw); got != "" {
			t.Errorf("%q passes as %q", raw, got)
		}
	}
	if safeLink("https://a.example/?a=b") == "" {
		t.Error("a web address does not pass")
	}
}

// Every hit with a coordinate lies on the map, inside its margin, wherever on
// earth; no number of the map is infinite or no number.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "hits")
		spread := rapid.SampledFrom([]float64{0, 1e-7, 0.01, 1, 60}).Draw(t, "spread")
		centre := orb.Point{rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-90, 90).Draw(t, "lat")}
		var hits []card
		for i := range n {
			p := orb.Point{
				max(-180, min(180, centre[0]+spread*rapid.Float64Range(-1, 1).Draw(t, "dx"))),
				max(-90, min(90, centre[1]+spread*rapid.Float64Range(-1, 1).Draw(t, "dy"))),
			}
			hits = append(hits, card{Number: i + 1, Hit: &index.Hit{HasPoint: true, Point: p, Name: "x"}, v: &view{}})
		}
		outline := orb.MultiPolygon{{{{8, 53}, {9, 53}, {9, 54}, {8, 53}}}}
		v := view{Page: Page{Outline: outline, Asked: true, Result: &index.Result{}}, Hits: hits}
		m := v.draw()
		shown := 0
		for _, p := range m.Pins {
			if !m.Has(p.X, p.Y) {
				t.Fatalf("pin at %v, %v", p.X, p.Y)
			}
			shown += 1 + p.More
		}
		if shown != n {
			t.Fatalf("%d of %d hits are on the map", shown, n)
		}
		if strings.Contains(m.Region, "NaN") || strings.Contains(m.Region, "Inf") || math.IsNaN(m.Bar) || math.IsInf(m.Bar, 0) || m.Bar <= 0 {
			t.Fatalf("region %.100q, bar %v", m.Region, m.Bar)
		}
	})
}

// The server's map has the streets that lie on it, large ones before small ones
// where there are too many.
func TestLayers(t *testing.T) {
	outline := orb.MultiPolygon{{{{8, 53}, {8.1, 53}, {8.1, 53.06}, {8, 53.06}, {8, 53}}}}
	var asked orb.Bound
	shapes := func(b orb.Bound) (all []gazetteer.Shape) {
		asked = b
		for i := range 20_000 {
			y := 53 + 0.06*float64(i)/20_000
			all = append(all, gazetteer.Shape{Kind: gazetteer.MinorRoad, Lines: []orb.LineString{{{8, y}, {8.1, y}}}})
		}
		return append(all, gazetteer.Shape{Kind: gazetteer.MajorRoad, Lines: []orb.LineString{{{8.05, 53.01}, {8.05, 53.01}, {8.06, 53.03}}}}, gazetteer.Shape{Kind: gazetteer.Path, Lines: []orb.LineString{{{8, 53}, {8.1, 53.06}}}})
	}
	v := view{Page: Page{Outline: outline, Result: &index.Result{}, Shapes: shapes}}
	m := v.draw()
	if !asked.Contains(orb.Point{8, 53}) || !asked.Contains(orb.Point{8.1, 53.06}) || asked.Max[0]-asked.Min[0] > 0.3 {
		t.Errorf("shapes of %v were asked for", asked)
	}
	if len(m.Layers) != 2 || m.Layers[0].Kind != "minor" || m.Layers[1].Kind != "major" || strings.Count(m.Layers[1].Path, "l") != 1 {
		t.Fatalf("layers %.200v", m.Layers)
	}
	if n := len(m.Layers[0].Path); n < export.MaxLayers/2 || n > export.MaxLayers+100 {
		t.Errorf("small streets take %d bytes", n)
	}
}

func TestDrawNothing(t *testing.T) {
	if m := (&view{Page: Page{Result: &index.Result{}}}).draw(); m != nil {
		t.Errorf("a map of nothing: %+v", m)
	}
}

// A reader on a slow line waits for less than 100 kB before the map is there.
func TestWeight(t *testing.T) {
	if !HasMap() {
		t.Skip("the moving map is not built in (make ui)")
	}
	sum := 0
	for _, a := range Assets() {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		z.Write(a.Body)
		z.Close()
		sum += packed.Len()
	}
	t.Logf("style sheets and script: %d bytes as sent", sum)
	if sum > 80_000 {
		t.Errorf("%d bytes, which leaves too little of 100 kB for the page", sum)
	}
	if !strings.Contains(string(Assets()[1].Body[:4000]), "Volodymyr Agafonkin") {
		t.Error("the bundle does not begin with the licences of what it holds")
	}
	for _, a := range Assets() {
		if strings.Contains(string(a.Body), "unpkg.com") || strings.Contains(string(a.Body), "tile.openstreetmap.org") {
			t.Errorf("%s names another server", a.Path)
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, c := range []struct{ tiles, want string }{
		{"https://tile.example/{z}/{x}/{y}.png", "https://tile.example"}, {"http://127.0.0.1:8080/{z}/{x}/{y}", "http://127.0.0.1:8080"}, {"https://{s}.tile.example/{z}/{x}/{y}.png", "https://*.tile.example"},
		{"", ""}, {"tile.example/{z}", ""}, {"ftp://tile.example/{z}", ""}, {"javascript://a/", ""}, {"https:///{z}", ""}, {"https://a.example;script-src *//{z}", ""}, {"https://a b/{z}", ""}, {"https://{a}.example/", ""},
	} {
		if got := Origin(c.tiles); got != c.want {
			t.Errorf("Origin(%q) = %q, want %q", c.tiles, got, c.want)
		}
		if p := Policy(Origin(c.tiles)); strings.Contains(p, "unsafe") || !strings.HasPrefix(p, "default-src 'none'; script-src 'self'; ") {
			t.Errorf("policy %q", p)
		}
	}
}

// An outline keeps its form and fits every page, whatever it was.
func TestCoarse(t *testing.T) {
	circle := func(n int, waves float64) orb.Ring {
		var ring orb.Ring
		for i := range n {
			a := float64(i) / float64(n) * 2 * math.Pi
			r := 0.1 + 0.01*math.Sin(waves*a)
			ring = append(ring, orb.Point{8 + r*math.Cos(a), 53 + r*math.Sin(a)})
		}
		return append(ring, ring[0])
	}
	for _, c := range []struct {
		name    string
		outline orb.MultiPolygon
	}{
		{"a town", orb.MultiPolygon{{circle(800, 7)}}}, {"a jagged coast", orb.MultiPolygon{{circle(60_000, 500)}}}, {"with a hole", orb.MultiPolygon{{circle(900, 3), circle(900, 5)}}},
	} {
		coarse := Coarse(c.outline)
		corners := 0
		for _, polygon := range coarse {
			for _, ring := range polygon {
				corners += len(ring)
				if !ring.Closed() {
					t.Errorf("%s: a ring is open", c.name)
				}
			}
		}
		was, is := c.outline.Bound(), coarse.Bound()
		if len(coarse) != 1 || len(coarse[0]) != len(c.outline[0]) || corners < 50 || corners > maxOutline || math.Abs(was.Max[0]-is.Max[0])+math.Abs(was.Min[1]-is.Min[1]) > 0.005 {
			t.Errorf("%s: %d polygons, %d corners, %v was %v", c.name, len(coarse), corners, is, was)
		}
	}
	var islands orb.MultiPolygon
	for i := range 3000 {
		x := float64(i) * 0.001
		islands = append(islands, orb.Polygon{{{x, 1}, {x + 0.0005, 1}, {x, 1.0005 + 1e-4*float64(i%5)}, {x, 1}}})
	}
	if coarse := Coarse(append(islands, orb.Polygon{circle(900, 3)})); len(coarse) == 0 || len(coarse) > maxOutline/4 {
		t.Errorf("%d of many islands", len(coarse))
	}
	if Coarse(nil) != nil {
		t.Error("an outline of nothing")
	}
}

// The data for the script escapes what could end its element.
func TestData(t *testing.T) {
	v := view{Page: Page{Outline: orb.MultiPolygon{{{{8, 53}, {9, 53}, {9, 54}, {8, 53}}}}, Form: Form{"q": {"</script><script>alert(1)</script>"}}}, T: texts.Of("page", "en"),
		Hits: []card{{Number: 1, Hit: &index.Hit{Name: "</script><!--"}, v: &view{}}}}
	d := v.data()
	v.Data = d
	for _, name := range scriptTexts {
		if d.Texts[name] == "" {
			t.Errorf("the script has no text %q", name)
		}
	}
	var page strings.Builder
	if err := template.Must(template.New("x").Parse(`<script type="application/json">{{.}}</script>`)).Execute(&page, d); err != nil {
		t.Fatal(err)
	}
	if strings.Count(page.String(), "<") != 2 {
		t.Errorf("markup inside of the data: %.300s", page.String())
	}
}

// What pages state of contacts is shown where it is what it claims to be.
func TestContact(t *testing.T) {
	monday := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	v := &view{Page: Page{Lang: "de", Clock: localtime.Clock{Fixed: monday}}, T: texts.Of("page", "de")}
	got := v.contact(&index.Hit{Phone: "+4944112345", Email: "info@harms.example", Website: "https://www.harms.example/x", Hours: "Mo-Fr 08:00-18:00; Tu,Su off; PH closed"})
	want := contact{Phone: "+49 441 12345", Dial: "tel:+4944112345", Email: "info@harms.example", Site: "harms.example", SiteURL: "https://www.harms.example/x",
		Hours: "Mo–Fr 08:00–18:00 · Di,So geschlossen · Feiertage geschlossen", State: "geöffnet bis 18:00", Open: true}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, c := range []struct{ hours, at, want string }{
		{"Mo-Fr 08:00-18:00", "2026-11-23T18:30:00Z", "geschlossen, öffnet Dienstag 08:00"}, {"Mo-Fr 08:00-18:00", "2026-11-23T07:00:00Z", "geschlossen, öffnet 08:00"},
		{"24/7", "2026-11-23T07:00:00Z", "jetzt geöffnet"}, {"Mo-Fr 08:00-18:00", "2026-12-25T10:00:00Z", "heute ist Feiertag: vielleicht andere Zeiten"},
		{"nach Vereinbarung", "2026-12-25T10:00:00Z", ""},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		v.Clock = localtime.Clock{Fixed: at, Country: "DE"}
		if got, _ := v.state(&index.Hit{Hours: c.hours}); got != c.want {
			t.Errorf("%s at %s: %q, want %q", c.hours, c.at, got, c.want)
		}
	}
	if got := openingHours("Mo-Su 10:00-14:00; We off", texts.Of("page", "en")); got != "Mo–Su 10:00–14:00 · We closed" {
		t.Errorf("in English %q", got)
	}
	const nth = "1., letzter Sa im Monat 10:00–12:00"
	if got := openingHours("Sa[1,-1] 10:00-12:00", texts.Of("page", "de")); got != nth {
		t.Errorf("some days of a month: %q, want %q", got, nth)
	}
	for _, h := range []index.Hit{
		{Phone: "javascript:alert(1)"}, {Phone: "+49 441"}, {Phone: "+49;ext=1"}, {Email: "a@b?cc=c@d"}, {Email: "a b@c"}, {Email: "<a>@b"}, {Email: "a@b,c@d"},
		{Website: "javascript:alert(1)"}, {Website: "//x"}, {},
	} {
		if got := v.contact(&h); got != (contact{}) {
			t.Errorf("%+v becomes %+v", h, got)
		}
	}
}

// Texts have a contrast of 4.5 with what is behind them, and what shows where a
// control or the focus is one of 3 (WCAG 2.2, AA), in both colour schemes.
func TestContrast(t *testing.T) {
	for _, sheet := range []struct {
		files       []string
		texts, rims []string // "INK PAPER"
	}{
		{[]string{"style.css", "src/app.css"},
			[]string{"ink paper", "ink card", "ink warn", "ink sea", "quiet paper", "quiet card", "quiet sea", "accent paper", "accent card", "accent warn", "accent-ink accent", "pin card", "pin-ink pin", "mark-ink mark",
				"map-name map-land", "map-place map-land", "map-water-name map-water", "map-green-name map-green"},
			[]string{"quiet card", "quiet paper", "accent paper", "accent card", "accent map-land", "pin map-land", "pin map-water", "pin map-green", "map-region map-land"}},
		{[]string{"../../crawler/monitor/dashboard.css"},
			[]string{"ink paper", "ink card", "ink warn", "quiet paper", "quiet card", "accent paper", "accent card", "accent-ink accent", "pin card"},
			[]string{"accent card", "accent paper", "for card", "against card", "pin land", "accent land"}},
	} {
		light, dark := map[string]string{}, map[string]string{}
		for _, file := range sheet.files {
			css, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			roots := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllSubmatch(css, -1)
			if len(roots) != 2 {
				t.Fatalf("%s has %d blocks of colours", file, len(roots))
			}
			for i, to := range []map[string]string{light, dark} {
				for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllSubmatch(roots[i][1], -1) {
					to[string(m[1])] = string(m[2])
				}
			}
		}
		for scheme, colours := range map[string]map[string]string{"light": light, "dark": dark} {
			for least, pairs := range map[float64][]string{4.5: sheet.texts, 3: sheet.rims} {
				for _, pair := range pairs {
					a, b, _ := strings.Cut(pair, " ")
					if colours[a] == "" || colours[b] == "" {
						t.Fatalf("%v %s has no colour %q", sheet.files, scheme, pair)
					}
					if got := contrast(t, colours[a], colours[b]); got < least {
						t.Errorf("%s %s: %s on %s has a contrast of %.2f, want %v", sheet.files[0], scheme, a, b, got, least)
					}
				}
			}
		}
	}
	if got := contrast(t, "#777777", "#ffffff"); math.Abs(got-4.48) > 0.01 { // known from WCAG's own tools
		t.Errorf("grey on white has %v", got)
	}
}

// contrast is that of two colours by WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(colour string) (sum float64) {
		n, err := strconv.ParseUint(colour[1:], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(n>>(16-8*i)&255) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// What a card says of the map is what was found there, however complete the address is.
func TestReasonsAreChecks(t *testing.T) {
	for _, c := range []struct {
		precision, street, number, place, want string
	}{
		{"house", "Bahnhofstraße", "12", "way/7", "the map knows this street with this number"},
		{"house", "Bahnhofstraße", "12", "list:7", "a list of addresses beside OpenStreetMap"},
		{"interpolated", "Bahnhofstraße", "12", "way/7", "but not this number"},
		{"street", "Bahnhofstraße", "12", "way/7", "but not this number"},
		{"street", "Bahnhofstraße", "", "way/7", "the map knows this street"},
		{"street", "Bahnhofstraße", "12", "geonames/DE/26122", "the map does not know this street"}, // the page has its coordinates
		{"postcode", "Bahnhofstraße", "12", "26122", "the street is as the page states it"},         // no streets in the gazetteer
		{"city", "Bahnhofstraße", "12", "7", "the map knows the town; the street is as"},
		{"postcode", "", "", "26122", "no street was read"},
		{"none", "Bahnhofstraße", "12", "", "the map does not know its place"},
	} {
		h := index.Hit{Street: c.street, HouseNumber: c.number, Precision: c.precision, Place: c.place, Level: "verified",
			Confidence: 0.97, Evidence: []index.Evidence{{}}}
		got := Reasons(&h, "en")[0]
		if !strings.Contains(got, c.want) || strings.Contains(got, "agree") {
			t.Errorf("%+v: %q; want %q", c, got, c.want)
		}
		if de := Reasons(&h, "de")[0]; !strings.Contains(de, ": ") || strings.HasSuffix(de, ": ") {
			t.Errorf("%+v: no German sentence: %q", c, de)
		}
	}
}

// The card proves where an address comes from: the sentence with the address
// marked, how sure it is and why, the object of the map, and when it was seen.
func TestCardIsProof(t *testing.T) {
	text := "Zahnarzt Weber, Bahnhofstraße 12, 26122 Oldenburg, Termine"
	at := strings.Index(text, "Bahnhof")
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	h := index.Hit{ID: "0123456789abcdef", Name: "Weber", Street: "Bahnhofstraße", HouseNumber: "12", Confidence: 0.97, Level: "verified",
		HasPoint: true, Precision: "house", Place: "node/42", Hosts: 3, FirstSeen: day, LastSeen: day.AddDate(0, 0, 1), Distance: -1,
		Evidence: []index.Evidence{{URL: "https://a.example/", Fetched: day, Origin: "json-ld", Snippet: index.Snippet{
			Text: text, Address: [2]int{at, at + len("Bahnhofstraße 12, 26122 Oldenburg")}, Marks: [][2]int{{0, 8}, {at, at + len("Bahnhofstraße")}}}}}}
	var b strings.Builder
	if err := Render(&b, Page{Lang: "en", One: true, Asked: true, Result: &index.Result{Total: 1, Hits: []index.Hit{h}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<mark>Zahnarzt</mark> Weber, <b class="at"><mark>Bahnhofstraße</mark></b><b class="at"> 12, 26122 Oldenburg</b>, Termine`,
		"Very sure (97 %): the map knows this street with this number", "3 websites say the same", "JSON-LD",
		"Position: the house itself", `href="https://www.openstreetmap.org/node/42"`, "First seen 21 Nov 2026, last seen 22 Nov 2026",
		`<span class="quiet">read on 21 Nov 2026</span>`, // the page has no title
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the card lacks %q", want)
		}
	}
}

// Before the first address the page shows the region, and while a crawl runs it
// says so and comes again.
func TestFirstMinute(t *testing.T) {
	outline := orb.MultiPolygon{{{{8, 53}, {8.1, 53}, {8.1, 53.1}, {8, 53}}}}
	for _, crawling := range []bool{false, true} {
		var b strings.Builder
		if err := Render(&b, Page{Lang: "en", Outline: outline, Result: &index.Result{}, Crawling: crawling}); err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{
			`class="land"`: true, "No pages yet": true, "The crawl is running": crawling, `http-equiv="refresh"`: crawling,
		} {
			if strings.Contains(b.String(), text) != want {
				t.Errorf("crawling %v: %q is there: %v", crawling, text, !want)
			}
		}
	}
}
