package polite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// The rests that outlive a process. Turns that are held are written as if they
// ended now, because after a crash nobody knows.
type snapshot struct {
	Version int          `json:"version"`
	Hosts   []hostRecord `json:"hosts"`
	IPs     []ipRecord   `json:"ips"`
}

type hostRecord struct {
	Host  string `json:"host"`
	Next  int64  `json:"next"` // Unix time in milliseconds
	Delay int64  `json:"delay,omitempty"`
	Fails int    `json:"fails,omitempty"`
	Errs  int    `json:"errs,omitempty"`
}

type ipRecord struct {
	IP   netip.Addr `json:"ip"`
	Next int64      `json:"next"`
}

const (
	snapshotVersion = 1
	maxSnapshot     = 100_000 // hosts, and addresses; those with the longest rests
	maxStreak       = 1000    // failures in a row that a snapshot may claim
)

// Snapshot returns the rests and the failures in a row of all hosts and
// addresses that are not free to be asked, as JSON for Restore.
func (g *Gate) Snapshot() ([]byte, error) {
	now := time.Now()
	s := snapshot{Version: snapshotVersion, Hosts: []hostRecord{}, IPs: []ipRecord{}}
	g.mu.Lock()
	for name, h := range g.hosts {
		if next := g.end(&h.turn, now); next.After(now) || h.fails+h.errs > 0 {
			s.Hosts = append(s.Hosts, hostRecord{name, next.UnixMilli(), h.delay.Milliseconds(), h.fails, h.errs})
		}
	}
	for ip, t := range g.ips {
		if next := g.end(t, now); next.After(now) {
			s.IPs = append(s.IPs, ipRecord{ip, next.UnixMilli()})
		}
	}
	g.mu.Unlock()
	slices.SortFunc(s.Hosts, func(a, b hostRecord) int {
		return cmp.Or(cmp.Compare(b.Next, a.Next), cmp.Compare(a.Host, b.Host))
	})
	slices.SortFunc(s.IPs, func(a, b ipRecord) int {
		return cmp.Or(cmp.Compare(b.Next, a.Next), a.IP.Compare(b.IP))
	})
	s.Hosts = s.Hosts[:min(len(s.Hosts), maxSnapshot)]
	s.IPs = s.IPs[:min(len(s.IPs), maxSnapshot)]
	return json.Marshal(s)
}

// end returns when the turn will be free, as far as one can know.
func (g *Gate) end(t *turn, now time.Time) time.Time {
	if t.held > 0 {
		return now.Add(g.options.Delay)
	}
	return t.next
}

// Restore takes over the rests of a Snapshot, before the first Claim. No rest
// becomes longer than BackoffMax from now, whatever the clock did in between.
func (g *Gate) Restore(data []byte) error {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("polite: snapshot: %w", err)
	}
	if s.Version != snapshotVersion {
		return fmt.Errorf("polite: snapshot has version %d; this program reads %d", s.Version, snapshotVersion)
	}
	now := time.Now()
	latest := now.Add(max(g.options.BackoffMax, g.options.MaxDelay, g.options.Delay))
	until := func(ms int64) time.Time {
		next := time.UnixMilli(min(ms, latest.UnixMilli()))
		return now.Add(next.Sub(now)) // on the clock that does not jump
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range s.Hosts[:min(len(s.Hosts), maxSnapshot)] {
		if r.Host == "" {
			continue
		}
		h := &host{fails: streak(r.Fails), errs: streak(r.Errs)}
		h.delay = min(max(0, time.Duration(r.Delay)*time.Millisecond), g.options.BackoffMax)
		h.next = until(r.Next)
		g.hosts[r.Host] = h
	}
	for _, r := range s.IPs[:min(len(s.IPs), maxSnapshot)] {
		if r.IP.IsValid() {
			g.ips[r.IP] = &turn{next: until(r.Next)}
		}
	}
	g.sweep = max(keepHosts, 2*len(g.hosts))
	return nil
}

func streak(n int) int { return min(max(n, 0), maxStreak) }
