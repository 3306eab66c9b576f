package crawler

import (
	"context"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/geoparse"
	"gazehound/predictor"
)

// A Forgotten knows how texts name what was forgotten and must not be kept: hosts, pages, telephone
// numbers and e-mail addresses.
type Forgotten interface {
	Names(text string) bool
	// States reports whether a text states the street and house number of a forgotten address, or of
	// the same one in another town.
	States(text string) bool
	// Blank returns a text of as many characters with spaces in place of what it names.
	Blank(text string) string
}

// blank removes from a page what names the forgotten. No copy of such a page may be kept.
func blank(f Forgotten, p *page.Page) {
	if f == nil {
		return
	}
	for _, text := range []*string{&p.Text, &p.Title} {
		if f.Names(*text) {
			*text, p.NoCopy = f.Blank(*text), true
		}
	}
	for i := range p.Links {
		l := &p.Links[i]
		if f.Names(l.To.String()) { // its words may say who that is
			l.Anchor, l.Title, l.Around, l.Split, p.NoCopy = "", "", "", 0, true
		}
		for _, text := range []*string{&l.Anchor, &l.Title, &l.Place} {
			if f.Names(*text) {
				*text, p.NoCopy = f.Blank(*text), true
			}
		}
		if f.Names(l.Around) {
			l.Around, l.Split, p.NoCopy = "", 0, true
		}
	}
}

// blankBeside removes what names the forgotten from what markup states beside addresses.
func blankBeside(f Forgotten, p *page.Page, addresses []geoparse.Address) {
	if f == nil {
		return
	}
	for i := range addresses {
		a := &addresses[i]
		for _, text := range []*string{&a.Name, &a.Branch, &a.Phone, &a.Email, &a.Website} {
			if f.Names(*text) {
				*text, p.NoCopy = "", true
			}
		}
	}
}

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
