package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Leases keep a whole cluster polite (polite.Leases): a host, and the IP address behind it,
// is asked by one node at a time, under a lease in JetStream. A node asks
// nobody whose lease may run out before the answer comes, so that one that was
// cut off cannot meet its successor; between two nodes a host rests for
// Options.Rest. They are safe for concurrent use.
type Leases struct {
	n       *Node
	resolve func(ctx context.Context, host string) ([]netip.Addr, error) // nil: only hosts count
	slots   chan struct{}                                                // one for each lease that is being asked for

	mu     sync.Mutex
	leases map[string]*lease // by key
	ip     map[string]string // host → key of its address's lease, or ""
}

// A lease is what we know of one key of the bucket of hosts.
type lease struct {
	asking   bool
	held     bool
	revision uint64
	until    time.Time // by our clock: the end, if nobody renews it
	since    time.Time // when it was taken
	rest     time.Time // no request before this
	again    time.Time // not ours: when to ask again
	used     time.Time
	busy     int // requests under way
}

// A holder is the value of a key of the bucket of hosts.
type holder struct {
	Node     string `json:"node"`
	Instance string `json:"instance"`
	Free     bool   `json:"free,omitempty"` // given back: whoever takes it lets the host rest
}

const (
	asking  = 50 * time.Millisecond
	refused = 500 * time.Millisecond
	// longest is how long a node that needs an address all the time keeps it
	// before others have a chance.
	longest = 10 * time.Second
)

// Leases returns those of this node. resolve finds the addresses of a host; nil,
// behind a proxy: only hosts count.
func (n *Node) Leases(resolve func(ctx context.Context, host string) ([]netip.Addr, error)) *Leases {
	g := &Leases{n: n, resolve: resolve, slots: make(chan struct{}, 32), leases: map[string]*lease{}, ip: map[string]string{}}
	n.mu.Lock()
	n.leases = g
	n.mu.Unlock()
	n.spawn(g.sweep)
	return g
}

func keyOf(kind, name string) string {
	sum := sha256.Sum256([]byte(name))
	return kind + "." + hex.EncodeToString(sum[:16])
}

// Claim takes the lease of a host and of its address, or says how long to wait
// before asking again.
func (g *Leases) Claim(host string) (wait time.Duration) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := []string{keyOf("host", host)}
	if g.resolve != nil {
		ip, known := g.ip[host]
		if !known {
			g.ask(keys[0], host)
			return asking
		}
		if ip != "" {
			keys = append(keys, ip)
		}
	}
	for _, k := range keys {
		wait = max(wait, g.ready(k, host, now))
	}
	if wait > 0 {
		return wait
	}
	for _, k := range keys {
		g.leases[k].busy++
	}
	return 0
}

// Release ends the use of a lease.
func (g *Leases) Release(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := []string{keyOf("host", host)}
	if ip := g.ip[host]; ip != "" {
		keys = append(keys, ip)
	}
	for _, k := range keys {
		if l := g.leases[k]; l != nil {
			l.busy = max(l.busy-1, 0)
			l.used = time.Now()
		}
	}
}

// ready says how long until a key may be used; 0: now. g.mu is held.
func (g *Leases) ready(key, host string, now time.Time) time.Duration {
	l := g.leases[key]
	switch {
	case l == nil:
		g.ask(key, host)
		return asking
	case !l.held && l.asking:
		return asking
	case !l.held && now.Before(l.again):
		return l.again.Sub(now)
	case !l.held || !now.Before(l.until.Add(-g.n.o.Lease/2)): // too late for an answer to come
		g.ask(key, host)
		return asking
	}
	if now.After(l.until.Add(-g.n.o.Lease * 3 / 4)) {
		g.ask(key, host) // renew it beside
	}
	l.used = now
	return max(l.rest.Sub(now), 0)
}

// ask asks for a lease, or renews it, without waiting. g.mu is held.
func (g *Leases) ask(key, host string) {
	l := g.leases[key]
	if l == nil {
		l = &lease{}
		g.leases[key] = l
	}
	if l.asking {
		return
	}
	select {
	case g.slots <- struct{}{}:
	default:
		return // many are under way; the next Claim asks again
	}
	l.asking = true
	held, revision := l.held, l.revision
	g.n.spawn(func(ctx context.Context) {
		defer func() { <-g.slots }()
		if err := g.lookUp(ctx, host); err != nil && ctx.Err() == nil {
			g.n.o.Log("cluster: address of %q: %v", host, err)
		}
		begun := time.Now()
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		revision, was, err := g.take(ctx, key, held, revision)
		if err == nil && !held && g.n.stable() {
			err = g.n.catchUp(ctx, time.Now())
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		l.asking = false
		switch {
		case err == nil:
			if !l.held {
				l.since, l.used = begun, begun
				if was {
					l.rest = time.Now().Add(g.n.o.Rest)
				}
			}
			l.held, l.revision, l.until = true, revision, begun.Add(g.n.o.Lease)
		case errors.Is(err, errHeld):
			l.held, l.again = false, time.Now().Add(refused)
		default: // no server: what we hold we hold until it ends
			if !l.held || !time.Now().Before(l.until) {
				l.held, l.again = false, time.Now().Add(refused)
			}
		}
	})
}

// lookUp finds the key of the address of a host, once.
func (g *Leases) lookUp(ctx context.Context, host string) error {
	g.mu.Lock()
	_, known := g.ip[host]
	g.mu.Unlock()
	if g.resolve == nil || known {
		return nil
	}
	key := ""
	if addr, err := g.address(ctx, host); err == nil {
		key = keyOf("ip", addr.Unmap().String())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.ip) > 100_000 {
		for h := range g.ip { // any: it is looked up again
			if l := g.leases[keyOf("host", h)]; l == nil || l.busy == 0 {
				delete(g.ip, h)
			}
			if len(g.ip) <= 50_000 {
				break
			}
		}
	}
	g.ip[host] = key
	return nil // a host without an address fails when it is asked
}

// address returns the address of a host, which may have a port: of several the
// lowest, so that all nodes take the same.
func (g *Leases) address(ctx context.Context, host string) (netip.Addr, error) {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	addrs, err := g.resolve(ctx, host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("no address")
	}
	if err != nil {
		return netip.Addr{}, err
	}
	return slices.MinFunc(addrs, netip.Addr.Compare), nil
}

// errHeld says that another node has the lease.
var errHeld = errors.New("held by another node")

// take writes the node's name into a key: was says that somebody had it
// before, so that it must rest.
func (g *Leases) take(ctx context.Context, key string, held bool, revision uint64) (now uint64, was bool, err error) {
	raw, err := json.Marshal(holder{Node: g.n.o.Name, Instance: g.n.instance})
	if err != nil {
		return 0, false, err
	}
	if held {
		now, err = g.n.hosts.Update(ctx, key, raw, revision)
		if isConflict(err) {
			return 0, false, errHeld
		}
		return now, true, err
	}
	now, err = g.n.hosts.Create(ctx, key, raw)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return now, false, err
	}
	entry, err := g.n.hosts.Get(ctx, key)
	if err != nil {
		return 0, false, err
	}
	var h holder
	if err := json.Unmarshal(entry.Value(), &h); err != nil {
		return 0, false, fmt.Errorf("lease: %w", err)
	}
	if !h.Free && h.Instance != g.n.instance {
		return 0, false, errHeld
	}
	now, err = g.n.hosts.Update(ctx, key, raw, entry.Revision())
	if isConflict(err) {
		err = errHeld
	}
	return now, true, err
}

// sweep gives back what was not used for a while, and addresses that were
// used for long.
func (g *Leases) sweep(ctx context.Context) {
	t := time.NewTicker(g.n.o.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			stale := g.stale(now, max(3*g.n.o.Rest, 4*g.n.o.Heartbeat))
			if len(stale) > 0 && g.n.stable() {
				// Whoever has them next must know what we have visited. If that
				// cannot be said they run out instead.
				if err := g.n.publishVisits(ctx); err != nil {
					continue
				}
			}
			g.giveBack(ctx, stale)
		}
	}
}

// giveBack lets other nodes have leases, with their revisions. What fails runs out.
func (g *Leases) giveBack(ctx context.Context, stale map[string]uint64) {
	raw, _ := json.Marshal(holder{Free: true})
	for key, revision := range stale {
		give, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := g.n.hosts.Update(give, key, raw, revision)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !isConflict(err):
			g.n.o.Log("cluster: give a host back: %v", err)
		}
	}
}

// stale takes the leases that are to be given back, because they were not used
// for so long, out of the table.
func (g *Leases) stale(now time.Time, unused time.Duration) map[string]uint64 {
	back := map[string]uint64{}
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, l := range g.leases {
		switch {
		case l.busy > 0 || l.asking:
		case !l.held:
			if now.Sub(l.again) > unused {
				delete(g.leases, key)
			}
		case now.Sub(l.used) > unused, key[0] == 'i' && now.Sub(l.since) > longest:
			back[key] = l.revision
			delete(g.leases, key)
		}
	}
	return back
}
