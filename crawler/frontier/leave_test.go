package frontier_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gazehound/crawler/frontier"

	"pgregory.net/rapid"
)

// What has left is as if it had never been found: it can come back, and the
// totals add up, before and after a restart. It waits for its owner.
func TestLeave(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := frontier.Options{InMemory: true}
		if rapid.IntRange(0, 29).Draw(r, "on disk") == 0 { // which takes long to open
			o = frontier.Options{Dir: t.TempDir()}
		}
		w := newLeaving(t, r, o)
		defer func() { w.f.Close() }()
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			w.step(rapid.IntRange(0, len(w.all)-1).Draw(r, "url"))
			w.check()
		}
		w.end()
	})
}

// leaving is a frontier from which links leave, beside what must be in it.
type leaving struct {
	t              *testing.T
	r              *rapid.T
	options        frontier.Options
	f              *frontier.Frontier
	all            []frontier.Entry
	number         map[string]int // URL → place in all
	queued, parked map[int]bool
	hand           *frontier.Entry // what a worker has
	gone           []string        // what has left, in order
}

func newLeaving(t *testing.T, r *rapid.T, o frontier.Options) *leaving {
	const urls, hosts = 30, 3
	w := &leaving{t: t, r: r, options: o, f: open(t, o), number: map[string]int{}, queued: map[int]bool{},
		parked: map[int]bool{}}
	for i := range urls {
		e := entry(i%hosts, i, float64(i)/urls)
		push(t, w.f, e)
		w.all, w.number[e.URL.String()], w.queued[i] = append(w.all, e), i, true
	}
	return w
}

// step does something with the entry of that number, or with what the worker has.
func (w *leaving) step(i int) {
	steps := []string{"leave", "push", "next", "leave own", "park", "done", "reopen"}
	what := rapid.SampledFrom(steps).Draw(w.r, "what")
	switch {
	case what == "leave":
		w.leaveOf(i)
	case what == "push":
		w.push(i)
	case what == "next" && w.hand == nil && len(w.queued) > 0:
		e := next(w.t, w.f)
		w.hand = &e
	case what == "leave own" && w.hand != nil:
		w.leaveOwn()
	case what == "park" && w.hand != nil:
		w.hand.Parked = "pattern"
		err := w.f.Park(context.Background(), *w.hand)
		if err != nil {
			w.r.Fatal(err)
		}
		w.parked[w.drop()] = true
	case what == "done" && w.hand != nil:
		done(w.t, w.f, *w.hand, page)
		w.drop()
	case what == "reopen" && !w.options.InMemory:
		w.f.Close()
		w.f, w.hand = open(w.t, w.options), nil
	}
}

// drop takes from the worker what is queued no longer, and returns its number.
func (w *leaving) drop() int {
	i := w.number[w.hand.URL.String()]
	delete(w.queued, i)
	w.hand = nil
	return i
}

// leave makes e go to another node, own: by who has leased it.
func (w *leaving) leave(e frontier.Entry, own bool) (left int) {
	e.Owner = "b"
	var err error
	if own {
		left, err = w.f.Leave(context.Background(), "elsewhere", &e)
	} else {
		left, err = w.f.Leave(context.Background(), "elsewhere", nil, e)
	}
	if err != nil {
		w.r.Fatal(err)
	}
	if left > 0 {
		w.gone = append(w.gone, "b "+e.URL.String())
	}
	return left
}

func (w *leaving) leaveOf(i int) {
	left := w.leave(w.all[i], false)
	may := w.parked[i] || w.queued[i] && (w.hand == nil || w.number[w.hand.URL.String()] != i)
	if (left == 1) != may {
		w.r.Fatalf("left %d of %s, which may leave: %v", left, w.all[i].URL, may)
	}
	if may {
		delete(w.queued, i)
		delete(w.parked, i)
	}
}

func (w *leaving) leaveOwn() {
	left := w.leave(*w.hand, true)
	if left != 1 {
		w.r.Fatalf("left %d", left)
	}
	err := w.f.Return(*w.hand, frontier.Backoff{})
	if !errors.Is(err, frontier.ErrNotLeased) {
		w.r.Fatalf("return of what has left: %v", err)
	}
	w.drop()
}

func (w *leaving) push(i int) {
	push(w.t, w.f, w.all[i])
	n, ok, _ := w.f.Get(frontier.KeyOf(w.all[i].URL))
	switch {
	case !ok:
		w.r.Fatal("not known after Push")
	case n.State == frontier.Queued: // also if it was parked
		w.queued[i] = true
		delete(w.parked, i)
	}
}

// check holds the totals against what must be there.
func (w *leaving) check() {
	totals := w.f.Totals()
	if totals.Queued != int64(len(w.queued)) || totals.Parked != int64(len(w.parked)) {
		w.r.Fatalf("%d queued, %d parked, want %d, %d", totals.Queued, totals.Parked, len(w.queued), len(w.parked))
	}
	waits, ended := totals.Queued+totals.Parked, totals.Visited+totals.Repeats+totals.Dropped["elsewhere"]
	if totals.Links != waits+ended {
		w.r.Fatalf("%d links, %d accounted for", totals.Links, waits+ended)
	}
}

// end holds what waits for other nodes, and what can be served, against what must.
func (w *leaving) end() {
	got := waiting(w.r, w.f)
	if !slices.Equal(got, w.gone) {
		w.r.Fatalf("%q wait, want %q", got, w.gone)
	}
	if w.hand != nil {
		err := w.f.Return(*w.hand, frontier.Backoff{})
		if err != nil {
			w.r.Fatal(err)
		}
	}
	served := drain(w.t, w.f)
	if len(served) != len(w.queued) {
		w.r.Fatalf("%d served, want %d", len(served), len(w.queued))
	}
}

// Parked links leave, too. Their owner judges for itself whether to park them.
func TestParkedLinksLeave(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	for i := range 5 {
		e := entry(i%2, i, 0.5)
		e.Parked = []string{"p", "q"}[i/3]
		push(t, f, e)
	}
	push(t, f, entry(0, 9, 0.5))
	walked := func() (parked []frontier.Entry) {
		err := f.WalkParked(t.Context(), func(n frontier.Node) error {
			if n.State != frontier.Parked || n.Entry.Parked == "" {
				t.Errorf("a parked link is %s, under %q", n.State, n.Entry.Parked)
			}
			n.Owner = "b"
			parked = append(parked, n.Entry)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return parked
	}
	parked := walked()
	if left, err := f.Leave(t.Context(), "elsewhere", nil, parked...); left != 5 || len(parked) != 5 || err != nil {
		t.Fatalf("%d of %d have left: %v", left, len(parked), err)
	}
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir, Verify: true})
	patterns, err := f.Parked()
	if len(walked()) != 0 || len(patterns) != 0 || err != nil {
		t.Errorf("patterns %v (%v) are left", patterns, err)
	}
	if totals := f.Totals(); totals.Parked != 0 || totals.Queued != 1 {
		t.Errorf("%+v", totals)
	}
	out, err := f.Outgoing(t.Context())
	if len(out.Links) != 5 || err != nil {
		t.Fatalf("%d links wait, %v", len(out.Links), err)
	}
	for _, e := range out.Links {
		if e.Parked != "" {
			t.Errorf("%s is sent as parked under %q", e.URL, e.Parked)
		}
	}
}

// A link leaves for a node only.
func TestLeaveForNobody(t *testing.T) {
	f := open(t, frontier.Options{InMemory: true})
	push(t, f, entry(0, 0, 1))
	if left, err := f.Leave(t.Context(), "elsewhere", nil, entry(0, 0, 1)); left != 0 || err == nil || f.Totals().Queued != 1 {
		t.Errorf("left %d: %v", left, err)
	}
}
