package geoparse

import (
	"os"
	"strings"
	"testing"

	"gazehound/geoparse/markup"
)

// The pages of testdata/pages.tsv have the addresses that stand beside them. The gazetteer is that of
// postal codes alone.
func TestEvalPagesOfCountries(t *testing.T) {
	if testing.Short() {
		t.Skip("what is found does not depend on the race detector")
	}
	p, err := New(evalGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/pages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("%q has %d fields, want 3", line, len(fields))
		}
		host, in, want := fields[0], fields[1], fields[2]
		pages++
		doc := markup.Parse([]byte(in))
		v, err := p.Parse(t.Context(), Input{Text: markup.Text(doc), Doc: doc, Host: "www." + host})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range v.Addresses {
			got = append(got, a.Street+"|"+a.HouseNumber+"|"+a.Postcode+"|"+a.City)
		}
		if g := strings.Join(got, ";"); g != want {
			t.Errorf("%s\n got  %s\n want %s", in, g, want)
		}
	}
	if pages < 100 {
		t.Errorf("only %d pages", pages)
	}
}
