package frontier_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// owned returns a link of a node, found by its number.
func owned(owner string, i int) frontier.Entry {
	e := entry(i%5, i, float64(i%7)/7)
	e.Owner, e.Anchor = owner, fmt.Sprintf("link %d", i)
	return e
}

// waiting returns all links that wait, with their owners, and removes them.
func waiting(t rapid.TB, f *frontier.Frontier) (all []string) {
	t.Helper()
	ctx := context.Background()
	for {
		out, err := f.Outgoing(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Links) == 0 {
			return all
		}
		for _, e := range out.Links {
			all = append(all, e.Owner+" "+e.URL.String())
		}
		if err := f.Sent(ctx, out); err != nil {
			t.Fatal(err)
		}
	}
}

// Links for other nodes wait in the order in which they were found, are in no count of the queue, and
// keep all that is known of them, after a restart, too.
func TestOutbox(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	push(t, f, entry(0, 0, 1))
	visit := next(t, f)
	found := []frontier.Entry{owned("b", 1), entry(1, 2, .5), owned("c", 3), owned("b", 3)}
	if added, err := f.Done(t.Context(), visit, page, found...); added != 1 || err != nil {
		t.Fatal(added, err)
	}
	if err := f.Revise(t.Context(), frontier.KeyOf(visit.URL), page, owned("b", 4)); err != nil {
		t.Fatal(err)
	}
	check := func(when string, bytes int64) {
		t.Helper()
		totals := f.Totals()
		if totals.Queued != 1 || totals.Links != 2 || totals.Outgoing != bytes || bytes == 0 {
			t.Errorf("%s: %+v, want %d bytes that wait", when, totals, bytes)
		}
		if _, known, err := f.Get(frontier.KeyOf(found[0].URL)); known || err != nil {
			t.Errorf("%s: a link of another node is known: %v", when, err)
		}
	}
	bytes := f.Totals().Outgoing
	check("at once", bytes)
	closed(t, f)
	f = open(t, frontier.Options{Dir: dir})
	check("opened again", bytes)
	out, err := f.Outgoing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []frontier.Entry{found[0], found[2], found[3], owned("b", 4)}
	for i := range want {
		want[i].Priority = float64(float32(want[i].Priority))
	}
	if !slices.Equal(out.Links, want) {
		t.Errorf("got %+v, want %+v", out.Links, want)
	}
	if err := f.Sent(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if n := f.Totals().Outgoing; n != 0 {
		t.Errorf("%d bytes wait", n)
	}
}

// A link that is on every page is kept once for each node, and again where its priority has risen, or its
// owner may have lost it. A restart may repeat it.
func TestOutboxKnows(t *testing.T) {
	f := open(t, frontier.Options{InMemory: true})
	better, alike := owned("b", 1), owned("b", 1)
	better.Priority, alike.Priority = better.Priority+.5, alike.Priority+.05
	for range 3 {
		push(t, f, owned("b", 1), owned("c", 1))
		push(t, f, alike)
	}
	url := better.URL.String()
	if got, want := waiting(t, f), []string{"b " + url, "c " + url}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	push(t, f, better, owned("c", 1))
	if got, want := waiting(t, f), []string{"b " + url}; !slices.Equal(got, want) {
		t.Errorf("a better link: got %q, want %q", got, want)
	}
	f.Resend()
	push(t, f, owned("c", 1))
	if got, want := waiting(t, f), []string{"c " + url}; !slices.Equal(got, want) {
		t.Errorf("after Resend: got %q, want %q", got, want)
	}
}

// Whatever is kept, sent and forgotten, with restarts at any moment: nothing is lost, nothing comes twice,
// the order is that of Push, and links that were taken to be sent are those that are taken again.
func TestOutboxKeepsAll(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		o := frontier.Options{InMemory: true}
		if rapid.IntRange(0, 19).Draw(r, "on disk") == 0 { // which takes long to open
			o = frontier.Options{Dir: t.TempDir()}
		}
		f := open(t, o)
		defer func() { f.Close() }()
		var want []string // that wait
		made, highest := 0, uint64(0)
		var taken frontier.Outgoing
		forgotten := false // some of what is taken; the rest travels under the same numbers
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			steps := []string{"push", "push", "many", "take", "sent", "reopen", "forget"}
			if o.InMemory {
				steps = steps[:5]
			}
			switch what := rapid.SampledFrom(steps).Draw(r, "what"); what {
			case "push", "many":
				n := rapid.IntRange(1, 20).Draw(r, "links")
				if what == "many" {
					n += 4000
				}
				es := make([]frontier.Entry, n)
				for i := range es {
					es[i] = owned([]string{"b", "c"}[made%2], made)
					want = append(want, es[i].Owner+" "+es[i].URL.String())
					made++
				}
				push(t, f, es...)
			case "take":
				out, err := f.Outgoing(t.Context())
				if err != nil {
					r.Fatal(err)
				}
				if taken.Last > 0 && !slices.Equal(taken.Links, out.Links) {
					r.Fatalf("taken again: %d links, at first %d", len(out.Links), len(taken.Links))
				}
				if len(out.Links) > 0 && taken.Last == 0 && !forgotten && out.First <= highest {
					r.Fatalf("number %d is used a second time", out.First)
				}
				allForgotten := forgotten && out.Last > 0
				if (len(out.Links) == 0) != (len(want) == 0) && !allForgotten {
					r.Fatalf("took %d links of %d", len(out.Links), len(want))
				}
				taken, highest, forgotten = out, max(highest, out.Last), false
			case "sent":
				if taken.Last == 0 {
					continue
				}
				if err := f.Sent(t.Context(), taken); err != nil {
					r.Fatal(err)
				}
				for i, e := range taken.Links {
					if got := e.Owner + " " + e.URL.String(); got != want[i] {
						r.Fatalf("sent %s, want %s", got, want[i])
					}
				}
				want, taken = want[len(taken.Links):], frontier.Outgoing{}
			case "reopen":
				closed(t, f)
				f = open(t, o)
			case "forget":
				host := fmt.Sprintf("h%d.example", rapid.IntRange(0, 4).Draw(r, "host"))
				n, err := f.Forget(t.Context(), frontier.Removal{URL: func(u weburl.URL) bool { return u.Host() == host }}, nil)
				if err != nil {
					r.Fatal(err)
				}
				before := len(want)
				want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "//"+host+"/") })
				if n.Unsent != before-len(want) {
					r.Fatalf("forgot %d links, want %d", n.Unsent, before-len(want))
				}
				forgotten = forgotten || taken.Last > 0
				taken = frontier.Outgoing{}
				f = open(t, o)
			}
			if (f.Totals().Outgoing == 0) != (len(want) == 0) {
				r.Fatalf("%d bytes of %d links wait", f.Totals().Outgoing, len(want))
			}
		}
		if got := waiting(t, f); !slices.Equal(got, want) {
			r.Fatalf("%d links wait, want %d: %s", len(got), len(want), cmp.Diff(want, got))
		}
		if n := f.Totals().Outgoing; n != 0 {
			r.Fatalf("%d bytes wait", n)
		}
	})
}

// Words of waiting links are forgotten, and a rebuilt store has the links.
func TestOutboxForgetsWords(t *testing.T) {
	dir := t.TempDir()
	f := open(t, frontier.Options{Dir: dir})
	push(t, f, owned("b", 1), owned("b", 2), owned("c", 3))
	n, err := f.Forget(t.Context(), frontier.Removal{Text: func(s string) bool { return strings.Contains(s, "link 2") }}, nil)
	if err != nil || n.Links != 1 || n.Unsent != 0 {
		t.Fatalf("forgot %+v, %v", n, err)
	}
	rebuilt := t.TempDir()
	if lost, err := frontier.Rebuild(dir, rebuilt); err != nil || len(lost) > 0 {
		t.Fatal(lost, err)
	}
	f = open(t, frontier.Options{Dir: rebuilt})
	defer closed(t, f)
	out, err := f.Outgoing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range out.Links {
		words = append(words, e.Owner+" "+e.Anchor)
	}
	if want := []string{"b link 1", "b ", "c link 3"}; !slices.Equal(words, want) {
		t.Errorf("got %q, want %q", words, want)
	}
}
