package osm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/paulmach/osm"
	"golang.org/x/sync/errgroup"

	"gazehound/internal/disk"
)

// A PBF file is a row of blocks: the length of a BlobHeader, the BlobHeader, a Blob
// with a packed PrimitiveBlock (wiki.openstreetmap.org/wiki/PBF_Format). Nothing that
// the file says of its own sizes and places is trusted.

// Limits of the format, and of one object. The API of OpenStreetMap allows 2,000
// nodes of a way and 32,000 members of a relation.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32 << 20 // bytes, packed and unpacked
	maxStrings    = 1 << 20  // of a block
	maxTags       = 10_000
	maxParts      = 200_000 // nodes of a way, members of a relation
)

var errBlock = errors.New("damaged block")

// The groups of objects in a block, by their field.
const (
	nodeGroup     = 1
	denseGroup    = 2
	wayGroup      = 3
	relationGroup = 4
)

// readPBF makes three passes, so that only what is needed is kept: relations,
// the ways that they or addresses need, the nodes that those need.
func (c *collector) readPBF(ctx context.Context, f *os.File) error {
	if err := checkBlocks(f, c.extract.Size); err != nil {
		return err
	}
	for _, pass := range [][]int{{relationGroup}, {wayGroup}, {nodeGroup, denseGroup}} {
		if pass[0] == nodeGroup {
			if c.err == nil {
				c.err = c.nodes.ready()
			}
			if c.err != nil {
				return fmt.Errorf("osm: %w", c.err)
			}
		}
		if err := c.pass(ctx, f, pass); err != nil {
			return err
		}
	}
	return nil
}

// pass takes the objects of some groups of all blocks. The next block is unpacked
// while the objects of one are taken.
func (c *collector) pass(ctx context.Context, f *os.File, groups []int) error {
	type unpacked struct {
		at   blobAt
		data []byte
	}
	ctx, cancel := context.WithCancel(ctx)
	var reader errgroup.Group
	defer reader.Wait()
	defer cancel()
	blocks := make(chan unpacked, 1)
	reader.Go(func() (err error) {
		defer close(blocks)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v", errBlock, p)
			}
		}()
		for at := (blobAt{}); at.next < c.extract.Size; {
			at, err = readHeader(f, at.next, c.extract.Size)
			if err != nil {
				return err
			}
			if at.kind != "OSMHeader" && at.kind != "OSMData" {
				continue
			}
			data, err := unpack(f, at)
			if err != nil {
				return fmt.Errorf("%w: block at byte %d: %w", ErrFormat, at.off, err)
			}
			select {
			case blocks <- unpacked{at, data}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for b := range blocks {
		var err error
		if b.at.kind == "OSMHeader" {
			err = c.header(b.data)
		} else {
			err = c.block(b.data, groups)
		}
		if errors.Is(err, errBlock) {
			return fmt.Errorf("%w: block at byte %d: %w", ErrFormat, b.at.off, err)
		} else if err != nil {
			return err
		}
	}
	return reader.Wait()
}

// A blobAt is where a block lies in its file.
type blobAt struct {
	kind            string
	off, data, next int64 // of the block, of its Blob, of the next block
}

// checkBlocks walks over the headers of the blocks of a PBF file, so that a
// file that was cut off is refused before any work and with its place.
func checkBlocks(f *os.File, size int64) error {
	for at, n := (blobAt{}), 1; at.next < size; n++ {
		var err error
		at, err = readHeader(f, at.next, size)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: it ends in the middle of block %d (%d bytes, the block begins at "+
				"byte %d). Download it again and compare the .md5",
				ErrTruncated, n, size, at.off)
		} else if err != nil {
			return fmt.Errorf("%w: block %d at byte %d: %w", ErrFormat, n, at.off, err)
		}
	}
	return nil
}

// readHeader reads the header of the block at off. io.EOF says that the file ends
// within the block.
func readHeader(f *os.File, off, size int64) (at blobAt, err error) {
	at.off = off
	var length [4]byte
	if _, err := f.ReadAt(length[:], off); err != nil {
		return at, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if n > maxBlobHeader {
		return at, fmt.Errorf("%w: a header of %d bytes", errBlock, n)
	}
	head := make([]byte, n)
	if _, err := f.ReadAt(head, off+4); err != nil {
		return at, err
	}
	m, err := parse(head, nil)
	bytes := m.number[3]
	if err != nil || bytes > maxBlob {
		return at, fmt.Errorf("%w: bad header", errBlock)
	}
	at.kind = string(m.data[1])
	at.data, at.next = off+4+n, off+4+n+int64(bytes)
	if at.next > size {
		return at, io.EOF
	}
	return at, nil
}

// unpack reads a Blob and returns what is in it.
func unpack(f *os.File, at blobAt) ([]byte, error) {
	blob := make([]byte, at.next-at.data)
	if _, err := f.ReadAt(blob, at.data); err != nil {
		return nil, err
	}
	m, err := parse(blob, nil)
	raw, size, packed := m.data[1], m.number[2], m.data[3]
	switch {
	case err != nil:
		return nil, err
	case raw != nil:
		return raw, nil
	case packed == nil:
		return nil, fmt.Errorf("%w: neither plain nor packed by zlib", errBlock)
	case size > maxBlob:
		return nil, fmt.Errorf("%w: it says that it unpacks to %d bytes, more than %d", errBlock, size, maxBlob)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	buffer := bytes.NewBuffer(make([]byte, 0, int(size)+bytes.MinRead))
	n, err := buffer.ReadFrom(io.LimitReader(z, int64(size)+1))
	if err != nil || n != int64(size) {
		return nil, errors.Join(fmt.Errorf("%w: it does not unpack to the %d bytes that it says", errBlock, size), err)
	}
	return buffer.Bytes(), nil
}

// A message is a protocol buffer message: the last value, a number or bytes, of each of
// its fields, by the number of the field.
type message struct {
	number [maxField + 1]uint64
	data   [maxField + 1][]byte
}

// maxField is the highest number of a field that is read.
const maxField = 32

// parse reads a message. It calls each, if that is not nil, for every field of bytes,
// in their order.
func parse(b []byte, each func(number int, data []byte) error) (m message, err error) {
	for d := disk.Decode(b); d.Len() > 0; {
		tag := d.Uvarint()
		var v uint64
		var data []byte
		switch tag & 7 {
		case 0:
			v = d.Uvarint()
		case 1:
			d.Next(8)
		case 2:
			data = d.Bytes()
		case 5:
			d.Next(4)
		default:
			d.Fail()
		}
		number := tag >> 3
		if d.Failed() {
			return m, errBlock
		}
		if number > maxField {
			continue
		}
		m.number[number], m.data[number] = v, data
		if each != nil && data != nil {
			if err := each(int(number), data); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// header reads the HeaderBlock.
func (c *collector) header(data []byte) error {
	m, err := parse(data, func(number int, data []byte) error {
		s := string(data)
		if number == 4 && s != "OsmSchema-V0.6" && s != "DenseNodes" && s != "HistoricalInformation" {
			return fmt.Errorf("%w: it needs %.40q, which is not known here", errBlock, s)
		}
		return nil
	})
	if at := time.Unix(int64(m.number[32]), 0).UTC(); at.Year() > 2000 && at.Year() < 3000 {
		c.extract.Date, c.dated = at, true
	}
	return err
}

// A block is a PrimitiveBlock in the making.
type block struct {
	c                               *collector
	strings                         []string
	nodes                           osm.WayNodes // of the last way, for the room
	granularity, lat, lon, dateUnit int64        // nanodegrees and milliseconds
}

// block takes the objects of some groups of a PrimitiveBlock.
func (c *collector) block(data []byte, groups []int) error {
	b := block{c: c}
	var wanted [][]byte
	m, err := parse(data, func(number int, data []byte) error {
		if number == 2 && len(data) > 0 && slices.Contains(groups, int(data[0]>>3)) { // a group has objects of one kind
			wanted = append(wanted, data)
		}
		return nil
	})
	if err != nil || len(wanted) == 0 {
		return err
	}
	b.granularity = cmp.Or(int64(int32(m.number[17])), 100)
	b.dateUnit = cmp.Or(int64(int32(m.number[18])), 1000)
	b.lat, b.lon = int64(m.number[19]), int64(m.number[20])
	_, err = parse(m.data[1], func(number int, text []byte) error {
		if number == 1 {
			b.strings = append(b.strings, string(text))
		}
		if len(b.strings) > maxStrings {
			return fmt.Errorf("%w: more than %d texts", errBlock, maxStrings)
		}
		return nil
	})
	for _, group := range wanted {
		if err == nil {
			_, err = parse(group, b.object)
		}
	}
	return err
}

// object takes one object, or the dense nodes of a group.
func (b *block) object(group int, data []byte) error {
	var take func(message) error
	switch group {
	case nodeGroup:
		take = b.node
	case denseGroup:
		take = b.dense
	case wayGroup:
		take = b.way
	case relationGroup:
		take = b.relation
	default:
		return nil
	}
	m, err := parse(data, nil)
	if err == nil {
		err = take(m)
	}
	if err != nil {
		return err
	}
	return b.c.room(len(data))
}

// text returns a text of the table.
func (b *block) text(d *disk.Decoder) string {
	i := d.Int(len(b.strings))
	if i == len(b.strings) {
		d.Fail()
		return ""
	}
	return b.strings[i]
}

// tags reads the keys and values of an object, which stand in its fields 2 and 3.
func (b *block) tags(m *message) (osm.Tags, error) {
	k, v := disk.Decode(m.data[2]), disk.Decode(m.data[3])
	var tags osm.Tags
	for k.Len() > 0 && len(tags) < maxTags {
		tags = append(tags, osm.Tag{Key: b.text(&k), Value: b.text(&v)})
	}
	if k.Failed() || v.Failed() || k.Len()+v.Len() > 0 {
		return nil, fmt.Errorf("%w: tags that are too many or have no text", errBlock)
	}
	return tags, nil
}

// time returns that of the Info of an object, its field 4; zero where it has none.
func (b *block) time(m *message) time.Time {
	info, _ := parse(m.data[4], nil)
	if v := int64(info.number[2]); v > 0 {
		return time.UnixMilli(v * b.dateUnit)
	}
	return time.Time{}
}

func (b *block) degrees(offset, units int64) float64 {
	return 1e-9 * float64(offset+b.granularity*units)
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (b *block) node(m message) (err error) {
	n := osm.Node{ID: osm.NodeID(zigzag(m.number[1])), Timestamp: b.time(&m)}
	n.Lat, n.Lon = b.degrees(b.lat, zigzag(m.number[8])), b.degrees(b.lon, zigzag(m.number[9]))
	n.Tags, err = b.tags(&m)
	if err == nil {
		b.c.takeNode(&n)
	}
	return err
}

// dense takes nodes whose values stand in columns, each as the difference to the
// one before.
func (b *block) dense(m message) error {
	info, err := parse(m.data[5], nil)
	if err != nil {
		return err
	}
	ids, lats, lons := disk.Decode(m.data[1]), disk.Decode(m.data[8]), disk.Decode(m.data[9])
	tags, times := disk.Decode(m.data[10]), disk.Decode(info.data[2])
	var id, lat, lon, at int64
	var n osm.Node
	for ids.Len() > 0 {
		id, lat, lon = id+ids.Varint(), lat+lats.Varint(), lon+lons.Varint()
		n = osm.Node{ID: osm.NodeID(id), Lat: b.degrees(b.lat, lat), Lon: b.degrees(b.lon, lon), Tags: n.Tags[:0]}
		if times.Len() > 0 {
			at += times.Varint()
			n.Timestamp = time.UnixMilli(at * b.dateUnit)
		}
		for tags.Len() > 0 && len(n.Tags) <= maxTags {
			key := b.text(&tags)
			if key == "" { // number 0 ends the tags of a node
				break
			}
			n.Tags = append(n.Tags, osm.Tag{Key: key, Value: b.text(&tags)})
		}
		if ids.Failed() || lats.Failed() || lons.Failed() || times.Failed() || tags.Failed() || len(n.Tags) > maxTags {
			return fmt.Errorf("%w: the columns of the nodes do not fit", errBlock)
		}
		b.c.takeNode(&n)
		err := b.c.room(1)
		if err != nil {
			return err
		}
	}
	return nil
}

// takeNode takes the coordinate of a node that a way needs, and what its tags say.
func (c *collector) takeNode(n *osm.Node) {
	c.nodes.set(int64(n.ID), n.Point())
	c.node(n)
}

func (b *block) way(m message) (err error) {
	w := osm.Way{ID: osm.WayID(m.number[1]), Timestamp: b.time(&m), Nodes: b.nodes[:0]}
	w.Tags, err = b.tags(&m)
	if err != nil {
		return err
	}
	refs := disk.Decode(m.data[8])
	for id := int64(0); refs.Len() > 0 && len(w.Nodes) <= maxParts; {
		id += refs.Varint()
		w.Nodes = append(w.Nodes, osm.WayNode{ID: osm.NodeID(id)})
	}
	if refs.Failed() || len(w.Nodes) > maxParts {
		return fmt.Errorf("%w: way %d has bad or more than %d nodes", errBlock, w.ID, maxParts)
	}
	b.nodes = w.Nodes
	b.c.way(&w) // which keeps no node of it
	return nil
}

func (b *block) relation(m message) (err error) {
	r := osm.Relation{ID: osm.RelationID(m.number[1]), Timestamp: b.time(&m)}
	r.Tags, err = b.tags(&m)
	if err != nil {
		return err
	}
	roles, ids, kinds := disk.Decode(m.data[8]), disk.Decode(m.data[9]), disk.Decode(m.data[10])
	for id := int64(0); ids.Len() > 0 && len(r.Members) <= maxParts; {
		id += ids.Varint()
		kind := [3]osm.Type{osm.TypeNode, osm.TypeWay, osm.TypeRelation}[kinds.Int(2)]
		r.Members = append(r.Members, osm.Member{Type: kind, Ref: id, Role: b.text(&roles)})
	}
	if roles.Failed() || ids.Failed() || kinds.Failed() || len(r.Members) > maxParts {
		return fmt.Errorf("%w: relation %d has bad or more than %d members", errBlock, r.ID, maxParts)
	}
	b.c.relation(&r)
	return nil
}
