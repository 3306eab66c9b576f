package monitor

import (
	"context"
	"fmt"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/predictor"
)

// TermsOf returns the Terms of Options for a model.
func TermsOf(model *predictor.Model) func(depth int, feature string, n int) []Term {
	return func(depth int, feature string, n int) []Term {
		terms := []Term{}
		for _, w := range model.Top(depth, feature, n) {
			family, word, _ := strings.Cut(w.Term, ":")
			terms = append(terms, Term{Feature: family, Word: word, LogOdds: w.LogOdds, Relevant: w.Relevant, Other: w.Other})
		}
		return terms
	}
}

// NextOf returns the Next of Options for a frontier.
func NextOf(f *frontier.Frontier) func(n int) ([]Link, error) {
	return func(n int) ([]Link, error) {
		entries, err := f.Front(n)
		links := []Link{}
		for _, e := range entries {
			links = append(links, Link{URL: e.URL.String(), Priority: e.Priority, Anchor: e.Anchor, Distance: e.Distance})
		}
		return links, err
	}
}

// RestsOf returns the Rests of Options for a gate.
func RestsOf(gate *polite.Gate) func(hosts []string) []Rest {
	if gate == nil {
		return nil
	}
	return func(hosts []string) []Rest {
		rests := make([]Rest, len(hosts))
		for i, r := range gate.Look(hosts...) {
			state := "ready"
			switch {
			case r.Asked:
				state = "asked"
			case r.Backoff:
				state = "backoff"
			case r.Wait > 0:
				state = "waiting"
			}
			rests[i] = Rest{State: state, Wait: round(r.Wait.Seconds(), 1)}
		}
		return rests
	}
}

// NodeOf returns what a crawl knows about a URL; ErrUnknown where it has never
// seen it.
func NodeOf(f *frontier.Frontier, text string) (n frontier.Node, err error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return n, fmt.Errorf("%.80q is no URL: %w", text, ErrUnknown)
	}
	n, known, err := f.Get(frontier.KeyOf(u))
	if err == nil && !known {
		err = fmt.Errorf("never seen: %.200q is %w", text, ErrUnknown)
	}
	return n, err
}

// Survey lists the streets of a region and counts what earlier runs, whose
// outcomes f has, found of them.
func (b *Board) Survey(ctx context.Context, f *frontier.Frontier, g *gazetteer.Gazetteer, region *gazetteer.Region) error {
	err := g.StreetsIn(ctx, region, func(street gazetteer.Place, houses int) error {
		b.List(street, houses)
		return nil
	})
	if err != nil {
		return err
	}
	b.Listed(func(address string, known func(string) bool) string { return report.StreetOf(g, address, known) })
	err = f.Outcomes(ctx, func(o frontier.Outcome) error {
		for _, address := range o.Kept() {
			b.Known(address)
		}
		return nil
	})
	if err == nil {
		b.Counted()
	}
	return err
}
