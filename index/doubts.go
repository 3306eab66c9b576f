package index

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gazehound/internal/corrections"
)

// A Reason is why a card is doubtful.
type Reason string

// The reasons.
const (
	Contradicts Reason = "contradicted" // a page that was read later contradicts a correction
	Suggested   Reason = "suggested"    // a visitor says otherwise
	MaybeHome   Reason = "home"         // perhaps a private home
	MaybeGone   Reason = "gone"         // closed or moved, a page says, or no page states it any more
	SitesDiffer Reason = "differs"      // sites do not agree about contacts
	Unsure      Reason = "unsure"       // low confidence
	Nameless    Reason = "nameless"     // nobody knows what is there
	NewKind     Reason = "kind"         // a page and the map do not agree about the kind, or none is known
)

// How much each reason weighs. Unsure weighs up to this, by how much confidence is missing.
var doubtWeight = map[Reason]float64{
	Contradicts: 8, Suggested: 7, MaybeHome: 6, MaybeGone: 5, SitesDiffer: 3, Unsure: 10, Nameless: 2, NewKind: 1,
}

// sureEnough is the confidence above which Unsure is no reason.
const sureEnough = 0.8

// A Doubt is a card that a person should look at.
type Doubt struct {
	ID      string
	Label   string
	Reasons []Reason // the weightiest first
	Weight  float64  // how useful an answer is, ≥ 0; only its order means something
}

// DoubtOf returns what is doubtful about a hit of Walk, which may be suggested otherwise; a Weight of 0
// means nothing. What a person has confirmed or corrected is no doubt until a page contradicts it.
func DoubtOf(h *Hit, suggested bool) Doubt {
	d := Doubt{ID: h.ID, Label: h.Label()}
	settled := map[corrections.What]bool{}
	contradicted := false
	for _, f := range h.Facts {
		settled[f.What] = !f.Contradicted
		contradicted = contradicted || f.Contradicted
	}
	add := func(r Reason, applies bool, share float64) {
		if applies {
			d.Reasons, d.Weight = append(d.Reasons, r), d.Weight+doubtWeight[r]*share
		}
	}
	add(Contradicts, contradicted, 1)
	add(Suggested, suggested, 1)
	if !settled[corrections.Confirm] {
		add(MaybeHome, h.Person && h.Kind == "" && !settled[corrections.Kind], 1)
		add(MaybeGone, (h.Status != "" || !h.Gone.IsZero()) && !settled[corrections.Gone], 1)
		add(SitesDiffer, len(h.Differs) > 0, math.Sqrt(float64(len(h.Differs))))
		add(Unsure, h.Confidence < sureEnough, 1-h.Confidence)
		add(Nameless, h.Name == "" && h.HouseNumber != "", 1)
		add(NewKind, (h.StatedKind != "" || h.Kind == "" && h.Name != "") && !settled[corrections.Kind], 1)
	}
	slices.SortStableFunc(d.Reasons, func(a, b Reason) int { return cmp.Compare(doubtWeight[b], doubtWeight[a]) })
	return d
}

// compare orders doubts, the most useful first.
func (d Doubt) compare(o Doubt) int {
	return cmp.Or(cmp.Compare(o.Weight, d.Weight), cmp.Compare(d.ID, o.ID))
}

// Doubts returns the cards most useful to look at, the most useful first, at most most, out of what
// walk hands over; suggested reports whether a visitor says otherwise of an address.
func Doubts(ctx context.Context, walk func(context.Context, Filters, func(*Hit) error) error,
	suggested func(id string) bool, most int) (all []Doubt, err error) {
	cut := func() {
		slices.SortFunc(all, Doubt.compare)
		all = all[:min(len(all), most)]
	}
	err = walk(ctx, Filters{}, func(h *Hit) error {
		if d := DoubtOf(h, suggested(h.ID)); d.Weight > 0 {
			all = append(all, d)
		}
		if len(all) >= 4*most {
			cut()
		}
		return nil
	})
	cut()
	return all, err
}
