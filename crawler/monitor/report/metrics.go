package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/textutil"
)

// A metric is a number of a Crawl.
type metric struct {
	name  string // in thresholds and tables
	words string // for people
	of    func(c *Crawl) float64
	form  func(x float64) string
}

// metrics lists them in the order of the table. An unknown value is NaN.
var metrics = []metric{
	{"pages", "pages", func(c *Crawl) float64 { return float64(c.Pages) }, whole},
	{"relevant", "relevant pages", func(c *Crawl) float64 { return float64(c.Relevant) }, whole},
	{"harvest", "harvest rate", func(c *Crawl) float64 { return c.Harvest }, percent},
	{"harvest_recent", "  of the last 1,000 pages", func(c *Crawl) float64 { return c.HarvestRecent }, percent},
	{"harvest_content", "  each text counted once", func(c *Crawl) float64 { return c.ContentHarvest }, percent},
	{"harvest_own", "  without site-wide addresses", func(c *Crawl) float64 { return c.OwnHarvest }, percent},
	{"harvest_off_biggest", "  off the biggest host",
		func(c *Crawl) float64 { return c.OffBiggest.Harvest }, percent},
	{"addresses", "distinct addresses", func(c *Crawl) float64 { return float64(c.Addresses) }, whole},
	{"addresses_per_page", "  a page", func(c *Crawl) float64 { return c.PerPage }, decimal},
	{"addresses_off_biggest", "  off the biggest host",
		func(c *Crawl) float64 { return float64(c.OffBiggest.Addresses) }, whole},
	{"hosts", "hosts with relevant pages", func(c *Crawl) float64 { return float64(c.RelevantHosts) }, whole},
	{"streets", "streets found", ofStreets(func(m *Meter) float64 { return float64(m.Mentioned) }), whole},
	{"street_share", "  of the gazetteer's", ofStreets(func(m *Meter) float64 { return m.Share }), percent},
	{"street_found", "  of those to be found (estimated)",
		ofStreets(func(m *Meter) float64 { return m.Found }), percent},
	{"new_streets", "  new in the last 1,000 pages",
		ofStreets(func(m *Meter) float64 { return float64(m.New) }), whole},
}

func ofStreets(of func(m *Meter) float64) func(c *Crawl) float64 {
	return func(c *Crawl) float64 {
		if c.Streets == nil {
			return math.NaN()
		}
		return of(c.Streets)
	}
}

func whole(x float64) string   { return textutil.Count(int64(x)) }
func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }
func decimal(x float64) string { return fmt.Sprintf("%.2f", x) }

// MetricNames lists the metrics of thresholds.
func MetricNames() (names []string) {
	for _, m := range metrics {
		names = append(names, m.name)
	}
	return names
}

// A Threshold is a minimum that a crawl has to reach (--fail-under).
type Threshold struct {
	Metric string  `json:"metric"`
	Least  float64 `json:"least"`
}

// ParseThresholds reads "harvest=0.1,streets=200". A share may be written as 10%.
func ParseThresholds(text string) (thresholds []Threshold, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(part, "=")
		g := Threshold{Metric: strings.TrimSpace(name)}
		switch {
		case !ok:
			return nil, fmt.Errorf("%.60q is not NAME=NUMBER, such as harvest=0.1", part)
		case metricOf(g.Metric) == nil:
			return nil, errors.New(textutil.NotOneOf(g.Metric, MetricNames()))
		}
		number, isPercent := strings.CutSuffix(strings.TrimSpace(number), "%")
		g.Least, err = strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(g.Least) || math.IsInf(g.Least, 0) {
			return nil, fmt.Errorf("%s must be a number such as 0.1, got %.40q", g.Metric, number)
		}
		if isPercent {
			g.Least /= 100
		}
		thresholds = append(thresholds, g)
	}
	return thresholds, nil
}

func metricOf(name string) *metric {
	if i := slices.Index(MetricNames(), name); i >= 0 {
		return &metrics[i]
	}
	return nil
}

// A ThresholdResult is a threshold, held against a crawl.
type ThresholdResult struct {
	Threshold
	Value  *float64 `json:"value"` // nil: not known, which is no pass
	Passed bool     `json:"passed"`
}

// Check holds g against c.
func (g Threshold) Check(c *Crawl) ThresholdResult {
	x := metricOf(g.Metric).of(c)
	if math.IsNaN(x) {
		return ThresholdResult{Threshold: g}
	}
	return ThresholdResult{g, &x, x >= g.Least}
}

// String returns "harvest 0.1243 ≥ 0.1: passed".
func (r ThresholdResult) String() string {
	if r.Value == nil {
		return fmt.Sprintf("%s ≥ %.4g: failed, because it is not known here", r.Metric, r.Least)
	}
	word := map[bool]string{true: "passed", false: "failed"}[r.Passed]
	return fmt.Sprintf("%s %.4g ≥ %.4g: %s", r.Metric, *r.Value, r.Least, word)
}
