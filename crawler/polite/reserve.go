package polite

import (
	"context"
	"strings"
	"time"

	"gazehound/crawler/polite/tdm"
	"gazehound/crawler/weburl"
)

// Reservations of rights are asked for once per host, in a turn of its own, and
// only when a page of the host is about to be kept: most hosts never have one.
// The page waits for that turn in the hands of its worker. So no more pages are
// fetched and not yet stored than there are workers, and that is what a crash
// can make the crawl fetch again.

// A reservation is what a host reserves, or, where it is pending, that the host is
// asked before another page of it is fetched.
type reservation struct {
	rules   tdm.Rules
	until   time.Time // when it is fetched again
	pending bool
}

const (
	maxReservations = 50_000 // hosts
	reservationTTL  = 24 * time.Hour
	reservationWait = 10 * time.Minute // after a failure
	maxTurnWait     = time.Minute      // that a page waits for the next turn of its host
)

// Reserved reports whether the host of u reserves its rights to text and data mining
// there, by its /.well-known/tdmrep.json. It waits until the host may be asked, if
// it has not been. Where that takes longer than a minute it returns the wait, and
// the next Check of the host asks it before a page is fetched again.
func (g *Gate) Reserved(ctx context.Context, u weburl.URL) (reserved bool, wait time.Duration, err error) {
	if g.options.Fetch == nil {
		return false, 0, nil
	}
	host := u.Host()
	type answer struct {
		rules tdm.Rules
		wait  time.Duration
	}
	said, err, _ := g.asking.Do(host, func() (any, error) {
		for {
			if r, known := g.reserved.Get(host); known && !r.pending && time.Now().Before(r.until) {
				return answer{rules: r.rules}, nil
			}
			wait := g.Claim(host)
			switch {
			case wait <= 0:
				rules, used, err := g.askReservations(ctx, u)
				g.Visited(host, used)
				return answer{rules: rules}, err
			case wait > maxTurnWait:
				g.reserved.Add(strings.Clone(host), reservation{pending: true})
				return answer{wait: wait}, nil
			}
			turn := time.NewTimer(wait)
			select {
			case <-turn.C:
			case <-ctx.Done():
				turn.Stop()
				return answer{}, ctx.Err()
			}
		}
	})
	a := said.(answer)
	return a.rules.Reserved(u), a.wait, err
}

// awaitsReservations reports whether a page of the host waits for its reservations.
func (g *Gate) awaitsReservations(host string) bool {
	r, known := g.reserved.Peek(host)
	return known && r.pending
}

// askReservations asks u's host what it reserves, in a turn that the caller has, and
// returns for what the turn was used. A host that does not answer has said nothing.
func (g *Gate) askReservations(ctx context.Context, u weburl.URL) (tdm.Rules, Visit, error) {
	at, err := u.Resolve(tdm.Path)
	if err != nil {
		return tdm.Rules{}, noRequest, err
	}
	response, err := g.options.Fetch(ctx, at, tdm.MaxSize)
	used := VisitOf(response, err)
	if ctx.Err() != nil {
		return tdm.Rules{}, used, ctx.Err()
	}
	said := reservation{until: time.Now().Add(reservationTTL)}
	switch {
	case err != nil || response.Status == 429 || response.Status >= 500:
		said.until = time.Now().Add(reservationWait)
	case response.Status == 200:
		said.rules = tdm.Parse(response.Body)
	}
	g.reserved.Add(strings.Clone(u.Host()), said)
	return said.rules, used, nil
}
