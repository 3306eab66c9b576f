package memory

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var touched byte // so that reading is not left out

// What was given back comes back page by page: a byte of every 64 kB brings a
// sixteenth of the file, and not all of it.
func TestSingle(t *testing.T) {
	const size, around = 64 << 20, 64 << 10
	name := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(name, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	m, err := openMeter()
	if err != nil {
		t.Fatal(err)
	}
	defer m.statm.Close()
	mapped := func() int64 {
		t.Helper()
		u, err := m.used()
		if err != nil {
			t.Fatal(err)
		}
		return u.Mapped
	}
	touch := func() (came int64) {
		before := mapped()
		for i := 0; i < size; i += around {
			touched += data[i]
		}
		return mapped() - before
	}
	came := touch()
	if least := int64(size / around * os.Getpagesize()); came < least*9/10 { // the system counts in bunches
		t.Fatalf("%d bytes are in memory, %d were touched", came, least)
	}
	if came < size/2 {
		t.Skipf("this system maps %d of %d bytes where a byte of every %d is touched", came, size, around)
	}
	faults := openFaults()
	if faults < 0 {
		t.Skip("this system, or this container, has no userfaultfd that bears with files")
	}
	defer closeFaults(faults)
	k := keeper{meter: m, prefixes: []string{name}, last: time.Now(), faults: faults, fixed: func(fn func([]string)) error {
		fn([]string{name})
		return nil
	}}
	k.giveBack(size)
	if came := touch(); came > size/8 {
		t.Errorf("%d of %d bytes came back where a byte of every %d was touched", came, size, around)
	}
	for i := range data { // writes are nobody's business
		data[i] = byte(i >> 12)
	}
	k.giveBack(size)
	for i := 0; i < size; i += 512 {
		if data[i] != byte(i>>12) {
			t.Fatalf("byte %d is %d", i, data[i])
		}
	}
}
