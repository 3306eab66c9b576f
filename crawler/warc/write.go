package warc

import (
	"context"
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

	"golang.org/x/sys/unix"
)

// WriterOptions say where captures are written.
type WriterOptions struct {
	Dir     string // of the files; made where it is missing
	MaxFile int64  // bytes after which a file is full
	// Info are the fields of the warcinfo record with which each file begins,
	// such as software, operator, robots and isPartOf, in this order.
	Info [][2]string
}

// DefaultWriterOptions returns the options of config.yaml as shipped, without
// Dir and Info.
func DefaultWriterOptions() WriterOptions { return WriterOptions{MaxFile: 1e9} }

// Validate says what is wrong with o.
func (o WriterOptions) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("warc: no directory given")
	case o.MaxFile < 1e6:
		return fmt.Errorf("warc: files of %d bytes are too small, 1 MB is the least", o.MaxFile)
	}
	return nil
}

// ErrClosed is the error of Write after Close.
var ErrClosed = errors.New("warc: writer is closed")

const (
	fileExt = ".warc.gz"
	openExt = ".open" // behind the name of a file that is being written
)

// A Writer writes captures to WARC/1.1 files, each record a gzip member of its
// own. It is safe for concurrent use. It owns a goroutine that writes; Close
// ends it.
//
// A file is called NAME.warc.gz.open until it is full or the Writer is closed.
// Whatever moment the program is killed at, what Write has acknowledged is
// whole and on the disk; a torn record behind it is cut off by the next
// Writer for the same directory, which also gives the file its name.
type Writer struct {
	options  WriterOptions
	repaired []string

	requests chan *request
	stop     chan struct{}
	writing  sync.WaitGroup
	close    sync.Once
	closeErr error

	encoders sync.Pool // of *encoder
	known    memory

	// of the goroutine that writes
	file   *os.File
	size   int64 // of file, all of it whole records
	serial int
	failed error // the file is in a state that nobody knows
}

// A request is one capture, encoded, to be written.
type request struct {
	records []byte
	done    chan error
}

// NewWriter returns a Writer, or the error of o.Validate. It ends the files
// that a killed program left open in the directory; those of programs that
// still run are left alone. The first file is begun with the first capture.
func NewWriter(o WriterOptions) (*Writer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	repaired, err := repair(o.Dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{options: o, repaired: repaired, requests: make(chan *request), stop: make(chan struct{})}
	w.known.origins.Most = maxOrigins
	w.encoders.New = func() any { return newEncoder() }
	w.writing.Go(w.write)
	return w, nil
}

// Repaired returns what NewWriter did to files that a killed program left, a
// sentence each.
func (w *Writer) Repaired() []string { return w.repaired }

// Write adds a capture to the archive. It is on the disk when Write returns:
// captures that come together share one sync. A body that was written not long
// ago is not written again but referred to by a revisit record.
func (w *Writer) Write(ctx context.Context, c Capture) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := w.encoders.Get().(*encoder)
	defer w.encoders.Put(e)
	e.out.Reset()
	original, err := e.capture(c, &w.known)
	if err != nil {
		return fmt.Errorf("warc: %s: %w", c.Response.URL, err)
	}
	r := &request{e.out.Bytes(), make(chan error, 1)}
	select {
	case w.requests <- r:
	case <-w.stop:
		return ErrClosed
	}
	if err := <-r.done; err != nil {
		return err
	}
	w.known.add(original)
	return nil
}

// Close ends the file that is open and gives it its name. Captures that are
// being written are finished first. A second Close does nothing.
func (w *Writer) Close() error {
	w.close.Do(func() {
		close(w.stop)
		w.writing.Wait()
		w.closeErr = w.finish()
	})
	return w.closeErr
}

// write serves requests until Close.
func (w *Writer) write() {
	var waiting []*request
	for {
		waiting = waiting[:0]
		select {
		case r := <-w.requests:
			waiting = append(waiting, r)
		case <-w.stop:
			return
		}
		for size := len(waiting[0].records); size < maxBatch; {
			select {
			case r := <-w.requests:
				waiting, size = append(waiting, r), size+len(r.records)
				continue
			default:
			}
			break
		}
		err := w.store(waiting)
		for _, r := range waiting {
			r.done <- err
		}
	}
}

// maxBatch is how many bytes are written with one sync, at least.
const maxBatch = 8 << 20

// store writes requests and syncs. Where that fails, none of them is in the file.
func (w *Writer) store(requests []*request) error {
	if w.failed != nil {
		return w.failed
	}
	var more int64
	for _, r := range requests {
		more += int64(len(r.records))
	}
	if w.file != nil && w.size+more > w.options.MaxFile {
		if err := w.finish(); err != nil {
			w.failed = err
			return err
		}
	}
	if w.file == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	var err error
	for _, r := range requests {
		if _, err = w.file.Write(r.records); err != nil {
			break
		}
	}
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		err = fmt.Errorf("warc: %w", err)
		if undo := w.cut(); undo != nil {
			w.failed = errors.Join(err, undo)
		}
		return err
	}
	w.size += more
	return nil
}

// cut takes back what was written after the last sync.
func (w *Writer) cut() error {
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	_, err := w.file.Seek(w.size, io.SeekStart)
	return err
}

// begin makes a new file with its warcinfo record.
func (w *Writer) begin() error {
	w.serial++
	name := fmt.Sprintf("gazehound-%s-%05d-%06x%s", time.Now().UTC().Format("20060102150405"), w.serial, rand.N(1<<24), fileExt)
	e := w.encoders.Get().(*encoder)
	defer w.encoders.Put(e)
	e.out.Reset()
	if err := e.info(name, w.options.Info); err != nil {
		return fmt.Errorf("warc: %s: %w", name, err)
	}
	f, err := os.OpenFile(filepath.Join(w.options.Dir, name+openExt), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // so that no other Writer repairs it
	if err == nil {
		_, err = f.Write(e.out.Bytes())
	}
	if err == nil {
		err = errors.Join(f.Sync(), syncDir(w.options.Dir))
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return fmt.Errorf("warc: begin %s: %w", name, err)
	}
	w.file, w.size = f, int64(e.out.Len())
	return nil
}

// finish gives the file its final name. Everything in it is on the disk.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return closeFile(f)
}

// closeFile gives a file that is whole its final name, and lets it go.
func closeFile(f *os.File) error {
	err := os.Rename(f.Name(), strings.TrimSuffix(f.Name(), openExt))
	if err == nil {
		err = syncDir(filepath.Dir(f.Name()))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("warc: end %s: %w", f.Name(), err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
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
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // somebody else has just ended it
	}
	if err != nil {
		return "", err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return "", f.Close()
	}
	whole, size, err := wholeRecords(f)
	if err == nil && whole < size {
		err = errors.Join(f.Truncate(whole), f.Sync())
	}
	if err != nil {
		return "", errors.Join(err, f.Close())
	}
	final := strings.TrimSuffix(filepath.Base(name), openExt)
	if whole == 0 {
		return fmt.Sprintf("%s held no record and was removed", final), errors.Join(os.Remove(name), f.Close())
	}
	if err := closeFile(f); err != nil {
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
	r := newReader()
	r.seek(f, 0)
	for whole < info.Size() {
		rec, err := r.next(true)
		if err == nil {
			err = r.finish(rec)
		}
		if err != nil {
			if _, failed := errors.AsType[*fs.PathError](err); failed {
				return 0, 0, err // the disk, not the record
			}
			break
		}
		whole = r.file.n
	}
	return whole, info.Size(), nil
}
