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

// The stream NAME-visited has hashes of the URLs that nodes have visited, so that the next holder
// of a host fetches nothing again, whether the last one is present, away or dead. A node publishes
// its visits from its frontier with every heartbeat and before it releases a host; a node that
// takes a host first reads the stream to its end. So only what was in flight is fetched twice, and
// what a killed node fetched after its last heartbeat.
//
// Only partitions by which the owner follows from the URL need this. By the others several nodes
// fetch one page by design, which their overlap measures.

// A visitsMessage names what a node has visited.
type visitsMessage struct {
	Instance string   `json:"instance"` // see identity
	Hashes   []uint64 `json:"hashes"`   // see hashOf
}

// maxVisits bounds the visits of one message.
const maxVisits = 20_000

// hashOf returns the hash of a URL in the stream of visits.
func hashOf(u weburl.URL) uint64 {
	k := frontier.KeyOf(u)
	return binary.BigEndian.Uint64(k[8:])
}

// publishVisits publishes what was visited since the last time.
func (n *Node) publishVisits(ctx context.Context) error {
	n.visited.publishing.Lock()
	defer n.visited.publishing.Unlock()
	last := n.notes.get().Visited
	var hashes []uint64
	publish := func() error {
		if len(hashes) > 0 {
			message, err := json.Marshal(visitsMessage{n.instance, hashes})
			if err != nil {
				return fmt.Errorf("publish visits: %w", err)
			}
			try, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			_, err = n.js.Publish(try, n.o.Crawl+".visited."+n.o.Name, message)
			if err != nil {
				return fmt.Errorf("publish visits: %w", err)
			}
			hashes = hashes[:0]
		}
		if last == n.notes.get().Visited {
			return nil
		}
		return n.notes.change(func(s *notes) { s.Visited = last })
	}
	err := n.frontier.Walk(ctx, last, func(v frontier.Node) error {
		last = v.Seq
		if v.Outcome.Kind == frontier.KindSkipped {
			return nil // nothing was fetched
		}
		hashes = append(hashes, hashOf(v.URL))
		if len(hashes) < maxVisits {
			return nil
		}
		return publish()
	})
	if err != nil {
		return err
	}
	return publish()
}

// elsewhere holds the hashes of what other nodes have visited.
type elsewhere struct {
	mu     sync.RWMutex
	at     uint64                         // last message read
	hashes map[string]map[uint64]struct{} // by the instance that visited them

	publishing sync.Mutex // one publishVisits at a time

	one   sync.Mutex // one catchUp at a time
	fresh time.Time  // when the last one began that succeeded
}

// note records a message of the stream of visits.
func (v *elsewhere) note(number uint64, instance string, hashes []uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.hashes[instance] == nil {
		v.hashes[instance] = map[uint64]struct{}{}
	}
	for _, hash := range hashes {
		v.hashes[instance][hash] = struct{}{}
	}
	v.at = number
}

// followVisits keeps n.visited in step with the stream.
func (n *Node) followVisits(ctx context.Context) {
	for ctx.Err() == nil {
		err := n.readVisits(ctx)
		if err != nil && ctx.Err() == nil {
			n.o.Log("cluster: visits of other nodes: %v", err)
			sleep(ctx, time.Second)
		}
	}
}

// silent is how often a server reports that a stream has nothing new. A lost server is noticed
// after twice that time, and another one is used.
const silent = 3 * time.Second

// readVisits reads the stream from its beginning until ctx ends.
func (n *Node) readVisits(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	from := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy}
	consumer, err := n.js.OrderedConsumer(wait, n.o.Crawl+"-visited", from)
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
		if message.Instance == n.instance {
			message.Hashes = nil // we know what we have visited
		}
		n.visited.note(meta.Sequence.Stream, message.Instance, message.Hashes)
	}, jetstream.PullHeartbeat(silent),
		jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) {})) // it reconnects by itself
	if err != nil {
		return err
	}
	<-ctx.Done()
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
		return nil // another call has done it meanwhile
	}
	begun := time.Now()
	info, err := n.visits.Info(ctx)
	if err != nil {
		return fmt.Errorf("visits of other nodes: %w", err)
	}
	for info.State.Msgs > 0 {
		v.mu.RLock()
		at := v.at
		v.mu.RUnlock()
		if at >= info.State.LastSeq {
			break
		}
		if !sleep(ctx, 5*time.Millisecond) {
			return fmt.Errorf("visits of other nodes: %w", context.Cause(ctx))
		}
	}
	v.fresh = begun
	return nil
}

// Visited reports whether another node has visited a URL that this node owns now. Visits from a
// discarded data directory do not count.
func (n *Node) Visited(e frontier.Entry) bool {
	instances := n.shares.Load().instances
	n.visited.mu.RLock()
	defer n.visited.mu.RUnlock()
	hash := hashOf(e.URL)
	for instance := range instances {
		if _, known := n.visited.hashes[instance][hash]; known {
			return true
		}
	}
	return false
}
