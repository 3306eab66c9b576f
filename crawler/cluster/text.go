package cluster

import (
	"fmt"
	"strings"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/internal/textutil"
)

// Text returns the summary as text for people.
func (s *Summary) Text() string {
	var b strings.Builder
	state := NodeRunning
	if s.Over {
		state = "over"
	}
	if s.Alone {
		fmt.Fprintf(&b, "%-9s %s, by one node alone\n", state, textutil.OneLine(s.Definition.Region))
	} else {
		fmt.Fprintf(&b, "%-9s %s: %s, partition %s, policy %s; %s\n", state, s.Crawl,
			textutil.OneLine(s.Definition.Region), s.Definition.Partition, s.Definition.Policy,
			textutil.Several(len(s.Nodes), "node"))
	}
	width := len("node")
	for _, n := range s.Nodes {
		width = max(width, len(n.Name))
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9s %9s %9s %9s %9s %9s  %s\n", width, "node", "state", "pages", "relevant",
		"addresses", "queued", "sent", "received", "bytes/URL")
	for _, n := range s.Nodes {
		switch n.State {
		case NodeSilent:
			fmt.Fprintf(&b, "%-*s  %-8s has a share but has sent no heartbeat recently\n", width, n.Name, n.State)
			continue
		case NodeAway:
			fmt.Fprintf(&b, "%-*s  %-8s since %s; the others have its share\n", width, n.Name, n.State,
				textutil.Moment(n.At))
			continue
		}
		fmt.Fprintf(&b, "%-*s  %-8s %9s %9s %9s %9s %9s %9s  %s\n", width, n.Name, n.State,
			textutil.Count(n.Pages), textutil.Count(n.Relevant), textutil.Count(n.Addresses),
			textutil.Count(n.Queued), textutil.Count(n.Sent), textutil.Count(n.Received),
			times(n.Traffic.PerURL()))
	}
	if s.Alone {
		return b.String()
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9s %9s %9s %9s %9s %9s  %s\n", width, "all", "",
		textutil.Count(s.Pages), textutil.Count(s.Relevant), textutil.Count(s.Addresses),
		textutil.Count(s.Queued), textutil.Count(s.Sent), "", times(s.PerURL))
	fmt.Fprintf(&b, "%-9s %s on their way with %s, kept %d ×\n", "links",
		textutil.Several(int64(s.Messages), "message"), textutil.Megabytes(int64(s.Bytes)), s.Replicas)
	return b.String()
}

// times formats a multiple, or "" for 0.
func times(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", x)
}

// Alone returns the summary of a crawl by one node without a cluster.
func Alone(name, region string, t frontier.Totals, paused bool) *Summary {
	state := NodeRunning
	if paused {
		state = NodePaused
	}
	m := Member{Name: name, At: time.Now(), Idle: t.Queued == 0, Queued: t.Queued, Pages: t.Pages,
		Relevant:  t.Relevant,
		Addresses: t.Addresses, Visited: t.Visited, Paused: paused}
	return &Summary{Type: "cluster", Alone: true, Definition: Definition{Region: region},
		Nodes: []NodeSummary{{Member: m, State: state}},
		Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Queued: t.Queued}
}
