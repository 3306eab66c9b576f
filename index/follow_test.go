package index

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// What a writer writes is followed; readers never meet an error, and a writer is never locked out.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	f, err := Follow(dir, func(err error) { t.Errorf("report: %v", err) })
	if err != nil || f.Exists() {
		t.Fatalf("before any data: %v, %v", f, err)
	}
	defer f.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
				if _, err := f.Search(t.Context(), Query{Text: "bäckerei"}); err != nil {
					t.Errorf("search: %v", err)
				}
				if err := f.Walk(t.Context(), Query{}, func(*Hit) error { return nil }); err != nil {
					t.Errorf("walk: %v", err)
				}
			}
		})
	}
	follows := func(when string, pages int) {
		t.Helper()
		var s Stats
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if s, err = f.Stats(t.Context()); err != nil || s.Pages == pages {
				break
			}
		}
		if err != nil || s.Pages != pages {
			t.Errorf("%s: %d pages, %v, want %d", when, s.Pages, err, pages)
		}
	}
	docs := made(6)
	written := 0
	write := func(x *Index) {
		t.Helper()
		if err := x.Put(t.Context(), docs[written]); err != nil {
			t.Fatal(err)
		}
		written++
	}
	for range 2 {
		x := opened(t, dir)
		write(x)
		follows("while it is written", written)
		write(x)
		follows("while it is written on", written)
		write(x)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		follows("when it was closed", written)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	x := opened(t, dir) // as crawl --fresh does
	written = 0
	write(x)
	follows("made anew", 1)
	stop()
	readers.Wait()
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

// opened opens an index for writing while others may read it for a moment.
func opened(t *testing.T, dir string) *Index {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		x, err := Open(dir)
		if errors.Is(err, ErrLocked) && time.Now().Before(deadline) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// An index that is damaged when the follower begins is an error; later what was served stays.
func TestFollowDamaged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	x, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.Put(t.Context(), made(1)[0]), x.Close()); err != nil {
		t.Fatal(err)
	}
	reports := make(chan error, 10)
	f, err := Follow(dir, func(err error) { reports <- err })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(filepath.Join(dir, "bleve", "store", "root.bolt"), 4096); err != nil {
		t.Fatal(err)
	}
	if err := <-reports; !errors.Is(err, ErrDamaged) {
		t.Errorf("report %v", err)
	}
	if s, err := f.Stats(t.Context()); err != nil || s.Pages != 1 {
		t.Errorf("%d pages, %v", s.Pages, err)
	}
	if _, err := Follow(dir, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("begun on it: %v", err)
	}
}
