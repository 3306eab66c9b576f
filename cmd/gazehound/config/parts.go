package config

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/polite"
	"gazehound/crawler/polite/robots"
	"gazehound/crawler/render"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// The options of each part of a crawl.

// CrawlerOptions returns the options of the crawl loop.
func (o *Options) CrawlerOptions() crawler.Options {
	return crawler.Options{
		Workers: o.Fetch.Workers, MaxPages: o.Crawl.MaxPages,
		MaxDepth: o.Crawl.MaxDepth, DomainLevels: o.Crawl.DomainLevels, MaxFailures: o.Crawl.MaxFailures,
		Depths:  o.Predictor.Depths,
		Retries: o.Fetch.Retries, RetryWait: o.RetryWait(), Grace: o.Fetch.ShutdownGrace,
		PlainForBadTLS: o.Fetch.HTTPForBadTLS,
		Sitemaps:       o.Seeds.Sitemaps, Reservations: o.Policy.TDM == "respect", Revisits: o.Revisit,
		Languages: o.Crawl.ContentLanguages, Cookies: o.Fetch.Cookies == "site",
		Rendering: o.rendering(),
	}
}

// rendering returns which pages are rendered.
func (o *Options) rendering() crawler.Rendering {
	r := crawler.Rendering{Auto: o.Fetch.Render == "auto", Hosts: map[string]bool{}, Share: o.Fetch.RenderShare}
	for _, host := range o.Fetch.RenderHosts {
		r.Hosts[strings.ToLower(host)] = true
	}
	return r
}

// RenderOptions returns the options of the browser, with its files in the folder profile.
func (o *Options) RenderOptions(version, profile string) (render.Options, error) {
	r := render.DefaultOptions()
	f, err := o.FetchOptions(version)
	r.Program, r.Profile, r.UserAgent, r.Document = o.Fetch.RenderBrowser, profile, f.UserAgent, f.MaxBody
	return r, err
}

// RetryWait is the wait before the first retry of a temporary failure.
func (o *Options) RetryWait() time.Duration { return max(10*o.Fetch.Delay, 100*time.Millisecond) }

// longestDelay is the longest delay of robots.txt and the hosts section.
func (o *Options) longestDelay() time.Duration {
	longest := o.Fetch.MaxCrawlDelay
	for _, h := range o.Hosts {
		longest = max(longest, h.Delay)
	}
	return longest
}

// Memory of a host's robots.txt besides its rules, in bytes, and the parts of storage.memory for
// both.
const (
	siteBytes  = 700
	rulesShare = 48
)

// RobotsOptions returns the options of the robots.txt cache, whose evicted entries the frontier
// keeps.
func (o *Options) RobotsOptions() robots.Options {
	r := robots.DefaultOptions()
	r.Agent, r.MaxDelay = o.Fetch.UserAgentName, o.Fetch.MaxCrawlDelay
	r.Retry, r.RetryMax = o.RetryWait(), max(o.Fetch.BackoffMax, o.RetryWait())
	r.Hosts = min(r.Hosts, int(o.Storage.Memory)/rulesShare/siteBytes)
	r.Memory = min(r.Memory, int64(o.Storage.Memory)/rulesShare)
	return r
}

// GateOptions returns the options of the politeness gate.
func (o *Options) GateOptions() polite.Options {
	g := polite.DefaultOptions()
	g.Delay, g.AdaptiveDelay, g.MaxDelay = o.Fetch.Delay, o.Fetch.AdaptiveDelay && o.Fetch.Delay > 0, o.longestDelay()
	g.AtOnce, g.BackoffStart, g.BackoffMax = o.Fetch.Workers, o.Fetch.BackoffStart, o.Fetch.BackoffMax
	return g
}

// FetchOptions returns the options of the HTTP client; version goes into the User-Agent.
func (o *Options) FetchOptions(version string) (fetch.Options, error) {
	f := fetch.DefaultOptions()
	if o.Fetch.CAFile != "" {
		pem, err := os.ReadFile(o.Fetch.CAFile)
		if err != nil {
			return f, fmt.Errorf("fetch.ca_file: %w", err)
		}
		f.RootCAs, err = x509.SystemCertPool()
		if err != nil {
			f.RootCAs = x509.NewCertPool()
		}
		if !f.RootCAs.AppendCertsFromPEM(pem) {
			return f, fmt.Errorf("fetch.ca_file: %s has no certificate in PEM (-----BEGIN CERTIFICATE-----)", o.Fetch.CAFile)
		}
	}
	f.UserAgent = fetch.UserAgent(o.Fetch.UserAgentName+"/"+version, o.Fetch.Contact)
	f.Timeout, f.MaxBody, f.MaxHeader = o.Fetch.Timeout, int64(o.Fetch.MaxBody), int64(o.Fetch.MaxHeader)
	f.ContentTypes, f.Proxy, f.AllowPrivate = o.Fetch.ContentTypes, o.Fetch.Proxy, o.Fetch.AllowPrivateAddresses
	f.KeepRaw = o.WARC.Dir != ""
	f.Cookies = o.Fetch.Cookies == "site"
	own := map[string]fetch.Host{}
	for host, h := range o.Hosts {
		password, err := h.ReadPassword(host)
		if err != nil {
			return f, err
		}
		own[host] = fetch.Host{Header: h.Header(), Agent: h.UserAgent, User: h.User, Password: password,
			AllowPlain: h.PlainHTTP}
	}
	f.Host = func(u weburl.URL) fetch.Host {
		h, _ := crawler.ForHost(own, u)
		return h
	}
	return f, nil
}

// ScopeRules returns the rules of the scope. Without a contact that is no example, or without a delay, a
// crawl stays on loopback, unless it replays recorded pages.
func (o *Options) ScopeRules(recorded bool) crawler.ScopeRules {
	r := crawler.ScopeRules{
		Include: o.Crawl.Include, Exclude: o.Crawl.Exclude, Hosts: map[string]crawler.HostRules{},
		Delay: o.Fetch.Delay, Longest: o.longestDelay(), Adaptive: o.Fetch.AdaptiveDelay,
		CountryDomains: o.Crawl.CountryDomains, Exhaustive: o.Crawl.Exhaustive, Platforms: o.Crawl.Platforms,
		Loopback: (o.Fetch.Contact == "" || o.ContactIsExample() || o.Fetch.Delay == 0) && !recorded && o.Fetch.Proxy == "",
	}
	for name, h := range o.Hosts {
		r.Hosts[name] = crawler.HostRules{Delay: h.Delay, Skip: h.Skip}
	}
	return r
}

// FrontierOptions returns the options of the frontier in dir, without Score.
func (o *Options) FrontierOptions(dir string) frontier.Options {
	selectivity := o.Crawl.Selectivity
	if o.Crawl.MaxPages == 0 { // waiting pays only if the number of pages is limited
		selectivity = 0
	}
	patience := o.Crawl.Patience
	if o.Fetch.Delay == 0 { // a host is waited for only while one of its pages is fetched
		patience = 1
	}
	return frontier.Options{
		Dir: dir, Memory: int64(o.Storage.Memory / 2), Seed: o.Crawl.RandomSeed, MaxPerHost: o.Crawl.MaxPagesPerHost,
		PerHost: func(u weburl.URL) int64 {
			h, _ := crawler.ForHost(o.Hosts, u)
			return h.MaxPages
		},
		PerPart: o.perPath, Selectivity: selectivity, Patience: patience,
		Await: o.Fetch.Delay + frontier.VisitTime,
	}
}

// perPath returns the prefix of a URL's path that has a limit of pages, and that limit: of those of the
// host's own paths the longest counts, else that of directories at the top.
func (o *Options) perPath(u weburl.URL) (prefix string, most int64) {
	h, _ := crawler.ForHost(o.Hosts, u)
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
	return prefix, o.Crawl.MaxPagesPerPath
}

// ModelOptions returns the options of a saved model.
func (o *Options) ModelOptions() predictor.Options {
	m := predictor.DefaultOptions()
	m.Weight, m.Posterior = o.Predictor.Weight, o.Predictor.Posterior
	m.Combine, m.Laplace, m.Prior = o.Predictor.Combine, o.Predictor.Laplace, o.Predictor.Prior
	m.Decay, m.Vocabulary = o.Crawl.Decay, o.Predictor.MaxTerms
	m.Depths, m.WithoutContacts = o.Predictor.Depths, o.Crawl.Judge != "addresses"
	return m
}

// A sixteenth of storage.memory is for the terms of the model, at about this many bytes each. Half
// of it is the frontier's; the rest is small or has bounds of its own.
const (
	termsShare = 16
	termBytes  = 180
)

// LearningOptions returns ModelOptions with a vocabulary limited by storage.memory.
func (o *Options) LearningOptions() predictor.Options {
	m := o.ModelOptions()
	m.Vocabulary = min(m.Vocabulary, int(o.Storage.Memory)/termsShare/termBytes/m.Depths)
	return m
}

// StaysHere reports whether no request of a crawl from these seeds can leave this machine.
func (o *Options) StaysHere(seeds []weburl.URL) bool {
	if o.Fetch.Proxy != "" {
		u, err := url.Parse(o.Fetch.Proxy)
		return err == nil && weburl.IsLoopback(u.Hostname())
	}
	return o.Fetch.AllowPrivateAddresses && !slices.ContainsFunc(seeds,
		func(u weburl.URL) bool { return !weburl.IsLoopback(u.Hostname()) })
}

// NodeName is what this node is called: as configured, or as its machine.
func (o *Options) NodeName() (string, error) {
	if o.Cluster.Name != "" {
		return o.Cluster.Name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", errors.New("no name for this node. --name gives it one")
	}
	return regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(host, "-"), nil
}

// ErrClusterURL is wrapped by the error for an invalid address of a cluster.
var ErrClusterURL = errors.New("must be a URL such as nats://127.0.0.1:4222")

// leastToken is the shortest token of a cluster, in bytes.
const leastToken = 16

// ClusterOptions returns the options for connecting to the cluster; a node keeps its state in dir.
func (o *Options) ClusterOptions(dir string) (c cluster.Options, err error) {
	k := o.Cluster
	for raw := range strings.SplitSeq(k.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(raw))
		if raw != "" && (err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls") {
			return c, fmt.Errorf("%w, got %.80q", ErrClusterURL, raw)
		}
	}
	c = cluster.DefaultOptions()
	c.Crawl, c.Dir, c.URL, c.NKey = k.Crawl, dir, k.URL, k.NKeyFile
	c.TLS = cluster.TLSFiles{Cert: k.TLSCert, Key: k.TLSKey, CA: k.TLSCA}
	c.Name, err = o.NodeName()
	if err != nil || k.TokenFile == "" {
		return c, err
	}
	raw, err := os.ReadFile(k.TokenFile)
	if err != nil {
		return c, fmt.Errorf("token: %w", err)
	}
	c.Token = strings.TrimSpace(string(raw))
	if len(c.Token) < leastToken {
		return c, fmt.Errorf("token: %s holds fewer than %d characters", k.TokenFile, leastToken)
	}
	return c, nil
}

// NodeOptions adds the options of a node that crawls region to c.
func (o *Options) NodeOptions(c *cluster.Options, region string) (err error) {
	k := o.Cluster
	c.Replicas, c.Away, c.Linger, c.MaxBytes = k.Replicas, k.Away, k.Linger, int64(k.MaxBytes)
	c.Lease, c.Rest = max(k.Lease, 3*o.Fetch.Timeout), max(o.Fetch.Delay, time.Millisecond)
	c.Definition = cluster.Definition{
		Region: region, Partition: partition.Method(k.Partition), Policy: partition.Policy(k.Policy),
	}
	c.Partition.Alpha, c.Partition.Beta, c.Partition.MostPopulous = k.Alpha, k.Beta, k.MostPopulous
	c.Definition.MostPopulous = k.MostPopulous
	if c.Definition.Partition == partition.FullContent { // all nodes must weigh alike
		c.Definition.Alpha, c.Definition.Beta = k.Alpha, k.Beta
	}
	if k.Order == "nuggets" || k.Order == "turns" || k.Order == "auto" && o.Crawl.Strategy == "trend" {
		order := o.OneOrder()
		order.InTurn = k.Order == "turns"
		c.Definition.Order, c.Patience = &order, k.Patience
	}
	if k.Nodes != "" {
		c.Definition.Nodes, c.Partition.Known, err = partition.ReadNodes(k.Nodes)
	}
	return err
}

// OneOrder returns what says how nodes agree on one order of their queues; they take no turns.
func (o *Options) OneOrder() cluster.Order {
	k := o.Cluster
	return cluster.Order{URLs: k.OrderURLs, Parts: k.OrderParts, Lambda: k.OrderLambda, Every: k.OrderEvery}
}

// Departures returns the grounds for departing from the default policy, by the names under which
// the crawl tree stores them.
func (o *Options) Departures() map[string]string {
	grounds := map[string]string{}
	if o.Policy.TDM == "ignore" {
		grounds["tdm_reason"] = o.Policy.TDMReason
	}
	if o.Policy.Persons == "keep" {
		grounds["persons_basis"] = o.Policy.PersonsBasis
	}
	return grounds
}

// ArchiveOptions returns the options of WARC files; version and region go into their warcinfo
// records.
func (o *Options) ArchiveOptions(version, region string) warc.WriterOptions {
	info := [][2]string{
		{"software", "gazehound/" + version}, {"robots", "obey"},
		{"http-header-user-agent", fetch.UserAgent(o.Fetch.UserAgentName+"/"+version, o.Fetch.Contact)},
		{"description", "crawl of " + region},
	}
	if o.Fetch.Contact != "" {
		info = append(info, [2]string{"operator", o.Fetch.Contact})
	}
	return warc.WriterOptions{Dir: o.WARC.Dir, MaxFile: int64(o.WARC.MaxFile), Info: info}
}
