package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/monitor"
	"gazehound/index"
	"gazehound/index/api"
	"gazehound/index/export"
	searchpage "gazehound/index/web"
	"gazehound/internal/problem"
	"gazehound/internal/schedule"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

// "gazehound run" is "serve" for as long as it runs, and beside it a crawl for each round of the
// schedule: "crawl --stay" where that is continuous, else "crawl --revisit". Between rounds the stores
// are free for other commands.

const runHelp = `Runs crawl and server as one service: one process, one data directory, one port. The
server is "gazehound serve"; beside it rounds of the crawl follow --schedule, in the time
of this machine:
  continuous          one after the other, each --round long, as "crawl --stay 1h"
  22:00-06:00         every day between these times
  22:00               every day from then on, until nothing is left
  "Sun 02:00-08:00"   every week; without an end until nothing is left
A round is "crawl --revisit": pages that are due, then new links. After it the model is
retrained, which replaces it where that is better, and --exports gets what was found, in
files addresses.FORMAT that are replaced at once. A round that fails is tried again after
a minute; the server goes on. Between rounds other commands may change the data.

The operator's pages, which are the dashboard of the crawl while a round runs, are below
/operator/ on the same port. Everything there requires the token of admin.token_file,
else that of admin.json in the data directory. "ctl stop" ends the service, also between
rounds. The page /corrections, also between rounds, lists what a person should look at;
with the same token it and every card of the search take corrections, of which the crawl
learns.

SIGHUP reads the configuration again: run and everything that a crawl reads apply at the
next round, and what "crawl" applies at once does so here; serve and admin apply at the
next start. SIGTERM finishes pages and answers, and saves.

Exit status: 0 stopped, 4 unusable input at the start, 10 no data, 13 second signal.

Examples:
  gazehound run --contact https://your-site.example/bot
  gazehound run --schedule 22:00-06:00 --exports /srv/exports
  gazehound run --schedule "Sun 02:00" --export-format csv --export-format html --exports exports
  gazehound run --check --listen 127.0.0.1:8090
`

func newRunCommand(a *app) *cobra.Command {
	var o crawlOptions
	var check bool
	cmd := command("run", "Crawl by a schedule and serve, as one service", runHelp, noArgs,
		func(ctx context.Context, args []string) error {
			if check {
				return a.checkService(ctx)
			}
			if err := o.validate(); err != nil {
				return err
			}
			return a.runService(ctx, o)
		})
	f := cmd.Flags()
	add := func(keys ...string) { config.All().AddFlags(f, keys...) }
	add("run.schedule", "run.round", "run.exports", "run.formats", "serve.listen")
	f.StringArrayVar(&o.seeds, "seed", nil, "seed `URL` (repeatable)")
	add("seeds.files", "region.boundary", "crawl.max_pages", "fetch.contact", "fetch.delay", "fetch.workers",
		"fetch.proxy", "warc.dir")
	f.DurationVar(&o.stats, "stats", 5*time.Minute, "time between status lines where there is no terminal")
	f.BoolVar(&check, "check", false, "only ask whether the service at --listen is well, for health checks")
	return cmd
}

// A service is the state of "gazehound run".
type service struct {
	a        *app
	o        crawlOptions
	cfg      *Config
	operator *operator
	done     time.Time     // end of the last window that had its round
	reload   chan struct{} // the configuration is to be read again
}

// An operator is the part of the service's port that is for its operator: dashboard and control of
// the round that runs.
type operator struct {
	*monitor.Listener
	end     func()                        // ends the service
	stopper http.Handler                  // calls it between rounds
	admin   atomic.Pointer[monitor.Admin] // nil: no round runs
	next    atomic.Pointer[string]        // when one will
}

// operatorPath is where the operator's pages are.
const operatorPath = "/operator/"

// ServeHTTP answers what is asked below operatorPath.
func (op *operator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if admin := op.admin.Load(); admin != nil {
		http.StripPrefix(strings.TrimSuffix(operatorPath, "/"), admin).ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.URL.Path == operatorPath+monitor.StopPath {
		op.stopper.ServeHTTP(w, r)
		return
	}
	p := problem.Problem{Status: http.StatusServiceUnavailable, Title: "no round of the crawl is running"}
	if next := op.next.Load(); next != nil {
		p.Detail = *next
	}
	p.Write(w, r)
}

// runService serves, and crawls by the schedule, until a signal or an order ends it.
func (a *app) runService(ctx context.Context, o crawlOptions) (err error) {
	p, cfg, err := a.project()
	if err == nil {
		err = checkFormats(cfg)
	}
	if err != nil {
		return err
	}
	token, err := monitor.ReadToken(cfg.Admin.TokenFile)
	if err != nil {
		return fail(badInput, "admin.token_file: %w", err)
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &service{a: a, o: o, cfg: cfg, operator: &operator{end: cancel}, reload: make(chan struct{}, 1)}
	s.operator.Listener, err = monitor.Share(strings.TrimSuffix(pageURL(l), "/")+operatorPath, token, p.admin())
	if err != nil {
		return err
	}
	defer s.operator.Close()
	s.operator.stopper = s.operator.Stopper(cancel)
	a.say("dashboard    %s  while a round runs; it asks for the token of admin.token_file, else that in %s",
		s.operator.URL, p.admin())
	a.say("corrections  %s  with the same token", strings.TrimSuffix(pageURL(l), "/")+searchpage.CorrectionsPath)
	defer onSignals(func(n int) {
		if n > 1 {
			endNow()
		}
		cancel()
	}, os.Interrupt, syscall.SIGTERM)()
	defer onSignals(func(int) {
		select {
		case s.reload <- struct{}{}:
		default:
		}
	}, syscall.SIGHUP)()
	return s.run(ctx, x, l)
}

// run serves and crawls until ctx ends or one of both fails; the server ends last.
func (s *service) run(ctx context.Context, x api.Source, l net.Listener) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	server, cfg := *s.a, s.cfg // copies: a round reads the configuration again
	go func() {
		defer cancel()
		served <- server.serveWith(serving, x, cfg, serveOptions{l: l, operator: s.operator})
	}()
	err := s.rounds(ctx)
	stop()
	return errors.Join(err, <-served)
}

// retryRound is the time after which a round that failed is tried again while its window is open.
const retryRound = time.Minute

// rounds crawls by the schedule until ctx ends. It returns an error if the first round, begun at the
// start, cannot crawl at all; later failures are told, and the server goes on.
func (s *service) rounds(ctx context.Context) error {
	w := s.next()
	for first := true; ; first = false {
		atOnce := !w.Start.After(time.Now())
		reloaded := s.wait(ctx, w)
		if ctx.Err() != nil {
			return nil
		} else if reloaded {
			w = s.next()
			continue
		}
		s.event(fields{"state": "started", "end": jsonTime(w.End)})
		err := s.round(ctx, w)
		kind := kindOf(err)
		s.event(fields{"state": "ended", "exit_code": kind.code()})
		switch {
		case ctx.Err() != nil, kind == interrupted: // by a signal, or by "gazehound ctl stop"
			return nil
		case first && atOnce && (kind == badInput || kind == badUsage || kind == noData):
			return err
		case kind == success, kind == timeLimit:
			s.conclude(ctx)
			s.done = w.End
		default:
			s.warnFailed(err, kind.code())
			w.Start = time.Now().Add(retryRound)
			if w.End.IsZero() || w.Start.Before(w.End) {
				continue
			}
		}
		s.reread()
		w = s.next()
	}
}

// next returns the window of the next round.
func (s *service) next() schedule.Window {
	from := time.Now()
	if s.done.After(from) && !s.schedule().Continuous() {
		from = s.done
	}
	w := s.schedule().Next(from)
	if s.schedule().Continuous() {
		w.End = w.Start.Add(s.cfg.Run.Round)
	}
	return w
}

func (s *service) schedule() schedule.Schedule {
	plan, err := schedule.Parse(s.cfg.Run.Schedule)
	if err != nil {
		panic(err) // it was validated
	}
	return plan
}

// wait waits until the window opens, or less if the configuration was read again.
func (s *service) wait(ctx context.Context, w schedule.Window) (reloaded bool) {
	left := time.Until(w.Start)
	if left > 0 {
		text := fmt.Sprintf("The next round begins at %s.", w.Start.Format("Monday 2006-01-02 15:04 MST"))
		s.operator.next.Store(&text)
		s.a.say("%s", text)
		s.event(fields{"state": "waiting", "start": jsonTime(w.Start)})
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-s.reload:
		if s.reread() {
			s.a.say("SIGHUP: schedule %s, round %v, exports %q. What serve and admin say applies at the next start",
				s.cfg.Run.Schedule, s.cfg.Run.Round, s.cfg.Run.Exports)
		}
		return true
	case <-timer.C:
		return false
	}
}

// reread reads the configuration again; one with an error changes nothing.
func (s *service) reread() bool {
	reader := *s.a // a copy: other goroutines write messages
	cfg, err := reader.config()
	if err == nil {
		err = checkFormats(cfg)
	}
	if err != nil {
		s.a.warn("the configuration stays as it was: %s", oneLine(err.Error()))
		return false
	}
	s.cfg = cfg
	return true
}

// staying is how often a continuous round revisits pages.
const staying = time.Hour

// round crawls until nothing is left or the window ends.
func (s *service) round(ctx context.Context, w schedule.Window) (err error) {
	o := s.o
	o.operator, o.serve, o.revisit = s.operator, noAdmin, true
	if s.schedule().Continuous() {
		o.stay = min(staying, s.cfg.Run.Round)
	}
	timed := ctx
	if !w.End.IsZero() {
		var stop context.CancelFunc
		timed, stop = context.WithDeadlineCause(ctx, w.End, errRound)
		defer stop()
	}
	for {
		err := s.a.crawlOnce(timed, o)
		if errors.Is(err, errLent) {
			err = s.a.untilReturned(timed)
			if err == nil {
				continue
			}
		}
		if kindOf(err) == interrupted && errors.Is(context.Cause(timed), errRound) {
			return nil
		}
		return err
	}
}

// conclude retrains and exports after a round.
func (s *service) conclude(ctx context.Context) {
	err := s.a.retrain(ctx, nil, retrainOptions{})
	if err != nil && ctx.Err() == nil && !errors.Is(err, predictor.ErrNoExamples) {
		s.a.warn("retrain: %s", oneLine(err.Error()))
	}
	err = s.export(ctx)
	if err != nil && ctx.Err() == nil {
		s.a.warn("exports: %s", oneLine(err.Error()))
	}
}

// export writes the files of run.exports, each at once or not at all.
func (s *service) export(ctx context.Context) error {
	folder := s.cfg.Run.Exports
	if folder == "" {
		return nil
	}
	err := os.MkdirAll(folder, 0o755)
	if err != nil {
		return err
	}
	return s.a.readIndex(func(p project, x *index.Index) error {
		for _, name := range s.cfg.Run.Formats {
			format, _ := export.Lookup(name) // checkFormats
			flags := exportOptions{output: filepath.Join(folder, "addresses."+format.Name)}
			err := s.a.exportIndex(ctx, s.cfg, p, x, format, flags, export.Options{})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// checkFormats returns an error for a format in run.formats that is not offered.
func checkFormats(cfg *Config) error {
	for _, name := range cfg.Run.Formats {
		if _, err := formatOf([]string{name}); err != nil {
			return fail(badInput, "%s: %w", cfg.origin.Where("run.formats"), err)
		}
	}
	return nil
}

// warnFailed says why a round did not end well.
func (s *service) warnFailed(err error, code int) {
	text := oneLine(err.Error())
	if text == "" { // it was printed
		text = fmt.Sprintf("exit status %d of \"gazehound crawl\"", code)
	}
	s.a.warn("the round failed and is tried again: %s", text)
}

// event prints an event of a round with --json.
func (s *service) event(event fields) {
	if s.a.json {
		event["type"] = "round"
		s.a.printJSON(event)
	}
}

// jsonTime is a time for programs, nil for none.
func jsonTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.RFC3339)
}

// checkService asks the service at serve.listen whether it is well.
func (a *app) checkService(ctx context.Context) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(cfg.Serve.Listen)
	if err != nil {
		return listenError(err, cfg.Serve.Listen, "--listen")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		return fail(unexpected, "the service does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fail(unexpected, "the service is not well: %s", response.Status)
	}
	return a.tell(fields{"type": "check", "status": "ok"}, "ok\n")
}
