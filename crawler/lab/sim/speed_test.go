package sim_test

import (
	"testing"

	"gazehound/crawler/lab/sim"
)

// BenchmarkTown crawls all of a large made-up web, one page after the other,
// and reports pages a second; the first crawl writes and parses every page.
//
//	go test ./crawler/lab/sim -run NONE -bench Town -benchtime 1x -timeout 1h
func BenchmarkTown(b *testing.B) {
	w := town(b, 1000, 7)
	for _, name := range []string{"breadth-first", "breadth-first", "soft-focused", "adaptive"} {
		b.Run(name, func(b *testing.B) {
			pages := 0
			for b.Loop() {
				pages += run(b, w, name, sim.Options{Pages: 50_000}).Pages
			}
			b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
