package api

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"gazehound/gazetteer"

	"github.com/paulmach/orb"
)

// basemapPath is the path before LEVEL/X/Y.
const basemapPath = "/v1/basemap/"

// shapes returns what the base map has in a box; nothing where it cannot be
// read.
func (s *server) shapes(box orb.Bound) []gazetteer.Shape {
	shapes, err := s.Basemap.Shapes(box)
	if err != nil {
		s.Log.Error("api: base map", "error", err)
	}
	return shapes
}

// basemap answers with a tile of the base map, as gazetteer.Basemap has it, or
// with 204 where there is nothing.
func (s *server) basemap(w http.ResponseWriter, r *http.Request, _ *params) *Problem {
	var at [3]int
	for i, name := range []string{"level", "x", "y"} {
		given := clip(r.PathValue(name))
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return &Problem{Title: "there is no such tile", Parameter: name, Given: given, Expected: "a whole number",
				Detail: fmt.Sprintf("%s must be a whole number, got %q.", name, given),
				Hint:   basemapPath + "LEVEL/X/Y is the form."}
		}
		at[i] = n
	}
	var tile []byte // packed
	var err error
	if s.Basemap != nil {
		tile, err = s.Basemap.Tile(at[0], at[1], at[2])
	}
	if err != nil {
		return s.broken("base map", err)
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	if tile == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(tile))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(z) // a tile is bounded when it is made
	}
	if err != nil {
		return s.broken("base map", err)
	}
	writeBody(w, r, body)
	return nil
}
