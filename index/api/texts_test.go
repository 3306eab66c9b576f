package api

import (
	"strings"
	"testing"
)

// The German page says in German what is wrong with a search; the API answers
// the same request in English.
func TestGermanProblems(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, c := range []struct{ query, german, hint, english string }{
		{"limit=0", "limit muss zwischen 1 und 500 liegen und ist 0.", "Die Anzahl steht", "limit must be 1 to 500, got 0."},
		{"lat=91&lon=8", "lat muss zwischen -90 und 90 liegen und ist 91.", "", "lat must be between -90 and 90, got 91."},
		{"lat=53", "lon fehlt; lat und lon gehören zusammen.", "", "lon is missing; lat and lon go together."},
		{"since=gestern", `since erwartet einen Tag wie 2026-11-21 oder eine Dauer wie 7d, nicht &#34;gestern&#34;.`, "", `since must be 2026-11-21 or 7d, got \"gestern\".`},
		{"lmit=5", `Den Parameter &#34;lmit&#34; gibt es hier nicht.`, "Meinten Sie limit?", `\"lmit\" is not a parameter here.`},
		{"sort=size", "sort erwartet eines von relevance, distance, newest, name, importance, nicht &#34;size&#34;.", "", "sort must be one of relevance"},
		{"bbox=53.07,8.10,53.21,8.33", "erwartet wird minLon,minLat,maxLon,maxLat.", "Meinten Sie bbox=8.1,53.07,8.33,53.21?", "expected minLon,minLat,maxLon,maxLat."},
		{"bbox=1,2", "bbox erwartet 4 Zahlen mit Kommas dazwischen, nicht 2.", "", "bbox must be 4 numbers"},
		{"lat=8.21&lon=53.14&radius=3000", "mit vertauschtem lat und lon gibt es Treffer.", "Meinten Sie lat=53.14&amp;lon=8.21?", "there are results where lat and lon are exchanged."},
		{"cursor=x", "cursor stammt nicht aus diesem Verzeichnis", "Ohne cursor kommen", "cursor is not from this index"},
		{"q=%25zz%zz", "gültigen %-Folgen.", "In Werten steht %25 für %", "valid % escapes."},
	} {
		for _, german := range []struct{ target, accept string }{{"/?lang=de&" + c.query, "en"}, {"/?" + c.query, "de-AT,en;q=0.5"}} {
			r, body := get(h, german.target, "Accept-Language", german.accept)
			if r.StatusCode != 400 || !strings.Contains(body, c.german) || !strings.Contains(body, c.hint) {
				t.Errorf("%s, %s: %d, no %q or %q in %s", german.target, german.accept, r.StatusCode, c.german, c.hint, body[strings.Index(body, "<main"):strings.Index(body, "</main")])
			}
		}
		if r, body := get(h, "/v1/search?"+c.query, "Accept-Language", "de"); r.StatusCode != 400 || !strings.Contains(body, c.english) {
			t.Errorf("/v1/search?%s: %d %s", c.query, r.StatusCode, body)
		}
	}
}
