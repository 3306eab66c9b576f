package tdm

import (
	"strings"
	"testing"

	"gazehound/crawler/weburl"
)

func TestReserved(t *testing.T) {
	file := `[{"location":"/frei/*","tdm-reservation":0},{"location":"/*.html$","tdm-reservation":1,"tdm-policy":"https://a.example/p.json"},
		{"location":"/bilder","tdm-reservation":"1"},{"location":3,"tdm-reservation":1}]`
	list := strings.Replace(file, `,{"location":3,"tdm-reservation":1}`, "", 1)
	for _, c := range []struct {
		file, path string
		want       bool
	}{
		{list, "/a.html", true}, {list, "/a.html?x=1", false}, {list, "/frei/a.html", false}, {list, "/bilder/1", true}, {list, "/", false},
		{file, "/a.html", false}, // one value of a wrong kind: nobody can say what was meant
		{`[{"location":"/","tdm-reservation":1}]`, "/x", true}, {`[{"location":"*","tdm-reservation":1}]`, "/x", true},
		{`[{"location":"/x$","tdm-reservation":1}]`, "/x", true}, {`[{"location":"/x$","tdm-reservation":1}]`, "/xy", false},
		{`[{"location":"/","tdm-reservation":true}]`, "/", false}, {`[{"tdm-reservation":1}]`, "/", false},
		{`{"location":"/","tdm-reservation":1}`, "/", false}, {"<html>", "/", false}, {"", "/", false}, {"[null]", "/", false},
		{`[{"location":"/` + strings.Repeat("*a", 400) + `b$","tdm-reservation":1}]`, "/" + strings.Repeat("a", 1900), false},
	} {
		u, err := weburl.Parse("https://a.example" + c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse([]byte(c.file)).Reserved(u); got != c.want {
			t.Errorf("%s in %.80s: reserved %v", c.path, c.file, got)
		}
	}
}

// A host without stars reserves exactly what begins with a location, in any
// file: the law of the protocol's simplest form.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"location":"/","tdm-reservation":1}]`), "/x")
	f.Add([]byte(`[{"location":"/*a*b$","tdm-reservation":1}]`), "/xab")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		u, err := weburl.Parse("https://a.example/" + path)
		if err != nil {
			return
		}
		rules := Parse(file)
		if rules.Reserved(u) && len(rules.rules) == 0 {
			t.Error("reserved without a rule")
		}
		plain := Rules{[]rule{{strings.NewReplacer("*", "", "$", "").Replace(path), true}}}
		if want := strings.HasPrefix(u.Path()+"?"+u.Query(), plain.rules[0].pattern) && u.Query() != "" || u.Query() == "" && strings.HasPrefix(u.Path(), plain.rules[0].pattern); plain.Reserved(u) != want {
			t.Errorf("%q on %s: reserved %v", plain.rules[0].pattern, u, !want)
		}
	})
}
