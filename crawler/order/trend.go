package order

import (
	"errors"
	"math"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
	"gazehound/predictor/topic"
)

// TrendSettings are the options of trend.
type TrendSettings struct {
	Clickstream string  // folder of "clickstream import"
	Alpha       float64 `range:"0..1000"` // weight of the content
	Beta        float64 `range:"0..1000"` // weight of the time that people stay
	Emphasis    float64 `range:"0..1000"` // further factor of the content
	Importance  string  `oneof:"scaled|published"`
}

// published is the value of Importance for equation 5 as printed.
const published = "published"

var trend = Kind{
	Name: "trend",
	Help: `important pages first: alpha × emphasis × how well the link fits the
topic + beta × how long people stay on the page by the access logs of
"clickstream import" (Ahmadi-Abkenari & Selamat 2010). The topic is
the one in --topics that --examples are about, or --topic NAME; without
--topics it is what lookahead expects. Pages of the seeds' sites that
logs know are visited even if nothing links to them`,
	Keys: []string{"clickstream", "alpha", "beta", "emphasis", "importance"},
	Logs: true,
	Missing: func(s Settings) *MissingError {
		if s.Alpha*s.Emphasis+s.Beta > 0 {
			return nil
		}
		return &MissingError{Key: "alpha",
			Need: " × crawl.emphasis or crawl.beta above 0: else nothing would be important"}
	},
	New: func(o Options) (Strategy, error) {
		switch {
		case o.Model == nil:
			return nil, errNoModel
		case o.Topic == nil && o.Stay == nil:
			return nil, errors.New("needs a topic or access logs")
		case o.Topic == nil && o.Importance == published:
			return nil, errors.New("needs a topic for the importance as published: --topics FILE")
		}
		return Trend{Lookahead{Model: o.Model}, Nearness{1, o.Decay}, o.TrendSettings, o.Topic, o.Stay,
			o.Known, o.Collection == "crawled"}, nil
	},
}

// Trend serves links by the importance of their pages: how well they fit a
// topic, and how long people stay on them (Ahmadi-Abkenari & Selamat 2010,
// equation 5):
//
//	I(d) = α · E · Okapi(d, c*) + β · LR(d)
//
// With Importance published, Okapi is that of equation 7 and LR is in seconds, which α and β have
// to balance; squash maps I to a priority. Scaled is ours: both measures range from 0 to 1, and I
// is divided by α·E + β. LR is known before a page is fetched, since logs name its URL. The content
// is estimated by the Okapi of the words on and around the link and in its URL; scaled, it is
// combined with the distance to the last relevant page as Ahlers & Boll combine their prediction.
// Without a topic, the content is the value that Lookahead predicts.
type Trend struct {
	Lookahead
	Near          Nearness
	TrendSettings // α, β and E; α·E + β > 0
	Topic         *topic.Okapi
	Stay          func(u weburl.URL) float64 // LR(d), see Options
	Known         []weburl.URL
	TopicGrows    bool // crawled pages join the collection of Topic
}

// knownDistance is the distance of pages known from logs only, which no link places near a relevant
// page.
const knownDistance = 3

// TrendScores are the parts of a priority of Trend.
type TrendScores struct {
	Content float64  `json:"content"`         // estimated content, 0 to 1; as published, Okapi
	Okapi   *float64 `json:"okapi,omitempty"` // of the link's words, equation 7; nil without a topic
	Stay    float64  `json:"stay"`            // LR, 0 to 1; as published, in seconds
}

// Score returns I by what is known before the page is fetched; 1 for a seed.
func (s Trend) Score(e *frontier.Entry) (float64, bool) {
	if e.Depth == 0 {
		return 1, true
	}
	x := s.scores(e)
	return s.importance(x.Content, x.Stay), true
}

// Explain returns the parts for content and stay.
func (s Trend) Explain(e *frontier.Entry) Explanation {
	if e.Depth == 0 {
		return whole(1, "a seed")
	}
	scores := s.scores(e)
	if s.TrendSettings.Importance == published {
		i := s.published(scores.Content, scores.Stay)
		x := whole(squash(i), "importance %.3f as published, on the scale 0 to 1", i)
		x.Trend = &scores
		return x
	}
	stay := s.importance(0, scores.Stay)
	x := whole(s.importance(scores.Content, scores.Stay)-stay, "content")
	x.Parts = append(x.Parts, Part{"stay", stay})
	x.Trend = &scores
	if s.Topic == nil {
		x.Value = s.explainValue(e)
	}
	return x
}

// scores returns the scores of e, which must not be a seed.
func (s Trend) scores(e *frontier.Entry) TrendScores {
	var x TrendScores
	if s.Topic == nil {
		x.Content = s.value(e)
	} else {
		d := s.Topic.Read(e.Anchor + "\n" + e.Title + "\n" + e.Around + "\n" + e.URL.Path() + "\n" + e.URL.Query())
		okapi := s.Topic.Score(d)
		x.Okapi = &okapi
		x.Content = okapi
		if s.TrendSettings.Importance != published {
			near := s.Near.Score(e.Distance)
			x.Content = near + s.Topic.Scaled(d)*(1-near)
		}
	}
	if s.Stay != nil {
		x.Stay = s.Stay(e.URL)
	}
	return x
}

// Read notes the topic's words in the text.
func (s Trend) Read(o *frontier.Outcome, text string) {
	if s.Topic != nil {
		d := s.Topic.Read(text)
		o.TextBytes, o.TopicWords = d.Bytes, d.Counts
	}
}

// Importance returns I of a fetched page, from 0 to 1, by the collection as it is now; without a topic,
// the score of the verdict is its content.
func (s Trend) Importance(u weburl.URL, o *frontier.Outcome) float64 {
	content := o.Score
	d := topic.Text{Bytes: o.TextBytes, Counts: o.TopicWords}
	switch {
	case s.TrendSettings.Importance == published:
		content = s.Topic.Score(d)
	case s.Topic != nil:
		content = s.Topic.Scaled(d)
	}
	stay := 0.0
	if s.Stay != nil {
		stay = s.Stay(u)
	}
	return s.importance(content, stay)
}

// published is equation 5.
func (s Trend) published(okapi, seconds float64) float64 {
	return s.Alpha*s.Emphasis*okapi + s.Beta*seconds
}

// squash maps an importance of any size to 0 to 1, monotonically. The logarithm keeps sums of days
// distinct.
func squash(i float64) float64 {
	x := math.Log1p(math.Abs(i))
	return 0.5 + math.Copysign(0.5*x/(1+x), i)
}

// importance returns the scaled I, 0 to 1.
func (s Trend) importance(content, stay float64) float64 {
	if s.TrendSettings.Importance == published {
		return squash(s.published(content, stay))
	}
	i := (s.Alpha*s.Emphasis*content + s.Beta*stay) / (s.Alpha*s.Emphasis + s.Beta)
	if math.IsNaN(i) {
		return 0
	}
	return min(max(i, 0), 1)
}

// LinkValue is that of Lookahead, for the content alone, because nothing is learned about logs.
func (s Trend) LinkValue(best []frontier.Entry) float64 {
	contents := make([]frontier.Entry, len(best))
	for i := range best {
		contents[i].Priority = s.scores(&best[i]).Content
		if s.TrendSettings.Importance == published {
			contents[i].Priority = squash(contents[i].Priority)
		}
	}
	return s.Lookahead.LinkValue(contents)
}

// CollectionOf returns the Okapi of s if its collection is the pages of the crawl, else nil.
func CollectionOf(s Strategy) *topic.Okapi {
	if t, ok := s.(Trend); ok && t.TopicGrows {
		return t.Topic
	}
	return nil
}

// Rescores is true if the content is learned or the collection of Okapi grows.
func (s Trend) Rescores() bool { return s.Topic == nil || s.TopicGrows }

// Seeds returns the pages in access logs.
func (s Trend) Seeds() []frontier.Entry {
	entries := make([]frontier.Entry, len(s.Known))
	for i, u := range s.Known {
		entries[i] = frontier.Entry{URL: u, Depth: 1, Distance: knownDistance}
	}
	return entries
}
