package api

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/time/rate"
)

// clients count the requests of each client, which is an IPv4 address or a /64
// of IPv6. They remember at most two generations of maxClients: when the
// young one is full it becomes the old one, and the old one is forgotten.
type clients struct {
	mu         sync.Mutex
	rate       rate.Limit
	burst      int
	young, old map[netip.Addr]*rate.Limiter
}

const maxClients = 4096

func newClients(perSecond float64) *clients {
	return &clients{rate: rate.Limit(perSecond), burst: int(math.Ceil(4 * perSecond)), young: map[netip.Addr]*rate.Limiter{}}
}

// allow tells whether a request of this remote address may be answered now.
// Programs of this machine always may.
func (c *clients) allow(remote string) bool {
	if c.rate <= 0 {
		return true
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return true
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return true
	}
	if a = a.Unmap().WithZone(""); a.IsLoopback() {
		return true
	}
	if a.Is6() {
		p, _ := a.Prefix(64) // 64 is a length that fits
		a = p.Addr()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.young[a]
	if !ok {
		if l, ok = c.old[a]; !ok {
			l = rate.NewLimiter(c.rate, c.burst)
		}
		if len(c.young) >= maxClients {
			c.young, c.old = map[netip.Addr]*rate.Limiter{}, c.young
		}
		c.young[a] = l
	}
	return l.Allow()
}

// hostAllowed tells whether a request names a host that this server answers
// for. A page of a stranger whose name was bound to our address would
// otherwise read what is only for this machine.
func (s *server) hostAllowed(r *http.Request) bool {
	if !s.Loopback {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	for _, name := range s.Hosts {
		if strings.EqualFold(name, host) {
			return true
		}
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
