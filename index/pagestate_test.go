package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/geoparse"

	"github.com/google/go-cmp/cmp"
)

// A pageStream keeps the newest state of each page, as the stream of a cluster does.
type pageStream struct {
	last   uint64
	states []PageState
}

// take brings what an index has not sent into the stream.
func (s *pageStream) take(t testing.TB, x *Index) {
	t.Helper()
	for {
		states, err := x.Unsent(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(states) == 0 {
			return
		}
		for _, one := range states {
			s.last++
			one.Seq = s.last
			s.states = slices.DeleteFunc(s.states, func(old PageState) bool { return old.Page == one.Page })
			s.states = append(s.states, one)
		}
		if err := x.Sent(t.Context(), states); err != nil {
			t.Fatal(err)
		}
	}
}

// after returns what the stream holds after a position.
func (s *pageStream) after(seq uint64) []PageState {
	return slices.DeleteFunc(slices.Clone(s.states), func(one PageState) bool { return one.Seq <= seq })
}

// apply lets an index follow the stream to its end.
func (s *pageStream) apply(t testing.TB, x *Index) {
	t.Helper()
	at, err := x.Position()
	if err == nil {
		err = x.Apply(t.Context(), "stream", s.after(at.Seq))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func sender(t testing.TB) *Index {
	t.Helper()
	x := open(t)
	if err := x.Send(t.Context(), "stream"); err != nil {
		t.Fatal(err)
	}
	return x
}

// sameIndex compares what readers see of two indexes.
func sameIndex(t testing.TB, what string, got, want *Index) {
	t.Helper()
	if diff := cmp.Diff(walk(t, want, Query{}), walk(t, got, Query{})); diff != "" {
		t.Errorf("%s differs (- want, + got): %s", what, diff)
	}
	a, _ := got.Stats(t.Context())
	b, _ := want.Stats(t.Context())
	if a != b {
		t.Errorf("%s counts %+v, want %+v", what, a, b)
	}
	for _, text := range []string{"tischlerei", "lange straße", "laden brot"} {
		a, b := find(t, got, Query{Text: text}), find(t, want, Query{Text: text})
		if names(a) != names(b) || a.Total != b.Total {
			t.Errorf("%s answers %q with %q, want %q", what, text, names(a), names(b))
		}
	}
}

// oneOfTown is a page that has one of a few URLs, and anything on it: addresses that others state, too,
// homes, notes, or nothing.
func oneOfTown(r *rand.Rand, now time.Time) Document {
	host := r.IntN(3)
	var text strings.Builder
	fmt.Fprintf(&text, "Laden %d\n", r.IntN(9))
	for range r.IntN(4) {
		n := 1 + r.IntN(6)
		fmt.Fprintf(&text, "{Lange Straße %d, 26122 Oldenburg|8.2%d 53.14}\nBrot und Salz %d\n", n, n, r.IntN(99))
	}
	d := page(fmt.Sprintf("https://h%d.example/p%d", host, r.IntN(5)), "Seite", "de", text.String())
	d.Fetched = now
	for i := range d.Addresses {
		d.Addresses[i].Role = []geoparse.Role{geoparse.OwnRole, 0}[r.IntN(2)]
	}
	if r.IntN(6) == 0 {
		d.Notes = geoparse.Notes{Phone: fmt.Sprintf("+4944112345%d", r.IntN(3))}
	}
	if len(d.Addresses) > 0 && r.IntN(9) == 0 {
		d.Addresses[0].Home = true
	}
	return d
}

// Two indexes share the pages of a town by their hosts. Whatever happens to the pages, an index that
// follows both is at any time as one that had all of it, wherever it was stopped and whatever it gets
// again; and so is one that begins with what the stream holds at the end.
func TestFollowsPages(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			whole, follower := open(t), open(t)
			parts := []*Index{sender(t), sender(t)}
			var stream pageStream
			now := day
			for range 12 {
				for range r.IntN(6) {
					now = now.Add(time.Minute)
					d := oneOfTown(r, now)
					part := parts[int(d.URL[len("https://h")]-'0')%2]
					both := false
					do := func(x *Index) error { return x.Put(t.Context(), d) }
					switch r.IntN(6) {
					case 0:
						do = func(x *Index) error { return x.Renew(t.Context(), d) }
					case 1:
						do = func(x *Index) error { return x.Delete(t.Context(), d.URL) }
					case 2:
						both = true // the text may be anywhere
						do = func(x *Index) error {
							is := func(url string) bool { return url == d.URL }
							salt := func(text string) bool { return strings.Contains(text, "Salz 7") }
							_, err := x.Forget(t.Context(), is, nil, salt)
							return err
						}
					}
					for _, x := range []*Index{whole, parts[0], parts[1]} {
						if x != whole && x != part && !both {
							continue
						}
						if err := do(x); err != nil {
							t.Fatal(err)
						}
					}
					if r.IntN(4) == 0 { // before the page changes again, or after
						stream.take(t, part)
					}
				}
				for _, part := range parts {
					stream.take(t, part)
				}
				behind := stream.after(0)
				stream.apply(t, follower)
				before, _ := follower.State()
				if err := follower.Apply(t.Context(), "stream", behind[:r.IntN(len(behind)+1)]); err != nil {
					t.Fatal(err)
				}
				if after, _ := follower.State(); after.Generation != before.Generation && len(behind) == 0 {
					t.Errorf("what comes again changes the index")
				}
				sameIndex(t, "the follower", follower, whole)
			}
			anew := open(t)
			stream.apply(t, anew)
			sameIndex(t, "a follower that begins at the end", anew, whole)
		})
	}
}

// An index that begins to send marks what it had before; one that gets another stream marks all again.
func TestSendBegins(t *testing.T) {
	x := open(t)
	put(t, x, town()...)
	unsent := func() int {
		t.Helper()
		n, err := x.CountUnsent()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := unsent(); n > 0 {
		t.Errorf("%d pages are unsent of an index that does not send", n)
	}
	s, _ := x.Stats(t.Context())
	for _, stream := range []string{"first", "second"} {
		if err := x.Send(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
		if n := unsent(); n != s.Pages {
			t.Errorf("stream %s: %d of %d pages are unsent", stream, n, s.Pages)
		}
		new(pageStream).take(t, x)
		if err := x.Send(t.Context(), stream); err != nil || unsent() > 0 {
			t.Errorf("stream %s again: %d pages are unsent, %v", stream, unsent(), err)
		}
	}
}

// A page that changes while its state is on its way stays unsent.
func TestSentTooLate(t *testing.T) {
	x := sender(t)
	d := town()[0]
	put(t, x, d)
	states, err := x.Unsent(t.Context(), 10)
	if err != nil || len(states) != 1 {
		t.Fatalf("%d states, %v", len(states), err)
	}
	d.Fetched = day.Add(time.Hour)
	put(t, x, d)
	if err := x.Sent(t.Context(), states); err != nil {
		t.Fatal(err)
	}
	if n, err := x.CountUnsent(); n != 1 || err != nil {
		t.Errorf("%d unsent pages, %v", n, err)
	}
}

// Pages beyond those that a record keeps are counted at the follower, too.
func TestFollowsCounted(t *testing.T) {
	whole, x, follower := open(t), sender(t), open(t)
	var docs []Document
	for i := range maxKept + 9 {
		docs = append(docs, page(fmt.Sprintf("https://a.example/%d", i), "Laden", "de", "Laden\n{Lange Straße 5, 26122 Oldenburg|8.2 53.1}"))
	}
	put(t, whole, docs...)
	put(t, x, docs...)
	var stream pageStream
	stream.take(t, x)
	stream.apply(t, follower)
	sameIndex(t, "the follower", follower, whole)
	for _, d := range docs[:20] {
		for _, x := range []*Index{whole, x} {
			if err := x.Delete(t.Context(), d.URL); err != nil {
				t.Fatal(err)
			}
		}
	}
	stream.take(t, x)
	stream.apply(t, follower)
	if h := walk(t, follower, Query{}); len(h) != 1 || h[0].Mentions != maxKept-11 {
		t.Errorf("%+v", h)
	}
}

// What a follower's own blocklist has does not come in, and what was forgotten is in no file of it.
func TestFollowerForgets(t *testing.T) {
	x, follower := sender(t), open(t)
	follower.Blocked = &Blocked{
		Page:  func(url string) bool { return strings.Contains(url, "blocked") },
		Place: func(id string) bool { return id == PlaceOf("Kurze Straße", "7", "26122", "") },
	}
	put(t, x, page("https://blocked.example/", "Laden", "de", "Laden\n{Lange Straße 1, 26122 Oldenburg|8.2 53.1}"),
		page("https://a.example/", "Laden", "de", "Laden\n{Lange Straße 5, 26122 Oldenburg|8.2 53.1}\nund\n{Kurze Straße 7, 26122 Oldenburg|8.2 53.1}"),
		page("https://b.example/", "Laden", "de", "Xylographin\n{Lange Straße 9, 26122 Oldenburg|8.2 53.1}"))
	var stream pageStream
	stream.take(t, x)
	stream.apply(t, follower)
	if got := names(find(t, follower, Query{Sort: ByName})); got != "Laden; Xylographin" {
		t.Errorf("the follower has %s", got)
	}
	is := func(url string) bool { return url == "https://b.example/" }
	if _, err := x.Forget(t.Context(), is, nil, nil); err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Index{x, follower} {
		stream.take(t, x)
		stream.apply(t, follower)
		noFileHas(t, one.dir, "Xylographin")
		noFileHas(t, one.dir, "b.example")
	}
	for _, s := range stream.after(0) {
		if strings.Contains(string(s.Content), "Xylographin") {
			t.Errorf("message %d has what was forgotten", s.Seq)
		}
	}
}

// noFileHas checks the files of an index, which may be open, but for snapshots.
func noFileHas(t *testing.T, dir, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "bleve", "store", "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files, %v", err)
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(text)) {
			t.Errorf("%s has %q", file, text)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	x := sender(t)
	put(t, x, town()[0])
	states, err := x.Unsent(t.Context(), 1)
	if err != nil || len(states) != 1 {
		t.Fatal(err)
	}
	good := states[0]
	good.Seq = 1
	change := func(old, with string) PageState {
		s := good
		s.Content = []byte(strings.Replace(string(good.Content), old, with, 1))
		if string(s.Content) == string(good.Content) {
			t.Fatalf("no %q in %s", old, good.Content)
		}
		return s
	}
	follower := open(t)
	for name, s := range map[string]PageState{
		"ID": {Page: "../../etc", Seq: 1}, "other page": {Page: "0123456789abcdef", Seq: 1, Content: good.Content},
		"no JSON": change("{", "["), "no URL": change("https://", ""), "address": change(`"address":"`, `"address":"/`),
		"span": change(`"xe":`, `"xe":9`), "mention of another page": change(`"u":"https://www.`, `"u":"https://`),
		"no mention": change(`"says":{`, `"syas":{`), "words": change(`"words":1`, `"words":7`),
	} {
		if err := follower.Apply(t.Context(), "stream", []PageState{s}); !errors.Is(err, ErrPageState) || !strings.Contains(err.Error(), "message 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := follower.Apply(t.Context(), "stream", []PageState{good}); err != nil {
		t.Fatal(err)
	}
	if err := follower.Apply(t.Context(), "other", []PageState{good}); !errors.Is(err, ErrOtherStream) {
		t.Errorf("another stream: %v", err)
	}
}

// Whatever the content of a message: it is refused, or the index follows it, answers and sends it on.
func FuzzApply(f *testing.F) {
	from := sender(f)
	put(f, from, town()...)
	states, err := from.Unsent(f.Context(), 100)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range states {
		f.Add(s.Content)
	}
	f.Add([]byte(nil))
	x := sender(f)
	seq := uint64(0)
	f.Fuzz(func(t *testing.T, content []byte) {
		seq++
		var c pageContent
		json.Unmarshal(content, &c)
		s := PageState{Page: strings.TrimPrefix(pageID(c.URL), pagePrefix), Seq: seq, Content: content}
		if err := x.Apply(t.Context(), "stream", []PageState{s}); errors.Is(err, ErrPageState) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		for _, h := range walk(t, x, Query{}) {
			if h.Line() == "" && h.ID == "" {
				t.Errorf("an empty hit")
			}
		}
		again, err := x.Unsent(t.Context(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range again {
			if _, err := decodeState(s); err != nil {
				t.Errorf("what was taken is not sent on: %v", err)
			}
		}
	})
}
