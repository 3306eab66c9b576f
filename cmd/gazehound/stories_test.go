package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/crawltest"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/index"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands of the users' stories beside those of TestScript:
//
//	bestsite DATA VAR       $VAR is the host with the most addresses in the index
//	address DATA ID LINE    $ID and $LINE are an address with a house number that the index has
//	nopersons DATA TRUTH FILE…  neither the index nor the files name a private person's address of the town, or the person
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

// figure prints a result of a story and appends it to the file GAZEHOUND_FIGURES, which CI shows.
func figure(logf func(format string, args ...any), format string, args ...any) {
	logf(format, args...)
	name := os.Getenv("GAZEHOUND_FIGURES")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, format+"\n", args...)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		logf("the figure is not in the file: %v", err)
	}
}

func walkIndex(ts *testscript.TestScript, data string, fn func(*index.Hit)) {
	x, err := index.OpenReadOnly(project{ts.MkAbs(data)}.index())
	ts.Check(err)
	defer x.Close()
	ts.Check(x.Walk(context.Background(), index.Filters{}, func(h *index.Hit) error { fn(h); return nil }))
}

func noRecords(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.warc.gz"))
	ts.Check(err)
	records := 0
	of := regexp.MustCompile(`(^|[ /.])` + regexp.QuoteMeta(args[1]) + `(/|\s*$)`)
	via := regexp.MustCompile(`"via":"http://(www\.)?` + regexp.QuoteMeta(args[1]) + `/`)
	for _, name := range names {
		text, err := crawltest.ReadGzip(name)
		ts.Check(err)
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
	figure(ts.Logf, "story E: none of %d header lines of %d WARC files is of the host that was forgotten", records, len(names))
}

// checkMissing compares MapRoulette tasks with the truth: the places that the town states
// and the extract lacks. It prints precision and recall.
func checkMissing(ts *testscript.TestScript, neg bool, args []string) {
	key := func(p map[string]any, street, number, postcode string) string {
		s, _ := p[street].(string)
		n, _ := p[number].(string)
		c, _ := p[postcode].(string)
		return gazetteer.StreetKey(s) + " " + gazetteer.NumberKey(n) + " " + c
	}
	type collection struct {
		Type     string
		Features []struct{ Properties map[string]any }
	}
	var truth collection
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &truth))
	there, lacking := map[string]bool{}, map[string]bool{}
	for _, f := range truth.Features {
		p := f.Properties
		k := key(p, "street", "housenumber", "postcode")
		there[k] = true
		if lacksPlace(p) {
			lacking[k] = true
		}
	}
	found := map[string]bool{}
	right, persons := 0, 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		rest, ok := strings.CutPrefix(line, "\x1e")
		var task collection
		if err := json.Unmarshal([]byte(rest), &task); !ok || err != nil || task.Type != "FeatureCollection" || len(task.Features) == 0 {
			ts.Fatalf("no task: %q, %v", line, err)
		}
		p := task.Features[0].Properties
		k := key(p, "addr:street", "addr:housenumber", "addr:postcode")
		if found[k] {
			continue
		}
		switch found[k] = true; {
		case lacking[k]:
			right++
		case there[k]:
			persons++
		default:
			ts.Logf("not so: %v", p)
		}
	}
	if len(found) == 0 || len(lacking) == 0 {
		ts.Fatalf("%d tasks, %d addresses are lacking", len(found), len(lacking))
	}
	precision, recall := float64(right)/float64(len(found)), float64(right)/float64(len(lacking))
	figure(ts.Logf, "story A: %d tasks, %d right, precision %.3f, recall %.3f; %d known or private", len(found), right, precision, recall, persons)
	if precision < 0.95 || recall < 0.8 {
		ts.Fatalf("precision %.3f, recall %.3f; 0.95 and 0.8 are wanted", precision, recall)
	}
}

// checkNoPersons holds the index and exports against the addresses of private
// persons that the town has: the crawl must have met some, and kept none, nor their
// names beside links.
func checkNoPersons(ts *testscript.TestScript, neg bool, args []string) {
	var truth struct {
		Features []struct {
			Properties struct {
				Street, HouseNumber, Postcode string
				Names, URLs                   []string
				Person                        bool
			}
		}
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &truth))
	f, err := frontier.Open(frontier.Options{Dir: project{ts.MkAbs(args[0])}.frontier()})
	ts.Check(err)
	defer f.Close()
	private, names, met := map[string]bool{}, map[string]bool{}, 0
	for _, feature := range truth.Features {
		p := feature.Properties
		if !p.Person {
			continue
		}
		private[gazetteer.StreetKey(p.Street)+" "+gazetteer.NumberKey(p.HouseNumber)] = true
		for _, name := range p.Names {
			names[name] = true
		}
		for _, raw := range p.URLs {
			u, err := weburl.Parse(raw)
			ts.Check(err)
			if n, ok, err := f.Get(frontier.KeyOf(u)); err == nil && ok && n.State == frontier.Visited {
				met++
			}
		}
	}
	if met == 0 {
		ts.Fatalf("the crawl met none of %d private addresses", len(private))
	}
	walkIndex(ts, args[0], func(h *index.Hit) {
		if key := gazetteer.StreetKey(h.Street) + " " + gazetteer.NumberKey(h.HouseNumber); private[key] {
			ts.Logf("private: %s, %q, %+v", h.Line(), h.Name, h.Evidence)
			ts.Fatalf("the index has an address of a private person")
		}
	})
	noName := func(n frontier.Node) error {
		words := n.Anchor + "\n" + n.Title + "\n" + n.Around
		for name := range names {
			if strings.Contains(words, name) {
				return fmt.Errorf("the link to %s has the words %q, which name %s", n.URL, words, name)
			}
		}
		return nil
	}
	ts.Check(errors.Join(f.Walk(context.Background(), 0, noName), f.WalkQueue(context.Background(), noName)))
	for _, file := range args[2:] {
		text := ts.ReadFile(file)
		for name := range names {
			if strings.Contains(text, name) {
				ts.Fatalf("%s names %s", file, name)
			}
		}
	}
	ts.Logf("%d private addresses, on %d pages that were read", len(private), met)
}
