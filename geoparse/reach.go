package geoparse

import (
	"fmt"

	"gazehound/gazetteer"
	"gazehound/geoparse/grammar"
)

// A Reach is how much of the addresses of a country a parser finds.
type Reach uint8

// The reaches.
const (
	NoReach       Reach = iota // only what markup states
	PostcodeReach              // postcode and town
	StreetReach                // also known streets
	FullReach                  // also streets that the gazetteer does not have, by the grammar of the country
)

// ReachIn returns how much of the addresses of a country a parser finds with the gazetteer, and one
// sentence that says it. An empty country is that of the gazetteer, if it has one; else nothing is
// said.
func ReachIn(g *gazetteer.Gazetteer, country string) (Reach, string) {
	stats := g.Stats()
	if country == "" && len(stats.Countries) == 1 {
		country = stats.Countries[0]
	}
	if country == "" {
		return FullReach, ""
	}
	land := grammar.Find(country)
	switch {
	case land.Form == grammar.AnyForm:
		return NoReach, fmt.Sprintf("The form of addresses in %s is not known: only those that the markup of a page "+
			"states are found", country)
	case !land.Listed:
		if stats.Streets == 0 {
			return PostcodeReach, fmt.Sprintf("Addresses in %s are found; without streets in the gazetteer a page counts "+
				"where postcode and town agree", country)
		}
		return FullReach, fmt.Sprintf("Addresses in %s are found and confirmed by the streets of the gazetteer", country)
	case stats.Streets > 0:
		return StreetReach, fmt.Sprintf("Addresses in %s are found where their street is in the gazetteer; others only as "+
			"postcode and town", country)
	case stats.Postcodes > 0:
		return PostcodeReach, fmt.Sprintf("Addresses in %s are found as postcode and town only: the gazetteer has no "+
			"streets. Import an OpenStreetMap extract or a table with streets", country)
	}
	return NoReach, fmt.Sprintf("Addresses in %s cannot be found: the gazetteer has neither streets nor postcodes. "+
		"Import an OpenStreetMap extract or a table with streets", country)
}
