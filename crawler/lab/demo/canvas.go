package demo

import (
	"html"
	"strconv"
	"strings"
)

// A canvas is one page while it is written. A dry canvas keeps links and
// addresses but writes nothing; it makes the same choices, because all words
// have a dice of their own. What a canvas returns is HTML, or "" of a dry one.
type canvas struct {
	t       *Town
	at      ref
	s       *site
	dry     bool
	foreign bool   // the page is in the town's other language
	domain  string // what host names end in on this page
	trap    string // of a trap's page

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

// put writes HTML.
func (c *canvas) put(parts ...string) {
	if !c.dry {
		for _, p := range parts {
			c.buf = append(c.buf, p...)
		}
	}
}

// text returns the HTML of s, on a foreign page translated.
func (c *canvas) text(s string) string {
	if c.dry {
		return ""
	}
	if c.foreign {
		s = c.t.translate(s)
	}
	return html.EscapeString(s)
}

func (c *canvas) heading(tag, text string) { c.put("<", tag, ">", c.text(text), "</", tag, ">\n") }

func (c *canvas) paragraph(parts ...string) {
	c.put("<p>")
	c.put(parts...)
	c.put("</p>\n")
}

func (c *canvas) list(items []string) {
	if !c.dry && len(items) > 0 {
		c.put("<ul>\n<li>", strings.Join(items, "</li>\n<li>"), "</li>\n</ul>\n")
	}
}

// prose writes paragraphs with sentences in all.
func (c *canvas) prose(sentences int) {
	if c.dry {
		return
	}
	c.put("<p>")
	for i := range sentences {
		if i > 0 && c.w.chance(0.25) {
			c.put("</p>\n<p>")
		}
		list := words().Sentences
		if c.w.chance(0.05) {
			list = words().Distractions
		}
		c.put(c.text(pick(&c.w, list)), " ")
	}
	c.put("</p>\n")
}

func (c *canvas) privacy() {
	c.prose(12)
	c.paragraph("Aufsichtsbehörde: Landesbeauftragte für den Datenschutz, Prinzenweg 5, 62017 Nordhafen")
}

// fill brings a page to size bytes with filler text, as full of markup as pages of
// the web are: about one element for each 60 bytes. It names no place and links to
// nothing.
func (c *canvas) fill(size int) {
	end := strings.LastIndex(string(c.buf), "</body>")
	tail := string(c.buf[end:])
	c.buf = c.buf[:end]
	for len(c.buf)+len(tail) < size {
		sentence := func() string { return c.text(pick(&c.w, words().Sentences)) }
		c.paragraph(sentence(), " <em>", sentence(), "</em> <b>", sentence(), "</b>")
	}
	c.put(tail)
}

// link returns a link to a page of the town's web.
func (c *canvas) link(to ref, anchor string) string {
	c.links = append(c.links, to)
	if c.dry {
		return ""
	}
	path := c.t.path(to)
	if to.site != c.at.site {
		return c.href("http://"+c.t.hostUnder(to.site, c.domain)+path, anchor)
	}
	if c.s.kind == forum && to.page != homePage && c.t.traps(c.at.site) && (c.trap != "" || c.w.chance(0.3)) {
		path = deeper(path, c.trap)
	}
	return c.href(path, anchor)
}

// href returns a link to any address.
func (c *canvas) href(href, anchor string) string {
	title := ""
	if c.w.chance(0.04) {
		title = `" title="` + c.text(anchor)
	}
	return `<a href="` + html.EscapeString(href) + title + `">` + c.text(anchor) + "</a>"
}

// visit returns a link to another site: mostly to its home page, by its name
// or by a word that says nothing.
func (c *canvas) visit(s int32) string {
	s = c.inLanguage(s)
	site := &c.t.sites[s]
	to := ref{s, homePage}
	old := false
	switch r := c.d.share(); {
	case r < 0.12:
		to.page = int32(c.d.n(int(site.pages)))
	case r < 0.17 && site.pages > 1:
		to.page = int32(1 + c.d.n(int(site.pages)-1))
		old = true
	}
	if c.t.disallowed(to) {
		to.page, old = homePage, false
	}
	if c.dry {
		c.links = append(c.links, to)
		return ""
	}
	host, name := c.t.hostUnder(s, c.domain), site.name
	switch c.w.n(6) {
	case 0:
		name = pick(&c.w, words().Vague)
	case 1:
		name = host
	case 2:
		name += " – " + c.t.places[site.place].name
	}
	bare := site.www && to.page == homePage && c.w.chance(0.1)
	if !old && !bare {
		return c.link(to, name)
	}
	c.links = append(c.links, to)
	if old { // the address before the relaunch, which redirects
		return c.href("http://"+host+oldPath(to.page), name)
	}
	return c.href("http://"+strings.TrimPrefix(host, "www.")+"/", name) // redirects, too
}

// head begins the page.
func (c *canvas) head(title string) {
	if c.dry {
		return
	}
	p := c.codePage()
	c.put("<!DOCTYPE html>\n<html")
	if p.lang != "" {
		c.put(` lang="`, p.lang, `"`)
	}
	c.put(">\n<head>\n")
	if p.meta != "" {
		c.put(`<meta charset="`, p.meta, "\">\n")
	}
	c.heading("title", title)
	if c.noindex() {
		c.put("<meta name=\"robots\" content=\"noindex\">\n")
	}
	if c.nofollow() {
		c.put("<meta name=\"robots\" content=\"nofollow\">\n")
	}
	c.put(`<meta name="description" content="`, c.text(c.s.name+" in "+c.t.places[c.s.place].name), "\">\n</head>\n<body>\n")
}

// menu writes the menu, and begins the content.
func (c *canvas) menu(links []string) {
	c.put("<div id=\"menue\">\n")
	c.list(links)
	c.put("</div>\n<div id=\"inhalt\">\n")
}

// foot ends the content and begins the foot of the page.
func (c *canvas) foot() { c.put("</div>\n<div id=\"fuss\">\n") }

func (c *canvas) end() { c.put("\n</div>\n</body>\n</html>\n") }

// noindex tells whether the page asks not to be kept.
func (c *canvas) noindex() bool {
	page := int32(privacyPage)
	if c.s.kind == organisation {
		page = c.s.org.page(orgPrivacy, 0)
	}
	return c.s.style == 1 && c.at.page == page
}

// nofollow tells whether the page asks not to follow its links.
func (c *canvas) nofollow() bool { return c.s.kind == linkFarm && c.at.page%7 == 3 }

// layouts are the ways in which an address is laid out, each as often as its
// weight. {city} is postcode and place.
var layouts = []struct {
	weight int
	html   string
}{
	{3, "<p>{name}, {street}, {city}</p>"},
	{6, "<p>{name}<br>\n{street}<br>\n{city}<br>\nTel. {phone}</p>"},
	{2, "<table>\n<tr><td>Name:</td><td>{name}</td></tr>\n<tr><td>Straße:</td><td>{street}</td></tr>\n" +
		"<tr><td>PLZ, Ort:</td><td>{city}</td></tr>\n<tr><td>Telefon:</td><td>{phone}</td></tr>\n</table>"},
	{1, "<dl><dt>Anschrift</dt><dd>{name}</dd><dd>{street}</dd><dd>{city}</dd><dt>Telefon</dt><dd>{phone}</dd></dl>"},
	{1, `<script type="application/ld+json">{"@context":"https://schema.org","@type":"{type}","name":"{name}","telephone":"{phone}",` +
		`"address":{"@type":"PostalAddress","streetAddress":"{street}","postalCode":"{postcode}","addressLocality":"{place}",` +
		`"addressCountry":"DE"}}</script>` + "\n<p>Rufen Sie uns an: {phone}</p>"},
	{2, `<div itemscope itemtype="https://schema.org/{type}"><span itemprop="name">{name}</span>` +
		`<div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress"><span itemprop="streetAddress">{street}</span>, ` +
		`<span itemprop="postalCode">{postcode}</span> <span itemprop="addressLocality">{place}</span></div></div>`},
	{1, `<div class="vcard"><span class="{class}">{name}</span> <div class="adr"><div class="street-address">{street}</div>` +
		`<span class="postal-code">{postcode}</span> <span class="locality">{place}</span></div></div>`},
	{2, "<address>{name}<br>{street}<br>{city}</address>"},
	{2, "<p><small>{name} · {street} · {city} · Tel. {phone}</small></p>"},
	{1, "<p>{responsible}Sie finden uns unter der Anschrift {street} in {city}.</p>"},
	{1, "<p>{name}, {city}, {street}</p>"},
}

// address writes an address in one of the layouts and notes it.
func (c *canvas) address(a Address) {
	c.found = append(c.found, a)
	if c.dry {
		return
	}
	l := c.spell(a)
	layout, n := 0, c.w.n(22)
	for ; n >= layouts[layout].weight; layout++ {
		n -= layouts[layout].weight
	}
	kind, class, responsible := "LocalBusiness", "fn org", ""
	if a.Person {
		kind, class, responsible = "Person", "fn", "Verantwortlich für den Inhalt: "+l.name+". "
	}
	c.put(strings.NewReplacer("{name}", html.EscapeString(l.name), "{street}", l.street, "{city}", l.city, "{postcode}", l.postcode, "{place}", l.place,
		"{phone}", l.phone, "{type}", kind, "{class}", class, "{responsible}", responsible).Replace(layouts[layout].html), "\n")
}

// inline returns an address within a line and notes it.
func (c *canvas) inline(a Address) string {
	c.found = append(c.found, a)
	if c.dry {
		return ""
	}
	l := c.spell(a)
	return l.street + ", " + l.city
}

// A spelling is an address as a page spells it.
type spelling struct {
	name, street, city string
	postcode, place    string // the two parts of city, without "D-"
	phone              string
}

// spell writes the parts of an address as people do.
func (c *canvas) spell(a Address) spelling {
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
	l := spelling{name: a.Name, street: c.spellStreet(a.Street) + " " + number, postcode: a.Postcode, place: a.City}
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
		return strings.NewReplacer("straße", "str.", "Straße", "Str.").Replace(s)
	case r < 32:
		return strings.Replace(s, "traße", "trasse", 1)
	case r < 36:
		return asciiUmlauts.Replace(s)
	case r < 39:
		return strings.Replace(s, "straße", "str", 1)
	case r < 42:
		return strings.Replace(s, "platz", "pl.", 1)
	case r < 45 && strings.Count(s, "-") > 1:
		return strings.ReplaceAll(s, "-", " ")
	case r < 47:
		return strings.Replace(s, "straße", "-Straße", 1)
	case r < 48:
		return strings.ToUpper(strings.Replace(s, "ß", "ss", 1))
	}
	return s
}
