package cluster

import (
	"testing"
	"time"

	"gazehound/crawler/polite"
)

// A node that does not need a host any more gives it back long before its
// lease ends.
func TestGateGivesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var gates []*Gate
	for _, name := range []string{"a", "b"} {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		gates = append(gates, join(t, &memory{}, o).Gate(free{}, nil))
	}
	for _, g := range gates {
		for range 3 {
			until(t, "a turn", func() bool { return g.Claim("www.example.org") == 0 })
			g.Visited("www.example.org", polite.Visit{})
		}
	}
}
