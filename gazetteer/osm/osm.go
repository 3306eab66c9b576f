// Package osm reads OpenStreetMap extracts: addresses, streets, postcodes,
// cities and outlines for a gazetteer, and web sites as seeds of a crawl.
package osm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
	"golang.org/x/net/html/charset"

	"gazehound/gazetteer"
)

// Errors of Read.
var (
	ErrFormat    = errors.New("not an OpenStreetMap extract")
	ErrTruncated = errors.New("extract is truncated")
)

// Licence and Attribution are those of all OpenStreetMap data.
const (
	Licence     = "ODbL-1.0"
	Attribution = "© OpenStreetMap contributors"
)

// Options tune Read.
type Options struct {
	// Country (ISO 3166-1 alpha-2) is used for objects whose country does not follow from tags,
	// outlines or neighbours; it may be empty.
	Country string
	// Refuse gets every place that cannot be kept, by the id of its
	// object; the row is 0.
	Refuse gazetteer.Refuse
	// Shape gets each street, water and wood, for a base map. Nil: they are not
	// read.
	Shape func(gazetteer.Shape) error
	// Room is called from time to time and returns an error when memory runs out. Nil
	// disables it.
	Room func() error
	// Growth is how many bytes a packed extract may unpack to; see gazetteer.OpenSource.
	Growth int64
	// TempDir is where the temporary files go; "" is that of the system.
	TempDir string
}

// A Site is a web site that an object of the map names.
type Site struct {
	URL   string    // absolute, http or https
	Point orb.Point // of the object
}

// An Extract is what Read learned beside the places.
type Extract struct {
	Size int64     // bytes of the file
	Date time.Time // of the data; zero where the file does not say
	// Counts of objects, before equal ones are joined.
	HouseNumbers int // with addr:housenumber
	NoStreet     int // of those, neither street nor place is known
	Highways     int // named
	Websites     int // objects with a web site
	SocialMedia  int // of those, left out: social networks and link shorteners
	Broken       int // outlines that the extract holds only a part of
	Refused      int // places the gazetteer cannot keep
	Sites        []Site
}

// Sniff reports whether head, the start of the unpacked text of a file, looks like an
// extract.
func Sniff(head []byte) bool { return formatOf(head) != formatUnknown }

type format int

const (
	formatUnknown format = iota
	formatPBF
	formatXML
)

func formatOf(head []byte) format {
	if len(head) >= 16 && binary.BigEndian.Uint32(head) < 64<<10 &&
		bytes.Contains(head[4:16], []byte("\x0a\x09OSMHeader")) {
		return formatPBF
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	if (bytes.HasPrefix(text, []byte("<?xml")) || bytes.HasPrefix(text, []byte("<osm"))) &&
		bytes.Contains(text, []byte("<osm")) {
		return formatXML
	}
	return formatUnknown
}

// opl is the beginning of a file in the format OPL.
var opl = regexp.MustCompile(`^[nwr]\d+ (v\d+ )?(d[VD] )?c\d+ t\d`)

// Unread returns how a file of a format that only other programs read can be converted, by the start
// of its unpacked text; "" for others.
func Unread(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xe0, 4, 'o', '5'}):
		return "o5m is not read; convert it: osmium cat FILE -o extract.osm.pbf, or osmconvert FILE -o=extract.osm.pbf"
	case opl.Match(head):
		return "OPL is not read; convert it: osmium cat FILE -o extract.osm.pbf"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "it is packed with xz, which is not read; unpack it first: xz -d FILE"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "it is packed with Zstandard, which is not read; unpack it first: zstd -d FILE"
	case bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")):
		return "it is a 7z archive, which is not read; unpack it first: 7z x FILE"
	}
	return ""
}

// looksLike names what a file that is no extract seems to be.
func looksLike(head []byte) string {
	if unread := Unread(head); unread != "" {
		return unread
	}
	text := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 200)]))
	switch {
	case len(head) == 0:
		return "it is empty"
	case bytes.HasPrefix(head, []byte("PK")):
		return "it starts with PK: a zip; unpack it first"
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return "it is a web page, perhaps an error page of the download"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "it looks like JSON; try gazetteer import --format table"
	case bytes.HasPrefix(head, []byte{0, 0, 0x27, 0x0a}):
		return "it is a shapefile"
	case bytes.HasPrefix(text, []byte("<")):
		return "it is XML without an <osm> element"
	}
	return "wanted .osm.pbf, .osm or .osm.gz"
}

// Read emits the places of the extract in the file at path (.osm.pbf, .osm,
// .osm.gz or .osm.bz2, detected by content): houses and streets with the
// postcode and city that contain them or that their neighbours have, postcodes,
// cities, outlines. Addresses, streets and the nodes that they need lie in
// temporary files; memory grows with the outlines, place nodes and web sites of
// the extract and with the area that has addresses (docs/measurements.md). Only an
// XML extract keeps its ways in memory.
//
// It reads a PBF file three times. Errors wrap ErrFormat, ErrTruncated or
// those of the file system.
func Read(ctx context.Context, path string, o Options, emit func(gazetteer.Place) error) (*Extract, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("osm: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("osm: %w", err)
	}
	text, head, err := gazetteer.OpenSource(path, o.Growth)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("osm: %w: %w", ErrTruncated, err)
	} else if err != nil {
		return nil, fmt.Errorf("osm: %w: %w", ErrFormat, err)
	}
	defer text.Close()
	c, err := newCollector(o)
	if err != nil {
		return nil, fmt.Errorf("osm: temporary file: %w", err)
	}
	defer c.close()
	c.extract.Size = info.Size()
	switch formatOf(head) {
	case formatPBF:
		err = c.readPBF(ctx, f)
	case formatXML:
		err = c.readXML(ctx, text)
	default:
		err = fmt.Errorf("%w: %s", ErrFormat, looksLike(head))
	}
	if err == nil {
		err = c.finish(ctx, emit)
	}
	if err != nil {
		return nil, err
	}
	return &c.extract, nil
}

// readXML reads everything once and keeps all coordinates and ways: XML extracts are
// small, and reading XML is slow.
func (c *collector) readXML(ctx context.Context, r io.Reader) error {
	count := &countingReader{r: r}
	var checked int64
	c.all = true
	err := eachObject(ctx, count, func(object osm.Object) error {
		switch o := object.(type) {
		case *osm.Node:
			if c.err == nil {
				c.err = c.nodes.add(int64(o.ID), units(o.Point()))
			}
			c.node(o)
		case *osm.Way:
			c.way(o)
		case *osm.Relation:
			c.relation(o)
		}
		roomErr := c.room(int(count.n - checked))
		checked = count.n
		return roomErr
	})
	if c.err == nil {
		c.err = c.nodes.ready()
	}
	if err != nil {
		var syntax *xml.SyntaxError
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &syntax) && syntax.Msg == "unexpected EOF" {
			return fmt.Errorf("%w: it ends in the middle of the XML (%d bytes of it read). Download it again",
				ErrTruncated, count.n)
		}
		if errors.Is(err, errElement) || errors.Is(err, errObject) || errors.Is(err, gazetteer.ErrGrowth) {
			return fmt.Errorf("%w: %w at byte %d", ErrFormat, err, count.n)
		}
		if errors.As(err, &syntax) {
			return fmt.Errorf("%w: line %d: %s", ErrFormat, syntax.Line, syntax.Msg)
		}
		return fmt.Errorf("after %d bytes: %w", count.n, err)
	}
	return nil
}

// eachObject calls fn for the nodes, ways and relations of an XML text that exist: not for those that
// are deleted (visible="false", JOSM's action="delete", <delete> of a change file), and of the
// versions of an object that follow one another only for the last.
func eachObject(ctx context.Context, r *countingReader, fn func(osm.Object) error) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	var last osm.Object // not yet passed to fn
	var lastID osm.FeatureID
	flush := func() error {
		if last == nil {
			return nil
		}
		object := last
		last = nil
		return fn(object)
	}
	isDeleted := false // within <delete>
	for ctx.Err() == nil {
		token, err := d.Token()
		if err == io.EOF {
			return flush()
		}
		if err != nil {
			return err
		}
		if end, ok := token.(xml.EndElement); ok && end.Name.Local == "delete" {
			isDeleted = false
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		var object osm.Object
		var id osm.FeatureID
		switch start.Name.Local {
		case "delete":
			isDeleted = true
			continue
		case "node":
			node := &osm.Node{}
			err = d.DecodeElement(node, &start)
			object, id = node, node.FeatureID()
		case "way":
			way := &osm.Way{}
			err = d.DecodeElement(way, &start)
			object, id = way, way.FeatureID()
		case "relation":
			relation := &osm.Relation{}
			err = d.DecodeElement(relation, &start)
			object, id = relation, relation.FeatureID()
		default:
			continue
		}
		r.object = 0
		if err != nil {
			return err
		}
		if id == lastID {
			last = nil // an older version
		} else if err := flush(); err != nil {
			return err
		}
		lastID = id
		if !isDeleted && !isGone(start.Attr) {
			last = object
		}
	}
	return ctx.Err()
}

// isGone reports whether the attributes of an object say that it is deleted.
func isGone(attributes []xml.Attr) bool {
	return slices.ContainsFunc(attributes, func(a xml.Attr) bool {
		return a.Name.Local == "visible" && a.Value == "false" || a.Name.Local == "action" && a.Value == "delete"
	})
}

// maxElement bounds what the XML decoder keeps of one element, in bytes, and
// maxObject of a node, way or relation with all in it. Elements of OpenStreetMap have
// some hundred bytes, and the longest relations 2 MB.
const (
	maxElement = 1 << 20
	maxObject  = 8 << 20
)

var (
	errElement = fmt.Errorf("an element of more than %d bytes", maxElement)
	errObject  = fmt.Errorf("an object of more than %d bytes", maxObject)
)

// A countingReader counts the bytes of an XML text and refuses an element or object
// without an end.
type countingReader struct {
	r       io.Reader
	n       int64
	element int // bytes since the last "<"
	object  int // bytes since readXML got the last object
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	if i := bytes.LastIndexByte(b[:n], '<'); i >= 0 {
		c.element = n - i
	} else {
		c.element += n
		if c.element > maxElement {
			return 0, errElement
		}
	}
	c.object += n
	if c.object > maxObject {
		return 0, errObject
	}
	return n, err
}

// room reports whether there is memory for more, from time to time: parts grows with
// what was read.
func (c *collector) room(parts int) error {
	c.unchecked += parts
	if c.unchecked < 1<<14 || c.options.Room == nil {
		return nil
	}
	c.unchecked = 0
	return c.options.Room()
}

func formatID(kind string, id int64) string { return kind + "/" + strconv.FormatInt(id, 10) }
