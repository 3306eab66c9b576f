package frontier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/weburl"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// model is the frontier as one would write it without a disk, without limits
// and without haste.
type model struct {
	seed    uint64
	limit   int64
	urls    map[Key]*modelURL
	order   []Key // of visits
	totals  Totals
	waiting map[string]time.Time // by a claim
	resting map[string]time.Time // by Return
}

type modelURL struct {
	entry   Entry
	leased  bool
	visited bool
	outcome Outcome
	rests   time.Time // until then, by a Backoff of its own
}

func (m *model) push(es ...Entry) (added int) {
	for _, e := range es {
		m.totals.Links++
		k := KeyOf(e.URL)
		u := m.urls[k]
		switch {
		case u == nil && e.Parked != "" && m.fullOf(e):
			m.totals.Dropped["host_limit"]++
		case u == nil && e.Parked != "":
			m.urls[k] = &modelURL{entry: e}
		case u != nil && u.entry.Parked != "" && e.Parked == "":
			m.totals.Repeats++
			e.Retries = u.entry.Retries
			u.entry = e
		case u != nil && e.Parked != "":
			m.totals.Repeats++
		case u == nil && m.limit > 0 && m.ofHost(e.URL.Host()) >= m.limit:
			m.totals.Dropped["host_limit"]++
		case u == nil:
			m.urls[k] = &modelURL{entry: e}
			added++
		default:
			m.totals.Repeats++
			if !u.visited && !u.leased && !time.Now().Before(u.rests) && (e.Priority > u.entry.Priority || e.Priority == u.entry.Priority && e.Distance < u.entry.Distance) {
				e.Retries = u.entry.Retries
				u.entry = e
			}
		}
	}
	return added
}

func (m *model) ofHost(host string) (n int64) {
	for _, u := range m.urls {
		if u.entry.URL.Host() == host && u.entry.Parked == "" {
			n++
		}
	}
	return n
}

// fullOf reports whether there is no room for e among the links parked under its pattern.
func (m *model) fullOf(e Entry) bool {
	return m.limit > 0 && int64(len(m.parked(e.URL.Host(), e.Parked))) >= m.limit
}

// parked returns the links of a host that are parked under a pattern.
func (m *model) parked(host, pattern string) (all []*modelURL) {
	for _, u := range m.urls {
		if u.entry.URL.Host() == host && u.entry.Parked == pattern {
			all = append(all, u)
		}
	}
	return all
}

// best returns the entry that is to be served next, or nil.
func (m *model) best() *modelURL {
	var best *modelURL
	now := time.Now()
	place := func(u *modelURL) place {
		return place{rankOf(float32(u.entry.Priority)), tieOf(m.seed, KeyOf(u.entry.URL).url())}
	}
	for _, u := range m.urls {
		host := u.entry.URL.Host()
		if u.visited || u.leased || u.entry.Parked != "" || now.Before(u.rests) || now.Before(m.waiting[host]) || now.Before(m.resting[host]) {
			continue
		}
		if best == nil || place(u).before(place(best)) {
			best = u
		}
	}
	return best
}

func (m *model) count(state func(*modelURL) bool) (n int64) {
	for _, u := range m.urls {
		if state(u) {
			n++
		}
	}
	return n
}

func (m *model) leasedKeys() []Key {
	var keys []Key
	for k, u := range m.urls {
		if u.leased {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	return keys
}

func (m *model) want() Totals {
	t := m.totals.clone()
	addresses := map[string]bool{}
	hosts := map[string]bool{}
	for _, u := range m.urls {
		hosts[u.entry.URL.Host()] = true
		for _, a := range u.outcome.Addresses {
			if u.outcome.Relevant && u.outcome.Reason == "" {
				addresses[a] = true
			}
		}
	}
	t.Queued = m.count(func(u *modelURL) bool { return !u.visited && u.entry.Parked == "" })
	t.Parked = m.count(func(u *modelURL) bool { return u.entry.Parked != "" })
	t.Leased = m.count(func(u *modelURL) bool { return u.leased })
	t.Visited = int64(len(m.order))
	t.Addresses = int64(len(addresses))
	t.Hosts = int64(len(hosts))
	return t
}

// TestModel runs random operations, crashes among them, on a frontier with
// tiny buffers and on the model. Every claim must be for the host whose turn
// it is, everything else must agree.
func TestModel(t *testing.T) {
	urls := make([]weburl.URL, 120)
	for i := range urls {
		urls[i] = parse(t, fmt.Sprintf("http://h%d.example/%d", i*i%7, i))
	}
	rapid.Check(t, func(r *rapid.T) {
		var failure any // rapid's way to fail, which has to leave the bubble
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			checkModel(r, urls)
		})
		// Rapid tells failures apart by where they are: a case that has run out of
		// data, which is none, must not be taken for the one that is made smaller.
		if fmt.Sprintf("%T", failure) == "rapid.invalidData" {
			panic(failure)
		}
		if failure != nil {
			panic(failure)
		}
	})
}

// checkModel runs one sequence of operations.
func checkModel(t *rapid.T, urls []weburl.URL) {
	o := Options{InMemory: true, Memory: 32 << 20}
	o.Seed = rapid.Uint64Range(0, 3).Draw(t, "seed")
	o.MaxPerHost = rapid.SampledFrom([]int64{0, 0, 5}).Draw(t, "limit")
	w := &sideBySide{
		budget:  rapid.SampledFrom([]int{0, 40, 1 << 20}).Draw(t, "budget"),
		entries: rapid.SliceOfN(modelEntry(urls), 0, 8),
		m: &model{
			seed: o.Seed, limit: o.MaxPerHost, urls: map[Key]*modelURL{},
			waiting: map[string]time.Time{}, resting: map[string]time.Time{},
			totals: Totals{Errors: map[string]int64{}, Skipped: map[string]int64{}, Dropped: map[string]int64{}},
		},
	}
	var err error
	w.f, err = Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.f.Close() }()
	w.shrink()
	t.Repeat(map[string]func(*rapid.T){
		"push": w.push, "next": w.next, "done": w.done, "park": w.park, "unpark": w.unpark, "return": w.giveBack,
		"sleep": w.sleep, "crash": w.crash, "": w.agree,
	})
	w.walk(t)
}

// modelEntry draws entries, few enough that they meet.
func modelEntry(urls []weburl.URL) *rapid.Generator[Entry] {
	return rapid.Custom(func(t *rapid.T) Entry {
		priority := []float32{0.25, 0.5, 0.5, 1, -2, rapid.Float32Range(0, 1).Draw(t, "p")}
		return Entry{
			URL:      rapid.SampledFrom(urls).Draw(t, "url"),
			Priority: float64(rapid.SampledFrom(priority).Draw(t, "priority")),
			Depth:    rapid.IntRange(0, 3).Draw(t, "depth"),
			Distance: rapid.IntRange(0, 3).Draw(t, "distance"),
			Parent:   KeyOf(rapid.SampledFrom(urls).Draw(t, "parent")),
			Anchor:   rapid.StringN(0, 10, 20).Draw(t, "anchor"),
			Around:   rapid.StringN(0, 10, 20).Draw(t, "around"),
			Switch:   rapid.Bool().Draw(t, "switch"),
			Parked:   rapid.SampledFrom([]string{"", "", "", "p", "q"}).Draw(t, "parked"),
			Found:    time.Unix(rapid.Int64Range(0, 3).Draw(t, "found")*1000+1, 0).UTC(),
		}
	})
}

// modelOutcome draws the outcome of a visit.
func modelOutcome(t *rapid.T) Outcome {
	o := Outcome{
		Kind:      rapid.SampledFrom([]Kind{KindPage, KindPage, KindRedirect, KindError, KindSkipped}).Draw(t, "kind"),
		Status:    200,
		Relevant:  rapid.Bool().Draw(t, "relevant"),
		Score:     rapid.Float64Range(0, 1).Draw(t, "score"),
		Addresses: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3).Draw(t, "addresses"),
		Bytes:     rapid.Int64Range(0, 1000).Draw(t, "bytes"),
		At:        time.Unix(1000, 0).UTC(),
	}
	if o.Kind == KindError || o.Kind == KindSkipped {
		o.Reason = rapid.SampledFrom([]string{"dns", "robots"}).Draw(t, "reason")
	}
	if rapid.Bool().Draw(t, "dropped") {
		o.Dropped = map[string]int64{"depth": 2}
	}
	if o.Relevant {
		o.Title = rapid.StringMatching("[a-ü ]{0,5}").Draw(t, "title")
		o.Evidence = rapid.StringMatching("[a-ü ]{0,5}").Draw(t, "evidence")
	}
	if len(o.Addresses) == 0 {
		o.Addresses = nil
	}
	return o
}

// sideBySide does the same to a frontier and to its model, and compares what they say.
type sideBySide struct {
	f       *Frontier
	m       *model
	budget  int // items in memory
	entries *rapid.Generator[[]Entry]
}

// shrink makes the buffers tiny.
func (w *sideBySide) shrink() { w.f.block, w.f.budget = 2, w.budget }

// leased draws an entry that is leased.
func (w *sideBySide) leased(t *rapid.T) *modelURL {
	keys := w.m.leasedKeys()
	if len(keys) == 0 {
		t.Skip("nothing leased")
	}
	return w.m.urls[rapid.SampledFrom(keys).Draw(t, "leased")]
}

func (w *sideBySide) push(t *rapid.T) {
	es := w.entries.Draw(t, "entries")
	added, err := w.f.Push(context.Background(), es...)
	want := w.m.push(es...)
	if err != nil || added != want {
		t.Fatalf("Push = %d, %v, want %d", added, err, want)
	}
}

func (w *sideBySide) next(t *rapid.T) {
	if w.m.count(func(u *modelURL) bool { return !u.visited && u.entry.Parked == "" }) == 0 {
		if _, err := w.f.Next(context.Background(), always); !errors.Is(err, io.EOF) {
			t.Fatalf("Next of an empty frontier: %v", err)
		}
		return
	}
	busy := rapid.SliceOfN(rapid.Bool(), 7, 7).Draw(t, "busy")
	tries, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	wrong := ""
	e, err := w.f.Next(tries, func(host string) time.Duration {
		best := w.m.best()
		if best == nil || best.entry.URL.Host() != host {
			wrong = fmt.Sprintf("claim of %s; the best is %+v", host, best)
		}
		var i int
		fmt.Sscanf(host, "h%d", &i)
		if busy[i] {
			w.m.waiting[host] = time.Now().Add(4 * time.Second)
			return 4 * time.Second
		}
		return 0
	})
	if wrong != "" {
		t.Fatal(wrong)
	}
	best := w.m.best()
	if best == nil {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Next = %v, %v, but nobody may be asked", e, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("Next: %v, want %v", err, best.entry)
	}
	same := cmp.Comparer(func(a, b weburl.URL) bool { return a == b })
	if diff := cmp.Diff(best.entry, e, same); diff != "" {
		t.Fatalf("Next (-want +got):\n%s", diff)
	}
	best.leased = true
}

func (w *sideBySide) done(t *rapid.T) {
	u := w.leased(t)
	o := modelOutcome(t)
	es := w.entries.Draw(t, "found")
	added, err := w.f.Done(context.Background(), u.entry, o, es...)
	u.leased, u.visited, u.outcome = false, true, o
	w.m.order = append(w.m.order, KeyOf(u.entry.URL))
	delete(w.m.waiting, u.entry.URL.Host())
	w.m.totals.add(&o)
	want := w.m.push(es...)
	if err != nil || added != want {
		t.Fatalf("Done = %d, %v, want %d", added, err, want)
	}
}

func (w *sideBySide) park(t *rapid.T) {
	u := w.leased(t)
	e := u.entry
	e.Parked = rapid.SampledFrom([]string{"p", "q"}).Draw(t, "pattern")
	if err := w.f.Park(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	u.leased = false
	delete(w.m.waiting, e.URL.Host())
	u.entry = e // never dropped: it was accepted
}

func (w *sideBySide) unpark(t *rapid.T) {
	host := fmt.Sprintf("h%d.example", rapid.IntRange(0, 6).Draw(t, "host"))
	pattern := rapid.SampledFrom([]string{"p", "q"}).Draw(t, "pattern")
	released, err := w.f.Unpark(context.Background(), ParkedPattern{Host: host, Pattern: pattern},
		func(*Entry) float64 { return 0.5 })
	all := w.m.parked(host, pattern)
	if err != nil || released != len(all) {
		t.Fatalf("Unpark = %d, %v, want %d", released, err, len(all))
	}
	for _, u := range all {
		u.entry.Parked, u.entry.Priority = "", 0.5
	}
}

func (w *sideBySide) giveBack(t *rapid.T) {
	u := w.leased(t)
	host := u.entry.URL.Host()
	u.entry.Retries = rapid.IntRange(0, 2).Draw(t, "retries")
	wait := time.Duration(rapid.SampledFrom([]int{0, 0, 10, 2000}).Draw(t, "wait")) * time.Millisecond
	alone := rapid.Bool().Draw(t, "alone")
	if err := w.f.Return(u.entry, Backoff{Wait: wait, Host: !alone}); err != nil {
		t.Fatal(err)
	}
	u.leased = false
	delete(w.m.waiting, host)
	if alone {
		u.rests = time.Now().Add(wait)
	} else if until := time.Now().Add(wait); until.After(w.m.resting[host]) {
		w.m.resting[host] = until
	}
}

func (w *sideBySide) sleep(t *rapid.T) {
	time.Sleep(time.Duration(rapid.SampledFrom([]int{1, 20, 5000}).Draw(t, "ms")) * time.Millisecond)
}

func (w *sideBySide) crash(t *rapid.T) {
	w.f.halt()
	var err error
	w.f, err = start(w.f.options, w.f.store)
	if err != nil {
		t.Fatal(err)
	}
	w.shrink()
	clear(w.m.waiting)
	clear(w.m.resting)
	for _, u := range w.m.urls {
		u.leased, u.rests = false, time.Time{}
	}
}

// agree compares the totals, after each operation, and checks the frontier for itself.
func (w *sideBySide) agree(t *rapid.T) {
	got := w.f.Totals()
	got.ReadyHosts, got.WaitingHosts, got.NextHost = 0, 0, 0
	if diff := cmp.Diff(w.m.want(), got); diff != "" {
		t.Fatalf("Totals (-want +got):\n%s", diff)
	}
	checkStore(t, w.f)
	checkMemory(t, w.f)
}

// walk compares the crawl trees.
func (w *sideBySide) walk(t *rapid.T) {
	var walked []Key
	err := w.f.Walk(context.Background(), 0, func(n Node) error {
		k := KeyOf(n.URL)
		walked = append(walked, k)
		if diff := cmp.Diff(w.m.urls[k].outcome, n.Outcome); diff != "" || n.Seq != uint64(len(walked)) {
			t.Errorf("visit %d (-want +got):\n%s", n.Seq, diff)
		}
		return nil
	})
	if err != nil || !slices.Equal(walked, w.m.order) {
		t.Fatalf("Walk = %v, %v, want %v", walked, err, w.m.order)
	}
	for k, u := range w.m.urls {
		n, ok, err := w.f.Get(k)
		if err != nil || !ok || (n.State == Visited) != u.visited ||
			!u.visited && (n.Anchor != u.entry.Anchor || n.Parent != u.entry.Parent) {
			t.Fatalf("Get = %+v, %v, %v, want %+v", n, ok, err, u)
		}
	}
}

// A counted is what the URLs and visits of a store say together.
type counted struct {
	totals Totals
	hosts  map[uint64]hostRecord
}

// recountAll reads the whole store.
func recountAll(t rapid.TB, f *Frontier) (c counted) {
	c.hosts = make(map[uint64]hostRecord)
	n := &c.totals
	n.Errors, n.Skipped, n.Dropped = make(map[string]int64), make(map[string]int64), make(map[string]int64)
	each := func(kind byte, fn func(key, value []byte) error) {
		if err := f.view.scan([]byte{kind}, nil, fn); err != nil {
			t.Fatal(err)
		}
	}
	each('u', func(key, value []byte) error {
		r, err := decodeFixed[urlRecord](value)
		k := Key(key[1:])
		if r.State == Parked {
			n.Parked++
			if e, kept, err := get(f.view, parkedKey(k.host(), r.Seq, k.url()), decodeLink); !kept || err != nil || KeyOf(e.URL) != k || parkedOf(e.Parked) != r.Seq {
				t.Fatalf("%s is not parked at its place: %+v, %v", k, e, err)
			}
			return err
		}
		h, known := c.hosts[k.host()]
		if !known {
			h.Rank, h.Tie = nowhere.rank, nowhere.tie
		}
		h.Total++
		if r.State == Queued {
			h.Queued++
			n.Queued++
			p := place{r.Rank, tieOf(f.seed, k.url())}
			if p.before(h.best()) {
				h.Rank, h.Tie = p.rank, p.tie
			}
			if e, waits, err := get(f.view, queueKey(k.host(), p), decodeLink); !waits || err != nil || KeyOf(e.URL) != k {
				t.Fatalf("%s is not at its place: %+v, %v", k, e, err)
			}
		}
		c.hosts[k.host()] = h
		return err
	})
	each('v', func(key, value []byte) error {
		r, err := decode[visitRecord](value)
		n.add(&r.Outcome)
		return err
	})
	each('a', func(_, _ []byte) error { n.Addresses++; return nil })
	return c
}

// checkStore holds the stored totals and hosts against a recount.
func checkStore(t rapid.TB, f *Frontier) {
	c := recountAll(t, f)
	stored := f.totals.clone()
	c.totals.Links, c.totals.Repeats, c.totals.Damaged = stored.Links, stored.Repeats, stored.Damaged
	if n := stored.Dropped["host_limit"]; n > 0 {
		c.totals.Dropped["host_limit"] = n
	}
	if diff := cmp.Diff(c.totals, stored); diff != "" {
		t.Fatalf("stored totals (-recounted +stored):\n%s", diff)
	}
	parked, err := f.Parked()
	kept := int64(0)
	for _, p := range parked {
		kept += p.Links
	}
	links := int64(0)
	each := func(_, _ []byte) error { links++; return nil }
	if err := errors.Join(err, f.view.scan([]byte{'k'}, nil, each)); err != nil || kept != stored.Parked || links != kept {
		t.Fatalf("%d parked, %d by patterns, %d kept (%v)", stored.Parked, kept, links, err)
	}
	if sum := stored.Queued + stored.Parked + stored.Visited + stored.Repeats + total(stored.Dropped); sum != stored.Links {
		t.Fatalf("%d links seen, but %d accounted for: %+v", stored.Links, sum, stored)
	}
	hosts := map[uint64]hostRecord{}
	err = f.view.scan([]byte{'h'}, nil, func(key, value []byte) error {
		r, err := decodeFixed[hostRecord](value)
		want := c.hosts[idOf(key)]
		if r.Queued > 0 && want.best().before(r.best()) {
			t.Fatalf("host %x promises %v, but has %v", idOf(key), r.best(), want.best())
		}
		r.Rank, r.Tie = want.Rank, want.Tie
		if r.Total > 0 {
			hosts[idOf(key)] = r
		}
		return err
	})
	if err != nil || !maps.Equal(hosts, c.hosts) {
		t.Fatalf("hosts = %v, recounted %v (%v)", hosts, c.hosts, err)
	}
	places := int64(0)
	if err := f.view.scan([]byte{'q'}, nil, func(_, _ []byte) error { places++; return nil }); err != nil || places != stored.Queued {
		t.Fatalf("%d places in the queue for %d entries (%v)", places, stored.Queued, err)
	}
}

func total(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return n
}

// checkMemory holds the queue in memory against itself.
func checkMemory(t rapid.TB, f *Frontier) {
	var queued, leased, loaded, items, ready, waiting int
	for _, h := range f.hosts {
		queued += int(h.queued)
		switch h.in {
		case isReady:
			ready++
			if f.ready.hosts[h.slot] != h {
				t.Fatalf("host %x is not in its slot", h.id)
			}
		case isWaiting, isResting:
			waiting++
			if f.waiting.hosts[h.slot] != h {
				t.Fatalf("host %x is not in its slot", h.id)
			}
		case isIdle:
			if h.waiting() > 0 {
				t.Fatalf("host %x has %d waiting entries and is in no heap", h.id, h.waiting())
			}
		}
		q := h.buffer
		if q == nil {
			continue
		}
		if loaded++; !f.loaded[h] {
			t.Fatalf("host %x has a buffer nobody knows of", h.id)
		}
		items += len(q.items)
		for _, l := range q.leased {
			if !l.delayed {
				leased++
			}
		}
		moved := 0
		for i, it := range q.items {
			if it.stored != it.rank {
				moved++
			}
			if i > 0 && !it.place.before(q.items[i-1].place) {
				t.Fatalf("host %x: buffer out of order", h.id)
			}
		}
		if moved != q.moved || h.best != h.bound() {
			t.Fatalf("host %x: %d of %d entries moved; best is %v, not %v", h.id, moved, q.moved, h.best, h.bound())
		}
	}
	if int64(queued) != f.totals.Queued || int64(leased) != f.leased || loaded != len(f.loaded) || items != f.items || ready != f.ready.Len() || waiting != f.waiting.Len() {
		t.Fatalf("queued %d %d, leased %d %d, loaded %d %d, items %d %d, ready %d %d, waiting %d %d",
			queued, f.totals.Queued, leased, f.leased, loaded, len(f.loaded), items, f.items, ready, f.ready.Len(), waiting, f.waiting.Len())
	}
	for _, q := range []*hostHeap{&f.ready, &f.waiting} {
		for i := 1; i < len(q.hosts); i++ {
			if q.Less(i, (i-1)/2) {
				t.Fatalf("heap out of order at %d", i)
			}
		}
	}
}
