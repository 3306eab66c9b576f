package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Walk hands every address that fits q to fn, in the order of their IDs, out
// of one state of the data: later writes are not seen. Only the filters of q
// may be set: Box, Center with Radius, Street, Postcode, City, Host, Kind, Located,
// Month, Precision, Level, Since, Until, InOSM and SiteWide. An
// address fits when one of its mentions fits all of them, as with Search.
//
// Other than with Search its evidence are those mentions that prove it best,
// and nothing depends on how the data came to lie on the disk. Memory is that of one address. The Hit is fn's to
// keep; an error of fn ends the walk and is returned.
func (x *Index) Walk(ctx context.Context, q Query, fn func(*Hit) error) error {
	return x.WalkOn(ctx, q, "", fn)
}

// WalkOn is Walk for the addresses whose ID is greater than after.
func (x *Index) WalkOn(ctx context.Context, q Query, after string, fn func(*Hit) error) error {
	if err := q.CheckFilters(); err != nil {
		return err
	}
	v, err := x.seeAll()
	if err != nil {
		return err
	}
	defer v.release()
	fits := make([]bool, len(v.ids))
	f := x.table.filterOf(q)
	var fit func(*row) bool
	if !f.all {
		fit = f.fits
	}
	if !f.none {
		v.each(func(p *part, n uint32, r *row) { fits[p.groups[n]] = fits[p.groups[n]] || f.fits(r) })
	}
	var groups []uint32
	whole := v.whole(q)
	for n, fits := range fits {
		if fits && addressID(v.ids[n]) > after && (whole == nil || whole(uint32(n))) {
			groups = append(groups, uint32(n))
		}
	}
	slices.SortFunc(groups, func(a, b uint32) int { return cmp.Compare(v.ids[a], v.ids[b]) })
	for _, n := range groups {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		h, err := x.address(v, n, fit, maxEvidence)
		if err != nil {
			return err
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

// Pages hands the URL of every page that states an address to fn, out of one
// state of the data: once for each address that the page states, in no order.
func (x *Index) Pages(ctx context.Context, fn func(url string)) error {
	return x.eachMention(ctx, func(m *mention) { fn(m.URL) })
}

// Address returns the address with this ID as Walk does, with more of its
// evidence; nil where there is none.
func (x *Index) Address(id string) (*Hit, error) {
	v, err := x.see()
	if err != nil {
		return nil, err
	}
	defer v.release()
	number, err := strconv.ParseUint(id, 16, 64)
	if err != nil || len(id) != 16 {
		return nil, nil
	}
	x.table.mu.RLock()
	n, ok := x.table.groups[number]
	x.table.mu.RUnlock()
	if !ok || int(n) >= len(v.ids) {
		return nil, nil
	}
	return x.address(v, n, nil, maxRead)
}

// address reads the mentions that prove an address best; it is nil where there
// are none any more.
func (x *Index) address(v *view, group uint32, fits func(*row) bool, most int) (*Hit, error) {
	a := v.account(group, fits, nil)
	if len(a.statements) == 0 {
		return nil, nil
	}
	var read []statement
	stored := map[uint32]*mention{} // by the number of the row in the view
	for _, s := range a.statements[:min(maxRead, len(a.statements))] {
		m, err := s.part.mention(s.n)
		if err != nil {
			return nil, err
		}
		read, stored[s.number()] = append(read, s), m
	}
	slices.SortStableFunc(read, func(a, b statement) int {
		return cmp.Or(a.compare(&b), compareMentions(stored[a.number()], stored[b.number()]))
	})
	a.statements = slices.Concat(spread(read), a.statements[len(read):])
	var best []evident
	for _, s := range a.statements[:min(most, len(read))] {
		best = append(best, evident{stored[s.number()], s})
	}
	h := x.assemble(addressID(v.ids[group]), best, &a, v, &marker{a: x.words, all: true})
	return &h, nil
}

// maxRead bounds the mentions of an address that make its Hit.
const maxRead = 20

// compareMentions orders mentions of one address on one site by what they
// prove: the higher confidence first, then the shorter URL.
func compareMentions(a, b *mention) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(len(a.URL), len(b.URL)), cmp.Compare(a.URL, b.URL))
}

// CheckFilters returns an error that wraps ErrQuery where Walk would not take
// q.
func (q Query) CheckFilters() error {
	if q.Text != "" || q.AddressOnly || q.Sort != "" || q.Cursor != "" || q.Limit != 0 || q.Points != 0 || len(q.Facets) > 0 || q.Explain || q.Center != nil && q.Radius == 0 {
		return fmt.Errorf("index: %w: a walk takes filters only: box, centre with radius, street, postcode, city, host, located, precision, level, since, in OSM, site-wide", ErrQuery)
	}
	_, err := q.check()
	return err
}
