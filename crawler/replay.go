package crawler

import (
	"context"
	"fmt"
	"iter"

	"gazehound/crawler/frontier"
	"gazehound/crawler/page"

	"golang.org/x/sync/errgroup"
)

// An Exchange is a visit that was recorded.
type Exchange struct {
	Entry    frontier.Entry // how the crawl came to the URL
	Outcome  frontier.Outcome
	Response *page.Response // nil: no copy was kept
	Filed    func(v *Visit) // called once the visit is stored, in order; or nil
}

// Replay takes recorded visits through everything that comes behind the
// fetcher, in their order: pages are judged again, learned from and stored, so
// that a crawl can go on from there. Sitemaps are read again, and what reserves
// its rights by itself is left out where Options.Reservations says so; what
// else was no page, and what no copy was kept of, keeps its outcome.
//
// Pages are judged Options.Workers at a time. Fetcher, Gate, Rules and the
// limits of a crawl play no part.
func (c *Crawler) Replay(ctx context.Context, exchanges iter.Seq2[Exchange, error]) error {
	type job struct {
		exchange Exchange
		visit    *Visit
		judged   chan error
	}
	g, ctx := errgroup.WithContext(ctx)
	todo := make(chan *job)
	ordered := make(chan *job, 2*c.Options.Workers)
	g.Go(func() error {
		defer close(todo)
		defer close(ordered)
		for x, err := range exchanges {
			if err != nil {
				return err
			}
			j := &job{exchange: x, judged: make(chan error, 1)}
			for _, queue := range []chan *job{ordered, todo} {
				select {
				case queue <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range c.Options.Workers {
		g.Go(func() error {
			for j := range todo {
				var err error
				j.visit, err = c.judgeAgain(ctx, &j.exchange)
				j.judged <- err
			}
			return nil
		})
	}
	g.Go(func() error {
		for j := range ordered {
			select {
			case err := <-j.judged:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if j.visit == nil {
				continue
			}
			if err := c.file(ctx, j.visit); err != nil {
				return err
			}
			if j.exchange.Filed != nil {
				j.exchange.Filed(j.visit)
			}
		}
		return nil
	})
	return g.Wait()
}

// judgeAgain makes a visit of a recorded one, or nil of a redirect to another
// spelling of the same page.
func (c *Crawler) judgeAgain(ctx context.Context, x *Exchange) (*Visit, error) {
	v := &Visit{Entry: x.Entry, Outcome: x.Outcome, Response: x.Response}
	if v.Response == nil {
		return v, nil
	}
	switch v.Outcome.Kind {
	case "redirect":
		if c.redirected(v) >= 0 {
			return nil, nil
		}
		return v, nil
	case "sitemap":
		v.Entry.Sitemap = true
		return v, c.readSitemap(v)
	case "page":
	default:
		return v, nil
	}
	p, err := page.Parse(v.Response)
	if err != nil {
		v.Outcome = frontier.Outcome{Kind: "error", Reason: "parse", Status: x.Outcome.Status, Bytes: x.Outcome.Bytes, At: x.Outcome.At}
		return v, nil
	}
	if p.Reserved && c.Options.Reservations {
		v.Outcome.Kind, v.Outcome.Reason = "skipped", "tdm_reserved"
		return v, nil
	}
	if v.Verdict, err = c.Judge.Judge(ctx, p); err != nil {
		return nil, fmt.Errorf("judge %s: %w", p.URL, err)
	}
	v.Page = p
	v.Outcome.Reason = ""
	v.judged()
	return v, nil
}
