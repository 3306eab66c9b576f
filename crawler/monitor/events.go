package monitor

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Bounds of the event stream.
const (
	maxReaders = 32               // at a time
	maxBehind  = 16               // events that a reader may be behind; then it is dropped
	heartbeat  = 15 * time.Second // without another event
	writeTime  = 10 * time.Second // of one event
)

// events hands what happens to those who read the event stream. To publish
// never waits: a reader that does not keep up is dropped, and comes again.
type events struct {
	mu      sync.Mutex
	readers map[chan []byte]string // the language of each
	closed  bool
}

func newEvents() *events { return &events{readers: map[chan []byte]string{}} }

// publish hands data, one line of JSON, to every reader of a language.
func (e *events) publish(lang string, data []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c, reads := range e.readers {
		if reads != lang {
			continue
		}
		select {
		case c <- data:
		default:
			delete(e.readers, c)
			close(c)
		}
	}
}

// reads tells whether somebody reads in a language.
func (e *events) reads(lang string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, reads := range e.readers {
		if reads == lang {
			return true
		}
	}
	return false
}

// subscribe returns a channel that is closed when its reader is dropped; false
// if there are too many readers.
func (e *events) subscribe(lang string) (chan []byte, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.readers) >= maxReaders {
		return nil, false
	}
	c := make(chan []byte, maxBehind)
	e.readers[c] = lang
	return c, true
}

func (e *events) leave(c chan []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.readers[c]; ok {
		delete(e.readers, c)
		close(c)
	}
}

// close drops all readers, so that the server can end.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for c := range e.readers {
		delete(e.readers, c)
		close(c)
	}
}

// serve answers with the stream (text/event-stream) in a language, the present
// state first.
func (e *events) serve(w http.ResponseWriter, r *http.Request, lang string, first []byte) {
	c, ok := e.subscribe(lang)
	if !ok {
		w.Header().Set("Retry-After", "10")
		refuse(w, r, &Problem{Status: http.StatusServiceUnavailable, Title: "too many readers of the event stream", Hint: "close another dashboard, or try again"})
		return
	}
	defer e.leave(c)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx passes it on at once
	out := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		out.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && out.Flush() == nil
	}
	if !send("retry: 3000\n\ndata: %s\n\n", first) {
		return
	}
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	for {
		select {
		case data, ok := <-c:
			if !ok || !send("data: %s\n\n", data) {
				return
			}
		case <-beat.C:
			if !send(": still here\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
		beat.Reset(heartbeat)
	}
}
