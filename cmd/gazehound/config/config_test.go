package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

type crawl struct {
	MaxPages int `key:"max_pages" range:"0..1000"`
	Judge    string
	Inner
	Places []string `flag:"place"`
}

type Inner struct {
	Wait time.Duration `range:"1s.."`
	Mode string        `oneof:"auto|none"`
}

type host struct {
	Delay time.Duration `range:"0s..24h"`
	Paths []struct{ Prefix string }
}

type whole struct {
	Version int
	Crawl   crawl
	Hosts   map[string]host
}

const example = `version: 1
crawl:
  max_pages: 7 # of the crawl
  judge: addresses
  wait: 2s
  mode: auto
  # ` + "`NAME`" + ` to look for
  places: []
hosts: {}
`

func schema(t *testing.T) *Schema[whole] {
	t.Helper()
	s, err := New[whole]([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLoad(t *testing.T) {
	t.Setenv("GAZEHOUND_CRAWL__WAIT", "5s")
	s := schema(t)
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.AddFlags(f, "crawl.max_pages", "crawl.places", "crawl.wait")
	if err := f.Parse([]string{"--place", "a,b", "--place", "c"}); err != nil {
		t.Fatal(err)
	}
	if usage := f.FlagUsages(); !strings.Contains(usage, "--place NAME      NAME to look for (repeatable)") || !strings.Contains(usage, "of the crawl (default 7)") {
		t.Errorf("usage:\n%s", usage)
	}
	c, origin, err := s.Load([]File{
		{"a.yaml", []byte("crawl: {max_pages: 9, judge: topic}\n")},
		{"b.yaml", []byte("crawl:\n  max_pages: 10\nhosts:\n  www.a.example: {delay: 3s, paths: [{prefix: /x}]}\n")},
	}, f)
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Crawl; c.Version != 1 || k.MaxPages != 10 || k.Judge != "topic" || k.Wait != 5*time.Second || k.Mode != "auto" || !slices.Equal(k.Places, []string{"a,b", "c"}) {
		t.Errorf("%+v", c)
	}
	if h := c.Hosts["www.a.example"]; h.Delay != 3*time.Second || h.Paths[0].Prefix != "/x" {
		t.Errorf("hosts: %+v", c.Hosts)
	}
	for key, want := range map[string]string{
		"version": Default, "crawl.max_pages": "b.yaml:2", "crawl.judge": "a.yaml:1", "crawl.wait": "GAZEHOUND_CRAWL__WAIT", "crawl.places": "--place", "hosts": "b.yaml:3",
	} {
		if origin[key] != want {
			t.Errorf("origin of %s is %q, want %q", key, origin[key], want)
		}
	}
	if got := origin.Where("crawl.judge"); got != "crawl.judge (a.yaml:1)" || origin.Where("version") != "version" {
		t.Error(got)
	}
}

func TestLoadErrors(t *testing.T) {
	s := schema(t)
	for text, want := range map[string]string{
		"crawl: {max_page: 3}":                           "a.yaml:1: unknown key crawl.max_page. Did you mean crawl.max_pages?",
		"crawl: {max_pages: 1001}":                       "crawl.max_pages (a.yaml:1) must be between 0 and 1000, got 1001",
		"crawl: {wait: 500ms}":                           "crawl.wait (a.yaml:1) must be at least 1s, got 500ms",
		"crawl: {wait: 5}":                               `must be a duration with a unit, such as 2s or 500ms, got "5"`,
		"crawl: {mode: nome}":                            `crawl.mode (a.yaml:1): "nome" is not one of auto, none. Did you mean none?`,
		"crawl: {max_pages: many}":                       "crawl.max_pages (a.yaml:1)",
		"crawl: 7":                                       "a.yaml:1: crawl is a section",
		"crawl: {judge: a}\ncrawl: {}":                   "a.yaml:2: key crawl is set twice",
		"hosts: {a.example: {delay: 25h}}":               "hosts.a.example.delay must be between 0s and 24h, got 25h0m0s",
		"hosts: {a.example: {paths: [{prefx: x}]}}":      "unknown key hosts.a.example.paths.1.prefx",
		"hosts: {a.example: {delay: 1s}, A.example: {}}": "key hosts.a.example is set twice",
		"\tcrawl: {}":                                    "a.yaml:1: a tab cannot indent YAML",
		"- a":                                            "must have sections",
		"crawl: {":                                       "line",
		"crawl: {places: [a]}\nversion: 1\nvertion: 1\n": "a.yaml:3: unknown key vertion. Did you mean version?",
		"hosts: {a.example: {delay: 1s, dely: 1s}}":      "Did you mean hosts.a.example.delay?",
	} {
		if c, _, err := s.Load([]File{{"a.yaml", []byte(text)}}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, c, err, want)
		}
	}
	for _, text := range []string{"", "crawl:\n", "# nothing\n"} {
		if c, _, err := s.Load([]File{{"a.yaml", []byte(text)}}, nil); err != nil || c.Crawl.MaxPages != 7 {
			t.Errorf("%q: %+v, %v; want the defaults", text, c, err)
		}
	}
}

// The example file and the struct have the same keys.
func TestNew(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(example, "  judge: addresses\n", "", 1): "config.yaml does not show crawl.judge",
		example + "other: 1\n": "unknown key other",
	} {
		if _, err := New[whole]([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// No file at all makes it panic, and what is taken obeys the tags.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("hosts: {a: {paths: [1]}}"))
	f.Add([]byte("hosts: [a]\ncrawl: {places: {a: b}}"))
	files, _ := filepath.Glob("../../../*.yaml")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	s, err := New[whole]([]byte(example))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, err := s.Load([]File{{"a.yaml", text}}, nil)
		if err == nil && (c.Crawl.MaxPages < 0 || c.Crawl.MaxPages > 1000 || c.Crawl.Mode != "auto" && c.Crawl.Mode != "none") {
			t.Errorf("%q: %+v", text, c)
		}
	})
}

// The files of an origin are whole paths, on Windows too.
func TestOriginFiles(t *testing.T) {
	set, files := Origin{"a": `C:\Users\ö [x]\config.yaml:3`, "b": "config.yaml:14", "c": "--delay", "d": Default}.Set()
	if want := []string{`C:\Users\ö [x]\config.yaml`, "config.yaml"}; set != 3 || !slices.Equal(files, want) {
		t.Errorf("%d keys set in %q, want 3 in %q", set, files, want)
	}
}
