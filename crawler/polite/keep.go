package polite

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// A Store keeps values by name, as the crawl tree does. Its methods may not call the Gate.
type Store interface {
	Meta(name string) ([]byte, error) // nil: there is none
	PutMeta(name string, value []byte) error
}

// A storedDelay is the delay of a host. Those longer than Options.Delay are stored as they begin, so
// that a killed crawl forgets no back-off.
type storedDelay struct {
	At    time.Time     `json:"at"`    // when it was stored
	Until time.Time     `json:"until"` // end of the delay
	Delay time.Duration `json:"delay_ns"`
	Fails int           `json:"fails,omitzero"`
	Errs  int           `json:"errs,omitzero"`
}

// A run is the stored state of the last Gate.
type run struct {
	Closed time.Time                `json:"closed,omitzero"` // no request was in flight; zero: it was killed
	IPs    map[netip.Addr]time.Time `json:"ips,omitempty"`   // ends of the delays of IP addresses
}

const (
	runName    = "rests"
	restName   = "rest "   // and a host
	robotsName = "robots " // and a site
	maxFails   = 1000      // failures in a row that are restored
)

// Keep restores delays and robots.txt rules that another Gate stored, before the first Claim, and
// stores those of g until Close. No delay becomes longer, whatever the clock did in between. The
// delay of a host is restored by its first Check, those of IP addresses only if that Gate was
// closed. After a crash, which may have interrupted requests, every host waits for Options.Delay or
// its own longer delay.
func (g *Gate) Keep(s Store) error {
	data, err := s.Meta(runName)
	var last run
	if err == nil && data != nil {
		err = json.Unmarshal(data, &last)
	}
	if err != nil {
		return fmt.Errorf("polite: %w", err)
	}
	g.mu.Lock()
	g.store = s
	now, delay := time.Now(), g.options.Delay
	switch {
	case data == nil: // the first run
	case last.Closed.IsZero():
		g.killed, g.quiet = now, now.Add(delay)
	default:
		g.quiet = now.Add(min(last.Closed.Add(delay).Sub(now), delay))
		for addr, until := range last.IPs {
			left := min(until.Sub(now), until.Sub(last.Closed), max(delay, g.options.MaxDelay))
			g.ips[addr] = &slot{next: now.Add(left)}
		}
	}
	g.mu.Unlock()
	return g.save(runName, run{})
}

// load returns a stored value; nil where there is none, or it cannot be read.
func (g *Gate) load(name string) (data []byte) {
	if g.store != nil {
		data, _ = g.store.Meta(name)
	}
	return data
}

// save stores a value, unless nothing is kept.
func (g *Gate) save(name string, v any) error {
	if g.store == nil {
		return nil
	}
	data, err := json.Marshal(v)
	return errors.Join(err, g.store.PutMeta(name, data))
}

// recall restores the delay of a host whose slot the caller holds, unless that was done before, and
// returns how long the host still waits: another caller with a slot of it may have restored the delay,
// or been told to back off, since this one's Claim.
func (g *Gate) recall(name string) (wait time.Duration) {
	g.mu.Lock()
	h := g.hosts[name]
	restored := h == nil || h.recalled
	if h != nil && h.recalled {
		wait = max(time.Until(h.next), 0)
	}
	g.mu.Unlock()
	if restored {
		return wait
	}
	var r storedDelay
	known := json.Unmarshal(g.load(restName+name), &r) == nil
	g.mu.Lock()
	defer g.mu.Unlock()
	h.recalled = true
	if !known {
		return 0
	}
	now := time.Now()
	longest := max(g.options.BackoffMax, g.options.MaxDelay, g.options.Delay)
	left := min(r.Until.Sub(now), r.Until.Sub(r.At), longest)
	if -left > max(r.Delay, time.Minute) {
		return 0 // failures that long ago are forgotten
	}
	if left <= 0 && !g.killed.IsZero() { // a request may have been in flight
		left = g.killed.Add(min(r.Delay, g.options.MaxDelay)).Sub(now)
	}
	h.fails, h.errs = min(max(r.Fails, 0), maxFails), min(max(r.Errs, 0), maxFails)
	h.delay, h.kept = min(max(r.Delay, 0), longest), true
	h.next = now.Add(max(left, 0))
	return max(left, 0)
}

// claimOther is Claim for a host whose Check was not called, to which a robots.txt has moved.
func (g *Gate) claimOther(name string) (wait time.Duration) {
	wait = g.Claim(name)
	if wait > 0 {
		return wait
	}
	wait = g.recall(name)
	if wait > 0 {
		g.Visited(name, noRequest)
	}
	return wait
}

// toStore returns what is to be stored of h; false: the default delay after a restart suffices, and
// no other one is stored.
func (g *Gate) toStore(h *host, now time.Time) (d storedDelay, keep bool) {
	long := h.delay > g.options.Delay || h.fails+h.errs > 0
	keep = long || h.kept
	h.kept = long
	return storedDelay{now.UTC(), h.next.UTC(), h.delay, h.fails, h.errs}, keep
}
