package monitor

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"gazehound/crawler"
	"gazehound/crawler/frontier"
	"gazehound/crawler/order"
	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/internal/textutil"
	"gazehound/predictor"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/paulmach/orb"
)

// Bounds of what a Board keeps.
const (
	maxHosts  = 10_000    // whose pages are counted: those visited last
	maxDots   = 20_000    // places on the map; of more, a fair sample
	maxFresh  = 500       // of them, since the last tick
	maxHouses = 1_000_000 // distinct ones that are counted for the coverage
	recent    = 1_000     // pages that "of late" means
)

// A Board keeps the dashboard's data that is not in the frontier: curves, places, hosts and
// streets. It gets every visit and, once a second, a Snapshot. It is safe for concurrent use.
type Board struct {
	mu       sync.Mutex
	state    Snapshot
	history  [len(spans)]*series
	hosts    *simplelru.LRU[string, *hostCount]
	troubles trends[troubleKey]
	dots     []Dot
	places   map[uint64]bool // distinct ones that were found
	fresh    []NewAddress
	streets  map[uint64]*Street                     // of the region, by the hash of gazetteer.StreetID
	find     func(address string) (streetID string) // nil: the streets are not all listed
	counted  bool                                   // all that was found before this run
	houses   map[uint64]bool                        // that were found, by the hash of their address
	covered  int                                    // streets with one
	news     [recent]uint8                          // new streets that each of the last pages brought
	pages    int                                    // seen by this board
	losses   [predictor.DefaultDepths]loss
	visits   *visitMetrics
}

// A Dot is the place of an address that was found, on the map.
type Dot struct {
	Lon   float64   `json:"lon"` // degrees, WGS 84
	Lat   float64   `json:"lat"`
	Found time.Time `json:"found,omitzero"` // zero: before this run
}

// A NewAddress is the first one of this run at a place.
type NewAddress struct {
	Dot
	URL         string `json:"url"` // of the page that states it
	Street      string `json:"street,omitempty"`
	HouseNumber string `json:"housenumber,omitempty"`
	Postcode    string `json:"postcode,omitempty"`
	City        string `json:"city,omitempty"`
	Country     string `json:"country,omitempty"` // ISO 3166-1 alpha-2
}

// A hostCount counts the visits of a host in this run.
type hostCount struct {
	pages, relevant, errors int64
	refused                 int64 // by robots.txt
	unreachable             bool  // robots.txt, at the last visit
	last                    time.Time
}

// robots describes the effect of a host's robots.txt.
func (h *hostCount) robots() string {
	switch {
	case h.unreachable:
		return "unreachable"
	case h.refused > 0 && h.pages == 0:
		return "forbidden"
	case h.refused > 0:
		return "in part"
	}
	return "allowed"
}

// A Street is a street of the region and how much of it was found.
type Street struct {
	Name   string  `json:"name"`
	City   string  `json:"city,omitempty"`
	Houses int     `json:"houses"` // in the gazetteer; 0: none
	Found  int     `json:"found"`  // distinct addresses
	Lon    float64 `json:"lon"`
	Lat    float64 `json:"lat"`
}

// A loss is the mean log-loss of the last predictions.
type loss struct {
	n    int
	mean float64
}

// NewBoard returns an empty Board.
func NewBoard() *Board {
	hosts, _ := simplelru.NewLRU[string, *hostCount](maxHosts, nil) // fails for sizes below 1 only
	b := &Board{hosts: hosts, places: map[uint64]bool{}, streets: map[uint64]*Street{},
		houses: map[uint64]bool{}, visits: newVisitMetrics(), troubles: newTroubleTrends()}
	for i, s := range spans {
		b.history[i] = newSeries(s)
	}
	return b
}

// Visit counts a stored visit.
func (b *Board) Visit(v *crawler.Visit) {
	b.visits.visit(v)
	b.mu.Lock()
	defer b.mu.Unlock()
	host := b.host(v.Entry.URL.Host())
	host.last = v.Outcome.At
	if v.Outcome.Kind == frontier.KindError {
		host.errors++
	}
	if v.Outcome.Kind == frontier.KindSkipped && v.Outcome.Reason == "robots" {
		host.refused++
	}
	host.unreachable = v.Outcome.Kind == frontier.KindSkipped && v.Outcome.Reason == "robots_unreachable"
	if v.Outcome.Kind != frontier.KindPage || v.Before != nil {
		return
	}
	host.pages++
	b.pages++
	before := b.covered
	if v.Outcome.Relevant {
		host.relevant++
		for i := range v.Verdict.Addresses {
			if a := &v.Verdict.Addresses[i]; a.Counts() && a.Precision != gazetteer.NoPrecision {
				d := Dot{a.Point.Lon(), a.Point.Lat(), v.Outcome.At}
				if b.dot(d) && len(b.fresh) < maxFresh {
					b.fresh = append(b.fresh, NewAddress{d, v.Entry.URL.String(), a.Street, a.HouseNumber,
						a.Postcode, a.City, a.Country})
				}
			}
		}
	}
	for _, address := range v.Outcome.Kept() {
		b.cover(address)
	}
	b.news[b.pages%recent] = uint8(min(b.covered-before, math.MaxUint8))
}

// host returns the counts of a host.
func (b *Board) host(name string) *hostCount {
	h, known := b.hosts.Get(name)
	if !known {
		h = &hostCount{}
		b.hosts.Add(strings.Clone(name), h)
	}
	return h
}

// Place adds addresses found before this run to the map.
func (b *Board) Place(at orb.Point) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dot(Dot{Lon: at.Lon(), Lat: at.Lat()})
}

// cover counts a house for its street, once for all the units in it.
func (b *Board) cover(address string) {
	house, _ := geoparse.ReadKey(address)
	house.Unit = ""
	key := hash(house.Key())
	if b.find == nil || b.houses[key] || len(b.houses) >= maxHouses {
		return
	}
	b.houses[key] = true
	s := b.streets[hash(b.find(address))]
	if s == nil {
		return
	}
	s.Found++
	if s.Found == 1 {
		b.covered++
	}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// dot puts a place on the map, once, and reports whether it was new. Above maxDots
// each place has the same chance to be among them (reservoir sampling).
func (b *Board) dot(d Dot) (isNew bool) {
	key := uint64(math.Float32bits(float32(d.Lon)))<<32 | uint64(math.Float32bits(float32(d.Lat)))
	if b.places[key] || len(b.places) >= maxHouses {
		return false
	}
	b.places[key] = true
	if len(b.dots) < maxDots {
		b.dots = append(b.dots, d)
	} else if i := rand.IntN(len(b.places)); i < maxDots {
		b.dots[i] = d
	}
	return true
}

// Example counts what the strategy is about to learn, with the model's answers for the links of the trail
// so far: score returns that for a link at a depth from 1 on, see predictor.Model.ScoreAt.
func (b *Board) Example(trail []frontier.Node, relevant bool, score func(terms []string, depth int) (float64, bool)) {
	terms := order.TrailTerms(trail)
	b.mu.Lock()
	defer b.mu.Unlock()
	for d := range min(len(terms), len(b.losses)) {
		p, ok := score(terms[d], d+1)
		if ok && trail[d].Depth > 0 { // a link led to it
			b.losses[d].add(p, relevant)
		}
	}
}

// leastProbability bounds the log-loss of one prediction.
const leastProbability = 1e-3

func (l *loss) add(p float64, relevant bool) {
	if !relevant {
		p = 1 - p
	}
	l.n = min(l.n+1, recent)
	l.mean += (-math.Log(max(p, leastProbability)) - l.mean) / float64(l.n)
}

// Tick takes the state of a second and returns it as the dashboard shows it,
// with the places that were found since the last tick.
func (b *Board) Tick(s Snapshot) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, series := range b.history {
		series.add(Point{
			At: s.At.Unix(), Pages: s.Pages, Relevant: s.Relevant, Queued: s.Queued, Addresses: s.Addresses,
			Errors: textutil.Sum(s.Errors), Harvest: float32(s.HarvestRecent),
		})
	}
	s.Version, s.Insight = version, b.insight()
	b.state = s
	b.troubles.sample(s.At, func() map[troubleKey]float64 { return troubleCounts(&s) })
	state := b.current()
	state.New, b.fresh = b.fresh, nil
	for _, a := range state.New {
		state.Fresh = append(state.Fresh, a.Dot)
	}
	return state
}

// A State is the dashboard's data besides the curves.
type State struct {
	Snapshot
	Harvest    float64 `json:"harvest"` // of all pages
	Bottleneck string  `json:"bottleneck"`
	Because    string  `json:"because"`
	Figures    []Tile  `json:"figures"` // what the page shows of it, as text
	Fresh      []Dot   `json:"fresh,omitempty"`

	New []NewAddress `json:"-"` // those of Fresh
}

// State returns the state of the last tick.
func (b *Board) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current()
}

func (b *Board) current() State {
	s := State{Snapshot: b.state, Harvest: b.state.Harvest(), Figures: tiles(&b.state, texts["en"])}
	s.Bottleneck, s.Because = b.state.Bottleneck()
	return s
}

// in returns s with its sentences in another language than English.
func (b *Board) in(t words, s State) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, s.Because = s.bottleneck(t)
	if s.Insight != nil {
		insight := *s.Insight
		insight.Advice = b.advice(t, s.Streets)
		s.Insight = &insight
	}
	s.Figures = tiles(&s.Snapshot, t)
	return s
}

// insight returns what the board adds to the state of a crawl.
func (b *Board) insight() *Insight {
	s := &Insight{Streets: b.coverage(), PerMinute: b.history[0].perMinute()}
	for d, l := range b.losses {
		if l.n > 0 {
			mean := l.mean
			s.LogLoss[d] = &mean
		}
	}
	s.Advice = b.advice(texts["en"], s.Streets)
	return s
}

// coverage returns how much of the streets was found; nothing before all is
// counted.
func (b *Board) coverage() Coverage {
	if !b.counted {
		return Coverage{}
	}
	c := Coverage{All: len(b.streets), Found: b.covered}
	for _, n := range b.news {
		c.Recent += int(n)
	}
	return c
}

// advice returns advice for the operator.
func (b *Board) advice(t words, c Coverage) []string {
	lines := []string{}
	type poor struct {
		name string
		hostCount
	}
	var hosts []poor
	for _, name := range b.hosts.Keys() {
		if h, _ := b.hosts.Peek(name); h.pages >= 100 && h.relevant*33 < h.pages { // 3 %
			hosts = append(hosts, poor{name, *h})
		}
	}
	slices.SortFunc(hosts, func(a, b poor) int {
		return cmp.Or(cmp.Compare(b.pages, a.pages), cmp.Compare(a.name, b.name))
	})
	for _, h := range hosts[:min(len(hosts), 3)] {
		lines = append(lines, t.say("limit", h.name, t.number(h.pages), 100*float64(h.relevant)/float64(h.pages)))
	}
	switch {
	case c.All == 0 || b.pages < recent:
	case c.Recent == 0:
		lines = append(lines, t.say("stop", t.number(recent)))
	default:
		lines = append(lines, t.sayOf(int64(c.Recent), "go_on", t.number(recent), t.number(int64(c.Recent))))
	}
	return lines
}

// A Host is one line of the table of hosts.
type Host struct {
	Name     string    `json:"host"`
	Pages    int64     `json:"pages"` // of this run, like the other counts
	Relevant int64     `json:"relevant"`
	Errors   int64     `json:"errors"`
	Refused  int64     `json:"refused"` // by robots.txt
	Robots   string    `json:"robots"`  // "allowed", "in part", "forbidden" or "unreachable"
	Last     time.Time `json:"last"`    // visit
	Rest
}

// A Rest is what a host is doing.
type Rest struct {
	State string  `json:"state"` // ready, asked, waiting or backoff
	Wait  float64 `json:"wait_s"`
}

// Hosts returns the n hosts with the most pages.
func (b *Board) Hosts(n int) []Host {
	b.mu.Lock()
	defer b.mu.Unlock()
	hosts := make([]Host, 0, b.hosts.Len())
	for _, name := range b.hosts.Keys() {
		h, _ := b.hosts.Peek(name)
		hosts = append(hosts, Host{Name: name, Pages: h.pages, Relevant: h.relevant, Errors: h.errors,
			Refused: h.refused, Robots: h.robots(), Last: h.last})
	}
	slices.SortFunc(hosts, func(a, b Host) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(b.Errors, a.Errors), cmp.Compare(a.Name, b.Name))
	})
	return hosts[:min(n, len(hosts))]
}

// Dots returns the places on the map, at most maxDots.
func (b *Board) Dots() []Dot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.dots)
}

// Streets returns the n streets of the region with the most houses that were
// not found, and the coverage.
func (b *Board) Streets(n int) ([]Street, Coverage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Street, 0, len(b.streets))
	for _, s := range b.streets {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Street) int {
		return cmp.Or(cmp.Compare(b.Houses-b.Found, a.Houses-a.Found), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.City, b.City))
	})
	return list[:min(n, len(list))], b.coverage()
}

// History returns the points of a span, the oldest first; false if there is no
// such span.
func (b *Board) History(name string) ([]Point, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.history {
		if s.Name == name {
			return s.last(time.Now().Unix()), true
		}
	}
	return nil, false
}
