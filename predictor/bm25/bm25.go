// Package bm25 says how well a text fits a topic: Okapi BM25 as in equation 7
// of Ahmadi-Abkenari & Selamat 2010.
package bm25

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Options are the parameters of the equation.
type Options struct {
	K1 float64 // saturation of a word's count in the text, 1 to 2
	B  float64 // how much the length of the text counts, 0 to 1
	K2 float64 // saturation of a word's count in the topic, 1 to 1000
}

// DefaultOptions are k1 = 1.2, b = 0.75, k2 = 100.
func DefaultOptions() Options { return Options{K1: 1.2, B: 0.75, K2: 100} }

// Validate says which parameter is out of range.
func (o Options) Validate() error {
	switch {
	case !(o.K1 >= 1 && o.K1 <= 2):
		return fmt.Errorf("bm25: k1 must be 1 to 2, got %v", o.K1)
	case !(o.B >= 0 && o.B <= 1):
		return fmt.Errorf("bm25: b must be 0 to 1, got %v", o.B)
	case !(o.K2 >= 1 && o.K2 <= 1000):
		return fmt.Errorf("bm25: k2 must be 1 to 1000, got %v", o.K2)
	}
	return nil
}

// A Topic is the node c* with what is known of the collection: how many texts
// there were, how long, and in how many of them each word of the topic stands.
// It is safe for concurrent use.
type Topic struct {
	o     Options
	words map[string]*word
	order []string // of the words: sums are the same to the last bit every time

	mu    sync.RWMutex
	texts int     // N
	bytes float64 // of all texts
}

// A word is one of the topic's.
type word struct {
	count int // f_tc: in the topic
	texts int // df_t: texts that hold it
}

// New makes a topic of the words that describe it, as Words cuts them; a word
// may come several times.
func New(words []string, o Options) (*Topic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t := &Topic{o: o, words: map[string]*word{}}
	for _, w := range words {
		if t.words[w] == nil {
			t.words[w] = &word{}
			t.order = append(t.order, w)
		}
		t.words[w].count++
	}
	if len(t.words) == 0 {
		return nil, fmt.Errorf("bm25: a topic needs words")
	}
	return t, nil
}

// A Text is what Okapi needs of a text.
type Text struct {
	Bytes  int            // dl_d
	Counts map[string]int // f_td, of the topic's words
}

// Read counts the topic's words in a text.
func (t *Topic) Read(text string) Text {
	d := Text{Bytes: len(text), Counts: map[string]int{}}
	for _, w := range Words(text) {
		if t.words[w] != nil {
			d.Counts[w]++
		}
	}
	return d
}

// Observe adds a text to the collection.
func (t *Topic) Observe(d Text) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts++
	t.bytes += float64(d.Bytes)
	for w := range d.Counts {
		t.words[w].texts++
	}
}

// Okapi is equation 7:
//
//	Σ ln((N − df + 0.5)/(df + 0.5)) · (k1 + 1)·f_td/(k1·(1 − b + b·dl/avdl) + f_td) · (k2 + 1)·f_tc/(k2 + f_tc)
//
// over the words of both text and topic. A word that stands in more than half
// of all texts would count against them; it counts nothing. The result is 0 or
// more.
func (t *Topic) Okapi(d Text) float64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	sum := 0.0
	for _, w := range t.order {
		if n := float64(d.Counts[w]); n > 0 {
			sum += t.weight(t.words[w]) * (t.o.K1 + 1) * n / (t.o.K1*t.length(d) + n)
		}
	}
	return sum
}

// Similarity is Okapi as a share of what a text with endlessly many of all the
// topic's words would have: 0 to 1.
func (t *Topic) Similarity(d Text) float64 {
	most := 0.0
	t.mu.RLock()
	for _, w := range t.order {
		most += t.weight(t.words[w]) * (t.o.K1 + 1)
	}
	t.mu.RUnlock()
	if most == 0 {
		return 0
	}
	return t.Okapi(d) / most
}

// Scaled is Okapi on the scale 0 to 1, where ½ stands for one word of the
// topic's mean weight: o ÷ (o + mean). It orders texts as Okapi does, and tells
// short ones apart, such as the words of a link, of which Similarity is always
// small.
func (t *Topic) Scaled(d Text) float64 {
	mean := 0.0
	t.mu.RLock()
	for _, w := range t.order {
		mean += t.weight(t.words[w]) / float64(len(t.order))
	}
	t.mu.RUnlock()
	if mean == 0 {
		return 0
	}
	o := t.Okapi(d)
	return o / (o + mean)
}

// weight is the first and the last factor of a word.
func (t *Topic) weight(w *word) float64 {
	idf := math.Log((float64(t.texts-w.texts) + 0.5) / (float64(w.texts) + 0.5))
	if t.texts == 0 {
		idf = 1 // no collection yet: all words are alike
	}
	return max(idf, 0) * (t.o.K2 + 1) * float64(w.count) / (t.o.K2 + float64(w.count))
}

// length is 1 − b + b·dl/avdl.
func (t *Topic) length(d Text) float64 {
	if t.bytes == 0 {
		return 1
	}
	return 1 - t.o.B + t.o.B*float64(d.Bytes)/(t.bytes/float64(t.texts))
}

// Words cuts a text into words: runs of letters and digits in lower case, of
// two characters or more and at most 64 bytes. Scripts that write no spaces
// give one word a run.
func Words(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) }) {
		if len(w) <= 64 && utf8.RuneCountInString(w) >= 2 {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}
