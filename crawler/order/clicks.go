package order

import (
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/predictor/clicklog"
)

// maxUnlinked bounds the pages of access logs that become seeds.
const maxUnlinked = 10_000

// Clicks is the evidence of access logs, for Trend.
type Clicks struct {
	Stay  func(weburl.URL) float64 // how long people stay on a page, 0 to 1
	Time  func(weburl.URL) float64 // the same in seconds, of all sessions
	Known []weburl.URL             // pages on the sites of the seeds, the longest stay first
	Pages int                      // that the logs know
}

// ReadClicks reads the importance of pages from the click store in dir; seeds name the sites of the
// crawl. The error wraps fs.ErrNotExist if no log was imported.
func ReadClicks(dir string, seeds []weburl.URL) (Clicks, error) {
	table, err := clicklog.Load(dir)
	if err != nil {
		return Clicks{}, err
	}
	c := Clicks{Pages: table.Len()}
	either := func(of func(url string) float64) func(weburl.URL) float64 {
		return func(u weburl.URL) float64 { // https and http are one page, as they are in the crawl
			text, other := u.String(), u.Plain().String()
			if rest, ok := strings.CutPrefix(text, "http://"); ok {
				other = "https://" + rest
			}
			return max(of(text), of(other))
		}
	}
	c.Stay = either(table.Importance)
	c.Time = either(func(url string) float64 { return table.Stay(url).Seconds() })
	sites := map[string]bool{}
	for _, u := range seeds {
		sites[u.Site()] = true
	}
	if len(sites) == 0 {
		return c, nil
	}
	longest, err := clicklog.Longest(dir, maxUnlinked, func(p clicklog.Page) bool {
		u, err := weburl.Parse(p.URL)
		return err == nil && sites[u.Site()] && p.Stay > 0
	})
	for _, p := range longest {
		u, err := weburl.Parse(p.URL)
		if err != nil {
			return c, err
		}
		c.Known = append(c.Known, u)
	}
	return c, err
}

// LR returns the Options.Stay for these settings.
func (c Clicks) LR(s Settings) func(weburl.URL) float64 {
	if s.Importance == published {
		return c.Time
	}
	return c.Stay
}
