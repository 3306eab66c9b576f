package crawler

import (
	"context"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// ForgottenTerms returns the terms that a model learned only from links that r blanks, and those
// that match r as texts. The crawl tree must not have been changed by r yet.
func ForgottenTerms(ctx context.Context, f *frontier.Frontier, r frontier.Removal) (func(term string) bool, error) {
	gone := map[string]bool{}
	pages := map[frontier.Key]bool{}
	if f != nil {
		each := func(fn func(e *frontier.Entry, blanked bool)) error {
			return f.Walk(ctx, 0, func(n frontier.Node) error {
				e := &n.Entry
				fn(e, r.URL(e.URL) || pages[e.Parent] || r.Page(e.Parent) ||
					r.Text(e.Words()))
				return nil
			})
		}
		terms := func(e *frontier.Entry) []string { return predictor.Terms(order.LinkOf(e)) }
		err := each(func(e *frontier.Entry, _ bool) {
			if r.URL(e.URL) {
				pages[frontier.KeyOf(e.URL)] = true
			}
		})
		if err != nil {
			return nil, err
		}
		err = each(func(e *frontier.Entry, blanked bool) {
			if blanked {
				for _, term := range terms(e) {
					gone[term] = true
				}
			}
		})
		if err == nil && len(gone) > 0 {
			err = each(func(e *frontier.Entry, blanked bool) {
				if !blanked {
					for _, term := range terms(e) {
						delete(gone, term)
					}
				}
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return func(term string) bool { return gone[term] || r.Text(term) }, nil
}
