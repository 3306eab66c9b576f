package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"

	"github.com/spf13/cobra"
)

const ctlHelp = `Controls the crawl that is running on the data directory, through its admin
listener. The crawl writes the listener's address and token to admin.json in the data
directory, which only its owner can read. Anybody who has the token, from there or
from admin.token_file, can control the crawl. The listener speaks plain HTTP, so beyond
this machine the network can read the token, too. The dashboard contains the token.

With --cluster, pause, resume, checkpoint and stop apply to all nodes of a crawl and
wait until every node has carried them out, which happens at its next heartbeat. A
pause also applies to nodes that join later. The other commands are for one node.

"delay", "exclude" and "release" give standing orders: they take effect at once, are kept with the
crawl, and apply again at its next start, until they are removed or --fresh discards
the crawl. The first two only make a crawl slower and smaller: the delays of config.yaml
and robots.txt remain the minimum. "orders" shows them.

"stop" also ends "gazehound run", in a round and between rounds.

Exit status: 0 done, 1 refused or not answered, 8 the cluster cannot be reached or a
node does not answer, 10 no crawl is running.

Examples:
  gazehound ctl pause
  gazehound ctl stop --data oldenburg
  gazehound ctl pause --cluster nats://127.0.0.1:4222
  gazehound ctl exclude --host shop.example.org
`

// ctlOrderHelp is that of pause, resume, checkpoint and stop.
const ctlOrderHelp = `Examples:
  gazehound ctl %[1]s
  gazehound ctl %[1]s --data oldenburg --json
  gazehound ctl %[1]s --cluster nats://127.0.0.1:4222
`

func newCtlCommand(a *app) *cobra.Command {
	var commands []*cobra.Command
	for _, c := range []struct{ name, short, done string }{
		{"pause", "Fetch no new page until \"ctl resume\"; pages being fetched finish",
			"paused; pages being fetched finish"},
		{"resume", "Resume a paused crawl", "resumed"},
		{"checkpoint", "Write model and curves to the disk now", "model and curves are saved"},
		{"stop", "Finish pages being fetched, save and end; wait for the end",
			"stopped; the same command resumes it"},
	} {
		help := fmt.Sprintf(ctlOrderHelp, c.name)
		cmd := command(c.name, c.short, help, noArgs, stoppable(func(ctx context.Context, args []string) error {
			if a.flags.Changed("cluster") {
				return a.ctlCluster(ctx, cluster.Action(c.name), c.done)
			}
			var done json.RawMessage
			err := a.ctl(ctx, http.MethodPost, "v1/crawl/"+c.name, nil, &done)
			if err != nil {
				return err
			}
			if c.name == "stop" {
				if err := a.untilEnd(ctx); err != nil {
					return err
				}
			}
			if a.json {
				return a.printJSON(done)
			}
			a.say("%s", c.done)
			return nil
		}))
		viewFlags(cmd.Flags(), "send it to all nodes of the cluster at this `URL`")
		commands = append(commands, cmd)
	}
	commands = append(commands, newCtlSeedsCommand(a), newCtlDelayCommand(a), newCtlExcludeCommand(a),
		newCtlReleaseCommand(a), newCtlOrdersCommand(a), newCtlNodesCommand(a))
	return group("ctl", "Control a running crawl: pause, stop, new seeds, longer delays", ctlHelp, commands...)
}

const ctlSeedsHelp = `Queues web addresses in the running crawl, as --seed does at its start. They survive
a stop. Known URLs stay as they are; URLs outside of the scope are refused and listed.

Examples:
  gazehound ctl seeds https://www.example.org/ https://news.example.org/local/
  gazehound ctl seeds --file more.txt --json
`

func newCtlSeedsCommand(a *app) *cobra.Command {
	var files []string
	cmd := command("seeds [URL…]", "Add seeds to the running crawl", ctlSeedsHelp, nil,
		stoppable(func(ctx context.Context, args []string) error {
			if len(args)+len(files) == 0 {
				return fail(badUsage, "ctl seeds takes web addresses, or --file FILE with one per line")
			}
			return a.ctlSeeds(ctx, args, files)
		}))
	cmd.Flags().StringArrayVar(&files, "file", nil, "`FILE` with seed URLs, one per line; - is standard input "+
		"(repeatable)")
	return cmd
}

const ctlDelayHelp = `Makes the delay between two requests to the same host longer from the next request on:
for all hosts, or with --host for one. It is never shorter than config.yaml and
robots.txt require. 0s removes the order.

Examples:
  gazehound ctl delay 10s
  gazehound ctl delay 1m --host www.example.org
  gazehound ctl delay 0s --host "*.example.org"
`

func newCtlDelayCommand(a *app) *cobra.Command {
	var host string
	cmd := command("delay DURATION", "Wait longer between requests to a host", ctlDelayHelp,
		one("one duration such as 10s"), stoppable(func(ctx context.Context, args []string) error {
			if _, err := time.ParseDuration(args[0]); err != nil {
				return fail(badUsage, "ctl delay takes a duration with a unit, such as 10s or 1m, got %.40q", args[0])
			}
			return a.ctlOrder(ctx, "delay", map[string]any{"delay": args[0], "host": host})
		}))
	cmd.Flags().StringVar(&host, "host", "", "only for this `HOST`, or \"*.example.org\" with all below it")
	return cmd
}

const ctlExcludeHelp = `Excludes all URLs that match a regular expression, as crawl.exclude of config.yaml does,
or with --host a whole host. It also applies to queued links and to seeds. Visited pages
stay; "gazehound forget" removes them.

Examples:
  gazehound ctl exclude /calendar/
  gazehound ctl exclude --host shop.example.org
  gazehound ctl exclude /calendar/ --undo
`

// ctlExcludeOptions are the flags of ctl exclude.
type ctlExcludeOptions struct {
	host string
	undo bool
}

func newCtlExcludeCommand(a *app) *cobra.Command {
	var o ctlExcludeOptions
	cmd := command("exclude [REGEXP]", "Exclude URLs that match a pattern, or a host", ctlExcludeHelp, nil,
		stoppable(func(ctx context.Context, args []string) error {
			switch {
			case len(args) == 1 && o.host == "" && args[0] != "":
				return a.ctlOrder(ctx, "exclude", fields{"undo": o.undo, "pattern": args[0]})
			case len(args) == 0 && o.host != "":
				return a.ctlOrder(ctx, "exclude", fields{"undo": o.undo, "host": o.host})
			}
			return fail(badUsage, "ctl exclude takes one regular expression, or --host HOST alone; \"gazehound ctl "+
				"orders\" shows what was ordered")
		}))
	cmd.Flags().StringVar(&o.host, "host", "", "this `HOST`, or \"*.example.org\" with all below it")
	cmd.Flags().BoolVar(&o.undo, "undo", false, "remove the order")
	return cmd
}

const ctlReleaseHelp = `Queues the links of a host that were parked because links like them proved to repeat the
same page, and parks no more of them. "gazehound status" lists parked links by host and
pattern; "gazehound explain URL" says why one is parked.

Examples:
  gazehound ctl release shop.example.org
  gazehound ctl release "*.example.org"
  gazehound ctl release shop.example.org --undo
`

func newCtlReleaseCommand(a *app) *cobra.Command {
	var undo bool
	cmd := command("release HOST", "Fetch the parked links of a host", ctlReleaseHelp,
		one("one host, or \"*.example.org\""),
		stoppable(func(ctx context.Context, args []string) error {
			var done struct {
				Released int
				Orders   crawler.OrdersView
			}
			order := fields{"host": args[0], "undo": undo}
			err := a.ctl(ctx, http.MethodPost, "v1/crawl/release", order, &done)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(fields{"type": "done", "action": "release", "released": done.Released,
					"orders": done.Orders})
			}
			if !undo {
				a.say("%s released", several(done.Released, "link"))
			}
			return a.showOrders(done.Orders)
		}))
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the order")
	return cmd
}

const ctlOrdersHelp = `Examples:
  gazehound ctl orders
  gazehound ctl orders --data oldenburg --json
`

func newCtlOrdersCommand(a *app) *cobra.Command {
	return command("orders", "Show the standing orders: delays, exclusions and releases", ctlOrdersHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			var v crawler.OrdersView
			err := a.ctl(ctx, http.MethodGet, "v1/crawl/orders", nil, &v)
			if err != nil {
				return err
			}
			return a.showOrders(v)
		}))
}

const ctlNodesHelp = `Shows the nodes of the cluster as the data directory's running node sees them, or that
node alone. "gazehound status --cluster" reads the cluster itself.

Examples:
  gazehound ctl nodes
  gazehound ctl nodes --data west --json
`

func newCtlNodesCommand(a *app) *cobra.Command {
	return command("nodes", "Show the nodes of the crawl", ctlNodesHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			var s cluster.Summary
			err := a.ctl(ctx, http.MethodGet, "v1/crawl/nodes", nil, &s)
			if err != nil {
				return err
			}
			return a.tell(s, "%s", s.Text())
		}))
}

// seedsAtOnce is the number of seeds per request. With the longest URLs, such a body is below the
// listener's limit.
const seedsAtOnce = 200

// ctlSeeds queues web addresses in the running crawl.
func (a *app) ctlSeeds(ctx context.Context, args, files []string) error {
	var urls []weburl.URL
	for _, text := range args {
		u, problem := a.parseSeed("seeds", text)
		if problem != "" {
			return fail(badUsage, "ctl seeds: %s", problem)
		}
		urls = append(urls, u)
	}
	for _, name := range files {
		found, _, err := a.seedFile(name)
		if err != nil {
			return err
		}
		urls = append(urls, found...)
	}
	if len(urls) == 0 {
		return fail(badInput, "no usable seed in %s", strings.Join(files, ", "))
	}
	all := monitor.SeedsTaken{Refused: []monitor.RefusedSeed{}}
	for part := range slices.Chunk(urls, seedsAtOnce) {
		var done monitor.SeedsTaken
		err := a.ctl(ctx, http.MethodPost, "v1/crawl/seeds", fields{"urls": urlTexts(part)}, &done)
		if err != nil {
			return err
		}
		all.Taken, all.New, all.Refused = all.Taken+done.Taken, all.New+done.New, append(all.Refused, done.Refused...)
	}
	if all.Taken == 0 {
		first := all.Refused[0]
		return fail(unexpected, "none of the seeds belongs to the crawl; %s: %s. crawl.include, crawl.exclude and "+
			"hosts of config.yaml and \"gazehound ctl orders\" say what does; without fetch.contact it stays on "+
			"loopback", first.URL, inWords(first.Reason))
	}
	if a.json {
		return a.printJSON(struct {
			Type   string `json:"type"`
			Action string `json:"action"`
			monitor.SeedsTaken
		}{"done", "seeds", all})
	}
	for _, r := range all.Refused {
		a.warn("%s is not of the crawl: %s", r.URL, inWords(r.Reason))
	}
	return a.print("%s taken, %s of them new\n", several(all.Taken, "seed"), count(all.New))
}

// inWords writes a reason such as "out_of_scope" for people.
func inWords(reason string) string { return strings.ReplaceAll(reason, "_", " ") }

// ctlOrder gives a standing order.
func (a *app) ctlOrder(ctx context.Context, name string, order map[string]any) error {
	var done struct{ Orders crawler.OrdersView }
	err := a.ctl(ctx, http.MethodPost, "v1/crawl/"+name, order, &done)
	if err != nil {
		return err
	}
	return a.showOrders(done.Orders)
}

func (a *app) showOrders(v crawler.OrdersView) error {
	line := struct {
		Type string `json:"type"`
		crawler.OrdersView
	}{"orders", v}
	return a.tell(line, "%s", v.Text())
}

// ctlPatience is how long nodes may take to carry out a command to all.
const ctlPatience = time.Minute

// ctlCluster sends an action to all nodes.
func (a *app) ctlCluster(ctx context.Context, action cluster.Action, what string) error {
	v, crawl, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	wait, cancel := context.WithTimeout(ctx, ctlPatience)
	defer cancel()
	done, silent, err := v.Do(wait, action)
	switch {
	case ctx.Err() != nil:
		return fail(interrupted, "stopped by a signal; the nodes may still do it")
	case err != nil:
		return clusterError(err)
	case len(done)+len(silent) == 0:
		return fail(noData, "no node of %s is running", crawl)
	case len(silent) > 0:
		return fail(noPeer, "%s: not done after %v by %s; \"gazehound status --cluster\" shows them", action,
			ctlPatience, strings.Join(silent, ", "))
	case a.json:
		return a.printJSON(fields{"type": "done", "action": action, "nodes": done})
	}
	a.say("%s: %s", strings.Join(done, ", "), what)
	return nil
}

// ctl sends a request to the admin listener of the data directory's crawl, with body as JSON unless
// it is nil, and decodes the answer into v.
func (a *app) ctl(ctx context.Context, method, address string, body, v any) error {
	if err := a.needData(); err != nil {
		return err
	}
	p := project{a.data}
	pid, runs, err := frontier.Holder(p.frontier())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ctl: %w", err)
	}
	d, err := monitor.ReadAddress(p.admin())
	takesOrders := runs && err == nil && d.PID == pid
	if !takesOrders && address == monitor.StopPath && stopBetweenRounds(ctx, d, v) {
		return nil
	}
	switch {
	case !runs:
		return fail(noData, "no crawl runs in %s. \"gazehound crawl\" starts one", p.dir)
	case errors.Is(err, fs.ErrPermission):
		return fail(unexpected, "%s belongs to another user: %w", p.admin(), err)
	case !takesOrders:
		return fail(noData, "process %d works on %s and takes no orders: it is no crawl, is just starting, or "+
			"has --admin off", pid, p.dir)
	}
	var refused *monitor.RefusedError
	switch err := d.Ask(ctx, method, address, body, v); {
	case errors.As(err, &refused):
		return fail(unexpected, "%s", oneLine(err.Error()))
	case err != nil:
		return fmt.Errorf("ctl: %w", err)
	}
	return nil
}

// stopBetweenRounds ends the "gazehound run" at d, none of whose rounds runs, and reports whether there was
// one. It sends the token that no other process has, so that a file left by a killed one stops nothing else.
func stopBetweenRounds(ctx context.Context, d monitor.Address, done any) bool {
	d.Token = d.Owner
	return d.URL != "" && d.Ask(ctx, http.MethodPost, monitor.StopPath, nil, done) == nil
}

// untilEnd waits until the crawl has ended.
func (a *app) untilEnd(ctx context.Context) error {
	for {
		_, runs, err := frontier.Holder(project{a.data}.frontier())
		if errors.Is(err, fs.ErrNotExist) || err == nil && !runs {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fail(interrupted, "the crawl is stopping; \"gazehound status\" shows it")
		case <-time.After(100 * time.Millisecond):
		}
	}
}
