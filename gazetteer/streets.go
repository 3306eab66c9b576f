package gazetteer

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/vellum"
)

// StreetsIn calls fn for the streets of r, in the order of their keys, each with
// the number of its houses that are known: one for every postcode that a street
// runs through. It reads the names of the whole gazetteer, so it is not for the
// hot path. It ends with the error of fn or ctx.
func (g *Gazetteer) StreetsIn(ctx context.Context, r *Region, fn func(street Place, houses int) error) error {
	it, err := g.streets.Iterator(nil, nil)
	for ; err == nil; err = it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, off := it.Current()
		l := g.streetList(off)
		for i := range l.n {
			d := g.at(l.entry(i).off)
			street := g.streetHead(&d)
			if d.Failed() || StreetKey(street.Street) != string(key) || !r.Has(street) {
				continue // another name of a street that comes under its own
			}
			if err := fn(street, countHouses(&d)); err != nil {
				return err
			}
		}
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return fmt.Errorf("gazetteer: streets: %w", err)
}

// countHouses returns the number of houses of the street whose head d has read.
func countHouses(d *decoder) int {
	for range d.Count() {
		d.Uvarint()
		d.Uvarint()
		d.Uvarint()
	}
	return d.Count()
}
