package api

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// The number of clients remembered, and the rates and bursts of the removal form for one client and
// for all.
const (
	maxClients     = 4096
	clientForms    = 5
	clientFormRate = 1. / (10 * 60) // a second
	allForms       = 20
	allFormRate    = 1. / 6
	burstSeconds   = 4 // of requests and bytes that may come at once
)

// A client is an IPv4 address or a /64 of IPv6, with its limiters. Clients on this machine are
// limited by the forms only.
type client struct {
	requests, bytes, forms, suggestions *rate.Limiter
}

// admits reports whether a request of the client may be answered now.
func (c *client) admits() bool { return c.bytes.Tokens() > 0 && c.requests.Allow() }

// received counts n bytes sent to the client. Its debt is bounded by the burst, so that a long
// export does not block it for hours.
func (c *client) received(n int) {
	if c.bytes.Tokens() > -float64(c.bytes.Burst()) {
		c.bytes.ReserveN(time.Now(), min(n, c.bytes.Burst()))
	}
}

// clients is an LRU cache of clients.
type clients struct {
	o                  Options
	proxies            []netip.Prefix
	known              *lru.Cache[netip.Addr, *client]
	forms, suggestions *rate.Limiter // of all clients
}

func newClients(o Options) *clients {
	known, _ := lru.New[netip.Addr, *client](maxClients) // fails for sizes below 1
	proxies, _ := networks(o.TrustedProxies)             // Validate has checked them
	return &clients{o: o, proxies: proxies, known: known, forms: rate.NewLimiter(allFormRate, allForms),
		suggestions: rate.NewLimiter(allSuggestionRate, allSuggestions)}
}

// limiter returns a limiter that lets so many through a second; 0: any number.
func limiter(perSecond float64) *rate.Limiter {
	if perSecond == 0 {
		return rate.NewLimiter(rate.Inf, math.MaxInt32)
	}
	return rate.NewLimiter(rate.Limit(perSecond), int(math.Ceil(burstSeconds*perSecond)))
}

// of returns the client of a request, new or known.
func (c *clients) of(r *http.Request) *client {
	a := c.address(r)
	if known, ok := c.known.Get(a); ok {
		return known
	}
	fresh := &client{limiter(c.o.Rate), limiter(float64(c.o.Bandwidth)), rate.NewLimiter(clientFormRate, clientForms),
		rate.NewLimiter(clientSuggestionRate, clientSuggestions)}
	if a.IsLoopback() || !a.IsValid() {
		fresh.requests, fresh.bytes = limiter(0), limiter(0)
	}
	if known, ok, _ := c.known.PeekOrAdd(a, fresh); ok {
		return known
	}
	return fresh
}

// address returns the address of the client of a request: of the connection or, where
// that is a trusted proxy's, the last one of X-Forwarded-For that is none.
func (c *clients) address(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	a := connection.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !slices.ContainsFunc(c.proxies, func(p netip.Prefix) bool { return p.Contains(a) }) {
			break
		}
		from, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		a = from.Unmap().WithZone("")
	}
	if a.Is6() && !a.IsLoopback() {
		p, _ := a.Prefix(64) // 64 is a length that fits
		a = p.Addr()
	}
	return a
}

// networks reads addresses and networks.
func networks(list []string) (all []netip.Prefix, err error) {
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if a, err2 := netip.ParseAddr(text); err != nil && err2 == nil {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("api: trusted proxy %q is neither an address such as 10.0.0.1 "+
				"nor a network such as 10.0.0.0/8", text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// hostAllowed reports whether the Host of a request is one of this server's. Otherwise a foreign
// page whose name was bound to our address (DNS rebinding) could read answers meant for this
// machine only.
func (s *server) hostAllowed(r *http.Request) bool {
	if !s.Loopback {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(s.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
