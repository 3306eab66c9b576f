package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Walk hands every address that fits q to fn, in the order of their IDs, out
// of one state of the data: later writes are not seen. Only the filters of q
// may be set: Box, Center with Radius, Street, Postcode, City, Host, Kind, Located,
// Precision, Level, Since, Until and InOSM. An
// address fits when one of its mentions fits all of them, as with Search.
//
// Other than with Search all mentions of an address are read: its evidence
// are those with the highest confidence, and nothing depends on how the data
// came to lie on the disk. Memory is that of one address. The Hit is fn's to
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
	if f := x.table.filterOf(q); !f.none {
		v.each(func(_ *part, _ uint32, r *row) { fits[r.group] = fits[r.group] || f.fits(r) })
	}
	var groups []uint32
	for n, fits := range fits {
		if fits && addressID(v.ids[n]) > after {
			groups = append(groups, uint32(n))
		}
	}
	slices.SortFunc(groups, func(a, b uint32) int { return cmp.Compare(v.ids[a], v.ids[b]) })
	for _, n := range groups {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		h, err := x.address(v, n)
		if err != nil {
			return err
		}
		if h.FirstSeen.Before(q.Since) || !q.Until.IsZero() && h.FirstSeen.After(q.Until) {
			continue
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

// Address returns the address with this ID as Walk does; nil where there is
// none.
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
	return x.address(v, n)
}

// address reads all mentions of an address; it is nil where there are none any
// more.
func (x *Index) address(v *view, group uint32) (*Hit, error) {
	var best []*mention // in the order of compareMentions, at most maxRead
	n := 0
	names := map[uint32]int{}
	first, last := int64(math.MaxInt64), int64(0)
	for i := range v.parts {
		p := &v.parts[i]
		for _, number := range p.of(group) {
			if !p.live(number) {
				continue
			}
			m, err := p.mention(number)
			if err != nil {
				return nil, err
			}
			n++
			names[p.all[number].name]++
			first, last = min(first, m.First), max(last, m.Fetched)
			at, _ := slices.BinarySearchFunc(best, m, compareMentions)
			if at == maxRead {
				continue
			}
			if len(best) == maxRead {
				best = best[:maxRead-1]
			}
			best = slices.Insert(best, at, m)
		}
	}
	if n == 0 {
		return nil, nil
	}
	h := x.assemble(addressID(v.ids[group]), best, n, x.words.newMarker(nil))
	h.FirstSeen, h.LastSeen = time.Unix(first, 0).UTC(), time.Unix(last, 0).UTC()
	h.SiteWide, h.Kind = v.siteWide(group, n), kindName(v.summaries()[group].kind)
	if number, ok := majority(names, v.texts); ok {
		h.Name = v.texts[number].shown
	}
	return &h, nil
}

// maxRead bounds the mentions of an address that make its Hit.
const maxRead = 20

// compareMentions orders mentions of one address by what they prove: the
// higher confidence first, then the shorter URL.
func compareMentions(a, b *mention) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(len(a.URL), len(b.URL)), cmp.Compare(a.URL, b.URL))
}

// CheckFilters returns an error that wraps ErrQuery where Walk would not take
// q.
func (q Query) CheckFilters() error {
	if q.Text != "" || q.AddressOnly || q.Sort != "" || q.Cursor != "" || q.Limit != 0 || q.Points != 0 || len(q.Facets) > 0 || q.Explain || q.Center != nil && q.Radius == 0 {
		return fmt.Errorf("index: %w: a walk takes filters only: box, centre with radius, street, postcode, city, host, located, precision, level, since, in OSM", ErrQuery)
	}
	_, err := q.check()
	return err
}
