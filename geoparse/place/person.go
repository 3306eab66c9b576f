package place

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/internal/textutil"
)

// Addresses of private persons are dropped: see docs/decisions/031-private-persons.md for rules and reasons.

// IsPerson reports whether a name is that of a person: a given name of the list and one to three more names, "Harms,
// Hanna", or names behind "Herr", "Mrs" or "Familie"; and no word of a business or institution.
func IsPerson(name string) bool {
	if len(name) > 60 || IsFirm(name) {
		return false
	}
	if strings.ContainsAny(name, "0123456789") { // few names, for less than the expression costs
		name = callSign.ReplaceAllString(name, "")
	}
	if before, degree, ok := strings.Cut(name, ", "); ok && degrees[strings.Join(nameWords(degree), "")] {
		name = before // "Okka Grote, B.Sc."
	}
	if at := strings.LastIndexByte(name, ' '); at > 0 && degrees[strings.Join(nameWords(name[at:]), "")] {
		name = name[:at] // "Okka Grote M.Sc."
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
		case ok && isDegree(key):
			learned = true
		default:
			initial := len(word) == len("A.") && word[1] == '.'
			if titled || learned && initial {
				return properNames(name, 1, 4)
			}
			return properNames(name, 2, 4) && (learned || givenName(name) || initial && properNames(name, 2, 2) ||
				middleInitial.MatchString(name))
		}
		name = rest
	}
}

// isDegree reports whether a word in small letters is a degree, or the school of one: "dipl.-ing", "(fh)".
func isDegree(word string) bool {
	return degrees[word] || strings.HasPrefix(word, "dipl") || word == "(fh)"
}

// hasDegree reports whether a name begins with a degree: "Dr. med. Hanna Okken", which a practice is called.
func hasDegree(name string) bool {
	title, _, more := strings.Cut(name, " ")
	return more && isDegree(strings.ToLower(strings.TrimSuffix(title, ".")))
}

// isJob reports whether a text is a job title, "Director of Research": its noun is the last word
// before a comma or preposition.
func isJob(text string) bool {
	noun := ""
	text, _, _ = strings.Cut(text, ", ")
	for word := range strings.FieldsSeq(text) {
		words := nameWords(word)
		if len(words) == 0 {
			continue
		}
		key := words[len(words)-1] // "Full-Stack-Developer"
		if noun != "" && (key == "of" || key == "for" || key == "at" || key == "in" || key == "für" || key == "der") {
			break
		}
		noun = key
	}
	return noun != "" && jobs[noun]
}

// givenName reports whether the first word is a usual given name; of "Anne-Marie" the first part decides.
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
		n++
		if n > most {
			return false
		}
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) || word[len(word)-1] == '-' || // "Garten- und Landschaftsbau"
			strings.HasSuffix(word, "The") { // "Hanna Harms-The Cello Studio"
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

// IsFirm reports whether a text has a word that only businesses, institutions and professions have beside an address.
func IsFirm(text string) bool {
	text = strings.ToLower(text) + "." // "Harms e.V" too
	if firmPhrases.In(text) {
		return true
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

func isWordBreak(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// IsCommerce reports whether the text around an address has a phrase of business, in a line that neither
// denies it nor says who wrote the text: "No VAT is charged", "Template by law firm Okken"; nor in the label
// of a number that nobody filled in. It is narrower than IsFirm: "Team" in a menu says nothing.
func IsCommerce(text string) bool {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		said := firmPhrases.In(line) || ownerOf.MatchString(line)
		if said && !noBusiness.In(foldWords(line)) && !isBlank(line, rest) {
			return true
		}
		text = rest
	}
	return false
}

// isBlank reports whether a line of an imprint is the label of a tax number, as generators write it, and
// neither it nor the next line of what follows has the number.
func isBlank(line, follows string) bool {
	if !taxNumber.MatchString(line) || longNumber.MatchString(line) {
		return false
	}
	next, _, _ := strings.Cut(strings.TrimLeft(follows, " \t\n"), "\n")
	return !longNumber.MatchString(next)
}

// imprintCues head what the law wants a site to say of who runs it.
var imprintCues = textutil.NewLexicon(Phrases("imprint-cues")...)

// HasImprintCue reports whether a text has such a heading.
func HasImprintCue(text string) bool { return imprintCues.In(text) }

var (
	courtesies = Words("courtesies")
	jobs       = Words("jobs")
	degrees    = Words("degrees")
	particles  = Words("particles")

	// callSign is that of a radio amateur: "Hanna Harms DJ1XY".
	callSign = regexp.MustCompile(` [A-Z]{1,2}\d[A-Z]{1,4}$`)
	// middleInitial is one between two names, as Americans write it: "Junior F. Harms".
	middleInitial = regexp.MustCompile(`^\p{Lu}[\p{L}'’-]+ \p{Lu}\. \p{Lu}[\p{L}'’-]+$`)

	// taxNumber begins the label of a tax number, or is all of it, longNumber is such a number.
	taxNumber = regexp.MustCompile(`(?i)^\W*(?:umsatzsteuer|ust|steuer|vat)` +
		`(?:[ .-]{0,2}(?:id|identifikation|ident|nummer|nr|no|number|reg)|\W*$)`)
	longNumber = regexp.MustCompile(`\d[\d ./-]{4,}\d`)

	// ownerOf is in a line that names the owner of a business: "Hanna Harms, Owner".
	ownerOf = regexp.MustCompile(`(?i)(?:^|, )(?:co-)?owners?$|^(?:co-)?owners?: `)
	// noBusiness are words of lines that deny a business or credit another one.
	noBusiness = textutil.NewLexicon(append(cuesOf("negations"), cuesOf("credits")...)...)
	// firmPhrases are looked for anywhere.
	firmPhrases = textutil.NewLexicon(Phrases("firm-phrases")...)
	// firmWords are whole words.
	firmWords = Words("firm-words")
	// firmEnds end German compounds, surnameEnds among them surnames too.
	firmEnds    = Phrases("firm-ends")
	surnameEnds = Words("surname-ends")
)

// givenNames are some 6,500 that are usual in the countries of Europe, in North America, Turkey, Arabia and
// India, by how often registries have them; without words of everyday language, trades and larger towns.
var givenNames = Words("given-names")
