// Package topic maps a user's example pages to a node of a topic tree (Ahmadi-Abkenari & Selamat
// 2010, section 8): the node whose description fits them best by TF-IDF over an inverted list.
package topic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A Topic is one node of the tree.
type Topic struct {
	Name     string   // its short phrase
	Path     string   // names from the root: "science / computer science"
	Words    string   // text that describes it, with its name
	Examples []string // D(c): URLs of its best pages
}

// A Tree is a topic tree as a list, parents before children.
type Tree struct {
	Topics []Topic
	list   inverted  // J, whose words are the vocabulary V
	norm   []float64 // length of each topic's vector
}

// An inverted list has for each word ⟨id_j, w_i, [o_1 … o_k]⟩; the weight w_i, TF-IDF, follows
// from the number of offsets and of postings.
type inverted map[string][]posting

// A posting is one text of a word.
type posting struct {
	text    int
	offsets []int // of the word in the text, in words, rising
}

func invert(texts []string) inverted {
	list := inverted{}
	for i, text := range texts {
		for offset, w := range Words(text) {
			if of := list[w]; len(of) == 0 || of[len(of)-1].text != i {
				list[w] = append(of, posting{text: i})
			}
			last := &list[w][len(list[w])-1]
			last.offsets = append(last.offsets, offset)
		}
	}
	return list
}

// Bounds of a tree file.
const (
	maxBytes  = 16 << 20
	maxTopics = 100_000
	maxDepth  = 50
)

// node is a topic in the file.
type node struct {
	Topic    string   `yaml:"topic"`
	Words    string   `yaml:"words"`
	Examples []string `yaml:"examples"`
	Topics   []node   `yaml:"topics"`
}

// Read reads a tree: a YAML list of topics, each with its phrase (topic), words
// that describe it, example URLs, and the topics below it.
//
//   - topic: food
//     topics:
//   - topic: bakery
//     words: bread rolls cake baker
//     examples: [https://www.example.org/bakeries]
func Read(r io.Reader) (*Tree, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read topics: %w", err)
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("topics: more than %d MB", maxBytes>>20)
	}
	var roots []node
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	err = d.Decode(&roots)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("topics: %w", err)
	}
	t := &Tree{}
	err = t.add(roots, "", 0)
	if err != nil {
		return nil, err
	}
	if len(t.Topics) == 0 {
		return nil, errors.New("topics: the file names none")
	}
	t.index()
	return t, nil
}

func (t *Tree) add(nodes []node, above string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("topics: %q lies more than %d levels deep", above, maxDepth)
	}
	for i, n := range nodes {
		name := strings.Join(strings.Fields(n.Topic), " ")
		switch {
		case name == "":
			return fmt.Errorf("topics: number %d below %q has no name", i+1, above)
		case len(t.Topics) >= maxTopics:
			return fmt.Errorf("topics: more than %d", maxTopics)
		}
		path := name
		if above != "" {
			path = above + " / " + name
		}
		if slices.ContainsFunc(nodes[:i], func(m node) bool {
			return strings.Join(strings.Fields(m.Topic),
				" ") == name
		}) {
			return fmt.Errorf("topics: %q comes twice", path)
		}
		t.Topics = append(t.Topics, Topic{Name: name, Path: path,
			Words: strings.TrimSpace(name + " " + n.Words), Examples: n.Examples})
		err := t.add(n.Topics, path, depth+1)
		if err != nil {
			return err
		}
	}
	return nil
}

// Describe adds words to what describes a topic, and so to the vocabulary.
func (t *Tree) Describe(topic int, text string) {
	t.Topics[topic].Words += " " + text
	t.index()
}

// index makes the inverted list.
func (t *Tree) index() {
	var texts []string
	for _, c := range t.Topics {
		texts = append(texts, c.Words)
	}
	t.list = invert(texts)
	t.norm = make([]float64, len(t.Topics))
	for _, postings := range t.list {
		for _, p := range postings {
			weight := float64(len(p.offsets)) * t.idf(len(postings))
			t.norm[p.text] += weight * weight
		}
	}
	for i := range t.norm {
		t.norm[i] = math.Sqrt(t.norm[i])
	}
}

// idf is ln(1 + N/df).
func (t *Tree) idf(df int) float64 { return math.Log1p(float64(len(t.Topics)) / float64(df)) }

// A Match is a topic with how well it fits: the cosine of the two TF-IDF
// vectors, above 0 to 1.
type Match struct {
	Topic int
	Score float64
}

// Map returns the topics that share words with the user's pages D_u, best
// first; of equal ones the deeper, then the first of the file.
func (t *Tree) Map(texts ...string) []Match {
	dot := map[int]float64{}
	norm := 0.0
	for w, used := range invert(texts) {
		n := 0
		for _, p := range used {
			n += len(p.offsets)
		}
		idf := t.idf(len(t.list[w]))
		for _, p := range t.list[w] {
			dot[p.text] += float64(n) * idf * float64(len(p.offsets)) * idf
		}
		if t.list[w] != nil {
			norm += float64(n) * idf * float64(n) * idf
		}
	}
	var found []Match
	for i, v := range dot {
		found = append(found, Match{i, v / (math.Sqrt(norm) * t.norm[i])})
	}
	depth := func(m Match) int { return strings.Count(t.Topics[m.Topic].Path, " / ") }
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(depth(b), depth(a)), cmp.Compare(a.Topic, b.Topic))
	})
	return found
}

// A NewWord is a word of V': it occurs in the user's pages and not in the vocabulary.
type NewWord struct {
	Word    string
	Weight  float64 // TF-IDF in the user's pages
	Related bool    // to words of the vocabulary
}

const (
	leastNew = 4 // letters of a word that may be new to the vocabulary
	near     = 5 // words from a word of the vocabulary
)

// NewWords is the semantic checker (section 8): it returns the words of the user's pages that
// the vocabulary lacks, the heaviest first. The paper leaves open when a word is related. Here
// it is if at least half of its occurrences are near a word of the vocabulary, or if it begins
// with one: such words add nothing to the vocabulary. The others are what the tree lacks.
func (t *Tree) NewWords(texts ...string) (words []NewWord) {
	list := invert(texts)
	known := make([][]int, len(texts)) // offsets of words of V
	for w, used := range list {
		for _, p := range used {
			if t.list[w] != nil {
				known[p.text] = append(known[p.text], p.offsets...)
			}
		}
	}
	for i := range known {
		slices.Sort(known[i])
	}
	for w, used := range list {
		if t.list[w] != nil || utf8.RuneCountInString(w) < leastNew {
			continue
		}
		times, beside := 0, 0
		for _, p := range used {
			for _, o := range p.offsets {
				times++
				if i, _ := slices.BinarySearch(known[p.text], o-near); i < len(known[p.text]) &&
					known[p.text][i] <= o+near {
					beside++
				}
			}
		}
		weight := float64(times) * math.Log1p(float64(len(texts))/float64(len(used)))
		words = append(words, NewWord{w, weight, 2*beside >= times || t.beginsKnown(w)})
	}
	slices.SortFunc(words, func(a, b NewWord) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Word, b.Word))
	})
	return words
}

// beginsKnown reports whether a word begins with one of the vocabulary: "bakeries", "breads".
func (t *Tree) beginsKnown(w string) bool {
	for i := range w {
		if i >= leastNew && t.list[w[:i]] != nil {
			return true
		}
	}
	return false
}

// Missing returns the n heaviest words that the tree lacks, with which its topic is to be
// edited by Describe.
func (t *Tree) Missing(n int, texts ...string) (words []string) {
	for _, w := range t.NewWords(texts...) {
		if !w.Related && len(words) < n {
			words = append(words, w.Word)
		}
	}
	return words
}

// Find returns the number of the topic with this path or name.
func (t *Tree) Find(name string) (int, bool) {
	for i, c := range t.Topics {
		if c.Path == name || c.Name == name {
			return i, true
		}
	}
	return 0, false
}

// A Chosen is the topic c* of a crawl.
type Chosen struct {
	Topic
	Number int // in Tree.Topics
	Tree   *Tree
	Okapi  *Okapi
	Added  []string // words that the user's pages have added to the topic
}

// Choose returns the topic with this path or name; ok is false where there is
// none.
func (t *Tree) Choose(name string, o Options) (c *Chosen, ok bool, err error) {
	n, ok := t.Find(name)
	if !ok {
		return nil, false, nil
	}
	c = &Chosen{Topic: t.Topics[n], Number: n, Tree: t}
	c.Okapi, err = t.Node(n, o)
	return c, true, err
}

// Names returns the names of all topics.
func (t *Tree) Names() []string {
	var names []string
	for _, c := range t.Topics {
		names = append(names, c.Name)
	}
	return names
}

// Node returns the Okapi of c*. Its collection is the other topics of the tree, so a page's score
// is the same at any time and on every node of a crawl; or, as published, crawled pages that the
// caller observes.
func (t *Tree) Node(topic int, o Options) (*Okapi, error) {
	c, err := NewOkapi(Words(t.Topics[topic].Words), o)
	if err != nil {
		return nil, fmt.Errorf("topics: %q: %w", t.Topics[topic].Path, err)
	}
	for i, other := range t.Topics {
		if i != topic && o.Collection != "crawled" {
			d := c.Read(other.Words)
			d.Bytes = 0 // lengths of descriptions do not compare with those of pages
			c.Observe(d)
		}
	}
	return c, nil
}

// Seeds are the second-level seeds CL = D_u + D(c*) (equation 6): the user's
// pages and the examples of the topic, each once.
func (t *Tree) Seeds(users []string, topic int) []string {
	var all []string
	for _, u := range append(slices.Clone(users), t.Topics[topic].Examples...) {
		if !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	return all
}
