package sim

import (
	"math"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// OracleName is the name of the Oracle among the orders.
const OracleName = "oracle-next"

// An Oracle is a strategy with knowledge that no crawler can have: the label of every queued page,
// and nothing of what lies behind it. It is the perfect one-step predictor and gives an upper bound.
// Links to pages that are not relevant come in the order of their distance.
type Oracle struct{ Web *Web }

// Score returns the priority of e.
func (o Oracle) Score(e *frontier.Entry) (float64, bool) {
	distance := math.Pow(0.5, float64(e.Distance))
	switch n := o.find(e.URL); {
	case n < 0:
		return 0.001 * distance, true
	case o.Web.pages[n].Relevant:
		return 0.5 + 0.5*distance, true
	}
	return 0.5 * distance, true
}

// find returns the number of the page behind a link, or -1.
func (o Oracle) find(u weburl.URL) int32 {
	if n := o.Web.number(u); n >= 0 || o.Web.truth == nil {
		return n
	}
	to := o.Web.answer(u).response.Location // redirects of a made-up town are not listed
	if to.IsZero() {
		return -1
	}
	return o.Web.number(to)
}
