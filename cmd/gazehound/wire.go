package main

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/internal/config"
	"gazehound/predictor"

	"github.com/spf13/pflag"
)

// A web is where a crawl gets its pages from, with the manners that go with it.
type web struct {
	fetcher crawler.Fetcher
	gate    crawler.Gate
	close   func()
	polite  *polite.Gate                                                 // the gate, or nil: recorded pages ask nobody
	resolve func(ctx context.Context, host string) ([]netip.Addr, error) // nil: only hosts are spared
	options crawlOptions
	scope   *crawler.Scope

	frontier atomic.Pointer[frontier.Frontier] // that keeps the rules of hosts; nil: not yet
}

// openWeb returns the live web, or the recorded one of --replay.
func (a *app) openWeb(cfg *Config, o crawlOptions, region *gazetteer.Region, seeds []weburl.URL) (*web, error) {
	if len(o.replay) > 0 {
		archive, err := a.openRecorded(cfg, false, o.replay...)
		if err != nil {
			return nil, err
		}
		archive.ContentTypes = cfg.Fetch.ContentTypes
		w := &web{options: o, fetcher: archive, gate: crawler.Open{}, close: func() { archive.Close() }}
		w.scope, err = newScope(cfg, o)
		return w, err
	}
	if needContact(cfg, o, seeds) {
		return nil, fail(exitInvalidInput, "no contact address. Site owners must be able to reach you. Set fetch.contact in config.yaml or --contact https://… (a page that says who crawls and why)")
	}
	if cfg.Fetch.Delay == 0 && !onLoopback(cfg, seeds) {
		return nil, fail(exitInvalidInput, "fetch.delay 0s is for loopback only: with --allow-private-addresses, --replay or a proxy on loopback")
	}
	options, err := fetchOptions(cfg, region.Name)
	if err != nil {
		return nil, err
	}
	options.OwnPort = listensOn
	client, err := fetch.New(options)
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	rules := robots.DefaultOptions()
	rules.Agent, rules.MaxDelay = cfg.Fetch.UserAgentName, cfg.Fetch.MaxCrawlDelay
	rules.Retry, rules.RetryMax = retryWait(cfg), max(cfg.Fetch.BackoffMax, retryWait(cfg))
	rules.Hosts = min(rules.Hosts, int(cfg.Storage.Memory)/rulesShare/siteBytes) // the frontier has the others
	rules.Memory = min(rules.Memory, int64(cfg.Storage.Memory)/rulesShare)
	w := &web{options: o, fetcher: client}
	if w.scope, err = newScope(cfg, o); err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	rules.Load = func(site string) (data []byte) {
		if f := w.frontier.Load(); f != nil {
			data, _ = f.Meta(robotsKey(site)) // what cannot be read is fetched again
		}
		return data
	}
	rules.Save = func(site string, data []byte) {
		if f := w.frontier.Load(); f != nil {
			f.PutMeta(robotsKey(site), data) // a store that fails ends the crawl at the next visit
		}
	}
	manners := polite.DefaultOptions()
	manners.Delay, manners.AdaptiveDelay, manners.MaxDelay = cfg.Fetch.Delay, cfg.Fetch.AdaptiveDelay && cfg.Fetch.Delay > 0, longestDelay(cfg)
	manners.AtOnce, manners.Fetch, manners.Robots = cfg.Fetch.Workers, client.FetchPrefix, &rules
	manners.Barred = w.scope.Barred // a seed, or of a crawl that has forgotten it since
	manners.HostDelay = w.scope.HostDelay
	manners.BackoffStart, manners.BackoffMax = cfg.Fetch.BackoffStart, cfg.Fetch.BackoffMax
	if cfg.Fetch.Proxy == "" && cfg.Fetch.Delay > 0 { // without a delay all hosts are on one loopback address
		manners.Resolve = client.Resolve
	}
	gate, err := polite.New(manners)
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	w.gate, w.polite, w.resolve = gate, gate, manners.Resolve
	w.close = func() {
		if err := gate.Close(); err != nil {
			a.warn("%s", oneLine(err.Error()))
		}
		client.Close()
	}
	w.scope.SetDelay = gate.SetDelay
	return w, nil
}

// listening has the ports that this process listens on, uint16 → true.
var listening sync.Map

func listensOn(port uint16) bool {
	_, ok := listening.Load(port)
	return ok
}

// retryWait is the wait before a failure that may pass is tried again.
func retryWait(cfg *Config) time.Duration { return max(10*cfg.Fetch.Delay, 100*time.Millisecond) }

// longestDelay is the longest one that robots.txt or the hosts section may ask for.
func longestDelay(cfg *Config) time.Duration {
	longest := cfg.Fetch.MaxCrawlDelay
	for _, h := range cfg.Hosts {
		longest = max(longest, h.Delay)
	}
	return longest
}

// remember takes over what the runs before knew of hosts, their rests and
// their rules, and keeps it for the next one.
func (w *web) remember(p project, f *frontier.Frontier) error {
	if w.polite == nil {
		return nil
	}
	w.frontier.Store(f)
	return w.polite.Keep(p.politeness())
}

// robotsKey is the name under which the frontier keeps the rules of a site.
func robotsKey(site string) string { return "robots " + site }

// onLoopback tells whether no request of a crawl from these seeds can leave this
// machine.
func onLoopback(cfg *Config, seeds []weburl.URL) bool {
	withoutContact := *cfg
	withoutContact.Fetch.Contact = ""
	return !needContact(&withoutContact, crawlOptions{}, seeds)
}

func fetchOptions(cfg *Config, region string) (fetch.Options, error) {
	o := fetch.DefaultOptions()
	o.UserAgent = fetch.UserAgent(cfg.Fetch.UserAgentName+"/"+version, cfg.Fetch.Contact, region)
	o.Timeout, o.MaxBody, o.MaxHeader = cfg.Fetch.Timeout, int64(cfg.Fetch.MaxBody), int64(cfg.Fetch.MaxHeader)
	o.ContentTypes, o.Proxy, o.AllowPrivate = cfg.Fetch.ContentTypes, cfg.Fetch.Proxy, cfg.Fetch.AllowPrivateAddresses
	o.KeepRaw = cfg.WARC.Dir != ""
	o.Cookies = cfg.Fetch.Cookies == "site"
	own := map[string]fetch.Host{}
	for host, h := range cfg.Hosts {
		password, err := h.ReadPassword(host)
		if err != nil {
			return o, fail(exitInvalidInput, "%w", err)
		}
		own[host] = fetch.Host{Header: h.Header(), Agent: h.UserAgent, User: h.User, Password: password, AllowPlain: h.PlainHTTP}
	}
	o.Host = func(u weburl.URL) fetch.Host {
		h, _ := crawler.ForHost(own, u)
		return h
	}
	return o, nil
}

// newScope returns the test that every link must pass, without orders.
func newScope(cfg *Config, o crawlOptions) (*crawler.Scope, error) {
	return crawler.NewScope(scopeRules(cfg, o))
}

// scopeRules are the rules of the configuration. Without a contact, or without a
// delay, the crawl stays on loopback.
func scopeRules(cfg *Config, o crawlOptions) crawler.ScopeRules {
	r := crawler.ScopeRules{
		Include: cfg.Crawl.Include, Exclude: cfg.Crawl.Exclude, Hosts: map[string]crawler.HostRules{},
		Delay: cfg.Fetch.Delay, Longest: longestDelay(cfg), Adaptive: cfg.Fetch.AdaptiveDelay, Blocked: cfg.blocked.Has,
		Loopback: (cfg.Fetch.Contact == "" || cfg.Fetch.Delay == 0) && len(o.replay) == 0 && cfg.Fetch.Proxy == "",
	}
	for name, h := range cfg.Hosts {
		r.Hosts[name] = crawler.HostRules{Delay: h.Delay, Skip: h.Skip}
	}
	return r
}

// newOrder returns the strategy of the configuration, for a crawl from these
// seeds.
func (a *app) newOrder(p project, cfg *Config, model *predictor.Model, seeds []weburl.URL) (order.Strategy, error) {
	kind, settings, _ := order.Find(cfg.Crawl.Strategy, cfg.Crawl.Settings)
	if err := a.checkStrategyFlags(kind); err != nil {
		return nil, err
	}
	o := order.Options{Settings: settings, Model: model}
	if kind.Logs {
		if err := a.trendOptions(p, cfg, seeds, &o); err != nil {
			return nil, err
		}
	}
	strategy, err := order.New(kind.Name, o)
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	return strategy, nil
}

// checkStrategyFlags refuses flags of another strategy, because they would do
// nothing.
func (a *app) checkStrategyFlags(chosen order.Kind) (err error) {
	a.flags.Visit(func(f *pflag.Flag) {
		key := strings.TrimPrefix(config.KeyOf(f), "crawl.")
		for _, other := range order.Kinds {
			if slices.Contains(other.Keys, key) && !slices.Contains(chosen.Keys, key) {
				err = fail(exitUsage, "--%s belongs to --strategy %s, and the strategy is %s", f.Name, other.Name, chosen.Name)
			}
		}
	})
	return err
}

// What a host's robots.txt takes in memory beside its rules, in bytes, and which
// part of the ceiling is for each of the two.
const (
	siteBytes  = 700
	rulesShare = 48
)

// selectivity is that of the frontier: pages are worth waiting for where their
// number is limited; otherwise time is what a crawl can lose.
func selectivity(cfg *Config) float64 {
	if cfg.Crawl.MaxPages == 0 {
		return 0
	}
	return cfg.Crawl.Selectivity
}

// openFrontier opens the queue and the crawl tree; order scores again what
// reaches the front.
func (a *app) openFrontier(p project, cfg *Config, strategy order.Strategy, traps *trap.Detector) (*frontier.Frontier, error) {
	f, err := frontier.Open(frontier.Options{
		Dir: p.frontier(), Memory: int64(cfg.Storage.Memory / 2), Seed: cfg.Crawl.RandomSeed, MaxPerHost: cfg.Crawl.MaxPagesPerHost,
		PerHost: func(u weburl.URL) int64 {
			h, _ := crawler.ForHost(cfg.Hosts, u)
			return h.MaxPages
		},
		PerPart: perPath(cfg), Selectivity: selectivity(cfg), Await: cfg.Fetch.Delay + frontier.Turn,
		Score: crawler.Rescore(strategy, traps),
	})
	if err != nil {
		return nil, storeError(p, err)
	}
	return f, nil
}

// perPath returns the limits of path prefixes: those of the host's own paths,
// of which the longest counts, and else that of directories at the top.
func perPath(cfg *Config) func(u weburl.URL) (prefix string, most int64) {
	return func(u weburl.URL) (prefix string, most int64) {
		h, _ := crawler.ForHost(cfg.Hosts, u)
		for _, p := range h.Paths {
			if own := p.Canonical(); len(own) > len(prefix) && strings.HasPrefix(u.Path(), own) {
				prefix, most = own, p.MaxPages
			}
		}
		if most > 0 {
			return prefix, most
		}
		prefix = "/"
		if top, _, below := strings.Cut(strings.TrimPrefix(u.Path(), "/"), "/"); below {
			prefix += top + "/"
		}
		return prefix, cfg.Crawl.MaxPagesPerPath
	}
}

// indexSink keeps the relevant pages in the index, but for those that ask not to be
// indexed. Of a page that was read again what is gone is marked as gone; one that
// may not be kept any more is forgotten.
type indexSink struct{ index *index.Index }

// Visit stores what a visit has found.
func (s indexSink) Visit(ctx context.Context, v *crawler.Visit) error {
	url := v.Entry.URL.String()
	indexed := v.Page != nil && !v.Page.NoIndex
	switch {
	case v.Before == nil && indexed && v.Verdict.Relevant:
		return s.index.Put(ctx, documentOf(v))
	case v.Before == nil:
		return nil
	case v.Outcome.Reason == "tdm_reserved", v.Page != nil && !indexed:
		return s.index.Delete(ctx, url)
	case v.Revisit == crawler.Gone:
		return s.index.Renew(ctx, index.Document{URL: url, Fetched: v.Outcome.At})
	case v.Page != nil:
		return s.index.Renew(ctx, documentOf(v))
	}
	return nil
}

func documentOf(v *crawler.Visit) index.Document {
	p := v.Page
	d := index.Document{URL: p.URL.String(), Title: p.Title, Text: p.Text, Lang: p.Lang, Fetched: v.Response.Fetched}
	for _, l := range p.Links {
		d.Links = append(d.Links, l.Anchor)
	}
	if v.Verdict.Relevant {
		d.Addresses = v.Verdict.Addresses
	}
	if p.NoArchive {
		d.BlankText()
	}
	return d
}
