package frontier

import (
	"encoding/binary"
	"math/bits"
)

// A shelf holds links that were read from the store, each as a group of its
// own: those at the front of the queue are scored again and again, and the pages
// that hold the links to visited ones are asked for with each of these. What was
// put there first makes room. It has no pointers to links, so that the garbage
// collector need not look at them. It is not safe for concurrent use.
type shelf struct {
	slabs [][]byte  // a ring; nil: not used yet
	end   uint64    // bytes ever put, with the room that was left at the ends of slabs
	slots []shelved // in sets of slotsOfSet
}

// A shelved link is put at a place, counted as end is. It is there until its
// slab is used again.
type shelved struct {
	ref ref
	at  uint64
}

const (
	slabBytes  = 64 << 10
	slotBytes  = 128 // of links for a slot
	slotsOfSet = 4
)

func newShelf(bytes int64) shelf {
	slabs := max(bytes/slabBytes, 2)
	return shelf{
		slabs: make([][]byte, slabs),
		end:   uint64(slabs) * slabBytes, // nothing is at 0
		slots: make([]shelved, slabs*slabBytes/slotBytes),
	}
}

// set returns the slots that r may have.
func (s *shelf) set(r ref) []shelved {
	n, _ := bits.Mul64(uint64(r)*golden, uint64(len(s.slots)/slotsOfSet))
	return s.slots[n*slotsOfSet:][:slotsOfSet]
}

// slab returns the slab of a place, which may be in use for another by now.
func (s *shelf) slab(at uint64) *[]byte { return &s.slabs[at/slabBytes%uint64(len(s.slabs))] }

// get appends the link that r names to b, or nothing.
func (s *shelf) get(r ref, b []byte) []byte {
	for _, x := range s.set(r) {
		if x.ref == r && s.end/slabBytes-x.at/slabBytes < uint64(len(s.slabs)) {
			from := (*s.slab(x.at))[x.at%slabBytes:]
			return append(b, from[2:][:binary.LittleEndian.Uint16(from)]...)
		}
	}
	return b
}

// put keeps the link that r names. One that is much longer than others is not
// kept.
func (s *shelf) put(r ref, link []byte) {
	if len(link) > slabBytes/16 {
		return
	}
	if left := slabBytes - s.end%slabBytes; left < uint64(2+len(link)) {
		s.end += left
	}
	slab := s.slab(s.end)
	if *slab == nil {
		*slab = make([]byte, slabBytes)
	}
	set := s.set(r)
	slot := &set[0] // the oldest, or its own
	for i := range set {
		if set[i].ref == r {
			slot = &set[i]
			break
		}
		if set[i].at < slot.at {
			slot = &set[i]
		}
	}
	*slot = shelved{r, s.end}
	to := (*slab)[s.end%slabBytes:]
	binary.LittleEndian.PutUint16(to, uint16(len(link)))
	s.end += 2 + uint64(copy(to[2:], link))
}

// clear takes everything out.
func (s *shelf) clear() { clear(s.slots) }
