package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// An Action is a command to all nodes of a crawl.
type Action string

// Actions.
const (
	Pause      Action = "pause"      // start no new page; applies to nodes that join later, too
	Resume     Action = "resume"     // end a pause
	Checkpoint Action = "checkpoint" // save what is saved only at intervals
	Stop       Action = "stop"       // end, as by a signal; it also ends a pause
)

// A command is the value of the key "command": the last Action, and whether the crawl is paused.
// Nodes read it with every heartbeat.
type command struct {
	Action Action `json:"action"`
	Paused bool   `json:"paused"`
}

// OnAction sets the function that carries out Actions: Pause at once if the crawl is paused, and
// every later Action at the next heartbeat. With nil, Actions wait.
func (n *Node) OnAction(do func(Action)) {
	n.heard.mu.Lock()
	n.heard.do = do
	paused := n.heard.command.Paused
	n.heard.mu.Unlock()
	if paused && do != nil {
		do(Pause)
	}
}

// skipCommand skips commands from before this node joined; only a pause lasts.
func (n *Node) skipCommand(ctx context.Context) error {
	c, revision, err := readCommand(ctx, n.crawl)
	if err != nil {
		return err
	}
	n.heard.note(c, revision)
	return nil
}

// handleCommand carries out commands since the last call.
func (n *Node) handleCommand(ctx context.Context) {
	c, revision, err := readCommand(ctx, n.crawl)
	if err != nil {
		return // the next heartbeat tries again
	}
	do, before, obeyed := n.heard.last()
	if do == nil || revision <= obeyed {
		return
	}
	do(c.Action)
	// Two commands may lie between two heartbeats: the pause is not lost.
	if c.Action == Checkpoint && c.Paused != before.Paused {
		do(map[bool]Action{true: Pause, false: Resume}[c.Paused])
	}
	n.heard.note(c, revision)
	if c.Action == Stop {
		n.heard.leave()
	}
}

func readCommand(ctx context.Context, kv jetstream.KeyValue) (c command, revision uint64, err error) {
	c, revision, err = load[command](ctx, kv, "command")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = nil
	}
	return c, revision, err
}

// Do sends an Action to all nodes and waits until the running ones have carried it out, with Stop
// until they have left. It returns the names of those that have, and of those that have not by the
// end of ctx.
func (v *Viewer) Do(ctx context.Context, a Action) (done, silent []string, err error) {
	var all []Member
	var revision uint64
	err = v.c.retry(ctx, "the list of nodes", func(ctx context.Context) error {
		all, err = v.c.Members(ctx)
		if err != nil {
			return err
		}
		c, before, err := readCommand(ctx, v.c.crawl)
		if err != nil {
			return err
		}
		c.Action = a
		if a != Checkpoint {
			c.Paused = a == Pause
		}
		revision, err = save(ctx, v.c.crawl, "command", c, before) // a conflict is retried
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if a == Stop {
		v.c.parting.Store(true)
	}
	for _, m := range all {
		silent = append(silent, m.Name)
	}
	for len(silent) > 0 && ctx.Err() == nil {
		look, cancel := context.WithTimeout(ctx, 2*time.Second)
		now, err := v.c.Members(look)
		cancel()
		if err != nil && a == Stop && !v.c.conn.IsConnected() {
			return append(done, silent...), nil, nil // the server was in one of the nodes
		}
		silent = slices.DeleteFunc(silent, func(name string) bool {
			at := slices.IndexFunc(now, func(m Member) bool { return m.Name == name })
			waits := err != nil || at >= 0 && (a == Stop || now[at].Obeyed < revision)
			if !waits && (at >= 0 || a == Stop) {
				done = append(done, name)
			}
			return !waits
		})
		sleep(ctx, 200*time.Millisecond)
	}
	return done, silent, nil
}
