package predictor

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestAUCIsTheShareOfPairsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		js := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) judgement {
			return judge(float64(rapid.IntRange(0, 8).Draw(t, "p"))/8, rapid.Bool().Draw(t, "relevant"))
		}), 0, 40).Draw(t, "judgements")
		right, pairs := 0.0, 0.0
		for _, a := range js {
			for _, b := range js {
				if !a.relevant || b.relevant {
					continue
				}
				pairs++
				if a.p > b.p {
					right++
				} else if a.p == b.p {
					right += 0.5
				}
			}
		}
		got, ok := auc(js)
		if ok != (pairs > 0) || ok && math.Abs(got-right/pairs) > 1e-12 {
			t.Errorf("auc = %v, %v; of %v pairs %v are in order", got, ok, pairs, right)
		}
	})
}

func TestLogLoss(t *testing.T) {
	for _, test := range []struct {
		js   []judgement
		want float64
	}{
		{nil, 0},
		{[]judgement{judge(0.5, true), judge(0.5, false)}, math.Ln2},
		{[]judgement{judge(0.9, true), judge(0.2, false)}, -(math.Log(0.9) + math.Log(0.8)) / 2},
		{[]judgement{judge(0, true)}, -math.Log(surest)},
		{[]judgement{judge(1, false)}, -math.Log(surest)},
		{[]judgement{{p: 0.25, came: 0.25}}, -0.25*math.Log(0.25) - 0.75*math.Log(0.75)},
	} {
		if got := logLoss(test.js); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("logLoss(%v) = %v, want %v", test.js, got, test.want)
		}
	}
}

// TestQuality holds average precision and calibration to counts by hand.
func TestQuality(t *testing.T) {
	// From the highest: relevant, other, a tie of one each, other.
	js := []judgement{judge(0.95, true), judge(0.9, false), judge(0.5, true), judge(0.5, false), judge(0.05, false)}
	q, ranked := qualityOf(js)
	if want := (1.0 + 2.0/4) / 2; !ranked || math.Abs(q.AP-want) > 1e-12 {
		t.Errorf("average precision %v, %v; want %v", q.AP, ranked, want)
	}
	top, middle := q.Calibration[9], q.Calibration[5]
	if top.Links != 2 || math.Abs(top.Predicted-0.925) > 1e-12 || top.Observed != 0.5 || middle.Links != 2 || middle.Observed != 0.5 {
		t.Errorf("bins %+v", q.Calibration)
	}
	if want := (2*0.425 + 0.05) / 5; math.Abs(q.Error-want) > 1e-12 {
		t.Errorf("calibration error %v, want %v", q.Error, want)
	}
	if q, ranked := qualityOf(nil); ranked || q != (Quality{}) {
		t.Errorf("of nothing: %+v, %v", q, ranked)
	}
	if q, ranked := qualityOf([]judgement{judge(1, true)}); ranked || q.AP != 0 || q.Calibration[9].Links != 1 {
		t.Errorf("of one kind: %+v, %v", q, ranked)
	}
}

func TestAveragePrecisionOfChance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		js := make([]judgement, rapid.IntRange(2, 50).Draw(t, "n"))
		relevant := rapid.IntRange(1, len(js)-1).Draw(t, "relevant")
		for i := range js {
			js[i] = judge(0.5, i < relevant) // all alike: nothing is known
		}
		q, ranked := qualityOf(js)
		if want := float64(relevant) / float64(len(js)); !ranked || math.Abs(q.AP-want) > 1e-12 || q.AUC != 0.5 {
			t.Errorf("%d of %d: average precision %v, AUC %v", relevant, len(js), q.AP, q.AUC)
		}
	})
}

// Calibration keeps the order, repairs predictions that are too sure, and turns nothing round.
func TestCalibrated(t *testing.T) {
	var good, sure, wrong []judgement
	random := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		p := random.Float64()
		j := judge(p, random.Float64() < p)
		good = append(good, j)
		sure = append(sure, judgement{sigmoid(5*logit(p) + 2), j.came, j.relevant})
		wrong = append(wrong, judgement{1 - p, j.came, j.relevant})
	}
	best := logLoss(good)
	if got := logLoss(calibrated(good)); math.Abs(got-best) > 0.01 {
		t.Errorf("calibrated predictions have log-loss %.4f after calibration, before %.4f", got, best)
	}
	if got := logLoss(calibrated(sure)); math.Abs(got-best) > 0.02 {
		t.Errorf("predictions that are too sure have log-loss %.4f, want %.4f", got, best)
	}
	if got := logLoss(calibrated(wrong)); got < 0.68 {
		t.Errorf("the opposite of the truth has log-loss %.4f, want that of guessing", got)
	}
	if got := calibrated(nil); len(got) != 0 {
		t.Errorf("calibrated(nil) = %v", got)
	}
}
