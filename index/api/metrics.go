package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gazehound/index"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A Question is what a client looked for, without who it was.
type Question struct {
	Time    time.Time `json:"time"`
	Words   string    `json:"words"`
	Hits    int       `json:"hits"`
	Relaxed bool      `json:"relaxed,omitempty"` // the hits lack some of the words
}

// InVain reports whether nothing was found that fits all the words.
func (q Question) InVain() bool { return q.Hits == 0 || q.Relaxed }

// metrics count requests for /metrics. No word that was asked is a label, nor any client.
type metrics struct {
	handler   http.Handler
	requests  *prometheus.CounterVec
	took      *prometheus.HistogramVec
	questions *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gazehound_server_requests_total", Help: "Requests by endpoint and class of the status.",
		}, []string{"endpoint", "class"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gazehound_server_request_duration_seconds", Help: "Time until an answer was written.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"endpoint"}),
		questions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gazehound_server_questions_total",
			Help: "First pages of searches with words, by whether something was found that fits all of them.",
		}, []string{"found"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.took, m.questions)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, DisableCompression: true})
	return m
}

// request counts one request, by the pattern that it fits.
func (m *metrics) request(pattern string, status int, took time.Duration) {
	if pattern == "/" {
		pattern = ""
	}
	endpoint := cmp.Or(strings.TrimSuffix(pattern, "{$}"), "other")
	if strings.HasPrefix(endpoint, "/assets/") {
		endpoint = "/assets/"
	}
	m.requests.WithLabelValues(endpoint, fmt.Sprintf("%dxx", status/100)).Inc()
	m.took.WithLabelValues(endpoint).Observe(took.Seconds())
}

// asked counts a question, and logs it if that is wanted.
func (s *server) asked(a *params, result *index.Result) {
	if a.Text == "" || a.Cursor != "" {
		return
	}
	q := Question{Time: time.Now().UTC().Truncate(time.Minute), Words: clip(a.Text), Hits: result.Total,
		Relaxed: result.Relaxed}
	found := "all_words"
	if q.InVain() {
		found = "none"
	}
	s.metrics.questions.WithLabelValues(found).Inc()
	if s.Asked != nil {
		s.Asked(q)
	}
}
