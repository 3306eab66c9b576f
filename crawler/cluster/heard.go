package cluster

import (
	"context"
	"sync"
)

// heard is what this node has last heard of the others, and of the commands to all. It is safe for
// concurrent use.
type heard struct {
	mu      sync.Mutex
	alive   map[string]Member
	do      func(Action)    // carries out commands; nil: Actions wait
	command command         // the last one read
	obeyed  uint64          // revision of command
	leaving bool            // the crawl is over, or all nodes were told to stop
	serving context.Context // as long as the server stays for others after Close; nil: it does not
}

// last returns the last command, its revision, and what carries out the next one.
func (h *heard) last() (do func(Action), c command, obeyed uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.do, h.command, h.obeyed
}

// note records a command that was carried out.
func (h *heard) note(c command, revision uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.command, h.obeyed = c, revision
}

// leave records that all nodes end.
func (h *heard) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = true
}

// setAlive records the members at a heartbeat, by name.
func (h *heard) setAlive(alive map[string]Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive = alive
}

// hungry reports whether a node other than self has few links.
func (h *heard) hungry(self string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.alive {
		if m.Queued < 100 && m.Name != self {
			return true
		}
	}
	return false
}
