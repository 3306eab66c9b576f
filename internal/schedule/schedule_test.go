package schedule

import (
	"strings"
	"testing"
	"time"
)

const layout = "Mon 2006-01-02 15:04"

func at(t *testing.T, text, zone string) time.Time {
	t.Helper()
	where, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	tm, err := time.ParseInLocation("2006-01-02 15:04", text, where)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schedule, now, start, end string }{
		{"22:00-06:00", "2026-11-28 12:00", "Sat 2026-11-28 22:00", "Sun 2026-11-29 06:00"},
		{"22:00-06:00", "2026-11-28 22:00", "Sat 2026-11-28 22:00", "Sun 2026-11-29 06:00"},
		{"22:00-06:00", "2026-11-29 03:30", "Sun 2026-11-29 03:30", "Sun 2026-11-29 06:00"},
		{"22:00-06:00", "2026-11-29 06:00", "Sun 2026-11-29 22:00", "Mon 2026-11-30 06:00"},
		{"01:00 - 5:30", "2026-12-31 23:00", "Fri 2027-01-01 01:00", "Fri 2027-01-01 05:30"},
		{"Sun 02:00", "2026-11-28 12:00", "Sun 2026-11-29 02:00", ""},
		{"Sun 02:00", "2026-11-29 02:01", "Sun 2026-12-06 02:00", ""},
		{"sunday 22:00-04:00", "2026-11-30 01:00", "Mon 2026-11-30 01:00", "Mon 2026-11-30 04:00"},
		{"tue 8:15", "2026-12-01 08:15", "Tue 2026-12-01 08:15", ""},
		{"04:00", "2026-11-28 04:01", "Sun 2026-11-29 04:00", ""},
		// clocks are put forward and back
		{"02:30-04:00", "2027-03-27 12:00", "Sun 2027-03-28 03:30", "Sun 2027-03-28 04:00"},
		{"22:00-06:00", "2026-10-24 23:00", "Sat 2026-10-24 23:00", "Sun 2026-10-25 06:00"},
	} {
		s, err := Parse(c.schedule)
		if err != nil {
			t.Errorf("%s: %v", c.schedule, err)
			continue
		}
		w := s.Next(at(t, c.now, "Europe/Berlin"))
		end := ""
		if !w.End.IsZero() {
			end = w.End.Format(layout)
		}
		if start := w.Start.Format(layout); start != c.start || end != c.end || s.Continuous() {
			t.Errorf("%s at %s: %s to %s, want %s to %s", c.schedule, c.now, start, end, c.start, c.end)
		}
	}
	now := time.Now()
	s, err := Parse(" Continuous ")
	if w := s.Next(now); err != nil || !s.Continuous() || !w.Start.Equal(now) || !w.End.IsZero() {
		t.Errorf("continuous: %v, %v", w, err)
	}
}

// No schedule that makes no sense is accepted, and the error says what is wanted.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "nightly", "25:00-06:00", "22:61", "22:00-22:00", "Someday 02:00", "s 02:00",
		"22-06", "Sun", "02:00 Sun", "22:00-06:00-08:00", "-1:00", "Sun 02:00, Mon 02:00", strings.Repeat("9", 1000) + ":00"} {
		if s, err := Parse(text); err == nil || !strings.Contains(err.Error(), "22:00-06:00") || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v, %v", text, s, err)
		}
	}
}

// A window holds now or comes after it within a week, and ends after it begins.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"continuous", "22:00-06:00", "Sun 02:00", "mo 1:00-0:59"} {
		f.Add(text, int64(1_795_867_200))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		now := time.Unix(unix%(1<<40), 0).UTC()
		w := s.Next(now)
		if w.Start.Before(now) || w.Start.Sub(now) > 8*24*time.Hour || !w.End.IsZero() && (!w.End.After(w.Start) || w.End.Sub(w.Start) > 24*time.Hour) {
			t.Errorf("%q at %v: %v", text, now, w)
		}
	})
}
