package frontier_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"gazehound/crawler/frontier"
)

// TestDrift pushes, raises, scores again and restarts with more entries than
// memory holds of a host: each is served exactly once.
func TestDrift(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	known, served := map[string]bool{}, map[string]bool{}
	o := frontier.Options{Dir: dir, Memory: 32 << 20, Score: func(*frontier.Entry) float64 { return r.Float64() }}
	const rounds, large = 4, 1500
	for round := range rounds {
		f := open(t, o)
		for range 20 {
			var es []frontier.Entry
			for range 200 {
				host := r.IntN(40)
				if r.IntN(2) == 0 {
					host = 0
				}
				es = append(es, entry(host, r.IntN(large), r.Float64()))
				known[es[len(es)-1].URL.String()] = true
			}
			push(t, f, es...)
			for range 40 {
				e := next(t, f)
				if served[e.URL.String()] {
					t.Fatalf("%s is served twice", e.URL)
				}
				switch r.IntN(8) {
				case 0:
					if err := f.Return(e, frontier.Backoff{}); err != nil {
						t.Fatal(err)
					}
				case 1: // stays leased until the restart
				default:
					served[e.URL.String()] = true
					done(t, f, e, page)
				}
			}
		}
		if round == rounds-1 {
			o.Score = nil
		}
		closed(t, f)
	}
	f := open(t, o)
	last := 2.0
	for {
		e, err := f.Next(t.Context(), free)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if served[e.URL.String()] || e.Priority > last {
			t.Fatalf("%s with %v after %v; served before: %v", e.URL, e.Priority, last, served[e.URL.String()])
		}
		served[e.URL.String()], last = true, e.Priority
		done(t, f, e, page)
	}
	if len(served) != len(known) {
		t.Errorf("served %d of %d", len(served), len(known))
	}
	if got := f.Totals(); got.Queued != 0 || got.Visited != int64(len(known)) {
		t.Errorf("totals %+v", got)
	}
	recount(t, f)
}
