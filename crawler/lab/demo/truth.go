package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"gazehound/crawler/weburl"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"
)

// Facts are what is true of one page.
type Facts struct {
	Relevant  bool      // the page holds an address in the town that is not a private person's
	Addresses []Address // those, in the order of the page
	Persons   []Address // those in the town of private persons: no crawl should keep them
	Others    []Address // those elsewhere
	Forbidden bool      // robots.txt keeps crawlers off it
	Language  string    // of the text, ISO 639-1
}

// Truth returns the facts of the page at u, and whether there is one. A
// redirect, an image or a missing page is none.
func (t *Town) Truth(u weburl.URL) (Facts, bool) {
	to, _, ok := t.targetOf(u)
	if !ok || to.what != aPage && to.what != aTrap {
		return Facts{}, false
	}
	return t.outline(to.ref, to.trap).facts(), true
}

func (c *canvas) facts() Facts {
	f := Facts{Forbidden: c.t.disallowed(c.at), Language: c.language()}
	for _, a := range c.found {
		switch {
		case !a.InTown:
			f.Others = append(f.Others, a)
		case a.Person:
			f.Persons = append(f.Persons, a)
		default:
			f.Addresses = append(f.Addresses, a)
		}
	}
	f.Relevant = len(f.Addresses) > 0
	return f
}

// targetOf finds what lies at u. bare: the host lacks the "www."
// under which the site is known.
func (t *Town) targetOf(u weburl.URL) (to target, bare, ok bool) {
	s, bare, ok := t.siteOf(u.Host())
	if !ok {
		return target{}, false, false
	}
	if bare {
		return target{what: moved, ref: ref{s, homePage}}, true, true
	}
	return t.lookup(s, requestPath(u)), false, true
}

// disallowed reports whether robots.txt keeps crawlers off a page.
func (t *Town) disallowed(r ref) bool {
	s := &t.sites[r.site]
	if s.kind == organisation {
		k, _ := s.org.at(r.page)
		return s.behaviour >= noRobots || k == orgIntern
	}
	return s.behaviour >= noRobots || r.page == internPage
}

// reachable reports whether an obedient crawler can get a page.
func (t *Town) reachable(r ref) bool {
	return t.sites[r.site].answers() && !t.disallowed(r)
}

// eachPage calls fn with the outline of every page in a fixed order.
func (t *Town) eachPage(fn func(c *canvas)) {
	for s := range t.sites {
		for n := range t.sites[s].pages {
			fn(t.outline(ref{int32(s), n}, ""))
		}
	}
}

// A Page is one page of a town's web, for those who want the whole web at once.
type Page struct {
	URL     weburl.URL
	Facts   Facts
	Answers bool    // its host does not fail
	Links   []int32 // the numbers of the pages it links to, in order; one may come several times
}

// Pages calls fn with every page in a fixed order and returns their number;
// Links name them by their place in that order, from 0. Pages of traps have no
// number.
func (t *Town) Pages(fn func(p Page)) int {
	first, pages := make([]int32, len(t.sites)), int32(0)
	for s := range t.sites {
		first[s], pages = pages, pages+t.sites[s].pages
	}
	t.eachPage(func(c *canvas) {
		p := Page{URL: t.url(c.at), Facts: c.facts(), Answers: c.s.answers()}
		for _, to := range c.links {
			p.Links = append(p.Links, first[to.site]+to.page)
		}
		fn(p)
	})
	return int(pages)
}

// Stats count what a town and its web hold.
type Stats struct {
	Streets, Houses int // of the town
	Hosts           int
	Pages           int // that an obedient crawler can get, without those of traps
	Relevant        int // of these
}

// Stats counts. It walks over all pages, a minute for a million.
func (t *Town) Stats() Stats {
	s := Stats{Streets: len(t.places[0].streets), Houses: t.places[0].last, Hosts: len(t.sites)}
	t.eachPage(func(c *canvas) {
		if t.reachable(c.at) {
			s.Pages++
			if c.facts().Relevant {
				s.Relevant++
			}
		}
	})
	return s
}

// maxTruthURLs is how many pages WriteTruth names for an address.
const maxTruthURLs = 50

// WriteTruth writes every address of the town that a reachable page holds as
// GeoJSON: a feature an address, with its names, the pages that hold it,
// whether it is a private person's, whether the extract of WriteOSM has the
// house, and whom it has there by name.
func (t *Town) WriteTruth(w io.Writer) error {
	known := map[string]*geojson.Feature{}
	mapped := map[string]string{}
	for h, tenant := range t.tenants() {
		if a := t.houseAddress(h, ""); t.isMapped(tenant) {
			mapped[a.Street+"\x00"+a.HouseNumber] = t.sites[tenant].name
		}
	}
	t.eachPage(func(c *canvas) {
		if !t.reachable(c.at) {
			return
		}
		on := map[string]bool{}
		facts := c.facts()
		for _, a := range slices.Concat(facts.Addresses, facts.Persons) {
			key := a.Street + "\x00" + a.HouseNumber
			f := known[key]
			if f == nil {
				f = geojson.NewFeature(orb.Point{a.Lon, a.Lat})
				f.Properties = geojson.Properties{"street": a.Street, "housenumber": a.HouseNumber,
					"postcode": a.Postcode, "city": a.City, "listed": a.Listed, "person": true,
					"mapped": mapped[key], "names": []string{}, "pages": 0, "urls": []string{}}
				known[key] = f
			}
			p := f.Properties
			p["person"] = p["person"] == true && a.Person
			if names := p["names"].([]string); a.Name != "" && !slices.Contains(names, a.Name) {
				p["names"] = append(names, a.Name)
			}
			if on[key] {
				continue
			}
			on[key] = true
			p["pages"] = p["pages"].(int) + 1
			if urls := p["urls"].([]string); len(urls) < maxTruthURLs {
				p["urls"] = append(urls, t.url(c.at).String())
			}
		}
	})
	all := geojson.NewFeatureCollection()
	for _, key := range slices.Sorted(maps.Keys(known)) {
		all.Append(known[key])
	}
	err := json.NewEncoder(w).Encode(all)
	if err != nil {
		return fmt.Errorf("demo: write truth: %w", err)
	}
	return nil
}
