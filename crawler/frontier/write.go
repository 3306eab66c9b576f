package frontier

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/dgraph-io/badger/v4"
)

// A request is one change of the store; several share a transaction.
type request struct {
	done    *Entry // to be given up, or nil
	outcome Outcome
	found   []Entry
	added   int
	result  chan error
}

// write hands r to the writer and waits until it is stored.
func (f *Frontier) write(ctx context.Context, r *request) (added int, err error) {
	r.result = make(chan error, 1)
	select {
	case <-f.closed:
		return 0, ErrClosed
	default:
	}
	select {
	case f.requests <- r:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-f.closed:
		return 0, ErrClosed
	}
	select {
	case err := <-r.result: // a change that has begun is waited for
		return r.added, err
	case <-f.closed:
		f.writer.Wait()
		select {
		case err := <-r.result:
			return r.added, err
		default:
			return 0, ErrClosed
		}
	}
}

// maxGroup bounds the links of the requests that share a transaction.
const maxGroup = 4000

// writeAll is the writer: the only one that changes entries.
func (f *Frontier) writeAll() {
	for {
		var group []*request
		select {
		case r := <-f.requests:
			group = append(group, r)
		case <-f.closed:
			select {
			case r := <-f.requests:
				group = append(group, r)
			default:
				return
			}
		}
		for size := len(group[0].found); size < maxGroup; {
			select {
			case r := <-f.requests:
				group = append(group, r)
				size += len(r.found) + 1
				continue
			default:
			}
			break
		}
		err := f.commit(group)
		if errors.Is(err, badger.ErrTxnTooBig) && len(group) > 1 {
			for _, r := range group {
				r.result <- f.commit([]*request{r})
			}
			continue
		}
		for _, r := range group {
			r.result <- err
		}
	}
}

// A change is what a transaction does to the queue in memory once it is stored.
type change struct {
	host   *host
	added  *position
	gone   *Key
	raised bool
}

// commit stores the requests in one transaction and then tells the queue.
func (f *Frontier) commit(group []*request) error {
	f.mu.Lock()
	totals := f.totals.clone()
	f.mu.Unlock()
	var changes []change
	touched := map[*host]int64{} // host → URLs accepted more
	txn := f.db.NewTransaction(true)
	defer txn.Discard()
	for _, r := range group {
		r.added = 0
		if r.done != nil {
			c, err := f.finish(txn, r, &totals)
			if err != nil {
				return err
			}
			changes = append(changes, c)
		}
		for i := range r.found {
			c, err := f.admit(txn, &r.found[i], touched, &totals)
			if err != nil {
				return err
			}
			if c.added != nil {
				if !c.raised {
					r.added++
				}
				changes = append(changes, c)
			}
		}
	}
	for h, more := range touched {
		if err := txn.Set(binary.BigEndian.AppendUint32([]byte{keyHost}, h.id), append(binary.AppendUvarint(nil, uint64(h.seen+more)), h.name...)); err != nil {
			return fmt.Errorf("frontier: %w", err)
		}
	}
	record, err := json.Marshal(totals)
	if err != nil {
		return err
	}
	if err := txn.Set([]byte{keyTotals}, record); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	if err := txn.Commit(); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.totals = totals
	for h, more := range touched {
		h.seen += more
	}
	for _, c := range changes {
		if c.gone != nil {
			f.queue.visited(*c.gone)
		}
		if c.added != nil {
			f.queue.added(c.host, *c.added)
		}
	}
	f.wakeAll()
	return nil
}

// finish makes a visited node of r.done.
func (f *Frontier) finish(txn *badger.Txn, r *request, totals *Totals) (change, error) {
	k := KeyOf(r.done.URL)
	gone := change{gone: &k}
	old, ok, err := getIn(txn, k)
	if err != nil {
		return gone, err
	}
	if ok && old.State == Visited {
		return gone, nil // told twice
	}
	f.mu.Lock()
	h := f.queue.hostOf(r.done.URL.Host())
	f.mu.Unlock()
	n := Node{Entry: *r.done, State: Visited, Outcome: r.outcome, Seq: uint64(totals.Visited) + 1}
	if ok {
		if err := txn.Delete(queueKey(h.id, position{float32(old.Priority), f.queue.tieOf(k), k})); err != nil {
			return gone, fmt.Errorf("frontier: %w", err)
		}
		totals.Queued--
	}
	trimWords(&n.Entry)
	if err := errors.Join(txn.Set(urlKey(k), encode(nil, &n)), txn.Set(visitKey(n.Seq), k[:])); err != nil {
		return gone, fmt.Errorf("frontier: %s: %w", n.URL, err)
	}
	totals.Visited++
	totals.Bytes += r.outcome.Bytes
	switch r.outcome.Kind {
	case "page":
		totals.Pages++
		if r.outcome.Relevant {
			totals.Relevant++
		}
	case "redirect":
		totals.Redirects++
	case "skipped":
		totals.Skipped[r.outcome.Reason]++
	default:
		totals.Errors[r.outcome.Reason]++
	}
	for reason, count := range r.outcome.Dropped {
		totals.Dropped[reason] += count
	}
	for _, a := range r.outcome.Addresses {
		sum := sha256.Sum256([]byte(a))
		key := append([]byte{keyAddress}, sum[:16]...)
		switch _, err := txn.Get(key); {
		case errors.Is(err, badger.ErrKeyNotFound):
			if err := txn.Set(key, nil); err != nil {
				return gone, fmt.Errorf("frontier: %w", err)
			}
			totals.Addresses++
		case err != nil:
			return gone, fmt.Errorf("frontier: %w", err)
		}
	}
	return gone, nil
}

// admit queues e if it is new, or raises the entry that waits.
func (f *Frontier) admit(txn *badger.Txn, e *Entry, touched map[*host]int64, totals *Totals) (change, error) {
	k := KeyOf(e.URL)
	old, ok, err := getIn(txn, k)
	if err != nil {
		return change{}, err
	}
	priority := toPriority(e.Priority)
	f.mu.Lock()
	h := f.queue.hostOf(e.URL.Host())
	isLeased := f.queue.leased[k] != nil
	f.mu.Unlock()
	switch {
	case ok && old.State == Visited, isLeased:
		return change{}, nil
	case ok && !(priority > float32(old.Priority) || priority == float32(old.Priority) && e.Distance < old.Distance):
		return change{}, nil
	case !ok && f.options.MaxPerHost > 0 && h.seen+touched[h] >= f.options.MaxPerHost:
		totals.Dropped["host_limit"]++
		return change{}, nil
	}
	p := position{priority, f.queue.tieOf(k), k}
	if ok {
		if err := txn.Delete(queueKey(h.id, position{float32(old.Priority), p.tie, k})); err != nil {
			return change{}, fmt.Errorf("frontier: %w", err)
		}
	} else {
		touched[h]++
		totals.Queued++
	}
	n := Node{Entry: *e, State: Queued}
	n.Priority = float64(priority)
	trimWords(&n.Entry)
	if err := errors.Join(txn.Set(urlKey(k), encode(nil, &n)), txn.Set(queueKey(h.id, p), nil)); err != nil {
		return change{}, fmt.Errorf("frontier: %s: %w", e.URL, err)
	}
	return change{host: h, added: &p, raised: ok}, nil
}

// visited forgets an entry that was given up.
func (q *queue) visited(k Key) {
	delete(q.leased, k)
	if i := q.items[k]; i != nil {
		q.remove(i)
	}
}

func trimWords(e *Entry) {
	for _, s := range []*string{&e.Anchor, &e.Title, &e.Around} {
		if len(*s) > MaxWords {
			cut := MaxWords
			for cut > 0 && !utf8.RuneStart((*s)[cut]) {
				cut--
			}
			*s = (*s)[:cut]
		}
	}
}
