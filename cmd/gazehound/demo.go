package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor"
	"gazehound/crawler/weburl"
	"gazehound/internal/textutil"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	town          demo.Options
	pageSize      config.Size
	pages         int // that each strategy may fetch
	listen, serve string
	serveOnly     bool
	osmOut, truth string
}

// listedInFile is the share of house numbers in an extract written by --osm-out, so that a person
// can see what the map lacks.
const listedInFile = 0.7

// longestPage is how long a host of the town takes for a page at most.
const longestPage = 10 * time.Second

const demoHelp = `Serves a made-up town on loopback: hundreds of sites, portals, directories,
imprints, traps, slow and failing hosts, with its own OpenStreetMap extract and
its ground truth. Crawls it twice, breadth first and lookahead, with the same
seeds and the same number of pages, and prints what each of them found. All data
stay in the data directory (default gazehound-demo) for search, serve, retrain and
crawl.

Examples:
  gazehound demo
  gazehound demo --serve 127.0.0.1:8090
  gazehound demo --serve-only --listen 127.0.0.1:9900 --osm-out town.osm --truth truth.geojson
  gazehound demo --serve-only --listen 127.0.0.1:9900 --language th
`

func newDemoCommand(a *app) *cobra.Command {
	o := demoOptions{town: demo.DefaultOptions()}
	d := &o.town
	cmd := command("demo", "Crawl a made-up town on this machine; no network", demoHelp, noArgs,
		stoppable(func(ctx context.Context, args []string) error {
			if !a.dataGiven {
				a.data = "gazehound-demo"
			}
			if o.osmOut != "" && !a.flags.Changed("listed") {
				o.town.ListedHouses = listedInFile
			}
			return a.demo(ctx, o)
		}))
	f := cmd.Flags()
	f.Uint64Var(&d.Seed, "seed", d.Seed, "which town: the same number gives the same town")
	f.IntVar(&d.Sites, "sites", d.Sites, "hosts of its web")
	f.IntVar(&o.pages, "pages", 2000, "pages that each strategy may fetch")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` of the town: an HTTP proxy, also by Host "+
		"header and *.localhost")
	f.StringVar(&d.Domain, "domain", d.Domain, "what host names end in; with localhost they are reached without a "+
		"proxy")
	f.StringVar(&d.Language, "language", "", "another `CODE` that sites of the web are in beside German: th or ja, "+
		"in their old code pages and in UTF-8")
	f.StringVar(&o.serve, "serve", "", "keep the search page running at this `ADDRESS`, such as 127.0.0.1:8090")
	f.Var(&o.pageSize, "page-size", "fill each page up to this `SIZE`, such as 16kB, with filler text")
	f.Float64Var(&o.town.Mentions, "mentions", 0, "share of the filled pages that name the town without an address")
	f.BoolVar(&d.Calm, "calm", false, "no host is slow or fails")
	f.BoolVar(&o.serveOnly, "serve-only", false, "serve the town and crawl nothing")
	f.StringVar(&o.osmOut, "osm-out", "", "write the town's OpenStreetMap extract to this `FILE` (.osm)")
	f.Float64Var(&d.ListedHouses, "listed", d.ListedHouses,
		"share of its house numbers that the extract has; with --osm-out 0.7, so that there is something to find")
	f.StringVar(&o.truth, "truth", "", "write the town's ground truth to this `FILE` (GeoJSON)")
	cmd.MarkFlagsMutuallyExclusive("serve", "serve-only")
	return cmd
}

var townText = textTemplate(`The web of {{.town}} is at {{.proxy}} (an HTTP proxy; Ctrl-C ends it). Seeds:
{{range .seeds}}  {{.}}
{{end}}{{with .extract}}Next, in another terminal:
  gazehound init --data town-data --osm {{shell .}} --region {{$.town}} --contact {{$.proxy}}/bot
  gazehound crawl --data town-data --proxy {{$.proxy}} --delay 0s --max-pages 2000
{{end}}`)

// demo makes the town, crawls it and prints the results.
func (a *app) demo(ctx context.Context, o demoOptions) error {
	if ext := filepath.Ext(o.osmOut); ext == ".pbf" || ext == ".gz" {
		return fail(badUsage, "--osm-out writes OpenStreetMap XML, and %s names another format. Name it %s",
			o.osmOut, strings.TrimSuffix(strings.TrimSuffix(o.osmOut, ext), ".osm")+".osm")
	}
	ln, err := demo.Listen(o.listen)
	if err != nil {
		return fail(badUsage, "--listen: %w", err)
	}
	defer ln.Close()
	o.town.PageSize = int(min(o.pageSize, 1e9))
	if o.town.Domain == "localhost" {
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		o.town.Domain += ":" + port
	}
	town, err := demo.New(o.town)
	if err != nil {
		return fail(badUsage, "%w", err)
	}
	err = writeFile(o.osmOut, town.WriteOSM)
	if err != nil {
		return err
	}
	err = writeFile(o.truth, town.WriteTruth)
	if err != nil {
		return err
	}
	proxy := "http://" + ln.Addr().String()
	serving, stopServing := context.WithCancel(ctx)
	defer stopServing()
	var g errgroup.Group
	g.Go(func() error { return monitor.ServeHTTP(serving, ln, town, longestPage) })
	if o.serveOnly {
		seeds := urlTexts(town.Seeds())
		err := a.show(fields{"type": "serving", "proxy": proxy, "town": town.Name(), "seeds": seeds}, townText,
			fields{"town": town.Name(), "proxy": proxy, "seeds": seeds, "extract": o.osmOut})
		if err != nil {
			return err
		}
		return g.Wait()
	}
	err = a.compareOnDemo(ctx, town, proxy, o)
	stopServing()
	err = errors.Join(err, g.Wait())
	if err != nil {
		if ctx.Err() != nil {
			return fail(interrupted, "stopped; what was crawled is in %s", a.data)
		}
		return err
	}
	if o.serve == "" {
		return nil
	}
	return a.self(ctx, a.stdout, "serve", "--data", a.data, "--listen", o.serve)
}

// compareOnDemo crawls the town with both strategies and prints the result.
func (a *app) compareOnDemo(ctx context.Context, town *demo.Town, proxy string, o demoOptions) error {
	began := time.Now()
	stats := town.Stats()
	a.say("%s: a made-up town with %s and %s, %.1f %% of them with an address of the town", town.Name(),
		several(stats.Hosts, "site"), several(stats.Pages, "page"), 100*ratio(int64(stats.Relevant), int64(stats.Pages)))
	err := a.demoFolder()
	if err != nil {
		return err
	}
	extract, seeds := filepath.Join(a.data, "town.osm"), filepath.Join(a.data, "demo-seeds.txt")
	for name, write := range map[string]func(io.Writer) error{
		extract: town.WriteOSM, filepath.Join(a.data, "truth.geojson"): town.WriteTruth,
		seeds: func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(urlTexts(town.Seeds()), "\n")+"\n")
			return err
		},
	} {
		err := writeFile(name, write)
		if err != nil {
			return err
		}
	}
	admin, err := freeAddress(DefaultConfig().Admin.Listen)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	a.say("dashboard  http://%s/ of each crawl while it runs", admin)
	runs := []demoRun{{strategy: "breadth-first", data: filepath.Join(a.data, "breadth-first")},
		{strategy: "lookahead", data: a.data}}
	for i := range runs {
		r := &runs[i]
		if err := a.self(ctx, io.Discard, "init", "--quiet", "--force", "--data", r.data, "--osm", extract,
			"--region", town.Name()); err != nil {
			return err
		}
		args := []string{"crawl", "--data", r.data, "--seeds", seeds, "--proxy", proxy, "--delay", "0s",
			"--max-pages", strconv.Itoa(o.pages),
			"--strategy", r.strategy, "--workers", "8", "--emit", "page", "--quiet", "--admin", admin}
		a.say("  gazehound %s", textutil.ShellQuoteAll(args))
		var out bytes.Buffer
		if err := a.self(ctx, &out, args...); err != nil {
			return err
		}
		r.Crawl, err = town.ReadCrawl(&out)
		if err != nil {
			return err
		}
		r.Strategy = r.strategy
	}
	if !a.json {
		a.printDemo(runs, began)
		return nil
	}
	for _, r := range runs {
		a.printJSON(fields{"type": "crawl", "strategy": r.strategy, "pages": r.Pages, "relevant": r.Relevant,
			"harvest":   round(ratio(r.Relevant, r.Pages), 4),
			"addresses": r.Addresses, "curve": r.Curve,
			"verdicts":   map[string]any{"right": r.Right, "invented": r.Invented, "missed": r.Missed},
			"duration_s": round(r.Seconds, 3), "data": r.data})
	}
	gain := ratio(runs[1].Relevant, runs[1].Pages) / max(ratio(runs[0].Relevant, runs[0].Pages), 1e-9)
	return a.printJSON(fields{"type": "summary", "town": town.Name(), "harvest_ratio": round(gain, 2),
		"duration_s": round(time.Since(began).Seconds(), 3), "exit_code": exitOK})
}

// A demoRun is one crawl of the town.
type demoRun struct {
	strategy, data string
	demo.Crawl
}

// freeAddress returns the loopback address if it is free, else one with another port.
func freeAddress(address string) (string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
	}
	address = l.Addr().String()
	return address, l.Close()
}

var demoText = textTemplate(`
Look around (everything is in {{.data}}):
  {{.program}} serve{{.flag}}
      search page and map on http://127.0.0.1:8090/
  {{.program}} search{{.flag}} "bäckerei"
      the same in the terminal
  {{.program}} report{{.flag}} {{.first}}
      both crawls side by side
  {{.program}} model show{{.flag}}
      what the link predictor has learned
  {{.program}} export html{{.flag}} -o town.html
      list and map in one file
`)

// printDemo prints the comparison and what to do next.
func (a *app) printDemo(runs []demoRun, began time.Time) {
	var b strings.Builder
	demo.WriteComparison(&b, runs[0].Crawl, runs[1].Crawl, time.Since(began))
	a.print("%s%s", &b, text{demoText, fields{
		"program": calledAs(), "data": a.data,
		"flag":  " --data " + textutil.ShellQuote(a.data),
		"first": textutil.ShellQuote(runs[0].data),
	}})
}

// calledAs returns how to call this program: by its name alone if PATH finds it.
func calledAs() string {
	if _, err := exec.LookPath("gazehound"); err == nil {
		return "gazehound"
	}
	return textutil.ShellQuote(os.Args[0])
}

// demoFolder empties the data directory, unless something other than a demo made it.
func (a *app) demoFolder() error {
	entries, err := os.ReadDir(a.data)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fail(badInput, "demo: %w", err)
	}
	marker := filepath.Join(a.data, "town.osm")
	if len(entries) > 0 && !fileExists(marker) {
		return fail(badInput, "%s holds data that are not a demo's. Name another folder with --data", a.data)
	}
	err = os.RemoveAll(a.data)
	if err != nil {
		return err
	}
	return os.MkdirAll(a.data, 0o755)
}

// self runs a command as a user would type it.
func (a *app) self(ctx context.Context, stdout io.Writer, args ...string) error {
	var complaints bytes.Buffer
	stderr := io.Writer(&complaints)
	if stdout == a.stdout {
		stderr = a.Err
		if a.Format != "" {
			args = append(args, "--log-format", a.Format)
		}
	}
	switch code := run(ctx, args, a.stdin, stdout, stderr); {
	case code == exitOK:
		return nil
	case stderr == a.Err:
		return silentExit(kindOfCode(code))
	default:
		return fail(kindOfCode(code), "gazehound %s: %s", args[0], strings.TrimPrefix(strings.TrimSpace(complaints.String()),
			"error: "))
	}
}

func urlTexts(urls []weburl.URL) []string {
	var list []string
	for _, u := range urls {
		list = append(list, u.String())
	}
	return list
}
