package monitor

import (
	"slices"
	"testing"
	"time"
)

// The trend counts the events of each span, not those of earlier runs, and survives a clock that is
// set back.
func TestTroubles(t *testing.T) {
	b := NewBoard()
	start := time.Unix(1_000_000, 0)
	see := func(second int, errors, skipped map[string]int64) {
		b.Tick(Snapshot{At: start.Add(time.Duration(second) * time.Second), Errors: errors, Skipped: skipped})
	}
	of := func(reason string, n int) (count int64, trend []int64) {
		for _, one := range b.Troubles() {
			if one.Reason == reason {
				return one.Count, one.Trend[len(one.Trend)-n:]
			}
		}
		return 0, nil
	}
	see(0, map[string]int64{"dns": 7}, nil)
	see(10, map[string]int64{"dns": 9, "timeout": 1}, map[string]int64{"robots": 20})
	see(15, map[string]int64{"dns": 10, "timeout": 1}, map[string]int64{"robots": 20})
	if count, got := of("dns", 3); !slices.Equal(got, []int64{0, 2, 1}) || count != 10 {
		t.Errorf("dns %v of %d", got, count)
	}
	if _, got := of("timeout", 2); !slices.Equal(got, []int64{1, 0}) {
		t.Errorf("timeout %v", got)
	}
	if list := b.Troubles(); list[0].Reason != "robots" || list[0].Kind != "skipped" || len(list) != 3 || len(list[0].Trend) != trendSize {
		t.Errorf("list %+v", list)
	}
	see(5, map[string]int64{"dns": 11}, nil) // back in time
	if _, got := of("dns", 1); got[0] != 0 {
		t.Errorf("dns %v", got)
	}
	see(7, map[string]int64{"dns": 12}, nil)
	if _, got := of("dns", 2); !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("dns %v", got)
	}
	for i := range 2 * trendSize {
		see(20+10*i, map[string]int64{"dns": 12 + int64(i)}, nil)
	}
	if count, got := of("dns", trendSize); slices.Min(got[:trendSize-1]) != 1 || count != 11+2*trendSize {
		t.Errorf("%d, %v", count, got)
	}
}
