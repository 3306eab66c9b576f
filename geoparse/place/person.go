package place

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Addresses of private persons are dropped: see docs/decisions/031-private-persons.md for rules and
// reasons.

// IsPerson reports whether a name is that of a person: a given name of the list
// and one to three more names, "Harms, Hanna", or names behind "Herr", "Mrs"
// or "Familie"; and no word of a business or institution.
func IsPerson(name string) bool {
	if len(name) > 60 || IsFirm(name) {
		return false
	}
	if before, degree, ok := strings.Cut(name, ", "); ok && degrees[strings.Join(nameWords(degree), "")] {
		name = before // "Okka Grote, B.Sc."
	}
	if last, first, ok := strings.Cut(name, ", "); ok {
		return properNames(last, 1, 2) && properNames(first, 1, 3) && givenName(first)
	}
	titled, learned := false, false
	for {
		word, rest, ok := strings.Cut(name, " ")
		switch key := strings.ToLower(strings.TrimSuffix(word, ".")); {
		case ok && courtesies[key]:
			titled = true
		case ok && degrees[key]:
			learned = true
		default:
			initial := len(word) == len("A.") && word[1] == '.'
			if titled || learned && initial {
				return properNames(name, 1, 4)
			}
			return properNames(name, 2, 4) && (learned || givenName(name) || initial && properNames(name, 2, 2))
		}
		name = rest
	}
}

// Who uses a web site or mail address by the name of a person.
const (
	mostUsers   = 200 // mail addresses of a page
	longestUser = 30  // letters
	leastUser   = 5   // letters of a user's name that are the beginnings of a person's names
)

var courseFolder = regexp.MustCompile(`(?i)/(?:courses?|class(?:es)?|teaching|lectures?|lehre|vorlesung(?:en)?|` +
	`seminare?)/`)

// mailUsers returns the letters before the @ of the mail addresses in text, in lower case.
func mailUsers(text string) (users []string) {
	for at := range len(text) {
		if text[at] != '@' {
			continue
		}
		from := at
		for from > 0 && 'a' <= text[from-1]|0x20 && text[from-1]|0x20 <= 'z' {
			from--
		}
		if n := at - from; 3 <= n && n <= longestUser && len(users) < mostUsers {
			users = append(users, strings.ToLower(text[from:at]))
		}
	}
	return users
}

// isUser reports whether words are the names of a person after whom a host or a mail address of
// another name's domain is called: "jharms@example.org" is that of Johanna Harms.
func (p *Page) isUser(words []string) bool {
	if len(words) < 2 || agreement(words, cmp.Or(p.label, p.mailed)) >= 0.5 {
		return false
	}
	first, last := words[0], words[len(words)-1]
	isOf := func(user string) bool {
		return len(user) >= leastUser && (covers(words, user) || covers([]string{last, first}, user) ||
			len(last) >= leastUser && user[0] == first[0] && strings.Contains(user[1:], last[:leastUser]))
	}
	return p.user != "" && isOf(p.user) || slices.ContainsFunc(p.users, isOf)
}

// isPeopleHeading reports whether a line heads a list of persons.
func isPeopleHeading(line string) bool {
	return peopleHeadings.in(foldWords(line)) && len(strings.Fields(line)) <= 3
}

var peopleHeadings = lexiconOf("people-headings")

// looksLikePerson reports whether a text is the name of a person, even of one with an unusual given
// name and a middle initial: "Okka J. Grote".
func looksLikePerson(text string) bool {
	return IsPerson(text) || middleInitial.MatchString(text) && looksLikeNames(text)
}

var middleInitial = regexp.MustCompile(`\pL \p{Lu}\. \p{Lu}`)

// withoutPerson cuts a person and what that person does off what commas part, where an organisation
// follows: "Okka Grote, Director of Research, Reents Corporation".
func withoutPerson(text string) string {
	parts := strings.Split(text, ", ")
	n := 0
	for n < len(parts)-1 && (looksLikePerson(parts[n]) || n > 0 && isJob(parts[n])) {
		n++
	}
	if n == 0 {
		return text
	}
	rest := strings.Join(parts[n:], ", ")
	institution := isInstitution(rest) || shortInstitute.MatchString(rest)
	if len(strings.Fields(rest)) < 2 || !institution || isJob(rest) {
		return text
	}
	return rest
}

// isPersonWithJob reports whether a text is a person and what that person does, "Okka Grote,
// Director of Research", whether the given name is known or not.
func isPersonWithJob(text string) bool {
	name, job, found := strings.Cut(text, ", ")
	return found && isJob(job) && (looksLikePerson(name) || looksLikeNames(name))
}

var shortInstitute = regexp.MustCompile(`\b(?:Inst|Dept|Univ|Lab|Fak)\.`)

// isJob reports whether a text is a job title, "Director of Research": its noun is the last word
// before a comma or preposition.
func isJob(text string) bool {
	noun := ""
	for word := range strings.FieldsSeq(text) {
		key := strings.Join(nameWords(word), "")
		if noun != "" && (key == "of" || key == "for" || key == "at" || key == "in" || key == "für" || key == "der") {
			break
		}
		noun = key
		if strings.HasSuffix(word, ",") {
			break
		}
	}
	return noun != "" && jobs[noun]
}

// givenName reports whether the first word is a usual given name; of "Anne-Marie"
// the first part decides.
func givenName(name string) bool {
	word, _, _ := strings.Cut(name, " ")
	word, _, _ = strings.Cut(word, "-")
	return word != "" && givenNames[strings.ToLower(word)]
}

// properNames reports whether text is so many names: words with a capital, of
// letters only, an initial, or a particle such as "von".
func properNames(text string, least, most int) bool {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if particles[word] {
			continue
		}
		if n++; n > most {
			return false
		}
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) {
			return false
		}
		for i, r := range word {
			if !unicode.IsLetter(r) && r != '-' && r != '\'' && r != '’' &&
				!(r == '.' && i == len(word)-1 && utf8.RuneCountInString(word) <= 4) {
				return false
			}
		}
	}
	return n >= least
}

// IsFirm reports whether a text has a word that only businesses, institutions and
// professions have beside an address.
func IsFirm(text string) bool {
	text = strings.ToLower(text)
	for _, phrase := range firmPhrases {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	before := ""
	for word := range strings.FieldsFuncSeq(text, isWordBreak) {
		if firmWords[word] {
			return true
		}
		for _, end := range firmEnds {
			if len(word) > len(end) && strings.HasSuffix(word, end) &&
				!(before != "" && givenNames[before] && surnameEnds[end]) { // "Anna Baumgarten"
				return true
			}
		}
		before = word
	}
	return false
}

// hasLower reports whether set has the word in lower case.
func hasLower(set map[string]bool, word string) bool {
	var lower [24]byte // most words have room
	if len(word) > len(lower) {
		return set[strings.ToLower(word)]
	}
	for i := range len(word) {
		c := word[i]
		if c >= utf8.RuneSelf {
			return set[strings.ToLower(word)]
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return set[string(lower[:len(word)])]
}

func isWordBreak(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// IsCommerce reports whether the text around an address says that somebody does
// business there. It is narrower than IsFirm: "Team" in a menu says nothing.
func IsCommerce(text string) bool {
	for word := range strings.FieldsFuncSeq(text, isWordBreak) {
		if hasLower(commerceWords, word) {
			return true
		}
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(firmPhrases, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// imprintCues head what the law wants a site to say of who runs it.
var imprintCues = Phrases("imprint-cues")

func HasImprintCue(text string) bool {
	text = strings.ToLower(text)
	for _, cue := range imprintCues {
		if strings.Contains(text, cue) {
			return true
		}
	}
	return false
}

var (
	courtesies = Words("courtesies")
	jobs       = Words("jobs")
	degrees    = Words("degrees")
	particles  = Words("particles")

	// firmPhrases are looked for anywhere.
	firmPhrases = Phrases("firm-phrases")
	// firmWords are whole words.
	firmWords = Words("firm-words")
	// commerceWords are whole words of those that stand around an address.
	commerceWords = Words("commerce-words")
	// firmEnds end German compounds, surnameEnds among them surnames too.
	firmEnds    = Phrases("firm-ends")
	surnameEnds = Words("surname-ends")
)

// givenNames are the usual ones of the countries that gazehound knows best, as
// registries of births and of telephones have had them for a hundred years.
var givenNames = Words("given-names")
