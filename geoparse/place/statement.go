package place

import (
	"regexp"
	"slices"
	"strings"

	"gazehound/internal/kind"
)

// Bounds of sentences that say what the place is.
const (
	definedText  = 4_000 // bytes of the visible text that have them
	mostSubject  = 6     // words before the verb
	mostDefining = 12    // words behind it that are read
)

// A statement is a sentence "Reents Rowing is a club", or a label of what somebody does, as laws want it in
// imprints, "Berufsbezeichnung: Rechtsanwältin".
type statement struct {
	subject string // "" is who writes
	said    string
	bare    bool // nothing shows that a noun follows
}

// Words of such statements: their verbs, those that need no pronoun, what stands before nouns, what ends
// the part that says it, labels.
var (
	selves         = Words("selves")
	definingVerbs  = Words("defining-verbs")
	definingSelves = Words("defining-selves")
	definingBegins = Words("defining-begins")
	definingEnds   = Words("defining-ends")
	tradeLabels    = Phrases("trade-labels")
)

// statementsIn returns the statements of a text.
func statementsIn(text string) (all []statement) {
	label := false
	for line := range strings.SplitSeq(text, "\n") {
		before, value, colon := strings.Cut(line, ":")
		before, _, _ = strings.Cut(before, " (") // "(verliehen in Deutschland)"
		switch {
		case label && !colon:
			all = append(all, statement{said: line})
		case colon && slices.Contains(tradeLabels, strings.ToLower(before)):
			all = append(all, statement{said: value})
		}
		label = colon && slices.Contains(tradeLabels, strings.ToLower(before)) && strings.TrimSpace(value) == ""
		for clause := range strings.FieldsFuncSeq(line, isClauseMark) {
			for sentence := range strings.SplitSeq(clause, ". ") {
				s := definition(strings.Fields(sentence))
				if s.said != "" {
					all = append(all, s)
				}
			}
		}
	}
	return all
}

func isClauseMark(r rune) bool { return strings.ContainsRune("!?:;|,()–—", r) }

// definition returns what a sentence says that its subject is; said is "" where it is no such sentence.
func definition(words []string) (s statement) {
	if len(words) < 2 {
		return s
	}
	verb := slices.IndexFunc(words[:min(len(words), mostSubject+1)], func(w string) bool {
		return definingVerbs[strings.ToLower(w)]
	})
	own := definingSelves[strings.ToLower(strings.ReplaceAll(words[0], "’", "'"))]
	if own {
		verb = 0
	}
	if verb < 0 || verb == 0 && !own { // a question
		return s
	}
	subject, said := words[:verb], words[verb+1:min(len(words), verb+1+mostDefining)]
	if verb > 1 && joins[strings.ToLower(subject[0])] { // "und wir sind"
		subject = subject[1:]
	}
	end := slices.IndexFunc(said, func(w string) bool { return definingEnds[strings.ToLower(w)] })
	if end >= 0 {
		said = said[:end]
	}
	if len(said) == 0 {
		return s
	}
	s.subject, s.said = strings.Join(subject, " "), strings.Join(said, " ")
	if selves[strings.ToLower(s.subject)] {
		s.subject = ""
	}
	article := elision.FindString(s.said) // "un'agenzia"
	if article == "" && definingBegins[strings.ToLower(said[0])] {
		article = said[0]
	}
	s.said, s.bare = s.said[len(article):], article == ""
	return s
}

// elision is an article that is one word with its noun.
var elision = regexp.MustCompile(`^(?i:un|l)['’]`)

// kindStated returns the kind that a sentence of the page says that the place is, or "". name is the place's.
func (h *Head) kindStated(name string, langs []string) string {
	for _, s := range h.stated() {
		if s.subject != "" && !h.isSelf(s.subject, name) {
			continue
		}
		words := nameWords(s.said)
		if len(words) == 0 || s.bare && kindOfText(words[0], langs) == "" {
			continue // "Wir sind im Hotel Krone"
		}
		id := kindOfText(s.said, langs)
		if id != "" && id != anyFirm {
			return id
		}
	}
	return ""
}

// anyFirm is the kind of what says no more than that it is a firm.
const anyFirm = "office=company"

// isSelf reports whether a text is what the page or its place is called.
func (h *Head) isSelf(text, name string) bool {
	is := func(own string) bool { return strings.EqualFold(own, text) }
	return is(name) || h.agreement(nameWords(text)) >= 0.9 || slices.ContainsFunc(h.own[:h.titles], is) ||
		slices.ContainsFunc(h.site.Stated, is)
}

// KindOfPerson returns the kind of place at which a person works, or "", by what stands between the name and
// the address: "Hanna Harms, Fotografin". Of several lines the first says most.
func KindOfPerson(name, before string, langs []string, country string) string {
	if !IsPerson(name) {
		return ""
	}
	lines := linesBefore(before, nameLines, false)
	at := slices.IndexFunc(lines, func(l lineAbove) bool { return strings.Contains(l.text, name) })
	for _, line := range slices.Backward(lines[:at+1]) {
		text := strings.TrimPrefix(line.text, name)
		if len(strings.Fields(text)) > mostSaying || IsPerson(text) || hasLegalForm(text) {
			continue
		}
		for _, lang := range langs {
			id := kind.OfName(text, lang, country)
			if id != "" && id != anyFirm && !isAssociation(id) {
				return id
			}
		}
	}
	return ""
}
