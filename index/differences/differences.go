// Package differences compares what web pages state with the named places of OpenStreetMap, place
// by place: which the map lacks, which no page states, which have moved or closed, and whose name,
// phone, web site, opening hours or kind are not the same. Start with Compare; the command, the API
// and the page show what a Comparison selects.
package differences

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
)

// A Kind is a way in which the web and the map differ.
type Kind string

// The kinds, in the order in which they are listed.
const (
	Missing   Kind = "missing"       // pages state a place that the map lacks
	Moved     Kind = "moved"         // pages state a place of the map at another address
	Closed    Kind = "closed"        // a page says that a place of the map has closed for good
	Name      Kind = "name"          // another name at the same door
	OtherKind Kind = "kind"          // another kind of place
	Phone     Kind = "phone"         // another phone, or one that the map lacks; so the next two
	Website   Kind = "website"       //
	Hours     Kind = "opening_hours" //
	NotFound  Kind = "not_found"     // no page states a place of the map
)

// Kinds are all of them, in their order.
var Kinds = []Kind{Missing, Moved, Closed, Name, OtherKind, Phone, Website, Hours, NotFound}

// IsTags reports whether tags of the map's object are all that differs.
func (k Kind) IsTags() bool {
	return slices.Contains([]Kind{Name, OtherKind, Phone, Website, Hours}, k)
}

// A Difference is one thing that the web and the map do not agree about.
type Difference struct {
	ID         string // 16 hexadecimal digits, the same for the same difference
	Kind       Kind
	Hit        *index.Hit       // what pages state; nil for NotFound
	Place      *gazetteer.Place // what the map has, with its Object; nil for Missing
	Web, Map   string           // the two values: addresses, names, phones …; "": none
	Evidence   *index.Evidence  // the page that says so, with its words; nil for NotFound
	Confidence float64          // 0 to 1

	Set   [][2]string // tags that the object would have, by key
	Unset []string    // keys of tags that it would no longer have
}

// A Comparison is what one state of an index and a map differ in.
type Comparison struct {
	All    []Difference // by kind, then the surest first
	Stated int          // places that pages state
	Mapped int          // places of the map that were looked for
	Same   int          // of these, found at their door
}

// Bounds of a comparison.
const (
	maxMapped      = 1_000_000 // places of the map
	maxDifferences = 500_000
)

// ErrTooMany means that a region is too large to be compared.
var ErrTooMany = errors.New("too many places to compare")

// A Source has addresses: an index.Index, or several as one.
type Source interface {
	WalkNames(ctx context.Context, fn func(*index.Hit) error) error
}

// Compare compares all that x has with the places of the map that lie in a region; nil: all of
// them. It holds the places of the map and what pages state of those that differ in memory, about
// 1 kB each. The error wraps ErrTooMany above a million of them.
//
// What pages no longer state does not count, nor do homes of private persons.
func Compare(ctx context.Context, x Source, g *gazetteer.Gazetteer, within *gazetteer.Region) (*Comparison, error) {
	m := newMatcher()
	for p := range g.EachPOI() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if within != nil && !within.Has(p) {
			continue
		}
		if len(m.mapped) == maxMapped {
			return nil, tooMany("the map has more than %d places here", maxMapped)
		}
		m.addPlace(p)
	}
	err := x.WalkNames(ctx, func(h *index.Hit) error {
		for _, one := range append([]index.Hit{*h}, h.Others...) {
			m.addHit(one)
		}
		if len(m.rest) > maxDifferences {
			return tooMany("pages state more than %d places that the map lacks", maxDifferences)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.comparison(), nil
}

func tooMany(format string, args ...any) error {
	return fmt.Errorf("%w: %s. Take a smaller region", ErrTooMany, fmt.Sprintf(format, args...))
}

// A Filter selects differences; the zero Filter selects all.
type Filter struct {
	index.Filters
	Kinds         []Kind  // nil: all
	MinConfidence float64 // 0 to 1
}

// Select returns the differences that fit a filter, in their order, and how many of each kind fit
// it whatever its Kinds are. The error wraps index.ErrQuery.
func (c *Comparison) Select(f Filter) (some []*Difference, counts map[Kind]int, err error) {
	fits, err := f.Fits()
	if err != nil {
		return nil, nil, err
	}
	counts = map[Kind]int{}
	for i := range c.All {
		d := &c.All[i]
		web, onMap := d.Hit != nil && fits(d.Hit), d.Place != nil && fits(HitOf(d.Place))
		if d.Confidence < f.MinConfidence || !web && !onMap {
			continue
		}
		counts[d.Kind]++
		if len(f.Kinds) == 0 || slices.Contains(f.Kinds, d.Kind) {
			some = append(some, d)
		}
	}
	return some, counts, nil
}

// add adds a difference.
func (c *Comparison) add(d Difference) {
	id, object := "", ""
	if d.Hit != nil {
		id = d.Hit.ID + "\x1f" + gazetteer.Key(d.Hit.Name)
		d.Evidence = cmp.Or(d.Evidence, &d.Hit.Evidence[0])
	}
	if d.Place != nil {
		object = d.Place.ID
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{string(d.Kind), id, object}, "\x1f")))
	d.ID, d.Confidence = hex.EncodeToString(sum[:8]), export.Round(max(0, min(1, d.Confidence)), 2)
	slices.SortFunc(d.Set, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	c.All = append(c.All, d)
}

// sort orders the differences.
func (c *Comparison) sort() {
	slices.SortFunc(c.All, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
			cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.ID, b.ID))
	})
}

// Label names the place of a difference.
func (d *Difference) Label() string {
	switch {
	case d.Hit != nil && d.Hit.Name != "":
		return d.Hit.Name
	case d.Place != nil:
		return d.Place.Names[0]
	}
	return d.Hit.Site
}

// At returns the hit that has the place of a difference: that of the map, unless it is elsewhere.
func (d *Difference) At() *index.Hit {
	if d.Place == nil || d.Kind == Moved && d.Hit.HasPoint {
		return d.Hit
	}
	return HitOf(d.Place)
}

// Address returns the address of a difference in one line: that of pages where the map has no street.
func (d *Difference) Address() string {
	if at := d.At(); at.Street != "" || d.Hit == nil {
		return at.Line()
	}
	return d.Hit.Line()
}
