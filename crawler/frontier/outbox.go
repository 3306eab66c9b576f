package frontier

import (
	"cmp"
	"context"
	"encoding/binary"

	"gazehound/internal/recent"
)

// An outbox sums up the links that wait for other nodes of a crawl, see Entry.Owner. Push, Done, Revise
// and Leave keep them in their transactions, numbered in that order, until they are Sent.
type outbox struct {
	first, next uint64 // numbers of the first link that waits and of the next one to come
	taken       uint64 // last link that Outgoing has returned; those up to it travel together
	bytes       int64  // of the records that wait

	// Priorities of the links that were kept last, so that a link on every page of a site is kept once.
	// Only writers use it.
	known recent.Map[ownedLink, float32]
}

type ownedLink struct {
	owner string
	key   Key
}

const (
	maxOutgoing = 4000    // numbers of links that travel together: their removal is one transaction
	maxKnown    = 1 << 19 // links of outbox.known
)

// An outgoingRecord is a link that waits.
type outgoingRecord struct {
	Owner string
	Rank  uint32
	Link  Entry
}

// takenKey is the key of outbox.taken. Numbers up to it are not used again.
var takenKey = []byte{'l'}

func outgoingKey(number uint64) []byte { return binary.BigEndian.AppendUint64([]byte{'o'}, number) }

// Outgoing are links for other nodes that travel together.
type Outgoing struct {
	First, Last uint64 // their numbers, which no other links get; 0: there are none
	Links       []Entry
	bytes       int64
}

// Outgoing returns the links that have waited longest, at most maxOutgoing; none where none waits. It
// returns the same ones, after a kill, too, until Sent. One goroutine at a time sends.
func (f *Frontier) Outgoing(ctx context.Context) (out Outgoing, err error) {
	f.mu.Lock()
	first, taken := f.outbox.first, f.outbox.taken
	f.mu.Unlock()
	again := taken >= first
	err = f.read(func(v view) error {
		return v.scan(outgoingKey(0)[:1], outgoingKey(first), func(key, value []byte) error {
			number := idOf(key)
			if again && number > taken || len(out.Links) > 0 && number >= out.First+maxOutgoing {
				return errEnough
			}
			r, err := decode[outgoingRecord](value)
			if err != nil {
				return err
			}
			r.Link.Owner, r.Link.Priority = r.Owner, priorityOf(r.Rank)
			if len(out.Links) == 0 {
				out.First = number
			}
			out.Links, out.Last = append(out.Links, r.Link), number
			out.bytes += int64(len(value))
			return ctx.Err()
		})
	})
	switch {
	case again: // the last one may have been forgotten
		out.Last = taken
	case err == nil && len(out.Links) > 0:
		err = f.write(ctx, func(b *batch) {
			b.set(takenKey, fixed(out.Last))
			b.taken = out.Last
		})
	}
	if err != nil {
		return Outgoing{}, err
	}
	return out, nil
}

// Sent removes the links that Outgoing has returned.
func (f *Frontier) Sent(ctx context.Context, out Outgoing) error {
	return f.write(ctx, func(b *batch) {
		for number := out.First; number <= out.Last; number++ {
			b.delete(outgoingKey(number))
		}
		b.sent = out
	})
}

// Resend makes links wait that were kept for their owners before, since these may have lost them.
func (f *Frontier) Resend() {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.outbox.known = recent.Map[ownedLink, float32]{Most: maxKnown}
}

// keepNew keeps a link for its owner, unless it was kept lately with about that priority or a higher one.
func (b *batch) keepNew(l *link) {
	const clearly = 0.1
	p, known := b.f.outbox.known.Get(ownedLink{l.Owner, l.key})
	if !known || finite(l.Priority) >= p+clearly {
		b.keep(l)
	}
}

// keep keeps a link for its owner, which judges for itself whether to park it: what made it parked here is
// in the memory of this node, so that the owner would neither confirm nor release it.
func (b *batch) keep(l *link) {
	l.Parked = ""
	number := b.f.outbox.next + uint64(len(b.kept)) // next changes under f.writing only
	value, err := encode(outgoingRecord{l.Owner, rankOf(finite(l.Priority)), l.Entry})
	b.err = cmp.Or(b.err, err)
	b.set(outgoingKey(number), value)
	b.kept = append(b.kept, keptLink{ownedLink{l.Owner, l.key}, finite(l.Priority), len(value)})
}

// A keptLink is a link that a batch keeps for its owner.
type keptLink struct {
	ownedLink
	priority float32
	bytes    int
}

// apply does what a committed batch did. f.writing and f.mu are held.
func (o *outbox) apply(b *batch) {
	for _, l := range b.kept {
		o.bytes += int64(l.bytes)
		o.known.Put(l.ownedLink, l.priority)
	}
	o.next += uint64(len(b.kept))
	o.taken = max(o.taken, b.taken)
	if b.sent.Last > 0 {
		o.first = b.sent.Last + 1
		o.bytes -= b.sent.bytes
	}
}

// restoreOutbox reads which links wait. Those that were sent and removed leave traces in the store until
// it compacts them, so it does not begin with the first number.
func (f *Frontier) restoreOutbox() error {
	taken, _, err := get(f.view, takenKey, decodeFixed[uint64])
	if err != nil {
		return err
	}
	o := outbox{taken: taken, first: taken + 1, next: taken + 1}
	o.known.Most = maxKnown
	oldest := uint64(1)
	if taken > maxOutgoing {
		oldest = taken - maxOutgoing
	}
	err = f.view.scan(outgoingKey(0)[:1], outgoingKey(oldest), func(key, value []byte) error {
		number := idOf(key)
		o.first, o.next = min(o.first, number), max(o.next, number+1)
		o.bytes += int64(len(value))
		return nil
	})
	f.outbox = o
	return err
}
