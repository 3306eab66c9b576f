package frontier

import (
	"context"
	"errors"
	"math"
	"time"
)

// ErrNotNow is what Memory.Next returns when links wait and none of their hosts is ready, or only
// hosts of links that are not good enough.
var ErrNotNow = errors.New("no host is ready")

// A Memory is a Frontier for simulations: in memory, without goroutines and without a clock. Its
// time is what SetTime says, and its Next never waits.
type Memory struct {
	*Frontier
	now time.Duration
}

// MemoryOptions mean what they mean in Options.
type MemoryOptions struct {
	Seed        uint64
	MaxPerHost  int64
	Selectivity float64
	Await       time.Duration
	Score       func(*Entry) float64
}

// NewMemory returns an empty queue at time 0.
func NewMemory(o MemoryOptions) *Memory {
	f, err := start(Options{
		InMemory: true, Seed: o.Seed, MaxPerHost: o.MaxPerHost,
		Selectivity: o.Selectivity, Await: o.Await, Score: o.Score,
	}, newTreeStore())
	if err != nil {
		panic(err) // an empty tree can be read
	}
	m := &Memory{Frontier: f}
	f.budget = math.MaxInt // hosts that are evicted at random would make two runs differ
	f.now = func() time.Duration { return m.now }
	return m
}

// SetTime says what time it is, from the beginning of the crawl; it never goes back.
func (m *Memory) SetTime(now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = max(m.now, now)
	m.wake()
}

// Wake returns the time at which the first host or entry that rests may be served again, and false
// if none rests.
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
