package order

import (
	"bytes"
	"fmt"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor"

	"pgregory.net/rapid"
)

func newsURL(t testing.TB, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A host that repeats its footer is stale, but not a part of it that was not
// looked at, nor one whose pages have addresses of their own, nor a host that
// repeats those of another.
func TestFresh(t *testing.T) {
	n := NewNews()
	for i := range 96 {
		n.Observe(newsURL(t, fmt.Sprintf("http://a.example/blog/%d", i)), []string{"footer"})
		n.Observe(newsURL(t, fmt.Sprintf("http://a.example/shops/%d", i)), []string{"footer", fmt.Sprint("shop ", i)})
		n.Observe(newsURL(t, fmt.Sprintf("http://b.example/%d", i)), []string{"footer"})
		n.Observe(newsURL(t, fmt.Sprintf("http://directory.example/%d", i)), []string{fmt.Sprint("shop ", i)}) // known from the other host
		n.Observe(newsURL(t, fmt.Sprintf("http://c.example/%d", i)), nil)
	}
	for _, c := range []struct {
		url         string
		least, most float64
	}{
		{"http://a.example/shops/new", 1, 1},
		{"http://a.example/people/", 1, 1},
		{"http://a.example/blog/new", .5, .53}, // as the host
		{"http://b.example/new", .05, .05},
		{"http://directory.example/new", 1, 1},
		{"http://b.example/new/deep", 1, 1},
		{"http://c.example/new", 1, 1},
		{"http://d.example/", 1, 1},
	} {
		if got := n.Fresh(newsURL(t, c.url)); got < c.least || got > c.most {
			t.Errorf("Fresh(%s) = %v, want %v to %v", c.url, got, c.least, c.most)
		}
	}
}

// Of two links of equal value the one comes first whose page is likely to have a new address; without
// News both are equal.
func TestLookaheadPrefersNews(t *testing.T) {
	model := predictor.NewModel(predictor.DefaultOptions())
	s := Lookahead{Model: model, News: NewNews()}
	stale := frontier.Entry{URL: newsURL(t, "http://a.example/x"), Depth: 3, Distance: 1}
	other := frontier.Entry{URL: newsURL(t, "http://b.example/x"), Depth: 3, Distance: 1}
	before, _ := s.Score(&stale)
	if x, _ := s.Score(&other); x != before {
		t.Fatalf("before anything was seen the links score %v and %v", before, x)
	}
	for i := range 200 {
		s.News.Observe(newsURL(t, fmt.Sprintf("http://a.example/%d", i)), []string{"footer"})
	}
	after, _ := s.Score(&stale)
	if x, _ := s.Score(&other); x != before || after > .35*before || after < repeated*before {
		t.Errorf("the links score %v and %v, before %v", after, x, before)
	}
}

// A restored snapshot is the same, byte for byte, and only invalid ones are refused.
func TestNewsSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := NewNews()
		var urls []weburl.URL
		for range rapid.IntRange(0, 60).Draw(t, "pages") {
			u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/%d/%d", rapid.IntRange(0, 3).Draw(t, "host"), rapid.IntRange(0, 3).Draw(t, "part"), rapid.IntRange(0, 9).Draw(t, "page")))
			if err != nil {
				t.Fatal(err)
			}
			urls = append(urls, u)
			n.Observe(u, rapid.SliceOfN(rapid.StringMatching("[a-f]"), 0, 3).Draw(t, "addresses"))
		}
		data, err := n.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		again := NewNews()
		again.Observe(newsURLOf(t, "http://other.example/"), []string{"forgotten by Restore"})
		if err := again.Restore(data); err != nil {
			t.Fatal(err)
		}
		for _, u := range urls {
			if a, b := n.Fresh(u), again.Fresh(u); a != b || !(a > 0 && a <= 1) {
				t.Fatalf("Fresh(%s) = %v, restored %v", u, a, b)
			}
		}
		if back, err := again.Snapshot(); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("the snapshot of what was restored differs: %s, %s, %v", data, back, err)
		}
	})
	n := NewNews()
	if err := n.Restore(nil); err != nil {
		t.Error(err)
	}
}

func newsURLOf(t *rapid.T, text string) weburl.URL {
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func BenchmarkNewsFresh(b *testing.B) {
	n := NewNews()
	u, _ := weburl.Parse("http://www.a.example/betriebe/kontakt?id=3")
	n.Observe(u, []string{"one"})
	for b.Loop() {
		n.Fresh(u)
	}
}
