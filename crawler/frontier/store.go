package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gazehound/crawler/weburl"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// format is the version of the keys and values; see KEYS.md.
const format = 1

// The first byte of a key says what it is.
const (
	keyFormat  = 'f'
	keyHost    = 'h' // + id → seen, name
	keyQueue   = 'q' // + host id, inverted priority, tie, key →
	keyURL     = 'u' // + key → node
	keyVisit   = 'v' // + seq → key
	keyAddress = 'a' // + hash →
	keyTotals  = 't'
	keyMeta    = 'm' // + name → value
)

func queuePrefix(host uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{keyQueue}, host)
}

func queueKey(host uint32, p position) []byte {
	b := queuePrefix(host)
	b = binary.BigEndian.AppendUint32(b, ^math.Float32bits(p.priority))
	b = binary.BigEndian.AppendUint32(b, p.tie)
	return append(b, p.key[:]...)
}

func parseQueueKey(b []byte) (host uint32, p position, ok bool) {
	if len(b) != 29 || b[0] != keyQueue {
		return 0, p, false
	}
	host = binary.BigEndian.Uint32(b[1:])
	p.priority = math.Float32frombits(^binary.BigEndian.Uint32(b[5:]))
	p.tie = binary.BigEndian.Uint32(b[9:])
	copy(p.key[:], b[13:])
	return host, p, true
}

func urlKey(k Key) []byte { return append([]byte{keyURL}, k[:]...) }

func visitKey(seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte{keyVisit}, seq) }

// Open opens the store of o, or makes it. Errors are ErrLocked and
// ErrNewerFormat, or of the file system. It starts one goroutine, which Close
// ends.
func Open(o Options) (*Frontier, error) {
	b := badger.DefaultOptions(o.Dir).WithInMemory(o.InMemory).WithLogger(nil).
		WithDetectConflicts(false).WithMetricsEnabled(false).WithNumVersionsToKeep(1).
		WithCompression(options.Snappy).WithValueLogFileSize(64 << 20).WithNumCompactors(2).WithNumMemtables(3)
	memory := max(o.Memory, 32<<20)
	b = b.WithMemTableSize(min(max(memory/8, 8<<20), 64<<20)).WithBlockCacheSize(memory / 4).WithIndexCacheSize(memory / 4).
		WithValueThreshold(1 << 20 / 2)
	if b.ValueThreshold > 15*b.MemTableSize/100 {
		b = b.WithValueThreshold(15*b.MemTableSize/100 - 1)
	}
	if o.InMemory {
		b = b.WithDir("").WithValueDir("")
	} else if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	if !o.InMemory {
		if err := checkFormat(o.Dir); err != nil {
			return nil, err
		}
	}
	db, err := badger.Open(b)
	if err != nil {
		if strings.Contains(err.Error(), "directory lock") {
			return nil, fmt.Errorf("frontier: %w%s", ErrLocked, holder(o.Dir))
		}
		return nil, fmt.Errorf("frontier: %w", err)
	}
	f := &Frontier{db: db, options: o, requests: make(chan *request, 256), closed: make(chan struct{}), wake: make(chan struct{}), queue: newQueue(o.Seed)}
	if err := f.restore(); err != nil {
		return nil, errors.Join(fmt.Errorf("frontier: %w", err), db.Close())
	}
	f.writer.Go(f.writeAll)
	return f, nil
}

// formatFile stands beside Badger's files, so that a newer format is refused
// before anything is opened.
const formatFile = "FORMAT"

func checkFormat(dir string) error {
	name := filepath.Join(dir, formatFile)
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.WriteFile(name, fmt.Appendf(nil, "gazehound frontier %d\n", format), 0o644)
	case err != nil:
		return fmt.Errorf("frontier: %w", err)
	}
	var n int
	if _, err := fmt.Sscanf(string(data), "gazehound frontier %d", &n); err != nil {
		return fmt.Errorf("frontier: %s: %q is no format of gazehound", name, bytes.TrimSpace(data[:min(len(data), 40)]))
	}
	if n > format {
		return fmt.Errorf("frontier: %s has format %d, this program knows %d: %w", dir, n, format, ErrNewerFormat)
	}
	return nil
}

// holder names the process that has the store open.
func holder(dir string) string {
	pid, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil || len(bytes.TrimSpace(pid)) == 0 {
		return ""
	}
	return fmt.Sprintf(" (pid %.20s)", bytes.TrimSpace(pid))
}

// restore reads hosts and totals. The queues of the hosts are read when they
// are asked for.
func (f *Frontier) restore() error {
	return f.db.View(func(txn *badger.Txn) error {
		if item, err := txn.Get([]byte{keyTotals}); err == nil {
			if err := item.Value(func(v []byte) error { return json.Unmarshal(v, &f.totals) }); err != nil {
				return fmt.Errorf("totals: %w", err)
			}
		} else if !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		for _, m := range []*map[string]int64{&f.totals.Errors, &f.totals.Skipped, &f.totals.Dropped} {
			if *m == nil {
				*m = map[string]int64{}
			}
		}
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{keyHost}, PrefetchValues: true, PrefetchSize: 1000})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			key := it.Item().KeyCopy(nil)
			if len(key) != 5 {
				continue
			}
			err := it.Item().Value(func(v []byte) error {
				seen, n := binary.Uvarint(v)
				if n <= 0 {
					return fmt.Errorf("host %x: damaged", key[1:])
				}
				h := &host{id: binary.BigEndian.Uint32(key[1:]), name: string(v[n:]), seen: int64(seen), bound: position{priority: math.MaxFloat32}}
				f.queue.hosts[h.name], f.queue.byID[h.id] = h, h
				return nil
			})
			if err != nil {
				return err
			}
		}
		// The best entry of every host: one seek each.
		q := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{keyQueue}})
		defer q.Close()
		for q.Rewind(); q.Valid(); {
			id, p, ok := parseQueueKey(q.Item().Key())
			h := f.queue.byID[id]
			if !ok || h == nil {
				q.Next()
				continue
			}
			i := &item{key: p.key, priority: p.priority, stored: p.priority, tie: p.tie, host: h}
			h.bound = p
			f.queue.insert(i)
			q.Seek(queuePrefix(id + 1))
		}
		for _, h := range f.queue.hosts {
			if len(h.buffer) == 0 {
				h.all = true
			}
		}
		return nil
	})
}

// Close ends the writer, after everything that was asked of it, and closes the
// store. A second call returns what the first one did.
func (f *Frontier) Close() error {
	f.closing.Do(func() {
		close(f.closed)
		f.writer.Wait()
		if err := f.db.Close(); err != nil {
			f.closeErr = fmt.Errorf("frontier: close: %w", err)
		}
	})
	return f.closeErr
}

// get reads one node; a record that cannot be read counts as missing.
func get(db *badger.DB, k Key) (n Node, ok bool, err error) {
	err = db.View(func(txn *badger.Txn) error {
		n, ok, err = getIn(txn, k)
		return err
	})
	return n, ok, err
}

func getIn(txn *badger.Txn, k Key) (n Node, ok bool, err error) {
	item, err := txn.Get(urlKey(k))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return n, false, nil
	}
	if err != nil {
		return n, false, fmt.Errorf("frontier: node %s: %w", k, err)
	}
	err = item.Value(func(v []byte) error {
		n, ok = decode(v)
		return nil
	})
	return n, ok, err
}

// Get returns the node of the crawl tree with this key.
func (f *Frontier) Get(k Key) (Node, bool, error) { return get(f.db, k) }

// Trail returns the node k, the node that held the link to it, and so on
// towards the seed, at most n of them.
func (f *Frontier) Trail(k Key, n int) ([]Node, error) {
	var trail []Node
	err := f.db.View(func(txn *badger.Txn) error {
		for ; len(trail) < n && k != (Key{}); k = trail[len(trail)-1].Parent {
			node, ok, err := getIn(txn, k)
			if err != nil || !ok {
				return err
			}
			trail = append(trail, node)
		}
		return nil
	})
	return trail, err
}

// Walk calls fn with the visited nodes that come after the visit numbered
// after (0: all), in the order of visits.
func (f *Frontier) Walk(ctx context.Context, after uint64, fn func(Node) error) error {
	return f.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{keyVisit}, PrefetchValues: true, PrefetchSize: 256})
		defer it.Close()
		for it.Seek(visitKey(after + 1)); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			var k Key
			err := it.Item().Value(func(v []byte) error {
				copy(k[:], v)
				return nil
			})
			if err != nil {
				return err
			}
			n, ok, err := getIn(txn, k)
			if err != nil {
				return err
			}
			if !ok || n.State != Visited {
				continue // damaged
			}
			if err := fn(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutMeta stores a small value under a name, for whoever owns the crawl.
func (f *Frontier) PutMeta(name string, value []byte) error {
	err := f.db.Update(func(txn *badger.Txn) error { return txn.Set(append([]byte{keyMeta}, name...), value) })
	if err != nil {
		return fmt.Errorf("frontier: %s: %w", name, err)
	}
	return nil
}

// Meta returns what PutMeta stored, or nil.
func (f *Frontier) Meta(name string) (value []byte, err error) {
	err = f.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(append([]byte{keyMeta}, name...))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		value, err = item.ValueCopy(nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: %s: %w", name, err)
	}
	return value, nil
}

// encode writes a node's value; KEYS.md describes it.
func encode(b []byte, n *Node) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	number := func(i int64) { b = binary.AppendVarint(b, i) }
	flags := byte(n.State)
	if n.Switch {
		flags |= 1 << 4
	}
	if n.Outcome.Relevant {
		flags |= 1 << 5
	}
	b = append(b, format, flags)
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(n.Priority)))
	b = append(b, n.Parent[:]...)
	number(int64(n.Depth))
	number(int64(n.Distance))
	number(int64(n.Redirects))
	number(n.Found.UnixMilli())
	text(n.URL.String())
	text(n.Anchor)
	text(n.Title)
	text(n.Around)
	if n.State != Visited {
		return b
	}
	b = binary.AppendUvarint(b, n.Seq)
	text(n.Outcome.Kind)
	text(n.Outcome.Reason)
	number(int64(n.Outcome.Status))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(n.Outcome.Score)))
	number(n.Outcome.Bytes)
	number(n.Outcome.At.UnixMilli())
	number(int64(len(n.Outcome.Addresses)))
	for _, a := range n.Outcome.Addresses {
		text(a)
	}
	return b
}

// decode is the reverse of encode. ok is false for anything that encode did
// not write.
func decode(b []byte) (n Node, ok bool) {
	if len(b) < 22 || b[0] != format {
		return n, false
	}
	bad := false
	take := func(count uint64) []byte {
		if count > uint64(len(b)) {
			bad, b = true, nil
			return make([]byte, min(count, 16))
		}
		part := b[:count]
		b = b[count:]
		return part
	}
	unsigned := func() uint64 {
		v, w := binary.Uvarint(b)
		if w <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[w:]
		return v
	}
	number := func() int64 {
		v, w := binary.Varint(b)
		if w <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[w:]
		return v
	}
	text := func() string { return string(take(unsigned())) }
	flags := take(2)[1]
	n.State, n.Switch, n.Outcome.Relevant = State(flags&3), flags&(1<<4) != 0, flags&(1<<5) != 0
	n.Priority = float64(math.Float32frombits(binary.BigEndian.Uint32(take(4))))
	copy(n.Parent[:], take(16))
	n.Depth, n.Distance, n.Redirects = int(number()), int(number()), int(number())
	n.Found = time.UnixMilli(number())
	u, err := weburl.Parse(text())
	if err != nil {
		return n, false
	}
	n.URL, n.Anchor, n.Title, n.Around = u, text(), text(), text()
	if n.State == Visited {
		n.Seq = unsigned()
		n.Outcome.Kind, n.Outcome.Reason, n.Outcome.Status = text(), text(), int(number())
		n.Outcome.Score = float64(math.Float32frombits(binary.BigEndian.Uint32(take(4))))
		n.Outcome.Bytes = number()
		n.Outcome.At = time.UnixMilli(number())
		count := number()
		if count < 0 || count > MaxAddresses {
			return n, false
		}
		for range count {
			n.Outcome.Addresses = append(n.Outcome.Addresses, text())
		}
	}
	return n, !bad && len(b) == 0 && (n.State == Queued || n.State == Visited)
}
