package monitor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/internal/disk"
	"gazehound/internal/problem"
	"gazehound/internal/textutil"
	"gazehound/predictor"

	"github.com/paulmach/orb"
)

// TermsOf returns the Terms of Options for a model.
func TermsOf(model *predictor.Model) func(depth int, feature string, n int) []Term {
	return func(depth int, feature string, n int) []Term {
		terms := []Term{}
		for _, w := range model.Top(depth, feature, n) {
			family, word, _ := strings.Cut(w.Term, ":")
			terms = append(terms, Term{Feature: family, Word: word, LogOdds: w.LogOdds,
				Relevant: w.Relevant, Other: w.Other})
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
			links = append(links, Link{URL: e.URL.String(), Priority: e.Priority, Anchor: e.Anchor,
				Distance: e.Distance})
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
		for i, r := range gate.Rests(hosts...) {
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
// seen it, and a *problem.Problem of the parameter url where text is none.
func NodeOf(f *frontier.Frontier, text string) (n frontier.Node, err error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return n, problem.Bad("url", text, crawlURL, textutil.OneLine(err.Error()))
	}
	n, known, err := f.Get(frontier.KeyOf(u))
	if err == nil && !known {
		err = fmt.Errorf("never seen: %.200q is %w", text, ErrUnknown)
	}
	return n, err
}

// Survey lists the streets of a region and counts what earlier runs, whose
// outcomes f has, found of them. A street counts once, however many postcodes it
// runs through. From then on the coverage is shown.
func (b *Board) Survey(ctx context.Context, f *frontier.Frontier, g *gazetteer.Gazetteer,
	region *gazetteer.Region) error {
	err := g.StreetsIn(ctx, region, func(street gazetteer.Place, houses int) error {
		b.list(street, houses)
		return nil
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.find = func(address string) string {
		return report.StreetOf(g, address, func(id string) bool { return b.streets[hash(id)] != nil })
	}
	b.mu.Unlock()
	err = f.Walk(ctx, 0, func(n frontier.Node) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, address := range n.Outcome.Kept() {
			b.cover(address)
		}
		return nil
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = err == nil
	return err
}

// list takes note of a street of the region, or of the part of one in a
// postcode, with the number of its houses.
func (b *Board) list(p gazetteer.Place, houses int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := hash(gazetteer.StreetID(p))
	s := b.streets[key]
	if s == nil {
		s = &Street{Name: p.Street, City: p.City, Lon: p.Point.Lon(), Lat: p.Point.Lat()}
		b.streets[key] = s
	}
	s.Houses += houses
}

// ExplainOf returns the Explain of Options for a crawl.
func ExplainOf(learned *crawler.Learned, strategy string, scope *crawler.Scope) func(url string) (any, error) {
	return func(url string) (any, error) {
		n, err := NodeOf(learned.Tree, url)
		if err != nil {
			return nil, err
		}
		x, err := learned.Explain(n)
		x.Scope = scope.Check(n.URL)
		if x.Queued != nil {
			x.Strategy = strategy
		}
		return x, err
	}
}

// seedURLs parses all texts; the error names the first that is no URL.
func seedURLs(texts []string) (urls []weburl.URL, err error) {
	for _, text := range texts {
		u, err := weburl.Parse(text)
		if err != nil {
			return nil, problem.Bad("urls", text,
				fmt.Sprintf("absolute URLs with http or https, of at most %d bytes", weburl.MaxLength),
				textutil.OneLine(err.Error()))
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// AddSeeds puts start URLs into the queue of a running crawl, or into those of the nodes that own
// them. They are durable when it returns. An error for what is no URL is a *problem.Problem.
func AddSeeds(ctx context.Context, c *crawler.Crawler, scope *crawler.Scope, texts []string) (
	taken SeedsTaken, err error) {
	given, err := seedURLs(texts)
	if err != nil {
		return taken, err
	}
	taken.Refused = []RefusedSeed{} // never null
	var urls []weburl.URL
	for _, u := range given {
		if reason := scope.Check(u); reason != "" {
			taken.Refused = append(taken.Refused, RefusedSeed{URL: u.String(), Reason: reason})
		} else {
			urls = append(urls, u)
		}
	}
	taken.Taken = len(urls)
	if taken.Taken > 0 {
		taken.New, err = c.Seed(context.WithoutCancel(ctx), urls)
	}
	return taken, err
}

// silence is the time without progress after which a crawl is unhealthy.
const silence = 30 * time.Second

// Troubles returns why the crawl is unhealthy; reserve is what is to stay free on the disk, in
// bytes, and shown how that is written.
func (r *Recorder) Troubles(reserve int64, shown string) (why []string) {
	if free, err := disk.Free(r.Dir); err == nil && free < uint64(reserve) {
		why = append(why, fmt.Sprintf("only %s are free on the disk; storage.disk_reserve keeps %s",
			textutil.Megabytes(int64(free)), shown))
	}
	if at := r.Board.State().At; !at.IsZero() && time.Since(at) > silence {
		why = append(why, fmt.Sprintf("no sign of life since %s", at.Format(time.RFC3339)))
	}
	return why
}

// maxPlaces bounds the addresses of the index that are put on the map.
const maxPlaces = 100_000

// errEnough ends a survey of places.
var errEnough = errors.New("enough")

// SurveyPlaces puts points of the index on the map, which walk yields in an order that makes the first
// of them a fair part.
func (b *Board) SurveyPlaces(walk func(place func(orb.Point) error) error) error {
	n := 0
	err := walk(func(at orb.Point) error {
		n++
		if n > maxPlaces {
			return errEnough
		}
		b.Place(at)
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
