package place

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a name.
const (
	MaxName      = 80 // characters
	MaxNameWords = 9
	nameLines    = 4 // looked at above an address
)

// NameAbove guesses the name of what is at an address from the text before it:
// the words before it in its line, or a line above. Usual headings and lines
// about who acts for a firm are passed over; of a firm and a person below it
// the firm is taken. It is "" where no line can be a name.
func NameAbove(before string) string {
	lines := strings.Split(before, "\n")
	person := ""
	for i, looked := len(lines)-1, 0; i >= 0 && looked < nameLines; i-- {
		line := strings.Trim(lines[i], " \t,;:|·•–—-/>»*")
		if line == "" {
			continue
		}
		looked++
		// The start of the text before may be the rest of a sentence.
		if i == 0 && len(lines) == 1 && utf8.RuneCountInString(line) > 60 {
			break
		}
		name, agent := withoutLabel(line)
		switch {
		case IsDetail(line) && !agent, isRegister(line):
			return person // of the address before
		case agent && IsPerson(name) && strings.HasPrefix(strings.ToLower(line), "verantwortlich"):
			return name // not of the firm, if that is above
		case agent && IsName(name) && IsPerson(name):
			if person == "" {
				person = name
			}
		case agent, isLabel(line), isInvitation(line):
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

// NameInTitle returns the part of a page's title that can be a name, or "".
func NameInTitle(title string) string {
	for _, sep := range [...]string{" | ", " - ", " – ", " — ", " · ", " » ", " :: ", ": "} {
		if parts := strings.Split(title, sep); len(parts) > 1 {
			for _, p := range parts {
				if p = strings.TrimSpace(p); IsName(p) {
					return p
				}
			}
		}
	}
	if IsName(title) {
		return title
	}
	return ""
}

// withoutLabel returns what follows a label and a colon, and whether the line
// is about somebody who acts for a firm: its owner, manager, contact.
func withoutLabel(line string) (name string, agent bool) {
	lower := strings.ToLower(line)
	for _, cue := range agents {
		if strings.HasPrefix(lower, cue) {
			agent = true
			break
		}
	}
	name = line
	if i := strings.LastIndex(line, ": "); i >= 0 && i < 60 {
		name = strings.TrimSpace(line[i+2:])
	} else if agent {
		for _, cue := range agents {
			if strings.HasPrefix(lower, cue) && len(lower) == len(line) {
				rest := strings.TrimLeftFunc(line[len(cue):], unicode.IsLetter) // "Inhaberin"
				name = strings.TrimSpace(strings.TrimLeft(rest, " .:"))
				break
			}
		}
	}
	return name, agent
}

// isRegister tells whether a line says where a firm is registered.
func isRegister(line string) bool {
	line = strings.ToLower(line)
	for _, cue := range [...]string{"handelsregister", "vereinsregister", "hrb ", "hra ", "ust-id", "umsatzsteuer", "steuernummer"} {
		if strings.HasPrefix(line, cue) {
			return true
		}
	}
	return false
}

// agents begin lines about those who act for a firm.
var agents = []string{
	"inhaber", "inh.", "geschäftsführer", "geschäftsführung", "vertreten durch", "vertretungsberechtigt", "vorstand", "vorsitzende", "ansprechpartner", "leitung", "c/o", "z. hd.", "z.hd.", "z. h.",
	"verantwortlich", "owner", "proprietor", "manager", "managing director", "contact person", "attn", "president", "director",
}

// IsName tells whether a line can be the name of a business, an institution or
// a person.
func IsName(line string) bool {
	n := utf8.RuneCountInString(line)
	if n < 2 || n > MaxName || len(strings.Fields(line)) > MaxNameWords || isLabel(line) || isInvitation(line) {
		return false
	}
	if last := line[len(line)-1]; last == '.' && len(strings.Fields(line)) > 5 || last == '?' || last == '!' {
		return false
	}
	if strings.ContainsAny(line, "@{}<>\\=") || strings.Contains(line, "://") {
		return false
	}
	letters, digits := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	if words := strings.Fields(line); len(words) > 1 && leadsOn[strings.Trim(words[len(words)-1], ".,:;")] {
		return false
	}
	first, _ := utf8.DecodeRuneInString(line)
	return letters >= 2 && letters > digits && (unicode.IsUpper(first) || unicode.IsDigit(first) || unicode.Is(unicode.Lo, first))
}

// leadsOn are words that no name ends with: a sentence goes on with the address.
var leadsOn = Words("lautet ist sind war liegt befindet steht in im unter bei an am auf nach und von der die das uns is are was at to from on of the and with near our your est à à chez se sono è en")

// isLabel tells whether a line is a usual heading and no name.
func isLabel(line string) bool {
	line = strings.ToLower(strings.Trim(line, " .:,;-–|"))
	if allLabels[line] {
		return true
	}
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return unicode.IsSpace(r) || r == '/' || r == '|' }) {
		if !allLabels[strings.Trim(word, ".:,;&/-–|()")] {
			return false
		}
	}
	return true
}

// isInvitation tells whether a line leads on to the address in a sentence, and
// names nobody: "Sie finden uns unter der Anschrift", "So erreichen Sie uns",
// "How to find us". It has a verb of finding or visiting and says to whom; or it
// points to what follows, "unter folgender Adresse".
func isInvitation(line string) bool {
	verb, whom, points, label := false, false, false, false
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "US" && line != strings.ToUpper(line) { // the country
			continue
		}
		word = strings.ToLower(word)
		verb = verb || inviting[word]
		whom = whom || invited[word]
		points = points || pointing[word]
		label = label || addressWords[word]
	}
	return verb && (whom || points) || points && label
}

var (
	inviting     = Words("finden findest findet find finding erreichen erreichst erreicht reach besuchen besuch besucht visit kontaktieren kontaktiere kontakt contact freuen treffen meet befinden befindet liegt liegen located schreiben write rufen call anrufen vorbei")
	invited      = Words("sie uns wir ihr ihnen ihren euch you us our")
	pointing     = Words("folgende folgender folgenden folgendem folgendes following unter hier here below")
	addressWords = Words("anschrift adresse address ort kontaktdaten")
)

var allLabels = Words(`
	adresse anschrift address addresses adressen kontakt contact kontaktdaten impressum imprint home startseite start
	homepage willkommen welcome über uns about us anfahrt directions lage location locations standort standorte
	wir sie finden so hier find visit map karte route öffnungszeiten hours opening tel telefon telefonnummer phone fax telefax
	mobil email e-mail mail web website internet www und and the der die das in im am at to of our unsere
	angaben gemäß § 5 tmg ddg verantwortlich für den inhalt diensteanbieter anbieter herausgeber
	postanschrift postadresse hausanschrift besucheradresse mailing street straße plz ort city
	büro office hauptsitz headquarters filiale zentrale page seite menu menü navigation footer
	datenschutz datenschutzerklärung privacy policy agb terms info information informationen mehr more details
	details read get call call veranstaltungsort venue wo where when wann date datum
	ansprechpartner ansprechpartnerin ansprechpartnerinnen ansprechperson ansprechpersonen stellenmarkt stellenangebote stellenanzeigen stellenangebot
	jobs job karriere career careers vacancies aktuelles neuigkeiten nachrichten news termine termin veranstaltungen veranstaltung events event kalender calendar
	übersicht overview verzeichnis directory suche suchen search suchergebnisse ergebnisse results einträge listings kategorien categories kategorie category
	login anmelden anmeldung registrieren register warenkorb cart checkout newsletter sitemap faq presse press download downloads links blog
	leistungen services service angebote angebot offers produkte products preise prices galerie gallery fotos bilder photos bewertungen reviews
	anreise parken parking anfahrtsbeschreibung wegbeschreibung stadtplan lageplan kontaktformular formular erreichbarkeit sprechzeiten sprechstunden geschäftszeiten
	team mitarbeiter geschäftsstelle geschäftsstellen zurück back weiter next teilen share drucken print alle all und & + zum zur zu mit vor ort bei von
	partner freunde förderer sponsoren weiteres weitere sonstiges allgemeines einleitung ihr ihre ihren weg zu hinweise hinweis rechtliche rechtlicher legal notice cookie cookies einstellungen settings`)

// Words returns the set of the words of a text, with "".
func Words(text string) map[string]bool {
	m := map[string]bool{"": true}
	for word := range strings.FieldsSeq(text) {
		m[word] = true
	}
	return m
}

// fold returns s with its white space folded.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
