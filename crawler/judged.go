package crawler

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// JudgedPages returns training examples: the judged pages of crawl trees in the order of their
// visits, with the links that led to them.
func JudgedPages(ctx context.Context, trees ...*frontier.Frontier) iter.Seq2[predictor.Example, error] {
	return func(yield func(predictor.Example, error) bool) {
		type source struct {
			page judgedPage
			next func() (judgedPage, error, bool)
		}
		var sources []*source
		for _, f := range trees {
			next, stop := iter.Pull2(judgedIn(ctx, f))
			defer stop()
			sources = append(sources, &source{next: next})
		}
		waiting := slices.Clone(sources) // sources whose next page is to be read
		for {
			for _, s := range waiting {
				page, err, ok := s.next()
				if err != nil {
					yield(predictor.Example{}, err)
					return
				}
				if s.page = page; !ok {
					sources = slices.DeleteFunc(sources, func(x *source) bool { return x == s })
				}
			}
			if len(sources) == 0 {
				return
			}
			first := slices.MinFunc(sources, func(a, b *source) int { return a.page.at.Compare(b.page.at) })
			if !yield(first.page.Example, nil) {
				return
			}
			waiting = []*source{first}
		}
	}
}

// A judgedPage is a judged page, and when it was visited.
type judgedPage struct {
	predictor.Example
	at time.Time
}

// judgedIn reads the pages of one crawl tree.
func judgedIn(ctx context.Context, f *frontier.Frontier) iter.Seq2[judgedPage, error] {
	errStop := errors.New("stop")
	return func(yield func(judgedPage, error) bool) {
		err := f.Walk(ctx, 0, func(n frontier.Node) error {
			if n.Outcome.Kind != "page" {
				return nil
			}
			trail, err := f.Trail(frontier.KeyOf(n.URL), predictor.MaxDepth)
			if err != nil {
				return err
			}
			if len(trail) == 0 {
				return nil
			}
			if e := order.Example(trail, n.Outcome.Relevant); len(e.Trail) > 0 &&
				!yield(judgedPage{e, n.Outcome.At}, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(judgedPage{}, err)
		}
	}
}
