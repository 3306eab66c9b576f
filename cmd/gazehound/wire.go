package main

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/predictor"

	"github.com/spf13/pflag"
)

// A web is where a crawl gets its pages from, live or recorded, with its politeness.
type web struct {
	fetcher crawler.Fetcher
	gate    crawler.Gate
	close   func()
	polite  *polite.Gate                                                 // nil for recorded pages
	resolve func(ctx context.Context, host string) ([]netip.Addr, error) // nil: no delays per IP address
	options crawlOptions
	scope   *crawler.Scope
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
	if err := cfg.CheckManners(seeds); err != nil {
		return nil, invalid(err)
	}
	options, err := cfg.FetchOptions(version)
	if err != nil {
		return nil, invalid(err)
	}
	options.OwnPort = listensOn
	client, err := fetch.New(options)
	if err != nil {
		return nil, invalid(err)
	}
	rules := cfg.RobotsOptions()
	w := &web{options: o, fetcher: client}
	w.scope, err = newScope(cfg, o)
	if err != nil {
		return nil, invalid(err)
	}
	manners := cfg.GateOptions()
	manners.Fetch, manners.Robots = client.FetchPrefix, &rules
	// A seed may be barred, and so may a queued URL that was forgotten since.
	manners.Barred = w.scope.Barred
	manners.HostDelay = w.scope.HostDelay
	// Without a delay all hosts are on one loopback address.
	if cfg.Fetch.Proxy == "" && cfg.Fetch.Delay > 0 {
		manners.Resolve = client.Resolve
	}
	gate, err := polite.New(manners)
	if err != nil {
		return nil, invalid(err)
	}
	w.gate, w.polite, w.resolve = gate, gate, manners.Resolve
	w.close = func() {
		err := gate.Close()
		if err != nil {
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

// remember restores back-offs and robots.txt rules of earlier runs and keeps them for the next.
func (w *web) remember(f *frontier.Frontier) error {
	if w.polite == nil {
		return nil
	}
	return w.polite.Keep(f)
}

// newScope returns the scope that every link must pass, without standing orders.
func newScope(cfg *Config, o crawlOptions) (*crawler.Scope, error) {
	return crawler.NewScope(cfg.scopeRules(o))
}

// scopeRules are the rules of the configuration and of the blocklist.
func (cfg *Config) scopeRules(o crawlOptions) crawler.ScopeRules {
	r := cfg.ScopeRules(len(o.replay) > 0)
	r.Blocked = cfg.blocked.Has
	return r
}

// newOrder returns the strategy of the configuration, for a crawl from these
// seeds.
func (a *app) newOrder(p project, cfg *Config, model *predictor.Model, seeds []weburl.URL) (order.Strategy, error) {
	kind, settings, _ := order.Find(cfg.Crawl.Strategy, cfg.Crawl.Settings)
	err := a.checkStrategyFlags(kind)
	if err != nil {
		return nil, err
	}
	o := order.Options{Settings: settings, Model: model}
	if kind.Logs {
		err := a.trendOptions(p, cfg, seeds, &o)
		if err != nil {
			return nil, err
		}
	}
	strategy, err := order.New(kind.Name, o)
	return strategy, invalid(err)
}

// checkStrategyFlags returns an error for flags of another strategy, because they would do nothing.
func (a *app) checkStrategyFlags(chosen order.Kind) (err error) {
	a.flags.Visit(func(f *pflag.Flag) {
		key := strings.TrimPrefix(config.KeyOf(f), "crawl.")
		for _, other := range order.Kinds {
			if slices.Contains(other.Keys, key) && !slices.Contains(chosen.Keys, key) {
				err = fail(badUsage, "--%s belongs to --strategy %s, and the strategy is %s", f.Name, other.Name,
					chosen.Name)
			}
		}
	})
	return err
}

// openFrontier opens the queue and the crawl tree; strategy scores again what
// reaches the front.
func (a *app) openFrontier(p project, cfg *Config, strategy order.Strategy,
	traps *trap.Detector) (*frontier.Frontier, error) {
	o := cfg.FrontierOptions(p.frontier())
	o.Score = crawler.Rescore(strategy, traps)
	f, err := frontier.Open(o)
	return f, storeError(p, err)
}

// indexSink keeps the relevant pages in the index, except those marked noindex. After a revisit,
// addresses that a page no longer states are marked as gone; a page that may not be kept any more
// is removed.
type indexSink struct {
	index *index.Index
	rater order.PageRater // nil: the strategy rates no pages
}

func newIndexSink(x *index.Index, s order.Strategy) indexSink {
	rater, _ := s.(order.PageRater)
	return indexSink{x, rater}
}

// Visit stores the addresses of a visit.
func (s indexSink) Visit(ctx context.Context, v *crawler.Visit) error {
	url := v.Entry.URL.String()
	indexed := v.Page != nil && !v.Page.NoIndex
	switch {
	case v.Before == nil && indexed && (v.Verdict.Relevant || saysOfHost(&v.Verdict)):
		return s.index.Put(ctx, s.document(v))
	case v.Before == nil:
		return nil
	case v.Outcome.Reason == "tdm_reserved", v.Page != nil && !indexed:
		return s.index.Delete(ctx, url)
	case v.Revisit == crawler.Gone:
		return s.index.Renew(ctx, index.Document{URL: url, Fetched: v.Outcome.At})
	case v.Page != nil:
		return s.index.Renew(ctx, s.document(v))
	}
	return nil
}

// saysOfHost reports whether a page that need not be relevant helps the cards of other pages of its
// host.
func saysOfHost(v *geoparse.Verdict) bool {
	return v.Notes != geoparse.Notes{} || slices.ContainsFunc(v.Addresses, func(a geoparse.Address) bool {
		return a.InRegion && a.Home
	})
}

func (s indexSink) document(v *crawler.Visit) index.Document {
	p := v.Page
	d := index.Document{URL: p.URL.String(), Title: p.Title, Text: p.Text, Lang: p.Lang, Fetched: v.Response.Fetched}
	for _, l := range p.Links {
		d.Links = append(d.Links, l.Anchor)
	}
	d.Notes = v.Verdict.Notes
	for _, a := range v.Verdict.Addresses {
		if v.Verdict.Relevant || a.Private {
			d.Addresses = append(d.Addresses, a)
		}
	}
	if s.rater != nil {
		d.Importance = s.rater.Importance(v.Entry.URL, &v.Outcome)
	}
	if p.NoArchive {
		d.BlankText()
	}
	return d
}
