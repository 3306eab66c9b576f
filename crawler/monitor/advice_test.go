package monitor

import (
	"strings"
	"testing"
)

func TestAdvice(t *testing.T) {
	streets := func(all, recent int) *Insight { return &Insight{Streets: Coverage{All: all, Recent: recent}} }
	for _, c := range []struct {
		s    Snapshot
		ran  int64
		want string // the beginning; "": none
	}{
		{Snapshot{Queued: 9, HarvestRecent: 0.2, Insight: streets(100, 3)}, 1000,
			"Continue: 20.0 % of the last 1,000 pages are relevant, and they brought 3 new streets."},
		{Snapshot{Queued: 9, HarvestRecent: 0.2, Insight: streets(100, 1)}, 5000, "Continue: 20.0 % of the last 1,000 pages are relevant, and they brought 1 new street."},
		{Snapshot{Queued: 9, HarvestRecent: 0.2, Insight: streets(100, 0)}, 1000, "Stop: 20.0 % of the last 1,000 pages are relevant, and they brought 0 new streets."},
		{Snapshot{Queued: 9, HarvestRecent: 0, Insight: streets(100, 3)}, 1000, "Stop: 0.0 % "},
		{Snapshot{Queued: 9, HarvestRecent: 0.2}, 1000, "Continue: 20.0 % of the last 1,000 pages are relevant."},
		{Snapshot{Queued: 9, HarvestRecent: 0}, 1000, "Stop: 0.0 % of the last 1,000 pages are relevant. More seeds"},
		{Snapshot{Queued: 9}, 999, ""},
		{Snapshot{}, 5000, ""},
	} {
		c.s.PagesRun = c.ran
		got := Advice(&c.s)
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("after %d pages of %+v: %q, want %q", c.ran, c.s.Coverage(), got, c.want)
		}
	}
}
