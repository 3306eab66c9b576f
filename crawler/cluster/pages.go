package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The stream NAME-index has a subject for each page that a node has indexed, named by the hash of its
// URL, and of each the newest message only: what the page states, or nothing where it is gone. So the
// stream compacts itself, and whoever reads it from its beginning has a whole index.
//
// The subject "begin" identifies the stream. It is written first and never again, so that it is missing
// once messages of before are, whoever removed them. The first node that notices writes a new one with
// another ID; then all nodes publish all of their pages again, and followers start anew.

// A PageState is the newest state of a page.
type PageState struct {
	Page      string // hash of the URL, 16 hexadecimal digits
	Revision  int    // of the index that sends it when the page changed
	Seq       uint64 // number in the stream, from 1 on; 0 before it is there
	Forgotten bool   // no earlier state of the page may be kept anywhere
	Content   []byte // empty: the page states nothing any more
}

// Errors of following pages.
var (
	ErrNoPages   = errors.New("no node has published pages")
	ErrNewStream = errors.New("the stream of pages has begun anew")
)

// A beginning is the message that identifies a stream of pages.
type beginning struct {
	Format int    `json:"format"` // see Options.PagesFormat
	ID     string `json:"id"`
}

const (
	beginSubject    = "begin"
	forgottenHeader = "Gazehound-Forgotten"

	// maxPages is how many states are published, or taken in, at a time.
	maxPages = 500
	// pagesLinger is for how long states are gathered that are taken in together.
	pagesLinger = 50 * time.Millisecond
)

func (c *connection) pageSubject(page string) string { return c.o.Crawl + ".index." + page }

func (c *connection) pagesConfig() jetstream.StreamConfig {
	// Nothing is discarded but what is replaced: without room, pages wait in the indexes of their nodes.
	return jetstream.StreamConfig{
		Name: c.o.Crawl + "-index", Subjects: []string{c.pageSubject("*")},
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew,
		MaxBytes: c.o.MaxBytes, Duplicates: c.o.Dedupe, Storage: jetstream.FileStorage,
	}
}

// readBeginning returns what identifies the stream of pages, and its number; 0: it is missing.
func (c *connection) readBeginning(ctx context.Context) (b beginning, seq uint64, err error) {
	m, err := c.pages.GetLastMsgForSubject(ctx, c.pageSubject(beginSubject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return b, 0, nil
	}
	if err != nil {
		return b, 0, fmt.Errorf("cluster: stream of pages: %w", err)
	}
	if json.Unmarshal(m.Data, &b) != nil || b.ID == "" {
		return b, 0, fmt.Errorf("%w: the stream %s-index cannot be read", ErrOtherFormat, c.o.Crawl)
	}
	return b, m.Sequence, nil
}

// beginPages reads what identifies the stream of pages. It begins the stream where that is missing, or
// is of an older version.
func (n *Node) beginPages(ctx context.Context) error {
	b, seq, err := n.readBeginning(ctx)
	if err != nil {
		return err
	}
	if b.Format > n.o.PagesFormat {
		return fmt.Errorf("%w: its pages have format %d, this one writes %d", ErrOtherFormat, b.Format, n.o.PagesFormat)
	}
	interrupted := n.pagesID.Load() == nil // perhaps: another process may have ended before Purge
	if seq == 0 || b.Format < n.o.PagesFormat {
		interrupted = true
		b = beginning{Format: n.o.PagesFormat, ID: rand.Text()[:16]}
		raw, _ := json.Marshal(b) // a number and a text
		// If another node is first, there is a conflict, and the step is done again.
		ack, err := n.js.Publish(ctx, n.pageSubject(beginSubject), raw, jetstream.WithExpectLastSequencePerSubject(seq))
		if err != nil {
			return fmt.Errorf("cluster: stream of pages: %w", err)
		}
		seq = ack.Sequence
	}
	if interrupted { // nobody reads what is before
		err = n.pages.Purge(ctx, jetstream.WithPurgeSequence(seq))
		if err != nil {
			return fmt.Errorf("cluster: stream of pages: %w", err)
		}
	}
	n.pagesID.Store(&b.ID)
	return nil
}

// PagesStream returns the ID of the stream that PublishPages publishes to. It changes when messages were
// removed from it: then all pages of the node's index have to be published again.
func (n *Node) PagesStream(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, oneAttempt)
	defer cancel()
	err := n.beginPages(ctx)
	if err != nil {
		return "", err
	}
	return *n.pagesID.Load(), nil
}

// PublishPages publishes states of pages of the index with this ID, and returns once they are durable. A
// state that was published before, and whose answer was lost, is stored once.
func (n *Node) PublishPages(ctx context.Context, index string, states []PageState) error {
	for len(states) > 0 {
		some := states[:min(maxPages, len(states))]
		states = states[len(some):]
		var acks []jetstream.PubAckFuture
		for _, s := range some {
			m := nats.NewMsg(n.pageSubject(s.Page))
			if len(s.Content) > 0 {
				m.Data = compress(s.Content)
			}
			if s.Forgotten {
				m.Header.Set(forgottenHeader, "1")
				err := n.erase(ctx, m.Subject)
				if err != nil {
					return err
				}
			}
			id := index + " " + s.Page + " " + strconv.Itoa(s.Revision)
			ack, err := n.js.PublishMsgAsync(m, jetstream.WithMsgID(id))
			if err != nil {
				return fmt.Errorf("publish pages: %w", err)
			}
			acks = append(acks, ack)
		}
		for _, ack := range acks {
			select {
			case <-ack.Ok():
			case err := <-ack.Err():
				return fmt.Errorf("publish pages: %w", err)
			case <-ctx.Done():
				return fmt.Errorf("publish pages: %w", ctx.Err())
			}
		}
	}
	return nil
}

// erase overwrites the stored state of a page.
func (n *Node) erase(ctx context.Context, subject string) error {
	m, err := n.pages.GetLastMsgForSubject(ctx, subject)
	if err == nil {
		err = n.pages.SecureDeleteMsg(ctx, m.Sequence)
	}
	if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
		return fmt.Errorf("publish pages: %w", err)
	}
	return nil
}

// awaitFollowers waits, for a limited time, until what follows the pages has all of them, if it needs the
// server of this node for that.
func (n *Node) awaitFollowers() {
	if n.o.Server == nil || n.o.Server.URL() == "" || n.ofSeveral() || n.pages == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*n.o.Heartbeat)
	defer cancel()
	for behind, said := true, false; behind && ctx.Err() == nil; {
		behind = false
		consumers := n.pages.ListConsumers(ctx)
		for c := range consumers.Info() {
			behind = behind || c.NumPending > 0
		}
		if consumers.Err() != nil {
			return
		}
		if behind && !said {
			n.say("cluster: waiting for what follows the pages of this crawl …")
			said = true
		}
		if behind {
			sleep(ctx, n.o.Heartbeat/4)
		}
	}
}

// A PagesFollower takes in the states of pages.
type PagesFollower struct {
	Stream string // ID of the stream that was followed before; "": none was
	Seq    uint64 // number of the last state that was taken in
	// Begin gets the ID of the stream before the first call of Take.
	Begin func(stream string)
	// Take takes some states in, in the order of their numbers, and learns how many follow that are in
	// the stream already. With none of both, the stream is empty.
	Take func(ctx context.Context, states []PageState, behind uint64) error
}

// FollowPages passes on the states of pages that come after f.Seq until ctx ends. It returns
// ErrNewStream where the stream is not f.Stream, because it has begun anew, or does not reach as far
// any more; then the caller starts with another index. Other errors are ErrNoPages, ErrOtherFormat, those
// of f, or of the connection; after these it may be called again.
func (v *Viewer) FollowPages(ctx context.Context, f PagesFollower) error {
	c := v.c
	b, first, err := c.openPages(ctx)
	if err != nil {
		return err
	}
	info, err := c.pages.Info(ctx)
	if err != nil {
		return fmt.Errorf("stream of pages: %w", err)
	}
	if f.Stream != "" && (f.Stream != b.ID || f.Seq > info.State.LastSeq) {
		return ErrNewStream
	}
	f.Begin(b.ID)
	last := max(f.Seq, first)
	if last >= info.State.LastSeq {
		if err := f.Take(ctx, nil, 0); err != nil {
			return err
		}
	}
	consumer, err := c.js.OrderedConsumer(ctx, c.o.Crawl+"-index", jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: last + 1,
		InactiveThreshold: 3 * silent, // a node waits for no follower that has died
		MaxResetAttempts:  1,          // without a server it would else be made anew for ever, whatever ctx says
	})
	if err != nil {
		return fmt.Errorf("stream of pages: %w", err)
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(2*maxPages), jetstream.PullHeartbeat(silent))
	if err != nil {
		return fmt.Errorf("stream of pages: %w", err)
	}
	defer messages.Stop()
	for {
		states, behind, err := c.nextPages(ctx, messages, b.ID)
		if len(states) > 0 {
			err = errors.Join(f.Take(ctx, states, behind), err)
		}
		if err != nil {
			return err
		}
	}
}

// openPages opens the existing stream of pages.
func (c *connection) openPages(ctx context.Context) (b beginning, seq uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, oneAttempt)
	defer cancel()
	c.pages, err = c.js.Stream(ctx, c.o.Crawl+"-index")
	if err == nil {
		b, seq, err = c.readBeginning(ctx)
	}
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound), err == nil && seq == 0:
		return b, 0, fmt.Errorf("%w in the crawl %s: its nodes do when they run", ErrNoPages, c.o.Crawl)
	case err != nil:
		return b, 0, fmt.Errorf("stream of pages: %w", err)
	case b.Format != c.o.PagesFormat:
		return b, 0, fmt.Errorf("%w: its pages have format %d, this one reads %d; nodes and followers must have one "+
			"version", ErrOtherFormat, b.Format, c.o.PagesFormat)
	}
	return b, seq, nil
}

// nextPages waits for a message and gathers those that come soon after. It returns some with an error, too,
// which ErrNewStream is, where the stream has begun anew.
func (c *connection) nextPages(ctx context.Context, messages jetstream.MessagesContext, stream string) (
	states []PageState, behind uint64, err error) {
	var first time.Time // when the first one came
	for len(states) < maxPages {
		wait := jetstream.NextContext(ctx)
		if len(states) > 0 {
			wait = jetstream.NextMaxWait(max(time.Millisecond, pagesLinger-time.Since(first)))
		}
		m, err := messages.Next(wait)
		if errors.Is(err, nats.ErrTimeout) && len(states) > 0 {
			return states, behind, nil
		}
		if err != nil {
			return states, behind, fmt.Errorf("stream of pages: %w", err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return states, behind, fmt.Errorf("stream of pages: %w", err)
		}
		behind = meta.NumPending
		page := m.Subject()[len(c.pageSubject("")):]
		if page == beginSubject {
			var b beginning
			if json.Unmarshal(m.Data(), &b) != nil || b.ID != stream {
				return states, behind, ErrNewStream
			}
			continue
		}
		s := PageState{Page: page, Seq: meta.Sequence.Stream, Forgotten: m.Headers().Get(forgottenHeader) != ""}
		s.Content, err = unpackPage(m.Data())
		if err != nil {
			return states, behind, fmt.Errorf("stream of pages: message %d: %w", s.Seq, err)
		}
		if len(states) == 0 {
			first = time.Now()
		}
		states = append(states, s)
	}
	return states, behind, nil
}

// maxPage bounds the content of a state, in bytes.
const maxPage = 4 << 20

func unpackPage(message []byte) ([]byte, error) {
	if len(message) == 0 {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(message)), maxPage+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOtherFormat, err)
	}
	if len(text) > maxPage {
		return nil, fmt.Errorf("%w: it unpacks to more than %d bytes", ErrOtherFormat, maxPage)
	}
	return text, nil
}
