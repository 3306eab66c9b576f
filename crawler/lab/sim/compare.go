package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
	"gazehound/predictor/topic"

	"golang.org/x/sync/errgroup"
)

// An Order is a strategy to compare: New makes a fresh one for each run.
type Order struct {
	Name string
	// the order of which it is an ablation, and the parts left out; "": it is none
	Whole, Without string
	New            func(w *Web) (order.Strategy, error)
	Sharing        // among several agents, each with a strategy of its own
}

// Turns are the names of the ways in which several agents share one crawl: each by its own queue, the
// better half of all queues at once, or one part after the other as published.
var Turns = []string{"own", "nuggets", "turns"}

// by returns the order of several agents that share the web so; turns is one of Turns.
func (s Order) by(turns string, share Sharing) Order {
	s.Name, s.Sharing = fmt.Sprintf("%s-%d-%s", s.Name, share.Agents, turns), share
	if turns == "own" {
		s.OneOrder = nil
		return s
	}
	of := *share.OneOrder
	of.InTurn, s.OneOrder = turns == "turns", &of
	return s
}

// OrderOptions say what the orders of a comparison are made from.
type OrderOptions struct {
	order.Settings
	Topic   func() (*topic.Okapi, error) // opens that of trend, for one run; nil: none
	Readers bool                         // people read the webs: there are access logs
	Trained *predictor.Model             // adaptive begins with what it has learned; nil: with what Model makes
	// Model makes the model that a run begins with, without some parts
	Model   func(predictor.Parts) (*predictor.Model, error)
	Without []string // parts of lookahead, as order.ParseParts reads them, each left out of one more order
	// Each strategy comes once more for each of Turns, by several agents.
	Turns []string
	Sharing
}

// Possible returns the names of the strategies for which something is given.
func (o OrderOptions) Possible() (names []string) {
	for _, kind := range order.Kinds {
		if (!kind.Logs || o.Readers) && (kind.Variant != nil || kind.Check(o.Settings) == nil) {
			names = append(names, kind.Name)
		}
	}
	return names
}

// Orders returns the strategies of these names, as ParseStrategies returns them. Each run gets a
// fresh one with a fresh model.
func (o OrderOptions) Orders(names []string) (orders []Order, err error) {
	for _, name := range names {
		for _, without := range slices.Concat([]string{""}, o.Without) {
			if without != "" && name != order.Kinds[0].Name {
				continue
			}
			strategy, err := o.order(name, without)
			if err != nil {
				return nil, err
			}
			orders = append(orders, strategy)
			for _, turns := range o.Turns {
				orders = append(orders, strategy.by(turns, o.Sharing))
			}
		}
	}
	return orders, nil
}

// order returns a strategy, with the parts left out that without names; "" are none.
func (o OrderOptions) order(name, without string) (Order, error) {
	strategy := Order{Name: name}
	var parts order.Parts
	if without != "" {
		var err error
		parts, err = order.ParseParts(without)
		if err != nil {
			return Order{}, err
		}
		strategy.Name, strategy.Whole, strategy.Without = name+" without "+without, name, without
	}
	strategy.New = func(w *Web) (order.Strategy, error) { return o.fresh(name, parts, w) }
	_, err := strategy.New(nil)
	return strategy, err
}

// fresh returns the strategy called name, without some parts, for a run on w; nil: on some web.
func (o OrderOptions) fresh(name string, without order.Parts, w *Web) (order.Strategy, error) {
	if name == OracleName {
		return Oracle{w}, nil
	}
	kind, settings, _ := order.Find(name, o.Settings)
	options := order.Options{Settings: settings, Without: without}
	var err error
	if kind.Logs && o.Topic != nil {
		options.Topic, err = o.Topic()
		if err != nil {
			return nil, err
		}
	}
	if kind.Logs && o.Readers {
		options.Stay = func(weburl.URL) float64 { return 0 } // until somebody has read the web
	}
	if w != nil && w.Clicks.Stay != nil {
		options.Stay, options.Known = w.Clicks.LR(settings), w.Clicks.Known
	}
	if o.Trained != nil && name == "adaptive" {
		options.Model = o.Trained.Clone()
	} else {
		options.Model, err = o.Model(without.Parts)
		if err != nil {
			return nil, err
		}
		if w != nil {
			options.Model.Expect(w.Region)
		}
	}
	return order.New(name, options)
}

// Train teaches a model what adaptive learns from the first pages of a breadth-first crawl of w: the
// training phase of Ahlers & Boll, who had 30,000 to 100,000 pages of another crawl.
func Train(ctx context.Context, w *Web, m *predictor.Model, o Options) (*Result, error) {
	return Run(ctx, w, training{teach: order.Adaptive{Model: m}}, o)
}

// A training crawls breadth first.
type training struct {
	order.BreadthFirst
	teach order.Adaptive
}

func (t training) Learn(trail []frontier.Node, relevant bool) { t.teach.Learn(trail, relevant) }

// A Comparison holds the results of several orders in the same webs, with the
// same random seeds.
type Comparison struct {
	Budget int   // of pages
	Runs   int   // random seeds for each order and web
	Marks  []int // numbers of pages after which Write says how things stand, besides the budget
	Orders []OrderResults
}

// Pages counts the pages of all runs.
func (c *Comparison) Pages() (n int) {
	for _, order := range c.Orders {
		for _, r := range order.Runs {
			n += r.Pages
		}
	}
	return n
}

// OrderResults are the runs of one order: web by web, seed by seed.
type OrderResults struct {
	Name           string
	Whole, Without string // as in Order
	Runs           []*Result
}

// Compare crawls so many webs, which open makes by their number from 0, one after
// the other with every order and the random seeds o.Seed … o.Seed+runs−1.
// Results do not depend on how many runs there are at once.
func Compare(ctx context.Context, webs int, open func(i int) (*Web, error), orders []Order, o Options,
	runs int) (*Comparison, error) {
	switch {
	case len(orders) == 0:
		return nil, errors.New("sim: no strategy to compare")
	case runs < 1 || webs < 1:
		return nil, fmt.Errorf("sim: %d runs of %d webs: use 1 or more", runs, webs)
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := &Comparison{Budget: o.Pages, Runs: runs}
	for _, strategy := range orders {
		c.Orders = append(c.Orders, OrderResults{Name: strategy.Name, Whole: strategy.Whole, Without: strategy.Without})
	}
	for i := range webs {
		w, err := open(i)
		if err != nil {
			return nil, err
		}
		err = c.crawl(ctx, w, orders, o, runs)
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// crawl adds the results of all orders in one web.
func (c *Comparison) crawl(ctx context.Context, w *Web, orders []Order, o Options, runs int) error {
	if w.Relevant() == 0 {
		return fmt.Errorf("sim: %s: no relevant page can be reached from the seeds, so there is nothing to compare",
			w.Name)
	}
	if o.Pages == 0 {
		c.Budget = max(c.Budget, w.Pages())
	}
	results := make([]*Result, len(orders)*runs)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range results {
		g.Go(func() error {
			o := o
			o.Seed += uint64(i % runs)
			var err error
			of := orders[i/runs]
			results[i], err = RunAgents(ctx, w, func() (order.Strategy, error) { return of.New(w) }, o, of.Sharing)
			if err != nil {
				return fmt.Errorf("%s: %w", of.Name, err)
			}
			return nil
		})
	}
	err := g.Wait()
	if err != nil {
		return err
	}
	for i, some := range slices.Collect(slices.Chunk(results, runs)) {
		c.Orders[i].Runs = append(c.Orders[i].Runs, some...)
	}
	return nil
}

// metrics are the metrics of a Comparison: name, title and format of their column in the tables for
// people, if they have one, and their value in one result after n pages.
var metrics = []struct {
	name, title string
	format      func(e Estimate) string
	of          func(r *Result, n int) float64
}{
	{"pages", "pages", whole, func(r *Result, n int) float64 { return float64(min(n, r.Pages)) }},
	{"found", "found", whole, func(r *Result, n int) float64 { return float64(r.Found(n)) }},
	{"harvest", "harvest", percent, func(r *Result, n int) float64 { return r.Harvest(n) }},
	{"coverage", "coverage", percent, func(r *Result, n int) float64 { return r.Coverage(n) }},
	{"area", "area", fraction, func(r *Result, n int) float64 { return r.Area(n) }},
	{"addresses", "addresses", whole, func(r *Result, n int) float64 { return float64(r.Addresses.At(n)) }},
	{"streets", "streets", whole, func(r *Result, n int) float64 { return float64(r.Streets.At(n)) }},
	{"contents", "contents", whole, func(r *Result, n int) float64 { return float64(r.Contents.At(n)) }},
	{"off-host", "off the biggest host", whole,
		func(r *Result, n int) float64 { return float64(r.OffHost.At(n)) }},
	{"important", "important", whole, func(r *Result, n int) float64 { return float64(r.Important.At(n)) }},
	{"unlinked", "unlinked", whole, func(r *Result, n int) float64 { return float64(r.Unlinked.At(n)) }},
	{"until-important", "pages until important", whole,
		func(r *Result, n int) float64 { return r.UntilImportant(n) }},
	{"relevancy", "relevancy", fraction, func(r *Result, n int) float64 { return r.Relevancy(n) }},
	{"queue", "queue max", whole, func(r *Result, n int) float64 { return float64(r.queueMax(n)) }},
	{"time", "time", hours, func(r *Result, n int) float64 { return r.at(n).Time.Seconds() }},
	{"bits", "bits exchanged", whole, func(r *Result, n int) float64 { return float64(r.at(n).Bits) }},
}

// MetricNames returns the names of metrics for Comparison.Metric.
func MetricNames() []string {
	var names []string
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}

// An Estimate is the mean over runs or webs with the half-width of its 95 % confidence
// interval (Student's t), which is NaN where there is one run only.
type Estimate struct {
	Mean, Margin, Median float64
	Runs                 int
}

// Metric returns one number of an order over all its runs, after n pages; n 0
// is the budget. ok is false where order or metric is not known.
func (c *Comparison) Metric(strategy, metric string, n int) (e Estimate, ok bool) {
	i := slices.IndexFunc(c.Orders, func(o OrderResults) bool { return o.Name == strategy })
	k := slices.Index(MetricNames(), metric)
	if i < 0 || k < 0 {
		return Estimate{}, false
	}
	return c.Orders[i].estimate(metrics[k].of, cmp.Or(n, c.Budget)), true
}

// estimate returns one of metrics over all runs, after n pages.
func (o *OrderResults) estimate(of func(r *Result, n int) float64, n int) Estimate {
	values := make([]float64, len(o.Runs))
	for i, r := range o.Runs {
		values[i] = of(r, n)
	}
	return estimate(values)
}

// estimate returns the mean of values, which it sorts, and the interval about it.
func estimate(values []float64) Estimate {
	n := len(values)
	e := Estimate{Runs: n, Margin: math.NaN()}
	if n == 0 {
		return e
	}
	for _, v := range values {
		e.Mean += v / float64(n)
	}
	if n > 1 {
		square := 0.0
		for _, v := range values {
			square += (v - e.Mean) * (v - e.Mean)
		}
		e.Margin = student(n-1) * math.Sqrt(square/float64(n-1)/float64(n))
	}
	slices.Sort(values)
	e.Median = (values[(n-1)/2] + values[n/2]) / 2
	return e
}

// Value returns the mean that Metric does.
func (c *Comparison) Value(strategy, metric string, n int) (float64, bool) {
	e, ok := c.Metric(strategy, metric, n)
	return e.Mean, ok
}

// student returns the 97.5 % quantile of Student's t distribution with so many
// degrees of freedom; beyond 10 by the expansion of Cornish and Fisher, which
// is right to three digits there.
func student(freedom int) float64 {
	table := [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if freedom <= len(table) {
		return table[freedom-1]
	}
	const z = 1.959964
	v := float64(freedom)
	return z + (z*z*z+z)/(4*v) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*v*v)
}
