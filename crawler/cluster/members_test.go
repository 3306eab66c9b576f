package cluster

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"
)

// A list of nodes includes those that write their state while it is read.
func TestMembersWhileTheyWrite(t *testing.T) {
	n := join(t, &memory{}, options(t, serve(t, nil), "a"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var writers sync.WaitGroup
	defer writers.Wait()
	for _, name := range []string{"b", "c", "d"} {
		raw, err := json.Marshal(Member{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		write := func() error { _, err := n.members.Put(ctx, name, raw); return err }
		if err := write(); err != nil {
			t.Fatal(err)
		}
		writers.Go(func() {
			for write() == nil {
				time.Sleep(time.Millisecond)
			}
		})
	}
	lists := 0
	for ; ; lists++ {
		all, err := n.Members(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 4 {
			t.Fatalf("list %d has %d nodes of 4", lists, len(all))
		}
	}
	if lists == 0 {
		t.Error("no list was made")
	}
}
