package frontier

import (
	"bytes"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzRecords reads any bytes as every kind of record. What can be read is written and read again
// without a change.
func FuzzRecords(f *testing.F) {
	u, _ := weburl.Parse("https://stadt.example/branchen?seite=2")
	e := Entry{
		URL: u, Depth: 3, Distance: 2, Parent: KeyOf(u), Anchor: "Kontakt", Switch: true, Redirects: 1, Retries: 2,
		Found: time.Unix(1_790_000_000, 0),
	}
	o := Outcome{
		Kind: "page", Reason: "x", Status: 200, Relevant: true, Score: 0.5, LinkValue: 0.25, Title: "Räder", Evidence: "fit .5",
		Addresses: []string{"a", "b"}, Bytes: 7, Dropped: map[string]int64{"depth": 3}, At: time.UnixMilli(1),
	}
	totals := Totals{Queued: 1, Errors: map[string]int64{"dns": 2}}
	for _, seed := range [][]byte{
		encodeQueued(&e),
		encodeQueued(&Entry{URL: u, Sitemap: true}),
		urlRecord{state: Queued, rank: 5, distance: 2, retries: 1}.encode(),
		urlRecord{state: Visited, seq: 77}.encode(),
		hostRecord{queued: 3, total: 9, best: place{4, 5}}.encode(),
		visitRecord{rank: 1, link: appendLink(nil, &e), outcome: o}.encode(),
		visitRecord{outcome: Outcome{Kind: "odd"}}.encode(),
		totals.encode(),
		encodeNumber(1 << 60),
		metaRecord{1, 3}.encode(),
	} {
		f.Add(seed)
		f.Add(append(bytes.Clone(seed), 0))
		f.Add(seed[:len(seed)-1])
	}
	equal := cmp.Options{
		cmp.AllowUnexported(urlRecord{}, hostRecord{}, visitRecord{}, place{}, metaRecord{}), cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b weburl.URL) bool { return a == b }),
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		roundTrip(t, equal, value, decodeURL, urlRecord.encode)
		roundTrip(t, equal, value, decodeHost, hostRecord.encode)
		roundTrip(t, equal, value, decodeVisit, visitRecord.encode)
		roundTrip(t, equal, value, decodeTotals, func(t Totals) []byte { return t.encode() })
		roundTrip(t, equal, value, decodeQueued, func(e Entry) []byte { return encodeQueued(&e) })
		roundTrip(t, equal, value, decodeMeta, metaRecord.encode)
		roundTrip(t, equal, value, decodeNumber, encodeNumber)
		roundTrip(t, equal, value, decodeCheck, Check.encode)
	})
}

func roundTrip[T any](t *testing.T, equal cmp.Option, value []byte, decode func([]byte) (T, error), encode func(T) []byte) {
	t.Helper()
	first, err := decode(value)
	if err != nil {
		return
	}
	again, err := decode(encode(first))
	if diff := cmp.Diff(first, again, equal); diff != "" || err != nil {
		t.Errorf("%x: %v\n%s", value, err, diff)
	}
}

// The keys of many are those of each.
func TestKeysOf(t *testing.T) {
	var es []Entry
	for _, raw := range []string{"http://a.example/1", "http://a.example/2", "http://b.example/2", "http://a.example/index.html", "http://a.example/"} {
		es = append(es, Entry{URL: parse(t, raw)})
	}
	es = append([]Entry{{}}, es...)
	for i, k := range KeysOf(es) {
		if want := KeyOf(es[i].URL); k != want {
			t.Errorf("%s has the key %s, want %s", es[i].URL, k, want)
		}
	}
}
