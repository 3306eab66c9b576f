package frontier

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"sync"

	badger "github.com/dgraph-io/badger/v4"
)

// seen tells quickly that a URL is new: most links of a page are either that
// or repeats, and asking the store about a new URL costs more than all the rest
// of queuing it. It consists of Bloom filters, each twice as large as the one
// before. The writer adds to it, everybody may ask it.
type seen struct {
	room uint         // URLs that the last filter may still take
	size uint         // of the last filter
	old  chan *filter // of what was in the store when it was opened

	mu      sync.RWMutex // for what others than the writer read
	filters []*filter
	ready   bool // the filters know all URLs
}

const (
	firstFilter = 1 << 20 // URLs
	rounds      = 4096    // keys between two looks at whether to stop
)

// prepare takes, at the first write, the filters that Close has kept. Where
// there are none, as after a crash, it starts to read the keys of the store,
// and takes what was read once that is complete.
func (s *seen) prepare(f *Frontier) {
	if s.ready {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.filters == nil:
		s.grow(firstFilter)
		known := uint(f.totals.Queued + f.totals.Visited)
		if s.ready = known == 0 || !f.options.InMemory && s.load(f.options.Dir, known); s.ready {
			return
		}
		s.old = make(chan *filter, 1)
		version, err := f.begin()
		if err != nil {
			return // what is being written is the last
		}
		f.writer.Go(func() {
			defer f.end(version)
			txn := f.db.NewTransactionAt(version, false)
			defer txn.Discard()
			if old := readKeys(txn, known, f.stop); old != nil {
				s.old <- old
			}
		})
	default:
		select {
		case old := <-s.old:
			s.filters = append([]*filter{old}, s.filters...)
			s.ready = true
		default:
		}
	}
}

// readKeys returns a filter of all URLs in the store. It returns nil if it was
// stopped, and if it did not meet as many as there have to be: an iterator of
// Badger ends without a word at a block that cannot be read, and a filter with
// a gap would take known URLs for new ones.
func readKeys(txn *badger.Txn, known uint, stop <-chan struct{}) *filter {
	old := newFilter(known)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{'u'}})
	defer it.Close()
	n := 0
	for it.Rewind(); it.Valid(); it.Next() {
		if key := it.Item().Key(); len(key) == 17 {
			old.add(Key(key[1:]))
		}
		if n++; n%rounds == 0 {
			select {
			case <-stop:
				return nil
			default:
			}
		}
	}
	if uint(n) != known {
		return nil
	}
	return old
}

// filterFile holds the filters between Close and the first write after Open.
// That removes it, so that it never knows less than the store.
const filterFile = "FILTER"

var checksum = crc32.MakeTable(crc32.Castagnoli)

// save keeps the filters of a store of known URLs for the next load.
func (s *seen) save(dir string, known uint) error {
	if !s.ready {
		return nil
	}
	b := []byte{version}
	for _, n := range []uint{known, s.room, s.size, uint(len(s.filters))} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, f := range s.filters {
		b = binary.AppendUvarint(b, uint64(len(f.blocks)))
		for i := range f.blocks {
			for _, word := range f.blocks[i] {
				b = binary.LittleEndian.AppendUint32(b, word)
			}
		}
	}
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, checksum))
	name := filepath.Join(dir, filterFile)
	if err := os.WriteFile(name+".new", b, 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// load takes what save has kept, if that is whole and of this store.
func (s *seen) load(dir string, known uint) bool {
	name := filepath.Join(dir, filterFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) || len(b) < 4 {
		return false // it would be believed again when it is out of date
	}
	b, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(b, checksum) != sum {
		return false
	}
	d := decoder{rest: b}
	d.version()
	of, room, size := uint(d.uvarint()), uint(d.uvarint()), uint(d.uvarint())
	var filters []*filter
	for range d.count(64) {
		f := &filter{make([][8]uint32, d.count(len(d.rest)/32+1))}
		for i := range f.blocks {
			words := d.bytes(32)
			for j := range f.blocks[i] {
				if len(words) == 32 {
					f.blocks[i][j] = binary.LittleEndian.Uint32(words[4*j:])
				}
			}
		}
		filters = append(filters, f)
	}
	if d.end() != nil || of != known || len(filters) == 0 {
		return false
	}
	s.filters, s.room, s.size = filters, room, size
	return true
}

func (s *seen) grow(size uint) {
	s.filters = append(s.filters, newFilter(size))
	s.size, s.room = size, size
}

func (s *seen) add(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room == 0 {
		s.grow(2 * s.size)
	}
	s.room--
	s.filters[len(s.filters)-1].add(k)
}

// never tells that k is certainly not in the store; false proves nothing.
func (s *seen) never(k Key) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.ready {
		return false
	}
	for _, f := range s.filters {
		if f.has(k) {
			return false
		}
	}
	return true
}

// A filter is a split block Bloom filter (Putze, Sanders & Singler 2007, with
// the constants of Apache Parquet): a key sets eight bits of one block, which
// is half a cache line. Keys are hashes already. With bitsPerKey, three in a
// thousand foreign keys seem to be known.
type filter struct{ blocks [][8]uint32 }

const bitsPerKey = 12

var salts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

func newFilter(keys uint) *filter {
	return &filter{make([][8]uint32, keys*bitsPerKey/256+1)}
}

func (f *filter) block(k Key) (block *[8]uint32, bits uint32) {
	h := k.url() ^ k.host()*golden
	return &f.blocks[h>>32*uint64(len(f.blocks))>>32], uint32(h)
}

func (f *filter) add(k Key) {
	block, bits := f.block(k)
	for i, salt := range salts {
		block[i] |= 1 << (bits * salt >> 27)
	}
}

func (f *filter) has(k Key) bool {
	block, bits := f.block(k)
	for i, salt := range salts {
		if block[i]>>(bits*salt>>27)&1 == 0 {
			return false
		}
	}
	return true
}

// lately remembers what the store knows of URLs that links led to lately: most
// links of a page lead to the same few dozen pages of its site, and the store need
// not be asked about them again. Each URL has a set of slots, which it shares
// with others; those asked for last stay. The digest of a URL says enough: nobody
// can make one that is that of another site's page. It is the writer that says
// what became of URLs, and it says so before that is committed; what others have
// read may be out of date, so that they put nothing but visits, which stay. It is
// safe for concurrent use.
type lately struct {
	mu   sync.Mutex
	sets [][4]fate // what was asked for last comes first
}

// A fate is what became of a URL.
type fate struct {
	url      uint64 // Key.url; 0 is an empty slot
	rank     uint32 // of one that waits, in the store; of one that was visited see visit
	distance uint32 // of one that waits; wasVisited
}

const (
	wasVisited = math.MaxUint32
	fateBytes  = 16
)

// fateOf returns what the record of k says.
func fateOf(k Key, r urlRecord) fate {
	if r.state == Visited {
		x := fate{url: k.url(), distance: wasVisited}
		if r.seq <= math.MaxUint32 {
			x.rank = uint32(r.seq)
		}
		return x
	}
	return fate{k.url(), r.rank, uint32(min(r.distance, math.MaxInt32))}
}

// state returns Queued or Visited.
func (x fate) state() State {
	if x.distance == wasVisited {
		return Visited
	}
	return Queued
}

// visit returns the number of a visit of the URL, or 0 where there is none or it
// has more than 32 bits. It may be about to be stored, and there may be a later one.
func (x fate) visit() uint64 {
	if x.distance == wasVisited {
		return uint64(x.rank)
	}
	return 0
}

// outdoes tells whether another link to the URL, of this rank and distance,
// changes nothing.
func (x fate) outdoes(rank uint32, distance int) bool {
	return x.distance == wasVisited || rank > x.rank || rank == x.rank && uint32(distance) >= x.distance
}

func newLately(bytes int64) *lately { return &lately{sets: make([][4]fate, bytes/(4*fateBytes))} }

// find returns the set of a URL, with the URL in front if it is known.
func (l *lately) find(url uint64) (set *[4]fate, known bool) {
	n, _ := bits.Mul64(url, uint64(len(l.sets)))
	set = &l.sets[n]
	for i, x := range set {
		if x.url == url {
			copy(set[1:i+1], set[:i])
			set[0] = x
			return set, url != 0
		}
	}
	return set, false
}

// of returns what became of k; false if that is not known.
func (l *lately) of(k Key) (fate, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set, known := l.find(k.url())
	return set[0], known
}

// put notes what became of a URL.
func (l *lately) put(x fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	set, known := l.find(x.url)
	if !known {
		copy(set[1:], set[:])
	}
	set[0] = x
}

// drop forgets what became of k.
func (l *lately) drop(k Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if set, known := l.find(k.url()); known {
		copy(set[:], set[1:])
		set[len(set)-1] = fate{}
	}
}

// clear forgets everything.
func (l *lately) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.sets)
}
