package sim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/lab/demo"
	"gazehound/crawler/lab/sim"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// settings vary the made-up web in all that an order of links may depend on:
// how far the seeds lie, what links say, where they lead, how long the bridges
// are, and how many labels are wrong.
var settings = []struct {
	name   string
	change func(*demo.Options)
	noise  float64 // share of wrong labels
}{
	{"far seeds", func(*demo.Options) {}, 0},
	{"near seeds", near, 0},
	{"few hints", func(o *demo.Options) { o.HintReliability = 0.2 }, 0},
	{"clear hints", func(o *demo.Options) { o.HintReliability = 0.95 }, 0},
	{"links leave town", func(o *demo.Options) { o.Locality = 0.35 }, 0},
	{"links stay in town", func(o *demo.Options) { o.Locality = 0.9 }, 0},
	{"no bridges", func(o *demo.Options) { o.Bridges = 0 }, 0},
	{"many bridges, three pages longer", func(o *demo.Options) { o.Bridges, o.BridgeLength = 0.8, 3 }, 0},
	{"few hints, many bridges", func(o *demo.Options) { o.HintReliability, o.Bridges = 0.2, 0.8 }, 0},
	{"near seeds, links leave town", func(o *demo.Options) { near(o); o.Locality = 0.35 }, 0},
	{"near seeds, few hints, many bridges", func(o *demo.Options) { near(o); o.HintReliability, o.Bridges = 0.2, 0.8 }, 0},
	{"wrong labels", func(*demo.Options) {}, 0.05},
}

// near adds seeds in the town to those that lie far from it.
func near(o *demo.Options) { o.NearSeeds = 20 }

// An entrant is an order that the benchmarks below compare.
type entrant struct {
	name string
	new  func(tb testing.TB, w *sim.Web) order.Strategy
}

func learner(tb testing.TB, o predictor.Options) *predictor.Model {
	return predictor.NewModel(o)
}

func lookahead(name string, change func(*predictor.Options)) entrant {
	return entrant{name, func(tb testing.TB, _ *sim.Web) order.Strategy {
		o := predictor.DefaultOptions()
		change(&o)
		return order.Lookahead{Model: learner(tb, o), News: order.NewNews()}
	}}
}

func named(name string) entrant {
	return entrant{name, func(tb testing.TB, _ *sim.Web) order.Strategy { return newStrategy(tb, name) }}
}

// unpromising is Lookahead where bridge pages teach nothing.
type unpromising struct{ order.Strategy }

func (unpromising) Rescores() bool { return true }

// stale is Lookahead that keeps the priority that a link was found with.
type stale struct{ order.Lookahead }

func (stale) Rescores() bool { return false }

// tempered is the adaptive order with the log-odds divided by √n, the best of
// the depths, weight 0.7 and scored anew at the front.
type tempered struct{ order.Strategy }

func (tempered) Rescores() bool { return true }

func entrants() []entrant {
	return []entrant{
		named("adaptive"),
		lookahead("lookahead", func(*predictor.Options) {}),
		named("breadth-first"),
		named("link-distance"),
		{sim.OracleName, func(_ testing.TB, w *sim.Web) order.Strategy { return sim.Oracle{Web: w} }},
		{"adaptive, tempered, scored anew", func(tb testing.TB, _ *sim.Web) order.Strategy {
			o := predictor.DefaultOptions()
			o.Posterior, o.Combine, o.Weight = predictor.Tempered, predictor.Max, 0.7
			return tempered{order.Adaptive{Near: order.Nearness{Weight: 1, Decay: 0.5}, Model: learner(tb, o)}}
		}},
		{"without bridges' worth", func(tb testing.TB, _ *sim.Web) order.Strategy {
			return unpromising{lookahead("", func(*predictor.Options) {}).new(tb, nil)}
		}},
		{"without scoring anew", func(tb testing.TB, _ *sim.Web) order.Strategy {
			return stale{lookahead("", func(*predictor.Options) {}).new(tb, nil).(order.Lookahead)}
		}},
		{"without news", func(tb testing.TB, _ *sim.Web) order.Strategy {
			return order.Lookahead{Model: learner(tb, predictor.DefaultOptions())}
		}},
		lookahead("without contact words", func(o *predictor.Options) { o.WithoutContacts = true }),
	}
}

// number reads a setting of a benchmark from the environment.
func number(name string, without int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return without
}

// A reach is what one order found in one made-up web: a line of JSON in the
// file of results.
type reach struct {
	Seed     uint64  `json:"seed"`
	Sites    int     `json:"sites"`
	PerSite  int     `json:"pages_per_site"`
	Budget   int     `json:"budget"`
	Order    string  `json:"order"`
	Setting  string  `json:"setting"`
	Pages    int     `json:"pages"`    // of the web
	Relevant int     `json:"relevant"` // of these
	Nearest  int     `json:"nearest"`  // links from a seed to the first of them
	Area     float64 `json:"area"`
	Coverage float64 `json:"coverage"`
	Harvest  float64 `json:"harvest_5000"`
}

// A reachKey tells one run from another.
type reachKey struct {
	seed                   uint64
	sites, perSite, budget int
	order                  string
}

func (r reach) key() reachKey { return reachKey{r.Seed, r.Sites, r.PerSite, r.Budget, r.Order} }

// readReach returns the results of a file that may not be there yet.
func readReach(tb testing.TB, name string) map[reachKey]reach {
	known := map[reachKey]reach{}
	if name == "" {
		return known
	}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r reach
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		known[r.key()] = r
	}
	return known
}

// BenchmarkLookahead crawls made-up webs of varied settings, one page after
// the other, and prints for each order the median over the webs, and the worst
// of the settings, as ratios to the published adaptive order.
//
//	go test ./crawler/lab/sim -run NONE -bench 'Lookahead$' -benchtime 1x -timeout 4h
//
// GAZEHOUND_WEBS is their number (default 24: each setting twice),
// GAZEHOUND_FIRST the seed of the first (default 500; 100 to 499 were used to
// choose), GAZEHOUND_SITES and GAZEHOUND_PERSITE their hosts and pages for each
// (2,000 and 245), GAZEHOUND_PAGES the budget (20,000), GAZEHOUND_ORDERS a list
// of orders, or "all" for those with a part left out, too. With
// GAZEHOUND_RESULTS the results are added to that file at once, and what stands
// in it is not run again: the benchmark can be stopped and started. Remove the
// file when the program changes.
func BenchmarkLookahead(b *testing.B) {
	webs, first := number("GAZEHOUND_WEBS", 24), number("GAZEHOUND_FIRST", 500)
	sites, perSite := number("GAZEHOUND_SITES", 2000), number("GAZEHOUND_PERSITE", 245)
	pages := number("GAZEHOUND_PAGES", 20_000)
	chosen := chosenEntrants("adaptive", "lookahead", "breadth-first", "link-distance", sim.OracleName)
	for b.Loop() {
		results := os.Getenv("GAZEHOUND_RESULTS")
		known := readReach(b, results)
		var all []reach
		for i := range webs {
			seed := uint64(first + i)
			all = append(all, reachOf(b, seed, sites, perSite, pages, chosen, known, results)...)
		}
		printReach(b, chosen, all)
	}
}

// chosenEntrants returns those of GAZEHOUND_ORDERS, else those named.
func chosenEntrants(names ...string) []entrant {
	if list := os.Getenv("GAZEHOUND_ORDERS"); list == "all" {
		return entrants()
	} else if list != "" {
		names = strings.Split(list, ",")
	}
	return slices.DeleteFunc(entrants(), func(e entrant) bool { return !slices.Contains(names, e.name) })
}

// reachOf runs the orders that are not known yet on the web of a seed.
func reachOf(b *testing.B, seed uint64, sites, perSite, pages int, chosen []entrant, known map[reachKey]reach, results string) []reach {
	s := settings[seed%uint64(len(settings))]
	var w *sim.Web
	var all []reach
	line := fmt.Sprintf("%d %-35s", seed, s.name)
	for _, e := range chosen {
		r, ok := known[reachKey{seed, sites, perSite, pages, e.name}]
		if !ok {
			if w == nil {
				w = madeUp(b, seed, sites, perSite)
			}
			x, err := sim.Run(b.Context(), w, e.new(b, w), sim.Options{Pages: pages, Seed: seed, Noise: s.noise})
			if err != nil {
				b.Fatal(err)
			}
			r = reach{
				Seed: seed, Sites: sites, PerSite: perSite, Budget: pages, Order: e.name, Setting: s.name,
				Pages: w.Pages(), Relevant: w.Relevant(), Nearest: w.Nearest(),
				Area: x.Area(pages), Coverage: x.Coverage(pages), Harvest: x.Harvest(min(pages, 5000)),
			}
			appendReach(b, results, r)
		}
		if len(all) == 0 {
			line += fmt.Sprintf("%6d pages %5d relevant, the first %d links away:", r.Pages, r.Relevant, r.Nearest)
		}
		all = append(all, r)
		line += fmt.Sprintf("  %s %.3f %.3f %.3f", e.name, r.Area, r.Coverage, r.Harvest)
	}
	fmt.Println(line) // at once: a web takes a while
	return all
}

// madeUp returns the web of a seed.
func madeUp(b *testing.B, seed uint64, sites, perSite int) *sim.Web {
	o := demo.DefaultOptions()
	o.Seed, o.Sites, o.PagesPerSite, o.NearSeeds = seed, sites, perSite, 0
	settings[seed%uint64(len(settings))].change(&o)
	t, err := demo.New(o)
	if err != nil {
		b.Fatal(err)
	}
	w, err := sim.FromTown(t, "")
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// appendReach adds a line to the file of results, if there is to be one.
func appendReach(b *testing.B, name string, r reach) {
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(r); err != nil {
		b.Fatal(err)
	}
}

// printReach prints the medians over the webs, and the worst setting: that of
// the least mean over its webs. Ratios are to the first order.
func printReach(b *testing.B, chosen []entrant, all []reach) {
	base := map[uint64]reach{}
	for _, r := range all {
		if r.Order == chosen[0].name {
			base[r.Seed] = r
		}
	}
	measures := []struct {
		name string
		of   func(reach) float64
	}{
		{"area", func(r reach) float64 { return r.Area }},
		{"coverage", func(r reach) float64 { return r.Coverage }},
		{"harvest at 5,000", func(r reach) float64 { return r.Harvest }},
	}
	for _, e := range chosen {
		line := fmt.Sprintf("%-34s", e.name)
		for _, m := range measures {
			var values, ratios []float64
			settingSum, settingWebs := map[string]float64{}, map[string]float64{}
			for _, r := range all {
				if r.Order != e.name {
					continue
				}
				ratio := m.of(r) / m.of(base[r.Seed])
				values, ratios = append(values, m.of(r)), append(ratios, ratio)
				settingSum[r.Setting] += ratio
				settingWebs[r.Setting]++
			}
			worst, least := "", math.Inf(1)
			for _, s := range settings {
				if x := settingSum[s.name] / settingWebs[s.name]; x < least {
					worst, least = s.name, x
				}
			}
			line += fmt.Sprintf("  %s %.3f, × %.2f (least web %.2f, setting %.2f: %s)", m.name, median(values), median(ratios), slices.Min(ratios), least, worst)
		}
		fmt.Println(line)
	}
}

// median returns the middle of some values, or the mean of the middle two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// BenchmarkLookaheadIrvine crawls the real web from the far seeds, one page
// after the other, and prints the relevant pages found and the area under the
// curve, as mean over the random seeds and as a ratio to the published adaptive
// order.
//
//	go test ./crawler/lab/sim -run NONE -bench LookaheadIrvine -benchtime 1x -timeout 1h
//
// GAZEHOUND_RUNS is the number of random seeds (default 10), GAZEHOUND_FIRST the
// first of them (default 101; 11 to 20 were used to choose), GAZEHOUND_ORDERS a
// list of orders.
func BenchmarkLookaheadIrvine(b *testing.B) {
	runs, first := number("GAZEHOUND_RUNS", 10), number("GAZEHOUND_FIRST", 101)
	w := irvineWeb(b)
	marks := []int{500, 1000, 2500, 5000}
	for b.Loop() {
		var base []float64
		for _, e := range entrants() {
			if list := os.Getenv("GAZEHOUND_ORDERS"); list != "" && !slices.Contains(strings.Split(list, ","), e.name) {
				continue
			}
			found, area := make([][]float64, len(marks)), make([]float64, len(marks))
			for seed := range runs {
				r, err := sim.Run(b.Context(), w, e.new(b, w), sim.Options{Pages: marks[len(marks)-1], Seed: uint64(first + seed)})
				if err != nil {
					b.Fatal(err)
				}
				for i, m := range marks {
					found[i] = append(found[i], float64(r.Found(m)))
					area[i] += r.Area(m) / float64(runs)
				}
			}
			if base == nil {
				base = area
			}
			line := fmt.Sprintf("%-34s", e.name)
			for i, m := range marks {
				mean, spread := meanSpread(found[i])
				line += fmt.Sprintf("  %d: %.0f ± %.0f, area × %.2f", m, mean, spread, area[i]/base[i])
			}
			fmt.Println(line) // at once: it takes a while
		}
	}
}

// meanSpread returns mean and standard deviation.
func meanSpread(xs []float64) (mean, spread float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		spread += (x - mean) * (x - mean) / float64(max(len(xs)-1, 1))
	}
	return mean, math.Sqrt(spread)
}
