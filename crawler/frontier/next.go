package frontier

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

const (
	maxTries   = 64   // entries that one Next may score anew and put back
	longTries  = 4    // of them in the long run
	savedTries = 4096 // what calls that needed fewer have left for later ones
	tolerance  = 0.01 // share by which a rival must be better for that
	maxRefused = 64   // hosts that one Next may ask in vain before it lets others in

	maxAwaited = 10 * time.Second // what one caller waits for better entries, all in all
	lookAhead  = 64               // hosts that rest, among those that wake first, that a caller looks at
)

// An effort bounds how many entries are scored anew. Where nothing relevant is
// found any more all scores fall, and each entry that comes to the front falls
// behind others whose scores are older: of 250,000 waiting links 47 were read
// from the store for each page, three fifths of all CPU time. Fewer in the long
// run lose nothing that simulations could tell (docs/performance-log.md).
type effort struct{ spent int } // in excess of longTries a call

// most returns how many entries this call may put back, at least longTries.
func (e *effort) most() int {
	e.spent = max(e.spent-longTries, 0)
	return min(maxTries, savedTries-e.spent)
}

// errLater says that the best entry that may be had is left alone.
var errLater = errors.New("a better entry will be had soon")

// Next takes the entry with the highest priority among the hosts that may be
// asked now, and waits as long as there is none. claim takes the turn of a
// host (weburl.URL.Host) and returns 0, or says how long to leave it alone;
// it must not call the frontier. Every entry is handed to one caller, who
// gives it up with Done or Return.
//
// Next returns io.EOF when nothing is queued and nothing leased, and the error
// of ctx when that ends.
func (f *Frontier) Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := maxAwaited // to wait for better entries
	for {
		switch {
		case ctx.Err() != nil:
			return Entry{}, ctx.Err()
		case f.closed:
			return Entry{}, ErrClosed
		case f.failed != nil:
			return Entry{}, f.failed
		}
		f.wake()
		e, ok, write, err := f.take(claim, left > 0)
		switch {
		case err == errLater:
			until, some := f.nextToWake()
			now := time.Since(f.began)
			f.selecting++
			f.wait(ctx, until-now, some)
			f.selecting--
			left -= time.Since(f.began) - now
			continue
		case err != nil:
			return Entry{}, fmt.Errorf("frontier: next: %w", err)
		case ok:
			return e, nil
		case write != nil:
			f.mu.Unlock()
			err := f.submit(ctx, maxMended*perLink, write)
			f.mu.Lock()
			if err != nil {
				return Entry{}, err
			}
			continue
		case f.queued == 0:
			return Entry{}, io.EOF
		}
		if rest, some := f.wake(); len(f.ready.hosts) == 0 {
			f.wait(ctx, rest, some)
		} else { // let in those who may change the answers, such as a Done that ends a turn
			f.mu.Unlock()
			runtime.Gosched()
			f.mu.Lock()
		}
	}
}

// wait returns when something has changed, ctx has ended, or after rest if
// some host rests. f.mu is held before and after.
func (f *Frontier) wait(ctx context.Context, rest time.Duration, some bool) {
	changed := f.changed
	f.waiters++
	f.mu.Unlock()
	var timer <-chan time.Time
	if some {
		t := time.NewTimer(rest)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-changed:
	case <-timer:
	case <-ctx.Done():
	}
	f.mu.Lock()
	f.waiters--
}

// A candidate was scored anew and does not lead.
type candidate struct {
	host  *host
	item  item
	entry Entry
}

// take leases the best entry that may be had; errLater, if a selective caller
// leaves that alone. Something may have to be written first; then it returns
// that. After
// maxRefused claims in vain it returns nothing, so as not to keep others
// waiting.
func (f *Frontier) take(claim func(host string) time.Duration, selective bool) (e Entry, ok bool, write func(*batch) error, err error) {
	var best candidate
	tries, refused, most := 0, 0, f.effort.most()
	for len(f.ready.hosts) > 0 && refused < maxRefused {
		if tries == most {
			tries++
			if selective && f.awaits(best.entry.Priority) {
				return Entry{}, false, nil, errLater
			}
			if best.host.in == isReady && f.claim(best.host, &best.entry, claim) {
				f.lease(best.host, best.item.tie, &best.entry)
				return best.entry, true, nil, nil
			}
			continue
		}
		h := f.ready.hosts[0]
		it, some, err := f.load(h)
		if err != nil {
			return Entry{}, false, nil, err
		}
		if !some { // its record promised more than there is
			return Entry{}, false, func(b *batch) error { return b.mend(h) }, nil
		}
		if it.place != h.best {
			f.settle(h)
			if f.ready.hosts[0] != h {
				continue
			}
		}
		e, err := f.entry(h, it)
		if errors.Is(err, errDamaged) {
			return Entry{}, false, func(b *batch) error { return b.lose(h, it) }, nil
		}
		if err != nil {
			return Entry{}, false, nil, err
		}
		if f.options.Score != nil && tries < most {
			e.Priority = float64(finite(f.options.Score(&e)))
			it.rank = rankOf(float32(e.Priority))
			leads := f.rescore(h, it.rank)
			if f.buffered(h).moved > maxMoved*f.block {
				items := f.buffered(h).strays()
				return Entry{}, false, func(b *batch) error { return b.rekey(h, items) }, nil
			}
			if !leads {
				tries++
				f.effort.spent++
				if best.host == nil || it.place.before(best.item.place) {
					best = candidate{h, it, e}
				}
				continue
			}
		}
		if selective && f.awaits(e.Priority) {
			return Entry{}, false, nil, errLater
		}
		if f.claim(h, &e, claim) {
			f.lease(h, it.tie, &e)
			return e, true, nil, nil
		}
		refused++
	}
	return Entry{}, false, nil, nil
}

// awaits tells whether an entry of this priority is left alone for a better
// one, whose host rests. Nobody waits for the end of a long rest: one host with a
// Crawl-delay and good links would stop all workers each time.
func (f *Frontier) awaits(priority float64) bool {
	if f.options.Selectivity == 0 {
		return false
	}
	for _, h := range f.parked.hosts[:min(lookAhead, len(f.parked.hosts))] {
		if !h.long && f.waiting(h) > 0 && worthWaiting(priority, h.best.rank, f.options.Selectivity) {
			return true
		}
	}
	return false
}

// worthWaiting tells whether an entry of this rank is so much better than one
// of that priority.
func worthWaiting(priority float64, better uint32, selectivity float64) bool {
	b := priorityOf(better)
	return b > 0 && priority < selectivity*b
}

// rescore gives the best entry of the first host a new rank and tells whether
// it leads with that, give or take the tolerance.
func (f *Frontier) rescore(h *host, rank uint32) (leads bool) {
	q := f.buffered(h)
	it := q.remove(len(q.items) - 1)
	rival := f.bound(h).rank
	for _, i := range [...]int{1, 2} { // one of the two is second in the heap
		if i < len(f.ready.hosts) {
			rival = min(rival, f.ready.hosts[i].best.rank)
		}
	}
	it.rank = rank
	q.insert(it)
	f.settle(h)
	if rank <= rival || rival == nowhere.rank {
		return true
	}
	mine, other := priorityOf(rank), priorityOf(rival)
	return mine >= other-tolerance*max(other, -other)
}

// strays returns the entries of q whose place is not that in the store.
func (q *buffer) strays() []item {
	var items []item
	for _, it := range q.items {
		if it.disk != it.rank {
			items = append(items, it)
		}
	}
	return items
}

// claim asks for h's turn, and parks h if it is not to be had.
func (f *Frontier) claim(h *host, e *Entry, claim func(host string) time.Duration) bool {
	wait := claim(e.URL.Host())
	if wait > 0 {
		f.park(h, wait, isParked)
	}
	return wait <= 0
}

// lease takes e, which is in h's buffer.
func (f *Frontier) lease(h *host, tie uint64, e *Entry) {
	q := f.buffered(h)
	it := q.remove(q.find(tie))
	q.leased = append(q.leased, lease{it, e.URL, e.Redirects, false})
	f.leased++
	f.items--
	f.settle(h)
}

// entry reads the words of an item.
func (f *Frontier) entry(h *host, it item) (Entry, error) {
	e, err := f.codec.words(f.view, it.ref, makeKey(h.id, urlOf(f.seed, it.tie)))
	e.Priority, e.Retries = priorityOf(it.rank), int(it.retries)
	return e, err
}

// A Backoff says how long an entry that is returned to the queue is not handed
// out again.
type Backoff struct {
	Wait time.Duration // 0: as soon as it is the best again
	// Host extends the wait to all entries of the host. A wait of the entry alone
	// ends with the process.
	Host bool
}

// Return puts a leased entry that was not visited back into the queue. If its URL
// (another one of the same key), Redirects or Retries have changed, that is
// stored; nothing else of e counts.
func (f *Frontier) Return(e Entry, b Backoff) error {
	links, err := prepare([]Entry{e})
	if err != nil {
		return err
	}
	key := links[0].key
	tie := tieOf(f.seed, key.url())
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts.get(key.host())
	l, err := f.taken(h, tie, e)
	if err != nil {
		return err
	}
	if l.url != e.URL || l.redirects != links[0].Redirects || int(l.retries) != links[0].Retries {
		f.mu.Unlock()
		err := f.submit(context.Background(), weigh(links), func(b *batch) error { return b.change(links[0]) })
		f.mu.Lock()
		if err != nil {
			return err
		}
		if l, err = f.taken(h, tie, e); err != nil {
			return err
		}
	}
	i := f.leasedAt(h, tie)
	f.leased--
	f.release(h)
	until := time.Since(f.began) + b.Wait
	switch {
	case !b.Host && b.Wait > 0 && until > 0:
		f.buffered(h).leased[i].rests = true
		heap.Push(&f.naps, nap{until, h, tie})
	default:
		f.giveBack(h, i)
		if b.Wait > 0 && !(h.in == isResting && h.until > until) {
			f.park(h, b.Wait, isResting)
		}
	}
	f.settle(h)
	f.broadcast()
	return nil
}

// taken returns the lease of e.
func (f *Frontier) taken(h *host, tie uint64, e Entry) (lease, error) {
	if f.closed {
		return lease{}, ErrClosed
	}
	if h != nil {
		if i := f.leasedAt(h, tie); i >= 0 && !f.buffered(h).leased[i].rests {
			return f.buffered(h).leased[i], nil
		}
	}
	return lease{}, fmt.Errorf("frontier: return %s: %w", e.URL, ErrNotLeased)
}
