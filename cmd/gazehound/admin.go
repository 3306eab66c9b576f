package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/index"
	searchpage "gazehound/index/web"
	"gazehound/internal/config"
	"gazehound/predictor"
)

// noAdmin is the value of admin.listen without which nobody may ask.
const noAdmin = "off"

// openAdmin takes the address of admin.listen; nil where there is to be none.
func (a *app) openAdmin(cfg *Config, p project) (*monitor.Listener, error) {
	listen := cfg.Admin.Listen
	if listen == "" || listen == noAdmin {
		os.Remove(p.admin()) // of a crawl that was killed
		return nil, nil
	}
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return nil, fail(exitInvalidInput, "admin.listen wants host:port such as 127.0.0.1:8091, or %s, got %.80q", noAdmin, listen)
	}
	token, err := monitor.ReadToken(cfg.Admin.TokenFile)
	if err != nil {
		return nil, fail(exitInvalidInput, "admin.token_file: %w", err)
	}
	byDefault := cfg.origin["admin.listen"] == config.Default // another crawl on this machine may have it
	l, err := monitor.Listen(listen, token, p.admin(), byDefault)
	switch {
	case errors.Is(err, monitor.ErrNoToken):
		return nil, fail(exitInvalidInput, "admin.listen %s %w. Set admin.token_file, or keep 127.0.0.1 and use ssh -L 8091:localhost:8091 host", listen, err)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fail(exitError, "%s is in use by another program. --admin 127.0.0.1:0 picks a free port", listen)
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(exitError, "%s may not be used without more rights. --admin 127.0.0.1:8091 needs none", listen)
	case err != nil:
		return nil, fail(exitInvalidInput, "admin.listen: %w", err)
	}
	listening.Store(l.Port(), true)
	if l.IsOpen() {
		a.warn("the admin listener at %s is open to everybody who can reach this machine and knows the token", listen)
	}
	a.say("dashboard  %s", l.URL)
	return l, nil
}

// serveAdmin answers at the address of the crawl until ctx ends; cancel ends the
// run.
func (s *session) serveAdmin(ctx context.Context, cancel context.CancelCauseFunc) error {
	admin := s.admin.Admin(s.adminOptions(cancel))
	s.watch.admin.Store(admin)
	defer s.watch.admin.Store(nil)
	return s.admin.Serve(ctx, admin)
}

// adminOptions says what the admin listener shows of a session, and what it
// may do to it; cancel ends the run.
func (s *session) adminOptions(cancel context.CancelCauseFunc) monitor.Options {
	return monitor.Options{
		Board: s.watch.Board, Version: version, Region: s.region.Name, Outline: s.region.Area,
		Language: searchpage.Language, Features: predictor.Families(),
		Terms: monitor.TermsOf(s.model), Next: monitor.NextOf(s.f), Explain: s.explain, Extras: s.extras, Rests: monitor.RestsOf(s.web.polite),
		Pause: s.c.Brake.On, Resume: s.c.Brake.Off,
		Stop: func() {
			s.watch.stopping(s.cfg.Fetch.ShutdownGrace)
			cancel(errAsked)
		},
		Checkpoint: func() error { return s.save(true) },
		Label:      s.label, Seeds: s.addSeeds, Scope: s.web.scope, Ordered: s.ordered,
		Nodes: s.nodes, Troubles: s.troubles,
	}
}

// ordered prints an order that counts from now on.
func (s *session) ordered(what string) {
	s.watch.newLine()
	s.a.say("ordered: %s", oneLine(what))
}

func (s *session) explain(text string) (any, error) {
	n, err := monitor.NodeOf(s.f, text)
	if err != nil {
		return nil, err
	}
	learned := crawler.Learned{Tree: s.f, Model: s.model, Strategy: s.strategy, Traps: s.c.Traps}
	x, err := learned.Explain(n)
	x.Scope = s.web.scope.Check(n.URL)
	if x.Queued != nil {
		x.Strategy = s.cfg.Crawl.Strategy
	}
	return x, err
}

// label takes up a person's verdict on a page that was judged, as "gazehound
// label" does.
func (s *session) label(ctx context.Context, text string, relevant bool) error {
	n, err := monitor.NodeOf(s.f, text)
	if err != nil {
		return err
	}
	if n.State != frontier.Visited || n.Outcome.Kind != "page" {
		return fmt.Errorf("%.200q was not judged yet: the verdict is %w", text, monitor.ErrUnknown)
	}
	if err := crawler.AppendLabels(s.p.labels(), []crawler.Label{{URL: n.URL, Relevant: relevant}}); err != nil {
		return err
	}
	learned, err := s.watch.labels.Load(context.WithoutCancel(ctx))
	if learned > 0 && err == nil {
		err = s.save(false)
	}
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
		x.Updates[d] = depth.Relevant + depth.Other
	}
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		m := n.State()
		x.Node = &monitor.Node{Name: m.Name, Nodes: n.Alive(), Sent: m.Sent, SentBytes: m.SentBytes, URLBytes: m.URLBytes, Received: m.Received, Outbox: m.Outbox}
	}
	return x
}

// silence is the time without a sign of life after which a crawl is not well.
const silence = 30 * time.Second

// troubles says why the crawl is not well.
func (s *session) troubles() []string {
	var why []string
	if free, err := monitor.DiskFree(s.p.dir); err == nil && free < uint64(s.cfg.Storage.DiskReserve) {
		why = append(why, fmt.Sprintf("only %s are free on the disk; storage.disk_reserve keeps %v", megabytes(int64(free)), s.cfg.Storage.DiskReserve))
	}
	if at := s.watch.Board.State().At; !at.IsZero() && time.Since(at) > silence {
		why = append(why, fmt.Sprintf("no sign of life since %s", at.Format(time.RFC3339)))
	}
	return why
}

// maxSurvey bounds the addresses of the index that are put on the map.
const maxSurvey = 100_000

// survey tells the board which streets the region has and what was found of
// them before this run.
func (s *session) survey(ctx context.Context) error {
	board, read, enough := s.watch.Board, 0, errors.New("enough")
	err := s.x.Walk(ctx, index.Query{}, func(h *index.Hit) error {
		if read++; read > maxSurvey {
			return enough // in the order of hashes, so what was read is a fair part
		}
		if h.HasPoint {
			board.Place(h.Point)
		}
		return nil
	})
	if (err == nil || errors.Is(err, enough)) && s.places != nil {
		err = board.Survey(ctx, s.f, s.places, s.region)
	}
	if err != nil && !errors.Is(err, enough) && ctx.Err() == nil {
		s.a.warn("the coverage of streets is not shown: %s", oneLine(err.Error()))
	}
	return nil
}
