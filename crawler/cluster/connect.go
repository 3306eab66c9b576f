package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A connection is the servers of a crawl, with its streams and buckets. Its fields do not change once
// stores or find has opened them.
type connection struct {
	o       Options
	await   time.Duration // how long retry tries
	conn    *nats.Conn
	js      jetstream.JetStream
	links   jetstream.Stream
	visits  jetstream.Stream
	pages   jetstream.Stream
	crawl   jetstream.KeyValue
	members jetstream.KeyValue
	hosts   jetstream.KeyValue
	// parting: the server may end without a warning, because the node is being closed or all nodes
	// were told to stop.
	parting atomic.Bool
}

// say reports normal events; warnings go to Options.Log.
func (c *connection) say(format string, args ...any) {
	if c.o.Say == nil {
		c.o.Log(format, args...)
		return
	}
	c.o.Say(format, args...)
}

// connect connects to the cluster and waits until JetStream answers.
func (c *connection) connect(ctx context.Context) (err error) {
	options := []nats.Option{
		nats.Name("gazehound " + c.o.Name), nats.Timeout(5 * time.Second),
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil && !c.parting.Load() {
				c.o.Log("cluster: disconnected: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			if !c.parting.Load() {
				c.say("cluster: connected again")
			}
		}),
	}
	if c.o.Token != "" {
		options = append(options, nats.Token(c.o.Token))
	}
	if c.o.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(c.o.NKey)
		if err != nil {
			return fmt.Errorf("cluster: key %s: %w", c.o.NKey, err)
		}
		options = append(options, key)
	}
	config, err := c.o.TLS.config()
	if err != nil {
		return err
	}
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	address := c.o.URL
	if address == "" {
		address = nats.DefaultURL // not used: the connection is in this process
		options = append(options, nats.InProcessServer(c.o.Server.s))
	}
	c.warnOfToken()
	c.conn, err = nats.Connect(address, options...)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, c.o.URL, err)
	}
	c.js, err = jetstream.New(c.conn)
	if err != nil {
		return err
	}
	return c.ready(ctx)
}

// warnOfToken warns of a token that travels beyond this machine without TLS.
func (c *connection) warnOfToken() {
	if c.o.Token == "" || c.o.TLS != (TLSFiles{}) {
		return
	}
	addresses := c.o.URL
	if c.o.Server != nil {
		addresses = c.o.Server.URL()
	}
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err == nil && u.Scheme == "nats" && !isLoopback(u.Hostname()) {
			c.o.Log("cluster: the token travels to and from %s unencrypted: "+
				"whoever reads it can join the crawl; use --tls-cert, --tls-key and --tls-ca", u.Host)
			return
		}
	}
}

// ofSeveral reports whether this node's server is one of several.
func (c *connection) ofSeveral() bool { return c.o.Server != nil && c.o.Server.servers() > 1 }

// compareClocks returns an error if our server's clock differs from the leader's. Nodes measure
// elapsed time by their own clocks. But keys expire by the servers' clocks, so that a server far
// ahead would lease a host before its old lease has ended.
func (c *connection) compareClocks(ctx context.Context) error {
	if !c.ofSeveral() {
		return nil
	}
	asked := time.Now()
	info, err := c.links.Info(ctx)
	if err != nil {
		return fmt.Errorf("cluster: clock: %w", err)
	}
	return clocksAgree(info.TimeStamp, asked, time.Now(), c.o.Lease/4)
}

// clocksAgree returns an error if theirs, read from another clock between asked and answered of
// our own, lies outside of them by more than most. A zero time is not compared.
func clocksAgree(theirs, asked, answered time.Time, most time.Duration) error {
	off := max(asked.Sub(theirs), theirs.Sub(answered)).Round(time.Second)
	if theirs.IsZero() || off <= most {
		return nil
	}
	way := "ahead"
	if theirs.After(answered) {
		way = "behind"
	}
	return fmt.Errorf("%w: it is %v %s; leases of hosts end by the servers' clocks, so set it (NTP), "+
		"or take part with --cluster and without a server", ErrClock, off, way)
}

// stores creates the streams and buckets, or opens existing ones.
func (c *connection) stores(ctx context.Context) (err error) {
	// No link is discarded: without room publishing fails, and visits wait in Route.
	c.links, err = c.stream(ctx, jetstream.StreamConfig{
		Name: c.o.Crawl + "-links", Subjects: []string{c.o.Crawl + ".links.*"},
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
		MaxBytes: c.o.MaxBytes, Duplicates: c.o.Dedupe, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	c.visits, err = c.stream(ctx, jetstream.StreamConfig{
		Name: c.o.Crawl + "-visited", Subjects: []string{c.o.Crawl + ".visited.*"}, Discard: jetstream.DiscardOld,
		MaxBytes: c.o.MaxBytes / 2, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	c.pages, err = c.stream(ctx, c.pagesConfig())
	if err != nil {
		return err
	}
	c.crawl, err = c.bucket(ctx, "crawl", 0, jetstream.FileStorage)
	if err != nil {
		return err
	}
	c.members, err = c.bucket(ctx, "members", 5*c.o.Heartbeat, jetstream.MemoryStorage)
	if err != nil {
		return err
	}
	// A key expires after its lease and the host's delay.
	c.hosts, err = c.bucket(ctx, "hosts", c.o.Lease+c.o.Rest, jetstream.MemoryStorage)
	return err
}

// replicas returns the number of servers that keep each stream.
func (c *connection) replicas() int {
	switch {
	case c.o.Replicas > 0:
		return c.o.Replicas
	case c.o.Server != nil && c.o.Server.servers() >= 3:
		return 3
	}
	return 1
}

// stream creates a stream or opens the existing one.
func (c *connection) stream(ctx context.Context, config jetstream.StreamConfig) (s jetstream.Stream, err error) {
	err = c.retry(ctx, "the stream "+config.Name, func(ctx context.Context) error {
		config.Replicas = c.replicas()
		s, err = c.js.CreateStream(ctx, config)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			s, err = c.replicate(ctx, config.Name)
		}
		return err
	})
	if hasCode(err, noStorage) {
		return nil, fmt.Errorf("cluster: stream %s: JetStream has no room for the %d MB that it may grow to: %w; "+
			"smaller cluster.max_bytes, or more room for the server", config.Name, config.MaxBytes>>20, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: stream %s: %w", config.Name, err)
	}
	return s, nil
}

// bucket creates a bucket of keys or opens the existing one. Its keys expire after ttl.
func (c *connection) bucket(ctx context.Context, what string, ttl time.Duration, storage jetstream.StorageType) (
	kv jetstream.KeyValue, err error) {
	name := c.o.Crawl + "-" + what
	err = c.retry(ctx, "the bucket "+name, func(ctx context.Context) error {
		kv, err = c.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, TTL: ttl, Storage: storage, Replicas: c.replicas(), History: 1,
		})
		if errors.Is(err, jetstream.ErrBucketExists) {
			_, err = c.replicate(ctx, "KV_"+name)
			if err == nil {
				kv, err = c.js.KeyValue(ctx, name)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cluster: bucket %s: %w", name, err)
	}
	return kv, nil
}

// replicate opens a stream, and raises its number of replicas if the node that created it knew
// fewer servers.
func (c *connection) replicate(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	config := s.CachedInfo().Config
	if config.Replicas >= c.replicas() {
		return s, nil
	}
	config.Replicas = c.replicas()
	return c.js.UpdateStream(ctx, config)
}
