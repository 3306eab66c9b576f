package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gazehound/crawler/cluster/nugget"

	"github.com/nats-io/nats.go/jetstream"
)

// A Member is the state of a node, which it publishes with every heartbeat.
type Member struct {
	Name      string    `json:"name"`
	Instance  string    `json:"instance"`
	At        time.Time `json:"at"`       // by the node's clock
	Idle      bool      `json:"idle"`     // nothing queued, nothing under way
	Queued    int64     `json:"queued"`   //
	Pages     int64     `json:"pages"`    //
	Relevant  int64     `json:"relevant"` //
	Addresses int64     `json:"addresses"`
	Visited   int64     `json:"visited"`
	Traffic             // of links to other nodes
	Outbox    int64     `json:"outbox"`   // bytes of links that wait to be sent
	Received  int64     `json:"received"` // links from other nodes, by this process
	Epoch     int       `json:"epoch"`    // of the map that the node uses
	Paused    bool      `json:"paused"`   // by a command to all nodes
	Obeyed    uint64    `json:"obeyed"`   // number of the last Action that was carried out

	Order *nugget.Count `json:"order,omitempty"` // by all runs; nil: the node goes by its own
}

// A mapping is the bucket's "map": the nodes that have a share. Its epoch
// grows with each change.
type mapping struct {
	Epoch int                  `json:"epoch"`
	Nodes []string             `json:"nodes"`
	Left  map[string]time.Time `json:"left,omitempty"` // nodes that lost their share, and when
	// Instances says of every node that ever had a share which data directory
	// it has, see identity: what was visited from another one is lost.
	Instances map[string]string `json:"instances"`
}

// enlist gives a node a share, and reports whether the map changed.
func (m *mapping) enlist(name, instance string) (changed bool) {
	if !slices.Contains(m.Nodes, name) {
		m.Nodes = append(m.Nodes, name)
		changed = true
	}
	if m.Instances[name] != instance {
		if m.Instances == nil {
			m.Instances = map[string]string{}
		}
		m.Instances[name] = instance
		changed = true
	}
	delete(m.Left, name)
	return changed
}

// delist takes the share of a node away.
func (m *mapping) delist(name string, now time.Time) {
	m.Nodes = slices.DeleteFunc(m.Nodes, func(s string) bool { return s == name })
	if m.Left == nil {
		m.Left = map[string]time.Time{}
	}
	m.Left[name] = now
}

// State is the state of this node now.
func (n *Node) State() Member {
	t := n.frontier.Totals()
	_, command, obeyed := n.heard.last()
	var order *nugget.Count
	if n.order != nil {
		c := n.Order()
		order = &c
	}
	return Member{
		Name: n.o.Name, Instance: n.instance, At: time.Now(), Idle: n.workers.resting() && t.Queued == 0 && t.Outgoing == 0,
		Queued: t.Queued, Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Visited: t.Visited,
		Traffic: n.notes.get().Traffic, Outbox: t.Outgoing, Received: n.received.Load(),
		Epoch: n.shares.Load().epoch, Paused: command.Paused, Obeyed: obeyed, Order: order,
	}
}

// enter claims the node's name. A node that comes back has it still.
func (n *Node) enter(ctx context.Context) error {
	_, err := save(ctx, n.members, n.o.Name, n.State(), 0)
	if errors.Is(err, jetstream.ErrKeyExists) {
		err = n.enterAgain(ctx)
	}
	n.entered = err == nil
	return err
}

// enterAgain claims an existing name if it is ours.
func (n *Node) enterAgain(ctx context.Context) error {
	m, revision, err := load[Member](ctx, n.members, n.o.Name)
	if err != nil {
		return err // if it has just expired, retry tries again
	}
	if m.Instance != n.instance {
		return fmt.Errorf("%w: %q; give this one another --name, or its --data", ErrNameTaken, n.o.Name)
	}
	_, err = save(ctx, n.members, n.o.Name, n.State(), revision)
	return err
}

// enlist gives the node its share. A crawl that was over resumes when a node joins.
func (n *Node) enlist(ctx context.Context) (err error) {
	n.begun, err = n.crawl.Put(ctx, "over", nil)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return n.changeMap(ctx, func(m *mapping) bool { return m.enlist(n.o.Name, n.instance) })
}

// retire gives the node's share up.
func (n *Node) retire(ctx context.Context) error {
	alone := false
	err := n.changeMap(ctx, func(m *mapping) bool {
		alone = !slices.ContainsFunc(m.Nodes, func(name string) bool { return name != n.o.Name })
		if alone || !slices.Contains(m.Nodes, n.o.Name) {
			return false
		}
		m.delist(n.o.Name, time.Now())
		return true
	})
	if alone {
		return fmt.Errorf("%w that could take over the queue of %s", ErrAlone, n.o.Name)
	}
	return err
}

// changeMap applies a change to the map by compare-and-set, and adopts the result.
func (n *Node) changeMap(ctx context.Context, change func(*mapping) bool) error {
	for {
		m, revision, err := load[mapping](ctx, n.crawl, "map")
		if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
			return err
		}
		if !change(&m) {
			return n.follow(m)
		}
		m.Epoch++
		slices.Sort(m.Nodes)
		_, err = save(ctx, n.crawl, "map", m, revision)
		switch {
		case err == nil:
			return n.follow(m)
		case ctx.Err() != nil:
			return ctx.Err()
		case isConflict(err):
			continue // another node changed it first
		default:
			return fmt.Errorf("cluster: map: %w", err)
		}
	}
}

// load reads the JSON value of a key, and its revision.
func load[T any](ctx context.Context, kv jetstream.KeyValue, key string) (v T, revision uint64, err error) {
	entry, err := kv.Get(ctx, key)
	if err != nil {
		return v, 0, fmt.Errorf("cluster: %s: %w", key, err)
	}
	if err := json.Unmarshal(entry.Value(), &v); err != nil {
		return v, 0, fmt.Errorf("%w: %s: %w", ErrOtherFormat, key, err)
	}
	return v, entry.Revision(), nil
}

// save writes the JSON value of a key that has this revision, or makes the key where that is 0. It
// returns the new revision.
func save(ctx context.Context, kv jetstream.KeyValue, key string, v any, revision uint64) (uint64, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0, err
	}
	if revision == 0 {
		return kv.Create(ctx, key, raw)
	}
	return kv.Update(ctx, key, raw, revision)
}

// isConflict reports whether a key or subject has another revision than was expected. With replicas the
// server has an error code of its own for that.
func isConflict(err error) bool {
	return errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) ||
		hasCode(err, jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// follow adopts a map.
func (n *Node) follow(m mapping) error {
	if s := n.shares.Load(); s.plan != nil && s.epoch == m.Epoch {
		return nil
	}
	s, err := newShares(n.o.Definition, n.o.Partition, m)
	if err != nil {
		return err
	}
	close(n.shares.Swap(s).replaced)
	n.frontier.Resend() // owners have changed
	if n.order != nil {
		n.order.restart()
	}
	n.say("cluster: nodes %v", s.nodes)
	return nil
}

// beat publishes the node's state with every heartbeat, reads those of the others, and notices
// when the crawl is over.
func (n *Node) beat(ctx context.Context) {
	absent := missed{}
	var before []Member
	quiet := 0
	for sleep(ctx, n.o.Heartbeat) {
		round, cancel := context.WithTimeout(ctx, 5*n.o.Heartbeat)
		n.handleCommand(round)
		n.learnBlocklist(round)
		over, revision := n.isOver(ctx) // also where the heartbeat fails because most servers have left
		if over {
			n.finish()
		}
		members, err := n.pulse(round, absent)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				n.o.Log("cluster: heartbeat: %v", err)
			}
			quiet = 0
			continue
		}
		switch {
		case !n.quiet(ctx, members, before):
			quiet, before = 0, members
		case allBeat(members, before):
			quiet, before = quiet+1, members
		}
		if n.stable() {
			err := n.publishVisits(ctx)
			if err != nil && ctx.Err() == nil {
				n.o.Log("cluster: %v", err)
			}
		}
		if quiet >= 3 && !over {
			n.end(ctx, revision)
		}
	}
}

// WaitFor waits until so many nodes have a share, so that they begin together.
func (n *Node) WaitFor(ctx context.Context, nodes int) error {
	for {
		if _, names := n.sharing(); len(names) >= nodes {
			return nil
		}
		if !sleep(ctx, n.o.Heartbeat/4) {
			return context.Cause(ctx)
		}
	}
}

// isOver reports whether another node has ended the crawl since this node joined: it may have left,
// so that the others cannot see that all are idle. The revision changes with that and with every
// node that joins; 0: unknown.
func (n *Node) isOver(ctx context.Context) (over bool, revision uint64) {
	ctx, cancel := context.WithTimeout(ctx, n.o.Heartbeat)
	defer cancel()
	entry, err := n.crawl.Get(ctx, "over")
	if err != nil {
		return false, 0
	}
	return len(entry.Value()) > 0 && entry.Revision() > n.begun, entry.Revision()
}

// end ends the crawl for everybody, unless a node has joined after the given
// revision: it was not among those that were seen to be idle.
func (n *Node) end(ctx context.Context, revision uint64) {
	_, err := n.crawl.Update(ctx, "over", []byte(n.o.Name), revision)
	if err != nil {
		return // the next heartbeat retries
	}
	n.finish()
}

// finish ends the crawl for this node.
func (n *Node) finish() {
	n.heard.leave()
	n.workers.end()
}

// pulse is one heartbeat: it returns the members that are alive, by name.
func (n *Node) pulse(ctx context.Context, absent missed) ([]Member, error) {
	raw, err := json.Marshal(n.State())
	if err != nil {
		return nil, err
	}
	_, err = n.members.Put(ctx, n.o.Name, raw)
	if err != nil {
		return nil, err
	}
	members, err := n.Members(ctx)
	if err != nil {
		return nil, err
	}
	alive := map[string]Member{}
	for _, m := range members {
		alive[m.Name] = m
	}
	n.heard.setAlive(alive)
	absent.note(alive, n.shares.Load().nodes)
	return members, n.changeMap(ctx, func(m *mapping) bool {
		changed := !n.retired && m.enlist(n.o.Name, n.instance) // if we were away too long
		for _, name := range slices.Clone(m.Nodes) {
			if time.Duration(absent[name])*n.o.Heartbeat > n.o.Away {
				m.delist(name, time.Now())
				n.say("cluster: %s has been away for %v; its share moves", name, n.o.Away)
				changed = true
			}
		}
		return changed
	})
}

// missed counts for each node in how many of our heartbeats in a row it was absent. A failed
// heartbeat of ours, without a leader or a connection, counts for no node.
type missed map[string]int

// note records which of the nodes were alive at a heartbeat.
func (m missed) note(alive map[string]Member, nodes []string) {
	maps.DeleteFunc(m, func(name string, _ int) bool { return !slices.Contains(nodes, name) })
	for _, name := range nodes {
		m[name]++
		if alive[name].Name != "" {
			m[name] = 0
		}
	}
}

// Alive returns the number of nodes present at the last heartbeat, this one included.
func (n *Node) Alive() int {
	n.heard.mu.Lock()
	defer n.heard.mu.Unlock()
	return max(len(n.heard.alive), 1)
}

// Members returns the nodes that are present, by name. It reads the bucket's stream: a watch of
// its keys misses those that are written while it is set up.
func (c *connection) Members(ctx context.Context) ([]Member, error) {
	bucket := c.members.Bucket()
	stream, err := c.js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, fmt.Errorf("cluster: members: %w", err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return nil, fmt.Errorf("cluster: members: %w", err)
	}
	var all []Member
	for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
		key := strings.TrimPrefix(subject, "$KV."+bucket+".")
		m, _, err := load[Member](ctx, c.members, key)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, ErrOtherFormat):
		case err != nil:
			return nil, err
		case m.Name == key:
			all = append(all, m)
		}
	}
	return all, nil
}

// allBeat reports whether each member has published its state since before, which has the same ones. What
// a node whose heartbeats falter last said does not show that it is still idle.
func allBeat(now, before []Member) bool {
	for i := range now {
		if now[i].At.Equal(before[i].At) {
			return false
		}
	}
	return true
}

// quiet reports whether nothing has happened since the last heartbeat: all nodes of the map are
// present and idle, and no link is on its way.
func (n *Node) quiet(ctx context.Context, now, before []Member) bool {
	nodes := n.shares.Load().nodes
	if len(now) != len(before) || len(now) < len(nodes) {
		return false
	}
	for i, m := range now {
		b := before[i]
		if !m.Idle || m.Name != b.Name || m.Visited != b.Visited || m.Sent != b.Sent || m.Received != b.Received {
			return false
		}
	}
	for _, name := range nodes {
		if !slices.ContainsFunc(now, func(m Member) bool { return m.Name == name }) {
			return false
		}
	}
	info, err := n.links.Info(ctx)
	return err == nil && info.State.Msgs == 0
}
