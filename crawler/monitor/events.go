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

// events keep what happened for those who read the event stream, each at its own
// pace. A slow reader gets fewer states of the crawl, and holds nobody up.
type events struct {
	mu      sync.Mutex
	changed chan struct{}    // closed when something happens
	last    uint64           // number of an event
	kept    []event          // the last addresses and alerts, the oldest first
	status  map[string]event // the last one, by language
	readers int
	closed  bool
}

func newEvents() *events {
	return &events{changed: make(chan struct{}), last: uint64(time.Now().UnixMicro()), status: map[string]event{}}
}

// publish gives numbers to what happened in a second, and to the state of the
// crawl after it, by language.
func (e *events) publish(news []event, status map[string][]byte) {
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
	for lang, data := range status {
		e.status[lang] = event{e.last, "status", data}
	}
	e.wake()
}

// wake lets the readers look. The caller holds e.mu.
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

// since returns what happened after an event, as it is sent, and a channel that
// is closed when more does; open is false once the stream has ended.
func (e *events) since(after uint64, lang string) (text []byte, last uint64, more <-chan struct{}, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b bytes.Buffer
	for _, v := range e.kept {
		if v.id > after {
			v.write(&b)
		}
	}
	if v := e.status[lang]; v.id > after {
		v.write(&b)
	}
	return b.Bytes(), e.last, e.changed, !e.closed
}

func (v event) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "id: %d\nevent: %s\ndata: %s\n\n", v.id, v.kind, v.data)
}

// enter counts a reader. It returns false where there are too many.
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

// serve answers with the stream (text/event-stream) in a language: first what
// the reader has missed since the event of its Last-Event-ID, and the present
// state.
func (e *events) serve(w http.ResponseWriter, r *http.Request, lang string, first []byte) {
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
	missed, last, more, open := e.since(after, "")
	if after == 0 {
		missed = nil // a first visit, or no number of ours
	}
	b := bytes.NewBufferString("retry: 3000\n\n")
	b.Write(missed)
	event{last, "status", first}.write(b)
	for sent := send(b.Bytes()); sent && open; {
		var text []byte
		select {
		case <-r.Context().Done():
			return
		case <-more:
			text, last, more, open = e.since(last, lang)
		case <-time.After(heartbeat):
			text = []byte(": still here\n\n")
		}
		sent = send(text)
	}
}
