package predictor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteJSON writes the model as lines of JSON: one of type "model" with the links learned for each
// depth, one of type "term" for each term of each depth, and a "summary".
func (m *Model) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	type depthLine struct {
		Depth    int `json:"depth"`
		Relevant int `json:"relevant"`
		Other    int `json:"other"`
		Terms    int `json:"terms"`
	}
	head := struct {
		Type     string      `json:"type"`
		Features int         `json:"features"`
		Depths   []depthLine `json:"depths"`
	}{Type: "model", Features: FeatureSet}
	for d, s := range m.Stats().Depths {
		head.Depths = append(head.Depths, depthLine{d + 1, s.Relevant, s.Other, s.Terms})
	}
	err := lines.Encode(head)
	terms := 0
	for d := range m.depths {
		for w := range m.Weights(d+1, "") {
			if err != nil {
				return err
			}
			err = lines.Encode(struct {
				Type string `json:"type"`
				TermWeight
			}{"term", w})
			terms++
		}
	}
	if err == nil {
		err = lines.Encode(struct {
			Type  string `json:"type"`
			Terms int    `json:"terms"`
		}{"summary", terms})
	}
	return errors.Join(err, out.Flush())
}

// Record returns what is written of d in JSON.
func (d Difference) Record() any {
	type side struct {
		LogOdds  float64 `json:"log_odds"`
		Relevant int     `json:"relevant"`
		Other    int     `json:"other"`
	}
	return struct {
		Depth  int     `json:"depth"`
		Term   string  `json:"term"`
		Here   side    `json:"here"`
		There  side    `json:"there"`
		Change float64 `json:"change"`
	}{d.Here.Depth, d.Here.Term, side{d.Here.LogOdds, d.Here.Relevant, d.Here.Other}, side{d.There.LogOdds,
		d.There.Relevant, d.There.Other}, d.Change()}
}

// String writes a difference for people.
func (d Difference) String() string {
	counts := fmt.Sprintf("%d / %d here, %d / %d there", d.Here.Relevant, d.Here.Other, d.There.Relevant,
		d.There.Other)
	return fmt.Sprintf("  %s  %s  %-28s  %s", FormatLogOdds(d.Here.LogOdds), FormatLogOdds(d.There.LogOdds), counts,
		d.Here.Name())
}
