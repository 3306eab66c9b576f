//go:build unix

package frontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/weburl"

	badger "github.com/dgraph-io/badger/v4"
)

// The benchmarks build a web of benchURLs links on a tenth as many hosts:
//
//	FRONTIER_URLS=1000000 go test -run '^$' -bench Scale -benchtime 1x -timeout 30m ./crawler/frontier
func benchURLs() int {
	if n, err := strconv.Atoi(os.Getenv("FRONTIER_URLS")); err == nil {
		return n
	}
	return 100_000
}

// linkSource makes pages of links as a portal has them: pageLinks links to
// about an eighth as many hosts, with words around.
type linkSource struct {
	r     *rand.Rand
	hosts int
	seq   int
	page  int
}

const pageLinks = 64

var benchWords = strings.Fields(`Startseite Aktuelles Über uns Kontakt Impressum Datenschutz Anfahrt Öffnungszeiten Verein Vorstand Termine
	Galerie Handwerk Bäckerei Metzgerei Friseur Rechtsanwalt Zahnarzt Apotheke Restaurant Pizzeria Hotel Pension Ferienwohnung Stadtplan Branchenbuch
	Oldenburg Osternburg Donnerschwee Eversten Bürgerfelde Nadorst Straße Platz Markt weitere Informationen finden Sie hier mehr lesen zur Seite von
	der die das und in im am mit für bei nach aus dem den einer eines ist sind wird auf zu neue alle unsere Angebote Leistungen Preise Team Jobs`)

func (s *linkSource) words(n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = benchWords[s.r.IntN(len(benchWords))]
	}
	return strings.Join(w, " ")
}

func (s *linkSource) links() []Entry {
	s.page++
	var parent Key
	binary.BigEndian.PutUint64(parent[8:], uint64(s.page)*golden)
	text := strings.Fields(s.words(pageLinks * 4)) // the page, which the links stand in
	es := make([]Entry, 0, pageLinks)
	host := 0
	for i := range pageLinks {
		if i%8 == 0 {
			host = s.r.IntN(s.hosts)
		}
		s.seq++
		raw := fmt.Sprintf("https://www.%s-%d.example/%s/%s-%d.html", strings.ToLower(ascii(benchWords[host%len(benchWords)])), host,
			strings.ToLower(ascii(benchWords[s.r.IntN(20)])), strings.ToLower(ascii(benchWords[s.r.IntN(40)])), s.seq)
		u, err := weburl.Parse(raw)
		if err != nil {
			panic(err)
		}
		at := i * 4
		es = append(es, Entry{
			URL: u, Priority: math.Round(s.r.Float64()*1e6) / 1e6, Depth: 4, Distance: 2, Parent: parent, Found: time.Unix(1_790_000_000+int64(s.page), 0),
			Anchor: strings.Join(text[at:at+2], " "), Around: strings.Join(text[max(0, at-6):min(len(text), at+8)], " "), Switch: true,
		})
	}
	return es
}

var asciiOnly = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ö", "oe", "Ü", "ue", "ß", "ss")

func ascii(s string) string { return asciiOnly.Replace(s) }

// pages makes the links of n pages and tells what CPU time that took, which is
// not to be charged to the frontier.
func (s *linkSource) pages(n int) (es []Entry, took time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const thread = 1 // RUSAGE_THREAD
	cpu := cpuTime(thread)
	for range n {
		es = append(es, s.links()...)
	}
	return es, cpuTime(thread) - cpu
}

func newSource(hosts int) *linkSource {
	return &linkSource{r: rand.New(rand.NewPCG(7, 8)), hosts: hosts}
}

// BenchmarkScale fills a store, opens it, works on it as a crawl does, and
// reports what each costs.
func BenchmarkScale(b *testing.B) {
	n := benchURLs()
	ceiling := int64(500e6)
	if mb, err := strconv.ParseInt(os.Getenv("FRONTIER_MEMORY_MB"), 10, 64); err == nil {
		ceiling = mb * 1e6
	}
	for b.Loop() {
		dir := b.TempDir()
		ctx, cancel := context.WithCancel(b.Context())
		var beside sync.WaitGroup
		debug.SetMemoryLimit(ceiling * 85 / 100)
		beside.Go(func() { watchUse(ctx, b) })
		b.Cleanup(func() { cancel(); beside.Wait() })
		o := Options{Dir: dir, Memory: ceiling / 2}
		f, err := Open(o)
		if err != nil {
			b.Fatal(err)
		}
		src := newSource(max(n/10, 1))

		var inPush, making time.Duration
		cpu := cpuTime(syscall.RUSAGE_SELF)
		for pushed := 0; pushed < n; pushed += 8 * pageLinks {
			es, made := src.pages(8)
			making += made
			began := time.Now()
			if _, err := f.Push(ctx, es...); err != nil {
				b.Fatal(err)
			}
			inPush += time.Since(began)
		}
		b.ReportMetric(float64(n)/inPush.Seconds(), "push/s")
		b.ReportMetric(float64((cpuTime(syscall.RUSAGE_SELF)-cpu-making).Microseconds())/float64(n), "cpu-us/push")
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(diskUse(b, dir))/float64(n), "B/url")
		f = nil
		runtime.GC()

		began, cpu := time.Now(), cpuTime(syscall.RUSAGE_SELF)
		if f, err = Open(o); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "open-s")
		b.ReportMetric((cpuTime(syscall.RUSAGE_SELF) - cpu).Seconds(), "open-cpu-s")
		began = time.Now()
		e, err := f.Next(ctx, always)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds()*1e3, "first-next-ms")
		if err := f.Return(e, Backoff{}); err != nil {
			b.Fatal(err)
		}
		steady(b, f, src)
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		cancel()
		beside.Wait()
	}
}

// BenchmarkOpen opens a store for reading: with Verify, as after a kill, and without, as after an end.
func BenchmarkOpen(b *testing.B) {
	n := benchURLs()
	o := Options{Dir: b.TempDir(), Memory: 250e6}
	f, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	for src, pushed := newSource(max(n/10, 1)), 0; pushed < n; pushed += 8 * pageLinks {
		es, _ := src.pages(8)
		if _, err := f.Push(b.Context(), es...); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	o.ReadOnly = true
	for _, o.Verify = range []bool{true, false} {
		b.Run(fmt.Sprintf("verify=%t", o.Verify), func(b *testing.B) {
			cpu := cpuTime(syscall.RUSAGE_SELF)
			for b.Loop() {
				f, err := Open(o)
				if err != nil {
					b.Fatal(err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((cpuTime(syscall.RUSAGE_SELF)-cpu).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// steady takes 64 entries and pushes 512 links in turn, for a while.
func steady(b *testing.B, f *Frontier, src *linkSource) {
	ctx := context.Background()
	var took, making time.Duration
	var nexts []time.Duration
	ops := 0
	cpu := cpuTime(syscall.RUSAGE_SELF)
	for took < 4*time.Second {
		links, made := src.pages(8)
		making += made
		began := time.Now()
		entries := make([]Entry, 64)
		for i := range entries {
			at := time.Now()
			e, err := f.Next(ctx, always)
			if err != nil {
				b.Fatal(err)
			}
			nexts = append(nexts, time.Since(at))
			entries[i] = e
		}
		results := make(chan error)
		for i, e := range entries { // eight of the pages have links
			go func() {
				var found []Entry
				if i < 8 {
					found = links[i*pageLinks : (i+1)*pageLinks]
				}
				_, err := f.Done(ctx, e, Outcome{Kind: "page", Status: 200, Bytes: 16000}, found...)
				results <- err
			}()
		}
		for range entries {
			if err := <-results; err != nil {
				b.Fatal(err)
			}
		}
		took += time.Since(began)
		ops += 64 + 512
	}
	slices.Sort(nexts)
	b.ReportMetric(float64(ops)/took.Seconds(), "pop+push/s")
	b.ReportMetric(float64((cpuTime(syscall.RUSAGE_SELF)-cpu-making).Microseconds())/float64(ops), "cpu-us/op")
	b.ReportMetric(float64(nexts[len(nexts)/2].Microseconds()), "next-p50-us")
	b.ReportMetric(float64(nexts[len(nexts)*99/100].Microseconds()), "next-p99-us")
}

// BenchmarkScaleNaive is the same work on a store with one queue for all hosts, in
// which every pop deletes at the front and every URL is one record.
func BenchmarkScaleNaive(b *testing.B) {
	n := benchURLs()
	for b.Loop() {
		dir := b.TempDir()
		db, err := badger.Open(badgerOptions(Options{Dir: dir, Memory: usualMemory}))
		if err != nil {
			b.Fatal(err)
		}
		src := newSource(max(n/10, 1))
		var making time.Duration
		push := func() (took time.Duration) {
			links, made := src.pages(8)
			making += made
			began := time.Now()
			txn := db.NewTransaction(true)
			for i := range links {
				e := &links[i]
				k := KeyOf(e.URL)
				if _, err := txn.Get(urlKey(k)); err == nil {
					continue
				}
				key := binary.BigEndian.AppendUint32([]byte{'q'}, rankOf(float32(e.Priority)))
				words, err := encode(e)
				if err := cmp.Or(err, txn.Set(urlKey(k), nil), txn.Set(append(key, k[:]...), words)); err != nil {
					b.Fatal(err)
				}
			}
			if err := txn.Commit(); err != nil {
				b.Fatal(err)
			}
			return time.Since(began)
		}
		pop := func(n int) (took time.Duration) {
			began := time.Now()
			for range n {
				err := db.Update(func(txn *badger.Txn) error {
					it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{'q'}})
					it.Rewind()
					key := it.Item().KeyCopy(nil)
					err := it.Item().Value(func(v []byte) error {
						_, err := decodeLink(v)
						return err
					})
					it.Close()
					return cmp.Or(err, txn.Delete(key))
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			return time.Since(began)
		}
		var took time.Duration
		cpu := cpuTime(syscall.RUSAGE_SELF)
		for pushed := 0; pushed < n; pushed += 8 * pageLinks {
			took += push()
		}
		b.ReportMetric(float64(n)/took.Seconds(), "push/s")
		b.ReportMetric(float64((cpuTime(syscall.RUSAGE_SELF)-cpu-making).Microseconds())/float64(n), "cpu-us/push")
		cpu, making = cpuTime(syscall.RUSAGE_SELF), 0
		took = 0
		ops := 0
		for took < 4*time.Second {
			took += pop(64) + push()
			ops += 64 + 512
		}
		b.ReportMetric(float64(ops)/took.Seconds(), "pop+push/s")
		b.ReportMetric(float64((cpuTime(syscall.RUSAGE_SELF)-cpu-making).Microseconds())/float64(ops), "cpu-us/op")
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(diskUse(b, dir))/float64(n), "B/url")
	}
}

// diskUse returns the bytes that the files of dir take on the disk.
func diskUse(b *testing.B, dir string) (n int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n += info.Sys().(*syscall.Stat_t).Blocks * 512
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// watchUse reports the most memory that the process has until ctx ends.
func watchUse(ctx context.Context, b *testing.B) {
	var own, total int64
	for t := time.NewTicker(50 * time.Millisecond); ; {
		select {
		case <-t.C:
			var size, resident, shared int64
			text, err := os.ReadFile("/proc/self/statm")
			if _, err2 := fmt.Sscan(string(text), &size, &resident, &shared); err == nil && err2 == nil {
				page := int64(os.Getpagesize())
				own, total = max(own, (resident-shared)*page), max(total, resident*page)
			}
		case <-ctx.Done():
			t.Stop()
			b.ReportMetric(float64(own)/1e6, "own-MB")
			b.ReportMetric(float64(total)/1e6, "rss-MB")
			return
		}
	}
}

func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDone ends visits of pages with ten links each, by one worker and by sixteen.
func BenchmarkDone(b *testing.B) {
	ctx := context.Background()
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			f := open(b, Options{Dir: b.TempDir()})
			src := newSource(1000)
			if _, err := f.Push(ctx, src.links()...); err != nil {
				b.Fatal(err)
			}
			pages := make([][]Entry, b.N)
			for i := range pages {
				pages[i] = src.links()[:10]
			}
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range workers {
				wg.Go(func() {
					for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
						e, err := f.Next(ctx, always)
						if err == nil {
							_, err = f.Done(ctx, e, Outcome{Kind: "page", Status: 200}, pages[i]...)
						}
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// BenchmarkVisit makes all calls to the frontier that a crawl makes for a page, by eight workers at a
// time: the next link, the states of its links, its trail, for every fourth a record of its host, and
// its end.
func BenchmarkVisit(b *testing.B) {
	ctx := context.Background()
	f := open(b, Options{Dir: b.TempDir()})
	src := newSource(1000)
	if _, err := f.Push(ctx, src.links()...); err != nil {
		b.Fatal(err)
	}
	pages, keys := make([][]Entry, b.N), make([][]Key, b.N)
	for i := range pages {
		pages[i] = src.links()[:10]
		for j := range pages[i] {
			keys[i] = append(keys[i], KeyOf(pages[i][j].URL))
		}
	}
	visit := func(i int) error {
		e, err := f.Next(ctx, always)
		if err != nil {
			return err
		}
		if _, err := f.Known(keys[i]...); err != nil {
			return err
		}
		if _, err = f.Trail(e.Parent, 3); err != nil {
			return err
		}
		if i%4 == 0 {
			if err := f.PutMeta("robots "+e.URL.Host(), []byte(e.URL.String())); err != nil {
				return err
			}
		}
		_, err = f.Done(ctx, e, Outcome{Kind: "page", Status: 200}, pages[i]...)
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	cpu := cpuTime(syscall.RUSAGE_SELF)
	b.ResetTimer()
	for range 8 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				if err := visit(int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64((cpuTime(syscall.RUSAGE_SELF)-cpu).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkScored takes entries with priorities that are all too high from a newly opened store: most
// of a call is rescoring entries that are not the best.
func BenchmarkScored(b *testing.B) {
	ctx := context.Background()
	dir := b.TempDir()
	f := open(b, Options{Dir: dir})
	src := newSource(2000)
	for range 300 {
		links := src.links()
		for i := range links {
			links[i].Priority += 1
		}
		if _, err := f.Push(ctx, links...); err != nil {
			b.Fatal(err)
		}
	}
	f.Close()
	tries := 0
	f = open(b, Options{Dir: dir, Score: func(e *Entry) float64 { tries++; return fresh(e) }})
	b.ResetTimer()
	for range b.N {
		if _, err := f.Next(ctx, always); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tries)/float64(b.N), "scores/op")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(tries), "us/score")
}

// BenchmarkOutcomes reads what became of 10,000 visits, beside a walk over the
// same.
func BenchmarkOutcomes(b *testing.B) {
	ctx := context.Background()
	f := open(b, Options{Dir: b.TempDir()})
	src := newSource(1000)
	if _, err := f.Push(ctx, src.links()...); err != nil {
		b.Fatal(err)
	}
	const visits = 10_000
	for range visits {
		e, err := f.Next(ctx, always)
		if err == nil {
			_, err = f.Done(ctx, e, Outcome{Kind: "page", Status: 200}, src.links()[:10]...)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for name, read := range map[string]func(count func()) error{
		"walk": func(count func()) error { return f.Walk(ctx, 0, func(Node) error { count(); return nil }) },
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				if err := read(func() { n++ }); err != nil {
					b.Fatal(err)
				}
			}
			if n != visits*b.N {
				b.Fatalf("%d visits", n/b.N)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "us/visit")
		})
	}
}
