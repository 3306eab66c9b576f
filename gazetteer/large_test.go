package gazetteer

import (
	"context"
	"fmt"
	"os"
	"runtime"
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

// BenchmarkLarge builds a gazetteer of a country's size and reports what it
// takes. GAZETTEER_ADDRESSES sets the number of addresses; the default is small.
func BenchmarkLarge(b *testing.B) {
	n := 200_000
	if s := os.Getenv("GAZETTEER_ADDRESSES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for b.Loop() {
		dir := b.TempDir()
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
		start := time.Now()
		builder, err := NewBuilder(dir)
		if err == nil {
			err = builder.Add(&Source{Name: "made up", Format: "test"}, func(emit func(Place) error) error { return madeUp(n, emit) })
		}
		read := time.Since(start)
		if err == nil {
			err = builder.Finish(context.Background())
		}
		built := time.Since(start) - read
		stop()
		<-watched
		if err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		g, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(start)
		info, _ := os.Stat(dir + "/" + compiledFile)
		// Addresses from all over, found by street, postcode and number.
		var some []Place
		i := 0
		madeUp(n, func(p Place) error {
			if i++; i%max(n/2000, 1) == 0 {
				some = append(some, p)
			}
			return nil
		})
		found, tried := 0, len(some)
		took := make([]time.Duration, tried)
		for i, p := range some {
			start := time.Now()
			for _, s := range g.Streets(Query{Street: p.Street, Postcode: p.Postcode, City: p.City, Country: "DE"}) {
				if h, precision := g.House(s, p.HouseNumber); precision == HousePrecision && h.ID == p.ID {
					found++
				}
			}
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		if found != tried || g.Stats().Houses != n {
			b.Fatalf("%d of %d found, %+v", found, tried, g.Stats())
		}
		g.Close()
		b.ReportMetric(float64(n)/read.Seconds(), "read/s")
		b.ReportMetric(float64(n)/built.Seconds(), "built/s")
		b.ReportMetric(float64(peak.Load())/1e6, "heapMB")
		b.ReportMetric(peakMemory()/1e6, "rssMB")
		b.ReportMetric(float64(info.Size())/float64(n), "B/address")
		b.ReportMetric(float64(opened.Microseconds())/1000, "open_ms")
		b.ReportMetric(float64(took[tried/2].Nanoseconds())/1000, "µs/lookup-p50")
		b.ReportMetric(float64(took[tried*9/10].Nanoseconds())/1000, "µs/lookup-p90")
	}
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
