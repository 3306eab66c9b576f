package crawler

import (
	"context"
	"iter"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"

	"golang.org/x/sync/errgroup"
)

// An Exchange is a visit that was recorded.
type Exchange struct {
	Entry frontier.Entry // how the crawl reached the URL
	// Outcome has the time of the exchange and the recorded outcome, as far as it is known. An
	// outcome "skipped" or "error" is kept; others are computed again from Response, if there is
	// one.
	Outcome   frontier.Outcome
	Response  *page.Response // nil: no copy was kept
	Committed func(v *Visit) // called once the visit is committed, in order; or nil
}

// Replay runs recorded visits, in their order, through all steps after the fetch: pages are judged
// again, learned from and stored, so that a crawl can resume from there. Sitemaps are read again,
// and with Options.Reservations pages that declare a reservation are left out. An exchange of a URL
// that tree, which is the Frontier, has visited is a revisit; if it is none that came later, the page
// stays due when it was.
//
// Pages are processed Options.Workers at a time. Fetcher, Gate, Scope and the limits of a crawl are
// not used.
func (c *Crawler) Replay(ctx context.Context, tree *frontier.Frontier, exchanges iter.Seq2[Exchange, error]) error {
	type job struct {
		visit     *Visit // nil: a redirect to another spelling of the same page
		committed func(v *Visit)
		processed chan error
	}
	ordered := make(chan *job, c.Options.Workers)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(ordered)
		var workers errgroup.Group // errors are returned by the jobs
		workers.SetLimit(c.Options.Workers)
		defer workers.Wait()
		for x, err := range exchanges {
			if err != nil {
				return err
			}
			j := &job{committed: x.Committed, processed: make(chan error, 1)}
			select {
			case ordered <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
			workers.Go(func() (err error) {
				j.visit, err = c.processRecorded(ctx, tree, &x)
				j.processed <- err
				return nil
			})
		}
		return nil
	})
	g.Go(func() error {
		for j := range ordered {
			select {
			case err := <-j.processed:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if j.visit == nil {
				continue
			}
			// meanwhile an exchange before this one may have been the first visit
			err := c.ofVisited(tree, j.visit)
			if err != nil {
				return err
			}
			err = c.learn(ctx, j.visit)
			if err != nil {
				return err
			}
			err = c.commit(ctx, j.visit)
			if err != nil {
				return err
			}
			if j.committed != nil {
				j.committed(j.visit)
			}
		}
		return nil
	})
	return g.Wait()
}

// processRecorded makes a Visit from a recorded exchange; nil for a redirect to another spelling of
// the same page.
func (c *Crawler) processRecorded(ctx context.Context, tree *frontier.Frontier, x *Exchange) (*Visit, error) {
	v := &Visit{Entry: x.Entry, Outcome: x.Outcome, Response: x.Response}
	err := c.ofVisited(tree, v)
	if err != nil {
		return nil, err
	}
	if kind := x.Outcome.Kind; x.Response == nil || kind == "error" || kind == "skipped" {
		return v, nil
	}
	v.Entry.Sitemap = x.Outcome.Kind == frontier.KindSitemap
	v.Outcome = frontier.Outcome{At: x.Outcome.At}
	retry, err := c.process(ctx, v)
	if retry != nil || err != nil {
		return nil, err
	}
	return v, nil
}

// ofVisited makes a recorded visit a revisit if tree has its URL as visited.
func (c *Crawler) ofVisited(tree *frontier.Frontier, v *Visit) error {
	key := frontier.KeyOf(v.Entry.URL)
	node, known, err := tree.Get(key)
	if err != nil || !known || node.State != frontier.Visited {
		return err
	}
	before, checked, err := tree.Check(key)
	if err != nil {
		return err
	}
	if o := &node.Outcome; !checked && o.Kind == frontier.KindPage { // of a crawl without revisits
		before = frontier.Check{Read: o.At, Relevant: o.Relevant}
	}
	url := v.Entry.URL
	v.Before, v.revisit, v.Entry = &before, &revisit{tree, c.Frontier, node}, node.Entry
	v.Entry.URL = url
	return nil
}
