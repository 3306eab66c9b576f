package sim

import (
	"slices"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// A domain is dug up to so many levels (section 5.1): links from the page by which the crawl came
// to it, by the shortest way known; another domain begins anew.
func TestDomainLevels(t *testing.T) {
	r := &nodesRun{deepest: 2, level: map[frontier.Key]int{}}
	url := func(raw string) weburl.URL {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, c := range []struct {
		on         string
		links, own []string
	}{
		{"http://a.example/", []string{"http://a.example/1", "http://b.example/"}, []string{"http://a.example/1", "http://b.example/"}},
		{"http://a.example/1", []string{"http://a.example/2"}, []string{"http://a.example/2"}},
		{"http://a.example/2", []string{"http://a.example/3", "http://c.example/x", "http://a.example/1"}, []string{"http://c.example/x", "http://a.example/1"}},
		{"http://c.example/x", []string{"http://a.example/3", "http://c.example/y"}, []string{"http://a.example/3", "http://c.example/y"}},
	} {
		var found []frontier.Entry
		for _, l := range c.links {
			found = append(found, frontier.Entry{URL: url(l)})
		}
		var own []string
		for _, e := range r.within(&page.Page{URL: url(c.on)}, found) {
			own = append(own, e.URL.String())
		}
		if !slices.Equal(own, c.own) {
			t.Errorf("%s: %q, want %q", c.on, own, c.own)
		}
	}
}
