package report

import "math"

// Levels estimates what breadth-first would have found on the same web. It
// takes a level, all links that are the same number of links from a seed, as a
// whole before the next.
//
// The pages of a level are those that were visited, the links that wait there,
// and those that hang on pages which nobody visited: as many for each such page
// as the visited ones of the level before had. Of the visited ones the crawl
// knows what they are. The others were left because they promised less, so they
// are judged by the visited links that had the same priority.
//
// All of this is rough, and too good for breadth-first: where a crawl went deep,
// it knows little of the levels above but what it chose there. A link counts as
// far from a seed as the way by which the crawl reached it. Held against
// breadth-first itself it was 1.8 and 2.3 times too high; see
// docs/measurements.md.
type Levels struct {
	Harvest float64      `json:"harvest"` // after Pages
	Pages   int          `json:"pages"`   // as many as the crawl fetched, or fewer: as far as the estimate reaches
	Curve   []LevelPoint `json:"curve"`
}

// A LevelPoint is what breadth-first is estimated to have found.
type LevelPoint struct {
	Pages    int     `json:"pages"`
	Relevant float64 `json:"relevant"`
}

// A class holds the links of one band of priorities.
type class struct{ visited, pages, relevant, waiting int }

// bands is how many bands of priorities there are.
const bands = 20

// A level is what is known of the links at one depth.
type level [bands]class

type levels []level

// maxLevel bounds the depths that are told apart.
const maxLevel = 10_000

// at returns the class of a link.
func (l *levels) at(depth int, priority float64) *class {
	depth = max(0, min(depth, maxLevel))
	for len(*l) <= depth {
		*l = append(*l, level{})
	}
	band := 0
	if priority > 0 {
		band = min(int(priority*bands), bands-1)
	}
	return &(*l)[depth][band]
}

// A guess is what the levels are taken to have: pages, and relevant ones.
type guess struct{ pages, relevant float64 }

// guesses returns those of all levels that can be told.
func (l levels) guesses() []guess {
	var all level // over all depths
	for i := range l {
		for b, c := range l[i] {
			all[b].visited += c.visited
			all[b].pages += c.pages
			all[b].relevant += c.relevant
		}
	}
	yield, chance := all.curves()
	var gs []guess
	growth := 1.0 // pages ÷ visited pages of the level before
	for i := range l {
		var visited, waiting guess
		for b, c := range l[i] {
			visited.pages += float64(c.pages)
			visited.relevant += float64(c.relevant)
			waiting.pages += float64(c.waiting) * yield[b]
			waiting.relevant += float64(c.waiting) * yield[b] * chance[b]
		}
		known := guess{visited.pages + waiting.pages, visited.relevant + waiting.relevant}
		hidden := known.pages * (growth - 1)
		rate := waiting.relevant / waiting.pages // of pages that nobody wanted most
		if waiting.pages == 0 && known.pages > 0 {
			rate = known.relevant / known.pages
		}
		g := known
		if hidden > 0 {
			g.pages += hidden
			g.relevant += hidden * rate
		}
		if math.IsNaN(g.relevant) {
			g.relevant = 0
		}
		gs = append(gs, g)
		if visited.pages == 0 {
			break // what lies behind is not known
		}
		growth = max(1, g.pages/visited.pages)
	}
	return gs
}

// curves returns for each band how many of its links are pages, and how many of
// these relevant. A band that was not visited is like the nearest below that
// was, or else above.
func (l *level) curves() (yield, chance [bands]float64) {
	last := -1
	for b, c := range l {
		if c.pages > 0 {
			yield[b], chance[b] = share(c.pages, c.visited), share(c.relevant, c.pages)
			if last < 0 {
				for below := range b {
					yield[below], chance[below] = yield[b], chance[b]
				}
			}
			last = b
		} else if last >= 0 {
			yield[b], chance[b] = yield[last], chance[last]
		}
	}
	return yield, chance
}

// estimate returns what breadth-first would have found after the pages of a
// curve.
func (l levels) estimate(curve []Point) Levels {
	var e Levels
	gs := l.guesses()
	before, found := 0.0, 0.0 // pages and relevant ones of the levels passed
	i := 0
	for _, p := range curve {
		x := float64(p.Pages)
		for ; i < len(gs) && before+gs[i].pages <= x; i++ {
			before += gs[i].pages
			found += gs[i].relevant
		}
		y := found
		if i < len(gs) {
			y += (x - before) * gs[i].relevant / gs[i].pages
		} else if before < x-0.5 {
			break
		}
		e.Curve = append(e.Curve, LevelPoint{p.Pages, y})
		e.Pages, e.Harvest = p.Pages, y/max(x, 1)
	}
	return e
}
