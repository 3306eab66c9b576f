package frontier

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// write runs fn in a transaction, commits it and shows it to everybody. What fn has written is
// durable then. fn may only use its batch.
func (f *Frontier) write(ctx context.Context, fn func(*batch) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	b, err := f.begin()
	if err != nil {
		return err
	}
	defer b.update.close()
	if err := fn(b); err != nil {
		return fmt.Errorf("frontier: write: %w", err)
	}
	if err := b.seal(); err != nil {
		return fmt.Errorf("frontier: write: %w", err)
	}
	if err := b.update.commit(); err != nil {
		return f.fail(fmt.Errorf("frontier: commit to %s: %w", f.options.Dir, err))
	}
	f.unsynced.Store(true)
	f.show(b)
	return nil
}

// begin returns an empty batch.
func (f *Frontier) begin() (*batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, ErrClosed
	case f.failed != nil:
		return nil, f.failed
	}
	if err := f.checkDisk(); err != nil {
		return nil, err
	}
	f.wake() // an entry whose rest is over bears a better link
	return &batch{f: f, update: f.store.update(), totals: f.totals.clone(), hosts: make(map[*host]*delta)}, nil
}

// show lets everybody see what a batch has committed.
func (f *Frontier) show(b *batch) {
	view := f.store.view()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.close()
	f.view = view
	f.totals = b.totals
	for h, d := range b.hosts {
		h.queued = uint32(int64(h.queued) + d.queued)
		h.total = uint32(int64(h.total) + d.total)
	}
	for _, c := range b.changes {
		f.apply(c)
	}
	f.evict()
	f.broadcast()
}

// fail ends all writing: nobody knows what is on the disk now. Opening again finds out.
func (f *Frontier) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = err
	f.broadcast()
	return err
}

// syncEverySecond brings what was written to the disk, so that a power cut loses a second at most.
func (f *Frontier) syncEverySecond() {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-ticks.C:
			if !f.unsynced.Swap(false) {
				continue
			}
			if err := f.store.sync(); err != nil {
				f.fail(fmt.Errorf("frontier: sync %s: %w", f.options.Dir, err))
				return
			}
		}
	}
}

// checkDisk refuses to write to a disk that is nearly full: Badger maps its files into memory, and
// there a full disk is no error but the end of the process.
func (f *Frontier) checkDisk() error {
	if f.options.InMemory {
		return nil
	}
	var s unix.Statfs_t
	if err := unix.Statfs(f.options.Dir, &s); err != nil {
		return fmt.Errorf("frontier: %s: %w", f.options.Dir, err)
	}
	free := int64(s.Bavail) * int64(s.Bsize)
	if free < f.options.MinFree {
		return fmt.Errorf("frontier: only %d MB are left on the disk of %s, and %d MB have to be: %w",
			free>>20, f.options.Dir, f.options.MinFree>>20, syscall.ENOSPC)
	}
	return nil
}

// portion returns how many of the links fit into half a transaction.
func (f *Frontier) portion(links []link) int {
	left := f.store.batchBytes() / 2
	for i := range links {
		if left -= weigh(links[i : i+1]); left < 0 {
			return max(i, 1)
		}
	}
	return len(links)
}

// A batch is one transaction in the making.
type batch struct {
	update
	f       *Frontier
	totals  Totals
	hosts   map[*host]*delta
	parts   map[string]uint64 // URLs in parts of hosts with a limit, by partKey
	changes []change
}

// A delta is what a batch changes about a host.
type delta struct {
	queued, total int64
	best          place    // of what was queued
	gone          []uint64 // ties of what is not queued any more
}

// A change is what a batch does to the queue in memory once it is committed.
type change struct {
	kind  changeKind
	host  *host
	place place // in the store
}

type changeKind uint8

const (
	isQueued    changeKind = iota // waits at a place
	isGone                        // waits no longer
	isRecounted                   // the queue of the host is to be read again
)

// lookup returns what is known about a URL. One whose record is damaged is taken out of the crawl.
func (b *batch) lookup(k Key) (r urlRecord, known bool, err error) {
	r, known, err = get(b, urlKey(k), decodeURL)
	if err == errDamaged {
		return urlRecord{}, false, b.dropURL(k)
	}
	return r, known, err
}

// host returns the host of a URL and makes sure that its record is written.
func (b *batch) host(k Key) *host {
	b.f.mu.Lock()
	h := b.f.hosts[k.host()]
	if h == nil {
		h = &host{id: k.host(), best: nowhere}
		b.f.hosts[h.id] = h
	}
	b.f.mu.Unlock()
	if b.hosts[h] == nil {
		b.hosts[h] = &delta{best: nowhere}
	}
	return h
}

func (b *batch) tie(k Key) uint64 { return tieOf(b.f.seed, k.url()) }

// push queues links that are new or better than what is known.
func (b *batch) push(links []link) (added int, err error) {
	for i := range links {
		isNew, err := b.pushLink(&links[i])
		if err != nil {
			return 0, err
		}
		if isNew {
			added++
		}
	}
	return added, nil
}

func (b *batch) pushLink(l *link) (isNew bool, err error) {
	b.totals.Links++
	r, known, err := b.lookup(l.key)
	if err != nil {
		return false, err
	}
	rank := rankOf(finite(l.Priority))
	if known && r.outdoes(rank, l.Distance) {
		b.totals.Repeats++
		return false, nil
	}
	h, tie := b.host(l.key), b.tie(l.key)
	if known {
		b.totals.Repeats++
		if _, leased := b.f.leaseOf(h, tie); leased {
			return false, nil
		}
		l.Retries = r.retries
		if err := b.delete(queueKey(h.id, place{r.rank, tie})); err != nil {
			return false, err
		}
		return false, b.enqueue(h, l, place{rank, tie})
	}
	reason, err := b.refuses(h, l)
	if err != nil {
		return false, err
	}
	if reason != "" {
		count(b.totals.Dropped, reason, 1)
		return false, nil
	}
	b.totals.Queued++
	b.hosts[h].queued++
	b.hosts[h].total++
	return true, b.enqueue(h, l, place{rank, tie})
}

// enqueue writes the record of a waiting URL and its place in the queue.
func (b *batch) enqueue(h *host, l *link, p place) error {
	r := urlRecord{state: Queued, rank: p.rank, distance: l.Distance, retries: l.Retries}
	if err := b.set(urlKey(l.key), r.encode()); err != nil {
		return err
	}
	b.waits(h, p)
	return b.set(queueKey(h.id, p), encodeQueued(&l.Entry))
}

// waits notes that an entry waits at a place.
func (b *batch) waits(h *host, p place) {
	if d := b.hosts[h]; p.before(d.best) {
		d.best = p
	}
	b.changes = append(b.changes, change{isQueued, h, p})
}

// dequeue removes an entry from the queue.
func (b *batch) dequeue(h *host, p place) error {
	d := b.hosts[h]
	d.queued--
	d.gone = append(d.gone, p.tie)
	b.totals.Queued--
	b.changes = append(b.changes, change{isGone, h, p})
	return b.delete(queueKey(h.id, p))
}

// refuses says why a new URL is not taken by its host, or "". One that is taken counts from then on.
func (b *batch) refuses(h *host, l *link) (reason string, err error) {
	limit := b.f.options.MaxPerHost
	if b.f.options.PerHost != nil {
		if own := b.f.options.PerHost(l.URL); own > 0 {
			limit = own
		}
	}
	if limit > 0 && int64(h.total)+b.hosts[h].total >= limit {
		return "host_limit", nil
	}
	fits, err := b.inPart(l)
	if err == nil && !fits {
		return "path_limit", nil
	}
	return "", err
}

// inPart counts a new URL in the part of its host, if that has a limit. It tells whether there is
// room; what is over the limit is not counted.
func (b *batch) inPart(l *link) (fits bool, err error) {
	if b.f.options.PerPart == nil {
		return true, nil
	}
	part, limit := b.f.options.PerPart(l.URL)
	if limit <= 0 {
		return true, nil
	}
	key := partKey(l.key.host(), part)
	n, known := b.parts[string(key)]
	if !known {
		if n, _, err = get(b, key, decodeNumber); err == errDamaged {
			n = 0
		} else if err != nil {
			return false, err
		}
	}
	if n >= uint64(limit) {
		return false, nil
	}
	if b.parts == nil {
		b.parts = make(map[string]uint64)
	}
	b.parts[string(key)] = n + 1
	return true, nil
}

// finish makes a visited node of a URL.
func (b *batch) finish(l *link, o Outcome) error {
	r, known, err := b.lookup(l.key)
	if err != nil {
		return err
	}
	h, tie := b.host(l.key), b.tie(l.key)
	at := place{r.rank, tie}
	queued := known && r.state == Queued
	if old, leased := b.f.leaseOf(h, tie); leased && !queued && !slices.Contains(b.hosts[h].gone, tie) {
		queued, at = true, old.storedPlace() // the record of the URL was lost
	}
	if queued {
		if err := b.dequeue(h, at); err != nil {
			return err
		}
	}
	switch {
	case known && r.state == Visited:
		return nil
	case !known:
		b.hosts[h].total++
		b.totals.Links++
		if _, err := b.inPart(l); err != nil {
			return err
		}
	}
	if o.Check != nil {
		if err := b.set(checkKey(l.key), o.Check.encode()); err != nil {
			return err
		}
	}
	if err := b.count(&o); err != nil {
		return err
	}
	seq := uint64(b.totals.Visited)
	v := visitRecord{rank: rankOf(finite(l.Priority)), link: appendLink(nil, &l.Entry), outcome: o}
	if err := b.set(visitKey(seq), v.encode()); err != nil {
		return err
	}
	return b.set(urlKey(l.key), urlRecord{state: Visited, seq: seq}.encode())
}

// count adds an outcome to the totals, with its addresses if they are new.
func (b *batch) count(o *Outcome) error {
	b.totals.add(o)
	for _, id := range o.Kept() {
		key := addressKey(id)
		known, err := b.get(key, func([]byte) error { return nil })
		if err != nil {
			return err
		}
		if !known {
			b.totals.Addresses++
			if err := b.set(key, []byte{version}); err != nil {
				return err
			}
		}
	}
	return nil
}

// change stores another spelling of a queued URL, with its redirects and retries.
func (b *batch) change(l *link) error {
	r, known, err := b.lookup(l.key)
	if err != nil || !known || r.state != Queued {
		return err
	}
	l.Distance = r.distance
	return b.enqueue(b.host(l.key), l, place{r.rank, b.tie(l.key)})
}

// move brings queued URLs of a host to the places that they have in memory.
func (b *batch) move(h *host, items []item) error {
	for _, it := range items {
		k := makeKey(h.id, urlOf(b.f.seed, it.tie))
		r, known, err := b.lookup(k)
		if err != nil {
			return err
		}
		if !known || r.state != Queued || r.rank != it.stored {
			continue
		}
		value, known, err := get(b, queueKey(h.id, it.storedPlace()), copied)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		b.host(k)
		if err := b.delete(queueKey(h.id, it.storedPlace())); err != nil {
			return err
		}
		if err := b.set(queueKey(h.id, it.place), value); err != nil {
			return err
		}
		r.rank = it.rank
		if err := b.set(urlKey(k), r.encode()); err != nil {
			return err
		}
		b.waits(h, it.place)
	}
	return nil
}

func copied(value []byte) ([]byte, error) { return slices.Clone(value), nil }

// seal writes what the batch gathered: hosts, parts and totals.
func (b *batch) seal() error {
	for h, d := range b.hosts {
		b.f.mu.Lock()
		r := hostRecord{
			queued: uint32(int64(h.queued) + d.queued),
			total:  uint32(int64(h.total) + d.total),
			best:   h.storedBound(d.gone),
		}
		b.f.mu.Unlock()
		if d.best.before(r.best) {
			r.best = d.best
		}
		if err := b.set(hostKey(h.id), r.encode()); err != nil {
			return err
		}
	}
	for key, n := range b.parts {
		if err := b.set([]byte(key), encodeNumber(n)); err != nil {
			return err
		}
	}
	return b.set(totalsKey, b.totals.encode())
}

// add counts one visit, but for its addresses.
func (t *Totals) add(o *Outcome) { t.addTimes(o, 1) }

// remove undoes add.
func (t *Totals) remove(o *Outcome) { t.addTimes(o, -1) }

func (t *Totals) addTimes(o *Outcome, n int64) {
	t.Visited += n
	t.Bytes += n * o.Bytes
	switch o.Kind {
	case "page":
		t.Pages += n
		if o.Relevant {
			t.Relevant += n
		}
	case "redirect":
		t.Redirects += n
	case "error":
		count(t.Errors, o.Reason, n)
	case "skipped":
		count(t.Skipped, o.Reason, n)
	}
	for reason, dropped := range o.Dropped {
		t.Links += n * dropped
		count(t.Dropped, reason, n*dropped)
	}
	if n < 0 {
		for _, m := range []map[string]int64{t.Errors, t.Skipped, t.Dropped} {
			maps.DeleteFunc(m, func(_ string, n int64) bool { return n == 0 })
		}
	}
}
