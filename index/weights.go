package index

import (
	"maps"
	"math"
	"strings"
	"sync"

	"gazehound/geoparse"

	bleveindex "github.com/blevesearch/bleve_index_api"
)

// Ranking is BM25F (Robertson, Zaragoza and Taylor 2004, "Simple BM25 extension
// to multiple weighted fields"): the occurrences of a word in a mention are
// added up with a weight that says where they stand, and the sum is saturated
// once. The sums are made when the mention is written and kept as the word's
// frequency, so that a search reads one list a word.

// weights of one occurrence. "make eval" says what they are good for.
const (
	weightName    = 18.0 // of the name beside the address; divided among the words of a long one
	weightTitle   = 4.0
	weightHost    = 6.0
	weightClose   = 7.0 // in the line before or after the address, about
	weightNear    = 3.0 // further around the address
	weightText    = 1.0 // elsewhere on the page
	weightAddress = 14.0
	weightCode    = 11.0
	weightCity    = 6.0

	mostNear   = 12.0 // however often a word stands around the address
	mostText   = 2.0
	mostWeight = 63 // fits into one byte of a list

	closeBy    = 80   // bytes
	usualName  = 3    // words
	saturation = 10.0 // the weight that counts half
)

// impacts say what each weight of a term is worth.
type impacts [1 << weightBits]float32

// What is found of a word: as it is written, longer words that begin with it, and
// words that are one edit away.
var whole, started, misspelt = impactsOf(1), impactsOf(0.45), impactsOf(0.4)

// impactsOf returns the worth of weights of a term that counts this share of a
// word.
func impactsOf(share float64) (all impacts) {
	for i := range all {
		all[i] = float32(share * impact(uint64(i)))
	}
	return all
}

// impact returns how much a word counts that has this weight, 0 to 1.
func impact(weight uint64) float64 { return float64(weight) / (float64(weight) + saturation) }

// A weighted is a field of words whose frequencies are their weights. Bleve
// lets several goroutines weigh, each another document.
type weighted struct {
	name  string
	weigh func() bleveindex.TokenFrequencies
	words bleveindex.TokenFrequencies
}

// The methods make it a field of a Bleve document.

func (f *weighted) Name() string                             { return f.name }
func (f *weighted) ArrayPositions() []uint64                 { return nil }
func (f *weighted) Options() bleveindex.FieldIndexingOptions { return bleveindex.IndexField }
func (f *weighted) Analyze()                                 { f.words = f.weigh() }
func (f *weighted) Value() []byte                            { return nil }
func (f *weighted) NumPlainTextBytes() uint64                { return 0 }
func (f *weighted) Size() int                                { return f.words.Size() }
func (f *weighted) EncodedFieldType() byte                   { return 't' }
func (f *weighted) AnalyzedLength() int                      { return 1 } // the weights know the length
func (f *weighted) AnalyzedTokenFrequencies() bleveindex.TokenFrequencies {
	return f.words
}

// weigh returns the words of a mention with their weights.
func (a *analysis) weigh(m *mention) bleveindex.TokenFrequencies {
	d := a.dictionaryOf(m.Lang)
	sum := map[string]float64{}
	others := geoparse.Role(m.Role).ThirdParty() // whom the page is not about
	if !others && m.words != nil {
		sum = maps.Clone(m.words.weigh(a))
	}
	near := map[string]float64{}
	d.each(m.Near, func(t *token, start int) {
		w := weightNear
		if end := start + t.end - t.start; end > m.Start-closeBy && start < m.End+closeBy {
			w = weightClose
		}
		near[t.term] = min(mostNear, near[t.term]+w)
	})
	for term, w := range near {
		sum[term] += w
	}
	add := func(text string, weight float64) {
		tokens := 0
		d.each(text, func(*token, int) { tokens++ })
		weight *= math.Sqrt(usualName / math.Max(usualName, float64(tokens)))
		count := func(t *token, _ int) { sum[t.term] += weight }
		d.each(text, count)
		for word := range strings.FieldsSeq(text) { // "Löwen-Apotheke" is also Löwenapotheke
			if joined := strings.ReplaceAll(word, "-", ""); joined != word {
				d.each(joined, count)
			}
		}
	}
	add(m.Name, weightName)
	if !others {
		add(m.Title, weightTitle)
		add(hostWords(m.host), weightHost)
	}
	return frequencies(sum)
}

// A pageText is the text of a page with one address or a few, which share its
// words.
type pageText struct {
	lang, text string
	once       sync.Once
	weights    map[string]float64
}

// weigh returns the words of a page with their weights, which nobody changes.
func (p *pageText) weigh(a *analysis) map[string]float64 {
	p.once.Do(func() { p.weights = a.weighPage(p.lang, p.text) })
	return p.weights
}

func (a *analysis) weighPage(lang, text string) map[string]float64 {
	sum := map[string]float64{}
	a.dictionaryOf(lang).each(text, func(t *token, _ int) {
		sum[t.term] = min(mostText, sum[t.term]+weightText)
	})
	return sum
}

// weighAddress returns the words of an address with their weights.
func (a *analysis) weighAddress(m *mention) bleveindex.TokenFrequencies {
	sum := map[string]float64{}
	add := func(text string, weight float64) {
		for _, term := range a.addressTerms(text) {
			sum[term] = max(sum[term], weight)
		}
	}
	add(m.Street+" "+m.Number, weightAddress)
	add(m.Code, weightCode)
	add(m.City, weightCity)
	return frequencies(sum)
}

// maxWord is the longest word in bytes that can be found.
const maxWord = 60

func frequencies(sum map[string]float64) bleveindex.TokenFrequencies {
	all := make(bleveindex.TokenFrequencies, len(sum))
	for term, weight := range sum {
		if term == "" || len(term) > maxWord {
			continue
		}
		f := &bleveindex.TokenFreq{Term: []byte(term)}
		f.SetFrequency(int(max(1, min(mostWeight, math.Round(weight)))))
		all[term] = f
	}
	return all
}
