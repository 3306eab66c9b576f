package crawler

import (
	"time"

	"gazehound/crawler/polite"
)

// Open is the gate of a web that need not be spared: WARC files, or a made-up
// web in the same process.
type Open struct{}

// Claim always grants the turn.
func (Open) Claim(string) time.Duration { return 0 }

// Visited does nothing.
func (Open) Visited(string, polite.Visit) {}
