package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
)

// ordersKey is the name under which the frontier keeps the standing orders.
const ordersKey = "orders"

// Bounds of the standing orders, each.
const (
	maxOrderedHosts    = 1000
	maxOrderedPatterns = 1000
)

// Standing orders are those of "ctl delay" and "ctl exclude". They belong to
// the crawl, outlive its runs, and stand above the configuration: they make
// delays longer and the scope smaller, never the other way round.
type standing struct {
	Delay   time.Duration        `json:"delay_ns,omitzero"` // between requests to one host; 0: as configured
	Hosts   map[string]hostOrder `json:"hosts,omitempty"`
	Exclude []string             `json:"exclude,omitempty"` // regular expressions on the URL
}

// A hostOrder is what was ordered of one host, or of all below "*.".
type hostOrder struct {
	Delay time.Duration `json:"delay_ns,omitzero"` // 0: as configured
	Skip  bool          `json:"skip,omitzero"`
}

// count says how many orders there are.
func (st standing) count() int {
	n := len(st.Exclude)
	if st.Delay > 0 {
		n++
	}
	for _, h := range st.Hosts {
		if h.Delay > 0 {
			n++
		}
		if h.Skip {
			n++
		}
	}
	return n
}

// ordersView is how GET /v1/crawl/orders shows the standing orders.
type ordersView struct {
	Delay   string                   `json:"delay"` // between requests to one host, as configured or ordered
	Ordered bool                     `json:"delay_ordered"`
	Hosts   map[string]hostOrderView `json:"hosts"`
	Exclude []string                 `json:"exclude"`
}

type hostOrderView struct {
	Delay string `json:"delay,omitempty"`
	Skip  bool   `json:"skip,omitempty"`
}

// orders are what may change while a crawl runs: what SIGHUP reads again, and
// the standing orders above it.
type orders struct {
	cfg *Config // of this: delays, crawl.include and exclude, hosts, blocked.txt
	standing
	configured func(weburl.URL) (reason string)
	ordered    *patterns // of standing.Exclude; nil: none
}

// reasonOrdered is why a page was skipped that an order of "ctl exclude" leaves out.
const reasonOrdered = "by_order"

// barred returns why an order or blocked.txt keeps everybody from a URL, even
// from a seed, or "".
func (o *orders) barred(u weburl.URL) (reason string) {
	if o.cfg.blocked.Has(u) {
		return frontier.ReasonForgotten
	}
	if h, ok := forHost(o.Hosts, u); ok && h.Skip {
		return reasonOrdered
	}
	if o.ordered != nil && o.ordered.reason(u.String()) != "" {
		return reasonOrdered
	}
	return ""
}

// scope returns why a URL is outside of the crawl, or "".
func (w *web) scope(u weburl.URL) (reason string) {
	o := w.orders.Load()
	if reason := o.barred(u); reason != "" {
		return reason
	}
	return o.configured(u)
}

// delay returns the longest that the hosts section and the orders want of the
// host of u.
func (o *orders) delay(u weburl.URL) time.Duration {
	configured, _ := forHost(o.cfg.Hosts, u)
	ordered, _ := forHost(o.Hosts, u)
	return max(configured.Delay, ordered.Delay)
}

// follow lets the crawl go by a configuration and the orders above it.
func (w *web) follow(cfg *Config, st standing) error {
	o := &orders{cfg: cfg, standing: st}
	var err error
	if o.configured, err = newScope(cfg, w.options, nil); err != nil {
		return err
	}
	if len(st.Exclude) > 0 {
		if o.ordered, err = orderedPatterns(st.Exclude); err != nil {
			return err
		}
	}
	if w.polite != nil {
		delay, longest := max(cfg.Fetch.Delay, st.Delay), longestDelay(cfg)
		for _, h := range st.Hosts {
			longest = max(longest, h.Delay)
		}
		if err := w.polite.SetDelay(delay, cfg.Fetch.AdaptiveDelay && delay > 0, longest); err != nil {
			return err
		}
	}
	w.orders.Store(o)
	return nil
}

func orderedPatterns(exclude []string) (*patterns, error) {
	p := &patterns{seed: maphash.MakeSeed()}
	for _, text := range exclude {
		e, err := regexp.Compile("(?i)" + text)
		if err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		p.exclude = append(p.exclude, e)
	}
	return p, nil
}

// recallOrders takes over the orders of the runs before.
func (a *app) recallOrders(w *web, f *frontier.Frontier) error {
	st, err := readOrders(f)
	if err != nil {
		return err
	}
	if n := st.count(); n > 0 {
		a.say("orders     %s of \"gazehound ctl\" from before %s on; \"gazehound ctl orders\" shows them", count(n), map[bool]string{true: "goes", false: "go"}[n == 1])
	}
	return w.follow(w.orders.Load().cfg, st)
}

// readOrders returns the standing orders of a crawl.
func readOrders(f *frontier.Frontier) (st standing, err error) {
	err = restore(f, ordersKey, func(data []byte) error {
		if err := json.Unmarshal(data, &st); err != nil {
			return fmt.Errorf("standing orders: %w", err)
		}
		return nil
	})
	return st, err
}

// reload reads the configuration again and goes on with its delays, its
// include and exclude, its hosts and its log level; everything else counts at
// the next start. The standing orders stay above it.
func (a *app) reload(w *web, watch *progress) {
	defer watch.newLine()
	watch.newLine()
	level := a.level.Level()
	reader := *a // the format of what is said stays, for others say something meanwhile
	cfg, err := reader.config(crawlFlags)
	if err == nil && w.polite != nil && cfg.Fetch.Delay == 0 && !onLoopback(cfg, nil) {
		err = errors.New("fetch.delay 0s is for loopback only")
	}
	if err == nil {
		w.changing.Lock()
		err = w.follow(cfg, w.orders.Load().standing)
		w.changing.Unlock()
	}
	if err != nil {
		a.level.Set(level)
		a.warn("SIGHUP: the configuration stays as it was: %s", oneLine(err.Error()))
		return
	}
	a.say("SIGHUP: delay %v, %d hosts with settings of their own, %d exclude and %d include patterns, log level %s",
		cfg.Fetch.Delay, len(cfg.Hosts), len(cfg.Crawl.Exclude), len(cfg.Crawl.Include), strings.ToLower(a.level.Level().String()))
}

// command changes the standing orders: they are kept before they count.
func (s *session) command(what string, change func(cfg *Config, st *standing) error) error {
	s.web.changing.Lock()
	defer s.web.changing.Unlock()
	o := s.web.orders.Load()
	st := standing{Delay: o.Delay, Hosts: maps.Clone(o.Hosts), Exclude: slices.Clone(o.Exclude)}
	if st.Hosts == nil {
		st.Hosts = map[string]hostOrder{}
	}
	if err := change(o.cfg, &st); err != nil {
		return err
	}
	maps.DeleteFunc(st.Hosts, func(_ string, h hostOrder) bool { return h == hostOrder{} })
	data, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("standing orders: %w", err)
	}
	if err := s.f.PutMeta(ordersKey, data); err != nil {
		return err
	}
	if err := s.web.follow(o.cfg, st); err != nil {
		return err
	}
	s.watch.newLine()
	s.a.say("ordered: %s", oneLine(what))
	return nil
}

// badOrder says that a part of an order is not what it must be.
func badOrder(part, given, expected, hint string) error {
	return &monitor.Problem{Title: fmt.Sprintf("%s must be %s, got %.80q", part, expected, given), Parameter: part, Given: fmt.Sprintf("%.200s", given), Expected: expected, Hint: hint}
}

// tooMany says that there is no room for another order.
func tooMany(what string, most int) error {
	return &monitor.Problem{Status: http.StatusConflict, Title: fmt.Sprintf("there are %d %s with orders, and no room for more", most, what), Hint: "take some back, or write them into config.yaml: crawl.exclude and hosts"}
}

// noOrder says that there is nothing to take back.
func noOrder(what string) error {
	return &monitor.Problem{Status: http.StatusNotFound, Title: fmt.Sprintf("no order leaves out %.200q", what), Given: what, Hint: "\"gazehound ctl orders\" and /v1/crawl/orders show what was ordered; crawl.exclude and hosts are in config.yaml"}
}

// hostOf returns a host, with its port where that is not the usual one, or
// "*." and a name, in the spelling that URLs have.
func hostOf(text string) (name string, ok bool) {
	name, below := strings.CutPrefix(strings.TrimSpace(text), "*.")
	u, err := weburl.Parse("http://" + name)
	switch {
	case err != nil || strings.ContainsAny(name, "*/?#@\\ "):
		return "", false
	case below:
		return "*." + u.Hostname(), u.Host() == u.Hostname()
	}
	return u.Host(), true
}

const aHost = "a host name such as www.example.org, or *.example.org"

// setDelay makes the delay of all hosts or of one longer, or takes that back.
func (s *session) setDelay(o monitor.DelayOrder) error {
	if s.web.polite == nil {
		return &monitor.Problem{Status: http.StatusConflict, Title: "this crawl reads recorded pages: nobody is asked, so there is no delay"}
	}
	if o.Host == "" {
		return s.command(fmt.Sprintf("delay %v", o.Delay), func(cfg *Config, st *standing) error {
			if o.Delay > 0 && o.Delay < cfg.Fetch.Delay {
				return badOrder("delay", o.Delay.String(), fmt.Sprintf("at least %v, which is fetch.delay, or 0s", cfg.Fetch.Delay), "an order makes a crawl more patient, never less: fetch.delay in config.yaml and SIGHUP change it")
			}
			if st.Delay = o.Delay; st.Delay == cfg.Fetch.Delay {
				st.Delay = 0
			}
			return nil
		})
	}
	host, ok := hostOf(o.Host)
	if !ok {
		return badOrder("host", o.Host, aHost, "")
	}
	return s.command(fmt.Sprintf("delay %v for %s", o.Delay, host), func(cfg *Config, st *standing) error {
		least := max(cfg.Fetch.Delay, hostSettings(cfg, host).Delay)
		if o.Delay > 0 && o.Delay < least {
			return badOrder("delay", o.Delay.String(), fmt.Sprintf("at least %v, which is configured, or 0s", least), "an order makes a crawl more patient, never less: fetch.delay and hosts in config.yaml and SIGHUP change it")
		}
		h, known := st.Hosts[host]
		if !known && len(st.Hosts) >= maxOrderedHosts {
			return tooMany("hosts", maxOrderedHosts)
		}
		h.Delay = o.Delay
		st.Hosts[host] = h
		return nil
	})
}

// hostSettings are those of the hosts section for what hostOf returned.
func hostSettings(cfg *Config, host string) HostConfig {
	if h, ok := cfg.Hosts[host]; ok {
		return h
	}
	u, err := weburl.Parse("http://" + strings.TrimPrefix(host, "*.") + "/")
	if err != nil {
		return HostConfig{}
	}
	h, _ := forHost(cfg.Hosts, u)
	return h
}

// exclude takes a pattern or a host out of the crawl, or takes that back.
func (s *session) exclude(o monitor.ExcludeOrder) error {
	if o.Host != "" {
		host, ok := hostOf(o.Host)
		if !ok {
			return badOrder("host", o.Host, aHost, "")
		}
		what := map[bool]string{false: "leave out ", true: "take in again "}[o.Undo]
		return s.command(what+host, func(_ *Config, st *standing) error {
			h, known := st.Hosts[host]
			switch {
			case o.Undo && !h.Skip:
				return noOrder(host)
			case !known && len(st.Hosts) >= maxOrderedHosts:
				return tooMany("hosts", maxOrderedHosts)
			}
			h.Skip = !o.Undo
			st.Hosts[host] = h
			return nil
		})
	}
	if o.Undo {
		return s.command("take in again "+o.Pattern, func(_ *Config, st *standing) error {
			at := slices.Index(st.Exclude, o.Pattern)
			if at < 0 {
				return noOrder(o.Pattern)
			}
			st.Exclude = slices.Delete(st.Exclude, at, at+1)
			return nil
		})
	}
	const aPattern = "a regular expression such as /calendar/"
	e, err := regexp.Compile(o.Pattern)
	if err != nil {
		return badOrder("pattern", o.Pattern, aPattern, oneLine(err.Error()))
	}
	if e.MatchString("") {
		return badOrder("pattern", o.Pattern, aPattern, "this one fits every URL, or none; pause or stop holds the whole crawl")
	}
	return s.command("leave out "+o.Pattern, func(_ *Config, st *standing) error {
		switch {
		case slices.Contains(st.Exclude, o.Pattern):
			return nil
		case len(st.Exclude) >= maxOrderedPatterns:
			return tooMany("patterns", maxOrderedPatterns)
		}
		st.Exclude = append(st.Exclude, o.Pattern)
		return nil
	})
}

// orders shows the standing orders.
func (s *session) orders() any {
	o := s.web.orders.Load()
	v := ordersView{Delay: max(o.cfg.Fetch.Delay, o.Delay).String(), Ordered: o.Delay > o.cfg.Fetch.Delay, Hosts: map[string]hostOrderView{}, Exclude: append([]string{}, o.Exclude...)}
	for name, h := range o.Hosts {
		text := ""
		if h.Delay > 0 {
			text = h.Delay.String()
		}
		v.Hosts[name] = hostOrderView{text, h.Skip}
	}
	return v
}

// seedURLs parses all texts or says which of them is no URL.
func seedURLs(texts []string) (urls []weburl.URL, err error) {
	for _, text := range texts {
		u, err := weburl.Parse(text)
		if err != nil {
			return nil, badOrder("urls", text, fmt.Sprintf("absolute URLs with http or https, of at most %d bytes", weburl.MaxLength), oneLine(err.Error()))
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
		if reason := s.web.scope(u); reason != "" {
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
		return statusOfCluster(now, s.cfg.Cluster.Crawl), nil
	}
	name, err := nodeName(s.cfg)
	if err != nil {
		return nil, err
	}
	t := s.f.Totals()
	state := crawlRuns
	if s.c.Brake.Held() {
		state = nodePaused
	}
	m := cluster.Member{Name: name, At: time.Now(), Idle: t.Queued == 0, Queued: t.Queued, Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Visited: t.Visited, Paused: s.c.Brake.Held()}
	return &clusterStatus{Type: "cluster", Alone: true, Definition: cluster.Definition{Region: s.region.Name}, Nodes: []nodeStatus{{Member: m, State: state}},
		Pages: t.Pages, Relevant: t.Relevant, Addresses: t.Addresses, Queued: t.Queued}, nil
}
