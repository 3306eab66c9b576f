package export

import (
	"encoding/json"
	"fmt"
	"strings"

	"gazehound/index"
	"gazehound/internal/kind"

	"github.com/parquet-go/parquet-go"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkb"
)

// An overturePlace is a row of GeoParquet 1.1 with the columns of Overture's places
// (https://docs.overturemaps.org/schema/reference/places/place/).
type overturePlace struct {
	ID         string             `parquet:"id"`
	Geometry   []byte             `parquet:"geometry"` // WKB
	Box        overtureBox        `parquet:"bbox"`
	Names      overtureNames      `parquet:"names"`
	Categories overtureCategories `parquet:"categories"`
	Confidence float64            `parquet:"confidence"`
	Websites   []string           `parquet:"websites,list"`
	Emails     []string           `parquet:"emails,list"`
	Phones     []string           `parquet:"phones,list"` // E.164
	Addresses  []overtureAddress  `parquet:"addresses,list"`
	Sources    []overtureSource   `parquet:"sources,list"`
}

type (
	overtureBox struct {
		West  float32 `parquet:"xmin"`
		East  float32 `parquet:"xmax"`
		South float32 `parquet:"ymin"`
		North float32 `parquet:"ymax"`
	}
	overtureNames struct {
		Primary string `parquet:"primary,optional"`
	}
	// overtureCategories have the value of OpenStreetMap's tag, "dentist", and the tag.
	overtureCategories struct {
		Primary   string   `parquet:"primary,optional"`
		Alternate []string `parquet:"alternate,list"`
	}
	overtureAddress struct {
		Freeform string `parquet:"freeform,optional"`
		Locality string `parquet:"locality,optional"`
		Postcode string `parquet:"postcode,optional"`
		Region   string `parquet:"region,optional"`
		Country  string `parquet:"country,optional"`
	}
	// An overtureSource is a page that states the address.
	overtureSource struct {
		Dataset    string  `parquet:"dataset"` // site
		RecordID   string  `parquet:"record_id"`
		UpdateTime string  `parquet:"update_time"`
		Confidence float64 `parquet:"confidence"`
	}
)

// geoMetadata describes the geometry to readers of GeoParquet 1.1. The coordinates are
// OGC:CRS84, which is what no "crs" means.
const geoMetadata = `{"version":"1.1.0","primary_column":"geometry","columns":{"geometry":{` +
	`"encoding":"WKB","geometry_types":["Point"],"covering":{"bbox":{` +
	`"xmin":["bbox","xmin"],"ymin":["bbox","ymin"],"xmax":["bbox","xmax"],"ymax":["bbox","ymax"]}}}}}`

// rowGroup is how many addresses are in memory at once.
const rowGroup = 20_000

// writeGeoParquet writes a row for each address.
func writeGeoParquet(r *run) error {
	terms, err := json.Marshal(map[string]string{"licence": r.Licence, "attribution": r.Attribution})
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	w := parquet.NewGenericWriter[overturePlace](r, parquet.CreatedBy("gazehound", "", ""),
		parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.KeyValueMetadata("geo", geoMetadata), parquet.KeyValueMetadata("terms", string(terms)))
	err = r.each(func(h *index.Hit) error {
		place, err := overturePlaceOf(h)
		if err == nil {
			_, err = w.Write([]overturePlace{place})
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func overturePlaceOf(h *index.Hit) (overturePlace, error) {
	p, at := PropertiesOf(h), GeometryOf(h).Coordinates
	geometry, err := wkb.Marshal(orb.Point(at))
	x, y := float32(at[0]), float32(at[1])
	place := overturePlace{ID: p.Ref, Geometry: geometry, Box: overtureBox{x, x, y, y}, Names: overtureNames{p.Name},
		Confidence: p.Confidence, Websites: listOf(link(p.Website)), Emails: listOf(p.Email), Phones: listOf(p.Phone),
		Addresses: []overtureAddress{{streetOf(&p), p.City, p.Postcode, p.State, p.Country}}}
	if tag := kind.Main(p.Kind); tag != "" {
		_, value, _ := strings.Cut(tag, "=")
		place.Categories = overtureCategories{value, []string{tag}}
	}
	for _, e := range h.Evidence {
		place.Sources = append(place.Sources, overtureSource{e.Site, e.URL, stamp(e.Fetched), Round(e.Confidence, 2)})
	}
	return place, err
}

// listOf returns a list of one text, or of none.
func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// streetOf returns street, number and unit as they are written where they lie.
func streetOf(p *Properties) string {
	h := index.Hit{Street: p.Street, HouseNumber: p.HouseNumber, Unit: p.Unit, Country: p.Country}
	return h.Line()
}
