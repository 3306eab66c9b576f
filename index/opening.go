package index

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/geoparse/hours"
)

// An OpenTime is when places are open that are asked for.
type OpenTime struct {
	Day     int  // of the week, 0 is Monday
	Minute  int  // since midnight; -1: at some time of the day
	Now     bool // it is now
	Holiday bool // the day is a public holiday: the hours of holidays count
}

const dayLong = 24 * 60 // minutes

// openSlot is how fine the index knows opening hours, in minutes.
const openSlot = 15

// key returns the keyword of fieldOpen.
func (o OpenTime) key() string {
	day := o.Day
	if o.Holiday {
		day = hours.Holidays
	}
	if o.Minute < 0 {
		return openDay(day)
	}
	return openKey(day, o.Minute)
}

func openDay(day int) string { return fmt.Sprint("d", day) }

func openKey(day, minute int) string { return fmt.Sprintf("%d-%02d", day, minute/openSlot) }

// openKeys returns the keywords of opening hours.
func openKeys(osm string) (keys []string) {
	for _, o := range hours.Week(osm) {
		keys = append(keys, openDay(o.Day))
		for m := o.From - o.From%openSlot; m < o.To; m += openSlot {
			switch {
			case o.Day < hours.Holidays:
				keys = append(keys, openKey((o.Day+m/dayLong)%7, m%dayLong))
			case m < dayLong: // the day after a holiday is any
				keys = append(keys, openKey(o.Day, m))
			}
		}
	}
	return keys
}

// OpenAt says whether the place is open at a time in its zone, by its hours and the public
// holidays; ok is false where that is not known.
func (h *Hit) OpenAt(t time.Time, holiday func(time.Time) bool) (s hours.State, ok bool) {
	return hours.At(h.Hours, t, holiday)
}

// readOpening sets s.open by the query's filter, or by its words, which it takes away.
func (s *searcher) readOpening(now time.Time) {
	t := timeReader{now: now, holidays: s.q.Holidays}
	text, minute := clockIn(s.q.Text)
	if minute >= 0 {
		s.words = splitQuery(text)
	}
	s.words, s.open = t.openingTime(s.words, minute)
	if s.q.Open != "" {
		s.open, _ = ReadOpen(s.q.Open, now, s.q.Holidays)
	}
}

// ReadOpen reads a filter for opening hours: "now", "monday", "montag 10:00", "18:30". now is in
// the zone of the places, holidays are days such as "2026-12-25". ok is false where it is none.
func ReadOpen(text string, now time.Time, holidays []string) (open *OpenTime, ok bool) {
	t := timeReader{now: now, holidays: holidays}
	rest, minute := clockIn(text)
	words, open := t.openingTime(splitQuery("open "+rest), minute)
	return open, open != nil && len(words) == 0
}

// IsOpen reports whether a text is a time that ReadOpen reads.
func IsOpen(text string) bool {
	_, ok := ReadOpen(text, time.Time{}, nil)
	return ok
}

// A timeReader knows what words such as "tomorrow" mean.
type timeReader struct {
	now      time.Time
	holidays []string
}

// openWords ask for opening hours.
var openWords = foldedSet("open opened geöffnet geöffnete geöffneter geöffneten offen offene offener offenen auf")

// nowWords are the words for now, -1, and for days from today on, beside the days of
// the week.
var nowWords = map[string]int{
	"now": -1, "jetzt": -1, "gerade": -1, "momentan": -1, "aktuell": -1,
	"today": 0, "heute": 0, "tomorrow": 1, "morgen": 1,
}

func foldedSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[foldWord(w)] = true
	}
	return set
}

// openingTime extracts "open now", "sonntags geöffnet" and the like from words: a word for being
// open and one for a time, with only minor words between them. A minute of the day, not -1, asks for
// opening hours by itself, with any of these words. open is nil where nothing is asked for.
func (t timeReader) openingTime(words []word, minute int) (rest []word, open *OpenTime) {
	if minute >= 0 {
		return t.openingAt(words, minute)
	}
	for i, w := range words {
		if !openWords[w.terms[0]] {
			continue
		}
		for _, step := range []int{1, -1} {
			j := i + step
			for 0 <= j && j < len(words) && words[j].minor {
				j += step
			}
			if j < 0 || j >= len(words) {
				continue
			}
			open = t.when(words[j].terms[0])
			if open == nil {
				continue
			}
			from, to := min(i, j), max(i, j)+1
			for from > 0 && words[from-1].minor {
				from--
			}
			return slices.Concat(words[:from], words[to:]), open
		}
	}
	return words, nil
}

// openingAt returns the opening time at a minute of the day that words name, else today.
func (t timeReader) openingAt(words []word, minute int) (rest []word, open *OpenTime) {
	open = t.day(0)
	major := false
	for _, w := range words {
		if openWords[w.terms[0]] {
			continue
		}
		if when := t.when(w.terms[0]); when != nil {
			open = when
			continue
		}
		rest = append(rest, w)
		major = major || !w.minor
	}
	open.Minute, open.Now = minute, false
	if !major {
		rest = nil
	}
	return rest, open
}

// when returns the time that a word says, or nil.
func (t timeReader) when(word string) *OpenTime {
	if after, ok := nowWords[word]; ok {
		open := t.day(max(after, 0))
		if after < 0 {
			open.Now, open.Minute = true, t.now.Hour()*60+t.now.Minute()
		}
		return open
	}
	if day, ok := hours.Weekday(word); ok && len(word) > 2 {
		return t.day((day - weekday(t.now) + 7) % 7)
	}
	return nil
}

// day returns the day that is so many days from today.
func (t timeReader) day(after int) *OpenTime {
	date := t.now.AddDate(0, 0, after)
	return &OpenTime{Day: weekday(date), Minute: -1, Holiday: slices.Contains(t.holidays, date.Format(time.DateOnly))}
}

// weekday counts from Monday on.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// clocks match a time of day: "10:00", "18.30 Uhr", "10 Uhr", "10am", "5:30 p.m.". A plain "am" is
// German for "at the" but at the end of a text.
var clocks = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(?:\b(?:um|at|ab|gegen)\s+)?\b(\d{1,2})(?:[:.](\d{2}))?\s*(uhr|pm|[ap]\.m\.)(?:\s|$)`),
	regexp.MustCompile(`(?i)(?:\b(?:um|at|ab|gegen)\s+)?\b(\d{1,2})(?:[:.](\d{2}))?(am)(?:\s|$)`),
	regexp.MustCompile(`(?i)(?:\b(?:um|at|ab|gegen)\s+)?\b(\d{1,2})(?:[:.](\d{2}))?\s+(am)\s*$`),
	regexp.MustCompile(`(?i)(?:\b(?:um|at|ab|gegen)\s+)?\b(\d{1,2}):(\d{2})()(?:\s|$)`),
}

// clockIn returns a text without the time of day that it names, and that in minutes; -1: none.
func clockIn(text string) (rest string, minute int) {
	for _, clock := range clocks {
		at := clock.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		m := clock.FindStringSubmatch(text)
		hour, _ := strconv.Atoi(m[1]) // digits
		past, _ := strconv.Atoi("0" + m[2])
		switch half := strings.ToLower(m[3]); {
		case hour > 24 || past > 59 || strings.HasSuffix(half, "m") && (hour < 1 || hour > 12):
			continue
		case strings.HasPrefix(half, "p") && hour < 12:
			hour += 12
		case strings.HasPrefix(half, "a") && hour == 12:
			hour = 0
		}
		return text[:at[0]] + " " + text[at[1]:], (hour*60 + past) % dayLong
	}
	return text, -1
}
