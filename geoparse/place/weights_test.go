package place

import (
	"maps"
	"slices"
	"testing"
)

// The files of weights name the features in the order of their constants, and the cues of homes.
func TestWeights(t *testing.T) {
	if len(weights) != int(features) {
		t.Fatalf("%d weights of %d features", len(weights), features)
	}
	for f, name := range map[feature]string{
		stated: "stated", above2: "above-2", domainLine: "domain-line", bias: "bias", noDomain: "no-domain", job: "job",
		branchOnly: "branch-only", link: "link", supported: "supported", rival: "rival", foreign: "foreign",
	} {
		if featureNames[f] != name {
			t.Errorf("%s is in the place of %s", featureNames[f], name)
		}
	}
	has, _ := (&Door{}).cues()
	cues := slices.Sorted(maps.Keys(has))
	if got := slices.Sorted(slices.Values(homeCues)); !slices.Equal(got, cues) || homeCues[0] != "bias" {
		t.Errorf("weights of %q for cues %q", got, cues)
	}
}
