package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An Answer is the answer of one node to a question.
type Answer struct {
	Node string          `json:"node"`
	Data json.RawMessage `json:"data,omitempty"`
	Err  string          `json:"error,omitempty"`
}

// maxQuestion bounds a question, in bytes.
const maxQuestion = 64 << 10

// Serve answers questions of a kind, such as "search", until the node is
// closed: at most atOnce at a time, each within limit.
func (n *Node) Serve(what string, atOnce int, limit time.Duration,
	answer func(ctx context.Context, question []byte) (any, error)) error {
	slots := make(chan struct{}, atOnce)
	reply := func(m *nats.Msg, a Answer) {
		a.Node = n.o.Name
		raw, err := json.Marshal(a)
		if err == nil {
			err = m.Respond(raw)
		}
		if err != nil && n.ctx.Err() == nil {
			n.o.Log("cluster: answer %s: %v", what, err)
		}
	}
	sub, err := n.conn.Subscribe(n.o.Crawl+".ask."+what, func(m *nats.Msg) {
		select {
		case slots <- struct{}{}:
		default:
			reply(m, Answer{Err: "busy"})
			return
		}
		n.spawn(func(ctx context.Context) {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			raw, err := n.answer(ctx, m.Data, answer)
			if err != nil {
				reply(m, Answer{Err: err.Error()})
				return
			}
			reply(m, Answer{Data: raw})
		})
	})
	if err != nil {
		return fmt.Errorf("cluster: answer %s: %w", what, err)
	}
	context.AfterFunc(n.ctx, func() { sub.Unsubscribe() })
	return nil
}

// answer returns the JSON of an answer, if question and answer are not too large.
func (n *Node) answer(ctx context.Context, question []byte,
	answer func(ctx context.Context, question []byte) (any, error)) ([]byte, error) {
	if len(question) > maxQuestion {
		return nil, errors.New("request too large")
	}
	v, err := answer(ctx, question)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(v)
	if err == nil && int64(len(raw)) > n.conn.MaxPayload()-1024 {
		err = errors.New("response too large")
	}
	return raw, err
}

// A Viewer reads from a crawl's cluster without joining it. It is safe for concurrent use.
type Viewer struct {
	c *connection

	mu     sync.Mutex
	roster roster
}

// View connects to the crawl o.Crawl at o.URL.
func View(ctx context.Context, o Options) (*Viewer, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	v := &Viewer{c: &connection{o: o, await: viewPatience}}
	err := v.c.connect(ctx)
	if err == nil {
		err = v.c.retry(ctx, "the streams of the crawl", v.c.find)
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// find opens the existing streams and buckets of a crawl.
func (c *connection) find(ctx context.Context) (err error) {
	c.crawl, err = c.js.KeyValue(ctx, c.o.Crawl+"-crawl")
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return fmt.Errorf("cluster: no crawl called %q", c.o.Crawl)
	}
	if err == nil {
		c.members, err = c.js.KeyValue(ctx, c.o.Crawl+"-members")
	}
	if err == nil {
		c.links, err = c.js.Stream(ctx, c.o.Crawl+"-links")
	}
	if err != nil {
		return fmt.Errorf("cluster: crawl %s: %w", c.o.Crawl, err)
	}
	return nil
}

// Close disconnects.
func (v *Viewer) Close() {
	if v.c.conn != nil {
		v.c.conn.Close()
	}
}

// Status returns the state of the cluster now. It retries while servers elect a leader.
func (v *Viewer) Status(ctx context.Context) (*Summary, error) { return v.c.Status(ctx) }

// A roster is the nodes of a crawl at one moment.
type roster struct {
	at    time.Time
	nodes []string // that have or had a share; the results of both count
	alive []string
}

// rosterAge is how long a roster is reused.
const rosterAge = time.Second

// nodes returns the roster. While servers elect a leader it returns an old one, so that a search
// does not wait.
func (v *Viewer) nodes(ctx context.Context) (roster, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if time.Since(v.roster.at) < rosterAge {
		return v.roster, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rosterAge)
	defer cancel()
	var members []Member
	m, _, err := load[mapping](ctx, v.c.crawl, "map")
	if err == nil {
		members, err = v.c.Members(ctx)
	}
	if err != nil && v.roster.at.IsZero() {
		return roster{}, err
	}
	if err == nil {
		v.roster = roster{nodes: slices.Concat(m.Nodes, slices.Collect(maps.Keys(m.Left)))}
		slices.Sort(v.roster.nodes)
		v.roster.nodes = slices.Compact(v.roster.nodes)
		for _, m := range members {
			v.roster.alive = append(v.roster.alive, m.Name)
		}
	}
	v.roster.at = time.Now()
	return v.roster, nil
}

// Ask sends a question to all nodes of the crawl and returns their answers, by name, and the nodes
// that have or had a share but did not answer within limit. Nodes whose last five heartbeats are
// missing are not waited for, unless those of all nodes are.
func (v *Viewer) Ask(ctx context.Context, what string, question []byte, limit time.Duration) (
	answers []Answer, missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := v.nodes(ctx)
	if err != nil {
		return nil, nil, err
	}
	conn := v.c.conn
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err == nil {
		defer sub.Unsubscribe()
		err = conn.PublishRequest(v.c.o.Crawl+".ask."+what, inbox, question)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: ask %s: %w", what, err)
	}
	waiting := slices.DeleteFunc(slices.Clone(r.nodes),
		func(name string) bool { return len(r.alive) > 0 && !slices.Contains(r.alive, name) })
	missing = slices.Clone(r.nodes)
	for len(waiting) > 0 {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break // the time is up, or no node has subscribed
		}
		var a Answer
		if json.Unmarshal(m.Data, &a) != nil || !slices.Contains(missing, a.Node) {
			continue
		}
		is := func(name string) bool { return name == a.Node }
		waiting, missing = slices.DeleteFunc(waiting, is), slices.DeleteFunc(missing, is)
		answers = append(answers, a)
	}
	slices.SortFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Node, b.Node) })
	return answers, missing, nil
}
