package topic

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Options are the parameters of equation 7 of Ahmadi-Abkenari & Selamat 2010.
type Options struct {
	K1 float64 `key:"okapi_k1" range:"0..1000"` // saturation of a word's count in the text; the paper has 1 to 2
	B  float64 `key:"okapi_b" range:"0..1"`     // how much the length of the text counts
	// saturation of a word's count in the topic; the paper has 1 to 1,000
	K2 float64 `key:"okapi_k2" range:"0.001..1000000"`
	// NegativeIDF gives words of more than half of all texts a negative weight, as the equation is
	// printed; else they weigh 0.
	NegativeIDF bool `key:"okapi_negative_idf"`
	// Collection is the source of N, df and the mean length: crawled pages, as published, or the
	// topics of the tree, which is ours; then lengths are ignored, since those of topics do not
	// compare with pages.
	Collection string `key:"okapi_collection" oneof:"topics|crawled"`
	// TopicWords is how many words of the user's pages, of those that the tree lacks, the
	// semantic checker adds to the topic.
	TopicWords int `key:"topic_words" range:"0..1000"`
}

// DefaultOptions are those of config.yaml as shipped.
func DefaultOptions() Options { return Options{K1: 1.2, B: 0.75, K2: 100, Collection: "topics"} }

// An Okapi rates how well a text fits a topic, by Okapi BM25 as in equation 7. It holds the words
// of the node c* and the statistics of the collection: number of texts, lengths, and document
// frequencies. It is safe for concurrent use.
type Okapi struct {
	o     Options
	order []string // sorted words, so that sums are the same to the last bit
	mu    sync.RWMutex
	words map[string]*word // mu holds the counts of texts, texts and bytes
	texts int              // N
	bytes float64          // of all texts
}

// A word is one of the topic's.
type word struct {
	count int // f_tc: in the topic
	texts int // df_t: texts that hold it
}

// NewOkapi returns the measure of a topic that these words describe, as Words
// cuts them; a word may come several times.
func NewOkapi(words []string, o Options) (*Okapi, error) {
	t := &Okapi{o: o, words: map[string]*word{}}
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

// A Text has the counts of a text that Okapi needs.
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
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts++
	t.bytes += float64(d.Bytes)
	for w := range d.Counts {
		t.words[w].texts++
	}
}

// counts are what an Okapi knows of its collection.
type counts struct {
	Texts int            `json:"texts"`
	Bytes float64        `json:"bytes"`
	Words map[string]int `json:"words"` // of the topic → texts that hold it
}

// Snapshot returns the collection as bytes for Restore.
func (t *Okapi) Snapshot() ([]byte, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := counts{t.texts, t.bytes, map[string]int{}}
	for name, w := range t.words {
		c.Words[name] = w.texts
	}
	return json.Marshal(c)
}

// Restore replaces the collection by that of a Snapshot. Words that are not of the topic any more are
// left out; new ones are in no text yet.
func (t *Okapi) Restore(data []byte) error {
	var c counts
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("topic: collection of crawled pages: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts, t.bytes = max(c.Texts, 0), max(c.Bytes, 0)
	for name, w := range t.words {
		w.texts = min(max(c.Words[name], 0), t.texts)
	}
	return nil
}

// Score is equation 7:
//
//	Σ ln((N − df + 0.5)/(df + 0.5)) · (k1 + 1)·f_td/(k1·(1 − b + b·dl/avdl) + f_td)
//	  · (k2 + 1)·f_tc/(k2 + f_tc)
//
// over the words of both text and topic. It is 0 or more, unless with NegativeIDF.
func (t *Okapi) Score(d Text) float64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.score(d)
}

func (t *Okapi) score(d Text) float64 {
	sum := 0.0
	for _, w := range t.order {
		if n := float64(d.Counts[w]); n > 0 {
			sum += t.weight(t.words[w]) * (t.o.K1 + 1) * n / (t.o.K1*t.length(d) + n)
		}
	}
	return sum
}

// Similarity is Score as a share of its supremum over all texts: 0 to 1.
func (t *Okapi) Similarity(d Text) float64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	most := 0.0
	for _, w := range t.order {
		most += max(t.weight(t.words[w]), 0) * (t.o.K1 + 1)
	}
	if most == 0 {
		return 0
	}
	return max(t.score(d), 0) / most
}

// Scaled is Score on the scale 0 to 1, where ½ is one word of the topic's mean weight:
// o ÷ (o + mean). It orders texts as Score does, and still distinguishes short ones, such as the
// words of a link, whose Similarity is always small.
func (t *Okapi) Scaled(d Text) float64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	mean := 0.0
	for _, w := range t.order {
		mean += max(t.weight(t.words[w]), 0) / float64(len(t.order))
	}
	if mean == 0 {
		return 0
	}
	o := max(t.score(d), 0)
	return o / (o + mean)
}

// weight is the first and the last factor of a word.
func (t *Okapi) weight(w *word) float64 {
	idf := math.Log((float64(t.texts-w.texts) + 0.5) / (float64(w.texts) + 0.5))
	switch {
	case t.texts == 0:
		idf = 1 // no collection yet: all words have equal weight
	case !t.o.NegativeIDF:
		idf = max(idf, 0)
	}
	return idf * (t.o.K2 + 1) * float64(w.count) / (t.o.K2 + float64(w.count))
}

// length is 1 − b + b·dl/avdl.
func (t *Okapi) length(d Text) float64 {
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
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
	}) {
		if len(w) <= 64 && utf8.RuneCountInString(w) >= 2 {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}
