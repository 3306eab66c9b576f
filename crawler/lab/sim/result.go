package sim

import (
	"cmp"
	"sort"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
)

// Finds are the numbers of the downloaded pages, from 1, at which something
// new was found, in order.
type Finds []int32

// At returns how much was found in the first n pages.
func (f Finds) At(n int) int {
	return sort.Search(len(f), func(i int) bool { return int(f[i]) > n })
}

// A Sample is the state of a crawl after so many pages.
type Sample struct {
	Pages int
	Time  time.Duration // virtual
	Queue int64         // entries that wait or are being fetched
	Found int           // relevant pages
	Bits  int64         // of the nuggets that agents exchanged
}

// A Result is what one strategy found in one web.
type Result struct {
	Web      string
	Seed     uint64
	Budget   int           // of pages; if there was none, the pages of the web
	Relevant int           // relevant pages that can be reached in the web
	Locality Locality      // of the web
	Pages    int           // downloaded
	Visits   int           // with redirects and errors
	Time     time.Duration // virtual
	QueueMax int64
	Bits     int64 // of the nuggets that agents received from one another, see nugget.Format.Bits

	Finds     Finds // relevant pages, each once
	Streets   Finds // distinct streets on them
	Addresses Finds // distinct addresses
	Contents  Finds // relevant pages of distinct content, where that is known
	OffHost   Finds // relevant pages that do not lie on the host with the most of them

	Important Finds     // important pages, see Web.ReadBy
	Unlinked  Finds     // of them, those that nothing links to
	relevancy []float64 // Page.Relevancy of the pages
	important int       // pages that are

	Samples []Sample // about 500, the last one at the end

	report.Branches

	seen  map[find]bool
	every int // pages between samples
}

// A find is a page, address, street or content that was found.
type find struct {
	in *Finds // what it counts for
	id any
}

// note counts what the last page has found, unless it was found before.
func (r *Result) note(in *Finds, id any) {
	if !r.seen[find{in, id}] {
		r.seen[find{in, id}] = true
		*in = append(*in, int32(r.Pages))
	}
}

func newResult(w *Web, o Options) *Result {
	r := &Result{Web: w.Name, Seed: o.Seed, Budget: cmp.Or(o.Pages, w.total), Relevant: w.reached, Locality: w.Locality(),
		seen: map[find]bool{}}
	r.important, _ = w.Important()
	r.every = max(r.Budget/500, 1)
	return r
}

// Found returns how many relevant pages were found in the first n pages.
func (r *Result) Found(n int) int { return r.Finds.At(n) }

// Harvest returns the share of relevant pages among the first n, or among all
// where the crawl ended before: in [0, 1], 0 where nothing was downloaded.
func (r *Result) Harvest(n int) float64 {
	n = min(n, r.Pages)
	if n == 0 {
		return 0
	}
	return float64(r.Found(n)) / float64(n)
}

// Coverage returns the share of all relevant pages that was found in the first
// n pages: in [0, 1], 0 where the web has none.
func (r *Result) Coverage(n int) float64 {
	if r.Relevant == 0 {
		return 0
	}
	return float64(r.Found(n)) / float64(r.Relevant)
}

// Area returns the area under the coverage curve up to n pages: its mean over
// 1 … n, in [0, 1]. A crawl that ends before keeps its coverage.
func (r *Result) Area(n int) float64 {
	if r.Relevant == 0 || n <= 0 {
		return 0
	}
	return r.Finds.area(n) / float64(r.Relevant)
}

// UntilImportant returns how many pages are fetched until an important one is
// found: the mean over all important pages, of which those that the first n
// pages do not hold count n; 0 where there are none.
func (r *Result) UntilImportant(n int) float64 {
	if r.important == 0 || n <= 0 {
		return 0
	}
	return float64(n) * (1 - r.Important.area(n)/float64(r.important))
}

// area returns the mean of At over 1 … n.
func (f Finds) area(n int) float64 {
	sum := 0.0
	for _, at := range f {
		if int(at) > n {
			break
		}
		sum += float64(n - int(at) + 1)
	}
	return sum / float64(n)
}

// visited counts a visit.
func (r *run) visited(v *crawler.Visit) {
	s := r.result
	s.Visits++
	if r.o.Visited != nil {
		r.o.Visited[frontier.KeyOf(v.Entry.URL)] = true
	}
	if v.Outcome.Kind != frontier.KindPage {
		return
	}
	s.Pages++
	p, known := r.web.page(v.Entry.URL)
	if !known {
		p = &Page{}
	}
	s.relevancy = append(s.relevancy, p.Relevancy)
	if p.Relevant {
		s.add(r.web, p)
	}
	s.Page(&v.Entry, r.web.relevant(v.Entry.URL))
	if s.Pages%s.every == 0 {
		r.sample()
	}
}

// Relevancy returns the mean relevancy of the first n pages to the merged seeds.
func (r *Result) Relevancy(n int) float64 {
	n = min(n, len(r.relevancy))
	if n <= 0 {
		return 0
	}
	sum := 0.0
	for _, of := range r.relevancy[:n] {
		sum += of
	}
	return sum / float64(n)
}

// add counts a relevant page.
func (r *Result) add(w *Web, p *Page) {
	key := frontier.KeyOf(p.URL)
	r.note(&r.Finds, key)
	if p.Important {
		r.note(&r.Important, key)
		if w.hidden[key] {
			r.note(&r.Unlinked, key)
		}
	}
	if p.URL.Host() != w.biggest {
		r.note(&r.OffHost, key)
	}
	if p.Content != 0 {
		r.note(&r.Contents, p.Content)
	}
	for _, a := range p.Addresses {
		r.note(&r.Addresses, a)
		if street, _, ok := strings.Cut(a, "\x00"); ok {
			r.note(&r.Streets, street)
		}
	}
}

func (r *run) sample() {
	s := r.result
	queue := int64(0)
	for _, a := range r.agents {
		queue += a.queue.Waiting()
	}
	s.QueueMax = max(s.QueueMax, queue)
	s.Samples = append(s.Samples,
		Sample{Pages: s.Pages, Time: r.now, Queue: queue, Found: len(s.Finds), Bits: s.Bits})
}

// finish completes the result at the end of the crawl.
func (r *Result) finish(run *run) {
	r.Time = run.now
	if len(r.Samples) == 0 || r.Samples[len(r.Samples)-1].Pages != r.Pages {
		run.sample()
	}
	r.End()
	r.seen = nil
}

// queueMax returns the longest queue of the first n pages.
func (r *Result) queueMax(n int) (most int64) {
	for _, s := range r.Samples {
		if s.Pages <= n {
			most = max(most, s.Queue)
		}
	}
	return most
}

// at returns how things stood when n pages were there.
func (r *Result) at(n int) (last Sample) {
	for _, s := range r.Samples {
		if s.Pages <= n {
			last = s
		}
	}
	return last
}
