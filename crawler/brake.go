package crawler

import (
	"context"
	"errors"
	"sync"

	"gazehound/crawler/frontier"
)

// A Brake pauses a crawl: while it is on, no page is begun, and pages in flight finish. It is safe
// for concurrent use. The zero Brake is off, the nil Brake always.
type Brake struct {
	mu  sync.Mutex
	off chan struct{} // closed by Off; nil while the brake is off
}

// On pauses the crawl.
func (b *Brake) On() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off == nil {
		b.off = make(chan struct{})
	}
}

// Off resumes the crawl.
func (b *Brake) Off() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off != nil {
		close(b.off)
		b.off = nil
	}
}

// Held reports whether the brake is on.
func (b *Brake) Held() bool { return b.held() != nil }

func (b *Brake) held() (off chan struct{}) {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.off
}

// nextFree is queue.Next, which is not called while the brake is on. An entry that comes when it is
// on by then is returned to the queue.
func (c *Crawler) nextFree(ctx context.Context, queue Frontier) (frontier.Entry, error) {
	for {
		if off := c.Brake.held(); off != nil {
			select {
			case <-off:
			case <-ctx.Done():
				return frontier.Entry{}, ctx.Err()
			}
		}
		e, err := queue.Next(ctx, c.Gate.Claim)
		if !c.Brake.Held() {
			return e, err
		}
		if err != nil {
			continue // also an empty queue may get seeds while the brake is on
		}
		c.Gate.Visited(e.URL.Host(), noRequest)
		err = queue.Return(e, frontier.Backoff{})
		if err != nil && !errors.Is(err, frontier.ErrNotLeased) {
			return e, err
		}
	}
}
