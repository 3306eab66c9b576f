package demo

import (
	"fmt"
	"strings"
)

// A kind says what a site is.
type kind uint8

const (
	organisation  kind = iota // a firm, club, school … with a small site
	portal                    // of the town
	newspaper                 // of the town
	directory                 // of the town's firms
	yellowPages               // of all towns' firms
	chain                     // shops in all towns
	linkCatalogue             // of web sites, by subject and town
	jobs                      // advertisements, all towns
	property                  // advertisements, all towns
	magazine                  // news from everywhere
	shop                      // sends parcels
	forum                     //
	wiki                      //
	localBlog                 // of a person in the town
	blog                      // of a person elsewhere
	linkFarm                  // links and keywords for search engines
	calendar                  // of the town: without end
)

func (k kind) words() *kindWords { return &words().Kinds[k-portal] }

// A behaviour is how a site's host answers.
type behaviour uint8

const (
	works    behaviour = iota
	slow               // takes its time
	broken             // always 500
	resets             // closes the connection
	noRobots           // robots.txt is 503
	optedOut           // robots.txt forbids everything
)

// answers reports whether the host does not fail.
func (s *site) answers() bool { return s.behaviour != broken && s.behaviour != resets }

// A site is the stored part of a host. Its pages are numbered from 0, the home page, to pages-1.
type site struct {
	host      string // without domain and "www."
	name      string
	owner     string // the person whose site it is, or ""
	kind      kind
	behaviour behaviour
	place     uint16 // index of its place
	house     int32  // of its own address in the town, or -1
	pages     int32

	www      bool
	opaque   bool // links and paths do not say what they lead to
	latin1   bool // pages are ISO-8859-1
	declares bool // … and the header says so
	foreign  bool // in the town's other language
	fronted  bool // … but for the home page
	island   bool // … and no site in that language links to it
	listed   bool // in the OpenStreetMap extract
	style    uint8
	crawlGap uint8 // Crawl-delay in seconds, or 0

	trade                    uint8 // of an organisation
	org                      orgPlan
	sections, perList, items int32 // of a catalogue
}

// A ref names a page: its site and its number there.
type ref struct{ site, page int32 }

// makeSites makes the sites of the web: organisations first, then catalogues, which share the other pages.
func (t *Town) makeSites() {
	t.hosts = make(map[string]int, t.o.Sites)
	t.orgs = make([][]int32, len(t.places))
	d, d2 := t.dice(topicSites), t.dice(topicSites, 1)
	n := t.o.Sites
	locals, elsewhere, farms := n*45/100, n*29/100, n*4/100

	t.makeTownSites(&d)
	t.makeWideSites(&d, n-locals-elsewhere-farms-len(t.local))
	houses := t.dice(topicHouses)
	free := make([]int32, t.places[0].last)
	for i := range free {
		free[i] = int32(i)
	}
	free = shuffled(&houses, free)
	for i := range locals {
		t.makeOrg(&d2, 0, free[i%len(free)])
	}
	for range elsewhere { // some in the villages, most far away
		p := 1 + villages + d2.n(farTowns)
		if d2.chance(0.2) {
			p = 1 + d2.n(villages)
		}
		t.makeOrg(&d2, p, -1)
	}
	for i := range farms {
		s := t.makeSite(&d, linkFarm)
		s.host += fmt.Sprintf("-%d", i+1)
		s.name += fmt.Sprintf(" %d", i+1)
		s.place = uint16(t.farPlace(&d))
		t.farms = append(t.farms, int32(t.add(s)))
	}
	t.shareOutPages()
}

func (t *Town) farPlace(d *dice) int { return 1 + villages + d.n(farTowns) }

// add gives a site its host and its looks.
func (t *Town) add(s site) int {
	base := s.host
	for i := 2; ; i++ {
		if _, taken := t.hosts[s.host]; !taken {
			break
		}
		s.host = fmt.Sprintf("%s-%d", base, i)
	}
	n := len(t.sites)
	d := t.dice(topicSites, 2, uint64(n))
	s.www = d.chance(0.4)
	s.opaque = !d.chance(t.o.HintReliability)
	s.style = uint8(d.n(6))
	if d.chance(0.08) {
		s.latin1, s.declares = true, d.chance(0.5)
	}
	failure := d.share()
	if !t.o.Calm && (s.kind == organisation || s.kind == shop || s.kind == blog) {
		switch {
		case failure < 0.02:
			s.behaviour = slow
		case failure < 0.03:
			s.behaviour = broken
		case failure < 0.037:
			s.behaviour = resets
		case failure < 0.042:
			s.behaviour = noRobots
		case failure < 0.052:
			s.crawlGap = 1
		}
	}
	t.hosts[s.host] = n
	t.sites = append(t.sites, s)
	return n
}

// makeOrg adds an organisation in a place.
func (t *Town) makeOrg(d *dice, p int, h int32) {
	kind := d.n(len(words().Trades))
	tr := words().Trades[kind]
	where := t.places[p].name
	name := pick(d, words().Families)
	if tr.Local {
		name = where
	}
	host := fmt.Sprintf(tr.Host, slug(name))
	if !tr.Local && d.chance(0.3) { // the place is in many host names
		host += "-" + slug(where)
	}
	s := site{host: host, name: fmt.Sprintf(tr.Name, name), place: uint16(p), house: h, trade: uint8(kind)}
	if p == 0 && len(t.orgs[0]) == 3 {
		s.host, s.name = "optout", "Kanzlei Keinbock"
	}
	s.org = t.planOrg(d)
	s.pages = s.org.pages()
	n := t.add(s)
	if s.host == "optout" {
		t.sites[n].behaviour = optedOut
	} else if p == 0 {
		listed := t.dice(topicListed, 1<<40, uint64(n))
		t.sites[n].listed = listed.chance(t.o.ListedSites)
	}
	t.orgs[p] = append(t.orgs[p], int32(n))
}

// makeTownSites adds the town's own catalogues.
func (t *Town) makeTownSites(d *dice) {
	town, own := t.places[0].name, slug(t.places[0].name)
	for _, s := range []site{
		{host: own, name: "Stadt " + town, kind: portal},
		{host: own + "er-anzeiger", name: town + "er Anzeiger", kind: newspaper},
		{host: "branchen-" + own, name: "Branchenbuch " + town, kind: directory},
		{host: own + "-von-a-bis-z", name: town + " von A bis Z", kind: directory, perList: 15},
		{host: "kalender." + own, name: "Veranstaltungskalender " + town, kind: calendar},
	} {
		s.house = int32(d.n(t.places[0].last))
		if s.perList == 0 {
			s.perList = s.kind.words().PerList
		}
		t.local = append(t.local, int32(t.add(s)))
	}
	t.sites[t.local[0]].www = true
}

// makeWideSites adds so many other catalogues, at least one of each kind.
func (t *Town) makeWideSites(d *dice, count int) {
	var kinds []kind
	for k := yellowPages; k <= blog; k++ {
		kinds = append(kinds, k)
	}
	for range count - len(kinds) {
		k := yellowPages
		for r := d.share()*100 - k.words().Share; r >= 0 && k < blog; r -= k.words().Share {
			k++
		}
		kinds = append(kinds, k)
	}
	for _, k := range kinds {
		place := uint16(t.farPlace(d))
		family := pick(d, words().Families)
		s := t.makeSite(d, k)
		s.place = place
		s.name = strings.ReplaceAll(s.name, "{family}", family)
		if k.words().Family {
			s.host += "-" + slug(family)
		}
		if k != localBlog {
			t.far = append(t.far, int32(t.add(s)))
			continue
		}
		s.owner = words().FirstNames[len(t.sites)%len(words().FirstNames)] + " " + family
		s.place, s.house = 0, int32(d.n(t.places[0].last))
		t.local = append(t.local, int32(t.add(s)))
	}
}

// makeSite returns a catalogue with a host and a name.
func (t *Town) makeSite(d *dice, k kind) site {
	w := k.words()
	var parts []string
	for _, list := range w.Hosts {
		part := list[0]
		if len(list) > 1 {
			part = pick(d, list)
		}
		parts = append(parts, part)
	}
	name := strings.ReplaceAll(w.Name, "{0}", parts[0])
	return site{kind: k, host: slug(strings.Join(parts, "-")), name: name, house: -1, perList: w.PerList}
}

// shareOutPages shares out the pages that the organisations leave among the others.
func (t *Town) shareOutPages() {
	left, weights := float64(t.o.Sites*t.o.PagesPerSite), 0.0
	for i := range t.sites {
		left -= float64(t.sites[i].pages)
		if k := t.sites[i].kind; k != organisation {
			weights += k.words().Weight
		}
	}
	for i := range t.sites {
		s := &t.sites[i]
		if s.kind == organisation {
			continue
		}
		d := t.dice(topicSites, 3, uint64(i))
		size := int32(s.kind.words().Weight * left / weights * (0.5 + d.share()))
		s.sections = int32(len(s.kind.words().Sections))
		switch s.kind {
		case directory:
			s.sections = int32(len(words().Trades))
			size = int32(len(t.orgs[0])) * 2 // firms without a site, too
		case yellowPages, chain, linkCatalogue:
			s.sections = int32(len(t.places))
		}
		if s.kind != calendar {
			s.items = max(size, s.sections*3)
		}
		s.pages = fixedPages + s.sections*s.lists() + s.items
	}
}

// lists returns how many list pages a section has.
func (s *site) lists() int32 {
	return max(1, (s.items/s.sections+s.perList)/s.perList)
}
