package predictor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// someLink makes one of many links; those with "kontakt" are the good ones.
func someLink(r *rand.Rand) (l Link, good bool) {
	good = r.IntN(3) == 0
	l = Link{Host: fmt.Sprintf("h%d.example", r.IntN(50)), Path: fmt.Sprintf("/a/%d/b-%d.html?id=%d", r.IntN(10), r.IntN(1000), r.IntN(1000)), Anchor: fmt.Sprint("wort", r.IntN(200)), Distance: 1 + r.IntN(4)}
	if good {
		l.Anchor += " kontakt"
	}
	return l, good
}

func learnLinks(m *Model, n int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		l, good := someLink(r)
		m.Teach(Example{Link: l, Trail: [][]string{Terms(l)}, Relevant: good, LinkValue: r.Float64() / 4})
	}
}

// A trained model gives good links higher values than others.
func TestValueLearns(t *testing.T) {
	m := newModel(t, nil)
	near, far := Link{Host: "x.example", Path: "/", Distance: 1}, Link{Host: "x.example", Path: "/", Distance: 4}
	if a, b := m.Value(near), m.Value(far); !(a > b && b > 0) {
		t.Errorf("before anything is learned a near link has value %v and a far one %v", a, b)
	}
	learnLinks(m, 2000, 1)
	r := rand.New(rand.NewPCG(2, 2))
	var judged []judgement
	for range 500 {
		l, good := someLink(r)
		judged = append(judged, judge(m.Value(l), good))
	}
	if area, _ := auc(judged); area < 0.95 {
		t.Errorf("area under the ROC curve %v", area)
	}
}

// Only relevant pages, or none, or targets that are no numbers leave a value
// between 0 and 1.
func TestValueIsAlwaysANumber(t *testing.T) {
	for _, target := range []float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), -3, 7} {
		m := newModel(t, nil)
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 3000 {
			l, _ := someLink(r)
			m.LearnValue(l, Terms(l), target)
			if w := m.Value(l); !(w > 0 && w < 1) {
				t.Fatalf("target %v: after %d links a value is %v", target, i+1, w)
			}
		}
	}
}

// Any link at all has a value, and its explanation adds up to it.
func TestExplainValueAddsUp(t *testing.T) {
	for _, depths := range []int{1, DefaultDepths, MaxDepth} {
		m := newModel(t, func(o *Options) { o.Depths = depths })
		learnLinks(m, 300, 3)
		rapid.Check(t, func(t *rapid.T) {
			l := Link{
				Host: rapid.OneOf(rapid.SampledFrom([]string{"h1.example", "h2.example"}), rapid.String()).Draw(t, "host"), Path: rapid.String().Draw(t, "path"),
				Anchor: rapid.String().Draw(t, "anchor"), Around: "kontakt", Distance: rapid.Int().Draw(t, "distance"),
			}
			w, x := m.Value(l), m.ExplainValue(l)
			sum := 0.0
			for _, term := range x.Terms {
				sum += term.LogOdds
			}
			if !(w > 0 && w < 1) || x.Value != w || math.Abs(sum-x.LogOdds) > 1e-9 || math.Abs(sigmoid(sum)-w) > 1e-9 {
				t.Fatalf("value %v, explained as %v: the terms add up to %v of %v", w, x.Value, sum, x.LogOdds)
			}
		})
	}
}

// An untrained model prefers links to contact pages, whichever family of terms names them, and
// soon stops doing so in a crawl where such links lead nowhere.
func TestContactStart(t *testing.T) {
	plain := Link{Host: "www.a.example", Path: "/x", Anchor: "More", Distance: 1}
	for _, contact := range []Link{
		{Host: "www.a.example", Path: "/x", Anchor: "Kontakt", Distance: 1},
		{Host: "www.a.example", Path: "/contact", Anchor: "More", Distance: 1},
		{Host: "www.a.example", Path: "/x", Anchor: "More", Title: "Coordonnées", Distance: 1},
	} {
		m := newModel(t, nil)
		value := func(l Link) float64 { return m.Value(l) }
		if value(contact) < 1.2*value(plain) {
			t.Errorf("untrained: %+v has value %v, another link %v", contact, value(contact), value(plain))
		}
		for range 100 {
			m.LearnValue(contact, Terms(contact), 0)
			m.LearnValue(plain, Terms(plain), 1)
		}
		if value(contact) > value(plain) {
			t.Errorf("where they lead nowhere: %+v has value %v, another link %v", contact, value(contact), value(plain))
		}
		m = newModel(t, func(o *Options) { o.WithoutContacts = true })
		if value(contact) != value(plain) {
			t.Errorf("left out: %+v has value %v, another link %v", contact, value(contact), value(plain))
		}
	}
}

func TestShape(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"/", "h/"},
		{"/impressum.html", "h/*.html"},
		{"/news/2024/07/town-fair", "h/news/0/0/*"},
		{"/a12b/c?id=7&page=2", "h/a0b/*&id&page"},
		{"/index.php?cat=4", "h/*.php&cat"},
		{"/dir/", "h/dir/"},
		{"", "h*"[:1]},
		{"?x", "h&x"},
	} {
		if got := shapeOf(Link{Host: "h", Path: c.path}); got != c.want {
			t.Errorf("shape of %q = %q, want %q", c.path, got, c.want)
		}
	}
}

// A saved model answers as the one that was saved, and learns on as it would.
func TestValueIsKept(t *testing.T) {
	m := newModel(t, nil)
	learnLinks(m, 1000, 4)
	path := filepath.Join(t.TempDir(), "model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []int{0, 100} {
		learnLinks(m, more, 5)
		learnLinks(again, more, 5)
		r := rand.New(rand.NewPCG(6, 6))
		for range 200 {
			l, _ := someLink(r)
			if a, b := m.Value(l), again.Value(l); a != b {
				t.Fatalf("%d links after it was loaded, a link has value %v, and %v before", more, b, a)
			}
		}
	}

	// No prefix of the file is taken for a model, and no flipped bit changes it.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += 1 + len(data)/200 {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, DefaultOptions()); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	if err := os.WriteFile(path, seal(strings.Replace(string(data[:len(data)-4]), "\x40\x00\x00\x00\x00\x00\x00\x00", "\x7f\xf8\x00\x00\x00\x00\x00\x01", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Load(path, DefaultOptions()); err == nil {
		if w := m.Value(Link{}); math.IsNaN(w) {
			t.Error("a file brought NaN into the model")
		}
	}
}

// Hosts and shapes are forgotten when there are too many; what is met goes on
// to be known.
func TestRatesAreBounded(t *testing.T) {
	r := newRates()
	for i := range uint64(3 * rateSlots) {
		r.count(i, 0)
		r.count(7, 1)
	}
	if n := r.Len(); n > rateSlots {
		t.Errorf("%d rates are known, more than %d", n, rateSlots)
	}
	if x := r.get(7); x.Pages < 3*rateSlots || x.Value < 3*rateSlots {
		t.Errorf("what was met all the time has %+v", x)
	}
	if x := r.get(1); x.Pages != 0 {
		t.Errorf("what was met long ago has %+v", x)
	}
}

func TestValueTogether(t *testing.T) {
	m := newModel(t, nil)
	var group sync.WaitGroup
	for worker := range uint64(8) {
		group.Go(func() {
			learnLinks(m, 100, worker)
			l, _ := someLink(rand.New(rand.NewPCG(worker, worker)))
			m.Value(l)
			m.ExplainValue(l)
		})
	}
	group.Go(func() {
		if err := m.Save(filepath.Join(t.TempDir(), "model")); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	if m.value.learned != 800 {
		t.Errorf("learned %d links", m.value.learned)
	}
}

// A corrected value is as if it had been learned once, in the counts of terms.
func TestCorrectValue(t *testing.T) {
	link := Link{Host: "h.example", Path: "/team", Anchor: "Team", Distance: 1}
	terms := Terms(link)
	once, corrected := newModel(t, nil), newModel(t, nil)
	for _, m := range []*Model{once, corrected} {
		learnLinks(m, 100, 7)
	}
	once.LearnValue(link, terms, 1)
	corrected.LearnValue(link, terms, 0.2)
	corrected.CorrectValue(link, terms, 0.2, 1)
	a, b := once.value.terms, corrected.value.terms
	ar, ao := a.counts(terms)
	br, bo := b.counts(terms)
	if !slices.Equal(ar, br) || !slices.Equal(ao, bo) || a.relevant != b.relevant || a.other != b.other {
		t.Errorf("counts %v, %v of %d and %d; want %v, %v of %d and %d", br, bo, b.relevant, b.other, ar, ao, a.relevant, a.other)
	}
	before := corrected.value.terms.relevant
	corrected.value.forget([]string{"anchor:never seen"}, 1)
	if corrected.value.terms.relevant != before {
		t.Error("what was never learned was undone")
	}
}

// Terms that are taken out of a model say nothing any more.
func TestWithoutTerms(t *testing.T) {
	m := newModel(t, nil)
	learnLinks(m, 500, 8)
	good, plain := Link{Host: "x.example", Anchor: "kontakt", Distance: 1}, Link{Host: "x.example", Anchor: "unknown", Distance: 1}
	if m.Value(good) < 1.5*m.Value(plain) {
		t.Fatalf("values %v and %v", m.Value(good), m.Value(plain))
	}
	left := m.Without(func(term string) bool { return term == "anchor:kontakt" })
	if a, b := left.Value(good), left.Value(plain); a != b {
		t.Errorf("values %v and %v without the term", a, b)
	}
}

// A part that is left out has no influence.
func TestWithoutParts(t *testing.T) {
	for name, c := range map[string]struct {
		parts Parts
		a, b  Link
	}{
		"bayes":  {Parts{Bayes: true}, Link{Host: "x.example", Anchor: "kontakt", Distance: 1}, Link{Host: "x.example", Anchor: "wort1", Distance: 1}},
		"bridge": {Parts{Bridge: true}, Link{Host: "x.example", Distance: 1}, Link{Host: "x.example", Distance: 5}},
		"rates":  {Parts{Rates: true, Bayes: true}, Link{Host: "h1.example", Distance: 1}, Link{Host: "h2.example", Distance: 1}},
	} {
		whole, left := newModel(t, nil), newModel(t, func(o *Options) { o.Without = c.parts })
		for _, m := range []*Model{whole, left} {
			learnLinks(m, 500, 9)
		}
		if whole.Value(c.a) == whole.Value(c.b) || left.Value(c.a) != left.Value(c.b) {
			t.Errorf("%s: whole %v and %v, without it %v and %v", name, whole.Value(c.a), whole.Value(c.b), left.Value(c.a), left.Value(c.b))
		}
	}
}

// Links that name the region come first in a model that has learned nothing, and learning outweighs it.
func TestExpect(t *testing.T) {
	t.Parallel()
	names := []string{"Neustadt an der Wied", "neustadt an der wied", "DE 56999"}
	link := func(anchor string) Link {
		return Link{Host: "www.land.example", Path: "/liste/1", Anchor: anchor, Distance: 5}
	}
	m := newModel(t, nil)
	before := m.Value(link("Vereine in Neustadt"))
	m.Expect(names)
	if named, other := m.Value(link("Vereine in Neustadt")), m.Value(link("Vereine in Altdorf")); named < 2*other {
		t.Errorf("a link that names the region has the value %.3f, another one %.3f: want twice as much", named, other)
	}
	if small := m.Value(link("an der Mauer")); math.Abs(small-before) > 0.01 {
		t.Errorf("a link with a small word of the name has the value %.3f, want %.3f as before", small, before)
	}
	for range 60 {
		m.Teach(Example{Link: link("Vereine in Neustadt"), Trail: [][]string{Terms(link("Vereine in Neustadt"))}})
	}
	if named := m.Value(link("Vereine in Neustadt")); named > before {
		t.Errorf("after 60 pages of no value the link has %.3f, want less than %.3f", named, before)
	}
}

// A term that led nowhere says nothing while no link of value is known, half while half of one is, and then
// what its counts say.
func TestEvidenceAgainst(t *testing.T) {
	t.Parallel()
	c := newClassifier(DefaultOptions())
	term := []string{"anchor:links"}
	for range 100 * quanta {
		c.learn(term, false)
	}
	says := func(term []string) float64 {
		s := features{terms: []termEvidence{}}
		c.evidence(&s, term, groupsOf(term), 1, quanta)
		return s.terms[0].logOdds
	}
	for _, step := range []struct {
		quanta    int // of links of value, without the term
		low, high float64
	}{{0, 0, 0}, {quanta / 2, -1.5, -1.2}, {quanta, -3, -2.6}, {9 * quanta, -3, -2.9}} {
		for c.relevant < step.quanta {
			c.learn([]string{"anchor:kontakt"}, true)
		}
		got := says(term)
		if got < step.low || got > step.high {
			t.Errorf("with %d quanta of value: log-odds %.2f, want %.1f to %.1f", step.quanta, got, step.low, step.high)
		}
	}
	got := says([]string{"anchor:kontakt"})
	if got < 1 {
		t.Errorf("evidence for a link is %.2f, want 1 or more", got)
	}
}
