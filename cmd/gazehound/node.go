package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/index"
	"gazehound/internal/config"

	"github.com/spf13/cobra"
)

func newNodeCommand(a *app) *cobra.Command {
	o := crawlOptions{node: true}
	cmd := &cobra.Command{
		Use:   "node [URL…]",
		Short: "Crawl as one of several nodes",
		Long: `Takes part in a crawl of several nodes over NATS JetStream. Every node has a data
directory of its own; links that another node owns travel to it and are lost by
no kill of either. Without --cluster the node runs a JetStream server inside;
--listen opens it to other nodes, and --routes joins several of them: with three, each
names the other two, everything is kept three times, and one may be killed. Their clocks
must agree.

A host is asked by one node at a time. A node that is gone for longer than --away
loses its share to the others until it comes back; what waits in its own queue
waits there. What was visited is known to whoever takes over: nothing is fetched
twice, whether a node joins late, leaves or comes back.

--partition says who owns a link. url-hash and site-hash share evenly among the
nodes that are there. The others ask which city a link is about and need --nodes,
a file such as

  - name: general                  # no cities: takes what belongs to no city
  - name: west
    cities:
      - {name: Los Angeles, state: CA, state_name: California, population: 3800000, aliases: [LA]}

which "gazehound places" writes. ip needs --ip-file, too, and classification
--examples DIR, a directory with a folder of example pages for each place, the same on
every node: its name is that of a node, a city ("Los Angeles, CA") or none, for pages
about no place.

With --order nuggets, which is what --strategy trend takes, the nodes keep one order of
all their queues without a coordinator: each tells the others, in a few bits, how good the
next parts of its queue are, those in the better half are fetched at once, and a node with
worse links rests, for --patience at most. That finds the best pages of all nodes first
and fetches fewer pages in the same time; own lets each node fetch what it can.

A node that was stopped keeps its share for --away, and what waits in its queue for good.
With --leave it does not come back to crawl but gives both up: the others have its share and
its links at once, and it ends. What it has found stays in its data directory.

The node ends when all nodes of the crawl are idle and no link is on its way. Where other nodes
have no server but the one inside this node, it stays after this node has fetched its --max-pages,
until they have ended. A signal ends it at once: what others still have to send they send
when it is back.
All flags of "crawl" count; --max-pages counts the pages of this node.

Exit status: that of crawl, and 8 when the cluster cannot be reached, has another
version, another clock or works on another crawl.`,
		Example: `  gazehound node --name a --region Oldenburg --listen 127.0.0.1:4222 --contact https://example.org/bot
  gazehound node --name b --region Oldenburg --cluster nats://127.0.0.1:4222 --data b --contact https://example.org/bot
  gazehound node --name a --listen 10.0.0.1:4222 --routes nats://10.0.0.2:4223 --routes nats://10.0.0.3:4223 --token-file token
  gazehound node --name c --cluster nats://crawl.example.org:4222 --token-file token --tls-ca ca.pem
  gazehound node --name b --region Oldenburg --cluster nats://127.0.0.1:4222 --data b --leave
  gazehound node --name west --partition classification --nodes nodes.yaml --examples examples --contact https://example.org/bot`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeds = append(o.seeds, args...)
			return a.crawl(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	config.All().AddFlags(f, "cluster.name", "cluster.url", "cluster.crawl", "cluster.listen", "cluster.peers", "cluster.routes",
		"cluster.partition", "cluster.policy", "cluster.nodes", "cluster.ip_file", "cluster.token_file", "cluster.nkey_file",
		"cluster.tls_cert", "cluster.tls_key", "cluster.tls_ca", "cluster.replicas", "cluster.away", "cluster.wait_for",
		"cluster.order", "cluster.patience")
	f.BoolVar(&o.leave, "leave", false, "leave the crawl for good: hand share and queue over to the other nodes, and end")
	o.flags(f)
	headings := crawlHeadings()
	headings["name"] = "Nodes"
	groupFlags(cmd, headings)
	return cmd
}

// joinCluster makes c one of several nodes, and returns what leaves again; why
// is the error that the run ended with.
func (a *app) joinCluster(ctx context.Context, p project, cfg *Config, region string, c *crawler.Crawler, f *frontier.Frontier, x *index.Index, web *web) (leave func(why error), err error) {
	o, server, err := a.clusterOptions(p, cfg, region)
	if err != nil {
		return nil, err
	}
	closeServer := func() {
		if server != nil {
			server.Close()
		}
	}
	closeFile, err := locate(ctx, cfg, &o.Partition, web)
	if err != nil {
		closeServer()
		return nil, err
	}
	n, err := cluster.Join(ctx, f, o)
	if err != nil {
		closeFile()
		closeServer()
		return nil, clusterError(err)
	}
	n.Workers(cfg.Fetch.Workers)
	c.Peers = n
	if web.polite != nil {
		web.polite.SetLeases(n.Leases(web.resolve))
	}
	if err := answerShards(n, x, cfg.Serve.QueryTimeout); err != nil {
		n.Close()
		closeFile()
		closeServer()
		return nil, fail(exitError, "%w", err)
	}
	where := cfg.Cluster.URL
	if server != nil && server.URL() != "" {
		where = server.URL()
	}
	order := ""
	if n.Definition().Order != nil {
		order = ", one order by nuggets"
	}
	a.say("node %s of %s, partition %s%s; cluster %s", n.Name(), cfg.Cluster.Crawl, n.Definition().Partition, order, cmp.Or(where, "in this process"))
	leave = func(why error) {
		if errors.Is(why, crawler.ErrPageLimit) && n.Needed() {
			ctx, stop := signals(context.Background())
			defer stop()
			n.ServeOn(ctx)
			a.say("the other nodes need the server of this one: it stays until they have ended; Ctrl-C ends it now")
		}
		n.Close()
		closeFile()
		closeServer()
	}
	if nodes := cfg.Cluster.WaitFor; nodes > 1 {
		a.say("waiting for %d nodes …", nodes)
		ctx, stop := signals(ctx)
		defer stop()
		n.Obey(func(action cluster.Action) {
			if action == cluster.Stop {
				stop()
			}
		})
		if err := n.WaitFor(ctx, nodes); err != nil {
			leave(err)
			return nil, fail(exitStopped, "stopped while waiting for other nodes")
		}
		n.Obey(nil) // until the crawl runs
	}
	return leave, nil
}

// leaveCluster gives the share and the queue of a node up.
func (a *app) leaveCluster(ctx context.Context, p project, cfg *Config, region string, f *frontier.Frontier, web *web) error {
	if cfg.Cluster.URL == "" {
		return fail(exitUsage, "--leave hands the queue to other nodes: --cluster says where they are")
	}
	cfg.Cluster.Listen, cfg.Cluster.Peers, cfg.Cluster.Routes = "", "", nil // its own server has ended
	o, _, err := a.clusterOptions(p, cfg, region)
	if err != nil {
		return err
	}
	closeFile, err := locate(ctx, cfg, &o.Partition, web)
	if err != nil {
		return err
	}
	defer closeFile()
	ctx, stop := signals(ctx)
	defer stop()
	moved, err := cluster.Leave(ctx, f, o)
	switch {
	case ctx.Err() != nil:
		return fail(exitStopped, "stopped by a signal; the same command goes on from there")
	case err != nil:
		return clusterError(err)
	case a.json:
		return a.printJSON(map[string]any{"type": "left", "node": o.Name, "crawl": o.Crawl, "links": moved})
	}
	a.say("node %s has left %s: %s links of its queue went to the other nodes; what it has found stays in %s", o.Name, o.Crawl, count(moved), p.dir)
	return nil
}

// obey does what is asked of all nodes; cancel ends the run.
func (s *session) obey(cancel context.CancelCauseFunc) func(cluster.Action) {
	return func(action cluster.Action) {
		s.watch.newLine()
		s.a.say("all nodes are asked to %s", action)
		switch action {
		case cluster.Pause:
			s.c.Brake.On()
		case cluster.Resume:
			s.c.Brake.Off()
		case cluster.Checkpoint:
			if err := s.save(true); err != nil {
				s.a.warn("checkpoint: %s", oneLine(err.Error()))
			}
		case cluster.Stop:
			s.watch.stopping(s.cfg.Fetch.ShutdownGrace)
			cancel(errAsked)
		}
	}
}

// locate lets the partition ip find the cities of servers, by cluster.ip_file and the resolver of
// the crawl. Other partitions need none. done is never nil without an error.
func locate(ctx context.Context, cfg *Config, o *partition.Options, web *web) (done func(), err error) {
	switch {
	case cfg.Cluster.IPFile == "":
		return func() {}, nil // partition.New says what is missing
	case web.resolve == nil:
		return nil, fail(exitUsage, "the partition ip asks name servers, which a crawl behind a proxy or of recorded pages does not")
	}
	file, err := partition.OpenMaxMind(cfg.Cluster.IPFile)
	if err != nil {
		return nil, fail(exitInvalidInput, "--ip-file: %w", err)
	}
	o.Locate, o.Resolve = file.Locate, partition.Servers(ctx, web.resolve)
	return func() { file.Close() }, nil // read only
}

// clusterError gives the errors of joining their exit code.
func clusterError(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnreachable), errors.Is(err, cluster.ErrOtherFormat), errors.Is(err, cluster.ErrOtherCrawl), errors.Is(err, cluster.ErrNameTaken), errors.Is(err, cluster.ErrClock), errors.Is(err, cluster.ErrAlone):
		return fail(exitPeer, "%w", err)
	}
	return fail(exitInvalidInput, "%w", err)
}

// nodeName is what this node is called: as configured, or as its machine.
func nodeName(cfg *Config) (string, error) {
	if cfg.Cluster.Name != "" {
		return cfg.Cluster.Name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fail(exitInvalidInput, "no name for this node. --name gives it one")
	}
	return regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "-"), nil
}

// clusterAddress says where the cluster is and how to get in.
func (a *app) clusterAddress(p project, cfg *Config) (o cluster.Options, err error) {
	k := cfg.Cluster
	for raw := range strings.SplitSeq(k.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(raw))
		if raw != "" && (err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls") {
			return o, fail(exitUsage, "--cluster wants a URL such as nats://127.0.0.1:4222, got %.80q", raw)
		}
	}
	o = cluster.DefaultOptions()
	o.Crawl, o.Dir, o.URL, o.NKey = k.Crawl, p.cluster(), k.URL, k.NKeyFile
	o.TLS = cluster.TLSFiles{Cert: k.TLSCert, Key: k.TLSKey, CA: k.TLSCA}
	o.Log = func(format string, args ...any) { a.warn("%s", oneLine(fmt.Sprintf(format, args...))) }
	o.Say = func(format string, args ...any) { a.say("%s", oneLine(fmt.Sprintf(format, args...))) }
	if o.Name, err = nodeName(cfg); err != nil {
		return o, err
	}
	if k.TokenFile != "" {
		raw, err := os.ReadFile(k.TokenFile)
		if err != nil {
			return o, fail(exitInvalidInput, "token: %w", err)
		}
		if o.Token = strings.TrimSpace(string(raw)); len(o.Token) < 16 {
			return o, fail(exitInvalidInput, "token: %s holds fewer than 16 characters", k.TokenFile)
		}
	}
	return o, nil
}

// tuneCluster changes the options of a node; tests shorten its times.
var tuneCluster = func(*cluster.Options) {}

// clusterOptions are those of a node; server is the one inside, or nil.
func (a *app) clusterOptions(p project, cfg *Config, region string) (o cluster.Options, server *cluster.Server, err error) {
	if o, err = a.clusterAddress(p, cfg); err != nil {
		return o, nil, err
	}
	k := cfg.Cluster
	o.Replicas, o.Away, o.Linger, o.MaxBytes = k.Replicas, k.Away, k.Linger, int64(k.MaxBytes)
	o.Lease = max(k.Lease, 3*cfg.Fetch.Timeout)
	o.Rest = max(cfg.Fetch.Delay, time.Millisecond)
	tuneCluster(&o)
	o.Definition = cluster.Definition{Region: region, Partition: partition.Method(k.Partition), Policy: partition.Policy(k.Policy)}
	if k.Order == "nuggets" || k.Order == "auto" && cfg.Crawl.Strategy == "trend" {
		order := cluster.DefaultOrder()
		o.Definition.Order, o.Patience = &order, k.Patience
	}
	if k.Nodes != "" {
		if o.Definition.Nodes, o.Partition.Known, err = partition.ReadNodes(k.Nodes); err != nil {
			return o, nil, fail(exitInvalidInput, "%w", err)
		}
	}
	if dirs, _ := placeExamples(cfg.Crawl.Examples); o.Definition.Partition == partition.Classification {
		if len(dirs) == 0 {
			return o, nil, fail(exitUsage, "the partition classification learns from example pages. --examples DIR names a directory with a folder for each place, and %q", partition.None)
		}
		if o.Partition.Classes, o.Definition.Examples, err = partition.Train(dirs, exampleReader(cfg)); err != nil {
			return o, nil, fail(exitInvalidInput, "examples: %w", err)
		}
	}
	if k.URL != "" {
		if k.Listen != "" || len(k.Routes) > 0 || k.Peers != "" {
			return o, nil, fail(exitUsage, "--listen, --peers and --routes belong to the server inside, and --cluster names another")
		}
		return o, nil, nil
	}
	server, err = cluster.Serve(cluster.ServerOptions{
		Name: o.Name, Dir: filepath.Join(p.cluster(), "jetstream"), Listen: k.Listen, Peers: k.Peers, Routes: k.Routes, Token: o.Token, NKeys: k.NKeys, TLS: o.TLS,
		MaxBytes: 4*int64(k.MaxBytes) + 256e6,
	})
	if err != nil {
		return o, nil, fail(exitInvalidInput, "%w", err)
	}
	o.Server = server
	return o, server, nil
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
		return nil, "", fail(exitUsage, "--cluster wants a URL such as nats://127.0.0.1:4222")
	}
	if v, err = cluster.View(ctx, o); err != nil {
		return nil, "", clusterError(err)
	}
	return v, o.Crawl, nil
}

// searchCluster asks all nodes and writes one answer.
func (a *app) searchCluster(ctx context.Context, q index.Query) error {
	v, _, err := a.viewCluster(ctx)
	if err != nil {
		return err
	}
	defer v.Close()
	all := &index.Shards{Limit: searchTimeout / 3}
	askNodes(all, v)
	r, err := all.Search(ctx, q)
	for _, name := range all.Missing() {
		a.warn("node %s has not answered; what it found is missing", name)
	}
	switch {
	case errors.Is(err, index.ErrCursor), errors.Is(err, index.ErrQuery):
		return fail(exitUsage, "%w", err)
	case err != nil:
		return fail(exitPeer, "%w", err)
	}
	return a.showHits(ctx, all, q, r, all.Missing())
}
