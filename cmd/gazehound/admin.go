package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	searchpage "gazehound/index/web"
	"gazehound/internal/disk"
	"gazehound/predictor"

	"golang.org/x/net/netutil"
)

// noAdmin is the value of admin.listen without which nobody may ask.
const noAdmin = "off"

// leastToken is the shortest token that is accepted, in bytes.
const leastToken = 16

// A desk is the admin listener of a running crawl. The file beside the crawl
// tells "ctl" where it is; only who owns the data can read it.
type desk struct {
	a        *app
	listener net.Listener
	file     string
	closed   bool // everything asks for the token
	given    bool // the token is the operator's
	deskFile
}

// deskFile is what admin.json holds.
type deskFile struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// openDesk takes the address of admin.listen; nil where there is to be none.
func (a *app) openDesk(cfg *Config, p project) (*desk, error) {
	listen := cfg.Admin.Listen
	if listen == "" || listen == noAdmin {
		os.Remove(p.admin()) // of a crawl that was killed
		return nil, nil
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fail(exitInvalidInput, "admin.listen wants host:port such as 127.0.0.1:8091, or %s, got %.80q", noAdmin, listen)
	}
	d := &desk{a: a, file: p.admin(), closed: !weburl.IsLoopback(host)}
	if d.Token, err = readToken(cfg.Admin.TokenFile); err != nil {
		return nil, err
	}
	d.given = d.Token != ""
	if d.closed && !d.given {
		return nil, fail(exitInvalidInput, "admin.listen %s would let anyone stop the crawl. Set admin.token_file, or keep 127.0.0.1 and use ssh -L 8091:localhost:8091 host", listen)
	}
	if !d.given {
		d.Token = rand.Text()
	}
	d.listener, err = net.Listen("tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) && cfg.originOf("admin.listen") == "default" {
		d.listener, err = net.Listen("tcp", net.JoinHostPort(host, "0")) // as for another crawl on this machine
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fail(exitError, "%s is in use by another program. --admin 127.0.0.1:0 picks a free port", listen)
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(exitError, "%s may not be used without more rights. --admin 127.0.0.1:8091 needs none", listen)
	case err != nil:
		return nil, fail(exitInvalidInput, "admin.listen: %w", err)
	}
	at := d.listener.Addr().(*net.TCPAddr)
	d.URL, d.PID = "http://"+at.String()+"/", os.Getpid()
	if at.IP.IsUnspecified() {
		d.URL = fmt.Sprintf("http://localhost:%d/", at.Port)
	}
	data, _ := json.Marshal(d.deskFile) // texts and a number
	if err := disk.ReplaceBytes(d.file, 0o600, data); err != nil {
		d.close()
		return nil, fmt.Errorf("admin: %w", err)
	}
	if d.closed {
		a.warn("the admin listener at %s is open to everybody who can reach this machine and knows the token", listen)
	}
	a.say("dashboard  %s", d.URL)
	return d, nil
}

// readToken returns the content of a token file, or "" where there is none.
func readToken(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fail(exitInvalidInput, "admin.token_file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < leastToken || strings.ContainsAny(token, " \t\r\n") {
		return "", fail(exitInvalidInput, "admin.token_file %s wants one word of at least %d characters. \"openssl rand -hex 20\" makes one", name, leastToken)
	}
	return token, nil
}

// close gives the address up.
func (d *desk) close() {
	if d == nil {
		return
	}
	d.listener.Close()
	os.Remove(d.file)
}

// maxAdminConnections bounds the connections of the admin listener.
const maxAdminConnections = 128

// serve answers until ctx ends.
func (d *desk) serve(ctx context.Context, o monitor.Options, watch *progress) error {
	o.Token, o.Closed, o.Hand, o.Loopback = d.Token, d.closed, !d.given, !d.closed
	admin := monitor.NewAdmin(o)
	defer context.AfterFunc(ctx, admin.Close)()
	watch.admin.Store(admin)
	defer watch.admin.Store(nil)
	return serveHTTP(ctx, netutil.LimitListener(d.listener, maxAdminConnections), admin, 30*time.Second)
}

// adminOptions says what the admin listener shows of a session, and what it
// may do to it; cancel ends the run.
func (s *session) adminOptions(cancel context.CancelCauseFunc) monitor.Options {
	o := monitor.Options{
		Board: s.watch.Board, Version: version, Region: s.region.Name, Outline: s.region.Area,
		Language: searchpage.Language, Features: predictor.Families(),
		Terms: s.terms, Next: s.next, Explain: s.explain, Extras: s.extras,
		Pause: s.c.Brake.On, Resume: s.c.Brake.Off,
		Stop: func() {
			s.watch.stopping(s.cfg.Fetch.ShutdownGrace)
			cancel(errAsked)
		},
		Checkpoint: func() error { return s.save(true) },
		Label:      s.label, Seeds: s.addSeeds, Scope: s.web.scope, Ordered: s.ordered,
		Nodes: s.nodes, Troubles: s.troubles,
	}
	if s.web.polite != nil {
		o.Rests = s.rests
	}
	return o
}

// ordered prints an order that counts from now on.
func (s *session) ordered(what string) {
	s.watch.newLine()
	s.a.say("ordered: %s", oneLine(what))
}

func (s *session) terms(depth int, feature string, n int) []monitor.Term {
	terms := []monitor.Term{}
	for _, w := range s.model.Top(depth, feature, n) {
		family, word, _ := strings.Cut(w.Term, ":")
		terms = append(terms, monitor.Term{Feature: family, Word: word, LogOdds: w.LogOdds, Relevant: w.Relevant, Other: w.Other})
	}
	return terms
}

func (s *session) next(n int) ([]monitor.Link, error) {
	entries, err := s.f.Front(n)
	links := []monitor.Link{}
	for _, e := range entries {
		links = append(links, monitor.Link{URL: e.URL.String(), Priority: e.Priority, Anchor: e.Anchor, Distance: e.Distance})
	}
	return links, err
}

// node finds what the crawl knows about a URL.
func (s *session) node(text string) (n frontier.Node, err error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return n, fmt.Errorf("%.80q is no URL: %w", text, monitor.ErrUnknown)
	}
	n, known, err := s.f.Get(frontier.KeyOf(u))
	if err == nil && !known {
		err = fmt.Errorf("never seen: %.200q is %w", text, monitor.ErrUnknown)
	}
	return n, err
}

func (s *session) explain(text string) (any, error) {
	n, err := s.node(text)
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
	n, err := s.node(text)
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

func (s *session) rests(hosts []string) []monitor.Rest {
	rests := make([]monitor.Rest, len(hosts))
	for i, r := range s.web.polite.Look(hosts...) {
		state := "ready"
		switch {
		case r.Asked:
			state = "asked"
		case r.Backoff:
			state = "backoff"
		case r.Wait > 0:
			state = "waiting"
		}
		rests[i] = monitor.Rest{State: state, Wait: round(r.Wait.Seconds(), 1)}
	}
	return rests
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
		err = s.places.StreetsIn(ctx, s.region, func(street gazetteer.Place, houses int) error {
			board.List(street, houses)
			return nil
		})
		if err == nil {
			board.Listed(func(address string, known func(string) bool) string { return streetOf(s.places, address, known) })
			err = s.f.Outcomes(ctx, func(o frontier.Outcome) error {
				for _, address := range o.Kept() {
					board.Known(address)
				}
				return nil
			})
		}
		if err == nil {
			board.Counted()
		}
	}
	if err != nil && !errors.Is(err, enough) && ctx.Err() == nil {
		s.a.warn("the coverage of streets is not shown: %s", oneLine(err.Error()))
	}
	return nil
}
