package index

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	bleveanalysis "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/character"
	segmenter "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"

	"golang.org/x/text/unicode/norm"
)

// An analysis turns text into the terms that are looked up: words in lower
// case without accents, ß as ss, and ä, ae and a alike, so that Bäckerei,
// Baeckerei and Backerei are one; German and English pages also lose endings.
type analysis struct {
	plain   *bleveanalysis.DefaultAnalyzer // any language: folded words
	german  *bleveanalysis.DefaultAnalyzer
	english *bleveanalysis.DefaultAnalyzer
	split   bleveanalysis.Analyzer // words that are folded already

	dictionaries [3]dictionary // of these analysers in their order
}

// A dictionary remembers the words of what stands between two spaces: to find
// them in it, to fold and to stem them costs far more than to look them up,
// and pages of one language share most of their words.
type dictionary struct {
	analyser, plain *bleveanalysis.DefaultAnalyzer

	mu    sync.RWMutex
	known map[string][]token
}

// A token is a word in a text without spaces. Nobody changes it.
type token struct {
	start, end int    // bytes of the text
	term       string // as the dictionary's language has it, without its ending
	folded     string // as any language has it
}

// Bounds of a dictionary; a full one begins anew.
const (
	maxKnown     = 1 << 15 // entries
	maxKnownWord = 64      // bytes of one
)

// learn returns the words of a text without spaces that was not known, and
// remembers them. Words do not reach over a space, so that those of a text are
// those of its parts.
func (d *dictionary) learn(text string) (tokens []token) {
	text = strings.Clone(text)
	folded := d.plain.Analyze([]byte(text))
	for i, t := range d.analyser.Analyze([]byte(text)) { // both split alike
		word := sharing(text, folded[i].Term)
		tokens = append(tokens, token{t.Start, t.End, sharing(word, t.Term), word})
	}
	if len(text) <= maxKnownWord {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.known == nil || len(d.known) >= maxKnown {
			d.known = make(map[string][]token)
		}
		d.known[text] = tokens
	}
	return tokens
}

// sharing returns a term, which is the beginning of s where that begins with it: a
// piece of memory less to keep.
func sharing(s string, term []byte) string {
	if len(term) <= len(s) && s[:len(term)] == string(term) {
		return s[:len(term)]
	}
	return string(term)
}

// each calls fn with every word of a text and the place where it begins. fn
// does not look words up.
func (d *dictionary) each(text string, fn func(t *token, start int)) {
	d.eachIn(text, func(string) bool { return true }, fn)
}

// eachIn is each for those of the pieces without spaces that takes is true of.
func (d *dictionary) eachIn(text string, takes func(piece string) bool, fn func(t *token, start int)) {
	d.mu.RLock() // once for all words
	defer d.mu.RUnlock()
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != ' ' && text[i] != '\n' {
			continue
		}
		if start < i && takes(text[start:i]) {
			tokens, known := d.known[text[start:i]]
			if !known {
				d.mu.RUnlock()
				tokens = d.learn(text[start:i])
				d.mu.RLock()
			}
			for k := range tokens {
				fn(&tokens[k], start+tokens[k].start)
			}
		}
		start = i + 1
	}
}

// dictionaryOf returns the dictionary of a page's language.
func (a *analysis) dictionaryOf(lang string) *dictionary {
	switch lang {
	case "de":
		return &a.dictionaries[1]
	case "en":
		return &a.dictionaries[2]
	}
	return &a.dictionaries[0]
}

func newAnalysis() *analysis {
	fold := []bleveanalysis.TokenFilter{lowercase.NewLowerCaseFilter(), foldFilter{}, de.NewGermanNormalizeFilter()}
	words := segmenter.NewUnicodeTokenizer()
	a := &analysis{
		plain:   &bleveanalysis.DefaultAnalyzer{Tokenizer: words, TokenFilters: fold},
		german:  &bleveanalysis.DefaultAnalyzer{Tokenizer: words, TokenFilters: append(slices.Clip(fold), de.NewGermanLightStemmerFilter())},
		english: &bleveanalysis.DefaultAnalyzer{Tokenizer: words, TokenFilters: append(slices.Clip(fold), porter.NewPorterStemmer())},
		split:   &bleveanalysis.DefaultAnalyzer{Tokenizer: character.NewCharacterTokenizer(func(r rune) bool { return r != ' ' })},
	}
	a.dictionaries = [3]dictionary{{analyser: a.plain, plain: a.plain}, {analyser: a.german, plain: a.plain}, {analyser: a.english, plain: a.plain}}
	return a
}

// forms returns the terms under which a word may be found, whatever the
// language of the page: the folded word first.
func (a *analysis) forms(word string) []string {
	var forms []string
	for _, lang := range []*bleveanalysis.DefaultAnalyzer{a.plain, a.german, a.english} {
		for _, t := range lang.Analyze([]byte(word)) {
			if f := string(t.Term); f != "" && !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	return forms
}

// words returns the folded words of a text.
func (a *analysis) words(text string) []string {
	var words []string
	for _, t := range a.plain.Analyze([]byte(text)) {
		if len(t.Term) > 0 {
			words = append(words, string(t.Term))
		}
	}
	return words
}

// addressTerms returns the words of an address: street words are unified and
// stand alone ("Langestr." is lange, str), and "12 a" is also 12a and 12.
func (a *analysis) addressTerms(text string) []string {
	var terms []string
	words := a.words(text)
	for i, w := range words {
		if isNumber(w) && i+1 < len(words) && len(words[i+1]) == 1 && 'a' <= words[i+1][0] && words[i+1][0] <= 'z' {
			terms = append(terms, w+words[i+1])
		}
		if n := strings.TrimRight(w, "abcdefghijklmnopqrstuvwxyz"); len(n) == len(w)-1 && isNumber(n) {
			terms = append(terms, n)
		}
		terms = append(terms, streetWords(w)...)
	}
	return terms
}

// streetWords unifies a word of a street's name, and takes a street word off
// its end.
func streetWords(w string) []string {
	if s, ok := streetWord[w]; ok {
		return []string{s}
	}
	for _, end := range []string{"strasse", "str"} {
		if base, ok := strings.CutSuffix(w, end); ok && len(base) >= 3 {
			return []string{base, "str"}
		}
	}
	return []string{w}
}

// streetWord maps folded street words to their short form.
var streetWord = func() map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(`
		str strasse straße
		pl platz
		st street saint sankt
		ave avenue av
		rd road
		dr drive
		blvd boulevard
		ln lane
		ct court
		pkwy parkway
		hwy highway
		cir circle
		ter terrace
		sq square
		n north
		s south
		e east
		w west`), "\n") {
		words := strings.Fields(line)
		for _, w := range words {
			m[foldWord(w)] = words[0]
		}
	}
	return m
}()

func isNumber(w string) bool {
	return w != "" && strings.Trim(w, "0123456789") == ""
}

// foldWord folds outside of an analyser, with the same result.
func foldWord(s string) string {
	tokens := bleveanalysis.TokenStream{{Term: []byte(strings.ToLower(s))}}
	return string(de.NewGermanNormalizeFilter().Filter(foldFilter{}.Filter(tokens))[0].Term)
}

// A foldFilter takes accents and apostrophes off and spells ligatures out.
type foldFilter struct{}

// Filter changes the terms of the tokens and leaves their positions.
func (foldFilter) Filter(tokens bleveanalysis.TokenStream) bleveanalysis.TokenStream {
	for _, t := range tokens {
		if needsFolding(t.Term) {
			t.Term = fold(t.Term)
		}
	}
	return tokens
}

func needsFolding(term []byte) bool {
	for _, c := range term {
		if c >= utf8.RuneSelf || c == '\'' {
			return true
		}
	}
	return false
}

func fold(term []byte) []byte {
	out := make([]byte, 0, len(term))
	for _, r := range string(norm.NFKD.Bytes(term)) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '‘', r == 'ʼ', r == '\u00ad', r == '\u200b':
		case r == 'ß', r == 'ẞ':
			out = append(out, "ss"...)
		case r == 'æ':
			out = append(out, 'a')
		case r == 'œ', r == 'ø':
			out = append(out, 'o')
		case r == 'đ', r == 'ð':
			out = append(out, 'd')
		case r == 'ł':
			out = append(out, 'l')
		case r == 'ı':
			out = append(out, 'i')
		default:
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
	}
	return out
}
