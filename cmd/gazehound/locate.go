package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"gazehound/crawler/cluster/partition"
)

// locate lets the partition ip find the cities of servers, by cluster.ip_file
// and the resolver of the crawl. Other partitions need none.
func locate(ctx context.Context, cfg *Config, o *partition.Options, resolve func(ctx context.Context, host string) ([]netip.Addr, error)) (done func(), err error) {
	switch {
	case cfg.Cluster.IPFile == "":
		return func() {}, nil // partition.New says what is missing
	case resolve == nil:
		return nil, fail(exitUsage, "the partition ip asks name servers, which a crawl behind a proxy or of recorded pages does not")
	}
	file, err := partition.OpenMaxMind(cfg.Cluster.IPFile)
	if err != nil {
		return nil, fail(exitInvalidInput, "--ip-file: %w", err)
	}
	s := &servers{resolve: resolve, now: map[string]netip.Addr{}}
	o.Locate = file.Locate
	o.Resolve = func(host string) (netip.Addr, bool) { return s.of(ctx, host) }
	return func() { file.Close() }, nil // read only
}

// servers remembers the addresses of hosts, in two generations of at most
// maxServers. A host that has none is asked for again.
type servers struct {
	resolve  func(ctx context.Context, host string) ([]netip.Addr, error)
	mu       sync.Mutex
	now, was map[string]netip.Addr
}

const maxServers = 1 << 16

func (s *servers) of(ctx context.Context, host string) (netip.Addr, bool) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	s.mu.Lock()
	a, known := s.now[host]
	if !known {
		a, known = s.was[host]
	}
	s.mu.Unlock()
	if known {
		return a, a.IsValid()
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	addrs, err := s.resolve(ctx, host)
	a, ok := partition.Lowest(addrs)
	if ctx.Err() != nil || !ok && err != nil && !isGone(err) {
		return a, false // it may have one another time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now) >= maxServers {
		s.now, s.was = map[string]netip.Addr{}, s.now
	}
	s.now[host] = a
	return a, ok
}

// isGone says that a name server answered that there is no such host.
func isGone(err error) bool {
	var dns *net.DNSError
	return errors.As(err, &dns) && dns.IsNotFound
}
