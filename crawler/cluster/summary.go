package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Summary is the state of a cluster, as people and programs read it: one entry for each node,
// and the sums of all.
type Summary struct {
	Type       string        `json:"type"`           // "cluster"
	Alone      bool          `json:"alone,omitzero"` // one node without a cluster
	Crawl      string        `json:"crawl"`
	Definition Definition    `json:"definition"`
	Epoch      int           `json:"epoch"`
	Over       bool          `json:"over"`
	Nodes      []NodeSummary `json:"nodes"`    // by name
	Messages   uint64        `json:"messages"` // of links in transit
	Bytes      uint64        `json:"bytes"`    // of these
	Replicas   int           `json:"replicas"` // servers that keep each stream
	Pages      int64         `json:"pages"`
	Relevant   int64         `json:"relevant"`
	Addresses  int64         `json:"addresses"` // sum over the nodes: an address on two nodes counts twice
	Queued     int64         `json:"queued"`
	Sent       int64         `json:"sent"`
	PerURL     float64       `json:"per_url"`
}

// A NodeSummary is one node of a Summary.
type NodeSummary struct {
	Member
	State  string  `json:"state"`
	PerURL float64 `json:"per_url"` // bytes sent for each byte of the URLs among them
}

// The states of a node.
const (
	NodeRunning = "running"
	NodeIdle    = "idle"   // has nothing to do
	NodePaused  = "paused" // by a command to all nodes
	NodeSilent  = "silent" // has a share, and has sent no heartbeat recently
	NodeAway    = "away"   // has lost its share
)

// Status returns the state of the cluster as this node sees it.
func (c *connection) Status(ctx context.Context) (s *Summary, err error) {
	err = c.retry(ctx, "the state of the cluster", func(ctx context.Context) error {
		s, err = c.summary(ctx)
		return err
	})
	return s, err
}

func (c *connection) summary(ctx context.Context) (*Summary, error) {
	m, _, err := load[mapping](ctx, c.crawl, "map")
	if err != nil {
		return nil, err
	}
	s := &Summary{Type: "cluster", Crawl: c.o.Crawl, Epoch: m.Epoch}
	over, err := c.crawl.Get(ctx, "over")
	s.Over = err == nil && len(over.Value()) > 0
	s.Definition, _, err = load[Definition](ctx, c.crawl, "definition")
	if err != nil {
		return nil, err
	}
	info, err := c.links.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	s.Messages, s.Bytes, s.Replicas = info.State.Msgs, info.State.Bytes, info.Config.Replicas
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	var all Traffic
	there := map[string]bool{}
	for _, m := range members {
		there[m.Name] = true
		state := NodeRunning
		switch {
		case m.Paused:
			state = NodePaused
		case m.Idle:
			state = NodeIdle
		}
		s.Nodes = append(s.Nodes, NodeSummary{m, state, thousandths(m.Traffic.PerURL())})
		s.Pages += m.Pages
		s.Relevant += m.Relevant
		s.Addresses += m.Addresses
		s.Queued += m.Queued
		all.Sent += m.Sent
		all.URLBytes += m.URLBytes
		all.SentBytes += m.SentBytes
	}
	for _, name := range m.Nodes {
		if !there[name] {
			s.Nodes = append(s.Nodes, NodeSummary{Member: Member{Name: name}, State: NodeSilent})
		}
	}
	for name, since := range m.Left {
		if !there[name] {
			s.Nodes = append(s.Nodes, NodeSummary{Member: Member{Name: name, At: since}, State: NodeAway})
		}
	}
	slices.SortFunc(s.Nodes, func(a, b NodeSummary) int { return strings.Compare(a.Name, b.Name) })
	s.Sent, s.PerURL = all.Sent, thousandths(all.PerURL())
	return s, nil
}

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
