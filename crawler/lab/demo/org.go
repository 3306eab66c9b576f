package demo

import (
	"fmt"
	"strconv"
	"strings"
)

// An orgKind is a page of an organisation's site: one of OrgPages in words.json, by
// its number there.
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
	Address  [orgKinds]bool  // they hold the address
	everyone bool            // the address stands at the foot of every page
	Behind   uint8           // address pages are linked from: 0 all pages, 1 "about", 2 "team" only
	combined bool            // one page is contact and imprint
	POBox    bool            // the contact page has a post-office box
}

// planOrg makes the plan of a site. Where a page says that it is the contact
// or the imprint, it holds the address in two of three cases.
func (t *Town) planOrg(d *dice) orgPlan {
	var p orgPlan
	for _, k := range []orgKind{orgHome, orgAbout, orgServices, orgPrivacy, orgContact, orgImprint} {
		p.count[k] = 1
	}
	p.count[orgService] = uint8(d.between(2, 5))
	news := uint8(d.between(2, 7))
	for k, page := range words().OrgPages {
		if page.Share == 0 || !d.chance(page.Share) {
			continue
		}
		p.count[k] = 1
		switch orgKind(k) {
		case orgNewsList:
			p.count[orgNews] = news
		case orgDirections:
			p.Address[k] = d.chance(0.7)
		}
	}
	switch r := d.share(); {
	case r < 0.42: // the contact page is a form
		p.Address[orgImprint] = true
		p.POBox = d.chance(0.1)
	case r < 0.60: // the imprint sends one to the contact page
		p.Address[orgContact] = true
	case r < 0.86:
		p.combined, p.count[orgImprint] = true, 0
		p.Address[orgContact] = true
	default:
		p.Address[orgContact], p.Address[orgImprint] = true, true
	}
	p.Address[orgHome] = d.chance(0.15)
	p.Address[orgAbout] = d.chance(0.1)
	p.everyone = d.chance(0.04)
	if d.chance(t.o.Bridges) {
		p.Behind = 1
		if p.count[orgTeam] > 0 && d.chance(0.4) {
			p.Behind = 2
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
	word := words().OrgPages[k].Path
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
	return fmt.Sprintf(words().PathForms[s.style], word)
}

// orgAnchor returns the words of links to a page within the site.
func (t *Town) orgAnchor(r ref) string {
	s := &t.sites[r.site]
	k, i := s.org.at(r.page)
	d, own := t.dice(topicItem, uint64(r.site), uint64(k)), t.dice(topicItem, uint64(r.site), uint64(r.page))
	switch {
	case s.opaque && k >= orgContact && k <= orgDirections:
		return pick(&d, words().Unhelpful)
	case k == orgService:
		wares := words().Trades[s.trade].Wares
		return wares[int(i)%len(wares)]
	case k == orgNews:
		return headline(&own)
	case k == orgStep:
		return pick(&own, words().Vague)
	case k == orgContact && s.org.combined:
		return pick(&d, words().CombinedAnchors)
	}
	return pick(&d, words().OrgPages[k].Anchors)
}

// headline makes up the title of a piece of news.
func headline(d *dice) string { return pick(d, words().Nouns) + " " + pick(d, words().Verbs) }

// ownAddress returns the address of the owner of a site.
func (t *Town) ownAddress(s int32) Address {
	at := &t.sites[s]
	if at.house >= 0 {
		return t.houseAddress(int(at.house), at.name)
	}
	d := t.dice(topicItem, uint64(s), 1<<40)
	return t.addressIn(&d, int(at.place), at.name)
}

// IsImprint reports whether the page is the imprint.
func (c *canvas) IsImprint() bool {
	return c.Kind == orgImprint || c.Kind == orgContact && c.Plan.combined
}

// Postcode returns the first one of the site's place.
func (c *canvas) Postcode() string { return c.t.places[c.s.place].postcodes[0] }

// Street returns the name of a street of the site's place.
func (c *canvas) Street() string { return pick(&c.w, c.t.places[c.s.place].streets).name }

// Catalogue returns one of the town's catalogues.
func (c *canvas) Catalogue() int32 { return pick(&c.d, c.t.local) }

// Neighbour chooses another site to link to: most often one in the same place.
func (c *canvas) Neighbour() int32 {
	home := c.t.orgs[c.s.place]
	r := c.d.share()
	switch {
	case r < c.t.o.Locality && len(home) > 1:
		if c.s.place == 0 && c.d.chance(0.12) {
			return c.Catalogue()
		}
		if c.d.chance(0.5) { // those who know each other were founded about the same time
			i := int(c.at.site-home[0]) + c.d.between(-9, 9)
			return home[min(max(i, 0), len(home)-1)]
		}
		return pick(&c.d, home)
	case r < c.t.o.Locality+(1-c.t.o.Locality)*0.4:
		others := pick(&c.d, c.t.orgs[1:])
		if len(others) > 0 {
			return pick(&c.d, others)
		}
	}
	return pick(&c.d, c.t.far)
}

func (c *canvas) orgMenu() string {
	plan := c.Plan
	var links []string
	for k := orgHome; k < orgImprint; k++ {
		hidden := k == c.Kind || k == orgService || k == orgNews || plan.Behind > 0 && (k == orgContact || k == orgTeam)
		if plan.count[k] > 0 && !hidden {
			links = append(links, c.orgLink(k, 0))
		}
	}
	return c.htmlList(links)
}

func (c *canvas) orgFoot() string {
	plan, here := c.Plan, c.Kind
	if plan.everyone && !plan.Address[here] {
		c.buf.WriteString(c.OwnAddress())
	}
	var foot strings.Builder
	for _, k := range [...]orgKind{orgDirections, orgImprint, orgPrivacy} {
		hidden := k == here || plan.Behind > 0 && k != orgPrivacy ||
			k == orgDirections && here != orgContact && c.s.style%2 == 0
		if plan.count[k] > 0 && !hidden {
			foot.WriteString(c.orgLink(k, 0) + " | ")
		}
	}
	if plan.count[orgIntern] > 0 && here == orgHome {
		foot.WriteString(c.orgLink(orgIntern, 0))
	}
	return foot.String() + "© " + c.Text(c.s.name)
}

// orgLink returns a link to the i-th page of a kind.
func (c *canvas) orgLink(k orgKind, i int32) string {
	to := ref{c.at.site, c.Plan.page(k, i)}
	return c.link(to, c.t.orgAnchor(to))
}

// orgKindOf returns the kind with a name of words.json.
func orgKindOf(name string) (k orgKind) {
	for words().OrgPages[k].Name != name {
		k++
	}
	return k
}

// OrgWay returns the links that lead to the address where the menu does not: to the
// next further page on the way, or at its end to the pages with the address.
func (c *canvas) OrgWay() string {
	next := int32(0)
	if c.Kind == orgStep {
		next = c.Nth + 1
	}
	if next < int32(c.Plan.count[orgStep]) {
		return "<p>" + c.orgLink(orgStep, next) + "</p>\n"
	}
	return c.OrgLine("contact") + c.OrgLine("imprint") + c.OrgLine("directions")
}

// OrgLine returns a link to a page of the site, if there is such a page.
func (c *canvas) OrgLine(name string) string {
	k := orgKindOf(name)
	if c.Plan.count[k] == 0 {
		return ""
	}
	return "<p>" + c.orgLink(k, 0) + "</p>\n"
}

// OrgList returns links to the first pages of a kind.
func (c *canvas) OrgList(name string, most int) string {
	k := orgKindOf(name)
	var links []string
	for i := range min(int(c.Plan.count[k]), most) {
		links = append(links, c.orgLink(k, int32(i)))
	}
	return c.htmlList(links)
}

// orgName makes up a firm that has no site.
func orgName(d *dice, place string) string {
	tr := pick(d, words().Trades)
	if tr.Local {
		return fmt.Sprintf(tr.Name, place)
	}
	return fmt.Sprintf(tr.Name, pick(d, words().Families))
}
