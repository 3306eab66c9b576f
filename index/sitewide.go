package index

import "slices"

// leastPages is how many pages of a site must be in the index before an address
// can stand on most of them.
const leastPages = 3

// sitePages returns for each site, by the number of its text, how many of its
// pages live.
func (v *view) sitePages() []uint32 {
	v.paging.Do(func() {
		v.pages = make([]uint32, len(v.texts))
		v.each(func(_ *part, _ uint32, r *row) {
			if r.lead {
				v.pages[r.site]++
			}
		})
	})
	return v.pages
}

// siteWide tells whether so many mentions of one address stand on most pages
// of a site, by the number of its text, that are in the index.
func (v *view) siteWide(site uint32, mentions int) bool {
	pages := int(v.sitePages()[site])
	return pages >= leastPages && 2*mentions > pages
}

// onSite numbers an address on a site.
func onSite(group, site uint32) uint64 { return uint64(group)<<32 | uint64(site) }

// siteWides are the addresses that stand on most pages of a site.
type siteWides struct {
	on     map[uint64]bool // by onSite
	groups map[uint32]bool
}

// siteWides returns those of the view, in time proportional to its mentions
// when it is asked first.
func (v *view) siteWides() siteWides {
	v.widening.Do(func() {
		v.wides = siteWides{on: map[uint64]bool{}, groups: map[uint32]bool{}}
		var mentions []uint64
		v.each(func(p *part, n uint32, r *row) {
			if v.sitePages()[r.site] >= leastPages {
				mentions = append(mentions, onSite(p.groups[n], r.site))
			}
		})
		slices.Sort(mentions)
		for i := 0; i < len(mentions); {
			from, at := i, mentions[i]
			for i < len(mentions) && mentions[i] == at {
				i++
			}
			if v.siteWide(uint32(at), i-from) {
				v.wides.on[at], v.wides.groups[uint32(at>>32)] = true, true
			}
		}
	})
	return v.wides
}
