package monitor

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/internal/textutil"

	"github.com/prometheus/client_golang/prometheus"
)

// A figure is one thing that a crawl reports about itself, with all the places
// where it is shown: a tile of the dashboard, a line of "gazehound status", a
// value in the status lines that a crawl prints, and metrics. Every one of them
// may be missing. Whoever adds a figure adds it to figures and, where it is not
// known yet, to the Snapshot.
type figure struct {
	id   string // of the tile, and of its text in GET /v1/crawl
	name text   // of the tile
	tile func(s *Snapshot, t words) (value, note string)

	title string                   // of the line of status
	line  func(s *Snapshot) string // "" leaves it out

	key   string // in status lines
	value func(s *Snapshot) any

	metrics []metric
}

// A text is what something is called, by language.
type text map[string]string

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

// figures are all figures, in the order in which they are shown.
var figures = []figure{
	{
		title: "crawl", line: func(s *Snapshot) string { return s.Region + ", strategy " + s.Strategy },
	},
	{
		id: "pages", name: text{"en": "pages", "de": "Seiten"},
		tile: func(s *Snapshot, t words) (string, string) {
			return t.number(s.Pages),
				t.fill(text{"en": "%s this run", "de": "%s in diesem Lauf"}, t.number(s.PagesRun))
		},
		key: "pages", value: func(s *Snapshot) any { return s.Pages },
		metrics: []metric{{"pages_total", "Visits of the crawl, earlier runs included, by what became of them.", counter,
			[]string{"result"}, func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
				add(float64(s.Relevant), "relevant")
				add(float64(s.Pages-s.Relevant), "irrelevant")
				add(float64(textutil.Sum(s.Errors)), "error")
				add(float64(textutil.Sum(s.Skipped)), "skipped")
			}}},
	},
	{
		key: "relevant", value: func(s *Snapshot) any { return s.Relevant },
	},
	{
		id: "relevant", name: text{"en": "relevant", "de": "relevant"},
		tile: func(s *Snapshot, t words) (string, string) {
			note := t.number(s.Relevant)
			if s.Insight != nil && s.BreadthAll != nil {
				note = t.fill(text{"en": "breadth-first: %s est.", "de": "Breitensuche: %s gesch."},
					t.percent(*s.BreadthAll))
			}
			return t.percent(s.Harvest()), note
		},
		title: "harvest", line: func(s *Snapshot) string {
			line := fmt.Sprintf("%.1f %% overall, %.1f %% last 1,000", 100*s.Harvest(), 100*s.HarvestRecent)
			if s.Insight != nil && s.Breadth != nil {
				line += fmt.Sprintf(" (breadth-first on the same links, estimated: %.1f %%)", 100**s.Breadth)
			}
			return line
		},
		key: "harvest", value: func(s *Snapshot) any { return round(s.Harvest(), 4) },
		metrics: []metric{
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
		},
	},
	{
		key: "harvest_1000", value: func(s *Snapshot) any { return s.HarvestRecent },
	},
	{
		id: "addresses", name: text{"en": "addresses", "de": "Adressen"},
		tile: func(s *Snapshot, t words) (string, string) {
			if s.Insight == nil || s.PerMinute == nil {
				return t.number(s.Addresses), ""
			}
			return t.number(s.Addresses),
				t.fill(text{"en": "+%s a minute", "de": "+%s je Minute"},
					t.number(int64(math.Round(*s.PerMinute))))
		},
		key: "addresses", value: func(s *Snapshot) any { return s.Addresses },
		metrics: []metric{
			one(gauge, "addresses", "Distinct addresses of the region that were found.",
				func(s *Snapshot) float64 { return float64(s.Addresses) }),
			one(counter, "addresses_new_total", "Distinct addresses of the region that were found for the first time.",
				func(s *Snapshot) float64 { return float64(s.Addresses) }),
		},
	},
	{
		id: "streets", name: text{"en": "streets found", "de": "Straßen gefunden"},
		tile: func(s *Snapshot, t words) (string, string) {
			c := s.coverage()
			if c.All == 0 {
				return t.fill(text{"en": "not known yet", "de": "noch nicht bekannt"}), ""
			}
			return t.percent(c.Share()),
				t.fill(text{"en": "of %s, %s of them lately", "de": "von %s, davon %s zuletzt"},
					t.number(int64(c.All)), t.number(int64(c.Recent)))
		},
		metrics: []metric{{name: "street_coverage_ratio", kind: gauge,
			help: "Share of the gazetteer's streets in the region of which an address was found.",
			read: func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
				if c := s.coverage(); c.All > 0 {
					add(c.Share())
				}
			}}},
	},
	{
		title: "private", line: func(s *Snapshot) string {
			if s.Private == 0 {
				return ""
			}
			return textutil.Several(s.Private, "mention") + " of private persons' addresses, none kept"
		},
	},
	{
		title: "pages", line: func(s *Snapshot) string {
			return fmt.Sprintf("%s fetched, %s relevant, %s, %s, %.1f a second", textutil.Count(s.Pages), textutil.Count(s.Relevant),
				textutil.Several(s.Addresses, "address"), textutil.Megabytes(s.Bytes), s.Rate)
		},
		metrics: []metric{one(counter, "fetch_bytes_total", "Bytes that were downloaded, earlier runs included.",
			func(s *Snapshot) float64 { return float64(s.Bytes) })},
	},
	{
		id: "rate", name: text{"en": "pages a second", "de": "Seiten je Sekunde"},
		tile: func(s *Snapshot, t words) (string, string) {
			return t.decimal(s.Rate, 1),
				t.fill(text{"en": "%s of %s workers busy", "de": "%s von %s Workern arbeiten"},
					t.number(s.Leased), t.number(int64(s.Workers)))
		},
		key: "pps", value: func(s *Snapshot) any { return s.Rate },
		metrics: []metric{
			one(gauge, "visits_in_flight", "Pages that are being worked on.",
				func(s *Snapshot) float64 { return float64(s.Leased) }),
			one(gauge, "workers", "Pages that may be worked on at a time.",
				func(s *Snapshot) float64 { return float64(s.Workers) }),
		},
	},
	{
		id: "queued", name: text{"en": "links waiting", "de": "wartende Links"},
		tile: func(s *Snapshot, t words) (string, string) {
			if s.Due > 0 {
				return t.number(s.Queued),
					t.fill(text{"en": "%s to revisit first", "de": "zuerst %s wieder besuchen"},
						t.number(s.Due))
			}
			return t.number(s.Queued),
				t.fill(text{"en": "%s seen", "de": "%s gesehen"}, t.number(s.Seen))
		},
		key: "links", value: func(s *Snapshot) any { return s.Queued },
		metrics: []metric{one(gauge, "frontier_links", "Links that wait or are being visited.",
			func(s *Snapshot) float64 { return float64(s.Queued) })},
	},
	{
		title: "hosts", line: func(s *Snapshot) string {
			h := s.Hosts
			return fmt.Sprintf("%s known; of those with links %s ready, %s waiting, %s of them backing off",
				textutil.Count(h.Known), textutil.Count(h.Ready), textutil.Count(h.Waiting), textutil.Count(h.Backoff))
		},
		key: "hosts", value: func(s *Snapshot) any { return s.Hosts.Ready + s.Hosts.Waiting },
		metrics: []metric{{"frontier_hosts", "Hosts of the crawl by state.", gauge, []string{"state"},
			func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
				h := s.Hosts
				add(float64(h.Ready), "ready")
				add(float64(max(h.Waiting-h.Backoff, 0)), "waiting")
				add(float64(h.Backoff), "backoff")
				add(float64(h.Asked), "asked")
				add(float64(max(h.Known-h.Ready-h.Waiting, 0)), "exhausted")
			}}},
	},
	{
		title: "links", line: func(s *Snapshot) string {
			return textutil.Count(s.Seen) + " seen = " + Accounts(s.Queued, s.Visited, s.Repeats, s.Dropped)
		},
	},
	{
		title: "due", line: func(s *Snapshot) string {
			if s.Due == 0 {
				return ""
			}
			return textutil.Several(s.Due, "page") + " to revisit before new links"
		},
	},
	{
		title: "skipped", line: func(s *Snapshot) string {
			return textutil.Count(textutil.Sum(s.Skipped)) + "  " + textutil.Reasons(s.Skipped)
		},
		metrics: []metric{byReason("skipped_total", "reason",
			"Pages that were not fetched or not kept, earlier runs included, by reason.",
			func(s *Snapshot) map[string]int64 { return s.Skipped })},
	},
	{
		id: "errors", name: text{"en": "errors", "de": "Fehler"},
		tile: func(s *Snapshot, t words) (string, string) {
			n := textutil.Sum(s.Errors)
			return t.number(n),
				t.fill(text{"en": "%s of the visits", "de": "%s der Besuche"},
					t.percent(float64(n)/float64(max(s.Visited, 1))))
		},
		title: "errors", line: func(s *Snapshot) string {
			return textutil.Count(textutil.Sum(s.Errors)) + "  " + textutil.Reasons(s.Errors)
		},
		metrics: []metric{byReason("errors_total", "class", "Visits that failed, earlier runs included, by class.",
			func(s *Snapshot) map[string]int64 { return s.Errors })},
	},
	{
		title: "damaged", line: func(s *Snapshot) string {
			if s.Damaged == 0 {
				return ""
			}
			return textutil.Several(s.Damaged, "record") + " could not be read and set aside"
		},
	},
	{
		id: "memory", name: text{"en": "memory", "de": "Speicher"},
		tile: func(s *Snapshot, t words) (string, string) {
			megabytes := func(n int64) string { return t.number(int64(math.Round(float64(n)/1e6))) + " MB" }
			return megabytes(s.Own), t.fill(
				text{"en": "of %s, %s of files mapped; %s of %s cores", "de": "von %s, %s eingeblendete Dateien; %s von %s Kernen"},
				megabytes(s.Ceiling), orUnknown(megabytes, s.Mapped), t.decimal(s.CPU, 1), fmt.Sprint(s.Cores))
		},
		title: "machine", line: func(s *Snapshot) string {
			return fmt.Sprintf("%s of %s in memory, %s of files mapped, %.1f of %d cores, %s free on the disk",
				textutil.Megabytes(s.Own), textutil.Megabytes(s.Ceiling), orUnknown(textutil.Megabytes, s.Mapped), s.CPU, s.Cores,
				textutil.Megabytes(s.DiskFree))
		},
		metrics: []metric{
			{"memory_bytes", "Memory of the process: its own (heap, stacks, buffers), and of mapped files.", gauge, []string{"kind"},
				func(s *Snapshot, _ *Extras, add func(float64, ...string)) {
					add(float64(s.Own), "own")
					add(float64(s.Mapped), "mapped")
				}},
			one(gauge, "disk_free_bytes", "Bytes that may still be written beside the crawl.",
				func(s *Snapshot) float64 { return float64(s.DiskFree) }),
		},
	},
	{
		title: "streets", line: func(s *Snapshot) string {
			c := s.coverage()
			if c.All == 0 {
				return ""
			}
			return fmt.Sprintf("%s of %s found (%.1f %%), %d of them by the last 1,000 pages",
				textutil.Count(c.Found), textutil.Count(c.All), 100*c.Share(), c.Recent)
		},
	},
	{
		title: "predictor", line: func(s *Snapshot) string {
			if s.Insight == nil {
				return ""
			}
			losses := make([]string, len(s.LogLoss))
			for d, l := range s.LogLoss {
				if losses[d] = "not known yet"; l != nil {
					losses[d] = fmt.Sprintf("%.2f", *l)
				}
			}
			return "log-loss " + strings.Join(losses, " · ") + " at depths 1 · 2 · 3"
		},
		metrics: []metric{
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
		},
	},
	{
		metrics: []metric{
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
			ofNode(counter, "cluster_bytes_sent_total", "Bytes of the messages with links to other nodes, earlier runs included.",
				func(n *Node) int64 { return n.SentBytes }),
			ofNode(counter, "cluster_url_bytes_sent_total", "Bytes of the URLs of links that went to other nodes, earlier runs included.",
				func(n *Node) int64 { return n.URLBytes }),
			ofNode(gauge, "cluster_outbox_bytes", "Bytes of links that wait to be sent.",
				func(n *Node) int64 { return n.Outbox }),
		},
	},
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
		if f.tile != nil {
			value, note := f.tile(s, t)
			list = append(list, Tile{f.id, f.name[t["language"]], value, note})
		}
	}
	return list
}

// A Line is one line of "gazehound status".
type Line struct{ Title, Text string }

// Lines returns what there is to say of s to people.
func Lines(s *Snapshot) []Line {
	var list []Line
	for _, f := range figures {
		if f.line == nil {
			continue
		}
		if text := f.line(s); text != "" {
			list = append(list, Line{f.title, text})
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
	var list []Value
	for _, f := range figures {
		if f.value != nil {
			list = append(list, Value{f.key, f.value(s)})
		}
	}
	return list
}

// Brief writes s as one line of a terminal of so many columns, with more figures where there is room.
func Brief(s *Snapshot, width int) string {
	bottleneck, _ := s.Bottleneck()
	begin := fmt.Sprintf("%s  %.1f %% relevant", textutil.Several(s.Pages, "page"), 100*s.Harvest())
	end := fmt.Sprintf("  %s  %.1f p/s  %s  %s", textutil.Several(s.Addresses, "address"), s.Rate, s.At.Sub(s.Started).Round(time.Second), BoundBy(bottleneck))
	lately := fmt.Sprintf(" (last 1,000: %.1f %%)", 100*s.HarvestRecent)
	waiting := fmt.Sprintf("  %s on %s (%s ready, %s waiting)", textutil.Several(s.Queued, "link"),
		textutil.Several(s.Hosts.Ready+s.Hosts.Waiting, "host"), textutil.Count(s.Hosts.Ready), textutil.Count(s.Hosts.Waiting))
	for _, line := range []string{begin + lately + end + waiting, begin + lately + end} {
		if utf8.RuneCountInString(line) <= width {
			return line
		}
	}
	return textutil.Clip(begin+end, max(width, 1))
}

// Accounts says what became of all the links that were seen.
func Accounts(queued, visited, repeats int64, dropped map[string]int64) string {
	text := fmt.Sprintf("%s queued + %s visited + %s known before + %s dropped",
		textutil.Count(queued), textutil.Count(visited), textutil.Count(repeats), textutil.Count(textutil.Sum(dropped)))
	if reasons := textutil.Reasons(dropped); reasons != "" {
		text += " (" + reasons + ")"
	}
	return text
}

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}

// orUnknown writes n bytes, or that the system does not tell them: only Linux says how much is mapped.
func orUnknown(megabytes func(int64) string, n int64) string {
	if n == 0 {
		return "? MB"
	}
	return megabytes(n)
}
