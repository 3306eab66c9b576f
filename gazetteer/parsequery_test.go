package gazetteer

import (
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

func TestParseQuery(t *testing.T) {
	house := func(street, number, code, city, country string) Place {
		return Place{ID: "node/" + number, Kind: House, Names: []string{street}, Street: street, HouseNumber: number,
			Postcode: code, City: city, Country: country, Point: orb.Point{8, 53}, HasPoint: true}
	}
	city := func(name, country string) Place {
		return Place{ID: "node/9", Kind: City, Names: []string{name}, City: name, Country: country, Point: orb.Point{8, 53}, HasPoint: true}
	}
	g := Of(house("Lange Straße", "12", "26122", "Oldenburg", "DE"), house("Ofener Straße", "48-50", "26121", "Oldenburg", "DE"),
		house("Oldenburg", "3", "26122", "Oldenburg", "DE"), house("Via dell'Orto", "7", "20871", "Vimercate", "IT"),
		house("Limmatquai", "8001", "8001", "Zürich", "CH"), house("Bahnhofstrasse", "3", "8001", "Zürich", "CH"),
		house("Molengracht", "12", "1017 ZZ", "Amsterdam", "NL"), house("Main St", "12345", "12345", "Springfield", "US"),
		city("Oldenburg", "DE"), city("Bad Zwischenahn", "DE"), city("Zürich", "CH"), city("Springfield", "US"))
	for text, want := range map[string]string{
		"Lange Straße 12":                     "Lange Straße|12|||",
		"Lange Straße 12 Oldenburg":           "Lange Straße|12||Oldenburg|",
		"lange str. 12 a oldenburg":           "lange str.|12 a||oldenburg|",
		"Lange Straße 12 26122":               "Lange Straße|12|26122||",
		"Lange Straße 12 26122 Oldenburg":     "Lange Straße|12|26122|Oldenburg|",
		"Lange Straße 12, 26122 Oldenburg":    "Lange Straße|12|26122|Oldenburg|",
		"Lange Straße 26122":                  "Lange Straße||26122||",
		"Lange Straße Nr. 12":                 "Lange Straße|12|||",
		"Lange Straße, 12":                    "Lange Straße|12|||",
		"Lange Straße, 12, Oldenburg":         "Lange Straße|12||Oldenburg|",
		"12 Lange Straße":                     "Lange Straße|12|||",
		"26122 Oldenburg Lange Straße 12":     "Lange Straße|12|26122|Oldenburg|",
		"26122 Oldenburg, Lange Straße 12":    "Lange Straße|12|26122|Oldenburg|",
		"Oldenburg, Lange Straße":             "Lange Straße|||Oldenburg|",
		"Bad Zwischenahn Lange Straße 12":     "Lange Straße|12||Bad Zwischenahn|",
		"Ofener Straße 48 - 50 Oldenburg":     "Ofener Straße|48 - 50||Oldenburg|",
		"Oldenburg":                           "|||Oldenburg|",
		"26122 Oldenburg":                     "||26122|Oldenburg|",
		"26122":                               "||26122||",
		"Oldenburg 3":                         "Oldenburg|3|||",
		"via dell orto 7":                     "via dell orto|7|||",
		"Via dell’Orto 7 20871":               "Via dell’Orto|7|20871||",
		"Limmatquai 8001":                     "Limmatquai|8001|||",
		"Bahnhofstrasse 8001":                 "Bahnhofstrasse||8001||",
		"Bahnhofstrasse 8001 Zürich":          "Bahnhofstrasse||8001|Zürich|",
		"Bahnhofstrasse 3 8001 Zürich":        "Bahnhofstrasse|3|8001|Zürich|",
		"Molengracht 12 1017 ZZ Amsterdam":    "Molengracht|12|1017 ZZ|Amsterdam|",
		"molengracht 12 1017zz":               "molengracht|12|1017zz||",
		"12345 Main St Springfield NY":        "Main St|12345||Springfield|NY",
		"12345 Main St, Springfield NY 12345": "Main St|12345|12345|Springfield|NY",
		"Bäckerei Lange Straße 12":            "|||Bäckerei Lange Straße 12|",
		"Lange Straße bäckerei":               "Lange Straße|||bäckerei|",
		"":                                    "||||",
		" , ;":                                "||||",
	} {
		q := g.ParseQuery(text)
		if got := strings.Join([]string{q.Street, q.HouseNumber, q.Postcode, q.City, q.State}, "|"); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}
