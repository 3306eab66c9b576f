package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/paulmach/orb"
)

// A row is what of a mention is kept in memory: all that filters, orders and
// counts. A search reads words from Bleve and everything else from rows, so
// that areas, facets and orders cost one pass over an array.
type row struct {
	page                                 uint64 // hash of the URL
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

// A text is a value that rows share, and facets and suggestions show. Its forms
// stand behind each other in one string, and those of many texts in one block of
// memory: there may be as many names as addresses.
type text struct {
	forms      string // key, shown, and phrase
	key, shown uint32 // their lengths
	kind       uint8  // number in textKinds
	simple     bool   // the phrase is the key, and not there again
}

// textKinds are the kinds of texts.
var textKinds = [...]Facet{"", ByStreet, ByPostcode, ByCity, ByHost, BySite, byName}

// keyOf returns what makes two spellings one, and the order of names.
func (t *text) keyOf() string { return t.forms[:t.key] }

// shownAs returns the text as it was written first.
func (t *text) shownAs() string { return t.forms[t.key : t.key+t.shown] }

// phrase returns the text folded, as suggestions and names are compared.
func (t *text) phrase() string {
	if t.simple {
		return t.keyOf()
	}
	return t.forms[t.key+t.shown:]
}

// suggested tells whether somebody may mean the text who types its beginning.
func (t *text) suggested() bool { return t.kind != 0 && textKinds[t.kind] != ByHost }

// rows are those of one segment of Bleve, which never changes: the row of
// document n is all[n].
type rows struct {
	id        uint64 // of the segment
	all       []row
	groups    []uint32 // of all: numbers of their addresses in table.groups
	byPlace   []uint32 // numbers of those that are located in the order of placeKeys
	placeKeys []uint64
	placeLats []int32 // in the same order
}

// A table holds the rows of all segments, and the numbers that they share. It
// takes about 100 bytes a mention, 90 an address and 110 a name, with what a view
// gathers of them, and lets go of numbers only when the index is closed.
type table struct {
	mu        sync.RWMutex
	groups    map[uint64]uint32 // number of an AddressID
	ids       []uint64          // AddressID of a number
	seed      maphash.Seed
	numbers   map[uint64]uint32 // of texts, by hashOfText of their keys
	spellings map[uint64]uint32 // numbers of texts by hashOfText of what pages write, of which there are few
	texts     []text
	block     strings.Builder     // which holds the forms of the newest texts
	pages     map[uint64]struct{} // hashes of URLs that were seen
	segments  map[uint64]*rows    // by Bleve's number of the segment; only the one that refreshes reads it
	starts    suggestions
}

func newTable() *table {
	return &table{
		groups: map[uint64]uint32{}, seed: maphash.MakeSeed(), numbers: map[uint64]uint32{}, spellings: map[uint64]uint32{}, texts: []text{{}},
		pages: map[uint64]struct{}{}, segments: map[uint64]*rows{},
	}
}

// knows tells whether there may be mentions of a page, by its hash.
func (t *table) knows(page string) bool {
	n, err := strconv.ParseUint(page, 16, 64)
	t.mu.RLock()
	defer t.mu.RUnlock()
	_, ok := t.pages[n]
	return ok || err != nil
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

func (t *table) group(id uint64) uint32 {
	n, ok := t.groups[id]
	if !ok {
		n = uint32(len(t.ids))
		t.groups[id] = n
		t.ids = append(t.ids, id)
	}
	return n
}

// hashOfText returns the hash of a text by which its number is found. Of millions
// of texts no two have the same.
func (t *table) hashOfText(kind Facet, key string) uint64 {
	return maphash.Comparable(t.seed, textKey{kind, key})
}

// text returns the number of a text.
func (t *table) text(kind Facet, key, shown string) uint32 {
	if key == "" {
		return 0
	}
	hash := t.hashOfText(kind, key)
	n, ok := t.numbers[hash]
	if !ok {
		n = uint32(len(t.texts))
		t.numbers[hash] = n
		phrase := ""
		if kind != ByHost {
			phrase = foldPhrase(shown)
		}
		x := text{key: uint32(len(key)), shown: uint32(len(shown)), kind: uint8(slices.Index(textKinds[:], kind)), simple: phrase == key}
		if x.simple {
			phrase = ""
		}
		x.forms = t.keep(key, shown, phrase)
		t.texts = append(t.texts, x)
	}
	return n
}

// spelt returns the number of a text that many pages write alike.
func (t *table) spelt(kind Facet, key func(string) string, shown string) uint32 {
	hash := t.hashOfText(kind, shown)
	n, ok := t.spellings[hash]
	if !ok {
		n = t.text(kind, key(shown), shown)
		t.spellings[hash] = n
	}
	return n
}

// keep returns texts as one string, whose bytes lie beside those of others.
func (t *table) keep(all ...string) string {
	const usual = 64 << 10 // bytes of a block
	n := 0
	for _, s := range all {
		n += len(s)
	}
	if t.block.Cap()-t.block.Len() < n {
		t.block = strings.Builder{}
		t.block.Grow(max(usual, n))
	}
	from := t.block.Len()
	for _, s := range all {
		t.block.WriteString(s)
	}
	return t.block.String()[from:]
}

// add takes a mention into the numbers of t.
func (t *table) add(page uint64, m *mention) row {
	t.pages[page] = struct{}{}
	r := row{
		page: page, street: t.spelt(ByStreet, gazetteer.StreetKey, m.Street), code: t.spelt(ByPostcode, gazetteer.Key, m.Code), city: t.spelt(ByCity, gazetteer.Key, m.City),
		host: t.text(ByHost, m.host, m.host), site: t.text(BySite, m.site, m.site), name: t.text(byName, clipBytes(foldWord(m.Name), cursorName), m.Name),
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
		if i%1024 == 1023 { // searches look numbers up meanwhile
			t.mu.Unlock()
			t.mu.Lock()
		}
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
		r.all[i], r.groups[i] = t.add(page, &m), t.group(id)
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
	all := string(b) // one piece of memory for all texts
	for _, s := range []*string{&m.host, &m.site, &m.Street, &m.Code, &m.City, &m.Name, &m.Place} {
		length, n := binary.Uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return errRow
		}
		from := len(all) - len(b) + n
		*s, b = all[from:from+int(length)], b[n+int(length):]
	}
	m.Kind = kindNumber(string(b))
	return nil
}
