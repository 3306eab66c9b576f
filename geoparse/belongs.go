package geoparse

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"gazehound/gazetteer"

	"github.com/nyaruka/phonenumbers"
)

// Windows in which what belongs to an address is looked for, in bytes. What
// stands between two addresses is shared out by lines.
const (
	aboveWindow = 300
	belowWindow = 600
	belowLines  = 14
	imprintText = 20_000 // of a page, that are looked at for signs of a business
)

// assign says of each address of a page what belongs to it, whose it is, and
// whether it is a private person's. Spans are still in bytes of text.
func (p *Parser) assign(text string, in Input, found []Address) {
	if len(found) == 0 {
		return
	}
	order := make([]*Address, 0, len(found))
	doors := make(map[string]bool, min(len(found), 2*leastList))
	for i := range found {
		a := &found[i]
		if a.Start >= 0 {
			order = append(order, a)
		}
		if !a.Role.ThirdParty() && a.Street != "" && len(doors) < leastList {
			doors[a.door()] = true
		}
	}
	slices.SortStableFunc(order, func(a, b *Address) int { return a.Start - b.Start })
	list := len(doors) >= leastList
	page := &pageCues{in: in, text: text}
	for i, a := range order {
		last, next := 0, len(text)
		if i > 0 {
			last = order[i-1].End
		}
		if i+1 < len(order) {
			next = order[i+1].Start
		}
		p.assignOne(a, page, max(last, a.Start-aboveWindow), min(next, a.End+belowWindow), next <= a.End+belowWindow && next < len(text), last < a.Start-aboveWindow || i == 0, list)
	}
	for i := range found {
		if a := &found[i]; a.Start < 0 {
			if list {
				a.Role = ListedRole
			}
			p.judgePerson(a, page, "", "", false)
		}
	}
}

// assignOne reads what stands around one address: text[lo:] before it and
// text[:hi] behind it, where the next address begins if crowded. It is first if
// none stands before it there.
func (p *Parser) assignOne(a *Address, page *pageCues, lo, hi int, crowded, first, list bool) {
	text := page.text
	for lo < a.Start && !utf8.RuneStart(text[lo]) {
		lo++
	}
	for hi > a.End && hi < len(text) && !utf8.RuneStart(text[hi]) {
		hi--
	}
	before, below := text[lo:a.Start], firstLines(text[min(a.End, hi):hi], belowLines)
	if crowded {
		below = withoutHead(below)
	}
	imprint := hasImprintCue(before)
	if list && !imprint && a.Role == OwnRole {
		a.Role = ListedRole
	}
	above := NameAbove(before)
	if above != "" && gazetteer.Key(above) == gazetteer.Key(a.Place.City) {
		above = "" // the end of the address above: "Lange Straße 5, Oldenburg"
	}
	person := above != "" && isPerson(above)
	a.Person = a.Person || person && (a.Name == "" || isPerson(a.Name))
	a.Name = cmp.Or(a.Name, clipName(above))
	if a.Name == "" && a.Role == OwnRole {
		a.Name = clipName(NameInTitle(page.in.Title))
	}
	p.judgePerson(a, page, before, below, imprint)
	if a.Private {
		return
	}
	p.read(a, below)
	if first {
		p.read(a, before)
	}
	if a.Person {
		a.Email = ""
	}
}

// clipName folds the white space of a name; one that is too long is none.
func clipName(name string) string {
	name = fold(name)
	if utf8.RuneCountInString(name) > maxName {
		return ""
	}
	return name
}

// judgePerson says whether the address is a private person's. A person's
// address is one of a business if words of one stand around it, or, in an
// imprint, anywhere on the page. The person whom an imprint makes responsible
// for the content beside a firm is a private one, too.
func (p *Parser) judgePerson(a *Address, page *pageCues, before, below string, imprint bool) {
	if !a.Person || a.Name != "" && isFirm(a.Name) {
		a.Person = false
		return
	}
	if p.options.Persons {
		return
	}
	business := isCommerce(before) || isCommerce(below) || isCommerce(page.in.Title)
	if !business && (imprint || hasImprintCue(page.in.Title)) {
		business = page.commerce()
	}
	business = business || isFirm(page.inside(a))
	if business && responsible(before) {
		business = false
	}
	if !business {
		a.Private = true
		a.Belongings = Belongings{}
	}
}

// responsible tells whether the address is that of whoever answers for the
// content of a site.
func responsible(before string) bool {
	before = strings.ToLower(before)
	i := strings.LastIndex(before, "verantwortlich")
	return i >= 0 && strings.Count(before[i:], "\n") <= 2 && !isCommerce(before[i:])
}

// pageCues are what a whole page says, found out when it is asked for.
type pageCues struct {
	in       Input
	text     string
	known    bool
	business bool
}

func (c *pageCues) commerce() bool {
	if !c.known {
		c.known = true
		c.business = isFirm(c.in.Host) || isCommerce(c.text[:min(len(c.text), imprintText)])
	}
	return c.business
}

// inside returns what stands in the address beside its parts: "Department of
// Computer Science, University of California".
func (c *pageCues) inside(a *Address) string {
	if a.Start < 0 {
		return ""
	}
	rest := c.text[a.Start:a.End]
	for _, part := range [...]string{a.Street, a.Unit, a.City, a.State, a.POBox} {
		if part != "" {
			rest = strings.ReplaceAll(rest, part, " ")
		}
	}
	return rest
}

// unite keeps what another statement of the same address adds. One that is not
// a private person's makes the address one that is kept.
func (a *Address) unite(o *Address) {
	switch {
	case a.Private && !o.Private:
		a.Private, a.Person, a.Belongings, a.Role = false, o.Person, o.Belongings, o.Role
	case o.Private && !a.Private:
	default:
		a.Person = a.Person && o.Person
		a.fill(o.Belongings)
	}
	if o.Role < a.Role {
		a.Role = o.Role
	}
}

// firstLines returns at most n lines of text.
func firstLines(text string, n int) string {
	for i := range len(text) {
		if text[i] == '\n' {
			if n--; n == 0 {
				return text[:i]
			}
		}
	}
	return text
}

// withoutHead cuts what belongs to the next address off the text before it:
// the lines behind the last one that says how to reach somebody or when.
func withoutHead(text string) string {
	end := 0
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		if isDetail(line) {
			end = min(len(text), at+len(line))
		}
		at += len(line) + 1
	}
	return text[:end]
}

// isDetail tells whether a line holds a telephone number, hours or a web or
// mail address.
func isDetail(line string) bool {
	if strings.Contains(line, "@") || strings.Contains(line, "www.") || strings.Contains(line, "://") {
		return true
	}
	n := 0
	for i := range len(line) {
		if line[i]-'0' <= 9 {
			n++
		}
	}
	if n >= 6 {
		return true
	}
	return isDayLine(line)
}

// read looks for what belongs to the address in text around it.
func (p *Parser) read(a *Address, text string) {
	if text == "" {
		return
	}
	if a.Phone == "" {
		a.Phone = p.phoneIn(text, a.Country)
	}
	if a.Email == "" {
		a.Email = emailIn(text)
	}
	if a.Website == "" {
		a.Website = websiteIn(text)
	}
	if a.Hours == "" {
		a.Hours = hoursIn(text)
	}
}

// Bounds of telephone numbers.
const (
	leastDigits = 6
	mostDigits  = 16
	phoneTries  = 3 // of one address
)

// phoneIn returns the first telephone number in text that is no fax: one with
// a label, or alone in its line, in E.164.
func (p *Parser) phoneIn(text, country string) string {
	tries, heading := 0, "" // the line before, where it holds no number
	for line := range strings.SplitSeq(text, "\n") {
		label := 0 // where the words before the number begin
		for i := 0; i < len(line) && tries < phoneTries; {
			if c := line[i]; c-'0' > 9 && c != '+' && c != '(' {
				i++
				continue
			}
			end, digits := numberEnd(line, i)
			if digits < leastDigits || digits > mostDigits || i > 0 && isLetterAt(line, lastRune(line, i)) {
				i = max(end, i+1)
				continue
			}
			said := strings.ToLower(line[label:i])
			if strings.TrimSpace(said) == "" {
				said = heading
			}
			switch {
			case strings.Contains(said, "fax"):
			case isPhoneLabel(said), line[i] == '+' && !strings.ContainsAny(said, "0123456789"), line[i] == '(' && country == "US" && label == 0 && strings.TrimSpace(line[:i]) == "":
				tries++
				if n := p.phoneNumber(line[i:end], country); n != "" {
					return n
				}
			}
			label, i = end, end
		}
		if heading = ""; label == 0 && len(line) < 30 {
			heading = strings.ToLower(line)
		}
	}
	return ""
}

// numberEnd returns the end of the digits with what may stand between them in
// a telephone number, and their count.
func numberEnd(line string, i int) (end, digits int) {
	end = i
	for i < len(line) {
		switch c := line[i]; {
		case c-'0' <= 9:
			digits++
			i++
			end = i
		case c == ' ' || c == '(' || c == ')' || c == '/' || c == '-' || c == '.' || c == '+' && digits == 0:
			i++
		case strings.HasPrefix(line[i:], "–"):
			i += len("–")
		default:
			return end, digits
		}
		if i-end > 4 {
			return end, digits
		}
	}
	return end, digits
}

func isPhoneLabel(words string) bool {
	for _, label := range [...]string{"tel", "fon", "phone", "ruf", "mobil", "call", "handy", "☎", "📞"} {
		if strings.Contains(words, label) {
			return true
		}
	}
	words = strings.TrimRight(words, " .:")
	return words == "t" || words == "p" || strings.HasSuffix(words, " t")
}

// phoneNumber returns a number as E.164, read as in country where it has no
// international prefix; "" where it is none that can be called.
func (p *Parser) phoneNumber(text, country string) string {
	if len(text) < leastDigits || len(text) > 60 {
		return ""
	}
	n, err := phonenumbers.Parse(text, cmp.Or(country, "ZZ"))
	if err != nil || !phonenumbers.IsValidNumber(n) {
		return ""
	}
	return phonenumbers.Format(n, phonenumbers.E164)
}

// emailIn returns the first mail address in text that is a role's.
func emailIn(text string) string {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			return ""
		}
		i += at
		lo, hi := i, i+1
		for lo > 0 && isMailByte(text[lo-1]) {
			lo--
		}
		for hi < len(text) && isMailByte(text[hi]) {
			hi++
		}
		if e := roleAddress(strings.Trim(text[lo:hi], ".-_")); e != "" {
			return e
		}
		at = i + 1
	}
}

func isMailByte(c byte) bool {
	return c|0x20-'a' <= 25 && c|0x20 >= 'a' || c-'0' <= 9 || c == '.' || c == '-' || c == '_' || c == '+'
}

// roleAddress returns a mail address in lower case if its local part names a
// role, or the host itself, and no person; else "".
func roleAddress(address string) string {
	address = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(address), "mailto:"))
	address, _, _ = strings.Cut(address, "?")
	local, host, ok := strings.Cut(address, "@")
	if !ok || len(address) > 100 || local == "" || !strings.Contains(host, ".") || strings.Contains(host, "..") || strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") {
		return ""
	}
	for i := range len(address) {
		if address[i] != '@' && !isMailByte(address[i]) {
			return ""
		}
	}
	if strings.Count(address, "@") != 1 {
		return ""
	}
	part, _, _ := strings.Cut(local, "-")
	part, _, _ = strings.Cut(part, ".")
	if mailRoles[local] || mailRoles[part] {
		return address
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(host, "www."), ".")
	if len(local) >= 4 && local == name && isFirm(strings.ReplaceAll(name, "-", " ")) {
		return address
	}
	return ""
}

var mailRoles = words(`
	info kontakt contact mail email office buero büro service praxis empfang post poststelle rathaus hallo hello moin anfrage anfragen verwaltung sekretariat zentrale support
	sales shop bestellung bestellungen reservierung reservation reservations booking rezeption reception hotel restaurant cafe gemeinde stadt stadtverwaltung verein vorstand presse press
	kundenservice kundendienst vertrieb werkstatt apotheke kanzlei team geschaeftsstelle gs pfarramt kirche kirchenbuero bibliothek museum theater kita schule enquiries inquiries admin frontdesk customerservice`)

// websiteIn returns the first web address in text.
func websiteIn(text string) string {
	for _, mark := range [...]string{"https://", "http://", "www."} {
		i := strings.Index(text, mark)
		if i < 0 || i > 0 && (isLetterAt(text, lastRune(text, i)) || text[i-1] == '@') {
			continue
		}
		end := i
		for end < len(text) && text[end] > ' ' && text[end] < 0x7f && !strings.ContainsRune(`"'<>(),;|`, rune(text[end])) {
			end++
		}
		if u := webURL(strings.TrimRight(text[i:end], ".:!?")); u != "" {
			return u
		}
	}
	return ""
}

// webURL returns an http or https URL with a host of the web, in a form that
// can be a tag; "" for anything else. A host alone gets https.
func webURL(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(strings.ToLower(text), "www.") {
		text = "https://" + text
	}
	if text == "" || len(text) > 200 {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return ""
	}
	dot := strings.LastIndexByte(u.Hostname(), '.')
	if dot < 1 || dot == len(u.Hostname())-1 || !isLetterAt(u.Hostname(), dot+1) {
		return ""
	}
	u.Host, u.Fragment = strings.ToLower(u.Host), ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
