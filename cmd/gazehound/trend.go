package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/polite"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/predictor/topic"
)

func readTopics(name string) (*topic.Tree, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fail(exitInvalidInput, "topics: %w", err)
	}
	defer f.Close()
	tree, err := topic.Read(f)
	if err != nil {
		return nil, fail(exitInvalidInput, "%s: %s", name, oneLine(err.Error()))
	}
	return tree, nil
}

// openTopic returns the topic of the crawl: crawl.topic, or the one that
// mapTopic has noted.
func openTopic(p project, cfg *Config) (*topic.Chosen, error) {
	tree, err := readTopics(cfg.Crawl.Topics)
	if err != nil {
		return nil, err
	}
	name, from := cfg.Crawl.Topic, "crawl.topic"
	if name == "" {
		noted, err := os.ReadFile(p.topic())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(exitInvalidInput, "no topic of %s is chosen: --topic NAME, or --examples with pages about it", cfg.Crawl.Topics)
		} else if err != nil {
			return nil, err
		}
		name, from = strings.TrimSpace(string(noted)), p.topic()
	}
	c, ok, err := tree.Choose(name)
	switch {
	case !ok:
		return nil, fail(exitInvalidInput, "%s: %s holds no topic %q.%s", from, cfg.Crawl.Topics, name, didYouMean(name, tree.Names()))
	case err != nil:
		return nil, fail(exitInvalidInput, "%w", err)
	}
	return c, nil
}

// placeExamples returns those of --examples that are directories: they hold
// example pages for each place, and the others choose a topic.
func placeExamples(examples []string) (dirs, others []string) {
	for _, e := range examples {
		if info, err := os.Stat(e); err == nil && info.IsDir() {
			dirs = append(dirs, e)
		} else {
			others = append(others, e)
		}
	}
	return dirs, others
}

// exampleReader returns what reads the text of an example page.
func exampleReader(cfg *Config) func(file string) (string, error) {
	return func(file string) (string, error) { return crawler.ReadExample(file, int64(cfg.Fetch.MaxBody)) }
}

// maxExamples bounds the pages that choose a topic.
const maxExamples = 50

// mapTopic chooses the topic of a crawl by the example pages and notes it in
// the data directory, so that the crawl goes on with it. Example URLs are
// downloaded, with all the manners of a crawl.
func (a *app) mapTopic(ctx context.Context, p project, cfg *Config, o crawlOptions) error {
	k := cfg.Crawl
	dirs, examples := placeExamples(k.Examples)
	k.Examples = examples
	switch {
	case len(dirs) > 0 && (!o.node || cfg.Cluster.Partition != string(partition.Classification)):
		return fail(exitUsage, "--examples %s is a directory, which only a node with --partition classification takes", oneLine(dirs[0]))
	case k.Topics == "" && len(k.Examples) > 0:
		return fail(exitUsage, "--examples choose one of several topics, and --topics names no file with them")
	case k.Topics == "":
		return nil
	case k.Strategy != "trend" && k.Judge != "topic":
		return fail(exitUsage, "--topics belongs to --strategy trend and --judge topic, and they are %s and %s", k.Strategy, k.Judge)
	case len(k.Examples) > maxExamples:
		return fail(exitUsage, "%d --examples; %d are enough", len(k.Examples), maxExamples)
	case k.Topic != "" || len(k.Examples) == 0 || fileExists(p.topic()) && !o.fresh:
		c, err := openTopic(p, cfg)
		if err != nil || o.dryRun {
			return err
		}
		return noteTopic(p, c.Path)
	}
	tree, err := readTopics(k.Topics)
	if err != nil {
		return err
	}
	var texts []string
	var urls []weburl.URL
	for _, example := range k.Examples {
		if u, ok := exampleURL(example); ok {
			urls = append(urls, u)
			continue
		}
		text, err := crawler.ReadExample(example, int64(cfg.Fetch.MaxBody))
		if err != nil {
			return fail(exitInvalidInput, "example: %w", err)
		}
		texts = append(texts, text)
	}
	if len(urls) > 0 {
		switch {
		case o.dryRun:
			return fail(exitUsage, "--dry-run downloads nothing, so it cannot tell which topic the examples are about. --topic NAME says it")
		case o.node:
			return fail(exitUsage, "a node does not download examples. --topic NAME says which topic it is, or --examples with files")
		}
		found, err := a.fetchExamples(ctx, cfg, o, urls)
		if err != nil {
			return err
		}
		texts = append(texts, found...)
	}
	matches := tree.Map(texts...)
	if len(matches) == 0 {
		return fail(exitInvalidInput, "the examples share no word with any topic of %s. --topic NAME says which it is", k.Topics)
	}
	best := tree.Topics[matches[0].Topic].Path
	next := ""
	if len(matches) > 1 {
		next = fmt.Sprintf(", next %q (%.2f)", tree.Topics[matches[1].Topic].Path, matches[1].Score)
	}
	a.say("The examples are about %q (%.2f of 1)%s.", best, matches[0].Score, next)
	if o.dryRun && !fileExists(p.dir) {
		return fail(exitUsage, "--dry-run notes nothing. --topic %q says which topic it is", best)
	}
	return noteTopic(p, best)
}

func noteTopic(p project, path string) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	return writeFile(p.topic(), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, path)
		return err
	})
}

// exampleURL returns the URL that an example is, if it is one and no file.
func exampleURL(example string) (weburl.URL, bool) {
	if !strings.Contains(example, "://") {
		return weburl.URL{}, false
	}
	u, err := weburl.Parse(example)
	return u, err == nil
}

// fetchExamples downloads pages, and waits until their hosts may be asked
// again, because another crawl begins after it.
func (a *app) fetchExamples(ctx context.Context, cfg *Config, o crawlOptions, urls []weburl.URL) ([]string, error) {
	a.say("Downloading %d example pages …", len(urls))
	var examples crawler.Examples
	hosts := map[string]bool{}
	err := a.visitOnly(ctx, cfg, o, &gazetteer.Region{Name: "a topic"}, urls, &examples, func(v *crawler.Visit) {
		hosts[v.Entry.URL.Host()] = true
		if v.Outcome.Kind == "error" || v.Outcome.Kind == "skipped" {
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
		return nil, fail(exitCrawlFailed, "no example page could be downloaded. --topic NAME says which topic it is")
	}
	return examples.Texts(), nil
}

// visitOnly visits pages by a crawl that follows no links and keeps nothing.
// After it, it calls then, if there is one.
func (a *app) visitOnly(ctx context.Context, cfg *Config, o crawlOptions, about *gazetteer.Region, urls []weburl.URL, judge crawler.Judge, report func(*crawler.Visit),
	then func(context.Context, *web)) error {
	web, err := a.openWeb(cfg, o, about, urls)
	if err != nil {
		return err
	}
	defer web.close()
	f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
	if err != nil {
		return err
	}
	defer f.Close()
	ctx, stop := signals(ctx)
	defer stop()
	c := &crawler.Crawler{
		Options:  crawler.Options{Workers: min(cfg.Fetch.Workers, len(urls)), Retries: cfg.Fetch.Retries, RetryWait: retryWait(cfg), Reservations: cfg.Policy.TDM == "respect"},
		Frontier: f, Fetcher: web.fetcher, Gate: web.gate, Judge: judge, Strategy: crawler.SeedsOnly{}, Scope: web.scope.Check, Report: report,
	}
	if _, err := c.Seed(ctx, urls); err != nil {
		return err
	}
	err = c.Run(ctx)
	if then != nil {
		then(ctx, web)
	}
	if ctx.Err() != nil {
		return fail(exitStopped, "stopped by a signal")
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
		if _, ok := exampleURL(example); ok {
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

// trendOptions fills in what strategy trend knows: the topic, and the access
// logs, of which the pages on the sites of the seeds are visited in any case.
func (a *app) trendOptions(p project, cfg *Config, seeds []weburl.URL, o *order.Options) error {
	k := cfg.Crawl
	if k.Topics != "" {
		c, err := openTopic(p, cfg)
		if err != nil {
			return err
		}
		o.Topic = c.Okapi
	}
	dir := cmp.Or(k.Clickstream, p.clickstream())
	clicks, err := order.ReadClicks(dir, seeds)
	switch {
	case errors.Is(err, fs.ErrNotExist) && k.Clickstream == "" && o.Topic != nil:
		a.say("No access log was imported: pages are ordered by the topic alone.")
		return nil
	case errors.Is(err, fs.ErrNotExist) && k.Clickstream == "":
		return fail(exitInvalidInput, "strategy trend needs a topic (--topics FILE) or access logs (\"gazehound clickstream import FILE --site URL\")")
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitInvalidInput, "%s holds no page importance. \"gazehound clickstream import\" makes it, in clickstream of a data directory", dir)
	case err != nil:
		return fail(exitInvalidInput, "%w", err)
	}
	o.Stay, o.Known = clicks.Stay, clicks.Known
	if len(seeds) > 0 && len(clicks.Known) == 0 {
		a.warn("the access logs know %s pages, none of them on the sites of the seeds", count(clicks.Pages))
	}
	return nil
}
