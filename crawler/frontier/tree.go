package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	badger "github.com/dgraph-io/badger/v4"
)

// read runs fn on the store as it is now and keeps Close waiting meanwhile.
func (f *Frontier) read(fn func(txn *badger.Txn) error) error {
	version, err := f.begin()
	if err != nil {
		return err
	}
	defer f.end(version)
	txn := f.db.NewTransactionAt(version, false)
	defer txn.Discard()
	return fn(txn)
}

// begin keeps the store's last version from being given up until end.
func (f *Frontier) begin() (version uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, ErrClosed
	}
	f.reading[f.version]++
	return f.version, nil
}

func (f *Frontier) end(version uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading[version]--; f.reading[version] == 0 {
		delete(f.reading, version)
	}
	f.idle.Broadcast()
}

// node reads what the store knows about k. A URL whose records are missing or
// damaged is as good as unknown.
func (f *Frontier) node(txn *badger.Txn, k Key) (n Node, ok bool, err error) {
	var r urlRecord
	ok, err = get(txn, urlKey(k), func(value []byte) (err error) {
		r, err = decodeURL(value)
		return err
	})
	if err != nil || !ok {
		return Node{}, false, readable(err)
	}
	if r.state == Queued {
		n.Entry, err = f.codec.words(txn, r.ref, k)
		n.Priority, n.Retries, n.State = priorityOf(r.rank), int(r.retries), Queued
		return n, err == nil, readable(err)
	}
	return f.readVisit(txn, r.seq)
}

// readVisit reads the visit of this number.
func (f *Frontier) readVisit(txn *badger.Txn, seq uint64) (n Node, ok bool, err error) {
	ok, err = get(txn, visitKey(seq), func(value []byte) (err error) {
		n, err = f.visited(txn, seq, value)
		return err
	})
	return n, ok && err == nil, readable(err)
}

// nodeOfTrail is node, but of a page that was visited again it may tell an
// earlier visit, since it mostly knows the number of one without the store.
func (f *Frontier) nodeOfTrail(txn *badger.Txn, k Key) (n Node, ok bool, err error) {
	if was, known := f.lately.of(k); known && was.visit() > 0 {
		n, ok, err = f.readVisit(txn, was.visit())
	}
	if !ok && err == nil { // nothing is known of it, or it is being stored
		n, ok, err = f.node(txn, k)
	}
	return n, ok, err
}

// visited completes the record of a visit.
func (f *Frontier) visited(txn *badger.Txn, seq uint64, value []byte) (n Node, err error) {
	v, err := decodeVisit(value)
	if err != nil {
		return Node{}, err
	}
	n.Entry, err = f.codec.words(txn, v.ref, v.key)
	n.Priority, n.Retries = priorityOf(v.rank), int(v.retries)
	n.State, n.Outcome, n.Seq = Visited, v.outcome, seq
	return n, err
}

// readable returns err unless it only tells of a damaged or forgotten record.
func readable(err error) error {
	if err == errDamaged || err == errForgotten {
		return nil
	}
	return err
}

// Get returns what is known about a URL; false if it was never queued.
func (f *Frontier) Get(k Key) (n Node, ok bool, err error) {
	err = f.read(func(txn *badger.Txn) error {
		n, ok, err = f.node(txn, k)
		return err
	})
	if err != nil {
		return Node{}, false, fmt.Errorf("frontier: get %s: %w", k, err)
	}
	return n, ok, nil
}

// States tells of each key what became of its URL: Queued, Visited, or 0 where
// nobody has queued it. Visited is certain and stays so; the others may be
// another the next moment, or be about to be stored.
func (f *Frontier) States(keys ...Key) ([]State, error) {
	states := make([]State, len(keys))
	var unsure []int // places of keys that the store is asked for
	for i, k := range keys {
		if was, known := f.lately.of(k); known {
			states[i] = was.state()
		} else if !f.seen.never(k) {
			unsure = append(unsure, i)
		}
	}
	if len(unsure) == 0 {
		return states, nil
	}
	err := f.read(func(txn *badger.Txn) error {
		for _, i := range unsure {
			var r urlRecord
			known, err := get(txn, urlKey(keys[i]), func(value []byte) (err error) {
				r, err = decodeURL(value)
				return err
			})
			if err := readable(err); err != nil {
				return err
			}
			if !known || err != nil { // a damaged record is as good as none
				continue
			}
			if states[i] = r.state; r.state == Visited {
				f.lately.put(fateOf(keys[i], r))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: states: %w", err)
	}
	return states, nil
}

// Trail returns the node k, the page it was found on, the page that one was
// found on, and so on, at most n of them. It ends at a seed, and at a page
// that is not known. Of a page that was visited again it may tell an earlier
// visit.
func (f *Frontier) Trail(k Key, n int) ([]Node, error) {
	var trail []Node
	start := k
	err := f.read(func(txn *badger.Txn) error {
		for len(trail) < n && !k.IsZero() {
			next, ok, err := f.nodeOfTrail(txn, k)
			if err != nil || !ok {
				return err
			}
			trail = append(trail, next)
			k = next.Parent
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: trail of %s: %w", start, err)
	}
	return trail, nil
}

// Walk calls fn with the visited nodes in the order of their visits, from the
// one after the visit number after on, until fn returns an error, which Walk
// returns. Visits that end while it walks may be left out. Nodes whose records
// are damaged are set aside and counted in Totals; forgotten ones are left out.
func (f *Frontier) Walk(ctx context.Context, after uint64, fn func(Node) error) error {
	var damaged [][]byte
	err := f.read(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: visitKey(0)[:1]})
		defer it.Close()
		if it.Seek(visitKey(after)); it.Valid() && bytes.Equal(it.Item().Key(), visitKey(after)) {
			it.Next()
		}
		for ; it.Valid(); it.Next() {
			if err := f.ended(ctx); err != nil {
				return err
			}
			var n Node
			key := it.Item().KeyCopy(nil)
			err := it.Item().Value(func(value []byte) (err error) {
				n, err = f.visited(txn, binary.BigEndian.Uint64(key[1:]), value)
				return err
			})
			if err == errDamaged && len(damaged) < 1000 {
				damaged = append(damaged, key)
			}
			if err == errDamaged || err == errForgotten {
				continue
			}
			if err != nil {
				return fmt.Errorf("frontier: walk: %w", err)
			}
			if err := fn(n); err != nil {
				return err
			}
		}
		return nil
	})
	for _, key := range damaged {
		if err := f.submit(ctx, perLink, func(b *batch) error { return b.aside(key) }); err != nil {
			return err
		}
	}
	return err
}

// ended returns why a walk is to end: ctx has, or f is being closed.
func (f *Frontier) ended(ctx context.Context) error {
	select {
	case <-f.stop:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// Outcomes calls fn with the outcome of every visit, in their order, until fn
// returns an error, which Outcomes returns. Unlike Walk it reads no words of
// links, which most of the time of a walk goes into. Visits that end meanwhile
// may be left out, as are damaged records.
func (f *Frontier) Outcomes(ctx context.Context, fn func(Outcome) error) error {
	return f.read(func(txn *badger.Txn) error {
		return scan(txn, visitKey(0)[:1], func(_, value []byte) error {
			if err := f.ended(ctx); err != nil {
				return err
			}
			v, err := decodeVisit(value)
			if err != nil {
				return readable(err)
			}
			return fn(v.outcome)
		})
	})
}

// WalkQueue calls fn with the nodes that wait, leased ones too, in the order in
// which the links to them were found, until fn returns an error, which
// WalkQueue returns.
func (f *Frontier) WalkQueue(ctx context.Context, fn func(Node) error) error {
	return f.read(func(txn *badger.Txn) error {
		return scan(txn, groupKey(0)[:1], func(key, value []byte) error {
			if err := f.ended(ctx); err != nil {
				return err
			}
			entries, err := f.codec.unpackAll(value)
			if err != nil {
				return readable(err)
			}
			group := binary.BigEndian.Uint64(key[1:])
			for i, e := range entries {
				var r urlRecord
				ok, err := get(txn, urlKey(KeyOf(e.URL)), func(value []byte) (err error) {
					r, err = decodeURL(value)
					return err
				})
				if err := readable(err); err != nil {
					return fmt.Errorf("frontier: walk: %w", err)
				}
				if !ok || err != nil || r.state != Queued || r.ref != makeRef(group, i) {
					continue // visited, or a better link was found
				}
				e.Priority, e.Retries = priorityOf(r.rank), int(r.retries)
				if err := fn(Node{Entry: e, State: Queued}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
