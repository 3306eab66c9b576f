package sim_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/lab/demo"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

// town returns the web of a made-up town of so many sites.
func town(tb testing.TB, sites int, seed uint64) *sim.Web {
	tb.Helper()
	o := demo.DefaultOptions()
	o.Sites, o.Seed = sites, seed
	t, err := demo.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := sim.FromTown(t, "")
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// newStrategy returns a fresh strategy.
func newStrategy(tb testing.TB, name string) order.Strategy {
	tb.Helper()
	m := predictor.NewModel(predictor.DefaultOptions())
	o := order.Options{Model: m, Stay: func(weburl.URL) float64 { return 0 }}
	o.Decay, o.News, o.LimitDistance, o.Places = 0.5, true, 2, []string{"Demostadt"}
	o.Alpha, o.Beta, o.Emphasis = 0.5, 0.5, 3
	s, err := order.New(name, o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func run(tb testing.TB, w *sim.Web, name string, o sim.Options) *sim.Result {
	tb.Helper()
	r, err := sim.Run(tb.Context(), w, newStrategy(tb, name), o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// The orders come out as in the papers: adaptive before link distance before
// breadth first.
func TestOrders(t *testing.T) {
	w := town(t, 120, 7)
	t.Logf("%d pages, %d relevant", w.Pages(), w.Relevant())
	area := map[string]float64{}
	for _, name := range []string{"breadth-first", "link-distance", "adaptive"} {
		began := time.Now()
		r := run(t, w, name, sim.Options{Pages: 1500, Seed: 1})
		area[name] = r.Area(1500)
		t.Logf("%-15s found %d in %d pages, area %.3f, queue %d, bridges %v, tails %v, depths %v; %v",
			name, r.Found(1500), r.Pages, r.Area(1500), r.QueueMax, r.Bridges, r.Tails, r.SeedDistances, time.Since(began).Round(time.Millisecond))
	}
	if !(area["adaptive"] > area["link-distance"] && area["link-distance"] > area["breadth-first"]) {
		t.Errorf("areas %v", area)
	}
}

// The same seed gives the same result to the last byte, also with many
// fetchers; another seed gives another one.
func TestDeterminism(t *testing.T) {
	webs := []*sim.Web{town(t, 60, 7), town(t, 60, 7)}
	for _, o := range []sim.Options{
		{Pages: 500, Seed: 3},
		{Pages: 500, Seed: 3, Fetchers: 16, PerHost: 2, Delay: time.Second, Latency: 100 * time.Millisecond, Rate: 1e6, Noise: 0.1},
	} {
		var results []string
		for i, seed := range []uint64{3, 3, 4} {
			o.Seed = seed
			text, err := json.Marshal(run(t, webs[i%2], "adaptive", o))
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, string(text))
		}
		if results[0] != results[1] {
			t.Errorf("two runs of %+v differ", o)
		}
		if results[0] == results[2] {
			t.Errorf("two seeds of %+v do not differ", o)
		}
	}
}

var irvine = filepath.Join("..", "..", "..", "shared", "data", "web", "irvine")

// irvineWeb returns the real web, labelled by city and postcode, from the far
// seeds.
func irvineWeb(tb testing.TB) *sim.Web {
	tb.Helper()
	f, err := os.Open(filepath.Join(irvine, "pages.tsv"))
	if err != nil {
		tb.Skipf("the real web is not here: %v", err)
	}
	defer f.Close()
	labels := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if c := strings.Split(lines.Text(), "\t"); len(c) == 5 && c[4] == "1" {
			if u, err := weburl.Parse(c[0]); err == nil {
				labels[u.Identity()] = true
			}
		}
	}
	var seeds []weburl.URL
	text, err := os.ReadFile(filepath.Join(irvine, "seeds-far.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if u, err := weburl.Parse(strings.TrimSpace(line)); err == nil {
			seeds = append(seeds, u)
		}
	}
	a, err := warc.Open(irvine)
	if err != nil {
		tb.Fatal(err)
	}
	defer a.Close()
	w, err := sim.FromWARC(tb.Context(), "irvine", a, seeds, func(p *page.Page) (sim.Page, error) {
		return sim.Page{Relevant: labels[p.URL.Identity()]}, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// BenchmarkIrvine crawls the real web from the far seeds, one page after the
// other, and prints the relevant pages found after 500, 1,000, 2,500 and 5,000.
//
//	go test ./crawler/lab/sim -run NONE -bench Irvine -benchtime 1x -timeout 1h
func BenchmarkIrvine(b *testing.B) {
	began := time.Now()
	w := irvineWeb(b)
	b.Logf("%d pages, %d relevant, read in %v", w.Pages(), w.Relevant(), time.Since(began).Round(time.Second))
	marks := []int{500, 1000, 2500, 5000}
	for _, name := range order.Names() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				line := ""
				for seed := range uint64(3) {
					r := run(b, w, name, sim.Options{Pages: 5000, Seed: seed})
					line += fmt.Sprintf("  seed %d:", seed)
					for _, m := range marks {
						line += fmt.Sprintf(" %d", r.Found(m))
						b.ReportMetric(float64(r.Found(m)), fmt.Sprintf("relevant@%d", m))
					}
				}
				b.Log(line)
			}
		})
	}
}
