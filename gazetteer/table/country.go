package table

import (
	"regexp"
	"strings"
)

// A shape is how the addresses of a country look from outside: its postcodes,
// and words that its street names are made of, in lower case.
type shape struct {
	country  string
	postcode *regexp.Regexp
	words    []string
}

var (
	german  = []string{"straße", "strasse", "str.", "weg", "platz", "gasse", "allee", "ring", "damm"}
	french  = []string{"rue ", "avenue ", "chemin ", "place ", "boulevard ", "impasse "}
	english = []string{" street ", " st ", " avenue ", " ave ", " road ", " rd ", " drive ", " dr ", " lane ",
		" ln ", " way ", " court ", " blvd "}
)

var shapes = []shape{
	{"DE", regexp.MustCompile(`^\d{5}$`), german},
	{"AT", regexp.MustCompile(`^\d{4}$`), german},
	{"CH", regexp.MustCompile(`^\d{4}$`), append(append([]string{}, german...), french...)},
	{"LI", regexp.MustCompile(`^94(8[5-9]|9[0-8])$`), german},
	{"US", regexp.MustCompile(`^\d{5}(-\d{4})?$`), english},
	{"GB", regexp.MustCompile(`^(?i)[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}$`), english},
	{"CA", regexp.MustCompile(`^(?i)[a-z]\d[a-z] ?\d[a-z]\d$`), english},
	{"AU", regexp.MustCompile(`^\d{4}$`), english},
	{"NL", regexp.MustCompile(`^(?i)\d{4} ?[a-z]{2}$`), []string{"straat", "weg", "laan", "plein", "gracht", "kade"}},
	{"BE", regexp.MustCompile(`^\d{4}$`), append([]string{"straat", "laan", "steenweg", "plein"}, french...)},
	{"LU", regexp.MustCompile(`^\d{4}$`), french},
	{"FR", regexp.MustCompile(`^\d{5}$`), french},
	{"IT", regexp.MustCompile(`^\d{5}$`), []string{"via ", "viale ", "piazza ", "corso ", "vicolo "}},
	{"ES", regexp.MustCompile(`^\d{5}$`), []string{"calle ", "avenida ", "plaza ", "paseo ", "carrer "}},
	{"DK", regexp.MustCompile(`^\d{4}$`), []string{"vej", "gade", "alle", "stræde", "plads"}},
}

// guess returns the country that nine in ten of the rows can lie in by
// postcode and coordinate. Among several the one decides whose street words
// they have most of; where that leaves two, it is "".
func (t *reading) guess(rows []row) string {
	best, bestWords, tied := "", -1, false
	for _, s := range shapes {
		fits, told, words := 0, 0, 0
		for _, r := range rows {
			code := t.text(r, "postcode")
			point, hasPoint, err := t.point(r)
			if err != nil || code == "" && !hasPoint {
				continue
			}
			told++
			if (code == "" || s.postcode.MatchString(code)) && (!hasPoint || boxes[s.country].Contains(point)) {
				fits++
			}
			street := strings.ToLower(t.text(r, "street"))
			for _, w := range s.words {
				if street != "" && strings.Contains(street+" ", w) {
					words++
					break
				}
			}
		}
		switch {
		case told == 0 || fits*10 < told*9:
		case words > bestWords:
			best, bestWords, tied = s.country, words, false
		case words == bestWords:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}
