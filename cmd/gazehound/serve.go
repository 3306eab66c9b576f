package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler/monitor"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/api"
	"gazehound/internal/localtime"
	"gazehound/internal/oserr"

	"github.com/paulmach/orb"
	"github.com/spf13/cobra"
)

const serveHelp = `Serves what the crawl found: a search page, /v1/search (GeoJSON), and /api and
/reverse in Photon's form, so that map widgets made for Photon work unchanged.

A crawl, forget or label may run beside it, before or after its start: within seconds
the server shows what they have written. In the folder of the index it makes hard links,
without which a crawl must wait until the server has ended.
Before the first crawl the server says so and serves the index when there is one.
/openapi.json describes the API. Ctrl-C ends the server.

With admin.token_file it has the page /corrections: whoever knows the token corrects what
is found there and on each card, others suggest. While no crawl runs, the server brings
corrections to the index itself. Otherwise it changes nothing.

--follow keeps a whole index of what the nodes of a crawl find, in a data directory of its
own: one made by "gazehound init" with the region, or an empty one, whose page has no map.
It goes on where it was and serves what it has while the nodes are away. Any number of
servers may follow. What a node forgets leaves its followers. If messages were removed
from the cluster, a new index is made beside the old one, which is served until then.

Examples:
  gazehound serve
  gazehound serve --listen 127.0.0.1:0 --cors https://map.example
  gazehound serve --follow nats://127.0.0.1:4222 --data follower
`

func newServeCommand(a *app) *cobra.Command {
	cmd := command("serve", "Serve the search page and the API", serveHelp, noArgs,
		func(ctx context.Context, args []string) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			stop := onSignals(func(n int) {
				if n > 1 {
					endNow()
				}
				cancel()
			}, os.Interrupt, syscall.SIGTERM)
			defer stop()
			if a.flags.Changed("follow") {
				return a.serveFollowing(ctx)
			}
			return a.serve(ctx, nil)
		})
	config.All().AddFlags(cmd.Flags(), "serve.listen", "cluster.crawl", "cluster.token_file", "cluster.nkey_file",
		"cluster.tls_ca")
	cmd.Flags().String("follow", "", "keep the index of --data from what the nodes of the cluster at this `URL` find")
	config.Bind(cmd.Flags(), "follow", "cluster.url")
	cmd.Flags().StringSlice("cors", nil, "`ORIGINS` whose pages may read the answers, or '*'")
	config.Bind(cmd.Flags(), "cors", "serve.cors")
	return cmd
}

// serve serves the project's index until ctx ends, beside crawls that write it. nodes are those of
// serveOptions.
func (a *app) serve(ctx context.Context, nodes func() bool) (err error) {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	x, err := a.follow(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	l, err := listenAt(cfg.Serve.Listen, "--listen")
	if err != nil {
		return err
	}
	defer l.Close()
	return a.serveWith(ctx, x, cfg, serveOptions{l: l, nodes: nodes})
}

// serveFollowing serves an index that it keeps from the pages of a cluster's nodes until ctx ends.
func (a *app) serveFollowing(ctx context.Context) (err error) {
	r, err := a.openReplica(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { r.run(ctx) })
	defer func() {
		cancel()
		following.Wait()
		err = errors.Join(err, r.close())
	}()
	return a.serve(ctx, r.nodesCrawl.Load)
}

// follow opens the index of p beside those who write it.
func (a *app) follow(p project) (*index.Follower, error) {
	if err := p.lostIndex(); err != nil {
		return nil, fail(badInput, "%w. %s", err, p.remakesIndex())
	}
	x, err := index.Follow(p.index(), func(err error) {
		if err != nil {
			a.warn("the index cannot be read, what it held before is served: %s", oneLine(err.Error()))
		} else {
			a.say("the index can be read again")
		}
	})
	return x, storeError(p, err)
}

// errNoCrawl says why there is nothing to serve yet.
var errNoCrawl = errors.New("no pages yet; start: gazehound crawl")

// besideCrawl is the default address of a crawl's search page.
const besideCrawl = "127.0.0.1:8090"

// serveOptions say how an index is served.
type serveOptions struct {
	l        net.Listener
	crawling bool        // within the crawl that fills it
	nodes    func() bool // whether the nodes crawl whose pages the index follows; nil: it follows none
	operator *operator   // serves what is below operatorPath; nil: there is nothing
}

// serveWith serves x until ctx ends.
func (a *app) serveWith(ctx context.Context, x api.Source, cfg *Config, s serveOptions) error {
	o := a.apiOptions(cfg)
	if o.Gazetteer != nil {
		defer o.Gazetteer.Close()
	}
	if cfg.Serve.Questions != "" {
		log, err := openQuestions(cfg.Serve.Questions)
		if err != nil {
			return err
		}
		defer log.close()
		o.Asked = func(q api.Question) {
			err := log.add(q)
			if err != nil {
				a.warn("serve.questions: %s", oneLine(err.Error()))
			}
		}
	}
	takeCorrections, err := a.takeCorrections(&o, x, cfg, s.operator)
	if err != nil {
		return err
	}
	if takeCorrections != nil {
		beside, stop := context.WithCancel(ctx)
		var corrector sync.WaitGroup
		corrector.Go(func() { takeCorrections(beside) })
		defer corrector.Wait()
		defer stop()
	}
	o.Basemap = a.openBasemap(project{a.data})
	if o.Basemap != nil {
		defer o.Basemap.Close()
	} else if o.OSM {
		a.say("the map has no streets yet: \"gazehound gazetteer import FILE.osm.pbf\" draws them")
	}
	o.Crawl = func() string {
		if _, runs := a.runningCrawl(); s.crawling || runs || s.nodes != nil && s.nodes() {
			return "running"
		}
		return "stopped"
	}
	if f, ok := x.(*index.Follower); ok {
		o.Ready = func() error {
			if !f.Exists() {
				return errNoCrawl
			}
			return nil
		}
	}
	if err := o.Validate(); err != nil {
		return invalid(err)
	}
	at := s.l.Addr().(*net.TCPAddr)
	o.Loopback = at.IP.IsLoopback()
	if at.IP.IsUnspecified() {
		a.warn("port %d is open to everybody who can reach this machine", at.Port)
	}
	if !s.crawling && a.json {
		if err := a.printJSON(fields{"type": "serving", "url": pageURL(s.l)}); err != nil {
			return err
		}
	} else {
		a.say("search page  %s", pageURL(s.l))
	}
	p := project{a.data}
	stats, err := x.Stats(ctx)
	if err == nil && stats.Pages == 0 && !s.crawling && s.operator == nil && p.leader() == "" {
		text := cmp.Or(p.withoutAddresses(), "\"gazehound crawl\" fills it")
		a.warn("the index is empty: %s", text)
	}
	h := api.Handler(x, o)
	if s.operator != nil {
		mux := http.NewServeMux()
		mux.Handle(operatorPath, s.operator)
		mux.Handle("/", h)
		h = mux
	}
	return monitor.ServeHTTP(ctx, api.LimitConnections(s.l), h, o.QueryTimeout)
}

// pageURL returns the URL of the page that is served on l.
func pageURL(l net.Listener) string {
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d/", at.Port)
	}
	return "http://" + at.String() + "/"
}

// listenAt listens at address; errors name the flag that gave it.
func listenAt(address, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(err, address, flag)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	listening.Store(port, true)
	return ownListener{l, port}, nil
}

// An ownListener is listed in listening until it is closed.
type ownListener struct {
	net.Listener
	port uint16
}

func (l ownListener) Close() error {
	listening.Delete(l.port)
	return l.Listener.Close()
}

// listenError explains why the program cannot listen at the address of a flag.
func listenError(err error, address, flag string) error {
	switch {
	case errors.Is(err, oserr.InUse):
		return fail(unexpected, "%s is in use by another program. %s 127.0.0.1:0 picks a free port", address, flag)
	case errors.Is(err, fs.ErrPermission):
		return fail(unexpected, "%s needs more rights. %s 127.0.0.1:8090 needs none", address, flag)
	}
	return fail(badInput, "%s must be host:port such as 127.0.0.1:8090, got %.80q (%w)", flag, address, err)
}

// apiOptions collects the data that answers need; the caller closes the gazetteer. If gazetteer or
// region are missing or unreadable, answers have less detail.
func (a *app) apiOptions(cfg *Config) api.Options {
	o := api.DefaultOptions()
	o.Version, o.Commit = version, commit()
	o.CORS, o.MaxLimit, o.QueryTimeout = cfg.Serve.CORS, cfg.Serve.MaxLimit, cfg.Serve.QueryTimeout
	o.Hosts, o.TrustedProxies = cfg.Serve.Hosts, cfg.Serve.Proxies
	o.Rate, o.Bandwidth = cfg.Serve.Rate, int64(cfg.Serve.Bandwidth)
	o.Tiles, o.TilesAttribution = cfg.Serve.Tiles, cfg.Serve.TilesCredit
	o.Agent, o.Contact = cfg.Fetch.UserAgentName, cfg.Fetch.Contact
	if cfg.Serve.RemovalForm {
		o.Remove = forget.Dir(a.data).Keeper()
	}
	level := slog.LevelWarn
	if a.Says(slog.LevelDebug) {
		level = slog.LevelDebug
	}
	o.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
	if a.Log() != nil {
		o.Log = a.JSON(level)
	}
	p := project{a.data}
	o.Region, o.Coverage = p.regionName(cfg), p.coverage
	if r, err := gazetteer.ReadRegion(p.region()); err == nil {
		o.Outline, o.Within = r.Area, r
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
	o.Gazetteer = g
	o.Clock = sync.OnceValue(func() localtime.Clock { return clockOf(cfg, g, o.Within) })
	c := gazetteer.CreditsOf(g.Sources())
	o.Licence, o.Attribution, o.GazetteerDate, o.OSM = c.Licence, c.Attribution, c.Date, g.KnowsOSM()
	return o
}

// clockOf returns the clock of a region, which may be nil: its zone is the one in config.yaml, else
// that of its country.
func clockOf(cfg *Config, g *gazetteer.Gazetteer, region *gazetteer.Region) localtime.Clock {
	var c localtime.Clock
	var center orb.Point
	if region != nil {
		center, c.State = region.Bound().Center(), region.State
	}
	switch countries := g.Countries(); {
	case len(countries) == 1 && countries[0] != "US":
		c.Country = countries[0]
	default:
		const around = 50_000 // metres
		if near := g.Nearest(center, around, 1); len(near) > 0 {
			c.Country, c.State = near[0].Place.Country, near[0].Place.State
		}
	}
	if c.State == "" && region != nil {
		c.State = stateOfCodes(g, region)
	}
	c.State = g.State(c.Country, c.State)
	c.Zone = localtime.Zone(c.Country, c.State, center)
	if zone, err := time.LoadLocation(cfg.Serve.TimeZone); err == nil && cfg.Serve.TimeZone != "" {
		c.Zone = zone
	}
	return c
}

// stateOfCodes returns the state of the first postcode of a region whose state is known, or "".
func stateOfCodes(g *gazetteer.Gazetteer, region *gazetteer.Region) string {
	for _, full := range region.Postcodes {
		country, code, _ := strings.Cut(full, " ")
		for _, p := range g.Postcodes(country, code) {
			if p.State != "" {
				return p.State
			}
		}
	}
	return ""
}

// clock returns the clock of the data's region, without a gazetteer that of this machine.
func (a *app) clock() localtime.Clock {
	here := localtime.Clock{Zone: time.Local}
	cfg, err := a.config()
	if err != nil {
		return here
	}
	p := project{a.data}
	g, err := gazetteer.Open(p.gazetteer())
	if err != nil {
		return here
	}
	defer g.Close()
	region, err := gazetteer.ReadRegion(p.region())
	if err != nil {
		region = nil // the country's clock, then
	}
	return clockOf(cfg, g, region)
}
