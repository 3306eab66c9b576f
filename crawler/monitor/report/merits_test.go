package report

import (
	"context"
	"math"
	"reflect"
	"testing"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
)

// Table 10 by hand, with the published values of three strategies: of geo-focus full content is at
// (75.2 − 22.1) ÷ (91.1 − 22.1) = 0.77, which the paper calls not bad and a third of the way good.
func TestMerits(t *testing.T) {
	cities := []int{0, 33, 22, 10, 33, 2}
	c := &NodesComparison{Results: []*NodesResult{
		{Partition: partition.URLBased, Cities: cities, Metrics: Metrics{GeoCoverage: .0725, GeoFocus: .911, Centrality: .1754, Diversity: .0405, Communication: 25.72}},
		{Partition: partition.FullContent, Cities: cities, Metrics: Metrics{GeoCoverage: .0489, GeoFocus: .752, Centrality: .0994, Overlap: .1732, Diversity: .0688, Communication: 46.69}},
		{Partition: partition.Classification, Cities: cities, Metrics: Metrics{GeoCoverage: .0109, GeoFocus: .221, Centrality: .0273, Overlap: .346, Diversity: .0564, Communication: math.NaN()}},
	}}
	want := [][]string{
		{"partition", "geo-coverage", "geo-focus", "geo-connectivity", "overlap", "diversity", "communication"},
		{"url", "Good", "Good", "Good", "Good", "Bad", "Good"},
		{"  published", "Good", "Good", "Good", "Good", "Bad", "Bad"},
		{"full-content", "Not Bad", "Good", "Not Bad", "Not Bad", "Good", "Bad"},
		{"  published", "Not Bad", "Not Bad", "Not Bad", "Not Bad", "Not Bad", "Bad"},
		{"classification", "Bad", "Bad", "Bad", "Bad", "Not Bad", "–"},
		{"  published", "Bad", "Bad", "Bad", "Bad", "Not Bad", "Bad"},
	}
	if got := c.meritRows(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where all results are equal no third is, and beside other places than the paper's nothing is published.
func TestEqualMerits(t *testing.T) {
	c := &NodesComparison{}
	for _, m := range []partition.Method{partition.URLHash, partition.URLBased} {
		c.Results = append(c.Results, &NodesResult{Partition: m, Cities: []int{0, 50, 50},
			Metrics: Metrics{GeoCoverage: .5, GeoFocus: math.NaN(), Diversity: .1, Communication: 2}})
	}
	c.Results[1].Metrics.Communication = 3
	want := [][]string{
		{"partition", "geo-coverage", "geo-focus", "geo-connectivity", "overlap", "diversity", "communication"},
		{"url-hash", "Equal", "–", "Equal", "Equal", "Equal", "Good"},
		{"url", "Equal", "–", "Equal", "Equal", "Equal", "Bad"},
	}
	if got := c.meritRows(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A walker is a crawl tree.
type walker []frontier.Node

func (w walker) Walk(_ context.Context, _ uint64, fn func(frontier.Node) error) error {
	for _, n := range w {
		if err := fn(n); err != nil {
			return err
		}
	}
	return nil
}
