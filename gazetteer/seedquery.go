package gazetteer

import (
	"fmt"
	"strconv"
	"strings"
)

// SeedQueries returns queries for other services, by name, that find web sites of a region with an
// outline.
var SeedQueries = map[string]func(*Region) string{
	"overpass": func(r *Region) string {
		b := r.Bound()
		where, area := fmt.Sprintf("(%.5f,%.5f,%.5f,%.5f)", b.Min[1], b.Min[0], b.Max[1], b.Max[0]), ""
		if number, ok := strings.CutPrefix(r.ID, "relation/"); ok {
			if id, err := strconv.ParseInt(number, 10, 64); err == nil && id > 0 {
				where, area = "(area.region)", fmt.Sprintf("area(id:%d)->.region;\n", 3_600_000_000+id)
			}
		}
		const query = "[out:json][timeout:180];\n%snwr%s[~\"^(website|contact:website|url|brand:website)$\"~\".\"];\n" +
			"out tags center;\n"
		return fmt.Sprintf(query, area, where)
	},
	"wikidata": func(r *Region) string {
		b := r.Bound()
		return fmt.Sprintf(`SELECT ?item ?website WHERE {
  SERVICE wikibase:box {
    ?item wdt:P625 ?at .
    bd:serviceParam wikibase:cornerSouthWest "Point(%.5f %.5f)"^^geo:wktLiteral ;
                    wikibase:cornerNorthEast "Point(%.5f %.5f)"^^geo:wktLiteral .
  }
  ?item wdt:P856 ?website .
}
`, b.Min[0], b.Min[1], b.Max[0], b.Max[1])
	},
}
