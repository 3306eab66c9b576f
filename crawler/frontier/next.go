package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"
)

const (
	maxTries   = 64   // entries that one Next may rescore and put back
	longTries  = 4    // of them on average
	savedTries = 4096 // unused rescores saved for later calls
	tolerance  = 0.01 // share by which a rival must be better
	maxRefused = 64   // failed claims after which a Next yields to other callers

	maxAwaited = 10 * time.Second // longest total wait of a caller for better entries
	// waiting hosts, the first to become ready, that a caller considers
	lookAhead = 64
)

// rescoreBudget returns how many entries this call may rescore and put back, at least longTries.
// When nothing relevant is found any more all scores fall, and each rescored entry falls behind
// others with older scores. In simulations a smaller long-term budget lost nothing.
func (f *Frontier) rescoreBudget() int {
	f.spent = max(f.spent-longTries, 0)
	return min(maxTries, savedTries-f.spent)
}

// errLater means that the best available entry is held back.
var errLater = errors.New("held back for a better entry")

// Next leases the entry with the highest priority among the ready hosts, waiting until there is
// one. claim reserves a host (weburl.URL.Host) for one request and returns 0, or how long the host
// is not ready; it must not call the frontier. Every entry is leased to one caller, which releases
// it with Done or Return.
//
// Next returns io.EOF when nothing is queued and nothing leased, and the error of ctx when that ends.
func (f *Frontier) Next(ctx context.Context, claim func(host string) time.Duration) (Entry, error) {
	return f.next(ctx, claim, true)
}

// next is Next; in a Memory it returns ErrNotNow instead of waiting.
func (f *Frontier) next(ctx context.Context, claim func(host string) time.Duration, waits bool) (Entry, error) {
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
		f.account()
		if !waits {
			f.selecting = 0
		}
		f.wake()
		e, ok, err := f.take(claim, left > 0)
		rest, some := f.wake()
		switch {
		case ok:
			return e, nil
		case err != nil && err != errLater:
			return Entry{}, fmt.Errorf("frontier: next: %w", err)
		case f.totals.Queued == 0:
			return Entry{}, io.EOF
		case !waits && (err == errLater || f.ready.Len() == 0):
			if err == errLater {
				f.selecting = max(0, f.options.Workers-int(f.leased))
			}
			return Entry{}, ErrNotNow
		case err == errLater:
			began := f.now()
			f.selecting++
			f.wait(ctx, rest, some)
			f.account()
			f.selecting--
			left -= f.now() - began
		case f.ready.Len() == 0:
			f.wait(ctx, rest, some)
		default: // yield to calls that may change the result, such as a Done that frees a host
			f.mu.Unlock()
			runtime.Gosched()
			f.mu.Lock()
		}
	}
}

// wait returns when something has changed, ctx has ended, or after rest if a host is waiting. f.mu
// is held before and after.
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

// A candidate was rescored and does not lead.
type candidate struct {
	host  *host
	item  item
	entry Entry
}

// take leases the best available entry, or returns errLater if that is held back. After maxRefused
// failed claims it returns nothing, so that other callers need not wait.
func (f *Frontier) take(claim func(host string) time.Duration, selective bool) (e Entry, ok bool, err error) {
	var best candidate
	tries, refused, most := 0, 0, f.rescoreBudget()
	for f.ready.Len() > 0 && refused < maxRefused {
		if tries == most {
			tries++
			if selective && f.awaits(best.entry.Priority) {
				return Entry{}, false, errLater
			}
			if best.host.in == isReady && f.claim(best.host, &best.entry, claim) {
				f.lease(best.host, best.item.tie, &best.entry)
				return best.entry, true, nil
			}
			continue
		}
		h := f.ready.hosts[0]
		it, some, err := f.front(h)
		if err != nil {
			return Entry{}, false, err
		}
		if !some {
			return Entry{}, false, fmt.Errorf("%w: the queue of host %x is shorter than was counted", ErrDamaged, h.id)
		}
		if it.place != h.best {
			f.settle(h)
			if f.ready.hosts[0] != h {
				continue
			}
		}
		e, err := f.entry(h, it)
		if err != nil {
			return Entry{}, false, err
		}
		if f.options.Score != nil && tries < most {
			e.Priority = float64(finite(f.options.Score(&e)))
			it.rank = rankOf(float32(e.Priority))
			leads := f.rescore(h, it.rank)
			if !leads {
				tries++
				f.spent++
				if best.host == nil || it.place.before(best.item.place) {
					best = candidate{h, it, e}
				}
				continue
			}
		}
		if selective && f.awaits(e.Priority) {
			return Entry{}, false, errLater
		}
		if f.claim(h, &e, claim) {
			f.lease(h, it.tie, &e)
			return e, true, nil
		}
		refused++
	}
	return Entry{}, false, nil
}

// awaits reports whether an entry of this priority is held back for a better one, whose host is
// waiting. Long delays are not waited for: one host with a Crawl-delay and good links would stop
// all workers.
func (f *Frontier) awaits(priority float64) bool {
	selectivity := f.selectivity()
	if selectivity == 0 {
		return false
	}
	for _, h := range f.waiting.hosts[:min(lookAhead, f.waiting.Len())] {
		better := priorityOf(h.best.rank)
		if !h.long && h.waiting() > 0 && better > 0 && priority < selectivity*better {
			return true
		}
	}
	return false
}

// rescore gives the best entry of the first host a new rank and reports whether it still leads,
// within the tolerance.
func (f *Frontier) rescore(h *host, rank uint32) (leads bool) {
	it := f.remove(h, len(h.buffer.items)-1)
	rival := h.bound().rank
	for _, i := range [...]int{1, 2} { // one of the two is second in the heap
		if i < f.ready.Len() {
			rival = min(rival, f.ready.hosts[i].best.rank)
		}
	}
	it.rank = rank
	f.insert(h, it)
	f.settle(h)
	if rank <= rival || rival == nowhere.rank {
		return true
	}
	mine, other := priorityOf(rank), priorityOf(rival)
	return mine >= other-tolerance*max(other, -other)
}

// claim calls the claim function for h, and postpones h if it is not ready.
func (f *Frontier) claim(h *host, e *Entry, claim func(host string) time.Duration) bool {
	wait := claim(e.URL.Host())
	if wait > 0 {
		f.postpone(h, wait, isWaiting)
	}
	return wait <= 0
}

// lease takes e, which is in h's buffer.
func (f *Frontier) lease(h *host, tie uint64, e *Entry) {
	it := f.remove(h, h.waitsAt(tie))
	h.buffer.leased = append(h.buffer.leased, lease{it, e.URL, e.Redirects, e.Retries, false})
	f.leased++
	f.settle(h)
}

// entry reads the full entry of an item.
func (f *Frontier) entry(h *host, it item) (Entry, error) {
	key := queueKey(h.id, it.storedPlace())
	e, known, err := get(f.view, key, decodeLink)
	if err == nil && (!known || KeyOf(e.URL) != makeKey(h.id, f.urlOf(it.tie))) {
		err = fmt.Errorf("%w: another link than expected under key %x", ErrDamaged, key)
	}
	e.Priority = priorityOf(it.rank)
	return e, err
}

// A Backoff is how long an entry returned to the queue is not served.
type Backoff struct {
	Wait time.Duration // 0: as soon as it is the best again
	// Host applies the wait to all entries of the host. A wait of the entry alone ends with the
	// process.
	Host bool
}

// Return puts a leased entry that was not visited back into the queue. Changes of its URL (to
// another one of the same key), Redirects and Retries are stored; other fields are ignored.
func (f *Frontier) Return(e Entry, b Backoff) error {
	links, err := prepare([]Entry{e})
	if err != nil {
		return err
	}
	self := &links[0]
	f.mu.Lock()
	defer f.mu.Unlock()
	h, i, err := f.taken(self)
	if err != nil {
		return err
	}
	l := h.buffer.leased[i]
	if l.url != e.URL || l.redirects != self.Redirects || l.retries != self.Retries {
		f.mu.Unlock()
		err := f.write(context.Background(), func(b *batch) { b.change(self) })
		f.mu.Lock()
		if err != nil {
			return err
		}
		h, i, err = f.taken(self)
		if err != nil {
			return err
		}
	}
	f.account()
	f.leased--
	f.release(h)
	until := f.now() + b.Wait
	switch {
	case !b.Host && b.Wait > 0 && until > 0:
		h.buffer.leased[i].delayed = true
		f.delay(h, l.tie, until)
	default:
		f.endLease(h, i)
		if b.Wait > 0 && !(h.in == isResting && h.until > until) {
			f.postpone(h, b.Wait, isResting)
		}
	}
	f.settle(h)
	f.broadcast()
	return nil
}

// taken returns the host of a leased entry, and the index of its lease.
func (f *Frontier) taken(l *link) (h *host, i int, err error) {
	if f.closed {
		return nil, 0, ErrClosed
	}
	if h := f.hosts[l.key.host()]; h != nil {
		if i := h.leasedAt(f.tie(l.key)); i >= 0 && !h.buffer.leased[i].delayed {
			return h, i, nil
		}
	}
	return nil, 0, fmt.Errorf("frontier: return %s: %w", l.URL, ErrNotLeased)
}
