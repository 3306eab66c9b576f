package partition

import "hash/fnv"

// hash chooses one of some nodes for a key: see Rendezvous.
func (p *Partition) hash(key string, among []int) int {
	best, most := among[0], uint64(0)
	for _, i := range among {
		if s := weight(p.nodes[i].Name, key); s >= most {
			best, most = i, s
		}
	}
	return best
}

// Rendezvous chooses one of some names for a key by rendezvous hashing: the
// one whose hash with the key is the greatest. When a name goes, only its own
// keys move.
func Rendezvous(key string, names []string) string {
	best, most := "", uint64(0)
	for _, name := range names {
		if s := weight(name, key); best == "" || s > most {
			best, most = name, s
		}
	}
	return best
}

func weight(name, key string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write([]byte{0})
	h.Write([]byte(key))
	return mix(h.Sum64())
}

// mix spreads the bits of an FNV hash, whose last bytes change few of them
// (the finaliser of MurmurHash3).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
