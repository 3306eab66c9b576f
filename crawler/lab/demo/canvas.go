package demo

import (
	"strconv"
	"strings"
)

// A canvas is one page while it is written. A dry canvas keeps links and
// addresses but writes nothing; it makes the same choices, because all words
// have a dice of their own.
type canvas struct {
	t        *Town
	at       ref
	s        *site
	dry      bool
	foreign  bool   // the page is in the town's other language
	domain   string // what host names end in on this page
	trap     string // of a trap's page
	verbatim bool   // text is written as it is: an address

	d     dice // structure: links and addresses
	w     dice // words and layout
	buf   []byte
	links []ref // links to pages of the town's web, in order
	found []Address
}

func (t *Town) canvas(at ref, trap string, dry bool) *canvas {
	c := &canvas{t: t, at: at, s: &t.sites[at.site], dry: dry, foreign: t.isForeign(at), domain: t.o.Domain, trap: trap,
		d: t.dice(topicPage, uint64(at.site), uint64(at.page)),
		w: t.dice(topicText, uint64(at.site), uint64(at.page))}
	if !dry {
		c.buf = make([]byte, 0, 8<<10)
	}
	return c
}

// draw writes the page of c.
func (c *canvas) draw() {
	if c.s.kind == organisation {
		c.organisation()
	} else {
		c.catalogue()
	}
}

func (c *canvas) raw(parts ...string) {
	if !c.dry {
		for _, p := range parts {
			c.buf = append(c.buf, p...)
		}
	}
}

// text writes s, on a foreign page translated.
func (c *canvas) text(s string) {
	if c.dry {
		return
	}
	if c.foreign && !c.verbatim {
		s = c.t.tongue.translate(s)
	}
	c.escape(s)
}

// escape writes s with HTML's special characters escaped.
func (c *canvas) escape(s string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '&':
			c.buf = append(c.buf, "&amp;"...)
		case '<':
			c.buf = append(c.buf, "&lt;"...)
		case '>':
			c.buf = append(c.buf, "&gt;"...)
		case '"':
			c.buf = append(c.buf, "&quot;"...)
		default:
			c.buf = append(c.buf, s[i])
		}
	}
}

func (c *canvas) element(tag, text string) {
	c.raw("<", tag, ">")
	c.text(text)
	c.raw("</", tag, ">\n")
}

// prose writes paragraphs with sentences in all.
func (c *canvas) prose(sentencesInAll int) {
	if c.dry {
		return
	}
	c.raw("<p>")
	for i := range sentencesInAll {
		if i > 0 && c.w.chance(0.25) {
			c.raw("</p>\n<p>")
		}
		if c.w.chance(0.05) {
			c.text(pick(&c.w, distractions))
		} else {
			c.text(pick(&c.w, sentences))
		}
		c.raw(" ")
	}
	c.raw("</p>\n")
}

// link writes a link to a page of the town's web.
func (c *canvas) link(to ref, anchor string) {
	c.links = append(c.links, to)
	if c.dry {
		return
	}
	path := c.t.path(to)
	if to.site == c.at.site {
		if c.s.kind == forum && to.page != homePage && c.t.traps(int(c.at.site)) && (c.trap != "" || c.w.chance(0.3)) {
			path = deeper(path, c.trap)
		}
		c.href(path, anchor)
		return
	}
	c.href("http://"+c.hostOf(int(to.site))+path, anchor)
}

// href writes a link to any address.
func (c *canvas) href(href, anchor string) {
	c.raw(`<a href="`)
	c.escape(href)
	if c.w.chance(0.04) {
		c.raw(`" title="`)
		c.text(anchor)
	}
	c.raw(`">`)
	c.text(anchor)
	c.raw("</a>")
}

// hostOf returns the host of a site under the domain of this page.
func (c *canvas) hostOf(s int) string {
	h := c.t.sites[s].host + "." + c.domain
	if c.t.sites[s].www {
		return "www." + h
	}
	return h
}

// visit writes a link to another site: mostly to its home page, by its name
// or by a word that says nothing.
func (c *canvas) visit(s int32) {
	s = c.inLanguage(s)
	to := ref{s, homePage}
	old := false
	switch r := c.d.share(); {
	case r < 0.12:
		to.page = int32(c.d.n(int(c.t.sites[s].pages)))
	case r < 0.17 && c.t.sites[s].pages > 1:
		to.page = int32(1 + c.d.n(int(c.t.sites[s].pages)-1))
		old = true
	}
	if c.t.disallowed(to) {
		to.page, old = homePage, false
	}
	if c.dry {
		c.links = append(c.links, to)
		return
	}
	name := c.t.sites[s].name
	switch c.w.n(6) {
	case 0:
		name = pick(&c.w, vague)
	case 1:
		name = c.hostOf(int(s))
	case 2:
		name += " – " + c.t.places[c.t.sites[s].place].name
	}
	switch {
	case old: // the address before the relaunch, which redirects
		c.links = append(c.links, to)
		c.href("http://"+c.hostOf(int(s))+oldPath(to.page), name)
	case c.t.sites[s].www && to.page == homePage && c.w.chance(0.1): // without "www.", which redirects
		c.links = append(c.links, to)
		c.href("http://"+c.t.sites[s].host+"."+c.domain+"/", name)
	default:
		c.link(to, name)
	}
}

var vague = []string{"hier", "Webseite", "zur Homepage", "mehr", "Link", "weiter", "Internetseite", "besuchen"}

// head begins the page.
func (c *canvas) head(title string) {
	if c.dry {
		return
	}
	lang, charset := "de", "utf-8"
	if c.s.latin1 {
		charset = ""
	}
	if c.foreign {
		p := c.t.codePage(c.at.site)
		lang, charset = p.lang, p.meta
	}
	c.raw("<!DOCTYPE html>\n<html")
	if lang != "" {
		c.raw(` lang="`, lang, `"`)
	}
	c.raw(">\n<head>\n")
	if charset != "" {
		c.raw(`<meta charset="`, charset, "\">\n")
	}
	c.element("title", title)
	switch {
	case c.noindex() && c.nofollow():
		c.raw("<meta name=\"robots\" content=\"noindex, nofollow\">\n")
	case c.noindex():
		c.raw("<meta name=\"robots\" content=\"noindex\">\n")
	case c.nofollow():
		c.raw("<meta name=\"robots\" content=\"nofollow\">\n")
	}
	c.raw("<meta name=\"description\" content=\"")
	c.text(c.s.name + " in " + c.t.places[c.s.place].name)
	c.raw("\">\n</head>\n<body>\n")
}

// noindex tells whether the page asks not to be kept.
func (c *canvas) noindex() bool {
	return c.s.style == 1 && (c.s.kind == organisation && c.s.org.kindOf(c.at.page) == orgPrivacy || c.s.kind != organisation && c.at.page == privacyPage)
}

// nofollow tells whether the page asks not to follow its links.
func (c *canvas) nofollow() bool { return c.s.kind == linkFarm && c.at.page%7 == 3 }

// An address can be laid out in these ways.
var layouts = []func(c *canvas, a *lines){
	func(c *canvas, a *lines) { // one line
		c.raw("<p>")
		c.text(a.name + ", " + a.street + ", " + a.city)
		c.raw("</p>\n")
	},
	func(c *canvas, a *lines) { // lines
		c.raw("<p>")
		c.text(a.name)
		c.raw("<br>\n")
		c.text(a.street)
		c.raw("<br>\n")
		c.text(a.city)
		c.raw("<br>\nTel. ", a.phone, "</p>\n")
	},
	func(c *canvas, a *lines) { // table
		c.raw("<table>\n<tr><td>Name:</td><td>")
		c.text(a.name)
		c.raw("</td></tr>\n<tr><td>Straße:</td><td>")
		c.text(a.street)
		c.raw("</td></tr>\n<tr><td>PLZ, Ort:</td><td>")
		c.text(a.city)
		c.raw("</td></tr>\n<tr><td>Telefon:</td><td>", a.phone, "</td></tr>\n</table>\n")
	},
	func(c *canvas, a *lines) { // definition list
		c.raw("<dl><dt>Anschrift</dt><dd>")
		c.text(a.name)
		c.raw("</dd><dd>")
		c.text(a.street)
		c.raw("</dd><dd>")
		c.text(a.city)
		c.raw("</dd><dt>Telefon</dt><dd>", a.phone, "</dd></dl>\n")
	},
	func(c *canvas, a *lines) { // JSON-LD, for machines only
		c.raw(`<script type="application/ld+json">{"@context":"https://schema.org","@type":"`, a.schema("LocalBusiness"), `","name":"`, a.name,
			`","telephone":"`, a.phone, `","address":{"@type":"PostalAddress","streetAddress":"`, a.street,
			`","postalCode":"`, a.postcode, `","addressLocality":"`, a.place, `","addressCountry":"DE"}}</script>`, "\n")
		c.raw("<p>Rufen Sie uns an: ", a.phone, "</p>\n")
	},
	func(c *canvas, a *lines) { // microdata
		c.raw(`<div itemscope itemtype="https://schema.org/`, a.schema("Organization"), `"><span itemprop="name">`)
		c.text(a.name)
		c.raw(`</span><div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"><span itemprop="streetAddress">`)
		c.text(a.street)
		c.raw(`</span>, <span itemprop="postalCode">`, a.postcode, `</span> <span itemprop="addressLocality">`)
		c.text(a.place)
		c.raw("</span></div></div>\n")
	},
	func(c *canvas, a *lines) { // hCard
		class := "fn org"
		if a.person {
			class = "fn"
		}
		c.raw(`<div class="vcard"><span class="`, class, `">`)
		c.text(a.name)
		c.raw(`</span> <div class="adr"><div class="street-address">`)
		c.text(a.street)
		c.raw(`</div><span class="postal-code">`, a.postcode, `</span> <span class="locality">`)
		c.text(a.place)
		c.raw("</span></div></div>\n")
	},
	func(c *canvas, a *lines) { // <address>
		c.raw("<address>")
		c.text(a.name)
		c.raw("<br>")
		c.text(a.street)
		c.raw("<br>")
		c.text(a.city)
		c.raw("</address>\n")
	},
	func(c *canvas, a *lines) { // dots
		c.raw("<p><small>")
		c.text(a.name + " · " + a.street + " · " + a.city + " · Tel. " + a.phone)
		c.raw("</small></p>\n")
	},
	func(c *canvas, a *lines) { // a sentence
		c.raw("<p>")
		if a.person {
			c.text("Verantwortlich für den Inhalt: " + a.name + ". ")
		}
		c.text(pick(&c.w, []string{"Sie finden uns unter der Anschrift ", "Unsere Adresse lautet ", "Post erreicht uns unter "}) + a.street + " in " + a.city + ".")
		c.raw("</p>\n")
	},
	func(c *canvas, a *lines) { // place first
		c.raw("<p>")
		c.text(a.name + ", " + a.city + ", " + a.street)
		c.raw("</p>\n")
	},
}

// How often each layout is used: an index of layouts a slot.
var layoutSlots = []int{0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10}

// lines are an address as a page spells it.
type lines struct {
	name, street, city string
	postcode, place    string // the two parts of city, without "D-"
	phone              string
	person             bool // the name is a private person's
}

// schema returns the type of schema.org for whoever has the address; business
// is what a firm calls itself.
func (l *lines) schema(business string) string {
	if l.person {
		return "Person"
	}
	return business
}

// address writes an address in one of the layouts and notes it.
func (c *canvas) address(a Address) {
	c.found = append(c.found, a)
	if c.dry {
		return
	}
	l := c.spell(a)
	c.verbatim = true
	defer func() { c.verbatim = false }()
	layouts[pick(&c.w, layoutSlots)](c, &l)
}

// inline writes an address within a line.
func (c *canvas) inline(a Address) {
	c.found = append(c.found, a)
	if c.dry {
		return
	}
	l := c.spell(a)
	c.escape(l.street + ", " + l.city)
}

// spell writes the parts of an address as people do.
func (c *canvas) spell(a Address) lines {
	number := a.HouseNumber
	if n := len(number); n > 1 && number[n-1] >= 'a' && c.w.chance(0.5) {
		letter := number[n-1:]
		if c.w.chance(0.3) {
			letter = strings.ToUpper(letter)
		}
		number = number[:n-1] + " " + letter
	}
	if c.w.chance(0.5) {
		number = strings.ReplaceAll(number, "-", pick(&c.w, []string{"–", " - ", "/"}))
	}
	l := lines{name: a.Name, street: c.spellStreet(a.Street) + " " + number, postcode: a.Postcode, place: a.City, person: a.Person}
	if l.name == "" {
		l.name = c.s.name
	}
	if a.InTown && c.w.chance(c.t.o.Misprints) {
		l.postcode = "4" + a.Postcode[3:] + a.Postcode[1:3]
	}
	switch c.w.n(25) {
	case 0:
		l.place = strings.ToUpper(l.place)
	case 1:
		l.place += pick(&c.w, []string{"-Mitte", "-Nord", " (Stadtmitte)"})
	}
	l.city = l.postcode + " " + l.place
	switch c.w.n(14) {
	case 0:
		l.city = "D-" + l.city
	case 1:
		l.city = "DE - " + l.city
	}
	l.phone = "0429" + strconv.Itoa(c.w.n(10)) + " / " + strconv.Itoa(100+c.w.n(900)) + " " + strconv.Itoa(10+c.w.n(90))
	return l
}

var asciiUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue")

func (c *canvas) spellStreet(s string) string {
	switch r := c.w.n(100); {
	case r < 24:
		s = strings.Replace(s, "straße", "str.", 1)
		s = strings.Replace(s, "Straße", "Str.", 1)
	case r < 32:
		s = strings.Replace(s, "traße", "trasse", 1)
	case r < 36:
		s = asciiUmlauts.Replace(s)
	case r < 39:
		s = strings.Replace(s, "straße", "str", 1)
	case r < 42:
		s = strings.Replace(s, "platz", "pl.", 1)
	case r < 45 && strings.Count(s, "-") > 1:
		s = strings.ReplaceAll(s, "-", " ")
	case r < 47:
		s = strings.Replace(s, "straße", "-Straße", 1)
	case r < 48:
		s = strings.ToUpper(strings.Replace(s, "ß", "ss", 1))
	}
	return s
}
