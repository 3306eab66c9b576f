package index

import (
	"errors"
	"testing"

	"gazehound/geoparse"
)

// BeforeWrite runs before a batch can be seen or is on the disk; after its error nothing is written.
func TestBeforeWrite(t *testing.T) {
	x, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	pages := func() (n int) {
		if err := x.Pages(t.Context(), func(string) { n++ }); err != nil {
			t.Error(err)
		}
		return n
	}
	var seen []int // pages at each call
	var fault error
	x.BeforeWrite = func() error { seen = append(seen, pages()); return fault }
	put := func(url string) error {
		return x.Put(t.Context(), Document{URL: url, Addresses: []geoparse.Address{{
			Text: "Lange Straße 5, 26121 Oldenburg", Street: "Lange Straße", HouseNumber: "5", Postcode: "26121", City: "Oldenburg", InRegion: true}}})
	}
	if err := put("http://a.example/"); err != nil || len(seen) != 1 || seen[0] != 0 || pages() != 1 {
		t.Errorf("%v pages at the calls, %d afterwards: %v", seen, pages(), err)
	}
	fault = errors.New("the disk is gone")
	if err := put("http://a.example/b"); !errors.Is(err, fault) || pages() != 1 {
		t.Errorf("after an error: %d pages, %v", pages(), err)
	}
	fault = nil
	if err := x.Delete(t.Context(), "http://a.example/unknown"); err != nil || len(seen) != 2 {
		t.Errorf("of a change of nothing: %d calls, %v", len(seen), err)
	}
	if err := put("http://a.example/b"); err != nil || pages() != 2 {
		t.Errorf("once there is no error: %d pages, %v", pages(), err)
	}
}
