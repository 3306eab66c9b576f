package crawler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// TestJudgedPages holds that the pages of several crawls come in the order of
// their visits, and that a reader may stop.
func TestJudgedPages(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	grow := func(host string, minutes ...int) *frontier.Frontier {
		f, err := frontier.Open(frontier.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		page := func(path string) weburl.URL {
			u, err := weburl.Parse("http://" + host + path)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		seed := frontier.Entry{URL: page("/"), Priority: 1}
		var links []frontier.Entry
		for i := range minutes {
			links = append(links, frontier.Entry{URL: page(fmt.Sprint("/", i)), Depth: 1, Distance: 1, Parent: frontier.KeyOf(seed.URL), Priority: 0.5})
		}
		visit := func(e frontier.Entry, minute int, found ...frontier.Entry) {
			o := frontier.Outcome{Kind: "page", Status: 200, At: began.Add(time.Duration(minute) * time.Minute)}
			if _, err := f.Done(t.Context(), e, o, found...); err != nil {
				t.Fatal(err)
			}
		}
		visit(seed, 0, links...)
		for i, minute := range minutes {
			visit(links[i], minute)
		}
		return f
	}
	a, b, none := grow("a.example", 1, 4, 6), grow("b.example", 2, 3, 7, 8), grow("c.example")
	var got []string
	for e, err := range JudgedPages(t.Context(), a, b, none) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Link.Host+e.Link.Path)
	}
	want := []string{"a.example/0", "b.example/0", "b.example/1", "a.example/1", "a.example/2", "b.example/2", "b.example/3"}
	if !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	for range JudgedPages(t.Context(), a, b) {
		break
	}
}
