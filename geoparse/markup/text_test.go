package markup

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"blocks", "<p>a<p>b<div>c</div>d<ul><li>e<li>f</ul><h1>g</h1>h", "a\nb\nc\nd\ne\nf\ng\nh"},
		{"break", "Hauptstr. 1<br>26122 Oldenburg<br/><br>Tel", "Hauptstr. 1\n26122 Oldenburg\nTel"},
		{"cells", "<table><tr><td>a<td>b<tr><th>c</table>", "a\nb\nc"},
		{"definitions", "<dl><dt>Adresse<dd>Markt 1<dt>Ort<dd>Krems</dl>", "Adresse\nMarkt 1\nOrt\nKrems"},
		{"address", "x<address>Markt 1</address>y", "x\nMarkt 1\ny"},
		{"options", "<select><option>Bern<option>Basel</select>", "Bern\nBasel"},
		{"inline stays joined", "Haupt<b>str</b>aße <i>1</i><span>a</span>", "Hauptstraße 1a"},
		{"boxes by their style", `Haus<span style="display: block">Reents</span>` +
			`<span style="top: 4px;">Markt 1</span><b style="left:0; position:absolute">Oldenburg</b>`,
			"Haus\nReents\nMarkt 1\nOldenburg"},
		{"moved in its line", `Reents<b style="position:relative; top:-2px">GmbH</b> a<i style="margin-top:1px">b</i>`,
			"Reents GmbH ab"},
		{"elements divide numbers", "<span>Germantown WI 53022</span><span>118 Main St</span>", "Germantown WI 53022 118 Main St"},
		{"elements divide words", "<a>Kontakt</a><a>Impressum</a><b>AGB</b><i>FAQ</i>", "Kontakt Impressum AGB FAQ"},
		{"number behind a name", "<span>Lange Straße</span><span>5</span><span>26122</span><span>Oldenburg</span>", "Lange Straße 5 26122 Oldenburg"},
		{"capital behind text", "Telefon<b>Kontakt</b>Adresse", "Telefon Kontakt Adresse"},
		{"split words stay joined", "<b>W</b>elcome <i>Haupt</i><b>straße</b> <a>17</a><sup>th</sup> <b>i</b>Phone", "Welcome Hauptstraße 17th iPhone"},
		{"counters stay joined", "<span>2</span><span>0</span><span>4</span> <b>H</b><b>E</b><b>Y</b>", "204 HEY"},
		{"raised numbers stay joined", "<b>Abschnitt</b><sup>2</sup>", "Abschnitt2"},
		{"white space", "  a \t\n b\u00a0\u2003c  <b> d</b>  ", "a b c d"},
		{"picture is a gap", "Markt<img src=x alt=no>1", "Markt 1"},
		{"pre", "<pre>\nMarkt 1\n\n  26122   Ort\n</pre>x", "Markt 1\n26122 Ort\nx"},
		{"soft hyphen", "Olden\u00adburg Olden&shy;burg", "Oldenburg Oldenburg"},
		{"zero width", "1\u200b2\u200e3\ufeff4\u202e", "1234"},
		{"controls", "a\x00b\x07c\x7fd\u0085e", "abcd e"},
		{"icon font", "\ue001 0441\ue0a0235", "0441 235"},
		{"composed", "Mu\u0308ller <b>u</b>\u0308", "Müller ü"},
		{"entities", "M&uuml;ller &amp; S&ouml;hne &#8211; &lt;b&gt;", "Müller & Söhne – <b>"},
		{"script and style", "a<script>b</script><style>c</style><template>d</template><svg><text>e</text></svg>f", "a f"},
		{"title and head", "<head><title>t</title><meta name=x content=y></head>b", "b"},
		{"no body tag", "<title>t</title><p>b", "b"},
		{"noscript", "<noscript><p>a &uuml;</p></noscript>b", "a ü\nb"},
		{"frames", "<frameset><frame src=x><noframes><p>a</noframes></frameset>", "a"},
		{"hidden", "a<p hidden>b<b>c</b></p>d<p style='color:red; Display : NONE !important'>e</p>f<p style='display:block'>g</p>", "a\nd\nf\ng"},
		{"hidden until found", "<div hidden=until-found>a</div>b", "b"},
		{"iframe text", "<iframe src=x>no frames</iframe>a", "a"},
		{"textarea", "<textarea>a\nb</textarea>c", "a\nb\nc"},
		{"unclosed svg", "<svg><path d=x>a<p>b", "b"},
		{"svg with html", "<svg><foreignObject><div>a</div></foreignObject></svg>b", "b"},
		{"comment", "a<!-- b <p>c -->d", "ad"},
		{"stray ends", "a</div>b</span>c</p>d</br>e", "abc\nd\ne"},
		{"bold over paragraphs", "<b><p>Markt 1</b> 26122 Ort</p>x", "Markt 1 26122 Ort\nx"},
		{"link over blocks", "<a href=x><div>a</div>b</a>c", "a\nbc"},
		{"text in a table", "<table>a<tr><td>b</table>c", "a\nb\nc"},
		{"form in a table", "<table><form><tr><td>a</form><td>b</table>", "a\nb"},
		{"line separators", "a\u2028b\u2029c", "a b c"},
		{"nothing", "", ""},
		{"no breaks at the ends", "<p></p><br><p>a</p><br>", "a"},
		{"plaintext", "a<plaintext><b>x</b>\n&amp;", "a\n<b>x</b>\n&amp;"},
		{"arabic and hebrew stay", "<p>שלום 12 רחוב", "שלום 12 רחוב"},
	} {
		if got := Text(Parse([]byte(c.page))); got != c.want {
			t.Errorf("%s: Text(%q) = %q; want %q", c.name, c.page, got, c.want)
		}
	}
}

// The trees of html.Parse, whose noscript is raw text, must do as well.
func TestTextOfOtherTrees(t *testing.T) {
	doc, err := html.Parse(strings.NewReader("<noscript><img src=x></noscript><p>a<p>b"))
	if err != nil {
		t.Fatal(err)
	}
	if got := Text(doc); got != "a\nb" {
		t.Errorf("text %q", got)
	}
	if got := Text(&html.Node{Type: html.TextNode, Data: " x  y "}); got != "x y" {
		t.Errorf("text of a text %q", got)
	}
}

func TestTextSpans(t *testing.T) {
	page := "<p>vor <a id=1><b> der </b>Tu\u0308r</a>, <a id=2><img></a><p><a id=3>nach</a><p hidden><a id=4>x</a></p><a id=5>u\u0308<a id=6>\u0308</a>"
	text, spans := TextSpans(Parse([]byte(page)), func(n *html.Node) bool { return n.Data == "a" })
	if text != Text(Parse([]byte(page))) {
		t.Errorf("text %q", text)
	}
	want := []string{"der Tür", "", "nach", "", "ü\u0308", ""}
	if len(spans) != len(want) {
		t.Fatalf("%d spans; want %d", len(spans), len(want))
	}
	for i, s := range spans {
		if got := text[s.Start:s.End]; got != want[i] {
			t.Errorf("span %d = %q; want %q", i, got, want[i])
		}
	}
}

// hostile are pages that make careless programs slow, big or dead. n is about
// their length in bytes.
func hostile(n int) map[string]string {
	repeat := func(s string) string { return strings.Repeat(s, n/len(s)) }
	var fonts strings.Builder
	for i := range n / 100 {
		fonts.WriteString("<font size=" + strings.Repeat("1", i%7) + " id=" + string(rune('a'+i%26)) + ">")
	}
	return map[string]string{
		"nested divs":           repeat("<div>"),
		"nested divs, text":     repeat("<div>1 "),
		"nested and closed":     strings.Repeat("<div>", n/11) + "deep" + strings.Repeat("</div>", n/11),
		"nested links":          repeat("<a href=x><table><td>"),
		"nested svg":            repeat("<svg>"),
		"nested items":          repeat("<ul><li>"),
		"nested spans":          repeat("<span>"),
		"unknown ends":          repeat("a</x>"),
		"ends under spans":      "<x><div>" + strings.Repeat("<span>", 250) + repeat("</x>"),
		"paragraphs in bold":    "<p>" + fonts.String() + "</p>" + repeat("<p>x"),
		"text in table":         "<table>" + repeat("x<tr>"),
		"entities":              repeat("&amp;&#0;&notin;"),
		"half entities":         repeat("&am"),
		"one text":              repeat("text "),
		"one word":              repeat("x"),
		"one attribute":         "<p title='" + repeat("x ") + "'>a",
		"attributes":            "<p " + repeat("a1 b2=x ") + ">a",
		"open tag":              "<p " + repeat("<"),
		"angle brackets":        repeat("<"),
		"comments":              repeat("<!--"),
		"doctypes":              repeat("<!doctype x>"),
		"accents":               "a" + repeat("\u0301"),
		"hangul":                repeat("\u1100\u1161\u11a8"),
		"accents in links":      repeat("<a>u\u0308</a>"),
		"NULs":                  repeat("\x00"),
		"broken UTF-8":          repeat("\xff\xc3\x28\xa0\xa1\xe2\x28\xa1"),
		"styles":                repeat("<p style='a:b;display:non'>"),
		"templates":             repeat("<template><p>x"),
		"tables":                repeat("<table><tr><td>"),
		"selects":               repeat("<select><option>"),
		"forms":                 repeat("<form><p></form>"),
		"headings":              repeat("<h1>a<h2>b"),
		"CDATA":                 "<svg>" + repeat("<![CDATA[x]]>"),
		"plaintext":             "<plaintext>" + repeat("<b>x"),
		"itemscopes":            repeat("<p itemscope itemprop=address>"),
		"item properties":       "<p itemscope>" + repeat("<b itemprop=streetAddress>x"),
		"flat item properties":  "<p itemscope>" + repeat("<b itemprop=streetAddress>x</b>"),
		"vcards":                repeat("<p class='vcard adr geo'>"),
		"addresses":             repeat("<address>x"),
		"map links":             repeat("<a href='https://maps.google.com/?q=Markt+1'>"),
		"JSON nesting":          "<script type=application/ld+json>" + repeat(`{"address":`) + "</script>",
		"JSON lists":            "<script type=application/ld+json>" + repeat(`[`) + "</script>",
		"JSON addresses":        "<script type=application/ld+json>[" + repeat(`{"address":"x"},`) + "1]</script>",
		"JSON scripts":          repeat(`<script type=application/ld+json>{"address":"x"}</script>`),
		"JSON quotes":           "<script type=application/ld+json>address" + repeat(`"\`) + "</script>",
		"address of HTML":       `<script type=application/ld+json>{"address":"` + repeat("<div>") + `"}</script>`,
		"geo metas":             repeat("<meta name=geo.position content='1;2'>"),
		"bodies":                repeat("<body><html><head>"),
		"buttons in paragraphs": "<p>" + repeat("<button><p>"),
		"rubies":                repeat("<ruby><rt>x"),
		"foreign ends":          "<math>" + repeat("</mi><mi>"),
	}
}

// What makes html.Parse slow or big or fail must not do so here. Memory is the
// measure, because it does not depend on what else the machine does: growth
// faster than the page would show as a multiple of these bounds.
func TestHostilePages(t *testing.T) {
	n := 1 << 17
	if testing.Short() {
		n = 1 << 15
	}
	for name, page := range hostile(n) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		doc := Parse([]byte(page))
		text := Text(doc)
		found := Read(doc).Statements
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d bytes, %v, %d bytes allocated for each", name, len(page), took, allocated/len(page))
		runtime.GC()
		runtime.ReadMemStats(&after)
		if used := int(after.HeapAlloc) - int(before.HeapAlloc); used > 500*len(page)+10<<20 {
			t.Errorf("%s: %d bytes in use for %d", name, used, len(page))
		}
		if took > 20*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(page), took)
		}
		checkText(t, text)
		checkStatements(t, found)
		depth := 0
		for n := deepest(doc); n != nil; n = n.Parent {
			depth++
		}
		if depth > 512 {
			t.Errorf("%s: depth %d", name, depth)
		}
	}
}

func deepest(doc *html.Node) *html.Node {
	var at *html.Node
	depth, most := 0, 0
	walk(doc, 1<<40, func(n *html.Node) bool {
		if depth++; depth > most {
			at, most = n, depth
		}
		return true
	}, func(*html.Node) { depth-- })
	return at
}

// checkText asserts the laws of Text.
func checkText(t testing.TB, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("text is no UTF-8")
	}
	if strings.Contains(text, "  ") || strings.Contains(text, "\n\n") || strings.Contains(text, " \n") || strings.Contains(text, "\n ") ||
		strings.TrimSpace(text) != text {
		t.Errorf("text has empty lines or superfluous spaces: %.200q", text)
	}
	for _, r := range text {
		if r != '\n' && r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r)) {
			t.Errorf("text has %q", r)
			return
		}
	}
}

func checkStatements(t testing.TB, found []Statement) {
	t.Helper()
	if len(found) > MaxStatements {
		t.Errorf("%d statements", len(found))
	}
	for _, s := range found {
		for _, field := range []string{s.Name, s.Street, s.Unit, s.POBox, s.Postcode, s.City, s.State, s.Country, s.Phone} {
			if utf8.RuneCountInString(field) > MaxField || strings.Contains(field, "\n") {
				t.Errorf("field %.300q of %s", field, s.Origin)
			}
			checkText(t, field)
		}
		checkText(t, s.Raw)
		if utf8.RuneCountInString(s.Raw) > MaxRaw {
			t.Errorf("Raw has %d characters", utf8.RuneCountInString(s.Raw))
		}
		if s.Origin == PlainText || !s.says() || s.HasPoint && !onEarth(s.Lat, s.Lon) || !s.HasPoint && (s.Lat != 0 || s.Lon != 0) {
			t.Errorf("statement %+v", s)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, page := range hostile(2000) {
		f.Add([]byte(page))
	}
	for _, seed := range []string{"<p>Markt 1<br>26122 Olden\u00adburg", "<svg><title>a<p>b", "<a href=x><p>a</a>b", "<pre>\r\n a", "<table><a><td></a>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		doc := Parse(page)
		text, spans := TextSpans(doc, func(n *html.Node) bool { return n.Type == html.ElementNode })
		checkText(t, text)
		if again := Text(Parse([]byte("<pre>" + html.EscapeString(text)))); again != text {
			t.Errorf("text %q becomes %q", text, again)
		}
		last := 0
		for _, s := range spans {
			if s.Start < last || s.Start > s.End || s.End > len(text) {
				t.Errorf("span %d:%d of %d, after one that starts at %d", s.Start, s.End, len(text), last)
			}
			last = s.Start
		}
		checkStatements(t, Read(doc).Statements)
	})
}

// Characters from dashes to signs need not be composed, nor do they join the one before them.
func TestSignsAreWhole(t *testing.T) {
	for r := rune(dashes); r <= signs; r++ {
		p := norm.NFC.PropertiesString(string(r))
		if !p.BoundaryBefore() || !norm.NFC.IsNormalString(string(r)) {
			t.Errorf("%U", r)
		}
	}
}
