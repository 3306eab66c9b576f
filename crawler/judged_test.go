package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
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

	// A crawl of another region teaches nothing of its hosts.
	for f, region := range map[*frontier.Frontier]string{a: "Adorf", b: "Bdorf", none: "Adorf"} {
		if err := f.PutMeta(regionMeta, []byte(region)); err != nil {
			t.Fatal(err)
		}
	}
	for e, err := range JudgedPages(t.Context(), a, b) {
		if err != nil {
			t.Fatal(err)
		}
		abroad := strings.HasPrefix(e.Link.Host, "b.example")
		if abroad != (e.Link.Host != "a.example") || abroad == slices.Contains(e.Trail[0], "host:"+e.Link.Host) {
			t.Errorf("link on %s has terms %v", e.Link.Host, e.Trail[0])
		}
	}
}

// Whatever the order of the crawl was, a bridge page has the value of the pages behind it, and a page
// whose links were not visited what its visit expected of them.
func TestLinkValues(t *testing.T) {
	t.Parallel()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	entry := func(path, parent string) frontier.Entry {
		u, err := weburl.Parse("http://a.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		e := frontier.Entry{URL: u, Priority: 0.5}
		if parent != "" {
			e.Depth, e.Distance = 1, 1
			p, err := weburl.Parse("http://a.example" + parent)
			if err != nil {
				t.Fatal(err)
			}
			e.Parent = frontier.KeyOf(p)
		}
		return e
	}
	for _, v := range []struct {
		path, parent string
		relevant     bool
		expected     float64
	}{
		{"/", "", false, 0}, {"/bridge", "/", false, 0.9}, {"/behind", "/bridge", false, 0},
		{"/hit", "/behind", true, 0}, {"/open", "/", false, 0.4},
	} {
		at = at.Add(time.Minute)
		o := frontier.Outcome{Kind: "page", Status: 200, At: at, Relevant: v.relevant, LinkValue: v.expected}
		if _, err := f.Done(t.Context(), entry(v.path, v.parent), o); err != nil {
			t.Fatal(err)
		}
	}
	one := order.LinksValue([]float64{1})
	want := map[string]float64{"/bridge": order.LinksValue([]float64{one}), "/behind": one, "/hit": 1, "/open": 0.4}
	got := map[string]float64{}
	for e, err := range JudgedPages(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		got[e.Link.Path] = e.Value()
	}
	for path, v := range want {
		if diff := got[path] - v; diff > 1e-6 || diff < -1e-6 {
			t.Errorf("links of %s: value %v, want %v (all %v)", path, got[path], v, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("values %v, want those of %v", got, want)
	}
}
