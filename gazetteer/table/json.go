package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"

	"gazehound/gazetteer"
)

func isJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x1e")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// readJSON calls take for every object of a JSON array, of JSON lines, of a
// GeoJSON text sequence, or for every feature of a GeoJSON collection.
func readJSON(src io.Reader, take func(row) error) error {
	b := bufio.NewReaderSize(src, maxRow)
	head, _ := b.Peek(maxRow)
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, blanks), []byte("\n"))
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) == nil && object["features"] == nil {
		return readLines(b, take)
	}
	in := &objectReader{r: b}
	s := stream{d: json.NewDecoder(in), in: in, take: take}
	for {
		err := s.next()
		if err == io.EOF {
			return nil
		} else if err != nil && s.broken {
			return err
		} else if err != nil {
			return fmt.Errorf("%w: object %d at byte %d: %w", gazetteer.ErrFormat, s.n+1, s.d.InputOffset(), err)
		}
	}
}

// blanks may stand between the objects: white space, commas, the separators of a
// sequence and a byte order mark.
const blanks = " \t\r\n,\x1e\ufeff"

// readLines reads an object a line; a bad line is refused.
func readLines(b *bufio.Reader, take func(row) error) error {
	for n := 1; ; n++ {
		line, err := gazetteer.ReadLine(b, maxRow)
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, gazetteer.ErrTooLong) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		line = bytes.Trim(line, blanks)
		if len(line) == 0 {
			continue
		}
		r := row{number: n, text: string(line[:min(len(line), 1024)]), refused: err}
		if err == nil {
			r.refused = json.Unmarshal(line, &r.raw)
			if r.refused == nil {
				r.parse()
			}
		}
		if _, end := b.Peek(1); r.refused != nil && end == io.EOF &&
			r.refused.Error() == "unexpected end of JSON input" {
			return fmt.Errorf("%w: line %d: %w", gazetteer.ErrFormat, n, io.ErrUnexpectedEOF)
		}
		if err := take(r); err != nil {
			return err
		}
	}
}

// maxObject bounds what is kept of an object in an array or collection, in bytes.
const maxObject = 16 << 20

// An objectReader replaces the separators of a sequence and refuses an object without
// an end.
type objectReader struct {
	r    io.Reader
	size int // since the last object
}

func (o *objectReader) Read(b []byte) (int, error) {
	if o.size > maxObject {
		return 0, fmt.Errorf("an object of more than %d bytes", maxObject)
	}
	n, err := o.r.Read(b)
	for i, c := range b[:n] {
		if c == '\x1e' {
			b[i] = ' '
		}
	}
	o.size += n
	return n, err
}

// A stream takes the objects of a JSON text one by one.
type stream struct {
	d      *json.Decoder
	in     *objectReader
	take   func(row) error
	n      int  // objects so far
	inside bool // an array
	broken bool // the error is that of take
}

// next takes the objects of the next value: an object, or an array or collection of them.
func (s *stream) next() error {
	begin := s.d.InputOffset()
	start, err := s.d.Token()
	switch {
	case err != nil:
		return err
	case start == json.Delim('[') && !s.inside:
		return s.items()
	case start != json.Delim('{'):
		return fmt.Errorf("%v instead of an object", start)
	}
	object := map[string]json.RawMessage{}
	collection := false
	for s.d.More() {
		key, err := s.d.Token()
		if key == "features" && !s.inside {
			collection = true
			start, err = s.d.Token()
			if err == nil && start != json.Delim('[') {
				err = fmt.Errorf("features are %v instead of an array", start)
			}
			if err == nil {
				err = s.items()
			}
		} else if err == nil {
			var value json.RawMessage
			err = s.d.Decode(&value)
			object[key.(string)] = value
		}
		if err != nil {
			return unexpected(err)
		}
	}
	_, err = s.d.Token()
	if err != nil || collection {
		return unexpected(err)
	}
	s.n++
	s.in.size = 0
	r := row{number: s.n, raw: object}
	if s.d.InputOffset()-begin > maxRow {
		r.refused = gazetteer.ErrTooLong
	} else {
		r.parse()
	}
	err = s.take(r)
	s.broken = err != nil
	return err
}

// items takes the objects of an array, whose beginning has been read.
func (s *stream) items() error {
	s.inside = true
	for s.d.More() {
		err := s.next()
		if err != nil {
			return unexpected(err)
		}
	}
	s.inside = false
	_, err := s.d.Token()
	return unexpected(err)
}

// unexpected turns the end of the text within a value into an error.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// parse sets the values of r, which is a plain object or a feature.
func (r *row) parse() {
	raw := r.raw
	if string(raw["type"]) == `"Feature"` {
		r.point, r.has, r.refused = centre(raw["geometry"])
		if r.refused != nil {
			return
		}
		id := raw["id"]
		var properties map[string]json.RawMessage
		if err := json.Unmarshal(raw["properties"], &properties); err != nil {
			r.refused = errors.New("a feature without properties")
			return
		}
		raw = properties
		if raw == nil {
			raw = map[string]json.RawMessage{}
		}
		if _, ok := raw["id"]; !ok && len(id) > 0 {
			raw["id"] = id
		}
	}
	r.values = make(map[string]any, len(raw))
	for k, v := range raw {
		var value any
		if json.Unmarshal(v, &value) != nil {
			continue
		}
		switch value := value.(type) {
		case string, float64:
			r.values[k] = value
		case []any:
			list := []string{}
			for _, item := range value {
				if s, ok := item.(string); ok {
					list = append(list, s)
				}
			}
			r.values[k] = list
		default:
			r.values[k] = ""
		}
	}
}

// centre returns the coordinate of a geometry: a point, or the middle of the
// box of anything else.
func centre(geometry json.RawMessage) (orb.Point, bool, error) {
	if len(geometry) == 0 || string(geometry) == "null" {
		return orb.Point{}, false, nil
	}
	g, err := geojson.UnmarshalGeometry(geometry)
	if err != nil {
		return orb.Point{}, false, fmt.Errorf("geometry: %w", err)
	}
	b := g.Geometry().Bound()
	if b.IsEmpty() {
		return orb.Point{}, false, errors.New("a geometry without coordinates")
	}
	return b.Center(), true, nil
}
