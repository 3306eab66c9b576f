package gazetteer

import (
	"cmp"
	"encoding/binary"
	"slices"

	"gazehound/internal/disk"

	"github.com/paulmach/orb"
)

// evidence is what the streets and houses of one city and postcode tell about
// both: that they exist, and where.
type evidence struct {
	source     int
	city, code string
	point      orb.Point // mean
	has        bool
	count      int // of houses and streets with a coordinate
	cells      map[cell]int
}

type evidenceKey struct{ country, state, city, code string }

const maxEvidence = 500_000 // cells and keys in memory

// The kinds of record under a city's key.
const (
	itemCity = iota
	itemEvidence
	itemAlias
)

func putEvidence(b []byte, e *evidence) []byte {
	b = binary.AppendUvarint(b, uint64(e.source))
	b = disk.AppendString(disk.AppendString(b, e.city), e.code)
	b = binary.AppendUvarint(putPoint(b, e.has, e.point), uint64(e.count))
	return putCells(b, e.cells)
}

func putCells(b []byte, cells map[cell]int) []byte {
	sorted := make([]cell, 0, len(cells))
	for at := range cells {
		sorted = append(sorted, at)
	}
	slices.Sort(sorted)
	b = binary.AppendUvarint(b, uint64(len(sorted)))
	last := cell(0)
	for _, at := range sorted {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(at-last)), uint64(cells[at]))
		last = at
	}
	return b
}

func (d *decoder) cells(into map[cell]int) {
	at := cell(0)
	for range d.Count() {
		at += cell(d.Uvarint())
		n := int(d.Uvarint())
		if d.Failed() {
			return
		}
		into[at] += n
	}
}

func (d *decoder) evidence() evidence {
	var e evidence
	e.source = int(d.Uvarint())
	e.city = d.String()
	e.code = d.String()
	e.point, e.has = d.point()
	e.count = int(d.Uvarint())
	e.cells = map[cell]int{}
	d.cells(e.cells)
	return e
}

func (c *compiler) addCityEvidence(key, country, state string, e *evidence) error {
	if key == "" {
		return nil
	}
	c.buf = putEvidence(disk.AppendString(disk.AppendString(append(c.buf[:0], itemEvidence), country), state), e)
	return c.cities.Add([]byte(key), c.buf)
}

func (c *compiler) flushEvidence() error {
	keys := make([]evidenceKey, 0, len(c.evidence))
	for k := range c.evidence {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b evidenceKey) int {
		return cmp.Or(cmp.Compare(a.city, b.city), cmp.Compare(a.code, b.code), cmp.Compare(a.country, b.country), cmp.Compare(a.state, b.state))
	})
	for _, k := range keys {
		e := c.evidence[k]
		if err := c.addCityEvidence(k.city, k.country, k.state, e); err != nil {
			return err
		}
		if k.code == "" {
			continue
		}
		c.buf = putEvidence(disk.AppendString(append(c.buf[:0], 1), k.state), e)
		if err := c.postcodes.Add(joinKey(k.code, k.country, k.city), c.buf); err != nil {
			return err
		}
	}
	clear(c.evidence)
	c.evidenceCells = 0
	return nil
}
