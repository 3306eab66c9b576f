package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"gazehound/crawler/monitor"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/api"
	"gazehound/internal/config"
	"gazehound/internal/forget"

	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"
)

func newServeCommand(a *app) *cobra.Command {
	var parts []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the search page and the API",
		Long: `Serves what the crawl found: a search page, /v1/search (GeoJSON), and /api and
/reverse in Photon's form, so that map widgets made for Photon work unchanged.

The data is only read. Where no crawl has been yet, the server says so and takes
up the index when there is one. While a crawl runs, "gazehound crawl --serve
ADDRESS" serves from within it. /openapi.json describes the API. Ctrl-C ends the
server.

What several nodes have found is served as from one index: --cluster asks the
nodes that run, --part opens the data directories of those that do not. Where a
part does not answer, the page, the answers and the header Gazehound-Missing-Nodes
say so.`,
		Example: `  gazehound serve
  gazehound serve --listen 127.0.0.1:0 --cors https://map.example
  gazehound serve --cluster nats://127.0.0.1:4222
  gazehound serve --part a --part east=../b`,
		Args: exactly(0, "serve takes no arguments, got %.60q. --listen HOST:PORT says where it listens"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			stop := onSignals(func(n int) {
				if n > 1 {
					os.Exit(exitForced)
				}
				cancel()
			})
			defer stop()
			if len(parts) > 0 || a.flags.Changed("cluster") {
				return a.serveShards(ctx, parts)
			}
			return a.serve(ctx)
		},
	}
	schema().AddFlags(cmd.Flags(), "serve.listen")
	cmd.Flags().StringArrayVar(&parts, "part", nil, "serve the index of this `DIR` or NAME=DIR, too, as one with the others (repeatable)")
	viewFlags(cmd.Flags(), "serve what all nodes of the cluster at this `URL` have found")
	cmd.Flags().StringSlice("cors", nil, "`ORIGINS` whose pages may read the answers, or '*'")
	config.Bind(cmd.Flags(), "cors", "serve.cors")
	return cmd
}

// serve serves the project's index until ctx ends.
func (a *app) serve(ctx context.Context) (err error) {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	x, err := openIndexToShow(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if x.Exists() {
		return a.serveWith(ctx, x, cfg, cfg.Serve.Listen, "--listen", nil)
	}
	w := &waiting{app: a}
	w.why.Store(&errNoCrawl)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { cancel(); err = errors.Join(err, w.end()) }()
	return a.serveWith(ctx, x, cfg, cfg.Serve.Listen, "--listen", w)
}

// serveShards serves several indexes as one until ctx ends: those of data
// directories, and those of the nodes of a cluster.
func (a *app) serveShards(ctx context.Context, parts []string) (err error) {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	s, closeShards, err := a.openShards(ctx, cfg, parts)
	defer func() { err = errors.Join(err, closeShards()) }()
	if err != nil {
		return err
	}
	return a.serveWith(ctx, s, cfg, cfg.Serve.Listen, "--listen", nil)
}

// A waiting server has no index yet, and looks for one.
type waiting struct {
	app   *app
	why   atomic.Pointer[error]        // there is nothing to serve
	now   atomic.Pointer[http.Handler] // what answers
	done  chan struct{}
	found *index.Index // belongs to watch until done is closed
}

var errNoCrawl = errors.New("no pages yet; start: gazehound crawl")

// lookEvery is the time between two looks for an index.
const lookEvery = time.Second

// start answers with what handler makes of the empty index x, and of the true
// one as soon as it can be opened.
func (w *waiting) start(ctx context.Context, x api.Source, handler func(api.Source) http.Handler) http.Handler {
	h := handler(x)
	w.now.Store(&h)
	w.done = make(chan struct{})
	go w.watch(ctx, handler)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { (*w.now.Load()).ServeHTTP(rw, r) })
}

// watch looks for the index until ctx ends.
func (w *waiting) watch(ctx context.Context, handler func(api.Source) http.Handler) {
	defer close(w.done)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		x, err := openIndexToShow(project{w.app.data})
		switch {
		case err != nil: // a crawl has it, or it is of no use
			if old := *w.why.Load(); old.Error() != err.Error() {
				w.app.warn("the index cannot be opened yet: %s", oneLine(err.Error()))
			}
			w.why.Store(&err)
		case !x.Exists():
			x.Close()
		default:
			w.found = x
			h := handler(x)
			w.why.Store(nil)
			w.now.Store(&h)
			w.app.say("the index is there")
			return
		}
	}
}

// ready says why there is nothing to serve.
func (w *waiting) ready() error {
	if why := w.why.Load(); why != nil {
		return *why
	}
	return nil
}

// end waits for watch, whose context has ended, and closes what it opened.
func (w *waiting) end() error {
	if w.done != nil {
		<-w.done
	}
	if w.found == nil {
		return nil
	}
	return w.found.Close()
}

// serveIndex serves x on an address beside a crawl that writes it, until ctx
// ends.
func (a *app) serveIndex(ctx context.Context, x *index.Index, cfg *Config, listen string) error {
	return a.serveWith(ctx, x, cfg, listen, "--serve", nil)
}

// maxConnections bounds the connections of the server.
const maxConnections = 1000

// serveWith serves x, or what w finds, on the address that a flag gave: --serve
// stands beside a crawl.
func (a *app) serveWith(ctx context.Context, x api.Source, cfg *Config, listen, flag string, w *waiting) error {
	o := a.apiOptions(cfg)
	switch m, err := gazetteer.OpenBasemap(project{a.data}.basemap()); {
	case err == nil:
		defer m.Close()
		o.Basemap = m
	case !errors.Is(err, fs.ErrNotExist):
		a.warn("the map has no streets: %s", oneLine(err.Error()))
	case o.OSM:
		a.say("the map has no streets yet: \"gazehound gazetteer import FILE.osm.pbf\" draws them")
	}
	crawling := flag == "--serve"
	if crawling {
		o.Crawl = func() string { return "running" }
	}
	if err := o.Validate(); err != nil {
		return fail(exitInvalidInput, "%w", err)
	}
	l, err := net.Listen("tcp", listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fail(exitError, "%s is in use by another program. %s 127.0.0.1:0 picks a free port", listen, flag)
	case errors.Is(err, fs.ErrPermission):
		return fail(exitError, "%s may not be used without more rights. %s 127.0.0.1:8090 needs none", listen, flag)
	case err != nil:
		return fail(exitInvalidInput, "%s wants host:port such as 127.0.0.1:8090, got %q (%w)", flag, listen, err)
	}
	url := "http://" + l.Addr().String() + "/"
	host, port, err := net.SplitHostPort(l.Addr().String())
	o.Loopback = err == nil && net.ParseIP(host).IsLoopback()
	if err == nil && net.ParseIP(host).IsUnspecified() {
		url = "http://localhost:" + port + "/"
		a.warn("%s is open to everybody who can reach this machine", listen)
	}
	if !crawling && a.json {
		if err := a.printJSON(map[string]any{"type": "serving", "url": url}); err != nil {
			return err
		}
	} else {
		a.say("search page  %s", url)
	}
	if !crawling {
		if s, err := x.Stats(ctx); err == nil && s.Pages == 0 {
			if text := (project{a.data}).withoutAddresses(); text != "" {
				a.warn("the index is empty: %s", text)
			} else {
				a.warn("the index is empty. Start: gazehound crawl")
			}
		}
	}
	if s, ok := x.(*index.Shards); ok {
		o.Missing, o.Coverage = s.Missing, nil
	}
	handler := func(x api.Source) http.Handler { return api.Handler(x, o) }
	var h http.Handler
	if w != nil {
		o.Ready = w.ready
		h = w.start(ctx, x, handler)
	} else {
		h = handler(x)
	}
	return monitor.ServeHTTP(ctx, netutil.LimitListener(l, maxConnections), h, o.QueryTimeout)
}

// apiOptions collects what the answers carry. Without a gazetteer or region
// that can be read the answers only say less.
func (a *app) apiOptions(cfg *Config) api.Options {
	o := api.DefaultOptions()
	o.Version = version
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				o.Commit = s.Value
			}
		}
	}
	o.CORS, o.MaxLimit, o.QueryTimeout = cfg.Serve.CORS, cfg.Serve.MaxLimit, cfg.Serve.QueryTimeout
	o.Hosts, o.Rate = cfg.Serve.Hosts, cfg.Serve.Rate
	o.Tiles, o.TilesAttribution = cfg.Serve.Tiles, cfg.Serve.TilesCredit
	o.Agent, o.Contact = cfg.Fetch.UserAgentName, cfg.Fetch.Contact
	if cfg.Serve.RemovalForm {
		o.Remove = forget.Dir(a.data).Keeper()
	}
	level := slog.LevelWarn
	if a.says(slog.LevelDebug) {
		level = slog.LevelDebug
	}
	o.Log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level}))
	if a.log != nil {
		o.Log = a.jsonLog(level)
	}
	o.Region = cfg.Region.Name
	p := project{a.data}
	o.Coverage = p.coverage
	if r, err := gazetteer.ReadRegion(p.region()); err == nil {
		o.Outline = r.Area
		if o.Region == "" {
			o.Region = r.Name
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		a.warn("the region's outline is not drawn: %s", oneLine(err.Error()))
	}
	g, err := gazetteer.Open(p.gazetteer())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.warn("licence and attribution are not known: %s", oneLine(err.Error()))
		}
		return o
	}
	defer g.Close()
	c := gazetteer.CreditsOf(g.Sources())
	o.Licence, o.Attribution, o.GazetteerDate, o.OSM = c.Licence, c.Attribution, c.Date, g.KnowsOSM()
	return o
}
