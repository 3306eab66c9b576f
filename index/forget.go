package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/geoparse"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"golang.org/x/sync/errgroup"
)

// Forgotten counts what Forget takes out.
type Forgotten struct {
	Pages     []string // URLs of the pages that lose all of their addresses or some, in order
	Addresses int      // mentions of addresses
	Texts     []string // of the addresses by place: how they are written, telephones, e-mail addresses, persons
}

// A loss is what a page loses.
type loss struct {
	whole     bool
	addresses []string // IDs; nil where whole
}

// Affected returns what Forget would take out, and changes nothing.
func (x *Index) Affected(ctx context.Context, page, place func(string) bool) (n Forgotten, err error) {
	_, n, err = x.losses(ctx, page, place)
	return n, err
}

func (x *Index) losses(ctx context.Context, page, place func(string) bool) (map[string]*loss, Forgotten, error) {
	gone := map[string]bool{} // addresses
	var n Forgotten
	if place != nil {
		err := x.eachRecord(ctx, func(r *record) {
			gone[r.id] = slices.ContainsFunc(r.Mentions, func(m *mention) bool {
				of := m.place()
				return of != "" && place(of)
			})
			if !gone[r.id] {
				return
			}
			for _, m := range r.Mentions {
				n.Texts = append(n.Texts, m.Near[m.Start:m.End], m.Phone, m.Email)
				if m.Person {
					n.Texts = append(n.Texts, m.Name)
				}
			}
		})
		if err != nil {
			return nil, Forgotten{}, err
		}
		slices.Sort(n.Texts)
		n.Texts = slices.Compact(n.Texts)
	}
	losses := map[string]*loss{}
	err := x.eachPage(ctx, func(p *pageRecord) {
		if page != nil && page(p.URL) {
			losses[p.URL] = &loss{whole: true}
			n.Addresses += len(p.States)
			return
		}
		var lost []string
		for _, id := range p.States {
			if gone[id] {
				lost = append(lost, id)
			}
		}
		if len(lost) > 0 {
			losses[p.URL] = &loss{addresses: lost}
			n.Addresses += len(lost)
		}
	})
	n.Pages = slices.Sorted(maps.Keys(losses))
	return losses, n, err
}

// eachRecord calls fn with all that is stored of addresses.
func (x *Index) eachRecord(ctx context.Context, fn func(r *record)) error {
	return x.eachStored(ctx, typeAddress, func(id, stored string) error {
		r, err := decodeRecord(id, stored)
		if err == nil {
			fn(r)
		}
		return err
	})
}

// Forget takes pages and addresses out of the index: all of a page whose URL
// matches, and of the other pages the addresses whose place matches (see
// PlaceOf), and texts beside the others that match. Functions may be nil. It is
// durable like Put, and the files are merged afterwards, so that they hold nothing
// of it either.
//
// What is left of a page that lost an address is found by the words around its
// other addresses only, until the page is read again. No other write may run
// meanwhile. A killed Forget is completed by calling it again.
func (x *Index) Forget(ctx context.Context, page, place, text func(string) bool) (Forgotten, error) {
	if x.writes == nil {
		return Forgotten{}, ErrReadOnly
	}
	losses, n, err := x.losses(ctx, page, place)
	if err != nil {
		return n, err
	}
	if text != nil {
		if err := x.eachRecord(ctx, func(r *record) { r.saying(text, losses) }); err != nil {
			return n, err
		}
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(maxBatch)
	for url, l := range losses {
		work.Go(func() error { return x.change(ctx, change{url: url, without: l.addresses, says: text}) })
	}
	if err := work.Wait(); err != nil {
		return n, err
	}
	return n, x.merge(context.WithoutCancel(ctx))
}

// saying adds the pages to losses whose words beside the address match.
func (r *record) saying(text func(string) bool, losses map[string]*loss) {
	for _, m := range r.Mentions {
		says := text(m.Near)
		for _, t := range m.texts() {
			says = says || text(*t)
		}
		if says && losses[m.URL] == nil {
			losses[m.URL] = &loss{addresses: []string{}}
		}
	}
}

// merge rewrites the files of Bleve without what was deleted.
func (x *Index) merge(ctx context.Context) error {
	done, err := x.use()
	if err != nil {
		return err
	}
	defer done()
	advanced, err := x.bleve.Advanced()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return fmt.Errorf("index: %T cannot be merged", advanced)
	}
	// Bleve merges two segments or more. A page that is written again makes one.
	if err := x.touch(ctx); err != nil {
		return err
	}
	if err := s.ForceMerge(ctx, nil); err != nil {
		return fmt.Errorf("index: merge: %w", err)
	}
	// Bleve removes old states, and then the files of no state, whenever it has
	// stored a new one.
	for range 6 {
		r, err := x.reader()
		if err != nil {
			return err
		}
		err = x.store(newCommit(r))
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// touch writes one page again as it is, if there is any.
func (x *Index) touch(ctx context.Context) error {
	var any *pageRecord
	if err := x.eachPage(ctx, func(p *pageRecord) { any = p }); err != nil || any == nil {
		return err
	}
	r, err := x.reader()
	if err != nil {
		return err
	}
	defer r.Close()
	c := newCommit(r)
	if _, err := c.page(any.URL); err != nil {
		return err
	}
	c.changed[pageID(any.URL)] = true
	return x.store(c)
}

// Place returns the identity of a wherever it is stated, see PlaceOf.
func Place(a geoparse.Address) string {
	p := a.Parts()
	return PlaceOf(p.Street, p.Number, p.Postcode, p.City)
}

// Places returns Place of a, with and without its postcode: what was stated
// without one is known by its city.
func Places(a geoparse.Address) []string {
	p := a.Parts()
	places := []string{PlaceOf(p.Street, p.Number, p.Postcode, p.City)}
	if other := PlaceOf(p.Street, p.Number, "", p.City); p.City != "" && other != places[0] {
		places = append(places, other)
	}
	return places
}

// PlaceOf returns the identity of an address wherever it is stated: 16
// hexadecimal digits, or "" where no street is named. The house number, where
// there is one, belongs to it.
func PlaceOf(street, number, postcode, city string) string {
	if street == "" {
		return ""
	}
	p := geoparse.Parts{Street: street, Number: number, Postcode: postcode, City: city}.Folded()
	parts := []string{"place", p.Street, p.Number, cmp.Or(strings.ToLower(p.Postcode), p.City)}
	return hashOf(strings.Join(parts, "\x1f"))
}

func (m *mention) place() string { return PlaceOf(m.Street, m.Number, m.Code, m.City) }
