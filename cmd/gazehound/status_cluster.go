package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gazehound/crawler/cluster"

	"github.com/spf13/pflag"
)

// viewFlags adds the flags of commands that look at a cluster; what says what
// --cluster does.
func viewFlags(f *pflag.FlagSet, what string) {
	schema().AddFlags(f, "cluster.url", "cluster.crawl", "cluster.token_file", "cluster.nkey_file", "cluster.tls_ca")
	f.Lookup("cluster").Usage = what
}

// nodeStatus is one node in the status of a cluster.
type nodeStatus struct {
	cluster.Member
	State    string  `json:"state"`   // "running", "paused", "idle", "silent" or "away"
	BytesURL float64 `json:"per_url"` // bytes sent for each byte of the URLs among them
}

// The states of a node beside crawlRuns.
const (
	nodeIdle   = "idle"   // has nothing to do
	nodePaused = "paused" // by "ctl pause --cluster"
	nodeSilent = "silent" // has a share, and has not been heard of lately
	nodeAway   = "away"   // has lost its share
)

// clusterStatus is the status of all nodes of a crawl.
type clusterStatus struct {
	Type       string             `json:"type"`
	Alone      bool               `json:"alone,omitzero"` // no cluster, but one node that crawls by itself
	Crawl      string             `json:"crawl"`
	Definition cluster.Definition `json:"definition"`
	Epoch      int                `json:"epoch"`
	Over       bool               `json:"over"`
	Nodes      []nodeStatus       `json:"nodes"`
	Messages   uint64             `json:"messages"` // of links on their way
	Bytes      uint64             `json:"bytes"`    // of these
	Replicas   int                `json:"replicas"` // servers that keep each stream
	Pages      int64              `json:"pages"`
	Relevant   int64              `json:"relevant"`
	Addresses  int64              `json:"addresses"` // the sum of the nodes': one that two have counts twice
	Queued     int64              `json:"queued"`
	Sent       int64              `json:"sent"`
	PerURL     float64            `json:"per_url"`
}

// statusOfCluster says what nodes say of themselves.
func statusOfCluster(s *cluster.Status, crawl string) *clusterStatus {
	out := &clusterStatus{Type: "cluster", Crawl: crawl, Definition: s.Definition, Epoch: s.Epoch, Over: s.Over, Messages: s.Messages, Bytes: s.Bytes, Replicas: s.Replicas}
	var all cluster.Traffic
	for _, m := range s.Members {
		state := crawlRuns
		switch {
		case m.Paused:
			state = nodePaused
		case m.Idle:
			state = nodeIdle
		}
		out.Nodes = append(out.Nodes, nodeStatus{m, state, round(m.PerURL(), 3)})
		out.Pages, out.Relevant, out.Addresses, out.Queued = out.Pages+m.Pages, out.Relevant+m.Relevant, out.Addresses+m.Addresses, out.Queued+m.Queued
		all.Sent, all.URLBytes, all.SentBytes = all.Sent+m.Sent, all.URLBytes+m.URLBytes, all.SentBytes+m.SentBytes
	}
	there := func(name string) bool {
		return slices.ContainsFunc(out.Nodes, func(n nodeStatus) bool { return n.Name == name })
	}
	for _, name := range s.Nodes {
		if !there(name) {
			out.Nodes = append(out.Nodes, nodeStatus{Member: cluster.Member{Name: name}, State: nodeSilent})
		}
	}
	for name, since := range s.Left {
		if !there(name) {
			out.Nodes = append(out.Nodes, nodeStatus{Member: cluster.Member{Name: name, At: since}, State: nodeAway})
		}
	}
	slices.SortFunc(out.Nodes, func(a, b nodeStatus) int { return strings.Compare(a.Name, b.Name) })
	out.Sent, out.PerURL = all.Sent, round(all.PerURL(), 3)
	return out
}

// statusCluster prints the status of the cluster, every second with watch
// until the crawl is over.
func (a *app) statusCluster(ctx context.Context, watch bool) error {
	ctx, stop := signals(ctx)
	defer stop()
	v, crawl, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	for drawn := 0; ; {
		now, err := v.Status(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fail(exitPeer, "%w", err)
		}
		s := statusOfCluster(now, crawl)
		if a.json {
			err = a.printJSON(s)
		} else {
			if drawn > 0 && isTerminal(a.stdout) {
				fmt.Fprintf(a.stdout, "\x1b[%dA\x1b[J", drawn) // over what was there
			}
			text := s.text()
			drawn = strings.Count(text, "\n")
			_, err = fmt.Fprint(a.stdout, text)
		}
		if err != nil || !watch || s.Over {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// text is what people read.
func (s *clusterStatus) text() string {
	var b strings.Builder
	state := crawlRuns
	if s.Over {
		state = "over"
	}
	if s.Alone {
		fmt.Fprintf(&b, "%-9s %s, by one node alone\n", state, oneLine(s.Definition.Region))
	} else {
		fmt.Fprintf(&b, "%-9s %s: %s, partition %s, policy %s; %d nodes\n", state, s.Crawl, oneLine(s.Definition.Region), s.Definition.Partition, s.Definition.Policy, len(s.Nodes))
	}
	width := len("node")
	for _, n := range s.Nodes {
		width = max(width, len(n.Name))
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9s %9s %9s %9s %9s %9s  %s\n", width, "node", "state", "pages", "relevant", "addresses", "queued", "sent", "received", "bytes/URL")
	for _, n := range s.Nodes {
		switch n.State {
		case nodeSilent:
			fmt.Fprintf(&b, "%-*s  %-8s has a share and has not been heard of for some heartbeats\n", width, n.Name, n.State)
			continue
		case nodeAway:
			fmt.Fprintf(&b, "%-*s  %-8s since %s; its share is with the others\n", width, n.Name, n.State, n.At.Local().Format(time.DateTime))
			continue
		}
		fmt.Fprintf(&b, "%-*s  %-8s %9d %9d %9d %9d %9d %9d  %s\n", width, n.Name, n.State, n.Pages, n.Relevant, n.Addresses, n.Queued, n.Sent, n.Received, times(n.PerURL()))
	}
	if s.Alone {
		return b.String()
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9d %9d %9d %9d %9d %9s  %s\n", width, "all", "", s.Pages, s.Relevant, s.Addresses, s.Queued, s.Sent, "", times(s.PerURL))
	fmt.Fprintf(&b, "%-9s %d messages with %s are on their way, kept %d ×\n", "links", s.Messages, megabytes(int64(s.Bytes)), s.Replicas)
	return b.String()
}

// times writes a multiple, or nothing where there is none.
func times(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", x)
}
