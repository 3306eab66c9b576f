package export

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"gazehound/index"
)

//go:embed formats.tmpl
var formatSource string

// xmlFormats has the head, one address and the foot of each format in XML: KML (OGC
// 07-147r2), GPX 1.1, Atom (RFC 4287) with points (GeoRSS Simple), and OpenStreetMap's,
// which JOSM opens and refuses to upload. Readers of KML show a description as HTML, so
// what pages wrote is escaped twice there.
var xmlFormats = template.Must(template.New("xml").Funcs(template.FuncMap{
	"escape": escape, "element": element, "link": link, "stamp": stamp,
}).Parse(formatSource))

// escape escapes s for XML text and attribute values. Characters that XML cannot contain, such as
// control characters, become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // writing to a Builder does not fail
	return b.String()
}

// element returns an element with text, or "" without.
func element(name, text string) string {
	if text == "" {
		return ""
	}
	return "<" + name + ">" + escape(text) + "</" + name + ">"
}

// link returns a URL where it is one of the web's, else "".
func link(url string) string {
	if !webURL.MatchString(url) {
		return ""
	}
	return url
}

var webURL = regexp.MustCompile(`^(?i:https?)://[^/\s\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*$`)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// An xmlAddress is what the templates show of an address.
type xmlAddress struct {
	Properties
	Number   int    // of the address in the file
	Lat, Lon string // "" without a coordinate
	Cells    []cell
	Tags     [][2]string // of OpenStreetMap
}

// A cell is a property as text.
type cell struct{ Name, Value string }

// An xmlHead is what the templates show of the file.
type xmlHead struct {
	Options
	Title, FeedID string
	Newest        time.Time // when an address was seen first
}

// writeXML returns the writer of a format in XML. Entries of Atom stay in memory, because
// its head has the newest of their times.
func writeXML(name string) func(*run) error {
	return func(r *run) error {
		head := xmlHead{Options: r.Options, Title: r.title(), FeedID: cmp.Or(link(r.Link), "urn:gazehound:addresses"),
			Newest: time.Unix(0, 0)}
		var entries bytes.Buffer
		var out io.Writer = r
		if name == "atom" {
			out = &entries
		} else {
			err := xmlFormats.ExecuteTemplate(r, name+"-head", head)
			if err != nil {
				return err
			}
		}
		columns := r.columns()
		err := r.each(func(h *index.Hit) error {
			a := xmlAddress{Properties: r.properties(h), Number: r.sum.Addresses}
			for _, c := range columns {
				if value := c.value(&a.Properties); value != "" {
					a.Cells = append(a.Cells, cell{c.name, value})
				}
			}
			a.Tags = OSMTags(h, r.Names)
			if g := GeometryOf(h); g != nil {
				a.Lon, a.Lat = decimal(g.Coordinates[0]), decimal(g.Coordinates[1])
			}
			if h.FirstSeen.After(head.Newest) {
				head.Newest = h.FirstSeen
			}
			return xmlFormats.ExecuteTemplate(out, name, a)
		})
		if err == nil && name == "atom" {
			err = xmlFormats.ExecuteTemplate(r, name+"-head", head)
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		r.Write(entries.Bytes())
		return xmlFormats.ExecuteTemplate(r, name+"-foot", nil)
	}
}

// maxTag is the longest value of a tag in characters, by OpenStreetMap's API.
const maxTag = 255

// OSMTags returns tags for OpenStreetMap in the order of their keys. They are
// facts only: the kind of place, the address, how and when to reach who is there, and where and
// when it was read. The name, which is the words of a page, is there only where it is asked for.
func OSMTags(h *index.Hit, named bool) (tags [][2]string) {
	p := PropertiesOf(h)
	all := [][2]string{
		{"addr:city", p.City}, {"addr:country", p.Country}, {"addr:housenumber", p.HouseNumber},
		{"addr:postcode", p.Postcode}, {"addr:state", p.State}, {"addr:street", p.Street}, {"addr:unit", p.Unit},
		{"check_date", p.LastSeen.Format(time.DateOnly)}, {"email", p.Email}, {"opening_hours", p.Hours},
		{"phone", OSMPhone(p.Phone)}, {"source:url", link(p.Source)}, {"website", OwnWebsite(h)},
	}
	if named {
		all = append(all, [2]string{"name", p.Name}, [2]string{"branch", p.Branch})
	}
	for tag := range strings.FieldsSeq(p.Kind) {
		key, value, _ := strings.Cut(tag, "=")
		all = append(all, [2]string{key, value})
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return slices.DeleteFunc(all, func(tag [2]string) bool {
		return tag[1] == "" || utf8.RuneCountInString(tag[1]) > maxTag
	})
}
