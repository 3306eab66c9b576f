package seedlist

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/paulmach/orb"
)

// Bounds of a JSON list.
const (
	maxDepth   = 64   // nesting of objects and arrays
	maxObjects = 1000 // addresses of one object
)

// errDepth and errMany are the errors for lists beyond these bounds.
var (
	errDepth = errors.New("objects are nested too deep")
	errMany  = errors.New("an object has too many web addresses")
)

// A reader reads JSON token by token.
type reader struct {
	limit *bounded
	*json.Decoder
	found func(Found) error
}

// readJSON finds web addresses in the values of known keys, in SPARQL's bindings, and in lists of
// strings.
func readJSON(in io.Reader, found func(Found) error) error {
	limit := &bounded{r: &separated{in}, left: maxPiece}
	r := &reader{limit, json.NewDecoder(limit), found}
	r.UseNumber()
	for {
		err := r.element("", 0)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (r *reader) token() (json.Token, error) {
	r.limit.left = maxPiece
	return r.Token()
}

// An object is the content of an element of a list, with the objects that are its members.
type object struct {
	urls []string
	lon  *float64
	lat  *float64
}

// element reads an element of the list of a key, or a whole document, and reports its addresses
// with its coordinates.
func (r *reader) element(key string, depth int) error {
	var o object
	err := r.value(&o, key, depth)
	if err != nil {
		return err
	}
	var at *orb.Point
	if o.lon != nil && o.lat != nil {
		at = &orb.Point{*o.lon, *o.lat}
	}
	for _, url := range o.urls {
		if err := values(url, at, r.found); err != nil {
			return err
		}
	}
	return nil
}

// value reads the value of a key into o.
func (r *reader) value(o *object, key string, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	t, err := r.token()
	if err != nil {
		return unfinished(err, depth)
	}
	switch t := t.(type) {
	case string:
		if names(key) || key == "" && absolute.MatchString(t) {
			o.urls = append(o.urls, t)
		}
		if len(o.urls) > maxObjects {
			return errMany
		}
	case json.Number:
		switch key {
		case "lat", "latitude":
			o.lat = degrees(t)
		case "lon", "lng", "longitude":
			o.lon = degrees(t)
		}
	case json.Delim:
		switch {
		case t == '{':
			return r.members(o, key, depth)
		case key == "coordinates":
			return r.coordinates(o, depth)
		}
		return r.list(key, depth)
	}
	return nil
}

// degrees returns a number, or nil if it is no angle.
func degrees(n json.Number) *float64 {
	if f, err := n.Float64(); err == nil && f >= -180 && f <= 180 {
		return &f
	}
	return nil
}

// members reads the rest of an object into o. Members of "value" belong to the key above it, as in
// SPARQL's results.
func (r *reader) members(o *object, key string, depth int) error {
	for r.More() {
		t, err := r.token()
		if err != nil {
			return unfinished(err, depth+1)
		}
		member, _ := t.(string)
		if member == "value" {
			member = key
		}
		if member == "" {
			member = "-" // an empty key is no key
		}
		err = r.value(o, member, depth+1)
		if err != nil {
			return err
		}
	}
	return r.end(depth)
}

// list reads the rest of the array of a key as independent elements.
func (r *reader) list(key string, depth int) error {
	for r.More() {
		err := r.element(key, depth+1)
		if err != nil {
			return err
		}
	}
	return r.end(depth)
}

// coordinates reads the rest of a GeoJSON array: the longitude and latitude of a point, or the
// first point of other geometries.
func (r *reader) coordinates(o *object, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	for i := 0; r.More(); i++ {
		t, err := r.token()
		if err != nil {
			return unfinished(err, depth+1)
		}
		switch t := t.(type) {
		case json.Number:
			if i == 0 && o.lon == nil {
				o.lon = degrees(t)
			} else if i == 1 && o.lat == nil {
				o.lat = degrees(t)
			}
		case json.Delim:
			if t == '{' {
				err = r.members(&object{}, "-", depth+1)
			} else {
				err = r.coordinates(o, depth+1)
			}
			if err != nil {
				return err
			}
		}
	}
	return r.end(depth)
}

// end reads the end of an object or array.
func (r *reader) end(depth int) error {
	_, err := r.token()
	return unfinished(err, depth+1)
}

// unfinished turns io.EOF within a document into io.ErrUnexpectedEOF.
func unfinished(err error, depth int) error {
	if depth > 0 && errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A separated reader turns the RS before each text of a GeoJSON sequence
// (RFC 8142) into a space.
type separated struct{ r io.Reader }

func (s *separated) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	for i, c := range p[:n] {
		if c == 0x1e {
			p[i] = ' '
		}
	}
	return n, err
}
