package monitor

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"gazehound/internal/textutil"

	"github.com/prometheus/client_golang/prometheus"
)

// What a crawl reports about itself is listed in three places: figures.json has
// the tiles of the dashboard and the lines of "gazehound status", Values the
// values of the status lines that a crawl prints, metrics those of Prometheus. To
// add a figure, write its line there, and where it is not known yet, extend Snapshot.

// A figure is a tile of the dashboard, a line of "gazehound status", or both. All
// but names are templates of text/template over a *Snapshot, with the functions
// of figureFuncs.
type figure struct {
	ID    string // of the tile, and of its text in GET /v1/crawl; "": there is no tile
	Name  text
	Value string
	Note  text

	Title string // of the line
	Line  string // what comes out empty is left out
}

// A text is what something is called, by language.
type text map[string]string

//go:embed figures.json
var figuresSource []byte

// figures are all tiles and lines, in the order in which they are shown.
var figures, templates = readFigures()

// readFigures returns figures.json and its templates by language and source.
func readFigures() (all []figure, byLanguage map[string]map[string]*template.Template) {
	if err := json.Unmarshal(figuresSource, &all); err != nil {
		panic("figures.json: " + err.Error())
	}
	byLanguage = map[string]map[string]*template.Template{}
	for lang, t := range texts {
		byLanguage[lang] = map[string]*template.Template{}
		for _, f := range all {
			for _, source := range []string{f.Value, f.Note[lang], f.Line} {
				parsed, err := template.New(f.ID + f.Title).Funcs(figureFuncs(t)).Parse(source)
				byLanguage[lang][source] = template.Must(parsed, err)
			}
		}
	}
	return all, byLanguage
}

// figureFuncs are what the templates of figures call.
func figureFuncs(t words) template.FuncMap {
	whole := func(n any) int64 { return reflect.ValueOf(n).Int() }
	return template.FuncMap{
		"number":    func(n any) string { return t.number(whole(n)) },
		"decimal":   t.decimal,
		"percent":   t.percent,
		"share":     func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
		"mb":        func(n int64) string { return t.number(int64(math.Round(float64(n)/1e6))) + " MB" },
		"megabytes": textutil.Megabytes,
		"several":   func(n any, what string) string { return textutil.Several(whole(n), what) },
		"sum":       textutil.Sum,
		"reasons":   textutil.Reasons,
		"unknown":   func() string { return t.say("unknown") },
	}
}

// fill executes a template of figures for s.
func (t words) fill(source string, s *Snapshot) string {
	var b strings.Builder
	if err := templates[t["language"]][source].Execute(&b, s); err != nil {
		return "?" // TestFigures executes all of them
	}
	return b.String()
}

// A metric is a family of Prometheus.
type metric struct {
	name, help string // the name without "gazehound_"
	kind       prometheus.ValueType
	labels     []string
	read       func(s *Snapshot, x *Extras, add func(value float64, labels ...string))
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// one is a metric without labels.
func one(kind prometheus.ValueType, name, help string, value func(s *Snapshot) float64) metric {
	read := func(s *Snapshot, _ *Extras, add func(float64, ...string)) { add(value(s)) }
	return metric{name: name, help: help, kind: kind, read: read}
}

// byReason is a counter with a value for each reason.
func byReason(name, label, help string, counts func(s *Snapshot) map[string]int64) metric {
	read := func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
		for reason, n := range counts(s) {
			add(float64(n), reason)
		}
	}
	return metric{name, help, counter, []string{label}, read}
}

// ofNode is a metric of a node of a cluster.
func ofNode(kind prometheus.ValueType, name, help string, value func(n *Node) int64) metric {
	read := func(_ *Snapshot, x *Extras, add func(float64, ...string)) {
		if x.Node != nil {
			add(float64(value(x.Node)), x.Node.Name)
		}
	}
	return metric{name, help, kind, []string{"node"}, read}
}

// metrics are all metrics that the state of a crawl tells; visitMetrics come from single visits.
var metrics = []metric{
	{"pages_total", "Visits of the crawl, earlier runs included, by what became of them.", counter,
		[]string{"result"}, func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			add(float64(s.Relevant), "relevant")
			add(float64(s.Pages-s.Relevant), "irrelevant")
			add(float64(textutil.Sum(s.Errors)), "error")
			add(float64(textutil.Sum(s.Skipped)), "skipped")
		}},
	{"harvest_ratio", "Share of relevant pages, of all and of the last 1,000.", gauge, []string{"window"},
		func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			add(s.Harvest(), "all")
			add(s.HarvestRecent, "1000")
		}},
	{"breadth_first_harvest_ratio", "Estimate of what a breadth-first crawl would have brought on the same links.",
		gauge, []string{"window"}, func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			if s.Insight != nil && s.Breadth != nil && s.BreadthAll != nil {
				add(*s.BreadthAll, "all")
				add(*s.Breadth, "1000")
			}
		}},
	one(gauge, "addresses", "Distinct addresses of the region that were found.",
		func(s *Snapshot) float64 { return float64(s.Addresses) }),
	one(counter, "addresses_new_total", "Distinct addresses of the region that were found for the first time.",
		func(s *Snapshot) float64 { return float64(s.Addresses) }),
	{name: "street_coverage_ratio", kind: gauge,
		help: "Share of the gazetteer's streets in the region of which an address was found.",
		read: func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			if c := s.Coverage(); c.All > 0 {
				add(c.Share())
			}
		}},
	one(counter, "fetch_bytes_total", "Bytes that were downloaded, earlier runs included.",
		func(s *Snapshot) float64 { return float64(s.Bytes) }),
	one(gauge, "visits_in_flight", "Pages that are being worked on.",
		func(s *Snapshot) float64 { return float64(s.Leased) }),
	one(gauge, "workers", "Pages that may be worked on at a time.",
		func(s *Snapshot) float64 { return float64(s.Workers) }),
	one(gauge, "frontier_links", "Links that wait or are being visited.",
		func(s *Snapshot) float64 { return float64(s.Queued) }),
	{"frontier_hosts", "Hosts of the crawl by state.", gauge, []string{"state"},
		func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			h := s.Hosts
			add(float64(h.Ready), "ready")
			add(float64(max(h.Waiting-h.Backoff, 0)), "waiting")
			add(float64(h.Backoff), "backoff")
			add(float64(h.Asked), "asked")
			add(float64(max(h.Known-h.Ready-h.Waiting, 0)), "exhausted")
		}},
	byReason("skipped_total", "reason",
		"Pages that were not fetched or not kept, earlier runs included, by reason.",
		func(s *Snapshot) map[string]int64 { return s.Skipped }),
	byReason("errors_total", "class", "Visits that failed, earlier runs included, by class.",
		func(s *Snapshot) map[string]int64 { return s.Errors }),
	{"memory_bytes", "Memory of the process: its own (heap, stacks, buffers), and of mapped files.", gauge,
		[]string{"kind"},
		func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			add(float64(s.Own), "own")
			add(float64(s.Mapped), "mapped")
		}},
	one(gauge, "disk_free_bytes", "Bytes that may still be written beside the crawl.",
		func(s *Snapshot) float64 { return float64(s.DiskFree) }),
	{"predictor_logloss", "Mean log-loss of the last 1,000 predictions, each made before its page was learned.",
		gauge, []string{"depth"}, func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
			if s.Insight == nil {
				return
			}
			for d, l := range s.LogLoss {
				if l != nil {
					add(*l, fmt.Sprint(d+1))
				}
			}
		}},
	{"predictor_updates_total", "Links that the predictor has learned.", counter, []string{"depth"},
		func(_ *Snapshot, x *Extras, add func(float64, ...string)) {
			for d, n := range x.Updates {
				add(float64(n), fmt.Sprint(d+1))
			}
		}},
	one(gauge, "paused", "1 while the crawl is paused.", func(s *Snapshot) float64 {
		if s.Paused {
			return 1
		}
		return 0
	}),
	{"build_info", "The program; always 1.", gauge, []string{"version", "strategy"},
		func(s *Snapshot, x *Extras, add func(float64, ...string)) { add(1, x.Version, s.Strategy) }},
	{"index_docs", "Pages in the index.", gauge, nil,
		func(_ *Snapshot, x *Extras, add func(float64, ...string)) { add(float64(x.Documents)) }},
	ofNode(gauge, "cluster_nodes", "Nodes that are there, as this one sees it.",
		func(n *Node) int64 { return int64(n.Nodes) }),
	ofNode(counter, "cluster_links_sent_total", "Links that went to other nodes, earlier runs included.",
		func(n *Node) int64 { return n.Sent }),
	ofNode(counter, "cluster_links_received_total", "Links that came from other nodes.",
		func(n *Node) int64 { return n.Received }),
	ofNode(counter, "cluster_bytes_sent_total",
		"Bytes of the messages with links to other nodes, earlier runs included.",
		func(n *Node) int64 { return n.SentBytes }),
	ofNode(counter, "cluster_url_bytes_sent_total",
		"Bytes of the URLs of links that went to other nodes, earlier runs included.",
		func(n *Node) int64 { return n.URLBytes }),
	ofNode(gauge, "cluster_outbox_bytes", "Bytes of links that wait to be sent.",
		func(n *Node) int64 { return n.Outbox }),
}

// A Tile is a figure as the dashboard shows it, in the language of its reader.
type Tile struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Value string `json:"value"`
	Note  string `json:"note"`
}

// tiles returns the figures of s that have a tile.
func tiles(s *Snapshot, t words) []Tile {
	var list []Tile
	for _, f := range figures {
		if f.ID != "" {
			list = append(list, Tile{f.ID, f.Name[t["language"]], t.fill(f.Value, s),
				t.fill(f.Note[t["language"]], s)})
		}
	}
	return list
}

// A Line is one line of "gazehound status".
type Line struct{ Title, Text string }

// Lines returns s as lines for people.
func Lines(s *Snapshot) []Line {
	var list []Line
	for _, f := range figures {
		if text := texts["en"].fill(f.Line, s); text != "" {
			list = append(list, Line{f.Title, text})
		}
	}
	return list
}

// A Value is one value of a status line, for programs.
type Value struct {
	Key   string
	Value any
}

// Values returns the values of a status line.
func Values(s *Snapshot) []Value {
	return []Value{
		{"pages", s.Pages}, {"relevant", s.Relevant}, {"harvest", round(s.Harvest(), 4)},
		{"harvest_1000", s.HarvestRecent}, {"addresses", s.Addresses}, {"pps", s.Rate}, {"links", s.Queued},
		{"hosts", s.Hosts.Ready + s.Hosts.Waiting},
	}
}

// Brief writes s as one line of a terminal of so many columns, with more figures where there is room.
func Brief(s *Snapshot, width int) string {
	bottleneck, _ := s.Bottleneck()
	begin := fmt.Sprintf("%s  %.1f %% relevant", textutil.Several(s.Pages, "page"), 100*s.Harvest())
	end := fmt.Sprintf("  %s  %.1f p/s  %s  %s", textutil.Several(s.Addresses, "address"), s.Rate,
		s.At.Sub(s.Started).Round(time.Second), BoundBy(bottleneck))
	recent := fmt.Sprintf(" (last 1,000: %.1f %%)", 100*s.HarvestRecent)
	waiting := fmt.Sprintf("  %s on %s (%s ready, %s waiting)", textutil.Several(s.Queued, "link"),
		textutil.Several(s.Hosts.Ready+s.Hosts.Waiting, "host"), textutil.Count(s.Hosts.Ready),
		textutil.Count(s.Hosts.Waiting))
	for _, line := range []string{begin + recent + end + waiting, begin + recent + end} {
		if utf8.RuneCountInString(line) <= width {
			return line
		}
	}
	return textutil.Clip(begin+end, max(width, 1))
}

// Accounts says what became of all the links that were seen.
func Accounts(queued, visited, repeats int64, dropped map[string]int64) string {
	text := fmt.Sprintf("%s queued + %s visited + %s known before + %s dropped",
		textutil.Count(queued), textutil.Count(visited), textutil.Count(repeats),
		textutil.Count(textutil.Sum(dropped)))
	if reasons := textutil.Reasons(dropped); reasons != "" {
		text += " (" + reasons + ")"
	}
	return text
}

// Accounts says what became of all the links that were seen.
func (s *Snapshot) Accounts() string { return Accounts(s.Queued, s.Visited, s.Repeats, s.Dropped) }

// ErrorRate is the share of visits that failed.
func (s *Snapshot) ErrorRate() float64 {
	return float64(textutil.Sum(s.Errors)) / float64(max(s.Visited, 1))
}

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}
