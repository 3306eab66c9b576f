package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"gazehound/internal/disk"
	"gazehound/internal/oserr"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/tidwall/btree"
)

// A store holds the records of a frontier in the order of their keys. badgerStore is one on disk,
// treeStore one in memory, for simulations and tests.
type store interface {
	view() view
	update() update // one at a time
	sync() error
	close() error
}

// A view reads the store as it was when the view was made.
type view interface {
	// get calls fn with the value of a key, which fn must not keep, and reports whether there is one.
	get(key []byte, fn func(value []byte) error) (known bool, err error)
	// scan calls fn with the keys that begin with prefix, in their order, from the key from on
	// (nil: the first), and their values. errEnough ends the scan; any other error ends it and is
	// returned.
	scan(prefix, from []byte, fn func(key, value []byte) error) error
	close()
}

// An update is a transaction that sees its own changes.
type update interface {
	view
	set(key, value []byte) error // keeps both
	delete(key []byte) error
	commit() error
}

var errEnough = errors.New("enough was read")

// get returns the decoded value of a key.
func get[T any](v view, key []byte, decode func([]byte) (T, error)) (x T, known bool, err error) {
	known, err = v.get(key, func(value []byte) (err error) {
		x, err = decode(value)
		return err
	})
	return x, known, err
}

type badgerStore struct {
	db     *badger.DB
	lock   string // the lockFile; "": the store is only read
	unlock func() error
	temp   string // copy of what a killed process left, to be removed; "": none
	unread unread
}

// openStore opens the store in o.Dir after examine. With ErrDamaged nothing is
// changed, nor by a read-only store. The directory is unlocked when the store is closed or cannot
// be opened.
func openStore(o Options, unlock func() error) (store, error) {
	found, err := examine(o.Dir, !o.ReadOnly || o.Verify)
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	if o.ReadOnly && len(found.manifest) == 0 { // a killed Open made it
		return newTreeStore(), unlock()
	}
	s := &badgerStore{unlock: unlock}
	dir := o.Dir
	if o.ReadOnly && len(found.logs) > 0 {
		s.temp, err = copyKilled(o.Dir, found)
		o.Dir = s.temp
	}
	if err == nil && !o.ReadOnly && !found.unwritten() {
		// Badger removes empty logs before it makes a new one. Killed in between, it leaves none,
		// and nothing is lost: no lockFile must say that there should be some.
		err = os.RemoveAll(filepath.Join(dir, lockFile))
	}
	if err == nil {
		s.db, err = openBadger(o)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.temp), unlock())
	}
	if o.ReadOnly && !o.Verify && !found.running {
		s.unread = unreadTables(o.Dir, s.db.Tables())
	}
	if !o.ReadOnly {
		// lockFile says that there is a log, after a power cut, too.
		err := errors.Join(s.sync(), disk.SyncDir(dir))
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.lock = filepath.Join(dir, lockFile)
		err = os.WriteFile(s.lock, fmt.Appendln(nil, os.Getpid()), 0o666)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
	return s, nil
}

// copyKilled makes a temporary directory that Badger can read without changes: logs cut after their
// last valid entry, and the tables in dir as links where the system has them, else as copies.
func copyKilled(dir string, found files) (temp string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	temp, err = os.MkdirTemp("", "gazehound-frontier-*")
	if err != nil {
		return "", err
	}
	for _, name := range found.tables {
		err = errors.Join(err, linkOrCopy(filepath.Join(dir, name), filepath.Join(temp, name)))
	}
	found.logs[badger.ManifestFilename] = found.manifest
	for name, whole := range found.logs {
		if name == badger.ManifestFilename || len(whole) > logHead { // else it is empty
			err = errors.Join(err, os.WriteFile(filepath.Join(temp, name), whole, 0o600))
		}
	}
	return temp, err
}

// linkOrCopy makes a symbolic link, or a copy: Windows lets few users make links.
func linkOrCopy(from, to string) error {
	err := os.Symlink(from, to)
	if err == nil {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// openBadger opens the database in o.Dir. A process that was killed between making a log and giving
// it its size leaves an empty file: Badger completes it, and then refuses to open once.
func openBadger(o Options) (db *badger.DB, err error) {
	for range 3 { // an empty log of each kind
		err = guarded(func() (err error) {
			db, err = badger.Open(badgerOptions(o))
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "Create a new file") {
			break
		}
	}
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, badger.ErrEncryptionKeyMismatch): // no store of ours is encrypted
		return nil, damaged(badger.KeyRegistryFileName, "it cannot be read")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, oserr.Full),
		// of these Badger passes on the text alone
		strings.Contains(err.Error(), oserr.Files.Error()), strings.Contains(err.Error(), oserr.ReadOnly.Error()):
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// close closes the database, which removes its logs; a directory that has lockFile must have some.
func (s *badgerStore) close() (err error) {
	if s.lock != "" {
		err = os.Remove(s.lock)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Nothing can be written, and Badger would try for ever. The store is as after a kill.
		return errors.Join(err, s.unlock())
	}
	return errors.Join(err, s.db.Close(), os.RemoveAll(s.temp), s.unlock())
}

// badgerOptions divides o.Memory: an eighth for up to three memtables, an eighth for the cache of
// blocks. The rest is for hosts, the entries in memory, garbage and compactions: Badger keeps the
// buffers of eight table builders, each about three times as large as a memtable. Indexes and filters
// are read from the mapped files.
func badgerOptions(o Options) badger.Options {
	b := badger.DefaultOptions(o.Dir)
	b.ReadOnly = o.ReadOnly
	b.BypassLockGuard = true // see lock
	b.Logger = nil
	b.MetricsEnabled = false
	b.DetectConflicts = false // there is one writer
	b.MemTableSize = min(max(o.Memory/32, 8<<20), 64<<20)
	b.NumMemtables = 2
	b.BlockCacheSize = o.Memory / 8
	b.Compression = options.Snappy
	b.ChecksumVerificationMode = options.OnBlockRead
	b.BloomFalsePositive = 0.001 // a new URL is looked up in every table of level 0
	b.NumCompactors = 2
	b.NumLevelZeroTables, b.NumLevelZeroTablesStall = 8, 24
	b.BaseLevelSize = 128 << 20 // a level less, and so everything is rewritten once less
	b.ValueLogFileSize = 16 << 20
	return b
}

func (s *badgerStore) view() view     { return badgerTxn{s.db.NewTransaction(false), s.unread} }
func (s *badgerStore) update() update { return badgerTxn{s.db.NewTransaction(true), nil} }
func (s *badgerStore) sync() error    { return s.db.Sync() }

type badgerTxn struct {
	txn    *badger.Txn
	unread unread
}

func (t badgerTxn) get(key []byte, fn func(value []byte) error) (known bool, err error) {
	var item *badger.Item
	err = guarded(func() (err error) {
		item, err = t.txn.Get(key)
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, t.unread.check(key)
	}
	if err != nil {
		return false, t.damage(err, key)
	}
	return true, item.Value(fn)
}

func (t badgerTxn) scan(prefix, from []byte, fn func(key, value []byte) error) error {
	it := t.txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	broken := guarded(func() error { it.Seek(from); return nil })
	for broken == nil && it.Valid() {
		item := it.Item()
		err := item.Value(func(value []byte) error { return fn(item.Key(), value) })
		if err == errEnough {
			return nil
		}
		if err != nil {
			return err
		}
		broken = guarded(func() error { it.Next(); return nil })
	}
	if broken != nil {
		return t.damage(broken, prefix)
	}
	return t.unread.check(prefix)
}

// damage returns an ErrDamaged for what Badger could not read, with the table if it can be told.
func (t badgerTxn) damage(err error, prefix []byte) error {
	return cmp.Or(t.unread.check(prefix), fmt.Errorf("%w: %w", ErrDamaged, err))
}

func (t badgerTxn) set(key, value []byte) error { return t.txn.Set(key, value) }
func (t badgerTxn) delete(key []byte) error     { return t.txn.Delete(key) }
func (t badgerTxn) commit() error               { return t.txn.Commit() }
func (t badgerTxn) close()                      { t.txn.Discard() }

// A treeStore is a B-tree that is copied when it is written. Views are old copies.
type treeStore struct {
	mu   sync.Mutex
	tree *btree.Map[string, []byte]
}

// newTreeStore returns an empty store. Its nodes are small: a commit copies those that it changes.
func newTreeStore() *treeStore { return &treeStore{tree: btree.NewMap[string, []byte](8)} }

func (s *treeStore) view() view     { return s.copied() }
func (s *treeStore) update() update { return s.copied() }

func (s *treeStore) copied() treeTxn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return treeTxn{s, s.tree.Copy()}
}

func (s *treeStore) sync() error  { return nil }
func (s *treeStore) close() error { return nil }

type treeTxn struct {
	store *treeStore
	tree  *btree.Map[string, []byte]
}

func (t treeTxn) get(key []byte, fn func(value []byte) error) (known bool, err error) {
	value, known := t.tree.Get(string(key))
	if !known {
		return false, nil
	}
	return true, fn(value)
}

func (t treeTxn) scan(prefix, from []byte, fn func(key, value []byte) error) (err error) {
	if bytes.Compare(from, prefix) < 0 {
		from = prefix
	}
	t.tree.Ascend(string(from), func(key string, value []byte) bool {
		if !strings.HasPrefix(key, string(prefix)) {
			return false
		}
		err = fn([]byte(key), value)
		return err == nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

func (t treeTxn) set(key, value []byte) error {
	t.tree.Set(string(key), value)
	return nil
}

func (t treeTxn) delete(key []byte) error {
	t.tree.Delete(string(key))
	return nil
}

func (t treeTxn) commit() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	t.store.tree = t.tree
	return nil
}

func (t treeTxn) close() {}
