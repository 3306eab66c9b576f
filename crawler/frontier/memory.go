package frontier

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"
)

// ErrNotNow is the error of Memory.Next when links are queued but no host is ready, or only hosts
// whose links are held back.
var ErrNotNow = errors.New("no host is ready")

// A Memory is a Frontier for simulations: in memory, without goroutines and without a clock.
// SetTime sets its time, and its Next never waits.
type Memory struct {
	*Frontier
	now time.Duration
}

// NewMemory returns an empty queue at time 0. It needs neither Dir nor Memory.
func NewMemory(o Options) *Memory {
	o.InMemory = true
	f, err := start(o, newTreeStore())
	if err != nil {
		panic(err) // an empty tree can be read
	}
	m := &Memory{Frontier: f}
	if o.FirstIn {
		f.found = &arrivals{number: map[uint64]uint64{}}
	}
	f.budget = math.MaxInt // hosts that are evicted at random would make two runs differ
	f.now = func() time.Duration { return m.now }
	return m
}

// arrivals numbers URLs in the order in which they were found.
type arrivals struct {
	mu     sync.Mutex
	number map[uint64]uint64 // hash of the URL → its number
	urls   []uint64          // and back
}

// of returns the number of a URL; a new one gets the next.
func (a *arrivals) of(url uint64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, known := a.number[url]
	if !known {
		n = uint64(len(a.urls))
		a.number[url], a.urls = n, append(a.urls, url)
	}
	return n
}

// url returns the URL of a number that of returned.
func (a *arrivals) url(n uint64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.urls[n]
}

// SetTime sets the time since the beginning of the crawl, which must not go back.
func (m *Memory) SetTime(now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = max(m.now, now)
	m.wake()
}

// Wake returns the time at which the first waiting host or entry is ready; false if none waits.
func (m *Memory) Wake() (until time.Duration, some bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nextToWake()
}

// Waiting returns how many entries wait or are leased. Unlike Totals it costs nothing.
func (m *Memory) Waiting() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.totals.Queued
}

// Next is Frontier.Next, but where that waits it returns ErrNotNow.
func (m *Memory) Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error) {
	return m.next(ctx, claim, false)
}
