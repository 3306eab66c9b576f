package predictor_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/predictor"

	"golang.org/x/net/html"
	"golang.org/x/net/publicsuffix"
)

// A web is a crawl that was recorded earlier, as far as the order of links is
// concerned: pages, their labels, and the links between them.
type web struct {
	pages []webPage
	seeds []int
}

type webPage struct {
	relevant bool
	links    []webLink
}

type webLink struct {
	to int
	predictor.Link
}

// readIrvine reads the real web beside the repository: WARC files, labels
// (column city_postcode of pages.tsv) and the seeds far from the region.
func readIrvine(t testing.TB) *web {
	folder := filepath.Join("..", "..", "shared", "data", "web", "irvine")
	files, _ := filepath.Glob(filepath.Join(folder, "*.warc.gz"))
	if len(files) == 0 {
		t.Skipf("no WARC files in %s", folder)
	}
	relevant := make(map[string]bool)
	for line := range lines(t, filepath.Join(folder, "pages.tsv")) {
		if column := strings.Split(line, "\t"); len(column) == 5 && column[4] == "1" {
			relevant[column[0]] = true
		}
	}
	w := new(web)
	index := make(map[string]int)
	var bodies []body
	for _, file := range files {
		bodies = append(bodies, readWARC(t, file)...)
	}
	for i, b := range bodies {
		index[key(b.url)] = i
	}
	w.pages = make([]webPage, len(bodies))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(bodies); i += runtime.GOMAXPROCS(0) {
				w.pages[i] = webPage{relevant[bodies[i].url.String()], readLinks(bodies[i], index)}
				bodies[i].html = nil
			}
		})
	}
	group.Wait()
	for line := range lines(t, filepath.Join(folder, "seeds-far.txt")) {
		if u, err := url.Parse(line); err == nil && u.Host != "" {
			if i, ok := find(index, u); ok {
				w.seeds = append(w.seeds, i)
			}
		}
	}
	if len(w.seeds) == 0 || len(relevant) == 0 {
		t.Fatalf("%s: %d seeds and %d relevant pages", folder, len(w.seeds), len(relevant))
	}
	return w
}

func lines(t testing.TB, file string) iter.Seq[string] {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitSeq(strings.TrimSpace(string(data)), "\n")
}

type body struct {
	url  *url.URL
	html []byte
}

// readWARC returns the pages of a WARC file with one gzip member a record.
func readWARC(t testing.TB, file string) []body {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []body
	for {
		z.Multistream(false)
		record, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		head, block, _ := bytes.Cut(record, []byte("\r\n\r\n"))
		for line := range strings.Lines(string(head)) {
			target, ok := strings.CutPrefix(line, "WARC-Target-URI: ")
			if !ok {
				continue
			}
			u, err := url.Parse(strings.TrimSpace(target))
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, body{u, content})
		}
		if err := z.Reset(in); errors.Is(err, io.EOF) {
			return bodies
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// key is the name of a page, whatever the scheme.
func key(u *url.URL) string {
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return strings.ToLower(u.Host) + path
}

// find looks a page up as a static server would.
func find(index map[string]int, u *url.URL) (int, bool) {
	k := key(u)
	for _, k := range []string{k, k + "/", strings.TrimSuffix(k, "/"), strings.TrimSuffix(k, "/") + "/index.html", strings.TrimSuffix(k, "index.html")} {
		if i, ok := index[k]; ok {
			return i, true
		}
	}
	return 0, false
}

var blocks = map[string]bool{
	"address": true, "article": true, "aside": true, "blockquote": true, "body": true, "br": true, "dd": true, "div": true, "dl": true, "dt": true,
	"footer": true, "form": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "header": true, "hr": true, "li": true,
	"main": true, "nav": true, "ol": true, "p": true, "pre": true, "section": true, "table": true, "td": true, "th": true, "tr": true, "ul": true,
}

// readLinks returns the links of a page to other pages of the web, each target
// once, with the words on them and up to ten on either side in their block.
func readLinks(b body, index map[string]int) []webLink {
	type span struct {
		href, title string
		start, end  int
	}
	var (
		words  []string
		breaks = []int{0} // word indices at which a block starts
		spans  []span
		open   = -1
		base   = b.url
		skip   string
	)
	closeLink := func() {
		if open >= 0 {
			spans[open].end, open = len(words), -1
		}
	}
	z := html.NewTokenizer(bytes.NewReader(b.html))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind == html.TextToken {
			if skip == "" {
				words = append(words, strings.Fields(string(z.Text()))...)
			}
			continue
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := z.Token()
		if blocks[token.Data] && breaks[len(breaks)-1] != len(words) {
			breaks = append(breaks, len(words))
		}
		attr := func(name string) string {
			for _, a := range token.Attr {
				if a.Key == name {
					return a.Val
				}
			}
			return ""
		}
		switch token.Data {
		case "script", "style", "noscript", "template":
			if kind == html.StartTagToken {
				skip = token.Data
			} else if skip == token.Data {
				skip = ""
			}
		case "base":
			if u, err := b.url.Parse(attr("href")); err == nil {
				base = u
			}
		case "img":
			if open >= 0 {
				words = append(words, strings.Fields(attr("alt"))...)
			}
		case "a":
			closeLink()
			if kind == html.StartTagToken && attr("href") != "" {
				open = len(spans)
				spans = append(spans, span{href: attr("href"), title: attr("title"), start: len(words)})
			}
		}
	}
	closeLink()
	breaks = append(breaks, len(words))
	seen := make(map[int]bool)
	var links []webLink
	for _, s := range spans {
		u, err := base.Parse(strings.TrimSpace(s.href))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		to, ok := find(index, u)
		if !ok || seen[to] {
			continue
		}
		seen[to] = true
		block, _ := slices.BinarySearch(breaks, s.start+1)
		from, until := breaks[max(block-1, 0)], max(breaks[min(block, len(breaks)-1)], s.end)
		around := slices.Concat(words[max(from, s.start-10):s.start], words[s.end:min(until, s.end+10)])
		path := u.EscapedPath()
		if u.RawQuery != "" {
			path += "?" + u.RawQuery
		}
		links = append(links, webLink{to, predictor.Link{
			Host: strings.ToLower(u.Host), Path: path,
			Anchor: cut(strings.Join(words[s.start:s.end], " "), 100),
			Title:  cut(s.title, 100),
			Around: cut(strings.Join(around, " "), 200),
			Switch: site(u.Hostname()) != site(b.url.Hostname()),
		}})
	}
	return links
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func site(host string) string {
	if s, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return s
	}
	return host
}

// An order is a way to serve the queue of a crawl.
type order struct {
	name    string
	score   func(distance, depth int) float64 // nil: ½^distance
	predict bool                              // raise the score by a prediction
	options predictor.Options
	warmup  int  // pages before predictions count
	rescore bool // at pop, with today's model
}

// A crawl is one sequential crawl of a web.
type crawl struct {
	web     *web
	order   order
	model   *predictor.Model
	random  *rand.Rand
	visited int
	scored  int      // predictions made for the order
	loss    float64  // sum over visited pages of the depth 1 prediction's log-loss, each before it was learned
	entries []*entry // by page, nil: not found yet
	queue   queue
}

// An entry is a page that was found, and the best link to it so far.
type entry struct {
	page, distance, depth int
	terms                 []string
	parent                *entry
	priority, tie         float64
	position              int // in the queue, -1: visited
}

// run crawls up to budget pages and returns the crawl and how many relevant
// pages it had found after each.
func (w *web) run(t testing.TB, o order, seed uint64, budget int) (*crawl, []int) {
	c := &crawl{web: w, order: o, random: rand.New(rand.NewPCG(seed, 1)), entries: make([]*entry, len(w.pages))}
	if o.predict {
		m := predictor.NewModel(o.options)
		c.model = m
	}
	for _, s := range w.seeds {
		c.push(&entry{page: s, priority: 1})
	}
	found := make([]int, 0, budget)
	relevant := 0
	for len(found) < budget && len(c.queue) > 0 {
		e := c.next()
		page := w.pages[e.page]
		if page.relevant {
			relevant++
		}
		found = append(found, relevant)
		c.visited++
		if c.model != nil {
			var trail [][]string
			for up := e; up.parent != nil && len(trail) < predictor.MaxDepth; up = up.parent {
				trail = append(trail, up.terms)
			}
			if len(trail) > 0 {
				p := min(max(c.model.Score(trail[0])[0], 1e-6), 1-1e-6)
				if !page.relevant {
					p = 1 - p
				}
				c.loss -= math.Log(p)
			}
			c.model.Learn(trail, page.relevant)
		}
		distance := e.distance + 1
		if page.relevant {
			distance = 1
		}
		for _, l := range page.links {
			if old := c.entries[l.to]; old != nil && old.position < 0 {
				continue
			}
			n := &entry{page: l.to, distance: distance, depth: e.depth + 1, parent: e}
			if c.model != nil {
				n.terms = predictor.Terms(l.Link)
			}
			n.priority = c.priority(n)
			c.push(n)
		}
	}
	for len(found) < budget {
		found = append(found, relevant)
	}
	return c, found
}

// push queues an entry, or lets it take the place of a worse link to its page.
func (c *crawl) push(e *entry) {
	e.tie = c.random.Float64()
	old := c.entries[e.page]
	if old == nil {
		c.entries[e.page] = e
		heap.Push(&c.queue, e)
	} else if e.priority > old.priority {
		c.entries[e.page] = e
		e.position = old.position
		c.queue[e.position] = e
		heap.Fix(&c.queue, e.position)
	}
}

// next takes the best entry out of the queue.
func (c *crawl) next() *entry {
	for {
		e := heap.Pop(&c.queue).(*entry)
		if c.order.rescore && c.model != nil && e.parent != nil {
			e.priority = c.priority(e)
			if len(c.queue) > 0 && e.priority < c.queue[0].priority {
				heap.Push(&c.queue, e)
				continue
			}
		}
		e.position = -1
		return e
	}
}

func (c *crawl) priority(e *entry) float64 {
	score := math.Pow(0.5, float64(e.distance))
	if c.order.score != nil {
		score = c.order.score(e.distance, e.depth)
	}
	if c.model == nil || c.visited < c.order.warmup {
		return score
	}
	c.scored++
	return predictor.Priority(score, c.model.Predict(e.terms))
}

type queue []*entry

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].priority > q[j].priority || q[i].priority == q[j].priority && q[i].tie < q[j].tie
}
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].position, q[j].position = i, j
}
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.position = len(*q)
	*q = append(*q, e)
}
func (q *queue) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

// checkpoints are the pages after which a crawl is looked at.
var checkpoints = []int{500, 1000, 2500, 5000}

// meanSpread returns mean and standard deviation of the values.
func meanSpread(values []float64) (mean, spread float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		spread += (v - mean) * (v - mean) / float64(max(len(values)-1, 1))
	}
	return mean, math.Sqrt(spread)
}

// BenchmarkIrvine crawls the real web beside the repository with every order,
// one page after the other and without politeness, and prints the relevant
// pages found, mean ± standard deviation over the random seeds.
//
//	go test ./predictor -run NONE -bench Irvine -benchtime 1x
func BenchmarkIrvine(b *testing.B) {
	const seeds = 5
	w := readIrvine(b)
	header := fmt.Sprintf("%-42s", "relevant pages found after")
	for _, n := range checkpoints {
		header += fmt.Sprintf("  %12d", n)
	}
	b.Log(header)
	for _, o := range orders() {
		b.Run(strings.ReplaceAll(o.name, " ", "-"), func(b *testing.B) {
			var found [][]int
			var loss, scored, pages float64
			for b.Loop() {
				found = found[:0]
				for seed := range seeds {
					c, f := w.run(b, o, uint64(seed+1), checkpoints[len(checkpoints)-1])
					found = append(found, f)
					loss, scored, pages = loss+c.loss, scored+float64(c.scored), pages+float64(c.visited)
				}
			}
			if o.predict {
				b.ReportMetric(loss/pages, "log-loss")
				b.ReportMetric(scored/pages, "scored/page")
			}
			row := fmt.Sprintf("%-42s", o.name)
			for _, n := range checkpoints {
				values := make([]float64, seeds)
				for i, f := range found {
					values[i] = float64(f[n-1])
				}
				mean, spread := meanSpread(values)
				row += fmt.Sprintf("  %5.0f ± %-4.0f", mean, spread)
				b.ReportMetric(mean, fmt.Sprintf("found@%d", n))
			}
			if o.predict {
				row += fmt.Sprintf("  log-loss %.3f  %3.0f scores/page", loss/pages, scored/pages)
			}
			b.Log(row)
		})
	}
}

// orders are those of the table in the decision on the predictor's defaults:
// the two baselines, the adaptive crawl as published, and its steps.
func orders() []order {
	adaptive := func(name string, rescore bool, change func(*order)) order {
		o := order{name: "adaptive, " + name, predict: true, rescore: rescore, options: predictor.DefaultOptions()}
		if change != nil {
			change(&o)
		}
		return o
	}
	return []order{
		{name: "breadth first", score: func(_, depth int) float64 { return -float64(depth) }},
		{name: "link distance"},
		adaptive("published: raw, mean, weight 1", false, func(o *order) {
			o.options.Posterior, o.options.Combine, o.options.Weight = predictor.Raw, predictor.Mean, 1
		}),
		adaptive("raw, max, weight 1", false, func(o *order) { o.options.Posterior, o.options.Weight = predictor.Raw, 1 }),
		adaptive("tempered, max, weight 1", false, func(o *order) { o.options.Weight = 1 }),
		adaptive("the same, re-scored", true, func(o *order) { o.options.Weight = 1 }),
		adaptive("defaults: the same, weight 0.7", true, nil),
		adaptive("defaults, not re-scored", false, nil),
		adaptive("defaults, raw", true, func(o *order) { o.options.Posterior = predictor.Raw }),
		adaptive("defaults, mean", true, func(o *order) { o.options.Combine = predictor.Mean }),
		adaptive("defaults, depth 1", true, func(o *order) { o.options.Depths = 1 }),
		adaptive("defaults, weight 0.5", true, func(o *order) { o.options.Weight = 0.5 }),
		adaptive("defaults, silent for 500 pages", true, func(o *order) { o.warmup = 500 }),
	}
}
