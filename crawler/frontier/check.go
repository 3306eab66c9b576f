package frontier

import (
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"gazehound/internal/disk"
)

// A Check is what the crawl keeps of a visited URL for revisiting it. Times
// are kept to the second.
type Check struct {
	First    time.Time     // the page was there
	Last     time.Time     // … for the last time
	Read     time.Time     // all of it came for the last time
	Asked    time.Time     // last request
	Due      time.Time     // not before this
	Gone     time.Time     // since then it is not there; zero: it is
	Wait     time.Duration // the present interval, to the second
	Asks     int           // visits after the first
	Changes  int           // of those, found another text or other addresses
	Fails    int           // in a row that brought nothing
	Relevant bool
	Text     uint64 // fingerprint of the text
	ETag     string // validators of the last answer, at most 256 bytes each are kept
	Modified string
}

// A Due is a visited URL that is to be revisited.
type Due struct {
	Key Key
	Check
}

const maxValidator = 256

func checkKey(k Key) []byte { return append([]byte{'r'}, k[:]...) }

func (c *Check) times() []*time.Time {
	return []*time.Time{&c.First, &c.Last, &c.Read, &c.Asked, &c.Due, &c.Gone}
}

func (c *Check) counts() []*int { return []*int{&c.Asks, &c.Changes, &c.Fails} }

func (c Check) encode() []byte {
	b := append(make([]byte, 0, 64), version)
	for _, t := range c.times() {
		var at int64 // of the zero time
		if !t.IsZero() {
			at = t.Unix()
		}
		b = binary.AppendVarint(b, at)
	}
	b = binary.AppendVarint(b, int64(c.Wait/time.Second))
	for _, n := range c.counts() {
		b = binary.AppendUvarint(b, uint64(max(0, *n)))
	}
	relevant := byte(0)
	if c.Relevant {
		relevant = 1
	}
	b = binary.BigEndian.AppendUint64(append(b, relevant), c.Text)
	b = disk.AppendString(b, cut(c.ETag, maxValidator))
	return disk.AppendString(b, cut(c.Modified, maxValidator))
}

func decodeCheck(value []byte) (c Check, err error) {
	d := newDecoder(value)
	for _, t := range c.times() {
		if at := d.Varint(); at != 0 {
			*t = time.Unix(at, 0).UTC()
		}
	}
	const most = int64(1<<63-1) / int64(time.Second)
	wait := d.Varint()
	if wait > most || wait < -most {
		d.Fail()
	}
	c.Wait = time.Duration(wait) * time.Second
	for _, n := range c.counts() {
		*n = d.Int(1 << 31)
	}
	c.Relevant = d.Byte() > 0
	c.Text = d.Uint64()
	c.ETag, c.Modified = d.String(), d.String()
	return c, d.Err()
}

// Check returns what is known for revisiting a URL; false if nothing is, as for URLs that wait.
func (f *Frontier) Check(k Key) (c Check, known bool, err error) {
	damaged := false
	err = f.read(func(v view) error {
		c, known, err = get(v, checkKey(k), decodeCheck)
		damaged = err != nil
		return readable(err)
	})
	if err != nil {
		return Check{}, false, fmt.Errorf("frontier: check of %s: %w", k, err)
	}
	return c, known && !damaged, nil
}

// Due returns the visited URLs that are due at now, at most most of them: the
// relevant ones first, then those that are due for the longest part of their
// interval. all is the number of those that are due. URLs that were asked later
// than now, before the clock was set back, are due: nobody knows since when.
func (f *Frontier) Due(ctx context.Context, now time.Time, most int) (due []Due, all int, err error) {
	var urgent urgency
	err = f.read(func(v view) error {
		return v.scan([]byte{'r'}, nil, func(key, value []byte) error {
			c, err := decodeCheck(value)
			if err != nil || len(key) != 17 || c.Due.After(now) && !c.Asked.After(now) {
				return ctx.Err()
			}
			all++
			heap.Push(&urgent, entitled{Due{Key(key[1:]), c}, claim(&c, now)})
			if len(urgent) > most {
				heap.Pop(&urgent)
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("frontier: due: %w", err)
	}
	slices.SortFunc(urgent, func(a, b entitled) int {
		switch {
		case a.claim > b.claim:
			return -1
		case a.claim < b.claim:
			return 1
		}
		return slices.Compare(a.Key[:], b.Key[:])
	})
	for _, e := range urgent {
		due = append(due, e.Due)
	}
	return due, all, nil
}

// claim tells how urgent it is to ask again: above 1 for relevant pages.
func claim(c *Check, now time.Time) float64 {
	share := min(1, max(0, now.Sub(c.Due).Hours())/max(1, c.Wait.Hours())/10)
	if c.Relevant {
		return 1 + share
	}
	return share
}

type entitled struct {
	Due
	claim float64
}

// An urgency is a heap with the least urgent on top.
type urgency []entitled

func (u urgency) Len() int           { return len(u) }
func (u urgency) Less(i, j int) bool { return u[i].claim < u[j].claim }
func (u urgency) Swap(i, j int)      { u[i], u[j] = u[j], u[i] }
func (u *urgency) Push(x any)        { *u = append(*u, x.(entitled)) }
func (u *urgency) Pop() any {
	last := len(*u) - 1
	x := (*u)[last]
	*u = (*u)[:last]
	return x
}

// Revise stores what asking a visited URL again has brought, in one
// transaction: its Check, the outcome in place of the old one unless o.Kind
// is "", and what was found. The number of its visit stays.
func (f *Frontier) Revise(ctx context.Context, k Key, o Outcome, found ...Entry) error {
	links, err := prepare(found)
	if err != nil {
		return err
	}
	n := f.portion(links)
	if _, err = f.push(ctx, links[n:]); err != nil {
		return err
	}
	return f.write(ctx, func(b *batch) error {
		if err := b.revise(k, o.trimmed()); err != nil {
			return err
		}
		_, err := b.push(links[:n])
		return err
	})
}

func (b *batch) revise(k Key, o Outcome) error {
	r, known, err := b.lookup(k)
	if err != nil || !known || r.state != Visited {
		return err // damaged meanwhile, or never visited: there is nothing to revise
	}
	if o.Check != nil {
		if err := b.set(checkKey(k), o.Check.encode()); err != nil {
			return err
		}
	}
	if o.Kind == "" {
		return nil
	}
	v, known, err := get(b, visitKey(r.seq), decodeVisit)
	if err != nil || !known {
		return readable(err)
	}
	b.totals.remove(&v.outcome)
	v.outcome = o
	if err := b.count(&o); err != nil {
		return err
	}
	return b.set(visitKey(r.seq), v.encode())
}
