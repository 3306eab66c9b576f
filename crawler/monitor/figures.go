package monitor

import (
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode/utf8"

	"gazehound/internal/textutil"

	"gopkg.in/yaml.v3"
)

// The figures that a crawl reports are listed in figures.yaml: tiles of the dashboard, lines of
// "gazehound status", metrics for Prometheus. To add a figure, add it there, and extend Snapshot if its
// value is new. The status lines of a crawl choose a few values for themselves: Values and Brief.

// A figure is a tile of the dashboard, a line of "gazehound status", a metric for Prometheus, or several
// of these. All but names are templates of text/template with the functions of figureFuncs: over a
// *Snapshot, a metric over a *measured.
type figure struct {
	ID    string `yaml:"id"` // of the tile, and of its text in GET /v1/crawl; "": there is no tile
	Name  text   `yaml:"name"`
	Value string `yaml:"value"`
	Note  text   `yaml:"note"`

	Title string `yaml:"title"` // of the line
	Line  string `yaml:"line"`  // what comes out empty is left out, what has several lines is as many

	Metric string `yaml:"metric"` // in the text format of Prometheus
}

// A text is what something is called, by language.
type text map[string]string

//go:embed figures.yaml
var figuresSource []byte

// figures returns all tiles and lines, in the order in which they are shown, and their templates.
var figures = sync.OnceValues(readFigures)

// readFigures returns figures.yaml and its templates by language and source.
func readFigures() (all []figure, byLanguage map[string]map[string]*template.Template) {
	if err := yaml.Unmarshal(figuresSource, &all); err != nil {
		panic("figures.yaml: " + err.Error())
	}
	byLanguage = map[string]map[string]*template.Template{}
	for lang, t := range texts {
		byLanguage[lang] = map[string]*template.Template{}
		for _, f := range all {
			for _, source := range []string{f.Value, f.Note[lang], f.Line, f.Metric} {
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
		"less":      func(a, b int64) int64 { return max(a-b, 0) },
		"depth":     func(i int) int { return i + 1 },
		"unknown":   func() string { return t.say("unknown") },
	}
}

// fill executes a template of figures with its data.
func (t words) fill(source string, data any) string {
	var b strings.Builder
	_, templates := figures()
	err := templates[t["language"]][source].Execute(&b, data)
	if err != nil {
		return "?" // TestFigures executes all of them
	}
	return b.String()
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
	all, _ := figures()
	for _, f := range all {
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
	all, _ := figures()
	for _, f := range all {
		for text := range strings.Lines(texts["en"].fill(f.Line, s)) {
			list = append(list, Line{f.Title, strings.TrimSuffix(text, "\n")})
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

// Brief writes s as one line of a terminal of so many columns: as many figures as there is room for,
// none of them cut.
func Brief(s *Snapshot, width int) string {
	share := fmt.Sprintf("%.1f %% relevant", 100*s.Harvest())
	hosts := s.Hosts.Ready + s.Hosts.Waiting
	figures := []struct {
		text       string
		importance int // 0 is the least
	}{
		{textutil.Several(s.Pages, "page"), 8},
		{share, 5},
		{fmt.Sprintf("(last 1,000: %.1f %%)", 100*s.HarvestRecent), 1},
		{textutil.Several(s.Addresses, "address"), 6},
		{fmt.Sprintf("%.1f p/s", s.Rate), 3},
		{s.At.Sub(s.Started).Round(time.Second).String(), 4},
		{s.boundBy(), 7},
		{fmt.Sprintf("%s on %s", textutil.Several(s.Queued, "link"), textutil.Several(hosts, "host")), 2},
		{fmt.Sprintf("(%s ready, %s waiting)", textutil.Count(s.Hosts.Ready), textutil.Count(s.Hosts.Waiting)), 0},
	}
	line := ""
	for least := range len(figures) {
		var texts []string
		for _, f := range figures {
			if f.importance >= least {
				texts = append(texts, f.text)
			}
		}
		line = strings.Join(texts, "  ")
		if utf8.RuneCountInString(line) <= width {
			return line
		}
	}
	return textutil.Clip(line, max(width, 1))
}

// Accounts says what became of all the links that were seen.
func Accounts(queued, parked, visited, repeats int64, dropped map[string]int64) string {
	text := textutil.Count(queued) + " queued + "
	if parked > 0 {
		text += textutil.Count(parked) + " parked + "
	}
	text += fmt.Sprintf("%s visited + %s known before + %s dropped",
		textutil.Count(visited), textutil.Count(repeats), textutil.Count(textutil.Sum(dropped)))
	if reasons := textutil.Reasons(dropped); reasons != "" {
		text += " (" + reasons + ")"
	}
	return text
}

// Accounts says what became of all the links that were seen.
func (s *Snapshot) Accounts() string {
	return Accounts(s.Queued, s.Parked, s.Visited, s.Repeats, s.Dropped)
}

// ParkedPatterns lists the patterns with the most parked links.
func (s *Snapshot) ParkedPatterns() string {
	var parts []string
	for _, p := range s.ParkedBy[:min(len(s.ParkedBy), 5)] {
		parts = append(parts, fmt.Sprintf("%s %s", p.Name(), textutil.Count(p.Links)))
	}
	if more := len(s.ParkedBy) - len(parts); more > 0 {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}

// ErrorRate is the share of visits that failed.
func (s *Snapshot) ErrorRate() float64 {
	return float64(textutil.Sum(s.Errors)) / float64(max(s.Visited, 1))
}

func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}
