// Package trap learns which URLs of a crawl repeat the same page, or lead to pages without end that
// nobody needs: calendars, filters of shops, session ids, sorted lists, texts that a program writes.
// After a sample of their pages such links are parked: kept and not fetched. Links of known software
// are parked without one, see package software.
package trap

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"gazehound/crawler/order/software"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/recent"
)

// A Page is what a Detector learns from.
type Page struct {
	URL      weburl.URL
	Text     uint64       // near of page.Hashes
	Content  uint64       // content of page.Hashes; 0: as Text
	Relevant bool         // by more than what most pages of the host state
	Software software.Set // that made it
}

// A Finding is whether and why a URL is parked or comes later.
type Finding struct {
	Factor  float64 // of the priority, in (0, 1]; 1: not demoted
	Reason  string  // in words, or ""
	Pattern string  // under which the URL is parked, or ""
}

// Factors, and the thresholds at which they apply.
const (
	traceOf    = 0.02 // for copies of a page that was read
	structural = 0.1  // for URLs whose structure is a trap
	listsPages = 0.05 // for pages of known software that list what other links lead to
	leastYield = 0.1  // for hosts without yield, at least

	minPages   = 20   // pages of a pattern before it is judged
	minHost    = 40   // pages of a host or directory before it is judged
	minBarren  = 12   // of them, the last without a relevant one
	copies     = 0.75 // share of them that must be near copies
	copiesHost = 0.9
	slack      = 0.15 // by which a share may fall before what was decided by it is revoked
	poor       = 300  // pages in a row without a relevant one after which a host is demoted
	mostBarren = 3000 // … after which its links are parked

	firstProbe = 5 // one of 2^firstProbe links of a pattern is fetched after all, then half as many …

	minPairs = 4    // pairs of pages that differ in one parameter before it is judged
	same     = 0.95 // share of them that must have the same content

	ring = 8 // fingerprints kept per pattern

	maxOnce     = 40_000 // patterns with one page
	maxPatterns = 50_000 // with more
	maxSuspects = 100_000
	maxSoftware = 100_000 // hosts whose software is known
	maxParams   = 20_000
	maxSpelt    = 120_000 // URLs kept for comparing parameters
	maxContents = 60_000  // contents of pages kept for finding copies
	maxNames    = 8       // parameters compared per URL
)

// A Detector learns traps from the pages read. It is safe for concurrent use. Its memory is
// bounded; what is forgotten is learned again.
type Detector struct {
	// Exempt reports whether no links of the host of a URL are parked; nil: of none. Set it before
	// calling a method. It must not call the Detector.
	Exempt func(weburl.URL) bool
	// IgnoreSoftware turns the rules of package software off. Set it before calling a method.
	IgnoreSoftware bool

	seed maphash.Seed

	mu sync.Mutex
	// patterns with one page, as most are, by idOf (names would take too much memory)
	once     recent.Map[uint64, reading]
	places   map[uint64]uint32 // patterns with more pages: idOf → index in patterns
	patterns []pattern
	params   map[string]*param
	spelt    recent.Map[uint64, print]    // URL without one parameter → its page
	contents recent.Map[uint64, struct{}] // contents with their hosts
	// hosts with a finding now or earlier; others need no look-up
	suspects map[string]bool
	software map[string]software.Set // by host
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
	copied   bool // the host has another page with the same content, or nearly the same text
	relevant bool
}

// A print identifies the text of a page.
type print struct{ text, content uint64 }

// A pattern is a set of URLs that levels returns.
type pattern struct {
	Pages   uint32 `json:"n"`
	Copies  uint32 `json:"c,omitempty"` // near copies of one of its last pages
	Barren  uint32 `json:"b,omitempty"` // pages since the last relevant one
	Level   level  `json:"l,omitempty"`
	Repeats bool   `json:"m,omitempty"` // it makes copies, see multiplies

	last [ring]uint64 // fingerprints of the last pages: page n, counted from 0, at n%ring
}

// A param is one parameter of a host's queries.
type param struct {
	Same  int  `json:"s,omitempty"` // pairs of pages that differ in it alone and are near copies
	Other int  `json:"o,omitempty"`
	Dust  bool `json:"d,omitempty"` // it is without effect
}

// New returns an empty Detector.
func New() *Detector {
	return &Detector{
		seed: maphash.MakeSeed(), once: recent.Map[uint64, reading]{Most: maxOnce},
		places: map[uint64]uint32{}, params: map[string]*param{},
		spelt:    recent.Map[uint64, print]{Most: maxSpelt},
		contents: recent.Map[uint64, struct{}]{Most: maxContents}, suspects: map[string]bool{},
		software: map[string]software.Set{},
	}
}

// Observe learns from a page, and returns the patterns under which links need no longer be parked.
func (d *Detector) Observe(p Page) (released []string) {
	p.Content = cmp.Or(p.Content, p.Text)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs(p.URL.Host(), p.Software)
	near, dust, released := d.compare(p)
	if dust {
		return released // its parameter explains the copy, and says nothing about pages not read yet
	}
	copied := d.known(p)
	r := reading{p.Text, copied || near, p.Relevant && !copied}
	for _, l := range levels(p.URL) {
		id := idOf(l.name)
		s := d.pattern(id)
		if s == nil {
			first, again := d.once.Get(id)
			if !again {
				d.once.Put(id, r)
				continue
			}
			s = d.add(id, l.level)
			s.observe(first)
		}
		was := s.proven()
		s.observe(r)
		if was && !s.proven() {
			released = append(released, l.name)
		}
		if s.bad() {
			d.suspect(p.URL.Host())
		}
	}
	return released
}

// runs notes what software a host runs.
func (d *Detector) runs(host string, s software.Set) {
	if s == 0 || d.software[host]|s == d.software[host] {
		return
	}
	if len(d.software) >= maxSoftware {
		clear(d.software)
	}
	d.software[strings.Clone(host)] |= s
}

// known reports whether the host has another page with the same content, and adds this one.
func (d *Detector) known(p Page) bool {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteString(p.URL.Host())
	key := h.Sum64() ^ p.Content
	_, known := d.contents.Get(key)
	d.contents.Put(key, struct{}{})
	return known
}

// Credit learns that a page of u led to a relevant one, and returns the patterns under which links
// need no longer be parked.
func (d *Detector) Credit(u weburl.URL) (released []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range levels(u) {
		if s := d.pattern(idOf(l.name)); s != nil && l.level != wholeHost {
			if s.proven() {
				released = append(released, l.name)
			}
			s.Barren, s.Repeats = 0, false
		}
	}
	return released
}

// Prove makes a pattern of a host proven, under which links are parked since an earlier run, if
// nothing is known of it: it was forgotten, or learned after the last Snapshot.
func (d *Detector) Prove(host, pattern string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case isParam(host, pattern):
		if d.params[pattern] == nil {
			d.params[pattern] = &param{Same: minPairs, Dust: true}
		}
	case isRule(pattern):
		d.runs(host, software.Set(0).With(pattern))
		return
	case d.pattern(idOf(pattern)) == nil:
		s := d.add(idOf(pattern), narrow)
		s.Pages, s.Copies, s.Barren, s.Repeats = minHost, minHost, minHost, true
	}
	d.suspect(host)
}

// Proven reports whether links of a host are parked under the pattern, unless it is exempt.
func (d *Detector) Proven(host, pattern string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case isParam(host, pattern):
		return d.params[pattern].dust()
	case isRule(pattern):
		return !d.IgnoreSoftware && d.software[host].Parks(pattern)
	}
	s := d.pattern(idOf(pattern))
	return s != nil && s.proven()
}

// isParam reports whether a pattern is a parameter of the host, "a.example?sid".
func isParam(host, pattern string) bool { return strings.HasPrefix(pattern, host+"?") }

// isRule reports whether a pattern is a rule of package software, "mediawiki actions".
func isRule(pattern string) bool { return strings.Contains(pattern, " ") }

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
			if s := d.patterns[place]; s.Pages > least || s.bad() && least < minHost {
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
	near := func(text uint64) bool { return page.SameText(text, r.text) }
	if r.copied || slices.ContainsFunc(s.last[:min(s.Pages, ring)], near) {
		s.Copies++
	}
	s.last[s.Pages%ring] = r.text
	s.Pages++
	s.Barren++
	if r.relevant {
		s.Barren = 0
	}
	s.Repeats = s.multiplies()
}

// compare learns from pairs of pages that differ in one query parameter only. It reports whether
// such a page has nearly the same text, and whether it has the same content because of a parameter
// without effect. It returns the parameters that turned out to have an effect.
func (d *Detector) compare(p Page) (near, dust bool, released []string) {
	host, mine := p.URL.Host(), print{p.Text, p.Content}
	for _, name := range names(p.URL.Query()) {
		rest := d.without(p.URL, name)
		// the page without the parameter, and with another value
		for _, key := range [...]uint64{rest, d.with(rest, name)} {
			if other, known := d.spelt.Get(key); known {
				near = near || page.SameText(other.text, p.Text)
				equal, param := other.content == p.Content, host+"?"+name
				if d.count(host, param, equal) {
					released = append(released, param)
				}
				dust = dust || equal && d.params[param].dust()
				break
			}
		}
		d.spelt.Put(d.with(rest, name), mine)
	}
	d.spelt.Put(d.without(p.URL, ""), mine)
	return near, dust, released
}

// count adds a pair of pages of a parameter and reports whether that is no dust any more.
func (d *Detector) count(host, name string, same bool) (released bool) {
	s := d.params[name]
	if s == nil {
		if len(d.params) >= maxParams {
			clear(d.params)
		}
		s = &param{}
		d.params[name] = s
	}
	was := s.dust()
	if same {
		s.Same++
	} else {
		s.Other++
	}
	s.Dust = s.changesNothing()
	if s.Dust {
		d.suspect(host)
	}
	return was && !s.Dust
}

func (s *param) dust() bool { return s != nil && s.Dust }

// changesNothing decides whether a parameter is without effect. What was decided holds until the pairs
// say clearly otherwise.
func (s *param) changesNothing() bool {
	least := same
	if s.Dust {
		least -= slack
	}
	return s.Same >= minPairs && float64(s.Same) >= least*float64(s.Same+s.Other)
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
	if of := d.made(u); of.Factor < f.Factor {
		f = of
	}
	if f.Pattern == "" && d.suspects[u.Host()] {
		if of := d.check(u); of.Pattern != "" || f.Factor == 1 {
			f = of
		}
	}
	d.mu.Unlock()
	if f.Pattern != "" && d.Exempt != nil && d.Exempt(u) {
		f.Pattern = ""
	}
	return f
}

// made returns the finding about a URL of known software.
func (d *Detector) made(u weburl.URL) Finding {
	if d.IgnoreSoftware {
		return Finding{Factor: 1}
	}
	rule, ok := d.software[u.Host()].Find(u)
	switch {
	case !ok:
		return Finding{Factor: 1}
	case rule.Park:
		return Finding{traceOf, "known software: " + rule.Name, rule.Name}
	}
	return Finding{Factor: listsPages, Reason: "known software: " + rule.Name}
}

// check returns the finding by what was learned: that of a parameter, or else the one of the pattern
// that lowers the priority most.
func (d *Detector) check(u weburl.URL) Finding {
	if f := d.parameters(u); f.Factor < 1 {
		return f
	}
	worst := Finding{Factor: 1}
	for _, l := range levels(u) {
		if s := d.pattern(idOf(l.name)); s != nil {
			if f := s.judge(l.name, u); f.Factor < worst.Factor || f.Pattern != "" && worst.Pattern == "" {
				worst = f
			}
		}
	}
	return worst
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
			return Finding{traceOf, reason, u.Host() + "?" + name}
		}
	}
	return Finding{Factor: 1}
}

// String describes how many pairs of pages a parameter has changed.
func (s *param) String() string {
	return fmt.Sprintf("changed nothing in %d of %d pairs of pages", s.Same, s.Same+s.Other)
}

// Dust describes the parameters of a URL without effect on its host; the URL is parked once its page
// was read.
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

// multiplies decides whether a pattern makes copies and has had no relevant page recently: near copies
// of relevant pages are often distinct pages. What was decided holds until the share of copies is
// clearly lower, so that links are not parked and released in turns.
func (s *pattern) multiplies() bool {
	least, share := uint32(minPages), copies
	if s.Level != narrow {
		least, share = minHost, copiesHost
	}
	if s.Repeats {
		share -= slack
	}
	return s.Barren >= minBarren && s.Pages >= least && float64(s.Copies) >= share*float64(s.Pages)
}

// barren reports whether a host has many pages and no yield.
func (s *pattern) barren() bool {
	return s.Level == wholeHost && s.Barren > poor && s.Barren == s.Pages
}

// proven reports whether links of the pattern are parked.
func (s *pattern) proven() bool { return s.Repeats || s.barren() && s.Barren >= mostBarren }

func (s *pattern) bad() bool { return s.Repeats || s.barren() }

// judge returns the finding about a URL of the pattern of this name.
func (s *pattern) judge(name string, u weburl.URL) (f Finding) {
	switch {
	case s.Repeats:
		f.Factor = traceOf
		f.Reason = fmt.Sprintf("%d of the %d pages like %s were nearly the same", s.Copies, s.Pages, name)
	case s.barren():
		f.Factor = max(leastYield, float64(poor)/float64(s.Barren))
		f.Reason = fmt.Sprintf("none of the %d pages of %s is relevant", s.Barren, name)
	default:
		return Finding{Factor: 1}
	}
	if s.proven() && !s.probes(u) {
		f.Pattern = name
	}
	return f
}

// probes reports whether u is fetched although its pattern is proven, to see whether that still
// holds: one link in 32 at first, and half as many after each probe.
func (s *pattern) probes(u weburl.URL) bool {
	zeros := firstProbe + min(s.Pages-min(s.Pages, minPages), 58)
	return idOf(u.Identity())<<(64-zeros) == 0
}

// Counts returns how many patterns and parameters have a finding now.
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
