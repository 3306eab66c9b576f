package frontier

import (
	"bytes"
	"testing"
	"time"
)

// FuzzDecode holds a stricter law than FuzzRecords, the law of all decoders: bytes that one of them takes are,
// byte for byte, what the encoder writes for what it returned. So nothing that
// was damaged passes for something else of the same meaning.
func FuzzDecode(f *testing.F) {
	o := Outcome{
		Kind: "page", Reason: "x", Status: 200, Relevant: true, Score: .5, Addresses: []string{"a", "bc"},
		Dropped: map[string]int64{"depth": 3, "scope": 1}, Bytes: 10_000, At: time.UnixMilli(1_700_000_000_000),
	}
	t := Totals{Queued: 3, Visited: 300, Errors: map[string]int64{"dns": 3}, Damaged: 1}
	for _, seed := range [][]byte{
		urlRecord{state: Queued, rank: 5, distance: 300, ref: makeRef(70, 3), retries: 1}.encode(),
		urlRecord{state: Visited, seq: 700}.encode(),
		queueValue(makeRef(900, 2), 3),
		hostRecord{queued: 3, total: 500, best: place{1, 2}}.encode(),
		visitRecord{key: Key{1, 2}, ref: makeRef(1, 1), rank: 3, outcome: o}.encode(),
		visitRecord{outcome: Outcome{Kind: "odd"}}.encode(),
		visitRecord{outcome: Outcome{Kind: "page", Relevant: true, SiteWide: true, Title: "Räder"}}.encode(),
		visitRecord{outcome: Outcome{Kind: "page", Relevant: true, Evidence: "fit .5", Promise: .5}}.encode(),
		encodeTotals(&t, 7, 1<<60),
		metaRecord{set: 1, pieces: 300}.encode(),
	} {
		f.Add(seed)
		f.Add(append(bytes.Clone(seed), 0))
		f.Add(seed[:len(seed)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		check := func(what string, err error, again func() []byte) {
			t.Helper()
			if err != nil {
				return
			}
			if got := again(); !bytes.Equal(got, b) {
				t.Errorf("%s: %x is taken, but would be written as %x", what, b, got)
			}
		}
		u, err := decodeURL(b)
		check("URL", err, u.encode)
		r, retries, err := decodeQueue(b)
		check("queue", err, func() []byte { return queueValue(r, retries) })
		h, err := decodeHost(b)
		check("host", err, h.encode)
		v, err := decodeVisit(b)
		check("visit", err, v.encode)
		totals, groups, seed, err := decodeTotals(b)
		check("totals", err, func() []byte { return encodeTotals(&totals, groups, seed) })
		m, err := decodeMeta(b)
		check("meta", err, m.encode)
		for i := range 3 { // any bytes
			decodeItem(b, i)
		}
	})
}
