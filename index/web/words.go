package web

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"gazehound/index"
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
	hoursNth   = regexp.MustCompile(`(\w+)\[([-\d,]+)\]`)
)

// openingHours writes opening hours of OpenStreetMap for people: "Mo–Fr 08:00–18:00 · Sa closed", "1st, 3rd Sa of
// the month 10:00–12:00".
func openingHours(osm string, t texts.Words) string {
	text := hoursWord.ReplaceAllStringFunc(osm, func(w string) string { return cmp.Or(t["hours_"+w], w) })
	text = hoursRange.ReplaceAllString(text, "$1–$2")
	text = hoursNth.ReplaceAllStringFunc(text, func(days string) string {
		m := hoursNth.FindStringSubmatch(days)
		var nths []string
		for n := range strings.SplitSeq(m[2], ",") {
			nths = append(nths, cmp.Or(t["hours_nth_"+n], n))
		}
		return t.Say("hours_nth", strings.Join(nths, ", "), m[1])
	})
	return hoursRule.ReplaceAllString(strings.Trim(text, " ;"), " · ")
}

// state says whether a place is open now: "open until 18:00", "closed, opens
// Monday 10:00"; "" where nobody can tell.
func (v *view) state(h *index.Hit) (text string, open bool) {
	s, ok := h.OpenAt(v.Clock.Now(), v.Clock.Holiday)
	switch {
	case !ok:
		return "", false
	case s.Unsure:
		return v.T["open_holiday"], false
	case s.Open && s.Until.IsZero():
		return v.T["opennow"], true
	case s.Open:
		return v.T.Say("open_until", s.Until.Format("15:04")), true
	case s.Opens.IsZero():
		return v.T["hours_closed"], false
	}
	return v.T["hours_closed"] + ", " + v.opens(s.Opens), false
}

// opens says when a place opens.
func (v *view) opens(at time.Time) string {
	when := at.Format("15:04")
	if now := v.Clock.Now(); at.YearDay() != now.YearDay() {
		when = v.day((int(at.Weekday())+6)%7) + " " + when
	}
	return v.T.Say("open_from", when)
}

// openTime says at what time places are open that were asked for.
func (v *view) openTime(o index.OpenTime) string {
	text := v.T["opennow"]
	if !o.Now {
		text = v.T["openon"] + " " + v.day(o.Day)
		if o.Minute >= 0 {
			text += fmt.Sprintf(" %02d:%02d", o.Minute/60, o.Minute%60)
		}
	}
	if o.Holiday {
		text += " (" + v.T["holiday"] + ")"
	}
	return text
}

// day returns the name of a day of the week, 0 is Monday.
func (v *view) day(n int) string { return strings.Fields(v.T["days"])[n] }
