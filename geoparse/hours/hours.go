// Package hours reads opening hours, as the pages of six languages and schema.org write them, and returns
// them in the syntax of OpenStreetMap's key opening_hours.
//
// The way of a text: [In] finds where hours begin in it, the grammar of read.go reads days and times
// there, and a [week] of them is what all hours become, whoever wrote them.
package hours

import (
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Days of the week from Monday on, public holidays, and behind them the seven first days of their name in a month,
// the second ones, to the fifth and the last.
const (
	days     = 8
	sunday   = 6
	Holidays = 7 // the day of an Opening on public holidays
	ordinals = 6
	lastOf   = ordinals - 1
	allDays  = days + 7*ordinals
)

// nthDay returns the day that is the nth of its name in a month; 0 is the first, lastOf the last.
func nthDay(day, n int) int { return days + 7*n + day }

var dayNames = [days]string{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su", "PH"}

// A daySet has a bit for each day.
type daySet uint64

func (s daySet) has(day int) bool { return s&(1<<day) != 0 }

// dayWords are the days as people write them, without the full stop of an abbreviation: "mo", "Mo", "MO".
// Those without days are the other words with which sevenDays, letterDays, nthOf and closedOn begin.
var dayWords = func() map[string]daySet {
	m := map[string]daySet{
		"seven": 0, "sieben": 0, "zeven": 0, "tous": 0, "alle": 0, "tutti": 0, "todos": 0, "m": 0, "t": 0, "w": 0, "l": 0,
		"täglich": 0x7f, "daily": 0x7f, "everyday": 0x7f, "dagelijks": 0x7f, "weekdays": 0x1f,
		"wochenende": 0x60, "weekend": 0x60, "weekends": 0x60, "werktags": 0x3f, "werktage": 0x3f,
		"werkdag": 0x1f, "werkdagen": 0x1f,
		"wochentags": 0x1f, "sonn": 1 << sunday, // "Sonn- und Feiertage"
	}
	for i, names := range [days]string{
		"mo mon monday mondays montag montags lun lundi lunedì lunes maandag ma mandag",
		"tu di tue tues tuesday tuesdays dienstag dienstags mar mardi martedì martes dinsdag tirsdag",
		"we mi wed weds wednesday wednesdays mittwoch mittwochs mer mercredi mercoledì mié mie miércoles miercoles " +
			"wo woensdag onsdag",
		"th do thu thur thurs thursday thursdays donnerstag donnerstags jeu jeudi gio giovedì jue jueves " +
			"donderdag torsdag",
		"f fr fri friday fridays freitag freitags ven vendredi venerdì vie viernes vrijdag vr fredag",
		"sa sat saturday saturdays samstag samstags sonnabend sonnabends sam samedi sab sabato sáb sábado sábados " +
			"sabado zaterdag za lørdag",
		"su so sun sunday sundays sonntag sonntags dim dimanche dom domenica domingo domingos zondag zo søndag",
		"ph feiertag feiertage feiertags feiertagen PublicHolidays holidays",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = 1 << i
		}
	}
	for _, word := range closedWords {
		m[word] = 0
	}
	for word := range nthWords {
		m[word] = 0
	}
	for _, word := range eachWords {
		m[word] = 0
	}
	forms := maps.Clone(m)
	for word, set := range m {
		_, first := utf8.DecodeRuneInString(word)
		forms[strings.ToUpper(word)] = set
		forms[strings.ToUpper(word[:first])+word[first:]] = set
	}
	return forms
}()

// A timeSpan is in minutes since midnight; where it ends on the next day, to is
// more than 24 hours.
type timeSpan struct {
	from, to int
	noEnd    bool // only its start is stated
}

// byAppointment stands for no fixed time.
var byAppointment = timeSpan{from: -1, to: -1}

// A week is what is open on each day: nil where nothing is said, empty where it
// is closed.
type week [allDays][]timeSpan

// Parse reads opening hours as German, English, French and Italian pages and
// schema.org write them and returns them as OpenStreetMap does, days of a week in order:
// "Mo-Fr 08:00-18:00; Sa 09:00-13:00; Su off". It reads its own result. ok is
// false where text does not begin with opening hours; what follows them is not
// looked at.
func Parse(text string) (osm string, ok bool) {
	h, _, ok := read(text)
	return h.String(), ok
}

// changing are parts of a map's opening hours by which they differ between weeks, or with the sun:
// "Nov-Mar off", "Mo[1]", "SH off", "08:00-sunset".
var changing = regexp.MustCompile(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|week|easter|SH|` +
	`sunrise|sunset|dawn|dusk)\b|\[`)

// ParseMap is Parse for opening hours as OpenStreetMap has them. ok is false, too, where they
// are not those of every week.
func ParseMap(osm string) (hours string, ok bool) {
	if changing.MatchString(osm) {
		return "", false
	}
	return Parse(osm)
}

// mostExceptions is how many days of those said before a later rule may change, "Mo-Fr 9-18,
// Mi geschlossen".
const mostExceptions = 2

// add says what is open on some days, no spans: closed. It is false where that
// contradicts what was said before: another list has begun.
func (h *week) add(set daySet, spans []timeSpan) bool {
	said, contradicted := 0, 0
	for d := range h {
		if h[d] == nil {
			continue
		}
		said++
		if n := len(h[d]); set.has(d) && (len(spans) == 0 || n == 0 || n+len(spans) > maxSpans ||
			h[d][n-1].to > spans[0].from) {
			contradicted++
		}
	}
	changes := contradicted > 0
	if changes && (contradicted > mostExceptions || contradicted == said) {
		return false
	}
	for d := range h {
		if set.has(d) {
			if changes {
				h[d] = nil
			}
			h[d] = append(append([]timeSpan{}, h[d]...), spans...)
		}
	}
	return true
}

var allDay = timeSpan{from: 0, to: 24 * 60}

// String returns h in the syntax of the key opening_hours.
func (h week) String() string {
	if !slices.ContainsFunc(h[:Holidays], func(d []timeSpan) bool { return len(d) != 1 || d[0] != allDay }) {
		return "24/7"
	}
	var rules []string
	var done daySet
	for d := range h {
		if done.has(d) || h[d] == nil {
			continue
		}
		var same daySet
		for e := d; e < allDays; e++ {
			sameSort := (d < days) == (e < days) // some days of a month come last and go before each
			if sameSort && h[e] != nil && slices.Equal(h[e], h[d]) {
				same |= 1 << e
			}
		}
		done |= same
		var spans []string
		for _, s := range h[d] {
			spans = append(spans, s.String())
		}
		if spans == nil {
			spans = []string{"off"}
		}
		rules = append(rules, same.String()+" "+strings.Join(spans, ","))
	}
	return strings.Join(rules, "; ")
}

// String returns the span as "08:00-18:00", "17:00+" or "by appointment".
func (s timeSpan) String() string {
	from := fmt.Sprintf("%02d:%02d", s.from/60, s.from%60)
	switch {
	case s == byAppointment:
		return `"by appointment"`
	case s.noEnd:
		return from + "+"
	case s.to > 24*60:
		s.to -= 24 * 60
	}
	return fmt.Sprintf("%s-%02d:%02d", from, s.to/60, s.to%60)
}

// String returns the days as "Mo-Fr,Su,PH,Sa[1,3]".
func (s daySet) String() string {
	var names []string
	for d := 0; d < days; d++ {
		if !s.has(d) {
			continue
		}
		name, last := dayNames[d], d
		for last < sunday && s.has(last+1) {
			last++
		}
		if last > d {
			name += "-" + dayNames[last]
			d = last
		}
		names = append(names, name)
	}
	for d := range Holidays {
		var nths []string
		for n := range ordinals {
			switch {
			case !s.has(nthDay(d, n)):
			case n == lastOf:
				nths = append(nths, "-1")
			default:
				nths = append(nths, strconv.Itoa(n+1))
			}
		}
		if nths != nil {
			names = append(names, dayNames[d]+"["+strings.Join(nths, ",")+"]")
		}
	}
	return strings.Join(names, ",")
}

// An Opening is a stretch of a week in which a place is open: its day, 0 is Monday and
// Holidays stands for public holidays, and minutes since that day's midnight. One past midnight
// ends after 24 * 60.
type Opening struct{ Day, From, To int }

// Week returns when opening hours, as Parse returns them, say that a place is
// open in every week, and on public holidays.
func Week(osm string) (open []Opening) {
	h, _, _ := read(osm)
	for day, spans := range h[:days] {
		for _, s := range spans {
			if s != byAppointment {
				open = append(open, Opening{day, s.from, s.to})
			}
		}
	}
	return open
}

// Include reports whether opening hours say all that others do of their days, and more of other days.
func Include(osm, others string) bool {
	all, some := Week(osm), Week(others)
	isMissing := func(o Opening) bool { return o.Day != Holidays && !slices.Contains(all, o) }
	return len(some) > 0 && len(all) > len(some) && !slices.ContainsFunc(some, isMissing)
}

// A State says whether a place is open at a time.
type State struct {
	Open  bool
	Until time.Time // when it closes; zero: not within a week, or not known
	Opens time.Time // of a closed one: when it opens next; zero: not within a week
	// Unsure: it is a public holiday, and the hours do not say what is then.
	Unsure bool
}

// At returns what opening hours, as Parse returns them, say of a time in the zone of the
// place. holiday reports public holidays; nil: none is known. ok is false where the hours cannot
// be read.
func At(osm string, t time.Time, holiday func(time.Time) bool) (s State, ok bool) {
	h, _, ok := read(osm)
	if !ok {
		return s, false
	}
	const ahead = 7 // days
	for day := -1; day <= ahead; day++ {
		date := time.Date(t.Year(), t.Month(), t.Day()+day, 12, 0, 0, 0, t.Location())
		spans := h.on(date)
		if holiday != nil && holiday(date) {
			spans = h[Holidays]
			s.Unsure = s.Unsure || day == 0 && spans == nil
		}
		for _, span := range spans {
			clock := func(minute int) time.Time {
				return time.Date(date.Year(), date.Month(), date.Day(), 0, minute, 0, 0, t.Location())
			}
			from, to := clock(span.from), clock(span.to)
			switch {
			case span == byAppointment:
			case s.Open && from.After(s.Until):
				return s, true
			case s.Open || !from.After(t) && t.Before(to):
				s.Open, s.Until = true, to
				if span.noEnd {
					s.Until = time.Time{}
					return s, true
				}
			case from.After(t):
				s.Opens = from
				return s, true
			}
		}
	}
	if s.Open && s.Until.Sub(t) > (ahead-1)*24*time.Hour {
		s.Until = time.Time{}
	}
	return s, true
}

// on returns what is open on a date: what h says of the nth of its weekday in the month, else of each.
func (h *week) on(date time.Time) []timeSpan {
	day := (int(date.Weekday()) + 6) % 7
	nth := h[nthDay(day, (date.Day()-1)/7)]
	if date.AddDate(0, 0, 7).Month() != date.Month() && nth == nil {
		nth = h[nthDay(day, lastOf)]
	}
	if nth != nil {
		return nth
	}
	return h[day]
}

// Weekday returns the day that a lower-case word names in English or German, 0 is
// Monday; ok is false where it names none or several.
func Weekday(word string) (day int, ok bool) {
	set := dayWords[word] &^ (1 << Holidays)
	return bits.TrailingZeros64(uint64(set)), set != 0 && oneDay(set)
}
