package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// connect connects to the cluster and waits until JetStream answers.
func (n *Node) connect(ctx context.Context) (err error) {
	options := []nats.Option{
		nats.Name("gazehound " + n.o.Name), nats.Timeout(5 * time.Second),
		nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil && !n.ending() {
				n.o.Log("cluster: disconnected: %v", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			if !n.ending() {
				n.say("cluster: connected again")
			}
		}),
	}
	if n.o.Token != "" {
		options = append(options, nats.Token(n.o.Token))
	}
	if n.o.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(n.o.NKey)
		if err != nil {
			return fmt.Errorf("cluster: key %s: %w", n.o.NKey, err)
		}
		options = append(options, key)
	}
	config, err := n.o.TLS.config()
	if err != nil {
		return err
	}
	if config != nil {
		options = append(options, nats.Secure(config))
	}
	address := n.o.URL
	if address == "" {
		address = nats.DefaultURL // not used: the connection is in this process
		options = append(options, nats.InProcessServer(n.o.Server.s))
	}
	n.warnOfToken()
	if n.conn, err = nats.Connect(address, options...); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnreachable, n.o.URL, err)
	}
	if n.js, err = jetstream.New(n.conn); err != nil {
		return err
	}
	return n.ready(ctx)
}

// warnOfToken warns of a token that travels beyond this machine without TLS.
func (n *Node) warnOfToken() {
	if n.o.Token == "" || n.o.TLS != (TLSFiles{}) {
		return
	}
	addresses := n.o.URL
	if n.o.Server != nil {
		addresses = n.o.Server.URL()
	}
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err == nil && u.Scheme == "nats" && !isLoopback(u.Hostname()) {
			n.o.Log("cluster: the token travels to and from %s unencrypted: "+
				"whoever reads it can join the crawl; use --tls-cert, --tls-key and --tls-ca", u.Host)
			return
		}
	}
}

// ofSeveral reports whether this node's server is one of several.
func (n *Node) ofSeveral() bool { return n.o.Server != nil && n.o.Server.servers() > 1 }

// compareClocks returns an error if our server's clock differs from the leader's. Nodes measure
// elapsed time by their own clocks. But keys expire by the servers' clocks, so that a server far
// ahead would lease a host before its old lease has ended.
func (n *Node) compareClocks(ctx context.Context) error {
	if !n.ofSeveral() {
		return nil
	}
	asked := time.Now()
	info, err := n.links.Info(ctx)
	if err != nil {
		return fmt.Errorf("cluster: clock: %w", err)
	}
	return clocksAgree(info.TimeStamp, asked, time.Now(), n.o.Lease/4)
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
func (n *Node) stores(ctx context.Context) (err error) {
	// No link is discarded: without room publishing fails, and visits wait once the outbox is full.
	n.links, err = n.stream(ctx, jetstream.StreamConfig{
		Name: n.o.Crawl + "-links", Subjects: []string{n.o.Crawl + ".links.*"},
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew,
		MaxBytes: n.o.MaxBytes, Duplicates: n.o.Dedupe, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	n.visits, err = n.stream(ctx, jetstream.StreamConfig{
		Name: n.o.Crawl + "-visited", Subjects: []string{n.o.Crawl + ".visited.*"}, Discard: jetstream.DiscardOld,
		MaxBytes: n.o.MaxBytes / 2, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return err
	}
	if n.crawl, err = n.bucket(ctx, "crawl", 0, jetstream.FileStorage); err != nil {
		return err
	}
	if n.members, err = n.bucket(ctx, "members", 5*n.o.Heartbeat, jetstream.MemoryStorage); err != nil {
		return err
	}
	// A key expires after its lease and the host's delay.
	n.hosts, err = n.bucket(ctx, "hosts", n.o.Lease+n.o.Rest, jetstream.MemoryStorage)
	return err
}

// replicas returns the number of servers that keep each stream.
func (n *Node) replicas() int {
	switch {
	case n.o.Replicas > 0:
		return n.o.Replicas
	case n.o.Server != nil && n.o.Server.servers() >= 3:
		return 3
	}
	return 1
}

// stream creates a stream or opens the existing one.
func (n *Node) stream(ctx context.Context, config jetstream.StreamConfig) (s jetstream.Stream, err error) {
	err = n.retry(ctx, "the stream "+config.Name, func(ctx context.Context) error {
		config.Replicas = n.replicas()
		if s, err = n.js.CreateStream(ctx, config); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			s, err = n.replicate(ctx, config.Name)
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
func (n *Node) bucket(ctx context.Context, what string, ttl time.Duration, storage jetstream.StorageType) (
	kv jetstream.KeyValue, err error) {
	name := n.o.Crawl + "-" + what
	err = n.retry(ctx, "the bucket "+name, func(ctx context.Context) error {
		kv, err = n.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: name, TTL: ttl, Storage: storage, Replicas: n.replicas(), History: 1,
		})
		if errors.Is(err, jetstream.ErrBucketExists) {
			if _, err = n.replicate(ctx, "KV_"+name); err == nil {
				kv, err = n.js.KeyValue(ctx, name)
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
func (n *Node) replicate(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := n.js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	config := s.CachedInfo().Config
	if config.Replicas >= n.replicas() {
		return s, nil
	}
	config.Replicas = n.replicas()
	return n.js.UpdateStream(ctx, config)
}
