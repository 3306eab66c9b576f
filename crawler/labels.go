package crawler

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

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/internal/disk"
	"gazehound/predictor"
)

// A Label is a person's verdict on one page.
type Label struct {
	URL      weburl.URL
	Relevant bool
}

// MaxLabelFile bounds files of labels, in bytes.
const MaxLabelFile = 64 << 20

// ParseLabel reads "relevant", "not", or 1 or 0.
func ParseLabel(text string) (relevant, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "relevant", "1":
		return true, true
	case "not", "0":
		return false, true
	}
	return false, false
}

// ParseLabels reads lines of URL, tab, label. It calls bad for invalid lines with their numbers
// from 1.
func ParseLabels(data []byte, bad func(n int, line string)) []Label {
	var labels []Label
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
		relevant, ok := ParseLabel(word)
		if err != nil || !ok {
			bad(n, line)
			continue
		}
		labels = append(labels, Label{u, relevant})
	}
	return labels
}

// ErrTooManyLabels means that a file of labels would grow beyond MaxLabelFile.
var ErrTooManyLabels = errors.New("too many labels")

// AppendLabels adds labels to a file, with the time. They are durable when it returns.
func AppendLabels(name string, labels []Label) error {
	now := time.Now().UTC().Format(time.RFC3339)
	size := int64(0)
	if info, err := os.Stat(name); err == nil {
		size = info.Size()
	}
	var lines []string
	for _, l := range labels {
		word := 0
		if l.Relevant {
			word = 1
		}
		line := fmt.Sprintf("%s\t%d\t%s", l.URL, word, now)
		lines = append(lines, line)
		size += int64(len(line)) + 1
	}
	if size > MaxLabelFile {
		return fmt.Errorf("%w: %s would grow beyond %d MB. Take out the lines that later ones have overtaken",
			ErrTooManyLabels, name, MaxLabelFile>>20)
	}
	if err := disk.AppendLines(name, 0o644, lines...); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	return nil
}

// ForgetLabels removes the labels of matching pages from a file.
func ForgetLabels(name string, match func(weburl.URL) bool) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	var left strings.Builder
	for line := range strings.Lines(string(text)) {
		raw, _, _ := strings.Cut(line, "\t")
		if u, err := weburl.Parse(strings.TrimSpace(raw)); err != nil || !match(u) {
			left.WriteString(line)
		}
	}
	if left.Len() == len(text) {
		return nil
	}
	return disk.ReplaceBytes(name, 0o644, []byte(left.String()))
}

// A Labelled is a Judge whose verdicts a person's labels overrule. It reads labels that are added
// to the file while the crawl runs. It is safe for concurrent use.
type Labelled struct {
	// Reject takes a page that a person has labelled not relevant out of what was found, before its
	// verdict changes, so that a kill in between repeats it. nil: nothing was kept of pages.
	Reject func(ctx context.Context, url string) error

	judge    Judge
	frontier *frontier.Frontier
	strategy order.Strategy
	file     string
	warn     func(format string, args ...any)

	mu     sync.Mutex
	labels map[frontier.Key]Label
	read   int64 // bytes of the file

	applying sync.Mutex
}

// NewLabelled returns a Judge that overrules judge with the labels of a file, and corrects f and
// the strategy with them. warn is called with invalid lines. Callers of Apply alone may pass zero
// for judge, file and warn.
func NewLabelled(judge Judge, f *frontier.Frontier, s order.Strategy, file string,
	warn func(format string, args ...any)) *Labelled {
	return &Labelled{judge: judge, frontier: f, strategy: s, file: file, warn: warn, labels: map[frontier.Key]Label{}}
}

// Judge returns the verdict on p, or the label of p.
func (w *Labelled) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	l, ok := w.of(p.URL)
	p.Relevant = ok && l.Relevant
	v, err := w.judge.Judge(ctx, p)
	if err != nil {
		return v, err
	}
	if ok && v.Relevant != l.Relevant {
		if v.Relevant = l.Relevant; l.Relevant {
			v.Score = 1
		}
	}
	return v, nil
}

func (w *Labelled) of(u weburl.URL) (l Label, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, ok = w.labels[frontier.KeyOf(u)]
	return l, ok
}

// Load reads new labels in the file and applies them to visited pages; learned is how many changed
// a verdict.
func (w *Labelled) Load(ctx context.Context) (learned int, err error) {
	fresh, err := w.news()
	if err != nil {
		return 0, err
	}
	n, err := w.ApplyAll(ctx, fresh)
	return n.Learned, err
}

// news returns the labels of the whole lines that were added to the file. A file that became
// shorter is read from the start.
func (w *Labelled) news() (fresh []Label, err error) {
	info, err := os.Stat(w.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if info.Size() == w.read || info.Size() > MaxLabelFile {
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
	fresh = ParseLabels(data, func(_ int, line string) { w.warn("%s: no label: %.80q", w.file, line) })
	for _, l := range fresh {
		w.labels[frontier.KeyOf(l.URL)] = l
	}
	return fresh, nil
}

// Visited applies the label of a page that was judged before the label arrived. It is called after
// each committed visit.
func (w *Labelled) Visited(v *Visit) error {
	l, ok := w.of(v.Entry.URL)
	if !ok || v.Outcome.Kind != "page" || v.Outcome.Relevant == l.Relevant {
		return nil
	}
	return w.apply(context.Background(), l, &LabelCount{})
}

// A LabelCount counts the outcomes of labels.
type LabelCount struct {
	Labels  int `json:"labels"`  // of different pages
	Learned int `json:"learned"` // the verdict changed
	Agree   int `json:"agree"`   // equal to the verdict
	Kept    int `json:"kept"`    // of pages that have not been visited
}

// ApplyAll applies labels; the last one of a page counts.
func (w *Labelled) ApplyAll(ctx context.Context, labels []Label) (n LabelCount, err error) {
	last := map[frontier.Key]Label{}
	for _, l := range labels {
		last[frontier.KeyOf(l.URL)] = l
	}
	n.Labels = len(last)
	for _, l := range last {
		if err := w.apply(ctx, l, &n); err != nil {
			return n, err
		}
	}
	return n, nil
}

// apply corrects the model and the crawl tree, which then holds the label, and counts the outcome.
// The caller saves the model.
func (w *Labelled) apply(ctx context.Context, l Label, count *LabelCount) error {
	w.applying.Lock()
	defer w.applying.Unlock()
	key := frontier.KeyOf(l.URL)
	trail, err := w.frontier.Trail(key, predictor.MaxDepth)
	if err != nil {
		return err
	}
	if len(trail) == 0 || trail[0].State != frontier.Visited || trail[0].Outcome.Kind != "page" {
		count.Kept++
		return nil
	}
	o := &trail[0].Outcome
	if o.Relevant == l.Relevant {
		count.Agree++
		return nil
	}
	if !l.Relevant && w.Reject != nil {
		if err := w.Reject(ctx, trail[0].URL.String()); err != nil {
			return fmt.Errorf("label of %s: %w", l.URL, err)
		}
	}
	o.Relevant = l.Relevant
	if c, ok := w.strategy.(order.Retractor); ok {
		c.Retract(trail, l.Relevant)
	}
	check, visited, err := w.frontier.Check(key)
	if err != nil {
		return err
	}
	if visited {
		check.Relevant = l.Relevant
		o.Check = &check
	}
	if o.Score = 0; l.Relevant {
		o.Score = 1
	}
	if err := w.frontier.Revise(ctx, key, *o); err != nil {
		return fmt.Errorf("label of %s: %w", l.URL, err)
	}
	count.Learned++
	return nil
}

// ReadLabels is ParseLabels for a reader. Above MaxLabelFile bytes it returns ErrTooManyLabels.
func ReadLabels(r io.Reader, bad func(n int, line string)) ([]Label, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxLabelFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxLabelFile {
		return nil, ErrTooManyLabels
	}
	return ParseLabels(data, bad), nil
}

// TakeUpLabels applies the labels in a file that no crawl has applied yet to the crawl tree and to
// the model in modelFile. warn is called with invalid lines.
func TakeUpLabels(ctx context.Context, f *frontier.Frontier, model *predictor.Model, modelFile, labels string,
	warn func(string, ...any)) error {
	strategy := order.Lookahead{Model: model}
	kept := Learned{Tree: f, Model: model, File: modelFile, Strategy: strategy}
	if err := kept.Restore(ctx); err != nil {
		return err
	}
	learned, err := NewLabelled(nil, f, strategy, labels, warn).Load(ctx)
	if learned > 0 && err == nil {
		err = kept.Save()
	}
	return err
}
