package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A Follower reads an index that others may write meanwhile. It shows the newest snapshot, and moves
// on to the next one. It is safe for concurrent use.
type Follower struct {
	dir    string
	report func(error)

	now    atomic.Pointer[Index]
	root   os.FileInfo // of the root file that now was made from; nil: it is the snapshot of a writer
	last   string      // text of the error that was reported last
	stop   chan struct{}
	looker sync.WaitGroup
}

// followEvery is the time between two looks for newer data.
const followEvery = time.Second

// Follow opens the index in dir for reading, beside a process that writes it or before one. It does
// not keep a writer from opening the index, unless hard links cannot be made there. A folder that does
// not exist is an empty index until it does. Errors are those of Open; ErrLocked means that a writer
// holds the index and cannot make snapshots. Later errors are given to report, each once, from another
// goroutine, and nil after them; what was shown is shown until they pass. Close ends it.
func Follow(dir string, report func(error)) (*Follower, error) {
	f := &Follower{dir: dir, report: report, stop: make(chan struct{})}
	f.now.Store(&Index{dir: dir})
	err := f.look()
	if err != nil {
		return nil, err
	}
	f.looker.Go(func() {
		t := time.NewTicker(followEvery)
		defer t.Stop()
		for {
			select {
			case <-f.stop:
				return
			case <-t.C:
				f.tell(f.look())
			}
		}
	})
	return f, nil
}

// tell reports an error unless it was the last one, and that there is none any more.
func (f *Follower) tell(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != f.last {
		f.last = text
		f.report(err)
	}
}

// look takes over newer data, if there are any.
func (f *Follower) look() error {
	root, err := os.Stat(filepath.Join(f.dir, "bleve", "store", "root.bolt"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Join(f.dir, "bleve")); err != nil {
			return nil // nothing yet; or gone, until somebody makes it anew
		}
	case err != nil:
		return err
	case f.root != nil && os.SameFile(root, f.root) && root.ModTime().Equal(f.root.ModTime()):
		return nil
	}
	if isLocked(f.dir) {
		return f.takeWriters()
	}
	x, err := OpenReadOnly(f.dir)
	if errors.Is(err, ErrLocked) { // a moment ago
		return f.takeWriters()
	} else if err != nil {
		return err
	}
	folder, err := x.snapshot()
	if err != nil { // a disk that is read-only, or without links
		f.show(x, root)
		return nil
	}
	err = x.Close()
	if err != nil {
		return err
	}
	return f.open(folder, root)
}

// takeWriters takes over the newest snapshot of a writer.
func (f *Follower) takeWriters() error {
	folder := newestSnapshot(f.dir)
	now := f.now.Load()
	switch {
	case folder == "" && now.Exists(), folder == now.dir:
		return nil
	case folder == "":
		return f.lockedOrEmpty()
	}
	return f.open(folder, nil)
}

// lockedOrEmpty is the error for a writer without a snapshot; one that has begun just now will have one.
func (f *Follower) lockedOrEmpty() error {
	for range 20 {
		if folder := newestSnapshot(f.dir); folder != "" {
			return f.open(folder, nil)
		}
		time.Sleep(followEvery / 20)
	}
	return ErrLocked
}

func (f *Follower) open(folder string, root os.FileInfo) error {
	x, err := openSnapshot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is a newer one
	} else if err != nil {
		return err
	}
	f.show(x, root)
	return nil
}

// show makes x what is read, and closes what was when its readers are done.
func (f *Follower) show(x *Index, root os.FileInfo) {
	f.root = root
	f.now.Swap(x).Close() // read only
}

// Close ends the goroutine, waits for the searches that run, and lets go of the data.
func (f *Follower) Close() error {
	close(f.stop)
	f.looker.Wait()
	return f.now.Load().Close()
}

// Exists reports whether there is any data.
func (f *Follower) Exists() bool { return f.now.Load().Exists() }

// answered returns the answer of the data that are shown now.
func answered[T any](f *Follower, question func(x *Index) (T, error)) (T, error) {
	for {
		x := f.now.Load()
		answer, err := question(x)
		if !errors.Is(err, ErrClosed) || x == f.now.Load() {
			return answer, err
		}
	}
}

// Search is Search of an Index.
func (f *Follower) Search(ctx context.Context, q Query) (*Result, error) {
	return answered(f, func(x *Index) (*Result, error) { return x.Search(ctx, q) })
}

// Clusters is Clusters of an Index.
func (f *Follower) Clusters(ctx context.Context, q Query, zoom int) (clusters []Cluster, total int, err error) {
	clusters, err = answered(f, func(x *Index) (c []Cluster, err error) {
		c, total, err = x.Clusters(ctx, q, zoom)
		return c, err
	})
	return clusters, total, err
}

// Suggest is Suggest of an Index.
func (f *Follower) Suggest(typed string, limit int) ([]Suggestion, error) {
	return answered(f, func(x *Index) ([]Suggestion, error) { return x.Suggest(typed, limit) })
}

// Walk is Walk of an Index: all of it is from one snapshot.
func (f *Follower) Walk(ctx context.Context, filters Filters, fn func(*Hit) error) error {
	_, err := answered(f, func(x *Index) (struct{}, error) { return struct{}{}, x.Walk(ctx, filters, fn) })
	return err
}

// WalkNames is WalkNames of an Index.
func (f *Follower) WalkNames(ctx context.Context, fn func(*Hit) error) error {
	_, err := answered(f, func(x *Index) (struct{}, error) { return struct{}{}, x.WalkNames(ctx, fn) })
	return err
}

// Address is Address of an Index.
func (f *Follower) Address(id string) (*Hit, error) {
	return answered(f, func(x *Index) (*Hit, error) { return x.Address(id) })
}

// Standing is Standing of an Index.
func (f *Follower) Standing(id string) (*Standing, error) {
	return answered(f, func(x *Index) (*Standing, error) { return x.Standing(id) })
}

// Stats is Stats of an Index.
func (f *Follower) Stats(ctx context.Context) (Stats, error) {
	return answered(f, func(x *Index) (Stats, error) { return x.Stats(ctx) })
}

// State is State of an Index.
func (f *Follower) State() (State, error) {
	return answered(f, func(x *Index) (State, error) { return x.State() })
}
