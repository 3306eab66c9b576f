// Package schedule says when the rounds of a crawl begin and end.
package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Schedule is "continuous", "22:00-06:00" (every night), "22:00" (every day, without an end),
// "Sun 02:00" or "Sun 02:00-08:00" (every week). Its zero value is continuous. Times are those of a
// wall clock.
type Schedule struct {
	timed      bool
	weekly     bool
	day        time.Weekday // of weekly
	start, end int          // minutes since midnight; end -1: none; end before start: on the next day
}

// A Window is the time of one round. Start is now if it has begun; a zero End is none.
type Window struct{ Start, End time.Time }

// form matches a day, a time and a further time.
var form = regexp.MustCompile(`^(?:([a-z]+) +)?(\d{1,2}):(\d{2})(?: *[-–] *(\d{1,2}):(\d{2}))?$`)

// Parse reads a schedule. Its errors say what is wanted.
func Parse(text string) (Schedule, error) {
	bad := func(why string) (Schedule, error) {
		return Schedule{}, fmt.Errorf("must be continuous, a time of every day such as 22:00-06:00, or of a week such "+
			"as \"Sun 02:00\", got %.40q%s", text, why)
	}
	folded := strings.ToLower(strings.TrimSpace(text))
	if folded == "continuous" {
		return Schedule{}, nil
	}
	m := form.FindStringSubmatch(folded)
	if m == nil {
		return bad("")
	}
	s := Schedule{timed: true, end: -1}
	if m[1] != "" {
		s.weekly = true
		found := false
		for d := time.Sunday; d <= time.Saturday; d++ {
			name := strings.ToLower(d.String())
			if len(m[1]) >= 2 && strings.HasPrefix(name, m[1]) {
				s.day, found = d, true
			}
		}
		if !found {
			return bad(fmt.Sprintf(": %q is no day of the week", m[1]))
		}
	}
	var ok bool
	s.start, ok = minutes(m[2], m[3])
	if !ok {
		return bad(": a day has 24 hours of 60 minutes")
	}
	if m[4] == "" {
		return s, nil
	}
	s.end, ok = minutes(m[4], m[5])
	if !ok {
		return bad(": a day has 24 hours of 60 minutes")
	}
	if s.end == s.start {
		return bad(": it ends when it begins")
	}
	return s, nil
}

// minutes returns the minutes since midnight.
func minutes(hour, minute string) (int, bool) {
	h, _ := strconv.Atoi(hour) // digits
	m, _ := strconv.Atoi(minute)
	return h*60 + m, h < 24 && m < 60
}

// Continuous reports whether a round follows the other at once.
func (s Schedule) Continuous() bool { return !s.timed }

// Next returns the window that is open at a time, or the next one, in the zone of now. The
// window of a continuous schedule is open and has no end.
func (s Schedule) Next(now time.Time) Window {
	if !s.timed {
		return Window{Start: now}
	}
	for day := -1; ; day++ { // a window may have begun yesterday; a week later there is one
		w := s.on(now, day)
		switch {
		case s.weekly && w.Start.Weekday() != s.day:
		case w.Start.After(now), w.Start.Equal(now):
			return w
		case w.End.After(now):
			w.Start = now
			return w
		}
	}
}

// on returns the window that begins so many days after the day of now.
func (s Schedule) on(now time.Time, day int) Window {
	y, m, d := now.Date()
	at := func(day, minutes int) time.Time {
		return time.Date(y, m, d+day, minutes/60, minutes%60, 0, 0, now.Location())
	}
	w := Window{Start: at(day, s.start)}
	switch {
	case s.end < 0:
	case s.end > s.start:
		w.End = at(day, s.end)
	default:
		w.End = at(day+1, s.end)
	}
	return w
}
