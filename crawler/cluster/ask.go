package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
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

// ask asks all nodes and waits for those that are wanted; for others that are
// there at most for lastCall.
func (v *Viewer) ask(ctx context.Context, what string, question []byte, r roster, wanted []string) (answers []Answer, missing []string, err error) {
	conn, crawl := v.n.conn, v.n.o.Crawl
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: ask %s: %w", what, err)
	}
	defer sub.Unsubscribe()
	if err := conn.PublishRequest(crawl+".ask."+what, inbox, question); err != nil {
		return nil, nil, fmt.Errorf("cluster: ask %s: %w", what, err)
	}
	waiting, alive, wanted := slices.Clone(r.nodes), slices.Clone(r.alive), slices.Clone(wanted)
	last := time.Now().Add(lastCall)
	for len(waiting) > 0 && len(alive) > 0 {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if len(wanted) == 0 {
			wait, cancel = context.WithDeadline(ctx, last)
		}
		m, err := sub.NextMsgWithContext(wait)
		cancel()
		if err != nil {
			break // time is up, or nobody listens
		}
		var a Answer
		if json.Unmarshal(m.Data, &a) != nil || !slices.Contains(waiting, a.Node) {
			continue
		}
		is := func(name string) bool { return name == a.Node }
		waiting, alive, wanted = slices.DeleteFunc(waiting, is), slices.DeleteFunc(alive, is), slices.DeleteFunc(wanted, is)
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
	Definition Definition           `json:"definition"`
	Epoch      int                  `json:"epoch"`
	Nodes      []string             `json:"nodes"` // that have a share
	Members    []Member             `json:"members"`
	Left       map[string]time.Time `json:"left,omitempty"` // nodes that have lost their share, and when
	Over       bool                 `json:"over"`           // nothing is left to do
	Messages   uint64               `json:"messages"`       // of links on their way
	Bytes      uint64               `json:"bytes"`
	Replicas   int                  `json:"replicas"` // servers that keep each stream and bucket, at least
}

// A Viewer looks at a crawl's cluster without taking part. It is safe for
// concurrent use.
type Viewer struct {
	n *Node

	mu     sync.Mutex
	roster roster
	mute   map[string]time.Time // nodes that did not answer in time, and when
	keys   jetstream.KeyValue
	beats  jetstream.KeyValue
	stream jetstream.Stream
}

// View connects to the crawl o.Crawl at o.URL.
func View(ctx context.Context, o Options) (*Viewer, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	v := &Viewer{n: &Node{o: o, await: viewPatience}, mute: map[string]time.Time{}}
	err := v.n.connect(ctx)
	if err == nil {
		err = v.n.retry(ctx, "the streams of the crawl", v.open)
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// open finds the streams of the crawl.
func (v *Viewer) open(ctx context.Context) (err error) {
	crawl := v.n.o.Crawl
	if v.keys, err = v.n.js.KeyValue(ctx, crawl+"-crawl"); errors.Is(err, jetstream.ErrBucketNotFound) {
		return fmt.Errorf("cluster: no crawl called %q", crawl)
	}
	if err == nil {
		v.beats, err = v.n.js.KeyValue(ctx, crawl+"-members")
	}
	if err == nil {
		v.stream, err = v.n.js.Stream(ctx, crawl+"-links")
	}
	if err != nil {
		return fmt.Errorf("cluster: crawl %s: %w", crawl, err)
	}
	return nil
}

// Close leaves.
func (v *Viewer) Close() {
	if v.n.conn != nil {
		v.n.conn.Close()
	}
}

// Status returns the state of the cluster now. While servers choose a leader it
// asks again.
func (v *Viewer) Status(ctx context.Context) (s *Status, err error) {
	err = v.n.retry(ctx, "the state of the cluster", func(ctx context.Context) error {
		s, err = v.status(ctx)
		return err
	})
	return s, err
}

// Status is Viewer.Status as this node asks.
func (n *Node) Status(ctx context.Context) (*Status, error) {
	v := Viewer{n: n, keys: n.crawl, beats: n.members, stream: n.links}
	return v.Status(ctx)
}

func (v *Viewer) status(ctx context.Context) (*Status, error) {
	var s Status
	m, err := v.mapping(ctx)
	if err != nil {
		return nil, err
	}
	s.Epoch, s.Nodes, s.Left = m.Epoch, m.Nodes, m.Left
	over, err := v.keys.Get(ctx, "over")
	s.Over = err == nil && len(over.Value()) > 0
	if err := v.get(ctx, "definition", &s.Definition); err != nil {
		return nil, err
	}
	if s.Members, err = members(ctx, v.n.js, v.beats); err != nil {
		return nil, err
	}
	info, err := v.stream.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	s.Messages, s.Bytes = info.State.Msgs, info.State.Bytes
	streams := v.n.js.ListStreams(ctx)
	s.Replicas = info.Config.Replicas
	for info := range streams.Info() {
		if strings.HasPrefix(strings.TrimPrefix(info.Config.Name, "KV_"), v.n.o.Crawl+"-") {
			s.Replicas = min(s.Replicas, info.Config.Replicas)
		}
	}
	if err := streams.Err(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return &s, nil
}

func (v *Viewer) mapping(ctx context.Context) (m mapping, err error) { return m, v.get(ctx, "map", &m) }

func (v *Viewer) get(ctx context.Context, key string, into any) error {
	entry, err := v.keys.Get(ctx, key)
	if err == nil {
		err = json.Unmarshal(entry.Value(), into)
	}
	if err != nil {
		return fmt.Errorf("cluster: %s: %w", key, err)
	}
	return nil
}

// A roster is who takes part, as of a moment.
type roster struct {
	at    time.Time
	nodes []string // that have or had a share: their part of what was found counts
	alive []string
}

// rosterAge is for how long a roster is good.
const rosterAge = time.Second

func (v *Viewer) look(ctx context.Context) (roster, error) {
	v.mu.Lock()
	r := v.roster
	v.mu.Unlock()
	if time.Since(r.at) < rosterAge {
		return r, nil
	}
	known := !r.at.IsZero()
	if known { // better an old one than a search that waits for an election
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rosterAge)
		defer cancel()
	}
	err := v.n.retry(ctx, "the list of nodes", func(ctx context.Context) error {
		m, err := v.mapping(ctx)
		if err != nil {
			return err
		}
		there, err := members(ctx, v.n.js, v.beats)
		if err != nil {
			return err
		}
		r = roster{nodes: slices.Concat(m.Nodes, slices.Collect(maps.Keys(m.Left)))}
		for _, m := range there {
			r.alive = append(r.alive, m.Name)
		}
		return nil
	})
	if err != nil && !known {
		return roster{}, err
	}
	r.at = time.Now()
	slices.Sort(r.nodes)
	r.nodes = slices.Compact(r.nodes)
	v.mu.Lock()
	v.roster = r
	v.mu.Unlock()
	return r, nil
}

const (
	muteFor  = 10 * time.Second       // a node that did not answer is not waited for so long …
	lastCall = 200 * time.Millisecond // … but for this long
)

// Ask asks all nodes of the crawl and returns their answers, by name, and the
// nodes that have or had a share but did not answer within limit. Those that are
// known not to be there, or have failed to answer lately, are not waited for.
func (v *Viewer) Ask(ctx context.Context, what string, question []byte, limit time.Duration) (answers []Answer, missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := v.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	v.mu.Lock()
	wanted := slices.DeleteFunc(slices.Clone(r.alive), func(name string) bool { return time.Since(v.mute[name]) < muteFor })
	v.mu.Unlock()
	answers, missing, err = v.ask(ctx, what, question, r, wanted)
	if err != nil {
		return nil, nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, a := range answers {
		delete(v.mute, a.Node)
	}
	for _, name := range missing {
		if slices.Contains(wanted, name) {
			v.mute[name] = time.Now()
		}
	}
	return answers, missing, nil
}
