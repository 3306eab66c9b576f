package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"

	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// Walk hands every address that fits q to fn, in the order of their IDs, out
// of one state of the data: later writes are not seen. Only the filters of q
// may be set: Box, Center with Radius, Street, Postcode, Host and Located. An
// address fits when one of its mentions fits all of them, as with Search.
//
// Other than with Search all mentions of an address are read: its evidence
// are those with the highest confidence, and nothing depends on how the data
// came to lie on the disk. Memory is that of one address. The Hit is fn's to
// keep; an error of fn ends the walk and is returned.
func (x *Index) Walk(ctx context.Context, q Query, fn func(*Hit) error) error {
	if err := q.CheckFilters(); err != nil {
		return err
	}
	return x.read(func(r bleveindex.IndexReader) error {
		ids, err := r.FieldDict(fieldAddress) // sorted
		if err != nil {
			return fmt.Errorf("index: %w", err)
		}
		defer ids.Close()
		fits := q.filter()
		for {
			entry, err := ids.Next()
			if err != nil {
				return fmt.Errorf("index: %w", err)
			}
			if entry == nil {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("index: %w", err)
			}
			h, err := x.address(r, entry.Term, fits)
			if err != nil {
				return err
			}
			if h == nil {
				continue
			}
			if err := fn(h); err != nil {
				return err
			}
		}
	})
}

// Address returns the address with this ID as Walk does; nil where there is
// none.
func (x *Index) Address(id string) (h *Hit, err error) {
	err = x.read(func(r bleveindex.IndexReader) error {
		h, err = x.address(r, id, func(*mention) bool { return true })
		return err
	})
	return h, err
}

// read calls fn with a view of the data as it is now; not at all where there
// is no data yet.
func (x *Index) read(fn func(bleveindex.IndexReader) error) error {
	if x.bleve == nil {
		return nil
	}
	x.closing.RLock()
	if x.closed {
		x.closing.RUnlock()
		return ErrClosed
	}
	r, err := readerOf(x.bleve) // it outlives Close
	x.closing.RUnlock()
	if err != nil {
		return err
	}
	defer r.Close()
	return fn(r)
}

// address reads all mentions of an address. It is nil where none of them fits;
// an ID may outlive its mentions until Bleve merges.
func (x *Index) address(r bleveindex.IndexReader, id string, fits func(*mention) bool) (*Hit, error) {
	postings, err := r.TermFieldReader(context.Background(), []byte(id), fieldAddress, false, false, false)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	defer postings.Close()
	var best []*mention // in the order of compareMentions, at most maxRead
	n, fit := 0, false
	var first, last int64
	for {
		p, err := postings.Next(nil)
		if err != nil {
			return nil, fmt.Errorf("index: %w", err)
		}
		if p == nil {
			break
		}
		m, err := load(r, p.ID)
		if err != nil {
			return nil, err
		}
		if n++; n == 1 {
			first, last = m.First, m.Fetched
		}
		first, last = min(first, m.First), max(last, m.Fetched)
		fit = fit || fits(m)
		at, _ := slices.BinarySearchFunc(best, m, compareMentions)
		if at == maxRead {
			continue
		}
		if len(best) == maxRead {
			best = best[:maxRead-1]
		}
		best = slices.Insert(best, at, m)
	}
	if !fit {
		return nil, nil
	}
	h := x.assemble(id, best, n, nil)
	h.FirstSeen, h.LastSeen = time.Unix(first, 0).UTC(), time.Unix(last, 0).UTC()
	return &h, nil
}

// compareMentions orders mentions of one address by what they prove: the
// higher confidence first, then the shorter URL.
func compareMentions(a, b *mention) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(len(a.URL), len(b.URL)), cmp.Compare(a.URL, b.URL))
}

// CheckFilters returns an error that wraps ErrQuery where Walk would not take
// q.
func (q Query) CheckFilters() error {
	if q.Text != "" || q.Sort != "" || q.Cursor != "" || q.Limit != 0 || q.Points != 0 || q.Center != nil && q.Radius == 0 {
		return fmt.Errorf("index: %w: a walk takes filters only: box, centre with radius, street, postcode, host, located", ErrQuery)
	}
	_, err := q.check()
	return err
}

// filter tells of single mentions what filtersOf asks of Bleve.
func (q Query) filter() func(*mention) bool {
	street, code := gazetteer.StreetKey(q.Street), gazetteer.Key(q.Postcode)
	host := strings.TrimSuffix(strings.ToLower(q.Host), ".")
	return func(m *mention) bool {
		at := orb.Point(m.Point)
		switch {
		case (q.Located || q.Box != nil || q.Center != nil) && !m.HasPoint,
			q.Box != nil && !inBox(*q.Box, at),
			q.Center != nil && geo.DistanceHaversine(*q.Center, at) > q.Radius,
			q.Street != "" && gazetteer.StreetKey(m.Street) != street,
			q.Postcode != "" && gazetteer.Key(m.Code) != code:
			return false
		}
		if q.Host != "" {
			of := hostOf(m.URL)
			return of == host || siteOf(of) == host
		}
		return true
	}
}

// inBox tells whether a point lies in a box, which crosses the antimeridian
// where its Min is east of its Max.
func inBox(b orb.Bound, p orb.Point) bool {
	if p[1] < b.Min[1] || p[1] > b.Max[1] {
		return false
	}
	if b.Min[0] > b.Max[0] {
		return p[0] >= b.Min[0] || p[0] <= b.Max[0]
	}
	return b.Min[0] <= p[0] && p[0] <= b.Max[0]
}
