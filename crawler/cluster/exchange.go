package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/internal/disk"
	"gazehound/internal/recent"

	"github.com/nats-io/nats.go/jetstream"
)

// Route hands the entries that a page has led to to the nodes that own them,
// and returns our own. The others are safe in the outbox when it returns. p is
// nil where there is no page: a redirect, a sitemap, seeds. While the outbox is
// full, it waits.
func (n *Node) Route(ctx context.Context, p *page.Page, es []frontier.Entry) (own []frontier.Entry, sent int, err error) {
	if len(es) == 0 {
		return es, 0, nil
	}
	q := &page.Page{}
	if p != nil {
		q.URL, q.Text, q.Title = p.URL, p.Text, p.Title
	}
	for _, e := range es {
		q.Links = append(q.Links, page.Link{From: q.URL, To: e.URL, Anchor: e.Anchor, Title: e.Title, Around: e.Around})
	}
	if p != nil {
		splits(q.Links, p.Links)
	}
	theirs := map[string][]frontier.Entry{}
	for i, owners := range n.owners(q) {
		for _, name := range owners {
			if name == n.o.Name {
				own = append(own, es[i])
				continue
			}
			sent++
			if n.sent.news(name, &es[i]) {
				theirs[name] = append(theirs[name], es[i])
			}
		}
	}
	return own, sent, n.send(ctx, theirs)
}

// splits copies where links stand in the words around them.
func splits(to, from []page.Link) {
	at := make(map[string]int, len(from))
	for _, l := range from {
		at[l.To.String()] = l.Split
	}
	for i := range to {
		to[i].Split = min(at[to[i].To.String()], len(to[i].Around))
	}
}

// Moved hands an entry of our queue to the node that owns it by now, nodes
// having come or gone since it was queued, and takes it out of the queue; false:
// it is ours. Only where the owner follows from the URL alone can that be known.
func (n *Node) Moved(ctx context.Context, e frontier.Entry) (moved bool, err error) {
	if !n.stable() {
		return false, nil
	}
	owner := n.Owner(e.URL)
	if owner == n.o.Name {
		return false, nil
	}
	_, err = n.depart(ctx, map[string][]frontier.Entry{owner: {e}}, &e)
	return err == nil, err
}

// reasonMoved is that of links which were handed to other nodes.
const reasonMoved = "other_node"

// settle sorts the queue out whenever the map has changed: what is another
// node's by now is handed over at once, so that it need not wait for its turn
// here.
func (n *Node) settle(ctx context.Context) {
	for ctx.Err() == nil {
		n.mu.RLock()
		nodes, remapped := n.shares.nodes, n.remapped
		n.mu.RUnlock()
		if !slices.Equal(n.notes.get().Settled, nodes) {
			moved, err := n.handOver(ctx)
			if err == nil {
				err = n.notes.change(func(s *notes) { s.Settled = nodes })
			}
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				n.o.Log("cluster: links of other nodes cannot be handed over: %v", err)
				select {
				case <-ctx.Done():
				case <-time.After(n.o.Heartbeat):
				}
				continue
			case moved > 0:
				n.say("cluster: %d links of the queue go to other nodes", moved)
			}
		}
		select {
		case <-ctx.Done():
		case <-remapped:
		}
	}
}

// handOver sends what waits in our queue and is another node's by now.
func (n *Node) handOver(ctx context.Context) (moved int, err error) {
	theirs := map[string][]frontier.Entry{}
	gathered := 0
	hand := func() error {
		left, err := n.depart(ctx, theirs, nil)
		moved += left
		clear(theirs)
		gathered = 0
		return err
	}
	err = n.frontier.WalkQueue(ctx, func(e frontier.Node) error {
		owner := n.ownerOf(&e.Entry)
		if owner == n.o.Name {
			return nil
		}
		theirs[owner] = append(theirs[owner], e.Entry)
		if gathered++; gathered < 1000 {
			return nil
		}
		return hand()
	})
	if err != nil {
		return moved, err
	}
	return moved, hand()
}

// depart puts links of our queue into the outbox, for the nodes that own them,
// and then takes them out of the queue, those in hand only if they are own. It
// returns how many left.
func (n *Node) depart(ctx context.Context, theirs map[string][]frontier.Entry, own *frontier.Entry) (left int, err error) {
	defer n.departing.add(theirs)()
	if err := n.send(ctx, theirs); err != nil {
		return 0, err
	}
	for _, es := range theirs {
		if own != nil {
			es = nil
		}
		some, err := n.frontier.Leave(ctx, reasonMoved, own, es...)
		if left += some; err != nil {
			return left, err
		}
	}
	return left, nil
}

// arrive puts links of other nodes into our queue. One that is departing would
// be taken for known there and be gone with what leaves: its message has to come
// again.
func (n *Node) arrive(ctx context.Context, es []frontier.Entry) error {
	if n.departing.has(es) {
		return errDeparting
	}
	_, err := n.frontier.Push(ctx, es...)
	return err
}

var errDeparting = errors.New("a link is on its way out of the queue")

// departing are the links that may be in the outbox and are still in the queue,
// and how many calls of depart they are in.
type departing struct {
	mu   sync.Mutex
	keys map[frontier.Key]int
}

// add adds links until the function that it returns is called.
func (d *departing) add(theirs map[string][]frontier.Entry) (done func()) {
	var keys []frontier.Key
	for _, es := range theirs {
		for i := range es {
			keys = append(keys, frontier.KeyOf(es[i].URL))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys == nil {
		d.keys = map[frontier.Key]int{}
	}
	for _, k := range keys {
		d.keys[k]++
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, k := range keys {
			if d.keys[k]--; d.keys[k] == 0 {
				delete(d.keys, k)
			}
		}
	}
}

// has tells whether one of the links is among them.
func (d *departing) has(es []frontier.Entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.keys) > 0 && slices.ContainsFunc(es, func(e frontier.Entry) bool { return d.keys[frontier.KeyOf(e.URL)] > 0 })
}

// send puts links for other nodes into the outbox.
func (n *Node) send(ctx context.Context, theirs map[string][]frontier.Entry) error {
	for name, es := range theirs {
		for part := range slices.Chunk(es, maxLinks) {
			if err := n.outbox.put(ctx, name, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// perNode is how much is gathered for each other node before it is sent, in
// bytes before they are packed.
const perNode = 64 << 10

// sendLinks sends what is in the outbox: when much has gathered, when it has
// waited for Options.Linger, and soon when somebody has nothing to do.
func (n *Node) sendLinks(ctx context.Context) {
	soon := min(n.o.Linger, n.o.Heartbeat/4)
	t := time.NewTicker(max(soon/4, 10*time.Millisecond))
	defer t.Stop()
	for {
		enough, linger := n.patience(soon)
		l, some, err := n.outbox.due(enough, linger)
		if err == nil && some {
			err = n.sendFile(ctx, l)
		}
		if err != nil && ctx.Err() == nil {
			n.o.Log("cluster: %v", err)
		}
		if some && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// patience says for how many bytes and how long the outbox waits.
func (n *Node) patience(soon time.Duration) (enough int64, linger time.Duration) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	hungry := n.resting()
	for _, m := range n.alive {
		hungry = hungry || m.Queued < 100 && m.Name != n.o.Name
	}
	if hungry {
		return perNode, soon
	}
	return int64(max(len(n.shares.nodes)-1, 1)) * perNode, n.o.Linger
}

// sendFile publishes a file of the outbox until JetStream has all of it. A
// message's id comes from its number among those of this node and its content,
// so that what a killed node sends again is stored once; what comes twice all the
// same is known to the frontier that it comes to. The content alone would not do:
// links that a node has had, handed on and is to have again are another message,
// and JetStream would throw that away.
func (n *Node) sendFile(ctx context.Context, l outFile) error {
	links, err := n.outbox.read(l)
	if err != nil {
		return err
	}
	var t Traffic
	before := n.notes.get().Messages
	for _, name := range slices.Sorted(maps.Keys(links)) {
		for _, message := range n.codec.pack(links[name]) {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s\x00%s", n.instance, before+t.Messages, name, message))
			id := hex.EncodeToString(sum[:12])
			if err := n.publish(ctx, n.subject(name), message, jetstream.WithMsgID(id)); err != nil {
				return err
			}
			t.Messages++
			t.SentBytes += int64(len(n.subject(name)) + len("NATS/1.0\r\nNats-Msg-Id: \r\n\r\n") + len(id) + len(message))
		}
		t.Sent += int64(len(links[name]))
		for i := range links[name] {
			t.URLBytes += int64(len(links[name][i].URL.String()))
		}
	}
	err = n.notes.change(func(s *notes) {
		s.Sent, s.URLBytes, s.SentBytes, s.Messages = s.Sent+t.Sent, s.URLBytes+t.URLBytes, s.SentBytes+t.SentBytes, s.Messages+t.Messages
	})
	return errors.Join(err, n.outbox.sent(l))
}

func (n *Node) subject(node string) string { return n.o.Crawl + ".links." + node }

// publish tries until it works or ctx ends.
func (n *Node) publish(ctx context.Context, subject string, message []byte, id jetstream.PublishOpt) error {
	wait := 100 * time.Millisecond
	for tries := 0; ; tries++ {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := n.js.Publish(try, subject, message, id)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("send links: %w", context.Cause(ctx))
		}
		if n.ctx.Err() != nil {
			return fmt.Errorf("send links: %w", context.Cause(n.ctx))
		}
		if tries%20 == 3 {
			n.o.Log("cluster: links wait to be sent: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-n.ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, 5*time.Second)
	}
}

// receiveOwn takes in the links that others send us.
func (n *Node) receiveOwn(ctx context.Context) {
	n.receive(ctx, n.o.Name, func(es []frontier.Entry) error { return n.arrive(ctx, es) }, func() bool { return true })
}

// receiveOrphans takes in what waits for nodes that have lost their share, one
// after the other, and hands it to who has it now.
func (n *Node) receiveOrphans(ctx context.Context) {
	t := time.NewTicker(n.o.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		info, err := n.links.Info(ctx, jetstream.WithSubjectFilter(n.o.Crawl+".links.*"))
		if err != nil {
			continue
		}
		for subject, messages := range info.State.Subjects {
			name := subject[len(n.o.Crawl)+len(".links."):]
			if messages == 0 || !n.orphaned(name) {
				continue
			}
			n.receive(ctx, name, func(es []frontier.Entry) error {
				theirs := map[string][]frontier.Entry{}
				for _, e := range es {
					owner := n.ownerOf(&e)
					theirs[owner] = append(theirs[owner], e)
				}
				own := theirs[n.o.Name]
				delete(theirs, n.o.Name)
				if err := n.send(ctx, theirs); err != nil {
					return err
				}
				return n.arrive(ctx, own)
			}, func() bool { return n.orphaned(name) })
		}
	}
}

// orphaned says that a node has no share, and that it is ours to look after
// its messages: those of one node are looked after by one.
func (n *Node) orphaned(name string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.shares.nodes) > 0 && !slices.Contains(n.shares.nodes, name) && n.shares.nodes[0] == n.o.Name
}

// receive hands the messages for a node to take while wanted says so, and
// acknowledges each once take has stored it. It returns when a while has
// brought none, unless it is our own.
func (n *Node) receive(ctx context.Context, name string, take func([]frontier.Entry) error, wanted func() bool) {
	while := 5 * time.Second
	if name != n.o.Name {
		while = 2 * time.Second
	}
	consumer, err := n.consumer(ctx, name)
	for ctx.Err() == nil && wanted() {
		if err != nil {
			n.o.Log("cluster: receive links for %s: %v", name, err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			consumer, err = n.consumer(ctx, name)
			continue
		}
		var got int
		if got, err = n.fetch(ctx, consumer, while, take); got == 0 && err == nil && name != n.o.Name {
			return
		}
	}
}

// fetch hands the messages to take that come in a while, and says how many.
func (n *Node) fetch(ctx context.Context, consumer jetstream.Consumer, while time.Duration, take func([]frontier.Entry) error) (got int, err error) {
	asking, cancel := context.WithTimeout(ctx, while) // the server stops sending a little earlier
	defer cancel()
	batch, err := consumer.Fetch(64, jetstream.FetchContext(asking))
	if err != nil {
		return 0, err
	}
	for m := range batch.Messages() {
		got++
		n.takeIn(ctx, m, take)
	}
	if err = batch.Error(); err != nil && (errors.Is(err, context.DeadlineExceeded) || isEmpty(err)) {
		err = nil
	}
	return got, err
}

// isEmpty says that a fetch brought nothing in time.
func isEmpty(err error) bool {
	return errors.Is(err, jetstream.ErrNoMessages) || err.Error() == "nats: timeout"
}

func (n *Node) consumer(ctx context.Context, name string) (jetstream.Consumer, error) {
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return n.links.CreateOrUpdateConsumer(wait, jetstream.ConsumerConfig{
		Durable: "node-" + name, FilterSubject: n.subject(name), AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second, MaxAckPending: 256,
	})
}

// maxUnreadable bounds the messages that are put aside for people to look at.
const maxUnreadable = 10

// takeIn stores one message and acknowledges it; one that cannot be read is counted,
// put aside in a file while there are few, and does not come again.
func (n *Node) takeIn(ctx context.Context, m jetstream.Msg, take func([]frontier.Entry) error) {
	es, err := n.codec.unpack(m.Data())
	if err != nil {
		n.counts.poisoned.Add(1)
		sum := sha256.Sum256(m.Data())
		path := filepath.Join(n.o.Dir, "unreadable", hex.EncodeToString(sum[:8])+".msg")
		if kept, _ := os.ReadDir(filepath.Dir(path)); len(kept) >= maxUnreadable {
			n.o.Log("cluster: a message cannot be read and was dropped: %v", err)
			m.Term()
			return
		}
		if e := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), disk.ReplaceBytes(path, 0o600, m.Data())); e != nil {
			n.o.Log("cluster: a message cannot be read (%v) nor put aside: %v", err, e)
			m.NakWithDelay(10 * time.Second)
			return
		}
		n.o.Log("cluster: a message cannot be read and was put into %s: %v", path, err)
		m.Term()
		return
	}
	if err := take(es); err != nil {
		if ctx.Err() == nil && !errors.Is(err, errDeparting) {
			n.o.Log("cluster: links of another node cannot be stored: %v", err)
		}
		m.NakWithDelay(time.Second) // best effort: it comes again anyway
		return
	}
	n.counts.received.Add(int64(len(es)))
	if err := m.Ack(); err != nil && ctx.Err() == nil {
		n.o.Log("cluster: %d links may come again: %v", len(es), err)
	}
	n.waiting.Lock()
	n.pushed++
	n.arrived.Broadcast()
	n.waiting.Unlock()
}

// Wait is called by each worker that finds its queue empty: it returns true
// when links may have come, false when the whole crawl is over.
func (n *Node) Wait(ctx context.Context) (more bool, err error) {
	if w := n.idle.Add(1); w > n.workers.Load() {
		n.workers.Store(w)
	}
	defer n.idle.Add(-1)
	stop := context.AfterFunc(ctx, func() {
		n.waiting.Lock()
		defer n.waiting.Unlock()
		n.arrived.Broadcast()
	})
	defer stop()
	n.waiting.Lock()
	defer n.waiting.Unlock()
	for before := n.pushed; ; n.arrived.Wait() {
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case n.over:
			return false, nil
		case n.pushed != before, n.frontier.Totals().Queued > 0: // the latter since the queue was found empty
			return true, nil
		}
	}
}

// Workers says how many workers call Wait when there is nothing to do.
func (n *Node) Workers(count int) { n.workers.Store(int64(count)) }

// sent remembers the links that were sent lately, so that a link that stands
// on every page of a site travels once.
type sent struct {
	mu    sync.Mutex
	links recent.Map[sentLink, float32] // → the best priority sent
}

type sentLink struct {
	node string
	key  frontier.Key
}

const maxSent = 1 << 19

func (s *sent) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = recent.Map[sentLink, float32]{Most: maxSent}
}

// news says that the owner does not know e yet, or only with a clearly lower
// priority, and remembers that it does now.
func (s *sent) news(node string, e *frontier.Entry) bool {
	const clearly = 0.1
	s.mu.Lock()
	defer s.mu.Unlock()
	k := sentLink{node, frontier.KeyOf(e.URL)}
	if p, known := s.links.Get(k); known && float32(e.Priority) < p+clearly {
		return false
	}
	s.links.Put(k, float32(e.Priority))
	return true
}
