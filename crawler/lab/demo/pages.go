package demo

import "gazehound/crawler/weburl"

// A Page is one page of a town's web, for who wants to know the whole web at
// once.
type Page struct {
	URL     weburl.URL
	Facts   Facts
	Answers bool    // its host does not fail
	Links   []int32 // the numbers of the pages it links to, in order; one may come several times
}

// Pages calls fn with every page in a fixed order and returns their number;
// Links name them by their place in that order, from 0. Pages of traps have no
// number. The pages are not written, so that this takes some seconds for a
// million of them.
func (t *Town) Pages(fn func(p Page)) int {
	first := make([]int32, len(t.sites))
	total := int32(0)
	for s := range t.sites {
		first[s] = total
		total += t.sites[s].pages
	}
	t.eachPage(func(c *canvas) {
		fate := c.s.fate
		p := Page{URL: t.url(c.at), Facts: c.facts(), Answers: fate != broken && fate != resets, Links: make([]int32, len(c.links))}
		for i, to := range c.links {
			p.Links[i] = first[to.site] + to.page
		}
		fn(p)
	})
	return int(total)
}
