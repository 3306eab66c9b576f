package gazetteer

import (
	"fmt"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// Record returns what is written of a match in JSON, with the licence of its source.
func (m Match) Record(sources []Source) map[string]any {
	p := m.Place
	licence := ""
	for _, s := range sources {
		if s.Name == p.Source {
			licence = s.Licence
		}
	}
	o := map[string]any{"type": "place", "kind": p.Kind, "precision": m.Precision, "score": m.Score}
	for k, v := range map[string]string{"id": p.ID, "street": p.Street, "housenumber": p.HouseNumber,
		"postcode": p.Postcode, "city": p.City,
		"state": p.State, "country": p.Country, "source": p.Source, "licence": licence} {
		if v != "" {
			o[k] = v
		}
	}
	if len(p.Names) > 0 {
		o["names"] = p.Names
	}
	if p.HasPoint {
		o["lon"], o["lat"] = p.Point[0], p.Point[1]
	}
	if p.Population > 0 {
		o["population"] = p.Population
	}
	return o
}

// Line writes a place as people of its country do.
func (p Place) Line() string {
	house, city := joined(" ", p.Street, p.HouseNumber), joined(" ", p.Postcode, p.City)
	region := ""
	switch p.Country {
	case "US", "CA", "GB", "AU":
		house, city, region = joined(" ", p.HouseNumber, p.Street), p.City, joined(" ", p.State, p.Postcode)
	default:
		if p.Kind == City {
			region = p.State
		}
	}
	return joined(", ", house, city, region, p.Country)
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), sep)
}

// Describe describes a region and its location in one line.
func (r *Region) Describe() string {
	text := fmt.Sprintf("%s %q", r.ID, r.Name)
	if b := r.Bound(); len(r.Area) > 0 {
		text += fmt.Sprintf(", %.0f km², %.4f,%.4f … %.4f,%.4f", r.Km2(), b.Min[0], b.Min[1], b.Max[0], b.Max[1])
	}
	if r.Estimated {
		text += ", estimated from its postcodes and addresses"
	}
	return strings.TrimSpace(text)
}

// String lists the counts of the gazetteer, one line per kind.
func (s Stats) String() string {
	count := textutil.Count[int]
	return fmt.Sprintf("addresses  %s on %s\npostcodes  %s\ncities     %s\noutlines   %s\ncountries  %s\n",
		count(s.Houses), textutil.Several(s.Streets, "street"), count(s.Postcodes), count(s.Cities), count(s.Outlines),
		strings.Join(s.Countries, " "))
}

// String describes in one line what a source is.
func (s Source) String() string {
	return joined(", ", fmt.Sprintf("%s  %s, %s", s.Name, s.Format, textutil.Several(s.Places, "place")), s.Data,
		s.Licence, s.Attribution)
}
