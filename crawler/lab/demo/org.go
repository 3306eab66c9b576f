package demo

import (
	"fmt"
	"strconv"
)

// An orgKind is a page of an organisation's site.
type orgKind uint8

// The pages in the order of their numbers. Services, news and steps come several
// times.
const (
	orgHome orgKind = iota
	orgAbout
	orgTeam
	orgServices
	orgService
	orgNewsList
	orgNews
	orgGallery
	orgJobs
	orgLinks
	orgContact
	orgImprint
	orgDirections
	orgPrivacy
	orgIntern
	orgStep // further bridge pages before the address
	orgKinds
)

// An orgPlan says what pages an organisation's site has.
type orgPlan struct {
	count    [orgKinds]uint8 // pages of each kind
	address  [orgKinds]bool  // they hold the address
	everyone bool            // the address stands at the foot of every page
	behind   uint8           // address pages are linked from: 0 all pages, 1 "about", 2 "team" only
	combined bool            // one page is contact and imprint
	poBox    bool            // the contact page has a post-office box
}

// planOrg makes the plan of a site. Where a page says that it is the contact
// or the imprint, it holds the address in two of three cases.
func (t *Town) planOrg(d *dice) orgPlan {
	var p orgPlan
	for _, k := range []orgKind{orgHome, orgAbout, orgServices, orgPrivacy, orgContact} {
		p.count[k] = 1
	}
	p.count[orgService] = uint8(d.between(2, 5))
	news := uint8(d.between(2, 7))
	add := func(k orgKind, share float64) bool {
		if d.chance(share) {
			p.count[k] = 1
		}
		return p.count[k] > 0
	}
	add(orgTeam, 0.6)
	if add(orgNewsList, 0.6) {
		p.count[orgNews] = news
	}
	add(orgGallery, 0.4)
	add(orgJobs, 0.3)
	add(orgLinks, 0.55)
	p.address[orgDirections] = add(orgDirections, 0.3) && d.chance(0.7)
	add(orgIntern, 0.15)
	p.count[orgImprint] = 1
	switch r := d.share(); {
	case r < 0.42: // the contact page is a form
		p.address[orgImprint] = true
		p.poBox = d.chance(0.1)
	case r < 0.60: // the imprint sends one to the contact page
		p.address[orgContact] = true
	case r < 0.86:
		p.combined, p.count[orgImprint] = true, 0
		p.address[orgContact] = true
	default:
		p.address[orgContact], p.address[orgImprint] = true, true
	}
	p.address[orgHome] = d.chance(0.15)
	p.address[orgAbout] = d.chance(0.1)
	p.everyone = d.chance(0.04)
	if d.chance(t.o.Bridges) {
		p.behind = 1
		if p.count[orgTeam] > 0 && d.chance(0.4) {
			p.behind = 2
		}
		p.count[orgStep] = uint8(t.o.BridgeLength)
	}
	return p
}

func (p *orgPlan) pages() int32 { return p.page(orgKinds, 0) }

// at returns the kind of page n and its number among those of the kind.
func (p *orgPlan) at(n int32) (k orgKind, i int32) {
	for ; n >= int32(p.count[k]); k++ {
		n -= int32(p.count[k])
	}
	return k, n
}

// page returns the number of the i-th page of a kind that the site has.
func (p *orgPlan) page(k orgKind, i int32) (n int32) {
	for _, count := range p.count[:k] {
		n += int32(count)
	}
	return n + i
}

// What the pages are called in paths, and in links where nothing else is said.
var orgNames = [orgKinds][2]string{
	{"", "Startseite"}, {"ueber-uns", "Über uns"}, {"team", "Team"}, {"leistungen", "Leistungen"}, {"leistungen", ""},
	{"aktuelles", "Aktuelles"}, {"aktuelles", ""}, {"galerie", "Galerie"}, {"stellen", "Stellenangebote"}, {"links", "Links"},
	{"kontakt", "Kontakt"}, {"impressum", "Impressum"}, {"anfahrt", "Anfahrt"}, {"datenschutz", "Datenschutz"},
	{"intern", "Intern"}, {"weiteres", ""},
}

// orgPath returns the path of a page of an organisation's site.
func (t *Town) orgPath(r ref) string {
	s := &t.sites[r.site]
	k, i := s.org.at(r.page)
	switch {
	case k == orgIntern:
		return "/intern/protokoll.html"
	case s.opaque && s.style%2 == 0:
		return "/index.php?id=" + strconv.Itoa(int(r.page)+10)
	case s.opaque:
		return "/p/" + strconv.Itoa(int(r.page)*7+100) + "/"
	}
	word := orgNames[k][0]
	switch k {
	case orgContact:
		if s.org.combined && s.style%2 == 0 {
			word = "impressum"
		}
	case orgService:
		wares := words().Trades[s.trade].Wares
		word += "/" + slug(wares[int(i)%len(wares)])
		if int(i) >= len(wares) {
			word += "-" + strconv.Itoa(int(i))
		}
	case orgNews:
		word += "/meldung-" + strconv.Itoa(int(i)+1)
	case orgStep:
		word += "-" + strconv.Itoa(int(i)+1)
	}
	return fmt.Sprintf([...]string{"/%s.html", "/%s/", "/de/%s.php", "/%s.htm", "/index.php/%s", "/seiten/%s.html"}[s.style], word)
}

// orgAnchor returns the words of links to a page within the site.
func (t *Town) orgAnchor(r ref) string {
	s := &t.sites[r.site]
	k, i := s.org.at(r.page)
	d, own := t.dice(topicItem, uint64(r.site), uint64(k)), t.dice(topicItem, uint64(r.site), uint64(r.page))
	if s.opaque && k >= orgContact && k <= orgDirections {
		return pick(&d, words().Unhelpful)
	}
	switch {
	case k == orgService:
		wares := words().Trades[s.trade].Wares
		return wares[int(i)%len(wares)]
	case k == orgNews:
		return headline(&own)
	case k == orgStep:
		return pick(&own, words().Vague)
	case k == orgContact && s.org.combined:
		return pick(&d, []string{"Impressum", "Kontakt & Impressum", "Impressum/Kontakt"})
	case k == orgContact:
		return pick(&d, []string{"Kontakt", "Kontakt", "So erreichen Sie uns", "Ansprechpartner", "Kontakt & Termine"})
	case k == orgDirections:
		return pick(&d, []string{"Anfahrt", "Wegbeschreibung", "Lageplan", "So finden Sie uns"})
	case k == orgLinks:
		return pick(&d, []string{"Links", "Partner", "Freunde", "Empfehlungen"})
	}
	return orgNames[k][1]
}

// headline makes up the title of a piece of news.
func headline(d *dice) string { return pick(d, words().Nouns) + " " + pick(d, words().Verbs) }

// ownAddress returns the address of who has the site.
func (t *Town) ownAddress(s int32) Address {
	at := &t.sites[s]
	if at.house >= 0 {
		return t.houseAddress(int(at.house), at.name)
	}
	d := t.dice(topicItem, uint64(s), 1<<40)
	return t.addressIn(&d, int(at.place), at.name)
}

// organisation draws a page of an organisation's site.
func (c *canvas) organisation() {
	plan := &c.s.org
	k, i := plan.at(c.at.page)
	own := c.t.ownAddress(c.at.site)
	title := "Willkommen"
	if k != orgHome {
		title = c.t.orgAnchor(c.at)
	}
	c.head(title + " – " + c.s.name)
	c.orgMenu(k)
	c.heading("h1", title)
	c.orgContent(k, i)
	if plan.address[k] || k == orgIntern {
		imprint := k == orgImprint || k == orgContact && plan.combined
		if imprint {
			c.paragraph("Angaben gemäß § 5 DDG")
		}
		c.address(own)
		if imprint && c.d.chance(0.4) {
			maker := c.t.addressIn(&c.d, c.t.farPlace(&c.d), "")
			c.paragraph("Webdesign: ", c.inline(maker))
		}
	}
	c.orgFoot(k, own)
}

// orgContent draws what a page has between menu and address.
func (c *canvas) orgContent(k orgKind, i int32) {
	plan := &c.s.org
	switch k {
	case orgHome:
		c.prose(3 + c.w.n(5))
		c.paragraph("Unser Angebot in ", c.text(c.t.places[c.s.place].name), ":")
		c.orgList(orgService, 3)
		c.orgList(orgNews, 2)
		if c.d.chance(0.2) {
			c.paragraph("Partner: ", c.visit(c.neighbour()))
		}
		if c.s.place == 0 && c.d.chance(0.3) { // directories ask for a link in return
			c.paragraph("Mitglied bei ", c.visit(pick(&c.d, c.t.local)))
		}
	case orgAbout:
		c.prose(6 + c.w.n(8))
		if plan.behind > 0 {
			c.orgLine(orgTeam)
		}
		if plan.behind == 1 {
			c.orgWay(0)
		}
	case orgTeam:
		for range c.w.between(2, 6) {
			c.heading("h3", pick(&c.w, words().FirstNames)+" "+pick(&c.w, words().Families))
			c.prose(1)
		}
		if plan.behind == 2 {
			c.orgWay(0)
		}
	case orgServices:
		c.prose(2)
		c.orgList(orgService, plan.count[orgService])
	case orgService:
		c.prose(5 + c.w.n(6))
		c.orgLine(orgServices)
		if c.d.chance(0.3) {
			c.paragraph(`<a href="/prospekt-`, strconv.Itoa(int(i)), `.pdf">Prospekt (PDF)</a>`)
		}
	case orgNewsList:
		c.orgList(orgNews, plan.count[orgNews])
	case orgNews:
		c.prose(6 + c.w.n(10))
		if c.d.chance(0.15) {
			c.paragraph("Mehr dazu: ", c.visit(c.neighbour()))
		}
		if c.d.chance(0.06) {
			c.paragraph(`<a href="/geloescht/`, strconv.Itoa(int(i)), `.html">Zum alten Bericht</a>`)
		}
		c.orgLine(orgNewsList)
	case orgGallery:
		for n := range c.w.between(4, 9) {
			c.put(fmt.Sprintf("<img src=\"/bild%d.png\" alt=\"Bild %[1]d\">\n", n))
		}
	case orgJobs, orgIntern:
		c.prose(4)
	case orgLinks:
		var links []string
		for range c.d.between(2, 8) {
			links = append(links, c.visit(c.neighbour())+" – "+c.text(pick(&c.w, words().Sentences)))
		}
		c.list(append(links, `<a href="http://`+pick(&c.w, words().Outside)+`/">Folgen Sie uns</a>`))
	case orgContact:
		if plan.address[orgContact] {
			return
		}
		c.put("<form><label>Name <input></label> <label>Nachricht <textarea></textarea></label></form>\n")
		if p := &c.t.places[c.s.place]; plan.poBox {
			c.paragraph("Postfach ", strconv.Itoa(1000+c.w.n(9000)), ", ", p.postcodes[0], " ", c.text(p.name))
		}
	case orgImprint:
		if !plan.address[orgImprint] {
			c.paragraph("Anschrift: siehe Kontakt.")
			if plan.behind > 0 {
				c.orgLine(orgContact)
			}
		}
	case orgDirections:
		c.paragraph("Mit dem Bus Linie ", strconv.Itoa(1+c.w.n(20)), " bis zur Haltestelle ", c.text(pick(&c.w, c.t.places[c.s.place].streets).name), ".")
	case orgStep:
		c.prose(3 + c.w.n(5))
		c.orgWay(i + 1)
	case orgPrivacy:
		c.privacy()
	}
}

// neighbour chooses another site to link to: most often one in the same place.
func (c *canvas) neighbour() int32 {
	home := c.t.orgs[c.s.place]
	r := c.d.share()
	switch {
	case r < c.t.o.Locality && len(home) > 1:
		if c.s.place == 0 && c.d.chance(0.12) {
			return pick(&c.d, c.t.local)
		}
		if c.d.chance(0.5) { // those who know each other were founded about the same time
			i := int(c.at.site-home[0]) + c.d.between(-9, 9)
			return home[min(max(i, 0), len(home)-1)]
		}
		return pick(&c.d, home)
	case r < c.t.o.Locality+(1-c.t.o.Locality)*0.4:
		if others := pick(&c.d, c.t.orgs[1:]); len(others) > 0 {
			return pick(&c.d, others)
		}
	}
	return pick(&c.d, c.t.far)
}

// orgMenu writes the menu that all pages of the site have.
func (c *canvas) orgMenu(here orgKind) {
	plan := &c.s.org
	var links []string
	for k := orgHome; k < orgImprint; k++ {
		hidden := k == here || k == orgService || k == orgNews || plan.behind > 0 && (k == orgContact || k == orgTeam)
		if plan.count[k] > 0 && !hidden {
			links = append(links, c.orgLink(k, 0))
		}
	}
	c.menu(links)
}

func (c *canvas) orgFoot(here orgKind, own Address) {
	plan := &c.s.org
	c.foot()
	if plan.everyone && !plan.address[here] {
		c.address(own)
	}
	for _, k := range [...]orgKind{orgDirections, orgImprint, orgPrivacy} {
		hidden := k == here || plan.behind > 0 && k != orgPrivacy || k == orgDirections && here != orgContact && c.s.style%2 == 0
		if plan.count[k] > 0 && !hidden {
			c.put(c.orgLink(k, 0), " | ")
		}
	}
	if plan.count[orgIntern] > 0 && here == orgHome {
		c.put(c.orgLink(orgIntern, 0))
	}
	c.put("© ", c.text(c.s.name))
	c.end()
}

// orgLink returns a link to the i-th page of a kind.
func (c *canvas) orgLink(k orgKind, i int32) string {
	to := ref{c.at.site, c.s.org.page(k, i)}
	return c.link(to, c.t.orgAnchor(to))
}

// orgWay writes the links that lead to the address where the menu does not: to the
// i-th further page on the way, or at its end to the pages with the address.
func (c *canvas) orgWay(i int32) {
	if i < int32(c.s.org.count[orgStep]) {
		c.paragraph(c.orgLink(orgStep, i))
		return
	}
	c.orgLine(orgContact)
	c.orgLine(orgImprint)
	c.orgLine(orgDirections)
}

// orgLine writes a link to a page of the site, if there is such a page.
func (c *canvas) orgLine(k orgKind) {
	if c.s.org.count[k] > 0 {
		c.paragraph(c.orgLink(k, 0))
	}
}

// orgList writes links to the first pages of a kind.
func (c *canvas) orgList(k orgKind, most uint8) {
	var links []string
	for i := range min(c.s.org.count[k], most) {
		links = append(links, c.orgLink(k, int32(i)))
	}
	c.list(links)
}

// orgName makes up a firm that has no site.
func orgName(d *dice, place string) string {
	tr := pick(d, words().Trades)
	if tr.Local {
		return fmt.Sprintf(tr.Name, place)
	}
	return fmt.Sprintf(tr.Name, pick(d, words().Families))
}
