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

// traps reports whether a forum or shop multiplies its pages.
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

// Facets returns links that narrow a list of goods.
func (c *canvas) Facets() string {
	if c.outline || c.s.kind != shop || !c.t.traps(c.at.site) {
		return ""
	}
	path := c.t.path(c.at)
	var links strings.Builder
	for range 10 {
		query := fmt.Sprintf("farbe=%s&groesse=%s&sort=%s&ab=%d", pick(&c.w, words().Colours),
			pick(&c.w, words().Sizes), pick(&c.w, words().Orders), c.w.n(500))
		links.WriteString(c.href(path+joint(path)+query, "Filter") + " ")
	}
	return links.String()
}

// The forms of the calendar's URLs.
const (
	monthForm = "/?monat=2006-01"
	dayForm   = "/tag/2006-01-02.html"
)

// calendar returns the template of a page of the calendar; the trap is a URL of a
// month or day, the home page the month of the demo.
func (c *canvas) calendar() (template string) {
	if c.at.page != homePage {
		return "calendar note"
	}
	var err error
	c.Day, err = time.Parse(dayForm, c.trap)
	if err == nil {
		return "calendar day"
	}
	c.Day, err = time.Parse(monthForm, c.trap)
	if err != nil {
		c.Day = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	}
	return "calendar month"
}

// Neighbours returns links to the month, the day before and the day after.
func (c *canvas) Neighbours() string {
	return c.dated(c.Day, monthForm) + c.dated(c.Day.AddDate(0, 0, -1), dayForm) +
		c.dated(c.Day.AddDate(0, 0, 1), dayForm)
}

// Days returns links to all days of the month, the month before and the month after.
func (c *canvas) Days() string {
	if c.outline || c.t.o.Finite {
		return ""
	}
	var days []string
	for d := c.Day; d.Month() == c.Day.Month(); d = d.AddDate(0, 0, 1) {
		days = append(days, c.dated(d, dayForm))
	}
	return c.htmlList(days) + c.dated(c.Day.AddDate(0, -1, 0), monthForm) + " " +
		c.dated(c.Day.AddDate(0, 1, 0), monthForm) + " "
}

// dated returns a link to a month or day; time begins in the year 1 and ends with
// 9999.
func (c *canvas) dated(d time.Time, form string) string {
	if d.Year() < 1 || d.Year() > 9999 {
		return ""
	}
	name := strconv.Itoa(d.Day())
	if form == monthForm {
		name = d.Format("01/2006")
	}
	return c.href(d.Format(form), name)
}
