package crawler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gazehound/crawler/fetch"
	"gazehound/crawler/frontier"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// A Schedule says when pages are revisited. A page that has changed is revisited
// after half its interval, one that has not after one and a half.
type Schedule struct {
	First time.Duration // first interval of a relevant page; others wait twice as long
	Min   time.Duration // shortest
	Max   time.Duration // longest, and that of gone pages
}

// DefaultSchedule is that of config.yaml as shipped.
func DefaultSchedule() Schedule {
	const day = 24 * time.Hour
	return Schedule{First: 7 * day, Min: day, Max: 90 * day}
}

// Validate returns an error if s is invalid.
func (s Schedule) Validate() error {
	if s.Min <= 0 || s.First < s.Min || s.Max < s.First {
		return fmt.Errorf("crawler: intervals of revisits must rise from min (%v) over first (%v) to max (%v)",
			s.Min, s.First, s.Max)
	}
	return nil
}

// A RevisitOutcome is the outcome of a revisit.
type RevisitOutcome uint8

// The outcomes of revisits.
const (
	Unknown RevisitOutcome = iota // no answer, or a temporary failure
	Same                          // unchanged
	Changed                       // another text, or other addresses
	Gone                          // the page was removed or has moved
)

// String returns the word for r.
func (r RevisitOutcome) String() string {
	return [...]string{"unknown", "same", "changed", "gone"}[r]
}

const (
	maxDue    = 100_000             // pages that one call of Revisit fetches
	maxUnread = 30 * 24 * time.Hour // then a page is read in full in any case
	goneFails = 3                   // visits in a row without an answer after which a page is gone …
	goneAfter = 14 * 24 * time.Hour // … if it was last there so long ago
)

// A Refetcher fetches a page again; see fetch.Client.FetchIf.
type Refetcher interface {
	FetchIf(ctx context.Context, u weburl.URL, v page.Validators) (*page.Response, error)
}

// fetchAgain requests a page conditionally if it has validators and was read within maxUnread.
func (c *Crawler) fetchAgain(ctx context.Context, u weburl.URL, before *frontier.Check) (*page.Response, error) {
	r, ok := c.Fetcher.(Refetcher)
	if !ok || !before.Gone.IsZero() || time.Since(before.Read) > maxUnread {
		return c.Fetcher.Fetch(ctx, u)
	}
	return r.FetchIf(ctx, u, page.Validators{ETag: before.ETag, Modified: before.Modified})
}

// Revisit fetches visited pages that are due, relevant ones first, at most 100,000 of them, and
// queues their new links for Run. left is the number of due pages that were not fetched. It stops
// like Run; a page whose visit did not finish stays due. tree is the crawl's Frontier.
func (c *Crawler) Revisit(ctx context.Context, tree *frontier.Frontier) (left int, err error) {
	due, all, err := tree.Due(ctx, time.Now(), maxDue)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	// A queue in memory orders and leases the pages; only the checks in the frontier are durable.
	queue, err := frontier.Open(frontier.Options{InMemory: true, Memory: 64 << 20})
	if err != nil {
		return all, err
	}
	defer queue.Close()
	for i, d := range due {
		n, known, err := tree.Get(d.Key)
		if err == nil && known && n.State == frontier.Visited {
			_, err = queue.Push(ctx, frontier.Entry{URL: n.URL, Priority: 1 - float64(i)/float64(len(due))})
		}
		if err != nil {
			return all, err
		}
	}
	c.due.Store(queue)
	defer c.due.Store(nil)
	err = c.run(ctx, queue, 0, func(ctx context.Context, e frontier.Entry) (isPage bool, err error) {
		return false, c.visitAgain(ctx, tree, queue, e)
	})
	return all - int(queue.Totals().Visited), err
}

// Stay crawls until ctx ends: it revisits due pages, then calls Run, again and again, each for at
// most the duration every, so that neither starves the other. When no link is left or the page
// budget is used up, Stay waits for the next round or for Seed.
func (c *Crawler) Stay(ctx context.Context, tree *frontier.Frontier, every time.Duration) (left int, err error) {
	for {
		err := round(ctx, every, func(ctx context.Context) (err error) {
			left, err = c.Revisit(ctx, tree)
			return err
		})
		if err != nil {
			return left, err
		}
		err = round(ctx, every, func(ctx context.Context) error {
			defer c.resting.Store(false)
			for {
				c.resting.Store(false)
				err := c.Run(ctx)
				if err != nil && !errors.Is(err, ErrPageLimit) {
					return err
				}
				c.resting.Store(true)
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case <-c.wake():
				}
			}
		})
		if err != nil {
			return left, err
		}
	}
}

// Due returns the totals of the running Revisit; false if none runs.
func (c *Crawler) Due() (frontier.Totals, bool) {
	if queue := c.due.Load(); queue != nil {
		return queue.Totals(), true
	}
	return frontier.Totals{}, false
}

// Resting reports whether Stay is waiting for its next round.
func (c *Crawler) Resting() bool { return c.resting.Load() }

// errRound ends a round of Stay.
var errRound = errors.New("the round is over")

// round calls f with a time limit; reaching the limit is no error.
func round(ctx context.Context, most time.Duration, f func(context.Context) error) error {
	timed, stop := context.WithTimeoutCause(ctx, most, errRound)
	defer stop()
	err := f(timed)
	if err != nil && !errors.Is(err, errRound) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// A revisit is the data of an earlier visit that a revisit needs.
type revisit struct {
	tree  *frontier.Frontier // that has the page
	queue Frontier           // of Revisit, which has its lease
	node  frontier.Node      // before this visit
}

// visitAgain is Visit for a page that is due.
func (c *Crawler) visitAgain(ctx context.Context, tree *frontier.Frontier, queue Frontier, e frontier.Entry) error {
	key := frontier.KeyOf(e.URL)
	node, known, err := tree.Get(key)
	if err != nil {
		return err
	}
	before, checked, err := tree.Check(key)
	if err != nil {
		return err
	}
	if !known || !checked { // damaged meanwhile
		_, err := queue.Done(ctx, e, frontier.Outcome{Kind: frontier.KindSkipped})
		return err
	}
	v := &Visit{Entry: node.Entry, Before: &before, revisit: &revisit{tree, queue, node}}
	v.Entry.URL, v.Entry.Redirects, v.Entry.Retries = e.URL, e.Redirects, e.Retries
	return c.visit(ctx, queue, v, c.Scope(e.URL))
}

// compare sets the outcome of a revisit. An unchanged page keeps its earlier outcome.
func (v *Visit) compare() {
	v.Revisit = v.changed()
	if v.Revisit == Same && v.Page == nil {
		at := v.Outcome.At
		v.Outcome = v.revisit.node.Outcome
		v.Outcome.At = at
	}
}

// revise writes the result of a revisit to the crawl tree, with all links found, and releases its lease.
func (c *Crawler) revise(ctx context.Context, v *Visit, found []frontier.Entry) error {
	var revised frontier.Outcome // zero: the old outcome stays
	if v.Page != nil {
		revised = v.Outcome
	}
	if v.Before.Asked.IsZero() { // recorded, and the URL was not to be revisited
		revised.Check = c.Options.Revisits.first(v)
	} else {
		check := c.Options.Revisits.next(v)
		revised.Check = &check
	}
	err := v.revisit.tree.Revise(ctx, frontier.KeyOf(v.Entry.URL), revised, found...)
	if err != nil {
		return err
	}
	_, err = v.revisit.queue.Done(ctx, v.Entry, frontier.Outcome{Kind: frontier.KindPage})
	return err
}

// changed compares a page with its earlier visit.
func (v *Visit) changed() RevisitOutcome {
	switch o := &v.Outcome; {
	case v.Revisit == Same: // 304
		return Same
	case v.Page != nil:
		slices.Sort(o.Addresses)
		was := slices.Sorted(slices.Values(v.revisit.node.Outcome.Addresses))
		if page.SameText(v.text, v.Before.Text) && slices.Equal(o.Addresses, was) {
			return Same
		}
		return Changed
	case o.Reason == "tdm_reserved":
		return Gone
	case v.Response != nil && (v.Response.Status == 404 || v.Response.Status == 410):
		return Gone
	case o.Kind == frontier.KindRedirect && (v.Response.Status == 301 || v.Response.Status == 308):
		return Gone
	case o.Kind == frontier.KindSkipped: // says nothing about the page
		return Unknown
	case v.Before.Fails+1 >= goneFails && !v.Before.Last.IsZero() && o.At.Sub(v.Before.Last) >= goneAfter:
		return Gone
	}
	return Unknown
}

// first returns the Check of a first visit, or nil for URLs that are never revisited: all but pages
// and temporary failures.
func (s Schedule) first(v *Visit) *frontier.Check {
	o := &v.Outcome
	if s.First == 0 {
		return nil
	}
	check := frontier.Check{Asked: o.At, Relevant: o.Relevant, Wait: 2 * s.First}
	switch {
	case v.Page != nil:
		check.First, check.Last, check.Read = o.At, o.At, o.At
		check.Text = v.text
		validators := v.Response.Validators()
		check.ETag, check.Modified = validators.ETag, validators.Modified
		if o.Relevant {
			check.Wait = s.First
		}
	case passes(o):
		check.Fails, check.Wait = 1, s.Min
	default:
		return nil
	}
	check.Wait = min(check.Wait, s.Max)
	check.Due = o.At.Add(check.Wait)
	return &check
}

// passes reports whether a failure may be temporary.
func passes(o *frontier.Outcome) bool {
	switch o.Reason {
	case fetch.ClassDNS, fetch.ClassConnect, fetch.ClassTimeout, fetch.ClassTLS, "http_5xx", "http_429":
		return o.Kind == frontier.KindError
	case "robots_unreachable":
		return o.Kind == frontier.KindSkipped
	}
	return false
}

// next returns the Check of a revisited page.
func (s Schedule) next(v *Visit) frontier.Check {
	check, at := *v.Before, v.Outcome.At
	if !at.After(check.Asked) { // recorded, and counted then
		if v.Page != nil {
			check.Relevant, check.Text = v.Outcome.Relevant, v.text
		}
		return check
	}
	check.Asked = at
	check.Asks++
	switch v.Revisit {
	case Same, Changed:
		if check.First.IsZero() {
			check.First = at
		}
		check.Last, check.Gone, check.Fails = at, time.Time{}, 0
		check.Wait = check.Wait * 3 / 2
		if v.Revisit == Changed {
			check.Changes++
			check.Wait = v.Before.Wait / 2
		}
		if v.Page != nil {
			check.Read, check.Relevant, check.Text = at, v.Outcome.Relevant, v.text
			validators := v.Response.Validators()
			check.ETag, check.Modified = validators.ETag, validators.Modified
			if check.Relevant && !v.Before.Relevant {
				check.Wait = s.First
			}
		}
	case Gone:
		if check.Gone.IsZero() {
			check.Gone = at
		}
		check.Fails++
		check.Wait = s.Max
	case Unknown:
		check.Fails++
		check.Wait = s.Min << min(check.Fails-1, 10)
	}
	check.Wait = min(max(check.Wait, s.Min), s.Max)
	check.Due = at.Add(check.Wait)
	return check
}
