package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/frontier"

	"github.com/nats-io/nats.go/jetstream"
	"pgregory.net/rapid"
)

// Agents receive over JetStream as many bits as equation 8 says, and their order is that of agents
// in one process.
func TestAgree(t *testing.T) {
	s := serve(t, func(o *ServerOptions) { o.Listen = "" })
	queues := [][]float64{{.9, .8, .3, .2, .1, .1}, {.7, .7, .7, .6, .6, .6}, {1, .1, .1, 0, 0, 0}}
	o := Order{URLs: 6, Parts: 3, Lambda: 4}
	turns, heard, err := Agree(t.Context(), s, o, queues)
	if err != nil {
		t.Fatal(err)
	}
	f := nugget.Format{Agents: 3, Parts: 3, Lambda: 4}
	want, _, err := nugget.Order(f, queues)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(turns, want) {
		t.Errorf("order %v, want %v", turns, want)
	}
	if heard.Bits != int64(f.Overhead()) || heard.Nuggets != 3*2*3 || heard.Bytes <= heard.Bits/8 {
		t.Errorf("heard %+v, equation 8 says %d bits", heard, f.Overhead())
	}
}

// A queueOf is a frontier whose foremost links have the same priority.
type queueOf struct {
	memory
	mu       sync.Mutex
	priority float64
	links    int
}

func (q *queueOf) Totals() frontier.Totals {
	q.mu.Lock()
	defer q.mu.Unlock()
	return frontier.Totals{Queued: int64(q.links)}
}

func (q *queueOf) Front(n int) ([]frontier.Entry, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	es := make([]frontier.Entry, min(n, q.links))
	for i := range es {
		es[i].Priority = q.priority
	}
	return es, nil
}

func (q *queueOf) set(priority float64, links int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.priority, q.links = priority, links
}

// orderedNodes returns nodes that keep one order, with endless queues of links of these
// priorities, their queues, and a function that reports a started page.
func orderedNodes(t *testing.T, order *Order, priorities ...float64) (nodes []*Node, queues []*queueOf, begun []chan struct{}) {
	s := serve(t, nil)
	for i, priority := range priorities {
		o := options(t, s, string(rune('a'+i)))
		o.Definition.Order, o.Patience = order, time.Minute
		q := &queueOf{priority: priority, links: 1000}
		nodes, queues, begun = append(nodes, join(t, q, o)), append(queues, q), append(begun, make(chan struct{}))
	}
	until(t, "the map of all nodes", func() bool {
		return !slices.ContainsFunc(nodes, func(n *Node) bool { _, names := n.sharing(); return len(names) != len(nodes) })
	})
	ctx, stop := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for i, n := range nodes {
		workers.Go(func() {
			for ctx.Err() == nil && n.Admit(ctx) == nil {
				select {
				case begun[i] <- struct{}{}:
				case <-ctx.Done():
				}
			}
		})
	}
	t.Cleanup(func() { stop(); workers.Wait() })
	return nodes, queues, begun
}

// Of three nodes with many links each, those with better links start pages and the others wait
// until theirs are as good; a node without links, or one that is gone, holds up no other.
func TestTurns(t *testing.T) {
	t.Parallel()
	nodes, queues, begun := orderedNodes(t, &Order{URLs: 64, Parts: 4, Lambda: 16}, .9, .8, .1)
	take := func(i int) bool {
		select {
		case <-begun[i]:
			return true
		case <-time.After(time.Minute):
			return false
		}
	}
	for i := range nodes { // what each was granted before the others joined
		for range 16 {
			if !take(i) {
				t.Fatalf("%s does not begin its first pages", nodes[i].Name())
			}
		}
	}
	for page := range 1000 {
		for i := range 2 {
			if !take(i) {
				t.Fatalf("%s does not begin page %d: %+v", nodes[i].Name(), page, nodes[i].Order())
			}
		}
	}
	c := nodes[2].Order()
	if c.Rounds < 5 || c.Turns > 2 {
		t.Errorf("after %d rounds the worst node had %d turns", c.Rounds, c.Turns)
	}
	queues[0].set(.05, 1000)
	queues[1].set(0, 0)
	var others sync.WaitGroup
	t.Cleanup(others.Wait)
	for i := range 2 { // they use up their pages, and another round begins
		others.Go(func() {
			for {
				select {
				case <-begun[i]:
				case <-t.Context().Done():
					return
				}
			}
		})
	}
	for range 500 {
		if !take(2) {
			t.Fatalf("c does not begin, although it is the best: %+v", nodes[2].Order())
		}
	}
	total := nugget.Count{}
	for _, n := range nodes {
		c := n.Order()
		two, three := int64(nugget.Format{Agents: 2, Parts: 4, Lambda: 16}.Bits()), int64(nugget.Format{Agents: 3, Parts: 4, Lambda: 16}.Bits())
		if c.Bits < c.Nuggets*two || c.Bits > c.Nuggets*three { // before the third had joined there were rounds of two
			t.Errorf("%s: %d bits in %d nuggets", n.Name(), c.Bits, c.Nuggets)
		}
		total = total.Add(c)
	}
	t.Logf("all nodes: %+v", total)
}

// Only bytes that pack writes can be unpacked: no panic, and what is unpacked packs to the same
// bytes.
func FuzzNugget(f *testing.F) {
	f.Add([]byte{0xff, 0x80, 0}, 3, 4, 8)
	f.Add([]byte{0x12, 0x34, 0x56}, 2, 4, 16)
	f.Fuzz(func(t *testing.T, message []byte, m, l, lambda int) {
		format := nugget.Format{Agents: m, Parts: l, Lambda: lambda}
		if m > 1000 || l > 1000 || format.Validate() != nil {
			return
		}
		n, err := unpack(format, message)
		if err != nil {
			return
		}
		if n.Agent < 0 || n.Agent >= m || n.Part < 0 || n.Part >= l {
			t.Fatalf("%+v of %+v", n, format)
		}
		if !slices.Equal(pack(format, n), message) {
			t.Fatalf("%x is read as %+v, which is %x", message, n, pack(format, n))
		}
	})
}

func TestNuggetMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := nugget.Format{Agents: rapid.IntRange(1, 100).Draw(t, "m"), Parts: rapid.IntRange(1, 300).Draw(t, "l"), Lambda: rapid.IntRange(1, 40).Draw(t, "lambda")}
		n := nugget.Nugget{Last: rapid.Bool().Draw(t, "last"), Agent: rapid.IntRange(0, f.Agents-1).Draw(t, "agent"), Part: rapid.IntRange(0, f.Parts-1).Draw(t, "part"),
			Mean: f.Quantise(rapid.Float64().Draw(t, "mean"))}
		if got, err := unpack(f, pack(f, n)); err != nil || got != n {
			t.Fatalf("%+v came back as %+v, %v", n, got, err)
		}
	})
}

// As published, one part has its turn after the other, of all nodes (section 8): here, in every
// round, the 4 parts of the best node, then those of the second, then those of the worst.
func TestTurnsAsPublished(t *testing.T) {
	t.Parallel()
	nodes, _, begun := orderedNodes(t, &Order{URLs: 64, Parts: 4, Lambda: 16, InTurn: true}, .9, .8, .1)
	var pages [3]int
	last, changes := -1, 0
	for range 3 * 16 * 3 * 4 {
		node := 0
		select {
		case <-begun[0]:
		case <-begun[1]:
			node = 1
		case <-begun[2]:
			node = 2
		case <-time.After(time.Minute):
			t.Fatalf("nobody begins a page: %v, %+v", pages, nodes[0].Order())
		}
		if pages[node]++; node != last {
			last, changes = node, changes+1
		}
	}
	for i, n := range nodes {
		if c := n.Order(); pages[i] < 100 || pages[i] > 300 || c.Turns < 4 {
			t.Errorf("node %d began %d of 576 pages in %d turns, want about a third", i, pages[i], c.Turns)
		}
	}
	if changes > 576/8 {
		t.Errorf("the nodes began pages by turns of %.1f pages, want about 64", 576/float64(changes))
	}
}

// A sentNugget is a message between two orderings of one process.
type sentNugget struct {
	jetstream.Msg
	subject string
	body    []byte
}

func (m sentNugget) Subject() string { return m.subject }
func (m sentNugget) Reply() string   { return "" }
func (m sentNugget) Data() []byte    { return m.body }

// orderings returns two that keep one order over queues of endless links, and exchange nuggets within
// this process. When tells when each published.
func orderings(t *testing.T, o Order) (both []*ordering, when func() map[time.Duration]int) {
	begun := time.Now()
	var mu sync.Mutex
	times := map[time.Duration]int{}
	names := []string{"a", "b"}
	inboxes := []chan jetstream.Msg{make(chan jetstream.Msg, 100), make(chan jetstream.Msg, 100)}
	for i, name := range names {
		queue := slices.Repeat([]float64{.5 + float64(i)/10}, o.URLs)
		both = append(both, &ordering{self: name, o: o, patience: time.Hour, prefix: "x.nuggets",
			listening: true, since: begun,
			nodes:   func() (int, []string) { return 1, names },
			front:   func(most int) ([]float64, error) { return queue, nil },
			changed: make(chan struct{}), tick: time.NewTimer(time.Hour),
			log: func(format string, args ...any) { t.Errorf(format, args...) },
			send: func(subject string, body []byte) error {
				mu.Lock()
				defer mu.Unlock()
				times[time.Since(begun)]++
				inboxes[1-i] <- sentNugget{subject: subject, body: body}
				return nil
			}})
	}
	for i, ordering := range both {
		go func() { _ = ordering.watch(t.Context(), nil) }()
		go func() {
			for {
				select {
				case m := <-inboxes[i]:
					ordering.receive(m)
				case <-t.Context().Done():
					return
				}
			}
		}()
	}
	return both, func() map[time.Duration]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(times)
	}
}

// With Order.Every nuggets are published at multiples of it: after the first round, at once, those of the
// next round, or in turn one node's next one, however fast pages are.
func TestOrderEvery(t *testing.T) {
	for name, tt := range map[string]struct {
		inTurn         bool
		rounds, begins int64 // after 41 s
		each           int   // nuggets at one time
	}{
		"nuggets": {false, 5, 16 * 5, 8},
		"turns":   {true, 0, 4 * 5, 1}, // at 40 s b says that it has no more, and a begins
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Order{URLs: 16, Parts: 4, Lambda: 8, InTurn: tt.inTurn, Every: 10 * time.Second}
				both, when := orderings(t, o)
				var begins atomic.Int64
				both[0].restart()
				for _, o := range both {
					go func() {
						for o.admit(t.Context()) == nil {
							begins.Add(1)
						}
					}()
				}
				time.Sleep(41 * time.Second)
				times := when()
				for at, nuggets := range times {
					if at%(10*time.Second) != 0 || at > 0 && nuggets != tt.each {
						t.Errorf("%d nuggets at %v", nuggets, at)
					}
				}
				if len(times) != 5 || begins.Load() != tt.begins || both[0].count().Rounds != tt.rounds {
					t.Errorf("published at %v, %d pages begun, %+v", times, begins.Load(), both[0].count())
				}
			})
		})
	}
}
