package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"gazehound/crawler/demo"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// A Page is what is known of one page of a virtual web.
type Page struct {
	URL       weburl.URL
	Relevant  bool
	Addresses []string      // ids of the distinct addresses in the region, "street\x00number" or any other text without \x00
	Bytes     int64         // of the body; 0: not known
	Took      time.Duration // how long its host takes for it beyond the latency of the simulation
	Content   uint64        // hash of the text; pages with the same one are copies; 0: not known
	Forbidden bool          // robots.txt keeps crawlers off it
	Links     []int32       // pages of the web that it links to, by number
}

// A Web is a web of which everything is known. It is safe for concurrent use.
type Web struct {
	Name  string
	Seeds []weburl.URL

	pages   []Page
	index   map[frontier.Key]int32
	biggest string // the host with the most relevant pages
	reached int    // relevant pages that can be reached from the seeds
	total   int    // pages that can be reached
	fetch   func(u weburl.URL) (*page.Response, error)
	truth   func(u weburl.URL) bool // relevance of pages that have no number; may be nil

	mu    sync.Mutex
	cache map[frontier.Key]*stored
	urls  []weburl.URL
	known map[string]int32 // into urls
	room  int64            // bytes that the cache may still take
}

// A stored page is an answer as the cache keeps it.
type stored struct {
	status   int
	location weburl.URL
	err      error
	lang     string
	charset  string
	noPage   bool // no HTML
	links    []storedLink
}

type storedLink struct {
	to                    int32
	anchor, title, around string
}

// cacheBytes bounds the parsed pages that a Web keeps. What is beyond is
// parsed again for every visit.
const cacheBytes = 2 << 30

// newWeb completes a web: numbers, the host with most relevant pages, and
// what can be reached.
func newWeb(name string, seeds []weburl.URL, pages []Page) (*Web, error) {
	w := &Web{Name: name, Seeds: seeds, pages: pages, index: make(map[frontier.Key]int32, len(pages)),
		cache: map[frontier.Key]*stored{}, known: map[string]int32{}, room: cacheBytes}
	hosts := map[string]int{}
	for i := range pages {
		w.index[frontier.KeyOf(pages[i].URL)] = int32(i)
		if pages[i].Relevant {
			hosts[pages[i].URL.Host()]++
		}
	}
	for h, n := range hosts {
		if n > hosts[w.biggest] || n == hosts[w.biggest] && h < w.biggest {
			w.biggest = h
		}
	}
	if len(seeds) == 0 {
		return nil, fmt.Errorf("sim: %s: no seeds", name)
	}
	w.reach()
	return w, nil
}

// reach counts what can be reached from the seeds by links of pages that may
// be fetched.
func (w *Web) reach() {
	var queue []int32
	seen := make([]bool, len(w.pages))
	visit := func(i int32) {
		if !seen[i] && !w.pages[i].Forbidden {
			seen[i] = true
			queue = append(queue, i)
		}
	}
	for _, u := range w.Seeds {
		if i, ok := w.index[frontier.KeyOf(u)]; ok {
			visit(i)
		}
	}
	for len(queue) > 0 {
		p := &w.pages[queue[0]]
		queue = queue[1:]
		w.total++
		if p.Relevant {
			w.reached++
		}
		for _, to := range p.Links {
			visit(to)
		}
	}
}

// Pages returns how many pages can be reached from the seeds.
func (w *Web) Pages() int { return w.total }

// Relevant returns how many relevant pages can be reached from the seeds:
// what coverage is a share of.
func (w *Web) Relevant() int { return w.reached }

// Each calls fn with every page that is known, with its number.
func (w *Web) Each(fn func(n int32, p Page)) {
	for i := range w.pages {
		fn(int32(i), w.pages[i])
	}
}

// page returns what is known about u.
func (w *Web) page(u weburl.URL) (*Page, bool) {
	i, ok := w.index[frontier.KeyOf(u)]
	if !ok {
		return nil, false
	}
	return &w.pages[i], true
}

func (w *Web) relevant(u weburl.URL) bool {
	if p, ok := w.page(u); ok {
		return p.Relevant
	}
	return w.truth != nil && w.truth(u)
}

// Fetch answers for u without waiting; the page comes parsed. What the web
// does not have is 404.
func (w *Web) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key := frontier.KeyOf(u)
	w.mu.Lock()
	s := w.cache[key]
	w.mu.Unlock()
	if s == nil {
		s = w.load(u)
		w.mu.Lock()
		if size := s.size(); size < w.room {
			w.cache[key], w.room = s, w.room-size
		}
		w.mu.Unlock()
	}
	return w.response(u, s)
}

func (s *stored) size() int64 {
	n := int64(200)
	for i := range s.links {
		n += int64(60 + len(s.links[i].anchor) + len(s.links[i].title) + len(s.links[i].around))
	}
	return n
}

// load fetches and parses one page.
func (w *Web) load(u weburl.URL) *stored {
	r, err := w.fetch(u)
	if err != nil {
		return &stored{err: err}
	}
	s := &stored{status: r.Status, location: r.Location}
	if r.Status != 200 && r.Status != 203 {
		return s
	}
	p, err := page.Parse(r)
	if err != nil {
		s.noPage = true
		return s
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store(s, p)
	return s
}

// store keeps what the crawl needs of a page. w.mu is held.
func (w *Web) store(s *stored, p *page.Page) {
	s.lang, s.charset = p.Lang, p.Charset
	s.links = make([]storedLink, len(p.Links))
	for i, l := range p.Links {
		text := l.To.String()
		to, ok := w.known[text]
		if !ok {
			to = int32(len(w.urls))
			w.urls = append(w.urls, l.To)
			w.known[text] = to
		}
		s.links[i] = storedLink{to, l.Anchor, l.Title, l.Around}
	}
}

// response makes an answer of what is stored.
func (w *Web) response(u weburl.URL, s *stored) (*page.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	r := &page.Response{URL: u, Status: s.status, Location: s.location}
	if s.noPage {
		r.Body = []byte("%PDF-")
		return r, nil
	}
	p := &page.Page{URL: u, Lang: s.lang, Charset: s.charset, Links: make([]page.Link, len(s.links))}
	w.mu.Lock()
	urls := w.urls
	w.mu.Unlock()
	for i, l := range s.links {
		p.Links[i] = page.Link{From: u, To: urls[l.to], Anchor: l.anchor, Title: l.title, Around: l.around}
	}
	r.Parsed = p
	return r, nil
}

// FromTown returns the web of a made-up town. Pages are written and parsed
// when a crawl comes to them.
func FromTown(t *demo.Town) (*Web, error) {
	var pages []Page
	t.Pages(func(p demo.Page) {
		q := Page{URL: p.URL, Relevant: p.Facts.Relevant && p.Answers, Forbidden: p.Facts.Forbidden, Bytes: 8 << 10}
		seen := map[string]bool{}
		for _, a := range p.Facts.Addresses {
			if id := a.Street + "\x00" + a.HouseNumber; !seen[id] {
				seen[id] = true
				q.Addresses = append(q.Addresses, id)
			}
		}
		if p.Answers {
			q.Links = p.Links
		}
		pages = append(pages, q)
	})
	w, err := newWeb(t.Name(), t.Seeds(), pages)
	if err != nil {
		return nil, err
	}
	w.fetch = func(u weburl.URL) (*page.Response, error) { return t.Fetch(context.Background(), u) }
	w.truth = func(u weburl.URL) bool {
		f, ok := t.Truth(u)
		return ok && f.Relevant
	}
	return w, nil
}

// A Labeller says what is known of a page that was just parsed: relevance and
// addresses, and what else it likes of Page; URL, Content and Links are filled
// in by the caller.
type Labeller func(p *page.Page) (Page, error)

// FromWARC returns the web of recorded pages. It reads and parses all that can
// be reached from the seeds, once.
func FromWARC(ctx context.Context, name string, a *warc.Archive, seeds []weburl.URL, label Labeller) (*Web, error) {
	w := &Web{cache: map[frontier.Key]*stored{}, known: map[string]int32{}, room: cacheBytes}
	var pages []Page
	var targets [][]weburl.URL
	number := map[frontier.Key]int32{}
	seen := map[frontier.Key]bool{}
	var queue []weburl.URL
	want := func(u weburl.URL) {
		if k := frontier.KeyOf(u); !seen[k] {
			seen[k] = true
			queue = append(queue, u)
		}
	}
	for _, u := range seeds {
		want(u)
	}
	moved := map[frontier.Key]weburl.URL{}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		r, err := a.Fetch(ctx, u)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		key := frontier.KeyOf(u)
		if err != nil {
			w.cache[key] = &stored{err: err}
			continue
		}
		s := &stored{status: r.Status, location: r.Location}
		w.cache[key] = s
		if r.Status >= 300 && r.Status < 400 && !r.Location.IsZero() {
			if frontier.KeyOf(r.Location) == key { // the same page under another spelling
				delete(w.cache, key)
				if q, err := a.Fetch(ctx, r.Location); err == nil && q.Status == 200 {
					r, u = q, r.Location
					s.status, s.location = 200, weburl.URL{}
					w.cache[key] = s
				}
			} else {
				moved[key] = r.Location
				want(r.Location)
				continue
			}
		}
		if r.Status != 200 && r.Status != 203 {
			continue
		}
		p, err := page.Parse(r)
		if err != nil {
			s.noPage = true
			continue
		}
		known, err := label(p)
		if err != nil {
			return nil, fmt.Errorf("sim: label %s: %w", u, err)
		}
		known.URL, known.Bytes, known.Content = u, int64(len(r.Body)), hashOf(p.Text)
		number[key] = int32(len(pages))
		pages = append(pages, known)
		w.store(s, p)
		to := make([]weburl.URL, len(p.Links))
		for i, l := range p.Links {
			to[i] = l.To
			want(l.To)
		}
		targets = append(targets, to)
	}
	for i, to := range targets {
		for _, u := range to {
			k := frontier.KeyOf(u)
			for range 10 {
				next, ok := moved[k]
				if !ok {
					break
				}
				k = frontier.KeyOf(next)
			}
			if n, ok := number[k]; ok {
				pages[i].Links = append(pages[i].Links, n)
			}
		}
	}
	v, err := newWeb(name, seeds, pages)
	if err != nil {
		return nil, err
	}
	v.cache, v.known, v.urls = w.cache, w.known, w.urls
	v.fetch = func(u weburl.URL) (*page.Response, error) {
		return &page.Response{URL: u, Status: 404}, nil
	}
	return v, nil
}

// hashOf hashes the text of a page; never 0.
func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64() | 1
}
