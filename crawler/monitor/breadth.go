package monitor

import (
	"encoding/json"
	"math"

	"gazehound/crawler"
)

// breadthFirst estimates what a breadth-first crawl would have found on the links
// that this crawl has seen.
//
// Breadth-first takes the links level by level. How many of a level lead to
// relevant pages is estimated from those that were visited. These are no fair
// sample, because the crawl takes the promising ones first: so the links of a
// level are counted by the priority that they were found with, and each class
// gets the share of its own visited links (post-stratification). A class of which nothing
// was visited takes the share of that class on all levels, or that of the next
// lower one that is known.
//
// It remains an estimate: links on pages that the crawl never visited are in
// no level.
type breadthFirst struct {
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

// classOf returns the class of a priority: half an octave each, from 1 down.
func classOf(priority float64) int {
	if !(priority > 0) {
		return breadthClasses - 1
	}
	return int(min(max(-2*math.Log2(priority), 0), breadthClasses-1))
}

// see counts a stored visit and the links that it found.
func (s *breadthFirst) see(v *crawler.Visit) {
	if v.Before != nil || v.Entry.Sitemap {
		return
	}
	c := &s.Levels[min(max(v.Entry.Depth, 0), breadthLevels-1)][classOf(v.Entry.Priority)]
	if v.Entry.Depth == 0 && v.Entry.Redirects == 0 {
		c.Found++ // nobody finds a seed
	}
	c.Visited++
	if v.Outcome.Kind == "page" {
		c.Pages++
		if v.Outcome.Relevant {
			c.Relevant++
		}
	}
	if len(v.Found) == 0 {
		return
	}
	share := float64(v.New) / float64(len(v.Found))
	for i := range v.Found {
		e := &v.Found[i]
		s.Levels[min(max(e.Depth, 0), breadthLevels-1)][classOf(e.Priority)].Found += share
	}
}

// harvest estimates the share of relevant ones among the pages of a
// breadth-first crawl from the first-th to the last-th; -1 where nothing is
// known.
func (s *breadthFirst) harvest(first, last float64) float64 {
	var all level
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
	pages := 0.0 // before the present level
	sum, of := 0.0, 0.0
	for i := range s.Levels {
		p, r := 0.0, 0.0
		for j, c := range s.Levels[i] {
			known := c
			if known.Visited == 0 {
				known = all[j]
			}
			if known.Visited > 0 {
				found := max(c.Found, c.Visited)
				p += found * known.Pages / known.Visited
				r += found * known.Relevant / known.Visited
			}
		}
		if p == 0 {
			continue
		}
		// The part of this level that lies in the window.
		if n := min(last, pages+p) - max(first, pages); n > 0 {
			sum += n * r / p
			of += n
		}
		pages += p
	}
	if of == 0 {
		return -1
	}
	return min(sum/of, 1)
}

// breadthName is where the estimate is kept in the meta data of the frontier.
const breadthName = "breadth-first"

func (s *breadthFirst) encode() piece {
	data, _ := json.Marshal(s) // numbers only
	return piece{breadthName, data}
}

// load takes over what was kept; what is of another form is left out.
func (s *breadthFirst) load(from store) error {
	data, err := from.Meta(breadthName)
	if err != nil || data == nil {
		return err
	}
	var was breadthFirst
	if json.Unmarshal(data, &was) == nil {
		*s = was
	}
	return nil
}
