package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"gazehound/crawler/weburl"
)

func at(t testing.TB) weburl.URL {
	u, err := weburl.Parse("https://a.example/sitemap.xml")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func packed(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

const small = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
 <url><loc> https://a.example/kontakt?a=1&amp;b=2 </loc><lastmod>2026-11-01</lastmod><image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>
 <url><loc>https://a.example/alt</loc><lastmod>9999-01-01</lastmod></url>
 <url><loc><![CDATA[https://a.example/c]]></loc></url>
 <url><loc>https://b.example/</loc></url><url><loc>javascript:alert(1)</loc></url><url><loc>https://a.example/c</loc></url>
</urlset>`

func TestRead(t *testing.T) {
	index := `<sitemapindex><sitemap><loc>https://a.example/s1.xml.gz</loc><lastmod>2026-11-01T10:00:00+01:00</lastmod></sitemap><sitemap><loc>https://a.example/sitemap.xml</loc></sitemap></sitemapindex>`
	for _, c := range []struct {
		name, file     string
		pages, lists   string
		foreign, bad   int
		cut, wantError bool
	}{
		{name: "list", file: small, pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "gzip", file: packed(small), pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "BOM", file: "\ufeff" + small, pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "Latin-1", file: "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>https://a.example/stra\xdfe</loc></url></urlset>", pages: "/stra%C3%9Fe"},
		{name: "behind a warning", file: "<br />\n<b>Notice</b>: no index in karte.php<br />\n" + small, pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "UTF-16", file: "\xff\xfe" + wide(strings.Replace(small, "UTF-8", "UTF-16", 1)), pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "raw ampersand", file: "<urlset><url><loc>https://a.example/l?art=1&seite=2</loc></url><url><loc>https://a.example/z</loc></url></urlset>", pages: "/l?art=1&seite=2 /z"},
		{name: "entity of HTML", file: "<urlset><url><loc>https://a.example/caf&eacute;</loc></url></urlset>", pages: "/caf%C3%A9"},
		{name: "two locations", file: "<sitemapindex><sitemap><loc>https://a.example/1.xml</loc><loc>https://a.example/2.xml</loc></sitemap></sitemapindex>", lists: "/1.xml /2.xml"},
		{name: "index, also of itself", file: index, lists: "/s1.xml.gz /sitemap.xml"},
		{name: "text", file: "https://a.example/1\r\n\nhttps://a.example/2\nftp://a.example/3", pages: "/1 /2", bad: 1},
		{name: "text with BOM", file: "\ufeffhttps://a.example/1\n", pages: "/1"},
		{name: "XML 1.1", file: strings.Replace(small, `"1.0"`, `"1.1"`, 1), pages: "/kontakt?a=1&b=2 /alt /c", foreign: 1, bad: 1},
		{name: "control character", file: "<urlset><url><title>a\x0b\x00</title><loc>https://a.example/k</loc></url></urlset>", pages: "/k"},
		{name: "broken UTF-8", file: "<?xml version='1.0' encoding='UTF-8'?><urlset><url><title>\xe4</title><loc>https://a.example/k</loc></url></urlset>", pages: "/k"},
		{name: "reference without a semicolon", file: "<urlset><url><loc>https://a.example/l?a=1&copy=2&sect=3</loc></url></urlset>", pages: "/l?a=1&copy=2&sect=3"},
		{name: "entry not closed", file: "<urlset><url><loc>https://a.example/1</loc><url><loc>https://a.example/2</loc></url></urlset>", pages: "/1 /2"},
		{name: "prefixes", file: "<s:urlset xmlns:s='x'><s:url><s:loc>https://a.example/1</s:loc><i:image><i:loc>https://a.example/b.png</i:loc></i:image></s:url></s:urlset>", pages: "/1"},
		{name: "with www", file: "<urlset><url><loc>https://www.a.example/1</loc></url><url><loc>https://shop.a.example/2</loc></url></urlset>", pages: "/1", foreign: 1},
		{name: "RSS", file: `<?xml version="1.0"?><rss version="2.0" xmlns:atom="x"><channel><title>A</title><link>https://a.example/</link><atom:link href="https://a.example/feed" rel="self"/><item><title>Laden & Hof</title><link>https://a.example/laden</link><guid>https://a.example/?p=1</guid></item></channel></rss>`, pages: "/laden"},
		{name: "RSS 1.0", file: `<rdf:RDF xmlns:rdf="x"><channel/><item rdf:about="y"><link><![CDATA[https://a.example/l?a=1&copy=2]]></link></item></rdf:RDF>`, pages: "/l?a=1&copy=2"},
		{name: "Atom", file: `<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.example/"/><entry><link rel="edit" href="https://a.example/edit"/><link rel="alternate" href="https://a.example/1?a=1&amp;b=2"/></entry><entry><link href='https://a.example/2'></link></entry></feed>`, pages: "/1?a=1&b=2 /2"},
		{name: "text with carriage returns", file: "https://a.example/1\rhttps://a.example/2\r", pages: "/1 /2"},
		{name: "XML with carriage returns", file: "<?xml version='1.0'?>\r<urlset>\r<url>\r<loc>\rhttps://a.example/1\r</loc></url></urlset>", pages: "/1"},
		{name: "empty list", file: "<urlset/>"},
		{name: "cut off", file: small[:400], pages: "/kontakt?a=1&b=2 /alt", wantError: true},
		{name: "HTML", file: "<!DOCTYPE html><html><body>not found", wantError: true},
		{name: "words", file: "no such page", wantError: true},
		{name: "half of gzip", file: packed(small)[:60], wantError: true},
		{name: "entity bomb", file: `<!DOCTYPE u [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>`, wantError: true},
		{name: "nested", file: "<urlset>" + strings.Repeat("<a>", 100_000), wantError: true},
		{name: "pages beyond the limit", file: "<urlset>" + many(300) + "</urlset>", pages: "200", cut: true},
		{name: "bytes beyond the limit", file: packed("<urlset><url><loc>https://a.example/1</loc></url><url><loc>" + strings.Repeat("x", 300_000)), pages: "/1", cut: true},
		{name: "bomb", file: packed("<urlset>" + strings.Repeat(" ", 8<<20)), cut: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read(strings.NewReader(c.file), at(t), Limits{Bytes: 200_000, Entries: 200})
			pages, lists := paths(got.Pages), paths(got.Lists)
			if c.pages == fmt.Sprint(len(got.Pages)) {
				pages = c.pages
			}
			if pages != c.pages || lists != c.lists || got.Foreign != c.foreign || got.Bad != c.bad || got.Cut != c.cut || (err != nil) != c.wantError {
				t.Errorf("pages %s, lists %s, foreign %d, bad %d, cut %v, %v", pages, lists, got.Foreign, got.Bad, got.Cut, err)
			}
		})
	}
	if _, err := Read(strings.NewReader("<html>"), at(t), Limits{Bytes: 10 << 20, Entries: 50_000}); !errors.Is(err, ErrFormat) {
		t.Errorf("error %v; want ErrFormat", err)
	}
}

// wide returns s in UTF-16, least significant byte first.
func wide(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		b.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	return b.String()
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<url><loc>https://a.example/%d</loc></url>", i)
	}
	return b.String()
}

func paths(urls []weburl.URL) string {
	var list []string
	for _, u := range urls {
		p := u.Path()
		if q := u.Query(); q != "" {
			p += "?" + q
		}
		list = append(list, p)
	}
	return strings.Join(list, " ")
}

// A file of 60 MB in one element takes no more memory than a small one.
func TestMemory(t *testing.T) {
	bomb := packed("<urlset><url><loc>" + strings.Repeat("x", 60<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := Read(strings.NewReader(bomb), at(t), Limits{Bytes: 1 << 20, Entries: 100})
	runtime.ReadMemStats(&after)
	if err != nil || !got.Cut || len(got.Pages) > 0 {
		t.Errorf("%+v, %v; want it cut", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("allocated %d MB", used>>20)
	}
}

// 50 MB of damage of several kinds cost bounded time and memory, and what comes before it is kept.
func TestDamage(t *testing.T) {
	for name, junk := range map[string]string{
		"elements never closed": "<url>", "locations never closed": "<loc>https://a.example/x", "bytes": "\x00\xff&#", "brackets": "<<<>",
		"references": "&amp;&#x110000;", "comments": "<!-- ", "CDATA": "<![CDATA[", "no URLs": "<url><loc>ftp:x</loc></url>",
	} {
		file := "<urlset><url><loc>https://a.example/1</loc></url>" + strings.Repeat(junk, (50<<20)/len(junk))
		began := time.Now()
		got, _ := Read(strings.NewReader(file), at(t), Limits{Bytes: 10 << 20, Entries: 10_000})
		if paths(got.Pages) != "/1" {
			t.Errorf("%s: pages %.100s", name, paths(got.Pages))
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
}

// Whatever the bytes: entries are of the host and within the limit, each once,
// and reading the pages as a text list gives them again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(packed(small)))
	f.Add([]byte("https://a.example/1\nhttps://a.example/2"))
	f.Add([]byte("<sitemapindex><sitemap><loc>https://a.example/x"))
	f.Fuzz(func(t *testing.T, file []byte) {
		got, _ := Read(bytes.NewReader(file), at(t), Limits{Bytes: 1 << 16, Entries: 50})
		if n := len(got.Pages) + len(got.Lists) + got.Foreign + got.Bad; n > 50 {
			t.Fatalf("%d entries", n)
		}
		var text strings.Builder
		seen := map[weburl.URL]bool{}
		for _, u := range got.Pages {
			if !SameHost(u, at(t)) || seen[u] {
				t.Fatalf("entry %s is foreign or there twice", u)
			}
			seen[u] = true
			fmt.Fprintln(&text, u)
		}
		again, err := Read(strings.NewReader(text.String()), at(t), Limits{Bytes: 10 << 20, Entries: 50_000})
		if err != nil || paths(again.Pages) != paths(got.Pages) {
			t.Errorf("pages %s, as text %s, %v", paths(got.Pages), paths(again.Pages), err)
		}
	})
}
