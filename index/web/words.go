package web

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"gazehound/index/texts"
	"gazehound/internal/kind"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// number writes a number with a mark at the thousands.
func (v *view) number(n int) string { return v.print("%d", n) }

// print formats as people who read the language of the page write numbers.
func (v *view) print(format string, args ...any) string {
	return message.NewPrinter(language.Make(v.Lang)).Sprintf(format, args...)
}

// count writes a number of things: "1,234 pages".
func (v *view) count(key string, n int) string { return v.T.Count(n, key, v.number(n)) }

// date writes a day.
func (v *view) date(t time.Time) string {
	return v.T.Say("date", t.Day(), strings.Fields(v.T["months_short"])[t.Month()-1], t.Year())
}

// month writes a month such as "2026-11".
func (v *view) month(text string) string {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return text
	}
	return strings.Fields(v.T["months"])[t.Month()-1] + t.Format(" 2006")
}

// distance writes metres.
func (v *view) distance(m float64) string {
	switch {
	case m < 995:
		return fmt.Sprintf("%.0f m", math.Round(m/10)*10)
	case m < 9950:
		return v.print("%.1f km", m/1000)
	}
	return fmt.Sprintf("%.0f km", m/1000)
}

// kind returns the word for a kind of place.
func (v *view) kind(name string) string {
	if ids := kind.Find(name); len(ids) == 1 {
		return kind.Title(ids[0], v.Lang)
	}
	return name
}

var (
	hoursWord  = regexp.MustCompile(`[A-Za-z]+`)
	hoursRange = regexp.MustCompile(`(\w)-(\w)`)
	hoursRule  = regexp.MustCompile(`\s*;\s*`)
)

// openingHours writes opening hours of OpenStreetMap for people: "Mo–Fr 08:00–18:00 · Sa closed".
func openingHours(osm string, t texts.Words) string {
	text := hoursWord.ReplaceAllStringFunc(osm, func(w string) string { return cmp.Or(t["hours_"+w], w) })
	text = hoursRange.ReplaceAllString(text, "$1–$2")
	return hoursRule.ReplaceAllString(strings.Trim(text, " ;"), " · ")
}
