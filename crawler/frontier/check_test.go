package frontier

import (
	"testing"
	"time"

	"gazehound/crawler/weburl"
	"github.com/google/go-cmp/cmp"
)

func at(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }

func checkURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A visit is revised in its place: its number stays, the totals are those of
// the new outcome, also when everything is counted again.
func TestRevise(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Entry{URL: checkURL(t, "http://a.example/"), Priority: 1}, Entry{URL: checkURL(t, "http://a.example/b"), Priority: 1}
	first := Check{First: at(1), Last: at(1), Read: at(1), Asked: at(1), Due: at(8), Wait: 7 * 24 * time.Hour, Relevant: true, Text: 7, ETag: `"x"`, Modified: "Sun"}
	for _, v := range []struct {
		e Entry
		o Outcome
	}{
		{a, Outcome{Kind: "page", Status: 200, Relevant: true, Addresses: []string{"one"}, Bytes: 10, Dropped: map[string]int64{"depth": 2}, At: at(1), Check: &first}},
		{b, Outcome{Kind: "error", Reason: "timeout", At: at(1), Check: &Check{Asked: at(1), Due: at(2), Wait: 24 * time.Hour}}},
	} {
		if _, err := f.Done(t.Context(), v.e, v.o); err != nil {
			t.Fatal(err)
		}
	}
	got, known, err := f.Check(KeyOf(a.URL))
	if diff := cmp.Diff(first, got); diff != "" || !known || err != nil {
		t.Errorf("check: %v, %v\n%s", known, err, diff)
	}
	if _, known, err := f.Check(KeyOf(checkURL(t, "http://c.example/"))); known || err != nil {
		t.Errorf("check of an unknown URL: %v, %v", known, err)
	}
	yearBefore := at(1).AddDate(-1, 0, 0) // the clock was set back
	for now, want := range map[time.Time][]string{at(1): nil, at(3): {"b"}, at(9): {"a", "b"}, yearBefore: {"a", "b"}} {
		due, all, err := f.Due(t.Context(), now, 5)
		var names []string
		for _, d := range due {
			names = append(names, map[Key]string{KeyOf(a.URL): "a", KeyOf(b.URL): "b"}[d.Key])
		}
		if diff := cmp.Diff(want, names); diff != "" || all != len(want) || err != nil {
			t.Errorf("due at %v: %v of %d, %v; want %v", now, names, all, err, want)
		}
	}
	if due, all, err := f.Due(t.Context(), at(9), 1); len(due) != 1 || all != 2 || due[0].Key != KeyOf(a.URL) || err != nil {
		t.Errorf("the most urgent of two is %v of %d, %v", due, all, err)
	}
	second := first
	second.Asked, second.Due, second.Asks = at(9), at(20), 1
	if err := f.Revise(t.Context(), KeyOf(a.URL), Outcome{Check: &second}); err != nil {
		t.Fatal(err)
	}
	want := f.Totals()
	if want.Pages != 1 || want.Relevant != 1 || want.Addresses != 1 || want.Visited != 2 {
		t.Fatalf("totals %+v", want)
	}
	more := Outcome{Kind: "page", Status: 200, Relevant: true, Addresses: []string{"two", "three"}, Check: &second}
	if err := f.Revise(t.Context(), KeyOf(a.URL), more); err != nil {
		t.Fatal(err)
	}
	now := Outcome{Kind: "page", Status: 200, Addresses: []string{"of no account"}, Bytes: 30, At: at(9), Check: &second}
	if err := f.Revise(t.Context(), KeyOf(a.URL), now, Entry{URL: checkURL(t, "http://a.example/new")}); err != nil {
		t.Fatal(err)
	}
	if err := f.Revise(t.Context(), KeyOf(checkURL(t, "http://never.example/")), now); err != nil {
		t.Fatal(err)
	}
	want = f.Totals()
	if want.Pages != 1 || want.Relevant != 0 || want.Addresses != 3 || want.Visited != 2 || want.Bytes != 30 || want.Queued != 1 || want.Dropped["depth"] != 0 ||
		want.Links != want.Queued+want.Visited+want.Repeats {
		t.Errorf("totals %+v", want)
	}
	n, _, err := f.Get(KeyOf(a.URL))
	if err != nil || n.Seq != 1 || n.Outcome.Bytes != 30 || n.Outcome.Relevant {
		t.Errorf("node %+v, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := recountAll(t, f).totals; got.Pages != 1 || got.Relevant != 0 || got.Addresses != 3 || got.Visited != 2 || got.Bytes != 30 {
		t.Errorf("counted again: %+v", got)
	}
	if got, _, err := f.Check(KeyOf(a.URL)); err != nil || got.Asks != 1 {
		t.Errorf("check after opening: %+v, %v", got, err)
	}
}
