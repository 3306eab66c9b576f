// Package localtime says what time it is at a place: its time zone and its public holidays.
package localtime

import (
	"cmp"
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // for systems without a zone database

	"github.com/paulmach/orb"
	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/us"
)

// zones are the rows of zone1970.tab of the tz database (public domain): the countries of a zone,
// the position of its principal town (ISO 6709), its name.
//
//go:embed zones.tab
var zones string

var position = regexp.MustCompile(`^([+-])(\d{2})(\d{2})(\d{2})?([+-])(\d{3})(\d{2})(\d{2})?$`)

// stateZones has the zone of most people in each state of the USA, whose zones have their
// principal towns far from their middle.
var stateZones = map[string]string{
	"America/New_York": "CT DC DE FL GA IN KY MA MD ME MI NC NH NJ NY OH PA RI SC VA VT WV",
	"America/Chicago":  "AL AR IA IL KS LA MN MO MS ND NE OK SD TN TX WI",
	"America/Denver":   "CO ID MT NM UT WY", "America/Phoenix": "AZ", "America/Los_Angeles": "CA NV OR WA",
	"America/Anchorage": "AK", "Pacific/Honolulu": "HI",
}

// Zone returns the time zone of a country (ISO 3166-1), in the USA of a state ("AL"), at a point,
// lon and lat: of the country's zones that whose principal town has the nearest longitude, since
// zones are stripes. That is a guess near their borders. UTC where the country has no zone.
func Zone(country, state string, p orb.Point) *time.Location {
	if country == "US" {
		for name, states := range stateZones {
			if state != "" && strings.Contains(states, state) {
				return load(name)
			}
		}
	}
	own, other := nearest{}, nearest{} // other: of zones that are a neighbour's first of all
	for row := range strings.Lines(zones) {
		columns := strings.Fields(row)
		if len(columns) < 3 {
			continue
		}
		switch countries := strings.Split(columns[0], ","); slices.Index(countries, country) {
		case -1:
		case 0:
			own.offer(columns[2], p, town(columns[1]))
		default:
			other.offer(columns[2], p, town(columns[1]))
		}
	}
	return load(cmp.Or(own.name, other.name))
}

// load returns the zone of a name, or UTC.
func load(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// A nearest is the zone with the nearest town so far.
type nearest struct {
	name     string
	distance float64
}

func (n *nearest) offer(name string, p, town orb.Point) {
	const ofLatitude = 0.25 // how much a degree of latitude counts beside one of longitude
	d := math.Hypot(p[0]-town[0], ofLatitude*(p[1]-town[1]))
	if n.name == "" || d < n.distance {
		n.name, n.distance = name, d
	}
}

// town reads a position such as "+4930+00828".
func town(text string) orb.Point {
	m := position.FindStringSubmatch(text)
	if m == nil {
		return orb.Point{}
	}
	degrees := func(sign, degree, minute, second string) float64 {
		d, _ := strconv.ParseFloat(degree, 64)
		m, _ := strconv.ParseFloat(minute, 64)
		s, _ := strconv.ParseFloat("0"+second, 64)
		d += m/60 + s/3600
		if sign == "-" {
			return -d
		}
		return d
	}
	return orb.Point{degrees(m[5], m[6], m[7], m[8]), degrees(m[1], m[2], m[3], m[4])}
}

// A Clock is that of a place.
type Clock struct {
	Zone    *time.Location // nil: UTC
	Country string         // ISO 3166-1, for its holidays; "": none is known
	State   string         // "RP" of Rhineland-Palatinate, for those of a state; "": only the country's count
	Fixed   time.Time      // that it shows always; zero: the time
}

// Now returns the time at the place.
func (c Clock) Now() time.Time {
	now := c.Fixed
	if now.IsZero() {
		now = time.Now()
	}
	if c.Zone == nil {
		return now.UTC()
	}
	return now.In(c.Zone)
}

// Holiday reports whether a day is a public holiday.
func (c Clock) Holiday(day time.Time) bool { return Holiday(c.Country, c.State, day) }

// Holidays returns the public holidays among a day and the seven after it, such as "2026-12-25".
func (c Clock) Holidays(from time.Time) (days []string) {
	for after := range 8 {
		if day := from.AddDate(0, 0, after); c.Holiday(day) {
			days = append(days, day.Format(time.DateOnly))
		}
	}
	return days
}

// holidays are those of whole countries.
var holidays = map[string][]*cal.Holiday{
	"AT": at.Holidays, "BE": be.Holidays, "CA": ca.Holidays, "CZ": cz.Holidays, "DE": de.Holidays,
	"DK": dk.Holidays, "ES": es.Holidays, "FR": fr.Holidays, "GB": gb.Holidays, "IE": ie.Holidays,
	"IT": it.Holidays, "NL": nl.Holidays, "NZ": nz.Holidays, "PL": pl.Holidays, "SE": se.Holidays,
	"US": us.Holidays,
	"CH": {ch.Neujahr, ch.Auffahrt, ch.Bundesfeiertag, ch.Weihnachtstag}, // of all cantons
}

// stateHolidays are all those of states and cantons, under country and state.
var stateHolidays = map[string][]*cal.Holiday{
	"DE BW": de.HolidaysBW, "DE BY": de.HolidaysBY, "DE BE": de.HolidaysBE, "DE BB": de.HolidaysBB,
	"DE HB": de.HolidaysHB, "DE HH": de.HolidaysHH, "DE HE": de.HolidaysHE, "DE MV": de.HolidaysMV,
	"DE NI": de.HolidaysNI, "DE NW": de.HolidaysNW, "DE RP": de.HolidaysRP, "DE SL": de.HolidaysSL,
	"DE SN": de.HolidaysSN, "DE ST": de.HolidaysST, "DE SH": de.HolidaysSH, "DE TH": de.HolidaysTH,
	"CH ZH": ch.HolidaysZH, "CH BE": ch.HolidaysBE, "CH LU": ch.HolidaysLU, "CH UR": ch.HolidaysUR,
	"CH SZ": ch.HolidaysSZ, "CH OW": ch.HolidaysOW, "CH NW": ch.HolidaysNW, "CH GL": ch.HolidaysGL,
	"CH ZG": ch.HolidaysZG, "CH FR": ch.HolidaysFR, "CH SO": ch.HolidaysSO, "CH BS": ch.HolidaysBS,
	"CH BL": ch.HolidaysBL, "CH SH": ch.HolidaysSH, "CH AR": ch.HolidaysAR, "CH AI": ch.HolidaysAI,
	"CH SG": ch.HolidaysSG, "CH GR": ch.HolidaysGR, "CH AG": ch.HolidaysAG, "CH TG": ch.HolidaysTG,
	"CH VD": ch.HolidaysVD, "CH TI": ch.HolidaysTI, "CH VS": ch.HolidaysVS, "CH NE": ch.HolidaysNE,
	"CH GE": ch.HolidaysGE, "CH JU": ch.HolidaysJU,
}

// Holiday reports whether a day is a public holiday in a state of a country (ISO 3166-1), or, where
// those of the state are not known, in all of the country.
func Holiday(country, state string, day time.Time) bool {
	list, ok := stateHolidays[country+" "+state]
	if !ok {
		list = holidays[country]
	}
	for _, h := range list {
		if actual, _ := h.Calc(day.Year()); sameDay(actual, day) {
			return true
		}
	}
	return false
}

func sameDay(a, b time.Time) bool {
	return a.Day() == b.Day() && a.Month() == b.Month() && a.Year() == b.Year()
}
