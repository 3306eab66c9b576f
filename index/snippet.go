package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
)

// A Snippet is a short text of a page in which the address and the words of the
// query are marked. It is bounded: 120 characters, "…" where it was cut.
type Snippet struct {
	Text    string
	Address [2]int   // byte offsets in Text; equal where it is not all there
	Marks   [][2]int // likewise of the words, in order, not overlapping
}

// snippetLength is in characters.
const snippetLength = 120

// A marker finds the words of a query in texts.
type marker struct {
	words []word
	all   bool // each page gets a snippet, not only the first one
}

// A mark is a word of the query in a text, as bytes.
type mark struct {
	at   [2]int
	word int // number of the query's word
}

// marks returns where words of the query stand in a text.
func (k *marker) marks(lang, text string) (found []mark) {
	if len(k.words) == 0 || text == "" {
		return nil
	}
	stem := analyserOf(lang).TokenFilters[len(plainWords.TokenFilters):]
	for _, t := range plainWords.Analyze([]byte(text)) {
		if len(t.Term) == 0 {
			continue
		}
		folded := string(t.Term)
		if !k.begins(folded[0]) { // most words: no word of the query does, with an ending or without
			continue
		}
		tokens := analysis.TokenStream{t}
		for _, filter := range stem {
			tokens = filter.Filter(tokens)
		}
		if w := k.fits(folded, string(tokens[0].Term)); w >= 0 {
			found = append(found, mark{[2]int{t.Start, t.End}, w})
		}
	}
	return found
}

// begins reports whether a word of the query begins with a byte.
func (k *marker) begins(c byte) bool {
	return slices.ContainsFunc(k.words, func(w word) bool {
		like := func(term string) bool { return term[0] == c }
		return slices.ContainsFunc(w.terms, like) || slices.ContainsFunc(w.where, like)
	})
}

// fits returns the number of the query's word that a word of a text is, folded
// and without its ending, or that it begins with if that is the last one; else -1.
func (k *marker) fits(folded, stem string) int {
	for i, w := range k.words {
		inAddress := slices.Equal(w.where, streetWords(folded)) || len(w.where) > 1 && w.where[0] == folded
		if inAddress || slices.Contains(w.terms, folded) || slices.Contains(w.terms, stem) {
			return i
		}
	}
	last := len(k.words) - 1
	if start := k.words[last].terms[0]; len(start) >= 3 && strings.HasPrefix(folded, start) {
		return last
	}
	return -1
}

// beside reports whether a mark is not of the address itself.
func (m *mention) beside(f mark) bool { return f.at[1] <= m.Start || f.at[0] >= m.End }

// maxTriedMentions bounds the mentions of an address in which words are marked to
// find the one that fits a query best.
const maxTriedMentions = 4

// best returns the mention that fits the words best, nil without words, and
// whether they stand in the page's words for what is there, and not only in the
// address.
func (k *marker) best(all []*mention) (best *mention, beside bool) {
	if len(k.words) == 0 {
		return nil, false
	}
	if len(all) == 1 { // whose name is the only one
		return all[0], true
	}
	most := -1
	for _, m := range k.likely(all) {
		if score, near := k.score(m); score > most {
			best, beside, most = m, near, score
		}
	}
	return best, beside
}

// likely returns the mentions that have the most words as they are written, those first.
func (k *marker) likely(all []*mention) []*mention {
	has := make(map[*mention]int, len(all))
	for _, m := range all {
		text := strings.ToLower(m.name() + " " + m.Near + " " + m.Title)
		for _, w := range k.words {
			if strings.Contains(text, strings.ToLower(w.raw)) {
				has[m]++
			}
		}
	}
	all = slices.SortedFunc(slices.Values(all), func(a, b *mention) int {
		return cmp.Or(cmp.Compare(has[b], has[a]), strings.Compare(hashOf(a.URL), hashOf(b.URL)))
	})
	return all[:min(maxTriedMentions, len(all))]
}

// score rates how well a mention matches: each word counts at its best place, in the name, beside
// the address, in the title, or in the address.
func (k *marker) score(m *mention) (score int, beside bool) {
	best := make([]int, len(k.words))
	for _, f := range k.marks(m.Lang, m.Near) {
		weight := 1
		if m.beside(f) {
			weight, beside = 4, true
		}
		best[f.word] = max(best[f.word], weight)
	}
	for _, f := range k.marks(m.Lang, m.Title) {
		best[f.word] = max(best[f.word], 2)
	}
	for _, f := range k.marks(m.Lang, m.name()) {
		best[f.word] = max(best[f.word], 8)
	}
	for _, b := range best {
		score += b
	}
	return score, beside
}

// before is how many characters a snippet shows before its first mark, at most.
const before = 20

// snippet cuts the part of a mention's text that shows the most words of the
// query, or the address where it shows none.
func (k *marker) snippet(m *mention) (s Snippet) {
	var marks [][2]int
	for _, f := range k.marks(m.Lang, m.Near) {
		marks = append(marks, f.at)
	}
	from, to := window(m.Near, marks, [2]int{m.Start, m.End})
	shift := -from
	if from > 0 {
		s.Text = "…"
		shift += len(s.Text)
	}
	s.Text += strings.ReplaceAll(m.Near[from:to], "\n", " ")
	if to < len(m.Near) {
		s.Text += "…"
	}
	if m.Start >= from && m.End <= to {
		s.Address = [2]int{m.Start + shift, m.End + shift}
	}
	for _, mark := range marks {
		if mark[0] >= from && mark[1] <= to {
			s.Marks = append(s.Marks, [2]int{mark[0] + shift, mark[1] + shift})
		}
	}
	return s
}

// window returns the part of a text that is shown: whole words, with the most
// marks, or the address where there are none.
func window(text string, marks [][2]int, address [2]int) (from, to int) {
	if utf8.RuneCountInString(text) <= snippetLength {
		return 0, len(text)
	}
	const length = snippetLength - 2 // room for two "…"
	most := -1
	for _, mark := range append(slices.Clone(marks), address) {
		begin := mark[0] - len(lastWords(text[:mark[0]], before))
		end := begin + len(firstWords(text[begin:], length))
		if end == len(text) {
			begin = end - len(lastWords(text, length))
		}
		shown := 0
		for _, other := range marks {
			if other[0] >= begin && other[1] <= end {
				shown++
			}
		}
		if shown > most {
			most, from, to = shown, begin, end
		}
	}
	return from, to
}

// firstWords returns the whole words of the first n characters; of one long word
// these characters.
func firstWords(text string, n int) string {
	start := clip(text, n)
	if len(start) == len(text) || isSpace(text[len(start)]) {
		return start
	}
	if i := strings.LastIndexAny(start, " \n"); i > 0 {
		return start[:i]
	}
	return start
}

// lastWords returns the whole words of the last n characters, if there are any.
func lastWords(text string, n int) string {
	at := len(text)
	for range min(n, utf8.RuneCountInString(text)) {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	if at == 0 || isSpace(text[at-1]) {
		return strings.TrimLeft(text[at:], " \n")
	}
	if i := strings.IndexAny(text[at:], " \n"); i >= 0 {
		return strings.TrimLeft(text[at+i:], " \n")
	}
	return ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' }
