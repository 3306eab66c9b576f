package geoparse

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
	"gazehound/internal/kind"
	"gazehound/internal/textutil"
)

// Windows in which what belongs to an address is looked for, in bytes. What
// stands between two addresses is shared out by lines.
const (
	aboveWindow = 300
	belowWindow = 600
	belowLines  = 14
	contactText = 60_000 // of a page, that are searched for the number of its own place
	imprintText = 20_000 // of a page, that are looked at for signs of a business
)

// assign sets Role, Person and Private of each address of a page and, unless only relevant pages are
// described and it is none, its belongings. Spans are still in bytes of text.
func (p *Parser) assign(text string, in Input, marked *markup.Page, found []Address) {
	if len(found) == 0 {
		return
	}
	order := make([]*Address, 0, len(found))
	for i := range found {
		if a := &found[i]; a.Start >= 0 {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, b *Address) int { return a.Start - b.Start })
	blocks := blocksOf(text, order)
	for i := range found {
		if a := &found[i]; a.Start < 0 {
			blocks = append(blocks, block{a: a, around: place.Around{Stated: a.Name, Third: a.Role.ThirdParty() || a.scene}})
		}
	}
	doors := make(map[string]bool, min(len(found), 2*leastList))
	for i := range blocks {
		a := blocks[i].a
		if !a.Role.ThirdParty() && !a.Status.Left() && a.Street != "" && len(doors) < leastList {
			doors[a.door()] = true
		}
	}
	list := len(doors) >= leastList
	for i := range blocks {
		blocks[i].around.List, blocks[i].around.Door = list, doorOf(blocks[i].a)
	}
	page := newPageCues(in, text, marked, order)
	for _, a := range order {
		if a.Footer && a.Street != "" && a.Role == OwnRole {
			page.runBy = append(page.runBy, a.door())
		}
	}
	for i := range blocks {
		p.judgeOccupant(&blocks[i], page, list)
	}
	if !p.options.Persons {
		judgeNeighbours(blocks)
	}
	if p.options.OnlyRelevant && !in.Relevant && !p.Judge(found).Relevant {
		return
	}
	p.describe(blocks, page, marked, len(doors))
}

// doorOf returns street and house number, "" where one is missing.
func doorOf(a *Address) string {
	if a.Street == "" || a.HouseNumber == "" {
		return ""
	}
	return a.Street + " " + a.HouseNumber
}

// describe sets the belongings of the addresses that are not private, which are of so many doors.
func (p *Parser) describe(blocks []block, page *pageCues, marked *markup.Page, doors int) {
	in := page.in
	page.site = place.ReadPage(marked, page.text, in.Title, in.Host, in.Path, p.isPlace)
	arounds := make([]place.Around, len(blocks))
	home := homeOf(in.Host, blocks)
	for i := range blocks {
		blocks[i].around.Abroad = home != "" && blocks[i].a.Country != home
		blocks[i].around.Inside = place.InstitutionsIn(page.textOf(blocks[i].a), blocks[i].a.Street)
		arounds[i] = blocks[i].around
	}
	page.site.ReadList(arounds, doors)
	page.single = doors <= 1 && !page.site.IsDirectory()
	page.phonesFirst = detailsFirst(blocks, place.PhoneIn)
	hoursIn := func(text, _ string) string { return hours.In(text, 0, len(text)) }
	page.hoursFirst = page.site.IsDirectory() && detailsFirst(blocks, hoursIn)
	for i := range blocks {
		b := &blocks[i]
		if b.a.Private {
			continue
		}
		p.describeOne(b, page)
		if b.a.Name == "" && i > 0 && !b.first && place.SaysBranch(b.around.Before) {
			b.a.Name, b.a.Kind = blocks[i-1].a.Name, cmp.Or(b.a.Kind, blocks[i-1].a.Kind)
		}
	}
	takePhone(blocks, page)
}

// homeOf returns the country of a site: what its host says, else that of the address in its imprint; "" for
// unknown.
func homeOf(host string, blocks []block) string {
	home := countryHint(Input{Host: host})
	for i := range blocks {
		if home == "" && blocks[i].a.Role == OwnRole && place.HasImprintCue(blocks[i].around.Before) {
			home = blocks[i].a.Country
		}
	}
	return home
}

// takePhone gives the only place of a page the page's telephone number, unless its name is none of the site, as that
// of a building where it has rooms, or the number stands beside somebody whom the page must name. Beside that
// place a town without a street is somebody else's.
func takePhone(blocks []block, page *pageCues) {
	number, searched := "", false
	streets := slices.ContainsFunc(blocks, func(b block) bool { return b.a.Street != "" })
	for i := range blocks {
		a := blocks[i].a
		if !page.single || blocks[i].blockOnly || a.Role != OwnRole || a.Private || a.Person || a.Phone != "" ||
			a.Street == "" && streets {
			continue
		}
		if !searched { // once, as all are of one door
			number, searched = firstPhone(page.phones, page.text[:min(len(page.text), contactText)], a.Country), true
		}
		if !slices.ContainsFunc(blocks, func(b block) bool { return b.a.Role.ThirdParty() && b.a.Phone == number }) {
			a.Phone = number
		}
	}
}

// detailsFirst reports whether the addresses of a list follow their telephone numbers, or hours, which in reads of a
// text: the first has one above it, and the last has none below.
func detailsFirst(blocks []block, in func(text, country string) string) bool {
	first, last := &blocks[0], &blocks[len(blocks)-1]
	return len(blocks) > 1 && first.first && in(first.above(), first.a.Country) != "" &&
		in(last.around.Below, last.a.Country) == ""
}

// detailLines are the lines right above an address that may be its contacts.
const detailLines = 4

// above returns the lines right above the address.
func (b *block) above() string {
	lines := strings.Split(strings.TrimSpace(b.around.Before), "\n")
	return strings.Join(lines[max(0, len(lines)-detailLines):], "\n")
}

// numberAbove returns the telephone number in the line right above the address, "" where there is none or a contact
// stands right below.
func (b *block) numberAbove() string {
	above := strings.TrimSpace(b.around.Before)
	last := above[strings.LastIndexByte(above, '\n')+1:]
	next, _, _ := strings.Cut(strings.TrimLeft(b.below, " ,\n"), "\n")
	if !place.IsDetail(last) || place.IsDetail(next) {
		return ""
	}
	return place.PhoneIn(last, b.a.Country)
}

// A block is the text around one address of a page.
type block struct {
	a      *Address
	around place.Around
	below  string // right behind it
	behind string // the first lines behind it, without those that may head the next address
	first  bool   // no address stands close before it

	blockOnly bool // see [place.Name]
}

// blocksOf divides the text among its addresses.
func blocksOf(text string, order []*Address) []block {
	blocks := make([]block, len(order), len(order)+8)
	for i, a := range order {
		last, next := 0, len(text)
		if i > 0 {
			last = order[i-1].End
		}
		if i+1 < len(order) {
			next = order[i+1].Start
		}
		lo, hi := max(last, a.Start-aboveWindow), min(next, a.End+belowWindow)
		for lo < a.Start && !utf8.RuneStart(text[lo]) {
			lo++
		}
		for hi > a.End && hi < len(text) && !utf8.RuneStart(text[hi]) {
			hi--
		}
		below := firstLines(text[min(a.End, hi):hi], belowLines)
		behind := firstLines(below, statusLines+1)
		if next <= a.End+belowWindow && next < len(text) {
			below, behind = withoutHead(below), firstLines(strings.TrimLeft(below, " \n"), 1)
		}
		if a.Role.ThirdParty() {
			below = beforeLine(below, headsContacts)
		}
		a.Status, a.StatusWords = leftOf(text[lo:a.Start], behind)
		blocks[i] = block{a: a, below: below, behind: behind, first: last < a.Start-aboveWindow || i == 0,
			around: place.Around{Before: text[lo:a.Start], Below: below, Stated: a.Name,
				Third: a.Role.ThirdParty()}}
	}
	return blocks
}

// mostHeading is the length in bytes of a line that may head the contacts of who runs the site.
const mostHeading = 20

// headsContacts reports whether a line is such a heading, which ends what a page says of somebody whom it must
// name: "Kontakt".
func headsContacts(line string) bool {
	return len(line) < mostHeading && !strings.ContainsAny(line, "0123456789@.") && isContact(line)
}

// namesContact reports whether a line says whom to ask, "Ansprechpartner: Uwe Harms". In somebody else's building
// that is a person of the site.
func namesContact(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(contactPersons, func(label string) bool { return strings.HasPrefix(line, label) })
}

var contactPersons = place.Phrases("contact-persons")

// asksForPerson reports whether a line says so in a sentence, "call Uwe Harms at 555-0100".
func asksForPerson(line string) bool {
	m := asksFor.FindStringSubmatch(line)
	return m != nil && place.IsPerson(m[1])
}

var asksFor = regexp.MustCompile(`(?i:\b(?:call|contact|text|phone|info|bel|bei|an|von|chiam\pL+|appel\pL+)\b:?) ` +
	`(\p{Lu}[\pL.'’-]+(?: \p{Lu}[\pL.'’-]+){1,2})[ ,:–-]*` +
	`(?i:(?:at|on|unter|op|al|au|tel\.?|telefon|phone)[ .:]*)?[+(\d]`)

// beforeLine returns the text before the first line for which ends returns true.
func beforeLine(text string, ends func(line string) bool) string {
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if ends(line) {
			return text[:at]
		}
		at += len(line) + 1
	}
	return text
}

// judgeOccupant sets Role, Person and Private of one address.
func (p *Parser) judgeOccupant(b *block, page *pageCues, list bool) {
	a, before := b.a, b.around.Before
	imprint := place.HasImprintCue(before)
	if list && !imprint && a.Role == OwnRole {
		a.Role = ListedRole
	}
	above := place.NameAbove(before)
	if above != "" && gazetteer.Key(above) == gazetteer.Key(a.Place.City) {
		above = "" // the end of the address above: "Lange Straße 5, Oldenburg"
	}
	person := above != "" && place.IsPerson(above)
	a.Person = a.Person || person && (a.Name == "" || place.IsPerson(a.Name))
	if a.Person && place.IsFirm(cmp.Or(a.Name, clipName(above))) {
		a.Person = false
	}
	if !p.options.Persons {
		p.judgePrivate(b, page, imprint)
	}
}

// withoutPlace returns a name without the parts of the address that a title or heading has behind it: "Okken Garage,
// Nadorst, Oldenburg", "Dr. Uwe Okken in Oldenburg Mitte".
func (a *Address) withoutPlace(name string) string {
	parts := strings.FieldsFunc(a.Text+"\n"+a.City, func(r rune) bool { return r == '\n' || r == ',' })
	isPart := func(text string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return gazetteer.Key(part) == gazetteer.Key(text) })
	}
	for i := strings.LastIndex(name, ", "); i > 0 && isPart(name[i+2:]); i = strings.LastIndex(name, ", ") {
		name = name[:i]
	}
	who, where, _ := strings.Cut(name, " in ")
	isTown := a.City != "" && strings.HasPrefix(strings.ToLower(where)+" ", strings.ToLower(a.City)+" ") &&
		len(strings.Fields(where)) <= len(strings.Fields(a.City))+1
	if isTown && strings.Contains(who, " ") {
		return who
	}
	return name
}

// describeOne sets the belongings of one address.
func (p *Parser) describeOne(b *block, page *pageCues) {
	a, before := b.a, b.around.Before
	if p.onName != nil {
		p.onName(a, page.site, b.around)
	}
	name := page.site.Name(b.around)
	a.Name, a.Branch = a.withoutPlace(name.Text), name.Branch
	b.blockOnly = name.BlockOnly
	below := b.below
	if b.blockOnly {
		b.below = beforeLine(b.below, namesContact)
	}
	if name.Other {
		b.below = beforeLine(b.below, asksForPerson)
	}
	asked := b.below != below // the numbers around are not the place's
	switch {
	case a.scene && !page.site.IsNamed(a.Name):
		a.Role = ListedRole
	case a.Role != OwnRole:
	case name.Section && (name.Other || name.Text == ""):
		a.Role = AgencyRole
		if name.Authority {
			a.Role = AuthorityRole
		}
	case name.Text == "" && page.site.IsDirectory():
		a.Role = ListedRole
	case name.Other && !place.HasImprintCue(before): // an imprint may have another name of who runs the site
		a.Role = ListedRole
	}
	single := page.single && a.Role == OwnRole
	if number := b.numberAbove(); number != "" {
		a.Phone = number
	} else if page.phonesFirst {
		a.Phone = place.PhoneIn(b.above(), a.Country)
	}
	if page.hoursFirst {
		a.Hours = hours.In(page.text, a.Start-len(before), a.Start)
	}
	p.read(a, page, a.End, a.End+len(b.below))
	if b.first && !asked {
		p.read(a, page, a.Start-len(before), a.Start)
	}
	if single && !a.Person && a.Hours == "" {
		a.Hours = page.site.Hours()
	}
	p.takeObject(a, page, b.around)
	if a.Kind == "" && !a.Role.ThirdParty() {
		own := single || page.site.IsNamed(a.Name) // one of its branches
		langs := languagesOf(page.in, a.Country)
		a.Kind = page.site.Kind(a.Name, langs, a.Country, own)
		if a.Kind == "" && a.Role == OwnRole && !a.Person {
			a.Kind = page.site.KindOfDomain(langs, a.Country)
		}
		if a.Kind == "" && a.Role == OwnRole {
			a.Kind = place.KindOfPerson(a.Name, before, langs, a.Country)
		}
		inside := b.around.Inside // "12 Grote Hall, Reents University"
		for _, name := range append(inside, place.WithoutTown(a.Name, a.City)) {
			if a.Kind == "" {
				a.Kind = page.site.Kind(name, langs, a.Country, false)
			}
		}
	}
	if a.Fax == a.Phone {
		a.Fax = ""
	}
	if a.Status == CurrentStatus {
		a.StatusWords = p.closedBy(b, page, single)
		if a.StatusWords != "" {
			a.Status = ClosedStatus
		}
	}
	if a.Status != CurrentStatus {
		a.Hours = ""
	}
	if a.Person {
		a.Email = ""
	}
}

// languagesOf returns the language that a page states, and those of its country where that is none of them:
// many templates state English, whatever the text is. It is "" where nothing says which of several it is.
func languagesOf(in Input, country string) []string {
	spoken := strings.Fields(grammar.Find(country).Languages)
	switch {
	case len(spoken) == 0 || slices.Contains(spoken, in.Lang) || in.Lang == "" && len(spoken) > 1:
		return []string{in.Lang}
	case in.Lang == "":
		return spoken
	}
	return append([]string{in.Lang}, spoken...)
}

// tagsOf returns tags such as "amenity=cafe" by their keys.
func tagsOf(all []string) map[string]string {
	tags := map[string]string{}
	for _, tag := range all {
		key, value, _ := strings.Cut(tag, "=")
		tags[key] = value
	}
	return tags
}

// takeObject copies the gazetteer's object with a's name to a.
func (p *Parser) takeObject(a *Address, page *pageCues, around place.Around) {
	if a.Precision != gazetteer.HousePrecision {
		return
	}
	objects := p.g.Objects(a.Place)
	names := make([][]string, len(objects))
	for i := range objects {
		names[i] = objects[i].Names
	}
	i := page.site.Object(around, names)
	if i < 0 {
		return
	}
	o := objects[i]
	a.Name, a.Object = clipName(o.Names[0]), o.ID
	var tags []string
	for _, tag := range o.Tags {
		osm, are := strings.CutPrefix(tag, "opening_hours=")
		if !are {
			tags = append(tags, tag)
			continue
		}
		weekly, _ := hours.ParseMap(osm)
		a.Hours = cmp.Or(a.Hours, weekly)
	}
	a.Tags = strings.Join(tags, ";")
	stated := a.Kind
	a.Kind = cmp.Or(kind.OfTags(tagsOf(tags)), stated)
	if a.Kind != stated {
		a.StatedKind = stated
	}
}

// clipName folds the white space of a name; "" if it is too long.
func clipName(name string) string {
	name = fold(name)
	if utf8.RuneCountInString(name) > place.MaxName {
		return ""
	}
	return name
}

// isPlace reports whether a country, or a city or state of the gazetteer, has that name.
func (p *Parser) isPlace(name string) bool {
	if len(name) > len("UK") && grammar.CountryOf(name) != "" {
		return true
	}
	for _, country := range p.g.Countries() {
		if p.g.State(country, name) != name {
			return true
		}
	}
	return len(p.codes.cities("", name)) > 0
}

// judgePrivate sets whether the address is a private person's. Below the name of an organisation in an imprint it
// is that of who runs the site, for the addresses that follow.
func (p *Parser) judgePrivate(b *block, page *pageCues, imprint bool) {
	a := b.a
	door := place.Door{
		Before: b.around.Before, Below: b.below, Inside: page.inside(a), Street: a.Street, Unit: a.Unit,
		Title: textutil.ClipBytes(page.title, 2*place.MaxName), Host: page.in.Host, Path: page.in.Path,
		Langs:  languagesOf(page.in, a.Country),
		Person: a.Person, Typed: a.Type,
		Imprint:  imprint || place.HasImprintCue(page.title) || place.IsNotice(page.title, page.in.Path),
		Business: page.commerce,
		Lets:     p.lets(page, b),
		Resume:   page.resume,
	}
	door.Represents = door.Imprint && !b.first && represents(door.Before)
	page.imprint = page.imprint || door.Imprint
	door.Elsewhere = page.imprint && len(page.runBy) > 0 && !slices.Contains(page.runBy, a.door()) &&
		!a.Role.ThirdParty() // as the officer of data protection is
	if p.onDoor != nil {
		p.onDoor(a, &door)
	}
	a.evidence = door.Evidence()
	a.weighPrivate()
	if door.Imprint && page.runBy == nil && a.Role == OwnRole && a.Street != "" &&
		place.BelowOrganisation(door.Before) {
		page.runBy = append(page.runBy, a.door())
	}
}

// represents reports whether a text between two addresses only says who acts for whom is at the first, and
// names a person: "Vertreten durch", and "Hanna Harms" below it.
func represents(between string) bool {
	lines := strings.Split(strings.TrimSpace(between), "\n")
	if len(lines) > cueLines || !place.BelowNames(between) {
		return false
	}
	label := strings.ToLower(lines[0])
	return slices.ContainsFunc(agents, func(agent string) bool { return strings.HasPrefix(label, agent) })
}

// agents begin lines about those who act for a firm.
var agents = place.Phrases("agents")

// judgeNeighbours takes an address below two to four names for a home where at least half of the page's
// addresses are: "Angi Okken" in a list of a club's board.
func judgeNeighbours(blocks []block) {
	homes := 0
	for i := range blocks {
		if blocks[i].a.Private {
			homes++
		}
	}
	for i := range blocks {
		a := blocks[i].a
		if homes > 1 && 2*homes >= len(blocks) && !a.Private && place.BelowNames(blocks[i].around.Before) {
			a.evidence.Sum = max(a.evidence.Sum, neighbourHome)
			a.weighPrivate()
		}
	}
}

// neighbourHome is evidence for a home on this page, and not enough for one on all pages of its host.
const neighbourHome = 4

// weighPrivate sets Private and Home by the evidence.
func (a *Address) weighPrivate() {
	a.Private, a.Home = a.evidence.Home()
	if a.Private {
		a.Person, a.Belongings = true, Belongings{}
	}
}

// pageCues are lazily computed cues of a whole page.
type pageCues struct {
	in     Input
	text   string
	head   string      // the begin of the text
	title  string      // of the input, else of the markup
	phones []string    // its tel: links
	site   *place.Page // nil until the addresses are described
	single bool        // it is about one place

	imprint bool     // an address so far stands in an imprint
	runBy   []string // the doors of who runs the site: those in its footer, else the first below a name in an imprint

	phonesFirst bool // the addresses of its list follow their telephone numbers
	hoursFirst  bool // they follow their opening hours

	commerce func() bool // what it says of who runs it has a word of business
	resume   func() bool // a heading or link is that of a résumé
}

// newPageCues returns the cues of a page with these addresses in the order of its text.
func newPageCues(in Input, text string, marked *markup.Page, order []*Address) *pageCues {
	c := &pageCues{in: in, text: text, title: in.Title}
	if marked != nil {
		c.title, c.phones = cmp.Or(c.title, marked.Site.Title), marked.Site.Phones
	}
	head, first := text[:min(len(text), imprintText)], 0
	if len(order) > 0 {
		first = min(order[0].End, len(head))
	}
	c.head = head
	c.resume = sync.OnceValue(func() bool { return marked != nil && place.LinksResume(&marked.Site) })
	c.commerce = sync.OnceValue(func() bool {
		notice := place.IsNotice(c.title, in.Path) // its text speaks of firms
		return !notice && place.IsCommerce(place.BeforeDisclaimer(head, first))
	})
	return c
}

// lets returns whether the title, the host or a mail address below names a house or flat to let, and
// whether they name the town of the address or another.
func (p *Parser) lets(page *pageCues, b *block) place.Letting {
	a, named := b.a, page.title+" "+page.in.Host+" "+place.NearHost(b.around.Below)
	if a.City == "" || !place.IsLetting(strings.ReplaceAll(named, "-", " ")) {
		return place.NoLetting
	}
	if strings.Contains(gazetteer.Key(named), gazetteer.Key(a.City)) {
		return place.LetsHere
	}
	words := strings.FieldsFunc(named, func(r rune) bool { return !unicode.IsLetter(r) })
	towns := slices.DeleteFunc(words, func(word string) bool {
		return len(word) <= leastTown || len(p.codes.cities(a.Country, word)) == 0
	})
	district := gazetteer.Key(page.lineOf(a))
	switch {
	case slices.ContainsFunc(towns, func(town string) bool { return strings.Contains(district, gazetteer.Key(town)) }):
		return place.LetsHere // "19309 Lenzen OT Seedorf"
	case len(towns) > 0:
		return place.LetsAnother
	}
	return place.LetsHome
}

// leastTown is the least length in bytes of a word of a title that may be a town.
const leastTown = 4

// textOf returns the text of the address, "" where only the markup states it.
func (c *pageCues) textOf(a *Address) string {
	if a.Start < 0 {
		return ""
	}
	return c.text[a.Start:a.End]
}

// lineOf returns the text of the address and what follows it in its line.
func (c *pageCues) lineOf(a *Address) string {
	if a.Start < 0 {
		return ""
	}
	rest, _, _ := strings.Cut(c.text[a.End:], "\n")
	return c.text[a.Start:a.End] + textutil.ClipBytes(rest, place.MaxName)
}

// inside returns the text of the address without its parts: "Department of Computer Science,
// University of California".
func (c *pageCues) inside(a *Address) string {
	rest := c.textOf(a)
	for _, part := range [...]string{a.Street, a.Unit, a.City, a.State, a.POBox} {
		if part != "" {
			rest = strings.ReplaceAll(rest, part, " ")
		}
	}
	return rest
}

// sameOccupant reports whether two statements of a town without a street may be about one organisation: one
// names nobody, or its name is a part of the other's. Else the first is given, with nothing of the second.
func sameOccupant(name, other string) bool {
	a, b := gazetteer.Key(name), gazetteer.Key(other)
	return strings.Contains(a, b) || strings.Contains(b, a)
}

// unite keeps what another statement of the same address adds; whether it is a private person's is
// weighed again by what both say.
func (a *Address) unite(o *Address, persons bool) {
	if a.Private && !o.Private {
		a.Person, a.Belongings = o.Person, o.Belongings
	} else if !o.Private {
		a.Person = a.Person && o.Person
		if a.Street != "" || sameOccupant(a.Name, o.Name) {
			a.fill(o.Belongings)
		}
	}
	a.evidence = a.evidence.With(o.evidence)
	if !persons {
		a.weighPrivate()
	}
	if o.Role < a.Role {
		a.Role = o.Role
	}
}

// firstLines returns at most n lines of text.
func firstLines(text string, n int) string {
	for i := range len(text) {
		if text[i] == '\n' {
			n--
			if n == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// withoutHead cuts the head of the next address off: the lines after the last one with a contact or
// opening hours.
func withoutHead(text string) string {
	end := 0
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if place.IsDetail(line) {
			end = min(len(text), at+len(line))
		}
		at += len(line) + 1
	}
	return text[:end]
}

// read looks for what belongs to the address in page.text[from:to] beside it.
func (p *Parser) read(a *Address, page *pageCues, from, to int) {
	if from < 0 || from == to {
		return
	}
	text := page.text[from:to]
	if a.Phone == "" {
		a.Phone = place.PhoneIn(text, a.Country)
	}
	if a.Fax == "" {
		a.Fax = place.FaxIn(text, a.Country)
	}
	if a.Email == "" {
		a.Email = place.EmailIn(text)
	}
	if a.Website == "" {
		if site := place.WebsiteIn(text); a.Role == ListedRole || page.site.IsOwn(site, a.Name) {
			a.Website = site
		}
	}
	if a.Hours == "" {
		a.Hours = hours.In(page.text, from, to)
	}
}
