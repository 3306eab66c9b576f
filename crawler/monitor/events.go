package monitor

import (
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
	maxReplay  = 1000             // events that a reader may have missed
	heartbeat  = 15 * time.Second // without another event
	writeTime  = 10 * time.Second // for one write
)

// An event has a number, which grows, also from one run of the crawl to the next.
type event struct {
	id   uint64
	kind string // "status", "address" or "alert"
	data []byte // a line of JSON
}

// events buffers the event stream for its readers, each at its own pace. A slow reader gets fewer
// states and delays nobody.
type events struct {
	mu      sync.Mutex
	changed chan struct{} // closed when something happens
	last    uint64        // number of an event
	kept    []event       // the last addresses and alerts, the oldest first
	state   State         // after the last of them
	readers int
	closed  bool
}

func newEvents() *events {
	return &events{changed: make(chan struct{}), last: uint64(time.Now().UnixMicro())}
}

// publish gives numbers to what happened in a second, and to the state of the crawl after it.
func (e *events) publish(news []event, state State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range news {
		e.last++
		v.id = e.last
		e.kept = append(e.kept, v)
	}
	if len(e.kept) > maxReplay {
		e.kept = append([]event(nil), e.kept[len(e.kept)-maxReplay/2:]...)
	}
	e.last++
	e.state = state
	e.wake()
}

// wake wakes the readers. The caller holds e.mu.
func (e *events) wake() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// close ends all readers, so that the server can end.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.wake()
}

// since returns what happened after an event, as it is sent, the last state, and a channel that is
// closed when more happens; open is false once the stream has ended.
func (e *events) since(after uint64) (text []byte, last uint64, state State, more <-chan struct{}, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.kept {
		if v.id > after {
			text = v.after(text)
		}
	}
	return text, e.last, e.state, e.changed, !e.closed
}

// after returns text with the event behind it.
func (v event) after(text []byte) []byte {
	return fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", v.id, v.kind, v.data)
}

// enter counts a reader in; false if there are too many.
func (e *events) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.readers >= maxReaders {
		return false
	}
	e.readers++
	return true
}

func (e *events) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readers--
}

// serve answers with the stream (text/event-stream): first what the reader has missed since the event
// of its Last-Event-ID, and the present state. render writes states in the language of the reader.
func (e *events) serve(w http.ResponseWriter, r *http.Request, now State, render func(State) []byte) {
	if !e.enter() {
		w.Header().Set("Retry-After", "10")
		fault(w, r, &problem.Problem{
			Status: http.StatusServiceUnavailable, Title: "too many readers of the event stream",
			Hint: "close another dashboard, or try again",
		})
		return
	}
	defer e.leave()
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
	after, _ := strconv.ParseUint(r.Header.Get("Last-Event-ID"), 10, 64)
	text, last, _, more, open := e.since(after)
	if after == 0 {
		text = nil // a first visit, or no number of ours
	}
	text = append([]byte("retry: 3000\n\n"), text...)
	for sent := send(event{last, "status", render(now)}.after(text)); sent && open; {
		select {
		case <-r.Context().Done():
			return
		case <-more:
			before := last
			text, last, now, more, open = e.since(before)
			if last > before { // otherwise the stream has ended
				text = event{last, "status", render(now)}.after(text)
			}
			sent = send(text)
		case <-time.After(heartbeat):
			sent = send([]byte(": still here\n\n"))
		}
	}
}
