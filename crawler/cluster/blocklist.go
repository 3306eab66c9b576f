package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gazehound/crawler/frontier"

	"github.com/andybalholm/brotli"
	"github.com/nats-io/nats.go/jetstream"
)

// A Blocklist is what a node must not fetch or keep, because it was forgotten.
type Blocklist interface {
	// Lines are those of this node.
	Lines() ([]string, error)
	// Add adds lines of other nodes, which then hold here, too.
	Add(lines []string) error
	// Blocks reports whether a link leads to or names what is blocked.
	Blocks(e *frontier.Entry) bool
}

// maxBlocklist bounds the lines that nodes share, in bytes as they are packed: a value has at most
// 1 MB.
const maxBlocklist = 700_000

// sharedLines is the value of the key "blocked": the lines of all nodes, each followed by "\n",
// packed with Brotli.
type sharedLines struct {
	Packed []byte `json:"packed"`
}

func (s sharedLines) lines() ([]string, error) {
	if len(s.Packed) == 0 {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(s.Packed)), 64<<20))
	if err != nil {
		return nil, fmt.Errorf("%w: blocked: %w", ErrOtherFormat, err)
	}
	return strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' }), nil
}

// readBlocklist reads the lines of all nodes, with the revision of their key.
func (c *connection) readBlocklist(ctx context.Context) (lines []string, revision uint64, err error) {
	shared, revision, err := load[sharedLines](ctx, c.crawl, "blocked")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	lines, err = shared.lines()
	return lines, revision, err
}

// Blocklist returns the lines of all nodes, and a number that changes with them.
func (v *Viewer) Blocklist(ctx context.Context) (lines []string, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, oneAttempt)
	defer cancel()
	return v.c.readBlocklist(ctx)
}

// shareBlocklist gives the lines of this node to the others, takes theirs, and removes from the
// streams what the lines of this node block, once.
func (n *Node) shareBlocklist(ctx context.Context) error {
	if n.o.Blocklist == nil {
		return nil
	}
	own, err := n.o.Blocklist.Lines()
	if err != nil {
		return err
	}
	all, revision, err := n.readBlocklist(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, line := range all {
		known[line] = true
	}
	theirs := slices.DeleteFunc(slices.Clone(all), func(line string) bool { return slices.Contains(own, line) })
	fresh := slices.DeleteFunc(slices.Clone(own), func(line string) bool { return known[line] })
	if len(fresh) > 0 {
		packed := compress([]byte(strings.Join(append(all, fresh...), "\n") + "\n"))
		if len(packed) > maxBlocklist {
			n.o.Log("cluster: the blocklist of this node is too long for the other nodes: %d lines, %d bytes packed; "+
				"give it to them as a file", len(own), len(packed))
		} else {
			revision, err = save(ctx, n.crawl, "blocked", sharedLines{packed}, revision)
			if err != nil {
				return err
			}
		}
	}
	err = n.obeyBlocklist(theirs, revision)
	if err != nil {
		return err
	}
	return n.cleanLinks(ctx, own)
}

// learnBlocklist takes the lines that other nodes have added since.
func (n *Node) learnBlocklist(ctx context.Context) {
	if n.o.Blocklist == nil {
		return
	}
	lines, revision, err := n.readBlocklist(ctx)
	if err == nil && revision > n.blocked.Load() {
		err = n.obeyBlocklist(lines, revision)
	}
	if err != nil && ctx.Err() == nil {
		n.o.Log("cluster: blocklist: %v", err) // the next heartbeat tries again
	}
}

func (n *Node) obeyBlocklist(lines []string, revision uint64) error {
	if len(lines) > 0 {
		err := n.o.Blocklist.Add(lines)
		if err != nil {
			return err
		}
	}
	n.blocked.Store(revision)
	return nil
}

// allowed returns the links that are not blocked.
func (n *Node) allowed(es []frontier.Entry) []frontier.Entry {
	if n.o.Blocklist == nil {
		return es
	}
	return slices.DeleteFunc(es, func(e frontier.Entry) bool { return n.o.Blocklist.Blocks(&e) })
}

// cleanLinks removes blocked links from the messages that JetStream stores, unless that was done for
// these lines of the blocklist. What is left of a message is sent anew before its bytes are
// overwritten.
func (n *Node) cleanLinks(ctx context.Context, lines []string) error {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	state := hex.EncodeToString(sum[:8])
	if len(lines) == 0 || n.notes.get().Cleaned == state {
		return nil
	}
	info, err := n.links.Info(ctx)
	if err != nil {
		return err
	}
	first := info.State.LastSeq + 1 // that stays
	removed := 0
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; {
		m, err := n.links.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(n.o.Crawl+".links.>"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		} else if err != nil {
			return err
		}
		if m.Sequence > info.State.LastSeq {
			break
		}
		seq = m.Sequence + 1
		gone, err := n.cleanMessage(ctx, m)
		if err != nil {
			return err
		}
		removed += gone
		if gone == 0 {
			first = min(first, m.Sequence)
		}
	}
	err = n.links.Purge(ctx, jetstream.WithPurgeSequence(first))
	if err != nil { // the files of messages that are gone
		return err
	}
	if removed > 0 {
		n.say("cluster: %d links on their way between nodes were forgotten", removed)
	}
	return n.notes.change(func(s *notes) { s.Cleaned = state })
}

// cleanMessage replaces a stored message with blocked links by one without, and returns their number.
func (n *Node) cleanMessage(ctx context.Context, m *jetstream.RawStreamMsg) (removed int, err error) {
	es, err := unpackLinks(m.Data)
	if err != nil {
		return 0, nil // its receiver puts it aside
	}
	left := n.allowed(slices.Clone(es))
	removed = len(es) - len(left)
	if removed == 0 {
		return 0, nil
	}
	for i, message := range packLinks(left) {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s cleaned %d %d\x00%s", n.instance, m.Sequence, i, message))
		id := jetstream.WithMsgID(hex.EncodeToString(sum[:12]))
		_, err := n.js.Publish(ctx, m.Subject, message, id)
		if err != nil {
			return 0, err
		}
	}
	err = n.links.SecureDeleteMsg(ctx, m.Sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) { // received meanwhile
		err = nil
	}
	return removed, err
}
