package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newStatusCommand(a *app) *cobra.Command {
	var watch bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what a crawl has done and what holds it back",
		Long: `Shows what the crawl of the data directory has done, whether it is running, and what
holds it back. A crawl writes this once a second; whether it is running follows from
the lock that it holds, so a crawl that was killed is never shown as running.

SIGUSR1 makes a crawl print its status line at once; SIGHUP makes it reload delays,
include, exclude, hosts and the log level from its configuration.

Exit status: 0, or 10 where there is no crawl.`,
		Example: `  gazehound status --watch
  gazehound status --cluster nats://127.0.0.1:4222
  gazehound status --json | jq -r .bottleneck`,
		Args: exactly(0, "status takes no arguments, got %.60q; --data names the data directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.flags.Changed("cluster") {
				return a.statusCluster(cmd.Context(), watch)
			}
			if err := a.needData(); err != nil {
				return err
			}
			if !watch {
				_, err := a.status(project{a.data})
				return err
			}
			return a.watchStatus(cmd.Context(), project{a.data})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&watch, "watch", "w", false, "repeat it every second until the crawl ends")
	viewFlags(f, "show all nodes of the cluster at this `URL`")
	return cmd
}

// The states of a crawl.
const (
	crawlRuns   = "running"
	crawlPaused = "paused"
	crawlEnded  = "stopped"
	crawlKilled = "killed"  // it could not say why it ended
	crawlBusy   = "in use"  // by another command
	crawlUnsaid = "unknown" // there is a crawl, and no status of it
)

// crawlStatus is the last snapshot of a crawl, and whether that still holds.
type crawlStatus struct {
	Type       string `json:"type"`
	State      string `json:"state"`
	Bottleneck string `json:"bottleneck"` // in a word; "" unless it runs
	Because    string `json:"because"`    // in a sentence
	monitor.Snapshot

	Order *cluster.OrderCount `json:"order,omitempty"` // of a node that keeps one order with others, as of some seconds ago
}

// readStatus returns the state of the crawl in p.
func readStatus(p project) (crawlStatus, error) {
	s := crawlStatus{Type: "status"}
	pid, locked, err := frontier.Holder(p.frontier())
	if errors.Is(err, fs.ErrNotExist) {
		return s, fail(exitNoData, "%s holds no crawl. \"gazehound crawl\" makes one", p.dir)
	} else if err != nil {
		return s, fmt.Errorf("status: %w", err)
	}
	s.Snapshot, err = monitor.Read(p.status())
	if c, err := cluster.ReadOrder(p.cluster()); err == nil && c != (cluster.OrderCount{}) {
		s.Order = &c
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, monitor.ErrUnreadable):
		return s, err
	case locked && (err != nil || pid != s.PID || s.End != ""):
		s.State, s.Because = crawlBusy, fmt.Sprintf("process %d is using it.", pid)
	case err != nil:
		s.State, s.Because = crawlUnsaid, "this crawl has left no status; \"gazehound crawl\" resumes it."
	case locked:
		if s.State = crawlRuns; s.Paused {
			s.State = crawlPaused
		}
		s.Bottleneck, s.Because = s.Snapshot.Bottleneck()
	case s.End == "":
		s.State, s.Because = crawlKilled, "it was killed or lost power; nothing is lost, and the same command resumes it."
	default:
		s.State, s.Because = crawlEnded, s.End+"."
		for _, e := range endings {
			if e.reason == s.End {
				s.Because = e.status
			}
		}
	}
	return s, nil
}

// status prints the state of the crawl.
func (a *app) status(p project) (crawlStatus, error) {
	s, err := readStatus(p)
	if err != nil {
		return s, err
	}
	if a.json {
		return s, a.printJSON(s)
	}
	_, err = fmt.Fprint(a.stdout, s.text())
	return s, err
}

// watchStatus prints it every second while the crawl runs.
func (a *app) watchStatus(ctx context.Context, p project) error {
	ctx, stop := signals(ctx)
	defer stop()
	var drawn int
	for {
		if drawn > 0 && !a.json && isTerminal(a.stdout) {
			fmt.Fprintf(a.stdout, "\x1b[%dA\x1b[J", drawn) // over what was there
		}
		s, err := a.status(p)
		if err != nil || s.State != crawlRuns && s.State != crawlPaused {
			return err
		}
		drawn = strings.Count(s.text(), "\n")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// text is what people read.
func (s *crawlStatus) text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, oneLine(fmt.Sprintf(format, args...)))
	}
	switch s.State {
	case crawlRuns:
		line(s.State, "pid %d  %s  %s: %s", s.PID, s.At.Sub(s.Started).Round(time.Second), monitor.BoundBy(s.Bottleneck), s.Because)
	case crawlPaused:
		line(s.State, "pid %d  %s: %s \"gazehound ctl resume\" does.", s.PID, s.At.Sub(s.Started).Round(time.Second), s.Because)
	case crawlEnded, crawlKilled:
		line(s.State, "%s after %s: %s", s.At.Local().Format(time.DateTime), s.At.Sub(s.Started).Round(time.Second), s.Because)
	default:
		line(s.State, "%s", s.Because)
	}
	if s.At.IsZero() {
		return b.String()
	}
	for _, l := range monitor.Lines(&s.Snapshot) {
		line(l.Title, "%s", l.Text)
	}
	if o := s.Order; o != nil {
		line("order", "%d rounds with other nodes, %d bits heard (equation 8: %d), %s on the wire; %d parts in turn, %d out of turn",
			o.Rounds, o.Bits, o.Formula, textutil.Megabytes(o.Bytes), o.Turns, o.Impatient)
	}
	if s.Insight == nil {
		return b.String()
	}
	for _, advice := range s.Advice {
		line("advice", "%s", advice)
	}
	return b.String()
}

// isTerminal tells whether what is written there is read by a person.
func isTerminal(w any) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("TERM") != "dumb" && os.Getenv("CI") == "" && term.IsTerminal(int(file.Fd()))
}
