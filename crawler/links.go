package crawler

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/order/trap"
	"gazehound/crawler/weburl"
)

// finding returns what was learned about URLs like that of a link. Seeds and sitemaps are exempt.
func finding(traps *trap.Detector, e *frontier.Entry) trap.Finding {
	if traps == nil || e.Sitemap || e.Depth == 0 {
		return trap.Finding{Factor: 1}
	}
	return traps.Check(e.URL)
}

// score returns the priority of a link: that of the strategy, lowered by a finding; keep is false if
// the strategy drops the link.
func score(s order.Strategy, f trap.Finding, e *frontier.Entry) (priority float64, keep bool) {
	priority, keep = s.Score(e)
	return priority * f.Factor, keep
}

// release queues the links of a host that were parked under patterns.
func (c *Crawler) release(ctx context.Context, host string, patterns []string) error {
	for _, pattern := range patterns {
		_, err := c.Frontier.Unpark(ctx, frontier.ParkedPattern{Host: host, Pattern: pattern}, c.priority)
		if err != nil {
			return err
		}
	}
	return nil
}

// ReleaseParked queues the parked links whose pattern is not proven any more, or whose host an option
// or an order exempts, and returns how many there were.
func (c *Crawler) ReleaseParked(ctx context.Context) (released int, err error) {
	if c.Traps == nil {
		return 0, nil
	}
	patterns, err := c.Frontier.Parked()
	for _, p := range patterns {
		u, bad := weburl.Parse("http://" + p.Host + "/")
		exempt := bad == nil && c.Traps.Exempt != nil && c.Traps.Exempt(u)
		if !exempt && c.Traps.Proven(p.Host, p.Pattern) {
			continue
		}
		n, failed := c.Frontier.Unpark(ctx, p, c.priority)
		released, err = released+n, cmp.Or(err, failed)
	}
	return released, err
}

// releaseLate queues the links of entries that were parked after another worker had released their
// pattern. Call it when they are stored.
func (c *Crawler) releaseLate(ctx context.Context, parked []frontier.Entry) error {
	if c.Traps == nil {
		return nil
	}
	for i := range parked {
		e := &parked[i]
		if e.Parked == "" || c.Traps.Proven(e.URL.Host(), e.Parked) {
			continue
		}
		err := c.release(ctx, e.URL.Host(), []string{e.Parked})
		if err != nil {
			return err
		}
	}
	return nil
}

// priority returns the priority of a link as of now.
func (c *Crawler) priority(e *frontier.Entry) float64 {
	p, _ := score(c.Strategy, finding(c.Traps, e), e)
	return p
}

// Rescore returns the function with which the queue scores links again when they reach its front,
// or nil if the strategy never changes a priority. traps may be nil.
func Rescore(s order.Strategy, traps *trap.Detector) func(*frontier.Entry) float64 {
	if r, ok := s.(order.Rescorer); !ok || !r.Rescores() {
		return nil
	}
	return func(e *frontier.Entry) float64 {
		priority, _ := score(s, finding(traps, e), e)
		return priority
	}
}

// keepBest keeps a link that is new to the queue if it is among the best of the page.
func (v *Visit) keepBest(e *frontier.Entry) {
	at := len(v.best)
	for at > 0 && v.best[at-1].Priority < e.Priority {
		at--
	}
	if e.Priority > 0 && at < order.BestLinks { // others have the value 0
		v.best = slices.Insert(v.best, at, *e)
		v.best = v.best[:min(len(v.best), order.BestLinks)]
	}
}

// expand scores the links of a page. Distance counts links since the last
// relevant page, so it starts again behind a relevant one.
func (c *Crawler) expand(v *Visit) error {
	depth, distance := v.Entry.Depth+1, v.Entry.Distance+1
	if v.Verdict.Relevant {
		distance = 1
	}
	for reason, n := range v.Page.Left {
		v.drop(reason, n)
	}
	key := frontier.KeyOf(v.Entry.URL)
	host, site := v.Page.URL.Host(), v.Page.URL.Site()
	deepest, err := c.deepest(v)
	if err != nil {
		return err
	}
	found := make([]frontier.Entry, 0, len(v.Page.Links))
	for _, l := range v.Page.Links {
		if deepest && l.To.Site() == site {
			v.drop("domain_levels", 1)
			continue
		}
		found = append(found, frontier.Entry{
			URL: l.To, Depth: depth, Distance: distance, Parent: key, Found: v.Outcome.At,
			Anchor: l.Anchor, Title: l.Title, Around: l.Around, Place: l.Place,
			Switch: l.To.Host() != host && l.To.Site() != site,
		})
	}
	err = c.sitemaps(v) // before links to the same feeds
	if err != nil {
		return err
	}
	return c.find(v, found)
}

// deepest reports whether the page of v lies Options.DomainLevels links within its domain behind the
// page by which the crawl came to that, on the way by which the page was found.
func (c *Crawler) deepest(v *Visit) (bool, error) {
	most := c.Options.DomainLevels
	if most == 0 || v.Entry.Depth < most {
		return false, nil
	}
	parents, err := c.Frontier.Trail(v.Entry.Parent, most)
	if err != nil {
		return false, fmt.Errorf("levels above %s: %w", v.Entry.URL, err)
	}
	outside := func(n frontier.Node) bool { return n.URL.Site() != v.Page.URL.Site() }
	return len(parents) == most && !slices.ContainsFunc(parents, outside), nil
}

// find scores entries that v has found, or counts why they are left out. Links that change nothing, to
// visited pages or to queued ones with a better link, are only counted; but with Peers the page may be
// another node's by now.
func (c *Crawler) find(v *Visit, found []frontier.Entry) error {
	_, values := c.Strategy.(order.LinkValuer)
	known, err := c.Frontier.Known(frontier.KeysOf(found)...)
	if err != nil {
		return fmt.Errorf("links of %s: %w", v.Entry.URL, err)
	}
	v.Found = slices.Grow(v.Found, len(found))
	for i := range found {
		e := &found[i]
		if reason := c.outside(e, known[i].State); reason != "" {
			v.drop(reason, 1)
			continue
		}
		if known[i].State == frontier.Visited && c.Peers == nil {
			v.Outcome.Repeats++
			continue
		}
		var keep bool
		f := finding(c.Traps, e)
		e.Priority, keep = score(c.Strategy, f, e)
		if !keep {
			v.drop("strategy", 1)
			continue
		}
		e.Parked = f.Pattern
		if known[i].Outdoes(e) && c.Peers == nil {
			v.Outcome.Repeats++
			continue
		}
		if values && known[i].State == 0 && e.Parked == "" {
			v.keepBest(e)
		}
		v.Found = append(v.Found, *e)
	}
	return nil
}

// outside returns why a found entry is dropped, or "". A queued URL was in scope when it was queued
// and is checked again at its visit.
func (c *Crawler) outside(e *frontier.Entry, was frontier.State) string {
	if was == 0 {
		if reason := c.scope(e); reason != "" {
			return reason
		}
	}
	if limit := c.Options.MaxDepth; limit > 0 && e.Depth > limit {
		return "depth"
	}
	return ""
}

// scope returns why an entry is outside of the crawl, or "". The patterns of pages, such as one
// without .gz, do not apply to sitemaps.
func (c *Crawler) scope(e *frontier.Entry) string {
	reason := c.Scope(e.URL)
	if e.Sitemap && (reason == ReasonExcluded || reason == ReasonNotIncluded) {
		return ""
	}
	return reason
}

// drop counts links that are not queued.
func (v *Visit) drop(reason string, n int64) {
	if n == 0 {
		return
	}
	if v.Outcome.Dropped == nil {
		v.Outcome.Dropped = map[string]int64{}
	}
	v.Outcome.Dropped[reason] += n
}
