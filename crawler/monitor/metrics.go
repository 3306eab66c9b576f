package monitor

import (
	"fmt"
	"net/http"

	"gazehound/crawler"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// visitMetrics are counted from single visits. See metrics for all others.
type visitMetrics struct {
	took      prometheus.Histogram
	priority  prometheus.Histogram
	responses *prometheus.CounterVec
	bridges   *prometheus.CounterVec
}

func newVisitMetrics() *visitMetrics {
	return &visitMetrics{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gazehound_fetch_duration_seconds", Help: "Time from a request to the last byte of its answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
		priority: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gazehound_link_priority", Help: "Priority of the links that were visited.",
			Buckets: prometheus.LinearBuckets(.1, .1, 10),
		}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gazehound_http_responses_total", Help: "Answers of this run by class of their status.",
		}, []string{"class"}),
		bridges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gazehound_bridge_depth_pages_total",
			Help: "Relevant pages of this run by the links since the last relevant one; " +
				"1 is a link of a relevant page, 6 is six and more.",
		}, []string{"depth"}),
	}
}

// visit counts one stored visit.
func (m *visitMetrics) visit(v *crawler.Visit) {
	m.priority.Observe(v.Entry.Priority)
	if r := v.Response; r != nil {
		m.took.Observe(r.Took.Seconds())
	}
	if s := v.Outcome.Status; s >= 100 && s < 600 && v.Response != nil {
		m.responses.WithLabelValues(fmt.Sprintf("%dxx", s/100)).Inc()
	}
	if v.Outcome.Relevant && v.Before == nil {
		m.bridges.WithLabelValues(fmt.Sprint(min(max(v.Entry.Distance, 0), 6))).Inc()
	}
}

// Extras are figures of other parts of the program.
type Extras struct {
	Version   string // of the program
	Documents int    // in the index
	Updates   [3]int // links that the predictor has learned at depths 1 to 3
	Node      *Node  // what the crawl is to its cluster; nil: it crawls alone
}

// A Node counts a node's exchange with the others.
type Node struct {
	Name      string
	Nodes     int   // that are there, with this one
	Sent      int64 // links to other nodes
	SentBytes int64 // of the messages with them
	URLBytes  int64 // of their URLs
	Received  int64 // links from other nodes, by this process
	Outbox    int64 // bytes of links that wait to be sent
}

// A collector reads all metrics when Prometheus asks.
type collector struct {
	board   *Board
	extras  func() Extras // nil: there are none
	version string
}

// Describe sends nothing: which metrics there are depends on the crawl.
func (c collector) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state of the crawl.
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.board.State().Snapshot
	var x Extras
	if c.extras != nil {
		x = c.extras()
	}
	x.Version = c.version
	for _, m := range metrics {
		desc := prometheus.NewDesc("gazehound_"+m.name, m.help, m.labels, nil)
		m.read(&s, &x, func(value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(desc, m.kind, value, labels...)
		})
	}
}

// registry returns all metrics of a crawl.
func registry(b *Board, version string, extras func() Extras) *prometheus.Registry {
	r := prometheus.NewRegistry()
	v := b.visits
	r.MustRegister(collector{b, extras, version}, v.took, v.priority, v.responses, v.bridges,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func metricsHandler(r *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
