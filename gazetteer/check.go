package gazetteer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gazehound/internal/check"
	"gazehound/internal/textutil"
)

// oldData is the age from which data cause a warning.
const oldData = 365 * 24 * time.Hour

// Check checks whether the gazetteer has what a crawl needs, and its age.
func (g *Gazetteer) Check() check.Finding {
	const name = "gazetteer"
	s := g.Stats()
	what := fmt.Sprintf("%s, %s, %s, %s", textutil.Several(s.Houses, "house number"),
		textutil.Several(s.Streets, "street"),
		textutil.Several(s.Postcodes, "postcode"), strings.Join(s.Countries, " "))
	date := ""
	for _, source := range g.Sources() {
		date = max(date, source.Data)
	}
	taken, err := time.Parse(time.DateOnly, date[:min(len(date), len(time.DateOnly))])
	age := time.Since(taken)
	days := int(age.Hours() / 24)
	switch {
	case s.Streets == 0 && s.Postcodes == 0:
		return check.Broken(name, "gazehound gazetteer import FILE", "it holds no street and no postcode")
	case err == nil && age > oldData:
		return check.Doubt(name, "import newer data", "%s; the data are of %s, %d days old", what, date, days)
	case err == nil:
		return check.Well(name, "%s, data of %s (%s old)", what, taken.Format(time.DateOnly),
			textutil.Several(days, "day"))
	}
	return check.Well(name, "%s", what)
}

// CheckBasemap checks whether the base map is readable.
func CheckBasemap(file string) check.Finding {
	const name = "base map"
	m, err := OpenBasemap(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return check.Doubt(name, "gazehound gazetteer import FILE.osm.pbf draws it",
			"none: the map of the search page shows the outline only")
	case err != nil:
		return check.Doubt(name, "gazehound gazetteer import FILE.osm.pbf draws it anew", "%v", err)
	}
	defer m.Close()
	return check.Well(name, "%s", textutil.Several(m.Tiles(), "tile"))
}
