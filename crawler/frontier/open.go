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
	"sync"
	"time"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sys/unix"
)

// formatFile says that a directory is a frontier, and of which format. It can
// be read without the store, which an older program must not touch.
const (
	formatFile = "FORMAT"
	formatName = "gazehound frontier"
	format     = 3
)

// Open opens the frontier in o.Dir, or makes one. The error is ErrLocked (with
// the process that holds it), ErrNewerFormat, ErrForeign, that of o.Validate,
// or the file system's. Damaged records are set aside and counted; a directory
// that was copied while nobody wrote opens like the original.
func Open(o Options) (*Frontier, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Memory = cmp.Or(o.Memory, DefaultOptions().Memory)
	o.MinFree = cmp.Or(o.MinFree, DefaultOptions().MinFree)
	if !o.InMemory {
		if err := checkDir(o.Dir); err != nil {
			return nil, fmt.Errorf("frontier: %s: %w", o.Dir, err)
		}
	}
	db, err := openStore(o)
	if err != nil {
		return nil, fmt.Errorf("frontier: open %s: %w", o.Dir, err)
	}
	f, err := start(o, db)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("frontier: open %s: %w", o.Dir, err), db.Close())
	}
	return f, nil
}

// start returns the frontier of an open store.
func start(o Options, db *badger.DB) (*Frontier, error) {
	codec, err := newCodec(o.Memory / groupsShare)
	if err != nil {
		return nil, err
	}
	f := &Frontier{
		options: o, seed: o.Seed, db: db, codec: codec, began: time.Now(),
		short: cmp.Or(o.short, shortHost), block: blockItems, budget: int(o.Memory / buffersShare),
		requests: make(chan *request), stop: make(chan struct{}),
		version: db.MaxVersion(), reading: map[uint64]int{},
		changed: make(chan struct{}), lately: newLately(o.Memory / latelyShare),
		ready:  hostHeap{less: func(a, b *host) bool { return a.best.before(b.best) }},
		parked: hostHeap{less: func(a, b *host) bool { return a.until < b.until }},
	}
	f.idle = sync.NewCond(&f.mu)
	if err := f.restore(); err != nil {
		codec.close()
		return nil, err
	}
	f.view = db.NewTransactionAt(f.version, false)
	f.writer.Add(1)
	go f.write()
	return f, nil
}

// checkDir makes the directory and looks whether it may be opened.
func checkDir(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	n, err := readFormat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) > 1 || len(entries) == 1 && entries[0].Name() != formatFile+".new" {
			return fmt.Errorf("%w: there are files and no %s. Choose another directory", ErrForeign, formatFile)
		}
		if err := writeFormat(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if n < format { // it is read as it is, but older versions must not touch it again
			defer func() {
				if err == nil {
					err = writeFormat(dir)
				}
			}()
		}
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("cannot be written to: %w", err)
	}
	return checkLock(dir)
}

// readFormat returns the format of the frontier in dir.
func readFormat(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err != nil {
		return 0, err
	}
	number, ok := strings.CutPrefix(strings.TrimSpace(string(text)), formatName+" ")
	n, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || n < 1:
		return 0, fmt.Errorf("%w: %s says %.40q. Choose another directory", ErrForeign, formatFile, text)
	case n > format:
		return 0, fmt.Errorf("%w: format %d, and this version reads %d", ErrNewerFormat, n, format)
	}
	return n, nil
}

// CheckFormat tells without touching anything whether dir holds a frontier
// that Open would take. Errors wrap fs.ErrNotExist, ErrForeign or
// ErrNewerFormat.
func CheckFormat(dir string) error {
	if _, err := readFormat(dir); err != nil {
		return fmt.Errorf("frontier: %s: %w", dir, err)
	}
	return nil
}

// writeFormat writes the format file, whole or not at all.
func writeFormat(dir string) error {
	name := filepath.Join(dir, formatFile)
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d\n", formatName, format)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// checkLock tries the lock of the directory of an open store.
func checkLock(dir string) error {
	pid, locked, err := Holder(dir)
	switch {
	case err != nil:
		return err
	case locked && pid == 0:
		return fmt.Errorf("%w (process unknown)", ErrLocked)
	case locked:
		return fmt.Errorf("%w (process %d)", ErrLocked, pid)
	}
	return nil
}

// Holder tells whether a process has the frontier in dir open, and which one;
// 0 if that is not known.
func Holder(dir string) (pid int, locked bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, false, err
	}
	defer d.Close()
	err = unix.Flock(int(d.Fd()), unix.LOCK_SH|unix.LOCK_NB) // Badger holds it alone
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return 0, false, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return 0, true, nil
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		pid = 0
	}
	return pid, true, nil
}

// storeOptions divides o.Memory: three thirty-seconds (three sixteenths of
// little) for up to three memtables, an eighth for buffers, a thirty-second for
// groups that links were read from, a sixty-fourth for what became of URLs
// lately. The rest is for hosts, filters, table indexes, what compactions have in
// hand and what the garbage collector has not got round to.
func storeOptions(o Options) badger.Options {
	b := badger.DefaultOptions(o.Dir)
	if o.InMemory {
		b = badger.DefaultOptions("").WithInMemory(true)
	}
	b.Logger = nil
	b.MetricsEnabled = false
	b.DetectConflicts = false // there is one writer
	b.SyncWrites = o.Sync && !o.InMemory
	b.Compression = options.None // words are compressed, the rest is hashes
	b.MemTableSize = min(max(o.Memory/32, min(o.Memory/16, 8<<20), 4<<20), 64<<20)
	b.NumMemtables = 2
	b.BaseTableSize = min(max(o.Memory/128, 1<<20), 4<<20) // a compaction builds up to 13 at once, each in twice as much
	b.TableSizeMultiplier = 1
	b.NumCompactors = 2
	b.BaseLevelSize = 128 << 20 // a level less, and so one rewriting less of everything
	b.NumLevelZeroTables, b.NumLevelZeroTablesStall = 8, 24
	b.BlockCacheSize = 0 // blocks are read where the file is mapped
	if o.InMemory {      // all values lie in tables: one of a mebibyte, Badger's most there, has to fit into a batch
		b.MemTableSize = max(b.MemTableSize, 8<<20)
	} else {
		b.ValueThreshold = 1 << 10 // words go to the value log, where they lie still, and not through the tables
	}
	b.ValueLogFileSize = min(max(o.Memory/8, 8<<20), 64<<20)
	b.ChecksumVerificationMode = options.OnBlockRead
	return b
}

// restore reads totals and hosts.
func (f *Frontier) restore() error {
	txn := f.db.NewTransactionAt(f.version, false)
	defer txn.Discard()
	var found Totals
	known, err := get(txn, totalsKey, func(value []byte) (err error) {
		found, f.groups, f.seed, err = decodeTotals(value)
		return err
	})
	damaged := err == errDamaged
	if err != nil && !damaged {
		return err
	}
	if !known {
		f.seed = f.options.Seed
	}
	err = scan(txn, hostKey(0)[:1], func(key, value []byte) error {
		r, err := decodeHost(value)
		if err != nil || len(key) != 9 {
			damaged = true
			return nil
		}
		f.addHost(decoderOf(key[1:]).uint64(), r)
		return nil
	})
	if err != nil {
		return err
	}
	f.totals = found
	if damaged || f.queued != found.Queued || !known && f.hosts.len() > 0 {
		if err := f.repair(txn); err != nil {
			return err
		}
	}
	for _, m := range []*map[string]int64{&f.totals.Errors, &f.totals.Skipped, &f.totals.Dropped} {
		if *m == nil {
			*m = make(map[string]int64)
		}
	}
	f.shown = f.totals.clone()
	heap.Init(&f.ready)
	return nil
}

// addHost puts a stored host into memory; the heap is not in order afterwards.
func (f *Frontier) addHost(id uint64, r hostRecord) {
	h := f.hosts.add(id)
	h.queued, h.total, h.best, h.ordered = uint32(r.queued), uint32(r.total), r.best, r.ordered
	f.queued += int64(r.queued)
	if h.queued > 0 {
		h.in, h.slot = isReady, int32(len(f.ready.hosts))
		f.ready.hosts = append(f.ready.hosts, h)
	}
}

// scan calls fn with all keys with a prefix and their values.
func scan(txn *badger.Txn, prefix []byte, fn func(key, value []byte) error) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		if err := item.Value(func(value []byte) error { return fn(item.Key(), value) }); err != nil {
			return err
		}
	}
	return nil
}

// scanKeys calls fn with all keys with a prefix.
func scanKeys(txn *badger.Txn, prefix []byte, fn func(key []byte)) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		fn(it.Item().Key())
	}
	return nil
}

func decoderOf(b []byte) *decoder { return &decoder{rest: b} }
