package differences

import (
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
	"github.com/paulmach/orb/geo"
)

// HitOf returns a point of interest of the map as a hit without pages.
func HitOf(p *gazetteer.Place) *index.Hit {
	h := &index.Hit{Name: p.Names[0], Names: p.Names[1:], Street: p.Street, HouseNumber: p.HouseNumber,
		Postcode: p.Postcode, City: p.City, State: p.State, Country: p.Country, Kind: kindOf(p.Object),
		HasPoint: true, Point: p.Point, Precision: gazetteer.HousePrecision.String(), Place: p.ID, Distance: -1,
		Object: p.ID, Tags: strings.Join(p.Object.Tags, ";"), Website: tagOf(p.Object, "website", "contact:website"),
		Evidence: []index.Evidence{{URL: export.ObjectURL(p.ID, p.Point)}},
		Hours:    index.ReadHours(p.Object.Tag("opening_hours"))}
	if all := phonesOf(p); len(all) > 0 {
		h.Phone = all[0]
	}
	return h
}

// tagOf returns the value of the first of some tags that an object has, or "".
func tagOf(o *gazetteer.Object, keys ...string) string {
	for _, key := range keys {
		if value := o.Tag(key); value != "" {
			return value
		}
	}
	return ""
}

// phonesOf returns the telephone numbers of a point of interest in E.164.
func phonesOf(p *gazetteer.Place) (all []string) {
	for _, key := range []string{"phone", "contact:phone"} {
		for text := range strings.SplitSeq(p.Object.Tag(key), ";") {
			n, err := phonenumbers.Parse(text, p.Country)
			if err == nil && phonenumbers.IsValidNumber(n) {
				all = append(all, phonenumbers.Format(n, phonenumbers.E164))
			}
		}
	}
	return all
}

// kindOf returns the kind of an object with the most tags, or "".
func kindOf(o *gazetteer.Object) (best string) {
	for _, tag := range o.Tags {
		if key, _, _ := strings.Cut(tag, "="); !gazetteer.IsPOIKey(key) || kind.Find(tag) == nil {
			continue
		}
		best = tag
		if strings.Contains(best, "=") {
			break
		}
	}
	if cuisine := o.Tag("cuisine"); best != "" && cuisine != "" {
		if narrow := best + " cuisine=" + cuisine; kind.Find(narrow) != nil {
			return narrow
		}
	}
	return best
}

// How far a hit and a point of interest of one place may be apart, in metres.
const (
	sameDoor  = 40  // with names that are alike
	sameBlock = 150 // with one name: large buildings have their point in the middle
	sameLane  = 500 // with one name, if neither has a house: a street has its point in the middle
)

// Same reports whether a hit is a point of interest: at the same door, with the same name or kind.
func Same(p *gazetteer.Place, h *index.Hit) bool {
	switch {
	case h.Object == p.ID || h.Place == p.ID && h.Name == "":
		return true
	case named(p, h) > unlike:
		return true
	}
	return h.Kind != "" && AtDoor(p, h) && p.Object.Is(kind.Main(h.Kind))
}

// AtDoor reports whether a hit has the address of a place.
func AtDoor(p *gazetteer.Place, h *index.Hit) bool {
	return gazetteer.StreetKey(p.Street) == gazetteer.StreetKey(h.Street) && p.Street != "" &&
		gazetteer.NumberKey(p.HouseNumber) == gazetteer.NumberKey(h.HouseNumber) &&
		(p.Postcode == "" || h.Postcode == "" || gazetteer.Key(p.Postcode) == gazetteer.Key(h.Postcode))
}

// A likeness is how much two names are alike.
type likeness uint8

const (
	unlike likeness = iota
	partly          // one is in the other: "Rathaus-Apotheke" and "Apotheke"
	alike           // the same words but for legal form and town
	equal
)

// likenessOf compares the names of a hit with those of a place.
func likenessOf(p *gazetteer.Place, names ...string) (best likeness) {
	for _, name := range names {
		key := gazetteer.Key(name)
		for _, other := range p.Names {
			o := gazetteer.Key(other)
			switch {
			case key == "" || o == "":
			case key == o:
				return equal
			case best < alike && index.SameName(name, other, p.City):
				best = alike
			case best < partly && (strings.Contains(key, o) || strings.Contains(o, key)):
				best = partly
			}
		}
	}
	return best
}

// named returns how much a hit has the name of a place that is near its door; unlike where it is
// another place.
func named(p *gazetteer.Place, h *index.Hit) likeness {
	door, away := AtDoor(p, h), geo.Distance(p.Point, h.Point)
	house := h.HasPoint && h.Precision == gazetteer.HousePrecision.String()
	inStreet := p.Street != "" && gazetteer.StreetKey(p.Street) == gazetteer.StreetKey(h.Street) &&
		(p.HouseNumber == "" || h.HouseNumber == "")
	reach := reachOf(p, h)
	if !door && !inStreet && (!h.HasPoint || away > reach) {
		return unlike
	}
	found := max(likenessOf(p, h.Name), min(alike, likenessOf(p, h.Names...)))
	switch {
	case found == partly && (rivals(p, h) || !door && (!house || away > sameDoor)):
		return unlike
	case found == alike && rivals(p, h) && !door:
		return unlike
	case !door && !inStreet && away > sameDoor && (found < alike || rivals(p, h)):
		return unlike
	}
	return found
}

// reachOf returns how far from a place its hit may lie, in metres.
func reachOf(p *gazetteer.Place, h *index.Hit) float64 {
	switch {
	case h.Precision == gazetteer.HousePrecision.String():
		return sameBlock
	case p.Street != "" && p.HouseNumber != "":
		return 0 // both have an address
	case h.Precision == gazetteer.StreetPrecision.String():
		return sameLane
	case h.Precision == gazetteer.InterpolatedPrecision.String():
		return sameBlock
	}
	return 0
}

// rivals reports whether a hit and a place are of kinds that are not the same place's.
func rivals(p *gazetteer.Place, h *index.Hit) bool {
	of := kindOf(p.Object)
	return h.Kind != "" && of != "" && !p.Object.Is(kind.Main(h.Kind)) && !slices.Contains(kind.Alike(h.Kind), kind.Main(of))
}
