package crawler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
	"gazehound/internal/corrections"
	"gazehound/internal/disk"
	"gazehound/predictor"
)

// A Label is a person's verdict on one page.
type Label struct {
	URL      weburl.URL
	Relevant bool

	listed bool // the index keeps what it has of the page
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
		labels = append(labels, Label{URL: u, Relevant: relevant})
	}
	return labels
}

// ErrTooManyLabels means that a file of labels is larger than MaxLabelFile.
var ErrTooManyLabels = errors.New("too many labels")

// Corrections returns the entries of labels for the log of corrections.
func Corrections(labels []Label) []corrections.Entry {
	entries := make([]corrections.Entry, len(labels))
	for i, l := range labels {
		e := corrections.Entry{Who: corrections.Operator, What: corrections.Reject, Pages: []string{l.URL.String()}}
		if l.Relevant {
			e.What = corrections.Confirm
		}
		entries[i] = e
	}
	return entries
}

// ForgetLines removes the lines from a file that begin with the URL of a matching page.
func ForgetLines(name string, match func(weburl.URL) bool) error {
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

// A Labelled is a Judge whose verdicts a person's labels overrule: the confirmations and rejections of
// pages in the log of corrections. It takes up those that are added while the crawl runs. It is safe
// for concurrent use.
type Labelled struct {
	// Reject takes a page that a person has labelled not relevant out of what was found, before its
	// verdict changes, so that a kill in between repeats it. nil: nothing was kept of pages.
	Reject func(ctx context.Context, url string) error

	judge    Judge
	frontier *frontier.Frontier
	strategy order.Strategy
	log      *corrections.Log

	mu   sync.Mutex
	read corrections.Position

	applying sync.Mutex
}

// NewLabelled returns a Judge that overrules judge with the log, and corrects f and the strategy with
// it. Callers of ApplyAll alone may pass nil for judge and log.
func NewLabelled(judge Judge, f *frontier.Frontier, s order.Strategy, log *corrections.Log) *Labelled {
	return &Labelled{judge: judge, frontier: f, strategy: s, log: log}
}

// Judge returns the verdict on p, or the label of p.
func (w *Labelled) Judge(ctx context.Context, p *page.Page) (geoparse.Verdict, error) {
	e, ok := w.log.Verdict(p.URL.String())
	relevant := e.What == corrections.Confirm
	p.Relevant = ok && relevant
	v, err := w.judge.Judge(ctx, p)
	if err != nil {
		return v, err
	}
	if ok && v.Relevant != relevant {
		v.Relevant = relevant
		if relevant {
			v.Score = 1
		}
	}
	return v, nil
}

// Load reads what was added to the log and applies it to visited pages; learned is how many changed
// a verdict.
func (w *Labelled) Load(ctx context.Context) (learned int, err error) {
	_, err = w.log.Refresh()
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh, read := w.log.Since(w.read)
	done, err := w.applied()
	if err != nil || len(fresh) == 0 {
		return 0, err
	}
	var n LabelCount
	seen := map[string]bool{}
	for _, e := range fresh {
		if e.What == corrections.Undo {
			if e.N <= done {
				continue // the page may have another verdict since
			}
			e, _ = w.log.Entry(e.Undoes)
		}
		for _, url := range e.Pages {
			if seen[url] {
				continue
			}
			seen[url] = true
			err := w.settle(ctx, url, e, &n)
			if err != nil {
				return n.Learned, err
			}
		}
	}
	w.read = read
	last := strconv.Itoa(max(done, fresh[len(fresh)-1].N))
	return n.Learned, w.frontier.PutMeta(appliedMeta, []byte(last))
}

// appliedMeta is where the crawl tree keeps the number of the last entry that was applied to it.
const appliedMeta = "corrections"

func (w *Labelled) applied() (n int, err error) {
	text, err := w.frontier.Meta(appliedMeta)
	if err != nil || len(text) == 0 {
		return 0, err
	}
	n, err = strconv.Atoi(string(text))
	if err != nil {
		return 0, fmt.Errorf("crawl tree: %s: %w", appliedMeta, err)
	}
	return n, nil
}

// settle applies what the log says of a page now, of which an entry was added or taken back. Where it
// says nothing any more the page gets the verdict that it had; if that is not known, its next visit
// gives it one.
func (w *Labelled) settle(ctx context.Context, url string, changed corrections.Entry, n *LabelCount) error {
	u, err := weburl.Parse(url)
	if err != nil {
		return nil // edited by hand
	}
	e, ok := w.log.Verdict(url)
	switch {
	case ok:
		return w.apply(ctx, labelOf(u, e), n)
	case !w.log.Undone(changed.N):
		return nil
	case changed.Address != "": // the index had its pages, so they were relevant
		return w.apply(ctx, Label{URL: u, Relevant: true, listed: true}, n)
	case changed.Was != "":
		return w.apply(ctx, Label{URL: u, Relevant: changed.Was == VerdictWord(true)}, n)
	}
	return w.judgeAgain(ctx, u)
}

// VerdictWord returns "relevant" or "not", as entries and commands name a verdict.
func VerdictWord(relevant bool) string {
	if relevant {
		return "relevant"
	}
	return "not"
}

// labelOf returns the label of a page that an entry gives it. What the index shows of the address
// of an entry is hidden there, and stays for an undo.
func labelOf(u weburl.URL, e corrections.Entry) Label {
	return Label{URL: u, Relevant: e.What == corrections.Confirm, listed: e.Address != ""}
}

// TakeBack applies what the log says of the pages of an entry that was taken back.
func (w *Labelled) TakeBack(ctx context.Context, e corrections.Entry) (n LabelCount, err error) {
	for _, url := range e.Pages {
		err := w.settle(ctx, url, e, &n)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// judgeAgain makes the next visit of a page read it in full.
func (w *Labelled) judgeAgain(ctx context.Context, u weburl.URL) error {
	w.applying.Lock()
	defer w.applying.Unlock()
	key := frontier.KeyOf(u)
	n, known, err := w.frontier.Get(key)
	if err != nil || !known {
		return err
	}
	check, visited, err := w.frontier.Check(key)
	if err != nil || !visited {
		return err
	}
	check.ETag, check.Modified = "", ""
	n.Outcome.Check = &check
	return w.frontier.Revise(ctx, key, n.Outcome)
}

// Visited applies the label of a page that was judged before the label arrived. It is called after
// each committed visit.
func (w *Labelled) Visited(v *Visit) error {
	e, ok := w.log.Verdict(v.Entry.URL.String())
	l := labelOf(v.Entry.URL, e)
	if !ok || v.Outcome.Kind != frontier.KindPage || v.Outcome.Relevant == l.Relevant {
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
		err := w.apply(ctx, l, &n)
		if err != nil {
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
	if len(trail) == 0 || trail[0].State != frontier.Visited || trail[0].Outcome.Kind != frontier.KindPage {
		count.Kept++
		return nil
	}
	o := &trail[0].Outcome
	if o.Relevant == l.Relevant {
		count.Agree++
		return nil
	}
	if !l.Relevant && !l.listed && w.Reject != nil {
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
		check.ETag, check.Modified = "", "" // the next visit reads it in full
		o.Check = &check
	}
	o.Score = 0
	if l.Relevant {
		o.Score = 1
	}
	err = w.frontier.Revise(ctx, key, *o)
	if err != nil {
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

// TakeUpLabels applies what the log says of pages and no crawl has applied yet to the crawl tree and
// to the model in modelFile.
func TakeUpLabels(ctx context.Context, f *frontier.Frontier, model *predictor.Model, modelFile string,
	log *corrections.Log) error {
	strategy := order.Lookahead{Model: model}
	kept := Learned{Tree: f, Model: model, File: modelFile, Strategy: strategy}
	if err := kept.Restore(ctx); err != nil {
		return err
	}
	learned, err := NewLabelled(nil, f, strategy, log).Load(ctx)
	if learned > 0 && err == nil {
		err = kept.Save()
	}
	return err
}
