package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/lab/demo"

	"github.com/google/go-cmp/cmp"
)

// A noarchive page is found by its address, but its words are in no WARC file and no snippet. A
// replay gives the same outcome, also for a page with reserved rights and for nofollow links.
func TestNoArchive(t *testing.T) {
	t.Parallel()
	data, _, town, _ := servedTown(t)
	addresses := map[string]demo.Address{} // path → an address of its own
	var paths = []string{"/open", "/meta", "/header", "/gone"}
	town.Pages(func(p demo.Page) {
		for _, at := range p.Facts.Addresses {
			taken := false
			for _, other := range addresses {
				taken = taken || other.Street == at.Street
			}
			if at.Listed && !at.Person && !taken && len(addresses) < len(paths) {
				addresses[paths[len(addresses)]] = at
			}
		}
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := ""
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<title>Start</title><a href="/open">a</a> <a href="/meta">b</a> <a href="/header">c</a> <a href="/gone">d</a> <a href="/reserved">e</a> <a href="/links">f</a>`)
			return
		case "/links":
			fmt.Fprint(w, `<html><meta name="robots" content="nofollow,noindex"><title>Links</title><a href="/never">g</a>`)
			return
		case "/reserved":
			w.Header().Set("TDM-Reservation", "1")
		case "/open":
		case "/meta":
			head = `<meta name="robots" content="index, noarchive">`
		case "/header":
			w.Header().Set("X-Robots-Tag", "noarchive")
		case "/gone":
			w.Header().Set("X-Robots-Tag", "noarchive")
			w.WriteHeader(http.StatusNotFound)
		default:
			http.NotFound(w, r)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		at := addresses[r.URL.Path]
		fmt.Fprintf(w, "<html><head>%s<title>Seite</title></head><body><p>Vertraulich%s vorher</p><h2>Bäckerei Meyer</h2><p>%s %s, %s %s, gleich nebenan%s</p></body></html>",
			head, name, at.Street, at.HouseNumber, at.Postcode, at.City, name)
	}))
	defer server.Close()
	archive := filepath.Join(t.TempDir(), "archive")
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"crawl", "--data", data, "--seed", server.URL + "/", "--allow-private-addresses", "--delay", "0s", "--warc", archive, "--json", "--quiet"}, nil, &out, &complaints); code != 0 || !strings.Contains(out.String(), `"pages":5,`) {
		t.Fatalf("crawl: exit %d: %s%s", code, out.String(), complaints.String())
	}
	kept := ""
	names, err := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := crawltest.ReadGzip(name)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(text)
	}
	for _, name := range []string{"open", "meta", "header", "gone", "reserved"} {
		if has := strings.Contains(kept, "Vertraulich"+name); has != (name == "open") {
			t.Errorf("the words of /%s are in the archive: %v", name, has)
		}
		if name == "gone" || name == "reserved" {
			continue
		}
		out.Reset()
		if code := run(t.Context(), []string{"search", "--data", data, "--json", addresses["/"+name].Street}, nil, &out, &complaints); code != 0 || !strings.Contains(out.String(), server.URL+"/"+name) {
			t.Errorf("the address of /%s is not found: %s", name, out.String())
		}
		if has := strings.Contains(out.String(), "nebenan"+name); has != (name == "open") {
			t.Errorf("the words of /%s are in a snippet: %v", name, has)
		}
	}
	out.Reset()
	if run(t.Context(), []string{"search", "--data", data, "--json", "Vertraulichmeta"}, nil, &out, &complaints); strings.Contains(out.String(), server.URL) {
		t.Errorf("the words of /meta are searched: %s", out.String())
	}

	again := filepath.Join(t.TempDir(), "again")
	out.Reset()
	if code := run(t.Context(), []string{"replay", "--data", data, archive, "--into", again, "--json"}, nil, &out, &complaints); code != 0 ||
		!strings.Contains(out.String(), `"no_copy":5`) || !strings.Contains(out.String(), `"verdicts_changed":0`) || !strings.Contains(out.String(), `"verdicts_compared":3`) {
		t.Fatalf("replay: exit %d: %s%s", code, out.String(), complaints.String())
	}
	trees := map[string][]string{}
	for _, dir := range []string{data, again} {
		f, err := frontier.Open(frontier.Options{Dir: project{dir}.frontier()})
		if err != nil {
			t.Fatal(err)
		}
		err = f.Walk(t.Context(), 0, func(n frontier.Node) error {
			o := n.Outcome
			if o.Reason == crawler.ReasonNoCopy {
				o.Reason = ""
			}
			line := fmt.Sprint(n.URL.Path(), " ", o.Kind, " ", o.Reason, " ", o.Status, " ", o.Relevant, " ", o.Addresses)
			if o.Reason == "tdm_reserved" || n.URL.Path() == "/links" { // what was left out is counted, too
				line += fmt.Sprint(o.Dropped)
			}
			trees[dir] = append(trees[dir], line)
			return nil
		})
		if err != nil || f.Totals().Queued != 0 {
			t.Errorf("%v; %d links wait", err, f.Totals().Queued)
		}
		f.Close()
		slices.Sort(trees[dir])
	}
	if diff := cmp.Diff(trees[data], trees[again]); diff != "" || len(trees[data]) != 8 {
		t.Errorf("the crawl and its replay (-crawl +replay):\n%s", diff)
	}
	out.Reset()
	run(t.Context(), []string{"doctor", "--data", again, "--deep"}, nil, &out, &complaints)
	if !strings.Contains(out.String(), "8 visits in the crawl tree, 1 of them relevant and all in the index") {
		t.Errorf("doctor of the replay: %s", out.String())
	}
}
