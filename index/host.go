package index

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/geoparse"
	"gazehound/geoparse/place"
)

// The pages of a host are put together when they are written, so that the order in which they come
// makes no difference: an address that one page shows to be a home is kept of none, and what pages
// without the address say of the host's only place is shown with it. Keywords find the pages and the
// address of a host; docs/decisions/064-one-picture-of-a-site.md says why.

// Bounds of what is read for a host.
const (
	maxNotes = 16 // pages with notes, those with the lowest IDs
	maxSeats = 8  // of a host's own addresses
	maxHomes = 1000
)

// A hostChange has the IDs of what a batch writes of a host.
type hostChange struct{ pages, addresses []string }

func (c *commit) host(host string) *hostChange {
	if c.hosts[host] == nil {
		c.hosts[host] = &hostChange{}
	}
	return c.hosts[host]
}

func homeKey(host, id string) string { return hashOf(host) + separator + id }

// homesOf returns the IDs of the addresses of a page that are homes.
func homesOf(d Document) (ids []string) {
	site := siteOf(hostOf(d.URL))
	for _, a := range d.Addresses {
		if a.InRegion && a.Home && a.Street != "" && len(ids) < maxHomes {
			ids = append(ids, AddressID(site, a))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// isHome reports whether a page of the host shows the address to be a home.
func (c *commit) isHome(host, id string) bool {
	key := homeKey(host, id)
	return c.homes[key] || c.reader.count(fieldHome, key) > c.homeless[key]
}

// setHomes sets the homes of a page, and takes those that are new off the other pages of its host.
func (c *commit) setHomes(page *pageRecord, host string, homes []string) error {
	before := page.Homes
	page.Homes = homes
	for _, id := range before {
		if !slices.Contains(homes, id) {
			c.homeless[homeKey(host, id)]++
		}
	}
	for _, id := range homes {
		if slices.Contains(before, id) {
			continue
		}
		c.homes[homeKey(host, id)] = true
		r, err := c.address(id)
		if err != nil {
			return err
		}
		for _, m := range slices.Clone(r.Mentions) {
			if m.host != host {
				continue
			}
			r.remove(m.URL)
			c.changed[id] = true
			p, err := c.page(m.URL)
			if err != nil {
				return err
			}
			if p != nil {
				p.States = slices.DeleteFunc(slices.Clone(p.States), func(s string) bool { return s == id })
				p.Lost = true
				c.pageChanged(p)
			}
		}
		if r.More[host] > 0 {
			delete(r.More, host)
			c.changed[id] = true
		}
	}
	return nil
}

// isSeat reports whether the mention is that of a place of its own host.
func (m *mention) isSeat() bool {
	return m.role() == geoparse.OwnRole && m.Street != "" && m.Gone == 0 && !m.status().Left()
}

func (r *record) isSeatOf(host string) bool {
	return slices.ContainsFunc(r.Mentions, func(m *mention) bool { return m.host == host && m.isSeat() })
}

// isNamedBy reports whether a page of the host says who is at the address, as a place of its own, and reached:
// one of its pages about the place.
func (r *record) isNamedBy(host string) (named, reached bool) {
	for _, m := range r.Mentions {
		if m.host == host && m.isSeat() && m.Name != "" {
			named, reached = true, reached || m.isOfPlace()
		}
	}
	return named, reached
}

// isOfPlace reports whether the page is about the place of its host.
func (m *mention) isOfPlace() bool {
	_, path, _ := strings.Cut(m.URL, m.host)
	return geoparse.IsOfPlace(path)
}

// spreadNotes gives the only address of each host that has changed what the notes of its pages say,
// and takes that from an address that is not the only one any more, as [onlySeat] has it. Others get only the kind,
// and the name if none has one; of maxSeats and more the rest may not have been read, and none gets it.
func (c *commit) spreadNotes() error {
	for _, host := range slices.Sorted(maps.Keys(c.hosts)) {
		seats, err := c.seats(host)
		if err != nil {
			return err
		}
		var all geoparse.Notes
		if len(seats) > 0 && len(seats) < maxSeats {
			all, err = c.notes(host)
			if err != nil {
				return err
			}
		}
		only, named := onlySeat(seats, host)
		for _, r := range seats {
			notes := geoparse.Notes{Kind: all.Kind}
			if !named { // else it is of the other, and this may be anybody's
				notes.Name = cmp.Or(all.Name, r.sharedTitle(host))
			}
			if r == only {
				notes.Phone, notes.Hours = all.Phone, all.Hours
			}
			if r.Notes[host] == notes {
				continue
			}
			if r.Notes == nil {
				r.Notes = map[string]geoparse.Notes{}
			}
			r.Notes[host] = notes
			c.changed[r.id] = true
		}
	}
	return nil
}

// onlySeat returns the only address of a host, or of several the only one that its pages name, or name on those
// about its place; nil where nobody knows which has its telephone number and hours. named: any has a name.
func onlySeat(seats []*record, host string) (only *record, named bool) {
	var withName, reached []*record
	for _, r := range seats {
		isNamed, isReached := r.isNamedBy(host)
		if isNamed {
			withName = append(withName, r)
		}
		if isReached {
			reached = append(reached, r)
		}
	}
	for _, some := range [][]*record{seats, withName, reached} {
		if len(some) == 1 {
			return some[0], len(withName) > 0
		}
	}
	return nil, len(withName) > 0
}

// seats returns the addresses that pages of a host state as their own, at most maxSeats.
func (c *commit) seats(host string) (seats []*record, err error) {
	var ids []string
	if c.reader.count(fieldOwn, host) > 0 { // else no page of the host states one, which is found out faster
		ids, err = c.idsUnder(fieldSeat, host, maxSeats)
	}
	if err != nil {
		return nil, err
	}
	ids = append(ids, c.hosts[host].addresses...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		r, err := c.address(id)
		if err != nil {
			return nil, err
		}
		if r.isSeatOf(host) {
			seats = append(seats, r)
		}
	}
	return seats, nil
}

// notes returns what the pages of a host say of its place: of each kind what most of them do.
func (c *commit) notes(host string) (best geoparse.Notes, err error) {
	pages, err := c.noted(host, c.hosts[host].pages...)
	if err != nil {
		return best, err
	}
	var phones, hours, kinds, names = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, p := range pages {
		phones[p.Notes.Phone]++
		hours[p.Notes.Hours]++
		kinds[p.Notes.Kind]++
		names[p.Notes.Name]++
	}
	return geoparse.Notes{Phone: mostStated(phones), Hours: mostStated(hours), Kind: mostStated(kinds),
		Name: mostStated(names)}, nil
}

// noted returns the pages of a host with notes that are read, in the order of their IDs; more are IDs of
// pages that may have some now.
func (c *commit) noted(host string, more ...string) (pages []*pageRecord, err error) {
	ids, err := c.idsUnder(fieldNoted, host, maxNotes)
	if err != nil {
		return nil, err
	}
	ids = append(ids, more...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		p, known := c.pages[id]
		if !known {
			p, err = pageOf(c.reader, id)
			if err != nil {
				return nil, err
			}
		}
		if p == nil || p.Notes == (geoparse.Notes{}) {
			continue
		}
		pages = append(pages, p)
		if len(pages) == maxNotes {
			break
		}
	}
	return pages, nil
}

// mostStated returns the value with the highest count, "" where there is none.
func mostStated(counts map[string]int) string {
	delete(counts, "")
	if len(counts) == 0 {
		return ""
	}
	return slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), strings.Compare(b, a))
	})
}

// idsUnder returns the first IDs that stand behind a host in the keywords of a field. Some may be of
// documents that do not have the keyword any more.
func (c *commit) idsUnder(field, host string, most int) (ids []string, err error) {
	name, prefix := termOf(field, host+separator)
	dict, err := c.reader.FieldDictPrefix(name, []byte(prefix))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer dict.Close()
	for len(ids) < most {
		e, err := dict.Next()
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if e == nil {
			break
		}
		ids = append(ids, strings.TrimPrefix(e.Term, prefix))
	}
	return ids, nil
}

// takeNotes gives the mentions of each host what the notes of its pages say and none of them does.
func (r *record) takeNotes() {
	for host, notes := range r.Notes {
		if !r.isSeatOf(host) || notes == (geoparse.Notes{}) {
			delete(r.Notes, host)
		}
	}
	for _, m := range r.Mentions {
		m.notes = r.Notes[m.host]
		m.notes.Phone = m.notes.PhoneOf(m.Land)
		if m.notes.Name != "" && !m.isOfPlace() {
			m.notes.Name = ""
		}
	}
	for _, m := range r.Mentions {
		if m.notes == (geoparse.Notes{}) {
			continue
		}
		for _, o := range r.Mentions {
			if o.host == m.host {
				m.notes.Phone, m.notes.Hours = unless(o.Phone, m.notes.Phone), unless(o.Hours, m.notes.Hours)
				m.notes.Name = unless(o.Name, m.notes.Name)
				if o.Kind != association { // the legal form says no more
					m.notes.Kind = unless(o.Kind, m.notes.Kind)
				}
			}
		}
	}
}

// leastTitles is how many pages of a host must share a part of their titles.
const leastTitles = 3

// sharedTitle returns the part that the titles of all pages have on which a host states the address as its own, if they
// are some and it can be the name of a place, or "".
func (r *record) sharedTitle(host string) string {
	var parts []string
	pages := 0
	for _, m := range r.Mentions {
		if m.host != host || !m.isSeat() {
			continue
		}
		others := place.TitleParts(m.Title)
		if pages == 0 {
			parts = others
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return !slices.Contains(others, part) })
		pages++
	}
	slices.Sort(parts) // whichever page comes first
	i := slices.IndexFunc(parts, func(part string) bool {
		return strings.Contains(part, " ") && place.IsName(part) && !place.IsPerson(part)
	})
	if i < 0 || pages < leastTitles {
		return ""
	}
	return parts[i]
}

// unless returns value, "" where something is stated already.
func unless(stated, value string) string {
	if stated != "" {
		return ""
	}
	return value
}

// name returns the name that the page states, or that the start page of the host has where no page of it that states
// the address says who is there.
func (m *mention) name() string {
	if m.Name == "" && m.isSeat() {
		return m.notes.Name
	}
	return m.Name
}

func (m *mention) phone() string { return cmp.Or(m.Phone, m.notes.Phone) }
func (m *mention) hours() string { return cmp.Or(m.Hours, m.notes.Hours) }
func (m *mention) kind() string {
	if m.Kind == association {
		return cmp.Or(m.notes.Kind, m.Kind)
	}
	return cmp.Or(m.Kind, m.notes.Kind)
}

// association is the kind of a place of which a page says no more than "e.V.".
const association = "office=association"
