package index

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gazehound/internal/disk"

	"github.com/blevesearch/bleve/v2"
)

// The writer of an index locks its folder. Whoever reads it meanwhile reads a snapshot: a folder below
// snapshots, called by its generation and ID, with hard links to the segments, which never change, and a root
// file of its own. The newest one counts; whoever makes one removes the others.

// snapshotEvery is the time between two snapshots of an index that a crawl writes.
const snapshotEvery = 5 * time.Second

func snapshotsOf(dir string) string { return filepath.Join(dir, "snapshots") }

// newestSnapshot returns the folder of the newest snapshot in dir, or "".
func newestSnapshot(dir string) string {
	entries, err := os.ReadDir(snapshotsOf(dir)) // in the order of their names
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), unfinished) {
			return filepath.Join(snapshotsOf(dir), e.Name())
		}
	}
	return ""
}

// unfinished begins the names of snapshots that are being made; it sorts before every generation.
const unfinished = "+"

// snapshot makes a snapshot of x, which nobody else may change meanwhile, and returns its folder.
func (x *Index) snapshot() (folder string, err error) {
	defer intoError(&err)
	v, err := x.latest()
	if err != nil {
		return "", err
	}
	generation := v.state.Generation
	err = v.Close()
	if err != nil {
		return "", err
	}
	copies, ok := x.bleve.(bleve.IndexCopyable)
	if !ok {
		return "", fmt.Errorf("index: %T cannot be copied", x.bleve)
	}
	all := snapshotsOf(x.dir)
	part := filepath.Join(all, unfinished+rand.Text())
	folder = filepath.Join(all, fmt.Sprintf("%016x-%s", generation, x.id))
	err = copies.CopyTo(links(filepath.Join(part, "bleve")))
	if err == nil {
		err = os.Link(filepath.Join(x.dir, "index.json"), filepath.Join(part, "index.json"))
	}
	if err == nil {
		err = os.RemoveAll(folder)
	}
	if err == nil {
		err = os.Rename(part, folder)
	}
	if err != nil {
		os.RemoveAll(part)
		return "", fmt.Errorf("index: snapshot: %w", err)
	}
	entries, err := os.ReadDir(all)
	for _, e := range entries {
		if e.Name() != filepath.Base(folder) {
			os.RemoveAll(filepath.Join(all, e.Name())) // later, where a reader has it open (Windows)
		}
	}
	return folder, err
}

// links is the folder that Bleve copies an index to: segments on disk become links.
type links string

// GetWriter returns where the file name is to be written.
func (l links) GetWriter(name string) (io.WriteCloser, error) {
	file := filepath.Join(string(l), name)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err != nil {
		return nil, err
	}
	if segmentName.MatchString(name) {
		return &linkWriter{file: file}, nil
	}
	return os.Create(file)
}

// A linkWriter makes a file of a snapshot: a link to the file that is copied, or what is written, of a
// segment that is only in memory yet. That one may stand half written in the index at the same time.
type linkWriter struct {
	file string
	out  *os.File // nil: nothing was written
}

// ReadFrom is what io.Copy calls with the file of a segment.
func (w *linkWriter) ReadFrom(r io.Reader) (int64, error) {
	from, ok := r.(interface{ Name() string })
	if !ok {
		return 0, fmt.Errorf("index: a segment is copied from %T, not from a file", r)
	}
	return 0, os.Link(from.Name(), w.file)
}

func (w *linkWriter) Write(p []byte) (int, error) {
	if w.out == nil {
		out, err := os.Create(w.file)
		if err != nil {
			return 0, err
		}
		w.out = out
	}
	return w.out.Write(p)
}

func (w *linkWriter) Close() error {
	if w.out == nil {
		return nil
	}
	return w.out.Close()
}

// openSnapshot opens a snapshot for reading. Its files were checked when the index was opened from
// which it was made.
func openSnapshot(folder string) (*Index, error) {
	id, err := identify(folder, true)
	if err != nil {
		return nil, err
	}
	b, err := bleve.OpenUsing(filepath.Join(folder, "bleve"), config(true))
	if err != nil {
		return nil, openError(folder, err)
	}
	return &Index{dir: folder, id: id, bleve: b, unlock: func() error { return nil }}, nil
}

// OpenSnapshot opens the newest snapshot of the index in dir, which another process writes. ErrLocked means
// that there is none.
func OpenSnapshot(dir string) (*Index, error) {
	for {
		folder := newestSnapshot(dir)
		if folder == "" {
			return nil, fmt.Errorf("index: %s: %w", dir, ErrLocked)
		}
		x, err := openSnapshot(folder)
		if err == nil || newestSnapshot(dir) == folder {
			return x, err
		}
	}
}

// isLocked reports whether a writer has the index in dir open.
func isLocked(dir string) bool {
	unlock, err := disk.LockDir(dir, true)
	if err == nil {
		unlock()
	}
	return err != nil
}
