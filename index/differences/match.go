package differences

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/internal/kind"

	"github.com/paulmach/orb"
	"golang.org/x/net/publicsuffix"
)

// A mapped is a place of the map, with what was found of it.
type mapped struct {
	place  gazetteer.Place
	phones []string // E.164
	site   string   // registrable domain of its web site, or ""

	best  *index.Hit // what states it best; nil: no page does
	score int
	left  *index.Hit // what says that it is there no longer; nil: no page does
	moved bool       // pages state it elsewhere
}

// A matcher finds for each place that pages state which one of the map it is: first at the same
// door, then by what else is known of it, at last by its kind.
type matcher struct {
	mapped                          []mapped
	atDoor, ofName, ofPhone, ofSite map[string][]int // numbers of mapped
	near                            map[[2]int][]int // by cell
	rest                            []index.Hit      // what was not found at its door
	stated                          int
}

func newMatcher() *matcher {
	return &matcher{atDoor: map[string][]int{}, ofName: map[string][]int{}, ofPhone: map[string][]int{},
		ofSite: map[string][]int{}, near: map[[2]int][]int{}}
}

// cellSize is that of a cell in degrees: wider than sameBlock up to 80 degrees north.
const cellSize = 0.008

func cellOf(p orb.Point) [2]int {
	return [2]int{int(math.Floor(p[0] / cellSize)), int(math.Floor(p[1] / cellSize))}
}

func doorOf(street, number string) string {
	return gazetteer.StreetKey(street) + "\x00" + gazetteer.NumberKey(number)
}

// siteOf returns the registrable domain of a web address, or "".
func siteOf(address string) string {
	if address != "" && !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

func (m *matcher) addPlace(p gazetteer.Place) {
	n := len(m.mapped)
	one := mapped{place: p, phones: phonesOf(&p), site: siteOf(tagOf(p.Object, "website", "contact:website"))}
	m.mapped = append(m.mapped, one)
	note := func(in map[string][]int, key string) {
		if key != "" && !slices.Contains(in[key], n) {
			in[key] = append(in[key], n)
		}
	}
	if p.Street != "" {
		note(m.atDoor, doorOf(p.Street, p.HouseNumber))
	}
	for _, name := range p.Names {
		note(m.ofName, gazetteer.Key(name))
	}
	for _, phone := range one.phones {
		note(m.ofPhone, phone)
	}
	note(m.ofSite, one.site)
	cell := cellOf(p.Point)
	m.near[cell] = append(m.near[cell], n)
}

// counts reports whether a hit is a place that can be compared: one that pages state today, with a
// name, and no home.
func counts(h *index.Hit) bool {
	return h.Gone.IsZero() && h.Name != "" && !(h.Person && h.Kind == "") && len(h.Evidence) > 0
}

// addHit takes what pages state: it is the place of the map that fits best at its door, or waits
// until all have been found there.
func (m *matcher) addHit(h index.Hit) {
	if !counts(&h) {
		return
	}
	m.stated++
	h.Others, h.Names = nil, nil // they come by themselves
	best, most := -1, 0
	for _, n := range m.around(&h) {
		if score := m.mapped[n].fit(&h); score > most || score == most && most > 0 && m.mapped[n].place.ID < m.mapped[best].place.ID {
			best, most = n, score
		}
	}
	switch {
	case best < 0 && h.Status == "":
		m.rest = append(m.rest, h)
	case best >= 0 && h.Status == "":
		m.mapped[best].take(&h, most)
	case best >= 0 && m.mapped[best].left == nil:
		m.mapped[best].left = &h
	}
}

// around returns the places of the map at the door of a hit or near it.
func (m *matcher) around(h *index.Hit) (all []int) {
	if h.Street != "" {
		all = append(all, m.atDoor[doorOf(h.Street, h.HouseNumber)]...)
		all = append(all, m.atDoor[doorOf(h.Street, "")]...)
	}
	if !h.HasPoint {
		return all
	}
	at := cellOf(h.Point)
	for x := at[0] - 1; x <= at[0]+1; x++ {
		for y := at[1] - 1; y <= at[1]+1; y++ {
			all = append(all, m.near[[2]int{x, y}]...)
		}
	}
	return all
}

// fit rates how surely a hit is the place, at its door; 0: it is not.
func (p *mapped) fit(h *index.Hit) int {
	score := 4 * int(named(&p.place, h))
	contacts := p.contacts(h)
	if score == 0 && (contacts == 0 || !AtDoor(&p.place, h) || rivals(&p.place, h)) {
		return 0
	}
	score += 3 * contacts
	if h.Object == p.place.ID {
		score += 4
	}
	if AtDoor(&p.place, h) {
		score += 2
	}
	if h.Kind != "" && p.place.Object.Is(kind.Main(h.Kind)) {
		score += 2
	}
	return score
}

// contacts counts which of phone and own web site a hit shares with the place.
func (p *mapped) contacts(h *index.Hit) (n int) {
	if h.Phone != "" && slices.Contains(p.phones, h.Phone) {
		n++
	}
	if site := siteOf(export.OwnWebsite(h)); site != "" && site == p.site {
		n++
	}
	return n
}

// take notes what states the place best: what fits best, then what is surest.
func (p *mapped) take(h *index.Hit, score int) {
	if p.best == nil || score > p.score || score == p.score && trust(h) > trust(p.best) {
		p.best, p.score = h, score
	}
}

// comparison finds those that are not at their door, and says what differs.
func (m *matcher) comparison() *Comparison {
	c := &Comparison{Stated: m.stated, Mapped: len(m.mapped)}
	for i := range m.mapped {
		if m.mapped[i].best != nil {
			c.Same++
		}
	}
	m.dropUnsure()
	m.findMoved(c)
	m.findRenamed()
	for i := range m.rest {
		c.addMissing(&m.rest[i])
	}
	for i := range m.mapped {
		p := &m.mapped[i]
		switch {
		case p.moved:
		case p.left != nil && (p.best == nil || p.left.Status == "closed"):
			c.addLeft(p)
		case p.best != nil:
			c.addFields(p)
		case isExpected(&p.place):
			c.addNotFound(p, m)
		}
	}
	c.sort()
	return c
}

// dropUnsure drops from the rest what is no place of its own: a name without a kind that a site
// which states many addresses, or one name at several of them, gives to an address that its text
// mentions.
func (m *matcher) dropUnsure() {
	often := map[[2]string]int{}
	key := func(h *index.Hit) [2]string { return [2]string{h.Site, gazetteer.Key(h.Name)} }
	for i := range m.rest {
		often[key(&m.rest[i])]++
	}
	m.rest = slices.DeleteFunc(m.rest, func(h index.Hit) bool {
		return h.Kind == "" && (h.Directory || !h.Own() || often[key(&h)] > 1)
	})
}

// findMoved takes those out of the rest that the map has elsewhere: with the same name and phone or
// web site, or with a name that is there once and of no other kind.
func (m *matcher) findMoved(c *Comparison) {
	m.rest = slices.DeleteFunc(m.rest, func(h index.Hit) bool {
		best, most := -1, 0.0
		for _, n := range m.elsewhere(&h) {
			p := &m.mapped[n]
			vague := p.place.HouseNumber == "" && h.Precision != gazetteer.HousePrecision.String()
			like, contacts := likenessOf(&p.place, h.Name), p.contacts(&h)
			if p.best != nil || p.moved || vague || like < alike || rivals(&p.place, &h) && (contacts == 0 || like < equal) {
				continue
			}
			sure := 0.0
			if contacts > 0 {
				sure = 0.9 + 0.05*float64(contacts-1)
			} else if m.once(&p.place) && h.Kind != "" && h.Own() {
				sure = 0.7
			}
			if sure > most {
				best, most = n, sure
			}
		}
		if best < 0 {
			return false
		}
		m.mapped[best].moved = true
		c.addMoved(&m.mapped[best], &h, most)
		return true
	})
}

// elsewhere returns the places of the map that share a name, a phone or a web site with a hit.
func (m *matcher) elsewhere(h *index.Hit) (all []int) {
	for _, found := range [][]int{m.ofName[gazetteer.Key(h.Name)], m.ofPhone[h.Phone],
		m.ofSite[siteOf(export.OwnWebsite(h))]} {
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// once reports whether the map has one place only of each name of p.
func (m *matcher) once(p *gazetteer.Place) bool {
	return !slices.ContainsFunc(p.Names, func(name string) bool { return len(m.ofName[gazetteer.Key(name)]) > 1 })
}

// findRenamed takes those out of the rest that are the only place of their kind at a door where the
// map has one of another name that no page states: a place with a new name.
func (m *matcher) findRenamed() {
	at := map[string]int{} // places of the rest by door and kind
	key := func(h *index.Hit) string { return doorOf(h.Street, h.HouseNumber) + "\x00" + kind.Main(h.Kind) }
	for i := range m.rest {
		at[key(&m.rest[i])]++
	}
	m.rest = slices.DeleteFunc(m.rest, func(h index.Hit) bool {
		if h.Kind == "" || h.HouseNumber == "" || at[key(&h)] > 1 {
			return false
		}
		only, n := -1, 0
		for _, i := range m.atDoor[doorOf(h.Street, h.HouseNumber)] {
			if p := &m.mapped[i]; AtDoor(&p.place, &h) && p.place.Object.Is(kind.Main(h.Kind)) {
				only, n = i, n+1
			}
		}
		if n != 1 || m.mapped[only].best != nil || m.mapped[only].moved {
			return false
		}
		m.mapped[only].take(&h, 1)
		return true
	})
}
