package order

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"sync"

	"gazehound/crawler/weburl"
	"gazehound/internal/recent"
)

// News counts how often pages of a host, or of a part of it (the first segment of the path), state
// an address that no page of that host stated before. Addresses known from other hosts count as
// new: a directory that repeats the addresses of a town's sites is no footer. News is safe for
// concurrent use, and its memory is bounded; the least recently used is forgotten. A nil News knows
// nothing.
type News struct {
	mu        sync.RWMutex
	addresses recent.Map[uint64, struct{}] // of hosts
	yields    recent.Map[uint64, yield]    // hosts and parts
}

// A yield counts the pages with an address, and those of them with a new one.
type yield struct{ pages, fresh uint32 }

// Bounds of a News.
const (
	maxKnown  = 1 << 18 // addresses of hosts
	maxYields = 1 << 17 // hosts and parts
)

// benefit is the number of pages with a new address that every host or part starts with
// (Laplace-like smoothing).
const benefit = 4

// NewNews returns an empty News.
func NewNews() *News {
	return &News{addresses: recent.Map[uint64, struct{}]{Most: maxKnown},
		yields: recent.Map[uint64, yield]{Most: maxYields}}
}

// NewsOf returns the News of s, or nil.
func NewsOf(s Strategy) *News {
	l, _ := s.(Lookahead)
	return l.News
}

// Observe counts a visited page with the ids of its addresses; pages without addresses are ignored.
func (n *News) Observe(u weburl.URL, addresses []string) {
	if n == nil || len(addresses) == 0 {
		return
	}
	host, part := hostAndPart(u)
	n.mu.Lock()
	defer n.mu.Unlock()
	fresh := uint32(0)
	for _, a := range addresses {
		key := addressOf(host, a)
		if _, known := n.addresses.Get(key); !known {
			fresh = 1
		}
		n.addresses.Put(key, struct{}{})
	}
	for _, of := range []uint64{host, part} {
		y, _ := n.yields.Get(of)
		n.yields.Put(of, yield{y.pages + 1, y.fresh + fresh})
	}
}

// Fresh returns how likely a page with addresses at u states a new one, by the rate of its host or
// its part, whichever is higher: in (0, 1], 1 if nothing is known.
func (n *News) Fresh(u weburl.URL) float64 {
	if n == nil {
		return 1
	}
	host, part := hostAndPart(u)
	n.mu.RLock()
	defer n.mu.RUnlock()
	best := 0.0
	for _, of := range []uint64{host, part} {
		y, _ := n.yields.Get(of)
		best = max(best, float64(y.fresh+benefit)/float64(y.pages+benefit))
	}
	return best
}

// hostAndPart returns the keys of the host of u and of its part.
func hostAndPart(u weburl.URL) (host, part uint64) {
	path := strings.TrimPrefix(u.Path(), "/")
	first, _, deep := strings.Cut(path, "/")
	if !deep {
		first = "" // a page of the root
	}
	h := fnv.New64a()
	io.WriteString(h, u.Host())
	host = h.Sum64()
	io.WriteString(h, "/")
	io.WriteString(h, first)
	return host, h.Sum64()
}

// addressOf returns the key of an address of a host.
func addressOf(host uint64, address string) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, host))
	io.WriteString(h, address)
	return h.Sum64()
}

// A newsRecord is the form of a Snapshot, the most recently used last.
type newsRecord struct {
	Addresses []uint64    `json:"addresses"`
	Yields    [][3]uint64 `json:"yields"` // key, pages, fresh
}

// Snapshot returns what was seen, for Restore.
func (n *News) Snapshot() ([]byte, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var r newsRecord
	for key := range recent.Sorted(&n.addresses) {
		r.Addresses = append(r.Addresses, key)
	}
	for key, y := range recent.Sorted(&n.yields) {
		r.Yields = append(r.Yields, [3]uint64{key, uint64(y.pages), uint64(y.fresh)})
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("strategy: news: %w", err)
	}
	return data, nil
}

// Restore replaces the state with that of a Snapshot; nil is the empty state. An error leaves it
// unchanged.
func (n *News) Restore(data []byte) error {
	var r newsRecord
	if data != nil {
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("strategy: restore news: %w", err)
		}
	}
	fresh := NewNews()
	for _, key := range r.Addresses {
		fresh.addresses.Put(key, struct{}{})
	}
	for _, p := range r.Yields {
		fresh.yields.Put(p[0], yield{uint32(p[1]), uint32(p[2])})
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addresses, n.yields = fresh.addresses, fresh.yields
	return nil
}
