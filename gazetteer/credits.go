package gazetteer

import (
	"slices"
	"strings"
)

// Credits are the licence and attribution to show with data of sources.
type Credits struct {
	Licence, Attribution string // each licence and each author once, with commas between
	Date                 string // the newest of the data
}

// CreditsOf returns those of the sources.
func CreditsOf(sources []Source) Credits {
	var c Credits
	var licences, authors []string
	for _, s := range sources {
		if s.Licence != "" && !slices.Contains(licences, s.Licence) {
			licences = append(licences, s.Licence)
		}
		if s.Attribution != "" && !slices.Contains(authors, s.Attribution) {
			authors = append(authors, s.Attribution)
		}
		c.Date = max(c.Date, s.Data)
	}
	c.Licence, c.Attribution = strings.Join(licences, ", "), strings.Join(authors, ", ")
	return c
}

// KnowsOSM reports whether a house that the gazetteer lacks is missing in OpenStreetMap.
func (g *Gazetteer) KnowsOSM() bool {
	return slices.ContainsFunc(g.Sources(), func(s Source) bool { return s.Format == "osm" })
}
