// Package trap learns which URLs of a crawl multiply the same page, or lead to
// pages without end that nobody needs: calendars, filters of shops, session
// ids, texts that a program writes. It says by what factor the priority of a URL falls,
// and why, and bounds the pages of a pattern and of a host that give nothing.
package trap

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/recent"
)

// A Page is a page as a Detector needs it.
type Page struct {
	URL      weburl.URL
	Text     uint64 // fingerprint, see simhash
	Relevant bool
}

// A Finding says why a URL is demoted.
type Finding struct {
	Factor float64 // of the priority, in (0, 1]; 1: nothing was found
	Reason string  // in words, or ""
	Spent  bool    // so many such pages gave nothing that no more are to be fetched
}

// Factors, and the thresholds at which they apply.
const (
	traceOf    = 0.02 // … of a priority is left to a copy of a page that was read
	structural = 0.1  // … to a URL that goes round in circles
	leastYield = 0.1  // … to a host without end and without yield

	minPages   = 12   // of a pattern, before it is judged
	minHost    = 40   // of a host as a whole, and of a directory
	copies     = 0.75 // share of them that has to be the same
	copiesHost = 0.9
	poor       = 300 // pages of a host in a row without a relevant one, after which it falls

	// How many pages may give nothing before no more are fetched, whatever the strategy:
	mostCopies = 300  // in a row, of a pattern that multiplies, or pairs of a parameter that changes nothing
	mostBarren = 3000 // of a host without a relevant one

	minPairs = 4    // of pages that differ in one parameter, before that is judged
	same     = 0.95 // share of them that has to be the same

	ring = 8 // fingerprints of a pattern that are remembered

	maxOnce     = 40_000 // patterns with one page
	maxPatterns = 50_000 // with more
	maxSuspects = 100_000
	maxParams   = 20_000
	maxSpelt    = 120_000 // URLs whose parameters are compared
	maxNames    = 8       // parameters of one URL that are looked at
)

// A Detector learns from pages that were read. It is safe for concurrent use.
// Its memory is bounded; what is beyond is forgotten and learned again.
type Detector struct {
	seed maphash.Seed

	mu       sync.Mutex
	once     recent.Map[uint64, reading] // patterns with one page, as most are, by idOf their names, which would take more than all else
	places   map[uint64]uint32           // those with more, in the same way, by their places in patterns
	patterns []pattern
	params   map[string]*param
	spelt    recent.Map[uint64, uint64] // URL without one parameter → fingerprint
	suspects map[string]bool            // hosts against which something is or was known: the others need no look
}

// suspect notes that something is known against a host.
func (d *Detector) suspect(host string) {
	if d.suspects[host] {
		return
	}
	if len(d.suspects) >= maxSuspects {
		clear(d.suspects)
	}
	d.suspects[strings.Clone(host)] = true
}

// A reading is what a pattern sees of a page.
type reading struct {
	text     uint64
	relevant bool
}

// A pattern is a set of URLs that differ in numbers only, or a directory, or a
// host.
type pattern struct {
	Pages  uint32 `json:"n"`
	Copies uint32 `json:"c,omitempty"` // nearly the same as one of the last pages of it
	Barren uint32 `json:"b,omitempty"` // pages since the last relevant one
	Level  level  `json:"l,omitempty"`

	last [ring]uint64 // fingerprints of the last pages: that of page n, from 0 on, at n%ring
}

// A param is one parameter of a host's queries.
type param struct {
	Same  int `json:"s,omitempty"` // pairs of pages that differ in it alone and are the same
	Other int `json:"o,omitempty"`
}

// New returns a Detector that has seen nothing.
func New() *Detector {
	return &Detector{seed: maphash.MakeSeed(), once: recent.Map[uint64, reading]{Most: maxOnce}, places: map[uint64]uint32{}, params: map[string]*param{}, spelt: recent.Map[uint64, uint64]{Most: maxSpelt}, suspects: map[string]bool{}}
}

// Saw learns from a page.
func (d *Detector) Saw(p Page) {
	names := levels(p.URL)
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, name := range names {
		id := idOf(name)
		s := d.pattern(id)
		if s == nil {
			first, again := d.once.Get(id)
			if !again {
				d.once.Put(id, reading{p.Text, p.Relevant})
				continue
			}
			s = d.add(id, levelOf(i, len(names)))
			s.saw(first)
		}
		s.saw(reading{p.Text, p.Relevant})
		if s.bad() {
			d.suspect(p.URL.Host())
		}
	}
	d.compare(p)
}

// pattern returns the pattern with this id, or nil where it has one page at most.
func (d *Detector) pattern(id uint64) *pattern {
	if place, known := d.places[id]; known {
		return &d.patterns[place]
	}
	return nil
}

// add makes a pattern that had one page.
func (d *Detector) add(id uint64, l level) *pattern {
	if len(d.patterns) >= maxPatterns {
		d.forget()
	}
	d.places[id] = uint32(len(d.patterns))
	d.patterns = append(d.patterns, pattern{Level: l})
	return &d.patterns[len(d.patterns)-1]
}

// forget makes room: patterns that were seen twice are the many.
func (d *Detector) forget() {
	for least := uint32(2); len(d.patterns) > maxPatterns*3/4; least *= 2 {
		kept := make([]pattern, 0, maxPatterns)
		for id, place := range d.places {
			if s := d.patterns[place]; s.Pages > least {
				d.places[id] = uint32(len(kept))
				kept = append(kept, s)
			} else {
				delete(d.places, id)
			}
		}
		d.patterns = kept
	}
}

// saw adds a page.
func (s *pattern) saw(r reading) {
	if slices.ContainsFunc(s.last[:min(s.Pages, ring)], func(text uint64) bool { return page.SameText(text, r.text) }) {
		s.Copies++
	}
	s.last[s.Pages%ring] = r.text
	s.Pages++
	if s.Barren++; r.relevant {
		s.Barren = 0
	}
}

// compare learns from pages that differ in one parameter of the query only.
func (d *Detector) compare(p Page) {
	host := p.URL.Host()
	for _, name := range names(p.URL.Query()) {
		rest := d.without(p.URL, name)
		for _, key := range [...]uint64{rest, d.with(rest, name)} { // the page without it, and with another value
			if text, known := d.spelt.Get(key); known {
				d.count(host, name, text == p.Text)
				break
			}
		}
		d.spelt.Put(d.with(rest, name), p.Text)
	}
	d.spelt.Put(d.without(p.URL, ""), p.Text)
}

func (d *Detector) count(host, name string, same bool) {
	name = host + "?" + name
	s := d.params[name]
	if s == nil {
		if len(d.params) >= maxParams {
			clear(d.params)
		}
		s = &param{}
		d.params[name] = s
	}
	if same {
		s.Same++
	} else {
		s.Other++
	}
	if s.dust() {
		d.suspect(host)
	}
}

func (s *param) dust() bool {
	return s != nil && s.Same >= minPairs && float64(s.Same) >= same*float64(s.Same+s.Other)
}

// without names a URL without one parameter.
func (d *Detector) without(u weburl.URL, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteString(u.Host())
	h.WriteString(u.Path())
	for part := range parts(u.Query()) {
		if n := nameOf(part); n != name || name == "" {
			h.WriteByte('&')
			h.WriteString(part)
		}
	}
	return h.Sum64()
}

// with names a URL with any value of a parameter.
func (d *Detector) with(rest uint64, name string) uint64 {
	return maphash.String(d.seed, name) ^ rest*0x9E3779B97F4A7C15
}

// Look says what is known against a URL.
func (d *Detector) Look(u weburl.URL) Finding {
	f := structure(u)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.suspects[u.Host()] {
		return f
	}
	spent := false
	worst := d.parameters(u)
	byParameter := worst.Factor < 1
	for _, name := range levels(u) {
		if s := d.pattern(idOf(name)); s != nil {
			of := s.judge(name)
			spent = spent || of.Spent
			if of.Factor < worst.Factor && !byParameter {
				worst = of
			}
		}
	}
	if f.Factor == 1 {
		f = worst
	}
	f.Spent = f.Spent || spent
	return f
}

// parameters looks for one that changes nothing, where the page was read under
// another value of it, or without.
func (d *Detector) parameters(u weburl.URL) Finding {
	if _, known := d.spelt.Get(d.without(u, "")); known {
		return Finding{Factor: 1} // this very page was read: a copy of nothing
	}
	for _, name := range names(u.Query()) {
		s := d.params[u.Host()+"?"+name]
		if !s.dust() {
			continue
		}
		rest := d.without(u, name)
		_, bare := d.spelt.Get(rest)
		if _, other := d.spelt.Get(d.with(rest, name)); bare || other {
			reason := fmt.Sprintf("the page was read with another %q, which %s of %s", name, s, u.Host())
			return Finding{traceOf, reason, s.Same >= mostCopies}
		}
	}
	return Finding{Factor: 1}
}

// String says how many pages a parameter has changed.
func (s *param) String() string {
	return fmt.Sprintf("changed nothing in %d of %d pairs of pages", s.Same, s.Same+s.Other)
}

// Dust says in words which parameters of a URL have changed nothing on its host:
// once the page was read, the URL is demoted.
func (d *Detector) Dust(u weburl.URL) (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range names(u.Query()) {
		if s := d.params[u.Host()+"?"+name]; s.dust() {
			all = append(all, fmt.Sprintf("%q %s of %s", name, s, u.Host()))
		}
	}
	return all
}

// multiplies reports whether a pattern makes copies and has had no relevant page
// for long: near copies on a relevant site are often pages of their own.
func (s *pattern) multiplies() bool {
	if s.Barren < minPages {
		return false
	}
	if s.Level == narrow {
		return s.Pages >= minPages && float64(s.Copies) >= copies*float64(s.Pages)
	}
	return s.Pages >= minHost && float64(s.Copies) >= copiesHost*float64(s.Pages)
}

// barren reports whether a host has no end and no yield.
func (s *pattern) barren() bool {
	return s.Level == wholeHost && s.Barren > poor && s.Barren == s.Pages
}

func (s *pattern) bad() bool { return s.multiplies() || s.barren() }

// judge says what is known against the pattern of this name.
func (s *pattern) judge(name string) Finding {
	switch {
	case s.multiplies():
		reason := fmt.Sprintf("%d of the %d pages like %s were nearly the same", s.Copies, s.Pages, name)
		return Finding{traceOf, reason, s.Barren >= mostCopies}
	case s.barren():
		reason := fmt.Sprintf("none of the %d pages of %s is relevant", s.Barren, name)
		return Finding{max(leastYield, float64(poor)/float64(s.Barren)), reason, s.Barren >= mostBarren}
	}
	return Finding{Factor: 1}
}

// Counts tells how much is demoted now.
func (d *Detector) Counts() (patterns, params int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.patterns {
		if d.patterns[i].bad() {
			patterns++
		}
	}
	for _, s := range d.params {
		if s.dust() {
			params++
		}
	}
	return patterns, params
}
