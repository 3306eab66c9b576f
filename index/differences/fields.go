package differences

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"gazehound/gazetteer"
	"gazehound/geoparse/hours"
	"gazehound/index"
	"gazehound/index/export"
	"gazehound/internal/kind"
)

// trust is how sure it is what pages state of a place: less so where only lists of others do.
func trust(h *index.Hit) float64 {
	switch {
	case h.Own() && !h.Directory:
		return h.Confidence
	case h.Hosts > 1:
		return 0.9 * h.Confidence
	}
	return 0.75 * h.Confidence
}

// addMissing adds a place that the map lacks. What lies nowhere exactly may as well be there.
func (c *Comparison) addMissing(h *index.Hit) {
	sure := trust(h)
	switch h.Precision {
	case gazetteer.HousePrecision.String():
	case gazetteer.InterpolatedPrecision.String():
		sure *= 0.9
	case gazetteer.StreetPrecision.String():
		sure *= 0.7
	default:
		return
	}
	if h.Kind == "" {
		sure *= 0.7
	}
	c.add(Difference{Kind: Missing, Hit: h, Web: h.Line(), Confidence: sure, Set: export.OSMTags(h, true)})
}

// addMoved adds a place of the map that pages state elsewhere.
func (c *Comparison) addMoved(p *mapped, h *index.Hit, sure float64) {
	d := Difference{Kind: Moved, Hit: h, Place: &p.place, Web: h.Line(),
		Map: HitOf(&p.place).Line(), Confidence: sure * trust(h)}
	for _, tag := range export.OSMTags(h, false) {
		if strings.HasPrefix(tag[0], "addr:") {
			d.Set = append(d.Set, tag)
		}
	}
	c.add(d)
}

// addLeft adds a place of the map of which a page says that it has closed for good, or that it is
// elsewhere now, where is not known.
func (c *Comparison) addLeft(p *mapped) {
	d := Difference{Kind: Moved, Hit: p.left, Place: &p.place, Web: p.left.StatusWords, Map: HitOf(&p.place).Line(),
		Evidence: p.left.StatusPage, Confidence: 0.9 * trust(p.left)}
	if p.left.Status == "closed" {
		d.Kind = Closed
	}
	if p.best != nil {
		d.Confidence *= 0.7 // other pages state it as if nothing had happened
	}
	c.add(d)
}

// isExpected reports whether a place is of a sort that has pages: no memorial and no station.
func isExpected(p *gazetteer.Place) bool {
	return slices.ContainsFunc(p.Object.Tags, func(tag string) bool {
		key, value, _ := strings.Cut(tag, "=")
		switch key {
		case "shop", "office", "craft", "healthcare", "club":
			return value != "vacant"
		case "amenity", "tourism", "leisure":
			return !unstated[value]
		}
		return false
	})
}

// unstated are things of the map whose names hardly any page states with an address.
var unstated = func() map[string]bool {
	all := map[string]bool{}
	for value := range strings.FieldsSeq(`parking parking_space parking_entrance bicycle_parking motorcycle_parking
		bench shelter waste_basket recycling post_box telephone vending_machine charging_station atm fountain
		drinking_water toilets clock hunting_stand grit_bin taxi bicycle_rental car_sharing information artwork
		viewpoint picnic_site attraction playground park garden pitch track nature_reserve slipway common
		bandstand picnic_table outdoor_seating loading_dock`) {
		all[value] = true
	}
	return all
}()

// addNotFound adds a place of the map that no page states. That is weak evidence; it is stronger
// where pages state what else is at the door.
func (c *Comparison) addNotFound(p *mapped, m *matcher) {
	sure := 0.2
	if p.place.Street != "" && p.place.HouseNumber != "" {
		for _, n := range m.atDoor[doorOf(p.place.Street, p.place.HouseNumber)] {
			if m.mapped[n].best != nil {
				sure = 0.4
			}
		}
	}
	c.add(Difference{Kind: NotFound, Place: &p.place, Map: HitOf(&p.place).Line(), Confidence: sure})
}

// addFields adds what differs between a place and what pages state of it.
func (c *Comparison) addFields(p *mapped) {
	h, o := p.best, p.place.Object
	like := named(&p.place, h)
	sure := trust(h) * map[likeness]float64{unlike: 0.5, partly: 0.7, alike: 0.95, equal: 1}[like]
	differing := func(k Kind, web, onMap string, factor float64, set ...string) Difference {
		d := Difference{Kind: k, Hit: h, Place: &p.place, Web: web, Map: onMap, Confidence: sure * factor}
		if slices.Contains(h.Differs, string(k)) {
			d.Confidence *= 0.6
		}
		for i := 0; i < len(set); i += 2 {
			d.Set = append(d.Set, [2]string{set[i], set[i+1]})
		}
		return d
	}
	if like == unlike {
		factor := 1.0
		if p.contacts(h) > 0 {
			factor = 1.6
		}
		c.add(differing(Name, h.Name, p.place.Names[0], factor, "name", h.Name))
	}
	said := *h
	said.Kind = cmp.Or(h.StatedKind, h.Kind)
	if rivals(&p.place, &said) {
		key, value, _ := strings.Cut(kind.Main(said.Kind), "=")
		d := differing(OtherKind, kind.Main(said.Kind), kind.Main(kindOf(o)), 0.7, key, value)
		if old := kind.Key(kindOf(o)); old != key {
			d.Unset = []string{old}
		}
		c.add(d)
	}
	if h.Phone != "" && !slices.Contains(p.phones, h.Phone) {
		phone := export.OSMPhone(h.Phone)
		c.add(differing(Phone, phone, tagOf(o, "phone", "contact:phone"), 1, keyFor(o, "phone"), phone))
	}
	if site := export.OwnWebsite(h); site != "" && siteOf(site) != p.site {
		c.add(differing(Website, site, tagOf(o, "website", "contact:website"), 1, keyFor(o, "website"), site))
	}
	if hours := o.Tag("opening_hours"); h.Hours != "" && hoursDiffer(h.Hours, hours) {
		c.add(differing(Hours, h.Hours, hours, 1, "opening_hours", h.Hours))
	}
}

// keyFor returns the key that an object uses for a contact: "contact:phone" where it has that one.
func keyFor(o *gazetteer.Object, key string) string {
	if o.Tag(key) == "" && o.Tag("contact:"+key) != "" {
		return "contact:" + key
	}
	return key
}

// hoursDiffer reports whether a place is open at other times of the week by the web than by the
// map. Hours of the map that nobody can read do not differ.
func hoursDiffer(web, onMap string) bool {
	if onMap == "" {
		return true
	}
	read := index.ReadHours(onMap)
	return read != "" && !maps.Equal(openMinutes(web), openMinutes(read))
}

// openMinutes returns the spans of a week in which a place is open; public holidays do not count,
// which pages seldom mention.
func openMinutes(osm string) map[hours.Opening]bool {
	all := map[hours.Opening]bool{}
	for _, o := range hours.Week(osm) {
		if o.Day != hours.Holidays {
			all[o] = true
		}
	}
	return all
}
