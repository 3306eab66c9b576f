package trap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A snapshot is what a Detector keeps between runs.
type snapshot struct {
	Patterns map[string]*pattern `json:"patterns"`
	Params   map[string]*param   `json:"params"`
}

const (
	maxKept = 20_000 // patterns of a snapshot, those with the most pages
	minKept = 4      // pages of a pattern that is kept
)

// Snapshot returns what was learned, for Restore. The pages themselves are not
// in it, so that of each page that is known under several URLs one more copy
// may be read.
func (d *Detector) Snapshot() ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := snapshot{map[string]*pattern{}, d.params}
	var kept []string
	for name, p := range d.patterns {
		if p.Pages >= minKept {
			kept = append(kept, name)
		}
	}
	slices.SortFunc(kept, func(a, b string) int {
		return cmp.Or(cmp.Compare(d.patterns[b].Pages, d.patterns[a].Pages), cmp.Compare(a, b))
	})
	for _, name := range kept[:min(len(kept), maxKept)] {
		s.Patterns[name] = d.patterns[name]
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("trap: %w", err)
	}
	return data, nil
}

// Restore takes over what a Snapshot holds. On an error nothing has changed.
func (d *Detector) Restore(data []byte) error {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("trap: restore: %w", err)
	}
	for name, p := range s.Patterns {
		if p == nil || p.Pages < 0 || p.Copies < 0 || p.Copies > p.Pages || p.Barren < 0 || p.Barren > p.Pages {
			return fmt.Errorf("trap: restore: pattern %.80q makes no sense", name)
		}
	}
	for name, p := range s.Params {
		if p == nil || p.Same < 0 || p.Other < 0 {
			return fmt.Errorf("trap: restore: parameter %.80q makes no sense", name)
		}
	}
	if len(s.Patterns) > maxPatterns || len(s.Params) > maxParams {
		return fmt.Errorf("trap: restore: %d patterns and %d parameters are too many", len(s.Patterns), len(s.Params))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.Patterns != nil {
		d.patterns = s.Patterns
	}
	if s.Params != nil {
		d.params = s.Params
	}
	clear(d.suspects)
	for name, p := range d.patterns {
		if host, _, _ := strings.Cut(name, "/"); p.bad(name, isNarrow(name)) {
			d.suspects[host] = true
		}
	}
	for name, p := range d.params {
		if host, _, _ := strings.Cut(name, "?"); p.dust() {
			d.suspects[host] = true
		}
	}
	return nil
}
