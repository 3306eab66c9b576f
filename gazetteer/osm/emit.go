package osm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
	"github.com/tidwall/rtree"

	"gazehound/gazetteer"
)

// finish emits the places.
func (c *collector) finish(ctx context.Context, emit func(gazetteer.Place) error) error {
	for _, err := range []error{c.err, c.houses.flush(), c.pois.flush(), c.lines.flush(), c.shapes.flush()} {
		if err != nil {
			return fmt.Errorf("osm: %w", err)
		}
	}
	for _, list := range [][]feature{c.places, c.sites} {
		for i := range list {
			c.locate(&list[i])
		}
	}
	for _, a := range c.areas {
		a.shape = c.assemble(a)
		if a.shape == nil {
			c.extract.Broken++
		}
		a.bound = a.shape.Bound()
	}
	x, err := newSurroundings(ctx, c)
	if err != nil {
		return fmt.Errorf("osm: %w", err)
	}
	send := func(p gazetteer.Place) error {
		err := emit(p)
		if errors.Is(err, gazetteer.ErrBadPlace) {
			c.extract.Refused++
			if c.options.Refuse != nil {
				c.options.Refuse(0, strings.Join([]string{p.ID, p.Street, p.HouseNumber, p.Postcode, p.City}, " "), err)
			}
			return ctx.Err()
		}
		return err
	}
	for _, step := range []func(context.Context, *surroundings, func(gazetteer.Place) error) error{c.emitAreas,
		c.emitPlaces, c.emitHouses, c.emitPOIs, c.emitInterpolations, c.emitStreets} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx, x, send); err != nil {
			return err
		}
	}
	err = c.emitShapes(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, s := range c.sites {
		if s.has && !seen[siteKey(s.names[0])] {
			seen[siteKey(s.names[0])] = true
			c.extract.Sites = append(c.extract.Sites, Site{s.names[0], s.point})
		}
	}
	return nil
}

func (f *feature) osmID() string {
	return formatID(map[byte]string{'n': "node", 'w': "way", 'r': "relation"}[f.kind], f.id)
}

// emitAreas emits outlines: of cities, postcodes, and of what is wider.
func (c *collector) emitAreas(_ context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	for _, a := range c.areas {
		if len(a.shape) == 0 {
			continue
		}
		at := a.bound.Center()
		if p, size := planar.CentroidArea(a.shape); size != 0 && planar.MultiPolygonContains(a.shape, p) {
			at = p
		}
		p := gazetteer.Place{ID: a.osmID(), Names: a.names, Point: at, HasPoint: true, Area: a.shape,
			AdminLevel: a.level, Population: a.population}
		around := x.areas.around(at)
		p.Country, p.State = x.countryOf(around, at, ""), stateOf(around)
		switch {
		case a.postal:
			if a.postcode == "" {
				continue
			}
			p.Kind, p.Postcode, p.City = gazetteer.Postcode, a.postcode, a.city
			if p.City == "" {
				p.City = most(x.byCode[a.postcode])
			}
		case len(a.names) == 0:
			continue
		case a.isCity:
			p.Kind = gazetteer.City
			if node := x.placeIn(a); node != nil {
				p.Point = node.point
				p.Population = max(p.Population, node.population)
				p.Names = append(slices.Clone(p.Names), node.names...)
			}
		default:
			p.Kind = gazetteer.Outline
		}
		if err := emit(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) emitPlaces(_ context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	for _, f := range c.places {
		around := x.areas.around(f.point)
		p := gazetteer.Place{Kind: gazetteer.City, ID: f.osmID(), Names: f.names, Point: f.point,
			HasPoint: true, Population: f.population,
			Country: x.countryOf(around, f.point, f.country), State: stateOf(around)}
		if err := emit(p); err != nil {
			return err
		}
		for code := range strings.FieldsFuncSeq(f.postcode, func(r rune) bool { return r == ',' || r == ';' }) {
			if !strings.ContainsAny(code, "0123456789") || strings.Contains(code, "-") {
				continue
			}
			q := gazetteer.Place{Kind: gazetteer.Postcode, Postcode: strings.TrimSpace(code),
				Names: f.names[:1], Country: p.Country, State: p.State}
			if err := emit(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// streetOf returns the street of a house that does not name it: that of its
// relation.
func (c *collector) streetOf(f *feature) string {
	if f.street != "" || f.number == "" {
		return f.street
	}
	if name := c.members[member{f.kind, f.id}]; name != outlineMember {
		return name
	}
	return ""
}

// besideStreet is how far, in metres, a house without addr:street may lie from the
// street that it is taken to belong to. A piece of a street between two nodes that is
// longer than longestPiece degrees is none.
const (
	besideStreet = 60
	longestPiece = 0.5
)

// A loneHouse names no street: nearest is the named highway that lies nearest to it,
// "" if none is as near as besideStreet.
type loneHouse struct {
	at      orb.Point
	nearest string
	least   float64 // distance in degrees
}

// nearestStreets returns the lone houses by their coordinates.
func (c *collector) nearestStreets(ctx context.Context) (map[orb.Point]*loneHouse, error) {
	const reach = besideStreet / 111_195.0
	lone := map[orb.Point]*loneHouse{}
	var tree rtree.RTreeG[*loneHouse]
	err := c.houses.each(ctx, func(f *feature) error {
		if f.number == "" || c.streetOf(f) != "" {
			return nil
		}
		c.locate(f)
		if f.has && lone[f.point] == nil {
			h := &loneHouse{at: f.point, least: reach}
			lone[f.point] = h
			tree.Insert(h.at, h.at, h)
		}
		return nil
	})
	if err != nil || len(lone) == 0 {
		return nil, err
	}
	return lone, c.lines.each(ctx, func(f *feature) error {
		line := c.nodes.line(f.refs)
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			box := orb.LineString{a, b}.Bound().Pad(reach / min(narrowing(a), narrowing(b)))
			if box.Max[0]-box.Min[0] > longestPiece || box.Max[1]-box.Min[1] > longestPiece {
				continue
			}
			tree.Search(box.Min, box.Max, func(_, _ [2]float64, h *loneHouse) bool {
				d := planar.DistanceFromSegment(flat(h.at, a), flat(h.at, b), orb.Point{})
				if d < h.least {
					h.nearest, h.least = f.names[0], d
				}
				return true
			})
		}
		return nil
	})
}

func (c *collector) emitHouses(ctx context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	lone, err := c.nearestStreets(ctx)
	if err != nil {
		return err
	}
	return c.houses.each(ctx, func(f *feature) error {
		c.locate(f)
		f.street = c.streetOf(f)
		if f.number != "" && f.street == "" {
			if h := lone[f.point]; f.has && h != nil {
				f.street = h.nearest
			}
			if f.street == "" {
				c.extract.NoStreet++
			}
		}
		if f.street == "" || !f.has {
			return nil
		}
		p := gazetteer.Place{Kind: gazetteer.House, ID: f.osmID(), Names: []string{f.street}, Street: f.street,
			HouseNumber: f.number, Point: f.point, HasPoint: true}
		if len(f.names) > 0 {
			p.Object = &gazetteer.Object{ID: p.ID, Names: slices.Clone(f.names), Tags: slices.Clone(f.tags)}
		}
		if f.number == "" {
			p.Kind, p.ID = gazetteer.Street, "" // the street exists, by the address of an object
		}
		x.fill(&p, f)
		return emit(p)
	})
}

// emitPOIs emits the points of interest.
func (c *collector) emitPOIs(ctx context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	return c.pois.each(ctx, func(f *feature) error {
		c.locate(f)
		f.street = c.streetOf(f)
		if !f.has {
			return nil
		}
		p := gazetteer.Place{Kind: gazetteer.POI, ID: f.osmID(), Names: slices.Clone(f.names), Street: f.street,
			HouseNumber: f.number, Point: f.point, HasPoint: true}
		p.Object = &gazetteer.Object{ID: p.ID, Names: p.Names, Tags: slices.Clone(f.tags)}
		x.fill(&p, f)
		return emit(p)
	})
}

// emitInterpolations emits a range for every stretch between two numbered
// nodes of an interpolation way.
func (c *collector) emitInterpolations(_ context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	for i := range c.interpolations {
		w := &c.interpolations[i]
		// The street is named by the way, its relation or any of its nodes.
		if name := c.members[member{'w', w.id}]; w.street == "" && name != outlineMember {
			w.street = name
		}
		for _, id := range w.refs {
			if f := c.numbered[id]; f != nil && w.street == "" {
				w.street = f.street
			}
		}
		var from *feature
		at := 0
		for j, id := range w.refs {
			to := c.numbered[id]
			if to == nil {
				continue
			}
			if from != nil {
				if p, ok := c.stretch(w, from, to, w.refs[at:j+1]); ok {
					x.fill(&p, from)
					if err := emit(p); err != nil {
						return err
					}
				}
			}
			from, at = to, j
		}
	}
	return nil
}

// stretch returns the range from one numbered node to the next.
func (c *collector) stretch(w *interpolation, from, to *feature, refs []int64) (gazetteer.Place, bool) {
	a, b := leadingNumber(from.number), leadingNumber(to.number)
	line := c.nodes.line(refs)
	street := cmp.Or(from.street, to.street, w.street)
	if a == 0 || b == 0 || street == "" || len(line) == 0 {
		return gazetteer.Place{}, false
	}
	step := w.step
	if a%2 != b%2 {
		step = 1
	}
	return gazetteer.Place{Kind: gazetteer.Street, ID: w.osmID(), Names: []string{street}, Street: street,
		Range: &gazetteer.Range{From: a, To: b, Step: step, Line: line}}, true
}

// leadingNumber returns the number that "12a" begins with, or 0.
func leadingNumber(s string) int {
	end := 0
	for end < len(s) && end < 6 && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

// emitStreets emits the named highways; ways of one name in one city and
// postcode are one street, placed on the longest of them.
func (c *collector) emitStreets(ctx context.Context, x *surroundings, emit func(gazetteer.Place) error) error {
	type longest struct {
		line   int // in the order of the spool
		length float32
	}
	streets := map[uint64]longest{}
	place := func(f *feature) gazetteer.Place {
		p := gazetteer.Place{Kind: gazetteer.Street, ID: f.osmID(), Names: f.names, Street: f.names[0],
			Point: f.point, HasPoint: true}
		x.fill(&p, f)
		return p
	}
	seed := maphash.MakeSeed()
	n := 0
	err := c.lines.each(ctx, func(f *feature) error {
		n++
		c.locate(f)
		if !f.has {
			return nil
		}
		p := place(f)
		key := maphash.String(seed, strings.Join([]string{gazetteer.StreetKey(p.Street), p.Postcode,
			gazetteer.Key(p.City), p.Country}, "\x00"))
		length := float32(geo.Length(c.nodes.line(f.refs)))
		if s, ok := streets[key]; !ok || length > s.length {
			streets[key] = longest{n, length}
		}
		return nil
	})
	if err != nil {
		return err
	}
	wanted := make(map[int]bool, len(streets))
	for _, s := range streets {
		wanted[s.line] = true
	}
	n = 0
	return c.lines.each(ctx, func(f *feature) error {
		n++
		if !wanted[n] {
			return nil
		}
		c.locate(f)
		return emit(place(f))
	})
}
