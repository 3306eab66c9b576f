package frontier

import (
	"cmp"
	"container/heap"

	"math"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// An item is a queued URL in memory. Its priority may be newer than the stored
// one, which is only where the next start finds it.
type item struct {
	key              Key
	priority, stored float32
	tie              uint32
	again            *Entry // as it was given back, or nil
	host             *host
}

// position is where the item stands in the store's order.
func (i *item) position() position { return position{i.stored, i.tie, i.key} }

// A position orders the queue of a host: by priority downwards, then by tie.
type position struct {
	priority float32
	tie      uint32
	key      Key
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(q.priority, p.priority), cmp.Compare(p.tie, q.tie), slices.Compare(p.key[:], q.key[:]))
}

func compareItems(a, b *item) int {
	return position{a.priority, a.tie, a.key}.compare(position{b.priority, b.tie, b.key})
}

// A host has its best entries in memory, the rest is in the store.
type host struct {
	id     uint32
	name   string
	seen   int64 // URLs accepted, ever
	buffer []*item
	bound  position // all stored entries up to here are in the buffer, leased or delayed
	all    bool     // … and there are none behind
	index  int      // in the heap it is in
	where  place
	until  time.Time // when parked
}

type place uint8

const (
	idle place = iota
	isReady
	isParked
)

func (h *host) head() *item { return h.buffer[0] }

// promise is the best priority that the host may have to offer.
func (h *host) promise() (float32, uint32) {
	if len(h.buffer) == 0 {
		return h.bound.priority, 0
	}
	if !h.all && h.bound.priority > h.buffer[0].priority {
		return h.bound.priority, 0
	}
	return h.buffer[0].priority, h.buffer[0].tie
}

type readyHeap []*host

func (q readyHeap) Len() int { return len(q) }
func (q readyHeap) Less(i, j int) bool {
	p, s := q[i].promise()
	r, t := q[j].promise()
	if p != r {
		return p > r
	}
	return s < t
}
func (q readyHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *readyHeap) Push(x any) {
	h := x.(*host)
	h.index = len(*q)
	*q = append(*q, h)
}
func (q *readyHeap) Pop() any {
	h := (*q)[len(*q)-1]
	(*q)[len(*q)-1] = nil
	*q = (*q)[:len(*q)-1]
	return h
}

type parkedHeap []*host

func (q parkedHeap) Len() int           { return len(q) }
func (q parkedHeap) Less(i, j int) bool { return q[i].until.Before(q[j].until) }
func (q parkedHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *parkedHeap) Push(x any) { (*readyHeap)(q).Push(x) }
func (q *parkedHeap) Pop() any   { return (*readyHeap)(q).Pop() }

// A delayed item was given back and waits for its own time.
type delayed struct {
	*item
	until time.Time
}

type delayedHeap []delayed

func (q delayedHeap) Len() int           { return len(q) }
func (q delayedHeap) Less(i, j int) bool { return q[i].until.Before(q[j].until) }
func (q delayedHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *delayedHeap) Push(x any)        { *q = append(*q, x.(delayed)) }
func (q *delayedHeap) Pop() any {
	d := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return d
}

// A queue is the part of the frontier in memory: for every host its best
// entries, hosts that may be asked ordered by what they offer, hosts that rest
// ordered by time.
type queue struct {
	hosts   map[string]*host
	byID    map[uint32]*host
	ready   readyHeap
	parked  parkedHeap
	delayed delayedHeap
	items   map[Key]*item // in a buffer or delayed
	leased  map[Key]*item
	seed    uint64
}

// blockSize is how many entries of a host are read at a time; a buffer larger
// than maxBuffer is cut back to it.
const (
	blockSize = 64
	maxBuffer = 1024
)

func newQueue(seed uint64) queue {
	return queue{hosts: map[string]*host{}, byID: map[uint32]*host{}, items: map[Key]*item{}, leased: map[Key]*item{}, seed: seed}
}

// settle puts h where it belongs after its buffer has changed.
func (q *queue) settle(h *host) {
	empty := len(h.buffer) == 0 && h.all
	switch {
	case h.where == isReady && empty:
		heap.Remove(&q.ready, h.index)
		h.where = idle
	case h.where == isReady:
		heap.Fix(&q.ready, h.index)
	case h.where == idle && !empty:
		h.where = isReady
		heap.Push(&q.ready, h)
	}
}

// insert puts an item into its host's buffer.
func (q *queue) insert(i *item) {
	h := i.host
	at, _ := slices.BinarySearchFunc(h.buffer, i, compareItems)
	h.buffer = slices.Insert(h.buffer, at, i)
	q.items[i.key] = i
	q.settle(h)
}

// remove takes an item out of its host's buffer.
func (q *queue) remove(i *item) {
	h := i.host
	if at, ok := slices.BinarySearchFunc(h.buffer, i, compareItems); ok {
		h.buffer = slices.Delete(h.buffer, at, at+1)
	}
	delete(q.items, i.key)
	q.settle(h)
}

// best returns the ready host with the best entry, that entry being in memory,
// or nil.
func (q *queue) best(db *badger.DB) (*host, error) {
	for len(q.ready) > 0 {
		h := q.ready[0]
		if h.all || len(h.buffer) > 0 && h.buffer[0].priority > h.bound.priority {
			return h, nil
		}
		if err := q.load(db, h); err != nil {
			return nil, err
		}
		q.settle(h)
	}
	return nil, nil
}

// load reads the next block of a host's entries.
func (q *queue) load(db *badger.DB, h *host) error {
	return db.View(func(txn *badger.Txn) error {
		o := badger.IteratorOptions{Prefix: queuePrefix(h.id)}
		it := txn.NewIterator(o)
		defer it.Close()
		n := 0
		for it.Seek(append(queueKey(h.id, h.bound), 0)); it.Valid(); it.Next() {
			if n == blockSize {
				return nil
			}
			_, p, ok := parseQueueKey(it.Item().Key())
			if !ok {
				continue
			}
			h.bound = p
			if q.items[p.key] == nil && q.leased[p.key] == nil {
				i := &item{key: p.key, priority: p.priority, stored: p.priority, tie: p.tie, host: h}
				at, _ := slices.BinarySearchFunc(h.buffer, i, compareItems)
				h.buffer = slices.Insert(h.buffer, at, i)
				q.items[i.key] = i
				n++
			}
		}
		h.all = true
		return nil
	})
}

// added takes note of an entry that was stored at p.
func (q *queue) added(h *host, p position) {
	if i := q.items[p.key]; i != nil { // raised
		for _, d := range q.delayed {
			if d.item == i {
				i.priority, i.stored = p.priority, p.priority
				return
			}
		}
		q.remove(i)
		i.priority, i.stored = p.priority, p.priority
		q.insert(i)
		return
	}
	if q.leased[p.key] != nil {
		return
	}
	if h.all || p.compare(h.bound) <= 0 {
		if h.all && p.compare(h.bound) > 0 {
			h.bound = p
		}
		q.insert(&item{key: p.key, priority: p.priority, stored: p.priority, tie: p.tie, host: h})
		if len(h.buffer) > maxBuffer {
			q.trim(h)
		}
	}
}

// trim leaves the worse half of a buffer to the store. Entries that were
// scored again stay, because the store does not know their priority yet.
func (q *queue) trim(h *host) {
	positions := make([]position, len(h.buffer))
	for n, i := range h.buffer {
		positions[n] = i.position()
	}
	slices.SortFunc(positions, position.compare)
	h.bound, h.all = positions[len(positions)/2], false
	kept := h.buffer[:0]
	for _, i := range h.buffer {
		if i.priority == i.stored && i.again == nil && i.position().compare(h.bound) > 0 {
			delete(q.items, i.key)
			continue
		}
		kept = append(kept, i)
	}
	clear(h.buffer[len(kept):])
	h.buffer = kept
	q.settle(h)
}

// reorder puts the head of h back under its fresh priority and tells whether
// another entry leads now.
func (q *queue) reorder(h *host, i *item) bool {
	at := slices.Index(h.buffer, i)
	h.buffer = slices.Delete(h.buffer, at, at+1)
	at, _ = slices.BinarySearchFunc(h.buffer, i, compareItems)
	h.buffer = slices.Insert(h.buffer, at, i)
	q.settle(h)
	return q.ready[0] != h || at != 0 || !h.all && h.bound.priority >= i.priority
}

// lease takes the head of h out of the queue.
func (q *queue) lease(h *host, i *item) {
	q.remove(i)
	q.leased[i.key] = i
}

// drop forgets an entry whose record cannot be read.
func (q *queue) drop(h *host, i *item) { q.remove(i) }

// park takes h out until t.
func (q *queue) park(h *host, t time.Time) {
	heap.Remove(&q.ready, h.index)
	h.where, h.until = isParked, t
	heap.Push(&q.parked, h)
}

// unpark brings back what may be asked at now.
func (q *queue) unpark(now time.Time) {
	for len(q.parked) > 0 && !q.parked[0].until.After(now) {
		h := heap.Pop(&q.parked).(*host)
		h.where = idle
		q.settle(h)
	}
	for len(q.delayed) > 0 && !q.delayed[0].until.After(now) {
		q.insert(heap.Pop(&q.delayed).(delayed).item)
	}
}

// nextWake returns how long nothing can change by itself.
func (q *queue) nextWake(now time.Time) time.Duration {
	wait := time.Minute
	if len(q.parked) > 0 {
		wait = min(wait, q.parked[0].until.Sub(now))
	}
	if len(q.delayed) > 0 {
		wait = min(wait, q.delayed[0].until.Sub(now))
	}
	return max(wait, 0)
}

// giveBack ends a lease without a visit.
func (q *queue) giveBack(e Entry, until time.Time, now bool) {
	k := KeyOf(e.URL)
	i := q.leased[k]
	if i == nil {
		return
	}
	delete(q.leased, k)
	i.again = &e
	if now {
		q.insert(i)
		return
	}
	q.items[k] = i
	heap.Push(&q.delayed, delayed{i, until})
}

// toPriority brings a score into [0, 1].
func toPriority(score float64) float32 {
	if !(score > 0) { // NaN too
		return 0
	}
	return float32(min(score, 1))
}

// tieOf orders entries of one priority at random, the same for one seed.
func (q *queue) tieOf(k Key) uint32 {
	h := q.seed ^ 0x9e3779b97f4a7c15
	for n := 0; n < 16; n += 8 {
		for b := range 8 {
			h = (h ^ uint64(k[n+b])) * 0x100000001b3
		}
		h ^= h >> 29
	}
	return uint32(h>>32) ^ uint32(h)
}

// hostOf returns the record of a host by name, or a new one.
func (q *queue) hostOf(name string) *host {
	h := q.hosts[name]
	if h == nil {
		h = &host{id: uint32(len(q.hosts) + 1), name: name, all: true, bound: position{priority: math.MaxFloat32}}
		q.hosts[name], q.byID[h.id] = h, h
	}
	return h
}
