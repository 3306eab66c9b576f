package index

import (
	"cmp"
	"slices"

	"gazehound/geoparse/hours"
	"gazehound/geoparse/place"
)

// The contacts of a hit: their names in Hit.Differs, and their fields in Hit and mention.
var contacts = []struct {
	name string
	of   func(*Hit) *string
	said func(*mention) string
}{
	{"phone", func(h *Hit) *string { return &h.Phone }, (*mention).phone},
	{"email", func(h *Hit) *string { return &h.Email }, func(m *mention) string { return m.Email }},
	{"website", func(h *Hit) *string { return &h.Website }, func(m *mention) string { return m.Home }},
	{"opening_hours", func(h *Hit) *string { return &h.Hours }, (*mention).hours},
}

// contacts sets the contacts of h from statements, the best first: those with its name before those
// that probably mean it, and in both groups the site of the hit before others. The web site of a
// directory does not count.
func (h *Hit) contacts(all []statement, isDirectory func(site string) bool) {
	of := func(fit uint8, own bool) (some []statement) {
		for _, s := range all {
			if s.fit == fit && (s.site == all[0].site) == own {
				some = append(some, s)
			}
		}
		return some
	}
	ordered := slices.Concat(of(namedSo, true), of(namedSo, false), of(meant, true), of(meant, false))
	for _, c := range contacts {
		value, site := c.of(h), ""
		from := ordered
		if c.name == "phone" && len(ordered) > 1 {
			from = byVotes(ordered, all[0].site)
		}
		if c.name == "opening_hours" && len(ordered) > 1 {
			from = byCompleteness(ordered, all[0].site)
		}
		for _, s := range from {
			said := c.said(s.mention)
			switch {
			case said == "", c.name == "website" && isDirectory(siteOf(hostOf(said))):
			case *value == "":
				*value, site = said, s.site
			case s.fit == namedSo && s.site != site && differs(c.name, said, *value):
				h.addDiffers(c.name)
			}
		}
	}
	for _, s := range ordered {
		h.Fax = cmp.Or(h.Fax, s.Fax)
	}
	for _, s := range ordered {
		if s.Object != "" && s.fit == namedSo {
			h.Object, h.Tags = s.Object, s.Tags
			break
		}
	}
	for _, s := range ordered { // one page says it, where others still have the old address
		if h.Status == "" && s.Gone == 0 {
			h.Status, h.StatusWords = s.status().String(), s.StatusWords
		}
	}
	if h.Status != "" {
		h.Hours = ""
	}
	for _, s := range ordered {
		if s.Branch != "" && s.fit == namedSo && s.Branch != h.Name {
			h.Branch = s.Branch
			break
		}
	}
}

// byVotes returns statements with those of the hit's site first whose telephone number most of its pages
// state, of the same fit.
func byVotes(ordered []statement, site string) []statement {
	votes := map[string]int{}
	for _, s := range ordered {
		if s.site == site {
			votes[s.phone()]++
		}
	}
	of := func(s statement) int {
		if s.site != site {
			return 0
		}
		return votes[s.phone()]
	}
	sorted := slices.Clone(ordered)
	slices.SortStableFunc(sorted, func(a, b statement) int {
		return cmp.Or(cmp.Compare(b.fit, a.fit), compareBool(b.site == site, a.site == site), cmp.Compare(of(b), of(a)))
	})
	return sorted
}

// mostHours is how many different opening hours of a site are compared with each other.
const mostHours = 16

// byCompleteness returns statements in the order in which their opening hours count, of the same fit: with those of
// the hit's site first, of its page of opening hours before its terms of sale, and before those that say only a part
// of them: "Mo-Fr 09:00-19:00; Sa 09:00-12:00" before a notice of the hours on Saturdays.
func byCompleteness(ordered []statement, site string) []statement {
	parts := map[string]int{} // how many of the site's others are a part of them
	for _, s := range ordered {
		if s.site == site && s.hours() != "" && len(parts) < mostHours {
			parts[s.hours()] = 0
		}
	}
	for all := range parts {
		for part := range parts {
			if hours.Include(all, part) {
				parts[all]++
			}
		}
	}
	sorted := slices.Clone(ordered)
	slices.SortStableFunc(sorted, func(a, b statement) int {
		return cmp.Or(cmp.Compare(b.fit, a.fit), compareBool(b.site == site, a.site == site),
			compareBool(place.IsHoursPage(b.Title, b.URL), place.IsHoursPage(a.Title, a.URL)),
			cmp.Compare(parts[b.hours()], parts[a.hours()]))
	})
	return sorted
}

// differs reports whether two values of a contact are not the same; pages of one
// web site are.
func differs(name, a, b string) bool {
	if name == "website" {
		a, b = siteOf(hostOf(a)), siteOf(hostOf(b))
	}
	return a != b
}

func (h *Hit) addDiffers(name string) {
	if !slices.Contains(h.Differs, name) {
		h.Differs = append(slices.Clone(h.Differs), name)
	}
}
