package monitor

import (
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// Addresses of private persons are counted, and nothing else is known of them.
func TestPrivateAreCounted(t *testing.T) {
	r := &Recorder{Board: NewBoard(), again: map[string]int{}}
	u, err := weburl.Parse("http://www.oldenburg.example/~harms/")
	if err != nil {
		t.Fatal(err)
	}
	v := &crawler.Visit{Entry: frontier.Entry{URL: u}}
	v.Outcome.Kind = "page"
	v.Verdict.Addresses = []geoparse.Address{{Private: true, InRegion: true}, {InRegion: true}, {Private: true}}
	r.Visit(v)
	if n := r.dropped(); n != 2 {
		t.Errorf("%d counted, want 2", n)
	}
	for _, f := range figures {
		if f.title == "private" {
			if got := f.line(&Snapshot{Private: 2}); got != "2 mentions of private persons' addresses, none kept" {
				t.Errorf("status says %q", got)
			}
			if got := f.line(&Snapshot{}); got != "" {
				t.Errorf("status says %q of none", got)
			}
		}
	}
}
