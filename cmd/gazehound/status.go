package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/nugget"
	"gazehound/crawler/monitor"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const statusHelp = `Shows what the crawl of the data directory has done, whether it is running, and its
bottleneck. A running crawl holds a lock, so a killed one is never shown as running.

SIGUSR1 makes a crawl print its status line at once; SIGHUP makes it reload delays,
include, exclude, hosts and the log level from its configuration.

Exit status: 0, or 10 if there is no crawl.

Examples:
  gazehound status --watch
  gazehound status --cluster nats://127.0.0.1:4222
  gazehound status --json | jq -r .bottleneck
`

func newStatusCommand(a *app) *cobra.Command {
	var watch bool
	cmd := command("status", "Show what a crawl has done, and its bottleneck", statusHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if a.flags.Changed("cluster") {
				return a.statusCluster(ctx, watch)
			}
			if err := a.needData(); err != nil {
				return err
			}
			return a.watch(ctx, watch, func() (string, any, bool, error) {
				s, err := readStatus(project{a.data})
				return s.Text(s.orderLine()), s, !s.Runs(), err
			})
		}))
	f := cmd.Flags()
	f.BoolVarP(&watch, "watch", "w", false, "refresh every second until the crawl ends")
	viewFlags(f, "show all nodes of the cluster at this `URL`")
	return cmd
}

// crawlStatus is the state of a crawl, alone or as a node.
type crawlStatus struct {
	monitor.Status

	// of a node that keeps one order with others, some seconds old
	Order *nugget.Count `json:"order,omitempty"`
}

// readStatus returns the state of the crawl in p.
func readStatus(p project) (s crawlStatus, err error) {
	s.Status, err = monitor.ReadStatus(p.frontier(), p.status())
	if errors.Is(err, fs.ErrNotExist) {
		return s, fail(noData, "%s holds no crawl. \"gazehound crawl\" makes one", p.dir)
	} else if errors.Is(err, monitor.ErrUnreadable) {
		return s, invalid(err)
	} else if err != nil {
		return s, fmt.Errorf("status: %w", err)
	}
	if c, err := cluster.ReadOrder(p.cluster()); err == nil && c != (nugget.Count{}) {
		s.Order = &c
	}
	if s.State == monitor.Ended {
		s.Because = s.End + "."
		if i := slices.IndexFunc(endings, func(e ending) bool { return e.reason == s.End }); i >= 0 {
			s.Because = endings[i].text
		}
	}
	return s, nil
}

// orderLine describes the cost of keeping one order with other nodes; "" if it keeps none.
func (s *crawlStatus) orderLine() string {
	o := s.Order
	if o == nil {
		return ""
	}
	return fmt.Sprintf("order     %d rounds with other nodes, %d bits received (equation 8: %d), %s in all; %d "+
		"parts in turn, %d out of turn\n",
		o.Rounds, o.Bits, o.Formula, megabytes(o.Bytes), o.Turns, o.Impatient)
}

// watch prints what look returns, text or v as JSON: once, or with again every second in place of
// the last output until over is true.
func (a *app) watch(ctx context.Context, again bool, look func() (text string, v any, over bool, err error)) error {
	for drawn := 0; ; {
		text, v, over, err := look()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case a.json:
			err = a.printJSON(v)
		default:
			if drawn > 0 && a.columns > 0 {
				fmt.Fprintf(a.stdout, "\x1b[%dA\x1b[J", drawn)
			}
			drawn = textutil.Rows(textutil.Fit(text, a.columns), a.columns)
			err = a.print("%s", text)
		}
		if err != nil || !again || over {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// viewFlags adds the flags of commands that read from a cluster; what is the help of --cluster.
func viewFlags(f *pflag.FlagSet, what string) {
	config.All().AddFlags(f, "cluster.url", "cluster.crawl", "cluster.token_file", "cluster.nkey_file",
		"cluster.tls_ca")
	f.Lookup("cluster").Usage = what
}

// statusCluster prints the status of the cluster, every second with watch
// until the crawl is over.
func (a *app) statusCluster(ctx context.Context, watch bool) error {
	v, _, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	return a.watch(ctx, watch, func() (string, any, bool, error) {
		s, err := v.Status(ctx)
		if err != nil {
			return "", nil, false, fail(noPeer, "%w", err)
		}
		return s.Text(), s, s.Over, nil
	})
}
