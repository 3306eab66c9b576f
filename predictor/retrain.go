package predictor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"gazehound/internal/textutil"
)

// An Example is one judged page of an earlier crawl.
type Example struct {
	Link      Link       // that led to it
	Trail     [][]string // the terms of the links that led to it, as Learn takes them
	Relevant  bool
	LinkValue float64 // expected value of the links of a page that is not relevant, in [0, 1]
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

// heldOut is the part of the examples, 1/heldOut of them, that is kept apart
// to compare models.
const heldOut = 5

// maxWorse is how much the log-loss of a better model may grow, as a factor:
// the crawl needs the order of links more than their exact probabilities.
const maxWorse = 1.05

// minGain is how much the area under the ROC curve of a better model must
// grow, so that a new model is not put in place for rounding errors.
const minGain = 0.001

// Retrain builds a new model from the pages of earlier crawls and reports whether
// it is better than the old one, which may be nil and is not changed.
//
// The examples come in the order in which the pages were visited, and are read four times, so the
// sequence must give the same ones each time. The last fifth is held out: a model of the first four
// fifths is compared on it with the old one. The old one has usually learned the held-out pages too
// while it crawled; a copy of it is made to forget each held-out page, so that both predict unseen
// pages. In the end the new model learns the held-out pages as well, and is returned with the
// report.
//
// An error of the sequence is returned with the number of the page.
func Retrain(ctx context.Context, examples iter.Seq2[Example, error], old *Model, o Options) (*Model, Report, error) {
	model := NewModel(o)
	var err error
	pass := func(do func(i int, e Example)) { // unless one before has failed
		i := 0
		for e, problem := range examples {
			if err != nil {
				return
			}
			if problem = cmp.Or(problem, ctx.Err()); problem != nil {
				err = fmt.Errorf("predictor: retrain: page %d: %w", i+1, problem)
				return
			}
			do(i, e)
			i++
		}
	}
	r := Report{HasOld: old != nil}
	pass(func(_ int, e Example) {
		r.Pages++
		if e.Relevant {
			r.Relevant++
		}
	})
	if err == nil && r.Pages == 0 {
		err = fmt.Errorf("predictor: retrain: %w", ErrNoExamples)
	}
	cut := r.Pages - r.Pages/heldOut
	var rival *Model
	if old != nil {
		rival = old.clone()
	}
	pass(func(i int, e Example) {
		if i < cut {
			model.Teach(e)
		} else if rival != nil {
			rival.forget(e.Trail, e.Relevant)
		}
	})
	if rival != nil {
		for _, c := range rival.depths {
			c.prune()
		}
	}
	t := trial{model: model, rival: rival, fresh: make([][]judgement, o.Depths), old: make([][]judgement, o.Depths)}
	pass(func(i int, e Example) {
		if i >= cut {
			r.HeldOut++
			if e.Relevant {
				r.HeldOutRelevant++
			}
			t.judge(e)
		}
	})
	for d, c := range model.depths {
		r.Depths = append(r.Depths, compare(c, t.fresh[d], t.old[d]))
	}
	r.Value, r.valueRanked = qualityOf(t.values)
	r.decide()
	pass(func(i int, e Example) {
		if i >= cut {
			model.Teach(e)
		}
	})
	if err != nil {
		return nil, Report{}, err
	}
	return model, r, nil
}

// A trial collects predictions of the new and the old model for held-out links.
type trial struct {
	model, rival *Model
	fresh, old   [][]judgement // of each depth
	values       []judgement   // of the new model
}

func (t *trial) judge(e Example) {
	for d := range min(len(e.Trail), len(t.fresh)) {
		t.fresh[d] = append(t.fresh[d], judge(t.model.Score(e.Trail[d])[d], e.Relevant))
		if t.rival != nil && d < len(t.rival.depths) {
			t.old[d] = append(t.old[d], judge(t.rival.Score(e.Trail[d])[d], e.Relevant))
		}
	}
	if len(e.Trail) > 0 {
		t.values = append(t.values, judgement{t.model.valueOf(e.Link, e.Trail[0]), e.Value(), e.Relevant})
	}
}

// A Report compares how well the new and the old model order held-out links.
type Report struct {
	Pages           int          `json:"pages"` // judged, all
	Relevant        int          `json:"relevant"`
	HeldOut         int          `json:"held_out"` // of Pages
	HeldOutRelevant int          `json:"held_out_relevant"`
	HasOld          bool         `json:"has_old"`
	Depths          []Comparison `json:"depths"` // at [d-1]
	// Value is how well the new model predicts the value of the last link, by which lookahead orders
	// links. The old model is not rated: it has learned the held-out pages.
	Value       Quality `json:"worth"`
	valueRanked bool    // as Comparison.Ranked
	Better      bool    `json:"better"` // the new model should take the place of the old one
	Reason      string  `json:"reason"` // for Better, in words
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

// compare fills a Comparison from the judgements of the new and the old model.
func compare(learned *classifier, judged, rival []judgement) Comparison {
	c := Comparison{Links: len(judged)}
	base := make([]judgement, len(judged))
	c.BaseRate = float64(learned.relevant+1) / float64(learned.relevant+learned.other+2)
	for i, j := range judged {
		if j.relevant {
			c.Relevant++
		}
		base[i] = judge(c.BaseRate, j.relevant)
	}
	c.BaseLoss = logLoss(base)
	c.New, c.Ranked = qualityOf(judged)
	if len(rival) > 0 {
		c.Old, _ = qualityOf(rival)
	}
	return c
}

// decide sets Better and Reason: a model is better when its mean area under
// the ROC curve over the depths that can be ranked is larger than the old
// one's by minGain, and its mean log-loss there is no more than maxWorse times
// the old one's. The first model is better than none.
func (r *Report) decide() {
	if !r.HasOld {
		r.Better, r.Reason = true, "there is no old model"
		return
	}
	var fresh, old Quality
	n := 0.0
	for _, c := range r.Depths {
		if c.Ranked {
			n++
			fresh.AUC += c.New.AUC
			fresh.LogLoss += c.New.LogLoss
			old.AUC += c.Old.AUC
			old.LogLoss += c.Old.LogLoss
		}
	}
	if n == 0 {
		r.Reason = fmt.Sprintf("cannot be compared: %d of the %d held-out pages are relevant, and both kinds "+
			"are needed", r.HeldOutRelevant, r.HeldOut)
		return
	}
	for _, q := range []*Quality{&fresh, &old} {
		q.AUC /= n
		q.LogLoss /= n
	}
	switch {
	case fresh.AUC <= old.AUC+minGain:
		r.Reason = fmt.Sprintf("it does not order links better: mean AUC %.4f, the old model's %.4f", fresh.AUC,
			old.AUC)
	case fresh.LogLoss > old.LogLoss*maxWorse:
		r.Reason = fmt.Sprintf("its probabilities are worse: mean log-loss %.4f, the old model's %.4f",
			fresh.LogLoss, old.LogLoss)
	default:
		r.Better = true
		r.Reason = fmt.Sprintf("it orders links better: mean AUC %.4f, the old model's %.4f", fresh.AUC, old.AUC)
	}
}

// String returns the report as tables for a terminal of 80 columns.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s relevant), of which the last %s (%s relevant) were held out\n",
		textutil.Several(r.Pages, "page"), textutil.Count(r.Relevant), textutil.Count(r.HeldOut),
		textutil.Count(r.HeldOutRelevant))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	cell := func(x float64, given bool) string {
		if !given {
			return "-"
		}
		return fmt.Sprintf("%.4f", x)
	}
	q := r.Value
	fmt.Fprint(w, "\tlinks\trelevant\tlog-loss old\tnew\tbase rate's\t\n")
	for d, c := range r.Depths {
		fmt.Fprintf(w, "depth %d\t%d\t%d\t%s\t%.4f\t%.4f\t\n", d+1, c.Links, c.Relevant,
			cell(c.Old.LogLoss, r.HasOld), c.New.LogLoss, c.BaseLoss)
	}
	fmt.Fprintf(w, "value\t\t\t\t%s\t\n", cell(q.LogLoss, r.HeldOut > 0))
	w.Flush()
	fmt.Fprint(w, "\n\tAUC old\tnew\tprecision old\tnew\tcalibration error old\tnew\t\n")
	for d, c := range r.Depths {
		ranked := c.Ranked && r.HasOld
		fmt.Fprintf(w, "depth %d\t%s\t%s\t%s\t%s\t%s\t%.4f\t\n", d+1, cell(c.Old.AUC, ranked),
			cell(c.New.AUC, c.Ranked), cell(c.Old.AP, ranked), cell(c.New.AP, c.Ranked), cell(c.Old.Error, r.HasOld),
			c.New.Error)
	}
	fmt.Fprintf(w, "value\t\t%s\t\t%s\t\t%s\t\n", cell(q.AUC, r.valueRanked), cell(q.AP, r.valueRanked),
		cell(q.Error, r.HeldOut > 0))
	w.Flush()
	fmt.Fprint(&b, "\nwhat the new model predicted for held-out links, and what was observed\n")
	fmt.Fprint(w, "range\tdepth 1 links\tpredicted\tobserved\tvalue links\tpredicted\tobserved\t\n")
	for i, b := range r.Value.Calibration {
		var first Bin
		if len(r.Depths) > 0 {
			first = r.Depths[0].New.Calibration[i]
		}
		if first.Links+b.Links > 0 {
			fmt.Fprintf(w, "%d–%d %%\t%d\t%s\t%s\t%d\t%s\t%s\t\n", i*bins, (i+1)*bins, first.Links,
				first.said(first.Predicted), first.said(first.Observed),
				b.Links, b.said(b.Predicted), b.said(b.Observed))
		}
	}
	w.Flush()
	return b.String()
}

// said prints a mean of a bin.
func (b Bin) said(mean float64) string {
	if b.Links == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*mean)
}

// clone returns a deep copy.
func (m *Model) clone() *Model { return m.Without(func(string) bool { return false }) }

// Without returns a copy of m without some terms. The numbers of links learned stay.
func (m *Model) Without(gone func(term string) bool) *Model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	copied := emptyModel(m.options, m.value.clone())
	for d, c := range m.depths {
		k := copied.depths[d]
		k.relevant, k.other = c.relevant, c.other
		relevant, other := c.counts(c.terms)
		for i, term := range c.terms {
			if !gone(term) {
				k.observe(term, int(relevant[i]), int(other[i]))
			}
		}
	}
	return copied
}

// forget undoes Learn at each depth whose classifier has counts for all terms of the link in this
// class; others have never learned the link.
func (m *Model) forget(trail [][]string, relevant bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for d := range min(len(trail), len(m.depths)) {
		m.depths[d].forget(trail[d], relevant)
	}
}

func (c *classifier) forget(terms []string, relevant bool) {
	known, r, o := c.resolve(terms)
	seen, documents := o, &c.other
	if relevant {
		seen, documents = r, &c.relevant
	}
	if *documents == 0 || slices.ContainsFunc(seen, func(n float64) bool { return n < 1 }) {
		return
	}
	*documents--
	for i, term := range known {
		if seen[i] >= 1 && !slices.Contains(known[:i], term) {
			c.count(term, -1, relevant)
		}
	}
}
