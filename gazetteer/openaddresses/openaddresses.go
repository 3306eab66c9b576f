// Package openaddresses reads the address files of openaddresses.io: CSV with
// the columns LON, LAT, NUMBER, STREET … and GeoJSON, one feature a line.
package openaddresses

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"

	"gazehound/gazetteer"
	"gazehound/gazetteer/table"
)

// Options tune Reader.
type Options struct {
	Country string // of all rows, ISO 3166-1 alpha-2; "" is guessed from the first rows
	Refuse  gazetteer.Refuse
}

// fields maps the fields of a place to the columns of the format.
var fields = map[string]string{
	"street": "street", "housenumber": "number", "postcode": "postcode", "city": "city", "state": "region",
	"id": "hash", "lon": "lon", "lat": "lat",
}

// Sniff reports whether head, the start of a file, looks like the format.
func Sniff(head []byte) bool {
	found := columns(head)
	for _, c := range []string{"number", "street", "city", "region", "postcode"} {
		if !found[c] {
			return false
		}
	}
	return found["hash"] || found["district"] || found["unit"]
}

// columns returns the names of the columns of a table, or of the properties of
// its first feature, in lower case.
func columns(head []byte) map[string]bool {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), []byte("\n"))
	found := map[string]bool{}
	if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		var f struct {
			Type       string
			Properties map[string]json.RawMessage
		}
		if json.Unmarshal(line, &f) == nil && f.Type == "Feature" {
			for c := range f.Properties {
				found[c] = true
			}
		}
		return found
	}
	for c := range strings.SplitSeq(string(line), ",") {
		found[strings.ToLower(strings.Trim(strings.TrimSpace(c), `"`))] = true
	}
	return found
}

// Reader returns a reader of both forms: a House per row with a number, else a
// Street. The number 0 stands for none. Units within a house are one house.
func Reader(o Options) gazetteer.Reader {
	return func(ctx context.Context, src io.Reader, emit func(gazetteer.Place) error) error {
		b := bufio.NewReaderSize(src, 64<<10)
		head, err := b.Peek(4096)
		if err != nil && err != io.EOF {
			return err
		}
		found := columns(head)
		m := table.Map{}
		for field, column := range fields {
			if found[column] {
				m[field] = []string{column}
			}
		}
		read := table.Reader(table.Options{Map: m, Country: o.Country, Refuse: o.Refuse})
		return read(ctx, b, func(p gazetteer.Place) error {
			if p.Kind == gazetteer.House && strings.Trim(p.HouseNumber, "0 ") == "" {
				p.Kind, p.HouseNumber, p.Names = gazetteer.Street, "", nil
			}
			if p.ID != "" {
				p.ID = "openaddresses/" + p.ID
			}
			return emit(p)
		})
	}
}
