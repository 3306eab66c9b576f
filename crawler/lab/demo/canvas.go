package demo

import (
	"bytes"
	_ "embed"
	"html"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
)

//go:embed pages.tmpl
var pagesText string

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(pagesText))
})

// A canvas is one page while it is written by pages.tmpl, which calls its exported
// methods; they return HTML.
type canvas struct {
	t       *Town
	at      ref
	s       *site
	foreign bool   // the page is in the town's other language
	domain  string // what host names end in on this page
	trap    string // of a trap's page
	outline bool   // only links and found are needed: no text is written, and w is not used

	d     dice // structure: links and addresses
	w     dice // words and layout
	buf   bytes.Buffer
	links []ref // links to pages of the town's web, in order
	found []Address

	body    string // the template of the content
	Plan    *orgPlan
	Kind    orgKind // of an organisation's page
	Nth     int32   // of the page among those of its kind, or of the item
	section int32   // of a catalogue, with the number of its list
	list    int32
	Item    item
	Day     time.Time // of the calendar
}

// draw writes a page, in which host names end in domain.
func (t *Town) draw(at ref, trap, domain string) *canvas {
	c := t.canvas(at, trap, domain)
	c.run("page", c)
	return c
}

// outline finds the links and addresses of a page without writing its text.
func (t *Town) outline(at ref, trap string) *canvas {
	c := t.canvas(at, trap, "")
	c.outline = true
	c.Menu()
	c.Body()
	c.Foot()
	return c
}

func (t *Town) canvas(at ref, trap, domain string) *canvas {
	c := &canvas{t: t, at: at, s: &t.sites[at.site], foreign: t.isForeign(at), domain: domain, trap: trap,
		d: t.dice(topicPage, uint64(at.site), uint64(at.page)),
		w: t.dice(topicText, uint64(at.site), uint64(at.page))}
	if c.s.kind == organisation {
		c.Plan = &c.s.org
		c.Kind, c.Nth = c.Plan.at(c.at.page)
		c.body = "org " + words().OrgPages[c.Kind].Name
	} else {
		c.lookUp()
	}
	return c
}

// run executes a template, which writes to c, and returns "".
func (c *canvas) run(name string, data any) string {
	if err := templates().ExecuteTemplate(&c.buf, name, data); err != nil {
		panic("demo: pages.tmpl: " + err.Error()) // it is part of the program
	}
	return ""
}

// Menu returns the links that all pages of the site have.
func (c *canvas) Menu() string {
	switch {
	case c.s.kind == organisation:
		return c.orgMenu()
	case strings.HasPrefix(c.body, "calendar"):
		return ""
	}
	return c.catalogueMenu()
}

// Heading returns what the page is called.
func (c *canvas) Heading() string {
	switch {
	case c.s.kind == organisation && c.Kind == orgHome:
		return "Willkommen"
	case c.s.kind == organisation:
		return c.t.orgAnchor(c.at)
	}
	return c.catalogueHeading()
}

// Body writes the content.
func (c *canvas) Body() string {
	c.run(c.body, c)
	if c.s.kind == organisation && (c.Plan.Address[c.Kind] || c.Kind == orgIntern) {
		c.run("org address", c)
	}
	return ""
}

// Foot returns what stands below the content.
func (c *canvas) Foot() string {
	if c.s.kind == organisation {
		return c.orgFoot()
	}
	return c.catalogueFoot()
}

// Text returns the HTML of s, on a foreign page translated.
func (c *canvas) Text(s string) string {
	if c.outline {
		return ""
	}
	if c.foreign {
		s = c.t.translate(s)
	}
	return html.EscapeString(s)
}

// Title returns that of the page.
func (c *canvas) Title() string { return c.Text(c.Heading() + " – " + c.s.name) }

// Description returns what the page says of itself to search engines.
func (c *canvas) Description() string { return c.Text(c.s.name + " in " + c.Place()) }

// Place returns the name of the site's place.
func (c *canvas) Place() string { return c.t.places[c.s.place].name }

// InTown reports whether the site is the town's.
func (c *canvas) InTown() bool { return c.s.place == 0 }

// Chance is true with probability p; what the page holds depends on it.
func (c *canvas) Chance(p float64) bool { return c.d.chance(p) }

// Links returns a number of links from low to high.
func (c *canvas) Links(low, high int) int { return c.d.between(low, high) }

// Draw returns a number from low to high on which no link or address depends.
func (c *canvas) Draw(low, high int) int { return c.w.between(low, high) }

// FirstName returns one.
func (c *canvas) FirstName() string { return pick(&c.w, words().FirstNames) }

// Person returns a made-up name.
func (c *canvas) Person() string { return c.FirstName() + " " + pick(&c.w, words().Families) }

// Outside returns a host that the town's web does not have.
func (c *canvas) Outside() string { return pick(&c.w, words().Outside) }

// Sentence returns one about nothing.
func (c *canvas) Sentence() string { return c.Text(pick(&c.w, words().Sentences)) }

func (c *canvas) htmlList(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "<ul>\n<li>" + strings.Join(items, "</li>\n<li>") + "</li>\n</ul>\n"
}

// Prose returns paragraphs with so many sentences in all: least, and fewer than more
// beyond.
func (c *canvas) Prose(least, more int) string {
	if c.outline {
		return ""
	}
	if more > 0 {
		least += c.w.n(more)
	}
	var b strings.Builder
	b.WriteString("<p>")
	for i := range least {
		if i > 0 && c.w.chance(0.25) {
			b.WriteString("</p>\n<p>")
		}
		list := words().Sentences
		if c.w.chance(0.05) {
			list = words().Distractions
		}
		b.WriteString(c.Text(pick(&c.w, list)) + " ")
	}
	b.WriteString("</p>\n")
	return b.String()
}

// Filler brings the page to its size with filler text, as full of markup as pages of
// the web are: about one element for each 60 bytes. It holds no address and no link. With
// Options.Mentions it begins on some pages with a paragraph that names the town.
func (c *canvas) Filler() string {
	const tail = "</body>\n</html>\n"
	var b strings.Builder
	mention := c.t.dice(topicMention, uint64(c.at.site), uint64(c.at.page))
	if town := &c.t.places[0]; c.t.o.PageSize > 0 && mention.chance(c.t.o.Mentions) {
		b.WriteString("<p>" + c.Sentence() + " " + pick(&mention, town.postcodes) + " " + c.Text(town.name) + ". " +
			c.Sentence() + "</p>\n")
	}
	for c.buf.Len()+b.Len()+len(tail) < c.t.o.PageSize {
		b.WriteString("<p>" + c.Sentence() + " <em>" + c.Sentence() + "</em> <b>" + c.Sentence() + "</b></p>\n")
	}
	return b.String()
}

// link returns a link to a page of the town's web.
func (c *canvas) link(to ref, anchor string) string {
	c.links = append(c.links, to)
	if c.outline {
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
		title = `" title="` + c.Text(anchor)
	}
	return `<a href="` + html.EscapeString(href) + title + `">` + c.Text(anchor) + "</a>"
}

// Visit returns a link to another site: mostly to its home page, by its name
// or by a word that says nothing.
func (c *canvas) Visit(s int32) string {
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
	if c.outline {
		return c.link(to, "")
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

// Noindex reports whether the page is marked noindex: on some sites that about privacy.
func (c *canvas) Noindex() bool {
	if c.s.kind == organisation {
		return c.s.style == 1 && c.Kind == orgPrivacy
	}
	return c.s.style == 1 && c.at.page == privacyPage
}

// Nofollow reports whether the page is marked nofollow.
func (c *canvas) Nofollow() bool { return c.s.kind == linkFarm && c.at.page%7 == 3 }

// layouts are the numbers of each "address N" of pages.tmpl, as often as it comes.
var layouts = []int{0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 7, 8, 8, 9, 10}

// Address writes an address in one of the layouts and notes it.
func (c *canvas) Address(a Address) string {
	c.found = append(c.found, a)
	if c.outline {
		return ""
	}
	spelt := c.spell(a)
	spelt.Name = html.EscapeString(spelt.Name)
	c.run("address "+strconv.Itoa(pick(&c.w, layouts)), spelt)
	return "\n"
}

// OwnAddress writes the address of the owner of the site: of a person where it is a
// private blog.
func (c *canvas) OwnAddress() string {
	own := c.t.ownAddress(c.at.site)
	if c.s.kind == localBlog {
		own.Person, own.Name = true, c.s.owner
	}
	return c.Address(own)
}

// OpeningHours returns those of the organisation, or "" where it has none.
func (c *canvas) OpeningHours() string {
	if c.s.kind != organisation {
		return ""
	}
	tag := words().Trades[c.s.trade].Tag
	key, _, _ := strings.Cut(tag, "=")
	hours := words().Opening[tag]
	if hours == nil {
		hours = words().Opening[key]
	}
	if hours == nil {
		return ""
	}
	d := c.t.dice(topicItem, uint64(c.at.site), 1<<41) // its own, so that nothing else of the page changes
	return c.Text(pick(&d, hours))
}

// inline returns an address within a line and notes it.
func (c *canvas) inline(a Address) string {
	c.found = append(c.found, a)
	if c.outline {
		return ""
	}
	spelt := c.spell(a)
	return spelt.Street + ", " + spelt.City
}

// FarAddress returns one in a far town within a line.
func (c *canvas) FarAddress() string { return c.inline(c.t.addressIn(&c.d, c.t.farPlace(&c.d), "")) }

// A spelling is an address as a page spells it.
type spelling struct {
	Name, Street, City string
	Postcode, Place    string // the two parts of City, without "D-"
	Phone              string
	Person             bool
	Type               string // of schema.org
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
	l := spelling{Name: a.Name, Street: c.spellStreet(a.Street) + " " + number, Postcode: a.Postcode, Place: a.City,
		Person: a.Person, Type: "LocalBusiness"}
	if l.Name == "" {
		l.Name = c.s.name
	}
	if l.Person {
		l.Type = "Person"
	}
	if a.InTown && c.w.chance(c.t.o.Misprints) {
		l.Postcode = "4" + a.Postcode[3:] + a.Postcode[1:3]
	}
	switch c.w.n(25) {
	case 0:
		l.Place = strings.ToUpper(l.Place)
	case 1:
		l.Place += pick(&c.w, []string{"-Mitte", "-Nord", " (Stadtmitte)"})
	}
	l.City = l.Postcode + " " + l.Place
	switch c.w.n(14) {
	case 0:
		l.City = "D-" + l.City
	case 1:
		l.City = "DE - " + l.City
	}
	l.Phone = "0429" + strconv.Itoa(c.w.n(10)) + " / " + strconv.Itoa(100+c.w.n(900)) + " " + strconv.Itoa(10+c.w.n(90))
	return l
}

var asciiUmlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss",
	"Ä", "Ae", "Ö", "Oe", "Ü", "Ue")

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
