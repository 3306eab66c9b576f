package export

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gazehound/index"
	"gazehound/internal/textutil"
)

// A column is one property of an address as text, under the name that it has
// in JSON.
type column struct {
	name   string
	value  func(*Properties) string
	number bool // looks like a number and is none: "01067", "7-9"
}

// columns lists all properties in their order.
var columns = []column{
	{name: "ref", value: func(p *Properties) string { return p.Ref }, number: true},
	{name: "name", value: func(p *Properties) string { return p.Name }},
	{name: "branch", value: func(p *Properties) string { return p.Branch }},
	{name: "@names", value: func(p *Properties) string { return strings.Join(p.Names, "; ") }},
	{name: "label", value: func(p *Properties) string { return p.Label }},
	{name: "addr:street", value: func(p *Properties) string { return p.Street }},
	{name: "addr:housenumber", value: func(p *Properties) string { return p.HouseNumber }, number: true},
	{name: "addr:unit", value: func(p *Properties) string { return p.Unit }, number: true},
	{name: "addr:postcode", value: func(p *Properties) string { return p.Postcode }, number: true},
	{name: "addr:city", value: func(p *Properties) string { return p.City }},
	{name: "addr:state", value: func(p *Properties) string { return p.State }},
	{name: "addr:country", value: func(p *Properties) string { return p.Country }},
	{name: "addr:full", value: func(p *Properties) string { return p.Full }},
	{name: "phone", value: func(p *Properties) string { return p.Phone }},
	{name: "email", value: func(p *Properties) string { return p.Email }},
	{name: "website", value: func(p *Properties) string { return p.Website }},
	{name: "opening_hours", value: func(p *Properties) string { return p.Hours }},
	{name: "@differs", value: func(p *Properties) string { return strings.Join(p.Differs, "; ") }},
	{name: "@kind", value: func(p *Properties) string { return p.Kind }},
	{name: "@role", value: func(p *Properties) string { return p.Role }},
	{name: "@person", value: func(p *Properties) string { return truth(p.Person) }},
	{name: "@site_wide", value: func(p *Properties) string { return truth(p.SiteWide) }},
	{name: "@source_uri", value: func(p *Properties) string { return p.Source }},
	{name: "@title", value: func(p *Properties) string { return p.Title }},
	{name: "@precision", value: func(p *Properties) string { return p.Precision }},
	{name: "@level", value: func(p *Properties) string { return p.Level }},
	{name: "@confidence", value: func(p *Properties) string { return decimal(p.Confidence) }},
	{name: "@evidence", value: func(p *Properties) string { return p.Evidence }},
	{name: "@first_seen", value: func(p *Properties) string { return p.FirstSeen.Format(time.RFC3339) }},
	{name: "@last_seen", value: func(p *Properties) string { return p.LastSeen.Format(time.RFC3339) }},
	{name: "@gone", value: func(p *Properties) string {
		if p.Gone.IsZero() {
			return ""
		}
		return p.Gone.Format(time.RFC3339)
	}},
	{name: "@mentions", value: func(p *Properties) string { return strconv.Itoa(p.Mentions) }},
	{name: "@hosts", value: func(p *Properties) string { return strconv.Itoa(p.Hosts) }},
	{name: "@pages", value: func(p *Properties) string { return strings.Join(p.Pages, " ") }},
	{name: "@gazetteer", value: func(p *Properties) string { return p.Gazetteer }},
	{name: "@osm", value: func(p *Properties) string {
		if p.OSM == nil {
			return ""
		}
		return *p.OSM
	}},
	{name: "@osm_object", value: func(p *Properties) string { return p.Object }},
	{name: "@osm_tags", value: func(p *Properties) string { return p.Tags }},
}

// decimal writes a number as JSON does, never with an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// truth writes true, or nothing.
func truth(b bool) string {
	if b {
		return "true"
	}
	return ""
}

// columns returns those that the run writes.
func (r *run) columns() []column {
	if r.Evidence {
		return columns
	}
	return slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.name == "@title" || c.name == "@evidence" })
}

// byteOrderMark makes Excel read UTF-8.
const byteOrderMark = "\ufeff"

// writeCSV writes a table (RFC 4180): lat, lon, and the columns. No cell is a
// formula; the names of the columns go without their "@" for that.
func writeCSV(r *run) error {
	columns := r.columns()
	head := []string{"lat", "lon"}
	if r.Datasette {
		head = []string{"latitude", "longitude"}
	}
	for _, c := range columns {
		head = append(head, strings.TrimPrefix(c.name, "@"))
	}
	if r.Excel {
		r.WriteString(byteOrderMark)
	}
	w := csv.NewWriter(r.Writer)
	w.UseCRLF = true
	w.Write(head)
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		row := []string{"", ""}
		if g := GeometryOf(h); g != nil {
			row[0], row[1] = decimal(g.Coordinates[1]), decimal(g.Coordinates[0])
		}
		for _, c := range columns {
			value := c.value(&p)
			if r.Excel && c.number && plain.MatchString(value) {
				value = `="` + value + `"` // Excel makes 1067 of 01067, and a date of 7-9
			} else {
				value = textutil.Guard(value)
			}
			row = append(row, value)
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// plain is what may stand in a formula that only keeps a number as it is.
var plain = regexp.MustCompile(`^[\pL\pN][\pL\pN ./-]*$`)
