package geoparse

import (
	"context"
	"math"

	"gazehound/geoparse/grammar"
)

// maxWindows bounds the windows of a text that are parsed. A page of a thousand addresses takes some
// thousand; a text that is made to look like addresses everywhere would take a hundred thousand.
const maxWindows = 12_000

// A scan is the search of one source. It reads the text once, byte by byte, and parses only around
// digits that can be a postcode and names of states.
type scan struct {
	*source
	found []Address
	end   int // of the last address found
	digit int // end of the last digits
	weak  []grammar.Span
}

// scan returns the addresses of the source in the order of its text.
func (s *source) scan(ctx context.Context) []Address {
	sc := scan{source: s, digit: math.MinInt / 2}
	sc.read(ctx)
	if len(sc.weak) > 0 && ctx.Err() == nil {
		return s.secondChance(sc.found, sc.weak)
	}
	return sc.found
}

// read goes through the text.
func (s *scan) read(ctx context.Context) {
	named := s.reads(grammar.CityStateZIP) || s.reads(grammar.CityProvinceCode)
	text := s.text
	for i := 0; i < len(text) && !s.isFull(); {
		c := text[i]
		switch {
		case c-'0' <= 9:
			i = s.number(i)
			if i&0xFFFF < 8 && ctx.Err() != nil {
				return
			}
		case named && c-'A' <= 'Z'-'A' && i-s.digit < windowBefore && i > 0 && wordBoundary(text[i-1]):
			a, end := s.anchor().state(i)
			s.take(a)
			i = end
		default:
			i++
		}
	}
}

// anchor returns the next one.
func (s *scan) anchor() anchor {
	s.windows.next()
	return anchor{s.source, s.end}
}

// isFull reports whether the text has been read far enough.
func (s *scan) isFull() bool {
	return len(s.found) >= maxAddresses || s.windows.count >= maxWindows
}

// number tries the digits that begin at i as a postcode or a part of one. It returns where the scan
// goes on.
func (s *scan) number(i int) int {
	n := digitsAt(s.text, i)
	j := i + n
	at := s.anchor()
	if len(s.split) > 0 && n <= 7 {
		if a := at.splitPostcode(i, n); a != nil {
			s.take(a)
			s.digit = s.end
			return max(j, s.end)
		}
	}
	if n <= 3 {
		if a, isCode := at.mixedPostcode(i, j); isCode {
			s.take(a)
			s.digit = s.end
			return max(j, s.end)
		}
	}
	switch {
	case n >= 4 && n <= 9:
		s.take(at.postcode(i, j))
	case n < 4 && s.p.region != nil && s.p.streets && len(s.weak) < maxWeak && houseOfStreet(s.text, i):
		s.weak = append(s.weak, grammar.Span{Start: i, End: j})
	}
	s.digit = j
	return j
}

// take keeps an address; nil is none.
func (s *scan) take(a *Address) {
	if a == nil {
		return
	}
	s.describe(a, s.end)
	s.found = append(s.found, *a)
	s.end = a.End
}

// describe fills in what an address is in the text behind from, the end of the one before it.
func (s *source) describe(a *Address, from int) {
	a.Text = shown(s.text[a.Start:a.End])
	a.Postcode, a.City = fold(a.Postcode), fold(a.City)
	a.Role = thirdParty(s.text, from, a.Start)
	if a.Role.ThirdParty() {
		a.Confidence = min(a.Confidence, confidenceWeak)
	}
	s.others(a)
}

// finish returns the address with its street, where there is one, as the gazetteer has it.
func (s *source) finish(a Address, street grammar.Street, ok bool) *Address {
	if ok {
		a.takeStreet(s.text, street)
	}
	s.p.resolve(&a, street.Strength)
	return &a
}

// mixedPostcode tries the digits text[i:j] as those of a postcode with letters. isCode: they are of a
// known one, even where no address stands there.
func (a anchor) mixedPostcode(i, j int) (found *Address, isCode bool) {
	if a.reads(grammar.CityPostcode) {
		found, isCode = a.britishPostcode(i, j)
		if isCode {
			return found, true
		}
		found = a.eircode(i, j)
		if found != nil {
			return found, true
		}
	}
	if j == i+1 {
		return a.letteredPostcode(i)
	}
	return nil, false
}
