package gazetteer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"gazehound/internal/disk"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"
)

// The compiled file:
//
//	magic, format version (u32), 0 (u32)
//	records: outlines, streets with their houses, postcodes, cities
//	three FSTs: street key → list of streets; postcode and country → list of
//	its cities; city key → list of cities
//	index of the outlines; cells that hold a coordinate; meta (JSON)
//	footer: offset and length (u64 each) of the six sections, CRC-32C of all
//	that comes before it (u32), magic
//
// Numbers are little-endian. Offsets count from the start of the file.
const (
	magic         = "GAZEHOND"
	formatVersion = 2
	headerSize    = len(magic) + 8
)

// The sections.
const (
	sectionStreets = iota
	sectionPostcodes
	sectionCities
	sectionOutlines
	sectionCells
	sectionMeta
	sections
)

const footerSize = sections*16 + 4 + len(magic)

// meta is the section for what is small.
type meta struct {
	Stats   Stats    `json:"stats"`
	Sources []Source `json:"sources"`
	// States maps country and code ("US CA") to the names of the state, the
	// country's own code ("US") to those of the country.
	States map[string][]string `json:"states,omitempty"`
	// Objects is where the FST of the objects lies, and its length: house →
	// list of its objects.
	Objects [2]uint64 `json:"objects,omitzero"`
}

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// A compiler writes one compiled gazetteer.
type compiler struct {
	ctx   context.Context
	w     *bufio.Writer
	off   uint64
	crc   uint32
	table [sections][2]uint64
	buf   []byte

	meta      meta
	countries map[string]bool
	cells     map[cell]bool

	streets, lists, postcodes, cities, objects *disk.Sorter // lists: streets by their names
	evidence                                   map[evidenceKey]*evidence
	evidenceCells                              int
	outlines                                   []byte // their index
	noutlines                                  int
}

// compile writes the gazetteer of inputs, the last of which wins, to w. Its
// memory is bounded by limit for each of three sorts, the cells that hold a
// place (1 km², 8 bytes) and the FSTs.
func compile(ctx context.Context, w io.Writer, inputs []input, tmp string, limit int) error {
	c := &compiler{
		ctx: ctx, w: bufio.NewWriterSize(w, 1<<16),
		countries: map[string]bool{}, cells: map[cell]bool{},
		streets:   &disk.Sorter{Dir: tmp, Memory: limit},
		lists:     &disk.Sorter{Dir: tmp, Memory: limit},
		postcodes: &disk.Sorter{Dir: tmp, Memory: limit},
		cities:    &disk.Sorter{Dir: tmp, Memory: limit},
		objects:   &disk.Sorter{Dir: tmp, Memory: limit},
		evidence:  map[evidenceKey]*evidence{},
	}
	defer c.objects.Close()
	defer c.streets.Close()
	defer c.lists.Close()
	defer c.postcodes.Close()
	defer c.cities.Close()
	head := binary.LittleEndian.AppendUint32([]byte(magic), formatVersion)
	if err := c.write(binary.LittleEndian.AppendUint32(head, 0)); err != nil {
		return err
	}
	// Sorting keeps the order of equals, so the last source is read first.
	for i, in := range slices.Backward(inputs) {
		n := 0
		err := in.each(func(p *Place) error {
			if n++; n%4096 == 0 && ctx.Err() != nil {
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
	if err := c.flushEvidence(); err != nil {
		return err
	}
	for _, step := range []func() error{c.writeStreets, c.writeLists, c.writePostcodes, c.writeCities, c.writeObjects, c.writeRest} {
		if err := step(); err != nil {
			return err
		}
	}
	return c.w.Flush()
}

func (c *compiler) write(b []byte) error {
	c.crc = crc32.Update(c.crc, crcTable, b)
	c.off += uint64(len(b))
	_, err := c.w.Write(b)
	return err
}

// section writes b as section i.
func (c *compiler) section(i int, b []byte) error {
	c.table[i] = [2]uint64{c.off, uint64(len(b))}
	return c.write(b)
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

// add sends one place to the sorts.
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
	var outline uint64
	if len(p.Area) > 0 {
		outline = c.off
		if err := c.writeOutline(p); err != nil {
			return err
		}
	}
	switch p.Kind {
	case Street, House:
		if p.Object != nil {
			if err := c.addObject(p); err != nil {
				return err
			}
		}
		return c.addStreet(source, p)
	case Postcode:
		v := binary.AppendUvarint(append(c.buf[:0], 0), uint64(source))
		c.buf = putPlace(binary.AppendUvarint(v, outline), p)
		if err := c.postcodes.Add(joinKey(PostcodeKey(p.Postcode), p.Country, Key(p.City)), c.buf); err != nil {
			return err
		}
		if err := c.addAliases(Key(p.City), &Place{Names: p.Names[:min(len(p.Names), 1)], Country: p.Country}); err != nil {
			return err
		}
		for _, name := range p.Names {
			e := evidence{source: source, city: name, code: p.Postcode, point: p.Point, has: p.HasPoint}
			if p.HasPoint {
				e.cells = map[cell]int{cellOf(p.Point): 0}
			}
			if err := c.addCityEvidence(Key(name), p.Country, p.State, &e); err != nil {
				return err
			}
		}
	case City:
		v := binary.AppendUvarint(append(c.buf[:0], itemCity), uint64(source))
		c.buf = putPlace(binary.AppendUvarint(v, outline), p)
		primary := Key(p.Names[0])
		if err := c.cities.Add([]byte(primary), c.buf); err != nil {
			return err
		}
		return c.addAliases(primary, p)
	case Outline:
		c.addState(p)
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
	if c.meta.States == nil {
		c.meta.States = map[string][]string{}
	}
	names := c.meta.States[key]
	for _, name := range p.Names {
		if !slices.Contains(names, name) && len(names) < maxNames {
			names = append(names, name)
		}
	}
	c.meta.States[key] = names
}

// joinKey joins the parts of a sort key; none of them holds a zero byte.
func joinKey(parts ...string) []byte {
	return []byte(strings.Join(parts, "\x00") + "\x00")
}

// writeOutline writes the outline of p and its entry in the index.
func (c *compiler) writeOutline(p *Place) error {
	off := c.off
	c.buf = putArea(c.buf[:0], p.Area)
	if err := c.write(c.buf); err != nil {
		return err
	}
	b := p.Area.Bound()
	entry := putPlace(nil, p)
	entry = putPoint(putPoint(entry, true, b.Min), true, b.Max)
	entry = binary.AppendUvarint(binary.AppendUvarint(entry, off), c.off-off)
	c.outlines = append(binary.AppendUvarint(c.outlines, uint64(len(entry))), entry...)
	c.noutlines++
	return nil
}

// writeGroups writes one record for each group of what was sorted, and the
// section that finds a record by the group's key: groupOf cuts it off the key of
// the sort. add takes what belongs to a group, and end returns its record.
func (c *compiler) writeGroups(section int, sorted *disk.Sorter, groupOf func(key []byte) []byte,
	add func(key, value []byte), end func() ([]byte, error)) error {
	var index bytes.Buffer
	fst, err := vellum.New(&index, nil)
	if err != nil {
		return err
	}
	var group []byte
	finish := func() error {
		if group == nil {
			return nil
		}
		record, err := end()
		if err != nil {
			return err
		}
		if err := fst.Insert(group, c.off); err != nil {
			return err
		}
		return c.write(record)
	}
	err = sorted.Each(func(key, value []byte) error {
		if of := groupOf(key); group == nil || !bytes.Equal(of, group) {
			if err := finish(); err != nil {
				return err
			}
			group = slices.Clone(of)
		}
		add(key, value)
		return nil
	})
	if err == nil {
		err = finish()
	}
	if err == nil {
		err = fst.Close()
	}
	if err != nil {
		return err
	}
	return c.section(section, index.Bytes())
}

func wholeKey(key []byte) []byte { return key }

// writeRest writes the index of the outlines, the cells, the meta section and
// the footer.
func (c *compiler) writeRest() error {
	if err := c.section(sectionOutlines, c.outlines); err != nil {
		return err
	}
	cells := make([]cell, 0, len(c.cells))
	for at := range c.cells {
		cells = append(cells, at)
	}
	slices.Sort(cells)
	enc := make([]byte, 0, 4*len(cells))
	for _, at := range cells {
		enc = binary.LittleEndian.AppendUint32(enc, uint32(at))
	}
	if err := c.section(sectionCells, enc); err != nil {
		return err
	}
	c.meta.Stats.Outlines = c.noutlines
	for country := range c.countries {
		c.meta.Stats.Countries = append(c.meta.Stats.Countries, country)
	}
	slices.Sort(c.meta.Stats.Countries)
	m, err := json.Marshal(c.meta)
	if err != nil {
		return err
	}
	if err := c.section(sectionMeta, m); err != nil {
		return err
	}
	var foot []byte
	for _, s := range c.table {
		foot = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(foot, s[0]), s[1])
	}
	c.crc = crc32.Update(c.crc, crcTable, foot)
	foot = binary.LittleEndian.AppendUint32(foot, c.crc)
	_, err = c.w.Write(append(foot, magic...))
	return err
}
