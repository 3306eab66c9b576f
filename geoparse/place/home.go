package place

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gazehound/geoparse/markup"
	"gazehound/internal/kind"
	"gazehound/internal/textutil"
)

// sureHome are the log-odds from which an address is a home on all pages of a host, if anything shows that
// somebody lives there; what the page is called does not: "Vita", "Wedding", "About me". A person's name
// alone does not reach them: the handouts of a surgery have only the doctor's above its address.
const sureHome = 2

// leastHome are those from which one is a home on its page: what stands on a home page or in a résumé and
// has nothing else for or against it is one.
const leastHome = -0.05

//go:embed homes.tsv
var homesFile string

// Whether an address is a private home is decided by a logistic regression: see
// docs/decisions/031-private-persons.md. homeCues are the names of its cues, which a door has or has not,
// and homeWeights what each adds to the log-odds of a home; the first is the bias.
// "go test ./geoparse -run EvalPersons -learn" writes them.
var homeCues, homeWeights = readWeights(homesFile)

// A Door is the text in and around an address, and the URL of its page.
type Door struct {
	Before, Below string // lines above and below it that belong to no other address
	Inside        string // what stands in it beside street and city
	Street, Unit  string
	Title         string      // of the page
	Host, Path    string      // of the page
	Langs         []string    // in which it may be written, ISO 639-1
	Person        bool        // the name above is a person's
	Typed         string      // the type that markup gives what is there
	Imprint       bool        // it stands in an imprint
	Represents    bool        // it is that of who represents somebody at the address above
	Elsewhere     bool        // it stands in an imprint whose site is at another address, above or in the footer
	Business      func() bool // words of business in what is said of who runs the site
	Lets          Letting     // whether the site lets a house or flat
	Resume        func() bool // a heading or link of the page is that of a résumé
}

// Letting is whether a site lets a house or flat, for holidays or longer, and where.
type Letting uint8

const (
	NoLetting   Letting = iota
	LetsHere            // the site names the town of the address
	LetsHome            // it names no town: who lets it may live elsewhere
	LetsAnother         // it names another town
)

// Evidence is what the mentions of an address on a page say of whether it is a home.
type Evidence struct {
	Sum      float64 // of what they add to the log-odds
	Editor   float64 // the part of it that is added for who edits the site
	Somebody bool    // somebody is said to live there, or may be
	Firm     bool    // a firm is named right above it, by a trade or its legal form
}

// Evidence returns that of one mention.
func (d *Door) Evidence() (e Evidence) {
	has, firm := d.cues()
	for i, name := range homeCues[1:] {
		e.Sum += homeWeights[1+i] * is(has[name])
	}
	e.Firm = firm
	e.Editor = homeWeights[slices.Index(homeCues, "editor")] * is(has["editor"])
	e.Somebody = has["own-name"] && has["homepage"] ||
		slices.ContainsFunc(somebodyCues, func(name string) bool { return has[name] })
	return e
}

// somebodyCues are those that somebody may live at an address.
var somebodyCues = strings.Fields("person honorary editor home tilde resident lets")

// With returns the evidence of further mentions.
func (e Evidence) With(o Evidence) Evidence {
	return Evidence{e.Sum + o.Sum, e.Editor + o.Editor, e.Somebody || o.Somebody, e.Firm || o.Firm}
}

// Home reports whether an address is a private home; that of a firm is none because who edits its site is to be
// found there, too. sure: so clearly that another page of the host need not show it.
func (e Evidence) Home() (home, sure bool) {
	odds := e.Sum + homeWeights[0]
	if e.Firm {
		odds -= e.Editor
	}
	return odds >= leastHome, e.Somebody && odds >= sureHome
}

// Cues returns the names of the cues.
func Cues() []string { return homeCues }

// Values returns 1 for each of Cues that the door has, 0 for others: what the weights are learned from.
func (d *Door) Values() []float64 {
	has, _ := d.cues()
	values := make([]float64, len(homeCues))
	for i, name := range homeCues {
		values[i] = is(has[name])
	}
	return values
}

const (
	doorLines   = 3   // above the address that are looked at
	doorText    = 100 // bytes of each, the last ones
	headingText = 300 // bytes of a line that may be a heading
	mostTrade   = 7   // words that say what somebody does for a living
)

// nearest returns the line right above the address, or what stands before it in its own, what the person
// of that line does, and the lines further up.
func (d *Door) nearest() (first, held string, further []string) {
	lines := doorLinesOf(d.Before)
	n := len(lines) - 1
	if n < 0 {
		return "", "", nil
	}
	isLead := func(line string) bool { // "Postal address:", not "Venue:"
		folded := foldWords(line)
		return labelShare(nameWords(line)) == 1 && !homeWords.In(folded) && !venueLabels.In(folded)
	}
	for n > 0 && isLead(lines[n]) {
		n--
	}
	first, held = withoutOffice(lines[n])
	if n > 0 && looksLikeNames(lines[n-1]) && // "Hanna Harms", below it "Kassenwartin" or "Sewing"
		(isOffice(first) || !isInstitution(first) && (holdsOffice(foldWords(first)) || d.mailed(lines[n-1]))) {
		return lines[n-1], first, lines[:n-1]
	}
	return first, held, lines[:n]
}

// A sight is what the cues ask of a door.
type sight struct {
	first   string   // the line right above the address, or what stands before it in its own
	name    string   // first without a label
	held    string   // what the person of first does: see [Door.nearest]
	lines   []string // further up, without labels and prose
	further string   // lines
	behind  string   // the line right behind the address

	letting bool // the site lets a house or flat
	lets    bool // in another town, so that its host lives here

	atHome   bool // "home", "privat", a flat
	lived    bool // who lives there is named in a sentence
	homepage bool // the page is somebody's own, or a résumé
	edits    bool // the line above leads to who edits the site
	venue    bool // the nearest line says that people meet there
	named    bool // it names a person
	member   bool // a person, on a page of an association
	acts     bool // a person for somebody at another address, as an imprint has it
}

func (d *Door) see() *sight {
	s := &sight{letting: d.Lets >= LetsHome, lets: d.Lets == LetsAnother}
	s.first, s.held, s.lines = d.nearest()
	if s.letting && IsLetting(s.first) { // "Ferienwohnung Okken" says no more than the title
		s.first = ""
	}
	s.name, _ = withoutLabel(s.first)
	private := labelsHome(last(s.lines))
	isHome := homeWords.In(foldWords(s.first)) && !insured.MatchString(s.first) && !isTrade(leading(s.first)) &&
		!(isHost.MatchString(s.first) && isInstitution(s.first)) // "c/o Okken Immobilien AG"
	s.atHome = private || isHome || isFlat.MatchString(d.Unit)
	if s.atHome { // "Home address" ends what the lines above say
		s.lines = nil
	}
	s.edits = editsBy(last(s.lines)) && (d.Person || looksLikeNames(s.name))
	s.lines = slices.DeleteFunc(s.lines, func(l string) bool { return isProse(l) || isLabel(l) })
	s.venue = venueLabels.In(foldWords(s.first))
	s.named = !s.venue && (d.Person || s.name != s.first && IsPerson(s.name) || IsPerson(owner(s.first)) ||
		isTitled(s.first) || endsWithPerson(s.first) || private && looksLikeNames(s.name))
	s.acts = d.Represents || d.Elsewhere && s.named
	s.member = !s.venue && ((s.named || s.hasMember()) && d.ofAssociation() || s.listed() && d.listsOfficers())
	s.further = strings.Join(s.lines, "\n")
	s.behind, _, _ = strings.Cut(d.Below, "\n")
	s.lived = livesAt(s.first, s.behind) && !insured.MatchString(s.first)
	s.homepage = isHomepage(d.Title, foldWords(d.Title)) || resumePath.MatchString(d.Path) ||
		d.Resume != nil && d.Resume()
	return s
}

// last returns the last line, "" where there is none.
func last(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// hasMember reports whether the nearest line may name a person of an association, "Hanna Harms (trainer)", or the
// one above it does, and the nearest says what that person does.
func (s *sight) hasMember() bool {
	name, _, _ := strings.Cut(s.name, " (")
	label, _, labelled := strings.Cut(s.first, ": ") // "Liaison: Faith Okken", not "Location: Okken Lake"
	labelled = labelled && (!isLabel(label) || personLabel.MatchString(label))
	return IsPerson(name) || labelled && looksLikeNames(name) && kind.OfName(name, "", "") == "" ||
		IsPerson(last(s.lines)) && !isInstitution(s.first) && !isLabel(s.first) && kind.OfName(s.first, "", "") == ""
}

// listed reports whether the nearest line, the one above it or both, as cells of a table, may be a name.
func (s *sight) listed() bool {
	isName := func(line string) bool { return looksLikeNames(line) && kind.OfName(line, "", "") == "" }
	return isName(s.name) || isName(last(s.lines)) || properNames(s.name, 1, 1) && isName(last(s.lines)+" "+s.name)
}

// labelsHome reports whether a line announces somebody's home: "Private address:".
func labelsHome(line string) bool {
	return strings.HasSuffix(line, ":") && homeWords.In(foldWords(line)) && !isInstitution(line)
}

// isTitled reports whether a line is a person and a title or post behind a comma, "Hanna Harms, Dipl.-Ing. (FH)", and
// no firm or trade.
func isTitled(line string) bool {
	name, title, found := strings.Cut(line, ", ")
	return found && IsPerson(name) && !isInstitution(title) && kind.OfName(line, "", "") == ""
}

// ofAssociation reports whether a part of the page's title names an association.
func (d *Door) ofAssociation() bool {
	return slices.ContainsFunc(TitleParts(d.Title), func(part string) bool {
		return isAssociation(cmp.Or(kind.OfName(part, "", ""), kindOfName(part, d.Langs, ""))) // "Spitz Club" in English
	})
}

// listsOfficers reports whether the page is that of a committee or the members of an association, by its title or path.
func (d *Door) listsOfficers() bool {
	return officerPages.In(foldWords(d.Title)) || officerPages.In(foldWords(pathMarks.Replace(d.Path)))
}

// offices reports whether the door is that of an office that is held at home, whatever the site does:
// honoured of a founder, chairman or webmaster, or of a person right below a club, in its imprint, on a page of
// it or behind "c/o"; edited of who edits the site of a club. host is who is at the door, behind "c/o" where that is
// written, and care reports whether that is a person.
func (d *Door) offices(s *sight) (honoured, edited, care bool, host string) {
	host = behindLast(careOf, s.first)
	label, name, labelled := strings.Cut(host, ": ")
	if labelled && holdsOffice(foldWords(label)) && IsPerson(strings.Trim(name, " ,")) {
		host = name // of "Club Secretary: Hanna Harms"
	}
	visited, _ := withoutOffice(strings.Trim(host, " ,:"))
	care = host != s.first && IsPerson(visited)
	registered := clubRegister.MatchString(d.Below)
	ofClub := isAssociation(kind.OfName(last(s.lines), "", "")) || d.Imprint && registered
	honoured = care || s.lines != nil && ofClub && IsPerson(s.name) || s.member || s.acts ||
		holdsOffice(foldWords(s.first+"\n"+s.held+"\n"+s.further))
	edited = s.edits && (registered || clubRegister.MatchString(d.Before))
	return honoured, edited, care, host
}

// business reports whether a line beside the door names a trade, and whether words around it or in the title
// are those of a business.
func (d *Door) business(s *sight) (trade, commerce bool) {
	text := s.first + "\n" + s.held + "\n" + s.further + "\n" + d.Title
	switch {
	case !s.homepage:
		text += "\n" + BeforeDisclaimer(d.Below, 0)
	case isTrade(s.first): // a résumé names what somebody does elsewhere, and for whom
		return false, IsCommerce(d.Title)
	}
	inSentence := isSentence(s.first) || goesOn(s.behind) // whose heading does not name who is at the address
	trade = isTrade(leading(s.first)) || !inSentence && isTrade(last(s.lines))
	return trade, IsCommerce(text) || !inSentence && isCompany(last(s.lines))
}

// isCompany reports whether a line is a name with a legal form, and not that of an association.
func isCompany(line string) bool {
	return hasLegalForm(line) && IsName(line) && !registered.MatchString(line) &&
		!isAssociation(kind.OfName(line, "", ""))
}

// leading returns what a line names first: "Raumausstattung Okken, Uwe Okken".
func leading(line string) string {
	line, _, _ = strings.Cut(line, ", ")
	return line
}

// cues returns the cues that the door has, by their names, and whether a firm is named right above it.
func (d *Door) cues() (has map[string]bool, firm bool) {
	s := d.see()
	honoured, edited, care, host := d.offices(s)
	trade, commerce := d.business(s)
	exempt := s.lets || s.letting && d.Person || honoured || edited // where no word of business counts
	titled, below := foldWords(d.Title), BeforeDisclaimer(d.Below, 0)
	firm = isCompany(s.first) || isTrade(leading(s.first))
	has = map[string]bool{
		"bias": true,
		"person": s.named || s.member || care || !s.venue && (s.held != "" || labelsOfficer(s.first) ||
			looksLikeNames(s.name) && (exempt || d.mailed(s.name) || d.isStranger(s.name))),
		// It stands in an imprint that has a word of business, or whose host names a trade.
		"business": !exempt && d.Imprint && (d.Business != nil && d.Business() || d.tradeInHost()),
		"honorary": honoured,
		// Or the line names who answers for what a site says, whom German law wants to be named.
		"editor": s.edits || editor.MatchString(s.first+"\n"+s.further),
		// A word of an organisation in the nearest line, in the two further up, in the address itself.
		"firm": !s.lived && !s.lets &&
			(isInstitution(host) || !s.homepage && !s.atHome && isTrade(leading(s.first))),
		"firm-above": !care && !edited && isInstitution(s.further),
		"firm-in":    isInstitution(d.Inside) || isBuilding(d.Street),
		"firm-title": !s.letting && !s.acts && isInstitution(d.Title),
		// The title says what is done there for a living; no person in an imprint and no sentence has the address.
		"trade-title": !s.letting && !(s.named && d.Imprint) && !s.acts && !s.homepage && !s.lived &&
			!goesOn(s.behind) && d.tradeInTitle(),
		// A word that stands around places of business alone, near the address or in the title.
		"commerce": !exempt && commerce || trade || d.Lets == LetsHere,
		// "Home", "privat", "lives at", "my address is" in the nearest line.
		"home":           s.atHome,
		"non-commercial": nonCommercial.In(foldWords(d.Before + "\n" + below)),
		"freemail":       freemail.MatchString(strings.Join(append(lastLines(linesOf(d.Before)), below), "\n")),
		"tilde":          isUserPath(d.Path),
		"folder":         peopleFolder.MatchString(d.Path) || peopleHost.MatchString(d.Host),
		"homepage":       s.homepage,
		"family":         familyWords.In(titled) || familyWords.In(foldWords(d.Path)),
		"own-name":       slices.ContainsFunc(TitleParts(d.Title), IsPerson),
		"typed":          d.Typed != "",
		"no-street":      d.Street == "" && !strings.ContainsAny(s.first, "0123456789"),
		"resident":       s.lived,
		"lets":           s.lets,
	}
	return has, firm
}

// mailed reports whether a mail address beside the door, and not of the page's own domain, is made of a
// name: "Jo Boenders" and "jo.boenders@mail.example".
func (d *Door) mailed(name string) bool {
	words := strings.Fields(foldWords(name))
	if len(words) < 2 || kind.OfName(name, "", "") != "" {
		return false
	}
	given, surname := words[0], words[len(words)-1]
	made := []string{surname, given + surname, given[:1] + surname, strings.Join(words, "")}
	for _, address := range mailIn.FindAllString(d.Before+"\n"+d.Below, -1) {
		local, host, _ := strings.Cut(strings.ToLower(address), "@")
		local = strings.TrimRight(strings.ReplaceAll(foldWords(local), " ", ""), "0123456789")
		if slices.Contains(made, local) && !strings.HasSuffix(d.Host, host) {
			return true
		}
	}
	return false
}

// isStranger reports whether a name in an imprint is probably a person's, of whom the list has no given
// name: the imprint says that who has it acts or answers for the site, or neither title nor host has a word
// of it, as they would have of an organisation's.
func (d *Door) isStranger(name string) bool {
	if !d.Imprint || acronym.MatchString(name) || kind.OfName(name, "", "") != "" {
		return false
	}
	site := strings.ReplaceAll(foldWords(d.Title+" "+d.Host), " ", "")
	onSite := func(word string) bool { return strings.Contains(site, word) }
	return d.acts(name) || !slices.ContainsFunc(nameWords(name), onSite)
}

// acts reports whether a name stands below in or behind a label of who acts for the site or edits it:
// "Represented by:", "Yaro Shraib".
func (d *Door) acts(name string) bool {
	lines := append(linesOf(d.Below), "")
	for i, line := range lines[:len(lines)-1] {
		isLabel := agentLead.MatchString(line) || editor.MatchString(line)
		if isLabel && (strings.Contains(line, name) || strings.HasPrefix(lines[i+1], name)) {
			return true
		}
	}
	return false
}

// editsBy reports whether a line leads to who edits a site: by a paragraph of law, however long it is, or by
// few words, "Redaktionell verantwortlich".
func editsBy(line string) bool {
	heads := strings.HasSuffix(line, ":") || strings.HasPrefix(line, "Verantwortlich")
	lawful := heads && strings.Contains(line, "§")
	return (lawful || len(strings.Fields(line)) <= 3) && editor.MatchString(line)
}

// isTrade reports whether a line says what somebody does for a living: "Staatlich anerkannte
// Physiotherapeutin", not "Hans Schneider", "Musikverein Okken e.V." or "Okken needs a hackerspace".
func isTrade(line string) bool {
	words := strings.Fields(line)
	label, name, _ := strings.Cut(line, ": ")
	officer := looksLikeNames(name) && holdsOffice(foldWords(label)) // "Redaktion: Hanna Harms"
	if len(words) > mostTrade || officer || IsPerson(line) && !endsInTrade(words) || hasLegalForm(line) {
		return false
	}
	id := kind.OfName(line, "", "")
	key := kind.Key(id)
	return id != "" && !isAssociation(id) && (key != "leisure" && key != "amenity" || isTradeKind(id))
}

// endsInTrade reports whether the last word or two of at least three are a trade and no surname: "Hanna Harms
// Kosmetik", "Nelson Okken Funeral Home".
func endsInTrade(words []string) bool {
	n := len(words)
	return n > 2 && !kind.IsSurname(words[n-1]) && isTradeKind(kind.OfName(words[n-2]+" "+words[n-1], "", ""))
}

// goesOn reports whether the text behind an address is the rest of a sentence: "Oldenburg, spoke against it".
func goesOn(behind string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(behind, " ,"))
	return unicode.IsLower(first)
}

// tradeInTitle reports whether a part of the title says a trade or profession that people have a place for.
func (d *Door) tradeInTitle() bool {
	return slices.ContainsFunc(TitleParts(d.Title), func(part string) bool {
		return !IsPerson(part) && isTradeKind(kindOfText(part, d.Langs))
	})
}

// tradeInHost reports whether the page has a domain of its own that names such a trade.
func (d *Door) tradeInHost() bool {
	return !isHosted(d.Host) && isTradeKind(kindOfName(strings.Join(domainWords(d.Host), " "), d.Langs, ""))
}

// isTradeKind reports whether people have places of the kind for what they do for a living; anybody takes
// photographs.
func isTradeKind(id string) bool {
	id = kind.Main(id)
	return tradeKinds[id] || kind.Key(id) == "healthcare" || kind.Key(id) == "craft" && id != "craft=photographer"
}

// isAssociation reports whether members meet at places of the kind: the address may be the chairman's.
func isAssociation(id string) bool {
	return id == association || id == "office=ngo" || kind.Key(id) == "club"
}

// isPost reports whether a line is a job, and none that people do at a place of their own: "Developer".
func isPost(line string) bool { return isJob(line) && kind.OfName(line, "", "") == "" }

// BeforeDisclaimer returns the text before the first heading of a disclaimer behind text[:from], which
// speaks of firms whoever runs the site.
func BeforeDisclaimer(text string, from int) string {
	for at := from; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if word := firstField(line); word != "" && len(line) < headingText && disclaimers[strings.ToLower(word)] {
			return text[:at]
		}
		at += len(line) + 1
	}
	return text
}

func firstField(line string) string {
	line, _, _ = strings.Cut(strings.TrimLeft(line, " \t0123456789.§"), " ")
	return strings.TrimRight(line, ":.")
}

// IsLetting reports whether a text names a house or flat to let.
func IsLetting(text string) bool { return lettings.In(foldWords(text)) }

// livesAt reports whether the text right before an address says that somebody lives there, or that
// behind it that persons sold it.
func livesAt(before, behind string) bool {
	return resident.MatchString(before) || aged.MatchString(before) ||
		homeSale.MatchString(behind) && !isInstitution(before+" "+behind)
}

// holdsOffice reports whether a text that foldWords returned names an office that is held at home, as that of
// a part of an association: "Ortsverbandsvorsitzender".
func holdsOffice(folded string) bool {
	return honorary.In(folded) || strings.Contains(folded, "vorsitzende")
}

// labelsOfficer reports whether a line announces the address of an officer: "Address of the chairwoman:".
func labelsOfficer(line string) bool {
	return strings.HasSuffix(line, ":") && holdsOffice(foldWords(possessive.Replace(line))) && !isInstitution(line)
}

var possessive = strings.NewReplacer("'s ", " ", "’s ", " ")

// endsWithPerson reports whether a running text ends with a person: "Petition of Mr. Carl Foster, ".
func endsWithPerson(text string) bool {
	text = strings.TrimRight(text, " ,:(")
	name, rest, found := strings.Cut(text, ", ")
	if found && IsPerson(name) && properNames(rest, 1, 1) && !IsFirm(rest) {
		return true // "Uwe Reents, Zeche" of "Zeche Eiberg 7"
	}
	words := strings.Fields(text)
	n := len(words)
	for n > 0 && (words[n-1] == "of" || words[n-1] == "from" || words[n-1] == "both") {
		n--
	}
	running := n < len(words)
	words = words[:n]
	from := n
	for from > 0 && n-from < 5 && properNames(words[from-1], 1, 1) {
		from--
	}
	for n-from > 2 && (holdsOffice(foldWords(words[from])) || isLabel(words[from])) {
		from++ // "1. Vorsitzender Uwe Harms", "§ 5 DDG Uwe Harms"
	}
	name = strings.Trim(strings.Join(words[from:], " "), ",:")
	return (running || from > 0) && n-from >= 2 &&
		(IsPerson(name) || from > 0 && isOffice(words[from-1]) && looksLikeNames(name))
}

// doorLinesOf returns the ends of the last lines of the text before an address that may say who is there, no contacts
// or years, the nearest last. "Reents e.V.", "Represented by:", persons and "Address:" lead to that of the firm,
// "Secretary's address:", "Hanna Harms", a club and a house to that of the secretary.
func doorLinesOf(before string) []string {
	lines := linesOf(before)
	from := max(0, len(lines)-2*doorLines)
	near := lines[from:]
	agents := slices.IndexFunc(near, actsFor.MatchString)
	officer := slices.IndexFunc(near, func(line string) bool { return labelsOfficer(line) && namesAddress(line) })
	switch {
	case agents >= 0 && namesAddress(last(near)):
		lines = lines[:from+agents]
	case officer >= 0 && officer < len(near)-1:
		if name := strings.TrimRight(near[officer+1], " ,"); IsPerson(name) {
			lines = []string{near[officer] + " " + name}
		}
	}
	saysNobody := func(line string) bool {
		return contactLine.MatchString(line) || !strings.ContainsFunc(line, unicode.IsLetter) ||
			strings.EqualFold(line, "c/o") || actsFor.MatchString(line)
	}
	return lastLines(slices.DeleteFunc(lines, saysNobody))
}

// namesAddress reports whether a label has a word for addresses: "Postal address:".
func namesAddress(label string) bool {
	return slices.ContainsFunc(nameWords(label), func(word string) bool { return addressWords[word] })
}

// lastLines returns the ends of the last lines.
func lastLines(lines []string) []string {
	lines = lines[max(0, len(lines)-doorLines):]
	for i, line := range lines {
		lines[i] = line[max(0, len(line)-doorText):]
	}
	return lines
}

// isInstitution reports whether a text names an organisation or a part of one. It
// is wider than IsFirm by the words of institutions in English.
func isInstitution(text string) bool {
	text = noInstitutions.Replace(text)
	return IsFirm(text) || institutions.In(foldWords(text))
}

// isHomepage reports whether a title, whose words are also given folded, is that of a person's own page.
func isHomepage(title, folded string) bool {
	return resumeWords.In(folded) ||
		(homepageWords.In(folded) || ownersPage.MatchString(title)) && !isInstitution(title) && !isLabel(title)
}

// ownersPage is what somebody calls a page of one's own: "Wei's homepage".
var ownersPage = regexp.MustCompile(`(?i)['’]s (?:home ?page|blog|web ?(?:page|site))\b`)

// LinksResume reports whether a heading or link of a page is that of a résumé: "Download CV".
func LinksResume(site *markup.Site) bool {
	for _, texts := range []map[string]bool{site.Headings, site.Links} {
		for text := range texts {
			if resumeHeading.MatchString(text) {
				return true
			}
		}
	}
	return false
}

// isUserPath reports whether a page lies in the folder of a user, /~name/.
func isUserPath(path string) bool {
	return strings.Contains(path, "/~") || strings.Contains(strings.ToLower(path), "/%7e")
}

// isProse reports whether a line is a part of a running text, whose words name nobody at the address below it.
func isProse(line string) bool { return len(strings.Fields(line)) > 12 }

// isBuilding reports whether a street is really a building: "Donald Bren Hall".
func isBuilding(street string) bool {
	words := withoutNumbers(nameWords(street))
	return len(words) > 0 && buildings[words[len(words)-1]]
}

// looksLikeNames reports whether a line is two to four words with a capital.
func looksLikeNames(line string) bool {
	line, _, _ = strings.Cut(line, "(")
	line = strings.Trim(line, " ,;:*|>-")
	return properNames(line, 2, 4) && !isInstitution(line) && !isLabel(line) && !isAddressPart(line)
}

// BelowOrganisation reports whether the nearest line of the text before an address is an organisation.
func BelowOrganisation(before string) bool {
	line := last(doorLinesOf(before))
	return IsName(line) && !IsPerson(line) && (isInstitution(line) || kind.OfName(line, "", "") != "")
}

// BelowNames reports whether the nearest line of the text before an address may be a person's name.
func BelowNames(before string) bool { return looksLikeNames(last(doorLinesOf(before))) }

// lexiconOf returns a list of words.txt, in which "_" joins the words of a phrase, for texts that foldWords returned.
func lexiconOf(list string) *textutil.Lexicon { return textutil.NewLexicon(cuesOf(list)...) }

func cuesOf(list string) (phrases []string) {
	for w := range strings.FieldsSeq(wordLists[list]) {
		phrases = append(phrases, " "+strings.ReplaceAll(w, "_", " ")+" ")
	}
	return phrases
}

var (
	tradeKinds    = wordLists.Words("trade-kinds")
	institutions  = lexiconOf("institutions")
	buildings     = Words("buildings")
	homeWords     = lexiconOf("home-words")
	venueLabels   = lexiconOf("venue-labels")
	resumeWords   = lexiconOf("resume-words")
	homepageWords = lexiconOf("homepage-words")
	familyWords   = lexiconOf("family-words")
	honorary      = lexiconOf("honorary")
	officerPages  = lexiconOf("officer-pages")
	pathMarks     = strings.NewReplacer("/", " ", ".", " ", "-", " ", "_", " ")
	lettings      = lexiconOf("lettings")
	nonCommercial = lexiconOf("non-commercial")
	disclaimers   = Words("disclaimers")

	// resident is the end of a text before an address where somebody lives, aged a person's age there:
	// "Mary Smith, 83, formerly of".
	resident = regexp.MustCompile(`(?i)(?:` +
		`(?:^|\()(?:home(?: address)?|privat(?:adresse|anschrift)?|wohnort|qth)[:)]+|` +
		`\b(?:residents?|homeowners?|late|formerly|neighbou?rs?\b.{0,40}) (?:of|at)|` +
		`\b(?:the|a|his|her|their|our|my|family|family's) ` +
		`(?:home|house|apartment|residence)\b.{0,30} (?:of|at|in|on)|` +
		`\b(?:his|her|their|our|my) (?:home|house|apartment|residence)|` +
		`\b(?:lives?|lived|living|resid(?:es|ed|ing)) (?:at|in)|` +
		`\blast known address\b.{0,40}|\b(?:sent to )?the family (?:at|in)|\bMr\. (?:and|&) Mrs\. .{0,40}|` +
		`\b(?:his|her|their|whose) (?:wife|husband|parents|mother|father|daughter|son|brother|sister|widow)\b.{0,40}|` +
		`\b(?:born|geboren|geb\.|jahrgang|jg\.) (?:am )?[\d. ]*\d{4}|\bwohnhaft(?: in)?|\bwohnsitz|\bprivat|` +
		`\b(?:wohnhaus|einfamilienhaus|reihenhaus|eigenheim)\pL*\b.{0,40} (?:in|an|am|auf)(?: der| dem)?|` +
		`\b(?:wir|ich) (?:wohnen?|leben|lebe|bauen|baue)\b.{0,30} (?:in|an|am|auf)(?: der| dem)?|` +
		`\b(?:wonende|woonachtig|residente|résidante?|demeurant)(?: te| in| en| à| au)?|` +
		`\b(?:trauer|kondolenz)(?:haus|anschrift|adresse)\b.{0,40})[ ,:]*$`)
	aged     = regexp.MustCompile(`\p{Lu}[\p{L}.'’-]+, (?:aged? )?\d{1,2},?(?: (?:formerly |late )?(?:of|from))?[ ,]*$`)
	homeSale = regexp.MustCompile(`\b(?:to|by) \p{Lu}.{3,60} ?\$\d{2,3},?\d{3}\b`)
	// clubRegister is a register of associations.
	clubRegister = regexp.MustCompile(`(?i)\bZVR\b|vereinsregister`)
	// actsFor is a label between an organisation and who acts for it.
	actsFor = regexp.MustCompile(`(?i)^(?:gesetzlich )?(?:vertreten durch|represented by|vertretungsberechtigt\pL*|` +
		`gesetzliche vertreter\pL*)\W*$`)
	// careOf stands before the name at whose door somebody is, isHost begins a line that says no more.
	careOf = regexp.MustCompile(`(?i)\b[cp]/[oa]\b|\bchez (?:m\.|mme|monsieur|madame)`)
	isHost = regexp.MustCompile(`(?i)^(?:c/o|p/a) `)
	// personLabel is a label of whom to ask.
	personLabel = regexp.MustCompile(`(?i)^(?:contact|kontakt)`)
	isFlat      = regexp.MustCompile(`(?i)^(?:apt|apartment|flat|wohnung|whg|appartement)\b`)
	// acronym is a short word of capitals behind one that is none: "Okken Europe SA".
	acronym = regexp.MustCompile(`\p{Ll} \p{Lu}{2,4}\b`)
	// editor leads to who edits a site, whom German law wants to be named.
	editor = regexp.MustCompile(`(?i)redaktionell verantwortlich|` +
		`verantwortlich\pL* .{0,60}(?:§ ?(?:18|55|10)|inhalt|mstv|rstv|redaktion|presse)|` +
		`inhalt\pL* verantwortlich|v\. ?i\. ?s\. ?d\.|` +
		`responsible .{0,60}(?:§ ?(?:18|55|10)|mstv|rstv)`)
	noInstitutions = strings.NewReplacer("-in-law", "", "limited to", "")
	// insured are the patients of a surgery, by who pays for them.
	insured = regexp.MustCompile(`(?i)\b(?:kassen?|gesetzlich)\b.{0,20}\bprivat\pL*|\bprivat\pL*.{0,20}\bkassen?\b`)

	freemail = regexp.MustCompile(`(?i)@\s?(aol|gmail|hotmail|yahoo|gmx|web|t-online|earthlink|msn|juno|` +
		`compuserve|comcast|outlook|icloud|erols|mindspring|optonline|verizon|att|freenet|netscape|bellsouth)\.`)
	peopleFolder = regexp.MustCompile(`(?i)/(users?|homes?|home-?pages?|members?|people|persons?|personal|students?|` +
		`grads?|alumni|faculty|staff|mitarbeiter|mitglieder)/[^/]`)
	peopleHost = regexp.MustCompile(`(?i)^(people|users?|homes?|homepages?|members|students?|personal)\.|` +
		`\b(geocities|tripod|angelfire|blogspot|wordpress|livejournal)\.(com|io)$`)
	resumeHeading = regexp.MustCompile(`(?i)^(?:(?:my|download|view|online|see) )*` +
		`(?:resume|résumé|cv|curriculum vitae|lebenslauf)(?: \(?pdf\)?)?$`)
	resumePath = regexp.MustCompile(`(?i)/[^/]*(?:resume|lebenslauf)[^/]*(?:/[^/]*)?$|/(?:cv|vita)\b[^/]*(?:/[^/]*)?$`)
)
