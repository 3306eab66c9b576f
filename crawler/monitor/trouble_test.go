package monitor

import (
	"slices"
	"testing"
	"time"
)

// The trend counts what came in each span, not what earlier runs had, and
// stands a pause and a clock that goes back.
func TestTroubles(t *testing.T) {
	var x troubles
	start := time.Unix(1_000_000, 0)
	see := func(second int, errors, skipped map[string]int64) {
		x.see(start.Add(time.Duration(second)*time.Second), map[string]map[string]int64{"error": errors, "skipped": skipped})
	}
	of := func(reason string) (trouble Trouble) {
		for _, one := range x.list() {
			if one.Reason == reason {
				trouble = one
			}
		}
		return trouble
	}
	see(0, map[string]int64{"dns": 7}, nil)
	see(1, map[string]int64{"dns": 9, "timeout": 1}, map[string]int64{"robots": 20})
	see(15, map[string]int64{"dns": 10, "timeout": 1}, map[string]int64{"robots": 20})
	last := func(reason string, n int) []int64 { tr := of(reason).Trend; return tr[len(tr)-n:] }
	if got := last("dns", 3); !slices.Equal(got, []int64{0, 2, 1}) || of("dns").Count != 10 {
		t.Errorf("dns %v of %+v", got, of("dns"))
	}
	if got := last("timeout", 2); !slices.Equal(got, []int64{1, 0}) {
		t.Errorf("timeout %v", got)
	}
	if list := x.list(); list[0].Reason != "robots" || list[0].Kind != "skipped" || len(list) != 3 || len(list[0].Trend) != trendSize {
		t.Errorf("list %+v", list)
	}
	see(5, map[string]int64{"dns": 11}, nil) // back in time: the present span has it
	if got := last("dns", 1); got[0] != 2 {
		t.Errorf("dns %v", got)
	}
	see(15+601, map[string]int64{"dns": 12}, nil)
	if got := of("dns").Trend; got[trendSize-1] != 1 || slices.Max(got[:trendSize-1]) != 0 {
		t.Errorf("after a pause %v", got)
	}
	see(1_000_000_000, map[string]int64{"dns": 12}, nil)
	if got := of("dns").Trend; slices.Max(got) != 0 {
		t.Errorf("after years %v", got)
	}
}
