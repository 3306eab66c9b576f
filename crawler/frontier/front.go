package frontier

import "slices"

// Front returns the n ≥ 1 queued entries with the highest known priorities, the best first, on
// waiting hosts, too. It leases nothing. It reads every host: call it about once a second.
func (f *Frontier) Front(n int) ([]Entry, error) {
	type waiting struct {
		host *host
		item item
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, ErrClosed
	}
	var hosts []*host // the n best, the best first
	for _, heap := range [][]*host{f.ready.hosts, f.waiting.hosts} {
		for _, h := range heap {
			if h.waiting() <= 0 || len(hosts) == n && !h.best.before(hosts[n-1].best) {
				continue
			}
			i, _ := slices.BinarySearchFunc(hosts, h.best, func(a *host, p place) int { return a.best.compare(p) })
			hosts = slices.Insert(hosts, i, h)
			hosts = hosts[:min(len(hosts), n)]
		}
	}
	var best []waiting
	for _, h := range hosts {
		_, _, err := f.front(h)
		if err != nil {
			return nil, err
		}
		items := h.buffer.items
		for i := len(items) - 1; i >= max(0, len(items)-n); i-- {
			best = append(best, waiting{h, items[i]})
		}
	}
	slices.SortFunc(best, func(a, b waiting) int { return a.item.compare(b.item.place) })
	var entries []Entry
	for _, w := range best[:min(len(best), n)] {
		e, err := f.entry(w.host, w.item)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
