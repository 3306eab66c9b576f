package cluster

import (
	"math"
	"slices"
	"strings"
)

// A Summary is a Status as people and programs read it: one entry for each node,
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

// Summarize returns the summary of what nodes report of themselves.
func Summarize(s *Status, crawl string) *Summary {
	out := &Summary{
		Type: "cluster", Crawl: crawl, Definition: s.Definition, Epoch: s.Epoch, Over: s.Over,
		Messages: s.Messages, Bytes: s.Bytes, Replicas: s.Replicas,
	}
	var all Traffic
	there := map[string]bool{}
	for _, m := range s.Members {
		there[m.Name] = true
		state := NodeRunning
		switch {
		case m.Paused:
			state = NodePaused
		case m.Idle:
			state = NodeIdle
		}
		out.Nodes = append(out.Nodes, NodeSummary{m, state, thousandths(m.Traffic.PerURL())})
		out.Pages += m.Pages
		out.Relevant += m.Relevant
		out.Addresses += m.Addresses
		out.Queued += m.Queued
		all.Sent += m.Sent
		all.URLBytes += m.URLBytes
		all.SentBytes += m.SentBytes
	}
	for _, name := range s.Nodes {
		if !there[name] {
			out.Nodes = append(out.Nodes, NodeSummary{Member: Member{Name: name}, State: NodeSilent})
		}
	}
	for name, since := range s.Left {
		if !there[name] {
			out.Nodes = append(out.Nodes, NodeSummary{Member: Member{Name: name, At: since}, State: NodeAway})
		}
	}
	slices.SortFunc(out.Nodes, func(a, b NodeSummary) int { return strings.Compare(a.Name, b.Name) })
	out.Sent, out.PerURL = all.Sent, thousandths(all.PerURL())
	return out
}

func thousandths(x float64) float64 { return math.Round(1000*x) / 1000 }
