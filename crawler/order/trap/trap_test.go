package trap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/order/software"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/recent"

	"github.com/google/go-cmp/cmp"
)

func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestStructure(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a.example/":                                     "",
		"http://a.example/a/b/a/c":                              "",
		"http://a.example/2026/11/11":                           "",
		"http://a.example/1/1/1":                                "",
		"http://a.example/a/a/a/":                               "3 times",
		"http://a.example/x/de/x/de/x/de":                       "3 times",
		"http://a.example/news/a.example/x":                     "names the host",
		"http://a.example/a.example":                            "", // a name of something, at the top
		"http://a.example" + strings.Repeat("/%C3%BC", 5):       "5 times",
		"http://a.example/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p":        "",
		"http://a.example/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q":      "16 segments",
		"http://a.example/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8":     "",
		"http://a.example/?a=1&b=2&c=3&d=4&e=5&f=6&g=7&h=8&i=9": "9 parameters",
	} {
		f := New().Check(parse(t, raw))
		if (f.Factor < 1) != (want != "") || !strings.Contains(f.Reason, want) || f.Factor <= 0 {
			t.Errorf("%s: %+v; want %q", raw, f, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for raw, want := range map[string][]string{
		"http://a.example/":                            {"a.example/", "a.example/*"},
		"http://a.example/tag/2026-11-21":              {"a.example/tag/#-#-#", "a.example/tag/*", "a.example/*"},
		"http://a.example/x?b=1&a=2&b=3":               {"a.example/x?a&b", "a.example/x?*", "a.example/*?a&b", "a.example/*?*", "a.example/*"},
		"http://a.example/p/3f9a0c1b2d/index.html":     {"a.example/p/*/index.html", "a.example/p/*/*", "a.example/*"},
		"http://a.example:81/rathaus1850/buergerbuero": {"a.example:81/rathaus#/buergerbuero", "a.example:81/rathaus#/*", "a.example:81/*"},
	} {
		var got []string
		for _, l := range levels(parse(t, raw)) {
			got = append(got, l.name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", raw, diff)
		}
	}
}

// words makes a text that is another one for each seed.
func words(seed int) uint64 {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "%s ", strings.Map(func(r rune) rune { return 'a' + (r-'0')%26 }, fmt.Sprint((seed*7919+i*104729+seed*i*31)%99991)))
	}
	near, _ := page.Hashes(b.String())
	return near
}

func TestLearns(t *testing.T) {
	d := New()
	see := func(raw string, text uint64, relevant bool) {
		d.Observe(Page{URL: parse(t, raw), Text: text, Content: text, Relevant: relevant})
	}
	for i := range 40 {
		see(fmt.Sprintf("http://cal.example/termine/%d", i), words(1), false)
		see(fmt.Sprintf("http://shop.example/waren?farbe=%d&groesse=%d", i, i*7), words(2), false)
		see(fmt.Sprintf("http://soft.example/nichts%s/", strings.Repeat("x", i)), words(3), false)
		see(fmt.Sprintf("http://good.example/laden/%d", i), words(100+i), i%5 == 0)
		see(fmt.Sprintf("http://forum.example/thema/%d", i), words(200+i), false)
		see(fmt.Sprintf("http://forum.example/thema/%d?sid=%d", i, i), words(200+i), false)
		see(fmt.Sprintf("http://list.example/liste?seite=%d", i), words(300+i), false)
	}
	for i := range 500 {
		see(fmt.Sprintf("http://tar.example/%s", strings.Repeat("y", i)), words(1000+i), false)
	}
	for raw, want := range map[string]string{
		"http://cal.example/termine/99":                "39 of the 40 pages like cal.example/termine/# were nearly the same",
		"http://shop.example/waren?farbe=99&groesse=1": "39 of the 40 pages",
		"http://soft.example/anders":                   "39 of the 40 pages like soft.example/*",
		"http://good.example/laden/99":                 "",
		"http://forum.example/thema/99":                "",
		"http://forum.example/thema/99?sid=1":          "", // nobody has read it yet
		"http://forum.example/thema/7?sid=99":          `another "sid", which changed nothing in 40 of 40`,
		"http://forum.example/thema/7?sid=7":           "", // was read
		"http://list.example/liste?seite=99":           "",
		"http://tar.example/neu":                       "none of the 500 pages of tar.example/* is relevant",
		"http://unknown.example/":                      "",
	} {
		f := d.Check(parse(t, raw))
		if (f.Factor < 1) != (want != "") || !strings.Contains(f.Reason, want) {
			t.Errorf("%s: %+v; want %q", raw, f, want)
		}
	}
	if patterns, params := d.Counts(); patterns < 4 || params != 1 {
		t.Errorf("%d patterns and %d parameters are demoted", patterns, params)
	}
	// A relevant page shows that a host is no tarpit.
	see("http://tar.example/impressum", words(9999), true)
	if f := d.Check(parse(t, "http://tar.example/neu")); f.Factor < 1 {
		t.Errorf("after a relevant page: %+v", f)
	}
	data, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again := New()
	if err := again.Restore(data); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"http://cal.example/termine/99", "http://soft.example/anders", "http://good.example/laden/99", "http://forum.example/thema/99"} {
		if a, b := d.Check(parse(t, raw)), again.Check(parse(t, raw)); a != b {
			t.Errorf("%s: %+v, restored %+v", raw, a, b)
		}
	}
	for raw, want := range map[string]string{
		"http://forum.example/thema/99?sid=1&x=2": `["\"sid\" changed nothing in 40 of 40 pairs of pages of forum.example"]`,
		"http://forum.example/thema/99?x=2":       "[]",
		"http://list.example/liste?seite=99":      "[]",
	} {
		if a, b := fmt.Sprintf("%q", d.Dust(parse(t, raw))), fmt.Sprintf("%q", again.Dust(parse(t, raw))); a != want || b != want {
			t.Errorf("%s: %s, restored %s; want %s", raw, a, b, want)
		}
	}
}

// Whatever a site makes of its URLs, memory stays within bounds.
func TestBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand pages")
	}
	d := New()
	for i := range 2 * maxPatterns {
		d.Observe(Page{URL: parse(t, fmt.Sprintf("http://h%d.example/%s?p%d=1", i/2, strings.Repeat("z", i%100), i)), Text: uint64(i), Content: uint64(i)})
	}
	once, spelt := 0, 0
	for range recent.Sorted(&d.once) {
		once++
	}
	for range recent.Sorted(&d.spelt) {
		spelt++
	}
	if once > maxOnce || len(d.patterns) > maxPatterns || len(d.places) != len(d.patterns) || len(d.params) > maxParams || spelt > maxSpelt {
		t.Errorf("%d patterns with a page and %d with more, %d parameters, %d URLs", once, len(d.patterns), len(d.params), spelt)
	}
	if data, err := d.Snapshot(); err != nil || len(data) > 8<<20 {
		t.Errorf("snapshot of %d bytes, %v", len(data), err)
	}
}

// What is forgotten to make room leaves the others as they were, with the pages
// that they remember.
func TestForgets(t *testing.T) {
	d := New()
	for range minPages {
		d.Observe(Page{URL: parse(t, "http://cal.example/termine/1"), Text: 1, Content: 1})
	}
	want := d.Check(parse(t, "http://cal.example/termine/99"))
	for i := range 2 * (maxPatterns + 1) {
		d.Observe(Page{URL: parse(t, fmt.Sprintf("http://h%d.example/", i/2)), Text: uint64(i), Content: uint64(i)})
	}
	if len(d.patterns) >= maxPatterns {
		t.Fatalf("%d patterns: none was forgotten", len(d.patterns))
	}
	if got := d.Check(parse(t, "http://cal.example/termine/99")); got != want || got.Factor == 1 {
		t.Errorf("%+v, was %+v", got, want)
	}
	if d.Observe(Page{URL: parse(t, "http://cal.example/termine/2"), Text: 1, Content: 1}); d.pattern(idOf("cal.example/termine/#")).Copies != minPages {
		t.Errorf("%+v does not remember its pages", d.pattern(idOf("cal.example/termine/#")))
	}
}

// However many URLs were read, those read last are still known under another
// value of a parameter.
func TestRemembersSpelling(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand pages")
	}
	d := New()
	page := func(host, session int) Page {
		return Page{URL: parse(t, fmt.Sprintf("http://h%d.example/?sid=%d", host, session)), Text: uint64(host), Content: uint64(host)}
	}
	const last = maxSpelt / 4
	for i := range 2 * maxSpelt {
		d.Observe(page(i, 1))
		if i >= last && i%997 == 0 {
			d.Observe(page(i-last, 2))
			if name := fmt.Sprintf("h%d.example?sid", i-last); d.params[name] == nil || d.params[name].Same != 1 {
				t.Fatalf("page %d is not known %d pages later: %+v", i-last, last, d.params[name])
			}
		}
	}
}

// A demotion is never a removal and always has a reason, whatever the URL.
func FuzzLook(f *testing.F) {
	f.Add("/a/a/a", "x=1&y=2", uint64(3))
	f.Add("//", "&&=", uint64(0))
	f.Fuzz(func(t *testing.T, path, query string, text uint64) {
		u, err := weburl.Parse("http://a.example/" + path + "?" + query)
		if err != nil {
			return
		}
		d := New()
		for range 50 {
			d.Observe(Page{URL: u, Text: text, Content: text})
		}
		f := d.Check(u)
		if !(f.Factor > 0 && f.Factor <= 1) || (f.Factor < 1) != (f.Reason != "") {
			t.Errorf("%s: %+v", u, f)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	d := New()
	u := parse(b, "http://a.example/waren/12/kategorie?farbe=rot&groesse=m")
	for i := range 100 {
		d.Observe(Page{URL: u, Text: uint64(i) * 0x9E3779B97F4A7C15, Content: uint64(i), Relevant: i%3 == 0})
	}
	for b.Loop() {
		d.Check(u)
	}
}

// A host that makes up new words for ever ends after some thousand pages; one that ever had a
// relevant page does not, nor do its traps of another kind hide it.
func TestHostWithoutYield(t *testing.T) {
	for _, relevant := range []bool{false, true} {
		d := New()
		for i := range mostBarren {
			u := parse(t, fmt.Sprintf("http://a.example/%s", strings.Repeat("x", 1+i%200)))
			d.Observe(Page{URL: u, Text: uint64(i) * 0x9E3779B97F4A7C15, Content: uint64(i), Relevant: relevant && i == 0})
			if f := d.Check(u); f.Pattern != "" && i < mostBarren-1 {
				t.Fatalf("parked after %d pages: %+v", i+1, f)
			}
		}
		for _, path := range []string{"new", "a/a/a/a"} {
			if f := d.Check(parse(t, "http://a.example/"+path)); (f.Pattern != "") == relevant {
				t.Errorf("%s, a relevant page %v: %+v", path, relevant, f)
			}
		}
	}
}

// A pattern that nothing is known of is proven by the links parked under it; one that turned out to
// have mattered is not, whatever is parked.
func TestProvenByParkedLinks(t *testing.T) {
	d := New()
	see := func(i int, text uint64, relevant bool) (released []string) {
		return d.Observe(Page{URL: parse(t, fmt.Sprintf("http://cal.example/termine/%d", i)), Text: text, Relevant: relevant})
	}
	const host, pattern = "cal.example", "cal.example/termine/#"
	if d.Proven(host, pattern) || d.Proven(host, host+"?sid") {
		t.Error("proven before a page was read")
	}
	d.Prove(host, pattern)
	d.Prove(host, host+"?sid")
	if !d.Proven(host, pattern) || !d.Proven(host, host+"?sid") {
		t.Error("unknown patterns are not proven by what is parked")
	}
	d = New()
	for i := range minPages {
		see(i, words(1), false)
	}
	if !d.Proven(host, pattern) {
		t.Fatal("20 equal pages prove nothing")
	}
	if released := see(99, words(2), true); !slices.Contains(released, pattern) {
		t.Errorf("a relevant page released %q, not %s", released, pattern)
	}
	d.Prove(host, pattern)
	if d.Proven(host, pattern) {
		t.Error("links that are still parked prove again what a relevant page has refuted")
	}
	for i := range minPages {
		see(100+i, words(1), false)
	}
	if released := d.Credit(parse(t, "http://cal.example/termine/7")); !slices.Contains(released, pattern) || d.Proven(host, pattern) {
		t.Errorf("a page that led to a relevant one released %q", released)
	}
}

// A pattern whose pages are copies about as often as it takes is decided once, and not in turns.
func TestDecidedOnce(t *testing.T) {
	d := New()
	const host, pattern = "cal.example", "cal.example/termine/#"
	changes, was := 0, false
	for i := range 400 {
		text := words(1)
		if i%4 == 3 { // a quarter are no copies
			text = words(1000 + i)
		}
		d.Observe(Page{URL: parse(t, fmt.Sprintf("http://cal.example/termine/%d", i)), Text: text})
		if is := d.Proven(host, pattern); is != was {
			changes, was = changes+1, is
		}
	}
	if changes > 1 {
		t.Errorf("decided %d times", changes)
	}
	for i := range 400 { // now hardly any is
		d.Observe(Page{URL: parse(t, fmt.Sprintf("http://cal.example/termine/%d", 1000+i)), Text: words(5000 + i)})
	}
	if d.Proven(host, pattern) {
		t.Error("a pattern of copies that makes none any more stays proven")
	}
	for i := range 100 {
		d.count(host, host+"?sid", i%20 != 19) // 95 of 100 pairs are equal
	}
	if !d.params[host+"?sid"].dust() {
		t.Error("a parameter is decided in turns")
	}
}

// What known software makes for its users is parked once a page shows that a host runs it, after a
// restart too, and on no other host.
func TestSoftware(t *testing.T) {
	d := New()
	wiki := software.Of([]string{"generator: MediaWiki 1.39"})
	d.Observe(Page{URL: parse(t, "http://wiki.example/"), Text: words(1), Software: wiki})
	d.Observe(Page{URL: parse(t, "http://other.example/"), Text: words(2)})
	data, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	restored, proven, off := New(), New(), New()
	if err := restored.Restore(data); err != nil {
		t.Fatal(err)
	}
	proven.Prove("wiki.example", "mediawiki actions") // as a restart finds it in the frontier
	off.IgnoreSoftware = true
	off.Observe(Page{URL: parse(t, "http://wiki.example/"), Text: words(1), Software: wiki})
	history := "/index.php?title=Rathaus&action=history"
	for name, d := range map[string]*Detector{"learned": d, "restored": restored, "proven": proven} {
		want := Finding{Factor: traceOf, Reason: "known software: mediawiki actions", Pattern: "mediawiki actions"}
		if got := d.Check(parse(t, "http://wiki.example"+history)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if !d.Proven("wiki.example", "mediawiki actions") || d.Proven("other.example", "mediawiki actions") {
			t.Errorf("%s: not proven, or proven of another host", name)
		}
		for _, raw := range []string{"http://wiki.example/index.php/Rathaus", "http://other.example" + history} {
			if got := d.Check(parse(t, raw)); got != (Finding{Factor: 1}) {
				t.Errorf("%s: %s: %+v", name, raw, got)
			}
		}
	}
	if got := d.Check(parse(t, "http://wiki.example/index.php/Spezial:Alle_Seiten")); got.Pattern != "" || got.Factor != listsPages {
		t.Errorf("a list of pages: %+v", got)
	}
	if got := off.Check(parse(t, "http://wiki.example"+history)); got.Factor != 1 || off.Proven("wiki.example", "mediawiki actions") {
		t.Errorf("turned off: %+v", got)
	}
}
