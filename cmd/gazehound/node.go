package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gazehound/cmd/gazehound/config"
	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/partition"
	"gazehound/index"

	"github.com/spf13/cobra"
)

const nodeHelp = `Joins a crawl of several nodes over NATS JetStream. Every node has a data directory of
its own; links that another node owns are sent to it and survive kills of both. Without
--cluster the node runs a JetStream server itself; --listen opens it to other nodes, and
--routes connects several servers: with three, each names the other two, everything is
stored three times, and one may be killed. Their clocks must agree.

One node at a time sends requests to a host. A node that is away for longer than --away
loses its share to the others until it comes back; its own queue waits for it. Whichever
node takes over knows what was visited: nothing is fetched twice, whether a node joins
late, leaves or comes back.

--partition decides which node owns a link. url-hash and site-hash share the links evenly
among the nodes that are present. The others use the city that a link is about and need
--nodes, a file such as

  - name: general                  # no cities: takes what belongs to no city
  - name: west
    cities:
      - {name: Los Angeles, state: CA, state_name: California, population: 3800000, aliases: [LA]}

which "gazehound places" writes. ip and page-ip also need --ip-file. classification needs
--examples DIR, the same directory on every node, with a folder of example pages for each
place. The name of a folder is that of a node, a city ("Los Angeles, CA"), or "none" for
pages about no place.

--order decides whose links are next. With nuggets, the default of --strategy trend, the
nodes agree on one order of all their queues without a coordinator: each sends the others a
summary of the next parts of its queue in a few bits. The better half of all parts is
fetched at once, and a node with worse links waits, for --patience at most. This finds the
best pages of all nodes first and fetches fewer pages in the same time. own lets each node
fetch what it can. turns is as published: the parts of all nodes are fetched one after the
other, so one node works at a time; give it a --patience longer than a part takes.
With --order-every they exchange summaries at multiples of that time only, as published, and
a node with worse links waits for that much longer.

"gazehound serve --follow" shows what all nodes find: each publishes what it indexes. A
crawl that starts over (--fresh) needs another --crawl-name, or what the nodes had
published before stays.

A stopped node keeps its share for --away, and the links in its queue for good. With --leave
a node hands its share and its links over to the others and ends. What it has found stays
in its data directory.

The node ends when all nodes of the crawl are idle and no link is in transit. If the server
inside this node is the only one that other nodes have, it stays after its --max-pages until
they have ended. A signal ends it at once; the others send what is left when it is back.
All flags of "crawl" apply; --max-pages counts the pages of this node.

Exit status: that of crawl, and 8 when the cluster cannot be reached, has another
version, another clock or works on another crawl.

Examples:
  gazehound node --name a --region Oldenburg --listen 127.0.0.1:4222 --contact https://your-site.example/bot
  gazehound node --name b --region Oldenburg --cluster nats://127.0.0.1:4222 --data b \
    --contact https://your-site.example/bot
  gazehound node --name a --listen 10.0.0.1:4222 --routes nats://10.0.0.2:4223 --routes nats://10.0.0.3:4223 \
    --token-file token
  gazehound node --name c --cluster nats://crawl.example.org:4222 --token-file token --tls-ca ca.pem
  gazehound node --name b --region Oldenburg --cluster nats://127.0.0.1:4222 --data b --leave
  gazehound node --name west --partition classification --nodes nodes.yaml --examples examples \
    --contact https://your-site.example/bot
`

func newNodeCommand(a *app) *cobra.Command {
	o := crawlOptions{node: true}
	cmd := command("node [URL…]", "Crawl as one of several nodes", nodeHelp, nil,
		func(ctx context.Context, args []string) error {
			o.seeds = append(o.seeds, args...)
			return a.crawl(ctx, o)
		})
	f := cmd.Flags()
	config.All().AddFlags(f, "cluster.name", "cluster.url", "cluster.crawl", "cluster.listen", "cluster.peers",
		"cluster.routes", "cluster.partition", "cluster.policy", "cluster.alpha", "cluster.beta",
		"cluster.most_populous", "cluster.nodes", "cluster.ip_file", "cluster.token_file", "cluster.nkey_file",
		"cluster.tls_cert", "cluster.tls_key", "cluster.tls_ca", "cluster.replicas", "cluster.away", "cluster.wait_for",
		"cluster.order", "cluster.order_urls", "cluster.order_parts", "cluster.order_lambda",
		"cluster.order_every", "cluster.patience")
	f.BoolVar(&o.leave, "leave", false, "leave the crawl for good: hand share and queue over to the other nodes, and "+
		"end")
	o.flags(f)
	headings := crawlHeadings()
	headings["name"] = "Nodes"
	groupFlags(a, cmd, headings)
	return cmd
}

// join makes the crawl one of several nodes.
func (s *session) join(ctx context.Context) error {
	o, err := s.openCluster(ctx)
	if err != nil {
		return err
	}
	n, err := cluster.Join(ctx, s.f, o)
	if err != nil {
		return clusterError(err)
	}
	s.publisher = &publisher{a: s.a, index: s.x, node: n}
	s.onClose(func() error {
		s.publisher.finish()
		s.serveOn(n)
		n.Close()
		return nil
	})
	n.Workers(s.cfg.Fetch.Workers)
	s.c.Peers = n
	if s.web.polite != nil {
		s.web.polite.SetLeases(n.Leases())
	}
	where := cmp.Or(s.cfg.Cluster.URL, "in this process")
	if o.Server != nil && o.Server.URL() != "" {
		where = o.Server.URL()
	}
	order := ""
	if n.Definition().Order != nil {
		order = ", one order by nuggets"
	}
	s.a.say("node %s of %s, partition %s%s; cluster %s", n.Name(), o.Crawl, n.Definition().Partition, order, where)
	return s.awaitNodes(ctx, n)
}

// serveOn keeps the server of a node running after its own crawl until the other nodes have ended.
func (s *session) serveOn(n *cluster.Node) {
	if !errors.Is(s.ended, crawler.ErrPageLimit) || !n.Needed() {
		return
	}
	ctx, stop := signals(context.Background())
	defer stop()
	n.ServeOn(ctx)
	s.a.say("the other nodes need the server of this one: it stays until they have ended; Ctrl-C ends it now")
}

// awaitNodes waits until the configured number of nodes has joined.
func (s *session) awaitNodes(ctx context.Context, n *cluster.Node) error {
	nodes := s.cfg.Cluster.WaitFor
	if nodes <= 1 {
		return nil
	}
	s.a.say("waiting for %d nodes …", nodes)
	ctx, stop := signals(ctx)
	defer stop()
	n.OnAction(func(action cluster.Action) {
		if action == cluster.Stop {
			stop()
		}
	})
	if err := n.WaitFor(ctx, nodes); err != nil {
		return fail(interrupted, "stopped while waiting for other nodes")
	}
	n.OnAction(nil) // until the crawl runs
	return nil
}

// leave hands the share and the queue of a node to the others.
func (s *session) leave(ctx context.Context) error {
	k := &s.cfg.Cluster
	if k.URL == "" {
		return fail(badUsage, "--leave hands the queue to other nodes: --cluster says where they are")
	}
	k.Listen, k.Peers, k.Routes = "", "", nil // its own server has ended
	o, err := s.openCluster(ctx)
	if err != nil {
		return err
	}
	ctx, stop := signals(ctx)
	defer stop()
	moved, err := cluster.Leave(ctx, s.f, o)
	switch {
	case ctx.Err() != nil:
		return fail(interrupted, "stopped by a signal; the same command resumes from there")
	case err != nil:
		return clusterError(err)
	case s.a.json:
		return s.a.printJSON(fields{"type": "left", "node": o.Name, "crawl": o.Crawl, "links": moved})
	}
	s.a.say("node %s has left %s: %s links went to the other nodes; what it has found stays in %s",
		o.Name, o.Crawl, count(moved), s.p.dir)
	return nil
}

// act carries out commands to all nodes; cancel ends the run.
func (s *session) act(cancel context.CancelCauseFunc) func(cluster.Action) {
	return func(action cluster.Action) {
		s.watch.newLine()
		s.a.say("all nodes received the command %s", action)
		switch action {
		case cluster.Pause:
			s.c.Brake.On()
		case cluster.Resume:
			s.c.Brake.Off()
		case cluster.Checkpoint:
			err := s.save(true)
			if err != nil {
				s.a.warn("checkpoint: %s", oneLine(err.Error()))
			}
		case cluster.Stop:
			s.stop(cancel, errAsked)
		}
	}
}

// locate gives the partitions ip and page-ip the cities of servers, from cluster.ip_file and the
// crawl's resolver. Other partitions need none.
func (s *session) locate(ctx context.Context, o *partition.Options) error {
	switch {
	case s.cfg.Cluster.IPFile == "":
		return nil // partition.New reports what is missing
	case s.web.resolve == nil:
		return fail(badUsage, "the partitions ip and page-ip look up names, which a crawl behind a proxy or of "+
			"recorded pages does not")
	}
	file, err := partition.OpenMaxMind(s.cfg.Cluster.IPFile)
	if err != nil {
		return fail(badInput, "--ip-file: %w", err)
	}
	s.onClose(file.Close)
	o.Locate, o.Resolve = file.Locate, partition.Servers(ctx, s.web.resolve)
	return nil
}

// clusterError gives the errors of joining their exit code.
func clusterError(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnreachable):
		return fail(noPeer, "%w. A node must run there; \"gazehound node --name NAME --listen HOST:PORT\" starts the first",
			err)
	case errors.Is(err, cluster.ErrOtherFormat),
		errors.Is(err, cluster.ErrOtherCrawl), errors.Is(err, cluster.ErrNameTaken),
		errors.Is(err, cluster.ErrClock), errors.Is(err, cluster.ErrAlone):
		return fail(noPeer, "%w", err)
	}
	return invalid(err)
}

// clusterAddress returns the address and the credentials of the cluster.
func (a *app) clusterAddress(p project, cfg *Config) (o cluster.Options, err error) {
	o, err = cfg.ClusterOptions(p.cluster())
	if errors.Is(err, config.ErrClusterURL) {
		flag := "--cluster"
		if a.flags != nil && a.flags.Lookup("follow") != nil {
			flag = "--follow"
		}
		return o, fail(badUsage, "%s %w", flag, err)
	} else if err != nil {
		return o, invalid(err)
	}
	o.PagesFormat = index.Format
	o.Log = func(format string, args ...any) { a.warn("%s", oneLine(fmt.Sprintf(format, args...))) }
	o.Say = func(format string, args ...any) { a.say("%s", oneLine(fmt.Sprintf(format, args...))) }
	return o, nil
}

// tuneCluster changes the options of a node; tests shorten its times.
var tuneCluster = func(*cluster.Options) {}

// openCluster returns the options of a node and starts its server if one is configured.
func (s *session) openCluster(ctx context.Context) (o cluster.Options, err error) {
	o, err = s.a.clusterAddress(s.p, s.cfg)
	if err != nil {
		return o, err
	}
	k := s.cfg.Cluster
	err = s.cfg.NodeOptions(&o, s.region.Name)
	if err != nil {
		return o, invalid(err)
	}
	o.Blocklist = forget.Node{Dir: forget.Dir(s.p.dir), Current: s.cfg.blocked, Learned: s.learnedBlocked}
	tuneCluster(&o)
	if dirs, _ := crawler.PlaceExamples(s.cfg.Crawl.Examples); o.Definition.Partition == partition.Classification {
		if len(dirs) == 0 {
			return o, fail(badUsage, "the partition classification learns from example pages. --examples DIR names "+
				"a directory with a folder for each place, and %q", partition.None)
		}
		o.Partition.Classes, o.Definition.Examples, err = partition.Train(dirs, exampleReader(s.cfg))
		if err != nil {
			return o, fail(badInput, "examples: %w", err)
		}
	}
	inside := k.Listen != "" || len(k.Routes) > 0 || k.Peers != ""
	switch {
	case k.URL != "" && inside:
		return o, fail(badUsage, "--listen, --peers and --routes are for the node's own server, which --cluster "+
			"replaces. Leave one or the other out")
	case k.URL == "":
		o.Server, err = cluster.Serve(cluster.ServerOptions{
			Name: o.Name, Dir: filepath.Join(s.p.cluster(),
				"jetstream"), Listen: k.Listen, Peers: k.Peers, Routes: k.Routes,
			Token: o.Token, NKeys: k.NKeys, TLS: o.TLS, MaxBytes: 4*int64(k.MaxBytes) + 256e6,
		})
		if err != nil {
			return o, invalid(err)
		}
		s.onClose(func() error { o.Server.Close(); return nil })
	}
	return o, s.locate(ctx, &o.Partition)
}

// learnedBlocked says that other nodes have forgotten something, which this one blocks from now on.
func (s *session) learnedBlocked(lines []string) {
	s.a.warn("other nodes have forgotten %s, and nothing of it comes in here any more; what this node has stored goes "+
		"with \"gazehound forget\", such as of: %s", several(len(lines), "thing"), oneLine(lines[0]))
}

// viewCluster connects to the cluster of the configuration.
func (a *app) viewCluster(ctx context.Context) (v *cluster.Viewer, crawl string, err error) {
	cfg, err := a.config()
	if err != nil {
		return nil, "", err
	}
	cfg.Cluster.Name = "viewer"
	o, err := a.clusterAddress(project{a.data}, cfg)
	if err != nil {
		return nil, "", err
	}
	if o.URL == "" {
		return nil, "", fail(badUsage, "--cluster must be a URL such as nats://127.0.0.1:4222")
	}
	v, err = cluster.View(ctx, o)
	if err != nil {
		return nil, "", clusterError(err)
	}
	return v, o.Crawl, nil
}
