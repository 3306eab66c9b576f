package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// NodesOptions say how several nodes crawl one web.
type NodesOptions struct {
	Partition partition.Options // Classes, Locate, Resolve and Known come from the web
	Order
	Pages  int    // budget of all nodes together; 0: all that can be reached
	Seed   uint64 // decides between equal priorities
	Levels int    // of each domain: links within it from the first page of it; 0: no limit
	Centrality
}

// Centrality tunes geo-centrality: it looks at pages less than Links links away (k, from 1
// on), each weighted Base^-distance (m, above 0). The paper's example has 3 and 10.
type Centrality struct {
	Links int
	Base  float64
}

// RunNodes crawls w with all nodes of the partition at once. Each is a crawler
// of its own with its own queue and strategy; links that another node owns are
// in its queue when the visit ends. The nodes are equally fast: in each round
// every node visits one page, or none if nothing waits for it. It ends when
// the budget is spent or nothing waits anywhere.
func RunNodes(ctx context.Context, w *Cities, o NodesOptions) (*report.NodesResult, error) {
	share, err := w.Partition(o.Partition)
	if err != nil {
		return nil, err
	}
	if o.Pages < 0 {
		return nil, fmt.Errorf("sim: a budget of %d pages", o.Pages)
	}
	r := &nodesRun{web: w, share: share, deepest: o.Levels, level: map[frontier.Key]int{}}
	result := &report.NodesResult{Partition: o.Partition.Method, Policy: o.Partition.Policy}
	var general []bool
	for i, n := range share.Nodes() {
		s, err := o.New(nil)
		if err != nil {
			return nil, err
		}
		node := &simNode{run: r, number: i}
		node.queue = frontier.NewMemory(frontier.Options{Seed: o.Seed, Score: crawler.Rescore(s, nil)})
		node.crawler = &crawler.Crawler{
			Options: crawler.Options{Workers: 1}, Frontier: node.queue, Fetcher: w,
			Gate: newGate(nil, Options{}), Judge: w, Strategy: s, Peers: node,
			Scope: func(weburl.URL) string { return "" }, Report: node.visited,
		}
		r.nodes = append(r.nodes, node)
		general = append(general, len(n.Cities) == 0)
		result.Nodes, result.Cities = append(result.Nodes, n.Name), append(result.Cities, len(n.Cities))
	}
	r.report = report.NewNodes(general)
	_, err = r.nodes[0].crawler.Seed(ctx, w.Seeds)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	r.exchanged = 0 // seeds are handed out, not exchanged
	err = r.loop(ctx, o.Pages)
	if err != nil {
		return nil, err
	}
	r.report.Exchanged(r.exchanged)
	result.Metrics, err = r.report.Metrics(o.Centrality.Links, o.Centrality.Base)
	return result, err
}

// Partition shares the links of w out among the nodes of its options.
func (w *Cities) Partition(o partition.Options) (*partition.Partition, error) {
	o.Known, o.Locate, o.Resolve = w.Options.Known, w.Locate, w.Resolve
	if o.Method == partition.Classification {
		var err error
		o.Classes, err = w.Classes()
		if err != nil {
			return nil, err
		}
	}
	return partition.New(w.Options.Nodes, o)
}

// A nodesRun is one crawl by several nodes.
type nodesRun struct {
	web       *Cities
	share     *partition.Partition
	nodes     []*simNode
	report    *report.Nodes
	exchanged int
	pages     int
	deepest   int                  // NodesOptions.Levels
	level     map[frontier.Key]int // of pages that were found, in their domain
}

// within returns the links that lie within the levels of their domain, and notes how deep.
func (r *nodesRun) within(p *page.Page, found []frontier.Entry) []frontier.Entry {
	if r.deepest == 0 || p == nil {
		return found
	}
	return slices.DeleteFunc(found, func(e frontier.Entry) bool {
		level, key := 0, frontier.KeyOf(e.URL)
		if e.URL.Site() == p.URL.Site() {
			level = r.level[frontier.KeyOf(p.URL)] + 1
		}
		if known, ok := r.level[key]; ok {
			level = min(level, known)
		}
		r.level[key] = level
		return level > r.deepest
	})
}

func (r *nodesRun) loop(ctx context.Context, budget int) error {
	for idle := false; !idle; {
		idle = true
		for _, n := range r.nodes {
			e, err := n.queue.Next(ctx, n.crawler.Gate.Claim)
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, frontier.ErrNotNow):
				continue
			case err != nil:
				return fmt.Errorf("sim: %w", err)
			}
			idle = false
			_, err = n.crawler.Visit(ctx, e)
			if err != nil {
				return fmt.Errorf("sim: node %s: %w", r.share.Nodes()[n.number].Name, err)
			}
			if r.pages == budget && budget > 0 {
				return nil
			}
		}
	}
	return nil
}

// A simNode is one node; it is its crawler's Peers.
type simNode struct {
	unasked
	run     *nodesRun
	number  int
	queue   *frontier.Memory
	crawler *crawler.Crawler
}

// visited reports a fetch.
func (n *simNode) visited(v *crawler.Visit) {
	if v.Page == nil {
		return
	}
	n.run.pages++
	f := report.Fetch{Node: n.number, Page: frontier.KeyOf(v.Entry.URL), Domain: v.Entry.URL.Site(),
		Place: n.run.share.Place(v.Page)}
	for _, a := range v.Verdict.Addresses {
		owner, ok := n.run.share.Node(a.City, a.State)
		if !ok {
			owner = -1
		}
		f.Entities = append(f.Entities, report.Entity{ID: a.Key(), Node: owner})
	}
	for _, l := range v.Page.Links {
		f.Links = append(f.Links, frontier.KeyOf(l.To))
	}
	n.run.report.Fetched(f)
}

// Route puts links into the queues of the nodes that own them, and returns this node's own: none has to
// wait.
func (n *simNode) Route(ctx context.Context, p *page.Page, found []frontier.Entry) (
	own, others []frontier.Entry, err error) {
	found = n.run.within(p, found)
	owners := n.run.share.Owners(routed(p, found))
	theirs := make([][]frontier.Entry, len(n.run.nodes))
	for i, nodes := range owners {
		for _, k := range nodes {
			theirs[k] = append(theirs[k], found[i])
		}
	}
	for k, es := range theirs {
		if k == n.number || len(es) == 0 {
			continue
		}
		n.run.exchanged += len(es)
		_, err := n.run.nodes[k].queue.Push(ctx, es...)
		if err != nil {
			return nil, nil, err
		}
	}
	return theirs[n.number], nil, nil
}

// routed returns p with the links that were found on it, in their order.
func routed(p *page.Page, found []frontier.Entry) *page.Page {
	q := &page.Page{}
	var links []page.Link
	if p != nil {
		q.URL, q.Text, q.Title, links = p.URL, p.Text, p.Title, p.Links
	}
	for _, e := range found {
		l := page.Link{From: q.URL, To: e.URL, Anchor: e.Anchor, Title: e.Title, Around: e.Around}
		for i := range links {
			if links[i].To == e.URL {
				l, links = links[i], links[i+1:]
				break
			}
		}
		q.Links = append(q.Links, l)
	}
	return q
}

// A NodesPlan names crawls by several nodes that are to be compared: one for
// each strategy, policy and method.
type NodesPlan struct {
	Orders   []Order
	Policies []partition.Policy
	Methods  []partition.Method
	NodesOptions
}

// crawls returns the options of every crawl of the plan.
func (p NodesPlan) crawls() (all []NodesOptions) {
	o := p.NodesOptions
	for _, o.Order = range p.Orders {
		for _, o.Partition.Policy = range p.Policies {
			for _, o.Partition.Method = range p.Methods {
				all = append(all, o)
			}
		}
	}
	return all
}

// Names returns what tables and expectations call the crawls.
func (p NodesPlan) Names() (names []string) {
	for _, o := range p.crawls() {
		r := report.NodesResult{Partition: o.Partition.Method, Policy: o.Partition.Policy, Strategy: o.Name}
		names = append(names, r.Name())
	}
	return names
}

// Run makes the crawls of w; done is called after each.
func (p NodesPlan) Run(ctx context.Context, w *Cities,
	done func(r *report.NodesResult)) (*report.NodesComparison, error) {
	c := &report.NodesComparison{Web: fmt.Sprintf("made-up web %d of %d sites about %d cities, %d nodes, %d pages",
		w.Options.Seed, w.Options.Sites, len(w.cities), len(w.Options.Nodes), p.Pages)}
	for _, o := range p.crawls() {
		r, err := RunNodes(ctx, w, o)
		if err != nil {
			return nil, err
		}
		r.Strategy = o.Name
		c.Results = append(c.Results, r)
		done(r)
	}
	return c, nil
}
