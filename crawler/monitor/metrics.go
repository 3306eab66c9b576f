package monitor

import (
	"fmt"
	"net/http"

	"gazehound/crawler"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// meters count what only single visits tell. Everything else is read from the
// state of the crawl when somebody asks.
type meters struct {
	took      prometheus.Histogram
	priority  prometheus.Histogram
	responses *prometheus.CounterVec
	bridges   *prometheus.CounterVec
}

func newMeters() *meters {
	return &meters{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "gazehound_fetch_duration_seconds", Help: "Time from a request to the last byte of its answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20}}),
		priority: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "gazehound_link_priority", Help: "Priority of the links that were visited.",
			Buckets: prometheus.LinearBuckets(.1, .1, 10)}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gazehound_http_responses_total", Help: "Answers of this run by class of their status."}, []string{"class"}),
		bridges: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gazehound_bridge_depth_pages_total",
			Help: "Relevant pages of this run by the links since the last relevant one; 1 is a link of a relevant page, 6 is six and more."}, []string{"depth"}),
	}
}

// visit counts one stored visit.
func (m *meters) visit(v *crawler.Visit) {
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

// A gauges collector turns the state of the crawl into metrics.
type gauges struct {
	board   *Board
	extras  func() Extras
	version string
}

// Extras are figures that other parts of the program know.
type Extras struct {
	Documents int    // in the index
	Updates   [3]int // links that the predictor has learned at depths 1 to 3
	Node      *Node  // what the crawl is to its cluster; nil: it crawls alone
}

// A Node is what one node of several knows of its exchange with the others.
type Node struct {
	Name      string
	Nodes     int   // that are there, with this one
	Sent      int64 // links to other nodes
	SentBytes int64 // of the messages with them
	URLBytes  int64 // of their URLs
	Received  int64 // links from other nodes, by this process
	Outbox    int64 // bytes of links that wait to be sent
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gazehound_"+name, help, labels, nil)
}

var (
	pagesDesc     = describe("pages_total", "Visits of the crawl, earlier runs included, by what became of them.", "result")
	harvestDesc   = describe("harvest_ratio", "Share of relevant pages, of all and of the last 1,000.", "window")
	breadthDesc   = describe("breadth_first_harvest_ratio", "Estimate of what a breadth-first crawl would have brought on the same links.", "window")
	addressesDesc = describe("addresses", "Distinct addresses of the region that were found.")
	newDesc       = describe("addresses_new_total", "Distinct addresses of the region that were found for the first time.")
	coverageDesc  = describe("street_coverage_ratio", "Share of the gazetteer's streets in the region of which an address was found.")
	linksDesc     = describe("frontier_links", "Links that wait or are being visited.")
	hostsDesc     = describe("frontier_hosts", "Hosts of the crawl by state.", "state")
	leasedDesc    = describe("visits_in_flight", "Pages that are being worked on.")
	workersDesc   = describe("workers", "Pages that may be worked on at a time.")
	bytesDesc     = describe("fetch_bytes_total", "Bytes that were downloaded, earlier runs included.")
	errorsDesc    = describe("errors_total", "Visits that failed, earlier runs included, by class.", "class")
	skippedDesc   = describe("skipped_total", "Pages that were not fetched or not kept, earlier runs included, by reason.", "reason")
	updatesDesc   = describe("predictor_updates_total", "Links that the predictor has learned.", "depth")
	lossDesc      = describe("predictor_logloss", "Mean log-loss of the last 1,000 predictions, each made before its page was learned.", "depth")
	documentsDesc = describe("index_docs", "Pages in the index.")
	diskDesc      = describe("disk_free_bytes", "Bytes that may still be written beside the crawl.")
	memoryDesc    = describe("memory_bytes", "Memory of the process: its own (heap, stacks, buffers), and of mapped files.", "kind")
	nodesDesc     = describe("cluster_nodes", "Nodes that are there, as this one sees it.", "node")
	sentDesc      = describe("cluster_links_sent_total", "Links that went to other nodes, earlier runs included.", "node")
	receivedDesc  = describe("cluster_links_received_total", "Links that came from other nodes.", "node")
	sentBytesDesc = describe("cluster_bytes_sent_total", "Bytes of the messages with links to other nodes, earlier runs included.", "node")
	urlBytesDesc  = describe("cluster_url_bytes_sent_total", "Bytes of the URLs of links that went to other nodes, earlier runs included.", "node")
	outboxDesc    = describe("cluster_outbox_bytes", "Bytes of links that wait to be sent.", "node")
	pausedDesc    = describe("paused", "1 while the crawl is held.")
	buildDesc     = describe("build_info", "The program; always 1.", "version", "strategy")
)

// Describe tells nothing: what there is depends on the crawl.
func (g gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state of the crawl.
func (g gauges) Collect(out chan<- prometheus.Metric) {
	s := g.board.State()
	gauge := func(d *prometheus.Desc, x float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, x, labels...)
	}
	counter := func(d *prometheus.Desc, n int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	counter(pagesDesc, s.Relevant, "relevant")
	counter(pagesDesc, s.Pages-s.Relevant, "irrelevant")
	counter(pagesDesc, total(s.Errors), "error")
	counter(pagesDesc, total(s.Skipped), "skipped")
	gauge(harvestDesc, s.Harvest, "all")
	gauge(harvestDesc, s.HarvestRecent, "1000")
	if s.Insight == nil {
		s.Insight = &Insight{}
	}
	if s.Breadth != nil && s.BreadthAll != nil {
		gauge(breadthDesc, *s.BreadthAll, "all")
		gauge(breadthDesc, *s.Breadth, "1000")
	}
	gauge(addressesDesc, float64(s.Addresses))
	counter(newDesc, s.Addresses)
	if s.Streets.All > 0 {
		gauge(coverageDesc, float64(s.Streets.Found)/float64(s.Streets.All))
	}
	gauge(linksDesc, float64(s.Queued))
	h := s.Hosts
	for _, n := range []struct {
		state string
		hosts int64
	}{{"ready", h.Ready}, {"waiting", h.Waiting - min(h.Backoff, h.Waiting)}, {"backoff", h.Backoff}, {"asked", h.Asked}, {"exhausted", max(h.Known-h.Ready-h.Waiting, 0)}} {
		gauge(hostsDesc, float64(n.hosts), n.state)
	}
	gauge(leasedDesc, float64(s.Leased))
	gauge(workersDesc, float64(s.Workers))
	counter(bytesDesc, s.Bytes)
	for class, n := range s.Errors {
		counter(errorsDesc, n, class)
	}
	for reason, n := range s.Skipped {
		counter(skippedDesc, n, reason)
	}
	for d, l := range s.LogLoss {
		if l != nil {
			gauge(lossDesc, *l, fmt.Sprint(d+1))
		}
	}
	gauge(diskDesc, float64(s.DiskFree))
	gauge(memoryDesc, float64(s.Own), "own")
	gauge(memoryDesc, float64(s.Mapped), "mapped")
	paused := 0.0
	if s.Paused {
		paused = 1
	}
	gauge(pausedDesc, paused)
	gauge(buildDesc, 1, g.version, s.Strategy)
	if g.extras == nil {
		return
	}
	x := g.extras()
	gauge(documentsDesc, float64(x.Documents))
	for d, n := range x.Updates {
		counter(updatesDesc, int64(n), fmt.Sprint(d+1))
	}
	if n := x.Node; n != nil {
		gauge(nodesDesc, float64(n.Nodes), n.Name)
		counter(sentDesc, n.Sent, n.Name)
		counter(receivedDesc, n.Received, n.Name)
		counter(sentBytesDesc, n.SentBytes, n.Name)
		counter(urlBytesDesc, n.URLBytes, n.Name)
		gauge(outboxDesc, float64(n.Outbox), n.Name)
	}
}

// registry returns all metrics of a crawl.
func registry(b *Board, version string, extras func() Extras) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(gauges{b, extras, version}, b.meters.took, b.meters.priority, b.meters.responses, b.meters.bridges,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func metricsHandler(r *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
