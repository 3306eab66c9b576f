package frontier

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// A shelf gives back what was put last under a name, or nothing; the last few
// records are there.
func TestShelf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newShelf(3 * slabBytes)
		put := map[uint64][]byte{}
		var last []uint64
		for i := range rapid.IntRange(1, 3000).Draw(t, "groups") {
			r := rapid.Uint64Range(0, 2000).Draw(t, "group")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				if got := s.get(r); len(got) > 0 && !bytes.Equal(got, put[r]) {
					t.Fatalf("%d: %x holds %.20x, %.20x was put", i, r, got, put[r])
				}
			case 1:
				if rapid.IntRange(0, 99).Draw(t, "clear") == 0 {
					s.clear()
					clear(put)
					last = nil
				}
			default:
				record := bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(r)}, rapid.IntRange(1, maxShelved/3).Draw(t, "length"))
				s.put(r, record)
				put[r] = record
				last = append(last, r)
			}
		}
		for r, want := range put {
			if got := s.get(r); len(got) > 0 && !bytes.Equal(got, want) {
				t.Fatalf("%x holds %.20x, %.20x was put", r, got, want)
			}
		}
		for _, r := range last[max(0, len(last)-slotsOfSet):] { // a set has room for them, and a slab
			if got := s.get(r); !bytes.Equal(got, put[r]) {
				t.Fatalf("%x is gone, one of the last put", r)
			}
		}
	})
}

// A record that is too long is not kept, and takes nothing else away.
func TestShelfLongRecord(t *testing.T) {
	s := newShelf(1)
	s.put(1, []byte("short"))
	s.put(2, make([]byte, maxShelved+1))
	if got := s.get(1); string(got) != "short" {
		t.Errorf("1 holds %q", got)
	}
	if got := s.get(2); len(got) > 0 {
		t.Errorf("2 holds %d bytes", len(got))
	}
	if got := s.get(0); len(got) > 0 { // a slot of zeros names it
		t.Errorf("0 holds %q", got)
	}
}
