package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/internal/config"

	"github.com/spf13/pflag"
)

// viewFlags adds the flags of commands that look at a cluster; what says what
// --cluster does.
func viewFlags(f *pflag.FlagSet, what string) {
	config.All().AddFlags(f, "cluster.url", "cluster.crawl", "cluster.token_file", "cluster.nkey_file", "cluster.tls_ca")
	f.Lookup("cluster").Usage = what
}

// statusCluster prints the status of the cluster, every second with watch
// until the crawl is over.
func (a *app) statusCluster(ctx context.Context, watch bool) error {
	v, crawl, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	return a.show(ctx, watch, func() (string, any, bool, error) {
		now, err := v.Status(ctx)
		if err != nil {
			return "", nil, false, fail(exitPeer, "%w", err)
		}
		s := cluster.Summarize(now, crawl)
		return clusterText(s), s, s.Over, nil
	})
}

// clusterText is what people read.
func clusterText(s *cluster.Summary) string {
	var b strings.Builder
	state := cluster.NodeRunning
	if s.Over {
		state = "over"
	}
	if s.Alone {
		fmt.Fprintf(&b, "%-9s %s, by one node alone\n", state, oneLine(s.Definition.Region))
	} else {
		fmt.Fprintf(&b, "%-9s %s: %s, partition %s, policy %s; %s\n", state, s.Crawl, oneLine(s.Definition.Region), s.Definition.Partition, s.Definition.Policy, several(len(s.Nodes), "node"))
	}
	width := len("node")
	for _, n := range s.Nodes {
		width = max(width, len(n.Name))
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9s %9s %9s %9s %9s %9s  %s\n", width, "node", "state", "pages", "relevant", "addresses", "queued", "sent", "received", "bytes/URL")
	for _, n := range s.Nodes {
		switch n.State {
		case cluster.NodeSilent:
			fmt.Fprintf(&b, "%-*s  %-8s has a share but has sent no heartbeat lately\n", width, n.Name, n.State)
			continue
		case cluster.NodeAway:
			fmt.Fprintf(&b, "%-*s  %-8s since %s; the others have its share\n", width, n.Name, n.State, n.At.Local().Format(time.DateTime))
			continue
		}
		fmt.Fprintf(&b, "%-*s  %-8s %9d %9d %9d %9d %9d %9d  %s\n", width, n.Name, n.State, n.Pages, n.Relevant, n.Addresses, n.Queued, n.Sent, n.Received, times(n.Traffic.PerURL()))
	}
	if s.Alone {
		return b.String()
	}
	fmt.Fprintf(&b, "%-*s  %-8s %9d %9d %9d %9d %9d %9s  %s\n", width, "all", "", s.Pages, s.Relevant, s.Addresses, s.Queued, s.Sent, "", times(s.PerURL))
	fmt.Fprintf(&b, "%-9s %s on their way with %s, kept %d ×\n", "links", several(int64(s.Messages), "message"), megabytes(int64(s.Bytes)), s.Replicas)
	return b.String()
}

// times writes a multiple, or nothing where there is none.
func times(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", x)
}
