package report

import (
	"fmt"
	"math"

	"gazehound/crawler/frontier"
)

// A Fetch is one page that one node of a collaborative crawl fetched.
type Fetch struct {
	Node     int // 0 to n-1
	Page     frontier.Key
	Domain   string         // of the page: its site
	Entities []Entity       // geographic entities of target places on the page
	Place    string         // the target place the page is most probably about, or ""
	Links    []frontier.Key // pages it links to
}

// An Entity is a geographic entity: an address of a target place.
type Entity struct {
	ID   string // the same for the same address
	Node int    // the node that owns its place
}

// Nodes collects the fetches of a collaborative crawl for the metrics of Gao,
// Lee & Miao 2006, section 4. It keeps one record a page.
type Nodes struct {
	general   []bool
	nodes     []node
	pages     []known
	number    map[frontier.Key]int
	domains   map[string]bool
	entities  map[string]bool
	fetches   int64
	exchanged int64
}

// A node is what one node fetched.
type node struct {
	pages, geo, own int64
	entities        int64
	unique          map[string]bool
}

// A known page is one that was fetched or is linked to.
type known struct {
	fetched, geo bool
	place        string
	links        []int32
}

// NewNodes starts a report on nodes of which some are general.
func NewNodes(general []bool) *Nodes {
	r := &Nodes{general: general, nodes: make([]node, len(general)), number: map[frontier.Key]int{},
		domains: map[string]bool{}, entities: map[string]bool{}}
	for i := range r.nodes {
		r.nodes[i].unique = map[string]bool{}
	}
	return r
}

// Fetched adds one fetch.
func (r *Nodes) Fetched(f Fetch) {
	n := &r.nodes[f.Node]
	r.fetches++
	n.pages++
	r.domains[f.Domain] = true
	own := false
	for _, e := range f.Entities {
		n.entities++
		n.unique[e.ID] = true
		r.entities[e.ID] = true
		own = own || e.Node == f.Node
	}
	if len(f.Entities) > 0 {
		n.geo++
	}
	if own {
		n.own++
	}
	i := r.page(f.Page)
	if r.pages[i].fetched {
		return // by another node
	}
	links := make([]int32, len(f.Links))
	for k, l := range f.Links {
		links[k] = int32(r.page(l))
	}
	r.pages[i] = known{true, len(f.Entities) > 0, f.Place, links}
}

func (r *Nodes) page(k frontier.Key) int {
	i, ok := r.number[k]
	if !ok {
		i = len(r.pages)
		r.number[k] = i
		r.pages = append(r.pages, known{})
	}
	return i
}

// Exchanged adds n URLs that one node sent to another.
func (r *Nodes) Exchanged(n int) { r.exchanged += int64(n) }

// A NodeMetric is what one node achieved; a ratio that is not defined is NaN.
type NodeMetric struct {
	Pages       int64
	GeoCoverage float64 // pages with an entity ÷ pages
	// of the pages with an entity, those with one of the node's own places; NaN for a general node
	GeoFocus float64
	Unique   float64 // distinct entities ÷ entities
}

// Metrics are those of Gao, Lee & Miao 2006. Ratios are in [0, 1] except
// centrality and communication; one that is not defined is NaN.
type Metrics struct {
	Nodes []NodeMetric
	// GeoCoverage is that of all fetches, as in the paper's table 3, whose
	// averages weigh nodes by their pages.
	GeoCoverage float64
	// GeographicCoverage is the same over the geographic nodes alone.
	GeographicCoverage float64
	// GeoFocus is the mean of the geographic nodes, as in table 4.
	GeoFocus float64
	// Unique is distinct entities ÷ entities of all fetches (table 5).
	Unique float64
	// Centrality is the mean geo-centrality of all distinct pages (table 6).
	Centrality    float64
	Overlap       float64 // (N − I) ÷ N (table 7)
	Diversity     float64 // domains ÷ N (table 8)
	Communication float64 // exchanged URLs ÷ N (table 9)
	// Linked is δ, the share of linked pairs of pages that are about the same
	// place; Unlinked is δ~, that of pairs that are not linked (table 11).
	Linked, Unlinked float64
	Fetches, Pages   int64 // N and I
}

// Cost returns what one distinct page costs where the download of a page costs
// bandwidth and an exchanged URL talk, in any unit (lemma 2).
func (m Metrics) Cost(bandwidth, talk float64) float64 {
	return (bandwidth + talk*m.Communication) * float64(m.Fetches) / float64(m.Pages)
}

// Metrics computes all metrics. Geo-centrality looks at pages less than k
// links away, each weighted m^-distance: k at least 1, m above 0; the paper's
// example has k = 3 and m = 10.
func (r *Nodes) Metrics(k int, m float64) (Metrics, error) {
	if k < 1 || !(m > 0) || math.IsInf(m, 0) {
		return Metrics{}, fmt.Errorf("report: geo-centrality needs k of at least 1 and m above 0, got %d and %v", k, m)
	}
	out := Metrics{Fetches: r.fetches}
	var geo, entities, geoOf, pagesOf int64
	var focus []float64
	for i, n := range r.nodes {
		nm := NodeMetric{Pages: n.pages, GeoCoverage: ratio(n.geo, n.pages), GeoFocus: math.NaN(),
			Unique: ratio(int64(len(n.unique)), n.entities)}
		geo += n.geo
		entities += n.entities
		if !r.general[i] {
			geoOf += n.geo
			pagesOf += n.pages
			nm.GeoFocus = ratio(n.own, n.geo)
			if n.geo > 0 {
				focus = append(focus, nm.GeoFocus)
			}
		}
		out.Nodes = append(out.Nodes, nm)
	}
	out.GeoCoverage = ratio(geo, r.fetches)
	out.GeographicCoverage = ratio(geoOf, pagesOf)
	out.GeoFocus = mean(focus)
	out.Unique = ratio(int64(len(r.entities)), entities)
	for _, p := range r.pages {
		if p.fetched {
			out.Pages++
		}
	}
	out.Overlap = ratio(r.fetches-out.Pages, r.fetches)
	out.Diversity = ratio(int64(len(r.domains)), r.fetches)
	out.Communication = ratio(r.exchanged, r.fetches)
	out.Centrality = r.centrality(k, m)
	out.Linked, out.Unlinked = r.locality()
	return out, nil
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) } // 0/0 is NaN

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// centrality returns the mean of GCt_k over all fetched pages: of each, the sum over pages with an
// entity less than k links away of m^-distance.
func (r *Nodes) centrality(k int, m float64) float64 {
	seen := make([]int, len(r.pages))
	sum, n := 0.0, int64(0)
	for i := range r.pages {
		if r.pages[i].fetched {
			n++
			sum += r.around(i, k, m, seen, int(n))
		}
	}
	return sum / float64(n)
}

// around walks breadth first from page i; seen[j] is stamp where j was met.
func (r *Nodes) around(i, k int, m float64, seen []int, stamp int) float64 {
	sum, weight := 0.0, 1.0
	level := []int32{int32(i)}
	seen[i] = stamp
	for d := 0; d < k && len(level) > 0; d++ {
		var next []int32
		for _, j := range level {
			if r.pages[j].geo {
				sum += weight
			}
			if d+1 == k {
				continue
			}
			for _, l := range r.pages[j].links {
				if seen[l] != stamp {
					seen[l] = stamp
					next = append(next, l)
				}
			}
		}
		level, weight = next, weight/m
	}
	return sum
}

// locality compares the places of pairs of distinct fetched pages. A page
// about no place is like no other page.
func (r *Nodes) locality() (linked, unlinked float64) {
	var pages int64
	places := map[string]int64{}
	for _, p := range r.pages {
		if p.fetched {
			pages++
			if p.place != "" {
				places[p.place]++
			}
		}
	}
	pairs, samePairs := pages*(pages-1)/2, int64(0) // of all pages
	for _, n := range places {
		samePairs += n * (n - 1) / 2
	}
	var links, sameLinks int64
	seen := map[[2]int32]bool{}
	for i, p := range r.pages {
		for _, j := range p.links {
			if int(j) == i || !r.pages[j].fetched {
				continue
			}
			at := [2]int32{min(int32(i), j), max(int32(i), j)}
			if seen[at] {
				continue
			}
			seen[at] = true
			links++
			if p.place != "" && p.place == r.pages[j].place {
				sameLinks++
			}
		}
	}
	return ratio(sameLinks, links), ratio(samePairs-sameLinks, pairs-links)
}
