package frontier

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
)

// Rewrite closes f and makes its files anew, without what was deleted or replaced. The new files lie
// in Dir+".new" until all are on the disk and take the place of the old ones in one step. progress gets
// the records written so far and the most there can be, every so often; nil disables it. A killed
// Rewrite leaves the store as it was, and is completed by calling it again.
func (f *Frontier) Rewrite(ctx context.Context, progress func(done, all int64)) error {
	s, onDisk := f.store.(*badgerStore)
	if !onDisk {
		return nil
	}
	next := f.options.Dir + ".new"
	err := os.RemoveAll(next)
	if err == nil {
		err = s.copyTo(ctx, next, progress)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("frontier: rewrite %s: %w", f.options.Dir, err), os.RemoveAll(next))
	}
	unlock := s.unlock // once the new files are in place
	s.unlock = func() error { return nil }
	err = f.Close()
	if err == nil {
		err = disk.Exchange(next, f.options.Dir)
	}
	if err = errors.Join(err, unlock()); err != nil {
		return fmt.Errorf("frontier: rewrite %s: %w", f.options.Dir, err)
	}
	return os.RemoveAll(next)
}

// copyTo makes a store in dir with the records that s has now.
func (s *badgerStore) copyTo(ctx context.Context, dir string, progress func(done, all int64)) error {
	db, err := newBadger(dir)
	if err != nil {
		return err
	}
	all, done := int64(0), atomic.Int64{}
	for _, t := range s.db.Tables() {
		all += int64(t.KeyCount)
	}
	writer, stream := db.NewStreamWriter(), s.db.NewStream()
	stream.Send = writer.Write
	stream.ChooseKey = func(*badger.Item) bool {
		if n := done.Add(1); progress != nil && n%progressEvery == 0 {
			progress(n, max(n, all))
		}
		return true
	}
	err = writer.Prepare()
	if err == nil {
		err = stream.Orchestrate(ctx)
	}
	if err == nil {
		err = writer.Flush()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	return writeSums(dir, nil)
}

// newBadger makes an empty store, which is written to as it is.
func newBadger(dir string) (*badger.DB, error) {
	f, err := Open(Options{Dir: dir})
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, sumsFile))
	}
	if err != nil {
		return nil, err
	}
	return badger.OpenManaged(badgerOptions(Options{Dir: dir, Memory: DefaultOptions().Memory}))
}

// progressEvery is how many records are written between two words about it.
const progressEvery = 10_000
