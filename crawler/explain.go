package crawler

import (
	"cmp"
	"slices"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/predictor"
)

// A LinkReport is what a crawl knows about a URL that was queued once. Queued or
// Visited is set.
type LinkReport struct {
	Type     string       `json:"type"` // explain
	URL      string       `json:"url"`
	State    string       `json:"state"`             // queued, parked or visited
	Priority float64      `json:"queued_priority"`   // in the queue, or at its visit
	Depth    int          `json:"depth"`             // links from a seed
	Distance int          `json:"distance"`          // links since the last relevant page
	Retries  int          `json:"retries,omitzero"`  // failed tries
	Found    time.Time    `json:"found"`             // when it was queued
	Scope    string       `json:"left_out,omitzero"` // reason of the scope; set by the caller
	Demoted  string       `json:"demoted,omitzero"`  // why URLs like this are demoted
	Factor   float64      `json:"factor,omitzero"`   // of the priority, because of Demoted
	Parked   string       `json:"parked,omitzero"`   // pattern under which it is parked, or would be
	Dust     []string     `json:"dust,omitempty"`    // parameters that do not change the page
	Check    *CheckReport `json:"asked,omitempty"`   // when it was fetched and when it is due again
	Link     LinkWords    `json:"link"`
	Path     []PathStep   `json:"path"` // from the last relevant page or seed to the URL
	*Queued
	*Visited
}

// LinkWords are the words of a link.
type LinkWords struct {
	Anchor string `json:"anchor"`
	Title  string `json:"title,omitzero"`
	Around string `json:"around,omitzero"`
	Place  string `json:"place,omitzero"` // zone of the page and tag path
	Switch bool   `json:"switch"`         // from another site
}

// A PathStep is one page on the way to a URL.
type PathStep struct {
	URL      string `json:"url"`
	Anchor   string `json:"anchor"` // of the link to it
	Seed     bool   `json:"seed"`
	Relevant *bool  `json:"relevant,omitempty"` // nil: not judged
}

// A CheckReport is when a page was fetched, and when it is due again.
type CheckReport struct {
	First   time.Time `json:"first_seen,omitzero"`
	Last    time.Time `json:"last_seen,omitzero"`
	Fetched time.Time `json:"last_asked"`
	Due     time.Time `json:"due"`
	Gone    time.Time `json:"gone,omitzero"`
	Times   int       `json:"asked_again"`
	Changes int       `json:"changed"`
}

// Queued is the part of a LinkReport about a queued link.
type Queued struct {
	Strategy string         `json:"strategy"` // name of the strategy; set by the caller
	Rank     *frontier.Rank `json:"rank,omitempty"`
	Now      float64        `json:"priority"` // by the present model, before demotion
	Kept     bool           `json:"kept"`     // false: the strategy drops such links
	order.Explanation
}

// Visited is the part of a LinkReport about a visited URL.
type Visited struct {
	Number   uint64    `json:"visit"` // number in the order of all visits, from 1
	At       time.Time `json:"at"`
	Kind     string    `json:"kind"`
	Reason   string    `json:"reason,omitzero"`
	Status   int       `json:"status,omitzero"`
	Bytes    int64     `json:"bytes"`
	Rendered bool      `json:"rendered,omitzero"` // its scripts were run
	Relevant bool      `json:"relevant"`
	// relevant only by addresses that most pages of the host state
	SiteWide  bool             `json:"site_wide,omitzero"`
	Score     float64          `json:"score"`
	Evidence  string           `json:"evidence,omitzero"` // why it is relevant, if not by addresses
	Addresses []string         `json:"addresses,omitempty"`
	Dropped   map[string]int64 `json:"dropped,omitempty"` // links of the page, by reason
	Taught    []Example        `json:"taught,omitempty"`
}

// An Example is a link from which the model learned the verdict on a page.
type Example struct {
	Depth       int     `json:"depth"`
	URL         string  `json:"url"`
	From        string  `json:"from,omitzero"` // the page that holds the link
	Anchor      string  `json:"anchor"`
	Terms       int     `json:"terms"`
	Probability float64 `json:"probability"` // at this depth, by the present model
}

// maxPath bounds the path of a LinkReport, in links.
const maxPath = 50

// Explain returns what the crawl knows about n, with the present model.
func (l *Learned) Explain(n frontier.Node) (LinkReport, error) {
	x := LinkReport{
		Type: "explain", URL: n.URL.String(), State: n.State.String(), Priority: n.Priority,
		Depth: n.Depth, Distance: n.Distance, Retries: n.Retries, Found: n.Found,
		Link: LinkWords{n.Anchor, n.Title, n.Around, n.Place, n.Switch},
	}
	trail, err := l.Tree.Trail(frontier.KeyOf(n.URL), max(predictor.MaxDepth+1, min(n.Distance, maxPath)+1))
	if err != nil {
		return x, err
	}
	x.Path = pathOf(trail)
	if found := l.Traps.Check(n.URL); found.Factor < 1 && n.Depth > 0 && !n.Sitemap {
		x.Demoted, x.Factor, x.Parked = found.Reason, found.Factor, found.Pattern
	}
	x.Parked = cmp.Or(n.Entry.Parked, x.Parked)
	x.Dust = l.Traps.Dust(n.URL)
	if c, fetched, err := l.Tree.Check(frontier.KeyOf(n.URL)); err != nil {
		return x, err
	} else if fetched {
		x.Check = &CheckReport{c.First, c.Last, c.Asked, c.Due, c.Gone, c.Asks, c.Changes}
	}
	if n.State != frontier.Visited {
		x.Queued = &Queued{Explanation: order.Explain(l.Strategy, &n.Entry)}
		x.Now, x.Kept = l.Strategy.Score(&n.Entry)
	} else {
		x.Visited = l.explainVisited(n, trail)
	}
	return x, nil
}

// pathOf returns the last relevant page or the seed of a trail and what
// follows, down to the URL itself.
func pathOf(trail []frontier.Node) []PathStep {
	var path []PathStep
	for i, n := range trail {
		step := PathStep{URL: n.URL.String(), Anchor: n.Anchor, Seed: n.Depth == 0}
		if n.State == frontier.Visited && n.Outcome.Kind == frontier.KindPage {
			step.Relevant = &n.Outcome.Relevant
		}
		path = append(path, step)
		if i > 0 && n.Outcome.Relevant {
			break
		}
	}
	slices.Reverse(path)
	return path
}

// explainVisited returns the outcome of n, the first node of trail.
func (l *Learned) explainVisited(n frontier.Node, trail []frontier.Node) *Visited {
	o := n.Outcome
	v := &Visited{
		Number: n.Seq, At: o.At, Kind: string(o.Kind), Reason: o.Reason, Status: o.Status, Bytes: o.Bytes,
		Rendered: o.Rendered, Relevant: o.Relevant,
		SiteWide: o.SiteWide, Score: o.Score, Evidence: o.Evidence, Addresses: o.Addresses, Dropped: o.Dropped,
	}
	if o.Kind != frontier.KindPage {
		return v
	}
	for i, terms := range order.TrailTerms(trail) {
		predicted := l.Model.Score(terms)
		if i == len(predicted) {
			break // the model learns no further
		}
		e := Example{Depth: i + 1, URL: trail[i].URL.String(), Anchor: trail[i].Anchor, Terms: len(terms),
			Probability: predicted[i]}
		if i+1 < len(trail) {
			e.From = trail[i+1].URL.String()
		}
		v.Taught = append(v.Taught, e)
	}
	return v
}
