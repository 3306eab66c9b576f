package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/crawler"
	"gazehound/crawler/page"
)

// speaking returns a small town whose web has pages in a language.
func speaking(t *testing.T, language string) *Town {
	o := small()
	o.Language, o.Calm = language, true
	return mustTown(t, o)
}

// The pages come in every code page of their language, and whoever reads them
// by their bytes finds the language that is true, and nothing broken.
func TestLanguages(t *testing.T) {
	for language, charsets := range map[string][]string{"th": {"windows-874", "utf-8"}, "ja": {"shift_jis", "euc-jp", "iso-2022-jp", "utf-8"}} {
		t.Run(language, func(t *testing.T) {
			town := speaking(t, language)
			judge := crawler.Language{Code: language}
			foreign, all := map[string]int{}, 0
			town.eachPage(func(c *canvas) {
				r, err := town.Fetch(context.Background(), town.url(c.at))
				if err != nil || r.Status != 200 {
					return
				}
				p, err := page.Parse(r)
				if err != nil {
					t.Fatalf("%s: %v", town.url(c.at), err)
				}
				v, err := judge.Judge(context.Background(), p)
				if err != nil {
					t.Fatal(err)
				}
				all++
				facts := c.facts()
				if want := facts.Language == language; v.Relevant != want {
					t.Errorf("%s (%s, %s): judged %v, want %v", p.URL, p.Charset, r.Header.Get("Content-Type"), v.Relevant, want)
				}
				if strings.ContainsRune(p.Text, utf8.RuneError) {
					t.Errorf("%s (%s): broken text", p.URL, p.Charset)
				}
				if facts.Language == language {
					foreign[p.Charset]++
					for _, word := range words().Languages[language] {
						if strings.Contains(p.Text, word) {
							return
						}
					}
					t.Errorf("%s: no word of the language in %.200q", p.URL, p.Text)
				}
			})
			known := 0
			for _, name := range charsets {
				if foreign[name] == 0 {
					t.Errorf("no page in %s", name)
				}
				known += foreign[name]
			}
			sum := 0
			for _, n := range foreign {
				sum += n
			}
			if sum != known || sum < all/4 || sum > all/2 {
				t.Errorf("of %d pages are %d in the language, %d of them in its code pages: %v", all, sum, known, foreign)
			}
		})
	}
}

// Links stay in their language, no page in it names an island, and addresses
// stand on foreign pages as on others.
func TestLanguageLocality(t *testing.T) {
	town := speaking(t, "th")
	links := map[[2]bool]int{}
	addresses := 0
	town.eachPage(func(c *canvas) {
		for _, to := range c.links {
			if to.site == c.at.site {
				continue
			}
			s := &town.sites[to.site]
			if links[[2]bool{c.s.foreign, s.foreign}]++; c.s.foreign && s.island {
				t.Errorf("%s links to the island %s", town.url(c.at), town.url(to))
			}
		}
		if facts := c.facts(); c.foreign && facts.Relevant {
			addresses++
			if body := town.drawn(c.at, "").buf.Bytes(); !bytes.Contains(body, []byte(facts.Addresses[0].Postcode[:3])) {
				t.Errorf("%s: the address is not on the page", town.url(c.at))
			}
		}
	})
	stay, leave := links[[2]bool{true, true}], links[[2]bool{true, false}]
	if stay < 3*leave || leave == 0 {
		t.Errorf("%d links of foreign sites stay in the language, %d leave it", stay, leave)
	}
	if in := links[[2]bool{false, true}]; in == 0 || in > links[[2]bool{false, false}]/4 {
		t.Errorf("German sites: %v", links)
	}
	if addresses == 0 {
		t.Error("no foreign page has an address")
	}
	for _, u := range town.Seeds() {
		if f, ok := town.Truth(u); !ok || f.Language != "th" {
			t.Errorf("seed %s is in %q", u, f.Language)
		}
	}
}

func TestGoldenLanguages(t *testing.T) {
	for _, language := range []string{"th", "ja"} {
		town := speaking(t, language)
		seen := map[string]bool{}
		town.eachPage(func(c *canvas) {
			p := c.CodePage()
			name := p.Meta
			if name == "" {
				name = p.Header
			}
			if !c.foreign || name == "" || name == "iso-8859-1" || seen[name] || c.s.kind != organisation || c.s.org.count[orgImprint] == 0 || c.at.page != c.s.org.page(orgImprint, 0) {
				return
			}
			seen[name] = true
			r, err := town.Fetch(context.Background(), town.url(c.at))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", language+"-"+strings.ToLower(name)+".html")
			if *update {
				if err := os.WriteFile(file, r.Body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(r.Body, want) {
				t.Errorf("%s:\n got %q\nwant %q", file, r.Body, want)
			}
		})
		if len(seen) < 3 {
			t.Errorf("%s: only the code pages %v", language, seen)
		}
	}
}
