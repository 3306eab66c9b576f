package demo

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

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
	Title   string
	Place   int   // it is in, or -1
	Org     int32 // site it is about, or -1
	Address Address
	Located bool // the page has the address
}

// itemOf returns what the n-th item of a catalogue is about.
func (t *Town) itemOf(site, n int32) item {
	s := &t.sites[site]
	d := t.dice(topicItem, uint64(site), uint64(n))
	section := n % s.sections
	it := item{Place: -1, Org: -1}
	switch s.kind {
	case portal:
		it.Place = 0
		t.portalItem(&d, &it, section, int(n/s.sections))
	case newspaper:
		it.Title = headline(&d)
		if d.chance(0.15) {
			it.Title += " in " + t.places[d.n(1+villages)].name
		}
		switch r := d.share(); {
		case r < 0.05:
			it.Address, it.Located = t.addressIn(&d, 0, ""), true
		case r < 0.07:
			it.Address, it.Located = t.addressIn(&d, 1+d.n(villages), ""), true
		}
		if d.chance(0.12) {
			it.Org = pick(&d, t.orgs[0])
		}
	case directory, yellowPages, chain:
		t.firm(&d, &it, site, n)
	case linkCatalogue:
		it.Place = int(section)
		if orgs := t.orgs[it.Place]; len(orgs) > 0 && d.chance(0.7) {
			it.Org = pick(&d, orgs)
		} else {
			it.Org = pick(&d, t.far)
		}
		it.Title = t.sites[it.Org].name
	case jobs, property:
		t.offer(&d, &it, s.kind)
	case localBlog:
		it.Title = headline(&d)
		if d.chance(0.45) {
			it.Org = pick(&d, t.orgs[0])
			it.Address, it.Located = t.ownAddress(it.Org), d.chance(0.3)
		}
	case magazine, blog:
		it.Title = headline(&d)
		if d.chance(0.01) {
			it.Org = pick(&d, t.orgs[0])
		}
	case shop:
		it.Title = pick(&d, words().Goods) + " " + pick(&d, words().Families) + " " + strconv.Itoa(100+d.n(900))
	case forum:
		it.Title = "Frage zu " + pick(&d, words().Nouns)
		if d.chance(0.02) {
			it.Title, it.Place = "Wer kennt sich in "+t.places[0].name+" aus", 0
		}
	case wiki:
		it.Title = pick(&d, words().Nouns)
		if int(n) < len(t.places) {
			it.Place = int(n)
			it.Title = t.places[n].name
		}
	case linkFarm:
		it.Title = pick(&d, words().Trades).Plural + " " + t.places[d.n(len(t.places))].name
	}
	return it
}

// about makes a site what an item is about.
func (t *Town) about(it *item, org int32) {
	it.Org, it.Title, it.Address = org, t.sites[org].name, t.ownAddress(org)
}

// firm makes up the n-th item of a directory, of yellow pages or of a chain. The
// town's directories look beyond it.
func (t *Town) firm(d *dice, it *item, site, n int32) {
	s := &t.sites[site]
	own := int32(-1) // site of the firm
	located := 0.93
	if s.kind == directory {
		it.Place, located = 0, 0.6
		r := d.share()
		if r < 0.2 {
			it.Place = 1 + d.n(villages)
		} else if r < 0.45 {
			it.Place = t.farPlace(d)
		}
		orgs := t.orgs[it.Place]
		if k := t.entryOrder(site, n); k < len(orgs) && t.sites[orgs[k]].behaviour != optedOut {
			own = orgs[k]
		}
	} else {
		it.Place = int(n % s.sections)
		if orgs := t.orgs[it.Place]; s.kind == yellowPages && len(orgs) > 0 && d.chance(0.5) {
			own = pick(d, orgs)
		}
	}
	if own >= 0 {
		t.about(it, own)
	} else {
		it.Title = orgName(d, t.places[it.Place].name)
		if s.kind == chain {
			it.Title = s.name + " " + t.places[it.Place].name
		}
		if s.kind == directory && it.Place != 0 {
			t.addressIn(d, 0, "") // keeps the choices of all towns as they were
		}
		it.Address = t.addressIn(d, it.Place, it.Title)
	}
	it.Located = d.chance(located)
}

// offer makes up an advertisement for a job or a flat.
func (t *Town) offer(d *dice, it *item, k kind) {
	switch r := d.share(); {
	case r < 0.06:
		it.Place = 0
	case r < 0.1:
		it.Place = 1 + d.n(villages)
	default:
		it.Place = t.farPlace(d)
	}
	it.Address = t.addressIn(d, it.Place, "")
	it.Title = pick(d, words().JobTitles)
	if k == property {
		it.Title = strconv.Itoa(1+d.n(6)) + "-Zimmer-Wohnung"
	}
	it.Title += " in " + t.places[it.Place].name
	it.Located = d.chance(0.5)
}

// portalItem makes up the n-th item in a section of the portal.
func (t *Town) portalItem(d *dice, it *item, section int32, n int) {
	switch section {
	case 0:
		offices := words().Offices
		it.Title = offices[n%len(offices)]
		if n >= len(offices) {
			it.Title += ", Zweigstelle " + strconv.Itoa(n/len(offices))
		}
		it.Address = t.addressIn(d, 0, it.Title)
	case 1, 3, 5:
		t.about(it, pick(d, t.orgs[0]))
	case 2:
		it.Title = pick(d, words().Nouns) + " im " + pick(d, words().Halls)
		it.Address = t.addressIn(d, 0, "")
	default:
		it.Title = headline(d)
		it.Address = t.addressIn(d, 0, "")
	}
	it.Located = d.chance(portalAddresses[section])
}

// entryOrder shuffles the entries of a directory: a multiplication with a
// number that has no factor in common with their count.
func (t *Town) entryOrder(site, n int32) int {
	count := int(t.sites[site].items)
	factor := count*618/1000 + int(site)
	for new(big.Int).GCD(nil, nil, big.NewInt(int64(factor)), big.NewInt(int64(count))).Int64() != 1 {
		factor++
	}
	return (int(n)*factor + int(site)) % count
}

// lookUp finds out what a page of a catalogue is.
func (c *canvas) lookUp() {
	var ok bool
	c.section, c.list, ok = c.s.list(c.at.page)
	if ok {
		c.body = "list"
		return
	}
	c.Nth, ok = c.s.item(c.at.page)
	switch {
	case ok:
		c.body, c.section = "item", c.Nth%c.s.sections
		c.Item = c.t.itemOf(c.at.site, c.Nth)
	case c.s.kind == calendar:
		c.body = c.calendar()
	default:
		c.body, c.section = "fixed "+strconv.Itoa(int(c.at.page)), 0
	}
}

func (c *canvas) catalogueHeading() string {
	switch {
	case c.body == "item":
		return c.Item.Title
	case c.body != "list":
		return cmp.Or(words().FixedPages[c.at.page].Title, c.s.name)
	case c.list > 0:
		return c.t.sectionName(c.s, c.section) + " – Seite " + strconv.Itoa(int(c.list)+1)
	}
	return c.t.sectionName(c.s, c.section)
}

func (c *canvas) catalogueMenu() string {
	links := []string{c.HomeOf(c.at.site, c.s.name)}
	shown := min(c.s.sections, 9) // sites with many sections show some
	for k := range shown {
		if c.s.sections > shown {
			k = (c.section + 1 + k*(c.s.sections/shown)) % c.s.sections
		}
		if k != c.section {
			links = append(links, c.listLink(k, 0, c.t.sectionName(c.s, k)))
		}
	}
	return c.htmlList(links)
}

func (c *canvas) catalogueFoot() string {
	var foot strings.Builder
	for _, n := range [...]int32{aboutPage, contactPage, imprintPage, privacyPage} {
		page := words().FixedPages[n]
		title := page.Title
		if c.s.style%2 == 1 {
			title = cmp.Or(page.Other, title)
		}
		if n != c.at.page {
			foot.WriteString(c.link(ref{c.at.site, n}, title) + " ")
		}
	}
	if c.at.page == homePage && c.s.style == 2 {
		foot.WriteString(c.link(ref{c.at.site, internPage}, words().FixedPages[internPage].Title))
	}
	return foot.String()
}

// Site returns the page's.
func (c *canvas) Site() int32 { return c.at.site }

// HomeOf returns a link to the home page of a site.
func (c *canvas) HomeOf(site int32, text string) string { return c.link(ref{site, homePage}, text) }

// listLink returns a link to a list page of a section.
func (c *canvas) listLink(section, list int32, text string) string {
	return c.link(ref{c.at.site, c.s.listPage(section, list)}, text)
}

// AllSections returns links to all sections where the menu leaves some out.
func (c *canvas) AllSections() string {
	if c.s.sections <= 9 {
		return ""
	}
	var links []string
	for k := range c.s.sections {
		links = append(links, c.listLink(k, 0, c.t.sectionName(c.s, k)))
	}
	return c.htmlList(links)
}

// NewItem returns the entry of any item.
func (c *canvas) NewItem() string { return c.entry(int32(c.d.n(int(c.s.items))), false) }

// ContactStated reports whether the contact page holds the address.
func (c *canvas) ContactStated() bool { return c.s.style%3 == 0 || c.s.house >= 0 }

// Entries returns those of a list page. Some trades have their addresses printed there.
func (c *canvas) Entries() string {
	s := c.s
	addresses := s.kind == directory && (c.section+int32(s.style))%5 == 0
	var entries []string
	for i := range s.perList {
		if n := (c.list*s.perList+i)*s.sections + c.section; n < s.items {
			entries = append(entries, c.entry(n, addresses))
		}
	}
	return c.htmlList(entries)
}

// OtherLists returns links to the first, the last and the nearest list pages.
func (c *canvas) OtherLists() string {
	var links strings.Builder
	for l := range c.s.lists() {
		if l != c.list && (l < 3 || l-c.list < 3 && c.list-l < 3 || l == c.s.lists()-1) {
			links.WriteString(c.listLink(c.section, l, strconv.Itoa(int(l)+1)) + " ")
		}
	}
	return links.String()
}

// entry returns that of an item in a list.
func (c *canvas) entry(n int32, address bool) string {
	it := c.t.itemOf(c.at.site, n)
	page := ref{c.at.site, c.s.itemPage(n)}
	line := ""
	switch {
	case c.s.kind == linkCatalogue: // the site itself
		return c.Visit(it.Org) + " (" + c.link(page, "Beschreibung") + ")"
	case c.s.style == 4: // the title is no link
		line = c.Text(it.Title+" ") + c.link(page, pick(&c.w, []string{"Details", "mehr", "weiterlesen", "»"}))
	default:
		line = c.link(page, it.Title)
	}
	if address && it.Located {
		line += "<br>" + c.inline(it.Address)
	} else if c.w.chance(0.3) {
		line += "<br>" + c.Sentence()
	}
	return line
}

// BackToList returns a link to the list page with the item.
func (c *canvas) BackToList() string {
	return c.listLink(c.section, c.Nth/c.s.sections/c.s.perList, c.t.sectionName(c.s, c.section))
}

// ItemText writes what the page says of its item.
func (c *canvas) ItemText() string { return c.run("text "+c.s.kind.words().Text, c) }

// ItemPlace returns where an offer is: the place alone is no address.
func (c *canvas) ItemPlace() string {
	p := &c.t.places[c.Item.Place]
	return pick(&c.w, p.postcodes) + " " + c.Text(p.name)
}

// AboutTown reports whether a page of a wiki or forum is about the town.
func (c *canvas) AboutTown() bool {
	return c.Item.Place == 0 && (c.s.kind == wiki || c.s.kind == forum)
}

// TownName returns that of the town.
func (c *canvas) TownName() string { return c.t.Name() }

// Portal returns the town's.
func (c *canvas) Portal() int32 { return c.t.local[0] }

// NamesSite reports whether the page links to the site of its item.
func (c *canvas) NamesSite() bool {
	return c.Item.Org >= 0 && (c.s.kind != yellowPages || c.d.chance(0.7))
}

// Related returns links to neighbours in the section; most firms do not name their
// rivals.
func (c *canvas) Related() string {
	count := c.d.between(2, 4)
	if c.s.kind.words().Rivals && c.d.chance(0.85) {
		count = 0
	}
	var links []string
	for range count {
		k := c.Nth + int32(c.d.between(-6, 6))*c.s.sections
		if k >= 0 && k < c.s.items && k != c.Nth {
			links = append(links, c.link(ref{c.at.site, c.s.itemPage(k)}, c.t.itemOf(c.at.site, k).Title))
		}
	}
	return c.htmlList(links)
}

// Further returns links to other sites, fewer and fewer of them.
func (c *canvas) Further() (links []string) {
	for share := c.s.kind.words().FurtherLinks; c.d.chance(share); share *= 0.7 {
		links = append(links, c.Elsewhere())
	}
	return links
}

// Elsewhere returns a link to another site of the wide web or, from local
// sites, of the town.
func (c *canvas) Elsewhere() string {
	local := 0.05
	switch c.s.kind {
	case portal, newspaper, directory, localBlog:
		local = c.t.o.Locality
	case linkFarm:
		if c.d.chance(0.7) {
			return c.Visit(pick(&c.d, c.t.farms))
		}
	}
	switch r := c.d.share(); {
	case r < local && c.d.chance(0.3):
		return c.Visit(c.Catalogue())
	case r < local:
		return c.Visit(pick(&c.d, c.t.orgs[0]))
	case r < local+0.12:
		orgs := pick(&c.d, c.t.orgs[1:])
		if len(orgs) == 0 {
			return ""
		}
		return c.Visit(pick(&c.d, orgs))
	case r > 0.98 && len(c.t.farms) > 0:
		return c.Visit(pick(&c.d, c.t.farms))
	}
	return c.Visit(pick(&c.d, c.t.far))
}
