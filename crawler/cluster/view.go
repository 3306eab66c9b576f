package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// A Viewer reads from a crawl's cluster without joining it. It is safe for concurrent use.
type Viewer struct{ c *connection }

// View connects to the crawl o.Crawl at o.URL.
func View(ctx context.Context, o Options) (*Viewer, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	v := &Viewer{c: &connection{o: o, await: viewPatience}}
	err := v.c.connect(ctx)
	if err == nil {
		err = v.c.retry(ctx, "the streams of the crawl", v.c.find)
	}
	if err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// find opens the existing streams and buckets of a crawl.
func (c *connection) find(ctx context.Context) (err error) {
	c.crawl, err = c.js.KeyValue(ctx, c.o.Crawl+"-crawl")
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return fmt.Errorf("cluster: no crawl called %q", c.o.Crawl)
	}
	if err == nil {
		c.members, err = c.js.KeyValue(ctx, c.o.Crawl+"-members")
	}
	if err == nil {
		c.links, err = c.js.Stream(ctx, c.o.Crawl+"-links")
	}
	if err != nil {
		return fmt.Errorf("cluster: crawl %s: %w", c.o.Crawl, err)
	}
	return nil
}

// Close disconnects.
func (v *Viewer) Close() {
	if v.c.conn != nil {
		v.c.conn.Close()
	}
}

// Running reports whether a node has sent a heartbeat recently.
func (v *Viewer) Running(ctx context.Context) (bool, error) {
	members, err := v.c.Members(ctx)
	return len(members) > 0, err
}

// Status returns the state of the cluster now. It retries while servers elect a leader.
func (v *Viewer) Status(ctx context.Context) (*Summary, error) { return v.c.Status(ctx) }
