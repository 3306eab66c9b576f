package textutil

import (
	"maps"
	"testing"
)

func TestLists(t *testing.T) {
	got := Lists("# of a test\nroads: street st\n  road\n\ncounties: West Sussex,\n\tKent\nempty:\n")
	want := map[string]string{"roads": "street st road", "counties": "West Sussex, Kent", "empty": ""}
	if !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
