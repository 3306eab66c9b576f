package order

import (
	"math"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor/topic"
)

// Trend serves links by the importance of their pages: how well they fit a
// topic, and how long people stay on them (Ahmadi-Abkenari & Selamat 2010,
// equation 5):
//
//	I(d) = α · E · Okapi(d, c*) + β · LR(d)
//
// divided by α·E + β, so that it is a priority. Both measures are on the scale 0
// to 1, which is what the paper has α and β for. LR is known before a page is
// fetched, since logs name its URL. Of the content only the link is known then:
// its Okapi is that of the words on and around it and in its URL. It is combined
// with the distance to the last relevant page as Ahlers & Boll combine their
// prediction. Without a topic, the content is what Lookahead expects.
type Trend struct {
	Lookahead
	Decay                 float64 // of the distance, in (0, 1]
	Alpha, Beta, Emphasis float64 // α, β and E; α·E + β > 0
	Topic                 *topic.Okapi
	// Stay is LR(d) on the scale 0 to 1, 0 for a page that no log knows; nil:
	// there are no logs.
	Stay func(u weburl.URL) float64
	// Known are pages that logs know and that nothing may link to.
	Known []weburl.URL
}

// knownDistance is the distance of a page that only logs name: no link says
// that it is near a relevant one.
const knownDistance = 3

// A TrendExplanation shows how Trend comes to a priority.
type TrendExplanation struct {
	Priority float64 // I, from 0 to 1
	Content  float64 // what is expected of the page's text, 0 to 1
	Okapi    float64 // of the link's words, equation 7; 0 without a topic
	Stay     float64 // LR, 0 to 1
}

// Score returns I of what is known before the page is fetched; a seed has 1.
func (s Trend) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true
	}
	return s.Explain(e).Priority, true
}

// Explain returns how Score comes to the priority of e, which is no seed.
func (s Trend) Explain(e *frontier.Entry) TrendExplanation {
	var x TrendExplanation
	if s.Topic == nil {
		x.Content = s.worth(e)
	} else {
		d := s.Topic.Read(e.Anchor + "\n" + e.Title + "\n" + e.Around + "\n" + e.URL.Path() + "\n" + e.URL.Query())
		x.Okapi = s.Topic.Score(d)
		near := distanceScore(s.Decay, e.Distance)
		x.Content = near + s.Topic.Scaled(d)*(1-near)
	}
	if s.Stay != nil {
		x.Stay = s.Stay(e.URL)
	}
	x.Priority = s.importance(x.Content, x.Stay)
	return x
}

// Importance returns I of a page that was fetched, from 0 to 1; without a
// topic, content stands for its text.
func (s Trend) Importance(u weburl.URL, text string, content float64) float64 {
	if s.Topic != nil {
		content = s.Topic.Scaled(s.Topic.Read(text))
	}
	stay := 0.0
	if s.Stay != nil {
		stay = s.Stay(u)
	}
	return s.importance(content, stay)
}

func (s Trend) importance(content, stay float64) float64 {
	i := (s.Alpha*s.Emphasis*content + s.Beta*stay) / (s.Alpha*s.Emphasis + s.Beta)
	if math.IsNaN(i) {
		return 0
	}
	return min(max(i, 0), 1)
}

// Promise is that of Lookahead: the part of the content alone, because
// nothing is learned about logs.
func (s Trend) Promise(best []frontier.Entry) float64 {
	contents := make([]frontier.Entry, len(best))
	for i := range best {
		contents[i].Priority = s.Explain(&best[i]).Content
	}
	return s.Lookahead.Promise(contents)
}

// Rescores is true where the content is learned.
func (s Trend) Rescores() bool { return s.Topic == nil }

// Unlinked returns the pages that logs know.
func (s Trend) Unlinked() []frontier.Entry {
	entries := make([]frontier.Entry, len(s.Known))
	for i, u := range s.Known {
		entries[i] = frontier.Entry{URL: u, Depth: 1, Distance: knownDistance}
	}
	return entries
}
