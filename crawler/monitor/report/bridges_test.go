package report

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTopBridges(t *testing.T) {
	f := madeUp(t)
	top, err := TopBridges(t.Context(), f, 10)
	if err != nil {
		t.Fatal(err)
	}
	// x and r1 led to r3 on b; the seed to r1 and r2, and not beyond r1.
	want := []Bridge{
		{"http://www.a.example/", false, 2, 1},
		{"http://www.a.example/r1", true, 1, 1}, {"http://www.a.example/x", false, 1, 1},
	}
	byName := cmp.Transformer("", func(list []Bridge) map[string]Bridge {
		m := map[string]Bridge{}
		for _, b := range list {
			m[b.URL] = b
		}
		return m
	})
	if diff := cmp.Diff(want, top, byName); diff != "" || top[0].Pages != 2 {
		t.Error(diff)
	}
	if top, err := TopBridges(t.Context(), f, 1); err != nil || len(top) != 1 || top[0] != want[0] {
		t.Errorf("the first one: %v, %v", top, err)
	}
	for format, want := range map[string]string{
		"text":  "    hosts  relevant  itself    page\n        1         2  not       http://www.a.example/\n",
		"json":  `{"type":"bridges","name":"may\nhttp://evil.example/","bridges":[{"url":"http://www.a.example/","relevant":false,"relevant_pages":2,"hosts":1}]}` + "\n",
		"seeds": "# pages of \"may\\nhttp://evil.example/\" that led to the most relevant ones\nhttp://www.a.example/\n",
	} {
		var b bytes.Buffer
		if err := WriteBridges(&b, "may\nhttp://evil.example/", top[:1], format); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s", format, err, &b)
		}
	}
	if err := WriteBridges(&bytes.Buffer{}, "may", top, "svg"); err == nil || !strings.Contains(err.Error(), "seeds") {
		t.Errorf("svg: %v", err)
	}
}

// On any tree every page has the count that going up from each relevant page
// gives it.
func TestTopBridgesOfTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := frontier.Open(frontier.Options{InMemory: true, Memory: 32e6})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		size := rapid.IntRange(1, 25).Draw(t, "pages")
		parent, relevant := make([]int, size), make([]bool, size)
		entries := make([]frontier.Entry, size)
		for i := range entries {
			u, err := weburl.Parse(fmt.Sprintf("http://h%d.example/%d", rapid.IntRange(0, 3).Draw(t, "host"), i))
			if err != nil {
				t.Fatal(err)
			}
			parent[i], relevant[i] = -1, rapid.Bool().Draw(t, "relevant")
			entries[i] = frontier.Entry{URL: u, Priority: .5}
			if i > 0 {
				parent[i] = rapid.IntRange(0, i-1).Draw(t, "parent")
				entries[i].Parent, entries[i].Depth = frontier.KeyOf(entries[parent[i]].URL), entries[parent[i]].Depth+1
			}
			if _, err := f.Push(context.Background(), entries[i]); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Done(context.Background(), entries[i], frontier.Outcome{Kind: "page", Relevant: relevant[i]}); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]Bridge{}
		for i := range entries {
			hosts := map[string]bool{}
			b := Bridge{URL: entries[i].URL.String(), Relevant: relevant[i]}
			for j := range entries {
				links := 0
				at := j
				for relevant[j] && at >= 0 && at != i && (at == j || !relevant[at]) {
					at = parent[at]
					links++
				}
				if at == i && links > 0 && links <= BridgeReach {
					b.Pages++
					hosts[entries[j].URL.Host()] = true
				}
			}
			if b.Hosts = len(hosts); b.Pages > 0 {
				want[b.URL] = b
			}
		}
		top, err := TopBridges(context.Background(), f, size)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Bridge{}
		for i, b := range top {
			got[b.URL] = b
			if i > 0 && (b.Hosts > top[i-1].Hosts || b.Hosts == top[i-1].Hosts && b.Pages > top[i-1].Pages) {
				t.Errorf("%v comes behind %v", b, top[i-1])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
