package geoparse

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
)

// One Parser serves many goroutines, whose look-ups share its caches.
func TestConcurrentParse(t *testing.T) {
	g, r := town(t)
	p, err := New(g, r, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 40)
	want := make([]Verdict, len(texts))
	for i := range texts {
		texts[i] = fmt.Sprintf("Lange Straße %d, 26122 Oldenburg\nPLZ 26%03d Oldenburg, Nadorster Straße %d", i+1, i, i+1)
		alone, err := New(g, r, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		want[i] = parse(t, alone, Input{Text: texts[i]})
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range texts {
				if got, err := p.Parse(t.Context(), Input{Text: text}); err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%q: %+v, %v; alone %+v", text, got, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}
