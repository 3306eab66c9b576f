package index

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

// siteWide tells whether a group with so many mentions stands on most pages of
// its site that are in the index.
func (v *view) siteWide(group uint32, mentions int) bool {
	pages := int(v.sitePages()[v.place(group).site])
	return pages >= leastPages && 2*mentions > pages
}
