package frontier

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrNotNow is what Memory.Next returns when links wait and none of their
// hosts may be asked at this time, or none that is good enough.
var ErrNotNow = errors.New("no host may be asked now")

// A Memory is a Frontier for simulations: the same queue, seen set and crawl
// tree in the same order, without a store, without goroutines and without a
// clock. Its time is what SetTime says, and Next never waits. It is not safe
// for concurrent use.
//
// TestMemoryAgrees holds it equal to Frontier.
type Memory struct {
	options  MemoryOptions
	urls     map[Key]int32 // into nodes
	nodes    []memoryNode
	outcomes []Outcome // of visits, by number − 1
	hosts    map[uint64]*memoryHost
	ready    memoryHeap
	parked   memoryHeap
	naps     napHeap // of entries; the tie of a nap is the number of its node
	now      time.Duration
	waiting  int64
	leased   int64
	totals   Totals
	ids      map[string]bool // of addresses
	effort   effort
}

// MemoryOptions mean what they mean in Options.
type MemoryOptions struct {
	Seed        uint64
	MaxPerHost  int64
	Selectivity float64
	Await       time.Duration
	Score       func(*Entry) float64
}

type memoryNode struct {
	Entry
	host   *memoryHost
	tie    uint64
	pushed uint32 // rank of the best link
	rank   uint32 // the same, or what it was scored anew
	state  memoryState
	seq    uint32 // of the visit
}

type memoryState uint8

const (
	memoryWaits memoryState = iota
	memoryLeased
	memoryRests // returned with a wait of its own
	memoryVisited
)

// A memoryItem is a place in the queue of a host. It counts while its node
// waits with the same rank.
type memoryItem struct {
	place
	node int32
}

type memoryHost struct {
	items []memoryItem // a heap
	total int64        // URLs ever queued
	best  place        // of items[0]
	until time.Duration
	long  bool        // it rests for more than MemoryOptions.Await
	in    *memoryHeap // nil: nothing waits
	at    int         // place in that heap
}

// NewMemory returns an empty queue at time 0.
func NewMemory(o MemoryOptions) *Memory {
	m := &Memory{options: o, urls: map[Key]int32{}, hosts: map[uint64]*memoryHost{}, ids: map[string]bool{}}
	m.totals.Errors, m.totals.Skipped, m.totals.Dropped = map[string]int64{}, map[string]int64{}, map[string]int64{}
	m.ready.less = func(a, b *memoryHost) bool { return a.best.before(b.best) }
	m.parked.less = func(a, b *memoryHost) bool {
		return a.until < b.until || a.until == b.until && a.best.before(b.best)
	}
	return m
}

// SetTime says what time it is, from the beginning of the crawl; it never goes
// back.
func (m *Memory) SetTime(now time.Duration) {
	m.now = max(m.now, now)
	for len(m.naps) > 0 && m.naps[0].until <= m.now {
		id := int32(heap.Pop(&m.naps).(nap).tie)
		if n := &m.nodes[id]; n.state == memoryRests {
			n.state = memoryWaits
			m.waiting++
			m.queue(id)
		}
	}
	for len(m.parked.hosts) > 0 && m.parked.hosts[0].until <= m.now {
		m.place(m.parked.hosts[0])
	}
}

// Wake returns the time at which the first host or entry that rests may be
// asked again, and false if none rests.
func (m *Memory) Wake() (until time.Duration, some bool) {
	if len(m.parked.hosts) > 0 {
		until, some = m.parked.hosts[0].until, true
	}
	if len(m.naps) > 0 && (!some || m.naps[0].until < until) {
		until, some = m.naps[0].until, true
	}
	return until, some
}

// Push is Frontier.Push.
func (m *Memory) Push(_ context.Context, es ...Entry) (added int, err error) {
	links, err := prepare(es)
	if err != nil {
		return 0, err
	}
	for i := range links {
		if m.push(&links[i]) {
			added++
		}
	}
	return added, nil
}

func (m *Memory) push(l *link) (added bool) {
	m.totals.Links++
	rank := rankOf(finite(l.Priority))
	id, known := m.urls[l.key]
	if known {
		m.totals.Repeats++
		n := &m.nodes[id]
		if n.state != memoryWaits || rank > n.pushed || rank == n.pushed && l.Distance >= n.Distance {
			return false
		}
		retries := n.Retries
		n.Entry, n.Retries = l.Entry, retries
		n.pushed, n.rank = rank, rank
		m.queue(id)
		return false
	}
	h := m.host(l.key.host())
	if m.options.MaxPerHost > 0 && h.total >= m.options.MaxPerHost {
		count(m.totals.Dropped, "host_limit", 1)
		return false
	}
	h.total++
	m.totals.Queued++
	m.waiting++
	id = int32(len(m.nodes))
	m.urls[l.key] = id
	m.nodes = append(m.nodes, memoryNode{Entry: l.Entry, host: h, tie: tieOf(m.options.Seed, l.key.url()), pushed: rank, rank: rank})
	m.queue(id)
	return true
}

func (m *Memory) host(id uint64) *memoryHost {
	h := m.hosts[id]
	if h == nil {
		h = &memoryHost{}
		m.hosts[id] = h
	}
	return h
}

// queue puts a waiting node into the heap of its host.
func (m *Memory) queue(id int32) {
	n := &m.nodes[id]
	n.host.push(memoryItem{place{n.rank, n.tie}, id})
	m.place(n.host)
}

// place puts a host where it belongs: among those that may be asked, among
// those that rest, or nowhere.
func (m *Memory) place(h *memoryHost) {
	for len(h.items) > 0 { // drop what does not count any more
		if n := &m.nodes[h.items[0].node]; n.state == memoryWaits && n.rank == h.items[0].rank {
			break
		}
		h.pop()
	}
	var in *memoryHeap
	switch {
	case len(h.items) == 0:
	case h.until > m.now:
		in = &m.parked
	default:
		in = &m.ready
	}
	if len(h.items) > 0 {
		h.best = h.items[0].place
	}
	switch {
	case in == h.in && in != nil:
		heap.Fix(in, h.at)
	case in != h.in:
		if h.in != nil {
			heap.Remove(h.in, h.at)
		}
		if h.in = in; in != nil {
			heap.Push(in, h)
		}
	}
}

// Next is Frontier.Next, but where that waits it returns ErrNotNow.
func (m *Memory) Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	best, tries, most := int32(-1), 0, m.effort.most() // of those that were scored anew and do not lead
	for len(m.ready.hosts) > 0 {
		if tries == most {
			tries++
			if m.awaits(m.nodes[best].rank) {
				return Entry{}, ErrNotNow
			}
			if n := &m.nodes[best]; n.host.in == &m.ready && m.claim(n, claim) {
				return m.lease(best), nil
			}
			continue
		}
		h := m.ready.hosts[0]
		id := h.items[0].node
		n := &m.nodes[id]
		if m.options.Score != nil && tries < most {
			e := n.Entry
			e.Priority = priorityOf(n.rank)
			rank := rankOf(finite(m.options.Score(&e)))
			if !m.rescore(h, id, rank) {
				tries++
				m.effort.spent++
				if best < 0 || n.place().before(m.nodes[best].place()) {
					best = id
				}
				continue
			}
		}
		if m.awaits(n.rank) {
			return Entry{}, ErrNotNow
		}
		if m.claim(n, claim) {
			return m.lease(id), nil
		}
	}
	if m.waiting+m.leased+int64(len(m.naps)) == 0 {
		return Entry{}, io.EOF
	}
	return Entry{}, ErrNotNow
}

func (n *memoryNode) place() place { return place{n.rank, n.tie} }

// rescore gives the best entry of the first host a new rank and tells whether
// it leads with that, give or take the tolerance.
func (m *Memory) rescore(h *memoryHost, id int32, rank uint32) (leads bool) {
	n := &m.nodes[id]
	h.pop()
	n.rank = rank
	for len(h.items) > 0 { // what waits behind it
		if o := &m.nodes[h.items[0].node]; h.items[0].node != id && o.state == memoryWaits && o.rank == h.items[0].rank {
			break
		}
		h.pop()
	}
	rival := nowhere.rank
	if len(h.items) > 0 {
		rival = h.items[0].rank
	}
	for _, i := range [...]int{1, 2} { // one of the two is second in the heap
		if i < len(m.ready.hosts) {
			rival = min(rival, m.ready.hosts[i].best.rank)
		}
	}
	h.push(memoryItem{n.place(), id})
	m.place(h)
	if rank <= rival || rival == nowhere.rank {
		return true
	}
	mine, other := priorityOf(rank), priorityOf(rival)
	return mine >= other-tolerance*max(other, -other)
}

// awaits is Frontier.awaits. How long a host rests is known here, so that
// nobody waits longer than for that.
func (m *Memory) awaits(rank uint32) bool {
	if m.options.Selectivity == 0 {
		return false
	}
	for _, h := range m.parked.hosts[:min(lookAhead, len(m.parked.hosts))] {
		if !h.long && worthWaiting(priorityOf(rank), h.best.rank, m.options.Selectivity) {
			return true
		}
	}
	return false
}

// claim asks for the turn of n's host, and lets it rest if it is not to be had.
func (m *Memory) claim(n *memoryNode, claim func(host string) time.Duration) bool {
	wait := claim(n.URL.Host())
	if wait > 0 {
		m.park(n.host, wait)
		m.place(n.host)
	}
	return wait <= 0
}

// park lets h rest for wait, or for as long as it does anyway.
func (m *Memory) park(h *memoryHost, wait time.Duration) {
	if until := m.now + wait; until > h.until {
		h.until, h.long = until, wait > m.options.Await
	}
}

func (m *Memory) lease(id int32) Entry {
	n := &m.nodes[id]
	n.state = memoryLeased
	m.waiting--
	m.leased++
	m.place(n.host)
	e := n.Entry
	e.Priority = priorityOf(n.rank)
	return e
}

// Return is Frontier.Return.
func (m *Memory) Return(e Entry, b Backoff) error {
	id, known := m.urls[KeyOf(e.URL)]
	if !known || m.nodes[id].state != memoryLeased {
		return fmt.Errorf("frontier: return %s: %w", e.URL, ErrNotLeased)
	}
	n := &m.nodes[id]
	n.URL, n.Redirects, n.Retries = e.URL, e.Redirects, e.Retries
	m.leased--
	if b.Wait > 0 && !b.Host {
		n.state = memoryRests // its place in the queue does not count meanwhile
		heap.Push(&m.naps, nap{until: m.now + b.Wait, tie: uint64(id)})
		m.place(n.host)
		return nil
	}
	n.state = memoryWaits
	m.waiting++
	if b.Wait > 0 {
		m.park(n.host, b.Wait)
	}
	m.queue(id)
	return nil
}

// Done is Frontier.Done.
func (m *Memory) Done(ctx context.Context, e Entry, o Outcome, found ...Entry) (added int, err error) {
	self, err := prepare([]Entry{e})
	if err != nil {
		return 0, err
	}
	id, known := m.urls[self[0].key]
	if !known {
		m.push(&self[0])
		id = m.urls[self[0].key]
	}
	n := &m.nodes[id]
	switch n.state {
	case memoryVisited:
		return m.Push(ctx, found...)
	case memoryLeased:
		m.leased--
	case memoryWaits:
		m.waiting--
	}
	n.URL, n.Redirects, n.Retries = e.URL, e.Redirects, e.Retries
	n.state = memoryVisited
	m.totals.Queued--
	o = o.trimmed()
	for _, a := range o.Kept() {
		if !m.ids[a] {
			m.ids[a] = true
			m.totals.Addresses++
		}
	}
	m.totals.add(&o)
	m.outcomes = append(m.outcomes, o)
	n.seq = uint32(len(m.outcomes))
	m.place(n.host)
	return m.Push(ctx, found...)
}

// States is Frontier.States.
func (m *Memory) States(keys ...Key) ([]State, error) {
	states := make([]State, len(keys))
	for i, k := range keys {
		if id, known := m.urls[k]; known {
			states[i] = Queued
			if m.nodes[id].state == memoryVisited {
				states[i] = Visited
			}
		}
	}
	return states, nil
}

// Trail is Frontier.Trail.
func (m *Memory) Trail(k Key, n int) ([]Node, error) {
	var trail []Node
	for len(trail) < n && !k.IsZero() {
		id, known := m.urls[k]
		if !known {
			break
		}
		trail = append(trail, m.node(id))
		k = m.nodes[id].Parent
	}
	return trail, nil
}

// Get is Frontier.Get.
func (m *Memory) Get(k Key) (n Node, ok bool, err error) {
	id, known := m.urls[k]
	if !known {
		return Node{}, false, nil
	}
	return m.node(id), true, nil
}

func (m *Memory) node(id int32) Node {
	n := &m.nodes[id]
	node := Node{Entry: n.Entry, State: Queued}
	node.Priority = priorityOf(n.pushed)
	if n.state == memoryVisited {
		node.Priority = priorityOf(n.rank)
		node.State, node.Outcome, node.Seq = Visited, m.outcomes[n.seq-1], uint64(n.seq)
	}
	return node
}

// Totals is Frontier.Totals.
func (m *Memory) Totals() Totals {
	t := m.totals.clone()
	t.Leased = m.leased
	t.Hosts, t.ReadyHosts, t.ParkedHosts = int64(len(m.hosts)), int64(len(m.ready.hosts)), int64(len(m.parked.hosts))
	return t
}

// Waiting returns how many entries wait or are leased. Unlike Totals it costs
// nothing.
func (m *Memory) Waiting() int64 { return m.waiting + m.leased }

func (h *memoryHost) push(it memoryItem) {
	h.items = append(h.items, it)
	for i := len(h.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.items[i].before(h.items[up].place) {
			break
		}
		h.items[i], h.items[up] = h.items[up], h.items[i]
		i = up
	}
}

func (h *memoryHost) pop() {
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	for i := 0; ; {
		least := i
		for _, c := range [...]int{2*i + 1, 2*i + 2} {
			if c < last && h.items[c].before(h.items[least].place) {
				least = c
			}
		}
		if least == i {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
}

// A memoryHeap orders hosts; for container/heap.
type memoryHeap struct {
	hosts []*memoryHost
	less  func(a, b *memoryHost) bool
}

func (q *memoryHeap) Len() int           { return len(q.hosts) }
func (q *memoryHeap) Less(i, j int) bool { return q.less(q.hosts[i], q.hosts[j]) }
func (q *memoryHeap) Swap(i, j int) {
	q.hosts[i], q.hosts[j] = q.hosts[j], q.hosts[i]
	q.hosts[i].at, q.hosts[j].at = i, j
}
func (q *memoryHeap) Push(x any) {
	h := x.(*memoryHost)
	h.at = len(q.hosts)
	q.hosts = append(q.hosts, h)
}
func (q *memoryHeap) Pop() any {
	h := q.hosts[len(q.hosts)-1]
	q.hosts = q.hosts[:len(q.hosts)-1]
	return h
}
