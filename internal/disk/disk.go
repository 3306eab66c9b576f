// Package disk has the file operations of several packages: atomic replacement, locks, external
// sort, mapping, and records. It works on every system that Go knows; where a system cannot sync a
// directory or remove an open file, these steps are left out.
package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/blevesearch/mmap-go"
	"github.com/gofrs/flock"
)

// Replace atomically replaces the file name by write's output: after a failure or a crash at any
// moment, the old file is there. When Replace returns nil the new content is durable. The umask
// applies to mode, as it does in os.WriteFile. What a killed Replace of the same name left behind
// is removed. Of two calls for one name at a time, one may fail.
//
// Each check may read the new file, by the name it has until then; the error of
// one keeps the old file in its place.
func Replace(name string, mode fs.FileMode, write func(io.Writer) error, check ...func(part string) error) (err error) {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir)
	err = removeLeftovers(dir, base)
	if err != nil {
		return err
	}
	part := filepath.Join(dir, partPrefix(base)+strconv.FormatUint(rand.Uint64(), 36)+partSuffix)
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	w := bufio.NewWriterSize(f, 64<<10)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	for _, c := range check {
		if err := c(part); err != nil {
			return err
		}
	}
	err = os.Rename(part, name)
	if err != nil {
		return err
	}
	return SyncDir(dir)
}

// ReplaceBytes is Replace with the content at hand.
func ReplaceBytes(name string, mode fs.FileMode, content []byte) error {
	return Replace(name, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// ReplaceDir moves the folder from to the place of the folder to beside it, which it removes. That is
// one step where the file system can exchange two names; elsewhere a process that is killed meanwhile
// may leave the old folder as TO.old, and no folder to.
func ReplaceDir(from, to string) error {
	err := exchange(from, to)
	old := from
	if err != nil {
		old = to + ".old"
		err := os.RemoveAll(old)
		if err != nil {
			return err
		}
		err = os.Rename(to, old)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = os.Rename(from, to)
		if err != nil {
			return errors.Join(err, os.Rename(old, to))
		}
	}
	return errors.Join(SyncDir(filepath.Dir(to)), os.RemoveAll(old))
}

// CopyMissing copies the files of these names that the folder from has and the folder to has not.
func CopyMissing(to, from string, names ...string) error {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var info fs.FileInfo
		if err == nil {
			info, err = os.Stat(filepath.Join(from, name))
		}
		if err == nil {
			err = ReplaceBytes(filepath.Join(to, name), info.Mode().Perm(), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Names of files that Replace has not finished: .NAME.*.part.
const partSuffix = ".part"

func partPrefix(base string) string { return "." + base + "." }

func removeLeftovers(dir, base string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partPrefix(base)) && strings.HasSuffix(e.Name(), partSuffix) {
			err := os.Remove(filepath.Join(dir, e.Name()))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// SyncDir syncs a directory, after files were made, renamed or removed in it.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // directories cannot be synced there
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SyncTree brings a folder with all files below it to the disk.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return SyncDir(name)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0) // Windows syncs only what is open for writing
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// AppendLines adds lines to a text file, which it makes where there is none,
// and brings them to the disk. A line that a crash has cut off is ended first.
func AppendLines(name string, mode fs.FileMode, lines ...string) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode)
	if err != nil {
		return err
	}
	text := strings.Join(lines, "\n") + "\n"
	var last [1]byte
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		_, err = f.ReadAt(last[:], info.Size()-1)
		if last[0] != '\n' {
			text = "\n" + text
		}
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// ErrLocked means that another process, or another part of this one, has a lock.
var ErrLocked = errors.New("in use by another process")

// Lock locks the file name for as long as this process runs or until unlock is
// called. It makes the file and never removes it. It does not wait: where the
// lock is taken, the error is ErrLocked.
func Lock(name string) (unlock func() error, err error) {
	l := flock.New(name)
	return held(l, l.TryLock)
}

// DirLock is the file that LockDir locks where a directory itself cannot be locked (Windows).
const DirLock = ".lock"

// Whoever asks whether a directory is locked locks it for a moment, as a reader. So a writer that meets
// readers tries again every probeRetry. After probeWait it takes them for readers that go on reading.
const (
	probeRetry = 10 * time.Millisecond
	probeWait  = time.Second
)

// LockDir locks a directory as Lock does a file: shared with other readers, or alone. It waits for
// readers for up to a second, and for writers not at all.
func LockDir(dir string, shared bool) (unlock func() error, err error) {
	if shared {
		return lockDir(dir, true)
	}
	for began := time.Now(); ; time.Sleep(probeRetry) {
		unlock, err = lockDir(dir, false)
		if !errors.Is(err, ErrLocked) || time.Since(began) > probeWait {
			return unlock, err
		}
		leave, written := lockDir(dir, true)
		if written != nil {
			return nil, err
		}
		if err := leave(); err != nil {
			return nil, err
		}
	}
}

// lockDir is LockDir without waiting.
func lockDir(dir string, shared bool) (unlock func() error, err error) {
	flag := os.O_RDONLY
	name := lockName(dir)
	if name != dir {
		flag |= os.O_CREATE
	}
	l := flock.New(name, flock.SetFlag(flag))
	if shared {
		return held(l, l.TryRLock)
	}
	return held(l, l.TryLock)
}

func held(l *flock.Flock, try func() (bool, error)) (unlock func() error, err error) {
	switch locked, err := try(); {
	case err != nil:
		return nil, err
	case !locked:
		return nil, errors.Join(fmt.Errorf("%s: %w", l.Path(), ErrLocked), l.Close())
	}
	return l.Close, nil
}

// A Temp is a temporary file that is gone when it is closed, and after a crash
// wherever the system can remove an open file.
type Temp struct{ *os.File }

// NewTemp makes a temporary file in dir, or in os.TempDir if dir is empty.
func NewTemp(dir string) (Temp, error) {
	f, err := os.CreateTemp(dir, "gazehound-*.tmp")
	if err != nil {
		return Temp{}, err
	}
	os.Remove(f.Name())
	return Temp{f}, nil
}

// Close removes the file.
func (t Temp) Close() error {
	err := t.File.Close()
	os.Remove(t.Name())
	return err
}

// WithCause adds to an error over a file below dir why nothing can be written there, if that is so. On a
// disk that becomes full or read-only, files that are open may give only EIO, and libraries pass on the
// text alone, or panic.
func WithCause(dir string, err error) error {
	if err == nil {
		return nil
	}
	if cause := write(dir); cause != nil {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// write returns why nothing can be written to a new file in dir, or nil. It tries, because a file system
// that the kernel has made read-only need not say so of its folders.
func write(dir string) error {
	f, err := NewTemp(dir)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Map maps a file into memory for reading, or for reading and writing. Processes
// that map the same file share its memory. The slice begins at an address that
// is a multiple of the page size. It is gone after unmap. The file may be closed
// before. An empty file has no memory.
func Map(f *os.File, writable bool) (data []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, func() error { return nil }, err
	}
	mode := mmap.RDONLY
	if writable {
		mode = mmap.RDWR
	}
	m, err := mmap.Map(f, mode, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return m, m.Unmap, nil
}

// MapArray maps a file, for reading and writing, as the array of values without
// pointers that it holds in the byte order of this machine.
func MapArray[T any](f *os.File) (array []T, unmap func() error, err error) {
	data, unmap, err := Map(f, true)
	if err != nil || len(data) == 0 {
		return nil, unmap, err
	}
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(v))), unmap, nil
}
