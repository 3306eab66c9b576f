package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order/sitewide"
	"gazehound/crawler/warc"
	"gazehound/internal/disk"
	"gazehound/internal/forget"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

func newReplayCommand(a *app) *cobra.Command {
	var into string
	var retrain, wacz bool
	cmd := &cobra.Command{
		Use:   "replay FILE|DIR…",
		Short: "Judge recorded pages again and build a crawl from them; no network",
		Long: `Takes the pages of WARC files (plain or .gz; a folder means those in it) through
judge (the geoparser, or as in crawl), link predictor and index, in the order in which they were recorded,
and compares every verdict with the recorded one. The result is a data directory
of its own (--into): search, serve, retrain and crawl can go on with it. It gets
gazetteer, region and configuration of --data, unless it has its own; a newer
gazetteer there shows what it would change.

Verdicts that changed are listed in changed.csv in that directory. Files of other
programs hold no verdicts to compare with; their pages are judged all the same.
Of pages that say noarchive, or reserve their rights to text and data mining, files
hold the verdict only; it stands, and such pages are in the crawl but not in its index.

Exit status: 0 done, whether verdicts changed or not, 4 unusable file, 10 no data,
11 stopped by a signal.`,
		Example: `  gazehound replay archive/*.warc.gz --into again
  gazehound replay archive --into thai --judge language --language th
  gazehound replay archive --into again --retrain --json | tail -1 | jq .verdicts_changed`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail(exitUsage, "replay needs WARC files, such as archive/*.warc.gz")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if into == "" {
				return fail(exitUsage, "--into DIR says where the new crawl goes")
			}
			return a.replay(cmd.Context(), args, wacz, project{into}, retrain)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&into, "into", "", "data `DIR` to make")
	addJudgeFlags(cmd.Flags())
	cmd.Flags().BoolVar(&retrain, "retrain", false, "train the link predictor on all pages at the end, not only along the way")
	cmd.Flags().BoolVar(&wacz, "wacz", false, "the files are WACZ: zip files that hold WARC files")
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
		return nil, fail(exitInvalidInput, "%w", err)
	}
	archive.MaxBody = int64(cfg.Fetch.MaxBody)
	for _, w := range archive.Stats().Warnings {
		a.warn("%s", oneLine(w))
	}
	return archive, nil
}

// replay judges recorded pages again and builds a crawl from them.
func (a *app) replay(ctx context.Context, names []string, wacz bool, into project, retrain bool) (err error) {
	ctx, stop := signals(ctx)
	defer stop()
	cfg, err := a.config()
	if err != nil {
		return err
	}
	archive, err := a.openRecorded(cfg, wacz, names...)
	if err != nil {
		return err
	}
	defer archive.Close()
	if fileExists(into.frontier()) {
		return fail(exitInvalidInput, "%s holds a crawl; --into wants a new directory", into.dir)
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
	judge, region, places, err := a.openJudge(into, cfg)
	if err != nil || judge == nil {
		return err
	}
	if places != nil {
		defer places.Close()
	}
	scope, err := newScope(cfg, crawlOptions{replay: names})
	if err != nil {
		return err
	}
	model, err := openModel(into, cfg, true)
	if err != nil {
		return err
	}
	strategy, err := a.newOrder(project{a.data}, cfg, model, nil)
	if err != nil {
		return err
	}
	f, err := a.openFrontier(into, cfg, strategy, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := describeCrawl(f, region); err != nil {
		return err
	}
	x, err := openIndex(into)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()

	r := replayed{began: time.Now()}
	c := &crawler.Crawler{
		Options:  crawler.Options{Workers: runtime.GOMAXPROCS(0), MaxDepth: cfg.Crawl.MaxDepth, Reservations: cfg.Policy.TDM == "respect"},
		Frontier: f, Gate: crawler.Open{}, Judge: judge, Strategy: strategy, Sinks: []crawler.Sink{indexSink{x}}, Scope: scope.Check, SiteWide: sitewide.New(),
	}
	learned := &crawler.Learned{Tree: f, Model: model, File: into.model(), Strategy: strategy}
	err = c.Replay(ctx, r.exchanges(ctx, archive, cfg.blocked))
	if err := errors.Join(learned.Save(), r.write(filepath.Join(into.dir, "changed.csv"))); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fail(exitStopped, "stopped after %d responses; %s holds what was replayed until then", r.responses, into.dir)
	}
	if err != nil {
		return err
	}
	if retrain {
		model, _, err := predictor.Retrain(ctx, crawler.JudgedPages(ctx, f), nil, modelOptions(cfg))
		if errors.Is(err, predictor.ErrNoExamples) {
			a.warn("%s; the model is the one that was learned along the way", oneLine(err.Error()))
		} else if err != nil {
			return err
		} else if err := (&crawler.Learned{Tree: f, Model: model, File: into.model()}).Save(); err != nil {
			return err
		}
	}
	return a.printReplayed(&r, archive.Stats(), into, f.Totals())
}

// borrow takes what a crawl stands on from another project, where p has none
// of its own.
func (p project) borrow(from project) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"config.yaml", "region.geojson", "seeds.txt", "LICENCES", "blocked.txt", "topic.txt"} {
		source, target := filepath.Join(from.dir, name), filepath.Join(p.dir, name)
		if fileExists(target) || !fileExists(source) {
			continue
		}
		text, err := os.ReadFile(source)
		if err == nil {
			err = disk.ReplaceBytes(target, 0o644, text)
		}
		if err != nil {
			return err
		}
	}
	if fileExists(p.gazetteer()) {
		return nil
	}
	if err := os.CopyFS(p.gazetteer(), os.DirFS(from.gazetteer())); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replayed counts what a replay found.
type replayed struct {
	began           time.Time
	responses       int64 // recorded exchanges that were taken up
	pages, relevant int64
	compared        int64 // pages with a recorded verdict
	noCopy          int64 // exchanges of which the archive has the outcome only
	unusable        int64 // whose body is lost, damaged or too long
	verdicts        int64 // changed: relevant or not
	addresses       int64 // changed: which addresses
	changed         [][]string
	firstUnusable   string
}

// maxChanged bounds the list of changed verdicts.
const maxChanged = 100_000

// exchanges turns the records of an archive into visits, but for what was
// forgotten.
func (r *replayed) exchanges(ctx context.Context, archive *warc.Archive, blocked forget.Blocklist) iter.Seq2[crawler.Exchange, error] {
	errStop := errors.New("stop")
	return func(yield func(crawler.Exchange, error) bool) {
		err := archive.Walk(ctx, func(x warc.Recorded) error {
			if x.Response != nil && x.Response.Status == 304 {
				return nil // the page is as recorded before
			}
			if blocked.Has(x.URL) {
				return nil
			}
			if x.Response == nil && x.Err == nil {
				r.noCopy++
			} else {
				r.responses++
			}
			if x.Err != nil {
				if r.unusable++; r.firstUnusable == "" {
					r.firstUnusable = fmt.Sprintf("%s: %v", x.URL, x.Err)
				}
				return nil
			}
			e := crawler.Exchange{Entry: crawler.RecordedEntry(&x), Outcome: outcomeOf(&x), Response: x.Response}
			note := x.Note
			e.Committed = func(v *crawler.Visit) { r.compare(v, note) }
			if !yield(e, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(crawler.Exchange{}, err)
		}
	}
}

// outcomeOf is what became of a recorded exchange before its page is judged.
func outcomeOf(x *warc.Recorded) frontier.Outcome {
	if x.Response == nil {
		n := x.Note
		o := frontier.Outcome{Kind: n.Outcome, Reason: n.Reason, Status: n.Status, At: x.At, Relevant: n.Relevant, Score: n.Score, Addresses: n.Addresses}
		if o.Kind == "page" && o.Reason == "" {
			o.Reason = crawler.ReasonNoCopy
		}
		return o
	}
	o := frontier.Outcome{Status: x.Response.Status, Bytes: int64(len(x.Response.Body)), At: x.Response.Fetched}
	if x.Note != nil {
		o.Kind, o.Reason = x.Note.Outcome, x.Note.Reason
	}
	return o
}

// compare compares a visit with what was recorded of it. It is called for one
// visit at a time.
func (r *replayed) compare(v *crawler.Visit, note *warc.Note) {
	if v.Page != nil {
		r.pages++
		if v.Verdict.Relevant {
			r.relevant++
		}
	}
	if note == nil || note.Outcome != "page" || v.Response == nil {
		return
	}
	r.compared++
	was, is := slices.Sorted(slices.Values(note.Addresses)), slices.Sorted(slices.Values(v.Outcome.Addresses))
	verdict, addresses := note.Relevant != v.Outcome.Relevant || v.Page == nil, !slices.Equal(was, is)
	if verdict {
		r.verdicts++
	}
	if addresses {
		r.addresses++
	}
	if !verdict && !addresses {
		return
	}
	if len(r.changed) >= maxChanged {
		return
	}
	r.changed = append(r.changed, []string{v.Entry.URL.String(), strconv.FormatBool(note.Relevant), strconv.FormatBool(v.Outcome.Relevant),
		strconv.Itoa(len(was)), strconv.Itoa(len(is))})
}

// write lists the changed verdicts in a file.
func (r *replayed) write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.Write([]string{"url", "was_relevant", "is_relevant", "addresses_were", "addresses_are"})
	for _, row := range r.changed {
		w.Write(row)
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// printReplayed says how a replay went.
func (a *app) printReplayed(r *replayed, s warc.Stats, into project, t frontier.Totals) error {
	took := time.Since(r.began).Seconds()
	if a.json {
		return a.printJSON(map[string]any{"type": "summary", "files": s.Files, "records": s.Records, "responses": r.responses, "no_copy": r.noCopy, "revisits": s.Revisits,
			"pages": r.pages, "relevant": r.relevant, "addresses": t.Addresses, "queued": t.Queued, "unusable": r.unusable,
			"verdicts_compared": r.compared, "verdicts_changed": r.verdicts, "addresses_changed": r.addresses,
			"pages_per_s": round(float64(r.pages)/max(took, 1e-9), 1), "duration_s": round(took, 3), "data": into.dir, "exit_code": exitOK})
	}
	fmt.Fprintf(a.stdout, "%d responses, %d pages  %.0f p/s   relevant %d (%.1f %%)   addresses %d   links waiting %d\n", r.responses, r.pages,
		float64(r.pages)/max(took, 1e-9), r.relevant, 100*float64(r.relevant)/float64(max(r.pages, 1)), t.Addresses, t.Queued)
	if r.noCopy > 0 {
		fmt.Fprintf(a.stdout, "%s may not be kept as a copy and stand as recorded.\n", several(int(r.noCopy), "page"))
	}
	if r.unusable > 0 {
		a.warn("%d responses could not be used, first %s", r.unusable, oneLine(r.firstUnusable))
	}
	switch {
	case r.compared == 0:
		fmt.Fprintln(a.stdout, "The files hold no verdicts to compare with.")
	case len(r.changed) == 0:
		fmt.Fprintf(a.stdout, "All %d verdicts are as recorded.\n", r.compared)
	default:
		fmt.Fprintf(a.stdout, "Verdicts changed against the recording: %d, addresses changed: %d, of %d pages → %s\n", r.verdicts, r.addresses, r.compared,
			filepath.Join(into.dir, "changed.csv"))
	}
	return nil
}
