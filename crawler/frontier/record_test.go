package frontier

import (
	"bytes"
	"math"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// FuzzRecords reads any bytes as every kind of record. What can be read is
// written and read again without a change.
func FuzzRecords(f *testing.F) {
	u, _ := weburl.Parse("https://stadt.example/branchen?seite=2")
	e := Entry{URL: u, Depth: 3, Distance: 2, Parent: KeyOf(u), Anchor: "Kontakt", Switch: true, Redirects: 1, Found: time.Unix(1_790_000_000, 0)}
	var g group
	g.add(&e)
	e.Found, e.Parent = time.Time{}, Key{1}
	g.add(&e)
	codec, err := newCodec(1 << 20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(g.encode())
	f.Add(codec.pack(&g))
	f.Add(urlRecord{state: Queued, rank: 5, distance: 2, ref: makeRef(300, 7), retries: 1}.encode())
	f.Add(urlRecord{state: Visited, seq: 77}.encode())
	f.Add(hostRecord{queued: 3, total: 9, best: place{4, 5}}.encode())
	f.Add(visitRecord{key: KeyOf(u), ref: 3, rank: 1, outcome: Outcome{
		Kind: "page", Reason: "x", Status: 200, Relevant: true, Score: 0.5, Addresses: []string{"a", "b"}, Bytes: 7, Dropped: map[string]int64{"depth": 3}, At: time.UnixMilli(1),
	}}.encode())
	f.Add(visitRecord{outcome: Outcome{Kind: "odd", Score: math.NaN()}}.encode())
	f.Add(encodeTotals(&Totals{Queued: 1, Errors: map[string]int64{"dns": 2}}, 4, 5))
	f.Add(queueValue(9, 2))
	f.Add(metaRecord{1, 3}.encode())
	all := cmp.Options{cmp.AllowUnexported(urlRecord{}, hostRecord{}, visitRecord{}, place{}), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}
	f.Fuzz(func(t *testing.T, value []byte) {
		same := func(kind string, first, second any, err error) {
			if diff := cmp.Diff(first, second, all); diff != "" || err != nil {
				t.Errorf("%s %x: %v\n%s", kind, value, err, diff)
			}
		}
		if r, err := decodeURL(value); err == nil {
			again, err := decodeURL(r.encode())
			same("URL", r, again, err)
		}
		if r, err := decodeHost(value); err == nil {
			again, err := decodeHost(r.encode())
			same("host", r, again, err)
		}
		if r, err := decodeVisit(value); err == nil {
			again, err := decodeVisit(r.encode())
			same("visit", r, again, err)
		}
		if r, groups, seed, err := decodeTotals(value); err == nil {
			again, g, s, err := decodeTotals(encodeTotals(&r, groups, seed))
			same("totals", r, again, err)
			if g != groups || s != seed {
				t.Errorf("totals %x: groups %d %d, seed %d %d", value, groups, g, seed, s)
			}
		}
		if r, retries, err := decodeQueue(value); err == nil {
			again, n, err := decodeQueue(queueValue(r, retries))
			if again != r || n != retries || err != nil {
				t.Errorf("queue %x", value)
			}
		}
		if r, err := decodeMeta(value); err == nil {
			if again, err := decodeMeta(r.encode()); again != r || err != nil {
				t.Errorf("meta %x", value)
			}
		}
		for i := range 3 {
			item, err := decodeItem(value, i)
			if err != nil {
				continue
			}
			var g group
			g.add(&item)
			again, err := unpack(codec, codec.pack(&g), 0)
			if err != nil || again != item {
				t.Errorf("link %d of %x: %+v, then %+v (%v)", i, value, item, again, err)
			}
		}
		if _, err := unpack(codec, value, 0); err == nil && len(value) == 0 {
			t.Error("nothing is a link")
		}
	})
}

// TestGroupBounds: the largest group there can be is read again.
func TestGroupBounds(t *testing.T) {
	codec, err := newCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("x"), weburl.MaxLength-len("http://a.example/"))
	e := Entry{URL: parse(t, "http://a.example/"+string(long)), Anchor: string(long[:MaxAnchor]), Title: string(long[:MaxAnchor]), Around: string(long[:MaxAround])}
	var g group
	for i := byte(0); !g.full(); i++ {
		e.Parent = Key{i}
		g.add(&e)
	}
	last := len(g.ends) - 1
	if got, err := unpack(codec, codec.pack(&g), last); err != nil || got != e {
		t.Errorf("link %d of %d bytes: %+v, %v", last, len(g.data), got, err)
	}
	if _, err := unpack(codec, codec.pack(&g), last+1); err == nil {
		t.Error("there is a link after the last one")
	}
	var many group
	e.URL = parse(t, "http://a.example/")
	for i := byte(0); !many.full(); i++ {
		many.add(&Entry{URL: e.URL, Parent: Key{i}})
	}
	if len(many.ends) != maxGroup {
		t.Errorf("%d short links fill a group", len(many.ends))
	}
	if got, err := unpack(codec, codec.pack(&many), maxGroup-1); err != nil || got.Parent != (Key{maxGroup - 1}) {
		t.Errorf("last link: %+v, %v", got, err)
	}
}

// unpack returns one link of the record of a group.
func unpack(c *codec, value []byte, index int) (Entry, error) {
	plain, err := c.plain(value, nil)
	if err != nil {
		return Entry{}, err
	}
	return decodeItem(plain, index)
}

// Words that a store of format 2 has as zstd frames are read; what says to be
// more than a group can be is damaged, and takes no memory.
func TestOtherGroups(t *testing.T) {
	codec, err := newCodec(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer codec.close()
	e := Entry{URL: parse(t, "https://stadt.example/"), Anchor: "Rathaus", Depth: 1}
	var g group
	g.add(&e)
	zstds, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zstds.Close()
	if got, err := unpack(codec, zstds.EncodeAll(g.encode(), []byte{asZstd}), 0); err != nil || got != e {
		t.Errorf("of format 2: %+v, %v; want %+v", got, err, e)
	}
	huge := make([]byte, maxPlain+1)
	for name, value := range map[string][]byte{
		"none":       nil,
		"unknown":    append([]byte{3}, g.encode()...),
		"large zstd": zstds.EncodeAll(huge, []byte{asZstd}),
		"large S2":   append([]byte{asS2}, s2.Encode(nil, huge)...),
		"no S2":      {asS2, 5, 0xff, 0xff},
	} {
		if _, err := codec.plain(value, nil); err != errDamaged {
			t.Errorf("%s: %v, want %v", name, err, errDamaged)
		}
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
