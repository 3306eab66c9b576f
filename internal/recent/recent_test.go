package recent

import "testing"

// However much is put, no more is kept than there is room for, and the latest
// is among it, each key once and with its last value.
func TestMap(t *testing.T) {
	m := Map[int, int]{Most: 100}
	for i := range 1000 {
		m.Put(i, -1)
		m.Put(i, i)
		if n := len(m.young) + len(m.old); n > 100 {
			t.Fatalf("%d keys after %d", n, i+1)
		}
		for _, key := range []int{i, max(i-49, 0)} {
			if v, known := m.Get(key); !known || v != key {
				t.Fatalf("key %d is %d, %v after %d", key, v, known, i+1)
			}
		}
	}
	if _, known := m.Get(1); known {
		t.Error("the first keys are still there")
	}
	again, last, n := Map[int, int]{Most: 100}, -1, 0
	for key, v := range Sorted(&m) {
		if key <= last || key != v {
			t.Errorf("%d: %d after %d", key, v, last)
		}
		again.Put(key, v)
		last, n = key, n+1
	}
	if n != len(m.young)+len(m.old) || last != 999 {
		t.Errorf("%d keys to %d of %d", n, last, len(m.young)+len(m.old))
	}
	for key, v := range Sorted(&m) {
		if got, known := again.Get(key); !known || got != v {
			t.Errorf("put again, %d is %d, %v", key, got, known)
		}
	}
}
