package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/weburl"
)

// No byte of the data directory names a private person of the pages that were read, or their address:
// not the index, not the words beside links in the crawl tree, not the model.
func TestPersonsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	o := demo.DefaultOptions()
	o.Sites, o.Calm = 300, true
	data, flags, town, _ := projectOf(t, o)
	var text bytes.Buffer
	if err := town.WriteTruth(&text); err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Features []struct {
			Properties struct {
				Street, HouseNumber string
				Names, URLs         []string
				Person              bool
			}
		}
	}
	if err := json.Unmarshal(text.Bytes(), &truth); err != nil {
		t.Fatal(err)
	}
	seeds, err := os.ReadFile(flags[3]) // of --seeds
	if err != nil {
		t.Fatal(err)
	}
	for _, feature := range truth.Features {
		if p := feature.Properties; p.Person { // so that the crawl meets them all
			seeds = fmt.Appendf(seeds, "\n%s", strings.Join(p.URLs, "\n"))
		}
	}
	if err := os.WriteFile(flags[3], seeds, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := program(append([]string{"crawl", "--quiet", "--max-pages", "500"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameAddresses(t, data)
	f, err := frontier.Open(frontier.Options{Dir: project{data}.frontier()})
	if err != nil {
		t.Fatal(err)
	}
	var private []string
	for _, feature := range truth.Features {
		p := feature.Properties
		for _, raw := range p.URLs {
			u, err := weburl.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if n, known, err := f.Get(frontier.KeyOf(u)); p.Person && err == nil && known && n.State == frontier.Visited {
				private = append(append(private, p.Names...), p.Street+" "+p.HouseNumber+" ", p.Street+" "+p.HouseNumber+",")
				break
			}
		}
	}
	if err := f.Close(); err != nil || len(private) < 3 {
		t.Fatalf("the crawl met %q, %v", private, err)
	}
	found := searchAll(t, data, private)
	for _, place := range found {
		t.Error(place)
	}
	t.Logf("%d names and addresses of private persons: in %d places", len(private), len(found))
}
