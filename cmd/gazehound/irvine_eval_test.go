package main

import (
	"bufio"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/page"
	"gazehound/crawler/warc"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// TestEvalIrvine judges every page of the real web and prints how the verdict
// agrees with its two labels: a number or building, city and postcode of the
// region ("address"), and city, state and postcode ("city_postcode"). With
// EVAL_ERRORS=1 it prints the pages where they differ, with the addresses.
//
//	go test ./cmd/gazehound -run EvalIrvine -v -timeout 1h
//
// EVAL_EVERY=8 judges every eighth page.
func TestEvalIrvine(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("long: asked for by make eval")
	}
	labels := irvineColumns(t)
	data := filepath.Join(t.TempDir(), "data")
	shared := filepath.Join(irvine, "..", "..", "gazetteer")
	irvineRun(t, "gazetteer", "import", "--data", data, filepath.Join(shared, "geonames-postal", "US.txt"))
	irvineRun(t, "gazetteer", "import", "--data", data, filepath.Join(shared, "us-zips", "zips.json.bz2"), "--map", "postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	p := project{data}
	g, err := p.openGazetteer()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	region, err := p.openRegion(g, "Irvine, CA")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := geoparse.New(g, region, geoparse.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(irvine, "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Skip("no WARC files")
	}
	archive, err := warc.Open(files...)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var table [2][2][2]int // address, city_postcode, relevant
	pages, withStreet := 0, 0
	every, _ := strconv.Atoi(os.Getenv("EVAL_EVERY"))
	for i, l := range labels {
		if every > 1 && i%every != 0 {
			continue
		}
		u, err := weburl.Parse(l.url)
		if err != nil {
			continue
		}
		res, err := archive.Fetch(t.Context(), u)
		if err != nil {
			continue
		}
		pg, err := page.Parse(res)
		if err != nil {
			continue
		}
		v, err := parser.Parse(t.Context(), geoparse.Input{Text: pg.Text, Doc: pg.Doc, Host: u.Hostname(), Lang: pg.Lang})
		if err != nil {
			t.Fatal(err)
		}
		pages++
		relevant, street := 0, false
		var shown []string
		for _, a := range v.Addresses {
			if a.InRegion {
				street = street || a.Street != ""
				shown = append(shown, fmt.Sprintf("%q (%s %.2f)", a.Text, a.Origin, a.Confidence))
			}
		}
		if v.Relevant {
			relevant = 1
		}
		if v.Relevant && street {
			withStreet++
		}
		table[l.address][l.city][relevant]++
		if (l.city != relevant || l.address == 1 && !street) && os.Getenv("EVAL_ERRORS") != "" {
			fmt.Printf("DIFFERS address %d city %d relevant %d street %v %s: %s\n", l.address, l.city, relevant, street, l.url, strings.Join(shown, "; "))
		}
	}
	if pages < 1000 {
		t.Fatalf("only %d pages", pages)
	}
	fmt.Printf("\n%d pages; %d relevant with a street\n%-10s %-14s %10s %13s\n", pages, withStreet, "address", "city_postcode", "relevant", "not relevant")
	for a := range 2 {
		for c := range 2 {
			fmt.Printf("%-10d %-14d %10d %13d\n", a, c, table[a][c][1], table[a][c][0])
		}
	}
	right, wrong := table[0][1][1]+table[1][1][1], table[0][0][1]+table[1][0][1]
	missed := table[0][1][0] + table[1][1][0]
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	streets := float64(withStreet) / float64(right+wrong)
	if !(precision >= .99 && recall >= .995 && streets >= .58) {
		t.Errorf("precision %.4f, recall %.4f, with a street %.3f; at least .99, .995 and .58 are wanted",
			precision, recall, streets)
	}
}

// An irvineLabel is one line of pages.tsv.
type irvineLabel struct {
	url           string
	address, city int
}

func irvineColumns(t *testing.T) []irvineLabel {
	f, err := os.Open(filepath.Join(irvine, "pages.tsv"))
	if err != nil {
		t.Skipf("the real web is not here: %v", err)
	}
	defer f.Close()
	var labels []irvineLabel
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) != 5 || c[0] == "url" {
			continue
		}
		if _, err := url.Parse(c[0]); err != nil {
			continue
		}
		labels = append(labels, irvineLabel{c[0], int(c[3][0] - '0'), int(c[4][0] - '0')})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return labels
}
