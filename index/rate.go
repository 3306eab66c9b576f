package index

import (
	"context"
	"math"
	"slices"
)

// Rate renews the importance of the pages for which importance, a value from 0 to 1, is known. An
// address is written only if one of its pages changed by a thousandth or more. It is durable like Put.
func (x *Index) Rate(ctx context.Context, importance func(url string) (value float64, known bool)) error {
	var stale []string
	err := x.eachRecord(ctx, func(r *record) {
		if r.rate(importance) {
			stale = append(stale, r.id)
		}
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(stale, maxBatch) {
		err := x.change(ctx, change{do: func(c *commit) error { return c.rate(some, importance) }})
		if err != nil {
			return err
		}
	}
	return nil
}

// rate renews the importance of the pages of some addresses.
func (c *commit) rate(addresses []string, importance func(url string) (float64, bool)) error {
	for _, id := range addresses {
		r, err := c.address(id)
		if err != nil {
			return err
		}
		if r.rate(importance) {
			c.changed[id] = true
		}
	}
	return nil
}

// rate renews the importance of the pages and reports whether one changed.
func (r *record) rate(importance func(url string) (float64, bool)) (changed bool) {
	for _, m := range r.Mentions {
		value, known := importance(m.URL)
		if known && math.Abs(value-m.Importance) >= 0.001 {
			m.Importance, changed = value, true
		}
	}
	return changed
}
