// Package sitewide learns which addresses are on most pages of a host, as in a footer. The first
// page with such an address is news; the thousandth is not.
package sitewide

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strings"
	"sync"
)

// An address is site-wide if at least minPages pages of the host state it, and more than half of
// all fetched. Addresses in footers need one page less.
const (
	leastPages       = 3
	leastFooterPages = 2
)

// Bounds of the memory.
const (
	maxHosts     = 50_000
	maxAddresses = 64 // of a host; the least frequent are forgotten
)

// A Mention is an address of a page.
type Mention struct {
	Key    string // geoparse.Address.Key
	Footer bool   // it is in the page's footer only
}

// A Counter counts the pages of each host, and those that state an address. It is safe for
// concurrent use. Its memory is bounded; beyond the bounds, hosts are forgotten and counted anew.
type Counter struct {
	mu    sync.Mutex
	hosts map[string]*host
}

type host struct {
	Pages     int            `json:"p"`
	Addresses map[uint64]int `json:"a,omitempty"` // hash of Mention.Key → pages that state it
}

// New returns an empty Counter.
func New() *Counter { return &Counter{hosts: map[string]*host{}} }

// Observe counts a page of the host with its distinct addresses, and returns for each whether it is
// site-wide by all pages so far, this one included. counted: the page was counted before and does
// not count again.
func (c *Counter) Observe(name string, addresses []Mention, counted bool) []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hosts[name]
	if h == nil {
		if len(c.hosts) >= maxHosts {
			c.forget()
		}
		h = &host{Addresses: map[uint64]int{}}
		c.hosts[strings.Clone(name)] = h
	}
	if !counted {
		h.Pages++
	}
	wide := make([]bool, len(addresses))
	for i, a := range addresses {
		key := hash(a.Key)
		if !counted {
			h.count(key)
		}
		least := leastPages
		if a.Footer {
			least = leastFooterPages
		}
		pages := h.Addresses[key]
		wide[i] = pages >= least && 2*pages > h.Pages
	}
	return wide
}

func hash(key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(key))
	return h.Sum64()
}

// count adds a page to the address. If there are too many addresses, those stated by one page go,
// then those by two, and so on; a footer's address soon has more.
func (h *host) count(key uint64) {
	if h.Addresses[key] == 0 {
		for least := 1; len(h.Addresses) >= maxAddresses; least++ {
			maps.DeleteFunc(h.Addresses, func(_ uint64, pages int) bool { return pages <= least })
		}
	}
	h.Addresses[key]++
}

// forget makes room for a host: it drops one without an address, else any.
func (c *Counter) forget() {
	tried := 0
	for name, h := range c.hosts {
		tried++
		if len(h.Addresses) == 0 || tried == 100 {
			delete(c.hosts, name)
			return
		}
	}
	for name := range c.hosts {
		delete(c.hosts, name)
		return
	}
}

// Snapshot returns what was counted, for Restore.
func (c *Counter) Snapshot() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, err := json.Marshal(c.hosts)
	if err != nil {
		return nil, fmt.Errorf("sitewide: %w", err)
	}
	return data, nil
}

// Restore replaces the state with that of a Snapshot. An error leaves it unchanged.
func (c *Counter) Restore(data []byte) error {
	var hosts map[string]*host
	if err := json.Unmarshal(data, &hosts); err != nil {
		return fmt.Errorf("sitewide: restore: %w", err)
	}
	for _, h := range hosts {
		if h.Addresses == nil {
			h.Addresses = map[uint64]int{}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if hosts != nil {
		c.hosts = hosts
	}
	return nil
}
