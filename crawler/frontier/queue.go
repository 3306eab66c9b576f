package frontier

import (
	"container/heap"
	"slices"
	"sort"
	"time"

	"gazehound/crawler/weburl"
)

// A host is the memory kept for every host of the crawl, of which there may be a million. Its
// entries are in its buffer while its pages are fetched, else in the store only.
type host struct {
	id     uint64
	best   place         // no queued entry is better; exact for a host with a buffer
	buffer *buffer       // nil: none of its entries is in memory
	queued uint32        // queued in the store, leased ones included
	total  uint32        // queued and visited
	until  time.Duration // waiting: end of the wait, as of Frontier.now
	slot   int32         // in its heap
	in     standing
	long   bool // waiting: for more than Options.Await
}

// addHost returns a new host without queued entries.
func (f *Frontier) addHost(id uint64) *host {
	h := &host{id: id, best: nowhere}
	f.hosts[id] = h
	return h
}

type standing uint8

const (
	isIdle    standing = iota // nothing queued
	isReady                   // may be fetched from
	isWaiting                 // after a failed claim; the end of a visit may end it
	isResting                 // by Return
)

// A buffer holds the leased entries of a host, the queued ones up to an edge in the order of the
// queue, and rescored ones beyond the edge. The store has these at the places of their old scores,
// so they are rescored once more after leaving memory.
type buffer struct {
	items  []item // queued, the best last
	leased []lease
	edge   place // all entries of the store up to here are in items or leased
	more   bool  // the store may have entries beyond the edge
	moved  int   // items with another place in the store
}

// An item is a queued entry without its words.
type item struct {
	place
	stored uint32 // rank in the store
}

func (it item) storedPlace() place { return place{it.stored, it.tie} }

// A lease is a leased entry, as it was then, or a returned one that is delayed.
type lease struct {
	item
	url       weburl.URL
	redirects int
	retries   int
	delayed   bool
}

// A delayed entry is not served before its time.
type delayed struct {
	until time.Duration // as of Frontier.now
	host  *host
	tie   uint64
}

const (
	blockItems  = 64 // that are read at a time
	maxBlocks   = 8  // of a host in memory, but for items that have moved
	bufferItems = 8  // memory of an empty buffer, in items
	itemBytes   = 32
	itemsShare  = 8 // one part in … of Options.Memory is for buffers
)

// waiting returns the number of entries that are not leased. f.mu is held, as for everything below.
func (h *host) waiting() int {
	n := int(h.queued)
	if h.buffer != nil {
		n -= len(h.buffer.leased)
	}
	return n
}

// bound returns a place that is at least as good as that of any queued entry of h.
func (h *host) bound() place {
	q := h.buffer
	if q == nil {
		return h.best
	}
	best := nowhere
	if n := len(q.items); n > 0 {
		best = q.items[n-1].place
	}
	if q.more && q.edge.before(best) {
		best = q.edge
	}
	return best
}

// storedBound is bound for the store, without the entries with the ties gone.
func (h *host) storedBound(gone []uint64) place {
	q := h.buffer
	if q == nil {
		return h.best
	}
	best := nowhere
	if q.more {
		best = q.edge
	}
	consider := func(it *item) {
		if p := it.storedPlace(); p.before(best) && !slices.Contains(gone, it.tie) {
			best = p
		}
	}
	for i := range q.items {
		consider(&q.items[i])
	}
	for i := range q.leased {
		consider(&q.leased[i].item)
	}
	return best
}

// leasedAt returns the index of h's lease with this tie, or -1.
func (h *host) leasedAt(tie uint64) int {
	if h.buffer == nil {
		return -1
	}
	return slices.IndexFunc(h.buffer.leased, func(l lease) bool { return l.tie == tie })
}

// waitsAt returns the index of the queued entry with this tie in memory, or -1.
func (h *host) waitsAt(tie uint64) int {
	if h.buffer == nil {
		return -1
	}
	return slices.IndexFunc(h.buffer.items, func(it item) bool { return it.tie == tie })
}

// leaseOf returns the lease of h with this tie. It takes f.mu.
func (f *Frontier) leaseOf(h *host, tie uint64) (l lease, leased bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := h.leasedAt(tie); i >= 0 {
		return h.buffer.leased[i], true
	}
	return lease{}, false
}

func (f *Frontier) insert(h *host, it item) {
	q := h.buffer
	i := sort.Search(len(q.items), func(i int) bool { return !it.place.before(q.items[i].place) })
	q.items = slices.Insert(q.items, i, it)
	f.items++
	if it.stored != it.rank {
		q.moved++
	}
}

func (f *Frontier) remove(h *host, i int) item {
	q := h.buffer
	it := q.items[i]
	q.items = slices.Delete(q.items, i, i+1)
	f.items--
	if it.stored != it.rank {
		q.moved--
	}
	return it
}

// within reports whether an entry of the store belongs into the buffer.
func (q *buffer) within(p place) bool { return !q.more || !q.edge.before(p) }

// load gives h a buffer if it has none; nothing is read yet.
func (f *Frontier) load(h *host) *buffer {
	if h.buffer == nil {
		h.buffer = &buffer{more: true}
		f.loaded[h] = true
	}
	return h.buffer
}

// front loads entries of h until the best is known, and returns it; false if there is none.
func (f *Frontier) front(h *host) (best item, ok bool, err error) {
	q := f.load(h)
	for {
		n := len(q.items)
		if n > 0 && (!q.more || !q.edge.before(q.items[n-1].place)) {
			return q.items[n-1], true, nil
		}
		if !q.more {
			return item{}, false, nil
		}
		read, after := 0, q.edge
		err := f.view.scan(queueOf(h.id), queueKey(h.id, after), func(key, _ []byte) error {
			p := placeOf(key)
			if p == after && p != (place{}) {
				return nil
			}
			q.edge = p
			if h.waitsAt(p.tie) < 0 && h.leasedAt(p.tie) < 0 {
				f.insert(h, item{p, p.rank})
			}
			read++
			if read == f.block {
				return errEnough
			}
			return nil
		})
		if err != nil {
			return item{}, false, err
		}
		q.more = read == f.block
	}
}

// trim drops items far from the front, which can be read again.
func (f *Frontier) trim(h *host, most int) {
	q := h.buffer
	before := len(q.items)
	if before-q.moved <= most {
		return
	}
	q.edge, q.more = q.items[before-most/2].place, true
	q.items = slices.DeleteFunc(q.items, func(it item) bool {
		return it.stored == it.rank && !q.within(it.place)
	})
	f.items += len(q.items) - before
}

// evict makes room when too many entries are in memory: it takes hosts at random and forgets their
// entries. Nothing is lost: they are in the store, and their scores will be computed again.
func (f *Frontier) evict() {
	size := func() int { return f.items + bufferItems*len(f.loaded) }
	if size() <= f.budget {
		return
	}
	for h := range f.loaded {
		if size() <= f.budget*3/4 {
			return
		}
		if len(h.buffer.leased) > 0 {
			continue
		}
		h.best = h.storedBound(nil)
		f.items -= len(h.buffer.items)
		h.buffer = nil
		delete(f.loaded, h)
		if h.in == isReady {
			heap.Fix(&f.ready, int(h.slot))
		}
	}
}

// settle updates the place of h in the heap from its buffer.
func (f *Frontier) settle(h *host) { f.rank(h, h.bound()) }

// rank updates the place of h, whose entries are no better than best, in the heap.
func (f *Frontier) rank(h *host, best place) {
	moved := h.best != best
	h.best = best
	switch {
	case h.waiting() <= 0 && h.in != isResting:
		f.unheap(h)
	case h.in == isIdle:
		f.enheap(h, isReady)
	case h.in == isReady && moved:
		heap.Fix(&f.ready, int(h.slot))
	}
}

func (f *Frontier) unheap(h *host) {
	switch h.in {
	case isReady:
		heap.Remove(&f.ready, int(h.slot))
	case isWaiting, isResting:
		heap.Remove(&f.waiting, int(h.slot))
	}
	h.in = isIdle
}

func (f *Frontier) enheap(h *host, in standing) {
	f.unheap(h)
	h.in = in
	if in == isReady {
		heap.Push(&f.ready, h)
	} else {
		heap.Push(&f.waiting, h)
	}
}

// postpone takes h out of the ready hosts.
func (f *Frontier) postpone(h *host, wait time.Duration, in standing) {
	until := f.now() + wait
	if until < 0 { // overflow
		until = 1<<63 - 1
	}
	f.unheap(h)
	h.until, h.long = until, wait > f.options.Await
	f.enheap(h, in)
}

// release makes h ready at once: the slot that it waited for is free.
func (f *Frontier) release(h *host) {
	if h.in == isWaiting {
		f.unheap(h)
	}
}

// delay delays the lease of h with this tie.
func (f *Frontier) delay(h *host, tie uint64, until time.Duration) {
	i := sort.Search(len(f.delayed), func(i int) bool { return f.delayed[i].until > until })
	f.delayed = slices.Insert(f.delayed, i, delayed{until, h, tie})
}

// wake makes hosts and entries ready whose wait is over, and returns the next remaining wait; false
// if there is none.
func (f *Frontier) wake() (time.Duration, bool) {
	now := f.now()
	for len(f.delayed) > 0 && f.delayed[0].until <= now {
		d := f.delayed[0]
		f.delayed = f.delayed[1:]
		if i := d.host.leasedAt(d.tie); i >= 0 && d.host.buffer.leased[i].delayed {
			f.endLease(d.host, i)
			f.settle(d.host)
		}
	}
	for f.waiting.Len() > 0 && f.waiting.hosts[0].until <= now {
		h := f.waiting.hosts[0]
		f.unheap(h)
		f.settle(h)
	}
	until, some := f.nextToWake()
	return until - now, some
}

// nextToWake returns when the first wait of a host or an entry ends; false if there is none.
func (f *Frontier) nextToWake() (until time.Duration, some bool) {
	if f.waiting.Len() > 0 {
		until, some = f.waiting.hosts[0].until, true
	}
	if len(f.delayed) > 0 && (!some || f.delayed[0].until < until) {
		until, some = f.delayed[0].until, true
	}
	return until, some
}

// endLease puts a lease of h back into the queue.
func (f *Frontier) endLease(h *host, i int) {
	q := h.buffer
	it := q.leased[i].item
	q.leased = slices.Delete(q.leased, i, i+1)
	if it.stored != it.rank || q.within(it.place) {
		f.insert(h, it)
	}
}

// apply does to the queue in memory what a commit did to the one in the store.
func (f *Frontier) apply(c change) {
	h, q := c.host, c.host.buffer
	if q == nil {
		best := h.best
		if !c.gone && c.place.before(best) {
			best = c.place
		} else if h.queued == 0 {
			best = nowhere
		}
		f.rank(h, best)
		return
	}
	defer func() { f.settle(h) }() // a heap allows one change at a time
	if i := h.leasedAt(c.place.tie); i >= 0 && !c.gone {
		q.leased[i].stored = c.place.rank // leased meanwhile, with its old words
		return
	} else if i >= 0 {
		if !q.leased[i].delayed {
			f.account()
			f.leased--
		}
		q.leased = slices.Delete(q.leased, i, i+1)
		f.release(h)
		return
	}
	if i := h.waitsAt(c.place.tie); i >= 0 {
		f.remove(h, i)
	}
	if !c.gone && q.within(c.place) {
		f.insert(h, item{c.place, c.place.rank})
	}
	f.trim(h, maxBlocks*f.block)
}

// A hostHeap orders hosts; see container/heap.
type hostHeap struct {
	hosts []*host
	less  func(a, b *host) bool
}

func (q *hostHeap) Len() int           { return len(q.hosts) }
func (q *hostHeap) Less(i, j int) bool { return q.less(q.hosts[i], q.hosts[j]) }
func (q *hostHeap) Swap(i, j int) {
	q.hosts[i], q.hosts[j] = q.hosts[j], q.hosts[i]
	q.hosts[i].slot, q.hosts[j].slot = int32(i), int32(j)
}

func (q *hostHeap) Push(x any) {
	h := x.(*host)
	h.slot = int32(len(q.hosts))
	q.hosts = append(q.hosts, h)
}

func (q *hostHeap) Pop() any {
	last := len(q.hosts) - 1
	h := q.hosts[last]
	q.hosts[last] = nil
	q.hosts = q.hosts[:last]
	return h
}
