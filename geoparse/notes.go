package geoparse

import (
	"slices"

	"gazehound/geoparse/hours"
	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
)

// notes returns what a page without an address of its host's place says of that place: the opening
// hours on a start page or one that its title or URL calls so, and the kind of place on a start page.
func notes(text string, in Input, marked *markup.Page, found []Address) (n Notes) {
	if marked == nil || slices.ContainsFunc(found, func(a Address) bool { return a.Street != "" && a.Counts() }) {
		return n
	}
	if place.IsStart(in.Path) || place.IsHoursPage(in.Title+" "+marked.Site.Title, in.Path) {
		n.Hours = hours.In(text, 0, min(len(text), imprintText))
	}
	if place.IsStart(in.Path) {
		country := countryHint(in)
		head := place.ReadHead(marked, in.Title, in.Host, in.Path)
		langs := languagesOf(in, country)
		n.Kind = head.Kind("", langs, country, true)
		if n.Kind == head.KindOfDomain(langs, country) {
			n.Kind = "" // each page of the host says it
		}
	}
	return n
}
