package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/crawler/cluster"
	"gazehound/crawler/frontier"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"

	"github.com/paulmach/orb"
)

// streetIndex makes a data directory with n pages of sites called name.
func streetIndex(t *testing.T, name string, n int) (data string, x *index.Index) {
	t.Helper()
	data = t.TempDir()
	x, err := index.Open(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	first := 100 * int(name[0]-'a') // what two nodes have is one address
	for i := first; i < first+n; i++ {
		line := fmt.Sprintf("Lange Straße %d, 26122 Oldenburg", i+1)
		err := x.Put(t.Context(), index.Document{URL: fmt.Sprintf("https://%s%d.example/", name, i), Title: "Laden " + name, Text: "Laden " + name + "\n" + line, Lang: "de", Fetched: time.Now(), Addresses: []geoparse.Address{{
			Text: line, Start: len("Laden " + name + "\n"), End: len("Laden "+name+"\n") + len(line), Street: "Lange Straße", HouseNumber: fmt.Sprint(i + 1), Postcode: "26122", City: "Oldenburg", Country: "DE",
			Level: geoparse.VerifiedLevel, Confidence: 0.9, Precision: gazetteer.HousePrecision, Point: orb.Point{8.21 + float64(i-first)/1e4, 53.14}, InRegion: true}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return data, x
}

// One server answers for three nodes; when a node stops, every answer names it.
func TestServeCluster(t *testing.T) {
	t.Parallel()
	server, err := cluster.Serve(cluster.ServerOptions{Name: "test", Dir: t.TempDir(), Listen: "127.0.0.1:0", MaxBytes: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const each = 9
	nodes := map[string]*cluster.Node{}
	for _, name := range []string{"a", "b", "c"} {
		_, x := streetIndex(t, name, each)
		f, err := frontier.Open(frontier.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		o := cluster.DefaultOptions()
		o.Name, o.URL, o.Dir, o.Definition.Region, o.Heartbeat, o.MaxBytes = name, server.URL(), t.TempDir(), "Oldenburg", 500*time.Millisecond, 16<<20
		n, err := cluster.Join(t.Context(), f, o)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		if err := answerShards(n, x, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		nodes[name] = n
	}
	url, _, stop := runServe(t, t.TempDir(), "--cluster", server.URL())
	defer stop()

	type answer struct {
		Matched  int      `json:"numberMatched"`
		Missing  []string `json:"missing_nodes"`
		Features []struct{ ID string }
		Facets   map[string][]struct {
			Value string
			Count int
		}
		Links []struct{ Rel, Href string }
	}
	get := func(path string) (a answer, missing string) {
		t.Helper()
		r, err := http.Get(url + strings.TrimPrefix(path, "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if r.StatusCode != 200 {
			t.Fatalf("%s: %s", path, r.Status)
		}
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return a, r.Header.Get("Gazehound-Missing-Nodes")
	}
	pages := func() (ids []string, missing string) {
		for path := "v1/search?q=laden&limit=4&facets=street"; path != ""; {
			a, away := get(path)
			missing = away
			if a.Matched != each*(3-len(a.Missing)) || a.Facets["street"][0].Count != a.Matched {
				t.Errorf("%s: %d matches, %d in the facet, missing %v", path, a.Matched, a.Facets["street"][0].Count, a.Missing)
			}
			for _, f := range a.Features {
				ids = append(ids, f.ID)
			}
			path = ""
			for _, l := range a.Links {
				if l.Rel == "next" {
					path = l.Href
				}
			}
		}
		slices.Sort(ids)
		return slices.Compact(ids), missing
	}
	if ids, missing := pages(); len(ids) != 3*each || missing != "" {
		t.Errorf("%d addresses, missing %q", len(ids), missing)
	}
	ids, _ := pages()
	if _, text := fetchText(t, url+"v1/addresses/"+ids[0]); !strings.Contains(text, "Lange Straße") {
		t.Errorf("address: %s", text)
	}
	if _, text := fetchText(t, url+"v1/suggest?q=lange"); !strings.Contains(text, fmt.Sprintf(`"count":%d`, 3*each)) {
		t.Errorf("suggestions: %s", text)
	}
	if _, text := fetchText(t, url+"v1/clusters?zoom=10&bbox=8,53,9,54"); !strings.Contains(text, fmt.Sprintf(`"numberMatched":%d`, 3*each)) {
		t.Errorf("clusters: %s", text)
	}
	if _, text := fetchText(t, url+"v1/export.csv"); strings.Count(text, "Lange Straße") < 3*each {
		t.Errorf("export: %s", text)
	}
	if _, text := fetchText(t, url+"status"); !strings.Contains(text, fmt.Sprintf(`"addresses":%d`, 3*each)) {
		t.Errorf("status: %s", text)
	}
	if _, text := fetchText(t, url+"?q=laden"); !strings.Contains(text, "https://b") || strings.Contains(text, "do not answer") {
		t.Errorf("page: %s", text)
	}

	nodes["b"].Close()
	begun := time.Now()
	ids, missing := pages()
	if len(ids) != 2*each || missing != "b" {
		t.Errorf("without b: %d addresses, missing %q, after %v", len(ids), missing, time.Since(begun))
	}
	if a, _ := get("v1/search?q=laden"); !slices.Equal(a.Missing, []string{"b"}) {
		t.Errorf("missing in the answer: %v", a.Missing)
	}
	if _, text := fetchText(t, url+"?q=laden"); !strings.Contains(text, "do not answer: b<") {
		t.Errorf("the page does not say that b is missing: %s", text)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"search", "laden", "--cluster", server.URL(), "--json", "--limit", "3"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), `"missing_nodes":["b"]`) || !strings.Contains(errs.String(), "node b") {
		t.Errorf("search: %d %s %s", code, out.String(), errs.String())
	}
	out.Reset()
	if code := run(t.Context(), []string{"status", "--cluster", server.URL()}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Errorf("status: %d %s", code, errs.String())
	}
	for _, want := range []string{"Oldenburg, partition site-hash", "\na     running", "\nb     silent", "\nc     running", "bytes/URL"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status lacks %q: %s", want, out.String())
		}
	}
	out.Reset()
	if code := run(t.Context(), []string{"status", "--cluster", server.URL(), "--json"}, strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), `"state":"silent"`) {
		t.Errorf("status: %d %s", code, out.String())
	}
}

// Data directories of nodes that do not run are served as one.
func TestServeParts(t *testing.T) {
	t.Parallel()
	var args []string
	for _, name := range []string{"a", "b"} {
		data, x := streetIndex(t, name, 3)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--part", name+"="+data)
	}
	url, stderr, stop := runServe(t, t.TempDir(), args...)
	defer stop()
	if _, text := fetchText(t, url+"v1/search?q=laden"); !strings.Contains(text, `"numberMatched":6`) {
		t.Errorf("search: %s %s", text, stderr.String())
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"serve", "--part", t.TempDir()}, args...), strings.NewReader(""), &out, &errs); code != exitNoData {
		t.Errorf("an empty part: %d %s", code, errs.String())
	}
}
