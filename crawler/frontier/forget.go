package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"gazehound/crawler/weburl"

	badger "github.com/dgraph-io/badger/v4"
)

// errForgotten is met where the words of a link were taken out by Forget.
var errForgotten = errors.New("forgotten")

// ReasonForgotten is the Outcome.Reason of what Forget took out.
const ReasonForgotten = "forgotten"

// Forgotten counts what Forget took out of the crawl tree.
type Forgotten struct {
	URLs      int // waiting or visited
	Links     int // whose words were blanked: those to the URLs, and those on their pages
	Addresses int // ids taken out of visits
}

// forgetBatch is how many records one transaction changes.
const forgetBatch = 100

// Forget takes the URLs that match out of the queue and the crawl tree: their
// words, the words of the links on their pages, what was found there and what is
// kept for asking again. What stays is the hash of each URL, so that it is not
// queued again, and a visit that says "skipped: forgotten", so that totals add
// up. Ids of addresses that match are taken out of all visits. Either function
// may be nil.
//
// A killed Forget is completed by calling it again. Badger gives up the old
// bytes when it next compacts its files.
func (f *Frontier) Forget(ctx context.Context, match func(weburl.URL) bool, address func(page Key, id string) bool) (n Forgotten, err error) {
	if match != nil {
		err = f.forgetURLs(ctx, match, &n)
	}
	if err == nil && address != nil {
		err = f.forgetAddresses(ctx, address, &n)
	}
	if err != nil {
		return n, fmt.Errorf("frontier: forget: %w", err)
	}
	return n, nil
}

// forgetURLs blanks the links on the pages first and those that name the URLs
// last: as long as there is something to do, a second call finds what.
func (f *Frontier) forgetURLs(ctx context.Context, match func(weburl.URL) bool, n *Forgotten) error {
	gone := map[Key]bool{}
	err := f.eachLink(ctx, func(_ uint64, e *Entry) {
		if !e.URL.IsZero() && match(e.URL) {
			gone[KeyOf(e.URL)] = true
		}
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	keys := make([]Key, 0, len(gone))
	for k := range gone {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	for part := range slices.Chunk(keys, forgetBatch) {
		err := f.submit(ctx, 2*perLink*len(part), func(b *batch) error {
			for _, k := range part {
				known, err := b.forgetURL(k)
				if err != nil {
					return err
				}
				if known {
					n.URLs++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	onPage := func(e *Entry) bool {
		blank := gone[e.Parent] && e.Anchor+e.Title+e.Around != ""
		if blank {
			e.Anchor, e.Title, e.Around = "", "", ""
		}
		return blank
	}
	if err := f.blank(ctx, onPage, n); err != nil {
		return err
	}
	return f.blank(ctx, func(e *Entry) bool {
		blank := !e.URL.IsZero() && gone[KeyOf(e.URL)]
		if blank {
			e.URL, e.Anchor, e.Title, e.Around = weburl.URL{}, "", "", ""
		}
		return blank
	}, n)
}

// forgetURL takes what was found out of the visit of a URL, and ends its
// waiting. It tells whether there was anything.
func (b *batch) forgetURL(k Key) (bool, error) {
	r, known, err := b.lookup(k)
	if err != nil || !known {
		return false, err
	}
	if r.state == Queued {
		return true, b.finish(link{key: k}, Outcome{Kind: "skipped", Reason: ReasonForgotten, At: time.Now()})
	}
	var v visitRecord
	known, err = b.get(visitKey(r.seq), func(value []byte) (err error) {
		v, err = decodeVisit(value)
		return err
	})
	if err != nil || !known {
		return false, readable(err)
	}
	if err := b.txn.Delete(checkKey(k)); err != nil {
		return false, err
	}
	b.totals.remove(&v.outcome)
	v.outcome = Outcome{Kind: "skipped", Reason: ReasonForgotten, At: v.outcome.At, Bytes: v.outcome.Bytes, Dropped: v.outcome.Dropped}
	b.totals.add(&v.outcome)
	return true, b.set(visitKey(r.seq), v.encode())
}

// forgetAddresses takes ids of addresses out of the visits.
func (f *Frontier) forgetAddresses(ctx context.Context, match func(page Key, id string) bool, n *Forgotten) error {
	var visits []uint64
	err := f.read(func(txn *badger.Txn) error {
		return scan(txn, visitKey(0)[:1], func(key, value []byte) error {
			v, err := decodeVisit(value)
			if err == nil && slices.ContainsFunc(v.outcome.Addresses, func(id string) bool { return match(v.key, id) }) {
				visits = append(visits, binary.BigEndian.Uint64(key[1:]))
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(visits, forgetBatch) {
		err := f.submit(ctx, len(part)*(perLink+MaxAddresses), func(b *batch) error {
			for _, seq := range part {
				taken, err := b.forgetAddresses(seq, match)
				if err != nil {
					return err
				}
				n.Addresses += taken
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) forgetAddresses(seq uint64, match func(page Key, id string) bool) (taken int, err error) {
	var v visitRecord
	known, err := b.get(visitKey(seq), func(value []byte) (err error) {
		v, err = decodeVisit(value)
		return err
	})
	if err != nil || !known {
		return 0, readable(err)
	}
	var left []string
	for _, id := range v.outcome.Addresses {
		if !match(v.key, id) {
			left = append(left, id)
			continue
		}
		taken++
		seen, err := b.get(addressKey(id), func([]byte) error { return nil })
		if err != nil {
			return 0, err
		}
		if seen {
			b.totals.Addresses--
			if err := b.txn.Delete(addressKey(id)); err != nil {
				return 0, err
			}
		}
	}
	v.outcome.Addresses = left
	if taken > 0 {
		v.outcome.Title, v.outcome.Evidence = "", "" // they may say it, too
	}
	return taken, b.set(visitKey(seq), v.encode())
}

// blank has change alter links and stores the groups anew in which it tells
// that it has.
func (f *Frontier) blank(ctx context.Context, change func(*Entry) bool, n *Forgotten) error {
	groups := map[uint64]bool{}
	if err := f.eachLink(ctx, func(id uint64, e *Entry) {
		if change(e) {
			groups[id] = true
		}
	}); err != nil {
		return err
	}
	for id := range groups {
		err := f.submit(ctx, maxPlain, func(b *batch) error {
			var links []Entry
			known, err := b.get(groupKey(id), func(value []byte) (err error) {
				links, err = f.codec.unpackAll(value)
				return err
			})
			if err != nil || !known {
				return readable(err)
			}
			var g group
			for i := range links {
				if change(&links[i]) {
					n.Links++
				}
				g.add(&links[i])
			}
			return b.set(groupKey(id), f.codec.pack(&g))
		})
		f.codec.forget()
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLink calls fn with every link of the store that can be read and the
// number of its group.
func (f *Frontier) eachLink(ctx context.Context, fn func(group uint64, e *Entry)) error {
	return f.read(func(txn *badger.Txn) error {
		return scan(txn, groupKey(0)[:1], func(key, value []byte) error {
			links, err := f.codec.unpackAll(value)
			if err != nil {
				return readable(err)
			}
			for i := range links {
				fn(binary.BigEndian.Uint64(key[1:]), &links[i])
			}
			return ctx.Err()
		})
	})
}
