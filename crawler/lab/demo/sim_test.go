package demo

import (
	"container/heap"
	"context"
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

var hrefs = regexp.MustCompile(`<a href="([^"]*)"`)

// linksOf returns the links of a rendered page.
func linksOf(r *page.Response) []weburl.URL {
	var links []weburl.URL
	if r.Location.String() != "" {
		return []weburl.URL{r.Location}
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	for _, m := range hrefs.FindAllSubmatch(r.Body, -1) {
		if u, err := r.URL.Resolve(html.UnescapeString(string(m[1]))); err == nil {
			links = append(links, u)
		}
	}
	return links
}

// A queued link of the simulation; the smallest is fetched first.
type queued struct {
	u        weburl.URL
	distance int // links since the last relevant page
	tie      float64
}

type queue []queued

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].distance != q[j].distance {
		return q[i].distance < q[j].distance
	}
	return q[i].tie < q[j].tie
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(queued)) }
func (q *queue) Pop() any     { old := *q; x := old[len(old)-1]; *q = old[:len(old)-1]; return x }

// simulate crawls one page after the other and returns how many relevant ones
// were found after each of the given numbers of pages. The orders are breadth
// first, link distance (Ahlers & Boll 2009, section 4.2) and greedy, which
// knows of every link whether it leads to a relevant page.
func simulate(t testing.TB, town *Town, order string, at ...int) []int {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[weburl.URL]bool{}
	var q queue
	push := func(u weburl.URL, distance int) {
		if seen[u] {
			return
		}
		seen[u] = true
		e := queued{u, distance, rng.Float64()}
		switch order {
		case "breadth-first":
			e.distance, e.tie = 0, float64(len(seen))
		case "greedy":
			if f, ok := town.Truth(u); ok && f.Relevant {
				e.distance = 0
			} else {
				e.distance++
			}
		}
		heap.Push(&q, e)
	}
	for _, u := range town.Seeds() {
		push(u, 0)
	}
	var found []int
	pages, relevant := 0, 0
	for len(q) > 0 && pages < at[len(at)-1] {
		e := heap.Pop(&q).(queued)
		r, err := town.Fetch(context.Background(), e.u)
		if err != nil {
			continue
		}
		distance := e.distance + 1
		if f, ok := town.Truth(e.u); ok && r.Status == 200 {
			if f.Forbidden {
				continue
			}
			pages++
			if f.Relevant {
				relevant++
				distance = 1
			}
			if pages == at[len(found)] {
				found = append(found, relevant)
			}
		}
		for _, u := range linksOf(r) {
			push(u, distance)
		}
	}
	return found
}

// The web is neither a gift nor a desert: breadth first finds little more than
// the mean, link distance more, and one who knew where each link leads far
// more. The shares are sums over several webs, because one seed says little.
func TestHarvest(t *testing.T) {
	webs := 2
	if testing.Short() {
		webs = 1
	}
	at := []int{1000, 2000}
	harvest := map[string][]float64{}
	for i := range webs {
		o := DefaultOptions()
		o.Seed += uint64(i)
		town := mustTown(t, o)
		for _, order := range []string{"breadth-first", "link-distance", "greedy"} {
			found := simulate(t, town, order, at...)
			t.Logf("seed %d: %s finds %v in %v pages", o.Seed, order, found, at)
			if harvest[order] == nil {
				harvest[order] = make([]float64, len(at))
			}
			for k, n := range found {
				harvest[order][k] += float64(n) / float64(at[k]*webs)
			}
		}
	}
	for k, pages := range at {
		breadth, distance, greedy := harvest["breadth-first"][k], harvest["link-distance"][k], harvest["greedy"][k]
		t.Logf("harvest at %d pages: breadth-first %.1f %%, link-distance %.1f %%, greedy %.1f %%", pages, 100*breadth, 100*distance, 100*greedy)
		if breadth < 0.02 || breadth > 0.06 {
			t.Errorf("breadth-first: %.1f %% at %d pages, want 2 to 6", 100*breadth, pages)
		}
		if distance < 1.4*breadth || greedy < 2*distance {
			t.Errorf("at %d pages: breadth-first %.1f %%, link-distance %.1f %%, greedy %.1f %% lie too close", pages, 100*breadth, 100*distance, 100*greedy)
		}
	}
}
