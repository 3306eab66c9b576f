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

// A Removal says what Forget takes out. Functions may be nil.
type Removal struct {
	URL     func(weburl.URL) bool // pages
	Address func(id string) bool  // of the addresses that pages state
	Page    func(Key) bool        // pages that stay and whose links lose their words
	Text    func(string) bool     // words of links, titles, evidence, values of PutMeta and their names
}

// Forget takes the URLs that match out of the queue and the crawl tree: their
// words, the words of the links on their pages, what was found there and what is
// kept for asking again. What stays is the hash of each URL, so that it is not
// queued again, and a visit that says "skipped: forgotten", so that totals add
// up. Ids of addresses that match are taken out of all visits, and all other texts
// that match are blanked.
//
// A killed Forget is completed by calling it again. The files hold the old bytes
// until Rewrite.
func (f *Frontier) Forget(ctx context.Context, r Removal) (n Forgotten, err error) {
	if r.URL == nil {
		r.URL = func(weburl.URL) bool { return false }
	}
	if r.Address == nil {
		r.Address = func(string) bool { return false }
	}
	if r.Page == nil {
		r.Page = func(Key) bool { return false }
	}
	if r.Text == nil {
		r.Text = func(string) bool { return false }
	}
	err = f.forgetURLs(ctx, &r, &n)
	if err == nil {
		err = f.forgetAddresses(ctx, &r, &n)
	}
	if err == nil {
		err = f.forgetMeta(ctx, r.Text)
	}
	if err != nil {
		return n, fmt.Errorf("frontier: forget: %w", err)
	}
	return n, nil
}

// forgetURLs blanks the words of links first and then the URLs, whose names tell a second call what
// is left to do.
func (f *Frontier) forgetURLs(ctx context.Context, r *Removal, n *Forgotten) error {
	gone := map[Key]bool{}
	var keys []Key
	err := f.eachLink(ctx, func(_ []byte, e *Entry) {
		if r.URL(e.URL) {
			keys = append(keys, KeyOf(e.URL))
			gone[keys[len(keys)-1]] = true
		}
	})
	if err != nil {
		return err
	}
	var worded [][]byte // keys of the links
	err = f.eachLink(ctx, func(key []byte, e *Entry) {
		if words := e.Anchor + "\n" + e.Title + "\n" + e.Around; words == "\n\n" {
			return
		} else if gone[e.Parent] || r.Page(e.Parent) || r.Text(words) {
			worded = append(worded, bytes.Clone(key))
		}
	})
	if err != nil {
		return err
	}
	err = inBatches(ctx, f, worded, func(b *batch, key []byte) {
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

// forgetAddresses takes ids of addresses out of the visits, and titles and evidence that name what is
// forgotten.
func (f *Frontier) forgetAddresses(ctx context.Context, r *Removal, n *Forgotten) error {
	var visits []uint64
	err := f.eachVisit(ctx, 0, func(seq uint64, value []byte) error {
		node, err := visited(value)
		if err != nil {
			return readable(err)
		}
		if o := node.Outcome; slices.ContainsFunc(o.Addresses, r.Address) || r.Text(o.Title) || r.Text(o.Evidence) {
			visits = append(visits, seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return inBatches(ctx, f, visits, func(b *batch, seq uint64) {
		n.Addresses += b.forgetAddresses(seq, r.Address)
	})
}

// forgetAddresses takes ids out of a visit with its title and evidence, which may name them, too.
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
	v.outcome.Addresses, v.outcome.Title, v.outcome.Evidence = left, "", ""
	b.set(visitKey(seq), v.encode())
	return taken
}

// forgetMeta takes out the values of PutMeta that match, or whose names do.
func (f *Frontier) forgetMeta(ctx context.Context, match func(string) bool) error {
	var names []string
	err := f.read(func(v view) error {
		return v.scan([]byte{'m'}, nil, func(key, _ []byte) error {
			names = append(names, string(key[1:]))
			return ctx.Err()
		})
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		value, err := f.Meta(name)
		if err != nil {
			return err
		}
		if !match(name) && !match(string(value)) {
			continue
		}
		err = f.write(ctx, func(b *batch) {
			r, _ := find(b, metaKey(name), decodeMeta)
			for i := range r.pieces {
				b.delete(pieceKey(name, r.set, i))
			}
			b.delete(metaKey(name))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
