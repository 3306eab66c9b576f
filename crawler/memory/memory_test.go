package memory

import (
	"context"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestKeep maps a file that is larger than the ceiling allows: its pages go
// back, and hold the same when they are read again.
func TestKeep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux gives pages back")
	}
	t.Run("any file", func(t *testing.T) { testKeep(t, func(string) Fixed { return nil }) })
	t.Run("fixed", func(t *testing.T) {
		testKeep(t, func(name string) Fixed {
			return func(fn func([]string)) error { fn([]string{name}); return nil }
		})
	})
	t.Run("of a store that has ended", func(t *testing.T) {
		testKeep(t, func(string) Fixed { return func(func([]string)) error { return errors.New("closed") } })
	})
}

func testKeep(t *testing.T, fixed func(name string) Fixed) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const size = 64 << 20
	dir := t.TempDir()
	name := filepath.Join(dir, "mapped")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	for i := range data {
		data[i] = byte(i >> 12)
	}
	if err := unix.Msync(data, unix.MS_SYNC); err != nil {
		t.Skip(err)
	}
	before, err := Used()
	if err != nil || before.Mapped < size {
		t.Fatalf("Used = %+v, %v; %d bytes are mapped", before, err, size)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Keep(ctx, 32<<20, fixed(name), dir)
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		after, err := Used()
		if err != nil {
			t.Fatal(err)
		}
		if after.Mapped < before.Mapped-size/2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %+v, before %+v", after, before)
		}
	}
	cancel()
	<-done
	for i := 0; i < len(data); i += 512 {
		if data[i] != byte(i>>12) {
			t.Fatalf("byte %d is %d", i, data[i])
		}
	}
}

// The program's own pages are given back, and come back as they were: a sum of
// its constants is the same, and the test goes on to run its code.
func TestKeepProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux gives pages back")
	}
	spans := program()
	if len(spans) < 2 {
		t.Fatalf("code and constants are at %x", spans)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	sum := func() (sum uint32) {
		t.Helper()
		for _, s := range spans {
			part := make([]byte, s[1]-s[0])
			if _, err := mem.ReadAt(part, int64(s[0])); err != nil {
				t.Fatal(err)
			}
			sum = crc32.Update(sum, crc32.IEEETable, part)
		}
		return sum
	}
	want := sum()
	m, err := openMeter()
	if err != nil {
		t.Fatal(err)
	}
	defer m.statm.Close()
	faults := openFaults()
	defer closeFaults(faults)
	for _, c := range []struct {
		name   string
		faults int
	}{{"read anew", -1}, {"one by one", faults}} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "one by one" && faults < 0 {
				t.Skip("this system, or this container, has no userfaultfd that bears with files")
			}
			before, err := Used()
			if err != nil {
				t.Fatal(err)
			}
			k := keeper{meter: m, program: spans, faults: c.faults}
			k.giveBack(1)
			after, err := Used()
			if err != nil || after.Mapped > before.Mapped-1<<20 {
				t.Errorf("%d bytes were mapped, and %d still are, %v", before.Mapped, after.Mapped, err)
			}
			if got := sum(); got != want {
				t.Errorf("the program's pages came back with another sum, %x and not %x", got, want)
			}
		})
	}
}

// A keeper looks many times a second, for each piece that it gives back.
func TestMeter(t *testing.T) {
	m, err := openMeter()
	if err != nil {
		t.Skip(err)
	}
	defer m.statm.Close()
	var u Use
	if n := testing.AllocsPerRun(100, func() { u, err = m.used() }); n > 0 || err != nil {
		t.Errorf("a look takes memory %v times, %v", n, err)
	}
	if u.Own <= 0 || u.Mapped <= 0 {
		t.Errorf("%+v", u)
	}
}
