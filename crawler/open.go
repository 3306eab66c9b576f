package crawler

import (
	"context"
	"time"

	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
)

// Open is the Gate of a web that needs no politeness: WARC files, or a made-up web in the same
// process.
type Open struct{}

// Claim always grants the slot.
func (Open) Claim(string) time.Duration { return 0 }

// Check allows everything.
func (Open) Check(context.Context, weburl.URL) (polite.Decision, error) {
	return polite.Decision{Now: true}, nil
}

// Reserved says that no rights are reserved.
func (Open) Reserved(context.Context, weburl.URL) (bool, time.Duration, error) { return false, 0, nil }

// Visited does nothing.
func (Open) Visited(string, polite.Visit) {}
