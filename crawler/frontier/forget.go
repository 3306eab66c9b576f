package frontier

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
)

// ReasonForgotten is the Outcome.Reason of what Forget took out.
const ReasonForgotten = "forgotten"

// Forgotten counts what Forget took out of the crawl tree.
type Forgotten struct {
	URLs      int // waiting or visited
	Links     int // whose words were blanked: those to the URLs, and those on their pages
	Addresses int // ids taken out of visits
}

// A Removal says what Forget takes out. Functions may be nil.
type Removal struct {
	URL     func(weburl.URL) bool // pages
	Address func(id string) bool  // of the addresses that pages state
	Page    func(Key) bool        // pages that stay and whose links lose their words
	Text    func(string) bool     // words of links, titles, evidence, values of PutMeta and their names
}

// Forget closes f and makes its files anew, without the URLs that match: their words, the words of
// the links on their pages, what was found there and what is kept for revisiting them. What stays is
// the hash of each URL, so that it is not queued again, and a visit that says "skipped: forgotten", so
// that totals add up. Ids of addresses that match are taken out of all visits, and all other texts
// that match are blanked.
//
// The new files lie in Dir+".new" until all are on the disk, and take the place of the old ones in one
// step. A Forget that is killed or fails leaves the store as it was; after a failure f is still open.
// progress gets the records read so far and the most there can be, every so often; nil disables it.
func (f *Frontier) Forget(ctx context.Context, r Removal, progress func(done, all int64)) (n Forgotten, err error) {
	s, onDisk := f.store.(*badgerStore)
	if !onDisk {
		return n, errors.New("frontier: forget: the store is in memory")
	}
	x, err := f.plan(ctx, r)
	next := f.options.Dir + ".new"
	if err == nil {
		err = os.RemoveAll(next)
	}
	if err == nil {
		err = s.copyTo(ctx, next, x, progress)
	}
	if err != nil {
		return n, errors.Join(fmt.Errorf("frontier: forget: %w", err), os.RemoveAll(next))
	}
	unlock := s.unlock // once the new files are in place
	s.unlock = func() error { return nil }
	err = f.Close()
	if err == nil {
		err = disk.ReplaceDir(next, f.options.Dir)
	}
	if err = errors.Join(err, unlock()); err != nil {
		return n, fmt.Errorf("frontier: forget: %w", err)
	}
	return x.Forgotten, nil
}

// A removing is a Removal from one store.
type removing struct {
	Removal
	Forgotten
	totals Totals            // afterwards
	gone   map[Key]uint64    // URLs with the numbers of their visits
	queues map[uint64]uint32 // how many of them wait, by host
	keys   map[string]bool   // of the records that go, and of pieces what they begin with
}

// plan finds out what is to be forgotten.
func (f *Frontier) plan(ctx context.Context, r Removal) (*removing, error) {
	x := &removing{
		totals: f.Totals(),
		gone:   map[Key]uint64{}, queues: map[uint64]uint32{}, keys: map[string]bool{},
	}
	x.Removal = Removal{unlessNil(r.URL), unlessNil(r.Address), unlessNil(r.Page), unlessNil(r.Text)}
	t := &x.totals
	last := uint64(t.Visited)
	err := f.read(func(v view) error {
		err := v.scan([]byte{'q'}, nil, func(key, value []byte) error {
			e, err := decodeLink(value)
			if k := KeyOf(e.URL); err == nil && x.URL(e.URL) {
				last++
				x.gone[k] = last
				x.queues[k.host()]++
				t.Queued--
				left := leftOf(Outcome{})
				t.add(&left)
			}
			return cmp.Or(err, ctx.Err())
		})
		if err != nil {
			return err
		}
		return v.scan([]byte{'v'}, nil, func(key, value []byte) error {
			n, err := visited(value)
			if err != nil {
				return cmp.Or(unlessForgotten(err), ctx.Err())
			}
			if x.URL(n.URL) {
				x.gone[KeyOf(n.URL)] = idOf(key)
				t.remove(&n.Outcome)
				left := leftOf(n.Outcome)
				t.add(&left)
			}
			for _, id := range n.Outcome.Addresses {
				key := addressKey(id)
				if !x.Address(id) || x.keys[string(key)] {
					continue
				}
				counted, err := v.get(key, func([]byte) error { return nil })
				if err != nil {
					return err
				}
				if counted {
					x.keys[string(key)] = true
					t.Addresses--
				}
			}
			return ctx.Err()
		})
	})
	return x, cmp.Or(err, f.planMeta(ctx, x))
}

// unlessNil returns fn; nil is false of everything.
func unlessNil[T any](fn func(T) bool) func(T) bool {
	if fn == nil {
		return func(T) bool { return false }
	}
	return fn
}

// planMeta finds the values of PutMeta that go, because they or their names match.
func (f *Frontier) planMeta(ctx context.Context, x *removing) error {
	var names []string
	err := f.read(func(v view) error {
		return v.scan([]byte{'m'}, nil, func(key, _ []byte) error {
			names = append(names, string(key[1:]))
			return ctx.Err()
		})
	})
	for _, name := range names {
		value, failed := f.Meta(name)
		err = cmp.Or(err, failed)
		if x.Text(name) || x.Text(string(value)) {
			x.keys[string(metaKey(name))], x.keys[string(pieceKey(name, 0, 0)[:pieceName])] = true, true
		}
	}
	return err
}

// leftOf returns what stays of the outcome of a forgotten URL.
func leftOf(o Outcome) Outcome {
	return Outcome{Kind: "skipped", Reason: ReasonForgotten, At: o.At, Bytes: o.Bytes, Dropped: o.Dropped}
}

// edit calls set with what becomes of a record.
func (x *removing) edit(key, value []byte, set func(key, value []byte) error) (err error) {
	switch key[0] {
	case 't':
		value, err = encode(&x.totals)
	case 'h':
		r, broken := decodeFixed[hostRecord](value)
		r.Queued -= x.queues[idOf(key)]
		value, err = fixed(r), broken
	case 'u':
		if seq, gone := x.gone[Key(key[1:])]; gone {
			value = fixed(urlRecord{State: Visited, Seq: seq})
		}
	case 'r':
		if _, gone := x.gone[Key(key[1:])]; gone {
			return nil
		}
	case 'a', 'm':
		if x.keys[string(key)] {
			return nil
		}
	case 'p':
		if x.keys[string(key[:pieceName])] {
			return nil
		}
	case 'q':
		e, broken := decodeLink(value)
		if seq, gone := x.gone[KeyOf(e.URL)]; gone {
			key = visitKey(seq)
			value, err = x.forgetVisit(Outcome{At: time.Now().UTC().Truncate(time.Millisecond)})
		} else if err = broken; x.blank(&e) {
			value, err = encode(&e)
		}
	case 'v':
		value, err = x.editVisit(value)
	}
	return cmp.Or(err, set(key, value))
}

func (x *removing) editVisit(value []byte) ([]byte, error) {
	v, err := decode[visitRecord](value)
	if err != nil {
		return nil, err
	}
	e, err := decodeLink(v.Link)
	if err != nil {
		return value, unlessForgotten(err)
	}
	if _, gone := x.gone[KeyOf(e.URL)]; gone {
		return x.forgetVisit(v.Outcome)
	}
	changed := x.blank(&e)
	if changed {
		if v.Link, err = encode(&e); err != nil {
			return nil, err
		}
	}
	o := &v.Outcome
	left := slices.DeleteFunc(slices.Clone(o.Addresses), x.Address)
	if taken := len(o.Addresses) - len(left); taken > 0 || x.Text(o.Title) || x.Text(o.Evidence) {
		x.Addresses += taken
		o.Addresses, o.Title, o.Evidence = left, "", ""
		changed = true
	}
	if !changed {
		return value, nil
	}
	return encode(v)
}

// forgetVisit returns the visit that stays of a forgotten URL.
func (x *removing) forgetVisit(o Outcome) ([]byte, error) {
	x.URLs++
	x.Links++
	return encode(visitRecord{Link: json.RawMessage("{}"), Outcome: leftOf(o)})
}

// blank takes the words out of a link if they go, and reports whether they do.
func (x *removing) blank(e *Entry) bool {
	words := e.Anchor + "\n" + e.Title + "\n" + e.Around
	if _, gone := x.gone[e.Parent]; words == "\n\n" || !gone && !x.Page(e.Parent) && !x.Text(words) {
		return false
	}
	e.Anchor, e.Title, e.Around = "", "", ""
	x.Links++
	return true
}

// copyTo makes a store in dir of what s has now and x leaves of it.
func (s *badgerStore) copyTo(ctx context.Context, dir string, x *removing, progress func(done, all int64)) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tables, logs := s.db.Size()
	if err := checkFree(dir, tables+logs+DefaultOptions().MinFree); err != nil {
		return err
	}
	db, err := badger.Open(newOptions(dir))
	if err != nil {
		return err
	}
	all, done := int64(0), int64(0)
	for _, t := range s.db.Tables() {
		all += int64(t.KeyCount)
	}
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	v := s.view()
	defer v.close()
	err = v.scan(nil, nil, func(key, value []byte) error {
		const often = 10_000
		if done++; progress != nil && done%often == 0 {
			progress(done, max(done, all))
		}
		err := x.edit(key, value, func(key, value []byte) error {
			return batch.Set(bytes.Clone(key), bytes.Clone(value))
		})
		return cmp.Or(err, ctx.Err())
	})
	return errors.Join(err, batch.Flush(), db.Close(), writeFormat(dir))
}
