package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Both languages say the same things, with the same values in them, and every
// text is said somewhere.
func TestTexts(t *testing.T) {
	verb := regexp.MustCompile(`%[a-z]`)
	for key, english := range texts["en"] {
		german, ok := texts["de"][key]
		if !ok || german == "" {
			t.Errorf("there is no German for %q", key)
		}
		if a, b := verb.FindAllString(english, -1), verb.FindAllString(german, -1); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("%q has the values %v in English and %v in German", key, a, b)
		}
	}
	if len(texts["en"]) != len(texts["de"]) {
		t.Errorf("%d texts in English, %d in German", len(texts["en"]), len(texts["de"]))
	}
	used := map[string]bool{}
	names, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), ".go") || strings.HasSuffix(name.Name(), "_test.go") || name.Name() == "texts.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					used[text] = true
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "say" {
					if key, ok := n.Args[0].(*ast.BasicLit); ok {
						if text, _ := strconv.Unquote(key.Value); texts["en"][text] == "" {
							t.Errorf("%s says %s, which is no text", name.Name(), key.Value)
						}
					}
				}
			}
			return true
		})
	}
	if len(used) < 100 {
		t.Fatalf("only %d texts in the source files", len(used))
	}
	for key := range texts["en"] {
		if !used[key] {
			t.Errorf("nobody says %q", key)
		}
	}
	for _, p := range parameters {
		if p.expected != "" && texts["en"][p.expected] == "" || p.expected == "" && p.enum == nil {
			t.Errorf("what %s wants is not said: %q", p.name, p.expected)
		}
	}
}

// The German page says in German what is wrong with a search; the API answers
// the same request in English.
func TestGermanProblems(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, c := range []struct{ query, german, hint, english string }{
		{"limit=0", "limit muss von 1 bis 500 sein und ist 0.", "Die Anzahl steht", "limit must be 1 to 500, got 0."},
		{"lat=91&lon=8", "lat muss zwischen -90 und 90 liegen und ist 91.", "", "lat must be between -90 and 90, got 91."},
		{"lat=53", "lon fehlt; lat und lon gehören zusammen.", "", "lon is missing; lat and lon go together."},
		{"since=gestern", `since erwartet einen Tag wie 2026-11-21 oder eine Dauer wie 7d, nicht &#34;gestern&#34;.`, "", `since wants 2026-11-21 or 7d, got \"gestern\".`},
		{"lmit=5", `&#34;lmit&#34; kennt diese Suche nicht.`, "Meinten Sie limit?", `\"lmit\" is not a parameter here.`},
		{"sort=size", "sort erwartet eines von relevance, distance, newest, name, nicht &#34;size&#34;.", "", "sort wants one of relevance"},
		{"bbox=53.07,8.10,53.21,8.33", "erwartet wird minLon,minLat,maxLon,maxLat.", "Meinten Sie bbox=8.1,53.07,8.33,53.21?", "expected minLon,minLat,maxLon,maxLat."},
		{"bbox=1,2", "bbox erwartet 4 Zahlen mit Kommas dazwischen, nicht 2.", "", "bbox wants 4 numbers"},
		{"lat=8.21&lon=53.14&radius=3000", "mit vertauschtem lat und lon gibt es etwas.", "Meinten Sie lat=53.14&amp;lon=8.21?", "there is something where lat and lon are exchanged."},
		{"cursor=x", "cursor gehört nicht zu diesem Verzeichnis", "Ohne cursor beginnt", "cursor is none of this index"},
		{"q=%25zz%zz", "richtigen %-Zeichen.", "In Werten steht %25 für %", "valid % escapes."},
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
