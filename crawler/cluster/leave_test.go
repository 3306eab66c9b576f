package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"

	"github.com/google/go-cmp/cmp"
)

// stored is a frontier on disk with these links in its queue.
func stored(t testing.TB, es ...frontier.Entry) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Push(context.Background(), es...); err != nil {
		t.Fatal(err)
	}
	return f
}

// keep lets links wait for a node.
func keep(t testing.TB, f Frontier, owner string, es ...frontier.Entry) {
	t.Helper()
	es = slices.Clone(es)
	for i := range es {
		es[i].Owner = owner
	}
	if _, err := f.Push(context.Background(), es...); err != nil {
		t.Fatal(err)
	}
}

// The queue of a node that leaves for good and what waits there go to the others at once, each link
// once; so do links sent to it before the others know. If the partition depends on the words of a
// link, they decide.
func TestLeave(t *testing.T) {
	t.Parallel()
	for _, method := range []partition.Method{partition.SiteHash, partition.ExtendedAnchor} {
		t.Run(string(method), func(t *testing.T) {
			s := serve(t, nil)
			change := func(o Options) Options {
				o.Definition.Partition = method
				if method == partition.ExtendedAnchor {
					o.Definition.Nodes = []partition.Node{{Name: "general"}} // which never joins
					for _, name := range []string{"a", "b", "c"} {
						o.Definition.Nodes = append(o.Definition.Nodes, partition.Node{Name: name, Cities: []partition.City{{Name: "City " + name, State: "S" + name, Population: 1000}}})
					}
				}
				return o
			}
			names := []string{"a", "b"}
			var nodes []*Node
			var queues []*memory
			for _, name := range names {
				m := &memory{}
				queues = append(queues, m)
				nodes = append(nodes, join(t, m, change(options(t, s, name))))
			}
			oc := change(options(t, s, "c"))
			es := entries(t, 200)
			for i := range es {
				es[i].Anchor = []string{"City a", "City b"}[i%2]
			}
			f := stored(t, es[:150]...)
			c, err := Join(t.Context(), f, oc)
			if err != nil {
				t.Fatal(err)
			}
			until(t, "a to see c", func() bool { _, names := nodes[0].sharing(); return len(names) == 3 })
			c.Close()
			waiting := f.Totals().Queued // some of it moved when the others joined
			keep(t, f, "c", es[150:]...)
			moved, err := Leave(t.Context(), f, oc)
			if err != nil {
				t.Fatal(err)
			}
			if int64(moved) != waiting || f.Totals().Queued != 0 {
				t.Errorf("%d links moved, %d of %d are still in the queue", moved, f.Totals().Queued, waiting)
			}
			until(t, "all links", func() bool { return len(queues[0].urls())+len(queues[1].urls()) >= 200 })
			var want []string
			for _, e := range es {
				want = append(want, e.URL.String())
			}
			slices.Sort(want)
			got := slices.Concat(queues[0].urls(), queues[1].urls())
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			for i, q := range queues {
				for _, e := range q.entries {
					owner := nodes[i].ownerOf(&e)
					if method == partition.ExtendedAnchor && owner != map[string]string{"City a": "a", "City b": "b"}[e.Anchor] {
						t.Errorf("a link %q is %s's", e.Anchor, owner)
					}
					if owner != names[i] {
						t.Errorf("%s has %s, which is %s's", names[i], e.URL, owner)
					}
				}
			}
			until(t, "c to be no node", func() bool { _, names := nodes[1].sharing(); return len(names) == 2 })
			// It may come back.
			if c, err = Join(t.Context(), f, oc); err != nil {
				t.Fatal(err)
			}
			c.Close()
		})
	}
}

// What a node that leaves has parked is queued at the others: they judge for themselves.
func TestLeaveWithParkedLinks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	fa := stored(t)
	a := join(t, fa, options(t, s, "a"))
	es := entries(t, 20)
	for i := range es {
		es[i].Parked = "pattern"
	}
	f, ob := stored(t), options(t, s, "b")
	b, err := Join(t.Context(), f, ob)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "a to see b", func() bool { _, names := a.sharing(); return len(names) == 2 })
	b.Close()
	if _, err := f.Push(t.Context(), es...); err != nil {
		t.Fatal(err)
	}
	moved, err := Leave(t.Context(), f, ob)
	if moved != len(es) || f.Totals().Parked != 0 || err != nil {
		t.Errorf("%d links moved, %d are still parked, %v", moved, f.Totals().Parked, err)
	}
	until(t, "all links", func() bool { return fa.Totals().Queued == int64(len(es)) })
}

// The last node cannot leave: no node would take its queue.
func TestLeaveAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	o := options(t, s, "a")
	f := stored(t, entries(t, 10)...)
	a, err := Join(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Leave(t.Context(), f, options(t, s, "a")); !errors.Is(err, ErrNameTaken) {
		t.Errorf("a node that runs: %v", err)
	}
	a.Close()
	if _, err := Leave(t.Context(), f, o); !errors.Is(err, ErrAlone) {
		t.Errorf("the last node: %v", err)
	}
	if n := f.Totals().Queued; n != 10 {
		t.Errorf("%d links are left in the queue, want 10", n)
	}
}

// A closed node releases its hosts: others need not wait for its leases to end.
func TestCloseGivesBack(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	gate := func(name string) (*Node, *Leases) {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		n := join(t, &memory{}, o)
		return n, n.Leases()
	}
	a, of := gate("a")
	until(t, "a turn", func() bool { return of.Claim("www.example.org") == 0 })
	of.Release("www.example.org")
	a.Close()
	_, of = gate("b")
	until(t, "a turn of another node", func() bool { return of.Claim("www.example.org") == 0 })
}

// A node can end while the cluster is gone and links wait to be sent; they are kept for its
// return.
func TestCloseWithoutCluster(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	o := options(t, s, "a")
	f := stored(t)
	a := join(t, f, o)
	s.Close()
	keep(t, f, "b", entries(t, 10)...)
	closed := make(chan struct{})
	go func() { a.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("the node does not end")
	}
	if out, err := f.Outgoing(t.Context()); err != nil || len(out.Links) != 10 {
		t.Errorf("%d links were not sent, want 10: %v", len(out.Links), err)
	}
}

// All nodes carry out a command once; only a pause applies to nodes that join later.
func TestActions(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var mu sync.Mutex
	done := map[string][]Action{}
	start := func(name string) *Node {
		o := options(t, s, name)
		o.Heartbeat = time.Second // a busy machine delays them, and who is silent need not obey
		n := join(t, &memory{}, o)
		n.OnAction(func(a Action) {
			mu.Lock()
			defer mu.Unlock()
			done[name] = append(done[name], a)
		})
		return n
	}
	a, b := start("a"), start("b")
	v, err := View(t.Context(), options(t, s, "viewer"))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	tell := func(action Action) {
		t.Helper()
		until(t, "a to see b", func() bool { return a.Alive() >= 2 })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		obeyed, silent, err := v.Do(ctx, action)
		if slices.Sort(obeyed); err != nil || len(silent) > 0 || !slices.Equal(obeyed, []string{"a", "b"}) {
			t.Fatalf("%s: %v obeyed, %v did not: %v", action, obeyed, silent, err)
		}
	}
	tell(Checkpoint)
	tell(Pause)
	if !a.State().Paused {
		t.Error("a does not say that it is paused")
	}
	late := start("late")
	late.Close()
	tell(Resume)
	start("later").Close()
	tell(Pause)
	go func() {
		for a.State().Obeyed < 4 {
			time.Sleep(10 * time.Millisecond)
		}
		until(t, "the stop", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.Contains(done["a"], Stop) && slices.Contains(done["b"], Stop)
		})
		a.Close()
		b.Close()
	}()
	tell(Stop)
	start("afterwards")
	mu.Lock()
	defer mu.Unlock()
	want := []Action{Checkpoint, Pause, Resume, Pause, Stop}
	if d := cmp.Diff(map[string][]Action{"a": want, "b": want, "late": {Pause}}, done); d != "" {
		t.Error(d)
	}
}

// endCrawl ends a crawl as a node does that sees all others idle.
func endCrawl(t testing.TB, n *Node) {
	t.Helper()
	until(t, "the end of the crawl", func() bool {
		_, seen := n.isOver(t.Context()) // 0 on a busy machine
		n.end(t.Context(), seen)
		over, _ := n.isOver(t.Context())
		return over
	})
}

// A node that was idle and is silent since does not count as idle: it may have taken links in.
func TestSilentIsNotIdle(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	b, err := Join(t.Context(), &memory{}, options(t, s, "b"))
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
	a := join(t, &memory{}, options(t, s, "a"))
	a.Workers(1)
	go a.Wait(t.Context())
	until(t, "a to see b", func() bool {
		idle, err := json.Marshal(Member{Name: "b", At: time.Now(), Idle: true}) // which expires soon
		if err == nil {
			_, err = a.members.Put(t.Context(), "b", idle)
		}
		return err == nil && a.Alive() == 2
	})
	until(t, "b's state to expire", func() bool { return a.Alive() == 1 })
	if over, _ := a.isOver(t.Context()); over {
		t.Error("the crawl has ended while b was silent")
	}
}

// All nodes end with their crawl, even if its only server is in the node that sees the end first.
func TestServerStaysForTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	oa := options(t, s, "a")
	oa.Server = s
	a, b := join(t, &memory{}, oa), join(t, &memory{}, options(t, s, "b"))
	until(t, "a to see b", func() bool { return a.Alive() == 2 })
	endCrawl(t, a)
	closed := make(chan struct{})
	go func() { a.Close(); close(closed) }()
	b.Workers(1)
	if more, err := b.Wait(t.Context()); more || err != nil {
		t.Fatalf("more %v, %v", more, err)
	}
	select {
	case <-closed:
		t.Error("the node with the server left before the other")
	default:
	}
	b.Close()
	<-closed
}

// A failed heartbeat counts as no node's absence; any other that a node misses counts, until the
// node is present again.
func TestMissed(t *testing.T) {
	absent := missed{}
	nodes := []string{"a", "b"}
	for _, test := range []struct {
		here string
		want missed
	}{
		{"a", missed{"a": 0, "b": 1}},
		{"b", missed{"a": 1, "b": 0}},
		{"b", missed{"a": 2, "b": 0}},
		{"a", missed{"a": 0, "b": 1}},
	} {
		absent.note(map[string]Member{test.here: {Name: test.here}}, nodes)
		if d := cmp.Diff(test.want, absent); d != "" {
			t.Errorf("%s is there: %s", test.here, d)
		}
	}
}

// A node that ends before the others keeps its server running for them until they have left or it
// is ended. None of them logs a lost connection.
func TestServeOn(t *testing.T) {
	t.Parallel()
	for _, impatient := range []bool{false, true} {
		s := serve(t, nil)
		oa, ob := options(t, s, "a"), options(t, s, "b")
		oa.Server = s
		var mu sync.Mutex
		var said []string
		ob.Log = func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprintf(format, args...))
		}
		a, b := join(t, &memory{}, oa), join(t, &memory{}, ob)
		until(t, "a to see b", a.Needed)
		if b.Needed() {
			t.Error("a node without a server is needed for it")
		}
		ctx, stop := context.WithCancel(t.Context())
		a.ServeOn(ctx)
		closed := make(chan struct{})
		go func() { a.Close(); close(closed) }()
		until(t, "b to see that a has left", func() bool { return b.Alive() == 1 })
		select {
		case <-closed:
			t.Error("the node with the server left before the other")
		default:
		}
		if impatient {
			stop()
			<-closed
		}
		b.Close()
		<-closed
		stop()
		s.Close()
		mu.Lock()
		if slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "connected") }) {
			t.Errorf("b said %q", said)
		}
		mu.Unlock()
	}
}

// A viewer that told all nodes to stop gets no warning that their server has gone.
func TestStopIsClean(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	asked := make(chan struct{})
	a.OnAction(func(Action) { close(asked) })
	o := options(t, s, "viewer")
	var mu sync.Mutex
	var said []string
	o.Log = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, args...))
	}
	v, err := View(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	go func() {
		<-asked
		a.Close()
		s.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if done, silent, err := v.Do(ctx, Stop); err != nil || len(silent) > 0 || !slices.Equal(done, []string{"a"}) {
		t.Fatalf("%v obeyed, %v did not: %v", done, silent, err)
	}
	until(t, "the connection to be gone", func() bool { return !v.c.conn.IsConnected() })
	mu.Lock()
	defer mu.Unlock()
	if len(said) > 0 {
		t.Errorf("the viewer says %q", said)
	}
}
