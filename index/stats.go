package index

import (
	"context"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
)

// Stats are the counts of an index.
type Stats struct {
	Pages     int // pages that state an address of the region
	Addresses int // distinct ones: what Search counts
	Mentions  int // an address on a page
}

// Stats reads the counts that are kept with the data.
func (x *Index) Stats(context.Context) (Stats, error) {
	v, err := x.view()
	if v == nil {
		return Stats{}, err
	}
	defer v.Close()
	s := v.state
	addresses := s.Documents - s.Pages - s.Bare - v.count(fieldType, typeHidden)
	return Stats{Pages: s.Pages, Addresses: addresses, Mentions: s.Mentions}, nil
}

// leastPages is how many pages of a site must be in the index before an address
// can stand on most of them.
const leastPages = 3

// siteWide reports whether so many pages of a site are most of those that it has.
func siteWide(stating, pages int) bool { return pages >= leastPages && 2*stating > pages }

// oftenKey is the keyword of an address that n pages of a site state.
func oftenKey(site string, n int) string { return "on " + site + " " + strconv.Itoa(n) }

// siteWide is the query for those of some addresses that stand on most pages of a
// site, or for the others.
func (s *searcher) siteWide(fits query.Query, wanted bool) query.Query {
	k := &hitMaker{view: s.view}
	accept := func(_ context.Context, d *search.DocumentMatch) (bool, error) {
		wide := false
		values, several := d.Fields[fieldOften].([]any)
		if !several {
			values = []any{d.Fields[fieldOften]}
		}
		for _, v := range values {
			text, _ := v.(string)
			if parts := strings.Fields(text); len(parts) == 3 {
				n, _ := strconv.Atoi(parts[2]) // of oftenKey
				wide = wide || siteWide(n, k.count(fieldPageSite, parts[1]))
			}
		}
		return wide == wanted, nil
	}
	return query.NewCustomFilterQueryWithFilter(fits, accept, []string{fieldOften}, nil)
}

// wideOn returns the sites most of whose pages state an address.
func (k *hitMaker) wideOn(r *record) (wide []string) {
	for site, n := range r.sites() {
		if n > 1 && siteWide(n, k.count(fieldPageSite, site)) {
			wide = append(wide, site)
		}
	}
	return wide
}

// SiteWide counts the addresses that stand on most pages of a site, and the pages
// that hold no other address. It looks at every page.
func (x *Index) SiteWide(ctx context.Context) (addresses, pages int, err error) {
	yes := true
	s, err := x.newSearch(ctx, Query{Filters: Filters{SiteWide: &yes}})
	if err != nil || s == nil {
		return 0, 0, err
	}
	defer s.view.Close()
	fits, _ := s.filter()
	ids, err := idsOf(ctx, s.view, fits)
	if err != nil {
		return 0, 0, err
	}
	k := &hitMaker{view: s.view}
	wide := map[[2]string]bool{} // address and site
	for _, id := range ids {
		r, err := recordOf(s.view, id)
		if err != nil {
			return 0, 0, err
		}
		for _, site := range k.wideOn(r) {
			wide[[2]string{id, site}] = true
		}
	}
	err = each(ctx, x, typePage, pageOf, func(p *pageRecord) {
		if len(p.States) == 0 {
			return
		}
		for _, id := range p.States {
			if !wide[[2]string{id, siteOf(hostOf(p.URL))}] {
				return
			}
		}
		pages++
	})
	return len(ids), pages, err
}
