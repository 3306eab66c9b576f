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
	"sync/atomic"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/internal/disk"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An exchange is the queue of this node with the links that wait in it for other nodes.
type exchange struct {
	frontier Frontier
	hurry    atomic.Bool // links are sent without waiting for others, see flush
}

// maxWaiting is how many bytes of links may wait for other nodes before visits wait.
const maxWaiting = 256 << 20

// Route divides the entries found on a page into our own and those of other nodes, which have an Owner,
// one for each node. The frontier keeps these in the transaction that ends the visit. p is nil for
// redirects, sitemaps and seeds. While too many links wait to be sent, Route blocks.
func (n *Node) Route(ctx context.Context, p *page.Page, es []frontier.Entry) (
	own, others []frontier.Entry, err error) {
	if len(es) == 0 {
		return es, nil, nil
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
	for i, owners := range n.owners(q) {
		for _, name := range owners {
			e := es[i]
			if name == n.o.Name {
				own = append(own, e)
				continue
			}
			e.Owner = name
			others = append(others, e)
		}
	}
	if len(others) > 0 {
		err = n.awaitRoom(ctx)
	}
	return own, others, err
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

// Moved gives an entry of our queue to its present owner, if nodes have joined or left since it was
// queued; false: it is ours. It needs a partition by which the owner follows from the URL alone.
func (n *Node) Moved(ctx context.Context, e frontier.Entry) (moved bool, err error) {
	if !n.stable() {
		return false, nil
	}
	e.Owner = n.Owner(e.URL)
	if e.Owner == n.o.Name {
		return false, nil
	}
	err = n.awaitRoom(ctx)
	if err != nil {
		return false, err
	}
	_, err = n.frontier.Leave(ctx, reasonMoved, &e)
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
				n.say("cluster: %d links go to other nodes", moved)
			}
		}
		select {
		case <-ctx.Done():
		case <-current.replaced:
		}
	}
}

// handOver gives the links that other nodes own by now to these, and returns their number. The parked ones
// go last, so that they take no place of better ones at a host with a limit. They go because only the
// pages of their host show whether they must stay parked, and those are the new owner's.
func (n *Node) handOver(ctx context.Context) (moved int, err error) {
	queued, err := n.handOverFrom(ctx, n.frontier.WalkQueue)
	if err != nil {
		return queued, err
	}
	parked, err := n.handOverFrom(ctx, n.frontier.WalkParked)
	return queued + parked, err
}

// handOverFrom is handOver for the links of a walk.
func (n *Node) handOverFrom(ctx context.Context, walk func(context.Context, func(frontier.Node) error) error) (
	moved int, err error) {
	var theirs []frontier.Entry
	hand := func() error {
		err := n.awaitRoom(ctx)
		if err != nil {
			return err
		}
		left, err := n.frontier.Leave(ctx, reasonMoved, nil, theirs...)
		moved, theirs = moved+left, theirs[:0]
		return err
	}
	err = walk(ctx, func(e frontier.Node) error {
		e.Owner = n.ownerOf(&e.Entry)
		if e.Owner == n.o.Name {
			return nil
		}
		theirs = append(theirs, e.Entry)
		if len(theirs) < 1000 {
			return nil
		}
		return hand()
	})
	if err != nil {
		return moved, err
	}
	return moved, hand()
}

// arrive takes in links that were sent to a node: it queues ours. Those for a node that has lost its share
// wait for the nodes that own them now, also if these have had them from us before: a node that did not
// know the present map may have given them back.
func (n *Node) arrive(ctx context.Context, name string, es []frontier.Entry) error {
	if name != n.o.Name {
		for i := range es {
			if owner := n.ownerOf(&es[i]); owner != n.o.Name {
				es[i].Owner = owner
			}
		}
		err := n.awaitRoom(ctx)
		if err != nil {
			return err
		}
		n.frontier.Resend()
	}
	_, err := n.frontier.Push(ctx, es...)
	return err
}

// awaitRoom waits while too many links wait to be sent.
func (x *exchange) awaitRoom(ctx context.Context) error {
	for x.frontier.Totals().Outgoing > maxWaiting {
		if !sleep(ctx, 100*time.Millisecond) {
			return fmt.Errorf("send links: %w", context.Cause(ctx))
		}
	}
	return nil
}

// flush waits until no link waits to be sent.
func (x *exchange) flush(ctx context.Context) error {
	x.hurry.Store(true)
	defer x.hurry.Store(false)
	for x.frontier.Totals().Outgoing > 0 {
		if !sleep(ctx, 10*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// perNode is how much is gathered for each other node before it is sent, in
// bytes before they are packed.
const perNode = 64 << 10

// sendLinks sends the links that wait for other nodes: when much has gathered, after Options.Linger, and
// sooner if a node is idle.
func (n *Node) sendLinks(ctx context.Context) {
	soon := min(n.o.Linger, n.o.Heartbeat/4)
	var since time.Time // links have gathered since then; zero: since an earlier process
	for ctx.Err() == nil {
		waiting := n.frontier.Totals().Outgoing
		enough, linger := n.patience(soon)
		if waiting > 0 && (waiting >= enough || time.Since(since) >= linger) {
			since = time.Now()
			err := n.sendSome(ctx)
			if err == nil {
				continue
			}
			if ctx.Err() == nil {
				n.o.Log("cluster: %v", err)
			}
		} else if waiting == 0 {
			since = time.Now()
		}
		sleep(ctx, max(soon/4, 10*time.Millisecond))
	}
}

// patience returns the bytes and the time after which links are sent.
func (n *Node) patience(soon time.Duration) (enough int64, linger time.Duration) {
	switch {
	case n.hurry.Load():
		return 0, 0
	case n.workers.resting() || n.heard.hungry(n.o.Name):
		return perNode, soon
	}
	return int64(max(len(n.shares.Load().nodes)-1, 1)) * perNode, n.o.Linger
}

// sendSome publishes the links that have waited longest, and removes them once JetStream has all of them.
// The ID of a message is a hash of the numbers of its links and its content, so that what a killed node
// sends again is stored once; a link that arrives twice is known to its frontier. A hash of the
// content alone would not do: the same links sent to a node a second time, after it gave them up, would
// be discarded as duplicates.
func (n *Node) sendSome(ctx context.Context) error {
	out, err := n.frontier.Outgoing(ctx)
	if err != nil || out.Last == 0 {
		return err
	}
	links := map[string][]frontier.Entry{}
	for _, e := range n.allowed(out.Links) {
		links[e.Owner] = append(links[e.Owner], e)
	}
	var t Traffic
	for _, name := range slices.Sorted(maps.Keys(links)) {
		for _, message := range packLinks(links[name]) {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s\x00%s", n.instance, out.First+uint64(t.Messages), name, message))
			id := hex.EncodeToString(sum[:12])
			err := n.publish(ctx, n.subject(name), message, jetstream.WithMsgID(id))
			if err != nil {
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
	return errors.Join(err, n.frontier.Sent(ctx, out))
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
			err := n.fetch(ctx, name, consumers)
			if err != nil {
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
	err = n.arrive(ctx, name, es)
	if err != nil {
		if ctx.Err() == nil {
			n.o.Log("cluster: links of another node cannot be stored: %v", err)
		}
		m.NakWithDelay(time.Second) // best effort: it comes again anyway
		return
	}
	n.received.Add(int64(len(es)))
	err = m.Ack()
	if err != nil && ctx.Err() == nil {
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
	err = errors.Join(err, disk.ReplaceBytes(path, 0o600, message))
	if err != nil {
		n.o.Log("cluster: a message cannot be read (%v) and was dropped: %v", why, err)
		return
	}
	n.o.Log("cluster: a message cannot be read and was put into %s: %v", path, why)
}
