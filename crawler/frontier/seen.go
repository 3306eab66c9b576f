package frontier

import badger "github.com/dgraph-io/badger/v4"

// seen tells quickly that a URL is new: most links of a page are either that
// or repeats, and asking the store about a new URL costs more than all the rest
// of queuing it. It consists of Bloom filters, each twice as large as the one
// before. It belongs to the writer.
type seen struct {
	filters []*filter
	room    uint         // URLs that the last filter may still take
	size    uint         // of the last filter
	old     chan *filter // of what was in the store when it was opened
	ready   bool         // the filters know all URLs
}

const (
	firstFilter = 1 << 20 // URLs
	rounds      = 4096    // keys between two looks at whether to stop
)

// prepare starts to read the keys of a store that is not empty, at the first
// write, and takes what was read once that is complete.
func (s *seen) prepare(f *Frontier) {
	switch {
	case s.ready:
	case s.filters == nil:
		s.grow(firstFilter)
		known := uint(f.totals.Queued + f.totals.Visited)
		if s.ready = known == 0; s.ready {
			return
		}
		s.old = make(chan *filter, 1)
		txn := f.db.NewTransaction(false)
		f.writer.Go(func() {
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

func (s *seen) grow(size uint) {
	s.filters = append(s.filters, newFilter(size))
	s.size, s.room = size, size
}

func (s *seen) add(k Key) {
	if s.room == 0 {
		s.grow(2 * s.size)
	}
	s.room--
	s.filters[len(s.filters)-1].add(k)
}

// never tells that k is certainly not in the store; false proves nothing.
func (s *seen) never(k Key) bool {
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
