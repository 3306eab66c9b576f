package place

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// Bounds of a name.
const (
	MaxName      = 80 // characters
	MaxNameWords = 9
	nameLines    = 4 // looked at above an address
)

// NameAbove guesses the name of what is at an address from the text before it: the words before it in its line, or a
// line above. Usual headings and lines about who acts for a firm are passed over; of a firm and a person below it the
// firm is taken. It is "" where no line can be a name.
func NameAbove(before string) (person string) {
	lines := linesOf(before)
	if n := len(lines) - 1; n >= 0 && contactLine.MatchString(lines[n]) { // of who is named above it
		lines = lines[:n]
	}
	for _, line := range slices.Backward(lines[max(0, len(lines)-nameLines):]) {
		line = strings.TrimFunc(line, isOrnament)
		name, agent := withoutLabel(line)
		switch {
		case IsDetail(line) && !agent:
			return person // of the address before
		case agent && IsName(name) && IsPerson(name):
			person = cmp.Or(person, name)
		case agent, isLabel(line), isInvitation(line), isOffice(line), isPost(line):
		case !IsName(name):
			return person
		case IsPerson(name) && person == "":
			person = name // but the line above may be the firm's
		case person != "" && !IsFirm(name):
			return person
		default:
			return name
		}
	}
	return person
}

// isOffice reports whether a line only says which office somebody holds: "1. Schützenmeister".
func isOffice(line string) bool {
	words := nameWords(line)
	return len(words) > 0 && len(words) <= 3 && holdsOffice(foldWords(words[len(words)-1]))
}

// withoutOffice cuts off what the person does whose name begins a line: "Hanna Harms – Kassenwartin".
func withoutOffice(line string) (name, office string) {
	if at := officeMark.FindStringIndex(line); at != nil && IsPerson(line[:at[0]]) {
		office = strings.TrimRight(line[at[1]:], " ):")
		if isOffice(office) || isPost(office) {
			return line[:at[0]], office
		}
	}
	return line, ""
}

// isOfficer reports whether a line is a person and an office, "Hanna Harms, Geschäftsführerin".
func isOfficer(line string) bool {
	_, office := withoutOffice(line)
	return office != ""
}

// contact is a way to reach somebody: "Tel. 0441 123456 (abends)", "E. office@okken.example".
const contact = `(?:[\pL-]{1,14}[.:]* ?)?` +
	`(?:[+\d(][\d ()/.–-]{5,}|[^ ]+(?:@| ?[([](?:at|ät)[)\]] ?)[^ ]+)(?: ?\([\pL ]{1,12}\))?`

// officeMark parts a person's name from an office; contactLine is nothing but a contact, contactsLine nothing
// but some.
var (
	officeMark   = regexp.MustCompile(` [–—|-] | \(|, | \d\. ?`)
	contactLine  = regexp.MustCompile(`^` + contact + `$`)
	contactsLine = regexp.MustCompile(`^` + contact + `(?:[ ·|]+` + contact + `)*$`)
)

// withoutLabel returns what follows a label and a colon, or the person in brackets behind one, and whether the line
// is about somebody who acts for a firm: its owner, manager, contact.
func withoutLabel(line string) (name string, agent bool) {
	label, inside, brackets := strings.Cut(strings.TrimRight(line, ": )"), " (")
	if brackets && isLabel(label) && IsPerson(inside) { // "Kontakt (Hanna Harms):"
		return inside, true
	}
	lead := agentLead.FindString(line)
	colon := strings.LastIndex(line, ": ")
	if colon >= 0 && colon < 60 {
		return strings.TrimSpace(line[colon+2:]), lead != ""
	}
	return line[len(lead):], lead != ""
}

// agentLead begins lines about those who act for a firm: "Inhaberin".
var agentLead = regexp.MustCompile(`(?i)^` + alternatives("agents") + `\pL*[ .:]*`)

// IsName reports whether a line can be the name of a business, an institution or a person.
func IsName(line string) bool {
	n, words := utf8.RuneCountInString(line), strings.Fields(line)
	if n < 2 || n > MaxName || len(words) > MaxNameWords || isLabel(line) || isInvitation(line) || isSentence(line) {
		return false
	}
	last := line[len(line)-1]
	ends := last == '.' && !registered.MatchString(line) // "Freunde und Förderer des Museums in Oldenburg e.V."
	if ends && (len(words) > 5 || len(words) > 3 && isRunning(line, words)) || last == '?' || last == '!' {
		return false
	}
	if strings.ContainsFunc(line, isUnprintable) || strings.ContainsAny(line, "@{}<>\\=") ||
		hiddenMail.MatchString(line) || timeOfDay.MatchString(line) ||
		distance.MatchString(line) || webAddress.MatchString(line) ||
		strings.Contains(line, "...") || strings.Count(line, "(") != strings.Count(line, ")") ||
		strings.IndexByte(line, ')') < strings.IndexByte(line, '(') {
		return false
	}
	end := strings.Trim(words[len(words)-1], ".,:;")
	if len(words) > 1 && (leadsOn[end] || prepositions[end]) {
		return false
	}
	if len(words) < 3 && len(coreWords(strings.ReplaceAll(line, " ", ""))) == 0 { // "e. V."
		return false
	}
	letters, digits := countRunes(line, unicode.IsLetter), countRunes(line, unicode.IsDigit)
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(line, "\"„“»"))
	return letters >= 2 && letters > digits && (unicode.IsUpper(first) || unicode.IsDigit(first) ||
		unicode.Is(unicode.Lo, first))
}

// isUnprintable reports whether r is a control character, which texts have that are no pages, and no white space.
func isUnprintable(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }

// isRunning reports whether a line has words in small letters: "Gentle care in Chelsea, GA."
func isRunning(line string, words []string) bool {
	isSmall := func(w string) bool { return 'a' <= w[0] && w[0] <= 'z' && !joins[w] }
	return !hasLegalForm(line) && slices.ContainsFunc(words[1:], isSmall)
}

// timeOfDay is one, or a term of a year; lines of a programme and titles of courses are no names.
var timeOfDay = regexp.MustCompile(`\d[:.]\d\d(?:\D|$)|\d ?[AaPp]\.?[Mm]\b|` +
	`(?i:\b(?:spring|summer|fall|autumn|winter|[ws]s|(?:winter|sommer)semester) ?20\d\d)`)

// distance is how far away an entry of a list is.
var distance = regexp.MustCompile(`(?i)^\d+(?:[.,]\d+)? ?(?:(?:km|mi|miles?)\b|` +
	`(?:m|min\.?|minute[ns]|minuten) (?:entfernt|away|walk|zu fuß))`)

// hiddenMail is a mail address that programs should not find: "info[at]reents.example".
var hiddenMail = regexp.MustCompile(`(?i)[\[({] ?(?:at|ät) ?[\])}]`)

// webAddress is one that a page writes out. "Harms.example" alone may be what a firm calls itself.
var webAddress = regexp.MustCompile(`(?i)://|^www\.[^ ]+$|^[^ ]+\.\p{L}{2,}/[^ ]*$`)

// leadsOn are words that no name ends with: a sentence goes on with the address.
var leadsOn = Words("leads-on")

// prepositions need the word behind them, even one that is also an entry of menus: "Beauftragte für Datenschutz".
var prepositions = Words("prepositions")

// leastMenu is how many words a line has that lists the pages of a site.
const leastMenu = 6

// isLabel reports whether a line is a usual heading or a menu, and no name.
func isLabel(line string) bool {
	words := nameWords(line)
	share := labelShare(words)
	return share == 1 || len(words) >= leastMenu && share > 0.4
}

// isInvitation reports whether a line leads on to the address in a sentence, and names nobody: "Sie finden uns unter
// der Anschrift", "So erreichen Sie uns", "How to find us". It has a verb of finding or visiting and says to whom; or
// it points to what follows, "unter folgender Adresse".
func isInvitation(line string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	has := func(set map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return set[strings.ToLower(w)] && (w != "US" || line == strings.ToUpper(line)) // not the country
		})
	}
	points := has(pointing)
	return has(inviting) && (has(invited) || points) || points && has(addressWords)
}

// isSentence reports whether a line of some words has a usual finite verb in small letters: "Die
// Bücherei ist im Haus". Names have none.
func isSentence(line string) bool {
	words := strings.Fields(line)
	return len(words) > 3 && slices.ContainsFunc(words[1:], func(w string) bool { return finite[w] && w != "" })
}

var (
	inviting     = Words("inviting")
	invited      = Words("invited")
	pointing     = Words("pointing")
	finite       = Words("finite")
	addressWords = Words("address-words")
	allLabels    = Words("all-labels")
	hoursPages   = textutil.NewLexicon(Phrases("hours-pages")...)
)

//go:embed words.txt
var wordsFile string

var wordLists = textutil.ReadLists(wordsFile)

// Words returns the words of a list of words.txt, with "".
func Words(list string) map[string]bool {
	words := wordLists.Words(list)
	words[""] = true
	return words
}

// Phrases returns those of a list of words.txt.
func Phrases(list string) []string { return wordLists.Phrases(list) }

// alternatives returns the phrases of such a list as a group of a regular expression.
func alternatives(list string) string {
	return `(?:` + strings.ReplaceAll(regexp.QuoteMeta(wordLists[list]), ", ", "|") + `)`
}

// linesOf returns the lines of a text that have more than white space, without that around them.
func linesOf(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// IsHoursPage reports whether a page is one of opening hours by its title or path.
func IsHoursPage(title, path string) bool { return hoursPages.In(title + " " + path) }
