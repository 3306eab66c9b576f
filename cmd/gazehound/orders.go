package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
	"gazehound/internal/problem"
)

// recallOrders takes over the orders of the runs before.
func (a *app) recallOrders(w *web, f *frontier.Frontier) error {
	n, err := w.scope.Restore(f)
	if n > 0 {
		a.say("orders     %s of \"gazehound ctl\" from before %s on; \"gazehound ctl orders\" shows them", count(n), map[bool]string{true: "goes", false: "go"}[n == 1])
	}
	return err
}

// reload reads the configuration again and applies its delays, its include and
// exclude, its hosts and its log level; everything else counts at the next start.
// The standing orders stay above it.
func (a *app) reload(w *web, watch *progress) {
	defer watch.newLine()
	watch.newLine()
	level := a.level.Level()
	reader := *a // messages keep their format, for others write some meanwhile
	cfg, err := reader.config()
	if err == nil && w.polite != nil && cfg.Fetch.Delay == 0 && !onLoopback(cfg, nil) {
		err = errors.New("fetch.delay 0s is for loopback only")
	}
	if err == nil {
		err = w.scope.Reload(scopeRules(cfg, w.options))
	}
	if err != nil {
		a.level.Set(level)
		a.warn("SIGHUP: the configuration stays as it was: %s", oneLine(err.Error()))
		return
	}
	a.say("SIGHUP: delay %v, %d hosts with settings of their own, %d exclude and %d include patterns, log level %s",
		cfg.Fetch.Delay, len(cfg.Hosts), len(cfg.Crawl.Exclude), len(cfg.Crawl.Include), strings.ToLower(a.level.Level().String()))
}

// seedURLs parses all texts or says which of them is no URL.
func seedURLs(texts []string) (urls []weburl.URL, err error) {
	for _, text := range texts {
		u, err := weburl.Parse(text)
		if err != nil {
			return nil, problem.Bad("urls", text, fmt.Sprintf("absolute URLs with http or https, of at most %d bytes", weburl.MaxLength), oneLine(err.Error()))
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// addSeeds puts start URLs into the queue of the running crawl, or into those of
// the nodes that own them. They are durable when it returns.
func (s *session) addSeeds(ctx context.Context, texts []string) (taken monitor.SeedsTaken, err error) {
	given, err := seedURLs(texts)
	if err != nil {
		return taken, err
	}
	taken.Refused = []monitor.RefusedSeed{}
	var urls []weburl.URL
	for _, u := range given {
		if reason := s.web.scope.Check(u); reason != "" {
			taken.Refused = append(taken.Refused, monitor.RefusedSeed{URL: u.String(), Reason: reason})
		} else {
			urls = append(urls, u)
		}
	}
	if taken.Taken = len(urls); taken.Taken == 0 {
		return taken, nil
	}
	if taken.New, err = s.c.Seed(context.WithoutCancel(ctx), urls); err != nil {
		return taken, err
	}
	s.watch.newLine()
	s.a.say("given %s, %s new", several(taken.Taken, "seed"), count(taken.New))
	return taken, nil
}

// nodes says who works on the crawl: the nodes of the cluster, or this one
// alone.
func (s *session) nodes(ctx context.Context) (any, error) {
	if n, ok := s.c.Peers.(*cluster.Node); ok {
		now, err := n.Status(ctx)
		if err != nil {
			return nil, err
		}
		return cluster.Summarize(now, s.cfg.Cluster.Crawl), nil
	}
	name, err := nodeName(s.cfg)
	if err != nil {
		return nil, err
	}
	t := s.f.Totals()
	state := cluster.NodeRunning
	if s.c.Brake.Held() {
		state = cluster.NodePaused
	}
	m := cluster.Member{Name: name, At: time.Now(), Idle: t.Queued == 0, Queued: t.Queued, Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Visited: t.Visited, Paused: s.c.Brake.Held()}
	return &cluster.Summary{Type: "cluster", Alone: true, Definition: cluster.Definition{Region: s.region.Name}, Nodes: []cluster.NodeSummary{{Member: m, State: state}},
		Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Queued: t.Queued}, nil
}
