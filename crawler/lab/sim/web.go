package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
)

// A Page is one page of a virtual web.
type Page struct {
	URL      weburl.URL
	Relevant bool
	// ids of the distinct addresses in the region, "street\x00number" or any other text without \x00
	Addresses []string
	Bytes     int64         // of the body; 0: not known
	Took      time.Duration // how long its host takes for it beyond the latency of the simulation
	Content   uint64        // hash of the text; pages with the same one are copies; 0: not known
	Forbidden bool          // robots.txt keeps crawlers off it
	Important bool          // people stay on it long, see ReadBy
	Relevancy float64       // Okapi of its text for the merged seeds, see MergeSeeds; else 0
	Text      string        // title and text, see WithText; else ""
	Links     []int32       // pages of the web that it links to, by number
}

// A Web is a web of which everything is known. It is safe for concurrent use.
type Web struct {
	Name   string
	Seeds  []weburl.URL
	Region []string     // names of the place whose addresses are relevant, which a model expects; nil: none
	Noise  float64      // share of pages whose label the judge gets wrong, at least that of Options
	Clicks order.Clicks // what ImportReaders learned of its pages

	pages   []Page
	index   map[frontier.Key]int32
	moved   map[frontier.Key]move
	hidden  map[frontier.Key]bool // pages that nothing links to, see ReadBy
	biggest string                // the host with the most relevant pages
	reached int                   // relevant pages that can be reached from the seeds
	total   int                   // pages that can be reached
	nearest int                   // links from a seed to the nearest of the relevant ones, or -1
	links   [2]linkCount          // of pages that can be reached: those that are not relevant, and those that are
	fetch   func(u weburl.URL) (*page.Response, error)
	truth   func(u weburl.URL) bool // relevance of pages that have no number; may be nil

	mu     sync.Mutex
	cache  map[frontier.Key]*answer
	known  map[weburl.URL]weburl.URL // targets of links, each text once in memory
	places map[string]string         // of links, as known
}

// An answer is what a Web keeps of a URL: of a page what Labellers and strategies read, and no
// text.
type answer struct {
	response page.Response
	err      error
}

// A move is a redirect.
type move struct{ from, to weburl.URL }

// maxKept bounds the parsed pages that a Web keeps. What is beyond is parsed again for
// every visit.
const maxKept = 200_000

func newWeb(name string, seeds []weburl.URL) *Web {
	return &Web{Name: name, Seeds: seeds, index: map[frontier.Key]int32{}, cache: map[frontier.Key]*answer{},
		known: map[weburl.URL]weburl.URL{}, places: map[string]string{}, moved: map[frontier.Key]move{},
		fetch: func(u weburl.URL) (*page.Response, error) { return &page.Response{URL: u, Status: 404}, nil }}
}

// complete finds the host with most relevant pages, and what can be reached.
func (w *Web) complete() error {
	if len(w.Seeds) == 0 {
		return fmt.Errorf("sim: %s: no seeds", w.Name)
	}
	hosts := map[string]int{}
	for i := range w.pages {
		w.index[frontier.KeyOf(w.pages[i].URL)] = int32(i)
		if w.pages[i].Relevant {
			hosts[w.pages[i].URL.Host()]++
		}
	}
	for h, n := range hosts {
		if n > hosts[w.biggest] || n == hosts[w.biggest] && h < w.biggest {
			w.biggest = h
		}
	}
	w.reach()
	return nil
}

// A linkCount counts links to pages of the web.
type linkCount struct{ all, relevant int }

// Locality is how far relevant pages link to one another: with a judge of languages the language
// locality of Somboonviwat et al. 2005, section 3. Shares are from 0 to 1, and 0 where no link counts;
// links out of the web do not.
type Locality struct {
	Relevant float64 `json:"relevant"` // of the links on relevant pages, those to relevant ones
	Others   float64 `json:"others"`   // of the links on other pages, those to relevant ones
	From     float64 `json:"from"`     // of the links to relevant pages, those from relevant ones
}

// reach counts what can be reached from the seeds by links of pages that may
// be fetched, and how far the nearest relevant page is.
func (w *Web) reach() {
	w.total, w.reached, w.nearest, w.links = 0, 0, -1, [2]linkCount{}
	var level []int32
	seen := make([]bool, len(w.pages))
	visit := func(i int32) {
		if !seen[i] && !w.pages[i].Forbidden {
			seen[i] = true
			level = append(level, i)
		}
	}
	for _, u := range w.Seeds {
		if i := w.number(u); i >= 0 {
			visit(i)
		}
	}
	for i := range w.pages {
		if w.isHidden(w.pages[i].URL) {
			visit(int32(i)) // readers reach it, and their logs name it
		}
	}
	for away := 0; len(level) > 0; away++ {
		this := level
		level = nil
		for _, i := range this {
			p := &w.pages[i]
			w.total++
			if p.Relevant {
				w.reached++
				if w.nearest < 0 {
					w.nearest = away
				}
			}
			links := &w.links[0]
			if p.Relevant {
				links = &w.links[1]
			}
			for _, to := range p.Links {
				links.all++
				if w.pages[to].Relevant {
					links.relevant++
				}
				visit(to)
			}
		}
	}
}

// StartFrom gives the web other seeds. No Run may be under way.
func (w *Web) StartFrom(seeds []weburl.URL) {
	w.Seeds = seeds
	w.reach()
}

// Pages returns how many pages can be reached from the seeds.
func (w *Web) Pages() int { return w.total }

// Relevant returns how many relevant pages can be reached from the seeds:
// what coverage is a share of. Unlinked pages count as reachable.
func (w *Web) Relevant() int { return w.reached }

// Nearest returns how many links lie between a seed and the relevant page that
// is nearest to one; -1 where none can be reached.
func (w *Web) Nearest() int { return w.nearest }

// Locality returns that of the pages that can be reached.
func (w *Web) Locality() Locality {
	share := func(some, all int) float64 { return float64(some) / float64(max(all, 1)) }
	others, relevant := w.links[0], w.links[1]
	return Locality{share(relevant.relevant, relevant.all), share(others.relevant, others.all),
		share(relevant.relevant, relevant.relevant+others.relevant)}
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

// text returns title and text of the page at u; of a made-up town it is made again. "" if it is not
// known.
func (w *Web) text(u weburl.URL) string {
	if p, ok := w.page(u); ok && p.Text != "" {
		return p.Text
	}
	r, err := w.fetch(u)
	if err != nil || r.Status != 200 {
		return ""
	}
	p, err := page.Parse(r)
	if err != nil {
		return ""
	}
	return wholeText(p)
}

// Fetch answers for u without waiting; the page comes parsed. What the web
// does not have is 404.
func (w *Web) Fetch(ctx context.Context, u weburl.URL) (*page.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := w.answer(u)
	if a.err != nil {
		return nil, a.err
	}
	r := a.response
	r.URL = u
	if r.Parsed != nil { // the caller may change it
		p := *r.Parsed
		p.URL, p.Links = u, slices.Clone(p.Links)
		for i := range p.Links {
			p.Links[i].From = u
		}
		r.Parsed = &p
	}
	return &r, nil
}

// answer returns what is kept for u, and keeps it if that was not done yet.
func (w *Web) answer(u weburl.URL) *answer {
	key := frontier.KeyOf(u)
	w.mu.Lock()
	a := w.cache[key]
	w.mu.Unlock()
	if a != nil {
		return a
	}
	a = w.load(u)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cache) < maxKept {
		w.cache[key] = a
	}
	return a
}

// noHTML is the body of what is no page.
var noHTML = []byte("%PDF-")

// load fetches and parses one page.
func (w *Web) load(u weburl.URL) *answer {
	r, err := w.fetch(u)
	if err != nil {
		return &answer{err: err}
	}
	a := &answer{response: page.Response{Status: r.Status, Location: r.Location}}
	if r.Status != 200 && r.Status != 203 {
		return a
	}
	p, err := page.Parse(r)
	if err != nil {
		a.response.Body = noHTML
	} else {
		w.mu.Lock()
		a.response.Parsed = w.lean(p)
		w.mu.Unlock()
	}
	return a
}

// lean returns what is kept of a page. w.mu is held.
func (w *Web) lean(p *page.Page) *page.Page {
	kept := &page.Page{Lang: p.Lang, Charset: p.Charset, Meta: p.Meta, Script: p.Script}
	for _, l := range p.Links {
		if w.isHidden(l.To) {
			continue
		}
		to, ok := w.known[l.To]
		if !ok {
			to = l.To
			w.known[to] = to
		}
		kept.Links = append(kept.Links, page.Link{To: to, Anchor: l.Anchor, Title: l.Title, Around: l.Around,
			Place: w.place(l.Place)})
	}
	return kept
}

// place returns a place of a link, each text once in memory: the pages of a site have few. w.mu is held.
func (w *Web) place(text string) string {
	kept, ok := w.places[text]
	if !ok {
		kept = text
		w.places[kept] = kept
	}
	return kept
}

// Towns are made-up towns that differ in their seeds.
type Towns struct {
	Language string // in which pages are relevant; "": those with addresses are
	Varied   bool   // each town has other settings, see variations
	town     demo.Options
	readers  *ReaderOptions
}

// Parse reads what towns and their readers are like; no readers are "". pages is how many of a web are
// visited, 0 all. Errors name the flag.
func (t *Towns) Parse(town, readers string, pages int) (err error) {
	t.town, err = demo.ParseOptions(town)
	if err != nil {
		return fmt.Errorf("--demo: %w", err)
	}
	switch l := t.Language; {
	case pages == 0 && !t.town.Finite:
		return errors.New("--pages 0 visits all of a web, and this one has calendars without end: --demo finite=1 " +
			"makes one without, or --pages says how many")
	case l != "" && l != t.town.Language && l != "de":
		return fmt.Errorf("no page of the made-up web is in language %s. --demo language=%[1]s adds some (th or ja)", l)
	case readers == "":
		return nil
	}
	r, err := ParseReaders(readers)
	if err != nil {
		return fmt.Errorf("--readers: %w", err)
	}
	t.readers = &r
	return nil
}

// A variation is a kind of made-up web.
type variation struct {
	name   string
	change func(*demo.Options)
	noise  float64 // share of wrong labels
}

// variations differ in all that an order of links may depend on: how far the seeds lie, what links
// say, where they lead, how long the bridges are, and how many labels are wrong.
var variations = []variation{
	{"far seeds", far, 0},
	{"near seeds", near, 0},
	{"few hints", func(o *demo.Options) { far(o); o.HintReliability = 0.2 }, 0},
	{"clear hints", func(o *demo.Options) { far(o); o.HintReliability = 0.95 }, 0},
	{"links leave town", func(o *demo.Options) { far(o); o.Locality = 0.35 }, 0},
	{"links stay in town", func(o *demo.Options) { far(o); o.Locality = 0.9 }, 0},
	{"no bridges", func(o *demo.Options) { far(o); o.Bridges = 0 }, 0},
	{"many long bridges", func(o *demo.Options) { far(o); o.Bridges, o.BridgeLength = 0.8, 3 }, 0},
	{"few hints, many bridges", func(o *demo.Options) { far(o); o.HintReliability, o.Bridges = 0.2, 0.8 }, 0},
	{"near seeds, links leave town", func(o *demo.Options) { near(o); o.Locality = 0.35 }, 0},
	{"near seeds, few hints, many bridges",
		func(o *demo.Options) { near(o); o.HintReliability, o.Bridges = 0.2, 0.8 }, 0},
	{"wrong labels", far, 0.05},
}

func far(o *demo.Options)  { o.NearSeeds = 0 }
func near(o *demo.Options) { o.NearSeeds = 20 }

// Open returns the web of the i-th town. Where there are readers, they have read it, and lines counts
// those of their logs.
func (t *Towns) Open(ctx context.Context, i int) (w *Web, lines int64, err error) {
	o, readers, language := t.town, t.readers, t.Language
	o.Seed += uint64(i)
	v := variation{change: func(*demo.Options) {}}
	if t.Varied {
		v = variations[i%len(variations)]
		v.change(&o)
	}
	town, err := demo.New(o)
	if err != nil {
		return nil, 0, err
	}
	w, err = FromTown(town, language)
	if err != nil {
		return nil, 0, err
	}
	w.Name = fmt.Sprintf("%s %d", w.Name, o.Seed)
	if t.Varied {
		w.Name += ": " + v.name
		w.Noise = v.noise
	}
	if readers != nil {
		r := *readers
		r.Seed += uint64(i)
		lines, err = w.ImportReaders(ctx, r)
	}
	return w, lines, err
}

// FromTown returns the web of a made-up town. Relevant are pages with an
// address in the town, or with a language (ISO 639-1) those in it. Pages are
// written and parsed when a crawl comes to them.
func FromTown(t *demo.Town, language string) (*Web, error) {
	relevant := func(f demo.Facts) bool {
		if language != "" {
			return f.Language == language
		}
		return f.Relevant
	}
	w := newWeb(t.Name(), t.Seeds())
	if language == "" {
		w.Region = []string{t.Name()}
	}
	t.Pages(func(p demo.Page) {
		q := Page{URL: p.URL, Relevant: relevant(p.Facts) && p.Answers, Forbidden: p.Facts.Forbidden, Bytes: 8 << 10}
		seen := map[string]bool{}
		for _, a := range p.Facts.Addresses {
			if language != "" {
				break
			}
			if id := a.Street + "\x00" + a.HouseNumber; !seen[id] {
				seen[id] = true
				q.Addresses = append(q.Addresses, id)
			}
		}
		if p.Answers {
			q.Links = p.Links
		}
		w.pages = append(w.pages, q)
	})
	w.fetch = func(u weburl.URL) (*page.Response, error) { return t.Fetch(context.Background(), u) }
	w.truth = func(u weburl.URL) bool {
		f, ok := t.Truth(u)
		return ok && relevant(f)
	}
	return w, w.complete()
}

// A Labeller sets relevance, addresses and other fields of a Page that was just parsed; the caller
// sets URL, Content and Links.
type Labeller func(p *page.Page) (Page, error)

// FromWARC returns the web of recorded pages. It reads and parses all that can
// be reached from the seeds, once.
func FromWARC(ctx context.Context, name string, a *warc.Archive, seeds []weburl.URL, label Labeller) (*Web, error) {
	w := newWeb(name, seeds)
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
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		r, err := a.Fetch(ctx, u)
		if err == nil && !r.Location.IsZero() && frontier.KeyOf(r.Location) == frontier.KeyOf(u) {
			u = r.Location // the same page under another spelling
			r, err = a.Fetch(ctx, u)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			w.addFailed(u, 0, false)
			continue
		case !r.Location.IsZero():
			w.addRedirect(u, r.Location)
			want(r.Location)
			continue
		case r.Status == 404:
			continue
		case r.Status != 200 && r.Status != 203:
			w.addFailed(u, r.Status, false)
			continue
		}
		p, err := page.Parse(r)
		if err != nil {
			w.cache[frontier.KeyOf(u)] = &answer{response: page.Response{Status: 200, Body: noHTML}}
			continue
		}
		known, err := label(p)
		if err != nil {
			return nil, fmt.Errorf("sim: label %s: %w", u, err)
		}
		known.URL, known.Bytes, known.Content = u, int64(len(r.Body)), hashOf(p.Text)
		for _, l := range p.Links {
			want(l.To)
		}
		w.addPage(known, p)
	}
	return w, w.connect()
}

// addPage adds a page; one that was there before is replaced.
func (w *Web) addPage(known Page, p *page.Page) {
	key := frontier.KeyOf(known.URL)
	delete(w.moved, key)
	if i, ok := w.index[key]; ok {
		w.pages[i] = known
	} else {
		w.index[key] = int32(len(w.pages))
		w.pages = append(w.pages, known)
	}
	w.cache[key] = &answer{response: page.Response{Status: 200, Parsed: w.lean(p)}}
}

// addFailed adds a URL that gave no page; a page that is known stays.
func (w *Web) addFailed(u weburl.URL, status int, forbidden bool) {
	key := frontier.KeyOf(u)
	if w.cache[key] != nil {
		return
	}
	if status < 400 {
		status = 500
	}
	w.cache[key] = &answer{response: page.Response{Status: status}}
	if forbidden {
		w.index[key] = int32(len(w.pages))
		w.pages = append(w.pages, Page{URL: u, Forbidden: true})
	}
}

func (w *Web) addRedirect(from, to weburl.URL) {
	key := frontier.KeyOf(from)
	if w.cache[key] != nil || key == frontier.KeyOf(to) {
		return
	}
	w.cache[key] = &answer{response: page.Response{Status: 301, Location: to}}
	w.moved[key] = move{from, to}
}

// connect completes a web of added pages: links become numbers, redirects of them followed.
func (w *Web) connect() error {
	for i := range w.pages {
		p := &w.pages[i]
		if kept := w.cache[frontier.KeyOf(p.URL)].response.Parsed; kept != nil {
			for _, l := range kept.Links {
				if n := w.number(l.To); n >= 0 {
					p.Links = append(p.Links, n)
				}
			}
		}
	}
	return w.complete()
}

// number returns the number of the page at u, redirects followed, or -1.
func (w *Web) number(u weburl.URL) int32 {
	for range crawler.MaxRedirects {
		key := frontier.KeyOf(u)
		if n, ok := w.index[key]; ok {
			return n
		}
		r, ok := w.moved[key]
		if !ok {
			break
		}
		u = r.to
	}
	return -1
}

// hashOf hashes the text of a page; never 0.
func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64() | 1
}
