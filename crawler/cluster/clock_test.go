package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// A node whose clock is an hour off keeps its share and its hosts: the others measure its absence
// by their own clocks.
func TestClockSkew(t *testing.T) {
	for name, skew := range map[string]time.Duration{"behind": -time.Hour, "ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			o := options(t, s, "a")
			o.Away = 3 * o.Heartbeat
			a := join(t, &memory{}, o)
			o.Name, o.Dir = "b", t.TempDir()
			b := join(t, &memory{}, o)
			gate := b.Leases()
			for gate.Claim("host.example") > 0 {
				time.Sleep(10 * time.Millisecond)
			}
			before := a.State().Epoch
			for end := time.Now().Add(3 * o.Away); time.Now().Before(end); time.Sleep(o.Heartbeat / 4) {
				m := b.State() // as its clock would have it
				m.At = m.At.Add(skew)
				raw, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := b.members.Put(t.Context(), "b", raw); err != nil {
					t.Fatal(err)
				}
			}
			nodes, epoch := a.shares.Load().nodes, a.shares.Load().epoch
			if len(nodes) != 2 || a.Alive() != 2 || epoch > before+1 {
				t.Errorf("nodes %v, %d alive, epoch %d after %d", nodes, a.Alive(), epoch, before)
			}
			// A lease holds no time that could be wrong.
			entry, err := b.hosts.Get(t.Context(), keyOf("host.example"))
			if err != nil {
				t.Fatal(err)
			}
			var h map[string]string
			if err := json.Unmarshal(entry.Value(), &h); err != nil || h["node"] != "b" || h["instance"] == "" || len(h) != 2 {
				t.Errorf("lease %s, %v", entry.Value(), err)
			}
			other := a.Leases()
			if _, _, err := other.take(context.Background(), keyOf("host.example"), false, 0); !errors.Is(err, errHeld) {
				t.Errorf("a takes b's host: %v", err)
			}
		})
	}
}

func TestClocksAgree(t *testing.T) {
	asked := time.Now()
	answered := asked.Add(time.Second)
	const most = 15 * time.Second
	for _, test := range []struct {
		theirs time.Time
		want   string
	}{
		{asked.Add(time.Second / 2), ""},
		{asked.Add(-most), ""},
		{answered.Add(most), ""},
		{time.Time{}, ""},
		{asked.Add(-time.Hour), "1h0m0s ahead"},
		{answered.Add(time.Hour), "1h0m0s behind"},
	} {
		err := clocksAgree(test.theirs, asked, answered, most)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%v: %v", test.theirs.Sub(asked), err)
		case test.want != "" && (!errors.Is(err, ErrClock) || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v: %v, want %q", test.theirs.Sub(asked), err, test.want)
		}
	}
}
