package frontier

import (
	"encoding/binary"
	"math/bits"
)

// A shelf holds records of groups that were read from the store: those whose
// links are at the front of the queue, which lie beside each other there as they
// do on their pages, and those of the pages that hold them. What was put there
// first makes room. It has no pointers to records, so that the garbage collector
// need not look at them. It is not safe for concurrent use.
type shelf struct {
	slabs [][]byte  // a ring; nil: not used yet
	end   uint64    // bytes ever put, with the room that was left at the ends of slabs
	slots []shelved // in sets of slotsOfSet
}

// A shelved record is put at a place, counted as end is. It is there until its
// slab is used again.
type shelved struct {
	group uint64
	at    uint64
}

const (
	slabBytes  = 64 << 10
	maxShelved = slabBytes / 8 // bytes of a record
	slotBytes  = 256           // of records for a slot
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

// set returns the slots that a group may have.
func (s *shelf) set(group uint64) []shelved {
	n, _ := bits.Mul64(group*golden, uint64(len(s.slots)/slotsOfSet))
	return s.slots[n*slotsOfSet:][:slotsOfSet]
}

// slab returns the slab of a place, which may be in use for another by now.
func (s *shelf) slab(at uint64) *[]byte { return &s.slabs[at/slabBytes%uint64(len(s.slabs))] }

// get returns the record of a group until the next one is put, or nil.
func (s *shelf) get(group uint64) []byte {
	for _, x := range s.set(group) {
		if x.group == group && s.end/slabBytes-x.at/slabBytes < uint64(len(s.slabs)) {
			from := (*s.slab(x.at))[x.at%slabBytes:]
			return from[2:][:binary.LittleEndian.Uint16(from)]
		}
	}
	return nil
}

// put keeps the record of a group. One that is much longer than others is not
// kept.
func (s *shelf) put(group uint64, record []byte) {
	if len(record) > maxShelved {
		return
	}
	if left := slabBytes - s.end%slabBytes; left < uint64(2+len(record)) {
		s.end += left
	}
	slab := s.slab(s.end)
	if *slab == nil {
		*slab = make([]byte, slabBytes)
	}
	set := s.set(group)
	slot := &set[0] // the oldest, or its own
	for i := range set {
		if set[i].group == group {
			slot = &set[i]
			break
		}
		if set[i].at < slot.at {
			slot = &set[i]
		}
	}
	*slot = shelved{group, s.end}
	to := (*slab)[s.end%slabBytes:]
	binary.LittleEndian.PutUint16(to, uint16(len(record)))
	s.end += 2 + uint64(copy(to[2:], record))
}

// clear takes everything out.
func (s *shelf) clear() { clear(s.slots) }
