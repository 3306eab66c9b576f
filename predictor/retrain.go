package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"gazehound/internal/textutil"
)

// An Example is one judged page of an earlier crawl.
type Example struct {
	Link      Link       // that led to it
	Trail     [][]string // the terms of the links that led to it, as Learn takes them
	Relevant  bool
	LinkValue float64 // value of the links of a page that is not relevant, in [0, 1]
	Expected  float64 // LinkValue as the crawl expected it at the visit
}

// Teach learns an example: the value of the last link, then the verdict for the links of the trail.
// An example without a trail, a seed, is ignored.
func (m *Model) Teach(e Example) {
	if len(e.Trail) == 0 {
		return
	}
	m.LearnValue(e.Link, e.Trail[0], e.Value())
	m.Learn(e.Trail, e.Relevant)
}

// Value returns that of the last link of the trail, in [0, 1].
func (e Example) Value() float64 {
	if e.Relevant {
		return 1
	}
	return e.LinkValue
}

// Retract undoes Learn(trail, !relevant) and learns the trail with the right verdict.
func (m *Model) Retract(trail [][]string, relevant bool) {
	m.forget(trail, !relevant)
	m.Learn(trail, relevant)
}

// ErrNoExamples is returned by Retrain when there is nothing to learn from.
var ErrNoExamples = errors.New("no judged page to learn from: crawl first")

// heldOut is the part of the examples, 1/heldOut of them, that is kept apart to compare models. A crawl
// that has found nearly all ends with pages of one kind, so more are held out, up to a half, until
// there are minOfAKind relevant and minOfAKind other pages: by three relevant ones an order is judged
// by chance.
const (
	heldOut    = 5
	minOfAKind = 10
)

// maxWorse is how much the log-loss of a better model may grow, as a factor, when both are
// calibrated: the crawl needs the order of links more than their exact probabilities.
const maxWorse = 1.05

// minGain is how much the area under the ROC curve of a better model must
// grow, so that a new model is not put in place for rounding errors.
const minGain = 0.001

// moreLinks is from which multiple of the pages given an old model has learned from other crawls.
const moreLinks = 1.2

// A Rating says which prediction orders the queue, and so decides which model is better.
type Rating string

const (
	ByValue  Rating = "value"  // of the link, as lookahead
	ByDepths Rating = "depths" // the combined probability of all depths, as adaptive
)

// Retrain builds a new model from the pages of earlier crawls and reports whether
// it is better than the old one, which may be nil and is not changed.
//
// The examples come in the order in which the pages were visited, and are read up to five times, so
// the sequence must give the same ones each time. The last fifth is held out, or more where it has too
// few of a kind: a model of the pages before is compared on it with the old one, by the order in
// which by puts its links. The old one has usually learned the held-out pages too while it crawled. The
// naive Bayes classifiers of a copy forget each of them; for the value of links, which cannot be
// forgotten, a model stands in that learned the pages before as the crawl taught them. In the end the
// new model learns the held-out pages as well, and is returned with the report.
//
// An error of the sequence is returned with the number of the page.
func Retrain(ctx context.Context, examples iter.Seq2[Example, error], old *Model, o Options, by Rating) (*Model,
	Report, error) {
	p := &passes{ctx: ctx, examples: examples}
	r := Report{HasOld: old != nil, By: by}
	var verdicts []bool
	p.each(func(_ int, e Example) {
		verdicts = append(verdicts, e.Relevant)
		if e.Relevant {
			r.Relevant++
		}
	})
	r.Pages = len(verdicts)
	if p.err == nil && r.Pages == 0 {
		p.err = fmt.Errorf("predictor: retrain: %w", ErrNoExamples)
	}
	t := &trial{
		model: NewModel(o), cut: firstHeldOut(verdicts),
		fresh: make([][]judgement, o.Depths), old: make([][]judgement, o.Depths),
	}
	if old != nil {
		t.rival = old.Clone()
	}
	value, known := t.learn(p)
	t.valued = t.rival
	if known {
		r.StandIn, r.OldLinks = true, old.value.learned
		t.valued = t.standIn(p, o)
	}
	if t.rival != nil {
		for _, c := range t.rival.depths {
			c.prune()
		}
	}
	p.each(func(i int, e Example) {
		if i >= t.cut {
			r.HeldOut++
			if e.Relevant {
				r.HeldOutRelevant++
			}
			t.judge(e)
		}
	})
	t.report(&r, value)
	p.each(func(i int, e Example) {
		if i >= t.cut {
			t.model.Teach(e)
		}
	})
	if p.err != nil {
		return nil, Report{}, p.err
	}
	return t.model, r, nil
}

// firstHeldOut returns the first page that is held out, by the verdicts of all.
func firstHeldOut(verdicts []bool) int {
	cut, relevant, other := len(verdicts), 0, 0
	enough := func() bool {
		return cut <= len(verdicts)-len(verdicts)/heldOut && relevant >= minOfAKind && other >= minOfAKind
	}
	for cut > len(verdicts)-len(verdicts)/2 && !enough() {
		cut--
		if verdicts[cut] {
			relevant++
		} else {
			other++
		}
	}
	return cut
}

// passes reads the examples several times. After an error further passes do nothing.
type passes struct {
	ctx      context.Context
	examples iter.Seq2[Example, error]
	err      error // with the number of the page
}

func (p *passes) each(do func(i int, e Example)) {
	i := 0
	for e, problem := range p.examples {
		if p.err != nil {
			return
		}
		problem = cmp.Or(problem, p.ctx.Err())
		if problem != nil {
			p.err = fmt.Errorf("predictor: retrain: page %d: %w", i+1, problem)
			return
		}
		do(i, e)
		i++
	}
}

// A trial collects predictions of the new and the old model for held-out links.
type trial struct {
	model, rival *Model
	cut          int           // the first page that is held out
	valued       *Model        // the old one, or what stands in for it, to predict values
	fresh, old   [][]judgement // of each depth

	values, oldValues     []judgement // of the last link
	combined, oldCombined []judgement // of the last link, by all depths
}

// learn teaches the new model the pages before the cut, and has the classifiers of the old one forget
// those behind it. It returns the mean value of the links learned, smoothed, and whether the old model
// had learned most of the held-out ones.
func (t *trial) learn(p *passes) (value float64, known bool) {
	sum, learned := 0.0, 0
	links, forgotten := 0, 0 // held out, and of them learned by the old model
	p.each(func(i int, e Example) {
		if i < t.cut {
			t.model.Teach(e)
			if len(e.Trail) > 0 {
				sum += e.Value()
				learned++
			}
			return
		}
		if t.rival == nil {
			return
		}
		if t.rival.forget(e.Trail, e.Relevant) {
			forgotten++
		}
		if len(e.Trail) > 0 {
			links++
		}
	})
	return (sum + 1) / float64(learned+2), links > 0 && forgotten > links/2
}

// standIn returns a model that learned the values of the pages before the cut as the crawl taught
// them.
func (t *trial) standIn(p *passes, o Options) *Model {
	model := NewModel(o)
	p.each(func(i int, e Example) {
		if i < t.cut {
			e.LinkValue = e.Expected
			model.Teach(e)
		}
	})
	return model
}

// report compares the predictions; value is the mean value of the links learned.
func (t *trial) report(r *Report, value float64) {
	for d, c := range t.model.depths {
		base := float64(c.relevant+1) / float64(c.relevant+c.other+2)
		r.Depths = append(r.Depths, compare(base, t.fresh[d], t.old[d]))
	}
	r.Value, r.Combined = compare(value, t.values, t.oldValues), compare(value, t.combined, t.oldCombined)
	r.decide()
}

func (t *trial) judge(e Example) {
	for d := range min(len(e.Trail), len(t.fresh)) {
		t.fresh[d] = append(t.fresh[d], judge(t.model.Score(e.Trail[d])[d], e.Relevant))
		if t.rival != nil && d < len(t.rival.depths) {
			t.old[d] = append(t.old[d], judge(t.rival.Score(e.Trail[d])[d], e.Relevant))
		}
	}
	if len(e.Trail) == 0 {
		return
	}
	terms := e.Trail[0]
	t.values = append(t.values, judgement{t.model.valueOf(e.Link, terms), e.Value(), e.Relevant})
	t.combined = append(t.combined, judge(t.model.Predict(terms), e.Relevant))
	if t.rival != nil {
		t.oldValues = append(t.oldValues, judgement{t.valued.valueOf(e.Link, terms), e.Value(), e.Relevant})
		t.oldCombined = append(t.oldCombined, judge(t.rival.Predict(terms), e.Relevant))
	}
}

// A Report compares how well the new and the old model order held-out links.
type Report struct {
	Pages           int  `json:"pages"` // judged, all
	Relevant        int  `json:"relevant"`
	HeldOut         int  `json:"held_out"` // of Pages
	HeldOutRelevant int  `json:"held_out_relevant"`
	HasOld          bool `json:"has_old"`
	// StandIn: the old model learned the held-out pages, and another stands in for it where values of
	// links are compared. OldLinks is how many links the old one learned.
	StandIn  bool         `json:"stand_in"`
	OldLinks int          `json:"old_links,omitzero"`
	Depths   []Comparison `json:"depths"` // at [d-1]
	// Value and Combined compare the predictions by which lookahead and adaptive order links, for the
	// last link of each page; By says which of them decides.
	Value    Comparison `json:"worth"`
	Combined Comparison `json:"combined"`
	By       Rating     `json:"by"`
	Better   bool       `json:"better"` // the new model should take the place of the old one
	Reason   string     `json:"reason"` // for Better, in words
}

// A Comparison compares two models at one depth.
type Comparison struct {
	Links    int     `json:"links"`    // held-out pages that have a link at this depth
	Relevant int     `json:"relevant"` // of Links
	BaseRate float64 `json:"base_rate"`
	// BaseLoss is the log-loss of always predicting BaseRate, the share of relevant links among
	// those learned.
	BaseLoss float64 `json:"base_loss"`
	Ranked   bool    `json:"ranked"` // both kinds of link are held out, so that AUC means something
	New      Quality `json:"new"`
	Old      Quality `json:"old"` // zero without an old model
}

// judge returns the judgement of a link that is relevant or not.
func judge(p float64, relevant bool) judgement {
	j := judgement{p: p, relevant: relevant}
	if relevant {
		j.came = 1
	}
	return j
}

// compare fills a Comparison from the judgements of the new and the old model; base is the mean
// outcome of the links that were learned.
func compare(base float64, judged, rival []judgement) Comparison {
	c := Comparison{Links: len(judged), BaseRate: base}
	constant := make([]judgement, len(judged))
	for i, j := range judged {
		if j.relevant {
			c.Relevant++
		}
		constant[i] = judgement{base, j.came, j.relevant}
	}
	c.BaseLoss = logLoss(constant)
	c.New, c.Ranked = qualityOf(judged)
	if len(rival) > 0 {
		c.Old, _ = qualityOf(rival)
	}
	return c
}

// decide sets Better and Reason: a model is better when it orders the held-out links better, by the
// area under the ROC curve and minGain, and its calibrated log-loss is no more than maxWorse times
// that of the old one. The first model is better than none.
func (r *Report) decide() {
	if !r.HasOld {
		r.Better, r.Reason = true, "there is no old model"
		return
	}
	c, what := r.Value, "by their value, as lookahead does"
	if r.By == ByDepths {
		c, what = r.Combined, "by the probabilities of all depths, as adaptive does"
	}
	if !c.Ranked {
		r.Reason = fmt.Sprintf("cannot be compared: %d of the %d held-out pages are relevant, and both kinds "+
			"are needed", r.HeldOutRelevant, r.HeldOut)
		return
	}
	order := fmt.Sprintf("%s (AUC %.4f, the old model's %.4f; average precision %.4f, %.4f)", what, c.New.AUC,
		c.Old.AUC, c.New.AP, c.Old.AP)
	switch {
	case r.By == ByValue && r.StandIn && float64(r.OldLinks) > moreLinks*float64(r.Pages):
		r.Reason = fmt.Sprintf("the old model has learned %s links, and these crawls have %s: name the directories of "+
			"the others, too, or --force", textutil.Count(r.OldLinks), textutil.Count(r.Pages))
	case c.New.AUC <= c.Old.AUC+minGain:
		r.Reason = fmt.Sprintf("it does not order held-out links better %s; %v more AUC is required", order, minGain)
	case c.New.Calibrated > c.Old.Calibrated*maxWorse:
		r.Reason = fmt.Sprintf("its predictions are worse even when calibrated: log-loss %.4f, the old model's %.4f",
			c.New.Calibrated, c.Old.Calibrated)
	default:
		r.Better = true
		r.Reason = "it orders held-out links better " + order
	}
}

// String returns the report as tables for a terminal of 80 columns.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s relevant), of which the last %s (%s relevant) were held out\n",
		textutil.Several(r.Pages, "page"), textutil.Count(r.Relevant), textutil.Count(r.HeldOut),
		textutil.Count(r.HeldOutRelevant))
	if r.StandIn {
		fmt.Fprint(&b, "The old model learned these while it crawled. Its value of links is that of a model which\n"+
			"learned the pages before as the crawl taught them.\n")
	}
	for _, rows := range [][][]string{r.lossRows(), r.rankRows()} {
		textutil.WriteTable(&b, rows) // a builder takes everything
		fmt.Fprintln(&b)
	}
	fmt.Fprint(&b, "what the new model predicted for held-out links, and what was observed\n")
	textutil.WriteTable(&b, r.calibrationRows())
	return b.String()
}

// decimals returns a number for a table, or a dash where there is none.
func decimals(x float64, given bool) string {
	if !given {
		return "-"
	}
	return fmt.Sprintf("%.4f", x)
}

// lossRows is the table of log-losses.
func (r Report) lossRows() [][]string {
	rows := [][]string{{"", "links", "relevant", "log-loss old", "new", "base rate's"}}
	add := func(name string, c Comparison) {
		rows = append(rows, []string{name, fmt.Sprint(c.Links), fmt.Sprint(c.Relevant), decimals(c.Old.LogLoss, r.HasOld),
			decimals(c.New.LogLoss, true), decimals(c.BaseLoss, true)})
	}
	for d, c := range r.Depths {
		add(fmt.Sprintf("depth %d", d+1), c)
	}
	for _, row := range r.ordering() {
		add(row.name, row.Comparison)
		rows = append(rows, []string{"calibrated", "", "", decimals(row.Old.Calibrated, r.HasOld),
			decimals(row.New.Calibrated, true), ""})
	}
	return rows
}

// rankRows is the table of how the models order links.
func (r Report) rankRows() [][]string {
	rows := [][]string{{"", "AUC old", "new", "precision old", "new", "calibration error old", "new"}}
	add := func(name string, c Comparison) {
		ranked := c.Ranked && r.HasOld
		rows = append(rows, []string{name, decimals(c.Old.AUC, ranked), decimals(c.New.AUC, c.Ranked),
			decimals(c.Old.AP, ranked), decimals(c.New.AP, c.Ranked),
			decimals(c.Old.Error, r.HasOld), decimals(c.New.Error, true)})
	}
	for d, c := range r.Depths {
		add(fmt.Sprintf("depth %d", d+1), c)
	}
	for _, row := range r.ordering() {
		add(row.name, row.Comparison)
	}
	return rows
}

// calibrationRows is the table of predicted and observed shares.
func (r Report) calibrationRows() [][]string {
	rows := [][]string{{"range", "depth 1 links", "predicted", "observed", "value links", "predicted", "observed"}}
	for i, b := range r.Value.New.Calibration {
		var first Bin
		if len(r.Depths) > 0 {
			first = r.Depths[0].New.Calibration[i]
		}
		if first.Links+b.Links > 0 {
			rows = append(rows, []string{fmt.Sprintf("%d–%d %%", i*bins, (i+1)*bins),
				fmt.Sprint(first.Links), first.said(first.Predicted), first.said(first.Observed),
				fmt.Sprint(b.Links), b.said(b.Predicted), b.said(b.Observed)})
		}
	}
	return rows
}

// A namedComparison is a row of the tables.
type namedComparison struct {
	name string
	Comparison
}

// ordering returns the rows of the predictions that order links.
func (r Report) ordering() []namedComparison {
	return []namedComparison{{"adaptive", r.Combined}, {"value", r.Value}}
}

// said prints a mean of a bin.
func (b Bin) said(mean float64) string {
	if b.Links == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*mean)
}

// Clone returns a deep copy.
func (m *Model) Clone() *Model { return m.Without(func(string) bool { return false }) }

// Without returns a copy of m without some terms. The numbers of links learned stay.
func (m *Model) Without(gone func(term string) bool) *Model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	copied := emptyModel(m.options, m.value.without(gone))
	for d, c := range m.depths {
		copied.depths[d] = c.without(gone)
	}
	return copied
}

// without returns a copy of c without some terms. The numbers of links learned stay.
func (c *classifier) without(gone func(term string) bool) *classifier {
	k := newClassifier(c.options)
	k.relevant, k.other = c.relevant, c.other
	relevant, other := c.counts(c.terms)
	for i, term := range c.terms {
		if !gone(term) {
			k.observe(term, int(relevant[i]), int(other[i]))
		}
	}
	return k
}

// forget undoes Learn at each depth whose classifier has counts for all terms of the link in this
// class; others have never learned the link.
//
// It reports whether depth 1 had learned it.
func (m *Model) forget(trail [][]string, relevant bool) (learned bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d := range min(len(trail), len(m.depths)) {
		if m.depths[d].forget(trail[d], relevant) && d == 0 {
			learned = true
		}
	}
	return learned
}

func (c *classifier) forget(terms []string, relevant bool) (learned bool) {
	known, r, o := c.resolve(terms)
	seen, documents := o, &c.other
	if relevant {
		seen, documents = r, &c.relevant
	}
	if *documents == 0 || slices.ContainsFunc(seen, func(n float64) bool { return n < 1 }) {
		return false
	}
	*documents--
	for i, term := range known {
		if seen[i] >= 1 && !slices.Contains(known[:i], term) {
			c.count(term, -1, relevant)
		}
	}
	return true
}
