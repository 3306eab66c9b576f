package frontier

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
	"gazehound/internal/oserr"
)

// write runs fn in a transaction, commits it durably and updates memory. fn may only use its batch.
func (f *Frontier) write(ctx context.Context, fn func(*batch)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.options.ReadOnly {
		return ErrReadOnly
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.checkDisk(); err != nil {
		return err
	}
	b, err := f.begin()
	if err != nil {
		return err
	}
	defer b.update.close()
	fn(b)
	b.seal()
	if b.err != nil {
		return fmt.Errorf("frontier: write: %w", b.err)
	}
	err = b.update.commit()
	if err != nil {
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
	f.wake() // delayed entries whose time has come may get a better link
	return &batch{
		f: f, update: f.store.update(), totals: f.totals.clone(),
		hosts: make(map[*host]*delta), parts: make(map[string]uint64),
	}, nil
}

// show updates memory after the commit of a batch.
func (f *Frontier) show(b *batch) {
	view := f.store.view()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.close()
	f.view = view
	f.totals = b.totals
	f.outbox.apply(b)
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

// fail ends all writing, because the state on disk is unknown until the next Open.
func (f *Frontier) fail(err error) error {
	if !f.options.InMemory {
		err = disk.WithCause(f.options.Dir, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = err
	f.broadcast()
	return err
}

// syncEverySecond syncs the log, so that a power cut loses at most a second.
func (f *Frontier) syncEverySecond() {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-ticks.C:
			if f.Sync() != nil {
				return
			}
		}
	}
}

// Sync makes what was written before the call survive a power cut, too. What another store keeps
// about a URL of this one must not be durable before the URL is.
func (f *Frontier) Sync() error {
	return f.read(func(view) error {
		f.syncing.Lock() // a second call waits for what the first one syncs
		defer f.syncing.Unlock()
		if !f.unsynced.Swap(false) {
			return nil
		}
		err := f.store.sync()
		if err != nil {
			return f.fail(fmt.Errorf("frontier: sync %s: %w", f.options.Dir, err))
		}
		return nil
	})
}

// checkDisk refuses to write to a disk that is nearly full.
func (f *Frontier) checkDisk() error {
	if f.options.InMemory {
		return nil
	}
	if err := checkFree(f.options.Dir, f.options.MinFree); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// checkFree returns an error unless that many bytes are free on the disk of dir. Badger maps its
// files, where a full disk kills the process.
func checkFree(dir string, need int64) error {
	free, err := disk.Free(dir)
	if err == nil && free < uint64(max(need, 0)) {
		err = fmt.Errorf("only %d MB are left on the disk of %s, and %d MB have to be: %w",
			free>>20, dir, need>>20, oserr.Full)
	}
	return err
}

// maxLinks are queued in one transaction. Badger takes 1.2 MB in one, at the least.
const maxLinks = 300

// A batch is an open transaction. After the first error it reads and writes nothing more, and is
// not committed.
type batch struct {
	update  update
	err     error
	f       *Frontier
	totals  Totals
	hosts   map[*host]*delta
	parts   map[string]uint64 // URLs in parts of hosts with a limit, by partKey
	changes []change
	kept    []keptLink // in the outbox
	taken   uint64     // last link for which Outgoing decided; 0: it did not
	sent    Outgoing   // removed from the outbox
}

// A delta is what a batch changes about a host.
type delta struct {
	queued, total int64
	best          place    // places of newly queued entries
	gone          []uint64 // ties of removed entries
}

// A change is a change of the queue in memory after a commit.
type change struct {
	host  *host
	place place // in the store
	gone  bool  // removed; else added
}

func (b *batch) set(key, value []byte) {
	if b.err == nil {
		b.err = b.update.set(key, value)
	}
}

func (b *batch) delete(key []byte) {
	if b.err == nil {
		b.err = b.update.delete(key)
	}
}

// put sets v in JSON.
func (b *batch) put(key []byte, v any) {
	value, err := encode(v)
	b.err = cmp.Or(b.err, err)
	b.set(key, value)
}

// find returns the decoded value of a key.
func find[T any](b *batch, key []byte, decode func([]byte) (T, error)) (x T, known bool) {
	if b.err == nil {
		x, known, b.err = get(b.update, key, decode)
	}
	return x, known && b.err == nil
}

// lookup returns what is known about a URL.
func (b *batch) lookup(k Key) (r urlRecord, known bool) {
	return find(b, urlKey(k), decodeFixed[urlRecord])
}

// host returns the host of a URL and makes sure that its record is written.
func (b *batch) host(k Key) *host {
	b.f.mu.Lock()
	h := b.f.hosts[k.host()]
	if h == nil {
		h = b.f.addHost(k.host())
	}
	b.f.mu.Unlock()
	b.delta(h)
	return h
}

func (b *batch) delta(h *host) *delta {
	d := b.hosts[h]
	if d == nil {
		d = &delta{best: nowhere}
		b.hosts[h] = d
	}
	return d
}

func (b *batch) tie(k Key) uint64 { return b.f.tie(k) }

// push queues links that are new or better than the queued ones.
func (b *batch) push(links []link) (added int) {
	for i := range links {
		if b.pushLink(&links[i]) {
			added++
		}
	}
	return added
}

func (b *batch) pushLink(l *link) (isNew bool) {
	if l.Owner != "" {
		b.keepNew(l)
		return false
	}
	b.totals.Links++
	r, known := b.lookup(l.key)
	if known {
		b.totals.Repeats++
		b.improve(l, r)
		return false
	}
	h := b.host(l.key)
	if l.Parked != "" {
		if b.parkedFull(h, l) {
			count(b.totals.Dropped, "host_limit", 1)
		} else {
			b.park(h, l)
		}
		return false
	}
	reason := b.refuses(h, l)
	if reason != "" {
		count(b.totals.Dropped, reason, 1)
		return false
	}
	b.totals.Queued++
	b.hosts[h].queued++
	b.hosts[h].total++
	b.enqueue(h, l, place{rankOf(finite(l.Priority)), b.tie(l.key)})
	return true
}

// improve gives a known URL a better link, unless it is leased.
func (b *batch) improve(l *link, r urlRecord) {
	switch {
	case r.outdoes(&l.Entry):
		return
	case r.State == Parked:
		b.release(l, r)
		return
	}
	h, tie := b.host(l.key), b.tie(l.key)
	if _, leased := b.f.leaseOf(h, tie); !leased {
		b.delete(queueKey(h.id, place{r.Rank, tie}))
		l.Retries = int(r.Retries)
		b.enqueue(h, l, place{rankOf(finite(l.Priority)), tie})
	}
}

// enqueue writes the record of a waiting URL and its place in the queue.
func (b *batch) enqueue(h *host, l *link, p place) {
	r := urlRecord{State: Queued, Rank: p.rank, Distance: uint32(l.Distance), Retries: uint8(l.Retries)}
	b.set(urlKey(l.key), fixed(r))
	b.put(queueKey(h.id, p), &l.Entry)
	b.waits(h, p)
}

// waits records a newly queued entry for memory.
func (b *batch) waits(h *host, p place) {
	if d := b.hosts[h]; p.before(d.best) {
		d.best = p
	}
	b.changes = append(b.changes, change{host: h, place: p})
}

// dequeue removes an entry from the queue.
func (b *batch) dequeue(h *host, p place) {
	d := b.hosts[h]
	d.queued--
	d.gone = append(d.gone, p.tie)
	b.totals.Queued--
	b.changes = append(b.changes, change{host: h, place: p, gone: true})
	b.delete(queueKey(h.id, p))
}

// refuses returns why a new URL is refused by its host's limits, or "". An accepted one is counted.
func (b *batch) refuses(h *host, l *link) (reason string) {
	if limit := b.limit(l.URL); limit > 0 && int64(h.total)+b.hosts[h].total >= limit {
		return "host_limit"
	}
	if !b.inPart(l) {
		return "path_limit"
	}
	return ""
}

// limit returns how many URLs of the host of u are accepted; 0: any number.
func (b *batch) limit(u weburl.URL) int64 {
	if b.f.options.PerHost != nil {
		if own := b.f.options.PerHost(u); own > 0 {
			return own
		}
	}
	return b.f.options.MaxPerHost
}

// inPart counts a new URL in the part of its host, if that has a limit. It reports whether there is
// room; what is over the limit is not counted.
func (b *batch) inPart(l *link) (fits bool) {
	if b.f.options.PerPart == nil {
		return true
	}
	part, limit := b.f.options.PerPart(l.URL)
	if limit <= 0 {
		return true
	}
	key := partKey(l.key.host(), part)
	n, known := b.parts[string(key)]
	if !known {
		n, _ = find(b, key, decodeFixed[uint64])
	}
	if n >= uint64(limit) {
		return false
	}
	b.parts[string(key)] = n + 1
	return true
}

// finish turns a URL into a visited node.
func (b *batch) finish(l *link, o Outcome) {
	r, known := b.lookup(l.key)
	if known && r.State == Visited {
		return
	}
	h := b.host(l.key)
	switch {
	case known && r.State == Parked:
		b.unpark(l.key, r.Seq)
		b.hosts[h].total++
	case known:
		b.dequeue(h, place{r.Rank, b.tie(l.key)})
	default:
		b.hosts[h].total++
		b.totals.Links++
		b.inPart(l)
	}
	if o.Check != nil {
		b.put(checkKey(l.key), o.Check.trimmed())
	}
	b.count(&o)
	seq := uint64(b.totals.Visited)
	b.put(visitKey(seq), visitRecord{rankOf(finite(l.Priority)), l.Entry, o})
	b.set(urlKey(l.key), fixed(urlRecord{State: Visited, Seq: seq}))
}

// count adds an outcome to the totals, with its addresses if they are new.
func (b *batch) count(o *Outcome) {
	b.totals.add(o)
	for _, id := range o.Kept() {
		key := addressKey(id)
		if _, known := find(b, key, copied); !known {
			b.totals.Addresses++
			b.set(key, []byte{})
		}
	}
}

// change stores another spelling of a queued URL, with its redirects and retries.
func (b *batch) change(l *link) {
	if r, known := b.lookup(l.key); known && r.State == Queued {
		l.Distance = int(r.Distance)
		b.enqueue(b.host(l.key), l, place{r.Rank, b.tie(l.key)})
	}
}

func copied(value []byte) ([]byte, error) { return slices.Clone(value), nil }

// seal writes the counts of the batch: hosts, parts and totals.
func (b *batch) seal() {
	for h, d := range b.hosts {
		b.f.mu.Lock()
		queued, total := uint32(int64(h.queued)+d.queued), uint32(int64(h.total)+d.total)
		best := h.storedBound(d.gone)
		b.f.mu.Unlock()
		if d.best.before(best) {
			best = d.best
		}
		b.set(hostKey(h.id), fixed(hostRecord{queued, total, best.rank, best.tie}))
	}
	for key, n := range b.parts {
		b.set([]byte(key), fixed(n))
	}
	b.put(totalsKey, &b.totals)
}

// add counts one visit, but for its addresses.
func (t *Totals) add(o *Outcome) { t.addTimes(o, 1) }

// remove undoes add.
func (t *Totals) remove(o *Outcome) { t.addTimes(o, -1) }

func (t *Totals) addTimes(o *Outcome, n int64) {
	t.Visited += n
	t.Bytes += n * o.Bytes
	t.Links += n * o.Repeats
	t.Repeats += n * o.Repeats
	if o.Rendered {
		t.Rendered += n
	}
	switch o.Kind {
	case KindPage:
		t.Pages += n
		if o.Relevant {
			t.Relevant += n
		}
	case KindRedirect:
		t.Redirects += n
	case KindError:
		count(t.Errors, o.Reason, n)
	case KindSkipped:
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
