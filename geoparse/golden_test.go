package geoparse

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/geoparse/markup"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads the pages of testdata, a folder per country, with a small
// gazetteer of postal codes (codes.tsv).
func TestGolden(t *testing.T) {
	p, err := New(testGazetteer(t), nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"testdata/*/*.txt", "testdata/*/*.html"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := Input{Text: string(data)}
			if strings.HasSuffix(file, ".html") {
				in.Doc = markup.Parse(data)
				in.Text = markup.Text(in.Doc)
			}
			v, err := p.Parse(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			for _, a := range v.Addresses {
				line := struct {
					Text, Street, HouseNumber, Unit, POBox, Postcode, City, State, Country string
					Level                                                                  Level
					Origin                                                                 Origin
				}{a.Text, a.Street, a.HouseNumber, a.Unit, a.POBox, a.Postcode, a.City, a.State, a.Country, a.Level, a.Origin}
				if err := enc.Encode(line); err != nil {
					t.Fatal(err)
				}
			}
			golden := strings.TrimSuffix(file, filepath.Ext(file)) + ".golden"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want, got.Bytes()) {
				t.Errorf("addresses in %s:\n got %s\nwant %s", file, got.Bytes(), want)
			}
		})
	}
}
