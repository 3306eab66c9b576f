package osm

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// assemble joins the member ways of a boundary to rings and the rings to
// polygons. It returns nil where the extract does not hold the whole outline.
func (c *collector) assemble(a *area) orb.MultiPolygon {
	outer, ok := c.rings(a.outer)
	if !ok || len(outer) == 0 {
		return nil
	}
	var shape orb.MultiPolygon
	for _, ring := range outer {
		if ring.Orientation() == orb.CW {
			ring.Reverse()
		}
		shape = append(shape, orb.Polygon{ring})
	}
	inner, _ := c.rings(a.inner) // a hole at the border of the extract is left out
	for _, ring := range inner {
		if ring.Orientation() == orb.CCW {
			ring.Reverse()
		}
		for i := range shape {
			if planar.RingContains(shape[i][0], ring[0]) {
				shape[i] = append(shape[i], ring)
				break
			}
		}
	}
	return shape
}

// rings joins ways end to end until they close. ok is false where an end finds
// no partner or a way or node is missing.
func (c *collector) rings(ways []int64) (rings []orb.Ring, ok bool) {
	parts := map[int64][][]int64{} // end node → ways that end there
	used := map[*int64]bool{}      // by the first element
	var order [][]int64
	for _, id := range ways {
		span, known := c.ways[id]
		if !known || span[1]-span[0] < 2 {
			return nil, false
		}
		refs := c.refs[span[0]:span[1]]
		order = append(order, refs)
		parts[refs[0]] = append(parts[refs[0]], refs)
		parts[refs[len(refs)-1]] = append(parts[refs[len(refs)-1]], refs)
	}
	next := func(end int64) []int64 {
		for _, refs := range parts[end] {
			if !used[&refs[0]] {
				used[&refs[0]] = true
				return refs
			}
		}
		return nil
	}
	for _, refs := range order {
		if used[&refs[0]] {
			continue
		}
		used[&refs[0]] = true
		line := append([]int64(nil), refs...)
		for line[0] != line[len(line)-1] {
			end := line[len(line)-1]
			more := next(end)
			if more == nil {
				return nil, false
			}
			if more[0] == end {
				line = append(line, more[1:]...)
				continue
			}
			for i := len(more) - 2; i >= 0; i-- {
				line = append(line, more[i])
			}
		}
		ring := orb.Ring(c.nodes.line(line))
		if len(ring) != len(line) {
			return nil, false
		}
		if len(ring) >= 4 {
			rings = append(rings, ring)
		}
	}
	return rings, true
}
