package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/paulmach/orb"

	"gazehound/gazetteer"
)

func isJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n\x1e")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// readJSON calls take for every object of a JSON array, of JSON lines, of a
// GeoJSON text sequence, or for every feature of a GeoJSON collection. Objects
// are cut out of the stream one by one, so that none larger than maxRow is
// ever kept.
func readJSON(b *bufio.Reader, take func(row) error) error {
	s := &splitter{r: b}
	for n := 1; ; n++ {
		obj, err := s.next()
		if err == io.EOF {
			return nil
		}
		r := row{number: n}
		if errors.Is(err, gazetteer.ErrTooLong) || errors.Is(err, errLine) {
			r.text, r.refused = string(obj), err
		} else if err != nil {
			return fmt.Errorf("%w: object %d at byte %d: %w", gazetteer.ErrFormat, n, s.off, err)
		} else {
			r = parseObject(obj)
			r.number = n
		}
		if err := take(r); err != nil {
			return err
		}
	}
}

func parseObject(obj []byte) row {
	r := row{text: string(obj[:min(len(obj), 1024)])}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(obj, &raw); err != nil {
		r.refused = err
		return r
	}
	if string(raw["type"]) == `"Feature"` {
		var err error
		if r.point, r.has, err = centre(raw["geometry"]); err != nil {
			r.refused = err
			return r
		}
		id := raw["id"]
		props := raw["properties"]
		raw = nil
		if err := json.Unmarshal(props, &raw); err != nil {
			r.refused = errors.New("a feature without properties")
			return r
		}
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
	return r
}

// centre returns the coordinate of a geometry: a point, or the middle of the
// box of anything else.
func centre(geometry json.RawMessage) (orb.Point, bool, error) {
	if len(geometry) == 0 || string(geometry) == "null" {
		return orb.Point{}, false, nil
	}
	var g struct {
		Coordinates any `json:"coordinates"`
	}
	if err := json.Unmarshal(geometry, &g); err != nil {
		return orb.Point{}, false, fmt.Errorf("geometry: %w", err)
	}
	b := orb.Bound{Min: orb.Point{math.Inf(1), math.Inf(1)}, Max: orb.Point{math.Inf(-1), math.Inf(-1)}}
	var walk func(v any)
	walk = func(v any) {
		list, _ := v.([]any)
		if len(list) >= 2 {
			x, okX := list[0].(float64)
			y, okY := list[1].(float64)
			if okX && okY {
				b = b.Extend(orb.Point{x, y})
				return
			}
		}
		for _, item := range list {
			walk(item)
		}
	}
	walk(g.Coordinates)
	if b.Min[0] > b.Max[0] {
		return orb.Point{}, false, errors.New("a geometry without coordinates")
	}
	return b.Center(), true, nil
}

// errLine is the reason for refusing a line of a file with an object a line.
var errLine = errors.New("the line is no JSON object")

// A splitter cuts the objects of interest out of a JSON stream.
type splitter struct {
	r      *bufio.Reader
	off    int64
	inside bool // an array whose items are the objects
	ended  bool
	lines  bool // the last object filled a line, so that a bad one ends with its line
}

func (s *splitter) byte() (byte, error) {
	c, err := s.r.ReadByte()
	if err == nil {
		s.off++
	}
	return c, err
}

// next returns the next object. With ErrTooLong and errLine it returns the
// beginning of what was skipped.
func (s *splitter) next() ([]byte, error) {
	for {
		c, err := s.byte()
		if err != nil {
			if err == io.EOF && s.inside {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
		switch {
		case strings.IndexByte(" \t\r\n,\x1e\xef\xbb\xbf", c) >= 0:
		case s.ended:
			// What follows the array belongs to the collection.
		case c == '[' && !s.inside:
			s.inside = true
		case c == ']' && s.inside:
			s.inside, s.ended = false, true
		case c == '{':
			obj, found, err := s.object()
			if !found {
				return obj, err
			}
			s.inside = true
		case s.lines && !s.inside:
			return s.skipLine(c)
		default:
			return nil, fmt.Errorf("%q instead of an object", c)
		}
	}
}

// skipLine reads the rest of a line that begins with c.
func (s *splitter) skipLine(c byte) ([]byte, error) {
	line := []byte{c}
	for {
		c, err := s.byte()
		if err == io.EOF || c == '\n' {
			return line, errLine
		}
		if err != nil {
			return nil, err
		}
		if len(line) < 1024 {
			line = append(line, c)
		}
	}
}

// object reads the rest of an object. collection is true if it turned out to
// be a GeoJSON collection: the stream then stands at its first feature.
func (s *splitter) object() (obj []byte, collection bool, err error) {
	obj = []byte{'{'}
	depth, inString, escaped := 1, false, false
	length, newlines := 1, 0
	for depth > 0 {
		c, err := s.byte()
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, false, err
		}
		if c == '\n' {
			newlines++
			if next, _ := s.r.Peek(1); s.lines && !s.inside && len(next) == 1 && next[0] == '{' {
				return obj[:min(len(obj), 1024)], false, errLine
			}
		}
		length++
		if length <= maxRow {
			obj = append(obj, c)
		}
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if c == '[' && depth == 1 && !s.inside && endsWithFeatures(obj) {
				return nil, true, nil
			}
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	s.lines = newlines == 0
	if length > maxRow {
		return obj[:1024], false, gazetteer.ErrTooLong
	}
	return obj, false, nil
}

// endsWithFeatures reports whether obj ends with "features": [
func endsWithFeatures(obj []byte) bool {
	b := bytes.TrimRight(obj[:len(obj)-1], " \t\r\n")
	b, ok := bytes.CutSuffix(b, []byte(":"))
	return ok && bytes.HasSuffix(bytes.TrimRight(b, " \t\r\n"), []byte(`"features"`))
}
