package topic

import (
	"errors"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parameters of equation 7.
const (
	okapiK1 float64 = 1.2  // saturation of a word's count in the text
	okapiB  float64 = 0.75 // how much the length of the text counts, 0 to 1
	okapiK2 float64 = 100  // saturation of a word's count in the topic
)

// An Okapi says how well a text fits a topic: Okapi BM25 as in equation 7 of
// Ahmadi-Abkenari & Selamat 2010. It holds the node c* with what is known of the
// collection: how many texts there were, how long, and how many of them contain
// each word of the topic. It is safe for concurrent use once all texts of the
// collection were observed.
type Okapi struct {
	words map[string]*word
	order []string // of the words: sums are the same to the last bit every time
	texts int      // N
	bytes float64  // of all texts
}

// A word is one of the topic's.
type word struct {
	count int // f_tc: in the topic
	texts int // df_t: texts that hold it
}

// NewOkapi returns the measure of a topic that these words describe, as Words
// cuts them; a word may come several times.
func NewOkapi(words []string) (*Okapi, error) {
	t := &Okapi{words: map[string]*word{}}
	for _, w := range words {
		if t.words[w] == nil {
			t.words[w] = &word{}
			t.order = append(t.order, w)
		}
		t.words[w].count++
	}
	if len(t.words) == 0 {
		return nil, errors.New("topic: it needs words")
	}
	return t, nil
}

// A Text is what Okapi needs of a text.
type Text struct {
	Bytes  int            // dl_d
	Counts map[string]int // f_td, of the topic's words
}

// Read counts the topic's words in a text.
func (t *Okapi) Read(text string) Text {
	d := Text{Bytes: len(text), Counts: map[string]int{}}
	for _, w := range Words(text) {
		if t.words[w] != nil {
			d.Counts[w]++
		}
	}
	return d
}

// Observe adds a text to the collection.
func (t *Okapi) Observe(d Text) {
	t.texts++
	t.bytes += float64(d.Bytes)
	for w := range d.Counts {
		t.words[w].texts++
	}
}

// Score is equation 7:
//
//	Σ ln((N − df + 0.5)/(df + 0.5)) · (k1 + 1)·f_td/(k1·(1 − b + b·dl/avdl) + f_td) · (k2 + 1)·f_tc/(k2 + f_tc)
//
// over the words of both text and topic. A word that stands in more than half
// of all texts would count against them; it counts nothing. The result is 0 or
// more.
func (t *Okapi) Score(d Text) float64 {
	sum := 0.0
	for _, w := range t.order {
		if n := float64(d.Counts[w]); n > 0 {
			sum += t.weight(t.words[w]) * (okapiK1 + 1) * n / (okapiK1*t.length(d) + n)
		}
	}
	return sum
}

// Similarity is Score as a share of what a text with endlessly many of all the
// topic's words would have: 0 to 1.
func (t *Okapi) Similarity(d Text) float64 {
	most := 0.0
	for _, w := range t.order {
		most += t.weight(t.words[w]) * (okapiK1 + 1)
	}
	if most == 0 {
		return 0
	}
	return t.Score(d) / most
}

// Scaled is Score on the scale 0 to 1, where ½ stands for one word of the
// topic's mean weight: o ÷ (o + mean). It orders texts as Score does, and tells
// short ones apart, such as the words of a link, of which Similarity is always
// small.
func (t *Okapi) Scaled(d Text) float64 {
	mean := 0.0
	for _, w := range t.order {
		mean += t.weight(t.words[w]) / float64(len(t.order))
	}
	if mean == 0 {
		return 0
	}
	o := t.Score(d)
	return o / (o + mean)
}

// weight is the first and the last factor of a word.
func (t *Okapi) weight(w *word) float64 {
	idf := math.Log((float64(t.texts-w.texts) + 0.5) / (float64(w.texts) + 0.5))
	if t.texts == 0 {
		idf = 1 // no collection yet: all words are alike
	}
	return max(idf, 0) * (okapiK2 + 1) * float64(w.count) / (okapiK2 + float64(w.count))
}

// length is 1 − b + b·dl/avdl.
func (t *Okapi) length(d Text) float64 {
	if t.bytes == 0 {
		return 1
	}
	return 1 - okapiB + okapiB*float64(d.Bytes)/(t.bytes/float64(t.texts))
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
