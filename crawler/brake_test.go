package crawler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gazehound/crawler/frontier"
	"gazehound/crawler/weburl"
)

// While the brake is on, no entry is returned, not even to callers that already waited; Off releases
// them all.
func TestBrake(t *testing.T) {
	queue := frontier.NewMemory(frontier.Options{})
	for i := range 3 {
		u, err := weburl.Parse(fmt.Sprintf("http://a.example/%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := queue.Push(t.Context(), frontier.Entry{URL: u}); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		b := &Brake{}
		c := &Crawler{Gate: Open{}, Brake: b}
		if _, err := c.nextFree(t.Context(), queue); err != nil || b.Held() {
			t.Fatalf("at first: %v, held %t", err, b.Held())
		}
		b.On()
		b.On()
		got := make(chan error)
		go func() {
			_, err := c.nextFree(t.Context(), queue)
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("the brake is on, and next returned: %v", err)
		default:
		}
		b.Off()
		if err := <-got; err != nil || b.Held() {
			t.Fatalf("after Off: %v, held %t", err, b.Held())
		}

		waiting := waitingQueue{queue, make(chan struct{})}
		go func() {
			_, err := c.nextFree(t.Context(), waiting)
			got <- err
		}()
		synctest.Wait()
		b.On()
		synctest.Wait()
		close(waiting.come) // there would be something now
		select {
		case err := <-got:
			t.Fatalf("the brake came on, and next returned: %v", err)
		case <-time.After(time.Hour):
		}
		b.Off()
		if err := <-got; err != nil {
			t.Fatalf("after the second Off: %v", err)
		}

		b.On()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if _, err := c.nextFree(ctx, queue); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context: %v", err)
		}
		b.Off()
	})
	var none *Brake
	if none.Held() {
		t.Error("no brake is held")
	}
}

// A waitingQueue waits as a frontier on disk does.
type waitingQueue struct {
	Frontier
	come chan struct{}
}

func (q waitingQueue) Next(ctx context.Context, claim func(host string) time.Duration) (frontier.Entry, error) {
	select {
	case <-q.come:
		return q.Frontier.Next(ctx, claim)
	case <-ctx.Done():
		return frontier.Entry{}, ctx.Err()
	}
}
