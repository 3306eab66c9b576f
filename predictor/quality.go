package predictor

import (
	"cmp"
	"math"
	"slices"
)

// A judgement is a prediction and its outcome.
type judgement struct {
	p        float64 // predicted probability of a relevant page, or predicted value
	came     float64 // outcome: 1 or 0, or the value, in [0, 1]
	relevant bool
}

// Quality is how well a model predicts.
type Quality struct {
	LogLoss float64 `json:"log_loss"` // mean -ln of the probability of the outcome; 0 is perfect
	// Calibrated is the log-loss of the predictions after calibration, see calibrated.
	Calibrated float64 `json:"calibrated_log_loss"`
	AUC        float64 `json:"auc"` // area under the ROC curve, in [0, 1]; 0.5 is chance; 0 where not Ranked
	// AP is the average precision: the mean, over the relevant links, of the share of relevant ones
	// among all links ranked as high or higher; in [0, 1], and 0 if not Ranked. A random order has
	// the share of relevant links.
	AP float64 `json:"ap"`
	// Error is the expected calibration error: by how much Predicted and Observed
	// of a Bin differ, in the mean over the links.
	Error       float64   `json:"calibration_error"`
	Calibration [bins]Bin `json:"calibration"` // by prediction, in tenths
}

const bins = 10

// A Bin holds the links with predictions of one tenth.
type Bin struct {
	Links     int     `json:"links"`
	Predicted float64 `json:"predicted"` // mean
	Observed  float64 `json:"came"`      // mean outcome
}

// qualityOf measures judgements, which it sorts, and reports whether both kinds
// of link are among them, so that AUC and AP mean something.
func qualityOf(js []judgement) (q Quality, ranked bool) {
	q.LogLoss = logLoss(js)
	q.AUC, ranked = auc(js)
	if ranked {
		q.AP = averagePrecision(js)
	}
	q.Calibrated = logLoss(calibrated(js))
	for _, j := range js {
		b := &q.Calibration[min(int(j.p*bins), bins-1)]
		b.Links++
		b.Predicted += j.p
		b.Observed += j.came
	}
	for i := range q.Calibration {
		if b := &q.Calibration[i]; b.Links > 0 {
			b.Predicted /= float64(b.Links)
			b.Observed /= float64(b.Links)
			q.Error += math.Abs(b.Predicted-b.Observed) * float64(b.Links) / float64(len(js))
		}
	}
	return q, ranked
}

// calibrated returns the judgements with predictions 1/(1+exp(-a-b·ln(p/(1-p)))), as Platt does, so
// that models of the same order are equal however sure they are of it. Each half of the judgements
// has the a and b that fit the other half best.
func calibrated(js []judgement) []judgement {
	out := slices.Clone(js)
	for half := range 2 {
		a, b := plattFit(js, 1-half)
		for i := half; i < len(js); i += 2 {
			out[i].p = sigmoid(a + b*logit(clipped(js[i].p)))
		}
	}
	return out
}

// plattFit fits a and b to every second judgement from first on by Newton's method. A weak prior
// holds them near 0 and 1, which calibrate nothing.
func plattFit(js []judgement, first int) (a, b float64) {
	const steps, prior = 20, 1
	b = 1
	for range steps {
		ga, gb := prior*a, prior*(b-1) // gradient
		haa, hab, hbb := float64(prior), 0.0, float64(prior)
		for i := first; i < len(js); i += 2 {
			z := logit(clipped(js[i].p))
			p := sigmoid(a + b*z)
			ga, gb = ga+p-js[i].came, gb+(p-js[i].came)*z
			w := p * (1 - p)
			haa, hab, hbb = haa+w, hab+w*z, hbb+w*z*z
		}
		det := haa*hbb - hab*hab
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		most := max(math.Abs(da), math.Abs(db), 1) // a step of at most 1, so that it converges
		a, b = a-da/most, max(0, b-db/most)        // it must not turn the order round
	}
	return a, b
}

// averagePrecision returns Σ (R_n − R_n−1)·P_n over the distinct predictions from the highest down,
// where P_n and R_n are precision and recall of the links predicted that high or higher. The
// judgements are sorted by auc, and some are relevant.
func averagePrecision(js []judgement) float64 {
	sum, seen, relevant := 0.0, 0, 0
	for i := len(js); i > 0; {
		tie, p := 0, js[i-1].p
		for ; i > 0 && js[i-1].p == p; i-- {
			seen++
			if js[i-1].relevant {
				tie++
			}
		}
		relevant += tie
		sum += float64(tie) * float64(relevant) / float64(seen)
	}
	return sum / float64(relevant)
}

// auc returns the area under the ROC curve: the probability that a relevant
// example was given a higher p than another one, ties counting half (the
// Mann–Whitney statistic). It is undefined, false, unless both kinds are there.
// It sorts the judgements.
func auc(js []judgement) (area float64, ok bool) {
	slices.SortFunc(js, func(a, b judgement) int { return cmp.Compare(a.p, b.p) })
	var ranks float64 // of the relevant ones, counted from 1, a tie having its mean rank
	relevant := 0
	for i := 0; i < len(js); {
		tie, inTie := i, 0
		for ; i < len(js) && js[i].p == js[tie].p; i++ {
			if js[i].relevant {
				inTie++
			}
		}
		ranks += float64(inTie) * float64(tie+1+i) / 2
		relevant += inTie
	}
	other := len(js) - relevant
	if relevant == 0 || other == 0 {
		return 0, false
	}
	r := float64(relevant)
	return (ranks - r*(r+1)/2) / (r * float64(other)), true
}

// surest clips probabilities away from 0 and 1, so that one certain and wrong prediction does not
// outweigh all others.
const surest = 1e-6

func clipped(p float64) float64 { return min(max(p, surest), 1-surest) }

// logLoss returns the mean of -ln of the predicted probability of the outcome: 0 is perfect, ln 2 =
// 0.69 is guessing. It is 0 without judgements. For outcomes between 0 and 1 both classes count in
// part.
func logLoss(js []judgement) float64 {
	sum := 0.0
	for _, j := range js {
		p := clipped(j.p)
		if j.came > 0 {
			sum -= j.came * math.Log(p)
		}
		if j.came < 1 {
			sum -= (1 - j.came) * math.Log(1-p)
		}
	}
	return sum / float64(max(len(js), 1))
}
