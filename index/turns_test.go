package index

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// The search that is done soonest goes first, and none is passed by more than
// maxPassed.
func TestTurns(t *testing.T) {
	heavy, light := shape{words: 3}, shape{words: 1}
	synctest.Test(t, func(t *testing.T) {
		turns := &turns{free: 1, usual: map[shape]time.Duration{heavy: 5 * time.Millisecond, light: time.Millisecond}}
		first, err := turns.take(t.Context(), light)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		begin := func(name string, s shape) {
			go func() {
				w, err := turns.take(t.Context(), s)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, name)
				turns.give(w)
			}()
			synctest.Wait()
		}
		begin("heavy", heavy)
		begin("heavy, too", heavy)
		for range maxPassed + 2 {
			begin("light", light)
		}
		turns.give(first)
		synctest.Wait()
		want := append(slices.Repeat([]string{"light"}, maxPassed), "heavy", "heavy, too", "light", "light")
		if !slices.Equal(order, want) {
			t.Errorf("%q", order)
		}
	})
}

// A search whose time is over gives its place up, and no turn is lost.
func TestTurnsEnd(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 30).Draw(r, "limits")
		room := rapid.IntRange(1, 3).Draw(r, "room")
		synctest.Test(t, func(t *testing.T) {
			turns := &turns{free: room}
			var working atomic.Int64
			for i, limit := range limits {
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(limit)*time.Millisecond)
					defer cancel()
					w, err := turns.take(ctx, shape{words: i % 4})
					if err != nil {
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Error(err)
						}
						return
					}
					if working.Add(1) > int64(room) {
						t.Errorf("more than %d work at once", room)
					}
					time.Sleep(3 * time.Millisecond)
					working.Add(-1)
					turns.give(w)
				}()
				synctest.Wait()
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if turns.free != room || len(turns.waiting) > 0 {
				t.Errorf("%d free of %d, %d wait", turns.free, room, len(turns.waiting))
			}
		})
	})
}
