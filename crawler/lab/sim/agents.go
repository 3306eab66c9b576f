package sim

import (
	"context"
	"strconv"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// Sharing says how several agents share a web: the parallel crawler of Ahmadi-Abkenari & Selamat 2010,
// section 8.
type Sharing struct {
	Agents    int              // 0: one
	Partition partition.Method // site-hash or url-hash
	// OneOrder is how they agree on one order of their queues; nil: each goes by its own.
	OneOrder *cluster.Order
}

// RunAgents is Run by several agents. Each has a queue, a crawl tree and a strategy of its own; links that
// another one owns are in its queue when the visit ends. The budget is that of all agents, the fetchers
// are those of each.
func RunAgents(ctx context.Context, w *Web, fresh func() (order.Strategy, error), o Options,
	share Sharing) (*Result, error) {
	strategies := make([]order.Strategy, max(share.Agents, 1))
	for i := range strategies {
		var err error
		strategies[i], err = fresh()
		if err != nil {
			return nil, err
		}
	}
	r, err := crawl(ctx, w, strategies, o, share)
	if err != nil {
		return nil, err
	}
	return r.result, nil
}

// An agent is one crawler with its own queue; it is its crawler's Peers, if there are others.
type agent struct {
	unasked
	run     *run
	number  int
	queue   *frontier.Memory
	crawler *crawler.Crawler
	flying  int // pages

	// with an exchange
	round   *nugget.Round
	granted int  // pages that it may begin
	ready   bool // has begun them, and waits for the next tick
}

// addAgents makes an agent for each strategy.
func (r *run) addAgents(strategies []order.Strategy, share Sharing) (err error) {
	scope := r.o.Scope
	if scope == nil {
		scope = func(weburl.URL) string { return "" }
	}
	for i, s := range strategies {
		a := &agent{run: r, number: i}
		a.queue = frontier.NewMemory(frontier.Options{
			Seed: r.o.Seed, FirstIn: r.o.FirstIn, Selectivity: r.o.Selectivity, Patience: r.o.Patience,
			Workers: r.o.Fetchers, Await: r.o.Delay + r.o.Latency + frontier.VisitTime,
			Score: crawler.Rescore(s, nil),
		})
		a.crawler = &crawler.Crawler{
			Options:  crawler.Options{Workers: r.o.Fetchers},
			Frontier: a.queue, Fetcher: r.web, Gate: r.gate, Judge: judge{r.web, r.o}, Strategy: s,
			Scope: scope, Report: r.visited,
		}
		if t := order.CollectionOf(s); t != nil {
			a.crawler.Sinks = append(a.crawler.Sinks, collection{r.web, t})
		}
		if len(strategies) > 1 {
			a.crawler.Peers = a
		}
		r.agents = append(r.agents, a)
	}
	if len(strategies) == 1 {
		return nil
	}
	if of := share.OneOrder; of != nil {
		if err := of.Validate(); err != nil {
			return err
		}
		r.exchange = &exchange{o: *of, run: r, stall: -1,
			format: nugget.Format{Agents: len(strategies), Parts: of.Parts, Lambda: of.Lambda}}
	}
	r.share, err = shared(len(strategies), share.Partition)
	return err
}

// shared divides links among so many agents, as nodes do.
func shared(agents int, by partition.Method) (*partition.Partition, error) {
	var nodes []partition.Node
	for i := range agents {
		nodes = append(nodes, partition.Node{Name: strconv.Itoa(i)})
	}
	o := partition.DefaultOptions()
	o.Method = by
	return partition.New(nodes, o)
}

// Route puts links into the queues of the agents that own them, and returns this agent's own: none has to
// wait.
func (a *agent) Route(ctx context.Context, _ *page.Page, found []frontier.Entry) (
	own, others []frontier.Entry, err error) {
	theirs := make([][]frontier.Entry, len(a.run.agents))
	for _, e := range found {
		owner := a.run.share.Owner(e.URL)
		theirs[owner] = append(theirs[owner], e)
	}
	for i, es := range theirs {
		if i == a.number || len(es) == 0 {
			continue
		}
		if _, err := a.run.agents[i].queue.Push(ctx, es...); err != nil {
			return nil, nil, err
		}
	}
	return theirs[a.number], nil, nil
}

// unasked is the part of crawler.Peers that a simulation does not need: the nodes stay, and a loop serves
// them all.
type unasked struct{}

func (unasked) Moved(context.Context, frontier.Entry) (bool, error) { return false, nil }
func (unasked) Visited(frontier.Entry) bool                         { return false }
func (unasked) Admit(context.Context) error                         { return nil }
func (unasked) Wait(context.Context) (bool, error)                  { return false, nil }

// An exchange lets the agents of a run agree on one order of their queues by nuggets, and grants them
// pages as cluster.Node does. Nuggets take no time, and none is lost.
type exchange struct {
	o      cluster.Order
	run    *run
	format nugget.Format
	tick   time.Duration // the next time at which nuggets are exchanged, while an agent is ready
	stall  int           // pages begun when stalled was called last
}

// began counts a page that an agent has begun. After those that were granted its next step is now, or at
// the next tick.
func (x *exchange) began(a *agent) error {
	a.granted--
	switch {
	case a.granted > 0:
		return nil
	case x.o.Every == 0:
		return x.step(a)
	}
	a.ready = true
	x.tick = x.o.Tick(time.Time{}.Add(x.run.now)).Sub(time.Time{})
	return nil
}

// waits reports whether an agent waits for the tick.
func (x *exchange) waits() bool {
	for _, a := range x.run.agents {
		if a.ready {
			return true
		}
	}
	return false
}

// ticked lets the agents that are ready take their next step, if it is time.
func (x *exchange) ticked() error {
	for _, a := range x.run.agents {
		if !a.ready || x.run.now < x.tick {
			continue
		}
		a.ready = false
		if err := x.step(a); err != nil {
			return err
		}
	}
	return nil
}

// step publishes an agent's next nugget, or begins another round.
func (x *exchange) step(a *agent) error {
	if a.round.Due {
		a.round.Due = false
		if err := x.publish(a); err != nil {
			return err
		}
		if err := x.settle(); err != nil {
			return err
		}
	}
	if a.round.Over() {
		return x.begin()
	}
	return nil
}

// stalled begins another round where nobody can begin a page, with so many begun so far. It reports
// whether that may help: not when no page was begun since it was called last.
func (x *exchange) stalled(begun int) (more bool, err error) {
	if begun == x.stall {
		return false, nil
	}
	x.stall = begun
	return true, x.begin()
}

// begin begins a round about the best links of all queues.
func (x *exchange) begin() error {
	for i, a := range x.run.agents {
		front, err := a.queue.Front(x.o.URLs)
		if err != nil {
			return err
		}
		part, err := nugget.NewAgent(x.format, i, cluster.Importance(front))
		if err != nil {
			return err
		}
		a.round, a.ready = &nugget.Round{Agent: part, InTurn: x.o.InTurn}, false
	}
	for _, a := range x.run.agents {
		if err := x.publish(a); err != nil {
			return err
		}
	}
	return x.settle()
}

// publish sends the next nugget of an agent to all others.
func (x *exchange) publish(a *agent) error {
	n, some := a.round.Publish()
	for _, other := range x.run.agents {
		switch {
		case other == a:
		case !some:
			other.round.Empty(a.number)
		default:
			x.run.result.Bits += int64(x.format.Bits())
			if err := other.round.Receive(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle grants pages for all turns that are known.
func (x *exchange) settle() error {
	for {
		var next *agent // whose turn it was
		for _, a := range x.run.agents {
			_, pages, publish := a.round.Settle()
			if x.o.InTurn {
				pages += a.granted
			}
			a.granted = max(a.granted, pages)
			if publish {
				next = a
			}
		}
		if next == nil {
			return nil
		}
		if err := x.publish(next); err != nil {
			return err
		}
	}
}
