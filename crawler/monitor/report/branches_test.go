package report

import (
	"reflect"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// Figure 9 by hand, for the tree
//
//	s ─ R1 ─┬─ a ─ b ─ R2 ─ R3
//	        ├─ c ─ d          (a tail of 2)
//	        └─ e              (a tail of 1)
//
// and t, a seed that leads nowhere: no relevant page lies before its end.
func TestBranches(t *testing.T) {
	var b Branches
	entry := func(path string) *frontier.Entry {
		u, err := weburl.Parse("http://a.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		return &frontier.Entry{URL: u}
	}
	for _, p := range []struct {
		path, parent string
		depth        int
		relevant     bool
	}{
		{"/s", "", 0, false}, {"/t", "", 0, false}, {"/R1", "/s", 1, true},
		{"/a", "/R1", 2, false}, {"/c", "/R1", 2, false}, {"/e", "/R1", 2, false},
		{"/b", "/a", 3, false}, {"/d", "/c", 3, false}, {"/R2", "/b", 4, true}, {"/R3", "/R2", 5, true},
	} {
		e := entry(p.path)
		if e.Depth = p.depth; p.depth > 0 {
			e.Parent = frontier.KeyOf(entry(p.parent).URL)
		}
		b.Page(e, p.relevant)
	}
	b.End()
	want := Branches{SeedDistances: []int{0, 1, 0, 0, 1, 1}, Bridges: []int{1, 0, 1}, Tails: []int{0, 1, 1}}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("%+v, want %+v", b, want)
	}
}
