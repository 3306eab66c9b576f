package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Another program reads our WARC files without complaint, and finds in them the
// records that we have written, each where our own index says.
func TestOtherReader(t *testing.T) {
	reader, err := exec.LookPath("warcio")
	if err != nil {
		t.Skip("no other reader of WARC files: npm install -g warcio@2.4.11")
	}
	data, _, _, _ := servedTown(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<title>Start</title><a href="/one">1</a> <a href="/marked">3</a> <a href="/moved">4</a> <a href="/gone">5</a>`)
		case "/one", "/two": // of the second a revisit record is kept
			fmt.Fprint(w, `<title>Zwilling</title><a href="/two">Überall dasselbe</a>`)
		case "/marked":
			w.Header().Set("ETag", `"a"`)
			if r.Header.Get("If-None-Match") == `"a"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, "<title>Gemerkt</title>")
		case "/moved":
			http.Redirect(w, r, "/one", http.StatusMovedPermanently)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	archive := filepath.Join(t.TempDir(), "archive")
	t.Setenv("GAZEHOUND_REVISIT__FIRST", "1ms")
	t.Setenv("GAZEHOUND_REVISIT__MIN", "1ms")
	t.Setenv("GAZEHOUND_REVISIT__MAX", "1ms")
	for _, flags := range [][]string{{}, {"--revisit"}} {
		var out, complaints bytes.Buffer
		if code := run(t.Context(), append([]string{"crawl", "--data", data, "--seed", server.URL + "/", "--allow-private-addresses", "--delay", "0s", "--warc", archive, "--json", "--quiet"}, flags...), nil, &out, &complaints); code != 0 {
			t.Fatalf("crawl %v: exit %d: %s%s", flags, code, out.String(), complaints.String())
		}
	}
	files, err := filepath.Glob(filepath.Join(archive, "*.warc.gz"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	read := func(command string, flags ...string) (lines []string) {
		t.Helper()
		cmd := exec.Command(reader, append(append([]string{command}, files...), flags...)...)
		var out, complaints bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaints
		if err := cmd.Run(); err != nil || complaints.Len() > 0 {
			t.Fatalf("%v: %v\n%.2000s", cmd.Args, err, complaints.String())
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	kinds := map[string]int{}
	for _, line := range read("index", "--fields", "warc-type") {
		kinds[line]++
	}
	kind := func(name string) int { return kinds[`{"warc-type":"`+name+`"}`] }
	// Six exchanges, and at least four pages requested again.
	if n := kind("request"); n < 10 || kind("response")+kind("revisit") != n || kind("metadata") != n || kind("warcinfo") != 2 || kind("revisit") < 2 || len(kinds) != 5 {
		t.Errorf("records by type: %v", kinds)
	}

	type place struct{ URL, Mime, Status, Digest, Length, Offset, Filename string }
	places := func(lines []string) map[place]int {
		found := map[place]int{}
		for _, line := range lines {
			fields := strings.SplitN(line, " ", 3) // the other reader sorts hosts that are addresses differently
			var p place
			if err := json.Unmarshal([]byte(fields[len(fields)-1]), &p); err != nil {
				t.Fatalf("%v in %q", err, line)
			}
			p.Digest = strings.TrimPrefix(p.Digest, "sha256:")
			if p.Mime != "application/json" { // our metadata
				found[p]++
			}
		}
		return found
	}
	var out, complaints bytes.Buffer
	if code := run(t.Context(), []string{"export", "cdxj", "--data", data}, nil, &out, &complaints); code != 0 {
		t.Fatalf("exit %d: %s", code, complaints.String())
	}
	theirs, ours := places(read("cdx-index")), places(strings.Split(strings.TrimSpace(out.String()), "\n"))
	if !maps.Equal(theirs, ours) || len(ours) != kind("request") {
		t.Errorf("the other reader finds\n%v\nand our index says\n%v", theirs, ours)
	}
	for _, status := range []string{"200", "304"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(theirs)), func(p place) bool { return p.Mime == "warc/revisit" && p.Status == status }) {
			t.Errorf("no revisit record of a %s", status)
		}
	}
}
