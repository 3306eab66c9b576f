// Package trap learns which URLs of a crawl multiply the same page, or lead to pages without end
// that nobody needs: calendars, filters of shops, session ids, texts that a program writes. It
// returns the factor by which the priority of a URL falls, and why, and bounds the pages fetched
// from patterns and hosts without yield.
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

// A Page is what a Detector learns from.
type Page struct {
	URL      weburl.URL
	Text     uint64 // fingerprint, see simhash
	Relevant bool
}

// A Finding is whether and why a URL is demoted.
type Finding struct {
	Factor float64 // of the priority, in (0, 1]; 1: not demoted
	Reason string  // in words, or ""
	Spent  bool    // no more such pages are fetched: too many had no yield
}

// Factors, and the thresholds at which they apply.
const (
	traceOf    = 0.02 // for copies of a page that was read
	structural = 0.1  // for URLs whose structure is a trap
	leastYield = 0.1  // for hosts without yield, at least

	minPages   = 12   // pages of a pattern before it is judged
	minHost    = 40   // pages of a host or directory before it is judged
	copies     = 0.75 // share of them that must be near copies
	copiesHost = 0.9
	poor       = 300 // pages in a row without a relevant one after which a host is demoted

	// Pages without yield after which no more are fetched, with every strategy:
	// in a row, of a pattern that makes copies, or pairs of a parameter without effect
	mostCopies = 300
	mostBarren = 3000 // of a host without a relevant page

	minPairs = 4    // pairs of pages that differ in one parameter before it is judged
	same     = 0.95 // share of them that must be near copies

	ring = 8 // fingerprints kept per pattern

	maxOnce     = 40_000 // patterns with one page
	maxPatterns = 50_000 // with more
	maxSuspects = 100_000
	maxParams   = 20_000
	maxSpelt    = 120_000 // URLs kept for comparing parameters
	maxNames    = 8       // parameters compared per URL
)

// A Detector learns traps from the pages read. It is safe for concurrent use. Its memory is
// bounded; what is forgotten is learned again.
type Detector struct {
	seed maphash.Seed

	mu sync.Mutex
	// patterns with one page, as most are, by idOf (names would take too much memory)
	once     recent.Map[uint64, reading]
	places   map[uint64]uint32 // patterns with more pages: idOf → index in patterns
	patterns []pattern
	params   map[string]*param
	spelt    recent.Map[uint64, uint64] // URL without one parameter → fingerprint
	// hosts with a finding now or earlier; others need no look-up
	suspects map[string]bool
}

// suspect marks a host as one with a finding.
func (d *Detector) suspect(host string) {
	if d.suspects[host] {
		return
	}
	if len(d.suspects) >= maxSuspects {
		clear(d.suspects)
	}
	d.suspects[strings.Clone(host)] = true
}

// A reading is what a pattern learns from a page.
type reading struct {
	text     uint64
	relevant bool
}

// A pattern is a set of URLs that differ in numbers only, or a directory, or a
// host.
type pattern struct {
	Pages  uint32 `json:"n"`
	Copies uint32 `json:"c,omitempty"` // near copies of one of its last pages
	Barren uint32 `json:"b,omitempty"` // pages since the last relevant one
	Level  level  `json:"l,omitempty"`

	last [ring]uint64 // fingerprints of the last pages: page n, counted from 0, at n%ring
}

// A param is one parameter of a host's queries.
type param struct {
	Same  int `json:"s,omitempty"` // pairs of pages that differ in it alone and are near copies
	Other int `json:"o,omitempty"`
}

// New returns an empty Detector.
func New() *Detector {
	return &Detector{seed: maphash.MakeSeed(), once: recent.Map[uint64, reading]{Most: maxOnce},
		places: map[uint64]uint32{}, params: map[string]*param{},
		spelt: recent.Map[uint64, uint64]{Most: maxSpelt}, suspects: map[string]bool{}}
}

// Observe learns from a page.
func (d *Detector) Observe(p Page) {
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
			s.observe(first)
		}
		s.observe(reading{p.Text, p.Relevant})
		if s.bad() {
			d.suspect(p.URL.Host())
		}
	}
	d.compare(p)
}

// pattern returns the pattern with this id, or nil if it has at most one page.
func (d *Detector) pattern(id uint64) *pattern {
	if place, known := d.places[id]; known {
		return &d.patterns[place]
	}
	return nil
}

// add makes a pattern that has had one page.
func (d *Detector) add(id uint64, l level) *pattern {
	if len(d.patterns) >= maxPatterns {
		d.forget()
	}
	d.places[id] = uint32(len(d.patterns))
	d.patterns = append(d.patterns, pattern{Level: l})
	return &d.patterns[len(d.patterns)-1]
}

// forget drops patterns seen twice, which are the majority.
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

// observe adds a page.
func (s *pattern) observe(r reading) {
	if slices.ContainsFunc(s.last[:min(s.Pages, ring)], func(text uint64) bool { return page.SameText(text, r.text) }) {
		s.Copies++
	}
	s.last[s.Pages%ring] = r.text
	s.Pages++
	if s.Barren++; r.relevant {
		s.Barren = 0
	}
}

// compare learns from pairs of pages that differ in one query parameter only.
func (d *Detector) compare(p Page) {
	host := p.URL.Host()
	for _, name := range names(p.URL.Query()) {
		rest := d.without(p.URL, name)
		// the page without the parameter, and with another value
		for _, key := range [...]uint64{rest, d.with(rest, name)} {
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

// without returns the key of a URL without one parameter.
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

// with returns the key of a URL with any value of a parameter.
func (d *Detector) with(rest uint64, name string) uint64 {
	return maphash.String(d.seed, name) ^ rest*0x9E3779B97F4A7C15
}

// Check returns the finding about a URL.
func (d *Detector) Check(u weburl.URL) Finding {
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

// parameters finds a parameter without effect, if the page was read with another value of it, or
// without it.
func (d *Detector) parameters(u weburl.URL) Finding {
	if _, known := d.spelt.Get(d.without(u, "")); known {
		return Finding{Factor: 1} // this very URL was read, so it is no copy
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

// String describes how many pairs of pages a parameter has changed.
func (s *param) String() string {
	return fmt.Sprintf("changed nothing in %d of %d pairs of pages", s.Same, s.Same+s.Other)
}

// Dust describes the parameters of a URL without effect on its host; the URL is demoted once its
// page was read.
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

// multiplies reports whether a pattern makes copies and has had no relevant page recently: near
// copies of relevant pages are often distinct pages.
func (s *pattern) multiplies() bool {
	if s.Barren < minPages {
		return false
	}
	if s.Level == narrow {
		return s.Pages >= minPages && float64(s.Copies) >= copies*float64(s.Pages)
	}
	return s.Pages >= minHost && float64(s.Copies) >= copiesHost*float64(s.Pages)
}

// barren reports whether a host has many pages and no yield.
func (s *pattern) barren() bool {
	return s.Level == wholeHost && s.Barren > poor && s.Barren == s.Pages
}

func (s *pattern) bad() bool { return s.multiplies() || s.barren() }

// judge returns the finding about the pattern of this name.
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

// Counts returns how many patterns and parameters are demoted now.
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
