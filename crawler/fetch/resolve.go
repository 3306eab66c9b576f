package fetch

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"
)

// A resolver is an LRU cache of the addresses of hosts. Concurrent look-ups of a name share one
// request.
type resolver struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	ttl    time.Duration      // of answers; failures have failureTTL
	asking singleflight.Group // by name

	mu    sync.Mutex
	names *simplelru.LRU[string, answer]
}

const failureTTL = 30 * time.Second

// An answer is the result of a lookup.
type answer struct {
	addrs   []netip.Addr
	err     error
	expires time.Time
}

func newResolver(lookup func(context.Context, string) ([]netip.Addr, error), ttl time.Duration, limit int) *resolver {
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			// RFC 6761: needs no server
			if host == "localhost" || strings.HasSuffix(host, ".localhost") {
				return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	// Options.Validate requires a limit of at least 1
	names, _ := simplelru.NewLRU[string, answer](limit, nil)
	return &resolver{lookup: lookup, ttl: ttl, names: names}
}

// addresses returns the addresses of host, at least one, or an error of class
// dns, or the error of ctx.
func (r *resolver) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	for ctx.Err() == nil {
		r.mu.Lock()
		a, known := r.names.Get(host)
		r.mu.Unlock()
		if known && time.Now().Before(a.expires) {
			return a.addrs, a.err
		}
		asked := r.asking.DoChan(host, func() (any, error) { return r.ask(ctx, host), nil })
		select {
		case result := <-asked:
			if a := result.Val.(answer); !a.expires.IsZero() {
				return a.addrs, a.err
			}
		case <-ctx.Done():
		}
	}
	return nil, classedf(ClassDNS, "look up %s: %w", host, ctx.Err())
}

// ask looks up a name and caches the answer. The answer is zero and not cached if ctx ended.
func (r *resolver) ask(ctx context.Context, host string) (a answer) {
	addrs, err := r.lookup(ctx, host)
	a.expires = time.Now().Add(r.ttl)
	switch {
	case err != nil && ctx.Err() != nil:
		return answer{}
	case err == nil && len(addrs) == 0:
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
		fallthrough
	case err != nil:
		a.err, a.expires = &classed{ClassDNS, err}, time.Now().Add(failureTTL)
	}
	for _, addr := range addrs[:min(len(addrs), maxAddrs)] {
		a.addrs = append(a.addrs, addr.Unmap())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names.Add(host, a)
	return a
}

// maxAddrs is how many addresses of one host are remembered and tried.
const maxAddrs = 4
