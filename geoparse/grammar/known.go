package grammar

// Limits of KnownBefore.
const (
	maxKnownNumbers = 5 // numbers beside which a street is looked for
	maxKnownTail    = 8 // words and numbers between street and anchor
	maxKnownBreaks  = 3 // line breaks between them
)

// KnownBefore reads a street that known accepts before the anchor at the end of t, whatever it is
// called: "3 Clos des Tilleuls", "C 4, 5", "Plein 1940 1", with its house number before or behind
// it. Of several the one next to the anchor counts. Where a number has known streets on both sides,
// numberFirst decides. Strength is 4.
func KnownBefore(t Tokens, known Known, numberFirst bool) (Street, bool) {
	tail, breaks, numbers := 0, 0, 0
	for i := len(t) - 1; i >= 0 && tail <= maxKnownTail && breaks <= maxKnownBreaks; i-- {
		switch t[i].Kind {
		case Break:
			breaks++
		case Word:
			tail++
		case Number:
			tail++
			if !shortNumber(t[i].Text()) || isFractionToken(t[i]) {
				continue
			}
			numbers++
			if numbers > maxKnownNumbers {
				return Street{}, false
			}
			if s, ok := knownAt(t, i, known, numberFirst); ok {
				return s, true
			}
		}
	}
	return knownPart(t, known)
}

func isFractionToken(tok Token) bool {
	r, _ := decode(tok.Text())
	return isFraction(r)
}

// knownAt reads the street beside the number t[i].
func knownAt(t Tokens, i int, known Known, numberFirst bool) (Street, bool) {
	end := knownNumberEnd(t, i)
	before, hasBefore := knownNameEnding(t, i, known)
	if hasBefore && !numberFirst {
		return knownStreet(t, before, i, end), true
	}
	if i == 0 || t[i-1].Space || t[i].Space || t[i-1].Kind != Mark {
		if after, ok := knownNameBeginning(t, end, known); ok {
			return knownStreet(t, after, i, end), true
		}
	}
	if hasBefore {
		return knownStreet(t, before, i, end), true
	}
	return Street{}, false
}

// knownStreet makes the street of a name and the number t[i:end], with what may be a unit behind
// them.
func knownStreet(t Tokens, name Span, i, end int) Street {
	s := Street{Name: name, Number: Span{t[i].Start, t[end-1].End}, Strength: 4}
	if tail, k := skipTail(t, len(t)); k > 0 && t[k-1].End == max(name.End, s.Number.End) {
		s.Unit, s.POBox = tail.Unit, tail.POBox
	}
	return s
}

// knownNumberEnd returns the index behind the house number that begins with token i: "12", "12 a",
// "11 bis", "14 ½", "7-9", "12 + 14".
func knownNumberEnd(t Tokens, i int) int {
	end := i + 1
	for {
		if end < len(t) && t[end].Kind == Number && fractions[t[end].Text()] {
			end++
		}
		switch w := t.At(end); {
		case w.Kind != Word:
		case isLetterWord(w) && t.At(end+1).Kind != Word && t.At(end+1).Kind != Number,
			w.isWord("bis", "ter", "quater"):
			end++
		}
		if end+1 >= len(t) || !t[end].isMark("-‐‑‒–—/+&−") || t[end+1].Kind != Number ||
			!shortNumber(t[end+1].Text()) {
			return end
		}
		end += 2
	}
}

// knownNameEnding reads the longest known name that ends before the number t[i].
func knownNameEnding(t Tokens, i int, known Known) (Span, bool) {
	n := i
	for n > 0 && (t[n-1].isMark(",:°") || t[n-1].Kind == Word && numberWords[t[n-1].fold()]) {
		n--
	}
	if t.At(n-1).Kind == Break && t.At(knownNumberEnd(t, i)).Kind != Word {
		n-- // the number stands alone in its line
	}
	first, words := n, 0
	for first > 0 && words < maxNameWords && inName(t[first-1]) {
		first--
		words += b2i(t[first].Kind != Mark)
	}
	for k := first; k < n; k++ {
		if t[k].Kind == Mark {
			continue
		}
		if name := (Span{t[k].Start, trimWord(t[n-1])}); known(name.In(t)) {
			return name, true
		}
	}
	return Span{}, false
}

// knownNameBeginning reads the longest known name that begins at token i, behind a comma or not.
func knownNameBeginning(t Tokens, i int, known Known) (Span, bool) {
	for i < len(t) && t[i].isMark(",-–") {
		i++
	}
	end, words := i, 0
	for end < len(t) && words < maxNameWords && inName(t[end]) {
		words += b2i(t[end].Kind != Mark)
		end++
	}
	for ; end > i; end-- {
		if t[end-1].Kind == Mark {
			continue
		}
		if name := (Span{t[i].Start, trimWord(t[end-1])}); known(name.In(t)) {
			return name, true
		}
	}
	return Span{}, false
}

// inName reports whether a token can stand within the name of a street.
func inName(tok Token) bool {
	return tok.Kind == Word || tok.Kind == Number || tok.isMark("'’.-‐‑‒–—―&/ʼ`´")
}

// knownPart reads a known street without a number that fills one of the last parts between
// separators: "Via Roma snc".
func knownPart(t Tokens, known Known) (Street, bool) {
	end := len(t)
	for range 3 {
		end = backOver(t, end, ",;|·•-–()")
		start := end
		for start > 0 && end-start <= 2*maxNameWords && t[start-1].Kind != Break && !t[start-1].isMark(",;|·•:()") {
			start--
		}
		if start == end {
			return Street{}, false
		}
		n := end - noNumber(t[start:end])
		if name := (Span{t[start].Start, trimWord(t[max(start, n-1)])}); t[start].Kind == Word && n > start &&
			n-start <= 2*maxNameWords && known(name.In(t)) {
			return Street{Name: name, Strength: 4}, true
		}
		end = start
	}
	return Street{}, false
}

// KnownAfter reads a street that known accepts, and its house number, at the beginning of t, behind
// separators: "26931 Musterau, C 4, 5", "75011 Paris, 12 rue du Pressoir".
func KnownAfter(t Tokens, known Known) (Street, bool) {
	i := SkipMarks(t, 0)
	if i == 0 || i > 4 || i >= len(t) {
		return Street{}, false
	}
	if t[i].Kind == Number && shortNumber(t[i].Text()) {
		end := knownNumberEnd(t, i)
		if name, ok := knownNameBeginning(t, end, known); ok {
			return Street{Name: name, Number: Span{t[i].Start, t[end-1].End}, Strength: 4}, true
		}
	}
	name, ok := knownNameBeginning(t, i, known)
	if !ok {
		return Street{}, false
	}
	for i < len(t) && t[i].Start < name.End {
		i++
	}
	for i < len(t) && (t[i].isMark(",:°") || t[i].Kind == Word && numberWords[t[i].fold()]) {
		i++
	}
	if t.At(i).Kind != Number || !shortNumber(t[i].Text()) {
		return Street{}, false
	}
	return Street{Name: name, Number: Span{t[i].Start, t[knownNumberEnd(t, i)-1].End}, Strength: 4}, true
}

// SplitStreet splits a line that is known to be street and house number, in either order, by known,
// which may be nil, else by the place of the number.
func SplitStreet(line string, known Known) (name, number string) {
	t := Tokenize(line, 0, len(line), nil)
	if known != nil {
		if s, ok := KnownBefore(t, known, true); ok {
			return s.Name.Of(line), s.Number.Of(line)
		}
	}
	if j, ok := numberBefore(t, len(t)); ok && j > 0 {
		n := j
		for n > 1 && (t[n-1].isMark(",:°") || t[n-1].Kind == Word && numberWords[t[n-1].fold()]) {
			n--
		}
		return Phrase(t[:n]), Phrase(t[j:])
	}
	if len(t) > 1 && t[0].Kind == Number && shortNumber(t[0].Text()) {
		if end := SkipMarks(t, knownNumberEnd(t, 0)); end < len(t) {
			return Phrase(t[end:]), Phrase(t[:knownNumberEnd(t, 0)])
		}
	}
	return line, ""
}
