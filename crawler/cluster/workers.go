package cluster

import (
	"context"
	"sync"
)

// idleWorkers are the crawl's workers that have found the queue empty and wait for links of other nodes.
// They are safe for concurrent use.
type idleWorkers struct {
	mu       sync.Mutex
	changed  sync.Cond // of messages and over
	idle     int       // workers in wait
	all      int       // workers of the crawl, as wait has seen them at most
	messages int       // with links that were taken in
	over     bool      // the crawl is
}

// Wait is called by each worker that finds its queue empty. It returns true when links may have
// arrived, and false when the whole crawl is over.
func (n *Node) Wait(ctx context.Context) (more bool, err error) {
	return n.workers.wait(ctx, func() bool { return n.frontier.Totals().Queued > 0 })
}

// Workers sets how many workers call Wait when idle.
func (n *Node) Workers(count int) {
	n.workers.mu.Lock()
	defer n.workers.mu.Unlock()
	n.workers.all = count
}

// wait is Wait. queued reports whether there is a link in the queue, which may have come since the
// worker found it empty.
func (w *idleWorkers) wait(ctx context.Context, queued func() bool) (more bool, err error) {
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed.Broadcast()
	})()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle++
	w.all = max(w.all, w.idle)
	defer func() { w.idle-- }()
	for before := w.messages; ; w.changed.Wait() {
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case w.over:
			return false, nil
		case w.messages != before, queued():
			return true, nil
		}
	}
}

// wake ends the waiting after a message with links was taken in.
func (w *idleWorkers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages++
	w.changed.Broadcast()
}

// end ends the waiting for good.
func (w *idleWorkers) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.changed.Broadcast()
}

// resting reports whether all workers wait.
func (w *idleWorkers) resting() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all > 0 && w.idle >= w.all
}
