package topic

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const tree = `
- topic: food
  words: eat drink
  topics:
    - topic: bakery
      words: bread rolls cake baker
      examples: [https://a.example/bakeries, https://b.example/]
    - topic: restaurant
      words: menu table dinner
- topic: town hall
  words: mayor passport council
`

func read(t testing.TB, s string) *Tree {
	t.Helper()
	c, err := Read(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMap(t *testing.T) {
	c := read(t, tree)
	for text, want := range map[string]string{
		"Fresh bread and cake every day":               "food / bakery",
		"The mayor hands out passports; new PASSPORT":  "town hall",
		"Book a table for dinner, see our menu. Bread": "food / restaurant",
		"eat":                       "food",
		"nothing that anyone knows": "",
	} {
		got := c.Map(text)
		path := ""
		if len(got) > 0 {
			path = c.Topics[got[0].Topic].Path
		}
		if path != want {
			t.Errorf("%q is about %q, want %q", text, path, want)
		}
		for i, m := range got {
			if m.Score <= 0 || m.Score > 1+1e-9 || i > 0 && m.Score > got[i-1].Score {
				t.Errorf("%q: scores %v", text, got)
			}
		}
	}
	hall, ok := c.Find("town hall")
	if !ok {
		t.Fatal("no town hall")
	}
	c.Describe(hall, "zebra zebra")
	if got := c.Map("zebra"); len(got) != 1 || got[0].Topic != hall {
		t.Errorf("what describes a topic is not used: %v", got)
	}
	if _, ok := c.Find("food / bakery"); !ok {
		t.Error("no path")
	}
}

// The semantic checker by hand: "sourdough" stands next to "bread" always, "millstone" and "oven"
// never; "bakery" of the vocabulary begins "bakerywares"; "ash" is short. A word of one of two
// pages weighs ln 3 each time, one of both ln 2.
func TestNewWords(t *testing.T) {
	c := read(t, tree)
	far := " " + strings.Repeat("x1 ", 6)
	texts := []string{"sourdough bread " + far + "millstone millstone ash oven" + far + "bakerywares",
		"our oven" + far + "sourdough bread" + far + "millstone oven"}
	got := map[string]NewWord{}
	for _, w := range c.NewWords(texts...) {
		got[w.Word] = w
	}
	for word, want := range map[string]NewWord{
		"sourdough":   {"sourdough", 2 * math.Ln2, true},
		"millstone":   {"millstone", 3 * math.Ln2, false},
		"oven":        {"oven", 3 * math.Ln2, false},
		"bakerywares": {"bakerywares", math.Log(3), true},
	} {
		if g := got[word]; g.Related != want.Related || math.Abs(g.Weight-want.Weight) > 1e-12 {
			t.Errorf("%+v, want %+v", g, want)
		}
	}
	if _, known := got["bread"]; known || len(got) != 4 {
		t.Errorf("new are %v", got)
	}
	if words := c.Missing(1, texts...); !slices.Equal(words, []string{"millstone"}) {
		t.Errorf("missing %q", words)
	}
	// The edit of T: the word describes the topic, and the mapper knows it.
	bakery, _ := c.Find("bakery")
	c.Describe(bakery, "millstone")
	if m := c.Map("millstone"); len(m) != 1 || m[0].Topic != bakery {
		t.Errorf("after the edit it maps to %v", m)
	}
}

// The inverted list has the offsets of each word in each text.
func TestInvert(t *testing.T) {
	got := invert([]string{"bread and bread", "and cake"})
	want := inverted{"bread": {{0, []int{0, 2}}}, "and": {{0, []int{1}}, {1, []int{0}}}, "cake": {{1, []int{1}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSeeds(t *testing.T) {
	c := read(t, tree)
	bakery, _ := c.Find("bakery")
	got := c.Seeds([]string{"https://u.example/", "https://b.example/"}, bakery)
	if want := []string{"https://u.example/", "https://b.example/", "https://a.example/bakeries"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tt := range map[string][2]string{
		"empty":       {"", "names none"},
		"cycle":       {"- &a\n  topic: x\n  topics: [*a]\n", "topics: "},
		"no name":     {"- topic: x\n  topics:\n  - words: y\n", `number 1 below "x" has no name`},
		"twice":       {"- topic: x\n- topic: ' x '\n", `"x" comes twice`},
		"unknown key": {"- topics: []\n  subject: x\n", "subject"},
		"text":        {"hello", "topics: "},
		"deep":        {deep(60), "levels deep"},
		"long":        {"- topic: x\n  words: " + strings.Repeat("y ", maxBytes/2), "more than 16 MB"},
	} {
		if _, err := Read(strings.NewReader(tt[0])); err == nil || !strings.Contains(err.Error(), tt[1]) {
			t.Errorf("%s: %v, want %q", name, err, tt[1])
		}
	}
}

func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- topic: x\n" + strings.Repeat("  ", i) + "  topics:\n")
	}
	return b.String()
}

// Any file is a tree whose topics can all be found by their paths, or an error.
func FuzzRead(f *testing.F) {
	f.Add(tree)
	f.Add("- &a {topic: a, topics: [*a]}")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := Read(strings.NewReader(s))
		if err != nil {
			return
		}
		for i, n := range c.Topics {
			if got, ok := c.Find(n.Path); !ok || c.Topics[got].Path != n.Path || n.Name == "" {
				t.Fatalf("topic %d, %q, is not found", i, n.Path)
			}
			c.Map(n.Words)
		}
	})
}
