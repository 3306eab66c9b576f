// Package peers measures how fast gazehound crawls beside others: a bare loop of fetch and
// goquery, and colly ("make bench"), and how its speed and memory change over a long crawl
// ("make growth"). It is a module of its own lest gazehound depend on colly.
//
// Each of them crawls the same made-up web, which a process of its own serves on loopback, in a
// process of its own, so that CPU time and memory are those of the crawl alone.
package peers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

var (
	program  = flag.String("gazehound", "../../../bin/gazehound", "the program")
	pages    = flag.Int("pages", 20_000, "pages of each crawl")
	workers  = flag.Int("workers", 16, "pages at a time")
	sites    = flag.Int("sites", 7000, "hosts of the made-up web, with 70 pages each")
	mentions = flag.Float64("mentions", 0.25, "share of its pages that only name the town")
	pageSize = flag.String("page-size", "16kB", "size of its pages")
	only     = flag.String("only", "", "comma-separated crawlers, such as full,bare")
)

// A job is what one crawl is to do.
type job struct {
	Proxy   string
	Seeds   []string
	Pages   int
	Workers int
}

// A result is what one crawl did.
type result struct {
	Pages   int64   `json:"pages"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"duration_s"`

	cpu float64 // seconds, user and system
	rss int64   // bytes, the highest
}

// crawlerVariable names the crawler that a process of this test is.
const crawlerVariable = "GAZEHOUND_PEER"

// TestMain crawls where this process is to be one of the others, by the job on standard input.
func TestMain(m *testing.M) {
	crawl := map[string]func(context.Context, job) (result, error){"bare": bare, "colly": collyCrawl}[os.Getenv(crawlerVariable)]
	if crawl == nil {
		m.Run()
		return
	}
	var j job
	err := json.NewDecoder(os.Stdin).Decode(&j)
	if err == nil {
		var r result
		r, err = crawl(context.Background(), j)
		err = errors.Join(err, json.NewEncoder(os.Stdout).Encode(r))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// rows of the table, in the order in which a round runs them.
var rows = []struct{ name, about string }{
	{"bare", "fetch + goquery, links in memory"},
	{"full", "gazehound"},
	{"breadth", "gazehound, breadth first"},
	{"colly", "colly v2.3.0: links, title, text"},
}

// BenchmarkCrawl crawls with each of them in every iteration; the medians count.
func BenchmarkCrawl(b *testing.B) {
	dir := b.TempDir()
	j, _ := serve(b, dir)
	all := map[string][]result{}
	rounds := 0
	for b.Loop() {
		rounds++
		for _, row := range rows {
			if *only == "" || slices.Contains(strings.Split(*only, ","), row.name) {
				all[row.name] = append(all[row.name], measure(b, row.name, j, dir))
			}
		}
	}
	median := func(name string, value func(result) float64) float64 {
		var list []float64
		for _, r := range all[name] {
			list = append(list, value(r))
		}
		if len(list) == 0 {
			return 0
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	speed := func(name string) float64 {
		return median(name, func(r result) float64 { return float64(r.Pages) / r.Seconds })
	}
	fmt.Printf("\n%d pages each, %d at a time, %d sites, pages of %s at least, %v of them name the town, %d rounds, %d CPUs\n\n",
		*pages, *workers, *sites, *pageSize, *mentions, rounds, runtime.NumCPU())
	fmt.Println("| crawler | pages/s | of bare | of colly | CPU s per 1,000 pages | kB a page | most memory |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, row := range rows {
		if len(all[row.name]) == 0 {
			continue
		}
		ratio := func(to string) string {
			if speed(to) == 0 {
				return "-"
			}
			return fmt.Sprintf("%.2f", speed(row.name)/speed(to))
		}
		fmt.Printf("| %s | %.0f | %s | %s | %.2f | %.1f | %.0f MB |\n", row.about, speed(row.name),
			ratio("bare"), ratio("colly"),
			median(row.name, func(r result) float64 { return r.cpu / float64(r.Pages) * 1000 }),
			median(row.name, func(r result) float64 { return float64(r.Bytes) / float64(r.Pages) / 1000 }),
			median(row.name, func(r result) float64 { return float64(r.rss) / 1e6 }))
		b.ReportMetric(speed(row.name), row.name+"-pages/s")
	}
}

// serve starts the made-up web, whose extract is town.osm in dir then, until b ends.
func serve(b *testing.B, dir string) (j job, web *os.Process) {
	// A copy of the program serves the web: a process can keep out of memory only
	// those pages of its file that no other process uses. It is not read into this process, whose
	// highest memory the processes that it starts inherit.
	copied := filepath.Join(dir, "gazehound")
	if out, err := exec.Command("cp", *program, copied).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(copied, "demo", "--serve-only", "--json", "--calm", "--sites", strconv.Itoa(*sites),
		"--page-size", *pageSize, "--mentions", fmt.Sprint(*mentions), "--osm-out", filepath.Join(dir, "town.osm"), "--listed", "1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &j)
	}
	if err != nil {
		b.Fatalf("the made-up web does not start: %v", err)
	}
	j.Pages, j.Workers = *pages, *workers
	return j, cmd.Process
}

// gazehound returns a crawl of the made-up web into a new data directory.
func gazehound(b *testing.B, j job, dir string, flags ...string) (crawl *exec.Cmd, data string) {
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		b.Fatal(err)
	}
	init := exec.Command(*program, "init", "--quiet", "--data", data, "--osm", filepath.Join(dir, "town.osm"), "--region", "Demostadt")
	if out, err := init.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	crawl = exec.Command(*program, append([]string{"crawl", "--quiet", "--json", "--data", data, "--seeds", "-",
		"--proxy", j.Proxy, "--delay", "0s", "--max-pages", strconv.Itoa(j.Pages), "--workers", strconv.Itoa(j.Workers)}, flags...)...)
	crawl.Stdin = strings.NewReader(strings.Join(j.Seeds, "\n") + "\n")
	return crawl, data
}

// measure runs one crawl in a process of its own.
func measure(b *testing.B, name string, j job, dir string) (r result) {
	var cmd *exec.Cmd
	if name == "full" || name == "breadth" {
		strategy := map[string]string{"full": "lookahead", "breadth": "breadth-first"}[name]
		var data string
		cmd, data = gazehound(b, j, dir, "--admin", "127.0.0.1:0", "--strategy", strategy)
		defer os.RemoveAll(data)
	} else {
		text, err := json.Marshal(j)
		if err != nil {
			b.Fatal(err)
		}
		cmd = exec.Command(os.Args[0])
		cmd.Env, cmd.Stdin = append(os.Environ(), crawlerVariable+"="+name), bytes.NewReader(text)
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err == nil {
		err = json.Unmarshal(lines[len(lines)-1], &r)
	}
	if err != nil || r.Pages == 0 {
		b.Fatalf("%s: %d pages, %v: %s", name, r.Pages, err, problems.String())
	}
	r.cpu = cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
	r.rss = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss * 1024
	fmt.Fprintf(os.Stderr, "%-7s %6d pages  %7.1f s  %7.0f pages/s  %5.2f CPU s per 1,000  %5.0f MB\n", name,
		r.Pages, r.Seconds, float64(r.Pages)/r.Seconds, r.cpu/float64(r.Pages)*1000, float64(r.rss)/1e6)
	return r
}
