package topic

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func okapi(t testing.TB, words string) *Okapi {
	t.Helper()
	c, err := NewOkapi(Words(words), DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Equation 7 by hand, over five texts.
func TestOkapi(t *testing.T) {
	c := okapi(t, "bakery bread bread")
	texts := []string{"bakery bread", "bread and more bread here", "a town hall", "the river", "the old bridge of the town"}
	total := 0
	for _, d := range texts {
		c.Observe(c.Read(d))
		total += len(d)
	}
	avdl := float64(total) / 5
	part := func(df, ftd, ftc int, length int) float64 {
		return math.Log((5-float64(df)+.5)/(float64(df)+.5)) *
			2.2 * float64(ftd) / (1.2*(1-.75+.75*float64(length)/avdl) + float64(ftd)) *
			101 * float64(ftc) / (100 + float64(ftc))
	}
	for text, want := range map[string]float64{
		texts[0]:       part(1, 1, 1, len(texts[0])) + part(2, 1, 2, len(texts[0])),
		texts[1]:       part(2, 2, 2, len(texts[1])),
		texts[2]:       0,
		"":             0,
		"BREAD, bread": part(2, 2, 2, 12),
	} {
		if got := c.Score(c.Read(text)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if s := c.Similarity(c.Read(strings.Repeat("bakery bread ", 5000))); s <= 0 || s > 1 {
		t.Errorf("similarity %v", s)
	}
}

// As printed, k1, b and k2 are options and a word of more than half of all texts counts
// against a text (equation 7).
func TestOkapiOptions(t *testing.T) {
	o := Options{K1: 2, B: 0.5, K2: 10, NegativeIDF: true}
	c, err := NewOkapi([]string{"bread", "bread"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"bread", "our bread here", "a hall"} {
		c.Observe(c.Read(text))
	}
	avdl := float64(5+14+6) / 3
	want := math.Log((3-2+.5)/(2+.5)) * 3 * 2 / (2*(1-.5+.5*11/avdl) + 2) * 11 * 2 / (10 + 2)
	d := c.Read("bread bread")
	if got := c.Score(d); math.Abs(got-want) > 1e-12 || got >= 0 {
		t.Errorf("%v, want %v", got, want)
	}
	if s, r := c.Similarity(d), c.Scaled(d); s != 0 || r != 0 {
		t.Errorf("shares of a negative score: %v and %v, want 0", s, r)
	}
}

// The collection of a node is the tree's other topics, or nothing until crawled pages are
// observed; the lengths of those count.
func TestCollections(t *testing.T) {
	tree, err := Read(strings.NewReader("- {topic: bakery, words: bread}\n- {topic: river}\n- {topic: hall}"))
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	of := func(text string) float64 {
		c, err := tree.Node(0, o)
		if err != nil {
			t.Fatal(err)
		}
		if o.Collection == "crawled" {
			for range 4 {
				c.Observe(c.Read("another page"))
			}
		}
		return c.Score(c.Read(text))
	}
	long := "bread " + strings.Repeat("xx ", 200)
	if of("bread") != of(long) {
		t.Errorf("topics: lengths count, %v and %v", of("bread"), of(long))
	}
	o.Collection = "crawled"
	if short, other := of("bread"), of(long); !(short > other) {
		t.Errorf("crawled: %v for a short text, %v for a long one", short, other)
	}
}

// Common words never count against a text, and nothing known is no error.
func TestBounds(t *testing.T) {
	c := okapi(t, "the bakery")
	if s := c.Similarity(c.Read("the bakery")); !(s > 0 && s <= 1) {
		t.Errorf("before any text: %v", s)
	}
	for range 10 {
		c.Observe(c.Read("the the bakery"))
	}
	if got := c.Score(c.Read("the bakery")); got != 0 {
		t.Errorf("words of all texts: %v, want 0", got)
	}
	if got := c.Similarity(c.Read("the bakery")); got != 0 || math.IsNaN(got) {
		t.Errorf("similarity %v, want 0", got)
	}
	if _, err := NewOkapi(nil, DefaultOptions()); err == nil {
		t.Error("a topic without words: no error")
	}
}

func TestWords(t *testing.T) {
	got := Words("Bäckerei—Brot, 7 a B2 ไทย x" + strings.Repeat("y", 70))
	if want := []string{"bäckerei", "brot", "b2", "ไทย"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkSimilarity(b *testing.B) {
	c := okapi(b, "bakery bread cake coffee shop opening hours")
	text := strings.Repeat("A page of the town about its bakery and other things of which nobody reads. ", 60)
	for b.Loop() {
		d := c.Read(text)
		c.Observe(d)
		c.Similarity(d)
	}
	b.SetBytes(int64(len(text)))
}

// A collection of three texts, of which two have bread and one has cake, is there again after it was
// saved: cake has ln((3 − 1 + ½)/(1 + ½)) = ln(5/3). A word that the topic has since then is in no text.
func TestCollectionIsKept(t *testing.T) {
	o := Options{K1: 2, B: 0, K2: 1, Collection: "crawled"}
	first, err := NewOkapi([]string{"bread", "cake"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"bread", "bread cake", "stone"} {
		first.Observe(first.Read(text))
	}
	saved, err := first.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewOkapi([]string{"bread", "cake", "rolls"}, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Restore(saved); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]float64{"cake": math.Log(5.0 / 3), "rolls": math.Log(7)} {
		if got := again.Score(again.Read(text)); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if again.Restore([]byte("{")) == nil {
		t.Error("half a collection: no error")
	}
}
