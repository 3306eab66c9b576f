package monitor

import (
	"slices"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// Addresses of private persons are counted, and nothing else of them is kept.
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
	if n := r.private; n != 2 {
		t.Errorf("%d counted, want 2", n)
	}
	private := Line{"private", "2 mentions of private persons' addresses, none kept"}
	if lines := Lines(&Snapshot{Private: 2}); !slices.Contains(lines, private) {
		t.Errorf("status says %q", lines)
	}
	for _, line := range Lines(&Snapshot{}) {
		if line.Title == "private" {
			t.Errorf("status says %q of none", line.Text)
		}
	}
}

// TestSilentLines has a line of the status for each silent host.
func TestSilentLines(t *testing.T) {
	s := &Snapshot{Silent: []report.SilentHost{
		{Host: "a.example", Reason: "dns", URLs: 2}, {Host: "b.example", Reason: "tls", URLs: 1}}}
	var got []Line
	for _, line := range Lines(s) {
		if line.Title == "silent" {
			got = append(got, line)
		}
	}
	want := []Line{{"silent", s.Silent[0].String()}, {"silent", s.Silent[1].String()}}
	if !slices.Equal(got, want) {
		t.Errorf("status says %q", got)
	}
}

// TestSummaryOfHouses names the command that writes the houses that are counted.
func TestSummaryOfHouses(t *testing.T) {
	s := new(Summary)
	one := "; 1 house not on the map (gazehound export csv --in-osm=false --data d)"
	for missing, want := range map[int]string{0: "", 1: one} {
		line := s.Lines(&Snapshot{}, missing, " --data d")[0]
		if _, houses, _ := strings.Cut(line, "%)"); houses != want {
			t.Errorf("%d missing: %q", missing, line)
		}
	}
}
