package main

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gazehound/index"

	"github.com/rogpeppe/go-internal/testscript"
)

// What the stories of users need beside the commands of TestScript:
//
//	bestsite DATA VAR       $VAR is the host with the most addresses in the index
//	address DATA ID LINE    $ID and $LINE are an address with a house number that the index has
//	norecords DIR HOST      no WARC record in DIR has a URL of HOST in its header, or came from HOST
func chooseSite(ts *testscript.TestScript, neg bool, args []string) {
	sites := map[string]int{}
	best := ""
	walkIndex(ts, args[0], func(h *index.Hit) {
		if sites[h.Site]++; sites[h.Site] > sites[best] || sites[h.Site] == sites[best] && h.Site < best {
			best = h.Site
		}
	})
	if best == "" {
		ts.Fatalf("no address in %s", args[0])
	}
	ts.Setenv(args[1], best)
}

func chooseAddress(ts *testscript.TestScript, neg bool, args []string) {
	walkIndex(ts, args[0], func(h *index.Hit) {
		if h.Street != "" && h.HouseNumber != "" && h.Postcode != "" {
			ts.Setenv(args[1], h.ID)
			ts.Setenv(args[2], h.Street+" "+h.HouseNumber+",")
		}
	})
	if ts.Getenv(args[1]) == "" {
		ts.Fatalf("no address with a house number in %s", args[0])
	}
}

func walkIndex(ts *testscript.TestScript, data string, fn func(*index.Hit)) {
	o := index.DefaultOptions()
	o.ReadOnly = true
	x, err := index.Open(project{ts.MkAbs(data)}.index(), o)
	ts.Check(err)
	defer x.Close()
	ts.Check(x.Walk(context.Background(), index.Query{}, func(h *index.Hit) error { fn(h); return nil }))
}

func noRecords(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.warc.gz"))
	ts.Check(err)
	records := 0
	of := regexp.MustCompile(`(^|[ /.])` + regexp.QuoteMeta(args[1]) + `(/|\s*$)`)
	via := regexp.MustCompile(`"via":"http://(www\.)?` + regexp.QuoteMeta(args[1]) + `/`)
	for _, name := range names {
		f, err := os.Open(name)
		ts.Check(err)
		z, err := gzip.NewReader(f)
		ts.Check(err)
		text, err := io.ReadAll(z)
		ts.Check(err)
		ts.Check(f.Close())
		for line := range strings.SplitSeq(string(text), "\n") {
			field, value, _ := strings.Cut(line, ":")
			header := strings.HasPrefix(field, "WARC-") || field == "Host"
			if header {
				records++
			}
			if header && of.MatchString(value) || strings.HasPrefix(line, `{"outcome"`) && via.MatchString(line) {
				ts.Fatalf("%s: %s", name, line)
			}
		}
	}
	if records == 0 {
		ts.Fatalf("no record in %s", args[0])
	}
}
