package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A temporary error is retried until the step succeeds or patience ends; any other
// error ends it at once.
func TestRetry(t *testing.T) {
	unavailable := &jetstream.APIError{Code: 503, ErrorCode: 10008, Description: "JetStream system temporarily unavailable"}
	full := &jetstream.APIError{Code: 500, ErrorCode: 10047, Description: "insufficient storage resources available"}
	for name, tt := range map[string]struct {
		err   error
		waits bool
	}{
		"no leader":         {fmt.Errorf("stream: %w", unavailable), true},
		"no answer":         {nats.ErrTimeout, true},
		"nobody listens":    {nats.ErrNoResponders, true},
		"no stream listens": {jetstream.ErrNoStreamResponse, true},
		"cut off":           {nats.ErrDisconnected, true},
		"few servers":       {&jetstream.APIError{Code: 400, ErrorCode: noPeers}, true},
		"changed meanwhile": {&jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}, true},
		"changed, replicas": {fmt.Errorf("%w: %w", &jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant},
			jetstream.ErrKeyRevisionMismatch), true},
		"another began it": {fmt.Errorf("cluster: stream of pages: %w",
			&jetstream.APIError{Code: 400, ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant}), true},
		"not known yet": {jetstream.ErrKeyNotFound, true},
		"no JetStream":  {jetstream.ErrJetStreamNotEnabled, false},
		"no room":       {full, false},
		"another crawl": {ErrOtherCrawl, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var said []string
				n := &connection{await: time.Minute, o: Options{Log: func(f string, args ...any) { said = append(said, fmt.Sprintf(f, args...)) }}}
				begun, tries := time.Now(), 0
				err := n.retry(t.Context(), "the stream of links", func(context.Context) error {
					if tries++; time.Since(begun) > 20*time.Second {
						return nil
					}
					return tt.err
				})
				if tt.waits != (err == nil) || tt.waits != (tries > 5) {
					t.Errorf("%d tries, %v", tries, err)
				}
				if tt.waits && (len(said) != 1 || !strings.Contains(said[0], "waiting for the stream of links")) {
					t.Errorf("said %q", said)
				}
				begun = time.Now()
				err = n.retry(t.Context(), "the stream of links", func(context.Context) error { return tt.err })
				if !errors.Is(err, tt.err) || tt.waits && (!errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "the stream of links")) {
					t.Errorf("in the end: %v", err)
				}
				if took := time.Since(begun); tt.waits && (took < time.Minute || took > 2*time.Minute) || !tt.waits && took > 0 {
					t.Errorf("gave up after %v", took)
				}
			})
		})
	}
}

// A user who stops is not kept waiting.
func TestRetryStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		n := &connection{await: time.Hour, o: Options{Log: t.Logf}}
		begun := time.Now()
		err := n.retry(ctx, "x", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 4*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}
