package geoparse

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/geoparse/markup"

	"github.com/paulmach/orb"
)

// layoutGazetteer returns the postal codes that the files of testdata/layouts
// begin with: behind "@codes", a line each, code, city, state, latitude and
// longitude of the country that the file is named after.
func layoutGazetteer(t testing.TB) *gazetteer.Gazetteer {
	t.Helper()
	files, err := filepath.Glob("testdata/layouts/*.cases")
	if err != nil {
		t.Fatal(err)
	}
	var places []gazetteer.Place
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		codes, _, _ := strings.Cut(string(data), "\n\n")
		rows, ok := strings.CutPrefix(codes, "@codes\n")
		if !ok {
			continue
		}
		country := strings.TrimSuffix(filepath.Base(file), ".cases")
		for row := range strings.SplitSeq(rows, "\n") {
			c := strings.Split(row, "\t")
			var at orb.Point
			if _, err := fmt.Sscan(c[3]+" "+c[4], &at[1], &at[0]); err != nil {
				t.Fatalf("%s: %q: %v", file, row, err)
			}
			places = append(places, gazetteer.Place{
				Kind: gazetteer.Postcode, Country: country, Postcode: c[0], City: c[1], Names: c[1:2], State: c[2], Point: at, HasPoint: true,
			})
		}
	}
	g := gazetteer.Of(places...)
	t.Cleanup(func() { g.Close() })
	return g
}

// TestLayouts reads the texts of testdata/layouts, in a file per country and
// divided by blank lines: each as a page of its own. Its addresses stand behind
// "=> " as street, number, unit, post box, postcode, city and country. A text
// that begins with "@FR" is read as the caller's word that its country is
// France; one that begins with "<" is HTML.
func TestLayouts(t *testing.T) {
	p, err := New(layoutGazetteer(t), nil, Options{EveryMention: true})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/layouts/*.cases")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d countries: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".cases"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var whole bytes.Buffer
			for i, block := range strings.Split(strings.TrimSpace(string(data)), "\n\n") {
				if strings.HasPrefix(block, "@codes") {
					fmt.Fprintln(&whole, block)
					continue
				}
				text, want, _ := strings.Cut(block, "\n=> ")
				in := Input{Text: text}
				if strings.HasPrefix(text, "@") {
					in.Country, in.Text = text[1:3], text[4:]
				}
				if strings.HasPrefix(text, "<") {
					in.Doc = markup.Parse([]byte(text))
					in.Text = markup.Text(in.Doc)
				}
				v, err := p.Parse(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				var lines []string
				for _, a := range v.Addresses {
					lines = append(lines, strings.Join([]string{a.Street, a.HouseNumber, a.Unit, a.POBox, a.Postcode, a.City, a.Country}, "|"))
				}
				got := strings.Join(lines, "\n=> ")
				if got == "" {
					got = "-"
				}
				if got != want && !*update {
					t.Errorf("%q:\n got %s\nwant %s", text, got, want)
				}
				if i > 0 {
					whole.WriteByte('\n')
				}
				fmt.Fprintf(&whole, "%s\n=> %s\n", text, got)
			}
			if *update {
				if err := os.WriteFile(file, whole.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
