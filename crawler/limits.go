package crawler

import (
	"io"
	"strings"
	"sync"
)

// A hostSet is a bounded set of hosts: when it is full, it starts empty again.
type hostSet struct {
	mu    sync.Mutex
	hosts map[string]bool
}

const maxHostSet = 100_000

func (s *hostSet) has(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[host]
}

func (s *hostSet) add(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil || len(s.hosts) >= maxHostSet {
		s.hosts = map[string]bool{}
	}
	s.hosts[strings.Clone(host)] = true
}

// A pageBudget limits the pages done and in flight together, so that a crawl of 1,000 pages does
// not end with 1,015.
type pageBudget struct {
	mu          sync.Mutex
	changed     *sync.Cond
	limit, done int64
	inFlight    int64
	closed      bool
}

// take reserves one page, waiting if all are in flight. It returns ErrPageLimit when the limit is
// reached and io.EOF when the run is over.
func (b *pageBudget) take() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.limit > 0 && !b.closed && b.done < b.limit && b.done+b.inFlight >= b.limit {
		b.changed.Wait()
	}
	switch {
	case b.limit > 0 && b.done >= b.limit:
		return ErrPageLimit
	case b.closed:
		return io.EOF
	}
	b.inFlight++
	return nil
}

// give ends a reservation; isPage: it was used.
func (b *pageBudget) give(isPage bool) {
	b.mu.Lock()
	b.inFlight--
	if isPage {
		b.done++
	}
	b.mu.Unlock()
	b.changed.Broadcast()
}

// close ends all waiting.
func (b *pageBudget) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.changed.Broadcast()
}
