package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gazehound/crawler"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/gazetteer/osm"
	"gazehound/internal/disk"

	"github.com/spf13/cobra"
)

const seedsHelp = `Seeds are the web addresses from which a crawl starts: seeds.txt in the data directory,
which init fills from the map and which may be edited. A resumed crawl queues new ones.

Examples:
  gazehound seeds import bookmarks.html overpass.json
  gazehound seeds check --network
`

func newSeedsCommand(a *app) *cobra.Command {
	return group("seeds", "Where a crawl starts: add, list and check seeds", seedsHelp, newSeedsImportCommand(a),
		newSeedsListCommand(a), newSeedsCheckCommand(a), newSeedsQueryCommand(a))
}

const seedsImportHelp = `Import finds web addresses in the files of other programs and adds new ones to
seeds.txt. It reads, whatever the file is called,
  JSON     Overpass, GeoJSON (All the Places), SPARQL results, listings of web
           archives: values of website, contact:website, url, homepage …
  tables   CSV with such a column, as Wikidata and town halls give them
  markup   bookmarks, OPML, sitemaps, feeds
  lines    the first address of each, also of CDX and CDXJ
"-" is standard input. Social networks, URL shorteners and the like are left out, as are
objects with coordinates outside of the region.

Examples:
  gazehound seeds import overpass.json
  gazehound seeds import listing.cdxj --host "*.oldenburg.de" --roots
`

// seedsImportOptions are the flags of seeds import.
type seedsImportOptions struct {
	hosts []string
	roots bool
}

func newSeedsImportCommand(a *app) *cobra.Command {
	var o seedsImportOptions
	cmd := command("import FILE…", "Import web addresses from files of other programs", seedsImportHelp,
		needArgs("a list to import"), func(ctx context.Context, args []string) error { return a.seedsImport(args, o) })
	f := cmd.Flags()
	f.StringArrayVar(&o.hosts, "host", nil, "only this `HOST`, or \"*.example.org\" with all below it (repeatable)")
	f.BoolVar(&o.roots, "roots", false, "take the front page of each host instead of its pages")
	return cmd
}

func (a *app) seedsImport(files []string, o seedsImportOptions) error {
	p, _, err := a.project()
	if err != nil {
		return err
	}
	region, err := gazetteer.ReadRegion(p.region())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return invalid(err)
	}
	known, err := a.ownSeeds(p)
	if err != nil && kindOf(err) != noData {
		return err
	}
	list := crawler.SeedImport{Hosts: o.hosts, Roots: o.roots, Clean: osm.CleanURL}
	if region != nil {
		list.Contains = region.Contains
	}
	list.Know(known)
	added := 0
	for _, name := range files {
		in, err := a.openInput("", name)
		if err != nil {
			return err
		}
		fresh, n, err := list.Read(name, in)
		in.Close() // read only
		if err != nil {
			return fail(badInput, "%s: read as %s: %w", name, n.Form, err)
		}
		added += n.New
		if n.New > 0 {
			lines := append([]string{"# web sites of " + oneLine(filepath.Base(name))}, urlTexts(fresh)...)
			err := disk.AppendLines(p.seeds(), 0o644, lines...)
			if err != nil {
				return fmt.Errorf("seeds: %w", err)
			}
		}
		err = a.tell(n, "%s\n", n)
		if err != nil {
			return err
		}
	}
	if added > 0 {
		a.say("%s has %s now. Next:  gazehound crawl%s", p.seeds(), several(len(known)+added, "seed"), a.dataFlag())
	}
	return nil
}

// ownSeeds returns the seeds of the project's own list.
func (a *app) ownSeeds(p project) ([]weburl.URL, error) {
	if !fileExists(p.seeds()) {
		return nil, fail(noData, "%s does not exist. \"gazehound init\" makes it, \"gazehound seeds import "+
			"FILE\" adds to it", p.seeds())
	}
	urls, _, err := a.seedFile(p.seeds())
	return urls, err
}

const seedsListHelp = `Examples:
  gazehound seeds list
  gazehound seeds list --json
`

func newSeedsListCommand(a *app) *cobra.Command {
	return command("list", "Print the seeds, each once", seedsListHelp, noArgs, a.seedsList)
}

func (a *app) seedsList(context.Context, []string) error {
	if err := a.needData(); err != nil {
		return err
	}
	urls, err := a.ownSeeds(project{a.data})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, u := range urls {
		if seen[u.Identity()] {
			continue
		}
		seen[u.Identity()] = true
		err := a.tell(fields{"type": "seed", "url": u.String(), "host": u.Host()}, "%s\n", u)
		if err != nil {
			return err
		}
	}
	return nil
}

const seedsCheckHelp = `Check lists seeds that are duplicates, forgotten (blocked.txt) or out of scope
(crawl.include and exclude, hosts). With --network it visits the first ones, as politely
as a crawl, and reports what robots.txt allows, where they redirect, and whether they
have addresses of the region. It follows no links and keeps nothing.

Exit status: 0 some are usable, 6 none is, 10 no data.

Examples:
  gazehound seeds check
  gazehound seeds check --network --limit 100
`

// seedsCheckOptions are the flags of seeds check.
type seedsCheckOptions struct {
	network bool
	limit   int
}

func newSeedsCheckCommand(a *app) *cobra.Command {
	var o seedsCheckOptions
	cmd := command("check", "Report unusable seeds", seedsCheckHelp, noArgs,
		func(ctx context.Context, args []string) error { return a.seedsCheck(ctx, o) })
	f := cmd.Flags()
	f.BoolVar(&o.network, "network", false, "visit them")
	f.IntVar(&o.limit, "limit", 20, "number of seeds whose page --network visits, 1 to 10,000")
	between(f, "limit", 1, 10_000)
	return cmd
}

// seedsCheck lists the seeds that a crawl could not use.
func (a *app) seedsCheck(ctx context.Context, o seedsCheckOptions) error {
	p, cfg, err := a.project()
	if err != nil {
		return err
	}
	urls, err := a.ownSeeds(p)
	if err != nil {
		return err
	}
	scope, err := newScope(cfg, crawlOptions{})
	if err != nil {
		return err
	}
	contactLater := cfg.Fetch.Contact == "" || cfg.ContactIsExample() // one of one's own may be set
	var usable []weburl.URL
	seen, hosts := map[string]bool{}, map[string]bool{}
	for _, u := range urls {
		state := ""
		if seen[u.Identity()] {
			state = "twice"
		} else if reason := scope.Check(u); reason != "" && !(reason == "out_of_scope" && contactLater) {
			state = reason
		}
		seen[u.Identity()] = true
		if state == "" {
			usable = append(usable, u)
			hosts[u.Host()] = true
			continue
		}
		err := a.printSeed(u, state, "")
		if err != nil {
			return err
		}
	}
	states := map[string]int{}
	if o.network && len(usable) > 0 {
		states, err = a.visitSeeds(ctx, p, cfg, usable[:min(o.limit, len(usable))])
		if err != nil {
			return err
		}
	}
	visited := ""
	for i, state := range slices.Sorted(maps.Keys(states)) {
		visited += map[bool]string{true: "; visited: ", false: ", "}[i == 0] + count(states[state]) + " " + state
	}
	err = a.tell(fields{"type": "summary", "seeds": len(urls), "usable": len(usable), "hosts": len(hosts),
		"visited": states},
		"%s, %s usable, on %s%s\n", several(len(urls), "seed"), count(len(usable)), several(len(hosts), "host"),
		visited)
	if err == nil && len(usable) == 0 {
		return silentExit(answerNo)
	}
	return err
}

var seedText = textTemplate(`{{printf "%-12s" .state}} {{.url}}{{with .detail}}  {{line .}}{{end}}
`)

// printSeed prints the state of a seed; more may be empty.
func (a *app) printSeed(u weburl.URL, state, more string) error {
	line := fields{"type": "seed", "url": u.String(), "host": u.Host(), "state": state, "detail": more}
	return a.show(line, seedText, line)
}

// visitSeeds fetches the seeds' pages, prints the outcome of each and counts the outcomes.
func (a *app) visitSeeds(ctx context.Context, p project, cfg *Config, urls []weburl.URL) (states map[string]int,
	err error) {
	judge, region, g, err := a.openJudge(p, cfg)
	if err != nil {
		return nil, err
	}
	if g != nil {
		defer g.Close()
	}
	states = map[string]int{}
	var failed error
	err = a.visitOnly(ctx, cfg, crawlOptions{}, region, urls, judge, func(v *crawler.Visit) {
		state, more := string(v.Outcome.Kind), v.Outcome.Reason
		switch {
		case v.Outcome.Relevant:
			state, more = "relevant", several(len(v.Outcome.Addresses), "address")
		case state == "page":
			more = "nothing of the region"
		case state == "redirect" && len(v.Found) > 0:
			more = "to " + v.Found[0].URL.String()
		}
		states[state]++
		failed = errors.Join(failed, a.printSeed(v.Entry.URL, state, more))
	}, nil)
	return states, errors.Join(err, failed)
}

const seedsQueryHelp = `Query prints a query for Overpass (https://overpass-turbo.eu/) or Wikidata
(https://query.wikidata.org/) that finds web sites of the region. Nothing is sent; "seeds
import" reads the result as JSON or CSV.

Examples:
  gazehound seeds query overpass
  gazehound seeds query wikidata > query.rq
`

func newSeedsQueryCommand(a *app) *cobra.Command {
	cmd := command("query overpass|wikidata", "Print a query that finds web sites of the region", seedsQueryHelp,
		cobra.MaximumNArgs(1), a.seedsQuery)
	cmd.ValidArgs = slices.Sorted(maps.Keys(gazetteer.SeedQueries))
	return cmd
}

func (a *app) seedsQuery(_ context.Context, args []string) error {
	names := slices.Sorted(maps.Keys(gazetteer.SeedQueries))
	if len(args) == 0 {
		return fail(badUsage, "seeds query takes one of %s", strings.Join(names, ", "))
	}
	query := gazetteer.SeedQueries[args[0]]
	if query == nil {
		return fail(badUsage, "seeds query takes one of %s, got %q.%s", strings.Join(names, ", "),
			oneLine(args[0]), didYouMean(args[0], names))
	}
	p, _, err := a.project()
	if err != nil {
		return err
	}
	region, err := gazetteer.ReadRegion(p.region())
	if errors.Is(err, fs.ErrNotExist) {
		return fail(noData, "%s does not exist. \"gazehound init\" makes it", p.region())
	} else if err != nil {
		return invalid(err)
	}
	if len(region.Area) == 0 {
		return fail(badInput, "the region %s has no outline to query; name its box with \"gazehound init "+
			"--force --region minLon,minLat,maxLon,maxLat\"", region.Name)
	}
	return a.tell(fields{"type": "query", "for": args[0], "query": query(region)}, "%s", query(region))
}

// readSeeds reads start URLs, one per line; "#" starts a comment. Invalid lines cause warnings and
// are counted.
func (a *app) readSeeds(name string, r io.Reader) (urls []weburl.URL, skipped int, err error) {
	err = weburl.ReadTyped(r, func(n int, text string) {
		u, problem := a.parseSeed(fmt.Sprintf("%s:%d", name, n), text)
		if problem != "" {
			a.warn("%s:%d: %s; line skipped", name, n, problem)
			skipped++
			return
		}
		urls = append(urls, u)
	})
	if err != nil {
		return nil, 0, fail(badInput, "seeds: %s: %w", name, err)
	}
	return urls, skipped, nil
}

// parseSeed returns the URL of one seed, or what is wrong with it.
func (a *app) parseSeed(where, text string) (u weburl.URL, problem string) {
	u, guessed, problem := weburl.ParseTyped(text)
	if guessed {
		a.warn("%s: %.80q has no scheme; using https://%.80s", where, text, oneLine(text))
	}
	return u, oneLine(problem)
}

// seeds collects the start URLs: flags and arguments first, then files, then the project's own
// list, then those of the topic. Forgotten URLs are left out.
func (a *app) seeds(p project, cfg *Config, o crawlOptions) ([]weburl.URL, error) {
	var urls []weburl.URL
	skipped := 0
	for _, text := range o.seeds {
		u, problem := a.parseSeed("--seed", text)
		if problem != "" {
			return nil, fail(badInput, "--seed %s", problem)
		}
		urls = append(urls, u)
	}
	files := cfg.Seeds.Files
	if len(files) == 0 && len(urls) == 0 {
		if _, err := os.Stat(p.seeds()); err == nil {
			files = []string{p.seeds()}
		}
	}
	for _, name := range files {
		found, bad, err := a.seedFile(name)
		if err != nil {
			return nil, err
		}
		urls, skipped = append(urls, found...), skipped+bad
	}
	if len(urls) == 0 && (len(cfg.Seeds.Files) > 0 || skipped > 0) { // the project's own list may be empty
		return nil, fail(badInput, "no usable seed in %s (%d lines skipped)", strings.Join(files, ", "),
			skipped)
	}
	urls, err := a.topicSeeds(p, cfg, urls)
	if err != nil {
		return nil, err
	}
	given := len(urls)
	urls = slices.DeleteFunc(urls, cfg.blocked.Has)
	if len(urls) < given {
		a.warn("%d of %d seeds were forgotten (blocked.txt) and are left out", given-len(urls), given)
	}
	return urls, nil
}

// seedFile reads a file of seeds; - is standard input.
func (a *app) seedFile(name string) (urls []weburl.URL, bad int, err error) {
	file, err := a.openInput("seeds", name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	return a.readSeeds(name, file)
}
