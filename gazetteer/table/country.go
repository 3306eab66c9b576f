package table

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"gazehound/gazetteer"
)

// A shape is the form of a country's postcodes and coordinates.
type shape struct {
	box      orb.Bound // roughly, to recognise swapped columns
	postcode *regexp.Regexp
	words    []string // that its street names are made of, in lower case
}

//go:embed countries.txt
var countryTable string

// shapes are those of countries.txt by their codes; countryNames has the codes by the folded names.
var shapes, countryNames = func() (all map[string]shape, names map[string]string) {
	all, names = map[string]shape{}, map[string]string{}
	for line := range strings.Lines(countryTable) {
		if line[0] == '#' {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		s := shape{postcode: regexp.MustCompile("^(?:" + columns[2] + ")$")}
		b := &s.box
		if _, err := fmt.Sscanf(columns[1], "%g,%g,%g,%g", &b.Min[0], &b.Min[1], &b.Max[0], &b.Max[1]); err != nil {
			panic(err) // at the start of the program: any test finds it
		}
		if columns[4] != "" {
			s.words = strings.Split(strings.ReplaceAll(columns[4], "_", " "), "|")
		}
		for name := range strings.FieldsSeq(columns[3]) {
			names[name] = columns[0]
		}
		all[columns[0]] = s
	}
	return all, names
}()

// country accepts codes and the usual names of a few countries.
func country(s string) string {
	if len(s) == 2 {
		return strings.ToUpper(s)
	}
	return countryNames[gazetteer.Key(s)]
}

// guess returns the country that is possible for nine in ten of the rows by postcode and
// coordinate; of several, the one whose street words occur most; "" if two are left.
func (t *reading) guess(rows []row) string {
	best, bestWords, tied := "", -1, false
	for country, s := range shapes {
		fits, judged, words := 0, 0, 0
		for _, r := range rows {
			code := t.text(r, "postcode")
			point, hasPoint, err := t.point(r)
			if err != nil || code == "" && !hasPoint {
				continue
			}
			judged++
			if (code == "" || s.postcode.MatchString(code) || hasPoint && s.postcode.MatchString("0"+code)) && (!hasPoint || s.box.Contains(point)) {
				fits++
			}
			street := strings.ToLower(t.text(r, "street"))
			isIn := func(word string) bool { return strings.Contains(street+" ", word) }
			if street != "" && slices.ContainsFunc(s.words, isIn) {
				words++
			}
		}
		switch {
		case len(s.words) == 0 || judged == 0 || fits*10 < judged*9:
		case words > bestWords:
			best, bestWords, tied = country, words, false
		case words == bestWords:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}
