package demo

import (
	"strconv"
)

// The sections of the town's portal and the share of their items that have an
// address.
var portalSections = []struct {
	name    string
	address float64
}{
	{"Rathaus", 0.9}, {"Vereine", 0.4}, {"Veranstaltungen", 0.4}, {"Tourismus", 0.5}, {"Aktuelles", 0.03}, {"Wirtschaft", 0.3}, {"Bekanntmachungen", 0.02},
}

func (t *Town) sectionName(s *site, section int32) string {
	switch s.kind {
	case portal:
		return portalSections[section].name
	case newspaper:
		return localNewsKinds[section]
	case directory:
		return trades[section].plural
	case yellowPages, chain, linkCatalogue:
		return t.places[section].name
	case magazine:
		return newsKinds[section]
	case forum, wiki:
		return forumKinds[section]
	case localBlog, blog:
		return [...]string{"Unterwegs", "Zuhause", "Gedanken"}[section]
	case linkFarm:
		return [...]string{"Hotels", "Firmen", "Angebote"}[section]
	default:
		return goodsKinds[section]
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

// itemTitle returns the title of an item without the rest.
func (t *Town) itemTitle(site int, n int32) string { return t.item(site, n).title }

// item returns what the n-th item of a catalogue is about.
func (t *Town) item(site int, n int32) item {
	s := &t.sites[site]
	d := t.dice(topicItem, uint64(site), uint64(n))
	section := n % s.sections
	it := item{place: -1, org: -1}
	townHouse := func(name string) Address {
		town := &t.places[0]
		return t.houseAddress(town.first+d.n(town.last-town.first), name)
	}
	switch s.kind {
	case portal:
		it.place = 0
		switch section {
		case 0:
			it.title = offices[int(n/s.sections)%len(offices)]
			if int(n/s.sections) >= len(offices) {
				it.title += ", Zweigstelle " + strconv.Itoa(int(n/s.sections)/len(offices))
			}
			it.address = townHouse(it.title)
		case 1, 3, 5:
			it.org = pick(&d, t.orgs[0])
			it.title, it.address = t.sites[it.org].name, t.orgAddress(int(it.org))
		case 2:
			it.title = pick(&d, nouns) + " im " + pick(&d, []string{"Kulturhaus", "Gemeindesaal", "Stadtpark", "Hafenspeicher"})
			it.address = townHouse("")
		default:
			it.title = pick(&d, nouns) + " " + pick(&d, verbs)
			it.address = townHouse("")
		}
		it.located = d.chance(portalSections[section].address)
	case newspaper:
		it.title = pick(&d, nouns) + " " + pick(&d, verbs)
		if d.chance(0.15) {
			it.title += " in " + t.places[d.n(1+villages)].name
		}
		switch r := d.share(); {
		case r < 0.05:
			it.address, it.located = townHouse(""), true
		case r < 0.07:
			it.address, it.located = t.farAddress(&d, 1+d.n(villages), ""), true
		}
		if d.chance(0.12) {
			it.org = pick(&d, t.orgs[0])
		}
	case directory:
		// The town's directories look beyond it.
		it.place = 0
		if r := d.share(); r < 0.2 {
			it.place = 1 + d.n(villages)
		} else if r < 0.45 {
			it.place = t.farPlace(&d)
		}
		orgs := t.orgs[it.place]
		if k := t.entryOrder(site, n); k < len(orgs) && t.sites[orgs[k]].fate != optedOut {
			it.org = orgs[k]
			it.title, it.address = t.sites[it.org].name, t.orgAddress(int(it.org))
		} else {
			it.title = orgName(&d, t.places[it.place].name)
			if it.address = townHouse(it.title); it.place != 0 {
				it.address = t.farAddress(&d, it.place, it.title)
			}
		}
		it.located = d.chance(0.6)
	case yellowPages, chain:
		it.place = int(section)
		orgs := t.orgs[it.place]
		if s.kind == yellowPages && len(orgs) > 0 && d.chance(0.5) {
			it.org = pick(&d, orgs)
			it.title, it.address = t.sites[it.org].name, t.orgAddress(int(it.org))
		} else {
			it.title = orgName(&d, t.places[it.place].name)
			if s.kind == chain {
				it.title = s.name + " " + t.places[it.place].name
			}
			if it.place == 0 {
				it.address = townHouse(it.title)
			} else {
				it.address = t.farAddress(&d, it.place, it.title)
			}
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
			it.address = townHouse("")
		case r < 0.1:
			it.place = 1 + d.n(villages)
			it.address = t.farAddress(&d, it.place, "")
		default:
			it.place = t.farPlace(&d)
			it.address = t.farAddress(&d, it.place, "")
		}
		it.title = pick(&d, []string{"Verkäufer", "Fachkraft", "Auszubildende", "Buchhalter", "Mechatroniker", "Pflegekraft"}) + " in " + t.places[it.place].name
		if s.kind == property {
			it.title = strconv.Itoa(1+d.n(6)) + "-Zimmer-Wohnung in " + t.places[it.place].name
		}
		it.located = d.chance(0.5)
	case magazine, blog, localBlog:
		it.title = pick(&d, nouns) + " " + pick(&d, verbs)
		if s.kind == localBlog {
			if d.chance(0.45) {
				it.org = pick(&d, t.orgs[0])
				it.address, it.located = t.orgAddress(int(it.org)), d.chance(0.3)
			}
		} else if d.chance(0.01) {
			it.org = pick(&d, t.orgs[0])
		}
	case shop:
		it.title = pick(&d, goods) + " " + pick(&d, families) + " " + strconv.Itoa(100+d.n(900))
	case forum:
		it.title = "Frage zu " + pick(&d, nouns)
		if d.chance(0.02) {
			it.title, it.place = "Wer kennt sich in "+t.places[0].name+" aus", 0
		}
	case wiki:
		it.title = pick(&d, nouns)
		if int(n) < len(t.places) {
			it.place = int(n)
			it.title = t.places[n].name
		}
	case linkFarm:
		it.title = pick(&d, trades).plural + " " + t.places[d.n(len(t.places))].name
	}
	return it
}

// entryOrder shuffles the entries of a directory: a multiplication with a
// number that has no factor in common with their count.
func (t *Town) entryOrder(site int, n int32) int {
	count := int(t.sites[site].items)
	factor := count*618/1000 + site
	for gcd(factor, count) != 1 {
		factor++
	}
	return (int(n)*factor + site) % count
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// catalogue draws a page of any site but an organisation's.
func (c *canvas) catalogue() {
	s, n := c.s, c.at.page
	section, list, isList := s.list(n)
	number, isItem := s.item(n)
	switch {
	case isList:
		c.listPage(section, list)
	case isItem:
		c.itemPage(number)
	default:
		c.fixedPage(n)
	}
	c.raw("</div>\n<div id=\"fuss\">")
	for _, fixed := range [...]struct {
		page  int32
		words [2]string
	}{{aboutPage, [2]string{"Über uns", "Wer wir sind"}}, {contactPage, [2]string{"Kontakt", "Kontakt"}},
		{imprintPage, [2]string{"Impressum", "Impressum"}}, {privacyPage, [2]string{"Datenschutz", "Datenschutz und AGB"}}} {
		if fixed.page != n {
			c.link(ref{c.at.site, fixed.page}, fixed.words[s.style%2])
			c.raw(" ")
		}
	}
	if n == homePage && s.style == 2 {
		c.link(ref{c.at.site, internPage}, "Redaktion")
	}
	c.raw("</div>\n</body>\n</html>\n")
}

// top writes the head, the menu and the heading of a page.
func (c *canvas) top(title string, section int32) {
	c.head(title + " – " + c.s.name)
	c.raw("<div id=\"kopf\">")
	c.link(ref{c.at.site, homePage}, c.s.name)
	c.raw("</div>\n<ul id=\"menue\">\n")
	// Sites with many sections show some in the menu.
	shown := min(c.s.sections, 9)
	for i := range shown {
		k := i
		if c.s.sections > shown {
			k = (section + 1 + i*(c.s.sections/shown)) % c.s.sections
		}
		if k == section {
			continue
		}
		c.raw("<li>")
		c.link(ref{c.at.site, c.s.listPage(k, 0)}, c.t.sectionName(c.s, k))
		c.raw("</li>\n")
	}
	c.raw("</ul>\n<div id=\"inhalt\">\n")
	c.element("h1", title)
}

func (c *canvas) fixedPage(n int32) {
	s := c.s
	name := [...]string{homePage: s.name, contactPage: "Kontakt", imprintPage: "Impressum", aboutPage: "Über uns", privacyPage: "Datenschutz", internPage: "Redaktion"}[n]
	if s.kind == calendar {
		c.calendarPage(name, n)
		return
	}
	c.top(name, 0)
	own := c.t.orgAddress(int(c.at.site))
	if s.kind == localBlog {
		own.Person, own.Name = true, s.owner
	}
	switch n {
	case homePage:
		c.prose(2 + c.w.n(3))
		if s.sections > 9 { // all sections, for those that the menu leaves out
			c.raw("<ul>\n")
			for k := range s.sections {
				c.raw("<li>")
				c.link(ref{c.at.site, s.listPage(k, 0)}, c.t.sectionName(s, k))
				c.raw("</li>\n")
			}
			c.raw("</ul>\n")
		}
		c.raw("<h2>Neu</h2>\n<ul>\n")
		for range 8 {
			c.itemLine(int32(c.d.n(int(s.items))), false)
		}
		c.raw("</ul>\n<p>Tipps: ")
		for range c.d.between(2, 4) {
			c.elsewhere()
			c.raw(", ")
		}
		c.raw("</p>\n")
	case contactPage:
		c.prose(2)
		if s.style%3 == 0 || s.house >= 0 {
			c.address(own)
		}
	case imprintPage:
		c.raw("<p>Angaben gemäß § 5 DDG</p>\n")
		c.address(own)
		c.prose(3)
	case aboutPage:
		c.prose(8)
	case privacyPage:
		c.prose(14)
		c.raw("<p>Aufsichtsbehörde: Landesbeauftragte für den Datenschutz, Prinzenweg 5, 62017 Nordhafen</p>\n")
	case internPage:
		c.prose(3)
		c.address(own)
	}
}

func (c *canvas) listPage(section, list int32) {
	s := c.s
	title := c.t.sectionName(s, section)
	if list > 0 {
		title += " – Seite " + strconv.Itoa(int(list)+1)
	}
	c.top(title, section)
	if c.t.traps(int(c.at.site)) && s.kind == shop {
		c.facets()
	}
	// Some trades have their addresses printed in the lists.
	addresses := s.kind == directory && (section+int32(s.style))%5 == 0
	c.raw("<ul>\n")
	for i := range s.perList {
		if n := (list*s.perList+i)*s.sections + section; n < s.items {
			c.itemLine(n, addresses)
		}
	}
	c.raw("</ul>\n<p>")
	for l := range s.lists() {
		if l != list && (l < 3 || l-list < 3 && list-l < 3 || l == s.lists()-1) {
			c.link(ref{c.at.site, s.listPage(section, l)}, strconv.Itoa(int(l)+1))
			c.raw(" ")
		}
	}
	c.raw("</p>\n")
	if c.d.chance(0.5) {
		c.raw("<p>Anzeige: ")
		c.elsewhere()
		c.raw("</p>\n")
	}
}

// itemLine writes the entry of an item in a list.
func (c *canvas) itemLine(n int32, address bool) {
	it := c.t.item(int(c.at.site), n)
	c.raw("<li>")
	if c.s.kind == linkCatalogue { // the site itself
		c.visit(it.org)
		c.raw(" (")
		c.link(ref{c.at.site, c.s.itemPage(n)}, "Beschreibung")
		c.raw(")</li>\n")
		return
	}
	if c.s.style == 4 { // the title is no link
		c.text(it.title + " ")
		c.link(ref{c.at.site, c.s.itemPage(n)}, pick(&c.w, []string{"Details", "mehr", "weiterlesen", "»"}))
	} else {
		c.link(ref{c.at.site, c.s.itemPage(n)}, it.title)
	}
	if address && it.located {
		c.raw("<br>")
		c.inline(it.address)
	} else if c.w.chance(0.3) {
		c.raw("<br>")
		c.text(pick(&c.w, sentences))
	}
	c.raw("</li>\n")
}

func (c *canvas) itemPage(n int32) {
	s := c.s
	it := c.t.item(int(c.at.site), n)
	section := n % s.sections
	c.top(it.title, section)
	c.raw("<p>")
	c.link(ref{c.at.site, s.listPage(section, n/s.sections/s.perList)}, c.t.sectionName(s, section))
	c.raw("</p>\n")
	switch s.kind {
	case shop:
		c.raw("<p>Preis: ", strconv.Itoa(5+c.w.n(900)), ",", strconv.Itoa(10+c.w.n(90)), " € zzgl. Versand, Art.-Nr. ", strconv.Itoa(10000+c.w.n(80000)), "</p>\n")
		c.prose(5 + c.w.n(5))
	case forum:
		for range c.w.between(2, 6) {
			c.element("h3", pick(&c.w, firstNames)+" schrieb:")
			c.prose(2)
		}
	case jobs, property:
		c.prose(6)
		if !it.located && it.place >= 0 { // the place alone is no address
			c.raw("<p>Einsatzort: ", pick(&c.w, c.t.places[it.place].postcodes), " ")
			c.text(c.t.places[it.place].name)
			c.raw("</p>\n")
		}
	case magazine, newspaper, wiki:
		c.prose(10 + c.w.n(12))
	default:
		c.prose(3 + c.w.n(5))
	}
	if it.place == 0 && (s.kind == wiki || s.kind == forum) {
		c.raw("<p>")
		c.text(c.t.places[0].name + " liegt an der Küste und hat viele Straßen, darunter die Hauptstraße. Mehr: ")
		c.visit(c.t.local[0])
		c.raw("</p>\n")
	}
	if it.located {
		c.address(it.address)
	}
	if it.org >= 0 && (s.kind != yellowPages || c.d.chance(0.7)) {
		c.raw("<p>Im Netz: ")
		c.visit(it.org)
		c.raw("</p>\n")
	}
	// Neighbours in the section; firms do not name their rivals.
	related := c.d.between(2, 4)
	switch s.kind {
	case directory, yellowPages, portal, chain:
		if c.d.chance(0.85) {
			related = 0
		}
	}
	c.raw("<p>Auch interessant:</p>\n<ul>\n")
	for range related {
		if k := n + int32(c.d.between(-6, 6))*s.sections; k >= 0 && k < s.items && k != n {
			c.raw("<li>")
			c.link(ref{c.at.site, s.itemPage(k)}, c.t.itemTitle(int(c.at.site), k))
			c.raw("</li>\n")
		}
	}
	c.raw("</ul>\n")
	links := 0.25
	switch s.kind {
	case forum, blog, localBlog:
		links = 0.4
	case linkFarm:
		links = 1
	case directory, yellowPages, chain:
		links = 0
	}
	for c.d.chance(links) {
		c.raw("<p>Siehe auch ")
		c.elsewhere()
		c.raw("</p>\n")
		links *= 0.7
	}
	if c.d.chance(0.02) {
		c.raw(`<p><a href="/geloescht/`, strconv.Itoa(int(n)), ".html\">Ältere Fassung</a></p>\n")
	}
	if c.d.chance(0.03) {
		c.raw(`<p><a href="http://`, pick(&c.w, outside), "/teilen?id=", strconv.Itoa(int(n)), "\">Teilen</a></p>\n")
	}
}

// elsewhere writes a link to another site of the wide web or, from local
// sites, of the town.
func (c *canvas) elsewhere() {
	local := 0.05
	switch c.s.kind {
	case portal, newspaper, directory, localBlog:
		local = c.t.o.Locality
	case linkFarm:
		if c.d.chance(0.7) {
			c.visit(pick(&c.d, c.t.farms))
			return
		}
		local = 0.05
	}
	switch r := c.d.share(); {
	case r < local && c.d.chance(0.3):
		c.visit(pick(&c.d, c.t.local))
	case r < local:
		c.visit(pick(&c.d, c.t.orgs[0]))
	case r < local+0.12:
		if orgs := pick(&c.d, c.t.orgs[1:]); len(orgs) > 0 {
			c.visit(pick(&c.d, orgs))
		}
	case r > 0.98 && len(c.t.farms) > 0:
		c.visit(pick(&c.d, c.t.farms))
	default:
		c.visit(pick(&c.d, c.t.far))
	}
}
