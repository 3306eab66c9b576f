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
	site := &guardedSite{addresses: someAddresses(town)}
	server := httptest.NewServer(site)
	defer server.Close()
	site.url = server.URL
	archive, again := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "again")

	summary := runText(t, "crawl", "--data", data, "--seed", site.url+"/", "--allow-private-addresses", "--delay", "0s",
		"--warc", archive, "--json", "--quiet")
	if !strings.Contains(summary, `"pages":5,`) {
		t.Fatalf("crawl: %s", summary)
	}
	site.archivedOpenly(t, archive)
	site.foundByAddress(t, data)

	summary = runText(t, "replay", "--data", data, archive, "--into", again, "--json")
	for _, want := range []string{`"no_copy":5`, `"verdicts_changed":0`, `"verdicts_compared":3`} {
		if !strings.Contains(summary, want) {
			t.Fatalf("replay: no %s in %s", want, summary)
		}
	}
	crawled := outcomes(t, data)
	if diff := cmp.Diff(crawled, outcomes(t, again)); diff != "" || len(crawled) != 8 {
		t.Errorf("the crawl and its replay (-crawl +replay):\n%s", diff)
	}
	if says := doctorText(t, again); !strings.Contains(says, "8 visits in the crawl tree, 1 of them relevant and all in the index") {
		t.Errorf("doctor of the replay: %s", says)
	}
}

// guardedPages are pages with an address each: one that may be kept, and three that may not.
var guardedPages = []string{"/open", "/meta", "/header", "/gone"}

// A guardedSite restricts in every way what others may do with its pages.
type guardedSite struct {
	url       string
	addresses map[string]demo.Address // of guardedPages
}

// someAddresses gives each of guardedPages an address of the town, in a street of its own.
func someAddresses(town *demo.Town) map[string]demo.Address {
	addresses, taken := map[string]demo.Address{}, map[string]bool{}
	town.Pages(func(p demo.Page) {
		for _, at := range p.Facts.Addresses {
			if at.Listed && !at.Person && !taken[at.Street] && len(addresses) < len(guardedPages) {
				addresses[guardedPages[len(addresses)]] = at
				taken[at.Street] = true
			}
		}
	})
	return addresses
}

func (s *guardedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := ""
	switch r.URL.Path {
	case "/":
		fmt.Fprint(w, `<title>Start</title><a href="/open">a</a> <a href="/meta">b</a> <a href="/header">c</a> `+
			`<a href="/gone">d</a> <a href="/reserved">e</a> <a href="/links">f</a>`)
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
	name, at := strings.TrimPrefix(r.URL.Path, "/"), s.addresses[r.URL.Path]
	fmt.Fprintf(w, "<html><head>%s<title>Seite</title></head><body><p>Vertraulich%s vorher</p><h2>Bäckerei Meyer</h2>"+
		"<p>%s %s, %s %s, gleich nebenan%s</p></body></html>",
		head, name, at.Street, at.HouseNumber, at.Postcode, at.City, name)
}

// archivedOpenly holds that of the pages' words the archive has those of /open alone.
func (s *guardedSite) archivedOpenly(t *testing.T, archive string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	kept := ""
	for _, file := range files {
		text, err := crawltest.ReadGzip(file)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(text)
	}
	for _, name := range []string{"open", "meta", "header", "gone", "reserved"} {
		if has := strings.Contains(kept, "Vertraulich"+name); has != (name == "open") {
			t.Errorf("the words of /%s are in the archive: %v", name, has)
		}
	}
}

// foundByAddress holds that pages which may not be kept are found by their addresses, but not by
// their words, which no snippet shows.
func (s *guardedSite) foundByAddress(t *testing.T, data string) {
	t.Helper()
	for _, name := range []string{"open", "meta", "header"} {
		found := runText(t, "search", "--data", data, "--json", s.addresses["/"+name].Street)
		if !strings.Contains(found, s.url+"/"+name) {
			t.Errorf("the address of /%s is not found: %s", name, found)
		}
		if has := strings.Contains(found, "nebenan"+name); has != (name == "open") {
			t.Errorf("the words of /%s are in a snippet: %v", name, has)
		}
	}
	var found, complaints bytes.Buffer // the exit code says whether something was found
	run(t.Context(), []string{"search", "--data", data, "--json", "Vertraulichmeta"}, nil, &found, &complaints)
	if strings.Contains(found.String(), s.url) {
		t.Errorf("the words of /meta are searched: %s", found.String())
	}
}

// outcomes returns a line for each visit of a crawl tree, sorted, and holds that no link waits.
func outcomes(t *testing.T, data string) (lines []string) {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: project{data}.frontier()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Walk(t.Context(), 0, func(n frontier.Node) error {
		o := n.Outcome
		if o.Reason == crawler.ReasonNoCopy {
			o.Reason = ""
		}
		line := fmt.Sprint(n.URL.Path(), " ", o.Kind, " ", o.Reason, " ", o.Status, " ", o.Relevant, " ", o.Addresses)
		if o.Reason == "tdm_reserved" || n.URL.Path() == "/links" { // what was left out is counted, too
			line += fmt.Sprint(o.Dropped)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil || f.Totals().Queued != 0 {
		t.Errorf("%v; %d links wait", err, f.Totals().Queued)
	}
	slices.Sort(lines)
	return lines
}
