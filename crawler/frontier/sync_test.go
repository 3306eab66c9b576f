package frontier

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

// A slowDisk needs a moment to sync.
type slowDisk struct {
	store
	begun chan bool
	syncs atomic.Int32 // that have ended
	err   error
}

func (s *slowDisk) sync() error {
	s.begun <- true
	time.Sleep(20 * time.Millisecond)
	s.syncs.Add(1)
	return s.err
}

// Sync returns when all that was written before is on the disk, even if another call syncs it, and
// writes nothing where nothing is new. Nothing is written after it failed.
func TestSync(t *testing.T) {
	disk := &slowDisk{store: newTreeStore(), begun: make(chan bool, 9)}
	f, err := start(Options{InMemory: true}, disk)
	if err != nil {
		t.Fatal(err)
	}
	push := func(url string) error {
		u, err := weburl.Parse(url)
		if err != nil {
			return err
		}
		_, err = f.Push(t.Context(), Entry{URL: u, Priority: 1})
		return err
	}
	if err := push("http://a.example/"); err != nil {
		t.Fatal(err)
	}
	other := make(chan error)
	go func() { other <- f.Sync() }()
	<-disk.begun
	if err := f.Sync(); err != nil || disk.syncs.Load() != 1 {
		t.Errorf("returned before another call had synced: %v", err)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	if err := f.Sync(); err != nil || disk.syncs.Load() != 1 {
		t.Errorf("%d syncs of one change: %v", disk.syncs.Load(), err)
	}
	disk.err = errors.New("the disk is gone")
	if err := push("http://a.example/b"); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, disk.err) {
		t.Errorf("a failed sync: %v", err)
	}
	if err := push("http://a.example/c"); !errors.Is(err, disk.err) {
		t.Errorf("a write after a failed sync: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := f.Sync(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
