package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Leases keep a whole cluster polite (polite.Leases): a host, and the IP address
// behind it, is fetched from by one node at a time, under a lease in JetStream. A
// node begins no request when half of the lease has passed, so that one that was
// cut off cannot meet its successor; between two nodes a host rests for
// Options.Rest. They are safe for concurrent use.
type Leases struct {
	n     *Node
	slots chan struct{} // one for each lease that is being requested

	mu     sync.Mutex
	leases map[string]*lease // by name
}

// A lease is this node's state of one name.
type lease struct {
	requesting bool
	held       bool
	revision   uint64
	until      time.Time // by our clock: its end, unless it is renewed
	since      time.Time // when it was taken
	rest       time.Time // no request before this
	again      time.Time // held by another node: when to try again
	used       time.Time
	busy       int // requests under way
}

// A holder is the value of a key of the bucket of hosts.
type holder struct {
	Node     string `json:"node"`
	Instance string `json:"instance"`
	Free     bool   `json:"free,omitempty"` // released: the next holder waits for the host's delay
}

const (
	retryAsked = 50 * time.Millisecond  // while a lease is being requested
	retryHeld  = 500 * time.Millisecond // while another node has it
	// longest is how long a node may keep an IP address that it uses all the time, so that other
	// nodes get a turn.
	longest = 10 * time.Second
)

// Leases returns the leases of this node.
func (n *Node) Leases() *Leases {
	g := &Leases{n: n, slots: make(chan struct{}, 32), leases: map[string]*lease{}}
	n.leases.Store(g)
	n.spawn(g.sweep)
	return g
}

// keyOf is the key of a lease in the bucket of hosts.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Claim takes the leases of all these names, as of a host and its address, or returns how long to
// wait before the next try. Names of addresses begin with "ip ".
func (g *Leases) Claim(names ...string) (wait time.Duration) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		wait = max(wait, g.ready(name, now))
	}
	if wait > 0 {
		return wait
	}
	for _, name := range names {
		g.leases[name].busy++
	}
	return 0
}

// Release ends the use of leases that Claim gave.
func (g *Leases) Release(names ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, name := range names {
		if l := g.leases[name]; l != nil {
			l.busy = max(l.busy-1, 0)
			l.used = time.Now()
		}
	}
}

// ready returns how long until a lease may be used; 0: now. The caller holds g.mu.
func (g *Leases) ready(name string, now time.Time) time.Duration {
	l := g.leases[name]
	if l == nil {
		l = &lease{}
		g.leases[name] = l
	}
	half := l.until.Add(-g.n.o.Lease / 2)
	switch {
	case !l.held && now.Before(l.again):
		return l.again.Sub(now)
	case !l.held || !now.Before(half): // an answer could come after the lease has ended
		g.request(name, l)
		return retryAsked
	}
	if now.After(half.Add(-g.n.o.Lease / 4)) {
		g.request(name, l) // renew it beside
	}
	l.used = now
	return max(l.rest.Sub(now), 0)
}

// request requests a lease, or renews it, without waiting. The caller holds g.mu.
func (g *Leases) request(name string, l *lease) {
	if l.requesting {
		return
	}
	select {
	case g.slots <- struct{}{}:
	default:
		return // many are under way; the next Claim tries again
	}
	l.requesting = true
	held, revision := l.held, l.revision
	g.n.spawn(func(ctx context.Context) {
		defer func() { <-g.slots }()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		revision, before, err := g.take(ctx, keyOf(name), held, revision)
		if err == nil && !held && g.n.stable() {
			err = g.n.catchUp(ctx, time.Now())
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		l.requesting = false
		switch {
		case err == nil:
			if !l.held {
				l.since, l.used = begun, begun
				if before {
					l.rest = time.Now().Add(g.n.o.Rest)
				}
			}
			l.held, l.revision, l.until = true, revision, begun.Add(g.n.o.Lease)
		case errors.Is(err, errHeld) || !l.held || !time.Now().Before(l.until):
			l.held, l.again = false, time.Now().Add(retryHeld)
		} // without a server, leases are kept until they end
	})
}

// errHeld means that another node holds the lease.
var errHeld = errors.New("held by another node")

// take writes the node's name into a key. before: another node held it, so the host's delay
// applies.
func (g *Leases) take(ctx context.Context, key string, held bool, revision uint64) (
	now uint64, before bool, err error) {
	us := holder{Node: g.n.o.Name, Instance: g.n.instance}
	if !held {
		now, err = save(ctx, g.n.hosts, key, us, 0)
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return now, false, err
		}
		var h holder
		h, revision, err = load[holder](ctx, g.n.hosts, key)
		if err != nil {
			return 0, false, err
		}
		if !h.Free && h.Instance != g.n.instance {
			return 0, false, errHeld
		}
	}
	now, err = save(ctx, g.n.hosts, key, us, revision)
	if isConflict(err) {
		err = errHeld
	}
	return now, true, err
}

// sweep releases what was not used for a while, and addresses that were used
// for long.
func (g *Leases) sweep(ctx context.Context) {
	for sleep(ctx, g.n.o.Heartbeat) {
		stale := g.stale(time.Now(), max(3*g.n.o.Rest, 4*g.n.o.Heartbeat))
		if len(stale) > 0 && g.n.stable() {
			// The next holder must know what we have visited. If that cannot be published, the leases expire.
			err := g.n.publishVisits(ctx)
			if err != nil {
				continue
			}
		}
		g.returnStale(ctx, stale)
	}
}

// returnStale releases leases, by name with their revisions. Where that fails they expire.
func (g *Leases) returnStale(ctx context.Context, stale map[string]uint64) {
	for name, revision := range stale {
		give, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, err := save(give, g.n.hosts, keyOf(name), holder{Free: true}, revision)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !isConflict(err):
			g.n.o.Log("cluster: release a host: %v", err)
		}
	}
}

// stale removes leases unused for that long from the table, and returns those to be released with
// their revisions.
func (g *Leases) stale(now time.Time, unused time.Duration) map[string]uint64 {
	stale := map[string]uint64{}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, l := range g.leases {
		switch {
		case l.busy > 0 || l.requesting:
		case !l.held:
			if now.Sub(l.again) > unused {
				delete(g.leases, name)
			}
		case now.Sub(l.used) > unused, strings.HasPrefix(name, "ip ") && now.Sub(l.since) > longest:
			stale[name] = l.revision
			delete(g.leases, name)
		}
	}
	return stale
}
