package gazetteer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"
)

// The compiled file:
//
//	magic, format version (u32)
//	records: outlines, cities, objects, postcodes, streets with their houses
//	index: a finite state transducer from the keys below to records
//	meta (gob)
//	footer: offsets of index and meta (u64 each), CRC-32C of all that comes
//	before it (u32), magic
//
// Numbers are little-endian. Offsets count from the start of the file.
const (
	magic         = "GAZEHOND"
	formatVersion = 4
	headerSize    = len(magic) + 4
	footerSize    = 8 + 8 + 4 + len(magic)
)

// Keys of the index. They begin with what they are for, and each part ends with a
// zero byte; the parts are folded by Key and its kind.
const (
	cityKey     = "c" // name → list of cities
	objectKey   = "o" // key of the street, house number → objects there
	postcodeKey = "p" // postcode, country → list of its cities
	streetKey   = "s" // name, postcode, country, city, state → street; see streetParts
	townKey     = "t" // name, city, country, postcode, state → street
	nameKey     = "n" // name of a street, which ends without a zero byte → 0
)

// streetParts are the parts of the key of a street under its own name. Under another
// name, the key of the own one follows.
const streetParts = 5

// groupParts returns how many parts of a key the facts of one record share.
var groupParts = map[string]int{cityKey: 1, objectKey: streetParts + 1, postcodeKey: 2, streetKey: streetParts}

// joinKey joins the parts of a key; none of them holds a zero byte.
func joinKey(kind string, parts ...string) []byte {
	return []byte(kind + strings.Join(parts, "\x00") + "\x00")
}

// firstParts cuts the first parts off a key.
func firstParts(key []byte, parts int) []byte {
	end := 0
	for range parts {
		end += bytes.IndexByte(key[end:], 0) + 1
	}
	return key[:end]
}

// meta is what Open keeps in memory.
type meta struct {
	Stats    Stats
	Sources  []Source
	Cells    []cell // that hold a coordinate, sorted
	Outlines []outline
	States   []stateNames // and countries, sorted
}

// stateNames are the names of a state, with country and code ("US CA"), or of a country
// ("US").
type stateNames struct {
	Code  string
	Names []string
}

// An outline is a place with an area.
type outline struct {
	Place Place // without Area
	Bound orb.Bound
	Off   uint64 // of the area
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// A compiler writes one compiled gazetteer.
type compiler struct {
	w   *bufio.Writer
	off uint64
	crc uint32
	buf []byte // of encode

	meta      meta
	countries map[string]bool
	states    map[string][]string // names by code, see stateNames
	cells     map[cell]bool

	facts    *disk.Sorter // what sources say, by the key of the record that it belongs to
	index    *disk.Sorter // key → offset of its record
	evidence map[evidenceKey]*city

	placeless  *unit           // the last street, if it has a postcode and no city
	streetName string          // of the last street
	cityNames  map[string]bool // cities that have a street of this name
}

// compile writes the gazetteer of inputs, the last of which wins, to w. Its
// memory is bounded by limit for each of two sorts, and the cells that hold a
// place (1 km², 8 bytes).
func compile(ctx context.Context, w io.Writer, inputs []input, tmp string, limit int) error {
	c := &compiler{
		w: bufio.NewWriterSize(w, 1<<16), cells: map[cell]bool{},
		countries: map[string]bool{}, states: map[string][]string{},
		facts:    &disk.Sorter{Dir: tmp, Memory: limit},
		index:    &disk.Sorter{Dir: tmp, Memory: limit},
		evidence: map[evidenceKey]*city{}, cityNames: map[string]bool{},
	}
	defer c.facts.Close()
	defer c.index.Close()
	if _, err := c.Write(binary.LittleEndian.AppendUint32([]byte(magic), formatVersion)); err != nil {
		return err
	}
	// Sorting keeps the order of equals, so the last source is read first.
	for i, in := range slices.Backward(inputs) {
		n := 0
		err := in.each(func(p *Place) error {
			n++
			if n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return c.add(i, p)
		})
		if err != nil {
			return err
		}
	}
	for _, in := range inputs {
		c.meta.Sources = append(c.meta.Sources, in.Source)
	}
	err := c.writeEvidence()
	if err != nil {
		return err
	}
	err = c.writeRecords(ctx)
	if err != nil {
		return err
	}
	return c.writeIndex()
}

// Write adds b to the file.
func (c *compiler) Write(b []byte) (int, error) {
	c.crc = crc32.Update(c.crc, crcTable, b)
	c.off += uint64(len(b))
	return c.w.Write(b)
}

// A cell is a square of 0.01 degrees: its row from the south pole and its
// column from 180° west, 16 bits each.
type cell uint32

func cellOf(p orb.Point) cell {
	row := uint32(math.Floor((p[1] + 90) * 100))
	col := uint32(math.Floor((p[0] + 180) * 100))
	return cell(row<<16 | col)
}

// bound returns the box of c.
func (c cell) bound() orb.Bound {
	lat, lon := float64(c>>16)/100-90, float64(c&0xffff)/100-180
	return orb.Bound{Min: orb.Point{lon, lat}, Max: orb.Point{lon + 0.01, lat + 0.01}}
}

// add sends the facts of one place to the sort.
func (c *compiler) add(source int, p *Place) error {
	if p.Country != "" && (p.Kind != Outline || len(p.Area) > 0) {
		c.countries[p.Country] = true
	}
	if p.Range != nil {
		for _, pt := range p.Range.Line {
			c.cells[cellOf(pt)] = true
		}
	}
	if p.HasPoint {
		c.cells[cellOf(p.Point)] = true
	}
	var outlines []uint64
	if len(p.Area) > 0 {
		outlines = []uint64{c.off}
		err := c.addOutline(p)
		if err != nil {
			return err
		}
	}
	switch p.Kind {
	case Street, House:
		err := c.addObject(p)
		if err != nil {
			return err
		}
		return c.addStreet(source, p)
	case Postcode:
		return c.addPostcode(source, p, outlines)
	case City:
		g := newCity(*p, source)
		g.stated, g.outlines = true, outlines
		if err := c.addCity(Key(p.Names[0]), g); err != nil {
			return err
		}
		return c.addAliases(Key(p.Names[0]), p)
	case Outline:
		c.addState(p)
	case POI:
		return c.addPOI(p)
	}
	return nil
}

// The administrative levels of OpenStreetMap that are countries and states.
const (
	countryLevel = 2
	stateLevel   = 4
)

// addState keeps the names of a country or state for its code.
func (c *compiler) addState(p *Place) {
	key := p.Country
	switch {
	case p.Country == "":
		return
	case p.AdminLevel == countryLevel:
	case p.AdminLevel == stateLevel && isStateCode(p.State):
		key += " " + strings.ToUpper(p.State)
	default:
		return
	}
	c.states[key] = addNames(c.states[key], p.Names)
}

// addNames appends the names of more that are missing, up to maxNames in all.
func addNames(names, more []string) []string {
	for _, name := range more {
		if len(names) < maxNames && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// addOutline writes the outline of p.
func (c *compiler) addOutline(p *Place) error {
	o := outline{*p, p.Area.Bound(), c.off}
	o.Place.Area = nil
	c.meta.Outlines = append(c.meta.Outlines, o)
	return c.record(func(record *codec) { record.area(&p.Area) })
}

// A group gathers the facts of one record, in the order in which they were added, and
// writes the record.
type group interface {
	add(key, value []byte) error
	write(c *compiler) error
}

// newGroup returns an empty group for the facts that share a key, which begins with their kind.
func newGroup(key []byte) group {
	switch string(key[:1]) {
	case cityKey:
		return &cityGroup{key: key}
	case objectKey:
		return &objectGroup{key: key}
	case postcodeKey:
		return &pairGroup{key: key}
	}
	return &unit{key: key}
}

// writeRecords writes a record for each group of facts.
func (c *compiler) writeRecords(ctx context.Context) error {
	var current group
	var shared []byte
	n := 0
	err := c.facts.Each(func(key, value []byte) error {
		n++
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if of := firstParts(key, groupParts[string(key[:1])]); current == nil || !bytes.Equal(of, shared) {
			if current != nil {
				err := current.write(c)
				if err != nil {
					return err
				}
			}
			shared = slices.Clone(of)
			current = newGroup(shared)
		}
		return current.add(key, value)
	})
	if err == nil && current != nil {
		err = current.write(c)
	}
	if err == nil && c.placeless != nil {
		err = c.writeStreet(c.placeless)
	}
	return err
}

// encode returns what code appends, until the next call.
func (c *compiler) encode(code func(*codec)) []byte {
	out := appendTo(c.buf[:0])
	code(out)
	c.buf = out.Bytes()
	return c.buf
}

// addFact adds a fact, which code appends, to the group of its key.
func (c *compiler) addFact(key []byte, code func(*codec)) error {
	return c.facts.Add(key, c.encode(code))
}

// record writes a record, which code appends and the keys lead to.
func (c *compiler) record(code func(*codec), keys ...[]byte) error {
	off := binary.LittleEndian.AppendUint64(nil, c.off)
	for _, key := range keys {
		err := c.index.Add(key, off)
		if err != nil {
			return err
		}
	}
	_, err := c.Write(c.encode(code))
	return err
}

// writeIndex writes what follows the records.
func (c *compiler) writeIndex() error {
	foot := binary.LittleEndian.AppendUint64(nil, c.off)
	fst, err := vellum.New(c, nil)
	if err != nil {
		return err
	}
	var last []byte
	err = c.index.Each(func(key, off []byte) error {
		if bytes.Equal(key, last) {
			return nil // a name that several streets have
		}
		last = append(last[:0], key...)
		return fst.Insert(key, binary.LittleEndian.Uint64(off))
	})
	if err == nil {
		err = fst.Close()
	}
	if err != nil {
		return err
	}
	foot = binary.LittleEndian.AppendUint64(foot, c.off)
	c.meta.Cells = slices.Sorted(maps.Keys(c.cells))
	for _, code := range slices.Sorted(maps.Keys(c.states)) {
		c.meta.States = append(c.meta.States, stateNames{code, c.states[code]})
	}
	c.meta.Stats.Outlines = len(c.meta.Outlines)
	c.meta.Stats.Countries = slices.Sorted(maps.Keys(c.countries))
	err = gob.NewEncoder(c).Encode(c.meta)
	if err != nil {
		return err
	}
	_, err = c.Write(foot)
	if err != nil {
		return err
	}
	if _, err := c.w.Write(append(binary.LittleEndian.AppendUint32(nil, c.crc), magic...)); err != nil {
		return err
	}
	return c.w.Flush()
}
