package monitor

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
)

// Forget takes the lines that match out of a status file, which can be read afterwards.
func TestForget(t *testing.T) {
	name := filepath.Join(t.TempDir(), "status.json")
	matches := func(text string) bool { return strings.Contains(text, "gone.example") }
	if err := Forget(name, matches); err != nil {
		t.Errorf("without a file: %v", err)
	}
	stays, parked := report.SilentHost{Host: "stays.example", Reason: "robots", URLs: 2}, frontier.ParkedPattern{Host: "stays.example", Pattern: "/c/*", Links: 3}
	s := Snapshot{
		Pages: 9, At: time.Now().UTC(), Insight: &Insight{Advice: []string{"gone.example is slow", "add seeds"}},
		Silent:   []report.SilentHost{{Host: "gone.example", URLs: 1}, stays},
		ParkedBy: []frontier.ParkedPattern{{Host: "gone.example", Pattern: "/c/*"}, parked},
	}
	for _, insight := range []*Insight{s.Insight, nil} {
		s.Insight = insight
		if err := errors.Join(Write(name, s), Forget(name, matches)); err != nil {
			t.Fatal(err)
		}
		want := s
		want.Version, want.Silent, want.ParkedBy = version, []report.SilentHost{stays}, []frontier.ParkedPattern{parked}
		if insight != nil {
			want.Insight = &Insight{Advice: []string{"add seeds"}}
		}
		if got, err := Read(name); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
		}
	}
}
