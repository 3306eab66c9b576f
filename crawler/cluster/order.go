package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/frontier"

	"github.com/nats-io/nats.go/jetstream"
)

// An Order is the settings by which nodes agree on one order of their queues without a coordinator
// (Ahmadi-Abkenari & Selamat 2010, section 8; package nugget).
type Order struct {
	URLs   int `json:"urls"`   // K: the front of each queue, which a round is about
	Parts  int `json:"parts"`  // L: number of parts that each node cuts it into
	Lambda int `json:"lambda"` // λ: bits of a mean
	// InTurn is the paper's turn-taking: the parts of all nodes are fetched one after the other,
	// and a node announces its next part once it has fetched the one before. Otherwise the better
	// half of all parts is fetched at once, which is our own.
	InTurn bool `json:"in_turn,omitempty"`
	// Every is the paper's t: nuggets are published when the clock shows a multiple of it, at the same time
	// by all nodes. 0: as soon as the pages of the turn before have been begun.
	Every time.Duration `json:"every,omitempty"`
}

// Validate returns an error for a size out of range.
func (o Order) Validate() error {
	if o.URLs < o.Parts || o.URLs > 10_000 {
		return fmt.Errorf("cluster: order_urls must be %d to 10000, one for each part at least, got %d",
			o.Parts, o.URLs)
	}
	if o.Every < 0 {
		return fmt.Errorf("cluster: order_every cannot be negative, got %v", o.Every)
	}
	return nugget.Format{Agents: 2, Parts: o.Parts, Lambda: o.Lambda}.Validate()
}

// Tick returns the first time after now at which nuggets are published again: now, if Every is 0.
func (o Order) Tick(now time.Time) time.Time {
	if o.Every == 0 {
		return now
	}
	return now.Truncate(o.Every).Add(o.Every)
}

// An ordering is one node's part in the order of all. A round is about the K
// best URLs of each queue: the nodes publish the means of their parts until all
// know the same order, and then fetch what is in its better half, all at once.
// A node that has done so begins the next round, at once or at the next multiple
// of Order.Every, and the others join it as soon as they hear of it. A node that
// is not in the better half rests, at most for patience; so a node that is gone,
// slow or cut off holds up nobody.
//
// Nuggets travel over a stream of their own, so that all nodes hear them in one
// order. The body of a message is the bits of the nugget, its subject says
// NAME.nuggets.EPOCH.ROUND.NODE; a node without URLs sends no bits.
type ordering struct {
	self     string
	o        Order
	patience time.Duration
	send     func(subject string, body []byte) error
	stream   jetstream.Stream
	prefix   string                             // NAME.nuggets
	nodes    func() (epoch int, names []string) // who takes part
	front    func(n int) ([]float64, error)     // importance of the best n URLs, falling, in [0, 1]
	agreed   func(r round)                      // gets every round; nil disables it
	log      func(format string, args ...any)

	mu        sync.Mutex
	listening bool
	round     round
	latest    int           // number of the latest round that was heard of
	changed   chan struct{} // closed when pages are granted
	tick      *time.Timer   // counts while round.ready
	granted   int           // pages that may start
	since     time.Time     // of the last grant
	counts    nugget.Count
}

// A round is one order in the making.
type round struct {
	epoch, number int
	began         time.Time
	format        nugget.Format
	agent         *nugget.Round // nil: no round has begun
	names         []string
	self          int
	heard         nugget.Count // Nuggets, Bits and Bytes of this round
	over          bool
	ready         bool // the granted pages have been begun: the next step is at the next tick
}

// newOrdering makes the stream of a crawl's nuggets, or finds it. Nuggets older than a minute are
// useless.
func (n *Node) newOrdering(ctx context.Context, o Order, crawl string) (*ordering, error) {
	stream, err := n.stream(ctx, jetstream.StreamConfig{
		Name: crawl + "-nuggets", Subjects: []string{crawl + ".nuggets.>"}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxAge: time.Minute, MaxMsgs: 100_000, MaxBytes: 16 << 20,
	})
	return &ordering{
		self: n.o.Name, o: o, patience: n.o.Patience + o.Every, send: n.conn.Publish, stream: stream,
		prefix: crawl + ".nuggets", nodes: n.sharing, front: n.foremost, log: n.o.Log,
		changed: make(chan struct{}), tick: time.NewTimer(time.Hour),
	}, err
}

// admit waits until the node may begin a page.
func (o *ordering) admit(ctx context.Context) error {
	for {
		o.mu.Lock()
		if o.granted == 0 && time.Since(o.since) >= o.patience {
			o.granted, o.since = max(o.o.URLs/o.o.Parts, 1), time.Now()
			o.counts.Impatient++
		}
		if o.granted > 0 {
			o.granted--
			if o.granted == 0 {
				o.advance()
			}
			o.mu.Unlock()
			return nil
		}
		changed, rest := o.changed, o.patience-time.Since(o.since)
		o.mu.Unlock()
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// advance is called once all granted pages have started: the next step is now, or at the next tick. The
// caller holds o.mu.
func (o *ordering) advance() {
	if o.o.Every == 0 {
		o.step()
		return
	}
	o.round.ready = true
	o.tick.Reset(time.Until(o.o.Tick(time.Now())))
}

// ticked takes the step for which the node is ready, unless a round has begun meanwhile.
func (o *ordering) ticked() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.round.ready {
		o.round.ready = false
		o.step()
	}
}

// step publishes the next nugget of the round, or begins another one. The caller holds o.mu.
func (o *ordering) step() {
	r := &o.round
	if r.agent != nil && r.agent.Due {
		r.agent.Due = false
		o.publish()
		o.settle()
	}
	if r.agent == nil || r.over { // otherwise this round grants more
		o.begin(o.latest + 1)
	}
}

// grant allows the node to begin pages. The caller holds o.mu.
func (o *ordering) grant(pages int) {
	o.granted, o.since = max(o.granted, pages), time.Now()
	close(o.changed)
	o.changed = make(chan struct{})
}

// restart begins another round because other nodes have a share now.
func (o *ordering) restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin(o.latest + 1)
}

func (o *ordering) count() nugget.Count {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counts
}

// run agrees on one order after the other until ctx ends.
func (o *ordering) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := o.listen(ctx)
		if err != nil && ctx.Err() == nil {
			o.log("cluster: order: %v", err)
			sleep(ctx, time.Second)
		}
	}
}

// listen takes part until ctx ends or the subscription fails.
func (o *ordering) listen(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	consumer, err := o.stream.OrderedConsumer(wait,
		jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy})
	if err != nil {
		return err
	}
	broken := make(chan error, 1)
	consuming, err := consumer.Consume(o.receive, jetstream.PullHeartbeat(silent),
		jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
			if errors.Is(err, jetstream.ErrOrderedConsumerNotCreated) || errors.Is(err, jetstream.ErrStreamNotFound) {
				select {
				case broken <- err:
				default:
				}
			}
		}))
	if err != nil {
		return err
	}
	defer func() { consuming.Stop(); <-consuming.Closed() }()
	last, err := o.last(wait) // once nothing can be missed
	if err != nil {
		return err
	}
	o.mu.Lock()
	o.listening = true
	o.begin(max(o.latest, last) + 1)
	o.mu.Unlock()
	return o.watch(ctx, broken)
}

// watch takes the steps that are due by the clock, until ctx ends or the subscription is broken.
func (o *ordering) watch(ctx context.Context, broken <-chan error) error {
	late := time.NewTicker(o.patience / 2)
	defer late.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-broken:
			return err
		case <-o.tick.C:
			o.ticked()
		case <-late.C:
			o.mu.Lock()
			if time.Since(o.round.began) >= o.patience {
				o.begin(o.latest + 1)
			}
			o.mu.Unlock()
		}
	}
}

// last returns the number of the latest round in the stream.
func (o *ordering) last(ctx context.Context) (int, error) {
	m, err := o.stream.GetLastMsgForSubject(ctx, o.prefix+".>")
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	_, number, _, err := o.address(m.Subject)
	return number, err
}

// begin offers the front of the queue in a new round. The caller holds o.mu.
func (o *ordering) begin(number int) {
	if !o.listening {
		return
	}
	if o.round.agent != nil && !o.round.over {
		o.counts.Abandoned++
	}
	epoch, names := o.nodes()
	o.latest = max(o.latest, number)
	o.round = round{epoch: epoch, number: number, began: time.Now(), names: names, self: slices.Index(names, o.self)}
	r := &o.round
	if len(names) < 2 || r.self < 0 {
		return
	}
	r.format = nugget.Format{Agents: len(names), Parts: o.o.Parts, Lambda: o.o.Lambda}
	values, err := o.front(o.o.URLs)
	var agent *nugget.Agent
	if err == nil {
		agent, err = nugget.NewAgent(r.format, r.self, values)
	}
	if err != nil {
		o.log("cluster: order: %v", err)
		return
	}
	r.agent = &nugget.Round{Agent: agent, InTurn: o.o.InTurn}
	o.publish()
	o.settle()
}

// publish publishes the nugget of the foremost part. A round of which a nugget
// is lost is overtaken by the next one.
func (o *ordering) publish() {
	r := &o.round
	var body []byte
	n, ok := r.agent.Publish()
	if ok {
		body = pack(r.format, n)
	}
	if err := o.send(fmt.Sprintf("%s.%d.%d.%s", o.prefix, r.epoch, r.number, o.self), body); err != nil {
		o.log("cluster: order: publish a nugget: %v", err)
	}
}

// receive processes a received nugget.
func (o *ordering) receive(m jetstream.Msg) {
	o.mu.Lock()
	defer o.mu.Unlock()
	epoch, number, name, err := o.address(m.Subject())
	if err == nil && name != o.self {
		err = o.take(epoch, number, name, m)
	}
	if err != nil {
		o.log("cluster: order: %v", err)
	}
}

func (o *ordering) take(epoch, number int, name string, m jetstream.Msg) error {
	o.latest = max(o.latest, number)
	order := cmp.Or(cmp.Compare(epoch, o.round.epoch), cmp.Compare(number, o.round.number))
	if now, _ := o.nodes(); epoch != now || order < 0 {
		return nil // of another map, or a round that is past
	}
	if order > 0 {
		o.begin(number)
	}
	r := &o.round
	if r.agent == nil || r.over {
		return nil
	}
	from := slices.Index(r.names, name)
	if from < 0 {
		return fmt.Errorf("a nugget of %q, which has no share", name)
	}
	if len(m.Data()) == 0 {
		r.agent.Empty(from)
		o.settle()
		return nil
	}
	n, err := unpack(r.format, m.Data())
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	if n.Agent != from {
		return fmt.Errorf("node %s sent a nugget of %s", name, r.names[n.Agent])
	}
	err = r.agent.Receive(n)
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	c := nugget.Count{Nuggets: 1, Bits: int64(r.format.Bits()), Bytes: wireBytes(m)}
	r.heard, o.counts = r.heard.Add(c), o.counts.Add(c)
	o.settle()
	return nil
}

// settle processes all turns that are known and grants the node its pages. The caller holds o.mu.
func (o *ordering) settle() {
	r := &o.round
	for again := true; again; {
		known := len(r.agent.Turns)
		parts, pages, publish := r.agent.Settle()
		if o.o.InTurn && len(r.agent.Turns) > known {
			r.began = time.Now() // a round that makes progress is not late
		}
		if o.o.InTurn && parts > 0 {
			pages += o.granted
		}
		o.counts.Turns += int64(parts)
		if pages > 0 {
			o.grant(pages)
		}
		if publish {
			o.publish()
		}
		again = publish
	}
	if r.over || !r.agent.Over() {
		return
	}
	r.over = true
	o.counts.Rounds++
	o.counts.Formula += int64(r.format.Overhead() / r.format.Agents)
	if o.agreed != nil {
		o.agreed(*r)
	}
}

// address reads the subject of a nugget.
func (o *ordering) address(subject string) (epoch, number int, name string, err error) {
	rest, ok := strings.CutPrefix(subject, o.prefix+".")
	if p := strings.Split(rest, "."); ok && len(p) == 3 {
		var errs [2]error
		epoch, errs[0] = strconv.Atoi(p[0])
		number, errs[1] = strconv.Atoi(p[1])
		if errs[0] == nil && errs[1] == nil && epoch >= 0 && number >= 0 && number < 1<<40 {
			return epoch, number, p[2], nil
		}
	}
	return 0, 0, "", fmt.Errorf("%.80q is not the subject of a nugget", subject)
}

// pack encodes a nugget: its bits, from the left, in whole bytes.
func pack(f nugget.Format, n nugget.Nugget) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], f.Pack(n)<<(64-f.Bits()))
	return b[:(f.Bits()+7)/8]
}

// unpack decodes a nugget and refuses bytes that pack does not write.
func unpack(f nugget.Format, message []byte) (nugget.Nugget, error) {
	var b [8]byte
	if len(message) != (f.Bits()+7)/8 {
		return nugget.Nugget{}, fmt.Errorf("a nugget of %d bits in %d bytes", f.Bits(), len(message))
	}
	copy(b[:], message)
	word := binary.BigEndian.Uint64(b[:])
	if word<<f.Bits() != 0 {
		return nugget.Nugget{}, fmt.Errorf("a nugget of more than %d bits", f.Bits())
	}
	return f.Unpack(word >> (64 - f.Bits()))
}

// wireBytes is what a server sends a node for a message: the line of its
// protocol, MSG subject subscription reply size, and the body.
func wireBytes(m jetstream.Msg) int64 {
	line := fmt.Sprintf("MSG %s 1 %s %d\r\n", m.Subject(), m.Reply(), len(m.Data()))
	return int64(len(line) + len(m.Data()) + len("\r\n"))
}

// Admit waits until this node may start a page: with an Order, until its links are among the
// better ones. A node without links, or alone, does not wait.
func (n *Node) Admit(ctx context.Context) error {
	if n.order == nil || n.frontier.Totals().Queued == 0 {
		return nil
	}
	if _, names := n.sharing(); len(names) < 2 {
		return nil
	}
	return n.order.admit(ctx)
}

// Order returns the cost of the order in all runs of this node.
func (n *Node) Order() nugget.Count {
	if n.order == nil {
		return n.ordered
	}
	return n.ordered.Add(n.order.count())
}

// sharing returns the nodes that have a share, and the epoch of that map.
func (n *Node) sharing() (epoch int, names []string) {
	s := n.shares.Load()
	return s.epoch, s.nodes
}

// joinOrder begins to agree on an order, if the crawl has one.
func (n *Node) joinOrder(ctx context.Context) (err error) {
	n.ordered = n.notes.get().Order
	if n.o.Definition.Order == nil {
		return nil
	}
	order, err := n.newOrdering(ctx, *n.o.Definition.Order, n.o.Crawl)
	if err != nil {
		return err
	}
	n.order = order
	n.spawn(order.run)
	n.spawn(n.keepOrder)
	return nil
}

// foremost returns the importance of the best links of the queue.
func (n *Node) foremost(most int) ([]float64, error) {
	es, err := n.frontier.Front(most)
	return Importance(es), err
}

// Importance returns that of the links at the front of a queue, falling, in [0, 1]: their priorities.
func Importance(front []frontier.Entry) []float64 {
	values := make([]float64, len(front))
	for i, e := range front {
		if e.Priority > 0 { // not NaN either
			values[i] = min(e.Priority, 1)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	return values
}

// keepOrder stores the cost of the order, every few heartbeats and at the end.
func (n *Node) keepOrder(ctx context.Context) {
	for more := true; more; {
		more = sleep(ctx, 5*n.o.Heartbeat)
		if now := n.Order(); now != n.notes.get().Order {
			err := n.notes.change(func(s *notes) { s.Order = now })
			if err != nil {
				n.o.Log("%v", err)
			}
		}
	}
}

// Agree lets one agent for each queue agree on one order over s, each by its own connection. It
// returns the turns and the sum of what all of them received. A queue is the importance of URLs,
// falling from 1 to 0.
func Agree(ctx context.Context, s *Server, o Order, queues [][]float64) (
	turns []nugget.Nugget, heard nugget.Count, err error) {
	if err := o.Validate(); err != nil {
		return nil, heard, err
	}
	if len(queues) == 1 { // a single agent sends nothing
		turns, _, err = nugget.Order(nugget.Format{Agents: 1, Parts: o.Parts, Lambda: o.Lambda}, queues)
		return turns, heard, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Minute, errors.New("no order in two minutes"))
	defer cancel()
	var names []string
	for i := range queues {
		names = append(names, fmt.Sprintf("agent%02d", i))
	}
	all := make(chan round)
	for i, queue := range queues {
		options := DefaultOptions()
		options.Name, options.Server = names[i], s
		n := newNode(ctx, nil, options)
		defer n.Close()
		err := n.connect(ctx)
		if err != nil {
			return nil, heard, err
		}
		order, err := n.newOrdering(ctx, o, fmt.Sprintf("order-%d-%d", len(queues), o.Parts))
		if err != nil {
			return nil, heard, err
		}
		order.nodes = func() (int, []string) { return 1, names }
		order.front = func(most int) ([]float64, error) { return queue[:min(most, len(queue))], nil }
		order.agreed = func(r round) {
			select {
			case all <- r:
			case <-ctx.Done():
			case <-n.ctx.Done():
			}
		}
		n.spawn(order.run)
	}
	rounds := map[int][]round{}
	for {
		select {
		case <-ctx.Done():
			return nil, heard, context.Cause(ctx)
		case r := <-all:
			same := append(rounds[r.number], r)
			rounds[r.number] = same
			if len(same) < len(queues) {
				continue
			}
			for _, r := range same {
				if !slices.Equal(r.agent.Turns, same[0].agent.Turns) {
					return nil, heard, fmt.Errorf("cluster: two agents found different orders: %v and %v",
						same[0].agent.Turns, r.agent.Turns)
				}
				heard = heard.Add(r.heard)
			}
			return r.agent.Turns, heard, nil
		}
	}
}
