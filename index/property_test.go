package index

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// Whatever is written into the query: an answer, and never more hits than
// asked for; marks lie in their snippets, which are short.
func FuzzSearch(f *testing.F) {
	x := open(f)
	put(f, x, town()...)
	for _, text := range []string{"tischlerei", "lange straße 5", "12 a", "*:*", `"a b"~2`, "/a.*/", "+a -b", "a:b", "\x00", "ÄÖÜ ß", "🍞", "a\u0300", "ae oe ue", "' OR 1=1", strings.Repeat("a ", 100), "-", "12a 12 a 12-14"} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		r, err := x.Search(t.Context(), Query{Text: text, Limit: limit})
		if err != nil {
			if !errors.Is(err, ErrQuery) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if len(r.Hits) > max(limit, 10) || r.Total < len(r.Hits) || (r.Next != "") != (r.Total > len(r.Hits)) {
			t.Errorf("%q: %d hits of %d with limit %d, next %q", text, len(r.Hits), r.Total, limit, r.Next)
		}
		for _, h := range r.Hits {
			for _, e := range h.Evidence {
				s := e.Snippet
				if n := utf8.RuneCountInString(s.Text); n > snippetLength || !utf8.ValidString(s.Text) {
					t.Errorf("%q: snippet of %d characters %q", text, n, s.Text)
				}
				if a := s.Address; a[0] < 0 || a[1] < a[0] || a[1] > len(s.Text) || !utf8.ValidString(s.Text[a[0]:a[1]]) {
					t.Errorf("%q: the address is at %v of %q", text, a, s.Text)
				}
				at := 0
				for _, m := range s.Marks {
					if m[0] < at || m[1] <= m[0] || m[1] > len(s.Text) || !utf8.ValidString(s.Text[m[0]:m[1]]) {
						t.Errorf("%q: mark %v in %q", text, m, s.Text)
					}
					at = m[1]
				}
			}
		}
	})
}

// Whatever is typed: each suggestion is there once, has a word that begins with
// it and an address, and there are no more than asked for.
func FuzzSuggest(f *testing.F) {
	x := open(f)
	put(f, x, town()...)
	for _, typed := range []string{"l", "lan", "Lange S", "261", "tisch", "straße", "STRASSE", "-", "'", "’", "a\u0300", "\xff", " lange  s", strings.Repeat("ä", 300)} {
		f.Add(typed, 5)
	}
	f.Fuzz(func(t *testing.T, typed string, limit int) {
		all, err := x.Suggest(typed, limit)
		if err != nil {
			if !errors.Is(err, ErrQuery) {
				t.Errorf("%q: %v", typed, err)
			}
			return
		}
		if len(all) > limit {
			t.Errorf("%q: %d suggestions with limit %d", typed, len(all), limit)
		}
		known := map[Suggestion]bool{}
		for _, s := range all {
			same := Suggestion{Text: s.Text, Kind: s.Kind}
			folded, begins := foldPhrase(s.Text), false
			for at := range folded {
				begins = begins || (at == 0 || folded[at-1] == ' ') && strings.HasPrefix(folded[at:], foldPhrase(typed))
			}
			if known[same] || s.Count < 1 || !begins {
				t.Errorf("%q: suggestion %+v of %+v", typed, s, all)
			}
			known[same] = true
		}
	})
}

// A snippet that was cut begins and ends with whole words, unless they are very
// long, and shows the address.
func TestSnippetOfWholeWords(t *testing.T) {
	words := strings.Fields("Öffnungszeiten der Architekturbüro Krüger GmbH & Co. KG · Straßenbahnhaltestelle Impressum Datenschutz | Kontakt 5 Brötchen Haftungsausschluss")
	cut := 0
	for i := range 200 {
		before, after := strings.Repeat(strings.Join(words[i%len(words):], " ")+" ", i%5), strings.Repeat(" "+strings.Join(words[i%7:], " "), i%4)
		const address = "Lange Straße 5, 26122 Oldenburg"
		m := &mention{Near: before + address + after, Start: len(before), End: len(before) + len(address)}
		s := (&marker{}).snippet(m).Text
		inside := strings.TrimSuffix(strings.TrimPrefix(s, "…"), "…")
		if inside != s {
			cut++
		}
		all := strings.Fields(m.Near)
		for _, w := range strings.Fields(inside) {
			if !slices.Contains(all, w) {
				t.Errorf("%q has half of a word: %q", s, w)
			}
		}
		if !strings.Contains(s, address) || utf8.RuneCountInString(s) > snippetLength {
			t.Errorf("%q of %q", s, m.Near)
		}
	}
	if cut < 100 {
		t.Errorf("only %d of 200 were cut", cut)
	}
}

// Any page can be put, whatever its text and spans, and what was put is found
// by its address until it is deleted.
func FuzzPut(f *testing.F) {
	x := open(f)
	f.Add("Titel", "Text vor\nName\nLange Straße 5, 26122 Oldenburg\nnach", 14, 46, "Lange Straße", "5", "26122")
	f.Add("", "", -1, -1, "", "", "")
	f.Add("\xff\xfe", "a\x00b\u2028c", 0, 3, "\xff", "½", "٣")
	f.Add("t", strings.Repeat("x", 5000), 2000, 2003, "straße", "12 a", "1")
	f.Fuzz(func(t *testing.T, title, text string, start, end int, street, number, code string) {
		a := geoparse.Address{Text: "as written", Start: start, End: end, Street: street, HouseNumber: number, Postcode: code, City: "Stadt", InRegion: true, Confidence: 1}
		d := Document{URL: "https://a.example/", Title: title, Text: text, Fetched: day, Addresses: []geoparse.Address{a, a}}
		if err := x.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		r, err := x.Search(t.Context(), Query{Filters: Filters{Host: []string{"a.example"}}})
		if err != nil || r.Total != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		h := r.Hits[0]
		if h.ID != AddressID("a.example", a) || h.Mentions != 1 || utf8.RuneCountInString(h.Evidence[0].Title) > maxTitle || utf8.RuneCountInString(h.Evidence[0].Snippet.Text) > snippetLength {
			t.Errorf("hit %+v", h)
		}
	})
}

// A cursor is read back as it was, only for its own query, and nothing else is
// a cursor.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := Query{Text: rapid.String().Draw(t, "text"), Limit: rapid.IntRange(1, 500).Draw(t, "limit")}
		c := cursor{
			Version: cursorVersion, Stage: stage(rapid.IntRange(0, int(stages)-1).Draw(t, "stage")), Offset: rapid.Int().Draw(t, "offset"),
			Key: rapid.StringN(0, 20, maxKey).Draw(t, "key"), ID: rapid.StringMatching("[0-9a-f]{16}").Draw(t, "id"),
			Query: q.digest(),
		}
		text := c.encode()
		other := q
		other.Limit = 7
		if got, err := decodeCursor(text, other); err != nil || got != c {
			t.Fatalf("%+v is read back as %+v, %v", c, got, err)
		}
		other.Text += "x"
		if _, err := decodeCursor(text, other); !errors.Is(err, ErrCursor) {
			t.Fatalf("another query takes the cursor: %v", err)
		}
		b := []byte(text)
		i := rapid.IntRange(0, len(b)-1).Draw(t, "changed")
		b[i] = "AB"[b2i(b[i] == 'A')]
		if _, err := decodeCursor(string(b), q); !errors.Is(err, ErrCursor) {
			t.Fatalf("a changed cursor passes: %v", err)
		}
	})
}

// A cursor that another version of the program made is refused: its keys may mean other places.
func TestCursorVersion(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	next := find(t, x, Query{Limit: 1}).Next
	raw, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(raw[:len(raw)-4], &c); err != nil {
		t.Fatal(err)
	}
	delete(c, "version") // as it was before cursors had one
	text, _ := json.Marshal(c)
	text = binary.BigEndian.AppendUint32(text, crc32.ChecksumIEEE(text))
	old := base64.RawURLEncoding.EncodeToString(text)
	if _, err := x.Search(t.Context(), Query{Limit: 1, Cursor: old}); !errors.Is(err, ErrCursor) || !strings.Contains(err.Error(), "first page") {
		t.Errorf("a cursor of another version: %v", err)
	}
	if _, err := x.Search(t.Context(), Query{Limit: 1, Cursor: next}); err != nil {
		t.Error(err)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The spellings of one address have one identity on all sites, different ones
// have different ones, and what is no single place has one on each site.
func TestAddressID(t *testing.T) {
	address := func(street, number, code, city string) geoparse.Address {
		return geoparse.Address{Street: street, HouseNumber: number, Postcode: code, City: city}
	}
	unit := func(unit string) geoparse.Address {
		a := address("Main Street", "5", "92612", "Irvine")
		a.Unit = unit
		return a
	}
	id := AddressID("a.example", address("Lange Straße", "12a", "26122", "Oldenburg"))
	if len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("identity %q", id)
	}
	for _, same := range []geoparse.Address{
		address("Lange Str.", "12a", "26122", "Oldenburg"), address("Langestraße", "12 a", "26122", "Oldenburg"), address("LANGE STRASSE", "12A", "26122", "OLDENBURG"),
		address("Lange Straße", "12a", "26122", "Oldenburg (Oldb)"),
	} {
		for _, site := range []string{"a.example", "A.example", "b.example"} {
			if got := AddressID(site, same); got != id {
				t.Errorf("%+v has another identity on %s", same, site)
			}
		}
	}
	for _, same := range []string{"Ste. 200", "#200", "suite 200"} {
		if AddressID("", unit(same)) != AddressID("", unit("Suite 200")) {
			t.Errorf("%s has another identity", same)
		}
	}
	seen := map[string]string{id: "the first"}
	for i, other := range []string{
		AddressID("a.example", address("Lange Straße", "12b", "26122", "Oldenburg")),
		AddressID("a.example", address("Lange Straße", "12a", "26123", "Oldenburg")),
		AddressID("a.example", address("Kurze Straße", "12a", "26122", "Oldenburg")),
		AddressID("a.example", address("Lange Straße", "", "26122", "Oldenburg")),
		AddressID("b.example", address("Lange Straße", "", "26122", "Oldenburg")),
		AddressID("a.example", address("", "", "26122", "Oldenburg")),
		AddressID("b.example", address("", "", "26122", "Oldenburg")),
		AddressID("a.example", address("", "", "", "Oldenburg")),
		AddressID("", unit("")), AddressID("", unit("Suite 200")), AddressID("", unit("Suite 300")), AddressID("", unit("Suite")),
	} {
		if was, ok := seen[other]; ok {
			t.Errorf("address %d has the identity of %s", i, was)
		}
		seen[other] = fmt.Sprint(i)
	}
}

// Identities are those that older indexes hold.
func TestAddressIDStays(t *testing.T) {
	street := gazetteer.Place{ID: "way/1", Kind: gazetteer.Street, Street: "Lange Straße", Postcode: "26122", City: "Oldenburg"}
	for want, a := range map[string]geoparse.Address{
		"c0288ab19fcd554f": {Country: "DE", Street: "Lange Str.", HouseNumber: "12a", Postcode: "26122", City: "Oldenburg-Mitte", Place: street},
		"c6bb47c7d03a24b5": {Country: "US", State: "CA", Street: "Main Street", HouseNumber: "5", Unit: "Suite 200", Postcode: "92612", City: "Irvine"},
		"ab3a7ad8ebd7b71e": {Country: "DE", POBox: "1234", Postcode: "26122", City: "Oldenburg"},
		"a92c941746298643": {Country: "DE", Street: "Lange Straße", Postcode: "26122", City: "Oldenburg"},
		"793f411688ceb53b": {Country: "NL", Street: "Damrak", HouseNumber: "1", Postcode: "1012 LG", City: "Amsterdam"},
		"e85424a7ca68b364": {Country: "JP", Street: "丸の内", HouseNumber: "1-9-1", Postcode: "100-0005", City: "千代田区"},
	} {
		if got := AddressID("a.example", a); got != want {
			t.Errorf("%s has the identity %s, before it had %s", a.Key(), got, want)
		}
	}
}

// Where an address is one place, it has one identity for every key.
func TestAddressIDOfKey(t *testing.T) {
	ids, keys := map[string]string{}, map[string]string{}
	for _, a := range []geoparse.Address{
		{Country: "DE", Postcode: "26122", City: "Oldenburg"}, {Country: "DE", Postcode: "26122", City: "OLDENBURG"}, {Country: "DE", Postcode: "26123", City: "Oldenburg"},
		{Country: "US", Postcode: "97201", City: "Portland", State: "OR"}, {Country: "US", Postcode: "97201-1234", City: "Portland"},
		{Country: "US", City: "Portland", State: "OR"}, {Country: "US", City: "Portland", State: "ME"}, {Country: "US", City: "PORTLAND", State: "ME"},
	} {
		a.Street = "Lange Straße"
		for _, a.HouseNumber = range []string{"5", "5 a", "5A", "6"} {
			for _, a.Unit = range []string{"", "Suite 2", "#2", "3"} {
				for _, a.POBox = range []string{"", "Postfach 7"} {
					id, key := AddressID("a.example", a), a.Key()
					if other, known := ids[key]; known && other != id {
						t.Errorf("%s has two identities", key)
					}
					if other, known := keys[id]; known && other != key {
						t.Errorf("%s and %s have one identity", key, other)
					}
					ids[key], keys[id] = id, key
				}
			}
		}
	}
	if want := 5 * 3 * 3 * 2; len(ids) != want {
		t.Errorf("%d keys, want %d", len(ids), want)
	}
}

// Terms of the words that a reader takes for one are one.
func TestTerms(t *testing.T) {
	for _, same := range [][]string{
		{"Bäckerei", "Baeckerei", "backerei", "BÄCKEREI"}, {"Straße", "strasse", "STRASSE"}, {"Café", "cafe", "Cafe\u0301"}, {"Müller", "Mueller", "Muller"}, {"Joe's", "Joes", "Joe’s"},
	} {
		for _, w := range same[1:] {
			if got, want := wordsOf(w), wordsOf(same[0]); !slices.Equal(got, want) {
				t.Errorf("%s is %q, %s is %q", w, got, same[0], want)
			}
		}
	}
	for _, c := range []struct{ text, terms string }{
		{"Lange Straße 12 a", "lange str 12a 12 a"}, {"Langestr. 12a", "lange str 12 12a"}, {"5 Main Street", "5 main st"}, {"Marktplatz 1", "marktplatz 1"}, {"N Elm Ave", "n elm ave"}, {"Str. des 17. Juni", "str des 17 juni"},
	} {
		if got := strings.Join(termsOf(addressWords, c.text), " "); got != c.terms {
			t.Errorf("%q is %q, want %q", c.text, got, c.terms)
		}
	}
	for _, c := range []struct{ text, words string }{
		{"Brot, Brot und\tBRÖTCHEN", "brot und brotchen"}, {"vor \ufffd nach\xff her", "vor nach her"}, {"'Zitat' ''", "zitat"}, {"北京 烤鸭店", "北 京 烤 鸭 店"}, {"info@laden.example", "info laden example"}, {"", ""},
	} {
		if got := distinctWords(c.text); got != c.words {
			t.Errorf("%q has the words %q, want %q", c.text, got, c.words)
		}
	}
}

// What the parser found no name for has none: the title of a page and the line above
// an address are no names of places.
func TestNoGuessedName(t *testing.T) {
	d := page("https://www.ics.example/", "Project #2: Fall 2012", "en", "Test data\n{Lange Straße 12, 26122 Oldenburg}\n")
	d.Addresses[0].Name = ""
	x := open(t)
	put(t, x, d)
	if r := find(t, x, Query{Text: "project"}); r.Total != 1 || r.Hits[0].Name != "" {
		t.Errorf("%d hits, %q", r.Total, names(r))
	}
	for _, c := range []struct {
		name, title, near string
		want              bool
	}{
		{"Café Kaiser", "Café Kaiser | Impressum", "Lange Straße 12", true},
		{"Café Kaiser", "Café Kaiser | Impressum", "Café Kaiser, Lange Straße 12", false},
		{"Café Kaiser", "Impressum", "Lange Straße 12", false},
	} {
		if got := ofTitle(c.name, c.title, c.near); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A page of a directory gives each address its own words.
func TestDirectory(t *testing.T) {
	x := open(t)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "F%02dq Handel\n{Lange Straße %d, 26122 Oldenburg}\nTelefon %d\n", i, i+1, 1000+i)
	}
	put(t, x, page("https://v.example/", "Verzeichnis", "de", b.String()))
	for i := range 40 {
		word := fmt.Sprintf("F%02dq", i)
		r := find(t, x, Query{Text: word})
		if r.Total != 1 || r.Hits[0].HouseNumber != fmt.Sprint(i+1) || r.Relaxed {
			t.Errorf("%s finds %d, %q", word, r.Total, names(r))
		}
	}
}

func TestQueryCheck(t *testing.T) {
	x := open(t)
	p := orb.Point{8, 53}
	for name, q := range map[string]Query{
		"limit": {Limit: -1}, "limit high": {Limit: 501}, "long": {Text: strings.Repeat("a", 201)}, "utf8": {Text: "\xff"}, "sort": {Sort: "size"}, "no centre": {Sort: Distance},
		"radius without": {Filters: Filters{Radius: 5}}, "radius": {Filters: Filters{Center: &p, Radius: -1}}, "huge radius": {Filters: Filters{Center: &p, Radius: 1e7}}, "centre": {Filters: Filters{Center: &orb.Point{200, 0}}},
		"box": {Filters: Filters{Box: &orb.Bound{Min: orb.Point{1, 5}, Max: orb.Point{2, 4}}}}, "bias": {Bias: 2}, "scale": {Scale: -1},
	} {
		if _, err := x.Search(t.Context(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := x.Search(t.Context(), Query{Cursor: "x"}); !errors.Is(err, ErrCursor) {
		t.Errorf("cursor: %v", err)
	}
}

// A cursor belongs to all that a query asks for: no filter is left out of its
// digest, nor anything in it that only says how much is shown.
func TestDigest(t *testing.T) {
	told := []string{"Now", "Holidays", "Locate", "OtherNames", "Limit", "Cursor", "Facets", "Group", "CountPages", "Explain"}
	plain := Query{}.digest()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Query]()) {
		if field.Anonymous {
			continue // its fields follow
		}
		var q Query
		v := reflect.ValueOf(&q).Elem().FieldByIndex(field.Index)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Float64:
			v.SetFloat(0.5)
		case reflect.Int, reflect.Int8:
			v.SetInt(1)
		case reflect.Uint8:
			v.SetUint(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Func:
		default:
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		}
		name := field.Name
		if counts := q.digest() != plain; counts == slices.Contains(told, name) {
			t.Errorf("%s counts: %v", name, counts)
		}
	}
}

// Without takes one filter away and leaves the others.
func TestWithout(t *testing.T) {
	q := Query{Filters: Filters{Street: []string{"a"}, Postcode: []string{"b"}, City: []string{"c"}, Host: []string{"d"}, Kind: []string{"cafe"}, Month: []string{"2026-11"}, Precision: gazetteer.HousePrecision}, Text: "x"}
	for _, f := range Facets() {
		wider, narrowed := q.Without(f)
		if _, again := wider.Without(f); narrowed == (f == ByLevel) || again || (wider.digest() == q.digest()) == narrowed {
			t.Errorf("%s: narrowed %v, again %v", f, narrowed, again)
		}
		if len(q.Street) != 1 {
			t.Fatalf("%s: q itself has changed", f)
		}
	}
}
