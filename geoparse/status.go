package geoparse

import (
	"cmp"
	"slices"
	"strings"

	"gazehound/geoparse/place"
	"gazehound/internal/kind"
	"gazehound/internal/textutil"
)

// A Status says whether what a page names is still at the address.
type Status uint8

// The statuses. A page that says nothing means CurrentStatus.
const (
	CurrentStatus Status = iota
	MovedStatus          // it has left for another address: "Lange Str. 5 (moved to Neue Str. 7)"
	FormerStatus         // it was there once: "früher: Lange Str. 5"
	ClosedStatus         // it is closed for good, not for a day or a season
)

var statusNames = [...]string{"", "moved", "former", "closed"}

// String returns "", "moved", "former" or "closed".
func (s Status) String() string { return statusNames[s] }

// MarshalText returns the name of s.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Left reports whether what is named is somewhere else now, so that its name, phone and hours are not
// those of the address.
func (s Status) Left() bool { return s == MovedStatus || s == FormerStatus }

// Bounds of the text that is read for a status.
const (
	statusLines   = 2   // above the address and below it, beside its own
	statusLine    = 200 // bytes of each
	statusSubject = 3   // words that say who is closed: "our shop is"
	statusLabel   = 5   // words of a line above the address: "Our old address until May"
)

// Words of words.txt, in small letters.
var (
	closedCues   = place.Phrases("closed-cues")
	closing      = textutil.NewLexicon(closedCues...)
	formerCues   = place.Phrases("former-cues")
	formerLabels = place.Words("former-labels") // "old" of "old address"
	formerEnds   = place.Words("former-ends")
	movedCues    = place.Phrases("moved-cues")
	here         = place.Words("here")
	pronouns     = place.Words("pronouns")
	ownNouns     = place.Words("own-nouns")
	negations    = place.Words("negations")
)

// leftOf returns MovedStatus or FormerStatus where the text before an address, or that behind it, says
// so, and the words that do.
func leftOf(before, behind string) (Status, string) {
	lines := lastLines(strings.ToLower(lastBytes(before, statusLines*statusLine)))
	prefix := lines[len(lines)-1]
	if cue := cmp.Or(formerLead(prefix), formerLabel(prefix)); cue != "" {
		return FormerStatus, cue
	}
	if len(lines) > 1 && prefix == "" {
		label := lines[len(lines)-2]
		cue := formerLabel(label)
		if len(strings.Fields(label)) <= statusLabel {
			cue = cmp.Or(cue, formerLead(label))
		}
		if cue != "" {
			return FormerStatus, cue
		}
	}
	if cue := movedAway(strings.ToLower(behind)); cue != "" {
		return MovedStatus, cue
	}
	return CurrentStatus, ""
}

// lastLines returns the last lines of text that hold something, and what stands behind the last line
// break, even if that is nothing.
func lastLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	last := len(lines) - 1
	above := slices.DeleteFunc(lines[:last:last], func(l string) bool { return l == "" })
	return append(above[max(0, len(above)-statusLines):], lines[last])
}

// closedBy returns the words by which a page says that what is at an address is closed for good: near
// it, or anywhere in the text or title of a page about one place.
func (p *Parser) closedBy(b *block, page *pageCues, single bool) string {
	name := b.a.Name + " " + page.title
	above := lastLines(lastBytes(b.around.Before, statusLines*statusLine))
	if !b.first { // what stands above the name is said of the address before
		above = above[max(0, len(above)-2):]
	}
	near := strings.Join(above, "\n") + ".\n" + b.behind
	if cue := closedIn(near, name, b.a.Kind); cue != "" || !single {
		return cue
	}
	return closedIn(page.title+"\n"+page.head, name, b.a.Kind)
}

// formerLead returns the cue that a text in small letters ends with, "früher", "formerly at", "our old
// address:"; "" where there is none.
func formerLead(text string) string {
	text = strings.TrimRight(text, " \t:,(–—-")
	for _, cue := range formerCues {
		rest, found := strings.CutSuffix(text, cue)
		if found && (rest == "" || !textutil.LetterBefore(rest, len(rest))) {
			return cue
		}
	}
	words := strings.Fields(text)
	if n := len(words); n >= 2 && formerEnds[words[n-1]] && formerLabels[words[n-2]] {
		return words[n-2] + " " + words[n-1]
	}
	return ""
}

// formerLabel returns the cue that is the label of a line in small letters: "früher: Gasthof Okken".
func formerLabel(line string) string {
	label, named, labelled := strings.Cut(line, ":")
	if !labelled || strings.Contains(named, ":") || len(strings.Fields(label)) > statusLabel {
		return ""
	}
	return formerLead(label)
}

// movedAway returns the cue where the text behind an address says that what was there has moved to
// another one: "moved to", but not "we moved here in 1990" or "moved to this address".
func movedAway(text string) string {
	for _, cue := range movedCues {
		i := strings.Index(text, cue+" ")
		if i < 0 || strings.ContainsAny(text[:i], ".!?") {
			continue
		}
		next, _, _ := strings.Cut(text[i+len(cue)+1:], " ")
		if !here[next] && next != "" {
			return cue
		}
	}
	return ""
}

// closedIn returns the words by which a text says that its own place, with that name
// and of that kind, is closed for good. "The bridge is permanently closed" does not, nor what is not
// closed for good.
func closedIn(text, name, of string) string {
	if !closing.In(text) {
		return "" // most texts, for less than small letters cost
	}
	text = strings.ToLower(text)
	for _, cue := range closedCues {
		for at := 0; ; {
			i := strings.Index(text[at:], cue)
			if i < 0 {
				break
			}
			i += at
			at = i + len(cue)
			from := clauseStart(text[:i])
			said := strings.Fields(strings.Trim(text[from:i], " ,–—-"))
			if slices.ContainsFunc(said, func(w string) bool { return negations[w] }) {
				continue
			}
			end := strings.IndexAny(text[at:], ".!?;:\n)|,")
			if end < 0 {
				end = len(text) - at
			}
			if isOwnClause(said, strings.Fields(text[at:at+end]), name, of) {
				return cue
			}
		}
	}
	return ""
}

// clauseStart returns where the last clause of a text begins; the points of a date, "1.3.2024", end none.
func clauseStart(text string) int {
	for end := len(text); ; {
		at := strings.LastIndexAny(text[:end], ".!?;:\n(|")
		if at <= 0 || at+1 == len(text) || text[at-1]-'0' > 9 || text[at+1]-'0' > 9 {
			return at + 1
		}
		end = at
	}
}

// isOwnClause reports whether the words before and behind a cue speak of the place itself: "we have",
// "our shop is", a word of its name or its kind, or nothing else. "Our north entrance is" does not.
func isOwnClause(before, behind []string, name, of string) bool {
	if len(before) == 0 && len(behind) <= statusSubject {
		return true
	}
	named := strings.Fields(strings.ToLower(name))
	if slices.ContainsFunc(before, func(w string) bool { return len(w) >= leastTown && slices.Contains(named, w) }) {
		return true
	}
	words := slices.Concat(before, behind)
	owned := slices.ContainsFunc(words, func(w string) bool { return here[w] })
	if owned || len(before) <= statusSubject {
		if slices.ContainsFunc(words, func(w string) bool { return ownNouns[w] }) {
			return true
		}
		id := kind.Main(kind.OfName(strings.Join(before, " "), "", ""))
		return id != "" && (id == kind.Main(of) || owned && of == "") ||
			!owned && slices.ContainsFunc(before, func(w string) bool { return pronouns[w] })
	}
	return slices.ContainsFunc(before, func(w string) bool { return pronouns[w] })
}

func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	_, s, _ = strings.Cut(s, " ")
	return s
}
