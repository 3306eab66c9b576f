package frontier

import (
	"context"
	"errors"
	"fmt"
	"os"

	"gazehound/crawler/weburl"
	"gazehound/internal/disk"
)

// ReasonForgotten is the Outcome.Reason of URLs that Forget removed.
const ReasonForgotten = "forgotten"

// Forgotten counts what Forget removed from the crawl tree.
type Forgotten struct {
	URLs      int // waiting or visited
	Unsent    int // links that waited for other nodes
	Links     int // whose words were blanked: those to the URLs, and those on their pages
	Addresses int // ids taken out of visits
}

// A Removal selects what Forget removes. Functions may be nil.
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
// progress gets the visits and links written so far and how many there are, every so often; nil
// disables it.
func (f *Frontier) Forget(ctx context.Context, r Removal, progress func(done, all int64)) (n Forgotten, err error) {
	s, onDisk := f.store.(*badgerStore)
	if !onDisk {
		return n, errors.New("frontier: forget: the store is in memory")
	}
	next := f.options.Dir + ".new"
	tables, logs := s.db.Size()
	err = errors.Join(os.RemoveAll(next), checkFree(f.options.Dir, tables+logs+usualMinFree))
	if err == nil {
		err = f.read(func(v view) error {
			c := newCopying(v, r)
			c.progress = progress
			if err := c.plan(ctx); err != nil {
				return err
			}
			n, err = c.copy(ctx, next)
			return err
		})
	}
	if err != nil {
		return Forgotten{}, errors.Join(fmt.Errorf("frontier: forget: %w", err), os.RemoveAll(next))
	}
	unlock := s.unlock // once the new files are in place
	s.unlock = func() error { return nil }
	err = f.Close()
	if err == nil {
		err = disk.ReplaceDir(next, f.options.Dir)
	}
	err = errors.Join(err, unlock())
	if err != nil {
		return Forgotten{}, fmt.Errorf("frontier: forget: %w", err)
	}
	return n, nil
}
