package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An Answer is one node's to a question.
type Answer struct {
	Node string          `json:"node"`
	Data json.RawMessage `json:"data,omitempty"`
	Err  string          `json:"error,omitempty"`
}

const maxQuestion = 64 << 10

// Serve answers questions of a kind, such as "search", until the node is
// closed: at most atOnce at a time, each within limit.
func (n *Node) Serve(what string, atOnce int, limit time.Duration, answer func(ctx context.Context, question []byte) (any, error)) error {
	slots := make(chan struct{}, atOnce)
	sub, err := n.conn.Subscribe(n.o.Crawl+".ask."+what, func(m *nats.Msg) {
		reply := func(a Answer) {
			a.Node = n.o.Name
			raw, err := json.Marshal(a)
			if err == nil {
				err = m.Respond(raw)
			}
			if err != nil && n.ctx.Err() == nil {
				n.o.Log("cluster: answer %s: %v", what, err)
			}
		}
		if len(m.Data) > maxQuestion {
			reply(Answer{Err: "question too large"})
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			reply(Answer{Err: "busy"})
			return
		}
		n.spawn(func(ctx context.Context) {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			v, err := answer(ctx, m.Data)
			if err != nil {
				reply(Answer{Err: err.Error()})
				return
			}
			raw, err := json.Marshal(v)
			if err == nil && int64(len(raw)) > n.conn.MaxPayload()-1024 {
				err = errors.New("answer too large")
			}
			if err != nil {
				reply(Answer{Err: err.Error()})
				return
			}
			reply(Answer{Data: raw})
		})
	})
	if err != nil {
		return fmt.Errorf("cluster: answer %s: %w", what, err)
	}
	context.AfterFunc(n.ctx, func() { sub.Unsubscribe() })
	return nil
}

// Ask asks all nodes of the crawl and returns their answers, by name, and the
// nodes that have a share but did not answer in time.
func (n *Node) Ask(ctx context.Context, what string, question []byte, limit time.Duration) (answers []Answer, missing []string, err error) {
	n.mu.RLock()
	nodes := slices.Clone(n.shares.nodes)
	n.mu.RUnlock()
	return ask(ctx, n.conn, n.o.Crawl, what, question, limit, nodes)
}

func ask(ctx context.Context, conn *nats.Conn, crawl, what string, question []byte, limit time.Duration, nodes []string) (answers []Answer, missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: ask %s: %w", what, err)
	}
	defer sub.Unsubscribe()
	if err := conn.PublishRequest(crawl+".ask."+what, inbox, question); err != nil {
		return nil, nil, fmt.Errorf("cluster: ask %s: %w", what, err)
	}
	waiting := slices.Clone(nodes)
	for len(waiting) > 0 {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break // time is up, or nobody listens
		}
		var a Answer
		if json.Unmarshal(m.Data, &a) != nil || !slices.Contains(waiting, a.Node) {
			continue
		}
		waiting = slices.DeleteFunc(waiting, func(s string) bool { return s == a.Node })
		answers = append(answers, a)
	}
	slices.SortFunc(answers, func(a, b Answer) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return answers, waiting, nil
}

// A Status is a cluster as one who looks at it sees it.
type Status struct {
	Definition Definition `json:"definition"`
	Epoch      int        `json:"epoch"`
	Nodes      []string   `json:"nodes"` // that have a share
	Members    []Member   `json:"members"`
	Messages   uint64     `json:"messages"` // of links on their way
	Bytes      uint64     `json:"bytes"`
}

// Look connects, reads the state of a crawl's cluster without taking part,
// and leaves.
func Look(ctx context.Context, o Options) (*Status, error) {
	n := &Node{o: o}
	if n.o.Log == nil {
		n.o.Log = func(string, ...any) {}
	}
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	defer n.conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	kv, err := n.js.KeyValue(ctx, o.Crawl+"-crawl")
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, fmt.Errorf("cluster: no crawl called %q", o.Crawl)
	} else if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	var s Status
	var m mapping
	for key, into := range map[string]any{"definition": &s.Definition, "map": &m} {
		entry, err := kv.Get(ctx, key)
		if err == nil {
			err = json.Unmarshal(entry.Value(), into)
		}
		if err != nil {
			return nil, fmt.Errorf("cluster: %s: %w", key, err)
		}
	}
	s.Epoch, s.Nodes = m.Epoch, m.Nodes
	if kv, err = n.js.KeyValue(ctx, o.Crawl+"-members"); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if s.Members, err = members(ctx, kv); err != nil {
		return nil, err
	}
	stream, err := n.js.Stream(ctx, o.Crawl+"-links")
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	s.Messages, s.Bytes = stream.CachedInfo().State.Msgs, stream.CachedInfo().State.Bytes
	return &s, nil
}
