package page

import (
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// nearBits is the largest number of bits in which fingerprints of near-duplicate texts differ
// (Manku et al., section 4: 3 of 64).
const nearBits = 3

const (
	maxShingles = 20_000 // words of a text that count
	offset      = 14695981039346656037
	prime       = 1099511628211 // of FNV-1a
)

// Hashes returns, in one pass over a text, two hashes of its words.
//
// near is the simhash of its pairs of words, in any case (Charikar 2002; Manku, Jain & Das Sarma
// 2007): 64 bits that differ little between near-duplicates. Numbers are ignored, so that a date or a
// counter makes no difference. A text without words has 0.
//
// content is a hash of its words and numbers, between white space, in any order: a list has one content
// however it is sorted.
func Hashes(text string) (near, content uint64) {
	var s sums
	hash, letters := uint64(offset), false // of the present word; whether it has letters
	whole, begun := uint64(offset), false  // of what stands between white space; whether anything does
	for i := 0; i < len(text); {
		c := text[i]
		if 'a' <= c|0x20 && c|0x20 <= 'z' { // nearly all
			hash, letters = (hash^uint64(c|0x20))*prime, true
			whole, begun = (whole^uint64(c))*prime, true
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		isSpace := r == ' ' || unicode.IsSpace(r)
		if isSpace && begun {
			content += mix(whole)
			whole, begun = offset, false
		}
		for end := i + size; i < end; i++ {
			if !isSpace {
				whole, begun = (whole^uint64(text[i]))*prime, true
			}
		}
		switch {
		case c >= utf8.RuneSelf && unicode.IsLetter(r):
			hash, letters = (hash^uint64(unicode.ToLower(r)))*prime, true
		case letters && !unicode.IsDigit(r):
			s.add(hash)
			hash, letters = offset, false
		}
	}
	if letters {
		s.add(hash)
	}
	if begun {
		content += mix(whole)
	}
	return s.fingerprint(), content
}

// mix spreads the bits of a hash: FNV hardly changes the high ones of short input.
func mix(hash uint64) uint64 {
	hash ^= hash >> 29
	hash *= 0xBF58476D1CE4E5B9
	return hash ^ hash>>32
}

// sums count how many shingles (pairs of adjacent words) have each bit.
type sums struct {
	words int
	last  uint64    // hash of the last word
	ones  [64]int   // by bit, but for those in few
	few   [8]uint64 // counts of up to 255 shingles, in bytes: bit 8·i + k in byte i of few[k]
}

// lowest has the lowest bit of each byte.
const lowest = 0x0101010101010101

// add counts the shingle that ends with the word of this hash.
func (s *sums) add(hash uint64) {
	if s.words == maxShingles {
		return
	}
	both := (offset ^ hash) * prime
	if s.words > 0 {
		both = (both ^ s.last) * prime
	}
	s.last = hash
	both = mix(both)
	for k := range s.few { // eight bits at a time
		s.few[k] += both >> k & lowest
	}
	s.words++
	if s.words%255 == 0 {
		s.carry()
	}
}

// carry moves the counts of few to ones.
func (s *sums) carry() {
	for bit := range s.ones {
		s.ones[bit] += int(s.few[bit%8] >> (bit &^ 7) & 0xff)
	}
	s.few = [8]uint64{}
}

// fingerprint returns the bits that more than half of the shingles have.
func (s *sums) fingerprint() (bits uint64) {
	s.carry()
	for i, n := range s.ones {
		if 2*n > s.words {
			bits |= 1 << i
		}
	}
	return bits
}

// SameText reports whether two fingerprints are those of near-duplicates.
func SameText(a, b uint64) bool { return bits.OnesCount64(a^b) <= nearBits }
