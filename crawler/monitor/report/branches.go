package report

import "gazehound/crawler/frontier"

// Branches are the branches of a crawl tree as Ahlers & Boll 2009 count them in figures 9 and 10.
// The zero Branches is ready for pages in the order of their visits.
type Branches struct {
	SeedDistances []int `json:"seed_distances"` // [n]: relevant pages n links from a seed
	// [n]: relevant pages that were reached from a relevant one over n others
	Bridges []int `json:"bridges"`
	// [n]: ends of the crawl n irrelevant pages behind the last relevant one, n ≥ 1
	Tails []int `json:"tails"`

	numbers map[frontier.Key]int32 // into pages
	pages   []branchPage
}

// Histograms are the three of Branches, with the unit of their classes and the first class.
var Histograms = []struct {
	Title, Axis string
	First       int
	Of          func(b *Branches) []int
}{
	{"relevant pages by links from a seed", "links", 0, func(b *Branches) []int { return b.SeedDistances }},
	{"relevant pages by bridge pages since the last one", "bridge pages", 0,
		func(b *Branches) []int { return b.Bridges }},
	{"ends of the crawl by irrelevant pages since the last relevant one (tails)", "tail length", 1,
		func(b *Branches) []int { return b.Tails }},
}

// A branchPage is a page of the tree.
type branchPage struct {
	since int32 // irrelevant pages since the last relevant one; 0: relevant; -1: none on the way
	leads bool  // to a page
}

// Page counts a page that was fetched.
func (b *Branches) Page(e *frontier.Entry, relevant bool) {
	if b.numbers == nil {
		b.numbers = map[frontier.Key]int32{}
	}
	p := branchPage{since: -1}
	if i, ok := b.numbers[e.Parent]; ok && e.Depth > 0 {
		parent := &b.pages[i]
		parent.leads = true
		if parent.since >= 0 {
			p.since = parent.since + 1
		}
	}
	if relevant {
		count(&b.SeedDistances, e.Depth)
		if p.since > 0 {
			count(&b.Bridges, int(p.since-1))
		}
		p.since = 0
	}
	b.numbers[frontier.KeyOf(e.URL)] = int32(len(b.pages))
	b.pages = append(b.pages, p)
}

// End counts the tails, after the last page.
func (b *Branches) End() {
	for _, p := range b.pages {
		if !p.leads && p.since > 0 {
			count(&b.Tails, int(p.since))
		}
	}
	b.numbers, b.pages = nil, nil
}

// count adds one to the n-th number of a list. Numbers beyond maxClass count
// as that.
func count(list *[]int, n int) {
	n = min(n, maxClass)
	for len(*list) <= n {
		*list = append(*list, 0)
	}
	(*list)[n]++
}

const maxClass = 999
