package predictor

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	for _, test := range []struct {
		name string
		link Link
		want string
	}{
		{
			"every family",
			Link{
				Host: "www.Oldenburg.example", Path: "/Wirtschaft/betriebe/tischlerei-harms.html?id=26121",
				Anchor: "Tischlerei Harms", Title: "Zur Anfahrt", Around: "Lange Str. 7 Oldenburg", Switch: true,
			},
			"host:www.oldenburg.example host:oldenburg.example host:example " +
				"path:www.oldenburg.example/wirtschaft/ path:www.oldenburg.example/wirtschaft/betriebe/ " +
				"path:wirtschaft path:betriebe path:tischlerei path:harms path:html path:id path:00000 " +
				"anchor:tischlerei anchor:harms title:zur title:anfahrt " +
				"around:lange around:str around:0 around:oldenburg switch:yes",
		},
		{"nothing known", Link{}, "switch:no"},
		{"host with digits", Link{Host: "cs2.uci.edu:81", Path: "/2026/x y/"}, "host:cs2.uci.edu:81 host:uci.edu host:edu path:cs2.uci.edu:81/0000/ path:cs2.uci.edu:81/0000/x_y/ path:0000 path:x path:y switch:no"},
		{"IP address", Link{Host: "127.0.0.1:8080", Path: "/"}, "host:127.0.0.1:8080 switch:no"},
		{"each once", Link{Anchor: "mehr Mehr MEHR", Around: "mehr"}, "anchor:mehr around:mehr switch:no"},
		{"digits keep their number", Link{Anchor: "1999 2026 26121 B2B ٣"}, "anchor:0000 anchor:00000 anchor:b0b anchor:0 switch:no"},
		{"letters with marks", Link{Anchor: "Cafe\u0301 CAFÉ ŁÓDŹ"}, "anchor:café anchor:łódź switch:no"},
		{"escaped path", Link{Path: "/B%C3%BCrgerb%C3%BCro/%zz%4"}, "path:/bürgerbüro/ path:bürgerbüro path:zz path:0 switch:no"},
		{"broken UTF-8", Link{Path: "/%FF%FEa", Anchor: "x\xffy"}, "path:a anchor:x anchor:y switch:no"},
		{
			"place", Link{Place: "menu html body nav#Top.wide ul.c0 li a"},
			"switch:no place:menu place:ul.c0>li place:ul.c0",
		},
		{"place without names", Link{Place: "text html body p a"}, "switch:no place:text place:body>p"},
		{"zone alone", Link{Place: "head"}, "switch:no place:head"},
		{"place of a foreign trace", Link{Place: "  \xff 9.\tx  "}, "switch:no place:0._x"},
		{"other scripts", Link{Anchor: "Контакт お問い合わせ"}, "anchor:контакт anchor:お問い合わせ switch:no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(Terms(test.link), " "); got != test.want {
				t.Errorf("Terms(%+v)\n got %s\nwant %s", test.link, got, test.want)
			}
		})
	}
}

// FuzzTerms holds the laws of a link's terms: bounded, well-formed, of a known
// family, in the order of the families, each once, and always the same.
func FuzzTerms(f *testing.F) {
	f.Add("www.uci.edu", "/a/b%2Fc.html?q=1", "Contact us", "title", "words around", "menu html body nav.top ul li a", true)
	f.Add(strings.Repeat("a.", 300), strings.Repeat("/x", 300), strings.Repeat("ä", 300), "\xff", "\x00 \u202e", "9\t.\xff  #", false)
	f.Add("İ.example", "/%e2%84%aa", "ǅ ẞ ﬁ", "K", "Å", "\u00a0 x y", false)
	f.Fuzz(func(t *testing.T, host, path, anchor, title, around, place string, outwards bool) {
		link := Link{Host: host, Path: path, Anchor: anchor, Title: title, Around: around, Place: place, Switch: outwards}
		terms := Terms(link)
		if len(terms) == 0 || len(terms) > MaxTerms {
			t.Fatalf("%d terms", len(terms))
		}
		if again := Terms(link); !slices.Equal(terms, again) {
			t.Errorf("Terms gives %q, then %q", terms, again)
		}
		seen, at := make(map[string]bool), 0
		for _, term := range terms {
			family, word, _ := strings.Cut(term, ":")
			i := slices.Index(Families(), family)
			switch {
			case i < at:
				t.Errorf("term %q of %q: unknown or out of order", term, terms)
			case seen[term]:
				t.Errorf("term %q is there twice", term)
			case word == "" || len(term) > MaxTermLength || !utf8.ValidString(term):
				t.Errorf("term %q is empty, too long or broken", term)
			case strings.ContainsFunc(word, unicode.IsSpace):
				t.Errorf("term %q holds white space", term)
			case i >= 2 && strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) && r != '0' }):
				t.Errorf("term %q holds a digit that is not folded", term)
			}
			seen[term], at = true, max(i, at)
		}
	})
}

func BenchmarkTerms(b *testing.B) {
	link := Link{
		Host: "www.oldenburg.example", Path: "/wirtschaft/betriebe/tischlerei-harms.html",
		Anchor: "Tischlerei Harms", Title: "Zur Anfahrt", Around: "Inhaber Jan Harms, Lange Str. 7, 26121 Oldenburg",
	}
	b.ReportAllocs()
	for b.Loop() {
		Terms(link)
	}
}
