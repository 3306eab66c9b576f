package crawler

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// JudgedPages returns training examples: the judged pages of crawl trees in the order of their
// visits, with the links that led to them. The value of a page's links is computed from what their
// pages turned out to be, whatever order the crawl had; where none of them was visited, it is the
// expected value that the visit kept.
//
// A tree of another region than the first one teaches its words, and nothing of its hosts.
func JudgedPages(ctx context.Context, trees ...*frontier.Frontier) iter.Seq2[predictor.Example, error] {
	values := make([]linkValuer, len(trees)) // computed once, however often the examples are read
	for i, f := range trees {
		values[i] = sync.OnceValues(func() (map[frontier.Key]float32, error) { return linkValues(ctx, f) })
	}
	return func(yield func(predictor.Example, error) bool) {
		type source struct {
			page judgedPage
			next func() (judgedPage, error, bool)
		}
		var sources []*source
		for i, f := range trees {
			abroad, err := otherRegion(trees[0], f)
			if err != nil {
				yield(predictor.Example{}, err)
				return
			}
			next, stop := iter.Pull2(judgedIn(ctx, f, values[i], abroad))
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
				s.page = page
				if !ok {
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

// A linkValuer returns the linkValues of a crawl tree.
type linkValuer func() (map[frontier.Key]float32, error)

// otherRegion reports whether two crawls say that they are about different regions.
func otherRegion(a, b *frontier.Frontier) (bool, error) {
	of, err := a.Meta(regionMeta)
	if err != nil {
		return false, err
	}
	other, err := b.Meta(regionMeta)
	return of != nil && other != nil && !bytes.Equal(of, other), err
}

// judgedIn reads the pages of one crawl tree, for the model of another region if abroad.
func judgedIn(ctx context.Context, f *frontier.Frontier, linkValues linkValuer, abroad bool) iter.Seq2[judgedPage,
	error] {
	errStop := errors.New("stop")
	return func(yield func(judgedPage, error) bool) {
		values, err := linkValues()
		if err != nil {
			yield(judgedPage{}, err)
			return
		}
		err = f.Walk(ctx, 0, func(n frontier.Node) error {
			if n.Outcome.Kind != frontier.KindPage {
				return nil
			}
			trail, err := f.Trail(frontier.KeyOf(n.URL), predictor.MaxDepth)
			if err != nil {
				return err
			}
			if len(trail) == 0 {
				return nil
			}
			e := order.Example(trail, n.Outcome.Relevant)
			e.Expected = e.LinkValue
			if v, known := values[frontier.KeyOf(n.URL)]; known {
				e.LinkValue = float64(v)
			}
			if abroad {
				e = e.Abroad()
			}
			if len(e.Trail) > 0 && !yield(judgedPage{e, n.Outcome.At}, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(judgedPage{}, err)
		}
	}
}

// linkValues returns the value of the links of every page of which one was visited, see
// order.LinksValue. A page is visited after the page that names it, so one way back is enough.
func linkValues(ctx context.Context, f *frontier.Frontier) (map[frontier.Key]float32, error) {
	type visit struct {
		key, parent frontier.Key
		relevant    bool
	}
	var visits []visit
	err := f.Walk(ctx, 0, func(n frontier.Node) error {
		if n.Outcome.Kind == frontier.KindPage && !n.URL.IsZero() {
			visits = append(visits, visit{frontier.KeyOf(n.URL), n.Parent, n.Outcome.Relevant})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	values := make(map[frontier.Key]float32)
	best := make(map[frontier.Key][]float64) // of the pages that each page names, the highest first
	for _, v := range slices.Backward(visits) {
		value := 1.0
		if links, visited := best[v.key]; visited {
			values[v.key] = float32(order.LinksValue(links))
			delete(best, v.key)
		}
		if !v.relevant {
			value = float64(values[v.key])
		}
		if v.parent.IsZero() {
			continue
		}
		links := append(best[v.parent], value)
		slices.SortFunc(links, func(a, b float64) int { return cmp.Compare(b, a) })
		best[v.parent] = links[:min(len(links), order.BestLinks)]
	}
	return values, nil
}
