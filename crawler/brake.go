package crawler

import (
	"context"
	"sync"
	"time"

	"gazehound/crawler/frontier"
)

// A Brake pauses a crawl: while it is on, no page is begun, and pages in flight finish. It is safe
// for concurrent use. The nil Brake is always off.
type Brake struct {
	mu   sync.Mutex
	off  chan struct{}   // closed by Off; nil while the brake is off
	free context.Context // ended by On
	end  context.CancelFunc
}

// NewBrake returns a Brake that is off.
func NewBrake() *Brake {
	b := &Brake{}
	b.free, b.end = context.WithCancel(context.Background())
	return b
}

// On pauses the crawl.
func (b *Brake) On() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off == nil {
		b.off = make(chan struct{})
		b.end()
	}
}

// Off resumes the crawl.
func (b *Brake) Off() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.off != nil {
		close(b.off)
		b.off = nil
		b.free, b.end = context.WithCancel(context.Background())
	}
}

// Held reports whether the brake is on.
func (b *Brake) Held() bool {
	_, off := b.state()
	return off != nil
}

func (b *Brake) state() (free context.Context, off chan struct{}) {
	if b == nil {
		return nil, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free, b.off
}

// next is queue.Next, which is not called while the brake is on, and stops waiting when it comes
// on.
func (b *Brake) next(
	ctx context.Context, queue Frontier, claim func(host string) time.Duration,
) (frontier.Entry, error) {
	if b == nil {
		return queue.Next(ctx, claim)
	}
	for {
		free, off := b.state()
		if off != nil {
			select {
			case <-off:
				continue
			case <-ctx.Done():
				return frontier.Entry{}, ctx.Err()
			}
		}
		wait, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(free, cancel)
		e, err := queue.Next(wait, claim)
		stop()
		cancel()
		if err == nil || free.Err() == nil {
			return e, err
		}
	}
}
