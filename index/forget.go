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
)

// Forgotten counts what Forget takes out.
type Forgotten struct {
	Pages     []string // URLs of the pages that lose all of their addresses or some, in order
	Addresses int      // mentions of addresses
}

// A loss is what a page loses.
type loss struct {
	url    string
	places []string // none: all of the page
}

// Affected returns what Forget would take out, and changes nothing.
func (x *Index) Affected(ctx context.Context, page, place func(string) bool) (n Forgotten, err error) {
	_, n, err = x.losses(ctx, page, place)
	return n, err
}

func (x *Index) losses(ctx context.Context, page, place func(string) bool) (map[string]*loss, Forgotten, error) {
	losses := map[string]*loss{}
	var n Forgotten
	err := x.eachMention(ctx, func(m *mention) {
		whole := page != nil && page(m.URL)
		of := m.place()
		if !whole && (place == nil || of == "" || !place(of)) {
			return
		}
		n.Addresses++
		l := losses[m.URL]
		if l == nil {
			l = &loss{url: m.URL}
			losses[m.URL] = l
		}
		if !whole && !slices.Contains(l.places, of) {
			l.places = append(l.places, of)
		}
	})
	n.Pages = slices.Sorted(maps.Keys(losses))
	return losses, n, err
}

// Forget takes pages and addresses out of the index: all of a page whose URL
// matches, and of the other pages the mentions of the addresses whose place
// matches (see PlaceOf). Either function may be nil. It is durable like Put,
// and the files are merged afterwards, so that they hold nothing of it either.
//
// What is left of a page that lost an address is found by the words around its
// other addresses only, until the page is read again. No other write may run
// meanwhile. A killed Forget is completed by calling it again.
func (x *Index) Forget(ctx context.Context, page, place func(string) bool) (Forgotten, error) {
	if x.write == nil {
		return Forgotten{}, ErrReadOnly
	}
	losses, n, err := x.losses(ctx, page, place)
	if err != nil {
		return n, err
	}
	for _, url := range n.Pages {
		l := losses[url]
		if len(l.places) == 0 {
			if err := x.Delete(ctx, url); err != nil {
				return n, err
			}
		}
		for _, of := range l.places {
			if err := x.change(ctx, write{page: hashOf(url), without: of}, entry{URL: url, Without: of}); err != nil {
				return n, err
			}
		}
	}
	return n, x.merge(ctx)
}

// merge rewrites the files of Bleve without what was deleted.
func (x *Index) merge(ctx context.Context) error {
	if err := x.queue.settle(); err != nil {
		return err
	}
	advanced, err := x.bleve.Advanced()
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	s, ok := advanced.(*scorch.Scorch)
	if !ok {
		return errors.New("index: not a scorch index")
	}
	if err := s.ForceMerge(ctx, nil); err != nil {
		return fmt.Errorf("index: merge: %w", err)
	}
	// Bleve removes old states, and then the files of no state, whenever it has
	// stored a new one.
	for range 3 {
		if err := errors.Join(x.refresh(), x.touch()); err != nil {
			return err
		}
	}
	return x.refresh()
}

// touch stores a new generation of the same data.
func (x *Index) touch() error {
	n, at, err := generationOf(x.bleve)
	if err != nil {
		return err
	}
	batch := x.bleve.NewBatch()
	batch.SetInternal(generationKey, encodeGeneration(n+1, at))
	if err := x.bleve.Batch(batch); err != nil {
		return fmt.Errorf("index: write: %w", err)
	}
	return nil
}

// eachMention calls fn with every mention of one state of the data.
func (x *Index) eachMention(ctx context.Context, fn func(*mention)) error {
	v, err := x.see()
	if err != nil {
		return err
	}
	defer v.release()
	for i := range v.parts {
		p := &v.parts[i]
		for number := range p.all {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("index: %w", err)
			}
			if !p.live(uint32(number)) {
				continue
			}
			m, err := p.mention(uint32(number))
			if err != nil {
				return err
			}
			fn(m)
		}
	}
	return nil
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
	return hashOf(strings.Join([]string{"place", p.Street, p.Number, cmp.Or(strings.ToLower(p.Postcode), p.City)}, "\x1f"))
}

func (m *mention) place() string { return PlaceOf(m.Street, m.Number, m.Code, m.City) }

// others returns the mentions that are not at this place.
func others(old []*mention, place string) []*mention {
	var left []*mention
	for _, m := range old {
		if m.place() != place {
			m.host = hostOf(m.URL)
			m.site = siteOf(m.host)
			left = append(left, m)
		}
	}
	return left
}
