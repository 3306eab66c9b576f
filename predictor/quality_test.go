package predictor

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestAUCIsTheShareOfPairsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		js := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) judgement {
			return judgement{float64(rapid.IntRange(0, 8).Draw(t, "p")) / 8, rapid.Bool().Draw(t, "relevant")}
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
		{[]judgement{{0.5, true}, {0.5, false}}, math.Ln2},
		{[]judgement{{0.9, true}, {0.2, false}}, -(math.Log(0.9) + math.Log(0.8)) / 2},
		{[]judgement{{0, true}}, -math.Log(surest)},
		{[]judgement{{1, false}}, -math.Log(surest)},
	} {
		if got := logLoss(test.js); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("logLoss(%v) = %v, want %v", test.js, got, test.want)
		}
	}
}
