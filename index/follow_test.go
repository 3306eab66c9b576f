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
	for range 2 {
		readers.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
				if _, err := f.Search(t.Context(), Query{Text: "bäckerei"}); err != nil {
					t.Errorf("search: %v", err)
				}
				if err := f.Walk(t.Context(), Filters{}, func(*Hit) error { return nil }); err != nil {
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

// opened opens an index for writing while others may read it for a moment; its snapshots come soon.
func opened(t *testing.T, dir string) *Index {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		x, err := Open(dir)
		if errors.Is(err, ErrLocked) && time.Now().Before(deadline) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		x.SnapshotEvery = 100 * time.Millisecond
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

// elsewhere makes a folder on another file system than dir's, to which hard links do not lead.
func elsewhere(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "linked")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, parent := range []string{"/dev/shm", "/var/tmp"} { // dir itself may be in memory
		other, err := os.MkdirTemp(parent, "gazehound-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(other) })
		link := filepath.Join(other, "linked")
		if os.Link(file, link) != nil {
			return other
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("no second file system at /dev/shm or /var/tmp")
	return ""
}

// On a disk without hard links a reader holds the index itself: what is written is read before and after
// the writer, who waits for readers, and a reader that comes beside a writer is told why it cannot.
func TestFollowWithoutLinks(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	dir, other := filepath.Join(temp, "index"), elsewhere(t, temp)
	apart := func() { // a writer removes its snapshots when it ends
		t.Helper()
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.Symlink(other, snapshotsOf(dir))
		}
		if err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	apart()
	docs := made(2)
	x := opened(t, dir)
	if err := x.Put(t.Context(), docs[0]); err != nil {
		t.Fatal(err)
	}
	if folder, err := x.snapshot(); err == nil {
		x.Close()
		t.Skip("a snapshot can be made, both are one file system: ", folder)
	}
	if _, err := Follow(dir, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("beside a writer: %v, want %v", err, ErrLocked)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	apart()
	f, err := Follow(dir, func(err error) { t.Errorf("report: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	if s, err := f.Stats(t.Context()); err != nil || s.Pages != 1 {
		t.Errorf("after the writer: %d pages, %v", s.Pages, err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a writer beside a reader: %v, want %v", err, ErrLocked)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	x = opened(t, dir)
	if err := x.Put(t.Context(), docs[1]); err != nil {
		t.Error(err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(other); err == nil && len(left) > 0 {
		t.Errorf("%d halves of snapshots are left", len(left))
	}
}
