package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A resolver remembers the addresses of hosts for a while. It asks for a name
// once at a time, and forgets the names that were not used for longest.
type resolver struct {
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	ttl    time.Duration // of answers; failures are kept for failureTTL

	mu    sync.Mutex
	names *simplelru.LRU[string, *answer]
}

const failureTTL = 30 * time.Second

// An answer is a name that was looked up, or is being looked up until ready
// is closed; the fields below ready are written before that.
type answer struct {
	host  string
	ready chan struct{}

	addrs   []netip.Addr
	err     error
	expires time.Time
}

func newResolver(lookup func(context.Context, string) ([]netip.Addr, error), ttl time.Duration, limit int) *resolver {
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761: no server is asked
				return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	names, _ := simplelru.NewLRU[string, *answer](limit, nil) // Options.Validate wants a limit of 1 or more
	return &resolver{lookup: lookup, ttl: ttl, names: names}
}

// addresses returns the addresses of host, at least one, or an error of class
// dns, or the error of ctx.
func (r *resolver) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	for {
		a, mine := r.find(host)
		if mine {
			r.ask(ctx, a)
		}
		select {
		case <-a.ready:
		case <-ctx.Done():
			return nil, classedf(ClassDNS, "look up %s: %w", host, ctx.Err())
		}
		if !mine && a.expires.IsZero() {
			continue // the other lookup ran out of time
		}
		return a.addrs, a.err
	}
}

// find returns the answer for host that is known or under way, or a new one
// that the caller has to ask for.
func (r *resolver) find(host string) (a *answer, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, known := r.names.Get(host); known {
		select {
		case <-a.ready:
			if time.Now().Before(a.expires) {
				return a, false
			}
		default:
			return a, false
		}
	}
	a = &answer{host: host, ready: make(chan struct{})}
	r.names.Add(host, a)
	return a, true
}

func (r *resolver) ask(ctx context.Context, a *answer) {
	defer close(a.ready)
	addrs, err := r.lookup(ctx, a.host)
	switch {
	case err == nil && len(addrs) == 0:
		err = &net.DNSError{Err: "no address", Name: a.host, IsNotFound: true}
		fallthrough
	case err != nil && ctx.Err() == nil:
		a.err = &classed{ClassDNS, err}
		a.expires = time.Now().Add(failureTTL)
	case err != nil: // our context ended: says nothing about the name, expires at once
		a.err = &classed{ClassDNS, fmt.Errorf("look up %s: %w", a.host, ctx.Err())}
	default:
		for _, addr := range addrs[:min(len(addrs), maxAddrs)] {
			a.addrs = append(a.addrs, addr.Unmap())
		}
		a.expires = time.Now().Add(r.ttl)
	}
}

// maxAddrs is how many addresses of one host are remembered and tried.
const maxAddrs = 4
