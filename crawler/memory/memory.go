// Package memory keeps a process within a ceiling: what the Go runtime holds by
// its memory limit, and what is mapped from files (the program itself, the
// stores of Badger and Bleve) by giving pages back to the system when there are
// too many.
package memory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// A Use is what a process has in memory, in bytes.
type Use struct {
	Own    int64 // heap, stacks and the like
	Mapped int64 // of files; the system takes it back when it needs room
}

// Total is the resident set size.
func (u Use) Total() int64 { return u.Own + u.Mapped }

// errUnknown is returned where the system does not tell.
var errUnknown = errors.New("memory: this system does not say what a process uses")

// Used returns what this process has in memory.
func Used() (Use, error) {
	m, err := openMeter()
	if err != nil {
		return Use{}, err
	}
	defer m.statm.Close()
	return m.used()
}

// A meter says again and again what this process has in memory, without memory
// for that.
type meter struct {
	statm *os.File
	room  [256]byte
}

func openMeter() (*meter, error) {
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil, errUnknown
	}
	return &meter{statm: statm}, nil
}

func (m *meter) used() (Use, error) {
	n, err := m.statm.ReadAt(m.room[:], 0)
	if err != nil && err != io.EOF {
		return Use{}, errUnknown
	}
	_, rest, _ := bytes.Cut(m.room[:n], []byte(" ")) // in pages: size, resident, shared …
	first, rest, _ := bytes.Cut(rest, []byte(" "))
	second, _, _ := bytes.Cut(rest, []byte(" "))
	resident, err1 := strconv.ParseInt(string(first), 10, 64)
	shared, err2 := strconv.ParseInt(string(second), 10, 64)
	if err1 != nil || err2 != nil {
		return Use{}, errUnknown
	}
	page := int64(os.Getpagesize())
	return Use{Own: (resident - shared) * page, Mapped: shared * page}, nil
}

const (
	heapShare = 0.82             // of the ceiling is the limit of the Go runtime
	mostShare = 0.92             // of the ceiling may be used before mapped pages are given back
	goodShare = 0.88             // is what is left then
	rise      = 2                // … less what has come since the last look, so often: as much will come until the next
	period    = time.Second / 50 // between two looks: pages of cached files come back by the megabyte
	seldom    = time.Second      // between two times that the program's pages are given back
)

type keeper struct {
	meter    *meter
	prefixes []string    // of the files whose pages may be given back
	fixed    Fixed       // which of them are not unmapped for a while, or nil
	next     uint64      // address at which to go on
	program  [][2]uint64 // where the program's code and constants are
	isSplit  bool        // its pages come one by one
	last     time.Time   // that they were given back
	faults   int         // of openFaults
}

// Fixed calls fn with the absolute names of files that stay mapped as they are,
// each where it is, until fn returns.
type Fixed func(fn func(names []string)) error

// Keep holds the process at about ceiling bytes until ctx ends. Pages of files
// whose names begin with one of the prefixes may be given back; they are read
// again where they are needed, those of files that are fixed from the system's
// cache as long as that has room, the others from the disk. So may the
// program's own, which most of the time needs few of its pages. The limit of the
// Go runtime stays.
func Keep(ctx context.Context, ceiling int64, fixed Fixed, prefixes ...string) {
	debug.SetMemoryLimit(int64(heapShare * float64(ceiling)))
	meter, err := openMeter()
	if err != nil {
		return // nobody could say when
	}
	defer meter.statm.Close()
	k := keeper{meter: meter, prefixes: prefixes, fixed: fixed, program: program(), faults: openFaults()}
	defer closeFaults(k.faults)
	t := time.NewTicker(period)
	defer t.Stop()
	last := int64(math.MaxInt64) // what was in use after the last look
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			u, err := meter.used()
			if err == nil && u.Total() > int64(mostShare*float64(ceiling)) {
				k.giveBack(u.Total() - int64(goodShare*float64(ceiling)) + rise*max(u.Total()-last, 0))
				u, err = meter.used()
			}
			if err == nil {
				last = u.Total()
			}
		}
	}
}
