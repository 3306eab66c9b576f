package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
	gazehound(t, append([]string{"crawl", "--quiet", "--max-pages", "300", "--warc", archive}, flags...)...)
	x := chooseForgotten(t, data)
	x.nameElsewhere(t, data)
	for _, c := range []struct {
		args  []string
		texts []string
	}{
		{[]string{"--request", "1"}, append(x.ofHost(), "host:"+x.host, "anna@private.example")},
		{[]string{x.page.String()},
			append(x.ofPage(), x.page.Host+x.page.RequestURI()+"\n", "path:"+x.page.Host+x.page.Path)},
		{[]string{"--address", x.address.ID}, x.ofAddress()},
	} {
		if len(searchAll(t, data, c.texts)) == 0 {
			t.Fatalf("nothing holds %q before it is forgotten", c.texts)
		}
		out := gazehound(t, append([]string{"forget", "--data", data, "--yes", "--json"}, c.args...)...)
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
	text, err := os.ReadFile(filepath.Join(data, "seeds.txt"))
	if err != nil || string(text) != "http://stays.example/\n" {
		t.Errorf("seeds: %q, %v", text, err)
	}
	if waiting, err := forget.Dir(data).Waiting(); err != nil || len(waiting) > 0 {
		t.Errorf("waiting: %v, %v", waiting, err)
	}
	gazehound(t, "pages", "--data", data) // it still opens
	if says := problems(t, data); says != "" {
		t.Errorf("after forget:\n%s", says)
	}

	// A later crawl meets them again, and keeps none.
	again := []string{"crawl", "--quiet", "--fresh", "--yes", "--max-pages", "150", "--warc", archive}
	gazehound(t, append(again, flags...)...)
	texts := slices.Concat(x.ofHost(), x.ofPage(), x.ofAddress(), []string{spelledPhone(x.address.Phone)})
	for _, file := range searchAll(t, data, texts) {
		t.Errorf("after another crawl: %s", file)
	}
}

// gazehound runs the program, which must succeed, and returns its standard output.
func gazehound(t *testing.T, args ...string) string {
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

// forgotten are a host, a page of another host, and an address that a third host states.
type forgotten struct {
	host    string
	page    *url.URL
	address *index.Hit
}

// chooseForgotten takes them from the index.
func chooseForgotten(t *testing.T, data string) forgotten {
	t.Helper()
	hits := map[string]*index.Hit{} // by site
	x, err := index.OpenReadOnly(project{data}.index())
	if err != nil {
		t.Fatal(err)
	}
	err = x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error {
		whole := h.HouseNumber != "" && h.Postcode != "" && h.Phone != "" && len(h.Evidence) > 0
		if whole && !strings.Contains(h.Site, "demostadt.example") {
			hits[h.Site] = h
		}
		return nil
	})
	if err := errors.Join(err, x.Close()); err != nil {
		t.Fatal(err)
	}
	sites := slices.Sorted(maps.Keys(hits))
	if len(sites) < 3 {
		t.Fatalf("only %d sites with an address", len(sites))
	}
	page, err := url.Parse(hits[sites[1]].Evidence[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	return forgotten{host: sites[0], page: page, address: hits[sites[2]]}
}

// line is street and house number of the address.
func (x *forgotten) line() string { return x.address.Street + " " + x.address.HouseNumber }

// ofHost, ofPage and ofAddress return how files may name each.
func (x *forgotten) ofHost() []string { return []string{"//" + x.host, "www." + x.host} }

func (x *forgotten) ofPage() []string { return []string{x.page.Host + x.page.RequestURI() + `"`} }

func (x *forgotten) ofAddress() []string {
	return []string{x.line() + ",", x.line() + " ", x.line() + "\n", x.address.Phone}
}

// nameElsewhere names the host in page views, in a removal request, in the seeds, and host and address
// in links for another node that the version before left in a file.
func (x *forgotten) nameElsewhere(t *testing.T, data string) {
	t.Helper()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(data, "access.log")
	write("access.log", "192.0.2.1 - - [21/Nov/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 9 \"-\" \"Mozilla\"\n")
	gazehound(t, "clickstream", "import", log, "--site", "http://"+x.host, "--data", data)
	os.Remove(log)
	request, err := json.Marshal(map[string]any{"number": 1, "time": "2026-11-21T10:00:00Z",
		"what": "http://" + x.host + "/", "reason": "mine", "contact": "anna@private.example"})
	if err != nil {
		t.Fatal(err)
	}
	write("requests.ndjson", string(request)+"\n")
	write("seeds.txt", "http://"+x.host+"/\nhttp://stays.example/\n")
	if err := os.MkdirAll(filepath.Join(data, "cluster", "outbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("cluster/outbox/1.out", fmt.Sprintf("b [{\"URL\":\"http://%s/theirs\"},"+
		"{\"URL\":\"http://theirs.example/\",\"Around\":\"%s, there\"}]\n", x.host, x.line()))
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
