// Package sim runs the real crawler on a virtual web and compares the orders
// in which strategies visit it (Somboonviwat, Tamura & Kitsuregawa 2005, with
// the virtual time that they left for later).
//
// A [Web] is a fully known web: a made-up town ([FromTown]), WARC files ([FromWARC]), or the trace
// of an earlier crawl ([ReadTrace]). [Run] crawls it with one strategy.Strategy: crawler.Crawler
// visits the pages; only its Fetcher, Gate and Judge are the web's, and its queue is a
// frontier.Memory. One event loop on one goroutine hands out turns in virtual time, so that the
// same seed gives the same result to the last byte.
//
//	town, err := demo.New(options)
//	web, err := sim.FromTown(town, "")
//	model := predictor.NewModel(predictor.DefaultOptions())
//
//	adaptive := order.Adaptive{Near: order.Nearness{Weight: 1, Decay: 0.5}, Model: model}
//	r, err := sim.Run(ctx, web, adaptive, sim.Options{Pages: 20_000, Seed: 1})
//	r.Found(1000), r.Harvest(5000), r.Coverage(20_000), r.Area(20_000)
//
// With one fetcher and no delay, the zero Options, this is the sequential
// simulation. A Web may be used by several Runs at once; a Strategy that learns
// may not.
package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/predictor/topic"
)

// Options tune a simulated crawl. The zero Options crawl all of it, one page after the other, in no
// time.
type Options struct {
	Pages    int           `range:"0..1e9"` // budget of HTML pages; 0: all that can be reached
	Fetchers int           `range:"0..1e6"` // pages at a time; 0: one
	PerHost  int           `range:"0..1e6"` // of these, of one host; 0: no limit
	Delay    time.Duration // rest of a host's slot after a page
	Latency  time.Duration // before the first byte of each answer
	Rate     float64       `range:"0..1e15"` // bytes a second of one transfer; 0: no limit

	Selectivity float64 `range:"0..0.999"` // frontier.Options.Selectivity
	Patience    float64 `range:"0..1"`     // frontier.Options.Patience
	Seed        uint64  // decides between equal priorities, and which labels are wrong
	FirstIn     bool    // of equal priorities the link that was found first is next
	Noise       float64 `range:"0..0.999"` // share of pages whose label the judge gets wrong

	// Visited gets the URLs that were visited; nil: they are not noted.
	Visited map[frontier.Key]bool
	// Scope returns why a URL is outside of the crawl, or ""; nil: none is.
	Scope func(u weburl.URL) (reason string)
}

// Validate returns an error if o is invalid.
func (o Options) Validate() error {
	if o.Delay < 0 || o.Latency < 0 {
		return errors.New("sim: delay and latency cannot be negative")
	}
	return demo.InRange(o)
}

// A sleeper waits in virtual time for a page to arrive.
type sleeper struct {
	at    time.Duration
	turn  int // number of the turn: what started first ends first
	agent *agent
	entry frontier.Entry
}

// A run is one crawl of a web.
type run struct {
	web      *Web // nil: nothing is forbidden
	o        Options
	agents   []*agent
	share    *partition.Partition
	exchange *exchange // of nuggets; nil: each agent goes by its own queue
	gate     *gate
	now      time.Duration
	flying   []sleeper // a heap
	turn     int
	result   *Result
}

// Run crawls w in the order of s and returns what was found. It ends when the
// budget is spent or nothing waits any more.
func Run(ctx context.Context, w *Web, s order.Strategy, o Options) (*Result, error) {
	return RunAgents(ctx, w, func() (order.Strategy, error) { return s, nil }, o, Sharing{})
}

// crawl is RunAgents with all that is left of it at the end.
func crawl(ctx context.Context, w *Web, strategies []order.Strategy, o Options, share Sharing) (*run, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if len(w.Seeds) == 0 {
		return nil, fmt.Errorf("sim: %s has no seeds", w.Name)
	}
	o.Fetchers = max(o.Fetchers, 1)
	o.Noise = max(o.Noise, w.Noise)
	r := &run{web: w, o: o, gate: newGate(w, o)}
	if o.Delay == 0 { // as in config.Options.FrontierOptions
		o.Patience = 1
	}
	if err := r.addAgents(strategies, share); err != nil {
		return nil, err
	}
	r.result = newResult(w, o)
	_, err := r.agents[0].crawler.Seed(ctx, w.Seeds)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	err = r.loop(ctx)
	if err != nil {
		return nil, err
	}
	r.result.finish(r)
	return r, nil
}

// A collection adds the pages of a crawl to that of Okapi, as crawler.TopicSink does; those of a Web
// come without their text.
type collection struct {
	web   *Web
	okapi *topic.Okapi
}

// Visit observes a page.
func (c collection) Visit(_ context.Context, v *crawler.Visit) error {
	if v.Page != nil {
		c.okapi.Observe(c.okapi.Read(c.web.text(v.Entry.URL)))
	}
	return nil
}

// loop hands turns to idle fetchers and lets time pass until the next page
// arrives, the next host is ready, or nuggets are exchanged.
func (r *run) loop(ctx context.Context) error {
	for {
		for again := true; again; {
			again = false
			for _, a := range r.agents {
				began, err := r.begin(ctx, a)
				if err != nil {
					return err
				}
				again = again || began && r.exchange != nil // the turn of another may have come
			}
		}
		over := r.o.Pages > 0 && r.result.Pages >= r.o.Pages
		wake, resting := r.wake()
		switch {
		case over:
			return nil
		case len(r.flying) > 0 && !(resting && wake < r.flying[0].at):
			next := r.pop()
			r.setTime(next.at)
			_, err := next.agent.crawler.Visit(ctx, next.entry)
			if err != nil {
				return fmt.Errorf("sim: %w", err)
			}
		case resting:
			r.setTime(wake)
			if r.exchange != nil {
				if err := r.exchange.ticked(); err != nil {
					return err
				}
			}
		case r.exchange == nil:
			return nil
		default:
			more, err := r.exchange.stalled(r.turn)
			if !more || err != nil {
				return err
			}
		}
	}
}

// begin gives the idle fetchers of an agent their turns.
func (r *run) begin(ctx context.Context, a *agent) (began bool, err error) {
	for r.free(a) && (r.o.Pages == 0 || r.result.Pages+len(r.flying) < r.o.Pages) {
		e, err := a.queue.Next(ctx, r.gate.Claim)
		if errors.Is(err, frontier.ErrNotNow) || errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return began, fmt.Errorf("sim: %w", err)
		}
		arrives := r.now + r.transfer(e.URL)
		r.gate.began(e.URL.Host(), r.now, arrives)
		r.push(sleeper{arrives, r.turn, a, e})
		a.flying++
		r.turn++
		began = true
		if r.exchange != nil {
			if err := r.exchange.began(a); err != nil {
				return began, err
			}
		}
	}
	return began, nil
}

// free reports whether an agent may begin a page.
func (r *run) free(a *agent) bool {
	return a.flying < r.o.Fetchers && (r.exchange == nil || a.granted > 0)
}

// wake returns when the first host is ready that a free agent waits for, or nuggets are exchanged.
func (r *run) wake() (at time.Duration, some bool) {
	for _, a := range r.agents {
		if wake, resting := a.queue.Wake(); resting && r.free(a) && (!some || wake < at) {
			at, some = wake, true
		}
	}
	if r.exchange != nil && r.exchange.waits() && (!some || r.exchange.tick < at) {
		at, some = r.exchange.tick, true
	}
	return at, some
}

func (r *run) setTime(now time.Duration) {
	r.now = max(r.now, now)
	r.gate.now = r.now
	for _, a := range r.agents {
		a.queue.SetTime(r.now)
	}
}

// transfer returns how long a page takes to arrive.
func (r *run) transfer(u weburl.URL) time.Duration {
	took := r.o.Latency
	p, ok := r.web.page(u)
	if !ok {
		return took
	}
	took += p.Took
	if r.o.Rate > 0 {
		took += time.Duration(float64(p.Bytes) / r.o.Rate * float64(time.Second))
	}
	return took
}

func (r *run) push(s sleeper) {
	i, _ := slices.BinarySearchFunc(r.flying, s, func(a, b sleeper) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.turn, b.turn))
	})
	r.flying = slices.Insert(r.flying, i, s)
}

func (r *run) pop() sleeper {
	s := r.flying[0]
	r.flying = slices.Delete(r.flying, 0, 1)
	s.agent.flying--
	return s
}

// A gate keeps the access intervals in virtual time: a host has a number of
// slots, and a slot rests after each page.
type gate struct {
	crawler.Open
	web     *Web // nil: nothing is forbidden
	perHost int
	delay   time.Duration
	now     time.Duration
	slots   map[string][]time.Duration // host → when its slots are free again
	slot    int
}

func newGate(w *Web, o Options) *gate {
	return &gate{web: w, perHost: o.PerHost, delay: o.Delay, slots: map[string][]time.Duration{}}
}

// Claim takes a free slot of a host, or says when one will be free.
func (g *gate) Claim(host string) time.Duration {
	if g.perHost == 0 {
		return 0
	}
	slots := g.slots[host]
	if slots == nil {
		slots = make([]time.Duration, g.perHost)
		g.slots[host] = slots
	}
	g.slot = 0
	for i, free := range slots {
		if free < slots[g.slot] {
			g.slot = i
		}
	}
	return slots[g.slot] - g.now
}

// began says when the page arrives for which the last Claim was.
func (g *gate) began(host string, now, arrives time.Duration) {
	if g.perHost > 0 {
		g.slots[host][g.slot] = max(arrives+g.delay, now+1)
	}
}

// Check keeps the crawl off what robots.txt forbids; that file costs no request.
func (g *gate) Check(_ context.Context, u weburl.URL) (polite.Decision, error) {
	if g.web != nil {
		if p, ok := g.web.page(u); ok && p.Forbidden {
			return polite.Decision{Refused: "robots"}, nil
		}
	}
	return polite.Decision{Now: true}, nil
}

// A judge returns the labels, some of them wrong on demand.
type judge struct {
	web *Web
	o   Options
}

// Judge returns the label of p, and its addresses: each has its id in the place
// of a country, which Key takes as it is.
func (j judge) Judge(_ context.Context, p *page.Page) (geoparse.Verdict, error) {
	relevant := j.web.relevant(p.URL)
	if j.o.Noise > 0 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", j.o.Seed, p.URL.Identity())
		if float64(mix(h.Sum64())>>11)/(1<<53) < j.o.Noise {
			relevant = !relevant
		}
	}
	v := geoparse.Verdict{Relevant: relevant}
	if relevant {
		v.Score = 1
		if p, known := j.web.page(p.URL); known {
			for _, id := range p.Addresses {
				v.Addresses = append(v.Addresses, geoparse.Address{Country: id, InRegion: true})
			}
		}
	}
	return v, nil
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
