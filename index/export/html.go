package export

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"gazehound/gazetteer"
	"gazehound/index"
	"gazehound/index/texts"

	"github.com/paulmach/orb"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"date": func(t time.Time) string { return t.Format(time.DateOnly) },
	"link": link,
	"show": func(url string) string {
		_, rest, _ := strings.Cut(url, "://")
		return strings.TrimSuffix(rest, "/")
	},
}).Parse(pageSource))

// A row is what is kept of each address while the page is laid out.
type row struct {
	id, key string // the key is that by which people look for it: postcode, city, street, number
	area    string // postcode and city
	label   string
	text    string // HTML
	point   orb.Point
	onMap   bool
}

// writeHTML writes one page that needs nothing else: a map as SVG and a list in
// the order of postcodes, streets and numbers. It loads nothing, runs nothing,
// and opens in any browser. The whole list is in memory.
func writeHTML(r *run) error {
	t := texts.Of("export", r.Lang)
	var rows []row
	err := r.each(func(h *index.Hit) error {
		p := r.properties(h)
		var text strings.Builder
		data := map[string]any{"T": t, "P": &p, "Position": t["at_"+p.Precision]}
		rows = append(rows, row{id: h.ID, key: keyOf(h), area: strings.TrimSpace(h.Postcode + " " + h.City),
			label: h.Label(), point: h.Point, onMap: h.HasPoint})
		err := page.ExecuteTemplate(&text, "address", data)
		rows[len(rows)-1].text = text.String()
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	title := t["title"]
	if r.Region != "" {
		title += " " + t["in"] + " " + r.Region
	}
	err = page.ExecuteTemplate(r, "head", map[string]any{"T": t, "Lang": cmp.Or(r.Lang, "en"), "Title": title,
		"Count": t.Count(len(rows), "n_addresses", len(rows)), "Map": r.draw(rows)})
	for i, w := range rows {
		if err == nil && (i == 0 || gazetteer.Key(w.area) != gazetteer.Key(rows[i-1].area)) {
			err = page.ExecuteTemplate(r, "area", map[string]any{"Name": w.area, "First": i == 0})
		}
		r.WriteString(w.text)
	}
	if err == nil {
		err = page.ExecuteTemplate(r, "foot", map[string]any{"T": t, "Notice": r.Notice(), "Addresses": len(rows)})
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// keyOf returns a text whose order is that of postcodes, streets and numbers.
func keyOf(h *index.Hit) string {
	digits := len(h.HouseNumber) - len(strings.TrimLeft(h.HouseNumber, "0123456789"))
	number := strings.Repeat("0", max(0, 8-digits)) + gazetteer.NumberKey(h.HouseNumber)
	parts := []string{h.Postcode, gazetteer.Key(h.City), gazetteer.StreetKey(h.Street), number, h.Unit}
	return strings.Join(parts, "\x00")
}

// A drawing is a map of the addresses within the outline of the region.
type drawing struct {
	Projection
	Region string // SVG path
	Layers []Layer
	Dots   []*dot
}

// A dot stands for the addresses at about one place.
type dot struct {
	X, Y     float64
	ID, Name string // of its first address
	More     int
}

// Radius returns the size of the dot on the map.
func (d *dot) Radius() float64 { return 3 + math.Log2(float64(1+d.More)) }

// The size of the map in its own units, and of the squares that share a dot.
const (
	mapWidth  = 800.0
	mapMargin = 20.0
	square    = 4.0
)

// draw returns the map; nil where there is nothing to show.
func (r *run) draw(rows []row) *drawing {
	var points orb.MultiPoint
	for _, w := range rows {
		if w.onMap {
			points = append(points, w.point)
		}
	}
	if len(points) == 0 {
		return nil
	}
	b := points.Bound()
	if len(r.Outline) > 0 && r.Box == nil && r.Center == nil {
		b = b.Union(r.Outline.Bound())
	}
	m := &drawing{Projection: NewProjection(b, mapWidth, 0, mapMargin)}
	dots := map[[2]int]*dot{} // of a square
	for _, w := range rows {
		if !w.onMap {
			continue
		}
		x, y := m.At(w.point)
		cell := [2]int{int(x / square), int(y / square)}
		if d := dots[cell]; d != nil {
			d.More++
			continue
		}
		dots[cell] = &dot{X: x, Y: y, ID: w.id, Name: w.label}
		m.Dots = append(m.Dots, dots[cell])
	}
	m.Region = m.Outline(r.Outline)
	if r.Shapes != nil {
		m.Layers = m.Projection.Layers(r.Shapes(m.Bound()))
	}
	return m
}
