package demo

import "strconv"

// The pages of a catalogue: some fixed ones, the list pages of its sections,
// then its items.
const (
	homePage = iota
	contactPage
	imprintPage
	aboutPage
	privacyPage
	internPage // forbidden by robots.txt
	fixedPages
)

// list returns the section and the list page (from 0) of page n, if it is one.
func (s *site) list(n int32) (section, list int32, ok bool) {
	n -= fixedPages
	if n < 0 || n >= s.sections*s.lists() {
		return 0, 0, false
	}
	return n / s.lists(), n % s.lists(), true
}

func (s *site) listPage(section, list int32) int32 { return fixedPages + section*s.lists() + list }

// item returns the number of the item on page n, if it is one.
func (s *site) item(n int32) (item int32, ok bool) {
	n -= s.itemPage(0)
	return n, n >= 0 && n < s.items
}

func (s *site) itemPage(item int32) int32 { return fixedPages + s.sections*s.lists() + item }

// portalAddresses are the shares of items with an address, by section.
var portalAddresses = [...]float64{0.9, 0.4, 0.4, 0.5, 0.03, 0.3, 0.02}

func (t *Town) sectionName(s *site, section int32) string {
	switch names := s.kind.words().Sections; {
	case s.kind == directory:
		return words().Trades[section].Plural
	case len(names) == 0:
		return t.places[section].name
	default:
		return names[section]
	}
}

// An item is what a page of a catalogue is about.
type item struct {
	title   string
	place   int   // it is in, or -1
	org     int32 // site it is about, or -1
	address Address
	located bool // the page has the address
}

// itemOf returns what the n-th item of a catalogue is about.
func (t *Town) itemOf(site, n int32) item {
	s := &t.sites[site]
	d := t.dice(topicItem, uint64(site), uint64(n))
	section := n % s.sections
	it := item{place: -1, org: -1}
	about := func(org int32) {
		it.org = org
		it.title, it.address = t.sites[org].name, t.ownAddress(org)
	}
	switch s.kind {
	case portal:
		it.place = 0
		t.portalItem(&d, &it, section, int(n/s.sections))
	case newspaper:
		it.title = headline(&d)
		if d.chance(0.15) {
			it.title += " in " + t.places[d.n(1+villages)].name
		}
		switch r := d.share(); {
		case r < 0.05:
			it.address, it.located = t.addressIn(&d, 0, ""), true
		case r < 0.07:
			it.address, it.located = t.addressIn(&d, 1+d.n(villages), ""), true
		}
		if d.chance(0.12) {
			it.org = pick(&d, t.orgs[0])
		}
	case directory: // the town's directories look beyond it
		it.place = 0
		if r := d.share(); r < 0.2 {
			it.place = 1 + d.n(villages)
		} else if r < 0.45 {
			it.place = t.farPlace(&d)
		}
		orgs := t.orgs[it.place]
		if k := t.entryOrder(site, n); k < len(orgs) && t.sites[orgs[k]].fate != optedOut {
			about(orgs[k])
		} else {
			it.title = orgName(&d, t.places[it.place].name)
			it.address = t.addressIn(&d, 0, it.title)
			if it.place != 0 { // drawn again, so that a town of an earlier version stays the same
				it.address = t.addressIn(&d, it.place, it.title)
			}
		}
		it.located = d.chance(0.6)
	case yellowPages, chain:
		it.place = int(section)
		if orgs := t.orgs[it.place]; s.kind == yellowPages && len(orgs) > 0 && d.chance(0.5) {
			about(pick(&d, orgs))
		} else {
			it.title = orgName(&d, t.places[it.place].name)
			if s.kind == chain {
				it.title = s.name + " " + t.places[it.place].name
			}
			it.address = t.addressIn(&d, it.place, it.title)
		}
		it.located = d.chance(0.93)
	case linkCatalogue:
		it.place = int(section)
		if orgs := t.orgs[it.place]; len(orgs) > 0 && d.chance(0.7) {
			it.org = pick(&d, orgs)
		} else {
			it.org = pick(&d, t.far)
		}
		it.title = t.sites[it.org].name
	case jobs, property:
		switch r := d.share(); {
		case r < 0.06:
			it.place = 0
		case r < 0.1:
			it.place = 1 + d.n(villages)
		default:
			it.place = t.farPlace(&d)
		}
		it.address = t.addressIn(&d, it.place, "")
		it.title = pick(&d, words().JobTitles)
		if s.kind == property {
			it.title = strconv.Itoa(1+d.n(6)) + "-Zimmer-Wohnung"
		}
		it.title += " in " + t.places[it.place].name
		it.located = d.chance(0.5)
	case localBlog:
		it.title = headline(&d)
		if d.chance(0.45) {
			it.org = pick(&d, t.orgs[0])
			it.address, it.located = t.ownAddress(it.org), d.chance(0.3)
		}
	case magazine, blog:
		it.title = headline(&d)
		if d.chance(0.01) {
			it.org = pick(&d, t.orgs[0])
		}
	case shop:
		it.title = pick(&d, words().Goods) + " " + pick(&d, words().Families) + " " + strconv.Itoa(100+d.n(900))
	case forum:
		it.title = "Frage zu " + pick(&d, words().Nouns)
		if d.chance(0.02) {
			it.title, it.place = "Wer kennt sich in "+t.places[0].name+" aus", 0
		}
	case wiki:
		it.title = pick(&d, words().Nouns)
		if int(n) < len(t.places) {
			it.place = int(n)
			it.title = t.places[n].name
		}
	case linkFarm:
		it.title = pick(&d, words().Trades).Plural + " " + t.places[d.n(len(t.places))].name
	}
	return it
}

// portalItem makes up the n-th item in a section of the portal.
func (t *Town) portalItem(d *dice, it *item, section int32, n int) {
	switch section {
	case 0:
		offices := words().Offices
		it.title = offices[n%len(offices)]
		if n >= len(offices) {
			it.title += ", Zweigstelle " + strconv.Itoa(n/len(offices))
		}
		it.address = t.addressIn(d, 0, it.title)
	case 1, 3, 5:
		it.org = pick(d, t.orgs[0])
		it.title, it.address = t.sites[it.org].name, t.ownAddress(it.org)
	case 2:
		it.title = pick(d, words().Nouns) + " im " + pick(d, words().Halls)
		it.address = t.addressIn(d, 0, "")
	default:
		it.title = headline(d)
		it.address = t.addressIn(d, 0, "")
	}
	it.located = d.chance(portalAddresses[section])
}

// entryOrder shuffles the entries of a directory: a multiplication with a
// number that has no factor in common with their count.
func (t *Town) entryOrder(site, n int32) int {
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	count := int(t.sites[site].items)
	factor := count*618/1000 + int(site)
	for gcd(factor, count) != 1 {
		factor++
	}
	return (int(n)*factor + int(site)) % count
}

// catalogue draws a page of any site but an organisation's.
func (c *canvas) catalogue() {
	s, n := c.s, c.at.page
	if section, list, ok := s.list(n); ok {
		c.listPage(section, list)
	} else if item, ok := s.item(n); ok {
		c.itemPage(item)
	} else {
		c.fixedPage(n)
	}
	c.foot()
	about, privacy := "Über uns", "Datenschutz"
	if s.style%2 == 1 {
		about, privacy = "Wer wir sind", "Datenschutz und AGB"
	}
	for _, fixed := range [...]struct {
		page int32
		name string
	}{{aboutPage, about}, {contactPage, "Kontakt"}, {imprintPage, "Impressum"}, {privacyPage, privacy}} {
		if fixed.page != n {
			c.put(c.link(ref{c.at.site, fixed.page}, fixed.name), " ")
		}
	}
	if n == homePage && s.style == 2 {
		c.put(c.link(ref{c.at.site, internPage}, "Redaktion"))
	}
	c.end()
}

// sectionLink returns a link to the first list page of a section.
func (c *canvas) sectionLink(section int32) string {
	return c.link(ref{c.at.site, c.s.listPage(section, 0)}, c.t.sectionName(c.s, section))
}

// top writes the head, the menu and the heading of a page.
func (c *canvas) top(title string, section int32) {
	c.head(title + " – " + c.s.name)
	links := []string{c.link(ref{c.at.site, homePage}, c.s.name)}
	shown := min(c.s.sections, 9) // sites with many sections show some
	for k := range shown {
		if c.s.sections > shown {
			k = (section + 1 + k*(c.s.sections/shown)) % c.s.sections
		}
		if k != section {
			links = append(links, c.sectionLink(k))
		}
	}
	c.menu(links)
	c.heading("h1", title)
}

func (c *canvas) fixedPage(n int32) {
	s := c.s
	title := [...]string{s.name, "Kontakt", "Impressum", "Über uns", "Datenschutz", "Redaktion"}[n]
	if s.kind == calendar {
		c.calendarPage(title, n)
		return
	}
	c.top(title, 0)
	own := c.t.ownAddress(c.at.site)
	if s.kind == localBlog {
		own.Person, own.Name = true, s.owner
	}
	switch n {
	case homePage:
		c.catalogueHome()
	case contactPage:
		c.prose(2)
		if s.style%3 == 0 || s.house >= 0 {
			c.address(own)
		}
	case imprintPage:
		c.paragraph("Angaben gemäß § 5 DDG")
		c.address(own)
		c.prose(3)
	case aboutPage:
		c.prose(8)
	case privacyPage:
		c.privacy()
	case internPage:
		c.prose(3)
		c.address(own)
	}
}

func (c *canvas) catalogueHome() {
	c.prose(2 + c.w.n(3))
	if c.s.sections > 9 { // all sections, for those that the menu leaves out
		var links []string
		for k := range c.s.sections {
			links = append(links, c.sectionLink(k))
		}
		c.list(links)
	}
	c.heading("h2", "Neu")
	var news []string
	for range 8 {
		news = append(news, c.itemLine(int32(c.d.n(int(c.s.items))), false))
	}
	c.list(news)
	c.put("<p>Tipps: ")
	for range c.d.between(2, 4) {
		c.put(c.elsewhere(), ", ")
	}
	c.put("</p>\n")
}

func (c *canvas) listPage(section, list int32) {
	s := c.s
	title := c.t.sectionName(s, section)
	if list > 0 {
		title += " – Seite " + strconv.Itoa(int(list)+1)
	}
	c.top(title, section)
	if c.t.traps(c.at.site) && s.kind == shop {
		c.facets()
	}
	// Some trades have their addresses printed in the lists.
	addresses := s.kind == directory && (section+int32(s.style))%5 == 0
	var items []string
	for i := range s.perList {
		if n := (list*s.perList+i)*s.sections + section; n < s.items {
			items = append(items, c.itemLine(n, addresses))
		}
	}
	c.list(items)
	c.put("<p>")
	for l := range s.lists() {
		if l != list && (l < 3 || l-list < 3 && list-l < 3 || l == s.lists()-1) {
			c.put(c.link(ref{c.at.site, s.listPage(section, l)}, strconv.Itoa(int(l)+1)), " ")
		}
	}
	c.put("</p>\n")
	if c.d.chance(0.5) {
		c.paragraph("Anzeige: ", c.elsewhere())
	}
}

// itemLine returns the entry of an item in a list.
func (c *canvas) itemLine(n int32, address bool) string {
	it := c.t.itemOf(c.at.site, n)
	page := ref{c.at.site, c.s.itemPage(n)}
	line := ""
	switch {
	case c.s.kind == linkCatalogue: // the site itself
		return c.visit(it.org) + " (" + c.link(page, "Beschreibung") + ")"
	case c.s.style == 4: // the title is no link
		line = c.text(it.title+" ") + c.link(page, pick(&c.w, []string{"Details", "mehr", "weiterlesen", "»"}))
	default:
		line = c.link(page, it.title)
	}
	if address && it.located {
		line += "<br>" + c.inline(it.address)
	} else if c.w.chance(0.3) {
		line += "<br>" + c.text(pick(&c.w, words().Sentences))
	}
	return line
}

func (c *canvas) itemPage(n int32) {
	s := c.s
	it := c.t.itemOf(c.at.site, n)
	section := n % s.sections
	c.top(it.title, section)
	c.paragraph(c.link(ref{c.at.site, s.listPage(section, n/s.sections/s.perList)}, c.t.sectionName(s, section)))
	c.itemText(it)
	if it.place == 0 && (s.kind == wiki || s.kind == forum) {
		c.paragraph(c.text(c.t.places[0].name+" liegt an der Küste und hat viele Straßen, darunter die Hauptstraße. Mehr: "), c.visit(c.t.local[0]))
	}
	if it.located {
		c.address(it.address)
	}
	if it.org >= 0 && (s.kind != yellowPages || c.d.chance(0.7)) {
		c.paragraph("Im Netz: ", c.visit(it.org))
	}
	c.related(n)
	links := 0.25
	switch s.kind {
	case forum, blog, localBlog:
		links = 0.4
	case linkFarm:
		links = 1
	case directory, yellowPages, chain:
		links = 0
	}
	for ; c.d.chance(links); links *= 0.7 {
		c.paragraph("Siehe auch ", c.elsewhere())
	}
	if c.d.chance(0.02) {
		c.paragraph(`<a href="/geloescht/`, strconv.Itoa(int(n)), `.html">Ältere Fassung</a>`)
	}
	if c.d.chance(0.03) {
		c.paragraph(`<a href="http://`, pick(&c.w, words().Outside), "/teilen?id=", strconv.Itoa(int(n)), `">Teilen</a>`)
	}
}

// itemText writes what a page says of its item.
func (c *canvas) itemText(it item) {
	switch c.s.kind {
	case shop:
		c.paragraph("Preis: ", strconv.Itoa(5+c.w.n(900)), ",", strconv.Itoa(10+c.w.n(90)), " € zzgl. Versand, Art.-Nr. ", strconv.Itoa(10000+c.w.n(80000)))
		c.prose(5 + c.w.n(5))
	case forum:
		for range c.w.between(2, 6) {
			c.heading("h3", pick(&c.w, words().FirstNames)+" schrieb:")
			c.prose(2)
		}
	case jobs, property:
		c.prose(6)
		if !it.located { // the place alone is no address
			p := &c.t.places[it.place]
			c.paragraph("Einsatzort: ", pick(&c.w, p.postcodes), " ", c.text(p.name))
		}
	case magazine, newspaper, wiki:
		c.prose(10 + c.w.n(12))
	default:
		c.prose(3 + c.w.n(5))
	}
}

// related writes links to neighbours in the section; most firms do not name their
// rivals.
func (c *canvas) related(n int32) {
	count := c.d.between(2, 4)
	switch c.s.kind {
	case directory, yellowPages, portal, chain:
		if c.d.chance(0.85) {
			count = 0
		}
	}
	var links []string
	for range count {
		if k := n + int32(c.d.between(-6, 6))*c.s.sections; k >= 0 && k < c.s.items && k != n {
			links = append(links, c.link(ref{c.at.site, c.s.itemPage(k)}, c.t.itemOf(c.at.site, k).title))
		}
	}
	c.paragraph("Auch interessant:")
	c.list(links)
}

// elsewhere returns a link to another site of the wide web or, from local
// sites, of the town.
func (c *canvas) elsewhere() string {
	local := 0.05
	switch c.s.kind {
	case portal, newspaper, directory, localBlog:
		local = c.t.o.Locality
	case linkFarm:
		if c.d.chance(0.7) {
			return c.visit(pick(&c.d, c.t.farms))
		}
	}
	switch r := c.d.share(); {
	case r < local && c.d.chance(0.3):
		return c.visit(pick(&c.d, c.t.local))
	case r < local:
		return c.visit(pick(&c.d, c.t.orgs[0]))
	case r < local+0.12:
		orgs := pick(&c.d, c.t.orgs[1:])
		if len(orgs) == 0 {
			return ""
		}
		return c.visit(pick(&c.d, orgs))
	case r > 0.98 && len(c.t.farms) > 0:
		return c.visit(pick(&c.d, c.t.farms))
	}
	return c.visit(pick(&c.d, c.t.far))
}
