//go:build unix

package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/paulmach/orb"
)

// BenchmarkMixed asks 100,000 made-up addresses (GAZEHOUND_BENCH_N: another
// number) from eight clients at once, each kind of question in turn: the usual
// ones, all, suggestions alone, and the usual ones while a crawl writes. The index is written first, and kept for the
// next run where GAZEHOUND_BENCH_DIR names a folder.
func BenchmarkMixed(b *testing.B) {
	n := 100_000
	if text := os.Getenv("GAZEHOUND_BENCH_N"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	docs := made(n)
	dir := os.Getenv("GAZEHOUND_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		x, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		start, before := time.Now(), processorTime(b)
		putAll(b, x, docs, 256)
		b.Logf("%d documents written in %v, %.0f a second, %v of processor time each; %d bytes each", n, time.Since(start).Round(time.Millisecond), float64(n)/time.Since(start).Seconds(),
			((processorTime(b) - before) / time.Duration(n)).Round(time.Microsecond), sizeOf(b, dir)/int64(n))
		x.Close()
	}
	start := time.Now()
	x, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	b.Logf("opened in %v", time.Since(start).Round(time.Millisecond))
	// What asks takes little memory: the collector's work is to be the index's.
	sample := make([]Document, 2000)
	for i := range sample {
		sample[i] = docs[rand.IntN(len(docs))]
	}
	docs = nil
	kinds := kindsOf(x, sample)
	b.Run("quiet", func(b *testing.B) { mixed(b, kinds[:usualKinds]) })
	b.Run("every kind", func(b *testing.B) { mixed(b, kinds) })
	b.Run("suggestions", func(b *testing.B) {
		mixed(b, slices.DeleteFunc(slices.Clone(kinds), func(k questionKind) bool { return k.name != "suggest" }))
	})
	b.Run("while a crawl writes", func(b *testing.B) {
		more := slices.Clone(made(n + 20_000)[n:]) // later pages, so that what is written differs from what is asked for
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		var wg sync.WaitGroup
		var next atomic.Int64
		for range 8 {
			wg.Go(func() {
				tick := time.NewTicker(100 * time.Millisecond) // 80 pages a second: a fast crawl
				defer tick.Stop()
				for ctx.Err() == nil {
					<-tick.C
					x.Put(ctx, more[int(next.Add(1))%len(more)]) // an error is the end of ctx
				}
			})
		}
		mixed(b, kinds[:usualKinds])
		cancel()
		wg.Wait()
	})
}

// A questionKind is a kind of question, with what makes one.
type questionKind struct {
	name string
	ask  func(r *rand.Rand) error
}

// kindsOf returns the kinds of question to x, which holds docs; the first
// usualKinds of them are the mix that docs/measurements.md speaks of.
func kindsOf(x *Index, docs []Document) []questionKind {
	words := func(r *rand.Rand) []string { return strings.Fields(docs[r.IntN(len(docs))].Text) }
	title := func(r *rand.Rand) string { return strings.Fields(docs[r.IntN(len(docs))].Title)[0] }
	around := func(r *rand.Rand, size float64) *orb.Bound {
		lon, lat := 8.1+r.Float64()*0.2, 53.05+r.Float64()*0.15
		return &orb.Bound{Min: orb.Point{lon, lat}, Max: orb.Point{lon + size, lat + size*0.6}}
	}
	centre := func(r *rand.Rand) *orb.Point { return &orb.Point{8.1 + r.Float64()*0.2, 53.05 + r.Float64()*0.15} }
	return []questionKind{
		{"text", func(r *rand.Rand) error { return search1(x, Query{Text: title(r)}) }},
		{"two words", func(r *rand.Rand) error { return search1(x, Query{Text: title(r) + " " + words(r)[3]}) }},
		{"typing", func(r *rand.Rand) error { t := title(r); return search1(x, Query{Text: t[:min(len(t), 4)]}) }},
		{"box", func(r *rand.Rand) error { return search1(x, Query{Filters: Filters{Box: around(r, 0.02)}, Limit: 20}) }},
		{"word in box", func(r *rand.Rand) error {
			return search1(x, Query{Filters: Filters{Box: around(r, 0.05)}, Text: words(r)[2]})
		}},
		{"radius", func(r *rand.Rand) error {
			return search1(x, Query{Filters: Filters{Center: centre(r), Radius: 1000}, Sort: Distance})
		}},
		{"facets", func(r *rand.Rand) error {
			return search1(x, Query{Text: title(r), Facets: []Facet{ByStreet, ByPostcode, BySite}})
		}},
		{"by distance", func(r *rand.Rand) error {
			return search1(x, Query{Filters: Filters{Center: centre(r)}, Text: words(r)[2], Sort: Distance})
		}},
		{"clusters", func(r *rand.Rand) error {
			_, _, err := x.Clusters(context.Background(), Query{Filters: Filters{Box: around(r, 0.05)}}, 14)
			return err
		}},
		{"suggest", func(r *rand.Rand) error { t := title(r); _, err := x.Suggest(t[:min(len(t), 3)], 10); return err }},
		{"three words", func(r *rand.Rand) error {
			w := words(r)
			return search1(x, Query{Text: w[1] + " " + w[4] + " " + w[7]})
		}},
		{"typing error", func(r *rand.Rand) error {
			t := []byte(title(r))
			t[1+r.IntN(len(t)-1)] = 'z' // which no word has
			return search1(x, Query{Text: string(t)})
		}},
		{"address", func(r *rand.Rand) error {
			a := docs[r.IntN(len(docs))].Addresses[0]
			return search1(x, Query{Text: a.Street + " " + a.HouseNumber})
		}},
		{"the world", func(r *rand.Rand) error {
			return search1(x, Query{Filters: Filters{Box: &orb.Bound{Min: orb.Point{-180, -85}, Max: orb.Point{180, 85}}}})
		}},
		{"no box", func(r *rand.Rand) error { return search1(x, Query{}) }},
		{"everything", func(r *rand.Rand) error {
			return search1(x, Query{Facets: []Facet{ByStreet, ByPostcode, BySite}})
		}},
	}
}

const usualKinds = 10

// mixed asks each kind of question from one client and then all kinds from
// eight, and reports what an answer takes.
func mixed(b *testing.B, all []questionKind) {
	ms := func(d []time.Duration, share int) float64 {
		if len(d) == 0 {
			return 0
		}
		slices.Sort(d)
		return float64(d[min(len(d)-1, len(d)*share/100)].Microseconds()) / 1000
	}
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-12s %8s %8s %8s %11s %8s", "ms", "cpu", "p50", "p99", "of 8: p50", "p99")
	lines := make([]string, len(all))
	each := max(b.N, 2000) / len(all) / 4
	for k, kind := range all { // one after the other: what each costs, whoever else works
		r := rand.New(rand.NewPCG(7, 8))
		var took []time.Duration
		before := processorTime(b)
		for range each {
			start := time.Now()
			if err := kind.ask(r); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		cpu := float64((processorTime(b) - before).Microseconds()) / 1000 / float64(each)
		lines[k] = fmt.Sprintf("%-12s %8.3f %8.2f %8.2f", kind.name, cpu, ms(took, 50), ms(took, 99))
	}
	const clients = 8
	took := make([][][]time.Duration, clients)
	var asked atomic.Int64
	start, before := time.Now(), processorTime(b)
	var wg sync.WaitGroup
	for c := range clients {
		took[c] = make([][]time.Duration, len(all))
		wg.Go(func() {
			r := rand.New(rand.NewPCG(5, uint64(c)))
			for i := c; asked.Add(1) <= int64(max(b.N, 2000)); i++ {
				k := i % len(all)
				t := time.Now()
				if err := all[k].ask(r); err != nil {
					b.Error(err)
					return
				}
				took[c][k] = append(took[c][k], time.Since(t))
			}
		})
	}
	wg.Wait()
	seconds, worked := time.Since(start).Seconds(), processorTime(b)-before
	var every []time.Duration
	for k := range all {
		var one []time.Duration
		for c := range clients {
			one = append(one, took[c][k]...)
		}
		fmt.Fprintf(&table, "\n%s %11.2f %8.2f", lines[k], ms(one, 50), ms(one, 99))
		every = append(every, one...)
	}
	fmt.Fprintln(os.Stderr, table.String()) // b.Log shows ten lines at most
	b.ReportMetric(float64(len(every))/seconds, "queries/s")
	b.ReportMetric(ms(every, 50), "p50-ms")
	b.ReportMetric(ms(every, 99), "p99-ms")
	b.ReportMetric(float64(worked.Microseconds())/1000/float64(len(every)), "cpu-ms/query") // of a busy machine, too
	b.ReportMetric(0, "ns/op")
}

// processorTime returns what the process has used of all processors.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func search1(x *Index, q Query) error {
	_, err := x.Search(context.Background(), q)
	if err != nil {
		return fmt.Errorf("%+v: %w", q, err)
	}
	return nil
}
