package demo

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
)

// Some webs have no end. Three kinds are here: a calendar that goes on month
// by month, forums that put a session id into their links, and shops whose
// filters can be combined.

// traps tells whether a forum or shop multiplies its pages.
func (t *Town) traps(site int) bool {
	s := &t.sites[site]
	return !t.o.Finite && (s.kind == forum && site%3 == 0 || s.kind == shop && site%8 == 0)
}

// deeper adds a session id to a path, another one for each page it stands on.
func deeper(path, trap string) string {
	h := fnv.New32a()
	h.Write([]byte(path))
	h.Write([]byte(trap))
	return path + joint(path) + fmt.Sprintf("sid=%08x", h.Sum32())
}

func joint(path string) string {
	if strings.Contains(path, "?") {
		return "&"
	}
	return "?"
}

var (
	facetColours = []string{"rot", "blau", "gruen", "gelb", "schwarz", "weiss"}
	facetSizes   = []string{"s", "m", "l", "xl", "xxl"}
	facetOrders  = []string{"preis", "name", "neu", "beliebt"}
)

// facets writes links that narrow a list of goods.
func (c *canvas) facets() {
	if c.dry {
		return
	}
	path := c.t.path(c.at)
	for range 10 {
		c.href(path+joint(path)+"farbe="+pick(&c.w, facetColours)+"&groesse="+pick(&c.w, facetSizes)+
			"&sort="+pick(&c.w, facetOrders)+"&ab="+strconv.Itoa(c.w.n(500)), "Filter")
		c.raw(" ")
	}
}

// validTrap tells whether a query was made by deeper or facets.
func validTrap(query string) bool {
	if id, ok := strings.CutPrefix(query, "sid="); ok {
		_, err := strconv.ParseUint(id, 16, 32)
		return err == nil && len(id) == 8
	}
	parts := strings.Split(query, "&")
	if len(parts) != 4 {
		return false
	}
	for i, name := range []string{"farbe=", "groesse=", "sort=", "ab="} {
		if !strings.HasPrefix(parts[i], name) || len(parts[i]) == len(name) || len(parts[i]) > 20 {
			return false
		}
	}
	return true
}

// calendarDate returns the date that a path of the calendar asks for; day 0
// stands for the whole month.
func calendarDate(bare, query string) (year, month, day int, ok bool) {
	if text, found := strings.CutPrefix(query, "monat="); found && bare == "/" {
		d, err := time.Parse("2006-01", text)
		return d.Year(), int(d.Month()), 0, err == nil
	}
	if text, found := strings.CutPrefix(bare, "/tag/"); found && query == "" {
		d, err := time.Parse("2006-01-02.html", text)
		return d.Year(), int(d.Month()), d.Day(), err == nil
	}
	return 0, 0, 0, false
}

// calendarPage draws a page of the calendar: the month that the trap names.
func (c *canvas) calendarPage(title string, n int32) {
	c.head(title + " – " + c.s.name)
	c.raw("<div id=\"inhalt\">\n")
	c.element("h1", title)
	if n != homePage {
		c.prose(4)
		c.link(ref{c.at.site, homePage}, "Kalender")
		return
	}
	month, day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), false
	if c.trap != "" {
		d, err := time.Parse(time.DateOnly, c.trap)
		if day = err == nil; !day { // day 00
			d, _ = time.Parse("2006-01", c.trap[:len("2006-01")])
		}
		month = d
	}
	if day {
		c.element("h2", month.Format("02.01.2006"))
		c.prose(2)
		c.href("/?monat="+month.Format("2006-01"), "Monat")
		for _, step := range []int{-1, 1} {
			if next := month.AddDate(0, 0, step); next.Year() > 0 && next.Year() < 10000 {
				c.href("/tag/"+next.Format("2006-01-02")+".html", next.Format("02.01.2006"))
			}
		}
		c.raw("</div>\n</body>\n</html>\n")
		return
	}
	c.element("h2", month.Format("01/2006"))
	if c.t.o.Finite {
		c.link(ref{c.t.local[0], homePage}, "Stadt")
		c.raw("</div>\n</body>\n</html>\n")
		return
	}
	c.raw("<table>\n")
	for d := month; !c.dry && d.Month() == month.Month(); d = d.AddDate(0, 0, 1) {
		c.raw("<tr><td>")
		c.href("/tag/"+d.Format("2006-01-02")+".html", strconv.Itoa(d.Day()))
		c.raw("</td></tr>\n")
	}
	c.raw("</table>\n")
	for _, step := range []int{-1, 1} {
		if next := month.AddDate(0, step, 0); next.Year() > 0 && next.Year() < 10000 {
			c.href("/?monat="+next.Format("2006-01"), next.Format("01/2006"))
			c.raw(" ")
		}
	}
	c.link(ref{c.t.local[0], homePage}, "Stadt")
	c.raw("</div>\n</body>\n</html>\n")
}
