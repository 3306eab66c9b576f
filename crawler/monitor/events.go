package monitor

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"gazehound/internal/problem"
)

// Bounds of the event stream.
const (
	maxReaders = 32               // at a time
	maxBehind  = 16               // seconds that a reader may be behind; then it is dropped
	maxReplay  = 1000             // events that one who comes again is told
	heartbeat  = 15 * time.Second // without another event
	writeTime  = 10 * time.Second // of what happened in one second
)

// An event has a number, which grows, also from one run of the crawl to the next.
type event struct {
	id   uint64
	kind string // "status", "address" or "alert"
	data []byte // a line of JSON
}

// events hands what happens to those who read the event stream. To publish
// never waits: a reader that does not keep up is dropped, and comes again.
type events struct {
	mu      sync.Mutex
	readers map[chan []event]string // the language of each
	last    uint64                  // number of an event
	kept    []event                 // the last ones that are told again, the oldest first
	closed  bool
}

func newEvents() *events {
	return &events{readers: map[chan []event]string{}, last: uint64(time.Now().UnixMicro())}
}

// number makes an event of what happened; it is told again to those who missed
// it, if it is kept.
func (e *events) number(kind string, data []byte, keep bool) event {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	v := event{e.last, kind, data}
	if keep {
		if len(e.kept) >= maxReplay {
			e.kept = append(e.kept[:0:0], e.kept[len(e.kept)-maxReplay/2:]...)
		}
		e.kept = append(e.kept, v)
	}
	return v
}

// publish hands what happened in a second to every reader of a language.
func (e *events) publish(lang string, all []event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c, reads := range e.readers {
		if reads != lang {
			continue
		}
		select {
		case c <- all:
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

// subscribe returns a channel that is closed when its reader is dropped, and
// what a reader has missed whose last event was after; 0: one who comes first.
// It returns no channel if there are too many readers.
func (e *events) subscribe(lang string, after uint64) (c chan []event, missed []event, last uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.readers) >= maxReaders {
		return nil, nil, 0
	}
	if after > 0 {
		for _, v := range e.kept {
			if v.id > after {
				missed = append(missed, v)
			}
		}
	}
	c = make(chan []event, maxBehind)
	e.readers[c] = lang
	return c, missed, e.last
}

func (e *events) leave(c chan []event) {
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

// serve answers with the stream (text/event-stream) in a language: first what
// the reader has missed since the event of its Last-Event-ID, and the present
// state.
func (e *events) serve(w http.ResponseWriter, r *http.Request, lang string, first []byte) {
	after, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64) // 0 where it is none of ours
	c, missed, last := e.subscribe(lang, after)
	if c == nil {
		w.Header().Set("Retry-After", "10")
		fault(w, r, &problem.Problem{Status: http.StatusServiceUnavailable, Title: "too many readers of the event stream", Hint: "close another dashboard, or try again"})
		return
	}
	defer e.leave(c)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx passes it on at once
	out := http.NewResponseController(w)
	send := func(text []byte) bool {
		out.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := w.Write(text)
		return err == nil && out.Flush() == nil
	}
	if !send(append([]byte("retry: 3000\n\n"), wire(append(missed, event{last, "status", first}))...)) {
		return
	}
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	for {
		select {
		case all, ok := <-c:
			if !ok || !send(wire(all)) {
				return
			}
		case <-beat.C:
			if !send([]byte(": still here\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
		beat.Reset(heartbeat)
	}
}

// wire writes events as they are sent.
func wire(all []event) []byte {
	var b bytes.Buffer
	for _, v := range all {
		fmt.Fprintf(&b, "id: %d\nevent: %s\ndata: %s\n\n", v.id, v.kind, v.data)
	}
	return b.Bytes()
}
