// Package polite keeps a crawl polite. Its Gate allows every host, and every IP address with all
// hosts on it, one request at a time and enforces a delay after each; it obeys robots.txt,
// Crawl-delay, Retry-After and reserved rights to text and data mining. The delay is computed in
// [Gate.Visited].
package polite

import (
	"context"
	"encoding/json"
	"fmt"
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
	// after a request to a host or an IP address; 0 is for loopback only
	Delay         time.Duration
	AdaptiveDelay bool          // wait at least 2 × as long as the last response took
	MaxDelay      time.Duration // longest Crawl-delay and adaptive delay; longer ones are cut

	BackoffOn []int // statuses that cause a back-off
	// wait after the first of them; doubled for each further one in a row
	BackoffStart time.Duration
	BackoffMax   time.Duration // longest wait, also for Retry-After

	// AtOnce is the number of requests in flight per host if politeness does not matter: Delay is
	// 0, Resolve is nil and the host has no delay of its own. Otherwise it is one.
	AtOnce int

	// Fetch makes one exchange for a file that is no page, cut after most bytes, and follows no
	// redirect; nil: neither robots.txt nor reservations are fetched.
	Fetch func(ctx context.Context, u weburl.URL, most int64) (*page.Response, error)
	// Robots tunes the cache of robots.txt files; the Gate sets its callbacks. nil: robots.txt is
	// not fetched.
	Robots *robots.Options
	// Barred returns why a URL must not be requested, whatever robots.txt says, or ""; nil: nothing
	// is barred.
	Barred func(u weburl.URL) (reason string)
	// HostDelay returns the configured or ordered delay for the host of u; nil: none.
	HostDelay func(u weburl.URL) time.Duration

	// Resolve returns the IP addresses of a host name without port. nil, as behind a proxy: delays
	// apply to hosts only.
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

// A Visit is how a request ended, as far as it matters for delays.
type Visit struct {
	// the slot was not used, so no delay follows; other fields do not count
	NoRequest  bool
	IP         string        // address that answered, or ""
	Took       time.Duration // from the request to the last byte
	Status     int           // 0: not known; the host's failures stay as they are
	RetryAfter time.Duration // requested by the server (see RetryAfter), or 0
	Err        error         // no response
	CrawlDelay time.Duration // of the host's robots.txt, or 0; negative: the one that Check found
}

// Leases are shared by the nodes of a crawl: one node at a time may send requests to a host and the
// IP address behind it. They must not call the Gate.
type Leases interface {
	// Claim takes the leases of all these names and returns 0, or how long to wait before calling
	// again. Names are hosts, and "ip " with an address.
	Claim(names ...string) (wait time.Duration)
	// Release releases leases that Claim took.
	Release(names ...string)
}

// A Gate decides when a host may get a request. Claim takes the slots of the host and of its IP
// address, Visited releases both and starts the delay. It is safe for concurrent use. Its memory
// grows with the hosts that are waiting, not with those it has seen. It owns one goroutine for each
// running DNS lookup.
type Gate struct {
	options Options
	ctx     context.Context // of the lookups
	cancel  context.CancelFunc
	lookups sync.WaitGroup
	slots   chan struct{} // one token for each running lookup

	leases   Leases        // nil: a crawl by one node
	robots   *robots.Cache // nil: robots.txt is not fetched
	store    Store         // see Keep; nil: nothing is kept
	reserved *lru.Cache[string, reservation]
	asking   singleflight.Group // of reservations, by host

	mu    sync.Mutex
	hosts map[string]*host
	ips   map[netip.Addr]*slot
	sweep int // number of hosts at which idle ones are forgotten

	killed time.Time // when the state of a killed crawl was restored, or zero
	quiet  time.Time // no host gets a request before
}

// A slot is held by one request and free again after its delay. Without a delay several requests
// can hold it.
type slot struct {
	held int       // requests in flight
	next time.Time // end of the delay
}

// A host has a slot of its own within that of its IP address.
type host struct {
	slot
	lookup lookup
	began  time.Time     // of the lookup
	ip     netip.Addr    // or zero: not known
	crawl  time.Duration // last Crawl-delay that was known, or 0
	delay  time.Duration // last delay
	fails  int           // back-off statuses in a row
	errs   int           // errors in a row

	recalled bool // its stored delay was restored
	kept     bool // a delay of it is stored
}

// A lookup is the state of a host's DNS lookup.
type lookup uint8

const (
	unasked lookup = iota
	asking
	asked
)

const (
	keepHosts  = 10_000 // idle hosts that are remembered
	minWait    = 5 * time.Millisecond
	maxPolling = 250 * time.Millisecond
)

// New returns an open Gate, or the error of robots.New. Close it when no
// worker uses it any more.
func New(o Options) (*Gate, error) {
	g := &Gate{
		options: o,
		slots:   make(chan struct{}, max(o.Lookups, 0)),
		hosts:   make(map[string]*host),
		ips:     make(map[netip.Addr]*slot),
		sweep:   keepHosts,
	}
	var err error
	g.reserved, err = lru.New[string, reservation](maxReservations)
	if err != nil {
		return nil, fmt.Errorf("polite: %w", err)
	}
	if o.Robots != nil {
		rules := *o.Robots
		rules.Claim = g.claimOther
		rules.Load = func(site string) []byte { return g.load(robotsName + site) }
		rules.Save = func(site string, data []byte) { g.save(robotsName+site, json.RawMessage(data)) }
		rules.Fetch = func(ctx context.Context, u weburl.URL) (*page.Response, error) {
			return o.Fetch(ctx, u, robots.MaxSize)
		}
		g.robots, err = robots.New(rules)
		if err != nil {
			return nil, err
		}
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g, nil
}

// Close cancels running lookups, waits for them, and ends what Keep began. A second Close does
// nothing.
func (g *Gate) Close() error {
	g.cancel()
	g.lookups.Wait()
	g.mu.Lock()
	last := run{Closed: time.Now().UTC(), IPs: make(map[netip.Addr]time.Time)}
	for addr, t := range g.ips {
		if t.next.After(last.Closed) {
			last.IPs[addr] = t.next.UTC()
		}
	}
	for _, h := range g.hosts {
		if h.held > 0 {
			last.Closed = time.Time{}
		}
	}
	g.mu.Unlock()
	err := g.save(runName, last)
	g.store = nil
	return err
}

// SetDelay changes the delays of Options for the following requests; delays that have begun stay as
// they are.
func (g *Gate) SetDelay(delay time.Duration, adaptive bool, longest time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.options.Delay, g.options.AdaptiveDelay, g.options.MaxDelay = delay, adaptive, longest
}

// SetLeases makes the Gate share its hosts with other nodes. Call it before the first Claim.
func (g *Gate) SetLeases(l Leases) { g.leases = l }

// Claim takes the slot of a host, in the spelling of weburl.URL.Host, and that of its IP address.
// With 0 the caller holds the slot until Visited; otherwise call again after wait, although another
// caller may be faster. The first Claim of a host starts its DNS lookup, so claiming ahead of need
// is useful. A host whose name cannot be resolved is let through: the fetcher will return the
// error.
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
	wait = g.find(name, h, now)
	if wait > 0 {
		return wait
	}
	if ip := g.ips[h.ip]; ip != nil {
		if wait := ip.wait(now, g.options.Delay, atOnce); wait > 0 {
			return wait
		}
	}
	if g.leases != nil {
		wait := g.leases.Claim(leasesOf(name, h)...)
		if wait > 0 {
			return wait
		}
	}
	h.held++
	if h.ip.IsValid() {
		if g.ips[h.ip] == nil {
			g.ips[h.ip] = &slot{}
		}
		g.ips[h.ip].held++
	}
	return 0
}

// leasesOf returns the names of a host's leases.
func leasesOf(name string, h *host) []string {
	if !h.ip.IsValid() {
		return []string{name}
	}
	return []string{name, "ip " + h.ip.String()}
}

// owed returns how long a host with this delay must wait after a killed crawl, which may just have
// sent it a request. Hosts with a stored delay wait for that, see recall; the delays of others come
// from stored robots.txt rules.
func (g *Gate) owed(delay time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed.IsZero() {
		return 0
	}
	return max(0, time.Until(g.killed.Add(min(delay, g.options.MaxDelay))))
}

// wait returns how long the slot is held or its delay lasts, as far as is known.
func (t *slot) wait(now time.Time, least time.Duration, atOnce int) time.Duration {
	if t.held >= atOnce {
		return max(minWait, least)
	}
	return t.next.Sub(now)
}

// rest releases the slot for use after delay, and never earlier than announced before.
func (t *slot) rest(now time.Time, delay time.Duration) {
	t.held--
	if next := now.Add(delay); next.After(t.next) {
		t.next = next
	}
}

// find starts the DNS lookup of h if necessary and returns how long to wait for it.
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
			h.ip = slices.MinFunc(addrs, netip.Addr.Compare).Unmap() // the same choice on all nodes
		}
	})
	return minWait
}

// Visited releases the slot that Claim took and starts the delay.
//
// The host waits for the longest of Delay, Crawl-delay, twice the response time (both up to
// MaxDelay) and, after a status of BackoffOn, Retry-After, or else a back-off that doubles every
// time and ends with a good answer. Errors double the plain delay. The IP address waits for Delay
// or twice the response time.
func (g *Gate) Visited(name string, v Visit) {
	d, keep := g.visited(name, v, time.Now())
	if keep {
		g.save(restName+name, d) // a store that fails ends the crawl at the next visit
	}
}

// visited is Visited but for what is stored.
func (g *Gate) visited(name string, v Visit, now time.Time) (d storedDelay, keep bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	base := g.options.Delay
	if g.options.AdaptiveDelay {
		base = max(base, min(2*v.Took, g.options.MaxDelay))
	}
	h := g.hosts[name]
	if h == nil || h.held == 0 {
		return d, false // no slot was held
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
		return d, false
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
	return g.toStore(h, now)
}

// moved handles an answer from an IP address other than the claimed one.
func (g *Gate) moved(h *host, ip netip.Addr, now time.Time, delay time.Duration) {
	h.ip, h.lookup = ip, asked
	t := g.ips[ip]
	if t == nil {
		t = &slot{}
		g.ips[ip] = t
	}
	if next := now.Add(delay); next.After(t.next) {
		t.next = next
	}
}

// patience counts bad answers in a row and returns the delay that h needs.
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

// forget drops idle hosts and addresses, whenever their number has doubled, and with them their
// failures.
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

// grace is how long failures of h are remembered after its delay.
func grace(h *host) time.Duration {
	if h.fails+h.errs == 0 {
		return 0
	}
	return max(h.delay, time.Minute)
}

// Stats counts hosts by what they are doing, for the status of a crawl.
type Stats struct {
	Hosts   int // remembered
	Asked   int // of them, with a request in flight
	Resting int // waiting for their delay
	Backoff int // of Resting, those backing off
}

// Stats walks all hosts; call it about once a second.
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

// A Rest is the state of one host.
type Rest struct {
	Asked   bool          // a request is in flight
	Wait    time.Duration // until its next slot; 0: now, as far as its own delay goes
	Backoff bool          // it is backing off
}

// Rests returns the state of hosts, in the spelling of weburl.URL.Host.
func (g *Gate) Rests(names ...string) []Rest {
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

// RetryAfter parses a Retry-After header, in seconds or as a date, at the time now. It returns 0 if
// the header is missing, past or invalid.
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
