package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/internal/disk"
	"gazehound/predictor"

	"github.com/spf13/cobra"
)

func newLabelCommand(a *app) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "label URL relevant|not",
		Short: "Say yourself whether a page is relevant, and train with it",
		Long: `A label of a person stands above the verdict of the judge, now and at every later
visit of the page. It is kept in labels.tsv of the data directory, and survives
retrain, --fresh and --new-model.

A page that was visited trains at once: its links are taken off the side that the
verdict put them on. A crawl that runs takes the label up within a second. Where
verdict and label agree, the page has been learned already, and nothing changes.
The label of a page that was not visited yet counts when it is.

The search index follows when the page is visited again (crawl --revisit).

--file reads lines URL, tab, "relevant" or "not" (or 1 or 0); further columns and
lines that begin with # are left out.

Exit status: 0 done, 2 bad argument, 4 unusable file, 10 no data directory.`,
		Example: `  gazehound label https://example.org/kontakt relevant
  gazehound label https://example.org/shop not --json
  gazehound label --file labels.tsv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if file != "" && len(args) == 0 || file == "" && len(args) == 2 {
				return nil
			}
			return fail(exitUsage, "label wants a URL and \"relevant\" or \"not\", or --file FILE alone; got %d arguments", len(args))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.label(cmd.Context(), args, file) },
	}
	cmd.Flags().StringVar(&file, "file", "", "labels from this `FILE`; - is standard input")
	return cmd
}

// A label is a person's word on one page.
type label struct {
	url      weburl.URL
	relevant bool
}

// maxLabelFile bounds files of labels, in bytes.
const maxLabelFile = 64 << 20

// parseLabel reads "relevant", "not", or 1 or 0.
func parseLabel(text string) (relevant, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "relevant", "1":
		return true, true
	case "not", "0":
		return false, true
	}
	return false, false
}

// parseLabels reads lines of URL, tab, label; bad is told of those that are
// none, with their numbers.
func parseLabels(data []byte, bad func(n int, line string)) []label {
	var labels []label
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		raw, rest, _ := strings.Cut(line, "\t")
		word, _, _ := strings.Cut(rest, "\t")
		u, err := weburl.Parse(strings.TrimSpace(raw))
		relevant, ok := parseLabel(word)
		if err != nil || !ok {
			bad(n, line)
			continue
		}
		labels = append(labels, label{u, relevant})
	}
	return labels
}

func (a *app) label(ctx context.Context, args []string, file string) error {
	given, err := a.givenLabels(args, file)
	if err != nil {
		return err
	}
	p, cfg, err := a.project(nil)
	if err != nil {
		return err
	}
	if err := appendLabels(p.labels(), given); err != nil {
		return err
	}
	count := labelCount{Type: "summary", Labels: len(given)}
	switch pid, locked, err := frontier.Holder(p.frontier()); {
	case errors.Is(err, fs.ErrNotExist):
		count.Kept = len(given)
	case err != nil:
		return fmt.Errorf("label: %w", err)
	case locked:
		count.Handed, count.PID = len(given), pid
	default:
		if err := a.learnLabels(ctx, p, cfg, &count, given); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(count)
	}
	count.write(a)
	return nil
}

// givenLabels reads the labels of the command line.
func (a *app) givenLabels(args []string, file string) ([]label, error) {
	if file == "" {
		u, problem := a.parseSeed("label", args[0])
		if problem != "" {
			return nil, fail(exitUsage, "label: %s", problem)
		}
		relevant, ok := parseLabel(args[1])
		if !ok {
			return nil, fail(exitUsage, "label wants \"relevant\" or \"not\" behind the URL, got %.40q", args[1])
		}
		return []label{{u, relevant}}, nil
	}
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fail(exitInvalidInput, "--file: %w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, maxLabelFile+1))
	if err != nil {
		return nil, fail(exitInvalidInput, "--file: %w", err)
	}
	if len(data) > maxLabelFile {
		return nil, fail(exitInvalidInput, "%s is larger than %s, too large for labels. Give it in parts", file, megabytes(maxLabelFile))
	}
	skipped := 0
	labels := parseLabels(data, func(n int, line string) {
		if skipped++; skipped <= 10 {
			a.warn("%s:%d: want URL, tab, relevant or not; got %.80q; line skipped", file, n, line)
		}
	})
	if len(labels) == 0 {
		return nil, fail(exitInvalidInput, "%s has no label: want lines of URL, tab, relevant or not (%d lines skipped)", file, skipped)
	}
	return labels, nil
}

// appendLabels adds labels to a file; they are on the disk when it returns.
func appendLabels(name string, labels []label) error {
	now := time.Now().UTC().Format(time.RFC3339)
	size := int64(0)
	if info, err := os.Stat(name); err == nil {
		size = info.Size()
	}
	var lines []string
	for _, l := range labels {
		word := 0
		if l.relevant {
			word = 1
		}
		line := fmt.Sprintf("%s\t%d\t%s", l.url, word, now)
		lines = append(lines, line)
		size += int64(len(line)) + 1
	}
	if size > maxLabelFile {
		return fail(exitInvalidInput, "%s would grow beyond %s. Take out the lines that later ones have overtaken",
			name, megabytes(maxLabelFile))
	}
	if err := disk.AppendLines(name, lines...); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	return nil
}

// learnLabels trains the stored model where no crawl runs.
func (a *app) learnLabels(ctx context.Context, p project, cfg *Config, count *labelCount, given []label) (err error) {
	model, err := openModel(p, cfg, false)
	if err != nil {
		return err
	}
	strategy, err := a.newOrder(p, cfg, model, nil)
	if err != nil {
		return err
	}
	f, err := p.openCrawl(int64(cfg.Storage.Memory))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := recall(ctx, f, strategy); err != nil {
		return err
	}
	final := map[frontier.Key]label{}
	for _, l := range given {
		final[frontier.KeyOf(l.url)] = l
	}
	count.Labels = len(final)
	w := labelled{f: f, strategy: strategy}
	for _, l := range final {
		what, err := w.apply(ctx, l)
		if err != nil {
			return err
		}
		switch what {
		case labelLearned:
			count.Learned++
		case labelAgrees:
			count.Agree++
		default:
			count.Kept++
		}
	}
	return saveModel(p, model, f, order.NewsOf(strategy))
}

// A labelCount is what became of labels.
type labelCount struct {
	Type    string `json:"type"`
	Labels  int    `json:"labels"`
	Learned int    `json:"learned"`              // the verdict was another
	Agree   int    `json:"agree"`                // with the verdict, which was learned
	Kept    int    `json:"kept"`                 // of pages that were not visited yet
	Handed  int    `json:"handed_over,omitzero"` // to the program that works on the crawl
	PID     int    `json:"pid,omitzero"`         // of that program
}

func (c *labelCount) write(a *app) {
	say := func(n int, what string, args ...any) {
		if n > 0 {
			fmt.Fprintf(a.stdout, "%d %s\n", n, fmt.Sprintf(what, args...))
		}
	}
	say(c.Learned, "learned: the verdict was another")
	say(c.Agree, "learned before: the verdict was the same")
	say(c.Kept, "kept: the page was not visited yet; the label counts when it is")
	say(c.Handed, "stored: process %d works on the crawl; a crawl learns it within a second, any other leaves it to the next crawl", c.PID)
}

// labelled is the judge of a crawl with the labels of a person above it. It
// takes up what is added to the file while the crawl runs.
type labelled struct {
	judge    crawler.Judge
	f        *frontier.Frontier
	strategy order.Strategy
	file     string
	warn     func(format string, args ...any)

	mu     sync.Mutex
	labels map[frontier.Key]label
	read   int64 // bytes of the file

	applying sync.Mutex
}

// Judge returns the verdict on p, or the label of p.
func (w *labelled) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	v, err := w.judge.Judge(ctx, p)
	if err != nil {
		return v, err
	}
	if l, ok := w.of(p.URL); ok && v.Relevant != l.relevant {
		if v.Relevant = l.relevant; l.relevant {
			v.Score = 1
		}
	}
	return v, nil
}

func (w *labelled) of(u weburl.URL) (l label, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.labels) > 0 {
		l, ok = w.labels[frontier.KeyOf(u)]
	}
	return l, ok
}

// load reads what is new in the file and applies it to pages that were visited.
func (w *labelled) load(ctx context.Context) (learned int, err error) {
	fresh, err := w.news()
	if err != nil {
		return 0, err
	}
	for _, l := range fresh {
		what, err := w.apply(ctx, l)
		if err != nil {
			return learned, err
		}
		if what == labelLearned {
			learned++
		}
	}
	return learned, nil
}

// news returns the labels of the whole lines that were added to the file. A
// file that became shorter is read anew.
func (w *labelled) news() (fresh map[frontier.Key]label, err error) {
	info, err := os.Stat(w.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if info.Size() == w.read || info.Size() > maxLabelFile {
		return nil, nil
	}
	data, err := os.ReadFile(w.file)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	if int64(len(data)) < w.read {
		w.read = 0
	}
	data = data[w.read:]
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	w.read += int64(len(data))
	fresh = map[frontier.Key]label{}
	for _, l := range parseLabels(data, func(_ int, line string) { w.warn("%s: no label: %.80q", w.file, line) }) {
		fresh[frontier.KeyOf(l.url)] = l
	}
	if w.labels == nil {
		w.labels = map[frontier.Key]label{}
	}
	for k, l := range fresh {
		w.labels[k] = l
	}
	return fresh, nil
}

// visited is told of every stored visit: of one that was judged before its label
// was there, the label is applied now.
func (w *labelled) visited(v *crawler.Visit) error {
	l, ok := w.of(v.Entry.URL)
	if !ok || v.Outcome.Kind != "page" || v.Outcome.Relevant == l.relevant {
		return nil
	}
	_, err := w.apply(context.Background(), l)
	return err
}

// What became of a label.
const (
	labelWaits   = iota // its page was not visited yet
	labelAgrees         // with what the crawl tree says
	labelLearned        // it corrected the tree and the model
)

// apply corrects what was learned, and the crawl tree, in which the label stands
// from then on. Who calls it saves the model.
func (w *labelled) apply(ctx context.Context, l label) (what int, err error) {
	w.applying.Lock()
	defer w.applying.Unlock()
	key := frontier.KeyOf(l.url)
	trail, err := w.f.Trail(key, predictor.MaxDepth)
	if err != nil {
		return 0, err
	}
	if len(trail) == 0 || trail[0].State != frontier.Visited || trail[0].Outcome.Kind != "page" {
		return labelWaits, nil
	}
	n := &trail[0]
	if n.Outcome.Relevant == l.relevant {
		return labelAgrees, nil
	}
	n.Outcome.Relevant = l.relevant
	if c, ok := w.strategy.(order.Retractor); ok {
		c.Retract(trail, l.relevant)
	}
	check, asked, err := w.f.Check(key)
	if err != nil {
		return 0, err
	}
	if asked {
		check.Relevant = l.relevant
		n.Outcome.Check = &check
	}
	if n.Outcome.Score = 0; l.relevant {
		n.Outcome.Score = 1
	}
	if err := w.f.Revise(ctx, key, n.Outcome); err != nil {
		return 0, fmt.Errorf("label of %s: %w", l.url, err)
	}
	return labelLearned, nil
}
