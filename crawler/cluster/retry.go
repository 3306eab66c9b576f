package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How long a step is retried before it gives up. An
// election among servers takes 4 to 9 s after a leader is lost, on a busy
// machine several of them in a row.
const (
	joinPatience = 3 * time.Minute  // of a node that joins
	viewPatience = 30 * time.Second // of a Viewer
	oneAttempt   = 10 * time.Second // for one step
	sayAfter     = 5 * time.Second  // after this time the user learns what is awaited
)

// ready returns when JetStream answers. Servers of a cluster answer once most of them are present
// and have elected a leader, which takes ten seconds and more, and their operators have to start
// them. So if this node's server is one of them, ready waits without limit.
func (c *connection) ready(ctx context.Context) error {
	if c.ofSeveral() {
		defer func(was time.Duration) { c.await = was }(c.await)
		c.await = math.MaxInt64
	}
	err := c.retry(ctx, "JetStream, which answers when most of its servers are there",
		func(ctx context.Context) error {
			_, err := c.js.AccountInfo(ctx)
			return err
		})
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("%w: %s has no JetStream: %w", ErrUnreachable, c.o.URL, err)
	}
	return err
}

// retry repeats a step until it succeeds, ctx ends, it fails for good, or n.await has passed with
// temporary errors: in a cluster of servers a new stream is not known to all of them at once, and
// after a server is lost, the streams it led have no leader for some seconds. While servers are
// missing that should keep copies, it waits without limit. what names the step in an error.
func (c *connection) retry(ctx context.Context, what string, step func(ctx context.Context) error) error {
	begun, pause := time.Now(), 100*time.Millisecond
	for said := false; ; pause = min(2*pause, 2*time.Second) {
		try, cancel := context.WithTimeout(ctx, min(oneAttempt, max(c.await, time.Second)))
		err := step(try)
		cancel()
		if err == nil || ctx.Err() != nil || !isTemporary(err) {
			return err
		}
		waited, missing := time.Since(begun), hasCode(err, noPeers) && c.ofSeveral()
		if waited > c.await && !missing {
			return fmt.Errorf("%w: waited %v for %s: %w", ErrUnreachable, waited.Round(time.Second), what, err)
		}
		if !said && (waited > sayAfter || missing) {
			c.say("cluster: waiting for %s … (%v)", what, err)
			said = true
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// Codes of the server that the library has no names for.
const (
	noPeers   = 10005 // fewer servers than were asked to keep a stream
	noStorage = 10047 // a stream asks for more room than is left
)

// hasCode reports whether err is a JetStream error with this code.
func hasCode(err error, code jetstream.ErrorCode) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == code
}

// isTemporary reports whether a retry may succeed: there is no leader, a server is lost or has just
// joined, or lags behind, so that an existing key is not found.
func isTemporary(err error) bool {
	if isConflict(err) {
		return true
	}
	for _, passing := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
		jetstream.ErrNoStreamResponse, jetstream.ErrStreamNotFound, jetstream.ErrBucketNotFound,
		jetstream.ErrKeyNotFound,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return false
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.Code == 503 || api.ErrorCode == noPeers)
}
