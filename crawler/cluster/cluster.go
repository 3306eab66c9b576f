// Package cluster lets several nodes work on one crawl over NATS JetStream (Gao, Lee & Miao 2006 on
// an existing engine). It is the only package that uses NATS. Each node keeps its own frontier.
//
//  1. [Join] connects, compares the definition of the crawl, and gives the node a share of it.
//  2. [Node.Route] says whose the links of a page are. The frontier queues ours and keeps the others in
//     the transaction that ends the visit.
//  3. These are sent to a work-queue stream with one subject for each owner. A link leaves the frontier
//     when it is durable in JetStream.
//  4. The owner acknowledges a link there once its frontier has committed it; [Node.Wait] then wakes
//     its idle workers.
//  5. [Leases] let one node at a time fetch from a host, and the next one knows what was visited.
//  6. With each heartbeat a node publishes its state, obeys commands and adopts the map of shares; the
//     crawl is over when all nodes are idle and no link is on its way.
//
// In JetStream are:
//
//	stream   NAME-links      NAME.links.NODE   links on their way to NODE
//	stream   NAME-visited    NAME.visited.NODE what NODE has visited
//	stream   NAME-index      NAME.index.PAGE   the newest state of each indexed page, see pages.go
//	stream   NAME-nuggets    NAME.nuggets.…    whose links are next, where the nodes keep one order
//	bucket   NAME-crawl      definition, map, over, command, blocked
//	bucket   NAME-members    NODE → its state, gone when the node is
//	bucket   NAME-hosts      host or IP address → the node that may fetch from it
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/internal/disk"

	"github.com/nats-io/nats.go/jetstream"
)

// Errors of Join.
var (
	ErrNameTaken   = errors.New("another node of this name takes part")
	ErrOtherCrawl  = errors.New("the cluster works on another crawl")
	ErrOtherFormat = errors.New("the cluster is run by another version of gazehound")
	ErrUnreachable = errors.New("cluster cannot be reached")
	ErrClock       = errors.New("the clock of this machine differs from the cluster's")
	ErrAlone       = errors.New("the crawl has no other node")
)

// A Definition is what all nodes of a crawl agree on. The first node writes it; later ones must
// have the same.
type Definition struct {
	Format    int              `json:"format"`
	Region    string           `json:"region"` // what the crawl is about
	Partition partition.Method `json:"partition"`
	Policy    partition.Policy `json:"policy"`
	// Nodes are the nodes that own places, and the general ones. The hash
	// methods need none: every node that joins has its share.
	Nodes []partition.Node `json:"nodes,omitempty"`
	// Examples is a hash of the training pages, for partitions by the text around a link.
	Examples string `json:"examples,omitempty"`
	// Alpha and Beta are those of partition.Options, where it is by full content.
	Alpha float64 `json:"alpha,omitempty"`
	Beta  float64 `json:"beta,omitempty"`
	// MostPopulous is that of partition.Options.
	MostPopulous bool   `json:"most_populous,omitempty"`
	Order        *Order `json:"order,omitempty"` // of all queues; nil: each node goes by its own
}

// String names what distinguishes crawls.
func (d Definition) String() string {
	text := fmt.Sprintf("%s by %s, policy %s, %d places' nodes", d.Region, d.Partition, d.Policy, len(d.Nodes))
	if d.Examples != "" {
		text += ", example pages " + d.Examples
	}
	if d.Order != nil {
		text += fmt.Sprintf(", one order of %d URLs in %d parts", d.Order.URLs, d.Order.Parts)
		if d.Order.InTurn {
			text += ", in turn"
		}
		if d.Order.Every > 0 {
			text += fmt.Sprintf(", every %v", d.Order.Every)
		}
	}
	return text
}

// format is the version of everything that nodes exchange.
const format = 8

// Options say how a node takes part.
type Options struct {
	Name   string // of the node: letters, digits, - and _
	Crawl  string // of the crawl on this cluster, the same form; default "gazehound"
	Dir    string // folder of the node's identity, its notes and unreadable messages
	URL    string // nats://…, several with commas; empty: Server
	Server *Server
	Token  string // or
	NKey   string // file with the seed of a key
	TLS    TLSFiles

	Definition Definition
	// Partition assigns links to nodes; see partition.New. Method, Policy and the nodes come from
	// Definition.
	Partition partition.Options

	// of streams and buckets; 0: 3 where Server knows three servers, else 1
	Replicas  int
	Heartbeat time.Duration // time between heartbeats of a node
	Away      time.Duration // how long a silent node keeps its share
	Lease     time.Duration // how long a host is leased to a node that does not renew it
	// of a host between two nodes: the longest delay of the crawl's politeness
	Rest   time.Duration
	Linger time.Duration // how long links wait to be sent together
	Dedupe time.Duration // how long JetStream recognises duplicates
	// longest wait of a node whose links are worse than those of others; used with an Order
	Patience time.Duration
	MaxBytes int64 // of links in transit, and of pages; half as much for hashes of visited URLs
	// PagesFormat is the version of the states of pages, which is that of the index.
	PagesFormat int
	// Blocklist is shared with the other nodes; nil: nothing is blocked.
	Blocklist Blocklist
	Log       func(format string, args ...any) // gets warnings; nil drops them
	Say       func(format string, args ...any) // gets other messages; nil: Log does
}

// DefaultOptions are a heartbeat of 2 s, 5 minutes until a silent node's share
// moves, leases of a minute, 15 s for links to gather, 10 minutes of known
// messages, a patience of 5 s and 1 GB of links.
func DefaultOptions() Options {
	return Options{
		Crawl: "gazehound", Heartbeat: 2 * time.Second, Away: 5 * time.Minute, Lease: time.Minute,
		Rest:   2 * time.Second,
		Linger: 15 * time.Second, Dedupe: 10 * time.Minute, Patience: 5 * time.Second, MaxBytes: 1e9,
		Partition:  partition.DefaultOptions(),
		Definition: Definition{Partition: partition.SiteHash, Policy: partition.PolicyA},
		Log:        func(string, ...any) {},
	}
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Validate returns an error that names the option out of range.
func (o Options) Validate() error {
	switch {
	case !nameForm.MatchString(o.Name):
		return fmt.Errorf("cluster: a node's name has letters, digits, - and _, at most 40, got %q", o.Name)
	case !nameForm.MatchString(o.Crawl):
		return fmt.Errorf("cluster: a crawl's name has letters, digits, - and _, at most 40, got %q", o.Crawl)
	case o.URL == "" && o.Server == nil:
		return errors.New("cluster: the URL of a cluster is missing, and a server of its own")
	}
	if o.Definition.Order != nil {
		return o.Definition.Order.Validate()
	}
	return nil
}

// A Frontier is the part of frontier.Frontier that a node uses: it takes links from other nodes, keeps
// those for other nodes until they are sent, and lists visited URLs.
type Frontier interface {
	Push(ctx context.Context, es ...frontier.Entry) (added int, err error)
	Leave(ctx context.Context, reason string, own *frontier.Entry, others ...frontier.Entry) (left int, err error)
	Outgoing(ctx context.Context) (frontier.Outgoing, error)
	Sent(ctx context.Context, out frontier.Outgoing) error
	Resend()
	Sync() error
	Walk(ctx context.Context, after uint64, fn func(frontier.Node) error) error
	WalkQueue(ctx context.Context, fn func(frontier.Node) error) error
	WalkParked(ctx context.Context, fn func(frontier.Node) error) error
	Totals() frontier.Totals
	Front(n int) ([]frontier.Entry, error)
}

// A Node takes part in a crawl: it is the crawler's Peers, and Leases are those of the crawler's
// Gate. It is safe for concurrent use. It owns goroutines that receive links and send heartbeats;
// Close ends them. What changes while it works has its lock in the type that it belongs to.
type Node struct {
	connection
	exchange
	instance string // see identity
	notes    *notebook
	shares   atomic.Pointer[shares] // who owns what now
	heard    heard
	workers  idleWorkers
	visited  elsewhere
	leases   atomic.Pointer[Leases] // nil: not in use
	order    *ordering              // nil: no order
	ordered  nugget.Count           // of earlier runs

	entered bool   // the node holds its name in the bucket of members
	retired bool   // the node has no share and only hands its queue over
	begun   uint64 // revision of the bucket of the crawl at which this node took part

	ctx    context.Context
	cancel context.CancelCauseFunc
	beside sync.WaitGroup

	pagesID            atomic.Pointer[string] // of the stream of pages
	received, poisoned atomic.Int64           // links; messages that cannot be read
	blocked            atomic.Uint64          // revision of the blocklist of all nodes that this one obeys
}

// Join connects, agrees on the crawl and begins to receive links into f. An
// error wraps one of the package's errors where it fits.
func Join(ctx context.Context, f Frontier, o Options) (*Node, error) {
	n := newNode(ctx, f, o)
	err := n.join(ctx)
	if err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func newNode(ctx context.Context, f Frontier, o Options) *Node {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	n := &Node{
		connection: connection{o: o, await: joinPatience}, exchange: exchange{frontier: f},
		visited: elsewhere{hashes: map[string]map[uint64]struct{}{}},
	}
	n.workers.changed.L = &n.workers.mu
	n.shares.Store(&shares{replaced: make(chan struct{})})
	n.ctx, n.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return n
}

// Leave removes a stopped node from its crawl: its share moves at once, what is queued or parked in f
// and what waits there go to the nodes that own them now, and its visits are published. It returns how many links
// moved. A node that has left can join again as a new one.
func Leave(ctx context.Context, f Frontier, o Options) (moved int, err error) {
	n := newNode(ctx, f, o)
	n.retired = true
	defer n.Close()
	err = n.join(ctx)
	if err != nil {
		return 0, err
	}
	if n.stable() {
		err := n.publishVisits(ctx)
		if err != nil {
			return 0, err
		}
	}
	moved, err = n.handOver(ctx)
	if err != nil {
		return moved, err
	}
	err = n.flush(ctx)
	if err != nil {
		return moved, fmt.Errorf("cluster: %d links have left the queue and wait to be sent; "+
			"the same command sends them: %w", moved, err)
	}
	return moved, nil
}

func (n *Node) join(ctx context.Context) (err error) {
	if err := n.o.Validate(); err != nil {
		return err
	}
	n.instance, err = identity(n.o.Dir)
	if err != nil {
		return err
	}
	n.notes, err = openNotes(n.o.Dir)
	if err != nil {
		return err
	}
	err = TakeOver(ctx, n.frontier, n.o.Dir)
	if err != nil {
		return err
	}
	err = n.plan()
	if err != nil {
		return err
	}
	err = n.connect(ctx)
	if err != nil {
		return err
	}
	err = n.stores(ctx)
	if err != nil {
		return err
	}
	share := n.enlist
	if n.retired {
		share = n.retire
	}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the server's clock", n.compareClocks},
		{"the definition of the crawl", n.define},
		{"the list of nodes", n.enter},
		{"the commands to all nodes", n.skipCommand},
		{"the blocklist", n.shareBlocklist},
		{"the stream of pages", n.beginPages},
		{"the map of shares", share},
	} {
		err := n.retry(ctx, step.what, step.do)
		if err != nil {
			return err
		}
	}
	if n.retired { // other nodes receive what is still sent to this one
		n.spawn(n.beat)
		n.spawn(n.sendLinks)
		return nil
	}
	err = n.joinOrder(ctx)
	if err != nil {
		return err
	}
	n.spawn(n.beat)
	n.spawn(n.sendLinks)
	n.spawn(n.receive)
	if n.stable() {
		n.spawn(n.followVisits)
		n.spawn(n.settle)
	}
	return nil
}

// spawn runs f until the node is closed.
func (n *Node) spawn(f func(ctx context.Context)) { n.beside.Go(func() { f(n.ctx) }) }

// sleep waits; false: ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}

// Close leaves the cluster: it sends what it can within a few seconds and waits for the node's
// goroutines. The node keeps its share until Options.Away has passed.
func (n *Node) Close() {
	if n.joined() {
		err := n.finishSending()
		if err != nil {
			n.o.Log("cluster: not everything was sent; it will be when this node comes back: %v", err)
		}
	}
	if n.joined() && n.o.Server != nil {
		n.awaitFollowers()
	}
	n.parting.Store(true)
	n.cancel(errors.New("node is closed"))
	n.beside.Wait()
	if n.entered {
		ctx, cancel := context.WithTimeout(context.Background(), min(2*time.Second, 5*n.o.Heartbeat))
		n.members.Delete(ctx, n.o.Name) // else others see it after five heartbeats
		cancel()
		n.awaitOthers()
	}
	if n.conn != nil {
		n.conn.Close()
	}
}

// finishSending sends what waits, and releases the leases of hosts.
func (n *Node) finishSending() error {
	ctx, cancel := context.WithTimeout(n.ctx, min(5*time.Second, 10*n.o.Heartbeat))
	defer cancel()
	err := n.flush(ctx)
	if n.stable() {
		err = errors.Join(err, n.publishVisits(ctx))
	}
	leases := n.leases.Load()
	if leases != nil && err == nil {
		leases.returnStale(ctx, leases.stale(time.Now(), 0))
	}
	return err
}

// Needed reports whether other nodes are present whose only server is that of this node.
func (n *Node) Needed() bool {
	return n.o.Server != nil && n.o.Server.URL() != "" && !n.ofSeveral() && n.Alive() > 1
}

// ServeOn makes Close wait with the server of this node until all other nodes
// have left, or until ctx ends.
func (n *Node) ServeOn(ctx context.Context) {
	n.heard.mu.Lock()
	defer n.heard.mu.Unlock()
	n.heard.serving = ctx
}

// awaitOthers waits until nodes that need this node's server have left: for a limited time if the
// crawl is over or all nodes were told to stop, so that they learn of it; otherwise only after
// ServeOn.
func (n *Node) awaitOthers() {
	n.heard.mu.Lock()
	leaving, ctx := n.heard.leaving, n.heard.serving
	n.heard.mu.Unlock()
	if n.o.Server == nil || n.o.Server.URL() == "" {
		return
	}
	if leaving {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.Background(), 20*n.o.Heartbeat)
		defer cancel()
	}
	for ctx != nil && ctx.Err() == nil {
		members, err := n.Members(ctx)
		if err == nil && !slices.ContainsFunc(members, func(m Member) bool { return m.Name != n.o.Name }) {
			return
		}
		sleep(ctx, n.o.Heartbeat/4)
	}
}

// identity identifies this node across restarts, so that it can rejoin under its name before others
// have noticed its absence.
func identity(dir string) (string, error) {
	path := filepath.Join(dir, "node.id")
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		return string(b), nil
	}
	id := rand.Text()
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = disk.ReplaceBytes(path, 0o600, []byte(id))
	}
	if err != nil {
		return "", fmt.Errorf("cluster: %w", err)
	}
	return id, nil
}

// define writes what the crawl is about, or checks that it is this one.
func (n *Node) define(ctx context.Context) error {
	own := n.o.Definition
	_, err := save(ctx, n.crawl, "definition", own, 0)
	if err == nil {
		return nil
	} else if !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("cluster: definition: %w", err)
	}
	theirs, _, err := load[Definition](ctx, n.crawl, "definition")
	if err != nil {
		return err
	}
	if theirs.Format != format {
		return fmt.Errorf("%w: format %d, this one has %d", ErrOtherFormat, theirs.Format, format)
	}
	raw, _ := json.Marshal(own) // texts and numbers
	if again, _ := json.Marshal(theirs); string(again) != string(raw) {
		return fmt.Errorf("%w: %s; this node is configured for %s", ErrOtherCrawl, theirs, own)
	}
	return nil
}

// plan checks the definition against the options of the partition, before anything is created
// that would have to be removed again.
func (n *Node) plan() error {
	n.o.Definition.Format = format
	d := n.o.Definition
	n.o.Partition.Method, n.o.Partition.Policy = d.Partition, d.Policy
	names := []string{n.o.Name}
	for _, m := range d.Nodes {
		if !nameForm.MatchString(m.Name) {
			return fmt.Errorf("cluster: %q is not the name of a node", m.Name)
		}
		names = append(names, m.Name)
	}
	if len(d.Nodes) > 0 && !slices.Contains(names[1:], n.o.Name) {
		return fmt.Errorf("cluster: the crawl's nodes are %s; %q is none of them",
			strings.Join(names[1:], ", "), n.o.Name)
	}
	_, err := newShares(d, n.o.Partition, mapping{Nodes: []string{n.o.Name}})
	return err
}

// stable reports whether the owner of a URL follows from the URL alone.
func (n *Node) stable() bool { return n.shares.Load().stable }

// joined reports whether the node has a share.
func (n *Node) joined() bool { return n.shares.Load().plan != nil }

// Definition returns what the crawl's nodes agreed on.
func (n *Node) Definition() Definition { return n.o.Definition }

// Name returns the name of the node.
func (n *Node) Name() string { return n.o.Name }

// owners returns for each link of a page the names of the nodes that fetch it.
func (n *Node) owners(p *page.Page) [][]string { return n.shares.Load().owners(p) }

// Place returns the target place that a page is most probably about, by the partition; "" where
// there is none.
func (n *Node) Place(p *page.Page) string { return n.shares.Load().plan.Place(p) }

// Owner returns the node that fetches a URL if only the URL is known.
func (n *Node) Owner(u weburl.URL) string { return n.ownerOf(&frontier.Entry{URL: u}) }

// ownerOf returns the node that fetches a link if its words are known, but not its page.
func (n *Node) ownerOf(e *frontier.Entry) string {
	p := &page.Page{URL: e.URL, Links: []page.Link{{From: e.URL, To: e.URL, Anchor: e.Anchor,
		Title: e.Title, Around: e.Around}}}
	return n.owners(p)[0][0]
}
