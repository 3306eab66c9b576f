package report

import (
	"fmt"
	"math"
)

// A Meter estimates how many of the region's streets a crawl has found, and how many it can still
// find on such sites.
//
// Sites are the occasions of a capture–recapture experiment, streets the individuals. The number of
// streets that only one or two sites mention gives the number that none has mentioned yet, by the
// estimator of Chao 1987 ("Estimating the population size for capture–recapture data with unequal
// catchability", Biometrics 43, 783–791) with the factor (m-1)/m for m occasions, known as Chao2.
// It is a lower bound: some streets are mentioned less easily than others, and sites of one owner
// are not independent occasions.
type Meter struct {
	Gazetteer int     `json:"gazetteer"` // streets in the region
	Mentioned int     `json:"mentioned"` // of these, with an address on some page
	Share     float64 `json:"share"`     // Mentioned ÷ Gazetteer
	Unknown   int     `json:"unknown"`   // distinct addresses with an unknown street, or without one
	Sites     int     `json:"sites"`     // that mention any
	Once      int     `json:"once"`      // streets that one site mentions
	Twice     int     `json:"twice"`     // streets that two sites mention
	// Seen is the chance that a mention on a further site is of a street that is
	// known: the sample's coverage after Good and Turing, in the form of Chao & Jost
	// 2012 (Ecology 93, 2533–2547) for occasions.
	Seen     float64 `json:"seen"`
	Estimate float64 `json:"estimate"` // streets that sites like these mention, the ones unknown yet included
	Low      float64 `json:"low"`      // 95 % interval
	High     float64 `json:"high"`
	Found    float64 `json:"found"`       // Mentioned ÷ Estimate
	New      int     `json:"new_streets"` // in the last Recent pages
	GoOn     string  `json:"worth_going_on"`
	Advice   string  `json:"advice"` // GoOn in a sentence
}

// The values of Meter.GoOn.
const (
	Yes     = "yes"
	Hardly  = "hardly"
	No      = "no"
	TooSoon = "too soon to tell"
)

// leastSites is how many sites an estimate needs.
const leastSites = 10

// A meter counts the streets on each site.
type meter struct {
	options Options
	ids     map[string]int32  // street → number, from 1; of an address, too: 0 is none
	streets map[int32]int     // street → sites that mention it
	sites   map[string]int32  // site → number
	pairs   map[[2]int32]bool // site and street
	unknown int
}

func newMeter(o Options) *meter {
	return &meter{options: o, ids: map[string]int32{}, streets: map[int32]int{}, sites: map[string]int32{},
		pairs: map[[2]int32]bool{}}
}

// mention counts an address on a site.
func (m *meter) mention(site, address string) {
	id, known := m.ids["address "+address]
	if !known {
		id = m.streetID(address)
		m.ids["address "+address] = id
	}
	if id == 0 {
		return
	}
	n, known := m.sites[site]
	if !known {
		n = int32(len(m.sites))
		m.sites[site] = n
	}
	if pair := [2]int32{n, id}; !m.pairs[pair] {
		m.pairs[pair] = true
		m.streets[id]++
	}
}

// streetID numbers the street of an address; 0 is an address without a known street.
func (m *meter) streetID(address string) int32 {
	street := m.options.Street(address)
	if street == "" {
		m.unknown++
		return 0
	}
	key := "street " + street
	id := m.ids[key]
	if id == 0 {
		id = int32(len(m.ids) + 1)
		m.ids[key] = id
	}
	return id
}

// read returns the meter after so many pages; the last Recent of them brought so many new streets.
func (m *meter) read(streets, pages int, waiting int64) *Meter {
	r := &Meter{Gazetteer: m.options.Streets, Mentioned: len(m.streets), Unknown: m.unknown,
		Sites: len(m.sites), New: streets}
	r.Share = share(r.Mentioned, r.Gazetteer)
	for _, sites := range m.streets {
		switch sites {
		case 1:
			r.Once++
		case 2:
			r.Twice++
		}
	}
	r.estimate(len(m.pairs))
	r.advise(pages, waiting)
	return r
}

// estimate fills in what follows from the counts; mentions are the pairs of
// site and street.
func (r *Meter) estimate(mentions int) {
	found, once, twice := float64(r.Mentioned), float64(r.Once), float64(r.Twice)
	r.Estimate, r.Low, r.High = found, found, found
	if r.Sites > 0 {
		a := float64(r.Sites-1) / float64(r.Sites)
		var missing, variance float64
		if twice > 0 {
			q := once / twice
			missing = a * once * once / (2 * twice)
			variance = twice * (a/2*q*q + a*a*q*q*q + a*a/4*q*q*q*q)
		} else {
			missing = a * once * (once - 1) / 2
			variance = a*once*(once-1)/2 + a*a*once*(2*once-1)*(2*once-1)/4
			if all := found + missing; all > 0 {
				variance -= a * a * once * once * once * once / (4 * all)
			}
		}
		r.Estimate = found + missing
		r.Low, r.High = r.Estimate, r.Estimate
		if missing > 0 {
			// The number of the missing ones is log-normal (Chao 1987, page 787).
			k := math.Exp(1.96 * math.Sqrt(math.Log1p(max(variance, 0)/(missing*missing))))
			r.Low, r.High = found+missing/k, found+missing*k
		}
		if mentions > 0 {
			n := float64(r.Sites - 1)
			part := 1.0
			switch {
			case twice > 0:
				part = n * once / (n*once + 2*twice)
			case once > 0:
				part = n * (once - 1) / (n*(once-1) + 2)
			}
			r.Seen = 1 - once/float64(mentions)*part
		}
	}
	if most := float64(r.Gazetteer); most >= found { // no more than there are
		r.Estimate, r.Low, r.High = min(r.Estimate, most), min(r.Low, most), min(r.High, most)
	}
	if r.Estimate > 0 {
		r.Found = found / r.Estimate
	}
}

// advise reports whether to go on.
func (r *Meter) advise(pages int, waiting int64) {
	left := int(math.Round(r.Estimate)) - r.Mentioned
	pace := fmt.Sprintf("the last %s pages brought %d new streets", whole(Recent), r.New)
	more := fmt.Sprintf("at least %d more are to be found on sites like these", left)
	if left <= 0 {
		more = "no more are to be expected on sites like these"
	}
	switch {
	case waiting == 0 && pages > 0:
		r.GoOn, r.Advice = No, "No: no link is left. More seeds would lead on; "+more
	case pages < 2*Recent || r.Sites < leastSites:
		r.GoOn = TooSoon
		r.Advice = fmt.Sprintf("Too soon to tell after %d pages and %d sites with addresses", pages, r.Sites)
	case r.Gazetteer > 0 && r.Mentioned >= r.Gazetteer:
		r.GoOn, r.Advice = No, "No: every street has a mention. New pages can only bring more addresses of them"
	case r.New >= 5:
		r.GoOn, r.Advice = Yes, "Yes: "+pace+", and "+more
	case r.New >= 1:
		r.GoOn, r.Advice = Hardly, "Hardly: "+pace+", although "+more
		if left <= 0 {
			r.Advice = "Hardly: " + pace + ", and " + more
		}
	case left > 0:
		r.GoOn, r.Advice = No, "No: "+pace+". Although "+more+", this queue does not lead there; other seeds may"
	default:
		r.GoOn, r.Advice = No, "No: "+pace+", and "+more
	}
}
