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

// A fate says how a site's host answers.
type fate uint8

const (
	works    fate = iota
	slow          // takes its time
	broken        // always 500
	resets        // closes the connection
	noRobots      // robots.txt is 503
	optedOut      // robots.txt forbids everything
)

// A site is what is kept of a host. Its pages are numbered from 0, the home
// page, to pages-1.
type site struct {
	host  string // without domain and "www."
	name  string
	owner string // the person whose site it is, or ""
	kind  kind
	fate  fate
	place uint16 // index of its place
	house int32  // of its own address in the town, or -1
	pages int32

	www      bool
	opaque   bool // links and paths do not say what they lead to
	latin1   bool // pages are ISO-8859-1
	declares bool // … and the header says so
	foreign  bool // in the town's other language
	fronted  bool // … but for the home page
	island   bool // … and no site in that language links to it
	style    uint8
	crawlGap uint8 // Crawl-delay in seconds, or 0

	trade uint8
	org   orgPlan // of an organisation
	// of the others
	sections, perList int32
	items             int32
	listed            bool // in the OpenStreetMap extract
}

// A ref names a page: its site and its number there.
type ref struct{ site, page int32 }

var slugs = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "ae", "Ö", "oe", "Ü", "ue", ".", "", ",", "", "(", "", ")", "",
	" und ", "-", " & ", "-", " ", "-", ":", "", "/", "-")

func slug(s string) string { return strings.ToLower(slugs.Replace(s)) }

// found makes the web: first who has a site, then how big the others are.
func (t *Town) found() {
	t.hosts = make(map[string]int, t.o.Sites)
	t.orgs = make([][]int32, len(t.places))
	d := t.dice(topicSites)
	d2 := t.dice(topicSites, 1)

	n := t.o.Sites
	locals, elsewhere, farms := n*45/100, n*29/100, n*4/100
	wide := n - locals - elsewhere - farms

	t.foundFixed(&d, wide)
	houses := t.dice(topicHouses)
	taken := shuffled(&houses, numbers(t.places[0].last))
	for i := range locals {
		t.foundOrg(&d2, 0, int32(taken[i%len(taken)]))
	}
	for range elsewhere {
		// Some in the villages, most far away.
		p := 1 + villages + d2.n(farTowns)
		if d2.chance(0.2) {
			p = 1 + d2.n(villages)
		}
		t.foundOrg(&d2, p, -1)
	}
	farm := make([]int32, 0, farms)
	for i := range farms {
		s := t.add(site{host: fmt.Sprintf("%s-%s-%d", pick(&d, []string{"top", "best", "linkliste", "surftipp", "web"}), pick(&d, []string{"links", "info", "portal", "suche"}), i+1),
			name: "Surftipps " + fmt.Sprint(i+1), kind: linkFarm, house: -1, place: uint16(t.farPlace(&d)), sections: 4, perList: 10})
		farm = append(farm, int32(s))
	}
	t.farms = farm
	t.sizeUp()
}

// numbers returns 0 … n-1.
func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (t *Town) farPlace(d *dice) int { return 1 + villages + d.n(farTowns) }

// add gives a site its host and its looks.
func (t *Town) add(s site) int {
	base, i := s.host, 2
	for {
		if _, taken := t.hosts[s.host]; !taken {
			break
		}
		s.host = fmt.Sprintf("%s-%d", base, i)
		i++
	}
	n := len(t.sites)
	d := t.dice(topicSites, 2, uint64(n))
	s.www = d.chance(0.4)
	s.opaque = !d.chance(t.o.HintReliability)
	s.style = uint8(d.n(6))
	if d.chance(0.08) {
		s.latin1, s.declares = true, d.chance(0.5)
	}
	fated := d.share()
	if !t.o.Calm && (s.kind == organisation || s.kind == shop || s.kind == blog) {
		switch {
		case fated < 0.02:
			s.fate = slow
		case fated < 0.03:
			s.fate = broken
		case fated < 0.037:
			s.fate = resets
		case fated < 0.042:
			s.fate = noRobots
		case fated < 0.052:
			s.crawlGap = 1
		}
	}
	t.hosts[s.host] = n
	t.sites = append(t.sites, s)
	return n
}

// foundOrg adds an organisation in a place.
func (t *Town) foundOrg(d *dice, p int, h int32) {
	tr := d.n(len(trades))
	where := t.places[p].name
	name := pick(d, families)
	if trades[tr].local {
		name = where
	}
	host := fmt.Sprintf(trades[tr].host, slug(name))
	if !trades[tr].local && d.chance(0.3) { // the place is in many host names
		host += "-" + slug(where)
	}
	s := site{host: host, name: fmt.Sprintf(trades[tr].name, name), kind: organisation, place: uint16(p), house: h, trade: uint8(tr)}
	if p == 0 && len(t.orgs[0]) == 3 {
		s.host, s.name = "optout", "Kanzlei Keinbock"
	}
	s.org = t.planOrg(d)
	n := t.add(s)
	switch {
	case s.host == "optout":
		t.sites[n].fate = optedOut
	case p == 0:
		listed := t.dice(topicListed, 1<<40, uint64(n))
		t.sites[n].listed = listed.chance(t.o.ListedSites)
	}
	t.sites[n].pages = t.sites[n].org.pages()
	t.orgs[p] = append(t.orgs[p], int32(n))
}

// A want is a kind of catalogue: how many of them in a hundred, at least one,
// and how big one is beside a shop.
type want struct {
	kind   kind
	share  float64
	weight float64
}

var wants = []want{
	{yellowPages, 2, 3},
	{chain, 5, 0.4},
	{linkCatalogue, 1, 1.5},
	{jobs, 2, 3},
	{property, 2, 2.5},
	{magazine, 6, 4},
	{shop, 38, 1},
	{forum, 7, 2},
	{wiki, 2, 5},
	{localBlog, 7, 0.12},
	{blog, 28, 0.2},
}

// foundFixed adds the town's own catalogues and count−6 others.
func (t *Town) foundFixed(d *dice, count int) {
	town, own := t.places[0].name, slug(t.places[0].name)
	home := func() int32 { return int32(t.places[0].first + d.n(t.places[0].last-t.places[0].first)) }
	for _, s := range []site{
		{host: own, name: "Stadt " + town, kind: portal, perList: 12},
		{host: own + "er-anzeiger", name: town + "er Anzeiger", kind: newspaper, perList: 15},
		{host: "branchen-" + own, name: "Branchenbuch " + town, kind: directory, perList: 20},
		{host: own + "-von-a-bis-z", name: town + " von A bis Z", kind: directory, perList: 15},
		{host: "kalender." + own, name: "Veranstaltungskalender " + town, kind: calendar, perList: 1},
	} {
		s.house = home()
		t.local = append(t.local, int32(t.add(s)))
	}
	t.sites[t.local[0]].www = true
	kinds := []kind{yellowPages, chain, linkCatalogue, jobs, property, magazine, shop, forum, wiki, localBlog, blog}
	for range count - 5 - len(kinds) {
		r, k := d.share()*100, shop
		for _, w := range wants {
			if r -= w.share; r < 0 {
				k = w.kind
				break
			}
		}
		kinds = append(kinds, k)
	}
	for _, k := range kinds {
		s := site{kind: k, house: -1, place: uint16(t.farPlace(d)), perList: 20}
		family := pick(d, families)
		switch k {
		case yellowPages:
			s.host, s.name = pick(d, []string{"gelbes-buch", "firmen-finden", "branchenkompass", "stadtauskunft", "adressbuch"}), "Firmen von A bis Z"
			s.perList = 15
		case chain:
			s.host, s.name = pick(d, []string{"baumarkt", "schuhe", "drogerie", "moebel", "supermarkt", "optikwelt", "backkette"})+"-"+slug(family), family+" Märkte"
			s.perList = 12
		case linkCatalogue:
			s.host, s.name = pick(d, []string{"webkatalog", "linkverzeichnis", "netzfundus"}), "Webkatalog"
		case jobs:
			s.host, s.name = pick(d, []string{"stellenmarkt", "jobs-hier", "arbeit-finden"}), "Stellenmarkt"
		case property:
			s.host, s.name = pick(d, []string{"wohnungssuche", "immo-boerse", "haus-und-hof"}), "Immobilienbörse"
		case magazine:
			s.host, s.name = pick(d, []string{"nachrichten", "tagesblick", "weltspiegel", "magazin", "zeitgeschehen"})+"-"+pick(d, []string{"heute", "online", "aktuell"}), "Nachrichten heute"
		case shop:
			kind := pick(d, goodsKinds)
			s.host, s.name = slug(kind)+"-"+pick(d, []string{"shop", "versand", "paradies", "discount"})+"-"+slug(family), kind+" Versand "+family
		case forum:
			kind := pick(d, forumKinds)
			s.host, s.name = slug(kind)+"-forum", "Forum "+kind
		case wiki:
			s.host, s.name = pick(d, []string{"wissenswiki", "lexikon", "enzyklopaedie"}), "Freies Lexikon"
		case localBlog:
			s.host, s.name = pick(d, []string{"blog", "tagebuch", "foodblog", "lauftagebuch"})+"-"+slug(family), family+" schreibt"
			s.owner = firstNames[len(t.sites)%len(firstNames)] + " " + family
			s.place, s.house, s.perList = 0, home(), 8
		case blog:
			s.host, s.name = pick(d, []string{"blog", "notizen", "reiseblog", "kochblog", "bastelblog"})+"-"+slug(family), family+" bloggt"
			s.perList = 8
		}
		n := int32(t.add(s))
		if k == localBlog {
			t.local = append(t.local, n)
		} else {
			t.far = append(t.far, n)
		}
	}
}

// sizeUp shares out the pages that the organisations leave among the others.
func (t *Town) sizeUp() {
	left, weights := float64(t.o.Sites*t.o.PagesPerSite), 0.0
	weight := func(s *site) float64 {
		switch s.kind {
		case newspaper:
			return 5
		case portal:
			return 1.2
		case linkFarm:
			return 0.12
		}
		for _, w := range wants {
			if w.kind == s.kind {
				return w.weight
			}
		}
		return 0
	}
	for i := range t.sites {
		left -= float64(t.sites[i].pages)
		weights += weight(&t.sites[i])
	}
	for i := range t.sites {
		s := &t.sites[i]
		if s.kind == organisation {
			continue
		}
		d := t.dice(topicSites, 3, uint64(i))
		size := int32(weight(s) * left / weights * (0.5 + d.share()))
		switch s.kind {
		case portal:
			s.sections = int32(len(portalSections))
		case newspaper:
			s.sections = int32(len(localNewsKinds))
		case directory:
			s.sections = int32(len(trades))
			size = int32(len(t.orgs[0])) * 2 // firms without a site, too
		case yellowPages, chain, linkCatalogue:
			s.sections = int32(len(t.places))
		case jobs, property, shop:
			s.sections = int32(len(goodsKinds))
		case magazine:
			s.sections = int32(len(newsKinds))
		case forum, wiki:
			s.sections = int32(len(forumKinds))
		case localBlog, blog, linkFarm:
			s.sections = 3
		case calendar:
			s.sections, size = 1, 0
		}
		s.items = max(size, s.sections*3)
		if s.kind == calendar {
			s.items = 0
		}
		s.pages = fixedPages + s.sections*s.lists() + s.items
	}
}

// lists returns how many list pages a section has.
func (s *site) lists() int32 {
	return max(1, (s.items/s.sections+s.perList)/s.perList)
}
