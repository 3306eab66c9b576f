package monitor

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"gazehound/crawler"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// visitMetrics are counted from single visits. figures.yaml has all others.
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

// measured is what metrics are made from.
type measured struct {
	*Snapshot
	X Extras
}

// gather returns what the figures tell Prometheus of the present state.
func (b *Board) gather(x Extras) ([]*dto.MetricFamily, error) {
	state := b.State().Snapshot
	var text strings.Builder
	all, _ := figures()
	for _, f := range all {
		fmt.Fprintln(&text, texts["en"].fill(f.Metric, &measured{&state, x}))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text.String()))
	return slices.Collect(maps.Values(families)), err
}

// registry returns all metrics of a crawl. extras may be nil.
func registry(b *Board, version string, extras func() Extras) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	v := b.visits
	r.MustRegister(v.took, v.priority, v.responses, v.bridges, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	state := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		var x Extras
		if extras != nil {
			x = extras()
		}
		x.Version = version
		return b.gather(x)
	})
	return prometheus.Gatherers{r, state}
}

func metricsHandler(g prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
