package cluster

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"gazehound/crawler/frontier"
)

// The same links reach a node each time they are sent to it, although JetStream has seen messages
// with the same content.
func TestLinksComeBack(t *testing.T) {
	t.Parallel()
	const links = 40
	s := serve(t, nil)
	queues := map[string]*frontier.Frontier{"a": stored(t, entries(t, links)...), "b": stored(t)}
	a := join(t, queues["a"], options(t, s, "a"))
	ob := options(t, s, "b")
	queued := func(name string) int64 { return queues[name].Totals().Queued }
	for range 3 {
		b, err := Join(t.Context(), queues["b"], ob)
		if err != nil {
			t.Fatal(err)
		}
		share := int64(0)
		for _, e := range entries(t, links) {
			if b.Owner(e.URL) == "b" {
				share++
			}
		}
		if share == 0 || share == links {
			t.Fatalf("b owns %d of %d links", share, links)
		}
		until(t, "b to have its share", func() bool { return queued("a") == links-share && queued("b") == share })
		b.Close()
		if _, err := Leave(t.Context(), queues["b"], ob); err != nil {
			t.Fatal(err)
		}
		until(t, "a to have all links", func() bool {
			_, nodes := a.sharing()
			return queued("a") == links && queued("b") == 0 && len(nodes) == 1
		})
	}
	if n := a.State().Received; n == 0 {
		t.Error("a has received nothing")
	}
}

// A node that knows an older map gives links to the node that has left. Whoever receives what is sent
// to that node sends them to their owner once more, although it has sent them there before.
func TestLinksComeBackByAnOlderMap(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	fa, fb, fc := stored(t), stored(t), stored(t)
	a, b := join(t, fa, options(t, s, "a")), join(t, fb, options(t, s, "b"))
	oc := options(t, s, "c")
	c, err := Join(t.Context(), fc, oc)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := Leave(t.Context(), fc, oc); err != nil {
		t.Fatal(err)
	}
	until(t, "both to know that c has left", func() bool {
		return a.shares.Load().epoch == b.shares.Load().epoch && slices.Contains(a.shares.Load().left, "c")
	})
	theirs := slices.DeleteFunc(entries(t, 40), func(e frontier.Entry) bool { return a.Owner(e.URL) == "a" })
	links := int64(len(theirs))
	if links == 0 {
		t.Fatal("b owns none of the links")
	}
	route(t, a, theirs)
	until(t, "b to have its links", func() bool { return fb.Totals().Queued == links })
	for i := range theirs {
		theirs[i].Owner = "c" // as Moved of a node does that does not know yet that c has left
	}
	if left, err := fb.Leave(t.Context(), reasonMoved, nil, theirs...); int64(left) != links || err != nil {
		t.Fatalf("%d of %d links have left: %v", left, links, err)
	}
	until(t, "b to have its links again", func() bool { return fb.Totals().Queued == links })
}

// What a node sends again, because it was killed before it noted the sending, is stored once; the same
// links found again are another message.
func TestSentAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ob := options(t, s, "b")
	b, err := Join(t.Context(), &memory{}, ob)
	if err != nil {
		t.Fatal(err)
	}
	b.Close() // messages for it wait
	o, oa := frontier.Options{Dir: t.TempDir()}, options(t, s, "a")
	run := func(do func(a *Node, f *frontier.Frontier)) (messages uint64) {
		t.Helper()
		f, err := frontier.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		a, err := Join(t.Context(), f, oa)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		do(a, f)
		until(t, "all to be sent", func() bool { return f.Totals().Outgoing == 0 })
		info, err := a.links.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return info.State.Msgs
	}
	if n := run(func(*Node, *frontier.Frontier) {}); n != 0 {
		t.Fatalf("%d messages of nothing", n)
	}
	killed := t.TempDir() // the files of a as they were at the kill
	n := run(func(_ *Node, f *frontier.Frontier) {
		keep(t, f, "b", entries(t, 10)...)
		until(t, "the first message", func() bool { return f.Totals().Outgoing == 0 })
	})
	if n != 1 {
		t.Errorf("%d messages of one visit", n)
	}
	f, err := frontier.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, f, "b", entries(t, 10)...)
	if _, err := f.Outgoing(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(killed, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	if n := run(func(*Node, *frontier.Frontier) {}); n != 2 {
		t.Errorf("%d messages of the same links found twice", n)
	}
	o.Dir = killed
	if n := run(func(a *Node, f *frontier.Frontier) { keep(t, f, "b", entries(t, 3)...) }); n != 3 {
		t.Errorf("%d messages, want the two that were sent before and one of links found since", n)
	}
}

// Links that wait for an absent node go to the node that has its share, and when it comes back to
// it, in the same message as at first.
func TestLinksWaitTwice(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	oa, ob := options(t, s, "a"), options(t, s, "b")
	oa.Away = time.Second
	fa, fb := stored(t), stored(t)
	a := join(t, fa, oa)
	b, err := Join(t.Context(), fb, ob)
	if err != nil {
		t.Fatal(err)
	}
	both := func() bool { _, nodes := a.sharing(); return len(nodes) == 2 }
	until(t, "a to see b", both)
	b.Close()
	route(t, a, slices.DeleteFunc(entries(t, 20), func(e frontier.Entry) bool { return a.Owner(e.URL) == "a" }))
	until(t, "a to have b's links", func() bool { return fa.Totals().Queued > 0 && !both() && fa.Totals().Outgoing == 0 })
	links := fa.Totals().Queued
	join(t, fb, ob)
	until(t, "b to have its links", func() bool { return fa.Totals().Queued == 0 && fb.Totals().Queued == links })
}

// A node that saw all others idle does not end the crawl of one that has joined since.
func TestJoinsAtTheEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, &memory{}, options(t, s, "a"))
	_, seen := a.isOver(t.Context())
	b := join(t, stored(t, entries(t, 10)...), options(t, s, "b"))
	a.end(t.Context(), seen)
	if over, _ := b.isOver(t.Context()); over {
		t.Error("the crawl of b has ended before it began")
	}
	endCrawl(t, a)
	until(t, "b to see the end", func() bool { over, _ := b.isOver(t.Context()); return over })
}

// A node releases a host that it no longer needs long before the lease ends.
func TestLeasesAreReleased(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var gates []*Leases
	for _, name := range []string{"a", "b"} {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		gates = append(gates, join(t, &memory{}, o).Leases())
	}
	for _, g := range gates {
		for range 3 {
			until(t, "a turn", func() bool { return g.Claim("www.example.org") == 0 })
			g.Release("www.example.org")
		}
	}
}

// One node at a time requests from two hosts with the same IP address.
func TestLeasesSpareAddresses(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	gate := func(name string) *Leases {
		o := options(t, s, name)
		o.Lease = 10 * time.Minute
		return join(t, &memory{}, o).Leases()
	}
	a, b := gate("a"), gate("b")
	until(t, "a's turn", func() bool { return a.Claim("one.example:8080", "ip 192.0.2.1") == 0 })
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b.Claim("two.example", "ip 192.0.2.1") == 0 {
			t.Fatal("b asks another host at the address that a is asking")
		}
	}
	a.Release("one.example:8080", "ip 192.0.2.1")
	until(t, "b's turn", func() bool { return b.Claim("two.example", "ip 192.0.2.1") == 0 })
	b.Release("two.example", "ip 192.0.2.1")
}

// A worker that found the queue empty does not wait if links have arrived since: their arrival
// woke no worker.
func TestWaitLooks(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	a := join(t, stored(t, entries(t, 1)...), options(t, s, "a"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if more, err := a.Wait(ctx); !more || err != nil {
		t.Errorf("more %v, %v", more, err)
	}
}
