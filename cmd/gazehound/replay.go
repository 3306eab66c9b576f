package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/warc"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

const replayHelp = `Judges the pages of WARC files (plain or .gz; a folder means its files) again, in the
order in which they were recorded, with judge (the geoparser, or as in crawl), link
predictor and index, and compares every verdict with the recorded one. The result is a
data directory of its own (--into) for search, serve, retrain and crawl. It gets
gazetteer, region and configuration of --data, unless it has its own; a newer gazetteer
there shows what it would change.

Changed verdicts are listed in changed.csv in that directory. Files of other programs
have no verdicts to compare with; their pages are judged all the same. Of pages marked
noarchive, or with reserved rights to text and data mining, files have the verdict only:
it is kept, and such pages are in the crawl but not in its index.

Damage in a file costs the records that it touches; a warning names the file.

Exit status: 0 done, whether verdicts changed or not, 4 unusable file, 6 done, but damaged
records were left out, 10 no data, 11 stopped by a signal.

Examples:
  gazehound replay archive/*.warc.gz --into again
  gazehound replay archive --into thai --judge language --language th
  gazehound replay archive --into again --retrain --json | tail -1 | jq .verdicts_changed
`

// replayOptions are the flags of replay.
type replayOptions struct {
	into          string
	retrain, wacz bool
}

func newReplayCommand(a *app) *cobra.Command {
	var o replayOptions
	cmd := command("replay FILE|DIR…", "Judge recorded pages again and build a crawl from them; no network", replayHelp,
		nil, stoppable(func(ctx context.Context, args []string) error {
			switch {
			case len(args) == 0:
				return fail(badUsage, "replay needs WARC files, such as archive/*.warc.gz")
			case o.into == "":
				return fail(badUsage, "--into DIR says where the new crawl goes")
			}
			return a.replay(ctx, args, o)
		}))
	f := cmd.Flags()
	f.StringVar(&o.into, "into", "", "data `DIR` to make")
	addJudgeFlags(f)
	f.BoolVar(&o.retrain, "retrain", false, "train the link predictor on all pages at the end, not only "+
		"along the way")
	f.BoolVar(&o.wacz, "wacz", false, "the files are WACZ: zip files that hold WARC files")
	return cmd
}

// openRecorded opens WARC files and warns of what is damaged.
func (a *app) openRecorded(cfg *Config, wacz bool, names ...string) (*warc.Archive, error) {
	open := warc.Open
	if wacz {
		open = warc.OpenWACZ
	}
	archive, err := open(names...)
	if err != nil {
		return nil, invalid(err)
	}
	archive.MaxBody = int64(cfg.Fetch.MaxBody)
	for _, w := range archive.Stats().Warnings {
		a.warn("%s", oneLine(w))
	}
	return archive, nil
}

// lacking returns exit code 6 for an archive of which records are lost or files missing, of which
// warnings have told, and nil for others.
func lacking(archive *warc.Archive, missing int) error {
	if archive.Stats().Damaged+missing > 0 {
		return silentExit(answerNo)
	}
	return nil
}

// replay judges recorded pages again and builds a crawl from them.
func (a *app) replay(ctx context.Context, names []string, o replayOptions) (err error) {
	into := project{o.into}
	s := &session{a: a, p: into}
	defer func() { err = errors.Join(err, s.close()) }()
	s.cfg, err = a.config()
	if err != nil {
		return err
	}
	cfg := s.cfg
	archive, err := a.openRecorded(cfg, o.wacz, names...)
	if err != nil {
		return err
	}
	defer archive.Close()
	if fileExists(into.frontier()) {
		return fail(badInput, "%s holds a crawl, or what an interrupted replay left; --into must be a "+
			"new directory", into.dir)
	}
	if err := a.checkJudgeFlags(cfg); err != nil {
		return err
	}
	if cfg.Crawl.Judge == "addresses" && !fileExists(into.gazetteer()) {
		if err := a.needData(); err != nil {
			return err
		}
	}
	if err := into.borrow(project{a.data}); err != nil {
		return err
	}
	err = s.openJudge()
	if err != nil || s.judge == nil {
		return err
	}
	scope, err := newScope(cfg, crawlOptions{replay: names})
	if err != nil {
		return err
	}
	err = s.openFrontier(project{a.data}, true, nil)
	if err != nil {
		return err
	}
	err = s.openIndex()
	if err != nil {
		return err
	}
	s.learned.SiteWide = sitewide.New()
	began, r := time.Now(), crawler.Comparison{}
	c, err := s.replayer(ctx, scope)
	if err != nil {
		return err
	}
	err = c.Replay(ctx, s.f, r.Exchanges(ctx, archive, cfg.blocked.Has))
	if err := errors.Join(s.learned.Save(), r.WriteCSV(filepath.Join(into.dir, "changed.csv"))); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fail(interrupted, "stopped after %d responses; %s holds what was replayed until then", r.Responses,
			into.dir)
	}
	if err != nil {
		return err
	}
	if o.retrain {
		err := s.trainAnew(ctx, s.f, into.model())
		if err != nil {
			return err
		}
	}
	return cmp.Or(a.printReplayed(&r, time.Since(began), archive, into, s.f.Totals()), lacking(archive, 0))
}

// replayer returns the crawler that runs recorded pages from the judge to the open stores. Corrections
// overrule the judge.
func (s *session) replayer(ctx context.Context, scope *crawler.Scope) (*crawler.Crawler, error) {
	judge := crawler.NewLabelled(s.judge, s.f, s.strategy, s.corrections)
	_, err := judge.Load(ctx)
	if err != nil {
		return nil, err
	}
	o := s.cfg.CrawlerOptions()
	return &crawler.Crawler{
		Options: crawler.Options{Workers: runtime.GOMAXPROCS(0), MaxDepth: o.MaxDepth,
			DomainLevels: o.DomainLevels, Reservations: o.Reservations,
			Revisits: o.Revisits},
		Frontier: s.f, Gate: crawler.Open{}, Judge: judge, Strategy: s.strategy,
		Sinks: []crawler.Sink{newIndexSink(s.x, s.strategy)}, Scope: scope.Check,
		Traps: s.learned.Traps, SiteWide: s.learned.SiteWide, Report: s.a.warnOfPanic, Forgotten: s.cfg.blocked,
	}, nil
}

// trainAnew trains a model on all pages of a crawl tree and saves it in a file. If there is nothing to
// learn from, that is the model of the session.
func (s *session) trainAnew(ctx context.Context, f *frontier.Frontier, file string) error {
	model, _, err := predictor.Retrain(ctx, crawler.JudgedPages(ctx, f), nil, s.cfg.ModelOptions(), predictor.ByValue)
	if errors.Is(err, predictor.ErrNoExamples) {
		s.a.warn("%s; the model is the one that was learned along the way", oneLine(err.Error()))
		model = s.model
	} else if err != nil {
		return err
	}
	return (&crawler.Learned{Tree: f, Model: model, File: file}).Save()
}

// borrow copies what a crawl needs from another project unless p has it.
func (p project) borrow(from project) error {
	err := os.MkdirAll(p.dir, 0o755)
	if err != nil {
		return err
	}
	err = disk.CopyMissing(p.dir, from.dir, "config.yaml", "region.geojson", "seeds.txt", "LICENCES",
		"blocked.txt", "forgotten.log", "labels.tsv", corrections.FileName, "topic.txt")
	if err != nil {
		return err
	}
	if fileExists(p.gazetteer()) {
		return nil
	}
	if !fileExists(from.gazetteer()) {
		return nil
	}
	next := p.gazetteer() + ".new" // a killed replay leaves no half of a gazetteer
	err = errors.Join(os.RemoveAll(next), os.CopyFS(next, os.DirFS(from.gazetteer())))
	if err != nil {
		return err
	}
	return disk.ReplaceDir(next, p.gazetteer())
}

var replayText = textTemplate(`{{several .r.Responses "response"}}, {{/**/ -}}
{{several .r.Pages "page"}} at {{printf "%.0f" .rate}} a second, {{/**/ -}}
{{count .r.Relevant}} relevant ({{percent .r.Relevant .r.Pages}} %), {{several .t.Addresses "address"}}, {{/**/ -}}
{{several .t.Queued "link"}} waiting
{{with .r.NoCopy}}{{several . "page"}} may not be kept as a copy and stand as recorded.
{{end}}{{if not .r.Compared}}The files hold no verdicts to compare with.
{{else if or .r.Verdicts .r.Addresses}}{{/**/ -}}
Of {{several .r.Compared "page"}}, {{count .r.Verdicts}} changed the verdict {{/**/ -}}
and {{count .r.Addresses}} the addresses → {{.changed}}
{{else}}All {{several .r.Compared "verdict"}} are as recorded.
{{end}}`)

// printReplayed prints the result of a replay.
func (a *app) printReplayed(r *crawler.Comparison, duration time.Duration, archive *warc.Archive, into project,
	t frontier.Totals) error {
	s, code := archive.Stats(), codeOf(lacking(archive, 0))
	rate := float64(r.Pages) / max(duration.Seconds(), 1e-9)
	if r.Unusable > 0 && !a.json {
		a.warn("%s could not be used, first %s", several(r.Unusable, "response"), oneLine(r.FirstUnusable))
	}
	return a.show(fields{"type": "summary", "files": s.Files, "records": s.Records,
		"responses": r.Responses, "no_copy": r.NoCopy, "revisits": s.Revisits,
		"pages": r.Pages, "relevant": r.Relevant, "addresses": t.Addresses, "queued": t.Queued, "unusable": r.Unusable,
		"verdicts_compared": r.Compared, "verdicts_changed": r.Verdicts, "addresses_changed": r.Addresses,
		"pages_per_s": round(rate, 1), "duration_s": round(duration.Seconds(), 3), "data": into.dir,
		"damaged_files": s.Damaged, "exit_code": code},
		replayText, fields{"r": r, "t": t, "rate": rate, "changed": filepath.Join(into.dir, "changed.csv")})
}
