package frontier

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gazehound/internal/disk"

	badger "github.com/dgraph-io/badger/v4"
)

// formatFile marks a directory as a frontier with its format. It can be read without the store,
// which an older program must not touch.
const (
	formatFile = "FORMAT"
	formatName = "gazehound frontier"
)

// Format is the version of what lies in the directory. Upgrade reads OldestFormat, too: its links do not
// say where they stand on their pages.
const (
	Format       = 6
	OldestFormat = 5
)

// Open opens the frontier in o.Dir, or makes one. The error is ErrLocked (with the process that
// holds it), ErrNewerFormat, ErrOlderFormat, ErrForeign, ErrDamaged with the file that is not as it
// was written, or the file system's; nothing is changed then. A directory
// copied while no process wrote to it opens like the original.
func Open(o Options) (*Frontier, error) {
	o.Memory = cmp.Or(o.Memory, usualMemory)
	o.MinFree = cmp.Or(o.MinFree, usualMinFree)
	if o.InMemory {
		return start(o, newTreeStore())
	}
	unlock, err := prepareDir(o)
	if err != nil {
		return nil, fmt.Errorf("frontier: %s: %w", o.Dir, err)
	}
	s, err := openStore(o, unlock)
	if err != nil {
		return nil, fmt.Errorf("frontier: open %s: %w", o.Dir, err)
	}
	f, err := start(o, s)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("frontier: open %s: %w", o.Dir, inFile(o.Dir, err)), s.close())
	}
	if !o.ReadOnly {
		f.readers.Go(f.syncEverySecond)
	}
	return f, nil
}

// start returns the frontier of an open store.
func start(o Options, s store) (*Frontier, error) {
	began := time.Now()
	f := &Frontier{
		options: o, seed: o.Seed, store: s, now: func() time.Duration { return time.Since(began) },
		block: blockItems, budget: int(o.Memory / itemsShare / itemBytes),
		stop: make(chan struct{}), changed: make(chan struct{}),
		hosts: make(map[uint64]*host), loaded: make(map[*host]bool),
		ready:   hostHeap{less: func(a, b *host) bool { return a.best.before(b.best) }},
		waiting: hostHeap{less: func(a, b *host) bool { return a.until < b.until }},
	}
	f.view = s.view()
	err := f.restore()
	if err != nil {
		f.view.close()
		return nil, err
	}
	return f, nil
}

// prepareDir locks the directory, makes it if necessary, and checks whether it can be opened.
func prepareDir(o Options) (unlock func() error, err error) {
	if !o.ReadOnly {
		err := os.MkdirAll(o.Dir, 0o777)
		if err != nil {
			return nil, err
		}
	}
	unlock, err = lock(o.Dir, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	if err := checkDir(o); err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

func checkDir(o Options) error {
	switch err := checkFormat(o.Dir); {
	case errors.Is(err, fs.ErrNotExist):
		if err := isEmpty(o.Dir); err != nil || o.ReadOnly {
			return cmp.Or(err, error(ErrDamaged))
		}
		err := writeFormat(o.Dir)
		if err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if o.ReadOnly {
		return nil
	}
	if err := disk.Writable(o.Dir); err != nil {
		return fmt.Errorf("cannot be written to: %w", err)
	}
	return checkFree(o.Dir, o.MinFree)
}

func writeFormat(dir string) error {
	text := fmt.Sprintf("%s %d\n", formatName, Format)
	return disk.ReplaceBytes(filepath.Join(dir, formatFile), 0o666, []byte(text))
}

// isEmpty returns an error if a directory has other files than a killed Open may leave.
func isEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == badger.ManifestFilename {
			return damaged(formatFile, "it is missing")
		}
		if e.Name() != lockFile && e.Name() != disk.DirLock && !strings.HasPrefix(e.Name(), "."+formatFile) {
			return fmt.Errorf("%w: there are files and no %s. Choose another directory", ErrForeign, formatFile)
		}
	}
	return nil
}

// CheckFormat reports, without changing anything, whether Open would accept dir. Errors wrap
// fs.ErrNotExist, ErrForeign, ErrOlderFormat or ErrNewerFormat.
func CheckFormat(dir string) error {
	if err := checkFormat(dir); err != nil {
		return fmt.Errorf("frontier: %s: %w", dir, err)
	}
	return nil
}

func checkFormat(dir string) error {
	n, err := FormatOf(dir)
	switch {
	case err != nil:
		return err
	case n > Format:
		return fmt.Errorf("%w: format %d, and this version reads %d", ErrNewerFormat, n, Format)
	case n < Format:
		return fmt.Errorf("%w: format %d, and this version reads %d", ErrOlderFormat, n, Format)
	}
	return nil
}

// FormatOf returns the format of the frontier in dir, which may be older or newer than Format. Errors wrap
// fs.ErrNotExist or ErrForeign.
func FormatOf(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err != nil {
		return 0, err
	}
	number, ok := strings.CutPrefix(strings.TrimSpace(string(text)), formatName+" ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %s says %.40q. Choose another directory", ErrForeign, formatFile, text)
	}
	return n, nil
}

// lockFile holds the process that has a store open for writing. It is made after Badger's first log
// and removed before its last.
const lockFile = "LOCK"

// lock locks a directory for several readers or for one writer, until unlock is called or the
// process ends. It does not wait.
func lock(dir string, readOnly bool) (unlock func() error, err error) {
	unlock, err = disk.LockDir(dir, readOnly)
	if !errors.Is(err, disk.ErrLocked) {
		return unlock, err
	}
	if pid, _, err := Holder(dir); err == nil && pid > 0 {
		return nil, fmt.Errorf("%w (process %d)", ErrLocked, pid)
	}
	return nil, ErrLocked
}

// Holder reports whether a process has the frontier in dir open, and which one;
// 0 if that is not known.
func Holder(dir string) (pid int, locked bool, err error) {
	unlock, err := disk.LockDir(dir, true) // a writer holds it alone
	if err == nil {
		return 0, false, unlock()
	} else if !errors.Is(err, disk.ErrLocked) {
		return 0, false, err
	}
	text, _ := os.ReadFile(filepath.Join(dir, lockFile))
	pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	return max(pid, 0), true, nil
}

// restore reads the seed, the totals, the hosts and what the outbox holds.
func (f *Frontier) restore() error {
	var known bool
	var err error
	f.totals, known, err = get(f.view, totalsKey, decode[Totals])
	if err != nil {
		return err
	}
	queued := int64(0)
	err = f.view.scan(hostKey(0)[:1], nil, func(key, value []byte) error {
		r, err := decodeFixed[hostRecord](value)
		if err == nil {
			f.restoreHost(idOf(key), r)
			queued += int64(r.Queued)
		}
		return err
	})
	if err != nil {
		return err
	}
	if queued != f.totals.Queued || !known && len(f.hosts) > 0 {
		return fmt.Errorf("%w: its counts are not those of its records", ErrDamaged)
	}
	for _, m := range []*map[string]int64{&f.totals.Errors, &f.totals.Skipped, &f.totals.Dropped} {
		if *m == nil {
			*m = make(map[string]int64)
		}
	}
	heap.Init(&f.ready)
	err = f.restoreOutbox()
	if err != nil {
		return err
	}
	return f.restoreSeed(!known)
}

// restoreSeed reads the seed that the store was made with, or writes that of the options.
func (f *Frontier) restoreSeed(isNew bool) error {
	seed, known, err := get(f.view, seedKey, decodeFixed[uint64])
	switch {
	case err != nil:
		return err
	case known:
		f.seed = seed
		return nil
	case !isNew:
		return fmt.Errorf("%w: its seed cannot be read", ErrDamaged)
	case f.options.ReadOnly:
		return nil
	}
	u := f.store.update()
	defer u.close()
	err = u.set(seedKey, fixed(f.seed))
	if err != nil {
		return err
	}
	return u.commit()
}

// restoreHost loads a stored host; the heap must be initialised afterwards.
func (f *Frontier) restoreHost(id uint64, r hostRecord) {
	h := f.addHost(id)
	h.queued, h.total, h.best = r.Queued, r.Total, r.best()
	if h.queued > 0 {
		h.in, h.slot = isReady, int32(f.ready.Len())
		f.ready.hosts = append(f.ready.hosts, h)
	}
}
