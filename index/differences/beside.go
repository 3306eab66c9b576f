package differences

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/kind"

	"github.com/paulmach/orb"
)

const (
	maxBeside = 60  // points of interest that are compared with the hits of an answer
	around    = 200 // metres from one to a page's coordinate of the same place
	maxAround = 50  // addresses there that are compared with it
)

// A Finder finds points of interest of a map for queries to the index.
type Finder struct {
	Map    *gazetteer.Gazetteer
	Within *gazetteer.Region // nil: everywhere
	Search func(context.Context, index.Query) (*index.Result, error)
}

// Serves reports whether a place lies in the region.
func (f *Finder) Serves(p *gazetteer.Place) bool {
	return p.HasPoint && (f.Within == nil || f.Within.Has(*p))
}

// Locate finds a place of the region for index.Query: an address, else a point of interest.
func (f *Finder) Locate(text string) (at orb.Point, name string, ok bool) {
	for _, match := range f.Map.Lookup(f.Map.ParseQuery(text)) {
		if p := &match.Place; f.Serves(p) {
			return p.Point, LineOf(p), true
		}
	}
	about := index.SubjectOf(index.Query{Text: text})
	for _, p := range f.Find(gazetteer.POIQuery{Limit: 1, Fits: f.Serves}, about) {
		return p.Point, p.Names[0], true
	}
	return at, "", false
}

// LineOf writes a place as an address in one line.
func LineOf(p *gazetteer.Place) string {
	h := index.Hit{Street: p.Street, HouseNumber: p.HouseNumber, Postcode: p.Postcode, City: p.City,
		State: p.State, Country: p.Country}
	if p.Kind == gazetteer.City && len(p.Names) > 0 {
		h = index.Hit{City: p.Names[0]}
	}
	return h.Line()
}

// A Beside is what the map adds to the hits of an answer.
type Beside struct {
	Others []gazetteer.Place          // points of interest that no page states, best first
	More   int                        // further ones that are no hit
	Same   map[string]gazetteer.Place // those that a hit is, by its ID
	After  int                        // how many of the hits come before Others
}

// Beside returns the points of interest that fit a query beside its hits. The others come after the
// hits that are what the query asks for, of a kind or by name, and before those that only mention it;
// there are at most so many.
func (f *Finder) Beside(ctx context.Context, q index.Query, hits []index.Hit, most int) (b Beside) {
	if q.Cursor != "" || q.Text == "" && len(q.Kind) == 0 || onlyPages(&q) {
		return b
	}
	about := index.SubjectOf(q)
	if len(about.Words) == 0 {
		for _, name := range q.Kind {
			about.Kinds = append(about.Kinds, kind.Find(name)...)
		}
	}
	fits, err := f.Fits(&q, &about)
	if err != nil {
		return b // the search has reported it
	}
	of := gazetteer.POIQuery{Near: q.Center, Limit: maxBeside, Fits: fits}
	if about.Where != "" && of.Near == nil {
		if at, _, ok := f.Locate(about.Where); ok {
			of.Near = &at
		}
	}
	b.Same = map[string]gazetteer.Place{}
	for _, p := range f.Find(of, about) {
		i := slices.IndexFunc(hits, func(h index.Hit) bool { return Same(&p, &h) })
		if i < 0 && len(b.Others) == most {
			b.More++
		} else if i < 0 && !f.isStated(ctx, &p) {
			b.Others = append(b.Others, p)
		} else if i >= 0 && b.Same[hits[i].ID].Object == nil {
			b.Same[hits[i].ID] = p
		}
	}
	ofKind := len(about.Kinds) > 0 && (len(b.Others) == 0 || !isCalled(&b.Others[0], about.Words))
	mentions := func(h index.Hit) bool {
		_, same := b.Same[h.ID]
		tags := &gazetteer.Object{Tags: strings.Fields(h.Kind)}
		switch {
		case ofKind:
			return !same && !slices.ContainsFunc(about.Kinds, tags.Is)
		case same && len(about.Kinds) == 0:
			return false
		}
		return !gazetteer.IsNamed(append([]string{h.Name}, h.Names...), about.Words)
	}
	b.After = slices.IndexFunc(hits, mentions)
	if b.After < 0 || slices.Contains([]index.Sort{index.Newest, index.ByName, index.Importance}, q.Sort) {
		b.After = len(hits)
	}
	return b
}

// isStated reports whether an address of the index is a point of interest.
func (f *Finder) isStated(ctx context.Context, p *gazetteer.Place) bool {
	near := index.Filters{Center: &p.Point, Radius: around}
	r, err := f.Search(ctx, index.Query{Filters: near, Sort: index.Distance, Limit: maxAround})
	return err == nil && slices.ContainsFunc(r.Hits, func(h index.Hit) bool { return Same(p, &h) })
}

// onlyPages reports whether a filter asks for what only pages have.
func onlyPages(q *index.Query) bool {
	return len(q.Host) > 0 || len(q.Month) > 0 || !q.Since.IsZero() || !q.Until.IsZero() || q.SiteWide != nil ||
		q.InOSM != nil && !*q.InOSM || q.AddressOnly
}

// isCalled reports whether one of the names of a place is these words and no other.
func isCalled(p *gazetteer.Place, words []string) bool {
	whole := gazetteer.Key(strings.Join(words, ""))
	return whole != "" && slices.ContainsFunc(p.Names, func(name string) bool { return gazetteer.Key(name) == whole })
}

// Fits returns whether a point of interest fits the filters of a query about something.
func (f *Finder) Fits(q *index.Query, about *index.Subject) (func(*gazetteer.Place) bool, error) {
	fits, err := q.Fits()
	given := q.Filters
	if given.Radius == 0 {
		given.Center = nil
	}
	if reflect.ValueOf(given).IsZero() && about.Open == nil {
		return f.Serves, err // without the phones and hours of thousands of places
	}
	return func(p *gazetteer.Place) bool {
		h := HitOf(p)
		return f.Serves(p) && fits(h) && (about.Open == nil || h.OpenThen(*about.Open))
	}, err
}

// maxRead is how many points of interest are read for what is open at a time.
const maxRead = 5000

// openThen returns the first points of interest that fit, for a query that asks for nothing but a time.
func (f *Finder) openThen(q gazetteer.POIQuery) (found []gazetteer.Place) {
	read := 0
	for p := range f.Map.EachPOI() {
		read++
		if read > maxRead || len(found) == q.Limit {
			break
		}
		if q.Fits(&p) {
			found = append(found, p)
		}
	}
	return found
}

// Find looks for what is called so ("Irish Pub"), then for the kinds that the words mean; where there
// are none, for the words in names.
func (f *Finder) Find(q gazetteer.POIQuery, about index.Subject) (found []gazetteer.Place) {
	ofKind := q
	ofKind.Tags = about.Kinds
	switch {
	case len(about.Words) > 0:
	case len(about.Kinds) > 0:
		return f.Map.POIs(ofKind)
	case about.Open != nil:
		return f.openThen(q)
	default:
		return nil
	}
	q.Words = about.Words
	named := f.Map.POIs(q)
	if len(about.Kinds) == 0 {
		return named
	}
	for _, p := range named {
		if isCalled(&p, about.Words) {
			found = append(found, p)
		}
	}
	for _, p := range f.Map.POIs(ofKind) {
		if len(found) < q.Limit && !slices.ContainsFunc(found, func(o gazetteer.Place) bool { return o.ID == p.ID }) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return named
	}
	return found
}
