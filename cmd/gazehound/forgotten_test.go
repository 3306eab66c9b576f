package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gazehound/cmd/gazehound/forget"
	"gazehound/crawler/lab/crawltest"
	"gazehound/index"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/klauspost/compress/s2"
)

// After a host, a page and an address were forgotten, no byte of the data directory names them, nor
// does the unpacked content of WARC files, tables, segments and page views.
func TestForgottenForGood(t *testing.T) {
	t.Parallel()
	data, flags := townProject(t)
	archive := filepath.Join(data, "archive")
	gazehound := func(args ...string) string {
		t.Helper()
		cmd := program(args...)
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, &complaints)
		}
		return string(out)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gazehound(append([]string{"crawl", "--quiet", "--max-pages", "300", "--warc", archive}, flags...)...)
	hits := map[string]*index.Hit{} // by site
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		if h.HouseNumber != "" && h.Postcode != "" && h.Phone != "" && len(h.Evidence) > 0 && !strings.Contains(h.Site, "demostadt.example") {
			hits[h.Site] = h
		}
		return nil
	})
	if err := errors.Join(err, x.Close()); err != nil {
		t.Fatal(err)
	}
	sites := make([]string, 0, len(hits))
	for site := range hits {
		sites = append(sites, site)
	}
	slices.Sort(sites)
	if len(sites) < 3 {
		t.Fatalf("only %d sites with an address", len(sites))
	}
	host := sites[0]
	page, err := url.Parse(hits[sites[1]].Evidence[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	address := hits[sites[2]]
	log := "192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 9 \"-\" \"Mozilla\"\n"
	write(filepath.Join(data, "access.log"), log)
	gazehound("clickstream", "import", filepath.Join(data, "access.log"), "--site", "http://"+host, "--data", data)
	os.Remove(filepath.Join(data, "access.log"))
	request, err := json.Marshal(map[string]any{"number": 1, "time": "2026-11-21T10:00:00Z", "what": "http://" + host + "/", "reason": "mine", "contact": "anna@private.example"})
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(data, "requests.ndjson"), string(request)+"\n")
	write(filepath.Join(data, "seeds.txt"), "http://"+host+"/\nhttp://stays.example/\n")

	line := address.Street + " " + address.HouseNumber
	// Links for another node that the version before left in a file.
	theirs := fmt.Sprintf("b [{\"URL\":\"http://%s/theirs\"},{\"URL\":\"http://theirs.example/\",\"Around\":\"%s, there\"}]\n", host, line)
	if err := os.MkdirAll(filepath.Join(data, "cluster", "outbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(data, "cluster", "outbox", "1.out"), theirs)
	for _, c := range []struct {
		args  []string
		texts []string
	}{
		{[]string{"--request", "1"}, []string{"//" + host, "www." + host, "host:" + host, "anna@private.example"}},
		{[]string{page.String()}, []string{page.Host + page.RequestURI() + `"`, page.Host + page.RequestURI() + "\n", "path:" + page.Host + page.Path}},
		{[]string{"--address", address.ID}, []string{line + ",", line + " ", line + "\n", address.Phone}},
	} {
		before := strings.Join(searchAll(t, data, c.texts), " ")
		if before == "" {
			t.Fatalf("nothing holds %q before it is forgotten", c.texts)
		}
		out := gazehound(append([]string{"forget", "--data", data, "--yes", "--json"}, c.args...)...)
		if !strings.Contains(out, `"rewritten":[`) || !strings.Contains(out, `"seconds":`) {
			t.Errorf("forget %q does not say what it has rewritten: %s", c.args, out)
		}
		if first := c.args[0] == "--request"; first != strings.Contains(out, `"unsent_links":1`) {
			t.Errorf("forget %q and the links that wait for another node: %s", c.args, out)
		}
		for _, file := range searchAll(t, data, c.texts) {
			t.Errorf("after forget %q: %s", c.args, file)
		}
	}
	if text, err := os.ReadFile(filepath.Join(data, "seeds.txt")); err != nil || string(text) != "http://stays.example/\n" {
		t.Errorf("seeds: %q, %v", text, err)
	}
	if waiting, err := forget.Dir(data).Waiting(); err != nil || len(waiting) > 0 {
		t.Errorf("waiting: %v, %v", waiting, err)
	}
	gazehound("pages", "--data", data) // it still opens
	if says := problems(t, data); says != "" {
		t.Errorf("after forget:\n%s", says)
	}

	// A later crawl meets them again, and keeps none.
	gazehound(append([]string{"crawl", "--quiet", "--fresh", "--yes", "--max-pages", "150", "--warc", archive}, flags...)...)
	for _, file := range searchAll(t, data, []string{"//" + host, "www." + host, page.Host + page.RequestURI() + `"`,
		line + ",", line + " ", line + "\n", address.Phone, spelledPhone(address.Phone)}) {
		t.Errorf("after another crawl: %s", file)
	}
}

// spelledPhone returns the end of a number, which all spellings without separators share.
func spelledPhone(phone string) string { return phone[max(0, len(phone)-8):] }

// searchAll names the places of a data directory that hold one of the texts.
func searchAll(t *testing.T, data string, texts []string) (found []string) {
	t.Helper()
	look := func(where string, content []byte) {
		for _, text := range texts {
			if i := bytes.Index(content, []byte(text)); i >= 0 {
				found = append(found, fmt.Sprintf("%s holds %q: …%.120q", where, text, content[max(0, i-40):min(len(content), i+80)]))
			}
		}
	}
	err := filepath.WalkDir(data, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "gazetteer" { // what it was made of is public
			return fs.SkipDir
		}
		if d.IsDir() || slices.Contains([]string{"blocked.txt", "forgotten.log", "basemap"}, d.Name()) {
			return nil
		}
		raw, err := os.ReadFile(name)
		look(name, raw)
		switch filepath.Ext(name) {
		case ".gz":
			raw, err = crawltest.ReadGzip(name)
			look(name+" unpacked", raw)
		case ".sst":
			look(name+" unpacked", unpackTable(t, raw))
		case ".views":
			raw, err = io.ReadAll(s2.NewReader(bytes.NewReader(raw)))
			look(name+" unpacked", raw)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	look("index unpacked", unpackIndex(t, filepath.Join(project{data}.index(), "bleve")))
	return found
}

// unpackTable returns all keys and values of a table of Badger.
func unpackTable(t *testing.T, data []byte) []byte {
	t.Helper()
	tab, err := table.OpenInMemoryTable(data, 1, &table.Options{Compression: options.Snappy, BlockSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	it := tab.NewIterator(table.NOCACHE)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		fmt.Fprintf(&b, "%s\n%s\n", it.Key(), it.Value().Value)
	}
	return b.Bytes()
}

// unpackIndex returns all stored fields of the segments of Bleve, of deleted documents too, and all
// terms.
func unpackIndex(t *testing.T, dir string) []byte {
	t.Helper()
	x, err := bleve.OpenUsing(dir, map[string]any{"read_only": true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	advanced, err := x.Advanced()
	if err != nil {
		t.Fatal(err)
	}
	r, err := advanced.Reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	for _, s := range r.(*scorch.IndexSnapshot).Segments() {
		for n := range s.FullSize() {
			s.VisitDocument(uint64(n), func(_ string, _ byte, value []byte, _ []uint64) bool {
				fmt.Fprintf(&b, "%s\n", value)
				return true
			})
		}
	}
	fields, _ := r.Fields()
	for _, field := range fields {
		d, err := r.FieldDict(field)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := d.Next(); e != nil && err == nil; e, err = d.Next() {
			b.WriteString(e.Term + "\n")
		}
		d.Close()
	}
	return b.Bytes()
}

// What names nothing is refused, and the end or the beginning of a host's name is another host: forget
// takes nothing out, and does not block the host.
func TestForgetNothingElse(t *testing.T) {
	t.Parallel()
	data, flags, town, _ := servedTown(t)
	gazehound := func(code int, args ...string) string {
		t.Helper()
		var out, complaints bytes.Buffer
		if got := run(t.Context(), append(args, "--data", data), nil, &out, &complaints); got != code {
			t.Fatalf("%q: exit %d, want %d: %s", args, got, code, complaints.String())
		}
		return out.String()
	}
	gazehound(exitOK, append([]string{"crawl", "--quiet", "--max-pages", "100", "--warc", filepath.Join(data, "archive")}, flags[2:]...)...)
	host := someHost(t, data)
	state := func() string {
		t.Helper()
		return gazehound(exitOK, "pages", "--json") + gazehound(exitOK, "search", "--json", "--limit", "500")
	}
	before := state()
	if strings.Count(before, host) < 2 {
		t.Fatalf("%s is not among pages and addresses", host)
	}
	for _, text := range []string{"/", "", " ", ".", "//", "?", "*", "http://", "http:///", "example", "http://example/", "com", "\x00"} {
		gazehound(exitUsage, "forget", "--yes", text)
		if _, err := os.Stat(filepath.Join(data, "blocked.txt")); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("forget %q blocks something: %v", text, err)
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(host, "www."), ".")
	first, second := strings.Trim(name[:len(name)/2], "-"), strings.Trim(name[len(name)/2:], "-")
	halves := []string{second + ".example", first + ".example", name + "x.example", name + ".exampl", "x" + host, host + ".org", "a." + host}
	halves = slices.DeleteFunc(halves, func(half string) bool { // the town has a host demostadt.example
		_, isSite := town.Truth(mustParse(t, "http://"+half+"/"))
		_, isWWW := town.Truth(mustParse(t, "http://www."+half+"/"))
		return isSite || isWWW
	})
	for _, half := range halves {
		gazehound(exitOK, "forget", "--yes", half)
	}
	if after := state(); after != before {
		t.Errorf("%q took something of %s out:\n%.2000s\nbefore:\n%.2000s", halves, host, after, before)
	}
	blocked, err := forget.Dir(data).Blocklist()
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range halves {
		if u := mustParse(t, "http://"+half+"/"); !blocked.Has(u) {
			t.Errorf("%s is not blocked", u)
		}
	}
	for _, page := range []string{"http://" + host + "/", "http://www." + host + "/impressum"} {
		if blocked.Has(mustParse(t, page)) {
			t.Errorf("%s is blocked by one of %q", page, halves)
		}
	}
}
