package demo

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Some webs have no end. Three kinds are here: a calendar that goes on month
// by month, forums that put a session id into their links, and shops whose
// filters can be combined.

// traps tells whether a forum or shop multiplies its pages.
func (t *Town) traps(site int32) bool {
	k := t.sites[site].kind
	return !t.o.Finite && (k == forum && site%3 == 0 || k == shop && site%8 == 0)
}

// trapForm is what deeper and facets append to a path.
var trapForm = regexp.MustCompile(`[?&](sid=[0-9a-f]{8}|farbe=\w+&groesse=\w+&sort=\w+&ab=\d+)$`)

// deeper adds a session id to a path, another one for each page it stands on.
func deeper(path, trap string) string {
	h := fnv.New32a()
	h.Write([]byte(path + trap))
	return fmt.Sprintf("%s%ssid=%08x", path, joint(path), h.Sum32())
}

func joint(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

// facets writes links that narrow a list of goods.
func (c *canvas) facets() {
	if c.dry {
		return
	}
	path := c.t.path(c.at)
	for range 10 {
		colour, size := pick(&c.w, []string{"rot", "blau", "gruen", "gelb", "schwarz", "weiss"}), pick(&c.w, []string{"s", "m", "l", "xl", "xxl"})
		order := pick(&c.w, []string{"preis", "name", "neu", "beliebt"})
		c.put(c.href(fmt.Sprintf("%s%sfarbe=%s&groesse=%s&sort=%s&ab=%d", path, joint(path), colour, size, order, c.w.n(500)), "Filter"), " ")
	}
}

// The forms of the calendar's URLs.
const (
	monthForm = "/?monat=2006-01"
	dayForm   = "/tag/2006-01-02.html"
)

// calendarPage draws a page of the calendar; the trap is a URL of a month or day.
func (c *canvas) calendarPage(title string, n int32) {
	c.head(title + " – " + c.s.name)
	c.menu(nil)
	c.heading("h1", title)
	if n != homePage {
		c.prose(4)
		c.put(c.link(ref{c.at.site, homePage}, "Kalender"))
		return
	}
	if day, err := time.Parse(dayForm, c.trap); err == nil {
		c.heading("h2", day.Format("02.01.2006"))
		c.prose(2)
		c.put(c.dated(day, monthForm), c.dated(day.AddDate(0, 0, -1), dayForm), c.dated(day.AddDate(0, 0, 1), dayForm))
		return
	}
	month, err := time.Parse(monthForm, c.trap)
	if err != nil {
		month = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	}
	c.heading("h2", month.Format("01/2006"))
	if !c.t.o.Finite {
		var days []string
		for d := month; !c.dry && d.Month() == month.Month(); d = d.AddDate(0, 0, 1) {
			days = append(days, c.dated(d, dayForm))
		}
		c.list(days)
		c.put(c.dated(month.AddDate(0, -1, 0), monthForm), " ", c.dated(month.AddDate(0, 1, 0), monthForm), " ")
	}
	c.put(c.link(ref{c.t.local[0], homePage}, "Stadt"))
}

// dated returns a link to a month or day; time begins in the year 1 and ends with
// 9999.
func (c *canvas) dated(d time.Time, form string) string {
	if c.dry || d.Year() < 1 || d.Year() > 9999 {
		return ""
	}
	name := strconv.Itoa(d.Day())
	if form == monthForm {
		name = d.Format("01/2006")
	}
	return c.href(d.Format(form), name)
}
