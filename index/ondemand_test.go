package index

import (
	"errors"
	"sync"
	"testing"
)

// An index whose rows nobody has asked for keeps none, and says the same as
// another one as soon as somebody does, whatever was put before and after.
func TestOnDemand(t *testing.T) {
	dir := t.TempDir()
	o := DefaultOptions()
	o.OnDemand = true
	x, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	pages := town()
	if r := find(t, x, Query{}); r.Total != 0 { // as a crawl does that begins
		t.Errorf("%d addresses before the first", r.Total)
	}
	put(t, x, pages...)
	put(t, x, pages[0]) // a page that is known already
	if err := errors.Join(x.queue.settle(), x.Close()); err != nil {
		t.Fatal(err)
	}
	if len(x.table.segments) != 0 || len(x.table.texts) != 1 {
		t.Errorf("nobody has asked, and there are %d segments and %d texts", len(x.table.segments), len(x.table.texts))
	}
	if _, err := x.Search(t.Context(), Query{}); !errors.Is(err, ErrClosed) {
		t.Errorf("search when it is closed: %v", err)
	}

	x, err = Open(dir, o) // goes on with what was there
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	pages[0].Addresses = pages[0].Addresses[:0]
	put(t, x, pages[0])
	if err := x.queue.settle(); err != nil {
		t.Fatal(err)
	}
	if len(x.table.segments) != 0 {
		t.Errorf("nobody has asked, and there are rows of %d segments", len(x.table.segments))
	}
	plain := open(t)
	put(t, plain, pages...)
	want := names(find(t, plain, Query{}))
	var asked sync.WaitGroup
	for range 4 { // at once
		asked.Go(func() {
			if r, err := x.Search(t.Context(), Query{}); err != nil || names(r) != want {
				t.Errorf("%v, %v, want %v", r, err, want)
			}
		})
	}
	asked.Wait()
	put(t, x, pages[1])
	put(t, plain, pages[1])
	have, err := x.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if should, err := plain.Stats(t.Context()); err != nil || have != should {
		t.Errorf("%+v, want %+v, %v", have, should, err)
	}
}
