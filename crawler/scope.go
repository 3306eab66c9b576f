package crawler

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/internal/problem"
	"gazehound/internal/textutil"
)

// ScopeRules are the configuration of a crawl's scope and delays.
type ScopeRules struct {
	Include, Exclude []string             // regular expressions on the URL
	Hosts            map[string]HostRules // by host, with its port or without, or "*." with all below it
	Delay            time.Duration        // between two requests to one host
	Longest          time.Duration        // longest Crawl-delay and adaptive delay
	Adaptive         bool                 // slow hosts get longer delays
	Loopback         bool                 // loopback hosts only
	Exhaustive       bool                 // no links are parked
	Platforms        bool                 // links to the platforms of platforms.txt are followed
	Blocked          func(weburl.URL) bool
	// CountryDomains are the country domains of allowed hosts, such as "de"; domains of no country
	// are always allowed. Empty: all.
	CountryDomains []string
}

// HostRules are those of one host.
type HostRules struct {
	Delay time.Duration // 0: that of all hosts
	Skip  bool
}

// Orders are the standing orders of an operator. They belong to the crawl, outlive its runs, and
// tighten the ScopeRules: they make delays longer and the scope smaller, never the other way round.
// Release alone widens a crawl: it fetches what was parked.
type Orders struct {
	Delay   time.Duration        `json:"delay_ns,omitzero"` // 0: as configured
	Hosts   map[string]HostOrder `json:"hosts,omitempty"`
	Exclude []string             `json:"exclude,omitempty"` // regular expressions on the URL
}

// A HostOrder is what was ordered for one host, or for all below "*.".
type HostOrder struct {
	Delay   time.Duration `json:"delay_ns,omitzero"` // 0: as configured
	Skip    bool          `json:"skip,omitzero"`
	Release bool          `json:"release,omitzero"` // none of its links is parked
}

// Count returns how many orders there are.
func (o Orders) Count() int {
	n := len(o.Exclude)
	if o.Delay > 0 {
		n++
	}
	for _, h := range o.Hosts {
		if h.Delay > 0 {
			n++
		}
		if h.Skip {
			n++
		}
		if h.Release {
			n++
		}
	}
	return n
}

// Bounds of the standing orders.
const (
	maxOrderedHosts    = 1000
	maxOrderedPatterns = 1000
)

// A Scope decides which URLs belong to a crawl and how long to wait between two requests to a host.
// Its ScopeRules and Orders may change while the crawl runs. It is safe for concurrent use.
type Scope struct {
	// SetDelay is called when the delay of all hosts or the longest delay changes; nil disables it.
	// Set it before calling a method.
	SetDelay func(delay time.Duration, adaptive bool, longest time.Duration)

	current  atomic.Pointer[ruling]
	changing sync.Mutex
	store    *frontier.Frontier // keeps the orders; nil: they are not stored
}

// A ruling is an immutable state of a Scope.
type ruling struct {
	rules      ScopeRules
	orders     Orders
	configured *patterns
	ordered    *patterns
}

// NewScope returns the scope of rules, without orders.
func NewScope(rules ScopeRules) (*Scope, error) {
	s := &Scope{}
	return s, s.change(rules, Orders{})
}

// change puts rules and orders in place.
func (s *Scope) change(rules ScopeRules, orders Orders) (err error) {
	r := &ruling{rules: rules, orders: orders}
	r.configured, err = newPatterns(rules.Include, rules.Exclude)
	if err != nil {
		return err
	}
	r.ordered, err = newPatterns(nil, orders.Exclude)
	if err != nil {
		return err
	}
	if s.SetDelay != nil {
		longest := rules.Longest
		for _, h := range orders.Hosts {
			longest = max(longest, h.Delay)
		}
		delay := max(rules.Delay, orders.Delay)
		s.SetDelay(delay, rules.Adaptive && delay > 0, longest)
	}
	s.current.Store(r)
	return nil
}

// Reload puts other rules in place; the orders stay.
func (s *Scope) Reload(rules ScopeRules) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return s.change(rules, s.current.Load().orders)
}

// ordersKey is the name under which the frontier keeps the orders.
const ordersKey = "orders"

// Restore reads the orders stored in f, which will store later ones, too. It returns their number.
func (s *Scope) Restore(f *frontier.Frontier) (count int, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.store = f
	data, err := f.Meta(ordersKey)
	if err != nil || data == nil {
		return 0, err
	}
	var orders Orders
	if err := json.Unmarshal(data, &orders); err != nil {
		return 0, fmt.Errorf("crawl: standing orders: %w", err)
	}
	return orders.Count(), s.change(s.current.Load().rules, orders)
}

// Reasons why a URL is outside of a crawl.
const (
	ReasonOrdered     = "by_order"
	ReasonSkippedHost = "host_skipped"
	ReasonOutOfScope  = "out_of_scope"
	ReasonExcluded    = "excluded"
	ReasonNotIncluded = "not_included"
	ReasonCountry     = "country_domain"
	ReasonPlatform    = "platform"
)

// Check returns why a URL is outside of the crawl, or "".
func (s *Scope) Check(u weburl.URL) (reason string) {
	if reason := s.Barred(u); reason != "" {
		return reason
	}
	r := s.current.Load()
	if r.rules.Loopback && !weburl.IsLoopback(u.Hostname()) {
		return ReasonOutOfScope
	}
	h, configured := ForHost(r.rules.Hosts, u)
	switch {
	case h.Skip:
		return ReasonSkippedHost
	case !configured && !r.rules.Platforms && isPlatform(u):
		return ReasonPlatform
	}
	if isForeign(u.Hostname(), r.rules.CountryDomains) {
		return ReasonCountry
	}
	return r.configured.reason(u.String())
}

// isForeign reports whether a host lies in a country domain, of two letters or of another script,
// that is not listed (Ahlers & Boll 2009, section 5).
func isForeign(host string, countries []string) bool {
	domain := host[strings.LastIndexByte(host, '.')+1:]
	ofCountry := len(domain) == 2 && domain[0] >= 'a' || strings.HasPrefix(domain, "xn--")
	return len(countries) > 0 && ofCountry && !slices.Contains(countries, domain)
}

// Barred returns why a URL may not be fetched even as a seed, or "".
func (s *Scope) Barred(u weburl.URL) (reason string) {
	r := s.current.Load()
	if r.rules.Blocked != nil && r.rules.Blocked(u) {
		return frontier.ReasonForgotten
	}
	if h, ok := ForHost(r.orders.Hosts, u); ok && h.Skip {
		return ReasonOrdered
	}
	if r.ordered.reason(u.String()) != "" {
		return ReasonOrdered
	}
	return ""
}

// HostDelay returns the longer delay of rules and orders for the host of u; 0: the delay of all
// hosts.
func (s *Scope) HostDelay(u weburl.URL) time.Duration {
	r := s.current.Load()
	configured, _ := ForHost(r.rules.Hosts, u)
	ordered, _ := ForHost(r.orders.Hosts, u)
	return max(configured.Delay, ordered.Delay)
}

// Exhaustive reports whether no links of the host of u are parked, by rules or by an order.
func (s *Scope) Exhaustive(u weburl.URL) bool {
	r := s.current.Load()
	h, _ := ForHost(r.orders.Hosts, u)
	return r.rules.Exhaustive || h.Release
}

// ForHost finds the value for the host of u: its own with the port, its own, or
// that of the nearest "*." above it.
func ForHost[T any](hosts map[string]T, u weburl.URL) (value T, ok bool) {
	for _, name := range []string{u.Host(), u.Hostname()} {
		if h, ok := hosts[name]; ok {
			return h, true
		}
	}
	for rest := u.Hostname(); ; {
		_, parent, more := strings.Cut(rest, ".")
		if !more {
			return value, false
		}
		if h, ok := hosts["*."+parent]; ok {
			return h, true
		}
		rest = parent
	}
}

// patterns include and exclude URLs.
type patterns struct{ include, exclude []*regexp.Regexp }

func newPatterns(include, exclude []string) (p *patterns, err error) {
	p = &patterns{}
	p.include, err = compile("", include)
	if err != nil {
		return nil, err
	}
	p.exclude, err = compile("(?i)", exclude)
	return p, err
}

func compile(flags string, texts []string) (all []*regexp.Regexp, err error) {
	for _, text := range texts {
		e, err := regexp.Compile(flags + text)
		if err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		all = append(all, e)
	}
	return all, nil
}

// MatchesAll reports whether a regular expression matches every URL: it matches two that have only in
// common what all have.
func MatchesAll(e *regexp.Regexp) bool {
	return e.MatchString("http://q.zz/") && e.MatchString("https://WWW.xyv:8080/7?u=k.j")
}

// reason returns why a URL is left out, or "".
func (p *patterns) reason(text string) string {
	matches := func(e *regexp.Regexp) bool { return e.MatchString(text) }
	switch {
	case slices.ContainsFunc(p.exclude, matches):
		return ReasonExcluded
	case len(p.include) > 0 && !slices.ContainsFunc(p.include, matches):
		return ReasonNotIncluded
	}
	return ""
}

// An OrdersView is the delay and the orders for people and programs.
type OrdersView struct {
	Delay   string                   `json:"delay"` // between requests to one host, as configured or ordered
	Ordered bool                     `json:"delay_ordered"`
	Hosts   map[string]HostOrderView `json:"hosts"`
	Exclude []string                 `json:"exclude"`
}

// A HostOrderView is the order for one host.
type HostOrderView struct {
	Delay   string `json:"delay,omitempty"`
	Skip    bool   `json:"skip,omitempty"`
	Release bool   `json:"release,omitempty"`
}

// Orders returns the delay of all hosts and the standing orders.
func (s *Scope) Orders() OrdersView {
	r := s.current.Load()
	v := OrdersView{
		Delay: max(r.rules.Delay, r.orders.Delay).String(), Ordered: r.orders.Delay > r.rules.Delay,
		Hosts: map[string]HostOrderView{}, Exclude: append([]string{}, r.orders.Exclude...),
	}
	for name, h := range r.orders.Hosts {
		view := HostOrderView{Skip: h.Skip, Release: h.Release}
		if h.Delay > 0 {
			view.Delay = h.Delay.String()
		}
		v.Hosts[name] = view
	}
	return v
}

// order changes the orders: they are stored before they take effect.
func (s *Scope) order(change func(rules ScopeRules, o *Orders) error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	r := s.current.Load()
	o := Orders{r.orders.Delay, maps.Clone(r.orders.Hosts), slices.Clone(r.orders.Exclude)}
	if o.Hosts == nil {
		o.Hosts = map[string]HostOrder{}
	}
	if err := change(r.rules, &o); err != nil {
		return err
	}
	maps.DeleteFunc(o.Hosts, func(_ string, h HostOrder) bool { return h == HostOrder{} })
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("crawl: standing orders: %w", err)
	}
	if s.store != nil {
		err := s.store.PutMeta(ordersKey, data)
		if err != nil {
			return err
		}
	}
	return s.change(r.rules, o)
}

// Errors of orders are a *problem.Problem.
const aHost = "a host name such as www.example.org, or *.example.org"

// parseHost returns a host, with its port if that is not the default, or "*." and a name, in
// canonical spelling.
func parseHost(text string) (string, error) {
	name, below := strings.CutPrefix(strings.TrimSpace(text), "*.")
	u, err := weburl.Parse("http://" + name)
	switch {
	case err != nil || strings.ContainsAny(name, "*/?#@\\ ") || below && u.Host() != u.Hostname():
		return "", problem.Bad("host", text, aHost, "")
	case below:
		return "*." + u.Hostname(), nil
	}
	return u.Host(), nil
}

// OrderDelay makes the delay of a host longer, or of all hosts if host is "", or removes that order
// with 0. It returns a message.
func (s *Scope) OrderDelay(host string, delay time.Duration) (done string, err error) {
	const hint = "an order makes a crawl more patient, never less: fetch.delay and hosts in config.yaml and SIGHUP " +
		"change it"
	if s.SetDelay == nil {
		return "", &problem.Problem{Status: http.StatusConflict,
			Title: "this crawl reads recorded pages and sends no request, so there is no delay"}
	}
	done = fmt.Sprintf("delay %v", delay)
	if host != "" {
		host, err = parseHost(host)
		if err != nil {
			return "", err
		}
		done += " for " + host
	}
	return done, s.order(func(rules ScopeRules, o *Orders) error {
		least, from := rules.Delay, "fetch.delay"
		if host != "" {
			least, from = max(least, rules.hostDelay(host)), "configured"
		}
		if delay > 0 && delay < least {
			return problem.Bad("delay", delay.String(), fmt.Sprintf("at least %v, which is %s, or 0s", least, from),
				hint)
		}
		if host == "" {
			o.Delay = delay
			if delay == rules.Delay {
				o.Delay = 0
			}
			return nil
		}
		return o.host(host, func(h *HostOrder) { h.Delay = delay })
	})
}

// hostDelay returns the delay configured for what parseHost returned.
func (r ScopeRules) hostDelay(host string) time.Duration {
	if h, ok := r.Hosts[host]; ok {
		return h.Delay
	}
	u, err := weburl.Parse("http://" + strings.TrimPrefix(host, "*.") + "/")
	if err != nil {
		return 0
	}
	h, _ := ForHost(r.Hosts, u)
	return h.Delay
}

// host changes the order for a host.
func (o *Orders) host(name string, change func(h *HostOrder)) error {
	h, known := o.Hosts[name]
	if !known && len(o.Hosts) >= maxOrderedHosts {
		return tooManyOrders("hosts", maxOrderedHosts)
	}
	change(&h)
	o.Hosts[name] = h
	return nil
}

func tooManyOrders(what string, most int) error {
	return &problem.Problem{
		Status: http.StatusConflict, Title: fmt.Sprintf("there are %d %s with orders, and no room for more", most,
			what),
		Hint: "take some back, or write them into config.yaml: crawl.exclude and hosts",
	}
}

func noOrder(what string) error {
	return &problem.Problem{
		Status: http.StatusNotFound, Title: fmt.Sprintf("no order leaves out %.200q", what), Given: what,
		Hint: "\"gazehound ctl orders\" and /v1/crawl/orders show what was ordered; crawl.exclude and hosts are in " +
			"config.yaml",
	}
}

// ExcludeHost excludes a host, or removes that order. It returns a message.
func (s *Scope) ExcludeHost(host string, undo bool) (done string, err error) {
	host, err = parseHost(host)
	if err != nil {
		return "", err
	}
	return excluded(host, undo), s.order(func(_ ScopeRules, o *Orders) error {
		if undo && !o.Hosts[host].Skip {
			return noOrder(host)
		}
		return o.host(host, func(h *HostOrder) { h.Skip = !undo })
	})
}

// ReleaseHost orders that no links of a host are parked, or removes that order. It returns a message.
func (s *Scope) ReleaseHost(host string, undo bool) (done string, err error) {
	host, err = parseHost(host)
	if err != nil {
		return "", err
	}
	done = "release the parked links of " + host
	if undo {
		done = "park links of " + host + " again"
	}
	return done, s.order(func(_ ScopeRules, o *Orders) error {
		if undo && !o.Hosts[host].Release {
			return &problem.Problem{Status: http.StatusNotFound, Given: host,
				Title: fmt.Sprintf("no order releases %.200q", host),
				Hint:  "\"gazehound ctl orders\" and /v1/crawl/orders show what was ordered"}
		}
		return o.host(host, func(h *HostOrder) { h.Release = !undo })
	})
}

// ExcludePattern excludes all URLs that match a regular expression, or removes that order. It
// returns a message.
func (s *Scope) ExcludePattern(pattern string, undo bool) (done string, err error) {
	const expected = "a regular expression such as /calendar/"
	if e, err := regexp.Compile(pattern); err != nil {
		return "", problem.Bad("pattern", pattern, expected, err.Error())
	} else if !undo && MatchesAll(e) {
		return "", problem.Bad("pattern", pattern, expected,
			"this one matches every URL; pause or stop holds the whole crawl")
	}
	return excluded(pattern, undo), s.order(func(_ ScopeRules, o *Orders) error {
		at := slices.Index(o.Exclude, pattern)
		switch {
		case undo && at < 0:
			return noOrder(pattern)
		case undo:
			o.Exclude = slices.Delete(o.Exclude, at, at+1)
		case at < 0 && len(o.Exclude) >= maxOrderedPatterns:
			return tooManyOrders("patterns", maxOrderedPatterns)
		case at < 0:
			o.Exclude = append(o.Exclude, pattern)
		}
		return nil
	})
}

func excluded(what string, undo bool) string {
	if undo {
		return "take in again " + what
	}
	return "leave out " + what
}

// Text returns the orders for people, one per line.
func (v OrdersView) Text() string {
	from := "configured"
	if v.Ordered {
		from = "ordered"
	}
	lines := []string{fmt.Sprintf("delay    %s (%s)", v.Delay, from)}
	names := slices.Sorted(maps.Keys(v.Hosts))
	for _, name := range names {
		if h := v.Hosts[name]; h.Delay != "" {
			lines = append(lines, fmt.Sprintf("delay    %s for %s", h.Delay, name))
		}
	}
	for _, name := range names {
		if v.Hosts[name].Skip {
			lines = append(lines, "exclude  the host "+name)
		}
	}
	for _, name := range names {
		if v.Hosts[name].Release {
			lines = append(lines, "release  the host "+name)
		}
	}
	for _, pattern := range v.Exclude {
		lines = append(lines, "exclude  "+textutil.OneLine(pattern))
	}
	return strings.Join(lines, "\n") + "\n"
}
