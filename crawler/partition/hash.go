package partition

import "hash/fnv"

// hash chooses one of some nodes for a key by rendezvous hashing: the node
// whose hash with the key is the greatest. When a node goes, only its own keys
// move.
func (p *Partition) hash(key string, among []int) int {
	best, most := among[0], uint64(0)
	for _, i := range among {
		h := fnv.New64a()
		h.Write([]byte(p.nodes[i].Name))
		h.Write([]byte{0})
		h.Write([]byte(key))
		if s := mix(h.Sum64()); s >= most {
			best, most = i, s
		}
	}
	return best
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
