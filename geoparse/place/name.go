// Package place says who is at an address of a page: the name, the kind of place, contacts, and whether it is a
// private person's home.
//
// The way of an address: a [Page] is the evidence of its page, read once ([ReadPage]); what stands [Around] the
// address adds candidates for its name, which weights.go weighs ([Page.Name]). A [Door] is what home.go and person.go
// ask whether somebody lives there. kind.go says what the place is: by its name, or by what the page says, which
// kindevidence.go weighs and statement.go reads in sentences. contact.go has its numbers, label.go the lines that
// name nobody, text.go the words of names, domain.go those of hosts, and words.txt the lists of words of all of them.
package place

import (
	"cmp"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/internal/kind"
	"gazehound/internal/textutil"
)

// Bounds of the candidates for one address.
const (
	linesAbove   = 6
	mostParts    = 6      // of a title
	mostSites    = 60     // candidates of a page
	legalText    = 40_000 // bytes of the page's text that are searched for legal forms and rights
	mostRepeated = 50_000 // bytes of the page's text in which a name is counted
	mostLooked   = 5000   // texts whose words are looked at once for all addresses
	contactText  = 60_000 // bytes of the page's text that are searched for contacts of its own place

	directory = 0.5 // share of addresses with names of their own from which a page is one
)

// A Head is what a page says of its own place outside of its text, in title, headings, domain and markup.
type Head struct {
	site   markup.Site
	host   string
	label  string             // of the registrable domain: "oldenburg" of www.oldenburg.example
	domain []string           // words of the registrable domain
	own    []string           // parts of the title, then headings
	titles int                // how many of own are parts of the title
	start  bool               // the page is the start page of its site
	shown  string             // the visible text, as far as it may say what the place is
	stated func() []statement // of its visible text, read once
}

// ReadHead reads the head of a page: its markup, nil for plain text, its visible text, title, host and path.
func ReadHead(marked *markup.Page, text, title, host, path string) Head {
	h := Head{host: host, domain: domainWords(host), start: IsStart(path)}
	h.shown = text[:min(len(text), mostShown)]
	h.stated = sync.OnceValue(func() []statement { return statementsIn(text[:min(len(text), definedText)]) })
	h.label = strings.Join(h.domain, "")
	if marked != nil {
		h.site = marked.Site
	}
	h.own = TitleParts(cmp.Or(title, h.site.Title))
	h.titles = len(h.own)
	h.own = append(h.own, slices.Sorted(maps.Keys(h.site.Headings))...)
	return h
}

// A Page is a page's evidence of who runs it, read once for all its addresses.
type Page struct {
	Head
	raw    string // the visible text, as far as contacts are looked for
	text   string // folded: words in lower case with single spaces
	mailed string // label of the domain that the text names most, where the host is not known
	people bool   // the page lies in the folder of a person
	notice bool   // it is a page of privacy or cookies
	plain  bool   // it has no markup
	sites  candidates
	places func(name string) bool

	// tenants is the share of the page's addresses that have a name of their own
	// above them, as in a directory; where there are branches it is low.
	tenants float64

	looked map[string]vector // what ownFeatures said
	Hours  func() string     // the first opening hours in the text, for a page about one place
}

// ReadPage reads the evidence of a page: its markup, nil for plain text, its visible text, title, host and path.
// isPlace reports whether the gazetteer knows a city or state of that name; nil: none.
func ReadPage(marked *markup.Page, text, title, host, path string, isPlace func(name string) bool) *Page {
	p := &Page{
		Head: ReadHead(marked, text, title, host, path),
		raw:  text[:min(len(text), contactText)], plain: marked == nil, places: isPlace,
		text:   foldWords(text[:min(len(text), mostRepeated)]),
		people: isUserPath(path) || peopleFolder.MatchString(path),
		notice: IsNotice(title, path),
		looked: map[string]vector{},
	}
	p.Hours = sync.OnceValue(func() string { return hours.In(p.raw, 0, len(p.raw)) })
	if marked == nil { // the title of a plain text, or who writes it
		first := linesOf(text)
		for _, line := range first[:min(len(first), 3)] {
			if len(line) < 4*MaxName {
				p.addSite(firstLine, line)
			}
		}
	}
	if p.label == "" {
		p.mailed = mainDomain(p.raw)
	}
	p.addSite(siteName, p.site.Stated...)
	p.addSite(title1, p.own[:min(1, p.titles)]...)
	p.addSite(titleOther, p.own[min(1, p.titles):p.titles]...)
	for _, text := range p.site.Logos { // "Reents Rowing Club - Oldenburg"
		parts := TitleParts(pictureWords.ReplaceAllString(text, ""))
		p.addSite(logo, parts[:min(1, len(parts))]...)
	}
	for line := range strings.SplitSeq(text[:min(len(text), legalText)], "\n") {
		p.addLine(line)
	}
	return p
}

// pictureWords say that a text is of a picture: "Logo of Reents Club", "Reents Club text".
var pictureWords = regexp.MustCompile(`(?i)^(?:logo|bild|image)(?:[ :_-]+(?:of|von|der|des)\b)?[ :_-]+|` +
	`[ :_-]+(?:logo|text|schriftzug|banner|header|bild|image|icon)$`)

// addLine adds the owner of rights that a line names, a line that is a name with
// a legal form, or one of a plain text that agrees with its domain.
func (p *Page) addLine(line string) {
	if len(line) > 400 {
		return
	}
	p.addSite(rights, owner(line))
	p.addSite(legalLine, firmIn(line))
	if label := cmp.Or(p.label, p.mailed); p.plain && label != "" && len(line) <= MaxName {
		for _, part := range TitleParts(line) {
			if len(part) <= 2*len(label) && agreement(nameWords(part), label) >= 0.9 {
				p.addSite(domainLine, part)
			}
		}
	}
}

// canBeName reports whether a text can be a name. One in small letters can if a firm, the title or the
// domain is called so: "comparis.ch AG".
func (p *Page) canBeName(text string) bool {
	first, n := utf8.DecodeRuneInString(text)
	return IsName(text) || unicode.IsLower(first) && (hasLegalForm(text) || slices.Contains(p.own[:p.titles], text) ||
		p.agreement(nameWords(text)) >= 0.9) && IsName(string(unicode.ToUpper(first))+text[n:])
}

// addSite adds names of who runs the site, which come from one source. Most lines of a page have none, "".
func (p *Page) addSite(source feature, texts ...string) {
	for _, text := range texts {
		if text == "" || len(p.sites) >= mostSites {
			continue
		}
		text = trimName(text)
		if p.canBeName(text) &&
			!slices.Contains(nameWords(text), "logo") && // of a picture
			!strings.EqualFold(strings.TrimPrefix(text, "www."), strings.TrimPrefix(p.host, "www.")) {
			p.sites.of(text).features[source] = 1
		}
	}
}

// ReadList reads all addresses of the page, which are of some doors, before the first call of Name.
func (p *Page) ReadList(all []Around, doors int) {
	names := map[string]bool{}
	for _, a := range all {
		lines := linesBefore(a.Before, 1, false)
		if doors >= leastEntries {
			lines = p.ofEntry(linesBefore(a.Before, entryLines, true))
		}
		if len(lines) > 0 && p.namesEntry(lines[0]) {
			names[strings.ToLower(trimName(lines[0].text))] = true
		}
	}
	if len(names) > 1 {
		p.tenants = float64(len(names)) / float64(len(all))
	}
}

const (
	leastEntries = 4 // doors of a page whose entries may have lines between name and address
	entryLines   = 3 // how many lines above the address of such an entry may have its name
)

// namesEntry reports whether a line above an address of a list may name who is there, and not the site.
func (p *Page) namesEntry(line lineAbove) bool {
	text := trimName(line.text)
	words := nameWords(text)
	share := p.branchShare(text)
	isTrade := isTradeKind(kind.OfName(text, "", "")) // "Okken Travel - Nadorst" is no branch
	isBranch := share >= 0.9 || share >= 0.5 && !isTrade
	return IsName(text) && !IsPerson(text) && !isBranch && !isAddressPart(text) &&
		labelShare(words) < 0.6 && p.agreement(words) < 0.7
}

// IsDirectory reports whether the addresses of the page are those of others, each with a name of its own.
func (p *Page) IsDirectory() bool { return p.tenants >= directory }

// IsOwn reports whether a web address is that of what bears a name on the page: one of the page's own host, one whose
// domain agrees with the name, or any where neither is known. That of a user, /~name/, is nobody else's.
func (p *Page) IsOwn(site, name string) bool {
	u, err := url.Parse(site)
	if err != nil || strings.HasPrefix(u.Path, "/~") && !IsPerson(name) {
		return false
	}
	bare := func(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }
	return bare(u.Host) == bare(p.host) || p.label == "" && name == "" ||
		agreement(nameWords(name), domainLabel(u.Host)) >= 0.5
}

// IsNamed reports whether the site's domain agrees with a name, or a part of its title is in the name.
func (p *Page) IsNamed(name string) bool {
	words := nameWords(name)
	isPart := func(part string) bool { return within(coreWords(part), words) && p.branchShare(part) < 0.6 }
	return p.agreement(words) >= 0.5 || slices.ContainsFunc(p.own[:p.titles], isPart)
}

// Around is the text around one address.
type Around struct {
	Before string   // the text above it, from the end of the address before it
	Below  string   // the text right behind it that belongs to no other address
	Stated string   // the name that markup gives it, or ""
	Inside []string // InstitutionsIn it
	Door   string   // street and house number, which name nobody, or ""
	List   bool     // the page holds a list of addresses
	Third  bool     // the page names the address only by law, or as that of its maker
	Abroad bool     // it lies in another country than the host
}

// A Name is the best name for an address by all evidence.
type Name struct {
	Text      string
	Branch    string // branch: "Corporate Office"
	Score     float64
	Reasons   []Reason
	Other     bool // somebody else's than the site's, by the block of the address
	BlockOnly bool // the block of the address has it, and nothing that is said of the site
	Section   bool // whose section says that the page must name them, or who made it
	Authority bool // the first of the two
}

// A Reason is one feature of a name and what it adds to the log-odds that the name is right.
type Reason struct {
	Feature string
	Weight  float64
}

// candidate is a text that may be the name of what is at an address.
type candidate struct {
	text     string
	core     []string // its coreWords
	features vector
}

// candidates have different texts, but for capitals.
type candidates []candidate

// of returns the candidate of a text, which becomes one if it is none.
func (all *candidates) of(text string) *candidate {
	i := slices.IndexFunc(*all, func(c candidate) bool { return strings.EqualFold(c.text, text) })
	if i < 0 {
		i = len(*all)
		*all = append(*all, candidate{text: text})
	}
	return &(*all)[i]
}

// Name weighs the candidates for one address and returns the best, with Text "" where none is good enough.
func (p *Page) Name(a Around) Name {
	var best Name
	rivals := false // of a good name of the site
	found, theirs := p.candidates(a)
	for _, c := range found {
		f := &c.features
		if score := c.score(); score > best.Score {
			best = Name{Text: c.text, Score: score, Reasons: c.reasons(),
				Other: f.near() && f[domain] < 0.5 && f[siteName]+f[logo]+f[rights] == 0}
		}
		rivals = rivals || f[leadIn] > 0 || f[rival]+f[venue] > 0 && (f[domain] >= 0.5 || f[supported] > 0)
	}
	if best.Score < leastScore && (best.Score < leastEntry || !p.IsDirectory()) {
		best.Text = ""
	}
	if best.Text == "" && a.Inside != nil {
		best = Name{Text: a.Inside[0], Score: leastScore}
	}
	before := foldWords(a.Before)
	best.Authority = ofAuthority.In(before)
	best.Section = best.Authority || ofMaker.In(before)
	named := best.Text != "" && best.Other
	best.BlockOnly = named
	best.Other = theirs && (named || best.Text == "") ||
		named && (rivals || best.Section || p.IsDirectory()) && p.label != ""
	best.Branch = p.branch(a, best.Text)
	best.Text = fullStop.ReplaceAllString(best.Text, "$1")
	return best
}

// Object returns the index of the map object at the address, each with all its names, that the best
// matching candidate names; -1 if there is none.
func (p *Page) Object(a Around, objects [][]string) (best int) {
	best = -1
	if len(objects) == 0 || a.Third {
		return best
	}
	score := leastObject
	found, _ := p.candidates(a)
	for _, c := range found {
		i := slices.IndexFunc(objects, func(names []string) bool { return isOneOf(c.core, names) })
		if s := c.score(); i >= 0 && s > score {
			best, score = i, s
		}
	}
	return best
}

// leastObject is the least probability of a candidate that matches an object at the very house, the
// strongest evidence.
const leastObject = 0.05

// isOneOf reports whether words are those of a name, in any order.
func isOneOf(words, names []string) bool {
	return len(words) > 0 && slices.ContainsFunc(names, func(name string) bool {
		own := coreWords(name)
		return within(own, words) && within(words, own)
	})
}

// branch returns the line above the address that only names the branch, "Corporate Headquarters"
// of "Corporate Headquarters Address", or the last part of the name that does.
func (p *Page) branch(a Around, name string) string {
	for _, line := range linesBefore(a.Before, 1, false) {
		words := strings.Fields(trimName(line.text))
		for len(words) > 0 && addressWords[strings.ToLower(words[len(words)-1])] {
			words = words[:len(words)-1]
		}
		text := strings.Join(words, " ")
		if text != name && IsName(text) && p.branchShare(text) > 0.6 && !strings.HasSuffix(line.text, ".") &&
			!IsPerson(text) {
			return text
		}
	}
	return ""
}

// rating is what a directory has between a name and its address: stars, "4.7 (15 Bewertungen)", a pin.
var rating = regexp.MustCompile(`(?i)^[★☆⭐📍📌🏠\s]*` +
	`(?:\d(?:[.,]\d)?(?: ?/ ?\d)?\s*\(?[\d.,]+ (?:bewertungen|rezensionen|reviews|ratings)\)?)?$`)

type lineAbove struct {
	text   string
	prefix bool // stands in the line of the address itself
}

// twoLines returns the name that two lines are, where a comma ends the first, a word that links does ("Freunde der",
// "Musikschule Okken e.V."), or one begins the second; else "".
func twoLines(first, second string, comma bool) string {
	joint := " "
	switch opens := opensName.MatchString(first); {
	case IsPerson(first) || isAddressPart(second) || !IsName(first) && !opens:
		return ""
	case comma:
		joint = ", "
	case !goesOnName.MatchString(second) && (!opens || opensPlace.MatchString(first)):
		return ""
	}
	name := first + joint + second
	if !IsName(name) || isSentence(name) || isInvitation(name) {
		return ""
	}
	return name
}

var (
	fullStop  = regexp.MustCompile(`(\p{Ll}{5})\.$`) // of a sentence, not of "Assoc."
	opensName = regexp.MustCompile(`\pL (?:und|für|der|des|zur|zum|and|for|of|the|di|del|della|per|van|voor|en|de|du|et|` +
		`[&+])$`)
	opensPlace = regexp.MustCompile(`(?i)\b(?:in|im|bei|zu|an|auf|von|at|to|from|nella?|dalla?) \pL+$`) // "come to the"
	goesOnName = regexp.MustCompile(`^(?:und|u\.|für|der|des|am|an der|im|in|zu|and|(?:of|for|at)(?: the)?|te|` +
		`(?:van|voor)(?: de)?|en|di|del|della|e|per|de|du|et) \p{Lu}`)
)

// linesBefore returns the last lines of text that hold something, the nearest
// first, up to one that belongs to the address before. The label of the address is none. entry: hours and web
// addresses right above it are of the entry of a list that it belongs to.
func linesBefore(before string, most int, entry bool) (lines []lineAbove) {
	all := strings.Split(before, "\n")
	for i := len(all) - 1; i >= 0 && len(lines) < most; i-- {
		line := strings.TrimFunc(all[i], isOrnament)
		if line == "" || !textutil.LetterAt(line, 0) && rating.MatchString(line) ||
			isHost.MatchString(line) && i > 0 && IsFirm(all[i-1]) { // "Okken e.V. / c/o Reents GmbH"
			continue
		}
		if i == len(all)-1 {
			line = withoutSeat(line)
		}
		if i == len(all)-1 && isLabel(line) || // "Address:"
			lines == nil && i < len(all)-1 && // "Reents Ltd / Phone: 555-0100"
				(contactsLine.MatchString(line) || entry && IsDetail(line)) {
			continue
		}
		name, agent := withoutLabel(line)
		if IsDetail(line) && !agent {
			break
		}
		if agent && IsPerson(name) {
			continue
		}
		parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("|·•■", r) })
		for k := len(parts) - 1; k >= 0 && len(lines) < most; k-- {
			text := strings.TrimSpace(parts[k])
			if n := len(lines) - 1; n >= 0 && len(parts) == 1 && !lines[n].prefix {
				both := twoLines(text, lines[n].text, strings.HasSuffix(strings.TrimSpace(all[i]), ","))
				if both != "" {
					lines[n].text = both
					continue
				}
			}
			lines = append(lines, lineAbove{text, i == len(all)-1})
		}
	}
	return lines
}

// candidates returns the texts that may be the name. theirs: the block of the address, in a notice of
// privacy or in another country, names somebody who is not the site.
func (p *Page) candidates(a Around) (found candidates, theirs bool) {
	if !a.Third {
		found = slices.Clone(p.sites)
	}
	add := func(text string, source feature) {
		text = trimName(text)
		if text != "" {
			c := found.of(text)
			c.text, c.features[source] = text, 1 // spelt as in the block
		}
	}
	led := p.behindLeadIn(a.Before)
	if p.canBeName(led) {
		add(led, leadIn)
	}
	above := linesBefore(a.Before, linesAbove+1, p.IsDirectory())
	named := false // by the line right above the address
	if p.IsDirectory() {
		named = len(above) > 0 && p.namesEntry(above[0])
		above = p.ofEntry(above)
	}
	sentence := len(above) > 0 && above[0].prefix && isSentence(above[0].text) && !isInvitation(above[0].text)
	if sentence { // what heads its paragraph does not name the address
		above = above[:1]
	}
	for i, line := range above[:min(len(above), linesAbove)] {
		switch {
		case owner(line.text) != "": // a copyright line: its owner is a candidate anyway
		case isOfficer(line.text):
		case !p.canBeName(line.text):
			if line.prefix {
				add(cmp.Or(firmOfSentence(line.text), p.buildingIn(line.text)), prefix)
			}
		case led != "" && line.text != led && (line.prefix || i == 0 && strings.HasSuffix(line.text, led)):
			// A sentence.
		case line.prefix:
			add(cmp.Or(p.buildingIn(line.text), line.text), prefix)
		case i <= 1:
			add(line.text, above1+feature(i))
		default:
			add(line.text, aboveMore)
		}
	}
	p.addPractice(above[:min(len(above), linesAbove)], add)
	if IsName(a.Stated) {
		add(a.Stated, stated)
	}
	if p.IsDirectory() { // the names are those of the entries, not of who lists them
		found = slices.DeleteFunc(found, func(c candidate) bool {
			f := &c.features
			return !f.near() || named && f[stated]+f[prefix]+f[leadIn]+f[above1] == 0 && p.IsNamed(c.text)
		})
	}
	if door := nameWords(a.Door); len(door) > 1 { // "201 Okken Blvd" as the heading of an address
		found = slices.DeleteFunc(found, func(c candidate) bool {
			return within(door, nameWords(c.text)) && p.agreement(nameWords(c.text)) < 0.9 // "911 Auto Center"
		})
	}
	before, label := foldWords(a.Before), domainLabel(NearHost(a.Below))
	if label == p.label {
		label = ""
	}
	third, controlled := ofAuthority.In(before) || ofMaker.In(before), controllers.In(before)
	for i := range found {
		p.look(&found[i], a, label)
		if f := &found[i].features; f.ofSite() {
			f[section], f[privacySite], f[abroad] = is(third), is(p.notice && !controlled), is(a.Abroad)
		}
	}
	markRivals(found)
	theirs = sentence && a.Abroad
	found = slices.DeleteFunc(found, func(c candidate) bool { // it is theirs, never the site's
		f := &c.features
		other := f[privacySite]+f[abroad] > 0 && (f[rival] > 0 || sentence)
		theirs = theirs || other
		return other || f[venue] > 0
	})
	support(found)
	return found, theirs
}

// ofEntry returns the lines above the address of an entry of a list, the nearest first, without its number, what
// stands between its name and the address ("Open now", "1.2 miles away"), and a trade that heads further entries.
func (p *Page) ofEntry(above []lineAbove) (lines []lineAbove) {
	for _, line := range above {
		line.text = withoutEntryNumber(line.text)
		isName := p.canBeName(line.text) && trimName(line.text) != ""
		heads := lines != nil && !strings.Contains(line.text, " ") && isTrade(line.text)
		if line.prefix || !heads && (isName || lines != nil) {
			lines = append(lines, line)
		}
	}
	return lines
}

// withoutEntryNumber cuts off the number of an entry of a list, "12. Okken Pharmacy", but not that of "1. FC Okken".
func withoutEntryNumber(text string) string {
	number := entryNumber.FindString(text)
	first := firstField(text[len(number):])
	isClub := number == "1. " && (strings.ToUpper(first) == first || strings.HasSuffix(first, "er"))
	if isClub {
		return text
	}
	return text[len(number):]
}

var entryNumber = regexp.MustCompile(`^\d{1,3}[.)] `)

// addPractice adds who is called by a trade right below: "Hanna Harms" and "Fotografin".
func (p *Page) addPractice(above []lineAbove, add func(text string, source feature)) {
	for i := range len(above) - 1 {
		said, who := above[i].text, above[i+1].text
		titled := givenName(who) && strings.Contains(who, ", ") // "Hanna Harms MD, FAAP"
		if !isTrade(said) || !IsPerson(who) && !hasDegree(who) && !titled {
			continue
		}
		add(who, practises)
		if p.canBeName(said) {
			add(said, trade)
		}
	}
}

// InstitutionsIn returns the organisations that an address names, the narrowest first: "Department of Tides"
// and "Reents University" of "12 Grote Hall, Department of Tides, Reents University (RU), Oldenburg".
func InstitutionsIn(address, street string) (names []string) {
	for line := range strings.SplitSeq(address, "\n") {
		line, _, _ = strings.Cut(line, "(")
		for _, text := range append([]string{line}, strings.Split(line, ",")...) { // "Reents University, Oldenburg"
			if strings.ContainsAny(text, "0123456789") { // most, for less than the rest costs
				continue
			}
			text = trimName(text)
			if IsName(text) && isInstitution(text) && !isBuilding(text) && !isAddressPart(text) &&
				(street == "" || !strings.Contains(text, street)) {
				names = append(names, text)
			}
		}
	}
	return names
}

// firmOfSentence returns the firm at the end of a sentence, "services of Reents Inc. (", or "".
func firmOfSentence(text string) string {
	text = strings.TrimRight(text, " (")
	last := strings.TrimLeft(text[strings.LastIndexAny(text, "()")+1:], " –—-") // behind "services (for all) –"
	return cmp.Or(firmIn(behindLast(sentenceJoint, last)), firmIn(last), firmIn(behindLast(sentenceJoint, text)))
}

// buildingIn returns the public building at the end of a line of several parts, "dienstags, Freibad Okken", or "".
func (p *Page) buildingIn(line string) string {
	name := behindLast(partMark, strings.TrimRight(line, " ,"))
	if name == line || !p.canBeName(name) || IsPerson(name) || publicBuilding(name) == "" {
		return ""
	}
	return name
}

// publicBuilding returns the kind of a public building, of which clubs use rooms, by its name, or "".
func publicBuilding(name string) string {
	id := kind.Main(kind.OfName(name, "", ""))
	if !publicBuildings[id] {
		return ""
	}
	return id
}

var (
	partMark        = regexp.MustCompile(`(?:,| [–—-]|:) `)
	publicBuildings = wordLists.Words("public-buildings")
)

// behindLast returns what stands behind the last match in a text, all of it where there is none.
func behindLast(re *regexp.Regexp, text string) string {
	at := re.FindAllStringIndex(text, -1)
	if at == nil {
		return text
	}
	return text[at[len(at)-1][1]:]
}

// sentenceJoint stands before the name of a firm in a sentence: "services of Reents Inc." in German.
var sentenceJoint = regexp.MustCompile(`(?i)\b(?:von|durch|by|from|bei|der|die|des|the|(?:us-)?anbieters?|is|ist) `)

// look sets the words and the features that do not depend on where the candidate comes from; label is
// that of a domain beside the address which is not the host's, or "".
func (p *Page) look(c *candidate, a Around, label string) {
	f := &c.features
	c.core = coreWords(c.text)
	own, known := p.looked[c.text]
	if !known {
		own = p.ownFeatures(c.text)
		if len(p.looked) < mostLooked {
			p.looked[c.text] = own
		}
	}
	for i, v := range own {
		f[i] += v // those of sources are 0
	}
	if a.Third {
		f[domain], f[noDomain] = 0, 1
	}
	words := nameWords(c.text)
	near := agreement(words, label)
	if len(words) > 0 && len(words[0]) > 2 && strings.HasPrefix(label, words[0]) {
		near = max(near, 0.5)
	}
	if f.near() {
		f[mailDomain] = max(f[mailDomain], near)
	}
	if f.ofSite() {
		f[listSite], f[tenantsSite], f[foreign] = is(a.List), p.tenants, is(label != "" && near < 0.5)
	} else {
		f[listNear], f[tenantsNear] = is(a.List), p.tenants
		f[tenantsHeading] = p.tenants * f[heading] * (1 - f[title1]) // the title names the list, none of its entries
		f[link] *= 1 - min(p.tenants, 1)                             // the entries of a directory are links
	}
}

// ownFeatures returns the features that the words of a candidate give.
func (p *Page) ownFeatures(text string) (f vector) {
	f[bias] = 1
	words := nameWords(text)
	f[job] = is(isJob(text))
	if p.label != "" { // "Tierärztin" agrees with tieraerztin-harms.example, but names nobody
		f[domain] = p.agreement(words) * (1 - f[job])
	} else {
		f[noDomain] = 1
		f[mailDomain] = agreement(words, p.mailed)
	}
	f[userName] = is(looksLikeNames(text) && p.people)
	f[legal] = is(hasLegalForm(text))
	f[orgWord] = is(isInstitution(text) || kind.OfName(text, "", "") != "")
	f[person] = is(IsPerson(text))
	f[branchWords] = p.branchShare(text)
	f[branchOnly] = is(f[branchWords] > 0.9)
	f[phrase] = is(isPhrase(text))
	f[part] = is(isAddressPart(text))
	f[labels] = labelShare(words)
	f[oneWord] = is(len(words) == 1)
	f[digits] = is(strings.ContainsAny(numbered.ReplaceAllString(text, ""), "0123456789"))
	key := strings.ToLower(text)
	f[link] = is(p.site.Links[key])
	f[heading] = is(p.site.Headings[key])
	f[repeats] = min(math.Log2(1+float64(strings.Count(p.text, " "+strings.Join(words, " ")+" ")))/4, 1)
	return f
}

// A vector has the value of each feature.
type vector [features]float64

// near reports whether the candidate stands in the block of the address.
func (f *vector) near() bool {
	return f[stated]+f[prefix]+f[leadIn]+f[above1]+f[above2]+f[aboveMore] > 0
}

// ofSite reports whether the candidate is who runs the site, and not the block of the address; a line
// far above may be the site's too.
func (f *vector) ofSite() bool {
	return f[stated]+f[prefix]+f[leadIn]+f[above1]+f[above2] == 0 &&
		(f[aboveMore] == 0 || f[siteName]+f[title1]+f[titleOther]+f[logo]+f[rights] > 0)
}

// markRivals marks the names of the site where the block of the address names somebody else: an organisation,
// or a place in a sentence, whose words are not the site's, or a public building that the site is not.
func markRivals(found []candidate) {
	for i := range found {
		f := &found[i].features
		if f[leadIn]+f[prefix]+f[above1]+f[above2] == 0 || f[person] > 0 || f[labels] > 0.5 || f[part] > f[leadIn] {
			continue
		}
		named, theirs := f[orgWord]+f[legal]+f[leadIn] > 0, is(f[mailDomain] >= 0.5)
		strong := is((f[orgWord] > 0 && f[above1]+f[prefix] > 0 || f[legal] > 0) && f[phrase]+f[job] == 0 &&
			f[branchWords] < 0.4) // "Reents County Courts"
		building := "" // "Sporthalle Okken", on the site of okken.example
		if f[prefix]+f[above1] > 0 {
			building = publicBuilding(found[i].text)
		}
		ownWords := f[domain] >= 0.5 || f[branchWords] > 0.5 && f[leadIn] == 0 // not "in the Red Lion"
		for k := range found {
			s := &found[k].features
			hosts := building != "" && kind.Main(kind.OfName(found[k].text, "", "")) != building
			if !s.ofSite() || !named && (theirs == 0 || s[foreign] == 0) || ownWords && !hosts ||
				within(found[i].core, found[k].core) || within(found[k].core, found[i].core) {
				continue
			}
			s[rival] = max(s[rival], 1-f[leadIn])
			s[venue] = max(s[venue], f[leadIn], strong, theirs*s[foreign], is(hosts))
		}
	}
}

// gathers reports whether a line says that people meet or something takes place.
func gathers(line string) bool {
	return isSentence(line) || slices.ContainsFunc(nameWords(line), func(word string) bool { return gathering[word] })
}

var gathering = Words("gathering")

// behindLeadIn returns the name behind a preposition at the end of the sentence before an address, before its town: "We
// meet at Grote Hall in Nadorst, ".
func (p *Page) behindLeadIn(before string) string {
	above := strings.TrimLeftFunc(lastLine(strings.TrimRight(before, " \n")), isOrnament)
	line := strings.TrimLeftFunc(lastLine(before), isOrnament)
	switch {
	case strings.HasSuffix(above, ","), leadsLine.MatchString(above), // the sentence goes on in the next line
		line == "" && gathers(above) && kind.OfName(behindLast(leadsIn, above), "", "") != "":
		line = above
	}
	line = strings.TrimSuffix(withoutSeat(strings.TrimRight(line, " ,(:–-")), " statt")
	if at := strings.LastIndex(line, " in "); at > 0 && p.places != nil && p.places(line[at+len(" in "):]) {
		line = line[:at]
	}
	name := behindLast(leadsIn, line)
	if in := behindLast(placeIn, line); name == line && kind.OfName(in, "", "") != "" && gathers(line) {
		name = in // "We train in Grote School"
	}
	first, _ := utf8.DecodeRuneInString(name)
	if name == line || len(line) > 400 || !unicode.IsUpper(first) ||
		strings.Contains(name, ": ") { // "im Sinne der DSGVO: Reents e.V.,"
		return ""
	}
	return name
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// inPlaces lead to a place in a sentence.
const inPlaces = `(?:beim?|im|in (?:the|der|de|het)|über die|durch die|at|by|outside|inside|chez|presso|bij)`

var (
	// leadsLine begins the last line of a sentence.
	leadsLine = regexp.MustCompile(`^` + inPlaces + ` `)
	leadsIn   = regexp.MustCompile(`(?i)^(?:ort|wo|treffpunkt|(?:spiel|vereins|probe)lokal|where|venue|location|` +
		`meeting place|lieu|luogo|dove|locatie|waar) ?: |` +
		`^(?:veranstaltungs|spiel|turnier|austragungs|proben?|trainings)ort ?:? |` +
		`(?:^|[ .])` + inPlaces + `(?: (?:the|der|die|das|le|la|il|de|het))? `)
	placeIn     = regexp.MustCompile(` in `)
	ofAuthority = lexiconOf("authority-sections")
	ofMaker     = lexiconOf("maker-sections")
	controllers = lexiconOf("controllers") // lead to who answers for a site, in its notice of privacy
	privacyPage = textutil.NewLexicon("datenschutz", "privacy", "cookie", "rgpd", "gdpr", "dsgvo", "confidentialit")
)

// IsNotice reports whether a page with this title and path is one of privacy or cookies.
func IsNotice(title, path string) bool { return privacyPage.In(path) || privacyPage.In(title) }

// support counts for each candidate the other sources with the same name in more or fewer words.
func support(found []candidate) {
	for i := range found {
		others := -1.0 // but for its own
		for f := range bias {
			for j := range found {
				if found[j].features[f] > 0 &&
					(i == j || within(found[i].core, found[j].core) || within(found[j].core, found[i].core)) {
					others++
					break
				}
			}
		}
		found[i].features[supported] = min(others, 4) / 4
	}
}

// within reports whether all of few words, and at least one, are among many.
func within(few, many []string) bool {
	return len(few) > 0 && !slices.ContainsFunc(few, func(w string) bool { return !slices.Contains(many, w) })
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
