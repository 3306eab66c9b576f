package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"gazehound/geoparse"
)

// A change that makes the writer panic costs its caller a panic, and neither the
// others of its batch nor those that come later.
func TestPanicInWriter(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var wait sync.WaitGroup
	for i := range 10 {
		wait.Go(func() {
			url := fmt.Sprintf("http://a.example/%d", i)
			d := Document{URL: url, Addresses: []geoparse.Address{{
				Text: "Lange Straße 5, 26121 Oldenburg", Street: "Lange Straße", HouseNumber: "5", Postcode: "26121", City: "Oldenburg", InRegion: true}}}
			if i != 4 {
				if err := x.Put(context.Background(), d); err != nil {
					t.Errorf("%s: %v", url, err)
				}
				return
			}
			defer func() {
				if p := recover(); p == nil {
					t.Error("the caller was not told")
				}
			}()
			x.change(context.Background(), change{url: url, mentions: []*mention{nil}})
		})
	}
	wait.Wait()
	pages := 0
	if err := x.Pages(t.Context(), func(string) { pages++ }); err != nil || pages != 9 {
		t.Errorf("%d pages are indexed, want 9; %v", pages, err)
	}
}

// Where the disk cannot be written to, that is the cause of an error or a panic, and no change is.
func TestCauseOfFailure(t *testing.T) {
	x := &Index{dir: filepath.Join(t.TempDir(), "gone")}
	for _, err := range []error{errors.New("input/output error"), &panicked{value: "assignment to entry in nil map"}} {
		got := x.explained(err)
		if _, bad := errors.AsType[*panicked](got); bad || !errors.Is(got, fs.ErrNotExist) {
			t.Errorf("%v: it does not say why nothing can be written: %v", err, got)
		}
	}
	if got := x.explained(nil); got != nil {
		t.Errorf("%v is no error", got)
	}
}
