package frontier

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"gazehound/internal/disk"
	"gazehound/internal/textutil"
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
	b = disk.AppendString(b, textutil.ClipBytes(c.ETag, maxValidator))
	return disk.AppendString(b, textutil.ClipBytes(c.Modified, maxValidator))
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
// interval. all is the number of those that are due. URLs that were
// requested later than now, before the clock was set back, are due: it is not known since when.
func (f *Frontier) Due(ctx context.Context, now time.Time, most int) (due []Due, all int, err error) {
	trim := func() {
		slices.SortFunc(due, func(a, b Due) int {
			return cmp.Or(cmp.Compare(b.urgency(now), a.urgency(now)), slices.Compare(a.Key[:], b.Key[:]))
		})
		due = due[:min(len(due), most)]
	}
	err = f.read(func(v view) error {
		return v.scan([]byte{'r'}, nil, func(key, value []byte) error {
			c, err := decodeCheck(value)
			if err != nil || len(key) != 17 || c.Due.After(now) && !c.Asked.After(now) {
				return ctx.Err()
			}
			all++
			if due = append(due, Due{Key(key[1:]), c}); len(due) >= 2*most+1000 {
				trim()
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("frontier: due: %w", err)
	}
	trim()
	return due, all, nil
}

// urgency tells how urgent it is to revisit a page: above 1 for relevant ones.
func (c *Check) urgency(now time.Time) float64 {
	share := min(1, max(0, now.Sub(c.Due).Hours())/max(1, c.Wait.Hours())/10)
	if c.Relevant {
		return 1 + share
	}
	return share
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
	return f.write(ctx, func(b *batch) {
		b.revise(k, o.trimmed())
		b.push(links[:n])
	})
}

func (b *batch) revise(k Key, o Outcome) {
	r, known := b.lookup(k)
	if !known || r.state != Visited {
		return // damaged meanwhile, or never visited: there is nothing to revise
	}
	if o.Check != nil {
		b.set(checkKey(k), o.Check.encode())
	}
	v, known := find(b, visitKey(r.seq), decodeVisit)
	if !known || o.Kind == "" {
		return
	}
	b.totals.remove(&v.outcome)
	b.count(&o)
	v.outcome = o
	b.set(visitKey(r.seq), v.encode())
}
