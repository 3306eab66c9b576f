package main

import (
	"fmt"
	"os"
	"strings"

	"gazehound/crawler"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/internal/config"
	"gazehound/predictor/topic"

	"github.com/spf13/pflag"
	"golang.org/x/text/language"
)

// addJudgeFlags adds the flags that say what makes a page relevant.
func addJudgeFlags(f *pflag.FlagSet) {
	config.All().AddFlags(f, "crawl.judge", "region.boundary", "crawl.language", "crawl.topic", "crawl.topics", "crawl.topic_share")
}

// checkJudgeFlags refuses a flag that belongs to another judge.
func (a *app) checkJudgeFlags(cfg *Config) error {
	for _, flag := range []struct{ name, judge string }{{"language", "language"}, {"topic", "topic"}, {"topic-share", "topic"}, {"region", "addresses"}} {
		trend := flag.name == "topic" && cfg.Crawl.Strategy == "trend"
		if a.flags.Changed(flag.name) && cfg.Crawl.Judge != flag.judge && !trend {
			return fail(exitUsage, "--%s belongs to --judge %s, and the judge is %s", flag.name, flag.judge, cfg.Crawl.Judge)
		}
	}
	return nil
}

// openJudge returns what decides whether a page is relevant, and what the crawl
// is about: the project's region, or a language or topic, which need no
// gazetteer and have none. The judge is nil where the regions were only to be
// listed.
func (a *app) openJudge(p project, cfg *Config) (j crawler.Judge, about *gazetteer.Region, g *gazetteer.Gazetteer, err error) {
	switch cfg.Crawl.Judge {
	case "language":
		code, err := languageOf(cfg.Crawl.Language)
		if err != nil {
			return nil, nil, nil, err
		}
		return crawler.Language{Code: code}, &gazetteer.Region{Name: "pages in language " + code}, nil, os.MkdirAll(p.dir, 0o755)
	case "topic":
		if cfg.Crawl.Topics != "" {
			c, err := openTopic(p, cfg)
			if err != nil {
				return nil, nil, nil, err
			}
			return crawler.Topic{Topic: c.Okapi, Share: cfg.Crawl.TopicShare}, &gazetteer.Region{Name: fmt.Sprintf("the topic %q", c.Path)}, nil, os.MkdirAll(p.dir, 0o755)
		}
		words := topic.Words(cfg.Crawl.Topic)
		if len(words) == 0 {
			return nil, nil, nil, fail(exitInvalidInput, "judge topic needs words that describe the topic: crawl.topic or --topic \"bicycle repair\", or a tree of topics: --topics FILE")
		}
		okapi, err := topic.NewOkapi(words)
		if err != nil {
			return nil, nil, nil, fail(exitInvalidInput, "%w", err)
		}
		name := fmt.Sprintf("the topic %q", strings.Join(words[:min(len(words), 20)], " "))
		return crawler.Topic{Topic: okapi, Share: cfg.Crawl.TopicShare}, &gazetteer.Region{Name: name}, nil, os.MkdirAll(p.dir, 0o755)
	}
	if p.dir == a.data {
		if err := a.needData(); err != nil {
			return nil, nil, nil, err
		}
	}
	if g, err = p.openGazetteer(); err != nil {
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

// languageOf checks a language code and returns its two letters.
func languageOf(code string) (string, error) {
	if code == "" {
		return "", fail(exitInvalidInput, "judge language needs a language: crawl.language or --language th")
	}
	base, err := language.ParseBase(strings.ToLower(code))
	if err != nil || len(base.String()) != 2 {
		return "", fail(exitInvalidInput, "--language wants an ISO 639-1 code, such as th, ja or de, got %q", code)
	}
	return base.String(), nil
}

// newJudge returns the judge by addresses in a region.
func newJudge(g *gazetteer.Gazetteer, region *gazetteer.Region, cfg *Config) (crawler.Judge, error) {
	parser, err := geoparse.New(g, region, geoparse.Options{MinPrecision: cfg.Gazetteer.MinPrecision, Persons: cfg.Policy.Persons == "keep"})
	if err != nil {
		return nil, fail(exitInvalidInput, "%w", err)
	}
	country := cfg.Region.Country
	if country == "" {
		country = region.Country
	}
	return crawler.Geo{Parser: parser, Country: country, Forgotten: cfg.blocked.HasAddress()}, nil
}
