package localtime

import (
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
)

func TestZone(t *testing.T) {
	for _, c := range []struct {
		country, state string
		at             orb.Point
		want           string
	}{
		{"DE", "", orb.Point{7.77, 49.44}, "Europe/Berlin"},
		{"GB", "", orb.Point{-3.2, 55.9}, "Europe/London"},
		{"US", "CA", orb.Point{-117.8, 33.68}, "America/Los_Angeles"}, // Irvine
		{"US", "AL", orb.Point{-86.6, 32.5}, "America/Chicago"},       // Autauga
		{"US", "", orb.Point{-74, 40.7}, "America/New_York"},
		{"AU", "", orb.Point{153, -27.5}, "Australia/Brisbane"},
		{"LI", "", orb.Point{9.5, 47.1}, "Europe/Zurich"},
		{"XX", "", orb.Point{1, 1}, "UTC"}, {"", "", orb.Point{}, "UTC"},
	} {
		if got := Zone(c.country, c.state, c.at).String(); got != c.want {
			t.Errorf("%s at %v: %s, want %s", c.country, c.at, got, c.want)
		}
	}
}

// Every row can be read, and its zone is known.
func TestZonesTable(t *testing.T) {
	rows := 0
	for row := range strings.Lines(zones) {
		rows++
		columns := strings.Fields(row)
		if len(columns) != 3 || position.FindString(columns[1]) == "" {
			t.Errorf("row %q", row)
			continue
		}
		if _, err := time.LoadLocation(columns[2]); err != nil {
			t.Error(err)
		}
	}
	if rows < 300 {
		t.Errorf("%d zones", rows)
	}
}

func TestHoliday(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		country, state, day string
		want                bool
	}{
		{"DE", "", "2026-10-03", true}, {"DE", "", "2026-12-25", true}, {"DE", "", "2026-04-03", true}, // Good Friday
		{"DE", "", "2026-11-28", false}, {"US", "", "2026-07-04", true}, {"US", "CA", "2026-11-26", true},
		{"FR", "", "2026-07-14", true}, {"GB", "", "2026-12-25", true}, {"XX", "", "2026-12-25", false},
		{"DE", "", "2026-11-01", false}, {"DE", "RP", "2026-11-01", true}, {"DE", "NI", "2026-11-01", false}, // All Saints
		{"DE", "RP", "2026-06-04", true}, {"DE", "BE", "2026-06-04", false}, // Corpus Christi
		{"DE", "NI", "2026-10-31", true}, {"DE", "RP", "2026-10-31", false}, // Reformation Day
		{"DE", "Pfalz", "2026-12-25", true}, {"DE", "RP", "2026-12-25", true},
		{"CH", "", "2026-08-01", true}, {"CH", "", "2026-08-15", false}, {"CH", "TI", "2026-08-15", true}, {"CH", "ZH", "2026-08-15", false},
	} {
		day, err := time.ParseInLocation("2006-01-02 15:04", c.day+" 23:30", berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := Holiday(c.country, c.state, day); got != c.want {
			t.Errorf("%s %s %s: %v", c.country, c.state, c.day, got)
		}
	}
}
