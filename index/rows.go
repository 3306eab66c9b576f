package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/paulmach/orb"
)

// A row is what of a mention is kept in memory: all that filters, orders and
// counts. A search reads words from Bleve and everything else from rows, so
// that areas, facets and orders cost one pass over an array.
type row struct {
	page                                 uint64 // hash of the URL
	group                                uint32 // number of the address in table.groups
	street, code, city, host, site, name uint32 // numbers in table.texts; 0: none
	spot
	first, last uint32 // Unix seconds
	precision   gazetteer.Precision
	level       geoparse.Level
	confidence  uint8 // percent
	kind        uint8 // see kindName
	role        geoparse.Role
	guess       bool // name is no name beside the address
	osm         bool // the place is a house of OpenStreetMap
	lead        bool // the first row of its page
}

func (r *row) located() bool { return r.precision > gazetteer.NoPrecision }

// better tells whether r says more precisely where its address lies than o.
func (r *row) better(o *row) bool {
	return cmp.Or(cmp.Compare(r.precision, o.precision), cmp.Compare(r.confidence, o.confidence), cmp.Compare(o.lon, r.lon), cmp.Compare(o.lat, r.lat)) > 0
}

// A textKey is what makes two spellings one.
type textKey struct {
	kind Facet
	key  string
}

// A text is a value that rows share, and facets and suggestions show.
type text struct {
	textKey
	shown  string // as it was written first
	phrase string // shown, folded; "" of a host
}

// rows are those of one segment of Bleve, which never changes: the row of
// document n is all[n].
type rows struct {
	id        uint64 // of the segment
	all       []row
	groups    []uint32 // of all
	byPlace   []uint32 // numbers of those that are located in the order of placeKeys
	placeKeys []uint64
	placeLats []int32 // in the same order
}

// A table holds the rows of all segments, and the numbers that they share. It
// takes about 120 bytes a mention and 190 an address, and lets go of numbers
// only when the index is closed.
type table struct {
	mu       sync.RWMutex
	groups   map[uint64]uint32  // number of an AddressID
	ids      []uint64           // AddressID of a number
	numbers  map[textKey]uint32 // of texts
	texts    []text
	pages    map[uint64]struct{} // hashes of URLs that were seen
	segments map[uint64]*rows    // by Bleve's number of the segment; only the one that refreshes reads it
	suggest  suggestions
}

func newTable() *table {
	return &table{groups: map[uint64]uint32{}, numbers: map[textKey]uint32{}, texts: []text{{}}, pages: map[uint64]struct{}{}, segments: map[uint64]*rows{}}
}

// knows tells whether there may be mentions of a page, by its hash.
func (t *table) knows(page string) bool {
	n, err := strconv.ParseUint(page, 16, 64)
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.pages[n]
	return ok || err != nil
}

func (t *table) group(id uint64) uint32 {
	n, ok := t.groups[id]
	if !ok {
		n = uint32(len(t.ids))
		t.groups[id] = n
		t.ids = append(t.ids, id)
	}
	return n
}

func (t *table) text(kind Facet, key, shown string) uint32 {
	if key == "" {
		return 0
	}
	k := textKey{kind, key}
	n, ok := t.numbers[k]
	if !ok {
		n = uint32(len(t.texts))
		t.numbers[k] = n
		phrase := ""
		if kind != ByHost {
			phrase = foldPhrase(shown)
		}
		t.texts = append(t.texts, text{k, shown, phrase})
	}
	return n
}

// add takes a mention into the numbers of t.
func (t *table) add(page, id uint64, m *mention) row {
	t.pages[page] = struct{}{}
	r := row{
		page: page, group: t.group(id), street: t.text(ByStreet, gazetteer.StreetKey(m.Street), m.Street), code: t.text(ByPostcode, gazetteer.Key(m.Code), m.Code),
		city: t.text(ByCity, gazetteer.Key(m.City), m.City), host: t.text(ByHost, m.host, m.host), site: t.text(BySite, m.site, m.site), name: t.text(byName, clipBytes(foldWord(m.Name), cursorName), m.Name),
		first: seconds(m.First), last: seconds(m.Fetched), precision: m.Precision, level: m.Level, confidence: uint8(math.Round(100 * m.Confidence)),
		kind: m.Kind, role: m.Role, guess: m.Guess, osm: m.Precision == gazetteer.HousePrecision && isOSM(m.Place),
	}
	if m.Precision > gazetteer.NoPrecision {
		r.lon, r.lat = int32(math.Round(m.Point[0]*1e7)), int32(math.Round(m.Point[1]*1e7))
		r.cos, r.south = float32(math.Cos(m.Point[1]*math.Pi/180)), southOf(m.Point[1])
	}
	return r
}

// clipBytes returns at most n bytes of s, whole characters.
func clipBytes(s string, n int) string {
	for len(s) > n {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	return s
}

func seconds(unix int64) uint32 { return uint32(max(0, min(unix, math.MaxUint32))) }

// numbersOf returns the hashes of page and address that are the ID of a mention.
func numbersOf(id string) (page, address uint64, err error) {
	a, b := splitID(id)
	page, err1 := strconv.ParseUint(a, 16, 64)
	address, err2 := strconv.ParseUint(b, 16, 64)
	return page, address, errors.Join(err1, err2)
}

// load reads the rows of a segment.
func (t *table) load(s *scorch.SegmentSnapshot) (*rows, error) {
	n := s.Segment().Count()
	if n > maxRows {
		return nil, fmt.Errorf("index: a segment of %d entries; %d are possible", n, maxRows)
	}
	r := &rows{id: s.Id(), all: make([]row, n), groups: make([]uint32, n)}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range n {
		var failed error
		m, page, id := mention{}, uint64(0), uint64(0)
		err := s.VisitDocument(i, func(field string, _ byte, value []byte, _ []uint64) bool {
			switch field {
			case "_id":
				m.id = string(value)
				page, id, failed = numbersOf(m.id)
			case fieldRow:
				failed = m.decodeRow(value)
			}
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return nil, fmt.Errorf("index: entry %q: %w: %w", m.id, ErrDamaged, err)
		}
		r.all[i] = t.add(page, id, &m)
		r.groups[i] = r.all[i].group
	}
	pages := make(map[uint64]struct{}, n)
	for i := range r.all { // all rows of a page are in one segment: they are written together
		at := &r.all[i]
		_, seen := pages[at.page]
		pages[at.page] = struct{}{}
		at.lead = !seen
	}
	r.place()
	return r, nil
}

// A view is one state of the data, with the rows of all its segments. Whoever
// got it from Index.see releases it.
type view struct {
	refs       atomic.Int32
	reader     *scorch.IndexSnapshot // nil: no data yet
	generation string
	parts      []part
	ids        []uint64 // of the groups
	texts      []text
	starts     suggestions
	mentions   int // that live
	rows       int // with those that were deleted and are not merged away

	paging sync.Once
	pages  []uint32 // of each site, by the number of its text

	widening sync.Once
	wides    siteWides

	gathering sync.Once
	gathered  []summary // of each group
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
	base    uint32          // number of its first row in the view
}

// live tells whether the row was not deleted.
func (p *part) live(n uint32) bool { return p.deleted == nil || !p.deleted.Contains(n) }

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

// note takes the pages of writes among those of which there may be mentions.
func (t *table) note(writes []write) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range writes {
		if n, err := strconv.ParseUint(w.page, 16, 64); err == nil && len(w.mentions) > 0 {
			t.pages[n] = struct{}{}
		}
	}
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
			p.deleted = d
			v.mentions -= int(d.GetCardinality())
		}
		v.rows += len(r.all)
		v.mentions += len(r.all)
		v.parts = append(v.parts, p)
	}
	t.segments = segments
	t.suggest.grow(t.texts)
	v.starts = suggestions{sorted: t.suggest.sorted, fresh: t.suggest.fresh[:len(t.suggest.fresh):len(t.suggest.fresh)]}
	v.ids, v.texts = t.ids[:len(t.ids):len(t.ids)], t.texts[:len(t.texts):len(t.texts)]
	return nil
}

// A summary is what all rows of a group say together.
type summary struct {
	row         *row   // that says best where it lies; nil: none lives
	number      uint32 // of that row, in the view
	first, last uint32 // times it was seen, Unix seconds
	mentions    uint32
	from        uint32 // where its rows begin in view.members
	located     bool
	kind        uint8 // the first of kinds that a page says; 0: none does
	mixed       bool  // its rows are of several hosts or kinds
	osm         bool  // one of its rows is a house of OpenStreetMap
	named       *row  // whose name it is known by among all others; nil: none has one
	spot              // of row
}

// A spot is a coordinate that distances are measured to.
type spot struct {
	lon, lat int32   // 1e-7 degrees
	cos      float32 // of the latitude
	south    uint32  // see southOf
}

func (s spot) point() orb.Point { return orb.Point{float64(s.lon) / 1e7, float64(s.lat) / 1e7} }

// summaries returns what is known of each group.
func (v *view) summaries() []summary {
	v.gathering.Do(func() {
		v.gathered = make([]summary, len(v.ids))
		v.each(func(p *part, n uint32, r *row) {
			a := &v.gathered[r.group]
			a.mixed = a.mixed || a.row != nil && (a.row.host != r.host || a.row.kind != r.kind)
			a.osm = a.osm || r.osm
			if r.name != 0 && (a.named == nil || r.betterNamed(a.named, v.texts)) {
				a.named = r
			}
			if a.row == nil || r.better(a.row) {
				a.row, a.number, a.located, a.spot = r, p.base+n, r.located(), r.spot
			}
			if a.mentions++; a.mentions == 1 || r.first < a.first {
				a.first = r.first
			}
			a.last = max(a.last, r.last)
			if r.kind != 0 && (a.kind == 0 || r.kind < a.kind) {
				a.kind = r.kind
			}
		})
		from := uint32(0)
		for i := range v.gathered {
			a := &v.gathered[i]
			a.from, from = from, from+a.mentions
		}
		v.members = make([]uint32, from)
		next := make([]uint32, len(v.ids))
		v.each(func(p *part, n uint32, r *row) {
			v.members[v.gathered[r.group].from+next[r.group]] = p.base + n
			next[r.group]++
		})
	})
	return v.gathered
}

// of returns the living rows of a group, as numbers in the view.
func (v *view) of(group uint32) []uint32 {
	a := &v.summaries()[group]
	return v.members[a.from : a.from+a.mentions]
}

// place returns the row that says best where a group lies.
func (v *view) place(group uint32) *row { return v.summaries()[group].row }

// known returns the name that a group is known by among all others.
func (v *view) known(group uint32) text {
	if r := v.summaries()[group].named; r != nil {
		return v.texts[r.name]
	}
	return text{}
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

// encodeRow writes what decodeRow reads.
func (m *mention) encodeRow() []byte {
	b := make([]byte, 0, 128)
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(math.Round(m.Point[0]*1e7))))
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(math.Round(m.Point[1]*1e7))))
	role := byte(m.Role)
	if m.Guess {
		role |= guessed
	}
	b = append(b, byte(m.Precision), byte(m.Level), byte(m.Origin), role)
	b = binary.LittleEndian.AppendUint16(b, uint16(math.Round(m.Confidence*10_000)))
	b = binary.AppendVarint(binary.AppendVarint(b, m.First), m.Fetched-m.First)
	for _, s := range []string{m.host, m.site, m.Street, m.Code, m.City, m.Name, m.Place} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	if m.Kind != 0 { // its name, since kinds may come and go
		b = append(b, kindName(m.Kind)...)
	}
	return b
}

// guessed marks a guess in the byte that holds the role.
const guessed = 0x80

var errRow = errors.New("the row is too short")

// decodeRow reads what encodeRow wrote.
func (m *mention) decodeRow(b []byte) error {
	const fixed = 4 + 4 + 4 + 2
	if len(b) < fixed {
		return errRow
	}
	lon, lat := int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
	m.Point = orb.Point{float64(lon) / 1e7, float64(lat) / 1e7}
	m.Precision, m.Level, m.Origin = gazetteer.Precision(b[8]), geoparse.Level(b[9]), geoparse.Origin(b[10])
	m.Role, m.Guess = geoparse.Role(b[11]&^guessed), b[11]&guessed != 0
	m.Confidence = float64(binary.LittleEndian.Uint16(b[12:])) / 10_000
	if m.Precision > gazetteer.HousePrecision || m.Level > geoparse.VerifiedLevel || m.Origin > geoparse.FromMapLink || m.Role > geoparse.AuthorityRole {
		return errors.New("the row has unknown values")
	}
	b = b[fixed:]
	number := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	m.First = number()
	m.Fetched = m.First + number()
	for _, s := range []*string{&m.host, &m.site, &m.Street, &m.Code, &m.City, &m.Name, &m.Place} {
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return errRow
		}
		*s = string(b[n : n+int(length)])
		b = b[n+int(length):]
	}
	m.Kind = kindNumber(string(b))
	return nil
}
