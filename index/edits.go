package index

import "unicode/utf8"

// An edits is the automaton of the words that are at most one edit away from a
// word: a letter more, less, or other, or two neighbours swapped. It follows
// all positions in the word at once, each a bit of its state (Wu and Manber
// 1992, "Fast text searching allowing errors"), so it costs nothing to make,
// where Bleve's own takes longer to make than to use.
//
// A state has three rows of bits: positions reached without an edit, with one,
// and those in the middle of a swap. The word is ASCII; a letter of a term that
// is not is one edit, whatever its bytes.
type edits struct {
	at    [256]uint32 // positions of each byte in the word
	width int         // bits of a row: the positions and the end
	all   uint32      // bits of a row
}

// maxEdited is the longest word in bytes for which an edits has room.
const maxEdited = 20

// newEdits returns the automaton of a word; nil where it has no room for it.
func newEdits(word string) *edits {
	if len(word) == 0 || len(word) > maxEdited {
		return nil
	}
	e := &edits{width: len(word) + 1, all: 1<<(len(word)+1) - 1}
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return nil
		}
		e.at[word[i]] |= 1 << i
	}
	return e
}

func (e *edits) pack(none, one, swap uint32) int {
	return int(none&e.all) | int(one&e.all)<<e.width | int(swap&e.all)<<(2*e.width)
}

func (e *edits) unpack(state int) (none, one, swap uint32) {
	return uint32(state) & e.all, uint32(state>>e.width) & e.all, uint32(state>>(2*e.width)) & e.all
}

// Start returns the state before the first byte.
func (e *edits) Start() int { return e.pack(1, 2, 0) }

// IsMatch tells whether what was read is at most one edit away.
func (e *edits) IsMatch(state int) bool {
	none, one, _ := e.unpack(state)
	return (none|one)>>(e.width-1) != 0
}

// CanMatch tells whether more bytes may make a match.
func (e *edits) CanMatch(state int) bool { return state != 0 }

// WillAlwaysMatch tells whether any bytes make a match, which is never so.
func (e *edits) WillAlwaysMatch(int) bool { return false }

// Accept returns the state after one more byte.
func (e *edits) Accept(state int, b byte) int {
	none, one, swap := e.unpack(state)
	if b >= utf8.RuneSelf && !utf8.RuneStart(b) { // the rest of a letter
		return e.pack(0, one, 0)
	}
	at := e.at[b]
	nextNone := none & at << 1
	nextOne := one&at<<1 | // as it is written
		none | none<<1 | // one more, another
		nextNone<<1 | // one less after this
		swap&at<<2
	return e.pack(nextNone, nextOne, none&(at>>1))
}
