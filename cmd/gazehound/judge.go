package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gazehound/cmd/gazehound/config"
	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/predictor/topic"

	"github.com/spf13/pflag"
	"golang.org/x/text/language"
)

// addJudgeFlags adds the flags that choose what makes a page relevant.
func addJudgeFlags(f *pflag.FlagSet) {
	config.All().AddFlags(f, "crawl.judge", "region.boundary", "crawl.language", "crawl.language_by",
		"crawl.topic", "crawl.topics", "crawl.topic_share")
}

// checkJudgeFlags refuses a flag that belongs to another judge.
func (a *app) checkJudgeFlags(cfg *Config) error {
	for _, flag := range []struct{ name, judge string }{{"language", "language"}, {"language-by", "language"},
		{"topic", "topic"}, {"topic-share", "topic"}, {"region", "addresses"}} {
		trend := flag.name == "topic" && cfg.Crawl.Strategy == "trend"
		if a.flags.Changed(flag.name) && cfg.Crawl.Judge != flag.judge && !trend {
			return fail(badUsage, "--%s belongs to --judge %s, and the judge is %s", flag.name, flag.judge,
				cfg.Crawl.Judge)
		}
	}
	return nil
}

// openJudge returns the judge, which decides whether a page is relevant, and what the crawl is
// about: the project's region, or a language or topic, which need no gazetteer. The judge is nil if
// --region list only lists the regions.
func (a *app) openJudge(p project, cfg *Config) (j crawler.Judge, about *gazetteer.Region, g *gazetteer.Gazetteer,
	err error) {
	switch cfg.Crawl.Judge {
	case "language":
		code, err := languageOf(cfg.Crawl.Language)
		if err != nil {
			return nil, nil, nil, err
		}
		if by := cfg.Crawl.LanguageBy; by != "mixed" && code != "th" && code != "ja" {
			return nil, nil, nil, fail(badUsage, "--language-by %s recognises th and ja only, got --language %s; "+
				"mixed recognises others", by, code)
		}
		return crawler.Language{Code: code, By: cfg.Crawl.LanguageBy},
			&gazetteer.Region{Name: "pages in language " + code}, nil, nil
	case "topic":
		t, name, err := a.openTopicJudge(p, cfg)
		if err != nil {
			return nil, nil, nil, err
		}
		return t, &gazetteer.Region{Name: fmt.Sprintf("the topic %q", name)}, nil, nil
	}
	if p.dir == a.data {
		if err := a.needData(); err != nil {
			return nil, nil, nil, err
		}
	}
	g, err = p.openGazetteer()
	if err != nil {
		return nil, nil, nil, err
	}
	if cfg.Region.Boundary == listRegions {
		defer g.Close()
		return nil, nil, nil, a.printRegions(g, "")
	}
	region, err := p.openRegion(g, cfg.Region.Boundary)
	if err == nil {
		if cfg.Region.Name != "" {
			region.Name = cfg.Region.Name
		}
		j, err = newJudge(g, region, cfg)
	}
	if err != nil {
		g.Close()
		return nil, nil, nil, err
	}
	return j, region, g, nil
}

// openTopicJudge returns the judge by topic, of words or of a tree of topics.
func (a *app) openTopicJudge(p project, cfg *Config) (t crawler.Topic, name string, err error) {
	if cfg.Crawl.Topics == "" {
		t, name, err = crawler.NewTopic(cfg.Crawl.Topic, cfg.Crawl.TopicShare, cfg.Crawl.Options)
		if err != nil {
			err = invalid(err)
		}
		return t, name, err
	}
	judging := *cfg
	judging.Crawl.Collection = "topics" // a verdict must not depend on the order of the crawl
	c, err := openTopic(p, &judging)
	if err != nil {
		return t, "", err
	}
	return crawler.Topic{Topic: c.Okapi, Share: cfg.Crawl.TopicShare}, c.Path, nil
}

// languageOf checks a language code and returns its two letters.
func languageOf(code string) (string, error) {
	if code == "" {
		return "", fail(badInput, "judge language needs a language: crawl.language or --language th")
	}
	base, err := language.ParseBase(strings.ToLower(code))
	if err != nil || len(base.String()) != 2 {
		return "", fail(badInput, "--language must be an ISO 639-1 code, such as th, ja or de, got %q", code)
	}
	return base.String(), nil
}

// newJudge returns the judge by addresses in a region.
func newJudge(g *gazetteer.Gazetteer, region *gazetteer.Region, cfg *Config) (crawler.Judge, error) {
	parser, err := geoparse.New(g, region, geoparse.Options{MinPrecision: cfg.Gazetteer.MinPrecision,
		Persons: cfg.Policy.Persons == "keep", OnlyRelevant: true})
	if err != nil {
		return nil, invalid(err)
	}
	country := cfg.Region.Country
	if country == "" {
		country = region.Country
	}
	return crawler.Geo{Parser: parser, Country: country, Forgotten: cfg.blocked.HasAddress}, nil
}

// openTopic returns the topic of the crawl: crawl.topic, or the one that mapTopic stored.
func openTopic(p project, cfg *Config) (*topic.Chosen, error) {
	c, err := crawler.OpenTopic(cfg.Crawl.Topics, cfg.Crawl.Topic, p.topic(), cfg.Crawl.Options)
	return c, invalid(err)
}

// openOkapi returns the Okapi model that rates texts by the topic of the crawl.
func openOkapi(p project, cfg *Config) (*topic.Okapi, error) {
	c, err := openTopic(p, cfg)
	if err != nil {
		return nil, err
	}
	return c.Okapi, nil
}

// exampleReader returns a function that reads the text of an example page.
func exampleReader(cfg *Config) func(file string) (string, error) {
	return func(file string) (string, error) { return crawler.ReadExample(file, int64(cfg.Fetch.MaxBody)) }
}

// maxExamples bounds the example pages that choose a topic.
const maxExamples = 50

// mapTopic chooses the topic of a crawl by the example pages and stores it in the data directory,
// so that a resumed crawl keeps it. Example URLs are downloaded as politely as in a crawl.
func (a *app) mapTopic(ctx context.Context, p project, cfg *Config, o crawlOptions) error {
	k := cfg.Crawl
	dirs, examples := crawler.PlaceExamples(k.Examples)
	k.Examples = examples
	switch {
	case len(dirs) > 0 && (!o.node || cfg.Cluster.Partition != string(partition.Classification)):
		return fail(badUsage, "--examples %s is a directory, which only a node with --partition classification "+
			"takes", oneLine(dirs[0]))
	case k.Topics == "" && len(k.Examples) > 0:
		return fail(badUsage, "--examples choose one of several topics, and --topics names no file with them")
	case k.Topics == "":
		return nil
	case k.Strategy != "trend" && k.Judge != "topic":
		return fail(badUsage, "--topics belongs to --strategy trend and --judge topic, and they are %s and %s",
			k.Strategy, k.Judge)
	case len(k.Examples) > maxExamples:
		return fail(badUsage, "%d --examples; %d are enough", len(k.Examples), maxExamples)
	case k.Topic != "" || len(k.Examples) == 0 || fileExists(p.topic()) && !o.fresh:
		c, err := openTopic(p, cfg)
		if err != nil || o.dryRun {
			return err
		}
		return crawler.NoteTopic(p.topic(), c.Path, c.Added)
	}
	tree, err := crawler.ReadTopics(k.Topics)
	if err != nil {
		return invalid(err)
	}
	texts, urls, err := crawler.ReadExamples(k.Examples, int64(cfg.Fetch.MaxBody))
	if err != nil {
		return fail(badInput, "example: %w", err)
	}
	if len(urls) > 0 {
		switch {
		case o.dryRun:
			return fail(badUsage, "--dry-run downloads nothing, so it cannot find out which topic the examples "+
				"are about. Name it with --topic NAME")
		case o.node:
			return fail(badUsage, "a node does not download examples. Name the topic with --topic NAME, or "+
				"--examples with files")
		}
		found, err := a.fetchExamples(ctx, cfg, o, urls)
		if err != nil {
			return err
		}
		texts = append(texts, found...)
	}
	matches := tree.Map(texts...)
	if len(matches) == 0 {
		return fail(badInput, "the examples share no word with any topic of %s. Name the topic with "+
			"--topic NAME", k.Topics)
	}
	best := tree.Topics[matches[0].Topic].Path
	next := ""
	if len(matches) > 1 {
		next = fmt.Sprintf(", next %q (%.2f)", tree.Topics[matches[1].Topic].Path, matches[1].Score)
	}
	a.say("The examples are about %q (%.2f of 1)%s.", best, matches[0].Score, next)
	if o.dryRun && !fileExists(p.dir) {
		return fail(badUsage, "--dry-run stores nothing. Name the topic with --topic %q", best)
	}
	added := tree.Missing(k.TopicWords, texts...)
	if len(added) > 0 {
		a.say("Words of the examples that the topic tree lacked and now has: %s.", strings.Join(added, ", "))
	}
	return crawler.NoteTopic(p.topic(), best, added)
}

// fetchExamples downloads pages, then waits out the delays of their hosts, because the crawl begins
// after it.
func (a *app) fetchExamples(ctx context.Context, cfg *Config, o crawlOptions, urls []weburl.URL) ([]string, error) {
	a.say("Downloading %d example pages …", len(urls))
	var examples crawler.Examples
	hosts := map[string]bool{}
	err := a.visitOnly(ctx, cfg, o, &gazetteer.Region{Name: "a topic"}, urls, &examples, func(v *crawler.Visit) {
		hosts[v.Entry.URL.Host()] = true
		if v.Outcome.Kind == frontier.KindError || v.Outcome.Kind == frontier.KindSkipped {
			a.warn("example %s: %s", oneLine(v.Entry.URL.String()), v.Outcome.Reason)
		}
	}, func(ctx context.Context, web *web) {
		for host := range hosts {
			for wait := web.gate.Claim(host); wait > 0 && ctx.Err() == nil; wait = web.gate.Claim(host) {
				select {
				case <-ctx.Done():
				case <-time.After(min(wait, cfg.Fetch.MaxCrawlDelay+time.Millisecond)):
				}
			}
			web.gate.Visited(host, polite.Visit{NoRequest: true})
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(examples.Texts()) == 0:
		return nil, fail(crawlFailed, "no example page could be downloaded. Name the topic with --topic NAME")
	}
	return examples.Texts(), nil
}

// visitOnly visits pages by a crawl that follows no links and keeps nothing. At the end it calls
// then, unless that is nil.
func (a *app) visitOnly(ctx context.Context, cfg *Config, o crawlOptions, about *gazetteer.Region,
	urls []weburl.URL, judge crawler.Judge, report func(*crawler.Visit),
	then func(context.Context, *web)) error {
	web, err := a.openWeb(cfg, o, about, urls)
	if err != nil {
		return err
	}
	defer web.close()
	ctx, stop := signals(ctx)
	defer stop()
	c := &crawler.Crawler{
		Options: crawler.Options{Workers: min(cfg.Fetch.Workers, len(urls)), Retries: cfg.Fetch.Retries,
			RetryWait: cfg.RetryWait(), Reservations: cfg.Policy.TDM == "respect"},
		Fetcher: web.fetcher, Gate: web.gate, Judge: judge, Scope: web.scope.Check, Report: report,
	}
	err = c.VisitOnly(ctx, urls)
	if then != nil {
		then(ctx, web)
	}
	if ctx.Err() != nil {
		return fail(interrupted, "stopped by a signal")
	}
	return err
}

// topicSeeds adds the second-level seeds of the topic, if there is one: the
// example pages and those of the topic (equation 6).
func (a *app) topicSeeds(p project, cfg *Config, seeds []weburl.URL) ([]weburl.URL, error) {
	if cfg.Crawl.Topics == "" {
		return seeds, nil
	}
	c, err := openTopic(p, cfg)
	if err != nil {
		return nil, err
	}
	var users []string
	for _, example := range cfg.Crawl.Examples {
		if _, ok := crawler.ExampleURL(example); ok {
			users = append(users, example)
		}
	}
	for _, text := range c.Tree.Seeds(users, c.Number) {
		u, problem := a.parseSeed(cfg.Crawl.Topics, text)
		if problem != "" {
			a.warn("%s: example of %q: %s; left out", cfg.Crawl.Topics, c.Path, problem)
			continue
		}
		seeds = append(seeds, u)
	}
	return seeds, nil
}

// warnOfScales warns if the importance of strategy trend is as published and adds measures of different
// scales with equal weights.
func (a *app) warnOfScales(cfg *Config) {
	if k := cfg.Crawl; k.Importance == "published" && k.Alpha == k.Beta && k.Beta > 0 {
		a.warn("crawl.alpha and crawl.beta are both %v: with importance published they add Okapi, which is seldom "+
			"above 100, and seconds, which may be thousands. Choose them so that both have one scale", k.Alpha)
	}
}

// trendOptions fills in the inputs of strategy trend: the topic and the access logs. Logged pages
// on the seeds' sites become seeds.
func (a *app) trendOptions(p project, cfg *Config, seeds []weburl.URL, o *order.Options) error {
	k := cfg.Crawl
	if k.Topics != "" {
		var err error
		o.Topic, err = openOkapi(p, cfg)
		if err != nil {
			return err
		}
	}
	dir := cmp.Or(k.Clickstream, p.clickstream())
	clicks, err := order.ReadClicks(dir, seeds)
	switch {
	case errors.Is(err, fs.ErrNotExist) && k.Clickstream == "" && o.Topic != nil:
		a.say("No access log was imported: pages are ordered by the topic alone.")
		return nil
	case errors.Is(err, fs.ErrNotExist) && k.Clickstream == "":
		return fail(badInput, "strategy trend needs a topic (--topics FILE) or access logs (\"gazehound "+
			"clickstream import FILE --site URL\")")
	case errors.Is(err, fs.ErrNotExist):
		return fail(badInput, "%s holds no page importance. \"gazehound clickstream import\" makes it, in "+
			"clickstream of a data directory", dir)
	case err != nil:
		return invalid(err)
	}
	a.warnOfScales(cfg)
	o.Stay, o.Known = clicks.LR(o.Settings), clicks.Known
	if len(seeds) > 0 && len(clicks.Known) == 0 {
		a.warn("the access logs know %s pages, none of them on the sites of the seeds", count(clicks.Pages))
	}
	return nil
}
