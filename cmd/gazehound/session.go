package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/order"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/render"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/predictor"

	"golang.org/x/sync/errgroup"
)

// A session is one run of a crawl or replay with all its parts. They are set up in the order of the
// fields.
type session struct {
	a   *app
	p   project
	cfg *Config
	o   crawlOptions

	judge    crawler.Judge // nil: --region list was given
	region   *gazetteer.Region
	places   *gazetteer.Gazetteer // nil: the judge needs no region
	seeds    []weburl.URL
	web      *web
	browser  *render.Browser // nil: no page is rendered
	model    *predictor.Model
	strategy order.Strategy
	f        *frontier.Frontier
	x        *index.Index
	c        *crawler.Crawler
	learned  *crawler.Learned
	labels   *crawler.Labelled
	// What people corrected, and how much of it the index follows.
	corrections *corrections.Log
	corrected   corrections.Position
	publisher   *publisher // nil: this is no node
	watch       *progress
	admin       *monitor.Listener // nil: admin.listen is off
	serving     net.Listener      // listener of the search page; nil: there is none
	resumed     bool
	ended       error // error that the run returned

	closers []func() error // in the order of opening
}

// onClose registers close to be called at the end, in reverse order.
func (s *session) onClose(closer func() error) { s.closers = append(s.closers, closer) }

// close closes what the session has opened, the last first.
func (s *session) close() (err error) {
	for _, closer := range slices.Backward(s.closers) {
		err = errors.Join(err, closer())
	}
	return err
}

// prepare opens judge, model, strategy and queue.
func (s *session) prepare(ctx context.Context) (err error) {
	a, p, cfg, o := s.a, s.p, s.cfg, s.o
	err = a.mapTopic(ctx, p, cfg, o)
	if err != nil {
		return err
	}
	if err := a.checkJudgeFlags(cfg); err != nil {
		return err
	}
	err = s.openJudge()
	if err != nil || s.judge == nil {
		return err
	}
	s.seeds, err = a.seeds(p, cfg, o)
	if err != nil {
		return err
	}
	s.web, err = a.openWeb(cfg, o, s.region, s.seeds)
	if err != nil {
		return err
	}
	defer s.onClose(func() error { s.web.close(); return nil }) // before the frontier, which keeps its delays
	s.warnOfExcluded()
	err = s.openBrowser()
	if err != nil {
		return err
	}
	err = a.makeRoom(p, cfg, o)
	if err != nil {
		return err
	}
	limitMemory(cfg)
	return s.openFrontier(p, o.newModel, newTraps(cfg, s.web.scope))
}

// warnOfExcluded warns of seeds whose like crawl.exclude leaves out: they are fetched, and links to
// pages of the same spelling are not.
func (s *session) warnOfExcluded() {
	excluded := slices.DeleteFunc(slices.Clone(s.seeds), func(u weburl.URL) bool {
		return s.web.scope.Check(u) != crawler.ReasonExcluded
	})
	if len(excluded) > 0 {
		s.a.warn("crawl.exclude matches %s, first %s: they are fetched, and links to pages like them are not",
			several(len(excluded), "seed"), oneLine(excluded[0].String()))
	}
}

// openBrowser finds the browser that renders pages of the live web. It starts with the first of them.
func (s *session) openBrowser() (err error) {
	if s.cfg.Fetch.Render == "off" || s.web.polite == nil {
		return nil
	}
	o, err := s.cfg.RenderOptions(version, s.p.browser())
	if err != nil {
		return invalid(err)
	}
	s.browser, err = render.New(o)
	if errors.Is(err, render.ErrNoBrowser) {
		return fail(badInput, "fetch.render is %s, and %w. Install Chromium (Debian: apt install chromium), name "+
			"a browser made from it with fetch.render_browser, or crawl with --render off", s.cfg.Fetch.Render, err)
	}
	if err != nil {
		return err
	}
	s.onClose(s.browser.Close)
	return nil
}

// newTraps returns what learns which links are parked, but for those of hosts that scope releases.
func newTraps(cfg *Config, scope *crawler.Scope) *trap.Detector {
	traps := trap.New()
	traps.Exempt, traps.IgnoreSoftware = scope.Exhaustive, cfg.Crawl.Software == "off"
	return traps
}

// openJudge opens the judge, which decides whether a page is relevant.
func (s *session) openJudge() (err error) {
	s.judge, s.region, s.places, err = s.a.openJudge(s.p, s.cfg)
	if s.places != nil {
		s.onClose(func() error { s.places.Close(); return nil }) // read only
		if text := unusualReach(s.places, s.region); err == nil && text != "" {
			s.a.say("%s.", text)
		}
	}
	if err == nil && s.judge != nil {
		err = os.MkdirAll(s.p.dir, 0o755) // without a gazetteer nobody has made it yet
	}
	return err
}

// openFrontier opens model, strategy and queue. Strategy trend takes logs and topic of the project
// from.
func (s *session) openFrontier(from project, untrained bool, traps *trap.Detector) (err error) {
	if err := s.p.checkAlone(); err != nil {
		return err
	}
	s.model, err = openModel(s.p, s.cfg, s.region, untrained, s.o.model)
	if err != nil {
		return err
	}
	s.strategy, err = s.a.newOrder(from, s.cfg, s.model, s.seeds)
	if err != nil {
		return err
	}
	s.f, err = s.a.openFrontier(s.p, s.cfg, s.strategy, traps)
	if err != nil {
		return err
	}
	s.onClose(s.f.Close)
	s.learned = &crawler.Learned{Tree: s.f, Model: s.model, File: s.p.model(), Strategy: s.strategy, Traps: traps}
	return nil
}

// openIndex stores what the crawl is about and opens the index.
func (s *session) openIndex() (err error) {
	err = crawler.Describe(s.f, s.region)
	if errors.Is(err, crawler.ErrOtherRegion) {
		return fail(badInput, "%w. Name the same region, or start over with --fresh", err)
	} else if err != nil {
		return err
	}
	if !fileExists(s.p.region()) && s.cfg.Crawl.Judge == "addresses" {
		err := s.region.Write(s.p.region())
		if err != nil {
			return err
		}
	}
	if err := s.p.lostIndex(); err != nil {
		s.a.warn("%v. This crawl begins a new one. %s", err, s.p.remakesIndex())
	}
	if s.corrections == nil { // else they are those of another folder
		s.corrections, err = s.a.corrections(s.p)
		if err != nil {
			return err
		}
	}
	s.x, err = openIndex(s.p, s.corrections)
	if err == nil {
		s.x.BeforeWrite = s.f.Sync // after a power cut the index has no page that the crawl tree lacks
		s.onClose(s.x.Close)
	}
	return err
}

// build makes the crawler and restores what earlier runs learned and the standing orders.
func (s *session) build(ctx context.Context) error {
	cfg, f := s.cfg, s.f
	err := noteWeb(f, len(s.o.replay) > 0)
	if err != nil {
		return err
	}
	s.resumed = f.Totals().Visited > 0
	s.learned.SiteWide = sitewide.New()
	s.c = &crawler.Crawler{
		Options:  s.cfg.CrawlerOptions(),
		Frontier: f, Fetcher: s.web.fetcher, Gate: s.web.gate, Strategy: s.strategy,
		Sinks: []crawler.Sink{newIndexSink(s.x, s.strategy)},
		Scope: s.web.scope.Check, Traps: s.learned.Traps, SiteWide: s.learned.SiteWide, Brake: &crawler.Brake{},
		Forgotten: cfg.blocked,
	}
	if s.browser != nil {
		s.c.Renderer = s.browser
	}
	if t := order.CollectionOf(s.strategy); t != nil {
		s.c.Sinks = append(s.c.Sinks, crawler.TopicSink{Okapi: t})
	}
	err = s.watchLists()
	if err != nil {
		return err
	}
	if cfg.WARC.Dir != "" {
		archive, err := s.openArchive()
		if err != nil {
			return err
		}
		s.onClose(archive.Close)
		s.c.Sinks = append(s.c.Sinks, crawler.ArchiveSink{Writer: archive, Frontier: f,
			Forgotten: cfg.blocked})
	}
	if s.o.trace != "" {
		recorder, err := s.a.recordTrace(s.o.trace, s.seeds, s.region.Names(), s.resumed)
		if err != nil {
			return err
		}
		s.onClose(recorder.Close)
		s.c.Sinks = append(s.c.Sinks, recorder)
	}
	err = errors.Join(crawler.Note(f, cfg.Departures()), s.a.noteOrder(f, cfg))
	if err != nil {
		return err
	}
	if err := s.a.recallOrders(s.web, f); err != nil {
		return err
	}
	err = s.web.remember(f)
	if err != nil {
		return err
	}
	err = s.learned.Restore(ctx)
	if err != nil {
		return err
	}
	s.labels = crawler.NewLabelled(s.judge, f, s.strategy, s.corrections)
	s.labels.Reject = s.x.Delete
	s.c.Judge = s.labels
	_, err = s.labels.Load(ctx)
	if err != nil {
		return err
	}
	return s.correctIndex(ctx)
}

// start joins the other nodes, if there are any, queues the seeds and starts the reports.
func (s *session) start(ctx context.Context) (err error) {
	if s.o.node {
		err := s.join(ctx)
		if err != nil {
			return err
		}
	}
	_, err = s.c.Seed(ctx, s.seeds)
	if err != nil {
		return err
	}
	if _, err := s.c.ReleaseParked(ctx); err != nil {
		return err
	}
	if t := s.f.Totals(); t.Queued == 0 && t.Visited == 0 && !s.o.node {
		return fail(badInput, "no seed. --seed URL, --seeds FILE, or a %s in the data directory say where to "+
			"start; \"gazehound seeds import\" and \"seeds query\" help to find some", filepath.Base(s.p.seeds()))
	}
	s.watch = newProgress(s)
	err = s.watch.Start(ctx)
	if err != nil {
		return err
	}
	s.c.Report = s.watch.visited
	s.c.Example = func(trail []frontier.Node, relevant bool) {
		s.watch.Board.Example(trail, relevant, s.model.ScoreAt)
	}
	if s.o.operator != nil {
		s.admin = s.o.operator.Listener
	} else {
		s.admin, err = s.a.openAdmin(s.cfg, s.p)
		if err != nil {
			return err
		}
		s.onClose(func() error { s.admin.Close(); return nil })
	}
	if s.o.serve != "" && s.o.serve != noAdmin {
		// another crawl uses the default port
		s.serving, err = listenAt(s.o.serve, "--serve")
		if err != nil && s.o.serve == besideCrawl {
			s.serving, err = listenAt("127.0.0.1:0", "--serve")
		}
		if err != nil {
			return err
		}
		s.onClose(func() error { s.serving.Close(); return nil })
	}
	s.watch.start(s.cfg)
	return nil
}

// save writes what is saved only at intervals: the model, the traps and the curves; those of the
// last minutes only with all.
func (s *session) save(all bool) error {
	return errors.Join(s.learned.Save(), s.watch.Board.Save(s.f, all))
}

// rerank renews the importance of the indexed pages by all pages that the crawl has read, which are
// the collection of Okapi.
func (s *session) rerank(ctx context.Context) error {
	if order.CollectionOf(s.strategy) == nil {
		return nil
	}
	rater := s.strategy.(order.PageRater)
	return s.x.Rate(ctx, func(url string) (float64, bool) {
		u, err := weburl.Parse(url)
		if err != nil {
			return 0, false
		}
		n, known, err := s.f.Get(frontier.KeyOf(u))
		return rater.Importance(u, &n.Outcome), known && err == nil
	})
}

// run runs the crawl loop and its background tasks, and returns why it ended: nil, an error of
// package crawler, a cause such as errTimeLimit, or a failure.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s.cfg.Crawl.MaxTime > 0 {
		var stopTimer context.CancelFunc
		ctx, stopTimer = context.WithTimeoutCause(ctx, s.cfg.Crawl.MaxTime, errTimeLimit)
		defer stopTimer()
	}
	defer s.hear(cancel)()
	side, stopSide := context.WithCancel(context.WithoutCancel(ctx))
	surveyed := make(chan struct{})
	var beside errgroup.Group
	for _, task := range s.tasks(cancel, surveyed) {
		beside.Go(func() error { return task(side) })
	}
	var err error
	switch {
	case s.o.stay > 0:
		s.watch.left, err = s.c.Stay(ctx, s.f, s.o.stay)
	case s.o.revisit:
		s.watch.left, err = s.c.Revisit(ctx, s.f)
		if err == nil {
			err = s.c.Run(ctx)
		}
	default:
		err = s.c.Run(ctx)
	}
	select {
	case <-surveyed: // the summary counts all streets
	case <-ctx.Done():
	}
	stopSide()
	return errors.Join(err, beside.Wait())
}

// hear reacts to signals and to commands to all nodes until stop is called.
func (s *session) hear(cancel context.CancelCauseFunc) (stop func()) {
	stopSignals := onSignals(func(n int) {
		if n > 1 {
			endNow()
		}
		s.stop(cancel, errSignal)
	}, os.Interrupt, syscall.SIGTERM)
	stopAsking := onSignals(func(int) { s.watch.print(false) }, statusSignal)
	stopReloading := onSignals(func(int) { s.a.reload(s.web, s.cfg.blocked, s.watch) }, syscall.SIGHUP)
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		n.OnAction(s.act(cancel))
	}
	return func() { stopReloading(); stopAsking(); stopSignals() }
}

// stop ends the run as soon as pages in flight are finished.
func (s *session) stop(cancel context.CancelCauseFunc, why error) {
	s.watch.stopping(s.cfg.Fetch.ShutdownGrace)
	cancel(why)
}

// tasks returns the background tasks, which run until their context ends; the survey closes
// surveyed.
func (s *session) tasks(cancel context.CancelCauseFunc, surveyed chan<- struct{}) []func(context.Context) error {
	tasks := []func(context.Context) error{
		s.watch.run,
		s.watch.keep,
		func(ctx context.Context) error {
			return every(ctx, s.cfg.Predictor.SaveEvery, func() error { return s.save(false) })
		},
		func(ctx context.Context) error {
			return every(ctx, time.Second, func() error {
				learned, err := s.takeCorrections(ctx)
				if learned > 0 {
					s.watch.newLine()
					s.a.say("corrections: %d changed what was learned", learned)
				}
				return err
			})
		},
		func(ctx context.Context) error {
			return every(ctx, 2*time.Second, func() error {
				if free, err := disk.Free(s.p.dir); err == nil && free < uint64(s.cfg.Storage.DiskReserve) {
					cancel(errDiskReserve)
				}
				return nil
			})
		},
		func(ctx context.Context) error {
			defer close(surveyed)
			return s.survey(ctx)
		},
	}
	if s.publisher != nil {
		tasks = append(tasks, s.publisher.run)
	}
	if s.admin != nil {
		tasks = append(tasks, func(ctx context.Context) error { return s.serveAdmin(ctx, cancel) })
	}
	if s.serving != nil {
		tasks = append(tasks, func(ctx context.Context) error {
			err := s.a.serveWith(ctx, s.x, s.cfg, serveOptions{l: s.serving, crawling: true})
			if err != nil {
				cancel(err)
			}
			return err
		})
	}
	return tasks
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

// makeRoom removes discarded data, with --fresh the earlier crawl, and fails if the disk reserve is
// reached.
func (a *app) makeRoom(p project, cfg *Config, o crawlOptions) error {
	if free, err := disk.Free(p.dir); err == nil && free < uint64(cfg.Storage.DiskReserve) && !o.dryRun {
		return fail(diskReserve, "only %s are free for %s; storage.disk_reserve keeps %v. Make room, or lower it",
			megabytes(int64(free)), p.dir, cfg.Storage.DiskReserve)
	}
	err := p.finishDiscard()
	if err != nil {
		return err
	}
	if o.fresh && !o.dryRun {
		return a.startOver(p)
	}
	return nil
}

// startOver removes crawl and index; on a terminal it asks first.
func (a *app) startOver(p project) error {
	if !fileExists(p.frontier()) {
		return nil
	}
	if !a.yes && !a.confirm(fmt.Sprintf("Delete the crawl and the index in %s?", p.dir)) {
		return fail(badUsage, "--fresh deletes the crawl in %s. Add --yes if that is intended", p.dir)
	}
	f, err := p.openCrawl(0) // no other process uses it
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, frontier.ErrOlderFormat) && !errors.Is(err, frontier.ErrDamaged) {
		return err
	}
	err = os.Rename(p.frontier(), p.discarded())
	if err != nil {
		return err
	}
	return p.finishDiscard()
}

// openArchive returns a writer of WARC files in the configured folder, which it lists in
// archives.txt.
func (s *session) openArchive() (*warc.Writer, error) {
	o := s.cfg.ArchiveOptions(version, s.region.Name)
	var err error
	o.Manifest, err = s.p.manifest(s.f)
	if err != nil {
		return nil, err
	}
	w, err := warc.NewWriter(o)
	if err != nil {
		return nil, invalid(err)
	}
	for _, what := range w.Repaired() {
		s.a.warn("%s", what)
	}
	return w, nil
}

// watchLists warns of lists that have become shorter, and keeps what they are now and at the end.
func (s *session) watchLists() error {
	short, err := s.p.shortLists(s.f)
	if err != nil {
		return err
	}
	for _, what := range short {
		s.a.warn("%s; bring back what is missing, unless that is meant", what)
	}
	m, err := s.p.manifest(s.f)
	if err != nil {
		return err
	}
	for _, what := range m.Missing() {
		s.a.warn("%s; \"gazehound doctor\" says how to fix it", what)
	}
	err = s.p.noteLists(s.f)
	if err != nil {
		return err
	}
	s.onClose(func() error { return s.p.noteLists(s.f) })
	return nil
}
