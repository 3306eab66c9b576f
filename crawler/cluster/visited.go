package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"

	"github.com/nats-io/nats.go/jetstream"
)

// What was visited lies in the stream NAME-visited, so that whoever takes over
// a host, from a node that is there, away or dead, fetches nothing again. A
// node reads its visits out of its frontier and publishes them with every
// heartbeat, and before it gives a host back; one that takes a host reads the
// stream to its end first. So no page is fetched twice but what was in flight,
// and, of a node that was killed, what it fetched since its last heartbeat.
//
// Only the partitions under which the owner follows from the URL need this:
// under the others several nodes fetch one page by design, which their overlap
// measures.

// A visitsMessage names what a node has visited.
type visitsMessage struct {
	Instance string              `json:"instance"` // of the node's data directory
	Hosts    map[string][]uint64 `json:"hosts"`    // hashes of URLs, see hashOf
}

// maxVisits bounds the visits of one message.
const maxVisits = 20_000

// hashOf is what stands for a URL in the stream of visits.
func hashOf(u weburl.URL) uint64 {
	k := frontier.KeyOf(u)
	return binary.BigEndian.Uint64(k[8:])
}

// publishVisits publishes what was visited since the last time.
func (n *Node) publishVisits(ctx context.Context) error {
	n.publishing.Lock()
	defer n.publishing.Unlock()
	after := n.notes.get().Visited
	last, count := after, 0
	visits := map[string][]uint64{}
	publish := func() error {
		if count > 0 {
			try, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			message, err := json.Marshal(visitsMessage{n.instance, visits})
			if err != nil {
				return fmt.Errorf("publish visits: %w", err)
			}
			if _, err := n.js.Publish(try, n.o.Crawl+".visited."+n.o.Name, message); err != nil {
				return fmt.Errorf("publish visits: %w", err)
			}
			clear(visits)
			count = 0
		}
		if last == after {
			return nil
		}
		after = last
		return n.notes.change(func(s *notes) { s.Visited = last })
	}
	err := n.frontier.Walk(ctx, after, func(v frontier.Node) error {
		last = v.Seq
		if v.Outcome.Kind == "skipped" {
			return nil // nobody was asked
		}
		visits[v.URL.Host()] = append(visits[v.URL.Host()], hashOf(v.URL))
		if count++; count < maxVisits {
			return nil
		}
		return publish()
	})
	if err != nil {
		return err
	}
	return publish()
}

// elsewhere is what other nodes have visited of what is ours by now.
type elsewhere struct {
	mu      sync.RWMutex
	changed *sync.Cond // of everything below; on mu
	epoch   int        // of the map by which "ours" was decided
	at      uint64     // last message read
	hashes  map[uint64]struct{}

	one   sync.Mutex // one catchUp at a time
	fresh time.Time  // when the last one began that succeeded
}

// followVisits keeps n.visited in step with the stream. When the map changes
// it reads all of it again.
func (n *Node) followVisits(ctx context.Context) {
	for ctx.Err() == nil {
		n.mu.RLock()
		s, remapped := n.shares, n.remapped
		n.mu.RUnlock()
		if err := n.readStream(ctx, s, remapped); err != nil && ctx.Err() == nil {
			n.o.Log("cluster: visits of other nodes: %v", err)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

// silent is how often a server says that a stream has nothing new: one that was
// lost is noticed after twice that time, and another one asked.
const silent = 3 * time.Second

// readStream reads the stream from its beginning until the map changes.
func (n *Node) readStream(ctx context.Context, s shares, remapped <-chan struct{}) error {
	v := &n.visited
	v.mu.Lock()
	v.epoch, v.at, v.hashes = s.epoch, 0, map[uint64]struct{}{}
	v.changed.Broadcast()
	v.mu.Unlock()
	owned := map[string]bool{} // host → ours
	wanted := func(instance, host string) bool {
		if instance == n.instance || !s.instances[instance] {
			return false
		}
		ours, known := owned[host]
		if !known {
			ours = s.mayOwn(n.o.Name, host)
			if len(owned) < 100_000 {
				owned[host] = ours
			}
		}
		return ours
	}
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	consumer, err := n.js.OrderedConsumer(wait, n.o.Crawl+"-visited", jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return err
	}
	reading, err := consumer.Consume(func(m jetstream.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			return
		}
		var message visitsMessage
		if err := json.Unmarshal(m.Data(), &message); err != nil {
			n.o.Log("cluster: message %d of visits: %v", meta.Sequence.Stream, err)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for host, hashes := range message.Hosts {
			if wanted(message.Instance, host) {
				for _, hash := range hashes {
					v.hashes[hash] = struct{}{}
				}
			}
		}
		v.at = meta.Sequence.Stream
		v.changed.Broadcast()
	}, jetstream.PullHeartbeat(silent), jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {})) // it tries again by itself
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-remapped:
	}
	reading.Stop()
	<-reading.Closed()
	return nil
}

// catchUp returns when everything is known that others had visited, and
// published, at a time: since, or later.
func (n *Node) catchUp(ctx context.Context, since time.Time) error {
	v := &n.visited
	v.one.Lock()
	defer v.one.Unlock()
	if v.fresh.After(since) {
		return nil // by another call that had to wait
	}
	begun := time.Now()
	n.mu.RLock()
	epoch := n.shares.epoch
	n.mu.RUnlock()
	info, err := n.visits.Info(ctx)
	if err != nil {
		return fmt.Errorf("visits of other nodes: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { v.mu.Lock(); v.changed.Broadcast(); v.mu.Unlock() })
	defer stop()
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.epoch < epoch || info.State.Msgs > 0 && v.at < info.State.LastSeq {
		if ctx.Err() != nil {
			return fmt.Errorf("visits of other nodes: %w", context.Cause(ctx))
		}
		v.changed.Wait()
	}
	v.fresh = begun
	return nil
}

// Visited says that another node has visited a URL that is ours by now.
func (n *Node) Visited(e frontier.Entry) bool {
	n.visited.mu.RLock()
	defer n.visited.mu.RUnlock()
	_, known := n.visited.hashes[hashOf(e.URL)]
	return known
}
