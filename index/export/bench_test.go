package export

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"gazehound/gazetteer"
)

// BenchmarkWrite reports addresses a second, and the most memory in use beyond
// that of the open index.
func BenchmarkWrite(b *testing.B) {
	const n = 10_000
	var all []shop
	for i := range n {
		all = append(all, shop{
			url: fmt.Sprintf("https://haus%d.example/kontakt", i), title: fmt.Sprintf("Haus %d", i), name: fmt.Sprintf("Haus %d", i), street: fmt.Sprintf("Straße %d", i%500), number: fmt.Sprint(i / 500),
			code: fmt.Sprint(26100 + i%30), city: "Oldenburg", lon: 8.1 + float64(i%317)/1000, lat: 53.1 + float64(i%211)/1000, precision: gazetteer.HousePrecision, confidence: 0.9, before: "Ein Haus in der Stadt", after: "Telefon 0441 12345",
		})
	}
	x := town(b, all)
	for _, f := range Formats() {
		b.Run(f.Name, func(b *testing.B) {
			runtime.GC()
			var before, now runtime.MemStats
			runtime.ReadMemStats(&before)
			most := uint64(0)
			for b.Loop() {
				w := &peak{every: 1 << 20, look: func() {
					runtime.ReadMemStats(&now)
					most = max(most, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
				}}
				sum, err := Write(b.Context(), w, x, f, options())
				if err != nil || sum.Addresses != n {
					b.Fatal(sum, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "addresses/s")
			b.ReportMetric(float64(most)/(1<<20), "MB-peak")
		})
	}
}

// A peak looks at the memory after every so many bytes.
type peak struct {
	every, written int
	look           func()
}

func (p *peak) Write(b []byte) (int, error) {
	if p.written += len(b); p.written >= p.every {
		p.written = 0
		p.look()
	}
	return io.Discard.Write(b)
}
