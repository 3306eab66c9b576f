package demo

import (
	"fmt"
	"strconv"
)

// An orgKind is a page of an organisation's site.
type orgKind uint8

// The pages in the order of their numbers. Services and news come several
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
	has      uint16 // bits by orgKind
	address  uint16 // pages with the address
	services uint8
	news     uint8
	steps    uint8 // pages between those that behind names and the address
	everyone bool  // the address stands at the foot of every page
	behind   uint8 // address pages are linked from: 0 all pages, 1 "about", 2 "team" only
	combined bool  // one page is contact and imprint
	poBox    bool  // the contact page has a post-office box
}

// planOrg makes the plan of a site. Where a page says that it is the contact
// or the imprint, it holds the address in two of three cases.
func (t *Town) planOrg(d *dice) orgPlan {
	p := orgPlan{has: 1<<orgHome | 1<<orgAbout | 1<<orgServices | 1<<orgService | 1<<orgPrivacy | 1<<orgContact}
	p.services, p.news = uint8(d.between(2, 5)), uint8(d.between(2, 7))
	add := func(k orgKind, share float64) bool {
		if d.chance(share) {
			p.has |= 1 << k
			return true
		}
		return false
	}
	add(orgTeam, 0.6)
	if add(orgNewsList, 0.6) {
		p.has |= 1 << orgNews
	}
	add(orgGallery, 0.4)
	add(orgJobs, 0.3)
	add(orgLinks, 0.55)
	if add(orgDirections, 0.3) && d.chance(0.7) {
		p.address |= 1 << orgDirections
	}
	add(orgIntern, 0.15)
	switch r := d.share(); {
	case r < 0.42: // the contact page is a form
		p.has |= 1 << orgImprint
		p.address |= 1 << orgImprint
		p.poBox = d.chance(0.1)
	case r < 0.60: // the imprint sends one to the contact page
		p.has |= 1 << orgImprint
		p.address |= 1 << orgContact
	case r < 0.86:
		p.combined = true
		p.address |= 1 << orgContact
	default:
		p.has |= 1 << orgImprint
		p.address |= 1<<orgContact | 1<<orgImprint
	}
	if d.chance(0.15) {
		p.address |= 1 << orgHome
	}
	if d.chance(0.1) {
		p.address |= 1 << orgAbout
	}
	p.everyone = d.chance(0.04)
	if d.chance(t.o.Bridges) {
		p.behind = 1
		if p.has&(1<<orgTeam) != 0 && d.chance(0.4) {
			p.behind = 2
		}
		if p.steps = uint8(t.o.BridgeLength); p.steps > 0 {
			p.has |= 1 << orgStep
		}
	}
	return p
}

func (p *orgPlan) count(k orgKind) int32 {
	switch {
	case p.has&(1<<k) == 0:
		return 0
	case k == orgService:
		return int32(p.services)
	case k == orgNews:
		return int32(p.news)
	case k == orgStep:
		return int32(p.steps)
	default:
		return 1
	}
}

func (p *orgPlan) pages() (n int32) {
	for k := range orgKinds {
		n += p.count(k)
	}
	return n
}

// at returns the kind of page n and its number among those of the kind.
func (p *orgPlan) at(n int32) (orgKind, int32) {
	for k := range orgKinds {
		count := p.count(k)
		if n < count {
			return k, n
		}
		n -= count
	}
	return orgHome, 0
}

func (p *orgPlan) kindOf(n int32) orgKind {
	k, _ := p.at(n)
	return k
}

// page returns the number of the i-th page of a kind that the site has.
func (p *orgPlan) page(k orgKind, i int32) (n int32) {
	for before := range k {
		n += p.count(before)
	}
	return n + i
}

var orgWords = [orgKinds]string{orgAbout: "ueber-uns", orgTeam: "team", orgServices: "leistungen", orgService: "leistungen", orgNewsList: "aktuelles",
	orgNews: "aktuelles", orgGallery: "galerie", orgJobs: "stellen", orgLinks: "links", orgContact: "kontakt", orgImprint: "impressum",
	orgDirections: "anfahrt", orgPrivacy: "datenschutz", orgIntern: "intern", orgStep: "weiteres"}

var orgTitles = [orgKinds]string{"Startseite", "Über uns", "Team", "Leistungen", "", "Aktuelles", "", "Galerie", "Stellenangebote", "Links",
	"Kontakt", "Impressum", "Anfahrt", "Datenschutz", "Intern", ""}

// orgPath returns the path of a page of an organisation's site.
func (t *Town) orgPath(r ref) string {
	s := &t.sites[r.site]
	k, i := s.org.at(r.page)
	if k == orgIntern {
		return "/intern/protokoll.html"
	}
	if s.opaque {
		if s.style%2 == 0 {
			return "/index.php?id=" + strconv.Itoa(int(r.page)+10)
		}
		return "/p/" + strconv.Itoa(int(r.page)*7+100) + "/"
	}
	word := orgWords[k]
	if k == orgContact && s.org.combined && s.style%2 == 0 {
		word = "impressum"
	}
	switch k {
	case orgService:
		wares := trades[s.trade].wares
		word += "/" + slug(wares[int(i)%len(wares)])
		if int(i) >= len(wares) {
			word += "-" + strconv.Itoa(int(i))
		}
	case orgNews:
		word += "/meldung-" + strconv.Itoa(int(i)+1)
	case orgStep:
		word += "-" + strconv.Itoa(int(i)+1)
	}
	switch s.style {
	case 0:
		return "/" + word + ".html"
	case 1:
		return "/" + word + "/"
	case 2:
		return "/de/" + word + ".php"
	case 3:
		return "/" + word + ".htm"
	case 4:
		return "/index.php/" + word
	default:
		return "/seiten/" + word + ".html"
	}
}

// orgAnchor returns the words of links to a page within the site.
func (t *Town) orgAnchor(r ref) string {
	s := &t.sites[r.site]
	k, i := s.org.at(r.page)
	d := t.dice(topicItem, uint64(r.site), uint64(k))
	if s.opaque && k >= orgContact && k <= orgDirections {
		return pick(&d, []string{"Service", "Info", "Mehr", "Wir", "Büro", "Hinweise", "»", "Allgemeines", "Weiteres"})
	}
	switch {
	case k == orgService:
		wares := trades[s.trade].wares
		return wares[int(i)%len(wares)]
	case k == orgNews:
		n := t.dice(topicItem, uint64(r.site), uint64(r.page))
		return pick(&n, nouns) + " " + pick(&n, verbs)
	case k == orgStep:
		n := t.dice(topicItem, uint64(r.site), uint64(r.page))
		return pick(&n, vague)
	case k == orgContact && s.org.combined:
		return pick(&d, []string{"Impressum", "Kontakt & Impressum", "Impressum/Kontakt"})
	case k == orgContact:
		return pick(&d, []string{"Kontakt", "Kontakt", "So erreichen Sie uns", "Ansprechpartner", "Kontakt & Termine"})
	case k == orgDirections:
		return pick(&d, []string{"Anfahrt", "Wegbeschreibung", "Lageplan", "So finden Sie uns"})
	case k == orgLinks:
		return pick(&d, []string{"Links", "Partner", "Freunde", "Empfehlungen"})
	}
	return orgTitles[k]
}

// address returns the organisation's own address.
func (t *Town) orgAddress(s int) Address {
	at := &t.sites[s]
	if at.house >= 0 {
		return t.houseAddress(int(at.house), at.name)
	}
	d := t.dice(topicItem, uint64(s), 1<<40)
	return t.farAddress(&d, int(at.place), at.name)
}

// organisation draws a page of an organisation's site.
func (c *canvas) organisation() {
	plan := &c.s.org
	k, i := plan.at(c.at.page)
	own := c.t.orgAddress(int(c.at.site))
	title := c.t.orgAnchor(c.at)
	if k == orgHome {
		title = "Willkommen"
	}
	c.head(title + " – " + c.s.name)
	c.orgNav(k)
	c.raw("<div id=\"inhalt\">\n")
	c.element("h1", title)

	switch k {
	case orgHome:
		c.prose(3 + c.w.n(5))
		c.raw("<p>Unser Angebot in ")
		c.text(c.t.places[c.s.place].name)
		c.raw(":</p>\n")
		c.orgLinkList(orgService, 3)
		c.orgLinkList(orgNews, 2)
		if c.d.chance(0.2) {
			c.raw("<p>Partner: ")
			c.visit(c.neighbour())
			c.raw("</p>\n")
		}
		if c.s.place == 0 && c.d.chance(0.3) { // directories ask for a link in return
			c.raw("<p>Mitglied bei ")
			c.visit(pick(&c.d, c.t.local))
			c.raw("</p>\n")
		}
	case orgAbout:
		c.prose(6 + c.w.n(8))
		if plan.behind > 0 && plan.has&(1<<orgTeam) != 0 {
			c.orgLinkLine(orgTeam)
		}
		if plan.behind == 1 {
			c.orgAddressLinks()
		}
	case orgTeam:
		for range c.w.between(2, 6) {
			c.element("h3", pick(&c.w, firstNames)+" "+pick(&c.w, families))
			c.prose(1)
		}
		if plan.behind == 2 {
			c.orgAddressLinks()
		}
	case orgServices:
		c.prose(2)
		c.orgLinkList(orgService, int(plan.services))
	case orgService:
		c.prose(5 + c.w.n(6))
		c.orgLinkLine(orgServices)
		if c.d.chance(0.3) {
			c.raw(`<p><a href="/prospekt-`, strconv.Itoa(int(i)), ".pdf\">Prospekt (PDF)</a></p>\n")
		}
	case orgNewsList:
		c.orgLinkList(orgNews, int(plan.news))
	case orgNews:
		c.prose(6 + c.w.n(10))
		if c.d.chance(0.15) {
			c.raw("<p>Mehr dazu: ")
			c.visit(c.neighbour())
			c.raw("</p>\n")
		}
		if c.d.chance(0.06) {
			c.raw(`<p><a href="/geloescht/`, strconv.Itoa(int(i)), ".html\">Zum alten Bericht</a></p>\n")
		}
		c.orgLinkLine(orgNewsList)
	case orgGallery:
		for n := range c.w.between(4, 9) {
			c.raw(`<img src="/bild`, strconv.Itoa(n), `.png" alt="Bild `, strconv.Itoa(n), `">`, "\n")
		}
	case orgJobs:
		c.prose(4)
	case orgLinks:
		c.raw("<ul>\n")
		for range c.d.between(2, 8) {
			c.raw("<li>")
			c.visit(c.neighbour())
			c.raw(" – ")
			c.text(pick(&c.w, sentences))
			c.raw("</li>\n")
		}
		c.raw(`<li><a href="http://`, pick(&c.w, outside), "/\">Folgen Sie uns</a></li>\n</ul>\n")
	case orgContact:
		if plan.address&(1<<orgContact) == 0 {
			c.raw("<form><label>Name <input></label> <label>Nachricht <textarea></textarea></label></form>\n")
			if plan.poBox {
				p := &c.t.places[c.s.place]
				c.raw("<p>Postfach ", strconv.Itoa(1000+c.w.n(9000)), ", ", p.postcodes[0], " ")
				c.text(p.name)
				c.raw("</p>\n")
			}
		}
	case orgImprint:
		if plan.address&(1<<orgImprint) == 0 {
			c.raw("<p>Anschrift: siehe Kontakt.</p>\n")
			if plan.behind > 0 {
				c.orgLinkLine(orgContact)
			}
		}
	case orgDirections:
		c.raw("<p>Mit dem Bus Linie ", strconv.Itoa(1+c.w.n(20)), " bis zur Haltestelle ")
		c.text(pick(&c.w, c.t.places[c.s.place].streets).name)
		c.raw(".</p>\n")
	case orgStep:
		c.prose(3 + c.w.n(5))
		if next := i + 1; next < int32(plan.steps) {
			c.orgStepLine(next)
		} else {
			c.orgLinkLine(orgContact)
			c.orgLinkLine(orgImprint)
			c.orgLinkLine(orgDirections)
		}
	case orgPrivacy:
		c.prose(12)
		c.raw("<p>Aufsichtsbehörde: Landesbeauftragte für den Datenschutz, Prinzenweg 5, 62017 Nordhafen</p>\n")
	case orgIntern:
		c.prose(4)
	}
	if plan.address&(1<<k) != 0 || k == orgIntern {
		if k == orgImprint || k == orgContact && plan.combined {
			c.raw("<p>Angaben gemäß § 5 DDG</p>\n")
		}
		c.address(own)
		if (k == orgImprint || plan.combined && k == orgContact) && c.d.chance(0.4) {
			c.raw("<p>Webdesign: ")
			maker := c.t.farAddress(&c.d, c.t.farPlace(&c.d), "")
			c.inline(maker)
			c.raw("</p>\n")
		}
	}
	c.raw("</div>\n")
	c.orgFoot(k, own)
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
		// Those who know each other were founded about the same time.
		if c.d.chance(0.5) {
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

// orgNav writes the menu that all pages of the site have.
func (c *canvas) orgNav(here orgKind) {
	plan := &c.s.org
	tag := [...]string{"li", "li", "td", "span", "div", "li"}[c.s.style]
	c.raw("<div id=\"menue\">\n")
	for k := orgHome; k < orgImprint; k++ {
		if plan.has&(1<<k) == 0 || k == orgService || k == orgNews || k == here ||
			plan.behind > 0 && (k == orgContact || k == orgTeam) {
			continue
		}
		to := ref{c.at.site, plan.page(k, 0)}
		c.raw("<", tag, ">")
		c.link(to, c.t.orgAnchor(to))
		c.raw("</", tag, ">\n")
	}
	c.raw("</div>\n")
}

func (c *canvas) orgFoot(here orgKind, own Address) {
	plan := &c.s.org
	c.raw("<div id=\"fuss\">\n")
	if plan.everyone && plan.address&(1<<here) == 0 {
		c.address(own)
	}
	for _, k := range [...]orgKind{orgDirections, orgImprint, orgPrivacy} {
		if plan.has&(1<<k) == 0 || k == here || plan.behind > 0 && k != orgPrivacy ||
			k == orgDirections && here != orgContact && c.s.style%2 == 0 {
			continue
		}
		to := ref{c.at.site, plan.page(k, 0)}
		c.link(to, c.t.orgAnchor(to))
		c.raw(" | ")
	}
	if plan.has&(1<<orgIntern) != 0 && here == orgHome {
		to := ref{c.at.site, plan.page(orgIntern, 0)}
		c.link(to, "Intern")
	}
	c.raw("© ")
	c.text(c.s.name)
	c.raw("\n</div>\n</body>\n</html>\n")
}

// orgAddressLinks writes the links to pages with the address that the menu
// does not have.
func (c *canvas) orgAddressLinks() {
	if c.s.org.steps > 0 {
		c.orgStepLine(0)
		return
	}
	c.orgLinkLine(orgContact)
	c.orgLinkLine(orgImprint)
	c.orgLinkLine(orgDirections)
}

// orgStepLine writes a link to the i-th page of the way to the address.
func (c *canvas) orgStepLine(i int32) {
	to := ref{c.at.site, c.s.org.page(orgStep, i)}
	c.raw("<p>")
	c.link(to, c.t.orgAnchor(to))
	c.raw("</p>\n")
}

// orgLinkLine writes a link to a page of the site, if there is such a page.
func (c *canvas) orgLinkLine(k orgKind) {
	if c.s.org.has&(1<<k) == 0 {
		return
	}
	to := ref{c.at.site, c.s.org.page(k, 0)}
	c.raw("<p>")
	c.link(to, c.t.orgAnchor(to))
	c.raw("</p>\n")
}

// orgLinkList writes links to the first pages of a kind.
func (c *canvas) orgLinkList(k orgKind, most int) {
	count := min(int(c.s.org.count(k)), most)
	if count == 0 {
		return
	}
	c.raw("<ul>\n")
	for i := range count {
		to := ref{c.at.site, c.s.org.page(k, int32(i))}
		c.raw("<li>")
		c.link(to, c.t.orgAnchor(to))
		c.raw("</li>\n")
	}
	c.raw("</ul>\n")
}

// orgName makes up a firm that has no site.
func orgName(d *dice, place string) string {
	tr := pick(d, trades)
	if tr.local {
		return fmt.Sprintf(tr.name, place)
	}
	return fmt.Sprintf(tr.name, pick(d, families))
}
