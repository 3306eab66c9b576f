//go:build unix

package cluster

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"gazehound/crawler/frontier"
)

// BenchmarkLinks takes links in as visits do, ten a transaction. Those that stay at home are queued; the
// others go by the outbox and JetStream to the queue of another node in this process. It reports links
// taken in and links queued in a second, and the processor time of both nodes and the server for a link.
func BenchmarkLinks(b *testing.B) {
	for _, owner := range []string{"", "b"} {
		b.Run(map[string]string{"": "home", "b": "other"}[owner], func(b *testing.B) {
			s := serve(b, nil)
			from, at := stored(b), stored(b)
			join(b, from, options(b, s, "a"))
			if owner == "" {
				at = from
			} else {
				node := join(b, at, options(b, s, owner))
				until(b, "b to be settled", func() bool { return len(node.notes.get().Settled) == 2 })
			}
			const page = 10
			es := make([]frontier.Entry, b.N*page)
			for i := range es {
				es[i] = frontier.Entry{
					URL:      parse(b, fmt.Sprintf("http://www.site%d.example/stadt/strasse/%d.html", i/50, i)),
					Priority: 0.5, Depth: 1, Distance: 1, Anchor: "Kontakt", Owner: owner,
				}
			}
			cpu := cpuTime()
			b.ResetTimer()
			for i := range b.N {
				if _, err := from.Push(b.Context(), es[i*page:(i+1)*page]...); err != nil {
					b.Fatal(err)
				}
			}
			taken := b.Elapsed()
			until(b, "all links", func() bool { return at.Totals().Queued == int64(len(es)) })
			links := float64(len(es))
			b.ReportMetric(links/taken.Seconds(), "in/s")
			b.ReportMetric(links/b.Elapsed().Seconds(), "arrived/s")
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/links, "cpu-us/link")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
