package frontier

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"gazehound/crawler/weburl"
)

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
func (f *Frontier) Forget(
	ctx context.Context, match func(weburl.URL) bool, address func(page Key, id string) bool,
) (n Forgotten, err error) {
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

// forgetURLs blanks the links on the pages first and then the URLs, whose names tell a second call
// what is left to do.
func (f *Frontier) forgetURLs(ctx context.Context, match func(weburl.URL) bool, n *Forgotten) error {
	gone := map[Key]bool{}
	var keys []Key
	err := f.eachLink(ctx, func(_ []byte, e *Entry) {
		if match(e.URL) {
			keys = append(keys, KeyOf(e.URL))
			gone[keys[len(keys)-1]] = true
		}
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	var onPages [][]byte // keys of the links
	err = f.eachLink(ctx, func(key []byte, e *Entry) {
		if gone[e.Parent] && e.Anchor+e.Title+e.Around != "" {
			onPages = append(onPages, bytes.Clone(key))
		}
	})
	if err != nil {
		return err
	}
	err = inBatches(ctx, f, onPages, func(b *batch, key []byte) {
		n.Links++
		b.blankWords(key)
	})
	if err != nil {
		return err
	}
	return inBatches(ctx, f, keys, func(b *batch, k Key) {
		if b.forgetURL(k) {
			n.URLs++
			n.Links++
		}
	})
}

// inBatches calls fn with each of list, forgetBatch of them in one transaction.
func inBatches[T any](ctx context.Context, f *Frontier, list []T, fn func(*batch, T)) error {
	for part := range slices.Chunk(list, forgetBatch) {
		err := f.write(ctx, func(b *batch) {
			for _, x := range part {
				fn(b, x)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachLink calls fn with every link of the queue and the crawl tree that can be read, and its key,
// which fn must not keep.
func (f *Frontier) eachLink(ctx context.Context, fn func(key []byte, e *Entry)) error {
	return f.read(func(v view) error {
		for _, prefix := range []string{"q", "v"} {
			err := v.scan([]byte(prefix), nil, func(key, value []byte) error {
				if e, err := linkOf(key, value); err == nil {
					fn(key, &e)
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// linkOf returns the link in a record of the queue or of a visit.
func linkOf(key, value []byte) (Entry, error) {
	if key[0] == 'q' {
		return decodeQueued(value)
	}
	r, err := decodeVisit(value)
	if err != nil {
		return Entry{}, err
	}
	return decodeLink(r.link)
}

// blankWords takes the words out of a link of the queue or of a visit.
func (b *batch) blankWords(key []byte) {
	value, known := find(b, key, copied)
	e, err := linkOf(key, value)
	if !known || err != nil {
		return // visited meanwhile: a second call finds it there
	}
	e.Anchor, e.Title, e.Around = "", "", ""
	if key[0] == 'q' {
		b.set(key, encodeQueued(&e))
		return
	}
	v, _ := find(b, key, decodeVisit)
	v.link = appendLink(nil, &e)
	b.set(key, v.encode())
}

// forgetURL ends the waiting of a URL, and takes what was found out of its visit and its name. It
// tells whether there was anything.
func (b *batch) forgetURL(k Key) bool {
	r, known := b.lookup(k)
	if !known {
		return false
	}
	if r.state == Queued {
		b.finish(&link{key: k}, Outcome{Kind: "skipped", Reason: ReasonForgotten, At: time.Now()})
		return true
	}
	v, known := find(b, visitKey(r.seq), decodeVisit)
	if !known {
		return false
	}
	b.delete(checkKey(k))
	b.totals.remove(&v.outcome)
	was := v.outcome
	v.outcome = Outcome{
		Kind: "skipped", Reason: ReasonForgotten, At: was.At, Bytes: was.Bytes, Dropped: was.Dropped,
	}
	b.totals.add(&v.outcome)
	v.link = appendLink(nil, &Entry{})
	b.set(visitKey(r.seq), v.encode())
	return true
}

// forgetAddresses takes ids of addresses out of the visits.
func (f *Frontier) forgetAddresses(
	ctx context.Context, match func(page Key, id string) bool, n *Forgotten,
) error {
	type found struct {
		seq  uint64
		page Key
	}
	var visits []found
	err := f.eachVisit(ctx, 0, func(seq uint64, value []byte) error {
		node, err := visited(value)
		if err != nil {
			return readable(err)
		}
		page := KeyOf(node.URL)
		if slices.ContainsFunc(node.Outcome.Addresses, func(id string) bool { return match(page, id) }) {
			visits = append(visits, found{seq, page})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return inBatches(ctx, f, visits, func(b *batch, x found) {
		n.Addresses += b.forgetAddresses(x.seq, func(id string) bool { return match(x.page, id) })
	})
}

func (b *batch) forgetAddresses(seq uint64, match func(id string) bool) (taken int) {
	v, known := find(b, visitKey(seq), decodeVisit)
	if !known {
		return 0
	}
	var left []string
	for _, id := range v.outcome.Addresses {
		if !match(id) {
			left = append(left, id)
			continue
		}
		taken++
		if key := addressKey(id); b.has(key) {
			b.totals.Addresses--
			b.delete(key)
		}
	}
	v.outcome.Addresses = left
	if taken > 0 {
		v.outcome.Title, v.outcome.Evidence = "", "" // they may name it, too
	}
	b.set(visitKey(seq), v.encode())
	return taken
}
