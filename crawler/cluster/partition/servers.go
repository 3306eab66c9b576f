package partition

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"gazehound/internal/recent"
)

// servers remembers the addresses of hosts. A host that has none is looked up again.
type servers struct {
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	mu      sync.Mutex
	known   recent.Map[string, netip.Addr]
}

const maxServers = 1 << 17

// Servers returns what finds the address of a host by a resolver, and remembers it. It is for
// Options.Resolve.
func Servers(ctx context.Context, resolve func(ctx context.Context, host string) ([]netip.Addr, error),
) func(host string) (netip.Addr, bool) {
	s := &servers{resolve: resolve, known: recent.Map[string, netip.Addr]{Most: maxServers}}
	return func(host string) (netip.Addr, bool) { return s.of(ctx, host) }
}

func (s *servers) of(ctx context.Context, host string) (netip.Addr, bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	s.mu.Lock()
	a, known := s.known.Get(host)
	s.mu.Unlock()
	if known {
		return a, a.IsValid()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addrs, err := s.resolve(ctx, host)
	a, ok := Lowest(addrs)
	if ctx.Err() != nil || !ok && err != nil && !isGone(err) {
		return a, false // it may have one another time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Put(host, a)
	return a, ok
}

// isGone says that a name server answered that there is no such host.
func isGone(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
