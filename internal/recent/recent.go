// Package recent has a bounded map that forgets old keys.
package recent

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// A Map is a map of at most Most keys, in two generations: when half the room
// is full of young ones the old are forgotten and the young are old. So the last
// Most/2 keys that were put are always there. It is not safe for concurrent use.
//
// It is for hundreds of thousands of small keys: one takes about 36 bytes where
// an LRU list takes 115, and the collector has no pointers to follow. All other
// caches are those of github.com/hashicorp/golang-lru.
type Map[K comparable, V any] struct {
	Most       int // keys; at least 2
	young, old map[K]V
}

// Get returns the value of a key, if it is there.
func (m *Map[K, V]) Get(key K) (V, bool) {
	v, known := m.young[key]
	if !known {
		v, known = m.old[key]
	}
	return v, known
}

// Put keeps the value of a key.
func (m *Map[K, V]) Put(key K, v V) {
	if _, known := m.young[key]; !known && (m.young == nil || len(m.young) >= m.Most/2) {
		m.young, m.old = map[K]V{}, m.young
	}
	m.young[key] = v
}

// Len is the number of keys.
func (m *Map[K, V]) Len() int {
	n := len(m.young)
	for key := range m.old {
		if _, again := m.young[key]; !again {
			n++
		}
	}
	return n
}

// Clone returns a Map of the same keys and values.
func (m *Map[K, V]) Clone() Map[K, V] {
	return Map[K, V]{Most: m.Most, young: maps.Clone(m.young), old: maps.Clone(m.old)}
}

// Sorted returns the keys of m with their values, each once, the old ones first
// and both in order: put into another Map they make the same again.
func Sorted[K cmp.Ordered, V any](m *Map[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m.old)) {
			if _, again := m.young[key]; !again && !yield(key, m.old[key]) {
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(m.young)) {
			if !yield(key, m.young[key]) {
				return
			}
		}
	}
}
