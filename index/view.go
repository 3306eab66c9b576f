package index

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// A view is one state of the data, with the rows of all its segments. Whoever
// got it from Index.see releases it.
type view struct {
	refs       atomic.Int32
	reader     *scorch.IndexSnapshot // nil: no data yet
	generation string
	parts      []part
	ids        []uint64 // of the groups
	texts      []text
	mentions   int // that live
	rows       int // with those that were deleted and are not merged away

	paging sync.Once
	pages  []uint32 // of each site, by the number of its text

	widening sync.Once
	wides    siteWides

	gathering sync.Once
	gathered  []summary // of each group
	where     []spot    // each group lies
	members   []uint32  // numbers of the living rows in the view, in the order of their groups

	counted sync.Once
	counts  []uint32 // of living rows that have a text

	facets struct {
		sync.Mutex
		ofAll map[Facet]Count // of everything, those that were asked for
	}
}

// A part is one segment in a view.
type part struct {
	*rows
	segment segment.Segment
	snap    *scorch.SegmentSnapshot
	deleted *roaring.Bitmap // nil: none
	gone    []uint64        // the same, a bit for each row: each that a word has is looked up
	base    uint32          // number of its first row in the view
}

// live tells whether the row was not deleted.
func (p *part) live(n uint32) bool { return p.gone == nil || p.gone[n/64]>>(n%64)&1 == 0 }

// each calls fn with every row that lives.
func (v *view) each(fn func(p *part, n uint32, r *row)) {
	for i := range v.parts {
		p := &v.parts[i]
		for n := range p.all {
			if p.live(uint32(n)) {
				fn(p, uint32(n), &p.all[n])
			}
		}
	}
}

// at returns where the row with this number in the view is.
func (v *view) at(number uint32) (*part, uint32) {
	i, found := slices.BinarySearchFunc(v.parts, number, func(p part, n uint32) int { return cmp.Compare(p.base, n) })
	if !found {
		i--
	}
	for len(v.parts[i].all) == 0 { // parts without rows share their base with the next one
		i++
	}
	return &v.parts[i], number - v.parts[i].base
}

// row returns the row with this number in the view.
func (v *view) row(number uint32) *row {
	p, n := v.at(number)
	return &p.all[n]
}

func (v *view) release() {
	if v.refs.Add(-1) == 0 && v.reader != nil {
		v.reader.Close()
	}
}

// seeAll returns the newest state of the data, with every write that was
// acknowledged.
func (x *Index) seeAll() (*view, error) {
	if err := x.queue.settle(); err != nil {
		return nil, err
	}
	return x.view()
}

// see returns a state of the data that is at most about Options.Lag old.
func (x *Index) see() (*view, error) {
	if x.lag == 0 {
		return x.seeAll()
	}
	x.queue.searched.Store(true)
	return x.view()
}

// view returns the state of the data that is seen now.
func (x *Index) view() (*view, error) {
	if x.resting.Load() {
		if err := x.wake(); err != nil {
			return nil, err
		}
	}
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	if x.current == nil {
		return nil, ErrClosed
	}
	x.current.refs.Add(1)
	return x.current, nil
}

func emptyView() *view {
	v := &view{generation: "empty", texts: []text{{}}}
	v.refs.Store(1)
	return v
}

// rest lets go of all rows until somebody asks. Only which pages there are stays.
func (x *Index) rest() {
	pages := x.table.pages
	x.table = newTable()
	x.table.pages = pages
	x.setView(emptyView())
	x.resting.Store(true)
}

// wake reads all rows, for the first who asks when there are some.
func (x *Index) wake() error {
	x.closing.RLock()
	defer x.closing.RUnlock()
	if x.closed {
		return ErrClosed
	}
	x.reading.Lock()
	defer x.reading.Unlock()
	if !x.resting.Load() { // somebody else has asked meanwhile
		return nil
	}
	if n, err := x.bleve.DocCount(); err != nil || n == 0 {
		return err
	}
	if err := x.read(); err != nil {
		return err
	}
	x.resting.Store(false)
	return nil
}

// refresh makes the state of the disk the one that is seen, unless nobody has
// asked for any yet. Searches go on meanwhile and never wait for the rows of a
// segment that was merged.
func (x *Index) refresh() error {
	x.reading.Lock()
	defer x.reading.Unlock()
	if x.resting.Load() {
		return nil
	}
	return x.read()
}

// read makes the state of the disk the one that is seen. x.reading is held.
func (x *Index) read() error {
	v := emptyView()
	if x.bleve != nil {
		r, err := readerOf(x.bleve)
		if err != nil {
			return err
		}
		snapshot, ok := r.(*scorch.IndexSnapshot)
		if !ok {
			r.Close()
			return fmt.Errorf("index: %T is no snapshot of scorch", r)
		}
		if err := x.table.show(v, snapshot); err != nil {
			r.Close()
			return err
		}
		n, _ := decodeGeneration(snapshot.Internal()[string(generationKey)])
		v.generation = fmt.Sprintf("%s-%x", x.id, n)
		if x.queue.searched.Load() { // no search shall wait for what all need
			v.summaries()
			v.usage()
			v.sitePages()
			x.table.starts.of(v)
		}
	}
	x.setView(v)
	return nil
}

// setView replaces the state that is seen; nil when the index is closed.
func (x *Index) setView(v *view) {
	x.viewing.Lock()
	old := x.current
	x.current = v
	x.viewing.Unlock()
	if old != nil {
		old.release()
	}
}

// show fills v with the rows of a snapshot, and forgets those of segments that
// are gone.
func (t *table) show(v *view, snapshot *scorch.IndexSnapshot) error {
	v.reader = snapshot
	segments := make(map[uint64]*rows, len(t.segments))
	for _, s := range snapshot.Segments() {
		r, ok := t.segments[s.Id()]
		if !ok {
			var err error
			if r, err = t.load(s); err != nil {
				return err
			}
		}
		segments[s.Id()] = r
		p := part{rows: r, segment: s.Segment(), snap: s, base: uint32(v.rows)}
		if d := s.Deleted(); d != nil && !d.IsEmpty() {
			p.deleted, p.gone = d, make([]uint64, len(r.all)/64+1)
			d.Iterate(func(n uint32) bool {
				p.gone[n/64] |= 1 << (n % 64)
				return true
			})
			v.mentions -= int(d.GetCardinality())
		}
		v.rows += len(r.all)
		v.mentions += len(r.all)
		v.parts = append(v.parts, p)
	}
	t.segments = segments
	v.ids, v.texts = t.ids[:len(t.ids):len(t.ids)], t.texts[:len(t.texts):len(t.texts)]
	return nil
}

// A summary is what all rows of a group say together.
type summary struct {
	row      *row   // that says best where it lies; nil: none lives
	named    *row   // whose name it is known by among all others; nil: none has one
	number   uint32 // of row, in the view
	first    uint32 // time it was seen, Unix seconds
	mentions uint32
	from     uint32 // where its rows begin in view.members
	mixed    bool   // its rows are of several hosts or kinds
	osm      bool   // one of its rows is a house of OpenStreetMap
}

// summaries returns what is known of each group.
func (v *view) summaries() []summary {
	v.gathering.Do(func() {
		v.gathered, v.where = make([]summary, len(v.ids)), make([]spot, len(v.ids))
		v.each(func(p *part, n uint32, r *row) {
			group := p.groups[n]
			a := &v.gathered[group]
			a.mixed = a.mixed || a.row != nil && (a.row.host != r.host || a.row.kind != r.kind)
			a.osm = a.osm || r.osm
			if r.name != 0 && (a.named == nil || r.betterNamed(a.named, v.texts)) {
				a.named = r
			}
			if a.row == nil || r.better(a.row) {
				a.row, a.number, v.where[group] = r, p.base+n, r.spot
			}
			if a.mentions++; a.mentions == 1 || r.first < a.first {
				a.first = r.first
			}
		})
		from := uint32(0)
		for i := range v.gathered {
			a := &v.gathered[i]
			a.from, from = from, from+a.mentions
		}
		v.members = make([]uint32, from)
		next := make([]uint32, len(v.ids))
		v.each(func(p *part, n uint32, _ *row) {
			group := p.groups[n]
			v.members[v.gathered[group].from+next[group]] = p.base + n
			next[group]++
		})
	})
	return v.gathered
}

// spots returns where each group lies.
func (v *view) spots() []spot {
	v.summaries()
	return v.where
}

// of returns the living rows of a group, as numbers in the view.
func (v *view) of(group uint32) []uint32 {
	a := &v.summaries()[group]
	return v.members[a.from : a.from+a.mentions]
}

// place returns the row that says best where a group lies.
func (v *view) place(group uint32) *row { return v.summaries()[group].row }

// known returns the name that a group is known by among all others.
func (v *view) known(group uint32) *text {
	if r := v.summaries()[group].named; r != nil {
		return &v.texts[r.name]
	}
	return &v.texts[0]
}

// usage returns for every text how many living rows have it.
func (v *view) usage() []uint32 {
	v.counted.Do(func() {
		v.counts = make([]uint32, len(v.texts))
		v.each(func(_ *part, _ uint32, r *row) {
			for _, n := range [...]uint32{r.street, r.code, r.city, r.site, r.name} {
				v.counts[n]++
			}
		})
		v.counts[0] = 0
	})
	return v.counts
}
