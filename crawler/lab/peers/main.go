// Command peers measures how fast gazehound crawls beside others: a bare loop of
// fetch and goquery, and colly. "make bench" runs it.
//
// Each of them crawls the same made-up web, which a process of its own serves
// on loopback, in a process of its own, so that CPU time and memory are those of
// the crawl alone. It is a module of its own lest gazehound depend on colly.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A job is what one crawl is to do.
type job struct {
	proxy   string
	seeds   []string
	pages   int
	workers int
	dir     string // for what it stores
}

// A result is what one crawl did.
type result struct {
	Pages   int64   `json:"pages"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"duration_s"`

	cpu float64 // seconds, user and system
	rss int64   // bytes, the highest
}

// crawlers run in a process of their own.
var crawlers = map[string]func(context.Context, job) (result, error){
	"bare": bare, "colly": collyCrawl,
}

func main() {
	var o options
	flag.StringVar(&o.gazehound, "gazehound", "bin/gazehound", "the program")
	flag.IntVar(&o.job.pages, "pages", 5000, "pages of each crawl")
	flag.IntVar(&o.job.workers, "workers", 8, "pages at a time")
	flag.IntVar(&o.sites, "sites", 5000, "hosts of the made-up web")
	flag.StringVar(&o.pageSize, "page-size", "16kB", "size of its pages")
	flag.IntVar(&o.rounds, "rounds", 3, "crawls by each; the medians count")
	flag.StringVar(&o.only, "only", "", "comma-separated rows of full, breadth, bare and colly")
	flag.StringVar(&o.job.proxy, "proxy", "", "of the made-up web (inner use)")
	flag.StringVar(&o.job.dir, "dir", "", "of what is stored (inner use)")
	g := growthOptions{}
	flag.StringVar(&g.name, "growth", "", "make one long crawl instead and write NAME.csv, NAME.svg and NAME.png")
	flag.StringVar(&g.memory, "memory", "250MB", "ceiling of the long crawl")
	flag.DurationVar(&g.every, "every", 10*time.Second, "between two looks at the long crawl")
	run := flag.String("run", "", "crawl in this process (inner use)")
	flag.Parse()
	g.options = o
	if err := start(*run, g); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct {
	gazehound, pageSize, only string
	sites, rounds             int
	job                       job
}

func start(run string, o growthOptions) error {
	ctx := context.Background()
	switch {
	case run == "" && o.name != "":
		return growth(o)
	case run == "":
		return table(ctx, o.options)
	}
	crawl, ok := crawlers[run]
	if !ok {
		return fmt.Errorf("no crawler is called %q", run)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		o.job.seeds = append(o.job.seeds, lines.Text())
	}
	r, err := crawl(ctx, o.job)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// rows of the table, in the order in which a round runs them.
var rows = []struct{ name, about string }{
	{"bare", "fetch + goquery, links in memory"},
	{"full", "gazehound"},
	{"breadth", "gazehound, breadth first"},
	{"colly", "colly v2.3.0: links, title, text"},
}

// table measures and prints.
func table(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "gazehound-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	web, seeds, err := serve(ctx, o, dir)
	if err != nil {
		return err
	}
	defer web.Wait()
	defer stop()
	o.job.proxy, o.job.seeds = seeds.Proxy, seeds.Seeds
	all := map[string][]result{}
	for round := range o.rounds {
		for _, row := range rows {
			if o.only != "" && !slices.Contains(strings.Split(o.only, ","), row.name) {
				continue
			}
			o.job.dir = filepath.Join(dir, fmt.Sprint(row.name, round))
			r, err := measure(ctx, row.name, o, filepath.Join(dir, "town.osm"))
			if err != nil {
				return fmt.Errorf("%s: %w", row.name, err)
			}
			all[row.name] = append(all[row.name], r)
			os.RemoveAll(o.job.dir)
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
	fmt.Printf("%d pages each, %d at a time, %d sites, pages of %s at least, %d rounds, %d CPUs\n\n",
		o.job.pages, o.job.workers, o.sites, o.pageSize, o.rounds, runtime.NumCPU())
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
	}
	return nil
}

// served is the line that "gazehound demo --serve-only --json" prints.
type served struct {
	Proxy, Town string
	Seeds       []string
}

// serve starts the made-up web.
func serve(ctx context.Context, o options, dir string) (*exec.Cmd, served, error) {
	var s served
	// A copy of the program serves the web: a process can keep out of memory only
	// those pages of its file that no other process uses.
	program := filepath.Join(dir, "gazehound")
	text, err := os.ReadFile(o.gazehound)
	if err == nil {
		err = os.WriteFile(program, text, 0o755)
	}
	if err != nil {
		return nil, s, fmt.Errorf("the made-up web needs a copy of %s: %w", o.gazehound, err)
	}
	web := exec.CommandContext(ctx, program, "demo", "--serve-only", "--json", "--calm", "--sites",
		strconv.Itoa(o.sites),
		"--page-size", o.pageSize, "--osm-out", filepath.Join(dir, "town.osm"), "--listed", "1")
	web.Cancel = func() error { return web.Process.Signal(syscall.SIGTERM) }
	web.Stderr = os.Stderr
	out, err := web.StdoutPipe()
	if err != nil {
		return nil, s, err
	}
	if err := web.Start(); err != nil {
		return nil, s, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		return nil, s, errors.Join(fmt.Errorf("the made-up web does not start: %w", err), web.Process.Kill(),
			web.Wait())
	}
	return web, s, nil
}

// measure runs one crawl in a process of its own.
func measure(ctx context.Context, name string, o options, extract string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Hour)
	defer cancel()
	seeds := strings.Join(o.job.seeds, "\n") + "\n"
	var cmd *exec.Cmd
	if name == "full" || name == "breadth" {
		init := exec.CommandContext(ctx, o.gazehound, "init", "--quiet", "--data", o.job.dir, "--osm", extract,
			"--region", "Demostadt")
		if out, err := init.CombinedOutput(); err != nil {
			return result{}, fmt.Errorf("%w: %s", err, out)
		}
		cmd = exec.CommandContext(ctx, o.gazehound, "crawl", "--quiet", "--json", "--data", o.job.dir,
			"--seeds", "-", "--proxy", o.job.proxy, "--delay", "0s", "--admin", "127.0.0.1:0",
			"--max-pages", strconv.Itoa(o.job.pages), "--workers", strconv.Itoa(o.job.workers))
		if name == "breadth" {
			cmd.Args = append(cmd.Args, "--strategy", "breadth-first")
		}
	} else {
		self, err := os.Executable()
		if err != nil {
			return result{}, err
		}
		cmd = exec.CommandContext(ctx, self, "-run", name, "-proxy", o.job.proxy, "-dir", o.job.dir,
			"-pages", strconv.Itoa(o.job.pages), "-workers", strconv.Itoa(o.job.workers))
	}
	cmd.Stdin = strings.NewReader(seeds)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("%w: %s", err, problems.String())
	}
	var r result
	last := out.Bytes()
	if i := bytes.LastIndexByte(bytes.TrimSpace(last), '\n'); i >= 0 {
		last = last[i+1:]
	}
	if err := json.Unmarshal(last, &r); err != nil && err != io.EOF {
		return r, fmt.Errorf("%s printed %q: %w", name, last, err)
	}
	if r.Pages == 0 {
		return r, fmt.Errorf("no page was fetched: %s", problems.String())
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	r.cpu = cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
	r.rss = usage.Maxrss * 1024
	fmt.Fprintf(os.Stderr, "%-7s %6d pages  %7.1f s  %7.0f pages/s  %5.2f CPU s per 1,000  %5.0f MB\n", name,
		r.Pages, r.Seconds, float64(r.Pages)/r.Seconds, r.cpu/float64(r.Pages)*1000, float64(r.rss)/1e6)
	return r, nil
}
