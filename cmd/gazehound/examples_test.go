package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
)

// writeExamples writes files "FOLDER/NAME" with their content.
func writeExamples(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func placePages() map[string]string {
	return map[string]string{
		"Los Angeles, CA/a.html": "<html><head><title>Venice Beach</title></head><body><p>Surf and palms on the boulevard of Hollywood.</p></body></html>",
		"Los Angeles, CA/b.txt":  "The freeway to Hollywood and the beach",
		"east/harbor.html":       "<html><body><p>The harbor tunnel and the Red Sox at Fenway.</p></body></html>",
		"none/cake.html":         "<html><body><p>Flour, sugar and two eggs make a cake.</p></body></html>",
		"none/.directory":        "not a page",
	}
}

// A link goes to the node of the place that the example pages are most like.
func TestPlaceExamples(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	classes, print, err := partition.Train([]string{writeExamples(t, placePages())}, exampleReader(&cfg))
	if err != nil {
		t.Fatal(err)
	}
	o := partition.DefaultOptions()
	o.Method, o.Classes = partition.Classification, classes
	nodes := []partition.Node{{Name: "east", Cities: []partition.City{{Name: "Boston", State: "MA"}}}, {Name: "general"}, {Name: "west", Cities: []partition.City{{Name: "Los Angeles", State: "CA"}}}}
	p, err := partition.New(nodes, o)
	if err != nil {
		t.Fatal(err)
	}
	link, err := weburl.Parse("https://www.example.org/")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"palms and surf": "west", "the Red Sox at the harbor": "east", "a cake of flour": "general"} {
		owners := p.Owners(&page.Page{URL: link, Text: text, Links: []page.Link{{From: link, To: link}}})
		if got := nodes[owners[0][0]].Name; got != want {
			t.Errorf("links of %q go to %s, want %s", text, got, want)
		}
	}

	again := placePages()
	if _, same, err := partition.Train([]string{writeExamples(t, again)}, exampleReader(&cfg)); err != nil || same != print {
		t.Errorf("the same pages elsewhere: %s and %s, %v", same, print, err)
	}
	again["none/cake.html"] = "<p>Another cake.</p>"
	if _, other, err := partition.Train([]string{writeExamples(t, again)}, exampleReader(&cfg)); err != nil || other == print {
		t.Errorf("another page: the same print %s, %v", other, err)
	}

	many := placePages()
	for i := range 2001 {
		many[fmt.Sprintf("east/%d.txt", i)] = "Fenway"
	}
	for want, files := range map[string]map[string]string{
		"no folder \"none\"": {"east/a.txt": "Fenway"},
		"no folder beside":   {"none/a.txt": "cake"},
		"is not a folder":    {"none/a.txt": "cake", "readme.txt": "?"},
		"has 2002 example":   many,
		"has 0 example":      {"none/a.txt": "cake", "east/.keep": ""},
	} {
		if _, _, err := partition.Train([]string{writeExamples(t, files)}, exampleReader(&cfg)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// A node can use the partition classification with example pages; without them the error says what
// to do.
func TestNodeClassification(t *testing.T) {
	t.Parallel()
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets, o.Calm = 40, 20, 40, true
	data, flags, town, _ := projectOf(t, o)
	nodes := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(nodes, []byte("- name: general\n- name: town\n  cities:\n    - {name: "+town.Name()+", state: NI, population: 1000}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	good := writeExamples(t, map[string]string{"town/a.txt": "A shop in " + town.Name(), "none/b.txt": "A recipe"})
	stranger := writeExamples(t, map[string]string{"Atlantis/a.txt": "A shop under water", "none/b.txt": "A recipe"})
	for _, test := range []struct {
		more []string
		code int
		want string
	}{
		{nil, exitUsage, "--examples DIR"},
		{[]string{"--examples", stranger}, exitInvalidInput, "Atlantis"},
		{[]string{"--examples", good, "--partition", "site-hash"}, exitUsage, "is a directory"},
		{[]string{"--examples", good, "--max-pages", "8"}, 0, "partition classification"},
	} {
		args := append([]string{"node", "--name", "general", "--partition", "classification", "--nodes", nodes, "--contact", "https://bot.example/"}, flags...)
		var out, complaints bytes.Buffer
		if code := run(t.Context(), append(append(args, "--data", data), test.more...), nil, &out, &complaints); code != test.code || !strings.Contains(complaints.String(), test.want) {
			t.Errorf("%v: exit %d, %s; want %d and %q", test.more, code, complaints.String(), test.code, test.want)
		}
	}
}
