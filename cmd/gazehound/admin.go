package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/index"
	searchpage "gazehound/index/web"
	"gazehound/predictor"

	"github.com/paulmach/orb"
)

// noAdmin is the value of admin.listen that switches the admin listener off.
const noAdmin = "off"

// openAdmin listens at admin.listen. It returns nil if that is "off".
func (a *app) openAdmin(cfg *Config, p project) (*monitor.Listener, error) {
	listen := cfg.Admin.Listen
	if listen == "" || listen == noAdmin {
		os.Remove(p.admin()) // left by a crawl that was killed
		return nil, nil
	}
	token, err := monitor.ReadToken(cfg.Admin.TokenFile)
	if err != nil {
		return nil, fail(badInput, "admin.token_file: %w", err)
	}
	byDefault := cfg.origin["admin.listen"] == config.Default // another crawl on this machine may have it
	l, err := monitor.Listen(listen, token, p.admin(), byDefault)
	if errors.Is(err, monitor.ErrNoToken) {
		return nil, fail(badInput, "admin.listen %s %w. Set admin.token_file, or keep 127.0.0.1 and use ssh "+
			"-L 8091:localhost:8091 host", listen, err)
	} else if err != nil {
		return nil, listenError(err, listen, "--admin")
	}
	listening.Store(l.Port(), true)
	if l.IsOpen() {
		a.warn("the admin listener at %s is open to everybody who can reach this machine and knows the token", listen)
	}
	a.say("dashboard  %s", l.URL)
	return l, nil
}

// serveAdmin serves the admin listener until ctx ends; cancel ends the run.
func (s *session) serveAdmin(ctx context.Context, cancel context.CancelCauseFunc) error {
	admin := s.admin.Admin(s.adminOptions(cancel))
	s.watch.admin.Store(admin)
	defer s.watch.admin.Store(nil)
	if op := s.o.operator; op != nil {
		op.admin.Store(admin)
		<-ctx.Done()
		op.admin.Store(nil)
		admin.Close()
		return nil
	}
	defer listening.Delete(s.admin.Port())
	return s.admin.Serve(ctx, admin)
}

// adminOptions connects the admin listener to a session: what it shows and what it can change.
// cancel ends the run.
func (s *session) adminOptions(cancel context.CancelCauseFunc) monitor.Options {
	return monitor.Options{
		Board: s.watch.Board, Version: version, Region: s.region.Name, Outline: s.region.Area,
		Language: searchpage.Language, Features: predictor.Families(),
		Terms: monitor.TermsOf(s.model), Next: monitor.NextOf(s.f),
		Explain: monitor.ExplainOf(s.learned, s.cfg.Crawl.Strategy, s.web.scope), Extras: s.extras,
		Rests: monitor.RestsOf(s.web.polite),
		Pause: s.c.Brake.On, Resume: s.c.Brake.Off,
		Stop: func() {
			s.stop(cancel, errAsked)
			if s.o.operator != nil {
				s.o.operator.end() // also where the crawl has just ended by itself
			}
		},
		Checkpoint: func() error { return s.save(true) },
		Lend:       func() error { return s.lend(cancel) },
		Run:        s.answerer(),
		Label:      s.label, Seeds: s.addSeeds, Scope: s.web.scope, Ordered: s.ordered,
		Release: s.c.ReleaseParked,
		Nodes:   s.nodes, Troubles: func() []string {
			reserve := s.cfg.Storage.DiskReserve
			return s.watch.Troubles(int64(reserve), reserve.String())
		},
	}
}

// ordered prints an order that has taken effect.
func (s *session) ordered(what string) {
	s.watch.newLine()
	s.a.say("ordered: %s", oneLine(what))
}

// label stores a person's verdict on a page and trains with it, as "gazehound label" does.
func (s *session) label(ctx context.Context, text string, relevant bool) error {
	n, err := monitor.NodeOf(s.f, text)
	if err != nil {
		return err
	}
	if n.State != frontier.Visited || n.Outcome.Kind != frontier.KindPage {
		return fmt.Errorf("%.200q was not judged yet: the verdict is %w", text, monitor.ErrUnknown)
	}
	e := crawler.Corrections([]crawler.Label{{URL: n.URL, Relevant: relevant}})[0]
	e.Was = crawler.VerdictWord(n.Outcome.Relevant)
	_, err = s.corrections.Add(nil, e)
	if err != nil {
		return err
	}
	_, err = s.takeCorrections(ctx)
	return err
}

func (s *session) extras() monitor.Extras {
	var x monitor.Extras
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if stats, err := s.x.Stats(ctx); err == nil {
		x.Documents = stats.Pages
	}
	for d, depth := range s.model.Stats().Depths {
		if d < len(x.Updates) {
			x.Updates[d] = depth.Relevant + depth.Other
		}
	}
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		m := n.State()
		x.Node = &monitor.Node{Name: m.Name, Nodes: n.Alive(), Sent: m.Sent, SentBytes: m.SentBytes,
			URLBytes: m.URLBytes, Received: m.Received, Outbox: m.Outbox}
	}
	return x
}

// survey gives the board the streets of the region and those found before this run.
func (s *session) survey(ctx context.Context) error {
	err := s.watch.Board.SurveyPlaces(func(place func(orb.Point) error) error {
		return s.x.Walk(ctx, index.Filters{}, func(h *index.Hit) error {
			if h.HasPoint {
				return place(h.Point)
			}
			return nil
		})
	})
	if err == nil && s.places != nil {
		err = s.watch.Board.Survey(ctx, s.f, s.places, s.region)
	}
	if err != nil && ctx.Err() == nil {
		s.a.warn("the coverage of streets is not shown: %s", oneLine(err.Error()))
	}
	return nil
}

// recallOrders restores the standing orders of earlier runs.
func (a *app) recallOrders(w *web, f *frontier.Frontier) error {
	n, err := w.scope.Restore(f)
	if n > 0 {
		a.say("orders     %s of \"gazehound ctl\" from before %s on; \"gazehound ctl orders\" shows them", count(n),
			map[bool]string{true: "goes", false: "go"}[n == 1])
	}
	return err
}

// reload reads the configuration again and applies its delays, its include and exclude, its hosts
// and its log level, and blocked.txt; everything else applies at the next start. Standing orders stay in force.
func (a *app) reload(w *web, blocked *forget.Current, watch *progress) {
	defer watch.newLine()
	watch.newLine()
	level := a.Level()
	reader := *a // a copy: other goroutines keep writing messages in the old format
	cfg, err := reader.config()
	if err == nil && w.polite != nil && cfg.Fetch.Delay == 0 && !cfg.StaysHere(nil) {
		err = errors.New("fetch.delay 0s is for loopback only")
	}
	if err == nil {
		err = w.scope.Reload(cfg.scopeRules(w.options))
	}
	if err != nil {
		a.SetLevel(level)
		a.warn("SIGHUP: the configuration stays as it was: %s", oneLine(err.Error()))
		return
	}
	blocked.Set(cfg.blocked.List())
	a.say("SIGHUP: delay %v, %d hosts with settings of their own, %d exclude and %d include patterns, log level %s",
		cfg.Fetch.Delay, len(cfg.Hosts), len(cfg.Crawl.Exclude), len(cfg.Crawl.Include),
		strings.ToLower(a.Level().String()))
}

// addSeeds queues start URLs in the running crawl and reports how many.
func (s *session) addSeeds(ctx context.Context, texts []string) (monitor.SeedsTaken, error) {
	taken, err := monitor.AddSeeds(ctx, s.c, s.web.scope, texts)
	if err == nil && taken.Taken > 0 {
		s.watch.newLine()
		s.a.say("given %s, %s new", several(taken.Taken, "seed"), count(taken.New))
	}
	return taken, err
}

// nodes lists the nodes that work on the crawl: those of the cluster, or this one.
func (s *session) nodes(ctx context.Context) (any, error) {
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		return n.Status(ctx)
	}
	name, err := s.cfg.NodeName()
	if err != nil {
		return nil, err
	}
	return cluster.Alone(name, s.region.Name, s.f.Totals(), s.c.Brake.Held()), nil
}
