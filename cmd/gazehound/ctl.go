package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"

	"github.com/spf13/cobra"
)

func newCtlCommand(a *app) *cobra.Command {
	group := &cobra.Command{
		Use:   "ctl",
		Short: "Pause, resume, stop or checkpoint a running crawl",
		Long: `Tells the crawl that runs on the data directory what to do, through its admin
listener. The crawl notes address and token of that in admin.json of the data
directory, which only its owner can read.

With --cluster it tells all nodes of a crawl, and waits until they have done it. Nodes
look with every heartbeat. A pause counts for nodes that join later, too.

Exit status: 0 done, 1 refused or not answered, 8 the cluster cannot be reached or a
node does not answer, 10 no crawl runs.`,
		Example: `  gazehound ctl pause
  gazehound ctl stop --data oldenburg
  gazehound ctl pause --cluster nats://127.0.0.1:4222`,
		Args: subCommand,
		RunE: showHelp,
	}
	for _, c := range []struct{ name, short, done string }{
		{"pause", "Begin no page until \"ctl resume\"; open pages finish", "paused; open pages finish"},
		{"resume", "Let a paused crawl go on", "goes on"},
		{"checkpoint", "Write model and curves to the disk now", "model and curves are on the disk"},
		{"stop", "Finish open pages, save and end; waits for the end", "stopped; the same command goes on with it"},
	} {
		cmd := &cobra.Command{
			Use: c.name, Short: c.short, Args: cobra.NoArgs,
			Example: fmt.Sprintf("  gazehound ctl %[1]s\n  gazehound ctl %[1]s --data oldenburg --json\n  gazehound ctl %[1]s --cluster nats://127.0.0.1:4222", c.name),
			RunE: func(cmd *cobra.Command, args []string) error {
				ctx, stop := signals(cmd.Context())
				defer stop()
				if a.flags.Changed("cluster") {
					return a.ctlCluster(ctx, cluster.Action(c.name), c.done)
				}
				if err := a.ctl(ctx, c.name); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(map[string]any{"type": "done", "action": c.name})
				}
				a.say("%s", c.done)
				return nil
			},
		}
		viewFlags(cmd.Flags(), "tell all nodes of the cluster at this `URL`")
		group.AddCommand(cmd)
	}
	return group
}

// ctlPatience is how long nodes have to do what all were asked to.
const ctlPatience = time.Minute

// ctlCluster asks all nodes for an action.
func (a *app) ctlCluster(ctx context.Context, action cluster.Action, what string) error {
	v, crawl, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	wait, cancel := context.WithTimeout(ctx, ctlPatience)
	defer cancel()
	done, silent, err := v.Tell(wait, action)
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped by a signal; the nodes may still do it")
	case err != nil:
		return clusterError(err)
	case len(done)+len(silent) == 0:
		return fail(exitNoData, "no node of %s is there", crawl)
	case len(silent) > 0:
		return fail(exitPeer, "%s: not done after %v by %s; \"gazehound status --cluster\" shows them", action, ctlPatience, strings.Join(silent, ", "))
	case a.json:
		return a.printJSON(map[string]any{"type": "done", "action": action, "nodes": done})
	}
	a.say("%s: %s", strings.Join(done, ", "), what)
	return nil
}

// ctl asks the crawl of the data directory for an action.
func (a *app) ctl(ctx context.Context, action string) error {
	if err := a.needData(); err != nil {
		return err
	}
	p := project{a.data}
	pid, runs, err := frontier.Holder(p.frontier())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ctl: %w", err)
	}
	if !runs {
		return fail(exitNoData, "no crawl runs in %s. \"gazehound crawl\" starts one", p.dir)
	}
	d, err := readDesk(p)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fail(exitError, "%s belongs to somebody else: %w", p.admin(), err)
	case err != nil || d.PID != pid:
		return fail(exitNoData, "process %d works on %s and takes no orders: it is no crawl, is just starting, or has --admin off", pid, p.dir)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+"v1/crawl/"+action, nil)
	if err != nil {
		return fmt.Errorf("ctl: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+d.Token)
	request.Header.Set("X-Gazehound-Control", "1")
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ctl: the crawl does not answer: %w", err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if response.StatusCode != http.StatusOK {
		var problem struct{ Title string }
		json.Unmarshal(body, &problem)
		return fail(exitError, "the crawl refuses (%s): %.200s", response.Status, oneLine(problem.Title))
	}
	if action != "stop" {
		return nil
	}
	for {
		if _, runs, err := frontier.Holder(p.frontier()); err != nil || !runs {
			return err
		}
		select {
		case <-ctx.Done():
			return fail(exitStopped, "the crawl is stopping; \"gazehound status\" shows it")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// readDesk reads where the crawl of p takes orders.
func readDesk(p project) (d deskFile, err error) {
	file, err := os.Open(p.admin())
	if err != nil {
		return d, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	return d, err
}
