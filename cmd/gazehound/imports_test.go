package main

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrows says which packages of ours each package may import; those below internal are for all, and
// import nothing but each other. A package that is not listed here fails the test: add it where it
// belongs.
var arrows = map[string][]string{
	"crawler/weburl":            {},
	"crawler/page":              {"crawler/weburl", "geoparse/markup"},
	"crawler/fetch":             {"crawler/weburl", "crawler/page"},
	"crawler/polite/robots":     {"crawler/weburl", "crawler/page"},
	"crawler/polite":            {"crawler/weburl", "crawler/page", "crawler/polite/robots", "crawler/polite/tdm"},
	"crawler/render":            {"crawler/weburl", "crawler/page"},
	"crawler/frontier":          {"crawler/weburl"},
	"cmd/gazehound/config":      {"crawler", "crawler/cluster", "crawler/cluster/partition", "crawler/fetch", "crawler/frontier", "crawler/order", "crawler/polite", "crawler/polite/robots", "crawler/render", "crawler/warc", "crawler/weburl", "predictor"},
	"cmd/gazehound/forget":      {"crawler", "crawler/weburl", "crawler/frontier", "crawler/polite", "crawler/warc", "geoparse", "index", "index/api", "predictor", "predictor/clicklog"},
	"crawler/monitor":           {"crawler", "crawler/frontier", "crawler/monitor/report", "crawler/order", "crawler/polite", "crawler/weburl", "gazetteer", "geoparse", "predictor"},
	"crawler/warc":              {"crawler/fetch", "crawler/weburl", "crawler/page"},
	"crawler/lab/demo":          {"crawler/weburl", "crawler/page"},
	"crawler/lab/crawltest":     {"crawler/weburl", "crawler/page"},
	"crawler/polite/sitemap":    {"crawler/weburl"},
	"crawler/weburl/seedlist":   {},
	"crawler/polite/tdm":        {"crawler/weburl", "crawler/polite/robots"},
	"crawler/order/software":    {"crawler/weburl"},
	"crawler/order/trap":        {"crawler/weburl", "crawler/page", "crawler/order/software"},
	"crawler/order/sitewide":    {},
	"crawler/cluster/partition": {"crawler/weburl", "crawler/page", "predictor"},
	"crawler/cluster/nugget":    {},
	"crawler/monitor/report":    {"crawler", "crawler/frontier", "crawler/cluster/nugget", "crawler/cluster/partition", "gazetteer", "geoparse"},
	"crawler/cluster":           {"crawler/weburl", "crawler/page", "crawler/frontier", "crawler/cluster/partition", "crawler/cluster/nugget"},
	"crawler/order":             {"crawler/weburl", "crawler/frontier", "predictor", "predictor/topic", "predictor/clicklog"},
	"crawler":                   {"gazetteer", "crawler/weburl", "crawler/weburl/seedlist", "crawler/page", "crawler/fetch", "crawler/warc", "crawler/polite", "crawler/frontier", "crawler/order", "crawler/polite/sitemap", "crawler/order/software", "crawler/order/trap", "crawler/order/sitewide", "geoparse", "predictor", "predictor/topic"},
	"crawler/lab/sim": {"crawler", "crawler/weburl", "crawler/page", "crawler/polite", "crawler/frontier",
		"crawler/order", "crawler/warc", "crawler/lab/demo", "crawler/cluster", "crawler/cluster/partition",
		"crawler/cluster/nugget", "crawler/monitor/report", "geoparse", "predictor", "predictor/clicklog",
		"predictor/topic"},
	"predictor":          {},
	"predictor/clicklog": {},
	"predictor/topic":    {},
	"geoparse/grammar":   {"gazetteer"},
	"geoparse/markup":    {},
	"geoparse/hours":     {},
	"geoparse/place":     {"geoparse/hours", "geoparse/markup"},
	"geoparse":           {"geoparse/grammar", "geoparse/hours", "geoparse/markup", "geoparse/place", "gazetteer"},
	"gazetteer":          {},
	"gazetteer/osm":      {"gazetteer"},
	"gazetteer/geonames": {"gazetteer"},
	"gazetteer/table":    {"gazetteer"},

	"gazetteer/tiger":         {"gazetteer"},
	"gazetteer/openaddresses": {"gazetteer", "gazetteer/table"},
	"gazetteer/importer":      {"gazetteer", "gazetteer/geonames", "gazetteer/openaddresses", "gazetteer/osm", "gazetteer/table", "gazetteer/tiger"},

	"index": {"index/texts", "geoparse", "geoparse/hours", "geoparse/place", "gazetteer"},
	"index/api": {"index", "index/differences", "index/export", "index/texts", "index/web", "gazetteer", "geoparse",
		"geoparse/hours"},
	"index/export": {"index", "index/texts", "gazetteer", "gazetteer/osm"},

	"index/differences": {"index", "index/export", "gazetteer", "geoparse/hours"},
	"index/texts":       {},
	"index/web":         {"index", "index/differences", "index/export", "index/texts", "geoparse", "gazetteer"},
}

// laboratory says which files of cmd/gazehound may import packages of the
// laboratory; nothing else outside it may.
var laboratory = []string{"demo.go", "simulate.go", "simulate_webs.go", "simulate_orders.go", "simulate_nodes.go", "simulate_nuggets.go",
	"simulate_trace.go"}

func TestLaboratory(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			if strings.Contains(imp.Path.Value, "gazehound/crawler/lab/") && !strings.HasSuffix(file, "_test.go") && !slices.Contains(laboratory, file) {
				t.Errorf("%s imports %s, which only %v may", file, imp.Path.Value, laboratory)
			}
		}
	}
}

// fences says which packages may import a library, so that it can be replaced
// in one place. cmd/gazehound may import cobra and viper and nothing below.
var fences = map[string][]string{
	"github.com/blevesearch/mmap-go":  {"internal/disk"},
	"github.com/gofrs/flock":          {"internal/disk"},
	"github.com/dgraph-io/badger":     {"crawler/frontier"},
	"github.com/blevesearch/bleve":    {"index"},
	"github.com/blevesearch/vellum":   {"gazetteer"},
	"github.com/evanw/esbuild":        {"internal/tools/searchpage"},
	"github.com/jbrukh/bayesian":      {"predictor"},
	"github.com/paulmach/osm":         {"gazetteer/osm"},
	"github.com/PuerkitoBio/goquery":  {"crawler/page", "geoparse/markup"},
	"github.com/andybalholm/cascadia": {"crawler/page", "geoparse/markup"},
	"github.com/nlnwa/gowarc":         {"crawler/warc"},
	"github.com/nlnwa/whatwg-url":     {"crawler/weburl"},
	"github.com/jimsmart":             {"crawler/polite/robots"},
	"gonum.org/v1/plot":               {"crawler/lab/sim", "crawler/monitor/report"},
	"github.com/prometheus":           {"crawler/monitor", "index/api"},
	"github.com/chromedp":             {"crawler/render"},
	"github.com/nats-io":              {"crawler/cluster"},
	"github.com/oschwald":             {"crawler/cluster/partition"},
	"github.com/spf13":                {"cmd/gazehound", "cmd/gazehound/config"},
}

func TestImports(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "gazehound/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	seen := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; packages++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, "gazehound/")
		allowed, listed := arrows[name]
		seen[name] = true
		all := name == "cmd/gazehound"
		if !listed && !all && !strings.HasPrefix(name, "internal/") {
			t.Errorf("package %s is not in the list of arrows", name)
		}
		for _, imp := range p.Imports {
			ours, ok := strings.CutPrefix(imp, "gazehound/")
			if ok && !all && !strings.HasPrefix(ours, "internal/") && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s, which it may not", name, ours)
			}
			for lib, owners := range fences {
				if strings.HasPrefix(imp, lib) && !slices.Contains(owners, name) {
					t.Errorf("%s imports %s, which only %v may", name, imp, owners)
				}
			}
		}
	}
	for name := range arrows {
		if !seen[name] {
			t.Errorf("the list of arrows names %s, which does not exist", name)
		}
	}
	if packages < 15 {
		t.Errorf("go list found only %d packages", packages)
	}
}
