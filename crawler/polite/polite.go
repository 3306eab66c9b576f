// Package polite keeps the crawl from burdening anybody. Its Gate gives every host,
// and every IP address with all the hosts on it, one request at a time and a
// delay after each; it heeds robots.txt, Crawl-delay, Retry-After and reserved
// rights to text and data mining.
package polite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

// Options tune a Gate.
type Options struct {
	Delay         time.Duration // of rest after a request to a host or an IP address; 0 is for loopback only
	AdaptiveDelay bool          // rest at least 2 × as long as the last response took
	MaxDelay      time.Duration // longest Crawl-delay and adaptive delay that are kept

	BackoffOn    []int         // statuses that ask for more patience
	BackoffStart time.Duration // rest after the first of them; doubled for every further one in a row
	BackoffMax   time.Duration // longest rest, also by Retry-After

	// AtOnce is how many requests a host gets at once where no server has to be
	// spared: Delay is 0, Resolve is nil and the host has asked for no rest.
	// Everywhere else it is one.
	AtOnce int

	// Fetch makes one exchange for a file that is no page, cut after max bytes, and
	// follows no redirect; nil: neither robots.txt nor reservations are asked for.
	Fetch func(ctx context.Context, u weburl.URL, max int64) (*page.Response, error)
	// Robots tunes the cache of robots.txt files, whose Fetch and Turn are the
	// Gate's; nil: robots.txt is not asked for.
	Robots *robots.Options
	// Barred returns why nobody may ask for a URL, whatever robots.txt says, or "";
	// nil: nothing is barred.
	Barred func(u weburl.URL) (reason string)
	// HostDelay returns the delay that is wanted for the host of u besides that of
	// its robots.txt; nil: none.
	HostDelay func(u weburl.URL) time.Duration

	// Resolve finds the IP addresses of a host name without port. nil, behind
	// a proxy: only hosts count.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Lookups int // at once
}

// DefaultOptions returns the options of config.yaml as shipped, without Resolve.
func DefaultOptions() Options {
	return Options{
		Delay:         2 * time.Second,
		AdaptiveDelay: true,
		MaxDelay:      time.Minute,
		BackoffOn:     []int{http.StatusTooManyRequests, http.StatusServiceUnavailable},
		BackoffStart:  5 * time.Minute,
		BackoffMax:    24 * time.Hour,
		AtOnce:        1,
		Lookups:       16,
	}
}

// Validate returns an error if o is invalid.
func (o Options) Validate() error {
	switch {
	case o.Delay < 0 || o.MaxDelay < 0:
		return fmt.Errorf("polite: delays (%v, at most %v) cannot be negative", o.Delay, o.MaxDelay)
	case o.BackoffStart < 0 || o.BackoffMax < o.BackoffStart:
		return fmt.Errorf("polite: back-off from %v to %v goes backwards", o.BackoffStart, o.BackoffMax)
	case o.AtOnce < 1:
		return fmt.Errorf("polite: %d requests at once: want 1 or more", o.AtOnce)
	case o.Robots != nil && o.Fetch == nil:
		return errors.New("polite: without Fetch there is no robots.txt")
	case o.Resolve != nil && o.Lookups <= 0:
		return fmt.Errorf("polite: %d lookups at once find no address", o.Lookups)
	}
	return nil
}

// A Visit is how a request ended, as far as politeness is concerned.
type Visit struct {
	NoRequest  bool          // the turn was not used, so no delay follows; other fields do not count
	IP         string        // address that answered, or ""
	Took       time.Duration // from the request to the last byte
	Status     int           // 0: not known, which neither excuses nor accuses the host
	RetryAfter time.Duration // what the server asked for (see RetryAfter), or 0
	Err        error         // no response
	CrawlDelay time.Duration // of the host's robots.txt, or 0; negative: the one that Check found
}

// Leases are shared between the nodes of a crawl: a host, and the IP address
// behind it, is asked by one of them at a time. They must not call the Gate.
type Leases interface {
	// Claim takes the leases of all these names and returns 0, or says how long
	// to wait before trying again. Names are hosts, and "ip " with an address.
	Claim(names ...string) (wait time.Duration)
	// Release ends the use of leases that Claim gave.
	Release(names ...string)
}

// A Gate says when a host may be asked. Claim takes the host's turn and its IP
// address's, Visited gives both back and begins the rest. It is safe for
// concurrent use. Its memory grows with the hosts that are resting, not with
// those it has seen. It owns a few goroutines, one for each lookup that runs.
type Gate struct {
	options Options
	ctx     context.Context // of the lookups
	cancel  context.CancelFunc
	lookups sync.WaitGroup
	slots   chan struct{} // one token for each running lookup

	leases   Leases        // nil: this node crawls alone
	robots   *robots.Cache // nil: robots.txt is not asked for
	reserved *lru.Cache[string, reservation]
	asking   singleflight.Group // of reservations, by host

	mu    sync.Mutex
	hosts map[string]*host
	ips   map[netip.Addr]*turn
	sweep int // number of hosts at which the idle ones are forgotten

	killed  time.Time // when the rests of a crawl that was killed were taken over, or zero
	quiet   time.Time // no host is asked before
	journal *journal  // nil: nothing is kept
}

// A turn is held by one request, and free again after its rest. Where no rest
// is needed it can be held by several.
type turn struct {
	held int       // requests under way
	next time.Time // end of the rest
}

// A host is a turn of its own inside that of its IP address.
type host struct {
	turn
	lookup lookup
	began  time.Time     // of the lookup
	ip     netip.Addr    // or zero: not known
	crawl  time.Duration // last Crawl-delay that was known, or 0
	delay  time.Duration // of the last rest
	fails  int           // back-off statuses in a row
	errs   int           // errors in a row
	noted  bool          // the journal has something about it
}

// A lookup is how far the search for a host's IP address has come.
type lookup uint8

const (
	unasked lookup = iota
	asking
	asked
)

const (
	keepHosts  = 10_000 // that may be idle and are remembered
	minWait    = 5 * time.Millisecond
	maxPolling = 250 * time.Millisecond
)

// New returns an open Gate, or the error of o.Validate. Close it when no
// worker uses it any more.
func New(o Options) (*Gate, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	g := &Gate{
		options: o,
		slots:   make(chan struct{}, max(o.Lookups, 0)),
		hosts:   make(map[string]*host),
		ips:     make(map[netip.Addr]*turn),
		sweep:   keepHosts,
	}
	var err error
	if g.reserved, err = lru.New[string, reservation](maxReservations); err != nil {
		return nil, fmt.Errorf("polite: %w", err)
	}
	if o.Robots != nil {
		rules := *o.Robots
		rules.Turn = g.Claim
		rules.Fetch = func(ctx context.Context, u weburl.URL) (*page.Response, error) {
			return o.Fetch(ctx, u, robots.MaxSize)
		}
		if g.robots, err = robots.New(rules); err != nil {
			return nil, err
		}
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g, nil
}

// Close ends the lookups that run, waits for them, and keeps the rests that
// are not over for the next Gate.
func (g *Gate) Close() error {
	g.cancel()
	g.lookups.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.journal == nil {
		return nil
	}
	err := g.rewrite(!slices.ContainsFunc(slices.Collect(maps.Values(g.hosts)),
		func(h *host) bool { return h.held > 0 }))
	if g.journal.file != nil {
		g.journal.file.Close()
	}
	g.journal = nil
	return err
}

// SetDelay changes the delays of Options from the next request of every host
// on; rests that have begun stay as they are.
func (g *Gate) SetDelay(delay time.Duration, adaptive bool, longest time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := g.options
	o.Delay, o.AdaptiveDelay, o.MaxDelay = delay, adaptive, longest
	if err := o.Validate(); err != nil {
		return err
	}
	g.options = o
	return nil
}

// SetLeases lets the Gate share its hosts with other nodes, before its first Claim.
func (g *Gate) SetLeases(l Leases) { g.leases = l }

// Claim takes the turn of a host, given as weburl.URL.Host writes it, and of
// its IP address. With 0 the turn is the caller's until Visited;
// otherwise the host may be requested again after wait, though another may be
// faster. The first Claim of a host starts the lookup of its address, so
// claiming ahead of need is useful. A host whose name cannot be resolved is
// let through: the fetcher will say why.
func (g *Gate) Claim(name string) (wait time.Duration) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if wait := g.quiet.Sub(now); wait > 0 {
		return wait
	}
	h := g.hosts[name]
	if h == nil {
		h = &host{}
		g.hosts[strings.Clone(name)] = h
		g.forget(now)
	}
	atOnce := 1
	if g.options.Delay == 0 && g.options.Resolve == nil && h.delay == 0 {
		atOnce = g.options.AtOnce
	}
	if wait := h.wait(now, g.options.Delay, atOnce); wait > 0 {
		return wait
	}
	if wait := g.find(name, h, now); wait > 0 {
		return wait
	}
	if ip := g.ips[h.ip]; ip != nil {
		if wait := ip.wait(now, g.options.Delay, atOnce); wait > 0 {
			return wait
		}
	}
	if g.leases != nil {
		if wait := g.leases.Claim(leasesOf(name, h)...); wait > 0 {
			return wait
		}
	}
	h.held++
	if h.ip.IsValid() {
		if g.ips[h.ip] == nil {
			g.ips[h.ip] = &turn{}
		}
		g.ips[h.ip].held++
	}
	return 0
}

// leasesOf names the leases of a host.
func leasesOf(name string, h *host) []string {
	if !h.ip.IsValid() {
		return []string{name}
	}
	return []string{name, "ip " + h.ip.String()}
}

// owed returns how long the crawl leaves a host alone that wants this delay
// because one that was killed may just have asked it. The journal knows the
// delays of hosts that rested when it was written; of others they are known from
// rules that were kept.
func (g *Gate) owed(delay time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed.IsZero() {
		return 0
	}
	return max(0, time.Until(g.killed.Add(min(delay, g.options.MaxDelay))))
}

// wait returns how long the turn is taken or its delay lasts, as far as is known.
func (t *turn) wait(now time.Time, least time.Duration, atOnce int) time.Duration {
	if t.held >= atOnce {
		return max(minWait, least)
	}
	return t.next.Sub(now)
}

// rest ends the turn; the next one comes no sooner than after delay, and never
// sooner than was said before.
func (t *turn) rest(now time.Time, delay time.Duration) {
	t.held--
	if next := now.Add(delay); next.After(t.next) {
		t.next = next
	}
}

// find makes sure that the address of h is known or cannot be known, and
// returns how long to wait for that.
func (g *Gate) find(name string, h *host, now time.Time) time.Duration {
	if g.options.Resolve == nil || h.lookup == asked {
		return 0
	}
	if h.lookup == asking {
		return min(max(now.Sub(h.began), minWait), maxPolling)
	}
	bare := hostname(name)
	if addr, err := netip.ParseAddr(bare); err == nil {
		h.lookup, h.ip = asked, addr.Unmap()
		return 0
	}
	select {
	case g.slots <- struct{}{}:
	default:
		return 4 * minWait // all lookups are busy
	}
	h.lookup, h.began = asking, now
	g.lookups.Go(func() {
		addrs, err := g.options.Resolve(g.ctx, bare)
		<-g.slots
		g.mu.Lock()
		defer g.mu.Unlock()
		h.lookup = asked
		if err == nil && len(addrs) > 0 {
			h.ip = slices.MinFunc(addrs, netip.Addr.Compare).Unmap() // the same on all nodes
		}
	})
	return minWait
}

// Visited ends the turn that Claim gave and begins the rest.
//
// The host rests for the longest of Delay, Crawl-delay, twice the response
// time (both up to MaxDelay), and, after a status of BackoffOn, what the
// server asked for by Retry-After, or else a back-off that doubles every time
// and is forgotten when the host answers well. Errors double the plain delay.
// The IP address rests for Delay or twice the response time.
func (g *Gate) Visited(name string, v Visit) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	base := g.options.Delay
	if g.options.AdaptiveDelay {
		base = max(base, min(2*v.Took, g.options.MaxDelay))
	}
	h := g.hosts[name]
	if h == nil || h.held == 0 {
		return // no turn was taken
	}
	if g.leases != nil {
		defer g.leases.Release(leasesOf(name, h)...)
	}
	ip := g.ips[h.ip]
	if v.NoRequest {
		h.held--
		if ip != nil {
			ip.held--
		}
		return
	}
	if ip != nil {
		ip.rest(now, base)
	}
	if ip, err := netip.ParseAddr(v.IP); err == nil && g.options.Resolve != nil && ip.Unmap() != h.ip {
		g.moved(h, ip.Unmap(), now, base)
	}
	if v.CrawlDelay >= 0 {
		h.crawl = v.CrawlDelay
	}
	h.delay = max(min(h.crawl, g.options.MaxDelay), g.patience(h, v, base))
	h.rest(now, h.delay)
	g.note(name, h, now)
}

// moved notes that another address answered than was claimed.
func (g *Gate) moved(h *host, ip netip.Addr, now time.Time, delay time.Duration) {
	h.ip, h.lookup = ip, asked
	t := g.ips[ip]
	if t == nil {
		t = &turn{}
		g.ips[ip] = t
	}
	if next := now.Add(delay); next.After(t.next) {
		t.next = next
	}
}

// patience counts bad answers in a row and returns the rest that h needs.
func (g *Gate) patience(h *host, v Visit, base time.Duration) time.Duration {
	asked := min(v.RetryAfter, g.options.BackoffMax)
	switch {
	case v.Err != nil:
		h.errs++
		return max(base, min(doubled(base, h.errs), g.options.BackoffStart), asked)
	case slices.Contains(g.options.BackoffOn, v.Status):
		h.fails++
		if asked > 0 {
			return max(base, asked)
		}
		return max(base, min(doubled(g.options.BackoffStart, h.fails-1), g.options.BackoffMax))
	case v.Status >= 500:
		h.errs++
		return max(base, min(doubled(base, h.errs), g.options.BackoffStart), asked)
	case v.Status != 0:
		h.fails, h.errs = 0, 0
	}
	return base
}

// doubled returns d · 2^n, or the longest duration where that overflows.
func doubled(d time.Duration, n int) time.Duration {
	if n > 62 || d > math.MaxInt64>>n {
		return math.MaxInt64
	}
	return d << n
}

// forget drops the hosts and addresses that are idle past their rest, whenever
// their number has doubled. What a host failed before is forgotten with it.
func (g *Gate) forget(now time.Time) {
	if len(g.hosts) < g.sweep {
		return
	}
	for name, h := range g.hosts {
		if h.held == 0 && h.lookup != asking && now.After(h.next.Add(grace(h))) &&
			!h.began.After(now.Add(-time.Minute)) {
			delete(g.hosts, name)
		}
	}
	for addr, t := range g.ips {
		if t.held == 0 && now.After(t.next) {
			delete(g.ips, addr)
		}
	}
	g.sweep = max(keepHosts, 2*len(g.hosts))
}

// grace is how long failures of h are remembered after its rest.
func grace(h *host) time.Duration {
	if h.fails+h.errs == 0 {
		return 0
	}
	return max(h.delay, time.Minute)
}

// Stats counts hosts by what they are doing, for the status of a crawl.
type Stats struct {
	Hosts   int // remembered
	Asked   int // of them, a request is under way
	Resting int // wait for their delay
	Backoff int // of those resting, after an answer that asks for patience
}

// Stats walks all hosts: once a second is often enough.
func (g *Gate) Stats() Stats {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Hosts: len(g.hosts)}
	for _, h := range g.hosts {
		switch {
		case h.held > 0:
			s.Asked++
		case now.Before(h.next):
			s.Resting++
			if h.fails > 0 {
				s.Backoff++
			}
		}
	}
	return s
}

// A Rest is what one host is doing.
type Rest struct {
	Asked   bool          // a request is under way
	Wait    time.Duration // until it may be asked; 0: now, as far as its own rest goes
	Backoff bool          // it rests because it has asked for patience
}

// Look returns what hosts, given as weburl.URL.Host writes them, are doing now.
func (g *Gate) Look(names ...string) []Rest {
	now := time.Now()
	rests := make([]Rest, len(names))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, name := range names {
		h := g.hosts[name]
		if h == nil {
			continue
		}
		rests[i] = Rest{Asked: h.held > 0, Wait: max(h.next.Sub(now), 0)}
		rests[i].Backoff = h.fails > 0 && rests[i].Wait > 0
	}
	return rests
}

// RetryAfter reads a Retry-After header, in seconds or as a date, at the time
// now. What is missing, past or no number is 0.
func RetryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		if seconds <= 0 {
			return 0
		}
		return time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// hostname cuts the port and the brackets off a host.
func hostname(name string) string {
	if h, _, err := net.SplitHostPort(name); err == nil {
		return h
	}
	return strings.Trim(name, "[]")
}
