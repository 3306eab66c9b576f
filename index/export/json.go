package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gazehound/index"
)

// encode returns v as one line of JSON without its line break. Within it,
// U+2028 and U+2029 are escaped, so that every reader sees one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (r *run) feature(h *index.Hit) Feature {
	return Feature{"Feature", h.ID, GeometryOf(h), r.properties(h)}
}

// lines writes what of returns for each address as JSON, with something before the first, before
// the others and after each.
func (r *run) lines(first, further, after string, of func(*index.Hit) any) error {
	before := first
	return r.each(func(h *index.Hit) error {
		line, err := encode(of(h))
		if err != nil {
			return err
		}
		fmt.Fprintf(r, "%s%s%s", before, line, after)
		before = further
		return nil
	})
}

// array writes the JSON of each address, one a line, between a head and a foot.
func (r *run) array(head, foot string, of func(*index.Hit) any) error {
	r.WriteString(head)
	err := r.lines("\n", ",\n", "", of)
	r.WriteString(foot)
	return err
}

// writeGeoJSON writes a FeatureCollection (RFC 7946) with the members licence
// and attribution, as the query server does; a feature a line.
func writeGeoJSON(r *run) error {
	head, err := encode(struct {
		Type        string `json:"type"`
		Licence     string `json:"licence"`
		Attribution string `json:"attribution"`
	}{"FeatureCollection", r.Licence, r.Attribution})
	if err != nil {
		return err
	}
	open := strings.TrimSuffix(string(head), "}") + `,"features":[`
	return r.array(open, "\n]}\n", func(h *index.Hit) any { return r.feature(h) })
}

// recordSeparator begins a line of a text sequence (RFC 7464).
const recordSeparator = "\x1e"

// writeGeoJSONSeq writes a Feature a line: RFC 8142 with RS, what most
// programs read without.
func writeGeoJSONSeq(r *run) error {
	mark := ""
	if r.RS {
		mark = recordSeparator
	}
	return r.lines(mark, mark, "\n", func(h *index.Hit) any { return r.feature(h) })
}

// writeNDJSON writes the properties with lon and lat, an object a line.
func writeNDJSON(r *run) error {
	return r.lines("", "", "\n", func(h *index.Hit) any {
		line := struct {
			Properties
			Lon *float64 `json:"lon"`
			Lat *float64 `json:"lat"`
		}{Properties: r.properties(h)}
		if g := GeometryOf(h); g != nil {
			line.Lon, line.Lat = &g.Coordinates[0], &g.Coordinates[1]
		}
		return line
	})
}

// writeMapRoulette writes one task per line: a FeatureCollection of one feature
// behind an RS. The feature's id is stable, by which MapRoulette knows a task
// again when a challenge is rebuilt.
// https://github.com/maproulette/maproulette3/wiki/Line-by-Line-GeoJSON-Format
func writeMapRoulette(r *run) error {
	return r.lines(recordSeparator, recordSeparator, "\n", func(h *index.Hit) any {
		return struct {
			Type     string    `json:"type"`
			Features []Feature `json:"features"`
		}{"FeatureCollection", []Feature{r.feature(h)}}
	})
}

// writeConflator writes an array of objects with id, lat, lon and tags, one a
// line: the dataset of OSM Conflator, which looks for what OpenStreetMap has
// near each. https://wiki.openstreetmap.org/wiki/OSM_Conflator
func writeConflator(r *run) error {
	return r.array("[", "\n]\n", func(h *index.Hit) any {
		tags := map[string]string{}
		for _, tag := range OSMTags(h, r.Names) {
			tags[tag[0]] = tag[1]
		}
		at := GeometryOf(h).Coordinates
		return struct {
			ID   string            `json:"id"`
			Lat  float64           `json:"lat"`
			Lon  float64           `json:"lon"`
			Tags map[string]string `json:"tags"`
		}{h.ID, at[1], at[0], tags}
	})
}
