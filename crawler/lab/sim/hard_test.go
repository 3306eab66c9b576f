package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// trace returns the web of a trace that is written down here.
func trace(tb testing.TB, lines ...string) *sim.Web {
	tb.Helper()
	w, warnings, err := sim.ReadTrace(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test", nil)
	if err != nil || len(warnings) > 0 {
		tb.Fatal(err, warnings)
	}
	return w
}

const head = `{"gazehound_trace":1,"seeds":["http://a.example/0"]}`

// chain returns pages 0 … n-1 of one host, each linking to the next two and
// back to the first; those of relevant are relevant.
func chain(tb testing.TB, n int, relevant func(i int) bool) *sim.Web {
	lines := []string{head}
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"url":"http://a.example/%d","page":true,"relevant":%v,"bytes":1000,"links":[["http://a.example/%d"],["http://a.example/%d"],["http://a.example/0"]]}`,
			i, relevant(i), i+1, i+2))
	}
	return trace(tb, lines...)
}

// A web with nothing relevant in it gives zeros and no NaN; one with nothing
// else gives a harvest of 1. Links that go in circles do no harm.
func TestExtremes(t *testing.T) {
	for _, c := range []struct {
		name              string
		relevant          bool
		harvest, coverage float64
	}{{"nothing", false, 0, 0}, {"all", true, 1, 1}} {
		w := chain(t, 30, func(int) bool { return c.relevant })
		for _, name := range order.Names() {
			r := run(t, w, name, sim.Options{})
			if name == "hard-focused" || name == "limited-distance" {
				if !c.relevant && (r.Pages == 0 || r.Pages > 10) {
					t.Errorf("%s, %s: %d pages", c.name, name, r.Pages)
				}
			} else if r.Pages != 30 {
				t.Errorf("%s, %s: %d pages, want 30", c.name, name, r.Pages)
			}
			if c.relevant && r.Pages != 30 {
				t.Errorf("%s, %s: %d pages, want 30", c.name, name, r.Pages)
			}
			if r.Harvest(30) != c.harvest || r.Coverage(30) != c.coverage || math.IsNaN(r.Area(30)) {
				t.Errorf("%s, %s: harvest %v, coverage %v, area %v", c.name, name, r.Harvest(30), r.Coverage(30), r.Area(30))
			}
			if r.Harvest(0) != 0 || r.Area(0) != 0 {
				t.Errorf("%s, %s: after no page: harvest %v, area %v", c.name, name, r.Harvest(0), r.Area(0))
			}
		}
		_, err := sim.Compare(t.Context(), 1, only(w), oracle(), sim.Options{}, 2)
		if (err == nil) != c.relevant || err != nil && !strings.Contains(err.Error(), "no relevant page") {
			t.Errorf("%s: compared: %v", c.name, err)
		}
	}
}

// only opens w, whatever its number.
func only(w *sim.Web) func(int) (*sim.Web, error) {
	return func(int) (*sim.Web, error) { return w, nil }
}

// A nonsense is a strategy that answers what no strategy may.
type nonsense struct{ values []float64 }

func (s *nonsense) Score(e *frontier.Entry) (float64, bool) {
	s.values = append(s.values[1:], s.values[0])
	return s.values[0], true
}
func (*nonsense) Rescores() bool { return true }

// A strategy that answers NaN or infinities neither stops the crawl nor
// leaves a page out.
func TestNonsense(t *testing.T) {
	w := chain(t, 200, func(i int) bool { return i%7 == 3 })
	s := &nonsense{values: []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0.5, -3, 1e300}}
	r, err := sim.Run(t.Context(), w, s, sim.Options{Fetchers: 3})
	if err != nil || r.Pages != 200 || r.Coverage(200) != 1 {
		t.Errorf("%d pages, coverage %v, %v", r.Pages, r.Coverage(200), err)
	}
}

// Redirects in a circle, to themselves and to nowhere end.
func TestRedirects(t *testing.T) {
	w := trace(t, head,
		`{"url":"http://a.example/0","page":true,"links":[["http://a.example/x"],["http://a.example/self"],["http://a.example/gone"],["http://a.example/moved"]]}`,
		`{"url":"http://a.example/x","status":301,"to":"http://a.example/y"}`,
		`{"url":"http://a.example/y","status":301,"to":"http://a.example/x"}`,
		`{"url":"http://a.example/self","status":301,"to":"http://a.example/self"}`,
		`{"url":"http://a.example/gone","status":301,"to":"http://b.example/"}`,
		`{"url":"http://a.example/moved","status":301,"to":"http://a.example/here"}`,
		`{"url":"http://a.example/forbidden","failed":"robots","forbidden":true}`,
		`{"url":"http://a.example/here","page":true,"relevant":true,"addresses":["A-Street\u0000x","A-Street\u0000y","elsewhere"],"links":[["http://a.example/forbidden"]]}`)
	if w.Pages() != 2 || w.Relevant() != 1 {
		t.Errorf("%d pages and %d relevant ones can be reached, want 2 and 1", w.Pages(), w.Relevant())
	}
	for _, name := range order.Names() {
		r := run(t, w, name, sim.Options{})
		if r.Pages != 2 || r.Found(2) != 1 || len(r.Addresses) != 3 || len(r.Streets) != 1 {
			t.Errorf("%s: %d pages, %d found, %d addresses, %d streets", name, r.Pages, r.Found(2), len(r.Addresses), len(r.Streets))
		}
	}
}

// The numbers of a result are those of a count by hand.
func TestCounts(t *testing.T) {
	w := chain(t, 60, func(i int) bool { return i%5 == 4 })
	r := run(t, w, "breadth-first", sim.Options{Pages: 40, Seed: 9})
	if r.Pages != 40 || len(r.Samples) != 40 {
		t.Fatalf("%d pages, %d samples", r.Pages, len(r.Samples))
	}
	sum := 0.0
	for n := 1; n <= 40; n++ {
		found := 0
		for _, at := range r.Finds {
			if int(at) <= n {
				found++
			}
		}
		if found != r.Found(n) || r.Samples[n-1].Found != found || r.Harvest(n) != float64(found)/float64(n) {
			t.Errorf("after %d pages: %d found, want %d; sample %+v", n, r.Found(n), found, r.Samples[n-1])
		}
		sum += float64(found) / 12
	}
	if math.Abs(sum/40-r.Area(40)) > 1e-12 {
		t.Errorf("area %v, want %v", r.Area(40), sum/40)
	}
	total := 0
	for _, n := range r.SeedDistances {
		total += n
	}
	if total != r.Found(40) || len(r.OffHost) != 0 {
		t.Errorf("%d relevant pages by depth, %d found; %d off the biggest host", total, r.Found(40), len(r.OffHost))
	}
}

// Virtual time: one host gives one page each second after the page before has
// arrived; slots and fetchers overlap.
func TestVirtualTime(t *testing.T) {
	w := chain(t, 50, func(int) bool { return true })
	for _, c := range []struct {
		o    sim.Options
		want time.Duration // for 52 requests: two of them are not there
	}{
		{sim.Options{}, 0},
		{sim.Options{Latency: time.Second}, 52 * time.Second},
		{sim.Options{Latency: time.Second, Rate: 1000}, 102 * time.Second},
		{sim.Options{Latency: time.Second, PerHost: 1, Delay: time.Second}, 103 * time.Second},
		{sim.Options{Latency: time.Second, PerHost: 1, Delay: time.Second, Fetchers: 64}, 103 * time.Second},
	} {
		if r := run(t, w, "breadth-first", c.o); r.Pages != 50 || r.Visits != 52 || r.Time != c.want {
			t.Errorf("%+v: %d pages by %d requests in %v, want 50 by 52 in %v", c.o, r.Pages, r.Visits, r.Time, c.want)
		}
	}
	r := run(t, w, "breadth-first", sim.Options{Latency: time.Second, PerHost: 4, Fetchers: 64})
	if r.Time < 13*time.Second || r.Time > 40*time.Second {
		t.Errorf("four at a time take %v", r.Time)
	}
}

// oracle returns the oracle as the one order.
func oracle() []sim.Order {
	return []sim.Order{{Name: sim.OracleName,
		New: func(w *sim.Web) (order.Strategy, error) { return sim.Oracle{Web: w}, nil }}}
}

// The oracle finds at least what the crawlers find.
func TestOracle(t *testing.T) {
	w := town(t, 60, 3)
	area := map[string]float64{}
	c, err := sim.Compare(t.Context(), 1, only(w), append(oracle(), sim.Order{Name: "link-distance", New: func(*sim.Web) (order.Strategy, error) { return newStrategy(t, "link-distance"), nil }}),
		sim.Options{Pages: 800}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range c.Orders {
		e, ok := c.Metric(o.Name, "area", 0)
		if !ok || e.Runs != 2 {
			t.Fatalf("%s: %+v", o.Name, e)
		}
		area[o.Name] = e.Mean
	}
	t.Log(area)
	if !(area[sim.OracleName] > area["link-distance"]) {
		t.Errorf("areas %v", area)
	}
}

// Results do not depend on how many runs there are at once, in any format.
func TestFormats(t *testing.T) {
	w := chain(t, 100, func(i int) bool { return i%9 == 5 })
	var orders []sim.Order
	for _, name := range order.Names() {
		orders = append(orders, sim.Order{Name: name, New: func(*sim.Web) (order.Strategy, error) { return newStrategy(t, name), nil }})
	}
	var twice [2]*sim.Comparison
	for i := range twice {
		c, err := sim.Compare(t.Context(), 1, only(w), orders, sim.Options{Latency: time.Second}, 3)
		if err != nil {
			t.Fatal(err)
		}
		twice[i] = c
	}
	for _, format := range sim.Formats {
		var texts [2]bytes.Buffer
		for i, c := range twice {
			if err := c.Write(&texts[i], format); err != nil {
				t.Fatal(err)
			}
		}
		if texts[0].String() != texts[1].String() || texts[0].Len() < 200 || strings.Contains(texts[0].String(), "NaN") {
			t.Errorf("%s: %d and %d bytes", format, texts[0].Len(), texts[1].Len())
		}
	}
	c, err := sim.Compare(t.Context(), 1, only(w), orders, sim.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&bytes.Buffer{}, "tex"); err == nil {
		t.Error("format tex is known")
	}
	if _, err := c.Plot(filepath.Join(t.TempDir(), "plot.gif")); err == nil {
		t.Error("GIF is drawn")
	}
	for _, name := range []string{"a.svg", "b.svg"} {
		if _, err := c.Plot(filepath.Join(t.TempDir(), name)); err != nil {
			t.Error(err)
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, o := range []sim.Options{{Pages: -1}, {Fetchers: -1}, {PerHost: -1}, {Delay: -1}, {Latency: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Rate: -1}, {Noise: 1}, {Noise: math.NaN()}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, _, err := sim.ReadTrace(strings.NewReader("{\"gazehound_trace\":1}\n"), "x", nil); err == nil || !strings.Contains(err.Error(), "no seeds") {
		t.Errorf("a trace without seeds: %v", err)
	}
}

// A trace keeps what tells a page's language, so that a judge works on it, by meta elements,
// scripts or both (Somboonviwat et al. 2005, section 3.2).
func TestJudgeOfTrace(t *testing.T) {
	text := `{"gazehound_trace":1,"seeds":["http://a.example/"]}
{"url":"http://a.example/","page":true,"relevant":true,"lang":"en","links":[["http://a.example/1"],["http://a.example/2"],["http://a.example/3"]]}
{"url":"http://a.example/1","page":true,"lang":"th","charset":"windows-874","meta":"windows-874"}
{"url":"http://a.example/2","page":true,"lang":"th","charset":"utf-8","script":"th"}
{"url":"http://a.example/3","page":true,"lang":"th","charset":"utf-8"}
`
	for by, want := range map[string]int{"meta": 1, "script": 1, "mixed": 3} {
		judge := sim.LabelBy(t.Context(), crawler.Language{Code: "th", By: by})
		w, _, err := sim.ReadTrace(strings.NewReader(text), "t", judge)
		if err != nil || w.Relevant() != want {
			t.Errorf("%s: %d relevant pages, %v, want %d", by, w.Relevant(), err, want)
		}
		var again bytes.Buffer
		if err := w.WriteTrace(t.Context(), &again, nil); err != nil {
			t.Fatal(err)
		}
		for _, kept := range []string{`"meta":"windows-874"`, `"script":"th"`} {
			if !strings.Contains(again.String(), kept) {
				t.Errorf("%s is lost:\n%s", kept, &again)
			}
		}
	}
}

// What a trace holds is there again after it was written and read; what is
// broken is named with its line.
func TestTrace(t *testing.T) {
	w := chain(t, 20, func(i int) bool { return i%3 == 2 })
	var first, second bytes.Buffer
	if err := w.WriteTrace(t.Context(), &first, nil); err != nil {
		t.Fatal(err)
	}
	again, _, err := sim.ReadTrace(bytes.NewReader(first.Bytes()), "again", nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Name = w.Name
	if err := again.WriteTrace(t.Context(), &second, nil); err != nil || first.String() != second.String() {
		t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
	}
	for _, c := range []struct {
		text string
		err  error
		says string
	}{
		{"", sim.ErrNoTrace, ""},
		{"WARC/1.0\n", sim.ErrNoTrace, `"WARC/1.0"`},
		{"{}\n", sim.ErrNoTrace, ""},
		{`{"gazehound_trace":3}` + "\n", sim.ErrTraceVersion, "version 3"},
		{`{"gazehound_trace":1,"seeds":["http://a.example/",""]}` + "\n", nil, "line 1: a seed is empty"},
		{head + "\n{\n", nil, "line 2"},
		{head + "\n{\"page\":true}\n", nil, "line 2: no url"},
		{head + "\n" + `{"url":"http://a.example/","page":true,"links":[["javascript:x"]]}` + "\n", nil, "line 2: link 1"},
		{head + "\n" + `{"url":"http://a.example/","page":true,"links":[[]]}` + "\n", nil, "link of 0 parts"},
		{head + "\n" + `{"url":"http://a.example/","bytes":-1}` + "\n", nil, "not possible"},
	} {
		_, _, err := sim.ReadTrace(strings.NewReader(c.text), "t", nil)
		if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	cut := first.String()[:first.Len()-9]
	_, warnings, err := sim.ReadTrace(strings.NewReader(cut), "cut", nil)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "line 21") {
		t.Errorf("a trace that is cut off: %v, %q", err, warnings)
	}
	// A crawl that is resumed goes on behind the last whole line.
	file := filepath.Join(t.TempDir(), "web.trace")
	if err := os.WriteFile(file, []byte(cut), 0o644); err != nil {
		t.Fatal(err)
	}
	r, late, err := sim.OpenRecorder(file, nil, nil, true)
	if err != nil || late {
		t.Fatal(late, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	whole := cut[:strings.LastIndexByte(cut, '\n')+1]
	if left, err := os.ReadFile(file); err != nil || string(left) != whole {
		t.Errorf("%d of %d bytes are left, %v", len(left), len(cut), err)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(head + "\n" + `{"url":"http://a.example/0","page":true,"relevant":true,"links":[["http://b.example/","b"]]}` + "\n"))
	f.Add([]byte(head + "\n" + `{"url":"http://a.example/0","to":"http://b.example/"}` + "\n{"))
	// What is read can be crawled to its end, and written and read again.
	f.Fuzz(func(t *testing.T, text []byte) {
		w, _, err := sim.ReadTrace(bytes.NewReader(text), "fuzz", nil)
		if err != nil {
			return
		}
		r := run(t, w, "adaptive", sim.Options{})
		if r.Pages > w.Pages() || len(r.Finds) > w.Relevant() {
			t.Errorf("%d of %d pages, %d of %d found", r.Pages, w.Pages(), len(r.Finds), w.Relevant())
		}
		var out bytes.Buffer
		if err := w.WriteTrace(t.Context(), &out, nil); err != nil {
			t.Fatal(err)
		}
		again, _, err := sim.ReadTrace(&out, "again", nil)
		if err != nil || again.Pages() != w.Pages() || again.Relevant() != w.Relevant() {
			t.Errorf("read again: %v", err)
		}
	})
}

func TestExpectations(t *testing.T) {
	w := chain(t, 100, func(i int) bool { return i%9 == 5 })
	c, err := sim.Compare(t.Context(), 1, only(w), []sim.Order{
		{Name: "breadth-first", New: func(*sim.Web) (order.Strategy, error) { return order.BreadthFirst{}, nil }},
		oracle()[0],
	}, sim.Options{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"breadth-first", "oracle-next"}
	for text, want := range map[string]bool{
		"1 < 2":                       true,
		"1+2*3 == 7":                  true,
		"(1+2)*3 == 9":                true,
		"8/2/2 == 2":                  true,
		"8 - 2 - 2 == 4":              true,
		"1e3 >= 1000":                 true,
		"1/0 > 1":                     false,
		"0/0 == 0/0":                  false,
		"breadth-first.coverage == 1": true,
		"breadth-first.pages@7 == 7":  true,
		"oracle-next.area>=breadth-first.area - .5":          true,
		"breadth-first.found@100 == oracle-next.found":       true,
		"breadth-first.harvest > 1.5*oracle-next.harvest":    false,
		"oracle-next.queue <= 200":                           true,
		"((((1))))<2":                                        true,
		"breadth-first.time == 0":                            true,
		"breadth-first.off-host + oracle-next.contents == 0": true,
	} {
		e, err := sim.ParseExpectation(text, names, sim.MetricNames())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if holds, left, right := e.Check(c); holds != want {
			t.Errorf("%s: %v (%v, %v)", text, holds, left, right)
		}
	}
	for text, want := range map[string]string{
		"":                         "position 1: ",
		"1":                        "position 2: want <, <=, >, >= or ==",
		"1 < 2 3":                  "position 7: ",
		"1 < ":                     "position 5: ",
		"(1 < 2":                   "position 7: ",
		"1 < (2 < 3)":              "position 6: want a number, or STRATEGY.METRIC",
		"1 < f(2)":                 "position 5: want a number, or STRATEGY.METRIC",
		"1 < -2":                   "position 5: want a number, or STRATEGY.METRIC",
		"1 < 2 && 2 < 3":           "position 15: want <, <=, >, >= or ==",
		"soft.harvest > 1":         "position 1: want one of the strategies",
		"oracle-next.harvst > 1":   "position 13: want one of pages",
		"oracle-next.found@0 > 1":  "position 19: want a number of pages",
		"oracle-next.found@x > 1":  "position 19: want a number of pages",
		"inf < 2":                  "position 1: want a number, or STRATEGY.METRIC",
		"1 = 1":                    "position 3: ",
		strings.Repeat("(", 1<<20): "position 10",
	} {
		if _, err := sim.ParseExpectation(text, names, sim.MetricNames()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzExpectation(f *testing.F) {
	f.Add("adaptive.harvest > 1.5*(breadth-first.area@9 - 2)/3")
	c := &sim.Comparison{Budget: 9, Orders: []sim.OrderResults{{Name: "adaptive"}, {Name: "breadth-first"}}}
	// What is read can be checked, and holds of finite numbers only.
	f.Fuzz(func(t *testing.T, text string) {
		e, err := sim.ParseExpectation(text, []string{"adaptive", "breadth-first"}, sim.MetricNames())
		if err != nil {
			if !strings.HasPrefix(err.Error(), "position ") {
				t.Errorf("%q: %v names no position", text, err)
			}
			return
		}
		holds, left, right := e.Check(c)
		if holds && (math.IsNaN(left+right) || math.IsInf(left, 0) || math.IsInf(right, 0)) {
			t.Errorf("%q holds of %v and %v", text, left, right)
		}
	})
}

// Files are read plain and compressed.
func TestOpenTrace(t *testing.T) {
	if _, _, err := sim.OpenTrace(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	text := []byte(head + "\n" + `{"url":"http://a.example/0","page":true,"relevant":true}` + "\n")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(text)
	z.Close()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"plain": text, "gzip": zipped.Bytes(), "zstd": enc.EncodeAll(text, nil)} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if w, warnings, err := sim.OpenTrace(file, nil); err != nil || len(warnings) > 0 || w.Relevant() != 1 {
			t.Errorf("%s: %v, %v", name, warnings, err)
		}
	}
}
