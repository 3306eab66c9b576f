// Command peers asks gazehound, PostgreSQL with PostGIS and SQLite with FTS5
// and R*Tree the same questions about the same made-up addresses, eight clients
// at a time, and prints what an answer takes.
//
// PostgreSQL is started for the run, in a folder of its own and on a socket, and
// stopped afterwards; where it or PostGIS is not installed, it is left out. On
// Debian: apt-get install postgresql-15-postgis-3.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 100_000, "addresses")
	asked := flag.Int("queries", 4000, "questions to each")
	clients := flag.Int("clients", 8, "that ask at once")
	only := flag.String("only", "", "one of gazehound, postgres, sqlite; empty: all")
	flag.Parse()
	if err := run(*n, *asked, *clients, *only); err != nil {
		log.Fatal(err)
	}
}

func run(n, asked, clients int, only string) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	docs := made(n)
	ctx := context.Background()
	for _, s := range []struct {
		name string
		open func(dir string, clients int) (store, error)
	}{{"gazehound", openGazehound}, {"postgres", openPostgres}, {"sqlite", openSQLite}} {
		if only != "" && only != s.name {
			continue
		}
		if err := measure(ctx, s.name, filepath.Join(dir, s.name), s.open, docs, asked, clients); errors.Is(err, errMissing) {
			fmt.Printf("%s is left out: %v\n", s.name, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func measure(ctx context.Context, name, dir string, open func(string, int) (store, error), docs []document, asked, clients int) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s, err := open(dir, clients)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fmt.Printf("\n%s: %s\n", name, s.Settings())
	start := time.Now()
	if err := s.Load(ctx, docs); err != nil {
		return err
	}
	size, err := s.Size()
	if err != nil {
		return err
	}
	fmt.Printf("%d addresses loaded in %.1f s, %d bytes each\n", len(docs), time.Since(start).Seconds(), size/int64(len(docs)))
	questions := questionsAbout(docs, asked)
	for i := range min(100, len(questions)) { // every store may warm up
		if _, err := s.Ask(ctx, &questions[i]); err != nil {
			return err
		}
	}
	took := map[string][]time.Duration{}
	hits := map[string]int{}
	var mu sync.Mutex
	var next atomic.Int64
	var failed error
	start = time.Now()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(questions) {
					return
				}
				q := &questions[i]
				begun := time.Now()
				a, err := s.Ask(ctx, q)
				spent := time.Since(begun)
				mu.Lock()
				took[q.kind], took["all"] = append(took[q.kind], spent), append(took["all"], spent)
				hits[q.kind] += a.total
				hits["all"] += a.total
				failed = cmp.Or(failed, err)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return failed
	}
	seconds := time.Since(start).Seconds()
	for _, kind := range append(slices.Clone(kinds), "all") {
		all := took[kind]
		slices.Sort(all)
		ms := func(share int) float64 {
			return float64(all[min(len(all)-1, len(all)*share/100)].Microseconds()) / 1000
		}
		fmt.Printf("%-12s p50 %8.2f ms   p99 %8.2f ms   %8.0f matches each\n", kind, ms(50), ms(99), float64(hits[kind])/float64(len(all)))
	}
	fmt.Printf("%.0f answers a second\n", float64(len(questions))/seconds)
	return nil
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
