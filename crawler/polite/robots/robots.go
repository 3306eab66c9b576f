// Package robots fetches, caches and matches robots.txt (RFC 9309), including what applies while it
// cannot be fetched.
package robots

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// MaxSize is how much of a robots.txt is read, in bytes (RFC 9309, section
// 2.5: at least 500 KiB).
const MaxSize = 500 << 10

// Options tune a Cache.
type Options struct {
	// Agent is our product token in User-agent lines. It matches whole and in any case: rules for
	// "gaze" do not apply to "gazehound".
	Agent string
	// Fetch makes one exchange and follows no redirect, such as
	// fetch.Client.FetchPrefix with MaxSize.
	Fetch func(ctx context.Context, u weburl.URL) (*page.Response, error)

	// Claim takes the slot of a host to which another host's robots.txt redirects, and returns 0 or
	// how long to wait for it; nil: no waiting.
	Claim func(host string) (wait time.Duration)

	TTL      time.Duration // how long rules are valid, at most 24 h
	Retry    time.Duration // wait after the first failure; doubled for every further one in a row
	RetryMax time.Duration // longest wait
	MaxDelay time.Duration // longest Crawl-delay; longer ones are cut to it

	Hosts  int   // remembered in memory
	Memory int64 // bytes of rules remembered in memory

	// Save stores the state of a site for the next start, and Load returns it, or nil. Either may
	// be nil, and neither may call the Cache.
	Save func(site string, data []byte)
	Load func(site string) []byte
}

// DefaultOptions returns the options as shipped, without Fetch.
func DefaultOptions() Options {
	return Options{
		Agent:    "gazehound",
		TTL:      24 * time.Hour,
		Retry:    5 * time.Minute,
		RetryMax: 24 * time.Hour,
		MaxDelay: time.Minute,
		Hosts:    50_000,
		Memory:   32 << 20,
	}
}

func isToken(s string) bool {
	for _, c := range s {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}

// A Decision is whether a URL may be requested now.
type Decision struct {
	Allowed  bool
	Delay    time.Duration // Crawl-delay for us, at most MaxDelay, or 0
	Sitemaps []string      // canonical URLs in robots.txt, at most 100; read-only

	// Fetched means that this call made a request, which used the host's slot: call Check again in
	// the next slot. Until then Allowed is provisional, since robots.txt may have moved. Response
	// is the answer.
	Fetched  bool
	Response *page.Response

	// Asked is the host that got the request. If robots.txt has moved, it differs from the URL's
	// host: its slot was taken with Options.Claim, and that of the URL's host was not used.
	Asked string

	// Wait > 0 means that robots.txt has moved to a host whose slot is taken: call Check again
	// after that time.
	Wait time.Duration

	// Retry > 0 means that the rules cannot be fetched: until then nothing may be requested from
	// the host. Err is the reason, such as a *fetch.Error of class dns, or nil if the host answered
	// with a bad status.
	Retry time.Duration
	Err   error
}

// A Cache caches the rules of many hosts and fetches missing ones. It is safe for concurrent use
// and starts no goroutines.
type Cache struct {
	options Options

	mu     sync.Mutex
	sites  *simplelru.LRU[string, *site] // by scheme and host
	memory int64                         // bytes of their rules
}

// A site is the state of one scheme and host. It belongs to the caller of take; Cache.mu guards
// size.
type site struct {
	key   string
	size  int64         // of rules, as the cache counts it
	taken chan struct{} // has room for one token, which the caller of take holds

	rules    *rules    // last rules fetched, or nil
	until    time.Time // when to ask again
	recalled bool      // its stored state was loaded
	trouble            // why the last request failed; zero: it did not
}

// A trouble is why a request for robots.txt brought no rules.
type trouble struct {
	failure string     // in words, or ""
	err     error      // of the fetch, or nil
	fails   int        // in a row
	next    weburl.URL // where a redirect led, or zero
	hops    int        // redirects that led there
}

const maxHops = 5 // redirects in a row (RFC 9309, section 2.3.1.2)

// New returns an empty Cache, or an error for an invalid Agent.
func New(o Options) (*Cache, error) {
	if !isToken(o.Agent) {
		return nil, fmt.Errorf("robots: agent %q is not a product token of letters, - and _ (RFC 9309)", o.Agent)
	}
	c := &Cache{options: o}
	var err error
	c.sites, err = simplelru.NewLRU(o.Hosts, func(_ string, s *site) { c.memory -= s.size })
	return c, err
}

// Check reports whether u may be requested. If the rules of its host are unknown, it makes one
// request for them: a redirect is followed by the next Check, so that robots.txt, too, respects the
// host's delay. Concurrent Checks of one host make one request. The only error is that of ctx.
//
// What a response means: 2xx has the rules; a redirect is followed up to five times, also to other
// hosts; 4xx and longer chains mean that there are no rules; 429, 5xx and no response mean that
// nothing is allowed for now. Expired rules stay in force while the host cannot be reached.
func (c *Cache) Check(ctx context.Context, u weburl.URL) (Decision, error) {
	s, err := c.take(ctx, u.Scheme()+"://"+u.Host())
	if err != nil {
		return Decision{}, fmt.Errorf("robots: %s: %w", u.Host(), err)
	}
	defer func() { <-s.taken }()
	var d Decision
	if !s.recalled {
		c.recall(s)
		c.account(s)
	}
	if !time.Now().Before(s.until) {
		err := c.request(ctx, s, &d)
		if err != nil {
			return Decision{}, err
		}
		c.account(s)
		if d.Fetched {
			c.keep(s)
		}
	}
	c.decide(s, u, &d)
	return d, nil
}

// take returns the site for key, the caller's alone until it takes the token out of s.taken, or the
// error of ctx.
func (c *Cache) take(ctx context.Context, key string) (*site, error) {
	c.mu.Lock()
	s := c.site(key)
	c.mu.Unlock()
	select {
	case s.taken <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// decide fills d from the state of s.
func (c *Cache) decide(s *site, u weburl.URL, d *Decision) {
	switch {
	case s.rules == nil && s.failure != "":
		d.Retry, d.Err = max(time.Until(s.until), time.Millisecond), s.err
	case d.Wait > 0:
	case s.rules == nil: // moved: the next Check follows the redirect
		d.Allowed = true
	default:
		d.Delay, d.Sitemaps, d.Allowed = s.rules.Delay, s.rules.Sitemaps, s.rules.allows(u)
	}
}

// request makes one request and updates s with its result.
func (c *Cache) request(ctx context.Context, s *site, d *Decision) error {
	at := s.next
	if at.IsZero() {
		var err error
		at, err = weburl.Parse(s.key + "/robots.txt")
		if err != nil {
			return err // impossible: the key comes from a URL
		}
	}
	_, own, _ := strings.Cut(s.key, "://")
	d.Asked = at.Host()
	if c.options.Claim != nil && d.Asked != own {
		d.Wait = c.options.Claim(at.Host())
		if d.Wait > 0 {
			return nil
		}
	}
	r, err := c.options.Fetch(ctx, at)
	if ctx.Err() != nil {
		return fmt.Errorf("robots: %s: %w", at, ctx.Err())
	}
	d.Fetched, d.Response = true, r
	switch {
	case err != nil:
		c.unreachable(s, err.Error(), err)
	case r.Status == 429 || r.Status >= 500 || r.Status < 200:
		c.unreachable(s, fmt.Sprintf("robots.txt answered with status %d", r.Status), nil)
	case r.Status < 300:
		c.known(s, parse(r.Body, c.options.Agent, at, c.options.MaxDelay))
	case r.Status < 400 && !r.Location.IsZero() && s.hops < maxHops:
		s.trouble = trouble{fails: s.fails, next: r.Location, hops: s.hops + 1}
	default: // 4xx, a redirect to nowhere, or one too many
		c.known(s, &rules{})
	}
	return nil
}

func (c *Cache) known(s *site, r *rules) {
	s.rules, s.until, s.trouble = r, time.Now().Add(c.options.TTL), trouble{}
}

func (c *Cache) unreachable(s *site, failure string, err error) {
	wait := c.options.RetryMax
	if s.fails < 62 && c.options.Retry <= c.options.RetryMax>>s.fails {
		wait = c.options.Retry << s.fails
	}
	s.until, s.trouble = time.Now().Add(wait), trouble{failure: failure, err: err, fails: s.fails + 1}
}

// site returns the entry for key, new or known, as the last used. c.mu is held.
func (c *Cache) site(key string) *site {
	s, known := c.sites.Get(key)
	if !known {
		s = &site{key: key, taken: make(chan struct{}, 1)}
		c.sites.Add(key, s)
	}
	return s
}

// account counts the memory of the rules of s and evicts the least recently used sites above
// the limit.
func (c *Cache) account(s *site) {
	size := s.rules.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, known := c.sites.Peek(s.key); !known || now != s {
		return // evicted meanwhile
	}
	c.memory += size - s.size
	s.size = size
	for c.memory > c.options.Memory && c.sites.Len() > 1 {
		c.sites.RemoveOldest()
	}
}
