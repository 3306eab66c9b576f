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

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An exchange is the queue of this node, what leaves it for other nodes, and what comes from them.
type exchange struct {
	frontier  Frontier
	outbox    *outbox
	sent      sent
	departing sync.RWMutex // see depart
}

// Route sends the entries found on a page to the nodes that own them, and returns our own. The
// others are durable in the outbox when it returns. p is nil for redirects, sitemaps and seeds.
// While the outbox is full, it blocks.
func (n *Node) Route(ctx context.Context, p *page.Page, es []frontier.Entry) (
	own []frontier.Entry, sent int, err error) {
	if len(es) == 0 {
		return es, 0, nil
	}
	q := &page.Page{}
	if p != nil {
		q.URL, q.Text, q.Title = p.URL, p.Text, p.Title
	}
	for _, e := range es {
		q.Links = append(q.Links, page.Link{From: q.URL, To: e.URL, Anchor: e.Anchor, Title: e.Title,
			Around: e.Around})
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
			if n.sent.add(name, &es[i]) {
				theirs[name] = append(theirs[name], es[i])
			}
		}
	}
	return own, sent, n.send(ctx, theirs)
}

// splits copies the positions of links within the words around them.
func splits(to, from []page.Link) {
	at := make(map[string]int, len(from))
	for _, l := range from {
		at[l.To.String()] = l.Split
	}
	for i := range to {
		to[i].Split = min(at[to[i].To.String()], len(to[i].Around))
	}
}

// Moved sends an entry of our queue to its present owner, if nodes have joined or left since it was
// queued, and removes it from the queue; false: it is ours. It needs a partition by which the owner
// follows from the URL alone.
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

// settle sends entries that another node owns now, whenever the map has changed, so that they need
// not wait in this queue.
func (n *Node) settle(ctx context.Context) {
	for ctx.Err() == nil {
		current := n.shares.Load()
		if !slices.Equal(n.notes.get().Settled, current.nodes) {
			moved, err := n.handOver(ctx)
			if err == nil {
				err = n.notes.change(func(s *notes) { s.Settled = current.nodes })
			}
			if err != nil && ctx.Err() == nil {
				n.o.Log("cluster: links of other nodes cannot be handed over: %v", err)
				sleep(ctx, n.o.Heartbeat)
				continue
			}
			if moved > 0 {
				n.say("cluster: %d links of the queue go to other nodes", moved)
			}
		}
		select {
		case <-ctx.Done():
		case <-current.replaced:
		}
	}
}

// handOver sends the queued links that other nodes own by now.
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
		gathered++
		if gathered < 1000 {
			return nil
		}
		return hand()
	})
	if err != nil {
		return moved, err
	}
	return moved, hand()
}

// depart puts links of our queue into the outbox, for the nodes that own them, and then removes
// them from the queue, leased ones only if they are own. It returns their number.
//
// push waits meanwhile: a link that came back between the two steps would be known, so it would
// not be queued, and then be removed with the others.
func (x *exchange) depart(ctx context.Context, theirs map[string][]frontier.Entry, own *frontier.Entry) (
	left int, err error) {
	if err := x.outbox.awaitRoom(ctx); err != nil {
		return 0, err
	}
	x.departing.RLock()
	defer x.departing.RUnlock()
	if err := x.post(theirs); err != nil {
		return 0, err
	}
	for _, es := range theirs {
		if own != nil {
			es = nil
		}
		some, err := x.frontier.Leave(ctx, reasonMoved, own, es...)
		left += some
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// arrive takes in links that were sent to a node: it queues ours. Those for a
// node that has lost its share go to the nodes that own them now.
func (n *Node) arrive(ctx context.Context, name string, es []frontier.Entry) error {
	if name != n.o.Name {
		theirs := map[string][]frontier.Entry{}
		for _, e := range es {
			owner := n.ownerOf(&e)
			theirs[owner] = append(theirs[owner], e)
		}
		es = theirs[n.o.Name]
		delete(theirs, n.o.Name)
		if err := n.send(ctx, theirs); err != nil {
			return err
		}
	}
	return n.push(ctx, es)
}

// push queues links of other nodes, while none departs.
func (x *exchange) push(ctx context.Context, es []frontier.Entry) error {
	x.departing.Lock()
	defer x.departing.Unlock()
	_, err := x.frontier.Push(ctx, es...)
	return err
}

// send puts links for other nodes into the outbox. It waits while that is full.
func (x *exchange) send(ctx context.Context, theirs map[string][]frontier.Entry) error {
	if len(theirs) == 0 {
		return nil
	}
	if err := x.outbox.awaitRoom(ctx); err != nil {
		return err
	}
	return x.post(theirs)
}

// post puts links for other nodes into the outbox, full or not.
func (x *exchange) post(theirs map[string][]frontier.Entry) error {
	for name, es := range theirs {
		for part := range slices.Chunk(es, maxLinks) {
			if err := x.outbox.put(name, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// perNode is how much is gathered for each other node before it is sent, in
// bytes before they are packed.
const perNode = 64 << 10

// sendLinks sends the outbox: when much has gathered, after Options.Linger, and sooner if a node is
// idle.
func (n *Node) sendLinks(ctx context.Context) {
	soon := min(n.o.Linger, n.o.Heartbeat/4)
	for ctx.Err() == nil {
		enough, linger := n.patience(soon)
		number, some, err := n.outbox.due(enough, linger)
		if err == nil && some {
			err = n.sendFile(ctx, number)
		}
		if err != nil && ctx.Err() == nil {
			n.o.Log("cluster: %v", err)
		}
		if !some || err != nil {
			sleep(ctx, max(soon/4, 10*time.Millisecond))
		}
	}
}

// patience returns the bytes and the time after which the outbox is sent.
func (n *Node) patience(soon time.Duration) (enough int64, linger time.Duration) {
	if n.workers.resting() || n.heard.hungry(n.o.Name) {
		return perNode, soon
	}
	return int64(max(len(n.shares.Load().nodes)-1, 1)) * perNode, n.o.Linger
}

// sendFile publishes a file of the outbox until JetStream has all of it. The ID of a message is a
// hash of its number at this node and its content, so that what a killed node sends again is
// stored once; a link that arrives twice is known to its frontier. A hash of the content alone
// would not do: the same links sent to a node a second time, after it gave them up, would be
// discarded as duplicates.
func (n *Node) sendFile(ctx context.Context, number uint64) error {
	links, err := n.outbox.read(number)
	if err != nil {
		return err
	}
	var t Traffic
	before := n.notes.get().Messages
	for _, name := range slices.Sorted(maps.Keys(links)) {
		links[name] = n.allowed(links[name])
		for _, message := range packLinks(links[name]) {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s\x00%s", n.instance, before+t.Messages, name, message))
			id := hex.EncodeToString(sum[:12])
			if err := n.publish(ctx, n.subject(name), message, jetstream.WithMsgID(id)); err != nil {
				return err
			}
			t.Messages++
			header := "NATS/1.0\r\nNats-Msg-Id: " + id + "\r\n\r\n"
			t.SentBytes += int64(len(n.subject(name)) + len(header) + len(message))
		}
		t.Sent += int64(len(links[name]))
		for i := range links[name] {
			t.URLBytes += int64(len(links[name][i].URL.String()))
		}
	}
	err = n.notes.change(func(s *notes) {
		s.Sent, s.URLBytes, s.SentBytes, s.Messages = s.Sent+t.Sent, s.URLBytes+t.URLBytes,
			s.SentBytes+t.SentBytes, s.Messages+t.Messages
	})
	return errors.Join(err, n.outbox.sent())
}

func (n *Node) subject(node string) string { return n.o.Crawl + ".links." + node }

// publish retries until it succeeds or ctx ends.
func (n *Node) publish(ctx context.Context, subject string, message []byte, id jetstream.PublishOpt) error {
	for failed := false; ; failed = true {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		_, err := n.js.Publish(try, subject, message, id)
		cancel()
		if err == nil {
			return nil
		}
		if !failed {
			n.o.Log("cluster: links wait to be sent: %v", err)
		}
		if !sleep(ctx, time.Second) {
			return fmt.Errorf("send links: %w", context.Cause(ctx))
		}
	}
}

// receive receives the links for this node, and, on one node, those for nodes that have lost their
// share.
func (n *Node) receive(ctx context.Context) {
	consumers := map[string]jetstream.Consumer{}
	for ctx.Err() == nil {
		for _, name := range n.addressees() {
			if err := n.fetch(ctx, name, consumers); err != nil {
				delete(consumers, name)
				if ctx.Err() == nil {
					n.o.Log("cluster: receive links for %s: %v", name, err)
					sleep(ctx, time.Second)
				}
			}
		}
	}
}

// addressees returns the nodes whose messages this node receives, itself last.
func (n *Node) addressees() (names []string) {
	if s := n.shares.Load(); len(s.nodes) > 0 && s.nodes[0] == n.o.Name {
		names = slices.Clone(s.left)
	}
	return append(names, n.o.Name)
}

// fetch receives some messages for a node. For this node it waits a while if there are none.
func (n *Node) fetch(ctx context.Context, name string, consumers map[string]jetstream.Consumer) (err error) {
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if consumers[name] == nil {
		consumers[name], err = n.links.CreateOrUpdateConsumer(wait, jetstream.ConsumerConfig{
			Durable: "node-" + name, FilterSubject: n.subject(name), AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: 15 * n.o.Heartbeat, MaxAckPending: 256,
		})
		if err != nil {
			return err
		}
	}
	var batch jetstream.MessageBatch
	if name == n.o.Name {
		while, cancel := context.WithTimeout(ctx, max(2*n.o.Heartbeat, time.Second))
		defer cancel()
		batch, err = consumers[name].Fetch(64, jetstream.FetchContext(while))
	} else {
		batch, err = consumers[name].FetchNoWait(64)
	}
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		n.storeMessage(ctx, name, m)
	}
	err = batch.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, jetstream.ErrNoMessages) {
		return nil // nothing came
	}
	return err
}

// maxUnreadable bounds the unreadable messages kept in files.
const maxUnreadable = 10

// storeMessage stores one message and acknowledges it. An unreadable one is counted, kept in a file
// while there are few, and not delivered again.
func (n *Node) storeMessage(ctx context.Context, name string, m jetstream.Msg) {
	es, err := unpackLinks(m.Data())
	if err != nil {
		n.poisoned.Add(1)
		n.putAside(m.Data(), err)
		m.Term()
		return
	}
	es = n.allowed(es)
	if err := n.arrive(ctx, name, es); err != nil {
		if ctx.Err() == nil {
			n.o.Log("cluster: links of another node cannot be stored: %v", err)
		}
		m.NakWithDelay(time.Second) // best effort: it comes again anyway
		return
	}
	n.received.Add(int64(len(es)))
	if err := m.Ack(); err != nil && ctx.Err() == nil {
		n.o.Log("cluster: %d links may be delivered again: %v", len(es), err)
	}
	n.workers.wake()
}

// putAside keeps an unreadable message in a file for inspection.
func (n *Node) putAside(message []byte, why error) {
	sum := sha256.Sum256(message)
	path := filepath.Join(n.o.Dir, "unreadable", hex.EncodeToString(sum[:8])+".msg")
	if kept, _ := os.ReadDir(filepath.Dir(path)); len(kept) >= maxUnreadable {
		n.o.Log("cluster: a message cannot be read and was dropped: %v", why)
		return
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err = errors.Join(err, disk.ReplaceBytes(path, 0o600, message)); err != nil {
		n.o.Log("cluster: a message cannot be read (%v) and was dropped: %v", why, err)
		return
	}
	n.o.Log("cluster: a message cannot be read and was put into %s: %v", path, why)
}

// sent remembers recently sent links, so that a link on every page of a site is sent once.
type sent struct {
	mu    sync.Mutex
	links recent.Map[sentLink, float32] // → the best priority sent
}

type sentLink struct {
	node string
	key  frontier.Key
}

const maxSent = 1 << 19

// reset forgets all links.
func (s *sent) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = recent.Map[sentLink, float32]{Most: maxSent}
}

// add reports whether e is new to its owner, or known there with a clearly lower priority only, and
// records it as known.
func (s *sent) add(node string, e *frontier.Entry) (isNew bool) {
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
