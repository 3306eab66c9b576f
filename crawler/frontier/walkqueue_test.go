package frontier_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gazehound/crawler/frontier"
)

// TestWalkQueue holds the walk against what was pushed: each URL that waits
// comes once, with its best link, and what was visited not at all.
func TestWalkQueue(t *testing.T) {
	f := open(t, frontier.Options{})
	var want []string
	for i := range 300 { // several groups
		e := entry(i%7, i, 0.5)
		e.Depth = i
		push(t, f, e)
		want = append(want, e.URL.String())
	}
	better := entry(0, 0, 0.9) // a better link to the first
	better.Depth = 5
	push(t, f, better)

	e, err := f.Next(t.Context(), func(string) time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	walk := func() (urls []string) {
		err := f.WalkQueue(t.Context(), func(n frontier.Node) error {
			urls = append(urls, n.URL.String())
			known, ok, err := f.Get(frontier.KeyOf(n.URL))
			if err != nil || !ok || n.State != frontier.Queued || known.Priority != n.Priority || known.Depth != n.Depth {
				t.Errorf("walked %+v, Get has %+v, %v, %v", n, known, ok, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(urls)
		return urls
	}
	slices.Sort(want)
	if got := walk(); !slices.Equal(got, want) { // a leased one waits, too
		t.Errorf("walked %d URLs %.3q …, want %d %.3q …", len(got), got, len(want), want)
	}
	if _, err := f.Done(t.Context(), e, frontier.Outcome{Kind: "page", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := walk(); slices.Contains(got, e.URL.String()) || len(got) != len(want)-1 {
		t.Errorf("walked %d URLs after a visit, want %d and not %s", len(got), len(want)-1, e.URL)
	}
	stop := errors.New("stop")
	if err := f.WalkQueue(t.Context(), func(frontier.Node) error { return stop }); err != stop {
		t.Errorf("error %v, want that of the function", err)
	}
	closed(t, f)
	if err := f.WalkQueue(t.Context(), func(frontier.Node) error { return nil }); !errors.Is(err, frontier.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
