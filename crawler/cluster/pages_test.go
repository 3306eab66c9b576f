package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A reader follows pages and keeps what each states.
type reader struct {
	mu     sync.Mutex
	stream string
	seq    uint64
	pages  map[string]string // page → content
	all    []uint64          // numbers in the order in which they came
	pause  time.Duration     // for each call
}

func (r *reader) follow(ctx context.Context, v *Viewer) error {
	r.mu.Lock()
	from := PagesFollower{Stream: r.stream, Seq: r.seq}
	r.mu.Unlock()
	from.Begin = func(stream string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stream = stream
	}
	from.Take = func(_ context.Context, states []PageState, _ uint64) error {
		time.Sleep(r.pause)
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, s := range states {
			r.seq = s.Seq
			r.all = append(r.all, s.Seq)
			r.pages[s.Page] = string(s.Content)
			if s.Forgotten {
				r.pages[s.Page] += "forgotten"
			}
		}
		return nil
	}
	return v.FollowPages(ctx, from)
}

func (r *reader) has() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.pages)
}

func newReader() *reader { return &reader{pages: map[string]string{}} }

// follows lets r follow in the background until the test or stop ends it.
func (r *reader) follows(t *testing.T, v *Viewer) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.follow(ctx, v) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { stop() })
	return stop
}

func viewer(t *testing.T, o Options) *Viewer {
	t.Helper()
	v, err := View(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func pageState(page, revision int, content string) PageState {
	return PageState{Page: fmt.Sprintf("%016x", page), Revision: revision, Content: []byte(content)}
}

// Of each page the newest state counts, whoever published it, and one that is published twice is stored
// once. A follower goes on where it was, and another one begins with what is there.
func TestPages(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a, b := join(t, &memory{}, options(t, s, "a")), join(t, &memory{}, options(t, s, "b"))
	ctx := t.Context()
	publish := func(n *Node, states ...PageState) {
		t.Helper()
		if err := n.PublishPages(ctx, n.o.Name, states); err != nil {
			t.Fatal(err)
		}
	}
	v := viewer(t, options(t, s, "viewer"))
	one := newReader()
	stop := one.follows(t, v)
	publish(a, pageState(1, 1, "first"), pageState(2, 1, "two"))
	publish(b, pageState(1, 1, "second"))
	publish(b, pageState(1, 1, "second")) // its answer was lost
	gone := pageState(2, 2, "")
	gone.Forgotten = true
	publish(a, gone, pageState(3, 2, "three"))
	want := map[string]string{"0000000000000001": "second", "0000000000000002": "forgotten", "0000000000000003": "three"}
	until(t, "the pages", func() bool { return maps.Equal(one.has(), want) })
	if err := stop(); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	before := len(one.all)
	if !slices.IsSorted(one.all) || before > 5 {
		t.Errorf("numbers %v", one.all)
	}
	publish(b, pageState(4, 3, "four"))
	want["0000000000000004"] = "four"
	stop = one.follows(t, v)
	until(t, "the page of meanwhile", func() bool { return maps.Equal(one.has(), want) })
	stop()
	if len(one.all) != before+1 {
		t.Errorf("it got %v again", one.all[before:])
	}
	two := newReader()
	two.follows(t, v)
	until(t, "a new follower", func() bool { return maps.Equal(two.has(), want) })
	if len(two.all) != len(want) {
		t.Errorf("the stream holds %d messages of %d pages", len(two.all), len(want))
	}
}

// Where messages were removed, the stream gets another ID: a follower that is there learns it, and one
// that comes back, too. A message that cannot be read, and another format, are errors that say so.
func TestPagesCut(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	o := options(t, s, "a")
	a := join(t, &memory{}, o)
	ctx := t.Context()
	first, err := a.PagesStream(ctx)
	if err == nil {
		err = a.PublishPages(ctx, "a", []PageState{pageState(1, 1, "one"), pageState(2, 1, "two")})
	}
	if err != nil {
		t.Fatal(err)
	}
	v := viewer(t, options(t, s, "viewer"))
	there, away := newReader(), newReader()
	ended := make(chan error, 1)
	go func() { ended <- there.follow(ctx, v) }()
	away.stream, away.seq = first, 2
	until(t, "a follower", func() bool { return len(there.has()) == 2 })
	if err := a.pages.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if err := away.follow(ctx, v); !errors.Is(err, ErrNoPages) {
		t.Errorf("without a beginning: %v", err)
	}
	second, err := a.PagesStream(ctx)
	if err != nil || second == first {
		t.Fatalf("stream %s after %s, %v", second, first, err)
	}
	if err := <-ended; !errors.Is(err, ErrNewStream) {
		t.Errorf("the follower that was there: %v", err)
	}
	if err := away.follow(ctx, v); !errors.Is(err, ErrNewStream) {
		t.Errorf("of another stream: %v", err)
	}
	away.stream, away.seq = second, 1000
	if err := away.follow(ctx, v); !errors.Is(err, ErrNewStream) {
		t.Errorf("beyond the end: %v", err)
	}
	if _, err := a.js.Publish(ctx, a.pageSubject("0000000000000009"), []byte("no page")); err != nil {
		t.Fatal(err)
	}
	if err := newReader().follow(ctx, v); !errors.Is(err, ErrOtherFormat) || !strings.Contains(err.Error(), "message ") {
		t.Errorf("an unreadable message: %v", err)
	}
	newer := options(t, s, "viewer")
	newer.PagesFormat++
	if err := newReader().follow(ctx, viewer(t, newer)); !errors.Is(err, ErrOtherFormat) || !strings.Contains(err.Error(), "format 1, this one reads 2") {
		t.Errorf("of another format: %v", err)
	}
	o = options(t, s, "b")
	o.PagesFormat = 0
	if _, err := Join(ctx, &memory{}, o); !errors.Is(err, ErrOtherFormat) {
		t.Errorf("a node of an older format: %v", err)
	}
	o.PagesFormat = 2 // the next version begins anew
	if third, err := join(t, &memory{}, o).PagesStream(ctx); err != nil || third == second {
		t.Errorf("stream %s after %s, %v", third, second, err)
	}
}

// A node whose server others need waits, when it ends, until a slow follower has taken everything in.
func TestPagesLast(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	o := options(t, s, "a")
	o.Server, o.URL = s, ""
	o.Heartbeat = time.Second // it waits for 20 of them
	a := join(t, &memory{}, o)
	slow := newReader()
	slow.pause = 200 * time.Millisecond
	var states []PageState
	for i := range 10 * maxPages {
		states = append(states, pageState(i, 1, strings.Repeat("page ", 50)))
	}
	if err := a.PublishPages(t.Context(), "a", states); err != nil {
		t.Fatal(err)
	}
	slow.follows(t, viewer(t, options(t, s, "viewer")))
	until(t, "the follower to begin", func() bool { return len(slow.has()) > 0 })
	a.Close()
	s.Close()
	until(t, "the follower", func() bool { return len(slow.has()) == len(states) })
}

// A follower whose stream is gone returns an error instead of trying for ever, so that it can say so and end.
func TestFollowLostStream(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	if err := a.PublishPages(t.Context(), "a", []PageState{pageState(1, 1, "page")}); err != nil {
		t.Fatal(err)
	}
	r, v := newReader(), viewer(t, options(t, s, "viewer"))
	done := make(chan error, 1)
	go func() { done <- r.follow(t.Context(), v) }()
	until(t, "the follower to begin", func() bool { return len(r.has()) > 0 })
	if err := a.js.DeleteStream(t.Context(), a.o.Crawl+"-index"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("%v, want that there is no stream", err)
		}
	case <-time.After(time.Minute):
		t.Error("the follower still tries")
	}
}
