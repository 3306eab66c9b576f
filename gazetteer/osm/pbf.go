package osm

import (
	"bytes"
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
	blocks, free := make(chan unpacked, 1), make(chan []byte, 3)
	reader.Go(func() (err error) {
		defer close(blocks)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v", errBlock, p)
			}
		}()
		for at := (blobAt{}); at.next < c.extract.Size; {
			if at, err = readHeader(f, at.next, c.extract.Size); err != nil {
				return err
			}
			if at.kind != "OSMHeader" && at.kind != "OSMData" {
				continue
			}
			var room []byte
			select {
			case room = <-free:
			default:
			}
			data, err := unpack(f, at, room)
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
		select {
		case free <- b.data:
		default:
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
		if at, err = readHeader(f, at.next, size); errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: it ends in the middle of block %d (%d bytes, the block begins at byte %d). Download it again and compare the .md5",
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
	bytes := int64(-1)
	d := disk.Decode(head)
	for d.Len() > 0 {
		switch number, v, text := readField(&d); number {
		case 1:
			at.kind = string(text)
		case 3:
			bytes = int64(min(v, maxBlob+1))
		}
	}
	if d.Failed() || bytes < 0 || bytes > maxBlob {
		return at, fmt.Errorf("%w: bad header", errBlock)
	}
	at.data, at.next = off+4+n, off+4+n+bytes
	if at.next > size {
		return at, io.EOF
	}
	return at, nil
}

// unpack reads a Blob and returns what is in it, in room where that is enough.
func unpack(f *os.File, at blobAt, room []byte) ([]byte, error) {
	blob := make([]byte, at.next-at.data)
	if _, err := f.ReadAt(blob, at.data); err != nil {
		return nil, err
	}
	var raw, packed []byte
	size := uint64(0)
	d := disk.Decode(blob)
	for d.Len() > 0 {
		switch number, v, data := readField(&d); number {
		case 1:
			raw = data
		case 2:
			size = v
		case 3:
			packed = data
		}
	}
	switch {
	case d.Failed():
		return nil, errBlock
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
	buffer := bytes.NewBuffer(slices.Grow(room[:0], int(size)+bytes.MinRead))
	if n, err := buffer.ReadFrom(io.LimitReader(z, int64(size)+1)); err != nil || n != int64(size) {
		return nil, errors.Join(fmt.Errorf("%w: it does not unpack to the %d bytes that it says", errBlock, size), err)
	}
	return buffer.Bytes(), nil
}

// readField reads the next field of a protocol buffer: its number, and its value, a
// number or bytes.
func readField(d *disk.Decoder) (number int, v uint64, data []byte) {
	tag := d.Uvarint()
	switch tag & 7 {
	case 0:
		v = d.Uvarint()
	case 1:
		data = d.Next(8)
	case 2:
		data = d.Bytes()
	case 5:
		data = d.Next(4)
	default:
		d.Fail()
	}
	return int(min(tag>>3, 1<<29)), v, data
}

// header reads the HeaderBlock.
func (c *collector) header(data []byte) error {
	d := disk.Decode(data)
	for d.Len() > 0 {
		switch number, v, text := readField(&d); number {
		case 4:
			if s := string(text); s != "OsmSchema-V0.6" && s != "DenseNodes" && s != "HistoricalInformation" {
				return fmt.Errorf("%w: it needs %.40q, which is not known here", errBlock, s)
			}
		case 32:
			if at := time.Unix(int64(v), 0).UTC(); at.Year() > 2000 && at.Year() < 3000 {
				c.extract.Date, c.dated = at, true
			}
		}
	}
	if d.Failed() {
		return errBlock
	}
	return nil
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
	b := block{c: c, granularity: 100, dateUnit: 1000}
	var table []byte
	var wanted [][]byte
	d := disk.Decode(data)
	for d.Len() > 0 {
		number, v, data := readField(&d)
		switch number {
		case 1:
			table = data
		case 2:
			if len(data) > 0 && slices.Contains(groups, int(data[0]>>3)) { // a group has objects of one kind
				wanted = append(wanted, data)
			}
		case 17:
			b.granularity = int64(int32(v))
		case 18:
			b.dateUnit = int64(int32(v))
		case 19:
			b.lat = int64(v)
		case 20:
			b.lon = int64(v)
		}
	}
	if d.Failed() {
		return errBlock
	}
	if len(wanted) == 0 {
		return nil
	}
	for d = disk.Decode(table); d.Len() > 0; {
		if number, _, text := readField(&d); number == 1 {
			b.strings = append(b.strings, string(text))
		}
		if len(b.strings) > maxStrings {
			return fmt.Errorf("%w: more than %d texts", errBlock, maxStrings)
		}
	}
	for _, group := range wanted {
		for d := disk.Decode(group); d.Len() > 0; {
			number, _, data := readField(&d)
			if d.Failed() {
				return errBlock
			}
			if err := b.object(number, data); err != nil {
				return err
			}
			if err := c.room(len(data)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *block) object(group int, data []byte) error {
	switch group {
	case nodeGroup:
		return b.node(data)
	case denseGroup:
		return b.dense(data)
	case wayGroup:
		return b.way(data)
	case relationGroup:
		return b.relation(data)
	}
	return nil
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

// tags reads keys and as many values.
func (b *block) tags(keys, values []byte) (osm.Tags, error) {
	k, v := disk.Decode(keys), disk.Decode(values)
	var tags osm.Tags
	for k.Len() > 0 && len(tags) < maxTags {
		tags = append(tags, osm.Tag{Key: b.text(&k), Value: b.text(&v)})
	}
	if k.Failed() || v.Failed() || k.Len()+v.Len() > 0 {
		return nil, fmt.Errorf("%w: tags that are too many or have no text", errBlock)
	}
	return tags, nil
}

// at returns the time of an Info, zero where it has none.
func (b *block) at(info []byte) (t time.Time) {
	for d := disk.Decode(info); d.Len() > 0; {
		if number, v, _ := readField(&d); number == 2 && int64(v) > 0 {
			t = time.UnixMilli(int64(v) * b.dateUnit)
		}
	}
	return t
}

func (b *block) degrees(offset, units int64) float64 {
	return 1e-9 * float64(offset+b.granularity*units)
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

func (b *block) node(data []byte) (err error) {
	var n osm.Node
	var keys, values []byte
	d := disk.Decode(data)
	for d.Len() > 0 {
		switch number, v, data := readField(&d); number {
		case 1:
			n.ID = osm.NodeID(zigzag(v))
		case 2:
			keys = data
		case 3:
			values = data
		case 4:
			n.Timestamp = b.at(data)
		case 8:
			n.Lat = b.degrees(b.lat, zigzag(v))
		case 9:
			n.Lon = b.degrees(b.lon, zigzag(v))
		}
	}
	if d.Failed() {
		return errBlock
	}
	if n.Tags, err = b.tags(keys, values); err == nil {
		b.c.takeNode(&n)
	}
	return err
}

// dense takes nodes whose values stand in columns, each as the difference to the
// one before.
func (b *block) dense(data []byte) error {
	var ids, lats, lons, tags, times disk.Decoder
	d := disk.Decode(data)
	for d.Len() > 0 {
		switch number, _, data := readField(&d); number {
		case 1:
			ids = disk.Decode(data)
		case 5:
			for info := disk.Decode(data); info.Len() > 0; {
				if number, _, data := readField(&info); number == 2 {
					times = disk.Decode(data)
				}
			}
		case 8:
			lats = disk.Decode(data)
		case 9:
			lons = disk.Decode(data)
		case 10:
			tags = disk.Decode(data)
		}
	}
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
		if err := b.c.room(1); err != nil {
			return err
		}
	}
	if d.Failed() {
		return errBlock
	}
	return nil
}

// takeNode takes the coordinate of a node that a way needs, and what its tags say.
func (c *collector) takeNode(n *osm.Node) {
	c.nodes.set(int64(n.ID), n.Point())
	c.node(n)
}

func (b *block) way(data []byte) (err error) {
	var w osm.Way
	var keys, values []byte
	var refs disk.Decoder
	d := disk.Decode(data)
	for d.Len() > 0 {
		switch number, v, data := readField(&d); number {
		case 1:
			w.ID = osm.WayID(v)
		case 2:
			keys = data
		case 3:
			values = data
		case 4:
			w.Timestamp = b.at(data)
		case 8:
			refs = disk.Decode(data)
		}
	}
	if d.Failed() {
		return errBlock
	}
	if w.Tags, err = b.tags(keys, values); err != nil {
		return err
	}
	w.Nodes = b.nodes[:0]
	for id := int64(0); refs.Len() > 0 && len(w.Nodes) <= maxParts; {
		id += refs.Varint()
		w.Nodes = append(w.Nodes, osm.WayNode{ID: osm.NodeID(id)})
	}
	if refs.Failed() || len(w.Nodes) > maxParts {
		return fmt.Errorf("%w: way %d has bad or more than %d nodes", errBlock, w.ID, maxParts)
	}
	b.nodes = w.Nodes
	if b.c.wantWay(&w) {
		b.c.way(&w) // which keeps no node of it
	}
	return nil
}

func (b *block) relation(data []byte) (err error) {
	var r osm.Relation
	var keys, values []byte
	var roles, ids, kinds disk.Decoder
	d := disk.Decode(data)
	for d.Len() > 0 {
		switch number, v, data := readField(&d); number {
		case 1:
			r.ID = osm.RelationID(v)
		case 2:
			keys = data
		case 3:
			values = data
		case 4:
			r.Timestamp = b.at(data)
		case 8:
			roles = disk.Decode(data)
		case 9:
			ids = disk.Decode(data)
		case 10:
			kinds = disk.Decode(data)
		}
	}
	if d.Failed() {
		return errBlock
	}
	if r.Tags, err = b.tags(keys, values); err != nil {
		return err
	}
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
