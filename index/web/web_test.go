package web

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gazehound/index"

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
	for _, c := range []struct{ got, want string }{
		{group(0, "en"), "0"}, {group(999, "en"), "999"}, {group(1000, "en"), "1,000"}, {group(1234567, "de"), "1.234.567"},
		{length(0, "en"), "0 m"}, {length(412, "en"), "410 m"}, {length(999, "de"), "1,0 km"}, {length(1234, "en"), "1.2 km"}, {length(1234, "de"), "1,2 km"}, {length(23456, "de"), "23 km"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// Both languages say the same things.
func TestTexts(t *testing.T) {
	for lang, words := range texts {
		for key := range texts["en"] {
			if words[key] == "" {
				t.Errorf("%s has no words for %q", lang, key)
			}
		}
		if len(words) != len(texts["en"]) {
			t.Errorf("%s has %d texts, English %d", lang, len(words), len(texts["en"]))
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
		var hits []hit
		for i := range n {
			p := orb.Point{
				max(-180, min(180, centre[0]+spread*rapid.Float64Range(-1, 1).Draw(t, "dx"))),
				max(-90, min(90, centre[1]+spread*rapid.Float64Range(-1, 1).Draw(t, "dy"))),
			}
			hits = append(hits, hit{Number: i + 1, Hit: &index.Hit{HasPoint: true, Point: p}, Title: "x"})
		}
		outline := orb.MultiPolygon{{{{8, 53}, {9, 53}, {9, 54}, {8, 53}}}}
		m := draw(outline, hits, nil, nil, true)
		shown := 0
		for _, p := range m.Pins {
			x, _ := strconv.ParseFloat(p.X, 64)
			y, _ := strconv.ParseFloat(p.Y, 64)
			if !inside(x, y) {
				t.Fatalf("pin at %s, %s", p.X, p.Y)
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

func TestDrawNothing(t *testing.T) {
	if m := draw(nil, nil, nil, nil, false); m != nil {
		t.Errorf("a map of nothing: %+v", m)
	}
}
