// Package clicklog turns the access logs of web servers into the importance
// of pages: how long people stayed on each, LR(d) in equation 4 of
// Ahmadi-Abkenari & Selamat 2010.
//
// A Store keeps the page views of all imported logs in a file, so memory does not grow
// with the logs. Rank sorts them into
// sessions and these into a Table: exact, independent of the order of import,
// and bounded (an external sort, no sketch).
//
// Addresses of clients are never stored: a view keeps a keyed hash whose key
// is drawn at random for each store.
package clicklog

import (
	"errors"
	"fmt"
	"time"
)

// Options define page views and sessions.
type Options struct {
	// Site is put before targets that are only a path: "https://www.example.org".
	// Without it a log whose lines name no host is an error.
	Site string
	// Canonical returns the canonical form of an absolute URL; false: not a web page's URL. Nil
	// keeps URLs as they are.
	Canonical func(raw string) (string, bool)
	// Idle ends a session: a pause longer than this. 1 minute to 24 hours.
	Idle time.Duration
	// LastPage is the time credited to the last page of a session, whose end no log has. 0 to Idle.
	LastPage time.Duration
	// MaxPerMinute is how many pages a person can open in one minute, on
	// average over any minute of the log; a client above it is a program.
	MaxPerMinute int
	// Views is how many page views are held in memory before they are
	// written, at about 100 bytes each.
	Views int
}

// DefaultOptions are half an hour of idle time, nothing for last pages, 40
// pages a minute and 100,000 views in memory.
func DefaultOptions() Options {
	return Options{Idle: 30 * time.Minute, MaxPerMinute: 40, Views: 100_000}
}

// Validate returns an error that names the option out of range.
func (o Options) Validate() error {
	switch {
	case o.Idle < time.Minute || o.Idle > 24*time.Hour:
		return fmt.Errorf("idle time must be 1m to 24h, got %v", o.Idle)
	case o.LastPage < 0 || o.LastPage > o.Idle:
		return fmt.Errorf("time of a last page must be 0s to the idle time of %v, got %v", o.Idle, o.LastPage)
	case o.MaxPerMinute < 1:
		return fmt.Errorf("pages a minute must be at least 1, got %d", o.MaxPerMinute)
	case o.Views < 1:
		return fmt.Errorf("views in memory must be at least 1, got %d", o.Views)
	}
	return nil
}

// A Page sums up the logs of one page.
type Page struct {
	URL      string
	Stay     time.Duration // LR(d): total time of all sessions on the page
	Visits   int64         // page views
	Sessions int64         // sessions with at least one view of it
}

// Counts are the outcomes of the lines of an import. They add up to Lines.
type Counts struct {
	Lines   int64 `json:"lines"`   // read in this import
	Views   int64 `json:"views"`   // page views kept
	Robots  int64 `json:"robots"`  // views by programs, by their User-Agent
	Assets  int64 `json:"assets"`  // images, styles, scripts and other parts of pages
	Others  int64 `json:"others"`  // other methods than GET, and answers other than 200 and 304
	Foreign int64 `json:"foreign"` // URLs that Canonical refused
	Bad     int64 `json:"bad"`     // not a line of a known format
	Before  int64 `json:"-"`       // bytes skipped because an earlier import had them
}

var (
	// ErrFormat means that a file holds no access log.
	ErrFormat = errors.New("not an access log in the common or combined format")
	// ErrNoSite means that a log names no hosts and no option does.
	ErrNoSite = errors.New("the log names no hosts")
)
