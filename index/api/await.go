package api

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"gazehound/index"
)

// errNoCrawl says why there is nothing to serve before the first attempt to open an index.
var errNoCrawl = errors.New("no pages yet; start: gazehound crawl")

// retryOpen is the time between two attempts to open an index.
const retryOpen = time.Second

// Await serves an index that does not exist yet: the empty index x, and the one that open returns
// as soon as it exists. Requests call open at most once a second. report is called with each error
// of open once, and with nil on success. end closes the opened index; call it after the last
// request.
func Await(
	x Source, open func() (*index.Index, error), report func(error), o Options,
) (h http.Handler, end func() error) {
	var mu sync.Mutex // guards what follows
	var tried time.Time
	var found *index.Index
	why := errNoCrawl
	o.Ready = func() error {
		mu.Lock()
		defer mu.Unlock()
		return why
	}
	now := Handler(x, o)
	current := func() http.Handler {
		mu.Lock()
		defer mu.Unlock()
		if found != nil || time.Since(tried) < retryOpen {
			return now
		}
		tried = time.Now()
		opened, err := open()
		switch {
		case err != nil: // locked by a crawl, or unusable
			if why.Error() != err.Error() {
				report(err)
			}
			why = err
		case !opened.Exists():
			opened.Close() // read only
		default:
			found, why, now = opened, nil, Handler(opened, o)
			report(nil)
		}
		return now
	}
	h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current().ServeHTTP(w, r) })
	return h, func() error {
		mu.Lock()
		defer mu.Unlock()
		if found == nil {
			return nil
		}
		return found.Close()
	}
}
