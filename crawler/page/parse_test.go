package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/geoparse/markup"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func response(t testing.TB, url, contentType, body string) *Response {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	r := &Response{URL: u, Status: 200, Header: http.Header{}, Body: []byte(body)}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func parse(t testing.TB, r *Response) *Page {
	t.Helper()
	p, err := Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, p)
	return p
}

// The pages of testdata, one folder a country: what is in the golden file is
// all that the crawl knows of them.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".html")
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p := parse(t, response(t, "http://www.town.example/"+filepath.Base(file), "text/html", string(body)))
			links := []any{}
			for _, l := range p.Links {
				links = append(links, nonZero(t, map[string]string{"To": l.To.String(), "Anchor": l.Anchor, "Title": l.Title, "Around": l.Around}))
			}
			statements := []any{}
			for _, s := range markup.Read(p.Doc).Statements {
				statements = append(statements, nonZero(t, s))
			}
			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			err = e.Encode(nonZero(t, map[string]any{"Title": p.Title, "Lang": p.Lang, "Charset": p.Charset,
				"Text": strings.Split(p.Text, "\n"), "Links": links, "Statements": statements}))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(name+".golden", got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != got.String() {
				t.Errorf("page differs from %s.golden (rewrite with -update):\n%s", name, got.String())
			}
		})
	}
}

// nonZero returns the fields of v that say something.
func nonZero(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for k, v := range fields {
		if v == "" || v == 0.0 || v == false {
			delete(fields, k)
		}
	}
	return fields
}

func TestCharset(t *testing.T) {
	const text = "Müller & Söhne, Straße 1 – Zürich €"
	page := func(head string) string {
		return "<html><head>" + head + "</head><p>" + strings.ReplaceAll(text, "&", "&amp;")
	}
	encode := func(e interface{ String(string) (string, error) }, s string) string {
		out, err := e.String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	cp1252 := charmap.Windows1252.NewEncoder()
	meta := func(label string) string { return `<meta charset="` + label + `">` }
	for _, c := range []struct{ name, contentType, body, charset string }{
		{"nothing said, Latin-1", "", encode(cp1252, page("")), "windows-1252"},
		{"nothing said, UTF-8", "", page(""), "utf-8"},
		{"UTF-8 late", "text/html", page(strings.Repeat("<meta name=x>", 500)), "utf-8"},
		{"header", "text/html; charset=windows-1252", encode(cp1252, page("")), "windows-1252"},
		{"header quoted, upper case", `text/html; Charset="ISO-8859-1"`, encode(cp1252, page("")), "windows-1252"},
		{"header twice", "text/html; charset=iso-8859-1; charset=utf-8", encode(cp1252, page("")), "windows-1252"},
		{"header wrong, UTF-8 all the same", "text/html; charset=iso-8859-1", page(""), "utf-8"},
		{"header bogus, meta right", "text/html; charset=ISO-8559-1", encode(cp1252, page(meta("windows-1252"))), "windows-1252"},
		{"header bogus, no meta", "text/html; charset=ISO-8559-1", encode(cp1252, page("")), "windows-1252"},
		{"meta pragma", "", encode(cp1252, page(`<meta http-equiv=Content-Type content="text/html; charset=iso-8859-1">`)), "windows-1252"},
		{"meta says UTF-8, is Latin-1", "", encode(cp1252, page(meta("utf-8"))), "utf-8"},
		{"charset in a script", "", encode(cp1252, page(`<script>x='<meta charset="koi8-r">'; charset=koi8-r</script><!--<meta charset=koi8-r>-->`)), "windows-1252"},
		{"charset in a description", "", encode(cp1252, page(`<meta name=description content="charset=koi8-r">`)), "windows-1252"},
		{"meta says UTF-16", "", page(meta("utf-16")), "utf-8"},
		{"UTF-8 mark", "text/html; charset=koi8-r", "\xef\xbb\xbf" + page(""), "utf-8"},
		{"UTF-16 mark", "", encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), page("")), "utf-16le"},
		{"UTF-16 big", "", encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(), page("")), "utf-16be"},
		{"UTF-16 by header", "text/html; charset=utf-16le", encode(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(), page("")), "utf-16le"},
		{"cut off", "", page("") + "<p hidden>ü\xc3", "utf-8"},
		{"put together", "", strings.Repeat(page(""), 3)[:len(page(""))] + "<p hidden>" + strings.Repeat("ü", 50) + "\xfc", "utf-8"},
		{"a replacement encoding", "text/html; charset=iso-2022-kr", page(""), "utf-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse(t, response(t, "http://a.example/", c.contentType, c.body))
			if p.Text != text || p.Charset != c.charset {
				t.Errorf("text %q in %s; want %q in %s", p.Text, p.Charset, text, c.charset)
			}
		})
	}
	for label, body := range map[string]string{
		"shift_jis":   encode(japanese.ShiftJIS.NewEncoder(), "<meta charset=shift_jis><p>東京都"),
		"iso-2022-jp": encode(japanese.ISO2022JP.NewEncoder(), "<meta charset=iso-2022-jp><p>東京都"),
	} {
		if p := parse(t, response(t, "http://a.example/", "text/html", body)); p.Text != "東京都" || p.Charset != label {
			t.Errorf("text %q in %s; want %s", p.Text, p.Charset, label)
		}
	}
}

func TestNotHTML(t *testing.T) {
	for _, body := range []string{"%PDF-1.4\n<html>", "\x89PNG\r\n\x1a\n", "PK\x03\x04", "\x1f\x8b\x08\x00"} {
		if _, err := Parse(response(t, "http://a.example/", "text/html", body)); !errors.Is(err, ErrNotHTML) {
			t.Errorf("%q: error %v", body, err)
		}
	}
	for body, want := range map[string]string{"": "", "BMW in Wien": "BMW in Wien", "\x00\x01\x02": "", "<": "<"} {
		if p := parse(t, response(t, "http://a.example/", "text/html", body)); p.Text != want {
			t.Errorf("text of %q: %q", body, p.Text)
		}
	}
	if p := parse(t, response(t, "http://a.example/", "text/plain; charset=utf-8", "Markt 1\n<b>Ort</b> &amp; x")); p.Text != "Markt 1\n<b>Ort</b> &amp; x" {
		t.Errorf("plain text: %q", p.Text)
	}
}

func TestLinks(t *testing.T) {
	for _, c := range []struct {
		name, page string
		want       []Link // To without the host, see below
	}{
		{"relative, absolute, other hosts", `<a href=b>x</a><a href=/c>y</a><a href=//o.example/>z</a><a href="HTTPS://O.example:443/ü">w</a>`,
			[]Link{{Anchor: "x", Title: "/a/b"}, {Anchor: "y", Title: "/c"}, {Anchor: "z", Title: "http://o.example/"}, {Anchor: "w", Title: "https://o.example/%C3%BC"}}},
		{"no links", `<a>x</a><a href=#x>x</a><a href="">x</a><a href=javascript:x()>x</a><a href=mailto:x@y.example>x</a><a href=data:text/html,x>x</a><a href="http://">x</a><a href=p>self</a><a href="p#x">self</a>`, nil},
		{"nofollow", `<a rel="external NoFollow" href=b>x</a><a rel=nofollower href=c>y</a>`, []Link{{Anchor: "y", Title: "/a/c"}}},
		{"not seen", `<!-- <a href=b>x</a> --><script type=ignore><a href=c>x</a></script><template><a href=d>x</a></template><style><a href=e></style><noembed><a href=f></noembed>`, nil},
		{"no scripts, no frames", `<noscript><a href=b>x</a></noscript><frameset><noframes><a href=c>y</a></noframes></frameset>`, []Link{{Anchor: "x", Title: "/a/b"}, {Anchor: "y", Title: "/a/c"}}},
		{"hidden menu", `<nav style="display:none"><a href=b><b>x</b> y</a></nav>`, []Link{{Anchor: "x y", Title: "/a/b"}}},
		{"frames and areas", `<iframe src=b title=x></iframe><map><area href=c alt="y z"></map>`, []Link{{Title: "/a/b"}, {Anchor: "y z", Title: "/a/c"}}},
		{"fragments", `<nav data-include="menu.html"></nav><div hx-get=/foot hx-trigger=load>Lädt</div><div hx-get=/more><p>x</p></div>` +
			`<button hx-get=/delete hx-confirm=x>y</button><div data-include=z><a href=b>x</a></div>`,
			[]Link{{Title: "/a/menu.html"}, {Anchor: "Lädt", Title: "/foot"}, {Anchor: "x", Title: "/a/b"}}},
		{"frameset", `<frameset><frame src=d></frameset>`, []Link{{Title: "/a/d"}}},
		{"pictures and labels", `<a href=b><img alt=" Ein  Bild "><img></a><a href=c aria-label=Menü><svg><title>x</title></svg></a><a href=d><img alt=no>Wort</a>`,
			[]Link{{Anchor: "Ein Bild", Title: "/a/b"}, {Anchor: "Menü", Title: "/a/c"}, {Anchor: "Wort", Title: "/a/d"}}},
		{"once, with the words", `<a href=b><img></a><a href=b#x>Wort</a><a href=./b>Später</a>`, []Link{{Anchor: "Wort", Title: "/a/b"}}},
		{"link elements", `<link rel=next href=n><link rel=stylesheet href=s><link rel="alternate" hreflang=en href=e><link rel=alternate type=application/rss+xml href=r><link rel=icon href=i>`,
			[]Link{{Title: "/a/n"}, {Title: "/a/e"}}},
		{"refresh", `<meta http-equiv=refresh content="0; URL='b'"><meta http-equiv=Refresh content="3,c"><meta http-equiv=refresh content=5><meta http-equiv=refresh content="0;url=p">`,
			[]Link{{Title: "/a/b"}, {Title: "/a/c"}}},
		{"base", `<base href="/x/"><base href="/y/"><a href=b>x</a><a href="#top">y</a><a href="">z</a>`, []Link{{Anchor: "x", Title: "/x/b"}}},
		{"base of another host", `<base href="http://o.example/"><a href=b>x</a>`, []Link{{Anchor: "x", Title: "http://o.example/b"}}},
		{"hostile base", `<base href="javascript:x"><base href="/x/"><a href=b>x</a>`, []Link{{Anchor: "x", Title: "/a/b"}}},
		{"nested", `<a href=b>x<table><td><a href=c>y</a></table>z</a>`, []Link{{Anchor: "x y z", Title: "/a/b"}, {Anchor: "y", Title: "/a/c"}}},
		{"robots", `<meta name=ROBOTS content="index, NoFollow"><a href=b>x</a>`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse(t, response(t, "http://a.example/a/p", "", c.page))
			var got []Link
			for _, l := range p.Links {
				got = append(got, Link{Anchor: l.Anchor, Title: strings.TrimPrefix(l.To.String(), "http://a.example")})
			}
			if len(got) != len(c.want) {
				t.Fatalf("links %+v; want %+v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("link %d = %q to %q; want %q to %q", i, got[i].Anchor, got[i].Title, c.want[i].Anchor, c.want[i].Title)
				}
			}
		})
	}
}

func TestAround(t *testing.T) {
	long := strings.Repeat("wort ", 60)
	for _, c := range []struct{ name, page, want string }{
		{"in a line", "<p>davor<p>Das <a href=x>Rathaus</a> am <a href=y>Markt</a>, 26122 Ort<p>danach", "Das am Markt, 26122 Ort"},
		{"alone in a block", "<h2>Kontakt</h2><p><a href=x>Rathaus</a></p><p>26122 Ort</p>", "Kontakt 26122 Ort"},
		{"menu", "<h2>Ämter</h2><ul><li><a href=x>Start</a><li><a href=y>Kontakt</a></ul>", "Ämter"},
		{"middle of a menu", "<ul><li><a href=u>Start</a><li><a href=x>Kontakt</a><li><a href=w>Impressum</a></ul>", ""},
		{"menu in one line", "<p>Amt<p><a href=u>Start</a> | <a href=x>Kontakt</a> | <a href=w>Impressum</a><p>Fuß", "Amt Fuß"},
		{"table", "<tr><td>Rathaus</td><td><a href=x>Karte</a></td><td>Markt 1</td></tr>", "Rathaus Markt 1"},
		{"long", long + "<a href=x>x</a> " + long, strings.TrimSpace(strings.Repeat("wort ", 39))},
		{"no spaces", strings.Repeat("ü", 500) + "<a href=x>x</a>" + strings.Repeat("ä", 500), strings.Repeat("ü", 99) + " " + strings.Repeat("ä", 100)},
		{"picture", "<p>vor <a href=x><img alt=Bild></a> nach", "vor nach"},
		{"picture before its words", "<ul><li>davor<li><a href=x><img></a> Markt 1<li>danach</ul>", "Markt 1"},
		{"picture above its words", "<p>davor<div><a href=x><img></a></div><p>Markt 1", "Markt 1"},
		{"hidden", "<p>vor<p hidden><a href=x>x</a></p>", "vor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parse(t, response(t, "http://a.example/", "", c.page))
			for _, l := range p.Links {
				if l.To.Path() == "/x" {
					if l.Around != c.want {
						t.Errorf("around %q; want %q", l.Around, c.want)
					}
					return
				}
			}
			t.Error("link not found")
		})
	}
}

func TestRobots(t *testing.T) {
	for _, c := range []struct {
		header            []string
		meta              string
		noIndex, noFollow bool
	}{
		{nil, "", false, false},
		{nil, "<meta name=robots content=noindex>", true, false},
		{nil, "<meta name=Robots content='NONE'>", true, true},
		{nil, "<meta name=robots content='index,follow'><meta name=GazeHound content='nofollow'>", false, true},
		{nil, "<meta name=googlebot content=none>", false, false},
		{nil, "<body><meta name=robots content='noarchive, nofollow'>", false, true},
		{[]string{"noindex, nofollow"}, "", true, true},
		{[]string{"noindex", "nofollow"}, "", true, true},
		{[]string{"googlebot: noindex, nofollow"}, "", false, false},
		{[]string{"otherbot: noindex, gazehound: nofollow"}, "", false, true},
		{[]string{"Gazehound: noindex, nofollow"}, "", true, true},
		{[]string{"unavailable_after: 25 Jun 2010 15:00:00 PST"}, "", false, false},
		{[]string{"max-snippet: 20, nofollow"}, "", false, true},
		{[]string{"*: noindex"}, "", true, false},
		{[]string{"noindexer, :, ,,"}, "", false, false},
	} {
		r := response(t, "http://a.example/", "", c.meta+"<a href=x>x</a>")
		r.Header["X-Robots-Tag"] = c.header
		p := parse(t, r)
		if p.NoIndex != c.noIndex || p.NoFollow != c.noFollow || (len(p.Links) == 0) != c.noFollow {
			t.Errorf("%q, %s: noindex %v, nofollow %v, %d links", c.header, c.meta, p.NoIndex, p.NoFollow, len(p.Links))
		}
	}
}

func TestNoArchive(t *testing.T) {
	for meta, want := range map[string]bool{
		"<meta name=robots content=noarchive>":           true,
		"<meta name=gazehound content='index, nocache'>": true,
		"<meta name=otherbot content=noarchive>":         false,
		"<meta name=robots content='noindex, nofollow'>": false,
	} {
		if p := parse(t, response(t, "http://a.example/", "", meta)); p.NoArchive != want {
			t.Errorf("%s: noarchive %v, want %v", meta, p.NoArchive, want)
		}
	}
	r := response(t, "http://a.example/", "", "<p>x")
	r.Header["X-Robots-Tag"] = []string{"noarchive"}
	if !parse(t, r).NoArchive {
		t.Error("X-Robots-Tag: noarchive was not heard")
	}
}

// Whoever reserves the rights to text and data mining says so with a 1, in the
// header or in the page; noarchive asks for no copy.
func TestReservations(t *testing.T) {
	for _, c := range []struct {
		header, tag, page   string
		reserved, noArchive bool
	}{
		{"", "", "<p>x", false, false},
		{"1", "", "<p>x", true, false},
		{"0", "", "<p>x", false, false},
		{"0", "", "<meta name=tdm-reservation content=1>", true, false},
		{"", "", "<meta name='TDM-Reservation' content=' 1 '>", true, false},
		{"", "", "<meta name=tdm-reservation content=0><meta name=tdm-policy content='https://a.example/p.json'>", false, false},
		{"", "noarchive", "<p>x", false, true},
		{"", "otherbot: noarchive", "<p>x", false, false},
		{"", "", "<meta name=robots content='noindex,noarchive'>", false, true},
	} {
		r := response(t, "http://a.example/", "", c.page)
		if c.header != "" {
			r.Header.Set("tdm-reservation", c.header)
		}
		if c.tag != "" {
			r.Header.Set("X-Robots-Tag", c.tag)
		}
		if p := parse(t, r); p.Reserved != c.reserved || p.NoArchive != c.noArchive {
			t.Errorf("%+v: reserved %v, noarchive %v", c, p.Reserved, p.NoArchive)
		}
	}
}

func TestLanguage(t *testing.T) {
	german := strings.Repeat("<p>Das Rathaus der Stadt ist am Montag und am Dienstag für alle Bürger geöffnet, sonst nach Vereinbarung.", 3)
	english := strings.Repeat("<p>The city hall is open to the public on Monday and Tuesday, and by appointment on all the other days.", 3)
	for _, c := range []struct{ page, header, want string }{
		{"<html lang=de-AT>" + english, "", "de"},
		{"<html lang=DE_de>", "", "de"},
		{"<html lang=deu>", "", "de"},
		{"<html xml:lang=fr>", "", "fr"},
		{"<html lang=german>" + english, "", "en"},
		{"<html lang='" + strings.Repeat("x", 1000) + "'>", "", ""},
		{"<html lang=nds>" + german, "", "de"},
		{"<meta http-equiv=content-language content='it, en'>", "", "it"},
		{"<meta property=og:locale content=nl_NL>", "", "nl"},
		{"x", "es-ES, en", "es"},
		{german, "", "de"},
		{english, "", "en"},
		{"<p>kurz", "", ""},
		{strings.Repeat("<li>a1.zip 2010-01-01 12:00 37K", 100), "", ""},
	} {
		r := response(t, "http://a.example/", "", c.page)
		if c.header != "" {
			r.Header.Set("Content-Language", c.header)
		}
		if p := parse(t, r); p.Lang != c.want {
			t.Errorf("%.80s, %q: language %q; want %q", c.page, c.header, p.Lang, c.want)
		}
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct{ page, title, canonical string }{
		{"<title> A\n &amp; B </title><title>C</title>", "A & B", ""},
		{"<svg><title>x</title></svg><title>A</title>", "A", ""},
		{"<meta property=og:title content=' A  B '>", "A B", ""},
		{"<title>" + strings.Repeat("ü", 1000) + "</title>", strings.Repeat("ü", MaxTitle), ""},
		{"<link rel=canonical href=/x><link rel=canonical href=/y>", "", "http://www.a.example/x"},
		{"<link rel=canonical href=http://a.example/x>", "", "http://a.example/x"},
		{"<link rel=canonical href=http://evil.test/x>", "", ""},
		{"<link rel=canonical href='http://['>", "", ""},
	} {
		p := parse(t, response(t, "http://www.a.example/", "", c.page))
		canonical := ""
		if len(p.Links) > 0 {
			canonical = p.Links[0].To.String()
		}
		if p.Title != c.title || canonical != c.canonical {
			t.Errorf("%.80s: title %q, first link %q; want %q, %q", c.page, p.Title, canonical, c.title, c.canonical)
		}
	}
}

// Every page costs what its length lets expect. Memory is the measure, because
// it does not depend on what else the machine does.
func TestHostilePages(t *testing.T) {
	for name, body := range map[string]string{
		"many links":          strings.Repeat("<a href=x>", 2e5),
		"different links":     strings.Repeat("<a href=x>y</a> <a href=%>", 2e4),
		"hidden links":        "<p hidden>" + strings.Repeat("<a href=x></a>", 5e4),
		"bad links":           strings.Repeat("<a href=http://"+strings.Repeat("@", 1900)+">x</a>", 500),
		"long links":          strings.Repeat("<a href='"+strings.Repeat("%a/../", 300)+"'>x</a>", 500),
		"nested links":        strings.Repeat("<a href=x><table><td>y ", 2e4),
		"one link":            "<a href=x>" + strings.Repeat("<b>y ", 5e4),
		"metas":               strings.Repeat("<meta http-equiv=refresh content='0;url=x'><meta name=robots content=index><link rel=next href=y>", 3e3),
		"titles":              strings.Repeat("<title>x</title>", 2e4),
		"bases":               strings.Repeat("<base href=x>", 2e4),
		"nested divs":         strings.Repeat("<div>", 1e5) + "<a href=x>y</a>",
		"attributes":          "<a " + strings.Repeat("a b=c ", 1e5) + "href=x>y</a>",
		"one attribute":       "<a href=x title='" + strings.Repeat("x ", 1e6) + "'>y</a>",
		"NULs":                "<a\x00 href=x\x00>\x00y</a>" + strings.Repeat("\x00", 1e5),
		"broken UTF-8":        strings.Repeat("\xff\xc3<a href=\xff>\xe2\x28</a>", 1e4),
		"a line without end":  strings.Repeat("wort ", 1e5) + "<a href=x>y</a>" + strings.Repeat("wort", 1e5),
		"canonicals":          strings.Repeat("<link rel=canonical href=x>", 1e4),
		"languages":           strings.Repeat("<html lang=x>", 1e4),
		"endless declaration": "<meta charset='" + strings.Repeat("x", 1e6),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		p, err := Parse(response(t, "http://a.example/", "text/html; charset="+strings.Repeat("x", 1000), body))
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkPage(t, p)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d bytes, %v, %d links, %d bytes allocated for each", name, len(body), took, len(p.Links), allocated/len(body))
		if allocated > 500*len(body)+40<<20 {
			t.Errorf("%s: %d bytes allocated for %d", name, allocated, len(body))
		}
		if took > 30*time.Second {
			t.Errorf("%s: %d bytes took %v", name, len(body), took)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("text/html", "noindex", []byte("<html lang=de><base href=/x/><title>T</title><p>vor <a href=y title=z>Wort</a> nach<a href=y><img alt=b></a>"))
	f.Add("text/html; charset=koi8-r", "gazehound: nofollow", []byte("<meta http-equiv=refresh content='0;url=x'><link rel=canonical href=//a.example/>\xff\xfe"))
	f.Add("text/plain", "", []byte("\xff\xfe<\x00a\x00"))
	f.Add("x", "", []byte("<iframe src=a></iframe><area href=b><a href='http:x'><a href=\"?q\">"))
	f.Fuzz(func(t *testing.T, contentType, robots string, body []byte) {
		r := response(t, "http://www.a.example/a/b?c=d", contentType, string(body))
		r.Header.Set("X-Robots-Tag", robots)
		p, err := Parse(r)
		if err != nil {
			if !errors.Is(err, ErrNotHTML) {
				t.Error(err)
			}
			return
		}
		checkPage(t, p)
		if string(r.Body) != string(body) {
			t.Error("Parse changed the body")
		}
	})
}

// What scripts have made of a page is in UTF-8, and the queries of its links are those of a page in its own charset.
func TestRenderedCharset(t *testing.T) {
	r := response(t, "http://a.example/", "text/html", "<p>Stra\xdfe")
	r.Rendered = []byte(`<p>Straße <a href="/s?q=ü">mehr</a>`)
	p := parse(t, r)
	if p.Charset != "windows-1252" || p.Text != "Straße mehr" || len(p.Links) != 1 ||
		p.Links[0].To.String() != "http://a.example/s?q=%FC" {
		t.Errorf("%+v", p)
	}
}
