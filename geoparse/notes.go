package geoparse

import (
	"slices"
	"strings"

	"gazehound/geoparse/markup"
	"gazehound/geoparse/place"
)

// notes returns what a page without an address of its host's place says of that place: the opening
// hours on a page that its title or URL calls so.
func notes(text string, in Input, marked *markup.Page, found []Address) (n Notes) {
	if marked == nil || slices.ContainsFunc(found, func(a Address) bool { return a.Street != "" && a.Counts() }) {
		return n
	}
	title := strings.ToLower(in.Title + " " + marked.Site.Title + " " + in.Path)
	if slices.ContainsFunc(hoursPages, func(word string) bool { return strings.Contains(title, word) }) {
		n.Hours = place.HoursIn(text, 0, min(len(text), imprintText))
	}
	return n
}

// hoursPages are in the titles or paths of pages of opening hours.
var hoursPages = place.Phrases("hours-pages")
