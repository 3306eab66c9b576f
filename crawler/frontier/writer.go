package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	badger "github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"
)

// A request is something to be written. Those that wait at one time are
// written in one transaction.
type request struct {
	size int // bytes it adds to the transaction, about
	run  func(*batch) error
	done chan error
}

// submit has run executed by the writer and returns when its writes are
// durable. run may only use its batch and must bear to be called once.
func (f *Frontier) submit(ctx context.Context, size int, run func(*batch) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{size, run, make(chan error, 1)}
	select {
	case f.requests <- r:
		return <-r.done
	case <-f.stop:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// batchBytes is how much a transaction may weigh.
func (f *Frontier) batchBytes() int {
	const most = 6 // keys that a link of perLink bytes touches, with room to spare
	return int(min(f.db.MaxBatchSize()*3/4, f.db.MaxBatchCount()/most*perLink))
}

// portion returns how many of the links fit into half a transaction.
func (f *Frontier) portion(links []link) int {
	left := f.batchBytes() / 2
	for i := range links {
		if left -= weigh(links[i : i+1]); left < 0 {
			return max(i, 1)
		}
	}
	return len(links)
}

// write serves requests until Close.
func (f *Frontier) write() {
	defer f.writer.Done()
	syncs := time.NewTicker(time.Second)
	defer syncs.Stop()
	dirty := false
	var next *request
	for {
		var first *request
		if first, next = next, nil; first == nil {
			select {
			case first = <-f.requests:
			case <-f.stop:
				return
			case <-syncs.C:
				if dirty { // a power cut loses a second, see KEYS.md
					f.sync()
					dirty = false
				}
				continue
			}
		}
		requests, size := []*request{first}, first.size
	gather:
		for next == nil {
			select {
			case r := <-f.requests:
				if size+r.size > f.batchBytes() {
					next = r
					break gather
				}
				requests, size = append(requests, r), size+r.size
			default:
				break gather
			}
		}
		err := f.commit(requests)
		for _, r := range requests {
			r.done <- err
		}
		dirty = !f.options.InMemory && !f.options.Sync
	}
}

// sync brings what was written to the disk.
func (f *Frontier) sync() {
	if err := f.db.Sync(); err != nil && f.failed == nil {
		f.fail(fmt.Errorf("frontier: sync %s: %w", f.options.Dir, err))
	}
}

// fail ends all writing: nobody knows what is on disk now. Reopening finds out.
func (f *Frontier) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = err
	f.broadcast()
}

// commit writes requests in one transaction and then shows it to everybody.
func (f *Frontier) commit(requests []*request) (err error) {
	if f.failed != nil {
		return f.failed
	}
	if err := f.room(); err != nil {
		return err
	}
	f.seen.prepare(f)
	f.mu.Lock()
	f.wake() // an entry whose rest is over bears a better link
	f.mu.Unlock()
	b := f.newBatch()
	defer b.txn.Discard()
	defer func() {
		if b.packer.end(); err != nil { // what the batch told has not come to be
			f.lately.clear()
		}
	}()
	for _, r := range requests {
		if err := r.run(b); err != nil {
			return fmt.Errorf("frontier: write: %w", err)
		}
	}
	if err := b.seal(); err != nil {
		return fmt.Errorf("frontier: write: %w", err)
	}
	if err := b.txn.CommitAt(f.version+1, nil); err != nil {
		err = fmt.Errorf("frontier: commit to %s: %w", f.options.Dir, err)
		f.fail(err)
		return err
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.view.Discard()
	f.view = f.db.NewTransactionAt(f.version, false)
	f.db.SetDiscardTs(slices.Min(append(slices.Collect(maps.Keys(f.reading)), f.version)))
	f.totals, f.groups = b.totals, b.groups
	f.shown = b.totals.clone()
	for h, d := range b.hosts {
		f.queued += d.queued
		h.queued = uint32(int64(h.queued) + d.queued)
		h.total = uint32(int64(h.total) + d.total)
		h.ordered = h.ordered || d.ordered
	}
	for _, c := range b.changes {
		f.apply(c)
	}
	for h := range b.hosts {
		f.settle(h)
	}
	f.evict()
	f.broadcast()
	return nil
}

// room refuses to write to a disk that is nearly full: Badger maps its files
// into memory, and there a full disk is no error but the end of the process.
func (f *Frontier) room() error {
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

// A batch is one transaction in the making.
type batch struct {
	f       *Frontier
	txn     *badger.Txn
	totals  Totals
	groups  uint64
	group   group   // open, with the number groups
	packer  *packer // of full groups; nil: there was none
	hosts   map[*host]*delta
	parts   map[string]int64 // URLs in parts of hosts with a limit, by partKey
	changes []change
	placed  int // URLs that got places because their host has many
}

// A delta is what a batch changes about a host.
type delta struct {
	queued, total int64
	ordered       bool     // gets its places
	best          place    // of what was queued
	gone          []uint64 // ties of what is not queued any more
}

// A change is what a batch does to the queue in memory once it is committed.
type change struct {
	kind changeKind
	host *host
	item item
}

type changeKind uint8

const (
	isNew    changeKind = iota // item is new
	isMoved                    // item waits at another place
	isKept                     // item stays, the store has it as given here
	isGone                     // the URL of item.tie is not queued any more
	isMended                   // the host's queue is to be read again
)

func (f *Frontier) newBatch() *batch {
	return &batch{
		f: f, txn: f.db.NewTransactionAt(f.version, true),
		totals: f.totals.clone(), groups: f.groups,
		hosts: make(map[*host]*delta),
	}
}

func (b *batch) set(key, value []byte) error { return b.txn.Set(key, value) }

// get calls fn with the value under key, which fn must not keep, and tells
// whether there is one.
func (b *batch) get(key []byte, fn func(value []byte) error) (known bool, err error) {
	return get(b.txn, key, fn)
}

func get(txn *badger.Txn, key []byte, fn func(value []byte) error) (known bool, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, item.Value(fn)
}

// lookup returns what is known about a URL. A record that cannot be read is
// set aside, and the URL counts as unknown.
func (b *batch) lookup(k Key) (r urlRecord, known bool, err error) {
	if b.f.seen.never(k) {
		return r, false, nil
	}
	known, err = b.get(urlKey(k), func(value []byte) (err error) {
		r, err = decodeURL(value)
		return err
	})
	if errors.Is(err, errDamaged) {
		return r, false, b.forget(k)
	}
	return r, known, err
}

// aside moves a damaged record out of the way.
func (b *batch) aside(key []byte) error {
	known, err := b.get(key, func(value []byte) error {
		return b.set(asideKey(key), slices.Clone(value))
	})
	if err != nil || !known {
		return err
	}
	b.totals.Damaged++
	return b.txn.Delete(key)
}

// forget removes a URL whose record is damaged, also from the queue.
func (b *batch) forget(k Key) error {
	b.f.lately.drop(k)
	if err := b.aside(urlKey(k)); err != nil {
		return err
	}
	h, tie := b.host(k), tieOf(b.f.seed, k.url())
	b.hosts[h].total--
	if !b.ordered(h) { // nothing tells whether it was queued
		return b.recount(h)
	}
	return b.f.scanQueue(b.txn, h, true, place{}, func(it item) (bool, error) {
		if it.tie != tie {
			return true, nil
		}
		b.leave(h, it.disk, tie)
		return false, b.unplace(h, place{it.disk, tie})
	})
}

// host returns the host of a URL and makes sure that its record is written.
func (b *batch) host(k Key) *host {
	b.f.mu.Lock()
	h := b.f.hosts.get(k.host())
	if h == nil {
		h = b.f.hosts.add(k.host())
	}
	b.f.mu.Unlock()
	if b.hosts[h] == nil {
		b.hosts[h] = &delta{best: nowhere}
	}
	return h
}

// leave notes that a URL is not queued any more.
func (b *batch) leave(h *host, rank uint32, tie uint64) {
	d := b.hosts[h]
	d.queued--
	d.gone = append(d.gone, tie)
	b.totals.Queued--
	b.changes = append(b.changes, change{isGone, h, item{place: place{rank, tie}}})
}

// store puts the words of a link into the open group.
func (b *batch) store(e *Entry) (ref, error) {
	if b.group.full() {
		if b.packer == nil {
			b.packer = b.f.codec.packer()
		}
		b.packer.groups <- numbered{b.groups, b.group}
		b.groups++
		b.group = group{}
	}
	return makeRef(b.groups, b.group.add(e)), nil
}

// closeGroups writes the groups of the batch.
func (b *batch) closeGroups() error {
	if len(b.group.ends) > 0 {
		if err := b.set(groupKey(b.groups), b.f.codec.pack(&b.group)); err != nil {
			return err
		}
		b.groups++
		b.group = group{}
	}
	for _, p := range b.packer.end() {
		if err := b.set(groupKey(p.id), p.value); err != nil {
			return err
		}
	}
	return nil
}

// push queues links that are new or better than what is known.
func (b *batch) push(links []link) (added int, err error) {
	for i := range links {
		l := &links[i]
		b.totals.Links++
		rank := rankOf(finite(l.Priority))
		was, known := b.f.lately.of(l.key)
		var r urlRecord
		if !known || !was.outdoes(rank, l.Distance) {
			if r, known, err = b.lookup(l.key); err != nil {
				return 0, err
			}
			if known {
				was = fateOf(l.key, r)
				b.f.lately.put(was)
			}
		}
		if known && was.outdoes(rank, l.Distance) {
			b.totals.Repeats++
			continue
		}
		h := b.host(l.key)
		d := b.hosts[h]
		tie := tieOf(b.f.seed, l.key.url())
		kind := isMoved
		switch {
		case !known:
			reason, err := b.refuses(l, int64(h.total)+d.total)
			if err != nil {
				return 0, err
			}
			if reason != "" {
				count(b.totals.Dropped, reason, 1)
				continue
			}
			kind = isNew
			b.totals.Queued++
			d.queued++
			d.total++
			added++
			r.retries = uint64(l.Retries)
			b.f.seen.add(l.key)
		default:
			b.totals.Repeats++
			if _, leased := b.f.leaseOf(h, tie); leased {
				continue
			}
			if r.rank != rank {
				if err := b.unplace(h, place{r.rank, tie}); err != nil {
					return 0, err
				}
			}
		}
		ref, err := b.store(&l.Entry)
		if err != nil {
			return 0, err
		}
		r.state, r.rank, r.distance, r.ref = Queued, rank, uint64(l.Distance), ref
		if err := b.queue(h, l.key, r, tie); err != nil {
			return 0, err
		}
		b.changes = append(b.changes, change{kind, h, item{place{rank, tie}, rank, uint32(r.retries), ref}})
	}
	return added, nil
}

// refuses says why a new URL is not taken by its host, which has n, or "". One
// that is taken counts from then on.
func (b *batch) refuses(l *link, n int64) (reason string, err error) {
	limit := b.f.options.MaxPerHost
	if b.f.options.PerHost != nil {
		if own := b.f.options.PerHost(l.URL); own > 0 {
			limit = own
		}
	}
	if limit > 0 && n >= limit {
		return "host_limit", nil
	}
	n, limit, err = b.inPart(l)
	if err == nil && limit > 0 && n > limit {
		return "path_limit", nil
	}
	return "", err
}

// inPart counts a new URL in the part of its host, if that has a limit, and
// returns the count and the limit. What is over the limit is not counted.
func (b *batch) inPart(l *link) (n, limit int64, err error) {
	if b.f.options.PerPart == nil {
		return 0, 0, nil
	}
	part, limit := b.f.options.PerPart(l.URL)
	if limit <= 0 {
		return 0, 0, nil
	}
	key := partKey(l.key.host(), part)
	n, known := b.parts[string(key)]
	if !known {
		_, err := b.get(key, func(value []byte) error {
			d := decoder{rest: value}
			d.version()
			if n = int64(d.uvarint()); d.end() != nil || n < 0 {
				n = 0 // it starts again: a limit is no memory
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
	}
	if n++; n <= limit {
		if b.parts == nil {
			b.parts = make(map[string]int64)
		}
		b.parts[string(key)] = n
	}
	return n, limit, nil
}

// queue writes the record of a waiting URL and its place in the queue.
func (b *batch) queue(h *host, k Key, r urlRecord, tie uint64) error {
	p := place{r.rank, tie}
	if d := b.hosts[h]; p.before(d.best) {
		d.best = p
	}
	if err := b.set(urlKey(k), r.encode()); err != nil {
		return err
	}
	b.f.lately.put(fateOf(k, r))
	return b.place(h, p, r)
}

// ordered tells whether h has places on disk.
func (b *batch) ordered(h *host) bool { return h.ordered || b.hosts[h].ordered }

// place gives a waiting URL its place on disk, and all others of its host
// theirs where these have become too many to be sorted whenever they are read.
func (b *batch) place(h *host, p place, r urlRecord) error {
	if b.ordered(h) {
		return b.set(queueKey(h.id, p), queueValue(r.ref, r.retries))
	}
	d := b.hosts[h]
	if int64(h.total)+d.total <= int64(b.f.short) || b.placed > int(b.f.db.MaxBatchCount())/8 {
		return nil // in the second case another transaction has room for them
	}
	d.ordered = true
	return b.f.sortQueue(b.txn, h, place{}, func(it item) (bool, error) {
		b.placed++
		return true, b.set(queueKey(h.id, it.place), queueValue(it.ref, uint64(it.retries)))
	})
}

// unplace takes the place on disk of a URL that does not wait there any more.
func (b *batch) unplace(h *host, p place) error {
	if !b.ordered(h) {
		return nil
	}
	return b.txn.Delete(queueKey(h.id, p))
}

// finish makes a visited node of a queued URL.
func (b *batch) finish(l link, o Outcome) error {
	r, known, err := b.lookup(l.key)
	if err != nil {
		return err
	}
	h, tie := b.host(l.key), tieOf(b.f.seed, l.key.url())
	v := visitRecord{key: l.key, ref: r.ref, rank: rankOf(finite(l.Priority)), retries: uint64(l.Retries), outcome: o}
	old, leased := b.f.leaseOf(h, tie)
	if leased = leased && !slices.Contains(b.hosts[h].gone, tie); leased {
		v.ref, v.rank = old.ref, old.rank
		if !known || r.state != Queued { // its record was damaged
			r.rank = old.disk
		}
	}
	if leased || known && r.state == Queued {
		if err := b.unplace(h, place{r.rank, tie}); err != nil {
			return err
		}
		b.leave(h, r.rank, tie)
	}
	switch {
	case known && r.state == Visited:
		return nil
	case !known:
		b.f.seen.add(l.key)
		b.hosts[h].total++
		b.totals.Links++
		if _, _, err := b.inPart(&l); err != nil {
			return err
		}
	}
	if !known || leased && (l.URL != old.url || l.Redirects != old.redirects) {
		if v.ref, err = b.store(&l.Entry); err != nil {
			return err
		}
	}
	if err := b.addresses(o.Kept()); err != nil {
		return err
	}
	if o.Check != nil {
		if err := b.set(checkKey(l.key), o.Check.encode()); err != nil {
			return err
		}
	}
	b.totals.add(&o)
	seq := uint64(b.totals.Visited)
	if err := b.set(visitKey(seq), v.encode()); err != nil {
		return err
	}
	r = urlRecord{state: Visited, seq: seq}
	b.f.lately.put(fateOf(l.key, r))
	return b.set(urlKey(l.key), r.encode())
}

// addresses notes the ids of addresses, and counts those that are new.
func (b *batch) addresses(ids []string) error {
	for _, id := range ids {
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

// add counts one visit, but for its addresses.
func (t *Totals) add(o *Outcome) {
	t.Visited++
	t.Bytes += o.Bytes
	switch o.Kind {
	case "page":
		t.Pages++
		if o.Relevant {
			t.Relevant++
		}
	case "redirect":
		t.Redirects++
	case "error":
		count(t.Errors, o.Reason, 1)
	case "skipped":
		count(t.Skipped, o.Reason, 1)
	}
	for reason, n := range o.Dropped {
		t.Links += n
		count(t.Dropped, reason, n)
	}
}

// change stores another spelling of a queued URL, with its redirects and
// retries.
func (b *batch) change(l link) error {
	r, known, err := b.lookup(l.key)
	if err != nil || !known || r.state != Queued {
		return err
	}
	h, tie := b.host(l.key), tieOf(b.f.seed, l.key.url())
	if r.ref, err = b.store(&l.Entry); err != nil {
		return err
	}
	r.retries = uint64(l.Retries)
	if err := b.queue(h, l.key, r, tie); err != nil {
		return err
	}
	b.changes = append(b.changes, change{isKept, h, item{place{r.rank, tie}, r.rank, uint32(r.retries), r.ref}})
	return nil
}

// rekey moves queued URLs of a host to the places that they have in memory.
func (b *batch) rekey(h *host, items []item) error {
	for _, it := range items {
		k := makeKey(h.id, urlOf(b.f.seed, it.tie))
		r, known, err := b.lookup(k)
		if err != nil {
			return err
		}
		if !known || r.state != Queued || r.rank != it.disk {
			continue
		}
		b.host(k)
		if err := b.unplace(h, place{r.rank, it.tie}); err != nil {
			return err
		}
		r.rank = it.rank
		if err := b.queue(h, k, r, it.tie); err != nil {
			return err
		}
		it.disk = it.rank
		b.changes = append(b.changes, change{isKept, h, it})
	}
	return nil
}

// lose takes a queued URL out of the crawl whose words cannot be read. Several
// callers of Next may have met it: the first of them takes it out.
func (b *batch) lose(h *host, it item) error {
	k := makeKey(h.id, urlOf(b.f.seed, it.tie))
	b.host(k)
	r, known, err := b.lookup(k)
	if err != nil {
		return err
	}
	queued, at := known && r.state == Queued, place{it.disk, it.tie}
	if !queued {
		placed, err := b.get(queueKey(h.id, at), func([]byte) error { return nil })
		if err != nil || !placed {
			return err
		}
	}
	if err := b.aside(groupKey(it.ref.group())); err != nil {
		return err
	}
	b.f.codec.forget()
	if err := b.unplace(h, at); err != nil {
		return err
	}
	b.leave(h, it.disk, it.tie)
	b.totals.Damaged++
	if !queued {
		return nil
	}
	b.hosts[h].total--
	count(b.totals.Dropped, ReasonDamaged, 1)
	if r.rank != it.disk {
		if err := b.unplace(h, place{r.rank, it.tie}); err != nil {
			return err
		}
	}
	return b.deleteURL(k)
}

// deleteURL makes a URL unknown.
func (b *batch) deleteURL(k Key) error {
	b.f.lately.drop(k)
	return b.txn.Delete(urlKey(k))
}

// seal writes what the batch gathered: words, hosts and totals.
func (b *batch) seal() error {
	if err := b.closeGroups(); err != nil {
		return err
	}
	for h, d := range b.hosts {
		b.f.mu.Lock()
		r := hostRecord{
			queued: uint64(int64(h.queued) + d.queued),
			total:  uint64(int64(h.total) + d.total),
			best:   b.f.stored(h, d.gone), ordered: b.ordered(h),
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
		if err := b.set([]byte(key), binary.AppendUvarint([]byte{version}, uint64(n))); err != nil {
			return err
		}
	}
	return b.set(totalsKey, encodeTotals(&b.totals, b.groups, b.f.seed))
}
