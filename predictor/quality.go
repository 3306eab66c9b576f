package predictor

import (
	"cmp"
	"math"
	"slices"
)

// A judgement is a prediction and what came of it.
type judgement struct {
	p        float64 // predicted probability of a relevant page
	relevant bool
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

// surest is how close to 0 and 1 a probability may come in logLoss. One sure
// and wrong answer would otherwise outweigh all the others.
const surest = 1e-6

// logLoss returns the mean of -ln of the probability that was given to what
// came: 0 is perfect, ln 2 = 0.69 is knowing nothing. It is 0 of none.
func logLoss(js []judgement) float64 {
	sum := 0.0
	for _, j := range js {
		p := min(max(j.p, surest), 1-surest)
		if !j.relevant {
			p = 1 - p
		}
		sum -= math.Log(p)
	}
	return sum / float64(max(len(js), 1))
}
