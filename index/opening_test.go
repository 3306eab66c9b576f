package index

import (
	"testing"
	"time"
)

func TestClockIn(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		minute     int
	}{
		{"open monday 10:00", "open monday  ", 600}, {"Montag 10 Uhr", "Montag  ", 600}, {"um 18.30 Uhr offen", " offen", 1110},
		{"bar 10pm", "bar  ", 1320}, {"bakery 7am open", "bakery  open", 420}, {"cafe 12 a.m.", "cafe  ", 0}, {"at 5:30 p.m. bar", " bar", 1050},
		{"open at 8 am", "open  ", 480}, {"bar 24 Uhr", "bar  ", 0},
		{"Lange Straße 5 am Markt", "Lange Straße 5 am Markt", -1}, {"Hauptstr. 12", "Hauptstr. 12", -1}, {"67655", "67655", -1}, {"25 Uhr", "25 Uhr", -1},
		{"13 pm", "13 pm", -1}, {"10:75", "10:75", -1}, {"0631 12345", "0631 12345", -1}, {"", "", -1},
	} {
		if rest, minute := clockIn(c.text); rest != c.rest || minute != c.minute {
			t.Errorf("%q: %q, %d; want %q, %d", c.text, rest, minute, c.rest, c.minute)
		}
	}
}

// On a public holiday only the hours of holidays count.
func TestOpenOnHolidays(t *testing.T) {
	x := open(t)
	for name, hours := range map[string]string{"Werktags": "Mo-Fr 08:00-18:00", "Notdienst": "Mo-Fr 08:00-18:00; PH 10:00-12:00"} {
		d := page("https://"+name+".example/", name, "de", name+"\n{Lange Straße 5, 26122 Oldenburg|8.2140 53.1400}\nWillkommen")
		d.Addresses[0].Name, d.Addresses[0].Hours = name, hours
		put(t, x, d)
	}
	christmas := time.Date(2026, 12, 25, 11, 0, 0, 0, time.UTC) // a Friday
	for _, c := range []struct {
		open     string
		holidays []string
		want     int
	}{
		{"now", nil, 2}, {"now", []string{"2026-12-25"}, 1}, {"friday", []string{"2026-12-25"}, 1}, {"today 13:00", []string{"2026-12-25"}, 0},
		{"monday 13:00", []string{"2026-12-25"}, 2},
	} {
		r := find(t, x, Query{Filters: Filters{Open: c.open}, Now: christmas, Holidays: c.holidays})
		names := 0
		for _, h := range r.Hits {
			names += 1 + len(h.Names)
		}
		if names < c.want || c.want < 2 && r.Total != c.want || r.Open == nil {
			t.Errorf("%s with %v: %d, want %d", c.open, c.holidays, names, c.want)
		}
	}
	if r := find(t, x, Query{Filters: Filters{Open: "sunday"}, AnyTime: true, Now: christmas}); r.Total == 0 || r.Open == nil || r.Open.Day != 6 {
		t.Errorf("at any time: %d, %v", r.Total, r.Open)
	}
	if _, err := x.Search(t.Context(), Query{Filters: Filters{Open: "sometime"}}); err == nil {
		t.Error("a bad time is taken")
	}
}

// FuzzReadOpen: what is read is a minute of a week, and read again from its own words.
func FuzzReadOpen(f *testing.F) {
	for _, text := range []string{"now", "monday", "montag 10:00", "18:30", "am sonntag um 9 Uhr", "10 am", "24:00", "99:99", ""} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		open, ok := ReadOpen(text, now, nil)
		if ok && (open.Day < 0 || open.Day > 6 || open.Minute < -1 || open.Minute >= dayLong) {
			t.Fatalf("%q: %+v", text, open)
		}
	})
}
