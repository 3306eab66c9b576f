package warc

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"gazehound/internal/disk"
)

// WriterOptions tune a Writer.
type WriterOptions struct {
	Dir     string // of the files; made where it is missing
	MaxFile int64  // bytes after which a file is full
	// Manifest lists the files; nil: nothing does.
	Manifest *Manifest
	// Info are the fields of the warcinfo record with which each file begins,
	// such as software, operator, robots and isPartOf, in this order.
	Info [][2]string
}

// DefaultWriterOptions returns the options of config.yaml as shipped, without
// Dir and Info.
func DefaultWriterOptions() WriterOptions { return WriterOptions{MaxFile: 1e9} }

// ErrClosed is the error of Write after Close.
var ErrClosed = errors.New("warc: writer is closed")

const (
	fileExt = ".warc.gz"
	openExt = ".open" // behind the name of a file that is being written
	lockExt = ".lock" // suffix of the lock file, held while the file is written or finished
)

// A Writer writes captures to WARC/1.1 files, each record a gzip member of its
// own. It is safe for concurrent use.
//
// A file is called NAME.warc.gz.open until it is full or the Writer is closed.
// Whatever moment the program is killed at, what Write has acknowledged is
// whole and on the disk; a torn record behind it is cut off by the next
// Writer for the same directory, which also gives the file its name.
type Writer struct {
	options  WriterOptions
	repaired []string
	encoders sync.Pool                             // of *encoder
	origins  *lru.Cache[[sha256.Size]byte, origin] // the latest, by payload

	mu     sync.Mutex // of all below
	closed bool
	file   *os.File // or nil
	unlock func()   // of file
	size   int64    // of file, all of it whole records
	print  string   // fingerprint of file
	serial int
	failed error // the state of the file is unknown
}

// maxOrigins bounds the bodies remembered for revisit records.
const maxOrigins = 1 << 16

// NewWriter returns a Writer. It ends the files
// that a killed program left open in the directory; those of programs that
// still run are left alone. The first file is begun with the first capture.
func NewWriter(o WriterOptions) (*Writer, error) {
	err := os.MkdirAll(o.Dir, 0o755)
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	repaired, err := repair(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Manifest != nil {
		err := errors.Join(o.Manifest.AddFolder(o.Dir), o.Manifest.grow())
		if err != nil {
			return nil, fmt.Errorf("warc: %w", err)
		}
	}
	w := &Writer{options: o, repaired: repaired}
	w.encoders.New = func() any { return newEncoder() }
	w.origins, err = lru.New[[sha256.Size]byte, origin](maxOrigins)
	return w, err
}

// Repaired returns what NewWriter did to files that a killed program left, a
// sentence each.
func (w *Writer) Repaired() []string { return w.repaired }

// Write adds a capture to the archive. It is on the disk when Write returns. A
// body that was written not long ago is not written again but referred to by a
// revisit record.
func (w *Writer) Write(ctx context.Context, c Capture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := w.encoders.Get().(*encoder)
	defer w.encoders.Put(e)
	e.out.Reset()
	original, err := e.capture(c, w.origins.Get)
	if err != nil {
		return fmt.Errorf("warc: %s: %w", c.Response.URL, err)
	}
	err = w.store(e.out.Bytes())
	if err != nil {
		return err
	}
	if original.url != "" {
		w.origins.Add(original.payload, original)
	}
	return nil
}

// Close ends the file that is open and gives it its name. A second Close does
// nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.finish()
}

// store writes the records of a capture and syncs. Where that fails, none of
// them is in the file.
func (w *Writer) store(records []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.failed != nil {
		return w.failed
	}
	more := int64(len(records))
	if w.file != nil && w.size+more > w.options.MaxFile {
		w.failed = disk.WithCause(w.options.Dir, w.finish())
		if w.failed != nil {
			return w.failed
		}
	}
	if w.file == nil {
		err := w.begin()
		if err != nil {
			return err
		}
	}
	_, err := w.file.Write(records)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		err = disk.WithCause(w.options.Dir, fmt.Errorf("warc: %w", err))
		undo := w.cut()
		if undo != nil {
			w.failed = errors.Join(err, undo)
		}
		return err
	}
	w.size += more
	return nil
}

// cut removes what was written after the last sync.
func (w *Writer) cut() error {
	err := w.file.Truncate(w.size)
	if err != nil {
		return err
	}
	_, err = w.file.Seek(w.size, io.SeekStart)
	return err
}

// begin makes a new file with its warcinfo record.
func (w *Writer) begin() error {
	w.serial++
	// To the millisecond, as in other crawlers: names sort by when files were begun.
	now := strings.Replace(time.Now().UTC().Format("20060102150405.000"), ".", "", 1)
	name := fmt.Sprintf("gazehound-%s-%05d-%06x%s", now, w.serial, rand.N(1<<24), fileExt)
	e := w.encoders.Get().(*encoder)
	defer w.encoders.Put(e)
	e.out.Reset()
	err := e.info(name, w.options.Info)
	if err != nil {
		return fmt.Errorf("warc: %s: %w", name, err)
	}
	name = filepath.Join(w.options.Dir, name)
	unlock, err := lock(name) // so that no other Writer repairs it
	if err != nil {
		return fmt.Errorf("warc: begin %s: %w", name, err)
	}
	f, err := os.OpenFile(name+openExt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // personal data may be in it
	if err != nil {
		unlock()
		return fmt.Errorf("warc: %w", err)
	}
	_, err = f.Write(e.out.Bytes())
	if err == nil {
		err = errors.Join(f.Sync(), disk.SyncDir(w.options.Dir))
	}
	if m := w.options.Manifest; m != nil && err == nil {
		err = m.list(name, int64(e.out.Len()), fingerprint(e.out.Bytes()))
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		unlock()
		return fmt.Errorf("warc: begin %s: %w", name, err)
	}
	w.file, w.unlock, w.size, w.print = f, unlock, int64(e.out.Len()), fingerprint(e.out.Bytes())
	return nil
}

// finish gives the file its final name. Everything in it is on the disk.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	defer w.unlock()
	err := endFile(f)
	if m := w.options.Manifest; m != nil {
		err = errors.Join(err, m.list(f.Name(), w.size, w.print))
	}
	return err
}

// lock locks the file that is or will be called name. A lock that was left by
// a killed program is none.
func lock(name string) (unlock func(), err error) {
	release, err := disk.Lock(name + lockExt)
	if err != nil {
		return nil, err
	}
	return func() {
		release()
		os.Remove(name + lockExt) // the file has its final name: nobody wants to lock it
	}, nil
}

// endFile closes a file that is whole and gives it its final name.
func endFile(f *os.File) error {
	err := f.Close()
	if err == nil {
		err = os.Rename(f.Name(), strings.TrimSuffix(f.Name(), openExt))
	}
	if err == nil {
		err = disk.SyncDir(filepath.Dir(f.Name()))
	}
	if err != nil {
		return fmt.Errorf("warc: end %s: %w", f.Name(), err)
	}
	return nil
}

// repair ends the files that a killed program left open in dir.
func repair(dir string) (done []string, err error) {
	names, err := fs.Glob(os.DirFS(dir), "*"+fileExt+openExt)
	if err != nil {
		return nil, fmt.Errorf("warc: %s: %w", dir, err)
	}
	slices.Sort(names)
	for _, name := range names {
		name = filepath.Join(dir, name)
		what, err := repairFile(name)
		if err != nil {
			return done, fmt.Errorf("warc: %s was left by a killed crawl and cannot be ended: %w", name, err)
		}
		if what != "" {
			done = append(done, what)
		}
	}
	return done, nil
}

// repairFile cuts a file behind its last whole record and gives it its name.
// An empty file is removed; one that is in use is left alone.
func repairFile(name string) (what string, err error) {
	final := strings.TrimSuffix(name, openExt)
	unlock, err := lock(final)
	if errors.Is(err, disk.ErrLocked) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer unlock()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // another program has just ended it
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	whole, size, err := wholeRecords(f)
	if err != nil {
		return "", err
	}
	final = filepath.Base(final)
	if whole == 0 {
		f.Close()
		return fmt.Sprintf("%s held no record and was removed", final), os.Remove(name)
	}
	if whole < size {
		err := errors.Join(f.Truncate(whole), f.Sync())
		if err != nil {
			return "", err
		}
	}
	err = endFile(f)
	if err != nil {
		return "", err
	}
	if whole == size {
		return fmt.Sprintf("%s was left open and is whole (%d bytes)", final, whole), nil
	}
	return fmt.Sprintf("%s was left open; %d bytes of a torn record were cut off", final, size-whole), nil
}

// wholeRecords returns how many bytes of f are whole records, and its size.
func wholeRecords(f *os.File) (whole, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	all := &source{ReaderAt: f, size: info.Size(), zipped: true}
	err = newReader().survey(all, func(*scanner) {})
	if _, failed := errors.AsType[*fs.PathError](err); failed {
		return 0, 0, err // the disk, not the record
	}
	return all.end, info.Size(), nil
}
