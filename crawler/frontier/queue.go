package frontier

import (
	"container/heap"
	"iter"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"gazehound/crawler/weburl"

	badger "github.com/dgraph-io/badger/v4"
)

// A host is what memory holds for every host of the crawl: few bytes, because
// there may be a million of them, and no pointers, so that the garbage
// collector need not look at them. The entries themselves are in its buffer
// while it is being asked, and else on disk only.
type host struct {
	id     uint64
	best   place         // no entry that waits is better; exact for a buffered head
	queued uint32        // on disk: waiting and leased
	total  uint32        // queued and visited
	until  time.Duration // parked: end of the rest, since Frontier.began
	slot   int32         // in its heap
	loaded uint32        // 1 + place of its buffer in Frontier.loaded; 0: it has none
	in     standing
	long   bool // parked: for more than Options.Await

	// ordered: its queue has places of its own on disk. Hosts of a few URLs do
	// without, and are read whole and sorted.
	ordered bool
}

// hosts are all hosts of the crawl by their id. A host stays where it is.
type hosts struct {
	places map[uint64]uint32 // id → place in the slabs
	slabs  [][]host          // all but the last are full
}

const slabHosts = 1024

// get returns the host with this id, or nil.
func (s *hosts) get(id uint64) *host {
	n, known := s.places[id]
	if !known {
		return nil
	}
	return &s.slabs[n/slabHosts][n%slabHosts]
}

// add returns a new host; the caller knows that there is none with this id.
func (s *hosts) add(id uint64) *host {
	if s.places == nil {
		s.places = make(map[uint64]uint32)
	}
	n := len(s.places)
	s.places[id] = uint32(n)
	if n%slabHosts == 0 {
		s.slabs = append(s.slabs, make([]host, 0, slabHosts))
	}
	slab := &s.slabs[n/slabHosts]
	*slab = append(*slab, host{id: id, best: nowhere})
	return &(*slab)[n%slabHosts]
}

func (s *hosts) len() int { return len(s.places) }

// all yields every host.
func (s *hosts) all() iter.Seq[*host] {
	return func(yield func(*host) bool) {
		for _, slab := range s.slabs {
			for i := range slab {
				if !yield(&slab[i]) {
					return
				}
			}
		}
	}
}

type standing uint8

const (
	isIdle    standing = iota // nothing waits
	isReady                   // may be asked
	isParked                  // by the answer of a claim; the end of a visit may end it
	isResting                 // by Return
)

// A buffer holds the entries of a host that are leased, those that wait up to
// an edge in the order of the queue, and those beyond the edge whose place in
// memory is not the one in the store.
type buffer struct {
	host   *host
	items  []item // that wait, the best last
	leased []lease
	edge   place // what is on disk up to here is in items or leased
	more   bool  // there may be something beyond the edge
	moved  int   // items that are elsewhere on disk
}

// An item is an entry in the queue without its words.
type item struct {
	place
	disk    uint32 // rank in the store
	retries uint32
	ref     ref
}

// A lease is an entry that somebody has taken, as it was then, or (rests) one
// that was returned with a wait of its own.
type lease struct {
	item
	url       weburl.URL
	redirects int
	rests     bool
}

// A nap is the rest of one entry.
type nap struct {
	until time.Duration // since Frontier.began
	host  *host
	tie   uint64
}

// A napHeap has the first to wake first; see container/heap.
type napHeap []nap

func (q napHeap) Len() int           { return len(q) }
func (q napHeap) Less(i, j int) bool { return q[i].until < q[j].until }
func (q napHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *napHeap) Push(x any)        { *q = append(*q, x.(nap)) }
func (q *napHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

const (
	shortHost    = 128 // URLs up to which a host has no places on disk
	blockItems   = 64  // that are read at a time
	maxBlocks    = 8   // of a host in memory, but for items that have moved
	maxMoved     = 4   // blocks that have moved and are not written yet
	fewItems     = 8   // of a host in memory that is asked for room: half of them stay
	buffersShare = 8   // one part in … of Options.Memory is for buffers
	groupsShare  = 32  // one part in … is for groups that links were read from
	latelyShare  = 64  // one part in … is for what became of URLs
	bufferBytes  = 160
	itemBytes    = 32
)

// buffered returns the buffer of h, or nil. f.mu is held, as for everything
// below.
func (f *Frontier) buffered(h *host) *buffer {
	if h.loaded == 0 {
		return nil
	}
	return f.loaded[h.loaded-1]
}

// waiting returns the number of entries that are not leased.
func (f *Frontier) waiting(h *host) int {
	n := int(h.queued)
	if q := f.buffered(h); q != nil {
		n -= len(q.leased)
	}
	return n
}

// stored returns a place on disk that no queued entry of h is better than.
// Those with the ties gone do not count.
func (f *Frontier) stored(h *host, gone []uint64) place {
	q := f.buffered(h)
	if q == nil {
		return h.best
	}
	best := nowhere
	if q.more {
		best = q.edge
	}
	consider := func(it *item) {
		if p := (place{it.disk, it.tie}); p.before(best) && !slices.Contains(gone, it.tie) {
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

// bound returns a place that no waiting entry of h is better than.
func (f *Frontier) bound(h *host) place {
	q := f.buffered(h)
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

// search returns where p is or belongs in items.
func (q *buffer) search(p place) int {
	return sort.Search(len(q.items), func(i int) bool { return !p.before(q.items[i].place) })
}

func (q *buffer) insert(it item) {
	i := q.search(it.place)
	if n := len(q.items); n == cap(q.items) {
		q.items = append(make([]item, 0, n+n/4+2), q.items...) // append would leave up to half of it empty, for each host
	}
	q.items = slices.Insert(q.items, i, it)
	if it.disk != it.rank {
		q.moved++
	}
}

// find returns the index of the entry with this tie, or -1.
func (q *buffer) find(tie uint64) int {
	return slices.IndexFunc(q.items, func(it item) bool { return it.tie == tie })
}

func (q *buffer) remove(i int) item {
	it := q.items[i]
	q.items = slices.Delete(q.items, i, i+1)
	if n := len(q.items); cap(q.items) > max(fewItems, 2*n) {
		q.items = append(make([]item, 0, n+n/4), q.items...)
	}
	if it.disk != it.rank {
		q.moved--
	}
	return it
}

// has tells whether an entry of the store belongs into the buffer.
func (q *buffer) has(p place) bool { return !q.more || !q.edge.before(p) }

// trim gives up what is far from the front and can be read again.
func (q *buffer) trim(most int) {
	if len(q.items)-q.moved <= most {
		return
	}
	q.edge, q.more = q.items[len(q.items)-most/2].place, true
	q.items = slices.DeleteFunc(q.items, func(it item) bool { return it.disk == it.rank && !q.has(it.place) })
}

// settle puts h into the heap where it belongs, as far as its buffer decides that.
func (f *Frontier) settle(h *host) { f.rank(h, f.bound(h)) }

// rank puts h, whose entries are no better than best, into the heap where it
// belongs.
func (f *Frontier) rank(h *host, best place) {
	moved := h.best != best
	h.best = best
	switch {
	case f.waiting(h) <= 0 && h.in != isResting:
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
	case isParked, isResting:
		heap.Remove(&f.parked, int(h.slot))
	}
	h.in = isIdle
}

func (f *Frontier) enheap(h *host, in standing) {
	f.unheap(h)
	h.in = in
	if in == isReady {
		heap.Push(&f.ready, h)
	} else {
		heap.Push(&f.parked, h)
	}
}

// park takes h out of the hosts that may be asked.
func (f *Frontier) park(h *host, wait time.Duration, in standing) {
	until := time.Since(f.began) + wait
	if until < 0 { // overflow
		until = 1<<63 - 1
	}
	f.unheap(h)
	h.until, h.long = until, wait > f.options.Await
	f.enheap(h, in)
}

// wake makes ready whose rest is over, and returns how long the next one
// rests; false if none does.
func (f *Frontier) wake() (time.Duration, bool) {
	now := time.Since(f.began)
	for len(f.naps) > 0 && f.naps[0].until <= now {
		n := heap.Pop(&f.naps).(nap)
		if i := f.leasedAt(n.host, n.tie); i >= 0 && f.buffered(n.host).leased[i].rests {
			f.giveBack(n.host, i)
			f.settle(n.host)
		}
	}
	for len(f.parked.hosts) > 0 && f.parked.hosts[0].until <= now {
		h := f.parked.hosts[0]
		f.unheap(h)
		f.settle(h)
	}
	until, some := f.nextToWake()
	return until - now, some
}

// nextToWake returns when the first rest of a host or an entry ends; false if
// nothing rests.
func (f *Frontier) nextToWake() (until time.Duration, some bool) {
	if len(f.parked.hosts) > 0 {
		until, some = f.parked.hosts[0].until, true
	}
	if len(f.naps) > 0 && (!some || f.naps[0].until < until) {
		until, some = f.naps[0].until, true
	}
	return until, some
}

// endLease takes a lease out. Most buffers have none: they keep no room for it.
func (q *buffer) endLease(i int) {
	if q.leased = slices.Delete(q.leased, i, i+1); len(q.leased) == 0 {
		q.leased = nil
	}
}

// giveBack lets a lease of h wait again.
func (f *Frontier) giveBack(h *host, i int) {
	q := f.buffered(h)
	l := q.leased[i]
	q.endLease(i)
	if l.disk != l.rank || q.has(l.place) {
		q.insert(l.item)
		f.items++
	}
}

// apply does to the queue in memory what a commit did to the one on disk.
func (f *Frontier) apply(c change) {
	h, it := c.host, c.item
	q := f.buffered(h)
	if q == nil {
		best := h.best
		switch c.kind {
		case isNew, isMoved:
			if c.kind == isNew && h.queued == 1 { // the only one: nothing to read
				f.buffer(h).insert(it)
				f.items++
			}
			if it.place.before(best) {
				best = it.place
			}
		case isGone:
			if h.queued == 0 {
				best = nowhere
			}
		}
		f.rank(h, best) // now: a heap bears one change at a time
		return
	}
	if c.kind == isMended {
		f.items -= len(q.items)
		*q = buffer{host: h, leased: q.leased, more: true}
		return
	}
	before := len(q.items)
	leased, waits := q.leasedAt(it.tie), -1
	if leased < 0 && c.kind != isNew {
		waits = q.find(it.tie)
	}
	switch {
	case c.kind == isNew:
		q.keep(it)
	case c.kind == isGone && leased >= 0:
		if !q.leased[leased].rests {
			f.leased--
		}
		q.endLease(leased)
		f.release(h)
	case c.kind == isGone && waits >= 0:
		q.remove(waits)
	case c.kind == isGone:
	case c.kind == isMoved && leased >= 0: // it was taken meanwhile, with the words it had
		q.leased[leased].disk = it.rank
	case leased >= 0:
		l := &q.leased[leased]
		l.disk, l.ref, l.retries = it.disk, it.ref, it.retries
	case c.kind == isMoved:
		if waits >= 0 {
			q.remove(waits)
		}
		q.keep(it)
	case waits >= 0: // isKept
		now := q.remove(waits)
		now.disk, now.ref, now.retries = it.disk, it.ref, it.retries
		if now.disk != now.rank {
			q.insert(now)
		} else {
			q.keep(now)
		}
	}
	q.trim(maxBlocks * f.block)
	f.items += len(q.items) - before
}

// keep puts an entry of the store into the buffer if it belongs there.
func (q *buffer) keep(it item) {
	if q.has(it.place) {
		q.insert(it)
	}
}

// release asks for the next claim of h at once: the turn that it waited for
// has ended.
func (f *Frontier) release(h *host) {
	if h.in == isParked {
		f.unheap(h)
	}
}

// buffer gives h a buffer, with nothing in it and nothing on disk.
func (f *Frontier) buffer(h *host) *buffer {
	q := &buffer{host: h}
	f.loaded = append(f.loaded, q)
	h.loaded = uint32(len(f.loaded))
	return q
}

// load reads h's best entries until the best of them is known, and returns it;
// false if there is none.
func (f *Frontier) load(h *host) (best item, ok bool, err error) {
	q := f.buffered(h)
	if q == nil {
		q = f.buffer(h)
		q.more = true
	}
	before := len(q.items)
	for {
		n := len(q.items)
		if !q.more || n > 0 && !q.edge.before(q.items[n-1].place) {
			break
		}
		read := 0
		err := f.scanQueue(f.view, h, h.ordered, q.edge, func(it item) (bool, error) {
			q.edge = it.place
			if q.find(it.tie) < 0 && q.leasedAt(it.tie) < 0 {
				q.insert(it)
			}
			read++
			return read < f.block, nil
		})
		if err != nil {
			return item{}, false, err
		}
		if read < f.block {
			q.more = false
		}
	}
	f.items += len(q.items) - before
	if n := len(q.items); n > 0 {
		return q.items[n-1], true, nil
	}
	return item{}, false, nil
}

// scanQueue calls fn with h's entries on disk in their order, from the one
// after the given place on, until fn returns false. ordered tells whether txn
// sees places of h.
func (f *Frontier) scanQueue(txn *badger.Txn, h *host, ordered bool, after place, fn func(item) (bool, error)) error {
	if !ordered {
		return f.sortQueue(txn, h, after, fn)
	}
	prefix := queueKey(h.id, place{})[:9]
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Seek(queueKey(h.id, after)); it.Valid(); it.Next() {
		key := it.Item().Key()
		if len(key) != 21 {
			continue
		}
		d := decoder{rest: key[9:]}
		p := place{d.uint32(), d.uint64()}
		if p == after && after != (place{}) {
			continue
		}
		x := item{place: p, disk: p.rank}
		err := it.Item().Value(func(value []byte) error {
			r, retries, err := decodeQueue(value)
			x.ref, x.retries = r, uint32(retries)
			return err
		})
		if err != nil {
			x.ref = noRef // found damaged when it is its turn
		}
		if more, err := fn(x); err != nil || !more {
			return err
		}
	}
	return nil
}

// sortQueue is scanQueue for a host without places: it looks through all URLs
// of the host.
func (f *Frontier) sortQueue(txn *badger.Txn, h *host, after place, fn func(item) (bool, error)) error {
	var items []item
	err := scan(txn, urlKey(makeKey(h.id, 0))[:9], func(key, value []byte) error {
		r, err := decodeURL(value)
		if err != nil || len(key) != 17 || r.state != Queued {
			return nil // damaged ones are met when they are next asked for
		}
		p := place{r.rank, tieOf(f.seed, Key(key[1:]).url())}
		if after == (place{}) || after.before(p) {
			items = append(items, item{p, r.rank, uint32(r.retries), r.ref})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.place.before(b.place) {
			return -1
		}
		return 1
	})
	for _, it := range items {
		if more, err := fn(it); err != nil || !more {
			return err
		}
	}
	return nil
}

// noRef names no link.
const noRef = ^ref(0)

// evict makes room when there are too many entries in memory: it takes buffers
// at random, leaves a few entries in those that have many, and forgets the
// others. Nothing is lost: they hold what is on disk, and priorities that will be
// asked for again.
func (f *Frontier) evict() {
	size := func() int { return len(f.loaded)*bufferBytes + f.items*itemBytes }
	if size() <= f.budget {
		return
	}
	for range 2 * len(f.loaded) {
		if size() <= f.budget*3/4 {
			return
		}
		q := f.loaded[rand.IntN(len(f.loaded))]
		switch before := len(q.items); {
		case before-q.moved > fewItems:
			q.trim(fewItems)
			q.items = slices.Clone(q.items) // into no more room than they need
			f.items += len(q.items) - before
		case len(q.leased) == 0:
			f.unload(q)
		}
	}
}

// unload forgets a buffer of which nothing is leased.
func (f *Frontier) unload(q *buffer) {
	h := q.host
	h.best = f.stored(h, nil)
	f.items -= len(q.items)
	i, last := h.loaded-1, len(f.loaded)-1
	f.loaded[i] = f.loaded[last]
	f.loaded[i].host.loaded = i + 1
	f.loaded[last] = nil
	f.loaded = f.loaded[:last]
	h.loaded = 0
	if h.in == isReady {
		heap.Fix(&f.ready, int(h.slot))
	}
}

// leasedAt returns the index of the lease with this tie, or -1.
func (q *buffer) leasedAt(tie uint64) int {
	return slices.IndexFunc(q.leased, func(l lease) bool { return l.tie == tie })
}

// leasedAt returns the index of h's lease with this tie, or -1.
func (f *Frontier) leasedAt(h *host, tie uint64) int {
	if q := f.buffered(h); q != nil {
		return q.leasedAt(tie)
	}
	return -1
}

// leaseOf returns the lease of h with this tie. It takes f.mu.
func (f *Frontier) leaseOf(h *host, tie uint64) (l lease, leased bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := f.leasedAt(h, tie); i >= 0 {
		return f.buffered(h).leased[i], true
	}
	return lease{}, false
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
