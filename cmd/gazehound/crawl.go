package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/config"
	"gazehound/predictor"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
)

// crawlOptions are the flags that stand for themselves.
type crawlOptions struct {
	seeds    []string
	replay   []string
	emit     []string
	trace    string
	fresh    bool
	newModel bool
	revisit  bool
	stay     time.Duration // between rounds of a crawl that does not end; 0: it ends
	dryRun   bool
	serve    string
	stats    time.Duration
	profile  string
	node     bool // one of several
	leave    bool // … that gives its share up
}

func newCrawlCommand(a *app) *cobra.Command {
	var o crawlOptions
	cmd := &cobra.Command{
		Use:   "crawl [URL…]",
		Short: "Crawl the region, or go on with its crawl",
		Long: `Crawls for pages that hold addresses of the region. The same command resumes a
crawl that was stopped, killed or came to a limit. Ctrl-C once finishes the open
pages and saves; twice stops at once.

--max-pages counts the downloaded HTML pages of the whole crawl, resumed runs
included; to reach it is success (exit 0).

--revisit asks visited pages again, each at its own interval (revisit.first, min and
max of the configuration), and marks what is gone. Pages asked again do not count
towards --max-pages. --stay does so again and again, for a crawl that runs for
months: it does not end where no link is left or --max-pages is reached.

--strategy says which links come first, or at all:
` + strategyHelp() + `
Exit status: 0 done or page limit, 3 disk full, 4 unusable input, 5 in use,
9 no seed could be downloaded, 10 no data, 11 stopped by a signal, 12 too many
failures, 13 second signal, 15 time limit, 16 disk reserve.`,
		Example: `  gazehound crawl --contact https://example.org/bot
  gazehound crawl --region "Irvine, CA" --replay archive/ --seeds seeds.txt --max-pages 1000 --json
  gazehound crawl --warc archive --max-pages 500
  gazehound crawl --revisit --max-time 8h
  gazehound crawl --stay 1h --max-pages 50000
  gazehound crawl --strategy trend --topics topics.yaml --examples shop.html --judge topic --seed https://www.example.org/
  gazehound crawl --judge language --language th --seed https://www.example.co.th/ --contact https://example.org/bot
  gazehound crawl --seed http://www.oldenburg.example/ --proxy http://127.0.0.1:8118 --delay 0s`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeds = append(o.seeds, args...)
			return a.crawl(cmd.Context(), o)
		},
	}
	o.flags(cmd.Flags())
	groupFlags(cmd, crawlHeadings())
	return cmd
}

// crawlHeadings are those of the flags of a crawl.
func crawlHeadings() map[string]string {
	return map[string]string{"seed": "Input", "region": "Scope", "judge": "What is looked for", "strategy": "Order of the links", "contact": "Manners", "emit": "Output", "dry-run": "Trying"}
}

// flags are those of a crawl, alone or as one of several nodes.
func (o *crawlOptions) flags(f *pflag.FlagSet) {
	f.SortFlags = false
	add := func(keys ...string) { config.All().AddFlags(f, keys...) }
	f.StringArrayVar(&o.seeds, "seed", nil, "start `URL` (repeatable)")
	add("seeds.files")
	f.StringArrayVar(&o.replay, "replay", nil, "fetch from this WARC `FILE|DIR` and not from the network (repeatable)")
	f.BoolVar(&o.fresh, "fresh", false, "throw the crawl and its index away and start over; what the model learned stays")
	f.BoolVar(&o.revisit, "revisit", false, "first revisit the pages that are due, relevant ones first; new links come after them")
	f.DurationVar(&o.stay, "stay", 0, "do not end: revisit the pages that are due at this interval, such as 1h, and go on with new links in between")
	f.BoolVar(&o.newModel, "new-model", false, "start with an untrained model")
	add("region.boundary", "crawl.max_pages", "crawl.max_time", "crawl.max_depth", "crawl.max_pages_per_host",
		"crawl.max_pages_per_path", "crawl.selectivity", "crawl.include", "crawl.exclude",
		"crawl.judge", "crawl.language", "crawl.topic", "crawl.topics", "crawl.examples", "crawl.topic_share")
	strategyFlags(f)
	add("crawl.random_seed", "fetch.contact", "fetch.delay", "fetch.workers", "crawl.max_failures", "fetch.proxy")
	f.StringSliceVar(&o.emit, "emit", nil, "`KINDS` of which each gets a JSON line: page, address or page,address; implies --json")
	f.StringVar(&o.serve, "serve", besideCrawl, "serve the search page while the crawl runs at this `ADDRESS`, or off; where the default is in use, another port is taken")
	add("admin.listen", "warc.dir")
	f.StringVar(&o.trace, "record-trace", "", "record every visit with its links in this `FILE`, for \"simulate --trace FILE\"")
	f.DurationVar(&o.stats, "stats", 30*time.Second, "time between status lines where there is no terminal")
	add("storage.memory")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be crawled and download nothing")
	f.StringVar(&o.profile, "cpu-profile", "", "write where the time goes to this `FILE` (go tool pprof)")
	add("fetch.allow_private_addresses")
}

// strategyHelp describes the strategies, a paragraph for each.
func strategyHelp() string {
	var b strings.Builder
	for _, k := range order.Kinds {
		fmt.Fprintf(&b, "  %-17s %s\n", k.Name, strings.ReplaceAll(k.Help, "\n", "\n"+strings.Repeat(" ", 20)))
	}
	return b.String()
}

// strategyFlags are those that say how links are ordered.
func strategyFlags(f *pflag.FlagSet) {
	config.All().AddFlags(f, "crawl.strategy")
	for _, key := range config.Keys(order.Settings{}) {
		config.All().AddFlags(f, "crawl."+key)
	}
}

// validate reports problems of the flags and how to fix them.
func (o *crawlOptions) validate() error {
	for _, kind := range o.emit {
		if kind != "page" && kind != "address" {
			return fail(exitUsage, "--emit: %q is not one of page, address.%s", kind, didYouMean(kind, []string{"page", "address"}))
		}
	}
	switch {
	case o.stats <= 0:
		return fail(exitUsage, "--stats wants a positive duration, got %v", o.stats)
	case o.stay < 0 || o.stay > 0 && o.stay < time.Second:
		return fail(exitUsage, "--stay wants a duration of a second or more, such as 1h, got %v", o.stay)
	case o.stay > 0 && o.node:
		return fail(exitUsage, "--stay is for a crawl of one machine; start nodes again with --revisit")
	}
	return nil
}

// Causes with which a run is ended from outside of the loop.
var (
	errSignal      = errors.New("stopped by a signal")
	errAsked       = errors.New("stopped on request")
	errTimeLimit   = errors.New("time limit reached")
	errDiskReserve = errors.New("disk reserve reached")
)

// crawl runs one session of a crawl from flags to exit code.
func (a *app) crawl(ctx context.Context, o crawlOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	a.json = a.json || len(o.emit) > 0
	stopProfile, err := startProfile(o.profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProfile()) }()
	cfg, err := a.config()
	if err != nil {
		return err
	}
	p := project{a.data}
	if err := a.mapTopic(ctx, p, cfg, o); err != nil {
		return err
	}
	if err := a.checkJudgeFlags(cfg); err != nil {
		return err
	}
	judge, region, places, err := a.openJudge(p, cfg)
	if err != nil || judge == nil {
		return err
	}
	if places != nil {
		defer places.Close()
	}
	seeds, err := a.seeds(p, cfg, o)
	if err != nil {
		return err
	}
	web, err := a.openWeb(cfg, o, region, seeds)
	if err != nil {
		return err
	}
	defer web.close()
	if err := a.makeRoom(p, cfg, o); err != nil {
		return err
	}
	model, err := openModel(p, cfg, o.newModel)
	if err != nil {
		return err
	}
	strategy, err := a.newOrder(p, cfg, model, seeds)
	if err != nil {
		return err
	}
	limitMemory(cfg)
	traps := trap.New()
	f, err := a.openFrontier(p, cfg, strategy, traps)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if o.dryRun {
		return a.dryRun(cfg, region.Name, seeds, f.Totals())
	}
	if err := describeCrawl(f, region); err != nil {
		return err
	}
	if _, err := os.Stat(p.region()); errors.Is(err, fs.ErrNotExist) && cfg.Crawl.Judge == "addresses" {
		if err := region.Write(p.region()); err != nil {
			return err
		}
	}
	if err := p.lostIndex(); err != nil {
		a.warn("%v. This crawl begins a new one. %s", err, p.remakesIndex())
	}
	x, err := openIndex(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	c := &crawler.Crawler{
		Options: crawler.Options{
			Workers: cfg.Fetch.Workers, MaxPages: cfg.Crawl.MaxPages, MaxDepth: cfg.Crawl.MaxDepth, MaxFailures: cfg.Crawl.MaxFailures,
			Retries: cfg.Fetch.Retries, RetryWait: retryWait(cfg), Grace: cfg.Fetch.ShutdownGrace,
			PlainForBadTLS: cfg.Fetch.HTTPForBadTLS,
			Sitemaps:       cfg.Seeds.Sitemaps, Reservations: cfg.Policy.TDM == "respect", Revisits: cfg.Revisit,
		},
		Frontier: f, Fetcher: web.fetcher, Gate: web.gate, Judge: judge, Strategy: strategy,
		Sinks: []crawler.Sink{indexSink{x}}, Scope: web.scope.Check, Traps: traps, SiteWide: sitewide.New(), Brake: crawler.NewBrake(),
	}
	if cfg.WARC.Dir != "" {
		archive, err := a.openArchive(p, cfg, region.Name)
		if err != nil {
			return err
		}
		defer func() { err2 := archive.Close(); err = errors.Join(err, err2) }()
		c.Sinks = append(c.Sinks, crawler.ArchiveSink{Writer: archive, Frontier: f})
	}
	if o.trace != "" {
		recorder, err := a.recordTrace(o.trace, seeds, f.Totals().Visited > 0)
		if err != nil {
			return err
		}
		defer func() { err2 := recorder.Close(); err = errors.Join(err, err2) }()
		c.Sinks = append(c.Sinks, recorder)
	}
	if err := notePolicy(f, cfg); err != nil {
		return err
	}
	if err := a.recallOrders(web, f); err != nil {
		return err
	}
	if err := web.remember(p, f); err != nil {
		return err
	}
	learned := &crawler.Learned{Tree: f, Model: model, File: p.model(), Strategy: strategy, Traps: traps, SiteWide: c.SiteWide}
	if err := learned.Restore(ctx); err != nil {
		return err
	}
	labels := crawler.NewLabelled(judge, f, strategy, p.labels(), a.warn)
	c.Judge = labels
	if _, err := labels.Load(ctx); err != nil {
		return err
	}
	resumed := f.Totals().Visited > 0
	var runErr error
	if o.leave {
		return a.leaveCluster(ctx, p, cfg, region.Name, f, web)
	}
	if o.node {
		leave, err := a.joinCluster(ctx, p, cfg, region.Name, c, f, x, web)
		if err != nil {
			return err
		}
		defer func() { leave(runErr) }()
	}
	if _, err := c.Seed(ctx, seeds); err != nil {
		return err
	}
	if t := f.Totals(); t.Queued == 0 && t.Visited == 0 && !o.node {
		return fail(exitInvalidInput, "no seed. --seed URL, --seeds FILE, or a %s in the data directory say where to start; \"gazehound seeds import\" and \"seeds query\" help to find some", filepath.Base(p.seeds()))
	}
	watch := newProgress(a, p, cfg, c, f, web.polite, o, region.Name, resumed)
	if err := watch.Start(ctx); err != nil {
		return err
	}
	watch.index, watch.osm = x, places != nil && places.KnowsOSM()
	c.Report, c.Example = watch.visited, watch.example(model)
	watch.labels = labels
	if s, ok := strategy.(order.PageRater); ok {
		watch.importance = func(v *crawler.Visit) float64 {
			return s.Importance(v.Entry.URL, v.Page.Title+"\n"+v.Page.Text, v.Outcome.Score)
		}
	}
	admin, err := a.openAdmin(cfg, p)
	if err != nil {
		return err
	}
	defer admin.Close()
	watch.start(cfg)

	s := &session{learned: learned, a: a, p: p, cfg: cfg, o: o, c: c, f: f, x: x, model: model, strategy: strategy, web: web, watch: watch, admin: admin, region: region, places: places}
	runErr = s.run(ctx)
	if err := s.save(true); err != nil && runErr == nil {
		runErr = err
	}
	return watch.finish(runErr)
}

// A session is one run of a crawl, with all that it is made of.
type session struct {
	a        *app
	p        project
	cfg      *Config
	o        crawlOptions
	c        *crawler.Crawler
	f        *frontier.Frontier
	x        *index.Index
	model    *predictor.Model
	strategy order.Strategy
	web      *web
	watch    *progress
	admin    *monitor.Listener // nil: nobody may ask
	region   *gazetteer.Region
	places   *gazetteer.Gazetteer // nil: the crawl is about no region

	learned *crawler.Learned
}

// save makes durable what is so only from time to time: the model, what was
// learned of traps, and the curves, those of the last minutes only with all.
func (s *session) save(all bool) error {
	return errors.Join(s.learned.Save(), s.watch.Board.Save(s.f, all))
}

// run runs the loop and everything that goes on beside it, and returns why it
// ended: nil, an error of crawler, one of ours, or a failure.
func (s *session) run(ctx context.Context) error {
	a, p, cfg, o, x, web, watch := s.a, s.p, s.cfg, s.o, s.x, s.web, s.watch
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if cfg.Crawl.MaxTime > 0 {
		var stopTimer context.CancelFunc
		ctx, stopTimer = context.WithTimeoutCause(ctx, cfg.Crawl.MaxTime, errTimeLimit)
		defer stopTimer()
	}
	stopSignals := onSignals(func(n int) {
		if n > 1 {
			os.Exit(exitForced) // every store is valid at any moment
		}
		watch.stopping(cfg.Fetch.ShutdownGrace)
		cancel(errSignal)
	})
	defer stopSignals()
	stopAsking := onSignal(syscall.SIGUSR1, func() { watch.print(false) })
	defer stopAsking()
	stopReloading := onSignal(syscall.SIGHUP, func() { a.reload(web, watch) })
	defer stopReloading()

	side, stopSide := context.WithCancel(context.WithoutCancel(ctx))
	var beside errgroup.Group
	beside.Go(func() error { return watch.run(side) })
	beside.Go(func() error { return watch.keep(side) })
	beside.Go(func() error {
		return every(side, cfg.Predictor.SaveEvery, func() error {
			return s.save(false)
		})
	})
	beside.Go(func() error {
		return every(side, time.Second, func() error {
			learned, err := watch.labels.Load(context.WithoutCancel(side))
			if learned > 0 && err == nil {
				watch.newLine()
				a.say("labels: %d corrected what was learned", learned)
				err = s.save(false)
			}
			return err
		})
	})
	beside.Go(func() error {
		return every(side, 2*time.Second, func() error {
			if free, err := monitor.DiskFree(p.dir); err == nil && free < uint64(cfg.Storage.DiskReserve) {
				cancel(errDiskReserve)
			}
			return nil
		})
	})
	surveyed := make(chan struct{})
	beside.Go(func() error {
		defer close(surveyed)
		return s.survey(side)
	})
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		n.Obey(s.obey(cancel))
	}
	if s.admin != nil {
		beside.Go(func() error { return s.serveAdmin(side, cancel) })
	}
	if o.serve != "" && o.serve != noAdmin {
		beside.Go(func() error {
			err := a.serveIndex(side, x, cfg, o.serve)
			if err != nil {
				cancel(err)
			}
			return err
		})
	}
	var err error
	switch {
	case o.stay > 0:
		watch.left, err = s.c.Stay(ctx, s.f, o.stay)
	case o.revisit:
		if watch.left, err = s.c.Revisit(ctx, s.f); err == nil {
			err = s.c.Run(ctx)
		}
	default:
		err = s.c.Run(ctx)
	}
	select {
	case <-surveyed: // what is said at the end is said of all streets
	case <-ctx.Done():
	}
	stopSide()
	return errors.Join(err, beside.Wait())
}

// every calls f once per period until ctx ends or f fails.
func every(ctx context.Context, period time.Duration, f func() error) error {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := f(); err != nil {
				return err
			}
		}
	}
}

// makeRoom finishes what was to be discarded, with --fresh the crawl of before, and
// refuses to crawl where the disk reserve is reached.
func (a *app) makeRoom(p project, cfg *Config, o crawlOptions) error {
	if free, err := monitor.DiskFree(p.dir); err == nil && free < uint64(cfg.Storage.DiskReserve) && !o.dryRun {
		return fail(exitDiskReserve, "only %s are free for %s; storage.disk_reserve keeps %v. Make room, or lower it",
			megabytes(int64(free)), p.dir, cfg.Storage.DiskReserve)
	}
	if err := p.finishDiscard(); err != nil {
		return err
	}
	if o.fresh && !o.dryRun {
		return a.startOver(p)
	}
	return nil
}

// startOver removes crawl and index, after a question where somebody can
// answer it.
func (a *app) startOver(p project) error {
	if !fileExists(p.frontier()) {
		return nil
	}
	if !a.yes && !a.confirm(fmt.Sprintf("Throw away the crawl and the index in %s?", p.dir)) {
		return fail(exitUsage, "--fresh throws away the crawl in %s. Say --yes as well if that is meant", p.dir)
	}
	f, err := p.openCrawl(0) // no other process uses it
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, frontier.ErrOlderFormat) && !errors.Is(err, frontier.ErrDamaged) {
		return err
	}
	if err := os.Rename(p.frontier(), p.discarded()); err != nil {
		return err
	}
	return p.finishDiscard()
}

// describeCrawl notes what a crawl is about and refuses to go on with it
// under another region.
func describeCrawl(f *frontier.Frontier, region *gazetteer.Region) error {
	const name = "region"
	was, err := f.Meta(name)
	if err != nil {
		return err
	}
	b := region.Bound()
	is := fmt.Sprintf("%s (%.4f,%.4f … %.4f,%.4f)", region.Name, b.Min.Lon(), b.Min.Lat(), b.Max.Lon(), b.Max.Lat())
	if was == nil {
		return f.PutMeta(name, []byte(is))
	}
	if string(was) != is {
		return fail(exitInvalidInput, "this crawl is about %s, not %s. Name the same region, or start over with --fresh", was, is)
	}
	return nil
}

// notePolicy notes on what grounds a crawl departs from the policy as shipped.
func notePolicy(f *frontier.Frontier, cfg *Config) error {
	if cfg.Policy.TDM == "ignore" {
		if err := f.PutMeta("tdm_reason", []byte(cfg.Policy.TDMReason)); err != nil {
			return err
		}
	}
	if cfg.Policy.Persons == "keep" {
		return f.PutMeta("persons_basis", []byte(cfg.Policy.PersonsBasis))
	}
	return nil
}

// dryRun prints the plan of a crawl.
func (a *app) dryRun(cfg *Config, region string, seeds []weburl.URL, t frontier.Totals) error {
	hosts := map[string]bool{}
	for _, u := range seeds {
		hosts[u.Host()] = true
	}
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "reason": "dry-run", "region": region, "seeds": len(seeds), "hosts": len(hosts),
			"queued": t.Queued, "pages": t.Pages, "exit_code": exitOK})
	}
	pace := fmt.Sprintf("%d pages at a time", cfg.Fetch.Workers)
	if cfg.Fetch.Delay > 0 {
		pace = fmt.Sprintf("at most %.1f pages/s by politeness (%v a host, %d workers)",
			min(float64(len(hosts)), float64(cfg.Fetch.Workers))/cfg.Fetch.Delay.Seconds(), cfg.Fetch.Delay, cfg.Fetch.Workers)
	}
	fmt.Fprintf(a.stdout, "Would crawl %s with %d seeds on %d hosts, %s, strategy %s.\n", region, len(seeds), len(hosts), pace, cfg.Crawl.Strategy)
	if t.Visited > 0 {
		fmt.Fprintf(a.stdout, "Goes on with a crawl of %d pages; %d links wait.\n", t.Pages, t.Queued)
	}
	for i, u := range seeds {
		if i == 20 {
			fmt.Fprintf(a.stdout, "  … %d more\n", len(seeds)-i)
			break
		}
		fmt.Fprintf(a.stdout, "  1.000 seed  %s\n", u)
	}
	fmt.Fprintln(a.stdout, "Nothing was downloaded.")
	return nil
}

// needContact tells whether the public internet would be asked without a contact.
func needContact(cfg *Config, o crawlOptions, seeds []weburl.URL) bool {
	if cfg.Fetch.Contact != "" || len(o.replay) > 0 {
		return false
	}
	if cfg.Fetch.Proxy != "" {
		u, err := url.Parse(cfg.Fetch.Proxy)
		return err != nil || !weburl.IsLoopback(u.Hostname())
	}
	return !cfg.Fetch.AllowPrivateAddresses || slices.ContainsFunc(seeds, func(u weburl.URL) bool { return !weburl.IsLoopback(u.Hostname()) })
}
