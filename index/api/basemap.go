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
func (s *server) basemap(w http.ResponseWriter, r *http.Request, on route) {
	if _, p := s.parse(r, on); p != nil {
		writeProblem(w, r, p)
		return
	}
	var at [3]int
	for i, name := range []string{"level", "x", "y"} {
		n, err := strconv.Atoi(r.PathValue(name))
		if err != nil || n < 0 {
			writeProblem(w, r, &Problem{Title: "there is no such tile", Status: http.StatusBadRequest, Parameter: name, Given: clip(r.PathValue(name)), Expected: "a whole number",
				Detail: fmt.Sprintf("%s wants a whole number, got %q.", name, clip(r.PathValue(name))), Hint: basemapPath + "LEVEL/X/Y is the form."})
			return
		}
		at[i] = n
	}
	var tile []byte
	if s.Basemap != nil {
		var err error
		if tile, err = s.Basemap.Tile(at[0], at[1], at[2]); err != nil {
			s.Log.Error("api: base map", "error", err)
			writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
			return
		}
	}
	w.Header().Set("Cache-Control", "public, max-age=3600")
	if tile == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		writePacked(w, r, http.StatusOK, nil, tile)
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(tile))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(z) // a tile is bounded when it is made
	}
	if err != nil {
		s.Log.Error("api: base map", "error", err)
		writeProblem(w, r, &Problem{Title: "the server could not answer", Status: http.StatusInternalServerError})
		return
	}
	writePacked(w, r, http.StatusOK, body, nil)
}
