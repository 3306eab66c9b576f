package frontier

import (
	"testing"
	"time"

	"gazehound/crawler/weburl"
)

// FuzzRecords reads any bytes as every kind of record. What can be read is written and read again
// without a change.
func FuzzRecords(f *testing.F) {
	u, _ := weburl.Parse("https://stadt.example/branchen?seite=2&x=<>")
	e := Entry{
		URL: u, Depth: 3, Distance: 2, Parent: KeyOf(u), Anchor: "Kontakt", Switch: true, Redirects: 1, Retries: 2,
		Found: time.Unix(1_790_000_000, 0),
	}
	o := Outcome{
		Kind: "page", Reason: "x", Status: 200, Relevant: true, Score: 0.5, LinkValue: 0.25, Title: "Räder", Evidence: "fit .5",
		Addresses: []string{"a", "b"}, Bytes: 7, Dropped: map[string]int64{"depth": 3}, At: time.UnixMilli(1),
	}
	for _, record := range []any{&e, &Entry{}, visitRecord{1, e, o}, Totals{Queued: 1, Errors: map[string]int64{"dns": 2}}, Check{ETag: `"\xff`}} {
		seed, err := encode(record)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
		f.Add(seed[:len(seed)-2])
	}
	for _, record := range []any{urlRecord{State: Queued, Rank: 5, Distance: 2, Retries: 1}, hostRecord{3, 9, 4, 5}, metaRecord{1, 3}} {
		f.Add(fixed(record))
		f.Add(append(fixed(record), 0))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		roundTrip(t, value, decode[Entry], encode)
		roundTrip(t, value, decode[visitRecord], encode)
		roundTrip(t, value, decode[Totals], encode)
		roundTrip(t, value, decode[Check], encode)
		flat := func(v any) ([]byte, error) { return fixed(v), nil }
		roundTrip(t, value, decodeFixed[urlRecord], flat)
		roundTrip(t, value, decodeFixed[hostRecord], flat)
		roundTrip(t, value, decodeFixed[metaRecord], flat)
		roundTrip(t, value, decodeFixed[uint64], flat)
	})
}

func roundTrip[T any](t *testing.T, value []byte, decode func([]byte) (T, error), encode func(any) ([]byte, error)) {
	t.Helper()
	first, err := decode(value)
	if err != nil {
		return
	}
	text, err := encode(first)
	if err != nil {
		return
	}
	again, err := decode(text)
	if err != nil {
		t.Fatalf("%q: %v", value, err)
	}
	if twice, err := encode(again); err != nil || string(twice) != string(text) {
		t.Errorf("%q became %q, and that %q, %v", value, text, twice, err)
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
