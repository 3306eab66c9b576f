package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/order"
)

// config.yaml as shipped has the keys of Config, explains them, and its values
// are allowed and what other packages take for the default.
func TestShippedConfig(t *testing.T) {
	c, err := (&app{data: t.TempDir()}).config()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.origin) < 90 {
		t.Errorf("only %d keys", len(c.origin))
	}
	d := DefaultConfig()
	if !reflect.DeepEqual(d.Crawl.Settings, c.Crawl.Settings) || d.Crawl.Strategy != order.Kinds[0].Name {
		t.Errorf("crawl is %+v", d.Crawl)
	}
	for _, k := range order.Kinds {
		for _, key := range k.Keys {
			if c.origin["crawl."+key] == "" {
				t.Errorf("strategy %s names the key %s, which crawl does not have", k.Name, key)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"crawl:\n  max_page: 3\n", ":2: unknown key crawl.max_page. Did you mean crawl.max_pages?"},
		{"crawl:\n\tmax_pages: 3\n", ":2: a tab cannot indent YAML; use spaces"},
		{"fetch:\n  delay: 2\n", `must be a duration with a unit, such as 2s or 500ms, got "2"`},
		{"fetch:\n  delay: -2s\n", "fetch.delay"},
		{"fetch:\n  workers: many\n", "fetch.workers"},
		{"fetch:\n  max_body: huge\n", "must be a size such as 2MB"},
		{"crawl: 7\n", ":1: crawl is a section"},
		{"crawl:\n  strategy: adaptiv\n", "Did you mean adaptive?"},
		{"crawl:\n  decay: 0.5\n  decay: 0.6\n", "twice"},
		{"crawl:\n  strategy: limited-distance\n", "needs crawl.limit_distance of at least 1"},
		{"crawl:\n  limit_distance: -1\n", "crawl.limit_distance"},
		{"crawl:\n  include: ['(']\n", "crawl.include"},
		{"hosts:\n  www.a.example: {skp: true}\n", "unknown key hosts.www.a.example.skp. Did you mean hosts.www.a.example.skip?"},
		{"hosts:\n  '*.a.example': {user: ada, password_env: P}\n", "user and headers are for one host"},
		{"hosts:\n  a.example: {password_env: P}\n", "a password needs a user"},
		{"hosts:\n  a.example: {headers: {Host: b}}\n", "is set by gazehound itself"},
		{"hosts:\n  a.example: {max_pages: -1}\n", "hosts.a.example.max_pages"},
		{"policy:\n  tdm: ignore\n", "needs policy.tdm_reason"},
		{"fetch:\n  cookies: all\n", "fetch.cookies"},
		{"version: 2\n", "version"},
		{"- a\n", "must have sections"},
		{"crawl: {\n", "line"},
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(c.yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		a := &app{configFile: file, data: t.TempDir()}
		_, err := a.config()
		if err == nil || !strings.Contains(err.Error(), c.want) || codeOf(err) != exitInvalidInput {
			t.Errorf("config %q: error %v (code %d); want one with %q and code 4", c.yaml, err, codeOf(err), c.want)
		}
	}
}

// The names of hosts have dots and colons, which are no levels of the
// configuration, and are found under the spelling that URLs have.
func TestConfigKeepsNamesOfHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	os.WriteFile(file, []byte("hosts:\n  www.Oldenburg.example: {delay: 10s}\n  '*.b.example': {skip: true}\n"+
		"  '[2001:db8::1]': {delay: 20s}\n  '[2001:db8::1]:8080': {delay: 30s, headers: {x-key: \"a::b\"}}\n  'a.example:8080': {max_pages: 7}\n"), 0o644)
	c, err := (&app{configFile: file, data: t.TempDir()}).config()
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Hosts["www.oldenburg.example"].Delay.String(); got != "10s" || !c.Hosts["*.b.example"].Skip {
		t.Errorf("hosts = %v", c.Hosts)
	}
	for raw, want := range map[string]time.Duration{"http://[2001:db8::1]/x": 20 * time.Second, "http://[2001:DB8:0::1]:8080/": 30 * time.Second,
		"https://[2001:db8::1]:8081/": 20 * time.Second, "https://[2001:db8::2]/": 0} {
		if h, _ := crawler.ForHost(c.Hosts, mustParse(t, raw)); h.Delay != want {
			t.Errorf("delay of %s is %v, want %v; hosts = %v", raw, h.Delay, want, c.Hosts)
		}
	}
	if h, _ := crawler.ForHost(c.Hosts, mustParse(t, "http://[2001:db8::1]:8080/")); h.Headers["x-key"] != "a::b" {
		t.Errorf("headers = %v", h.Headers)
	}
	if h, _ := crawler.ForHost(c.Hosts, mustParse(t, "http://a.example:8080/")); h.MaxPages != 7 {
		t.Errorf("hosts = %v", c.Hosts)
	}
}

// A path prefix has the limit of its host's longest one, or that of its
// directory.
func TestConfigPaths(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	read := func(text string) (*Config, error) {
		os.WriteFile(file, []byte(text), 0o644)
		return (&app{configFile: file, data: t.TempDir()}).config()
	}
	c, err := read("crawl: {max_pages_per_path: 9}\nhosts:\n  '*.a.example':\n    paths: [{prefix: /Forum, max_pages: 5}, {prefix: /Forum/alt/, max_pages: 2}, {prefix: /ü/, max_pages: 3}]\n")
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]struct {
		part string
		most int64
	}{
		"http://www.a.example/Forum/alt/1": {"/Forum/alt/", 2}, "http://www.a.example/Forum/alt": {"/Forum", 5}, "http://www.a.example/Forum?p=1": {"/Forum", 5},
		"http://www.a.example/forum/x": {"/forum/", 9}, "http://www.a.example/%C3%BC/x": {"/%C3%BC/", 3}, "http://b.example/Forum/alt/1": {"/Forum/", 9},
		"http://b.example/x.html": {"/", 9}, "http://b.example/": {"/", 9},
	} {
		if part, most := c.FrontierOptions("").PerPart(mustParse(t, raw)); part != want.part || most != want.most {
			t.Errorf("%s is in %q with at most %d, want %q and %d", raw, part, most, want.part, want.most)
		}
	}
	for text, want := range map[string]string{
		"hosts: {a.example: {paths: [{prefix: forum/, max_pages: 1}]}}":     `prefix "forum/" must begin with a slash`,
		"hosts: {a.example: {paths: [{prefix: /forum/}]}}":                  `max_pages of "/forum/" must be at least 1`,
		"hosts: {a.example: {paths: [{prefix: \"/f?x=1\", max_pages: 1}]}}": `prefix "/f?x=1" must begin`,
		"hosts: {a.example: {paths: [{prefix: /f/, max_page: 1}]}}":         "max_page",
		"crawl: {max_pages_per_path: -1}":                                   "crawl.max_pages_per_path",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestConfigEnvironment(t *testing.T) {
	t.Setenv("GAZEHOUND_CRAWL__MAX_PAGES", "77")
	t.Setenv("GAZEHOUND_FETCH__CONTENT_TYPES", "text/html,text/plain")
	c, err := (&app{data: t.TempDir()}).config()
	if err != nil || c.Crawl.MaxPages != 77 || len(c.Fetch.ContentTypes) != 2 {
		t.Errorf("max_pages = %d, content_types = %q, %v; want 77 and two", c.Crawl.MaxPages, c.Fetch.ContentTypes, err)
	}
}

// A variable that is misspelt is refused as a key of the file is; others of the prefix are no concern of ours.
func TestConfigEnvironmentUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"GAZEHOUND_FETCH__DELY":       "unknown key GAZEHOUND_FETCH__DELY. Did you mean GAZEHOUND_FETCH__DELAY?",
		"GAZEHOUND_CRAWL_MAX_PAGES":   "unknown key GAZEHOUND_CRAWL_MAX_PAGES. Did you mean GAZEHOUND_CRAWL__MAX_PAGES?",
		"GAZEHOUND_NOTHING__LIKE_ONE": "unknown key GAZEHOUND_NOTHING__LIKE_ONE.",
		"GAZEHOUND_PASSWORD":          "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "5s")
			_, err := (&app{data: t.TempDir()}).config()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}
