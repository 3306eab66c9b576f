// Package peers asks gazehound, PostgreSQL with PostGIS and SQLite with FTS5
// and R*Tree the same questions about the same made-up addresses.
//
// PostgreSQL is started for the run, in a folder of its own and on a socket, and
// stopped afterwards; where it or PostGIS is not installed, it is left out. On
// Debian: apt-get install postgresql-15-postgis-3.
package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"
)

// A document is a made-up page with one address.
type document struct {
	id                                    int
	url, host, name, title, before, after string
	street, number, code, city            string
	lon, lat                              float64
}

// address is the document's in one line.
func (d *document) address() string {
	return d.street + " " + d.number + ", " + d.code + " " + d.city
}

// A question is asked of each in its own words. Those that are not set mean
// nothing.
type question struct {
	kind   string
	words  string     // all of them
	prefix bool       // the last word is the start of one
	box    *orb.Bound // lon, lat
	centre *orb.Point
	radius float64 // metres around centre; 0: everywhere
	near   bool    // the nearest first
	facets bool    // the most frequent streets, postcodes and hosts, too
	limit  int
}

// An answer is what all are asked for.
type answer struct {
	ids   []int
	total int
}

// A store is one of those that are compared.
type store interface {
	Load(ctx context.Context, docs []document) error
	Ask(ctx context.Context, q *question) (answer, error) // safe for concurrent use
	Settings() string
	Size() (int64, error) // bytes on the disk
	Close() error
}

var errMissing = errors.New("is not installed")

var addresses = flag.Int("addresses", 100_000, "that are asked about")

// BenchmarkPeers asks b.N questions of all kinds, by one client and by eight at once.
func BenchmarkPeers(b *testing.B) {
	docs := made(*addresses)
	for _, s := range []struct {
		name string
		open func(dir string) (store, error)
	}{{"gazehound", openGazehound}, {"postgres", openPostgres}, {"sqlite", openSQLite}} {
		b.Run(s.name, func(b *testing.B) {
			s, err := s.open(b.TempDir())
			if errors.Is(err, errMissing) {
				b.Skip(err)
			}
			check(b, err)
			defer func() { check(b, s.Close()) }()
			start := time.Now()
			check(b, s.Load(b.Context(), docs))
			seconds := time.Since(start).Seconds()
			size, err := s.Size()
			check(b, err)
			for _, clients := range []int{1, maxClients} {
				b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
					ask(b, s, docs, clients)
					b.ReportMetric(float64(len(docs))/seconds, "writes/s")
					b.ReportMetric(float64(size)/float64(len(docs)), "B/address")
				})
			}
		})
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

const maxClients = 8

// ask reports what the answers to b.N questions took.
func ask(b *testing.B, s store, docs []document, clients int) {
	questions := questionsAbout(docs, b.N)
	for i := range min(100, len(questions)) { // every store may warm up
		_, err := s.Ask(b.Context(), &questions[i])
		check(b, err)
	}
	var mu sync.Mutex
	took, matches := map[string][]time.Duration{}, map[string]int{}
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(questions); i = int(next.Add(1)) - 1 {
				q := &questions[i]
				begun := time.Now()
				a, err := s.Ask(b.Context(), q)
				spent := time.Since(begun)
				mu.Lock()
				for _, kind := range []string{q.kind, "all"} {
					took[kind] = append(took[kind], spent)
					matches[kind] += a.total
				}
				mu.Unlock()
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
	if b.N == 1 {
		return // to find out how long one takes
	}
	share := func(kind string, percent int) float64 { // in ms
		all := took[kind]
		slices.Sort(all)
		return float64(all[len(all)*percent/100].Microseconds()) / 1000
	}
	b.ReportMetric(share("all", 50), "p50-ms")
	b.ReportMetric(share("all", 99), "p99-ms")
	b.Log(s.Settings())
	for _, kind := range kinds {
		if n := len(took[kind]); n > 0 {
			b.Logf("%-12s p50 %8.2f ms   p99 %8.2f ms   %8.0f matches each", kind, share(kind, 50), share(kind, 99),
				float64(matches[kind])/float64(n))
		}
	}
}

var kinds = []string{"text", "two words", "typing", "box", "word in box", "radius", "facets", "by distance"}

// questionsAbout returns questions that have answers, the same ones each time.
func questionsAbout(docs []document, n int) []question {
	r := rand.New(rand.NewPCG(5, 6))
	title := func() string { return strings.ToLower(strings.Fields(docs[r.IntN(len(docs))].title)[0]) }
	word := func() string { return strings.Fields(docs[r.IntN(len(docs))].before)[2] }
	point := func() *orb.Point { return &orb.Point{8.1 + r.Float64()*0.2, 53.05 + r.Float64()*0.15} }
	box := func(size float64) *orb.Bound {
		p := *point()
		return &orb.Bound{Min: p, Max: orb.Point{p[0] + size, p[1] + size*0.6}}
	}
	all := make([]question, n)
	for i := range all {
		q := question{kind: kinds[i%len(kinds)], limit: 10}
		switch q.kind {
		case "text":
			q.words = title()
		case "two words":
			q.words = title() + " " + word()
		case "typing":
			t := title()
			q.words, q.prefix = t[:min(len(t), 4)], true
		case "box":
			q.box, q.limit = box(0.02), 20
		case "word in box":
			q.words, q.box = word(), box(0.05)
		case "radius":
			q.centre, q.radius, q.near = point(), 1000, true
		case "facets":
			q.words, q.facets = title(), true
		case "by distance":
			q.words, q.centre, q.near = word(), point(), true
		}
		all[i] = q
	}
	return all
}

// made returns n documents of about 300 characters, in a vocabulary that is
// distributed as words are.
func made(n int) []document {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	syllables := strings.Fields("ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to")
	word := func() string {
		var b strings.Builder
		for k := int(zipf.Uint64()) + 40; k > 0; k /= len(syllables) {
			b.WriteString(syllables[k%len(syllables)])
		}
		return b.String()
	}
	text := func(words int) string {
		all := make([]string, words)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	docs := make([]document, n)
	for i := range docs {
		name := word() + " " + word()
		host := fmt.Sprintf("h%d.example", i%(n/3+1))
		docs[i] = document{
			id: i, url: fmt.Sprintf("https://%s/p%d", host, i), host: host, name: name, title: name + " | " + text(3), before: text(20), after: text(25),
			street: word() + "straße", number: fmt.Sprint(1 + i%200), code: fmt.Sprintf("26%03d", i%40), city: "Stadt",
			lon: 8.1 + r.Float64()*0.2, lat: 53.05 + r.Float64()*0.15,
		}
	}
	return docs
}

// sizeOf returns the bytes of all files below dir.
func sizeOf(dir string) (bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) { // merged away meanwhile
			return nil
		}
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
