package index

import "sync"

// A posting is one entry of a word's list: the number of the row in its
// segment, and in the lowest bits the weight of the word there.
type posting uint32

const (
	weightBits = 6
	maxRows    = 1 << (32 - weightBits) // of a segment; Bleve merges up to 5 million
)

func newPosting(row uint32, weight uint64) posting {
	return posting(row<<weightBits | uint32(min(weight, mostWeight)))
}

func (p posting) row() uint32    { return uint32(p >> weightBits) }
func (p posting) weight() uint32 { return uint32(p) & (1<<weightBits - 1) }

// A list that is read is decoded whole. Those of frequent words cost the most
// and come back in most queries, so they are kept.
const (
	leastKept     = 16       // entries of a list that is kept
	maxListsBytes = 16 << 20 // of all lists that are kept, about
)

// A listKey names a list: of a segment, by Bleve's number, and a field.
type listKey struct {
	segment uint64
	field   int
	term    string
}

// lists are the decoded lists of frequent words. Those that were not asked for
// since half of the room was filled go.
type lists struct {
	mu   sync.Mutex
	now  map[listKey][]posting
	old  map[listKey][]posting
	size int // bytes of now
}

func (l *lists) get(key listKey) ([]posting, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if list, ok := l.now[key]; ok {
		return list, true
	}
	list, ok := l.old[key]
	if ok {
		l.put(key, list)
	}
	return list, ok
}

func (l *lists) keep(key listKey, list []posting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.now[key]; !ok {
		l.put(key, list)
	}
}

func (l *lists) put(key listKey, list []posting) {
	const overhead = 120 // of an entry
	size := overhead + len(key.term) + 4*len(list)
	if l.now == nil || l.size+size > maxListsBytes/2 {
		l.now, l.old, l.size = map[listKey][]posting{}, l.now, 0
	}
	l.now[key] = list
	l.size += size
}
