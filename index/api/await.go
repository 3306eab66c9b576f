package api

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"gazehound/index"
)

// errNoCrawl says why there is nothing to serve until an index was looked for.
var errNoCrawl = errors.New("no pages yet; start: gazehound crawl")

// lookEvery is the time between two looks for an index.
const lookEvery = time.Second

// Await answers about an index that is not there yet: as the empty index x, and as the one that open
// returns as soon as that exists. It tries once a second until ctx ends. news hears why the index
// cannot be opened, each reason once, and nil when it is there. When ctx has ended, end waits for all
// of that and closes what was opened.
func Await(ctx context.Context, x Source, open func() (*index.Index, error), news func(error), o Options) (h http.Handler, end func() error) {
	var why atomic.Pointer[error]        // there is nothing to serve
	var now atomic.Pointer[http.Handler] // what answers
	why.Store(&errNoCrawl)
	o.Ready = func() error {
		if err := why.Load(); err != nil {
			return *err
		}
		return nil
	}
	empty := Handler(x, o)
	now.Store(&empty)
	var found *index.Index // belongs to look until done is closed
	look := func() (there bool) {
		x, err := open()
		switch {
		case err != nil: // a crawl has it, or it is of no use
			if old := *why.Load(); old.Error() != err.Error() {
				news(err)
			}
			why.Store(&err)
			return false
		case !x.Exists():
			x.Close() // read only
			return false
		}
		found = x
		h := Handler(x, o)
		why.Store(nil)
		now.Store(&h)
		news(nil)
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if look() {
					return
				}
			}
		}
	}()
	h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*now.Load()).ServeHTTP(w, r) })
	return h, func() error {
		<-done
		if found == nil {
			return nil
		}
		return found.Close()
	}
}
