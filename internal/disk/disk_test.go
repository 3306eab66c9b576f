package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	leftover := filepath.Join(dir, ".model.123.part") // of a killed Replace
	other := filepath.Join(dir, ".models.123.part")   // of another file
	for _, f := range []string{leftover, other} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, content := range []string{"first", "", "second"} {
		if err := ReplaceBytes(name, 0o640, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("content %q, %v; want %q", got, err, content)
		}
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("mode %v, %v; want 0640", info.Mode(), err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{".models.123.part", "model"}) {
		t.Errorf("files %q", got)
	}
}

// What goes wrong while a file is written costs nothing of the old one.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "model")
	if err := ReplaceBytes(name, 0o600, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := fmt.Errorf("write: %w", syscall.ENOSPC)
	err := Replace(name, 0o600, func(w io.Writer) error {
		io.WriteString(w, "half of it")
		return full
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, full)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "old" {
		t.Errorf("content %q, %v; want the old", got, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"model"}) {
		t.Errorf("files %q", got)
	}
	if err := ReplaceBytes(filepath.Join(dir, "none", "model"), 0o600, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a missing directory: %v, want fs.ErrNotExist", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceBytes(filepath.Join(dir, "folder"), 0o600, nil); err == nil {
		t.Error("a directory was replaced")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"folder", "model"}) {
		t.Errorf("files %q", got)
	}
}

func TestAppendLines(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	for _, lines := range [][]string{{"one", "two"}, {"three"}} {
		if err := AppendLines(name, 0o644, lines...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(name, int64(len("one\ntwo\nth"))); err != nil { // a crash
		t.Fatal(err)
	}
	if err := AppendLines(name, 0o644, "four"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "one\ntwo\nth\nfour\n" {
		t.Errorf("content %q, %v", got, err)
	}
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "LOCK")
	unlock, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(name); !errors.Is(err, ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = Lock(name)
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	unlock()
	if _, err := Lock(filepath.Join(name, "no folder")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("lock that cannot be made: %v", err)
	}
}

func TestLockDir(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		lock := func(shared bool, want error) func() error {
			t.Helper()
			unlock, err := LockDir(dir, shared)
			if !errors.Is(err, want) {
				t.Fatalf("LockDir(shared %v): %v, want %v", shared, err, want)
			}
			return unlock
		}
		one, two := lock(true, nil), lock(true, nil)
		lock(false, ErrLocked)
		if err := errors.Join(one(), two()); err != nil {
			t.Fatal(err)
		}
		alone := lock(false, nil)
		lock(true, ErrLocked)
		began := time.Now()
		lock(false, ErrLocked)
		if waited := time.Since(began); waited > 0 {
			t.Errorf("a writer waited %v for another", waited)
		}
		if err := alone(); err != nil {
			t.Fatal(err)
		}
		// who only asks whether a writer has the directory keeps none out
		probe := lock(true, nil)
		time.AfterFunc(probeWait/2, func() { probe() })
		lock(false, nil)()
		dir = filepath.Join(dir, "missing")
		lock(true, fs.ErrNotExist)
	})
}

func TestFree(t *testing.T) {
	dir := t.TempDir()
	if n, err := Free(dir); err != nil || n == 0 {
		t.Errorf("%d bytes free, %v", n, err)
	}
	if _, err := Free(filepath.Join(dir, "missing")); err == nil {
		t.Error("free space of a folder that is not there")
	}
	if err := Writable(dir); err != nil {
		t.Error(err)
	}
	if err := Writable(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is not there can be written to")
	}
}

func TestTempAndMap(t *testing.T) {
	dir := t.TempDir()
	f, err := NewTemp(dir)
	if err != nil {
		t.Fatal(err)
	}
	if data, unmap, err := Map(f.File, false); err != nil || len(data) != 0 {
		t.Errorf("an empty file: %d bytes, %v", len(data), err)
	} else if err := unmap(); err != nil {
		t.Error(err)
	}
	if _, err := f.WriteString("abc"); err != nil {
		t.Fatal(err)
	}
	data, unmap, err := Map(f.File, true)
	if err != nil || string(data) != "abc" {
		t.Fatalf("%q, %v", data, err)
	}
	data[1] = 'x'
	if err := unmap(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "axc" {
		t.Errorf("file holds %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("files %q are left", got)
	}
	closed, unmap, err := Map(f.File, false)
	if err == nil {
		t.Errorf("a closed file has %d bytes", len(closed))
		unmap()
	}
}

// The cause of an error is that nothing can be written, if that is so.
func TestWithCause(t *testing.T) {
	dir := t.TempDir()
	err := errors.New("input/output error")
	if got := WithCause(dir, err); got != err {
		t.Errorf("%v has a cause where there is none", got)
	}
	if got := WithCause(filepath.Join(dir, "gone"), err); !errors.Is(got, err) || !errors.Is(got, fs.ErrNotExist) {
		t.Errorf("%v does not have its cause", got)
	}
	if got := WithCause(filepath.Join(dir, "gone"), nil); got != nil {
		t.Errorf("%v is no error", got)
	}
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("files %q are left", got)
	}
}

func TestMapArray(t *testing.T) {
	f, err := NewTemp(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 24)); err != nil {
		t.Fatal(err)
	}
	array, unmap, err := MapArray[int64](f.File)
	if err != nil || len(array) != 3 {
		t.Fatalf("%d numbers, %v", len(array), err)
	}
	array[2] = -1
	if err := unmap(); err != nil {
		t.Fatal(err)
	}
	pairs, unmap, err := MapArray[[2]int32](f.File)
	if err != nil || len(pairs) != 3 || pairs[2] != [2]int32{-1, -1} || pairs[0] != [2]int32{} {
		t.Errorf("%v, %v", pairs, err)
	}
	if err := unmap(); err != nil {
		t.Fatal(err)
	}
}
