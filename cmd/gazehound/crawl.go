package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// crawlOptions are the flags that are no configuration keys.
type crawlOptions struct {
	seeds    []string
	replay   []string
	emit     []string
	trace    string
	fresh    bool
	newModel bool
	model    string // file or data directory with a trained model
	revisit  bool
	stay     time.Duration // time between revisit rounds of a crawl that does not end; 0: it ends
	dryRun   bool
	serve    string
	stats    time.Duration
	profile  string
	node     bool      // one of several
	leave    bool      // a node that gives its share up
	operator *operator // serves the admin listener's pages; nil: admin.listen does
}

func crawlHelp() string {
	return `Crawls for pages with addresses of the region. The same command resumes a crawl
that was stopped or killed or reached a limit. Ctrl-C finishes the pages that are being
fetched and saves; a second Ctrl-C stops at once.

--max-pages counts the downloaded HTML pages of the whole crawl, resumed runs
included; reaching the limit counts as success (exit 0).

--revisit visits pages again, each at its own interval (revisit.first, min and max
of the configuration), and marks what is gone. Revisits do not count towards
--max-pages. --stay repeats this for a crawl that runs for months: it does not end
when no link is left or --max-pages is reached.

--strategy chooses which links are followed, and in which order:
` + strategyHelp() + `
Exit status: 0 done or page limit, 3 disk full, 4 unusable input, 5 in use,
9 no seed could be downloaded, 10 no data, 11 stopped by a signal, 12 too many
failures, 13 second signal, 15 time limit, 16 disk reserve.

Examples:
  gazehound crawl --contact https://your-site.example/bot
  gazehound crawl --region "Irvine, CA" --replay archive/ --seeds seeds.txt --max-pages 1000 --json
  gazehound crawl --warc archive --max-pages 500
  gazehound crawl --revisit --max-time 8h
  gazehound crawl --stay 1h --max-pages 50000
  gazehound crawl --strategy trend --topics topics.yaml --examples shop.html --judge topic \
    --seed https://www.example.org/
  gazehound crawl --judge language --language th --seed https://www.example.co.th/ \
    --contact https://your-site.example/bot
  gazehound crawl --seed http://www.oldenburg.example/ --proxy http://127.0.0.1:8118 --delay 0s
`
}

func newCrawlCommand(a *app) *cobra.Command {
	var o crawlOptions
	cmd := command("crawl [URL…]", "Crawl the region, or resume its crawl", crawlHelp(), nil,
		func(ctx context.Context, args []string) error {
			o.seeds = append(o.seeds, args...)
			return a.crawl(ctx, o)
		})
	o.flags(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("fresh", "revisit")
	groupFlags(a, cmd, crawlHeadings(), "region", "seed", "seeds", "contact", "max-pages", "max-time", "delay",
		"workers", "strategy", "warc")
	return cmd
}

// crawlHeadings are the headings for the flags of a crawl.
func crawlHeadings() map[string]string {
	return map[string]string{"seed": "Input", "region": "Scope", "judge": "What is looked for",
		"strategy": "Order of the links", "contact": "Manners", "emit": "Output", "dry-run": "Trying"}
}

// flags defines the flags of a crawl, alone or as one of several nodes.
func (o *crawlOptions) flags(f *pflag.FlagSet) {
	add := func(keys ...string) { config.All().AddFlags(f, keys...) }
	f.StringArrayVar(&o.seeds, "seed", nil, "seed `URL` (repeatable)")
	add("seeds.files")
	f.StringArrayVar(&o.replay, "replay", nil, "fetch from this WARC `FILE|DIR` and not from the network (repeatable)")
	f.BoolVar(&o.fresh, "fresh", false, "delete the crawl and its index and start over; the model stays")
	f.BoolVar(&o.revisit, "revisit", false, "first revisit the pages that are due, relevant ones first; new links "+
		"come after them")
	f.DurationVar(&o.stay, "stay", 0, "keep running: revisit the pages that are due at this interval, such as 1h, "+
		"and crawl new links in between")
	f.BoolVar(&o.newModel, "new-model", false, "start with an untrained model")
	f.StringVar(&o.model, "model", "", "where the data directory has no model, start with the words that this one "+
		"has learned in another crawl: `FILE|DIR`")
	add("region.boundary", "crawl.max_pages", "crawl.max_time", "crawl.max_depth", "crawl.domain_levels",
		"crawl.max_pages_per_host", "crawl.max_pages_per_path", "crawl.selectivity", "crawl.patience",
		"crawl.include", "crawl.exclude", "crawl.country_domains", "crawl.content_languages", "crawl.exhaustive",
		"crawl.software", "crawl.platforms",
		"crawl.judge", "crawl.language", "crawl.language_by", "crawl.topic", "crawl.topics", "crawl.examples",
		"crawl.topic_share")
	strategyFlags(f)
	add("crawl.random_seed", "fetch.contact", "fetch.delay", "fetch.workers", "crawl.max_failures", "fetch.proxy",
		"fetch.render", "fetch.render_hosts", "fetch.render_share")
	f.StringSliceVar(&o.emit, "emit", nil, "`KINDS` of which each gets a JSON line: page, address or page,address; "+
		"implies --json")
	oneOf(f, "emit", []string{"page", "address"})
	f.StringVar(&o.serve, "serve", besideCrawl, "serve the search page while the crawl runs at this `ADDRESS`, or "+
		"off; where the default is in use, another port is taken")
	add("admin.listen", "warc.dir")
	f.StringVar(&o.trace, "record-trace", "", "record every visit with its links in this `FILE`, for \"simulate "+
		"orders --trace FILE\"")
	f.DurationVar(&o.stats, "stats", 30*time.Second, "time between status lines where there is no terminal")
	add("storage.memory")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be crawled; download nothing")
	f.StringVar(&o.profile, "cpu-profile", "", "write a CPU profile to this `FILE` (go tool pprof)")
	add("fetch.allow_private_addresses")
}

// strategyHelp describes the strategies, a paragraph for each.
func strategyHelp() string {
	var b strings.Builder
	for _, k := range order.Kinds {
		fmt.Fprintf(&b, "  %-17s %s\n", k.Name, strings.ReplaceAll(k.Help, "\n", "\n"+strings.Repeat(" ", 20)))
	}
	return b.String()
}

// orderKeys are the keys below crawl that order links, but for those of the topic.
var orderKeys = append([]string{"strategy"}, config.Keys(order.Settings{})...)

// strategyFlags defines the flags that order links.
func strategyFlags(f *pflag.FlagSet) {
	for _, key := range orderKeys {
		config.All().AddFlags(f, "crawl."+key)
	}
}

// orderMeta names what a crawl tree says of the flags of the crawl that orders its links.
const orderMeta = "order_flags"

// noteOrder stores in the crawl tree which flags order its links, for commands that read it.
func (a *app) noteOrder(f *frontier.Frontier, cfg *Config) error {
	o := cfg.Options
	for _, name := range []*string{&o.Crawl.Topics, &o.Crawl.Clickstream} { // the reader may be elsewhere
		if *name != "" {
			var err error
			*name, err = filepath.Abs(*name)
			if err != nil {
				return err
			}
		}
	}
	text, err := config.All().Given(a.flags, &o, "crawl", append([]string{"topics", "topic"}, orderKeys...)...)
	if err != nil {
		return err
	}
	return f.PutMeta(orderMeta, text)
}

// orderOf returns the configuration with the flags of the crawl that order its links.
func (a *app) orderOf(f *frontier.Frontier) (*Config, error) {
	text, err := f.Meta(orderMeta)
	if err != nil {
		return nil, err
	}
	return a.config(config.File{Name: "flags of the crawl", Text: text})
}

// recordedMeta names what a crawl tree says of a crawl that reads an archive and not the live web.
const recordedMeta = "recorded"

// noteWeb stores in a new crawl tree whether its web is a recorded one. A crawl goes on with the same web only: of the
// other one it would end the links that the archive lacks, and nobody would fetch them any more.
func noteWeb(f *frontier.Frontier, recorded bool) error {
	known, err := f.Meta(recordedMeta)
	begun := f.Totals().Visited > 0
	switch {
	case err != nil:
		return err
	case begun && recorded && known == nil:
		return fail(badInput, "this is a crawl of the live web, and --replay would drop its links that the archive "+
			"lacks. Crawl the archive in another folder (--data), or start over with --fresh")
	case begun && !recorded && known != nil:
		return fail(badInput, "this is a crawl of an archive, without the links that the archive lacked. --replay "+
			"goes on with it, --fresh starts over; \"gazehound replay\" makes one of the archive that keeps them")
	case recorded && !begun:
		return f.PutMeta(recordedMeta, []byte("true"))
	}
	return nil
}

// validate reports problems of the flags and how to fix them.
func (o *crawlOptions) validate() error {
	switch {
	case o.stats <= 0:
		return fail(badUsage, "--stats must be a positive duration, got %v", o.stats)
	case o.stay < 0 || o.stay > 0 && o.stay < time.Second:
		return fail(badUsage, "--stay must be a duration of a second or more, such as 1h, got %v", o.stay)
	case o.stay > 0 && o.node:
		return fail(badUsage, "--stay is for a crawl of one machine; start nodes again with --revisit")
	}
	return nil
}

// Causes of cancellation that end a run from outside of the crawl loop.
var (
	errSignal      = errors.New("stopped by a signal")
	errAsked       = errors.New("stopped on request")
	errTimeLimit   = errors.New("time limit reached")
	errDiskReserve = errors.New("disk reserve reached")
	errRound       = errors.New("the time of the round is over")
	errLent        = errors.New("another command needs the data directory")
)

// crawl runs a crawl, from flags to exit code. It has a further session after each command that
// borrowed the data directory.
func (a *app) crawl(ctx context.Context, o crawlOptions) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	a.json = a.json || len(o.emit) > 0
	stopProfile, err := startProfile(o.profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProfile()) }()
	for {
		err := a.crawlOnce(ctx, o)
		if !errors.Is(err, errLent) {
			return err
		}
		if err := a.untilReturned(ctx); err != nil {
			return err
		}
		o.fresh, o.newModel = false, false
	}
}

// crawlOnce runs one session. It returns errLent if another command borrows the data directory.
func (a *app) crawlOnce(ctx context.Context, o crawlOptions) (err error) {
	s := &session{a: a, p: project{a.data}, o: o}
	defer func() { err = errors.Join(err, s.close()) }()
	s.cfg, err = a.config()
	if err != nil {
		return err
	}
	err = s.prepare(ctx)
	if err != nil || s.judge == nil {
		return err
	}
	if o.dryRun {
		return a.dryRun(s.cfg, s.region.Name, s.seeds, s.f.Totals(), o.fresh)
	}
	err = s.openIndex()
	if err != nil {
		return err
	}
	err = s.build(ctx)
	if err != nil {
		return err
	}
	if o.leave {
		return s.leave(ctx)
	}
	err = s.start(ctx)
	if err != nil {
		return err
	}
	s.ended = s.run(ctx)
	err = errors.Join(s.rerank(context.WithoutCancel(ctx)), s.save(true))
	if err != nil && s.ended == nil {
		s.ended = err
	}
	if errors.Is(s.ended, errLent) {
		return errLent
	}
	return s.watch.finish(s.ended)
}

var dryRunText = textTemplate(`Would crawl {{.region}} with {{/**/ -}}
{{several .seeds "seed"}} on {{several .hosts "host"}}, {{.pace}}, {{/**/ -}}
strategy {{.strategy}}.
{{if and .pages .fresh}}Deletes a crawl of {{several .pages "page"}} and starts over.
{{else if .pages}}Resumes a crawl of {{several .pages "page"}}; {{several .queued "link"}} waiting.
{{end}}{{range .first}}  1.000 seed  {{.}}
{{end}}{{with .more}}  … {{count .}} more
{{end}}Nothing was downloaded.
`)

// dryRun prints the plan of a crawl, which goes on or is a fresh one.
func (a *app) dryRun(cfg *Config, region string, seeds []weburl.URL, t frontier.Totals, fresh bool) error {
	hosts := map[string]bool{}
	for _, u := range seeds {
		hosts[u.Host()] = true
	}
	pace := fmt.Sprintf("%d pages at a time", cfg.Fetch.Workers)
	if cfg.Fetch.Delay > 0 {
		pace = fmt.Sprintf("at most %.1f pages/s by politeness (%v a host, %d workers)",
			min(float64(len(hosts)), float64(cfg.Fetch.Workers))/cfg.Fetch.Delay.Seconds(), cfg.Fetch.Delay,
			cfg.Fetch.Workers)
	}
	first := seeds[:min(len(seeds), 20)]
	return a.show(fields{"type": "summary", "reason": "dry-run", "region": region, "seeds": len(seeds),
		"hosts": len(hosts), "queued": t.Queued, "pages": t.Pages, "exit_code": exitOK},
		dryRunText, fields{"region": region, "seeds": len(seeds), "hosts": len(hosts), "queued": t.Queued,
			"pages": t.Pages, "fresh": fresh, "pace": pace, "strategy": cfg.Crawl.Strategy, "first": first,
			"more": len(seeds) - len(first)})
}
