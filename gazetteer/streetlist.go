package gazetteer

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"io"
	"math"
	"slices"
)

func hash32(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		io.WriteString(h, p)
		h.Write([]byte{0})
	}
	return h.Sum32()
}

// A listEntry is one street in the list of a street key: 16 bytes, sorted by
// the hash of country and postcode. A permutation by city follows the entries.
type listEntry struct {
	code, city uint32 // hash32(country, key)
	off        uint64
}

const listEntrySize = 16

func (e listEntry) put(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.code)
	b = binary.LittleEndian.AppendUint32(b, e.city)
	return binary.LittleEndian.AppendUint64(b, e.off)
}

// getListEntry decodes what put wrote.
func getListEntry(b []byte) listEntry {
	return listEntry{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:])}
}

// writeLists writes the list of streets of every name, usual or not.
func (c *compiler) writeLists() error {
	var list []listEntry
	add := func(_, value []byte) {
		e := getListEntry(value)
		if !slices.Contains(list[max(0, len(list)-maxNames):], e) { // two names of one key
			list = append(list, e)
		}
	}
	end := func() ([]byte, error) {
		b := putList(c.buf[:0], list)
		list = list[:0]
		return b, nil
	}
	return c.writeGroups(sectionStreets, c.lists, wholeKey, add, end)
}

// putList encodes the streets of one key for two binary searches.
func putList(b []byte, list []listEntry) []byte {
	slices.SortFunc(list, func(a, b listEntry) int {
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.city, b.city), cmp.Compare(a.off, b.off))
	})
	byCity := make([]uint32, len(list))
	for i := range byCity {
		byCity[i] = uint32(i)
	}
	slices.SortFunc(byCity, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(list[x].city, list[y].city), cmp.Compare(x, y))
	})
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, e := range list {
		b = e.put(b)
	}
	for _, i := range byCity {
		b = binary.LittleEndian.AppendUint32(b, i)
	}
	return b
}

// A streetList is the streets of one key, as putList wrote them.
type streetList struct {
	n int
	b []byte // entries, then the permutation
}

func (g *Gazetteer) streetList(off uint64) streetList {
	d := g.at(off)
	head := d.Next(4)
	if d.Failed() {
		return streetList{}
	}
	n := int(binary.LittleEndian.Uint32(head))
	if n > d.Len()/(listEntrySize+4) {
		return streetList{}
	}
	return streetList{n, d.Next(n * (listEntrySize + 4))}
}

func (l streetList) entry(i int) listEntry {
	return getListEntry(l.b[i*listEntrySize:])
}

// byCity returns the i-th entry in the order of the cities.
func (l streetList) byCity(i int) listEntry {
	j := int(binary.LittleEndian.Uint32(l.b[l.n*listEntrySize+4*i:]))
	if j >= l.n {
		return listEntry{off: math.MaxUint64}
	}
	return l.entry(j)
}
