package export

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/index"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// escape makes text of s for XML, also for attribute values. What XML cannot
// hold, such as control characters, becomes U+FFFD.
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

// writeKML writes a Placemark for each address (OGC 07-147r2). Readers show a
// description as HTML, so what pages wrote is escaped twice there.
func writeKML(r *run) error {
	r.WriteString(xmlHead + `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>` + element("name", r.title()) + element("description", html.EscapeString(r.Notice())) + "\n")
	columns := r.columns()
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		description := html.EscapeString(p.Full)
		if p.Evidence != "" {
			description += "<br>" + html.EscapeString(p.Evidence)
		}
		if url := link(p.Source); url != "" {
			description += `<br><a href="` + html.EscapeString(url) + `">` + html.EscapeString(url) + `</a>`
		}
		// An ID begins with a letter in XML.
		r.WriteString(`<Placemark id="a` + escape(h.ID) + `">` + element("name", p.Name) + element("address", p.Full) + element("description", description) + "<ExtendedData>")
		for _, c := range columns {
			if value := c.value(&p); value != "" {
				r.WriteString(`<Data name="` + escape(c.name) + `">` + element("value", value) + "</Data>")
			}
		}
		at := GeometryOf(h).Coordinates
		r.WriteString("</ExtendedData><Point>" + element("coordinates", decimal(at[0])+","+decimal(at[1])) + "</Point></Placemark>\n")
		return nil
	})
	if err != nil {
		return err
	}
	r.WriteString("</Document></kml>\n")
	return nil
}

// writeGPX writes a waypoint for each address (GPX 1.1).
func writeGPX(r *run) error {
	r.WriteString(xmlHead + `<gpx version="1.1" creator="gazehound" xmlns="http://www.topografix.com/GPX/1/1"><metadata>` + element("name", r.title()) + element("desc", r.Notice()) + "</metadata>\n")
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		at := GeometryOf(h).Coordinates
		fmt.Fprintf(r, `<wpt lat="%s" lon="%s">`, decimal(at[1]), decimal(at[0]))
		r.WriteString(element("name", p.Name) + element("cmt", p.Evidence) + element("desc", p.Full) + element("src", p.Source))
		if url := link(p.Source); url != "" {
			r.WriteString(`<link href="` + escape(url) + `">` + element("text", p.Title) + "</link>")
		}
		r.WriteString(element("type", p.Precision) + "</wpt>\n")
		return nil
	})
	if err != nil {
		return err
	}
	r.WriteString("</gpx>\n")
	return nil
}

// writeAtom writes an entry for each address (RFC 4287) with its point (GeoRSS
// Simple). An entry's time is when its address was seen first; the feed's is
// the newest of them.
func writeAtom(r *run) error {
	newest := time.Unix(0, 0).UTC()
	var entries strings.Builder // the head needs the newest time of all
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		if h.FirstSeen.After(newest) {
			newest = h.FirstSeen
		}
		entries.WriteString("<entry>" + element("id", "urn:gazehound:address:"+h.ID) + element("title", p.Label) +
			element("published", stamp(h.FirstSeen)) + element("updated", stamp(h.FirstSeen)))
		if url := link(p.Source); url != "" {
			entries.WriteString(`<link rel="alternate" href="` + escape(url) + `"/>`)
		}
		entries.WriteString(element("summary", cmp.Or(p.Evidence, p.Full)))
		if g := GeometryOf(h); g != nil {
			entries.WriteString(element("georss:point", decimal(g.Coordinates[1])+" "+decimal(g.Coordinates[0])))
		}
		entries.WriteString("</entry>\n")
		return nil
	})
	if err != nil {
		return err
	}
	id := cmp.Or(link(r.Link), "urn:gazehound:addresses")
	r.WriteString(xmlHead + `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:georss="http://www.georss.org/georss">` +
		element("id", id) + element("title", r.title()) + element("updated", stamp(newest)) + "<author>" + element("name", "gazehound") + "</author>" + element("rights", r.Notice()))
	if url := link(r.Link); url != "" {
		r.WriteString(`<link rel="self" href="` + escape(url) + `"/>`)
	}
	r.WriteString("\n" + entries.String() + "</feed>\n")
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// maxTag is the longest value of a tag in characters, by OpenStreetMap's API.
const maxTag = 255

// osmTags returns tags for OpenStreetMap in the order of their keys. They are
// facts only: the kind of place, the address, how and when to reach who is there, and where and
// when it was read; not the name, which is the words of a page.
func osmTags(p *Properties) (tags [][2]string) {
	all := [][2]string{
		{"addr:city", p.City}, {"addr:country", p.Country}, {"addr:housenumber", p.HouseNumber}, {"addr:postcode", p.Postcode},
		{"addr:state", p.State}, {"addr:street", p.Street}, {"addr:unit", p.Unit},
		{"check_date", p.LastSeen.Format(time.DateOnly)}, {"email", p.Email}, {"opening_hours", p.Hours}, {"phone", p.Phone}, {"source:url", link(p.Source)}, {"website", link(p.Website)},
	}
	for tag := range strings.FieldsSeq(p.Kind) {
		key, value, _ := strings.Cut(tag, "=")
		all = append(all, [2]string{key, value})
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for _, tag := range all {
		if tag[1] != "" && utf8.RuneCountInString(tag[1]) <= maxTag {
			tags = append(tags, tag)
		}
	}
	return tags
}

// writeOSM writes a node for each address, numbered -1, -2, …, in a file that
// JOSM opens and refuses to upload.
func writeOSM(r *run) error {
	r.WriteString(xmlHead + `<osm version="0.6" generator="gazehound" upload="never"`)
	for _, a := range [][2]string{{"attribution", r.Attribution}, {"license", r.Licence}} {
		if a[1] != "" {
			r.WriteString(" " + a[0] + `="` + escape(a[1]) + `"`)
		}
	}
	r.WriteString(">\n")
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		at := GeometryOf(h).Coordinates
		fmt.Fprintf(r, `<node id="-%d" visible="true" lat="%s" lon="%s">`, r.sum.Addresses, decimal(at[1]), decimal(at[0]))
		for _, tag := range osmTags(&p) {
			r.WriteString(`<tag k="` + tag[0] + `" v="` + escape(tag[1]) + `"/>`)
		}
		r.WriteString("</node>\n")
		return nil
	})
	if err != nil {
		return err
	}
	r.WriteString("</osm>\n")
	return nil
}
