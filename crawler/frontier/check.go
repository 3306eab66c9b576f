package frontier

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gazehound/internal/textutil"
)

// A Check is what the crawl keeps of a visited URL for revisiting it.
type Check struct {
	First    time.Time     `json:",omitzero"` // the page was there
	Last     time.Time     `json:",omitzero"` // … for the last time
	Read     time.Time     `json:",omitzero"` // last time that it was read in full
	Asked    time.Time     `json:",omitzero"` // last request
	Due      time.Time     `json:",omitzero"` // not before this
	Gone     time.Time     `json:",omitzero"` // gone since then; zero: it exists
	Wait     time.Duration `json:",omitzero"` // the present interval
	Asks     int           `json:",omitzero"` // visits after the first
	Changes  int           `json:",omitzero"` // of those, found a change
	Fails    int           `json:",omitzero"` // failed visits in a row
	Relevant bool          `json:",omitzero"`
	Text     uint64        `json:",omitzero"` // fingerprint of the text
	ETag     string        `json:",omitzero"` // validators of the last answer, at most 256 bytes each are kept
	Modified string        `json:",omitzero"`
}

// A Due is a visited URL that is to be revisited.
type Due struct {
	Key Key
	Check
}

const maxValidator = 256

func checkKey(k Key) []byte { return append([]byte{'r'}, k[:]...) }

func (c Check) trimmed() Check {
	c.ETag, c.Modified = textutil.ClipBytes(c.ETag, maxValidator), textutil.ClipBytes(c.Modified, maxValidator)
	return c
}

// Check returns the Check of a URL; false if there is none, as for queued URLs.
func (f *Frontier) Check(k Key) (c Check, known bool, err error) {
	err = f.read(func(v view) error {
		c, known, err = get(v, checkKey(k), decode[Check])
		return err
	})
	if err != nil {
		return Check{}, false, fmt.Errorf("frontier: check of %s: %w", k, err)
	}
	return c, known, nil
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
			c, err := decode[Check](value)
			if err != nil || c.Due.After(now) && !c.Asked.After(now) {
				return cmp.Or(err, ctx.Err())
			}
			all++
			due = append(due, Due{Key(key[1:]), c})
			if len(due) >= 2*most+1000 {
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

// urgency orders due pages; it is above 1 for relevant ones.
func (c *Check) urgency(now time.Time) float64 {
	share := min(1, max(0, now.Sub(c.Due).Hours())/max(1, c.Wait.Hours())/10)
	if c.Relevant {
		return 1 + share
	}
	return share
}

// Revise stores the result of a revisit in one transaction: its Check, the outcome in place of the
// old one unless o.Kind is "", and the links found. The visit keeps its number.
func (f *Frontier) Revise(ctx context.Context, k Key, o Outcome, found ...Entry) error {
	links, err := prepare(found)
	if err != nil {
		return err
	}
	n := min(len(links), maxLinks)
	_, err = f.push(ctx, links[n:])
	if err != nil {
		return err
	}
	return f.write(ctx, func(b *batch) {
		b.revise(k, o.trimmed())
		b.push(links[:n])
	})
}

func (b *batch) revise(k Key, o Outcome) {
	r, known := b.lookup(k)
	if !known || r.State != Visited {
		return
	}
	if o.Check != nil {
		b.put(checkKey(k), o.Check.trimmed())
	}
	v, known := find(b, visitKey(r.Seq), decode[visitRecord])
	if !known || o.Kind == "" {
		return
	}
	b.totals.remove(&v.Outcome)
	b.count(&o)
	v.Outcome = o
	b.put(visitKey(r.Seq), v)
}
