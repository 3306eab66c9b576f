package report

import (
	"math"

	"gazehound/crawler"
)

// BreadthFirst estimates what a breadth-first crawl would have found on the links
// that a crawl has seen.
//
// Breadth-first visits the links level by level. How many of a level lead to relevant pages is
// estimated from the visited ones. These are not a fair sample, because the crawl visits links of
// high priority first. So the links of a level are grouped by priority, and each class gets the
// share of relevant pages among the visited links of that class on all levels
// (post-stratification). A class without visited links takes the share of the next lower class.
//
// It remains an estimate: for links on pages that the crawl never visited only their number is
// estimated, from the visited pages.
type BreadthFirst struct {
	Levels [breadthLevels]level
}

const (
	breadthLevels  = 32 // further ones count as the last
	breadthClasses = 16
)

// A level is all links at one distance from the seeds.
type level [breadthClasses]class

// A class is the links of a level with about the same priority.
type class struct {
	Found    float64 // distinct links; fractions because only their number is known, not which they are
	Visited  float64
	Pages    float64 // of those visited
	Relevant float64
}

// class returns the class of a link. Each is half an octave of priorities, from
// 1 down.
func (s *BreadthFirst) class(depth int, priority float64) *class {
	n := breadthClasses - 1
	if priority > 0 {
		n = int(min(max(-2*math.Log2(priority), 0), breadthClasses-1))
	}
	return &s.Levels[min(max(depth, 0), breadthLevels-1)][n]
}

// Found counts distinct links that were found at a depth with a priority.
func (s *BreadthFirst) Found(depth int, priority, links float64) {
	s.class(depth, priority).Found += links
}

// Visited counts a visited link.
func (s *BreadthFirst) Visited(depth int, priority float64, isPage, isRelevant bool) {
	c := s.class(depth, priority)
	c.Visited++
	if isPage {
		c.Pages++
		if isRelevant {
			c.Relevant++
		}
	}
}

// Visit counts a stored visit and the links that it found.
func (s *BreadthFirst) Visit(v *crawler.Visit) {
	if v.Before != nil || v.Entry.Sitemap {
		return
	}
	if v.Entry.Depth == 0 && v.Entry.Redirects == 0 {
		s.Found(0, v.Entry.Priority, 1) // no link leads to a seed
	}
	s.Visited(v.Entry.Depth, v.Entry.Priority, v.Outcome.Kind == "page", v.Outcome.Relevant)
	for i := range v.Found {
		s.Found(v.Found[i].Depth, v.Found[i].Priority, float64(v.New)/float64(len(v.Found)))
	}
}

// all returns the classes summed over all levels. A class without visited links takes the values of
// the next lower known class, or of the next higher one.
func (s *BreadthFirst) all() (all level) {
	for i := range s.Levels {
		for j, c := range s.Levels[i] {
			all[j].Visited += c.Visited
			all[j].Pages += c.Pages
			all[j].Relevant += c.Relevant
		}
	}
	for j := breadthClasses - 2; j >= 0; j-- {
		if all[j].Visited == 0 {
			all[j] = all[j+1]
		}
	}
	for j := 1; j < breadthClasses; j++ { // nothing lower is known
		if all[j].Visited == 0 {
			all[j] = all[j-1]
		}
	}
	return all
}

// Harvest estimates the share of relevant pages among the pages number first to last of a
// breadth-first crawl, and how many of these the estimate covers; -1 if unknown.
func (s *BreadthFirst) Harvest(first, last float64) (harvest, reached float64) {
	all := s.all()
	before, sum := 0.0, 0.0 // pages before the present level, relevant ones in the window
	growth := 1.0           // pages ÷ visited pages of the level before
	for i := range s.Levels {
		pages, relevant := s.Levels[i].estimate(&all, growth)
		// The part of this level that lies in the window.
		if n := min(last, before+pages) - max(first, before); n > 0 {
			sum += n * relevant / pages
			reached += n
		}
		before += pages
		visited := 0.0
		for _, c := range s.Levels[i] {
			visited += c.Pages
		}
		growth = 1
		if visited > 0 {
			growth = max(1, pages/visited)
		}
	}
	if reached == 0 {
		return -1, 0
	}
	return min(sum/reached, 1), reached
}

// estimate returns the number of pages of a level and how many are relevant. It counts visited
// pages, queued ones, taken to be like the visited ones of their class on all levels, and links on
// unvisited pages of the previous level, taken to be like the queued ones.
func (l *level) estimate(all *level, growth float64) (pages, relevant float64) {
	var visited, waiting, promising float64
	for j, c := range l {
		known := all[j]
		visited, relevant = visited+c.Pages, relevant+c.Relevant
		if known.Visited > 0 {
			links := max(c.Found-c.Visited, 0)
			waiting += links * known.Pages / known.Visited
			promising += links * known.Relevant / known.Visited
		}
	}
	pages, relevant = visited+waiting, relevant+promising
	if pages == 0 {
		return 0, 0
	}
	rate := relevant / pages
	if waiting > 0 {
		rate = promising / waiting
	}
	hidden := pages * (growth - 1)
	return pages + hidden, relevant + hidden*rate
}

// Levels is what breadth-first is estimated to have found. It is too good for
// breadth-first: where a crawl went deep, it knows little of the levels above but
// what it chose there. docs/measurements.md holds it against breadth-first itself.
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

// estimate returns what breadth-first would have found after the pages of a curve.
func (s *BreadthFirst) estimate(curve []Point) (e Levels) {
	for _, p := range curve {
		harvest, reached := s.Harvest(0, float64(p.Pages))
		if reached == 0 || reached < float64(p.Pages)-0.5 {
			break
		}
		e.Pages, e.Harvest = p.Pages, harvest
		e.Curve = append(e.Curve, LevelPoint{p.Pages, harvest * float64(p.Pages)})
	}
	return e
}
