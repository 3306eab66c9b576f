package sitewide

import (
	"fmt"
	"testing"
)

// Which addresses are site-wide, page by page.
func TestSaw(t *testing.T) {
	for name, c := range map[string]struct {
		pages  []string // addresses of each page, a letter each; a capital stands in the footer
		letter string
		want   []bool // for that address on each page that states it
	}{
		"a footer":                      {[]string{"a", "a", "a", "a"}, "a", []bool{false, false, true, true}},
		"one that the markup shows":     {[]string{"A", "A", "A"}, "A", []bool{false, true, true}},
		"the half is not most":          {[]string{"a", "", "a", "", "a", ""}, "a", []bool{false, false, true}},
		"a contact page of a portal":    {[]string{"", "", "", "", "", "", "", "a", "a", "a"}, "a", []bool{false, false, false}},
		"branches beside the footer":    {[]string{"ab", "ac", "ad", "ae"}, "e", []bool{false}},
		"a footer beside branches":      {[]string{"ab", "ac", "ad", "ae"}, "a", []bool{false, false, true, true}},
		"a footer that came later":      {[]string{"", "", "", "a", "a", "a", "a"}, "a", []bool{false, false, false, true}},
		"a footer that is not any more": {[]string{"a", "a", "a", "", "", "", "", "a"}, "a", []bool{false, false, true, false}},
	} {
		counter := New()
		var got []bool
		for _, page := range c.pages {
			var mentions []Mention
			at := -1
			for i, letter := range page {
				if string(letter) == c.letter {
					at = i
				}
				mentions = append(mentions, Mention{Key: string(letter), Footer: letter < 'a'})
			}
			wide := counter.Observe("a.example", mentions, false)
			if at >= 0 {
				got = append(got, wide[at])
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A page that is read again counts once.
func TestSawAgain(t *testing.T) {
	c := New()
	m := []Mention{{Key: "a"}}
	c.Observe("a.example", m, false)
	for range 5 {
		if c.Observe("a.example", m, true)[0] {
			t.Fatal("one page made an address site-wide")
		}
	}
	c.Observe("a.example", m, false)
	if !c.Observe("a.example", m, false)[0] || c.Observe("b.example", m, false)[0] {
		t.Error("three pages of one host make it site-wide there, and nowhere else")
	}
}

// However many addresses and hosts there are: memory is bounded, and a footer
// is found among ten thousand others.
func TestBounds(t *testing.T) {
	c := New()
	found := false
	for i := range 10_000 {
		found = c.Observe("list.example", []Mention{{Key: fmt.Sprint("branch ", i)}, {Key: "footer"}}, false)[1]
	}
	if !found || len(c.hosts["list.example"].Addresses) > maxAddresses {
		t.Errorf("footer %v, %d addresses", found, len(c.hosts["list.example"].Addresses))
	}
	for i := range maxHosts + 1000 {
		c.Observe(fmt.Sprint("h", i, ".example"), nil, false)
	}
	if len(c.hosts) > maxHosts || c.hosts["list.example"] == nil {
		t.Errorf("%d hosts; the one with addresses is forgotten: %v", len(c.hosts), c.hosts["list.example"] == nil)
	}
}

// A Counter that is restored knows what another one has counted.
func TestRestore(t *testing.T) {
	c, again := New(), New()
	for range 3 {
		c.Observe("a.example", []Mention{{Key: "Lange Straße 5"}}, false)
	}
	data, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(data); err != nil {
		t.Fatal(err)
	}
	if wide := again.Observe("a.example", []Mention{{Key: "Lange Straße 5"}, {Key: "x"}}, false); !wide[0] || wide[1] {
		t.Errorf("site-wide: %v", wide)
	}
}
