package textutil

import (
	"maps"
	"slices"
	"testing"
)

func TestLists(t *testing.T) {
	got := ReadLists("# of a test\nroads: street st\n  road\n\ncounties: West Sussex,\n\tKent\nempty:\n")
	want := Lists{"roads": "street st road", "counties": "West Sussex, Kent", "empty": ""}
	if !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestListsOfWords(t *testing.T) {
	lists := ReadLists("roads: street st\n  road\ncounties: West Sussex,\n  Kent\n")
	if got, want := lists.Words("roads"), map[string]bool{"street": true, "st": true, "road": true}; !maps.Equal(got, want) {
		t.Errorf("words %v, want %v", got, want)
	}
	if got, want := lists.Phrases("counties"), []string{"West Sussex", "Kent"}; !slices.Equal(got, want) {
		t.Errorf("phrases %q, want %q", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a list that is missing has words")
		}
	}()
	lists.Words("rivers")
}
