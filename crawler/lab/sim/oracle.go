package sim

import (
	"math"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// An Oracle is a strategy with knowledge that no crawler can have. It gives an upper bound.
type Oracle struct {
	web   *Web
	graph bool

	// of the whole graph
	in      [][]int32 // page → those that link to it
	away    []uint8   // links to the nearest relevant page that was not visited; farAway: more
	behind  []uint8   // relevant pages not visited that a page links to
	done    []bool
	learned int
}

const (
	farAway = 30
	// refresh is the number of visits after which an Oracle of the graph looks
	// again where the nearest relevant pages are.
	refresh = 100
)

// NextOracle knows the label of every queued page, and nothing of what lies
// behind it: the perfect one-step predictor. Links to pages that are not
// relevant come in the order of their distance.
func NextOracle(w *Web) *Oracle { return &Oracle{web: w} }

// GraphOracle knows the whole graph: it goes the shortest way to the nearest
// relevant page that was not visited, and to one with many more behind it
// first.
func GraphOracle(w *Web) *Oracle {
	o := &Oracle{web: w, graph: true, in: make([][]int32, len(w.pages)), done: make([]bool, len(w.pages))}
	for i := range w.pages {
		if w.pages[i].Forbidden {
			o.done[i] = true
			continue
		}
		for _, to := range w.pages[i].Links {
			o.in[to] = append(o.in[to], int32(i))
		}
	}
	o.look()
	return o
}

// Rescores reports whether the way to what was not visited yet has changed.
func (o *Oracle) Rescores() bool { return o.graph }

// Score returns the priority of e.
func (o *Oracle) Score(e *frontier.Entry) (float64, bool) {
	distance := math.Pow(0.5, float64(e.Distance))
	n := o.find(e.URL)
	switch {
	case n < 0:
		return 0.001 * distance, true
	case !o.graph && o.web.pages[n].Relevant:
		return 0.5 + 0.5*distance, true
	case !o.graph:
		return 0.5 * distance, true
	case o.done[n]: // another way to a page that was visited
		return 0, true
	}
	return math.Pow(0.5, float64(o.away[n])) * (0.75 + 0.25*float64(o.behind[n])/256), true
}

// find returns the number of the page behind a link, or -1.
func (o *Oracle) find(u weburl.URL) int32 {
	if n := o.web.number(u); n >= 0 || o.web.truth == nil {
		return n
	}
	to := o.web.answer(u).response.Location // a made-up town knows its redirects only when asked
	if to.IsZero() {
		return -1
	}
	return o.web.number(to)
}

// Learn notes that a page was visited.
func (o *Oracle) Learn(trail []frontier.Node, _ bool) {
	if !o.graph {
		return
	}
	if n := o.web.number(trail[0].URL); n >= 0 {
		o.done[n] = true
	}
	if o.learned++; o.learned%refresh == 0 {
		o.look()
	}
}

// look measures, backwards from all relevant pages that were not visited, how
// far they are from everywhere.
func (o *Oracle) look() {
	pages := o.web.pages
	o.away, o.behind = make([]uint8, len(pages)), make([]uint8, len(pages))
	var level []int32
	for i := range pages {
		o.away[i] = farAway
		if pages[i].Relevant && !o.done[i] {
			o.away[i] = 0
			level = append(level, int32(i))
			for _, from := range o.in[i] {
				if o.behind[from] < math.MaxUint8 {
					o.behind[from]++
				}
			}
		}
	}
	for d := uint8(1); d < farAway && len(level) > 0; d++ {
		var next []int32
		for _, i := range level {
			for _, from := range o.in[i] {
				if o.away[from] == farAway {
					o.away[from] = d
					next = append(next, from)
				}
			}
		}
		level = next
	}
}
