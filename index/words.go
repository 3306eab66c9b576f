package index

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"golang.org/x/text/unicode/norm"
)

// The analysers turn text into the terms that are looked up: words in lower
// case without accents, ß as ss, and ä, ae and a alike, so that Bäckerei,
// Baeckerei and Backerei are one. German and English pages also lose endings.
// Address words are those of a street, see streetFilter.
var (
	plainWords   = analyser()
	germanWords  = analyser(de.NewGermanLightStemmerFilter())
	englishWords = analyser(porter.NewPorterStemmer())
	addressWords = analyser(streetFilter{})
)

func analyser(more ...analysis.TokenFilter) *analysis.DefaultAnalyzer {
	filters := []analysis.TokenFilter{lowercase.NewLowerCaseFilter(), foldFilter{}, de.NewGermanNormalizeFilter()}
	return &analysis.DefaultAnalyzer{Tokenizer: wordTokenizer{}, TokenFilters: append(filters, more...)}
}

// A wordTokenizer parts a text into runs of letters, marks, digits and apostrophes; an
// ideograph is a word of its own. Bleve's segmenter by Unicode's rules takes three times
// as long, and its character tokenizer ends at the first character U+FFFD.
type wordTokenizer struct{}

// Tokenize returns the words of a text with their places in it.
func (wordTokenizer) Tokenize(text []byte) analysis.TokenStream {
	all := make([]analysis.Token, 0, len(text)/6+1)
	for from, to := range runsOf(string(text)) {
		all = append(all, analysis.Token{Term: text[from:to:to], Start: from, End: to})
	}
	tokens := make(analysis.TokenStream, len(all))
	for i := range all {
		tokens[i] = &all[i]
	}
	return tokens
}

// runsOf yields where the words of a text begin and end, in bytes.
func runsOf(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		start := -1 // of the word that at stands in; -1: in none
		for at, r := range text {
			word := inWord(r)
			if start >= 0 && (!word || isIdeograph(r)) {
				if !yield(start, at) {
					return
				}
				start = -1
			}
			switch {
			case isIdeograph(r):
				if !yield(at, at+utf8.RuneLen(r)) {
					return
				}
			case word && start < 0:
				start = at
			}
		}
		if start >= 0 {
			yield(start, len(text))
		}
	}
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '\'' || r == '`'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.Mn) || strings.ContainsRune(joining, r)
}

func isIdeograph(r rune) bool {
	return r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana)
}

// joining are the characters within a word that are no part of its term.
const joining = "'`´′\u00ad\u200b\u2018\u2019\u02bc"

// analyserOf returns the analyser of a page's language.
func analyserOf(lang string) *analysis.DefaultAnalyzer {
	switch lang {
	case "de":
		return germanWords
	case "en":
		return englishWords
	}
	return plainWords
}

// maxWord is the longest word in bytes that can be found.
const maxWord = 60

// termsOf returns the terms of a text.
func termsOf(a *analysis.DefaultAnalyzer, text string) []string {
	if text == "" {
		return nil
	}
	tokens := a.Analyze([]byte(text))
	terms := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if 0 < len(t.Term) && len(t.Term) <= maxWord {
			terms = append(terms, string(t.Term))
		}
	}
	return terms
}

// stemmed returns the terms of folded words.
func stemmed(a *analysis.DefaultAnalyzer, words string) []string {
	terms := strings.Fields(words)
	filters := a.TokenFilters[len(plainWords.TokenFilters):]
	if len(filters) == 0 {
		return terms
	}
	all := make([]analysis.Token, len(terms))
	tokens := make(analysis.TokenStream, len(terms))
	for i, word := range terms {
		all[i].Term = []byte(word)
		tokens[i] = &all[i]
	}
	for _, filter := range filters {
		tokens = filter.Filter(tokens)
	}
	for i, t := range tokens {
		terms[i] = string(t.Term)
	}
	return terms
}

// wordsOf returns the folded words of a text in any language.
func wordsOf(text string) []string { return termsOf(plainWords, text) }

// forms returns the terms under which a word may be found, whatever the
// language of the page: the folded word first.
func forms(word string) []string {
	var forms []string
	for _, a := range []*analysis.DefaultAnalyzer{plainWords, germanWords, englishWords} {
		for _, f := range termsOf(a, word) {
			if !slices.Contains(forms, f) {
				forms = append(forms, f)
			}
		}
	}
	return forms
}

// distinctWords returns the folded words of a page's text, each once. Most words of a page are
// there before, so only one of each spelling is folded.
func distinctWords(text string) string {
	seen := map[string]bool{}
	var tokens analysis.TokenStream
	for from, to := range runsOf(text) {
		word := text[from:to]
		if !seen[word] {
			seen[word] = true
			tokens = append(tokens, &analysis.Token{Term: []byte(word)})
		}
	}
	for _, filter := range plainWords.TokenFilters {
		tokens = filter.Filter(tokens)
	}
	clear(seen)
	var words strings.Builder
	for _, t := range tokens {
		if len(t.Term) == 0 || len(t.Term) > maxWord || seen[string(t.Term)] {
			continue
		}
		seen[string(t.Term)] = true
		words.Write(t.Term)
		words.WriteByte(' ')
	}
	return strings.TrimSuffix(words.String(), " ")
}

// A streetFilter unifies street words, which stand alone ("Langestr." is lange,
// str), and makes "12 a" also 12a and 12.
type streetFilter struct{}

// Filter returns the tokens of an address.
func (streetFilter) Filter(tokens analysis.TokenStream) analysis.TokenStream {
	var out analysis.TokenStream
	add := func(like *analysis.Token, term string) {
		t := *like
		t.Term = []byte(term)
		out = append(out, &t)
	}
	for i, t := range tokens {
		w := string(t.Term)
		if isNumber(w) && i+1 < len(tokens) {
			if next := tokens[i+1].Term; len(next) == 1 && 'a' <= next[0] && next[0] <= 'z' {
				add(t, w+string(next))
			}
		}
		if n := strings.TrimRight(w, "abcdefghijklmnopqrstuvwxyz"); len(n) == len(w)-1 && isNumber(n) {
			add(t, n)
		}
		for _, word := range streetWords(w) {
			add(t, word)
		}
	}
	return out
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
	tokens := analysis.TokenStream{{Term: []byte(strings.ToLower(s))}}
	return string(de.NewGermanNormalizeFilter().Filter(foldFilter{}.Filter(tokens))[0].Term)
}

// A foldFilter takes accents and apostrophes off and spells ligatures out.
type foldFilter struct{}

var (
	toASCII    = asciifolding.New()
	notLetters = regexp.MustCompile(`[\p{Mn}` + joining + `]`)
)

// Filter changes the terms of the tokens and leaves their positions.
func (foldFilter) Filter(tokens analysis.TokenStream) analysis.TokenStream {
	for _, t := range tokens {
		if !plainASCII(t.Term) {
			term := bytes.ReplaceAll(t.Term, []byte("´"), nil) // of which NFKD makes a space
			t.Term = bytes.ToLower(toASCII.Filter(notLetters.ReplaceAll(norm.NFKD.Bytes(term), nil)))
		}
	}
	return tokens
}

func plainASCII(term []byte) bool {
	for _, c := range term {
		if c >= utf8.RuneSelf || c == '\'' || c == '`' {
			return false
		}
	}
	return true
}

// foldPhrase folds a text to words with single spaces between them.
func foldPhrase(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Mn, r) && r != '\'' && r != '’'
	}), " ")
	return foldWord(s)
}

// clipBytes returns at most n bytes of s, whole characters.
func clipBytes(s string, n int) string {
	for len(s) > n {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	return s
}
