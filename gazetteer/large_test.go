package gazetteer

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"
)

// madeUp emits n addresses: cities of 100 streets of 40 houses, two postcodes
// each, in an order that no sort has prepared.
func madeUp(n int, emit func(Place) error) error {
	streets := (n + 39) / 40
	for i := range n {
		s := i % streets // streets interleave
		number := i/streets + 1
		c := s / 100
		p := Place{
			Kind: House, ID: "node/" + strconv.Itoa(1_000_000_000+i), Street: fmt.Sprintf("%s %d", [...]string{"Hauptstraße", "Gartenweg", "Am Markt", "Lange Gasse"}[s%4], s%100*7919%5000),
			HouseNumber: strconv.Itoa(number), Postcode: fmt.Sprintf("%05d", c*2+s%2), City: "Stadt " + strconv.Itoa(c), Country: "DE",
			Point: orb.Point{6 + float64(c%300)*0.03 + float64(s%10)*0.002 + float64(number)*0.0001, 47 + float64(c/300)*0.03 + float64(s%100/10)*0.002}, HasPoint: true,
		}
		if err := emit(p); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkLarge builds gazetteers of a country's size and reports what each
// takes, in wall time and in processor time, which other programs on the
// machine do not change: building, for each million of addresses; opening; and
// looking up 2,000 addresses from all over by street, postcode, city and
// number, first with nothing of the file in memory (cold), then again (warm).
// GAZETTEER_ADDRESSES lists the sizes: "1000000,5000000,20000000".
func BenchmarkLarge(b *testing.B) {
	sizes := "200000"
	if s := os.Getenv("GAZETTEER_ADDRESSES"); s != "" {
		sizes = s
	}
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil || n < 2000 {
			b.Fatalf("GAZETTEER_ADDRESSES is %q; it must be a list of numbers from 2000 on, with commas", sizes)
		}
		b.Run(fmt.Sprintf("addresses=%d", n), func(b *testing.B) { benchmarkLarge(b, n) })
	}
}

func benchmarkLarge(b *testing.B, n int) {
	for b.Loop() {
		dir := b.TempDir()
		resetPeakMemory()
		var peak atomic.Uint64
		ctx, stop := context.WithCancel(context.Background())
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			var m runtime.MemStats
			for ctx.Err() == nil {
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
				time.Sleep(50 * time.Millisecond)
			}
		}()
		start, used := time.Now(), cpuTime()
		builder, err := NewBuilder(dir)
		if err == nil {
			err = builder.Add(&Source{Name: "made up", Format: "test"}, func(emit func(Place) error) error { return madeUp(n, emit) })
		}
		read, readUsed := time.Since(start), cpuTime()-used
		if err == nil {
			err = builder.Finish(context.Background())
		}
		built, builtUsed := time.Since(start)-read, cpuTime()-used-readUsed
		stop()
		<-watched
		if err != nil {
			b.Fatal(err)
		}
		rss := peakMemory()
		start = time.Now()
		g, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(start)
		info, err := os.Stat(dir + "/" + compiledFile)
		if err != nil {
			b.Fatal(err)
		}
		var some []Place
		i := 0
		madeUp(n, func(p Place) error {
			if i++; i%(n/2000) == 0 {
				some = append(some, p)
			}
			return nil
		})
		if g.Stats().Houses != n {
			b.Fatalf("%+v", g.Stats())
		}
		million := float64(n) / 1e6
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(read.Seconds()/million, "read-s/M")
		b.ReportMetric(readUsed.Seconds()/million, "read-cpu-s/M")
		b.ReportMetric(built.Seconds()/million, "build-s/M")
		b.ReportMetric(builtUsed.Seconds()/million, "build-cpu-s/M")
		b.ReportMetric(float64(peak.Load())/1e6, "heapMB")
		b.ReportMetric(rss/1e6, "rssMB")
		b.ReportMetric(float64(info.Size())/1e6, "fileMB")
		b.ReportMetric(float64(info.Size())/float64(n), "B/address")
		b.ReportMetric(float64(opened.Microseconds())/1000, "open-ms")
		for _, state := range [...]string{"cold", "warm"} {
			if state == "cold" && !dropFromCache(g, dir+"/"+compiledFile) {
				continue
			}
			took := lookUp(b, g, some)
			b.ReportMetric(microseconds(took[len(took)/2]), state+"-p50-µs")
			b.ReportMetric(microseconds(took[len(took)*99/100]), state+"-p99-µs")
		}
		g.Close()
	}
}

// lookUp finds each of the places and returns how long it took, the shortest
// first.
func lookUp(b *testing.B, g *Gazetteer, places []Place) []time.Duration {
	took := make([]time.Duration, len(places))
	for i, p := range places {
		found := false
		start := time.Now()
		for _, s := range g.Streets(Query{Street: p.Street, Postcode: p.Postcode, City: p.City, Country: "DE"}) {
			h, precision := g.House(s, p.HouseNumber)
			found = found || precision == HousePrecision && h.ID == p.ID
		}
		took[i] = time.Since(start)
		if !found {
			b.Fatalf("%s %s, %s %s was not found", p.Street, p.HouseNumber, p.Postcode, p.City)
		}
	}
	slices.Sort(took)
	return took
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// resetPeakMemory has peakMemory begin anew, where the system can.
func resetPeakMemory() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMemory returns the most anonymous and file memory, in bytes, that the
// process has had in RAM, or 0 where the system does not say.
func peakMemory() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb * 1024
		}
	}
	return 0
}
