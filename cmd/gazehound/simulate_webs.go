package main

import (
	"context"
	"os"
	"path/filepath"

	"gazehound/crawler/lab/sim"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"

	"github.com/spf13/cobra"
)

// simulatedWebsHelp describes the webs that the commands below simulate take.
const simulatedWebsHelp = `The webs are
  --trace FILE  what "crawl --record-trace FILE" wrote: pages, labels, all links
  --warc FILE   recorded pages, with --seeds; --labels says which are relevant, or else
                the geoparser does, with the data directory's gazetteer and region;
                --merged-seeds rates each page by Okapi for the pages of all seeds, merged
                into one document, and "relevancy" is the mean of the pages that were fetched
                (Ahmadi-Abkenari & Selamat 2010, section 9)
  --demo SPEC   a made-up town; "default" or, separated by commas, of: sites, pages (of
                a site), seed, hints, locality, bridges, bridge-length, far-seeds, near-seeds,
                finite (1: no traps, so that --pages 0 ends),
                language (th or ja, of a share of sites beside German), foreign (that share),
                language-locality (share of links between sites that stay in their language);
                with --judge language its pages are what is relevant
`

// simulatedSeveralHelp describes the flags of commands that take several webs.
const simulatedSeveralHelp = `
Several webs may be given. --webs makes several towns, with --varied of twelve kinds in turn:
far seeds, few hints, long bridges, wrong labels …

--readers "default" simulates people who read the made-up town: links to some pages are
removed, some hosts keep access logs, which trend reads, and all strategies get the home
pages of these hosts as further seeds. Or, separated by commas: visits (sessions per page),
logs (share of hosts with logs), unlinked (share of pages that nothing links to), bias (how
many times more people look at relevant pages), important (share of relevant pages that
are important), taste (0 to 1: how far the readers who decide what is important differ
from those in the logs), seed. Important pages are those on which people stay longest
after the logs end.
`

// simulatedWebs says which webs are crawled.
type simulatedWebs struct {
	traces  []string
	warc    []string
	seeds   []string
	labels  string
	merged  bool
	demo    string
	webs    int // made-up towns
	varied  bool
	readers string
}

// flags adds the flags of one web, or of several.
func (o *simulatedWebs) flags(cmd *cobra.Command, several bool) {
	f := cmd.Flags()
	f.StringArrayVar(&o.traces, "trace", nil, "the web of this trace `FILE` (repeatable)")
	f.StringArrayVar(&o.warc, "warc", nil, "the web of this WARC `FILE|DIR` (repeatable)")
	f.StringVar(&o.demo, "demo", "", "a made-up town: `SPEC`")
	f.StringArrayVar(&o.seeds, "seeds", nil, "`FILE` with seed URLs, one per line; also in place of a trace's own "+
		"(repeatable)")
	f.StringVar(&o.labels, "labels", "", "`FILE` of lines URL, tab, 1 or 0; FILE:COLUMN names a column of its first "+
		"line")
	addJudgeFlags(f)
	f.BoolVar(&o.merged, "merged-seeds", false,
		"with --warc: how well fetched pages fit the seeds' pages, merged into one document")
	needs(f, "seeds", "trace", "warc")
	needs(f, "labels", "warc")
	needs(f, "merged-seeds", "warc")
	for _, judge := range []string{"judge", "language", "language-by"} {
		cmd.MarkFlagsMutuallyExclusive("labels", judge)
	}
	o.webs = 1
	if !several {
		cmd.MarkFlagsMutuallyExclusive("trace", "warc", "demo")
		return
	}
	f.IntVar(&o.webs, "webs", 1, "number of made-up towns, each with another seed")
	between(f, "webs", 1, 1e9)
	f.BoolVar(&o.varied, "varied", false, "each made-up town has other settings, twelve kinds in turn")
	f.StringVar(&o.readers, "readers", "", "people read the made-up town, and strategy trend knows their access "+
		"logs: `SPEC`")
	needs(f, "webs", "demo")
	needs(f, "varied", "demo")
	needs(f, "readers", "demo")
	cmd.MarkFlagsOneRequired("trace", "warc", "demo")
}

// given reports whether there is a web.
func (o *simulatedWebs) given() bool { return len(o.traces)+len(o.warc) > 0 || o.demo != "" }

// judgeGiven reports whether a flag names the judge.
func (a *app) judgeGiven() bool {
	return a.flags.Changed("judge") || a.flags.Changed("language") || a.flags.Changed("language-by")
}

// checkWebs refuses a configuration that does not fit the webs.
func (a *app) checkWebs(o simulatedWebs, cfg *Config) error {
	traces := len(o.traces) > 0
	switch judge := cfg.Crawl.Judge; {
	case o.demo != "" && a.flags.Changed("language") && judge != "language":
		return fail(badUsage, "--language belongs to --judge language, and the judge is %s; the languages of a "+
			"made-up web say --demo language=th", judge)
	case o.demo != "" && a.flags.Changed("judge") && judge == "topic":
		return fail(badUsage, "--judge topic does not fit a made-up web: its pages are about addresses or in a "+
			"language")
	case traces && a.judgeGiven() && judge != "language":
		return fail(badUsage, "--judge %s does not work on a trace, which has no texts: only --judge language does",
			judge)
	case traces && cfg.Crawl.Topics != "" && cfg.Crawl.Collection == "crawled":
		return fail(badUsage, "okapi_collection crawled does not work on a trace, which has no texts")
	}
	return nil
}

// webOpener returns how many webs there are, and what opens them by their numbers: traces, then
// recorded pages, then made-up towns. A crawl visits so many pages of each, 0 is all.
func (a *app) webOpener(ctx context.Context, o simulatedWebs, pages int, cfg *Config) (webs int,
	open func(i int) (*sim.Web, error), err error) {
	if err := a.checkWebs(o, cfg); err != nil {
		return 0, nil, err
	}
	var openers []func() (*sim.Web, error)
	for _, file := range o.traces {
		openers = append(openers, func() (*sim.Web, error) { return a.traceWeb(ctx, file, o.seeds, cfg) })
	}
	if len(o.warc) > 0 {
		openers = append(openers, func() (*sim.Web, error) { return a.warcWeb(ctx, o, cfg) })
	}
	if o.demo != "" {
		town, err := a.townOpener(ctx, o, pages, cfg)
		if err != nil {
			return 0, nil, err
		}
		for i := range o.webs {
			openers = append(openers, func() (*sim.Web, error) { return town(i) })
		}
	}
	return len(openers), func(i int) (*sim.Web, error) { return openers[i]() }, nil
}

// oneWeb opens the only web.
func (a *app) oneWeb(ctx context.Context, o simulatedWebs, pages int, cfg *Config) (*sim.Web, error) {
	webs, open, err := a.webOpener(ctx, o, pages, cfg)
	if err != nil {
		return nil, err
	}
	if webs != 1 {
		return nil, fail(badUsage, "it takes one web, got %d traces", webs)
	}
	return open(0)
}

// townOpener returns what opens the made-up towns by their numbers.
func (a *app) townOpener(ctx context.Context, o simulatedWebs, pages int, cfg *Config) (
	open func(i int) (*sim.Web, error), err error) {
	towns := sim.Towns{Varied: o.varied}
	if cfg.Crawl.Judge == "language" {
		towns.Language, err = languageOf(cfg.Crawl.Language)
		if err != nil {
			return nil, err
		}
	}
	err = towns.Parse(o.demo, o.readers, pages)
	if err != nil {
		return nil, fail(badUsage, "%w", err)
	}
	return func(i int) (*sim.Web, error) {
		w, lines, err := towns.Open(ctx, i)
		if err == nil && o.readers != "" {
			all, unlinked := w.Important()
			a.say("  %s lines of logs name %s pages; of %d important pages nothing links to %d", count(lines),
				count(w.Clicks.Pages), all, unlinked)
		}
		return w, err
	}, nil
}

// traceWeb reads a trace file.
func (a *app) traceWeb(ctx context.Context, file string, seedFiles []string, cfg *Config) (*sim.Web, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fail(badInput, "--trace: %w", err)
	}
	if info.IsDir() {
		return nil, fail(badInput, "--trace %s is a folder, want a file. \"gazehound crawl --record-trace FILE\" "+
			"writes one", file)
	}
	var label sim.Labeller
	if a.judgeGiven() {
		judge, _, _, err := a.openJudge(project{a.data}, cfg)
		if err != nil {
			return nil, err
		}
		label = sim.LabelBy(ctx, judge)
	}
	w, warnings, err := sim.OpenTrace(file, label)
	if err != nil {
		return nil, invalid(err)
	}
	for _, warning := range warnings {
		a.warn("%s", oneLine(warning))
	}
	if len(seedFiles) == 0 {
		return w, nil
	}
	seeds, err := a.simulatedSeeds(seedFiles)
	if err != nil {
		return nil, err
	}
	w.StartFrom(seeds)
	return w, nil
}

// simulatedSeeds reads files of seeds, which must have one.
func (a *app) simulatedSeeds(files []string) ([]weburl.URL, error) {
	var seeds []weburl.URL
	for _, name := range files {
		found, _, err := a.seedFile(name)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, found...)
	}
	if len(seeds) == 0 {
		return nil, fail(badInput, "no seed. --seeds FILE says where recorded pages are to be crawled from")
	}
	return seeds, nil
}

// warcWeb reads WARC files. --labels decide what is relevant, or else the geoparser.
func (a *app) warcWeb(ctx context.Context, o simulatedWebs, cfg *Config) (*sim.Web, error) {
	seeds, err := a.simulatedSeeds(o.seeds)
	if err != nil {
		return nil, err
	}
	archive, err := a.openRecorded(cfg, false, o.warc...)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	var label sim.Labeller
	var region *gazetteer.Region
	if o.labels != "" {
		labels, err := sim.ReadLabels(o.labels)
		if err != nil {
			return nil, fail(badInput, "--labels: %w", err)
		}
		label = labels.Label
	} else {
		judge, of, places, err := a.openJudge(project{a.data}, cfg)
		if err != nil || judge == nil {
			return nil, err
		}
		if places != nil {
			defer places.Close()
		}
		label, region = sim.LabelBy(ctx, judge), of
	}
	if cfg.Crawl.Topics != "" && cfg.Crawl.Collection == "crawled" {
		label = sim.WithText(label)
	}
	if o.merged {
		okapi, err := sim.MergeSeeds(ctx, archive, seeds, cfg.Crawl.Options)
		if err != nil {
			return nil, invalid(err)
		}
		label = sim.Rated(label, okapi)
	}
	w, err := sim.FromWARC(ctx, filepath.Base(o.warc[0]), archive, seeds, label)
	if err != nil {
		return nil, err
	}
	w.Region = region.Names()
	return w, nil
}

// describeWeb says how large a web is, and how its relevant pages are linked.
func (a *app) describeWeb(w *sim.Web) {
	a.say("%s: %s and %s relevant ones can be reached from %s, the first of them %s away", oneLine(w.Name),
		several(w.Pages(), "page"), count(w.Relevant()), several(len(w.Seeds), "seed"), several(w.Nearest(), "link"))
	l := w.Locality()
	a.say("  %.1f %% of the links on relevant pages lead to relevant ones, %.1f %% of those on others; %.1f %% of "+
		"the links to relevant pages come from relevant ones", 100*l.Relevant, 100*l.Others, 100*l.From)
}
