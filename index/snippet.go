package index

import (
	"slices"
	"strings"
	"unicode/utf8"
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
	a     *analysis
	words []word
	all   bool            // each page gets a snippet, not only the first one
	first [256]bool       // bytes that a word which is to be marked may begin with
	known map[*token]bool // whether a word with such a beginning is to be marked

	last   *mention // whose marks are kept
	found  [][2]int
	offset []int // room for snippet
}

func (a *analysis) newMarker(words []word) *marker {
	k := &marker{a: a, words: words, known: map[*token]bool{}}
	for _, w := range words {
		for _, term := range slices.Concat(w.terms, w.where[:1]) {
			k.first[term[0]] = true // neither an ending nor a street word's short form changes it
		}
	}
	return k
}

// marks returns where words of the query stand in a mention's text.
func (k *marker) marks(m *mention) [][2]int {
	if len(k.words) == 0 || m == k.last {
		return k.found
	}
	k.last, k.found = m, nil
	k.a.dictionaryOf(m.Lang).eachIn(m.Near, k.mayMark, func(t *token, start int) {
		if t.folded == "" || !k.first[t.folded[0]] {
			return
		}
		is, ok := k.known[t]
		if !ok {
			is = k.fits(t)
			k.known[t] = is
		}
		if is {
			k.found = append(k.found, [2]int{start, start + t.end - t.start})
		}
	})
	return k.found
}

// mayMark tells whether a piece of a text without spaces may have a word that is
// to be marked: one that begins as it does, which only case changes in ASCII.
func (k *marker) mayMark(piece string) bool {
	between := true // words
	for i := range len(piece) {
		c := piece[i]
		letter, digit := 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9'
		if letter {
			c |= 0x20
		}
		if c >= utf8.RuneSelf || between && k.first[c] {
			return true
		}
		between = !letter && !digit
	}
	return false
}

// fits tells whether a word of a text is one of the query, with its ending or
// without, or begins with the last one.
func (k *marker) fits(t *token) bool {
	last := k.words[len(k.words)-1].terms[0]
	for _, w := range k.words {
		if slices.Contains(w.terms, t.folded) || slices.Contains(w.terms, t.term) || slices.Equal(w.where, streetWords(t.folded)) || len(w.where) > 1 && w.where[0] == t.folded {
			return true
		}
	}
	return len(last) >= 3 && strings.HasPrefix(t.folded, last)
}

// beside tells whether words of the query stand in the page's words for what is
// at an address, and not only in the address.
func (k *marker) beside(m *mention) bool {
	return slices.ContainsFunc(k.marks(m), func(at [2]int) bool { return at[1] <= m.Start || at[0] >= m.End })
}

// wholeWord is how many characters of a snippet may be left out so that it begins
// and ends with a whole word; it begins as much before its first mark.
const wholeWord = 20

// snippet cuts the part of a mention's text that shows the most words of the
// query, or the address where it shows none.
func (k *marker) snippet(m *mention) Snippet {
	marks := k.marks(m)
	offset := slices.Grow(k.offset[:0], len(m.Near)+1) // of each character, in bytes
	for i := range m.Near {
		offset = append(offset, i)
	}
	characters := len(offset)
	offset = append(offset, len(m.Near))
	k.offset = offset
	position := func(at int) int { i, _ := slices.BinarySearch(offset, at); return i }

	// The window begins a little before a mark, or before the address, such
	// that it shows the most marks.
	length := snippetLength - 2 // room for two "…"
	from := max(0, position(m.Start)-30)
	most := 0
	for i, mark := range marks {
		begin := max(0, min(position(mark[0])-wholeWord, characters-length))
		shown := 0
		for _, other := range marks[i:] {
			if position(other[1]) > begin+length {
				break
			}
			shown++
		}
		if shown > most {
			most, from = shown, begin
		}
	}
	if characters <= snippetLength {
		from, length = 0, characters
	}
	from = max(0, min(from, characters-length))
	to := min(characters, from+length)
	space := func(at int) bool { c := m.Near[offset[at]]; return c == ' ' || c == '\n' }
	for i := from; 0 < i && i <= from+wholeWord && i < to; i++ { // begin with a whole word
		if space(i - 1) {
			from = i
			break
		}
	}
	least := from // where it may end
	for _, mark := range marks {
		if mark[1] <= offset[to] {
			least = max(least, position(mark[1]))
		}
	}
	for i := to; i < characters && i >= max(least, to-wholeWord); i-- { // end with a whole word
		if space(i) {
			to = i
			break
		}
	}
	s := Snippet{}
	prefix := ""
	if from > 0 {
		prefix = "…"
	}
	s.Text = prefix + strings.ReplaceAll(m.Near[offset[from]:offset[to]], "\n", " ")
	shift := len(prefix) - offset[from]
	if m.Start >= offset[from] && m.End <= offset[to] {
		s.Address = [2]int{m.Start + shift, m.End + shift}
	}
	for _, mark := range marks {
		if mark[0] >= offset[from] && mark[1] <= offset[to] {
			s.Marks = append(s.Marks, [2]int{mark[0] + shift, mark[1] + shift})
		}
	}
	if to < characters {
		s.Text += "…"
	}
	return s
}
