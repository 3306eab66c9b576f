package polite

import (
	"context"
	"strings"
	"time"

	"gazehound/crawler/polite/tdm"
	"gazehound/crawler/weburl"
)

// Reservations of rights are fetched once per host, in a slot of their own, and only when a page of
// the host is about to be kept: most hosts never have one. The page's worker waits for that slot,
// so that there are never more fetched but unstored pages than workers, which is what a crash can
// repeat.

// A reservation is what a host reserves; if pending, it must be fetched before another page of the
// host.
type reservation struct {
	rules   tdm.Rules
	until   time.Time // when it is fetched again
	pending bool
}

const (
	maxReservations = 50_000 // hosts
	reservationTTL  = 24 * time.Hour
	reservationWait = 10 * time.Minute // after a failure
	maxTurnWait     = time.Minute      // longest time that a page waits for its host's next slot
)

// Reserved reports whether the host of u reserves its rights to text and data mining there, by its
// /.well-known/tdmrep.json. If that is unknown, it waits for the host's slot and fetches it. If
// that takes longer than a minute it returns the wait, and the next Check of the host fetches it
// first.
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
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return answer{}, ctx.Err()
			}
		}
	})
	a := said.(answer)
	return a.rules.Reserved(u), a.wait, err
}

// awaitsReservations reports whether the host's reservations are pending.
func (g *Gate) awaitsReservations(host string) bool {
	r, known := g.reserved.Peek(host)
	return known && r.pending
}

// askReservations fetches the reservations of u's host in a slot that the caller holds, and returns
// the request for Visited. A host that does not answer has reserved nothing.
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
