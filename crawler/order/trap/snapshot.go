package trap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gazehound/crawler/order/software"
)

// A snapshot is what a Detector keeps between runs.
type snapshot struct {
	Patterns map[uint64]*pattern `json:"shapes"` // by id; earlier versions had names and "patterns"
	Suspects []string            `json:"suspects"`
	Params   map[string]*param   `json:"params"`
	Software map[string][]string `json:"software,omitempty"` // by host, by name
}

const (
	maxKept = 20_000 // patterns of a snapshot, largest first
	minKept = 4      // pages of a pattern that is kept
)

// Snapshot returns what was learned, for Restore. It has no fingerprints of pages, so one more copy
// of a page may be read after a restart. What is parked is proven again by Prove.
func (d *Detector) Snapshot() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := snapshot{map[uint64]*pattern{}, slices.Sorted(maps.Keys(d.suspects)), d.params,
		make(map[string][]string, len(d.software))}
	for host, of := range d.software {
		s.Software[host] = of.Names()
	}
	var kept []uint64
	for id, place := range d.places {
		if d.patterns[place].Pages >= minKept {
			kept = append(kept, id)
		}
	}
	slices.SortFunc(kept, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(d.pattern(b).Pages, d.pattern(a).Pages), cmp.Compare(a, b))
	})
	for _, id := range kept[:min(len(kept), maxKept)] {
		s.Patterns[id] = d.pattern(id)
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("trap: %w", err)
	}
	return data, nil
}

// Restore replaces the state with that of a Snapshot. An error leaves it unchanged.
func (d *Detector) Restore(data []byte) error {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("trap: restore: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Patterns != nil {
		d.patterns = nil
		clear(d.places)
		for id, p := range s.Patterns {
			d.places[id] = uint32(len(d.patterns))
			d.patterns = append(d.patterns, *p)
		}
	}
	if s.Params != nil {
		d.params = s.Params
	}
	clear(d.suspects)
	for _, host := range s.Suspects {
		d.suspects[host] = true
	}
	clear(d.software)
	for host, names := range s.Software {
		d.software[host] = software.Named(names)
	}
	return nil
}
