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

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
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

// words are the page's own, by language.
var words = map[string]map[string]string{
	"en": {"lang": "en", "title": "Addresses", "in": "in", "address": "address", "addresses": "addresses", "stated": "as web pages state them.", "more": "more", "pages": "pages", "seen": "read on",
		"map": "Map: each dot leads to its address in the list", "texts": "Texts are quoted from the pages they link to, which are their owners'.",
		"interpolated": "position estimated between neighbours", "street": "position of the street only", "postcode": "position of the postcode area only", "city": "position of the town only"},
	"de": {"lang": "de", "title": "Adressen", "in": "in", "address": "Adresse", "addresses": "Adressen", "stated": "wie Seiten im Netz sie nennen.", "more": "weitere", "pages": "Seiten", "seen": "gelesen am",
		"map": "Karte: Jeder Punkt führt zu seiner Adresse in der Liste", "texts": "Texte stammen von den Seiten, auf die sie verweisen, und gehören deren Eigentümern.",
		"interpolated": "Lage zwischen Nachbarn geschätzt", "street": "nur die Lage der Straße", "postcode": "nur die Lage des Postleitzahlgebiets", "city": "nur die Lage des Ortes"},
}

// A row is what is kept of each address while the page is laid out.
type row struct {
	id    string
	key   string // by which people look for it: postcode, city, street, number
	point orb.Point
	onMap bool
}

// writeHTML writes one page that needs nothing else: a map as SVG and a list in
// the order of postcodes, streets and numbers. It loads nothing, runs nothing,
// and opens in any browser. A row for each address is in memory.
func writeHTML(r *run) error {
	var rows []row
	err := r.each(func(h *index.Hit) error {
		rows = append(rows, row{h.ID, keyOf(h), h.Point, h.HasPoint})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) })
	m, err := r.draw(rows)
	if err != nil {
		return err
	}
	t := words[cmp.Or(r.Lang, "en")]
	title := t["title"]
	if r.Region != "" {
		title += " " + t["in"] + " " + r.Region
	}
	if err := r.part("head", map[string]any{"T": t, "Title": title, "Addresses": len(rows), "Map": m}); err != nil {
		return err
	}
	area := ""
	for i, w := range rows {
		h, err := r.one(w.id)
		if err != nil {
			return err
		}
		if h == nil {
			continue // gone since then: somebody writes beside us
		}
		if of := h.Postcode + " " + gazetteer.Key(h.City); i == 0 || of != area {
			area = of
			if err := r.part("area", map[string]any{"Name": strings.TrimSpace(h.Postcode + " " + h.City), "First": i == 0}); err != nil {
				return err
			}
		}
		p := r.properties(h)
		if err := r.part("address", map[string]any{"T": t, "P": &p, "Position": t[p.Precision]}); err != nil {
			return err
		}
	}
	return r.part("foot", map[string]any{"T": t, "Notice": r.Notice(), "Addresses": len(rows)})
}

// part writes a part of the page.
func (r *run) part(name string, data any) error {
	if err := page.ExecuteTemplate(r, name, data); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// keyOf returns a text whose order is that of postcodes, streets and numbers.
func keyOf(h *index.Hit) string {
	digits := len(h.HouseNumber) - len(strings.TrimLeft(h.HouseNumber, "0123456789"))
	number := strings.Repeat("0", max(0, 8-digits)) + gazetteer.NumberKey(h.HouseNumber)
	return strings.Join([]string{h.Postcode, gazetteer.Key(h.City), gazetteer.StreetKey(h.Street), number, h.Unit}, "\x00")
}

// A plan is a map of the addresses within the outline of the region.
type plan struct {
	Width, Height float64
	Region        string // SVG path
	Layers        []Layer
	Dots          []dot
}

// A dot stands for the addresses at about one place.
type dot struct {
	X, Y, Radius string
	ID, Name     string // of its first address
	More         int
}

// The size of the map in its own units, and of the squares that share a dot.
const (
	mapWidth             = 800.0
	leastHeight, maxHigh = 300.0, 900.0
	mapMargin            = 20.0
	square               = 4.0
)

// draw returns the map; nil where there is nothing to show. Degrees of
// longitude are as much shorter as they are in its middle.
func (r *run) draw(rows []row) (*plan, error) {
	var points orb.MultiPoint
	for _, w := range rows {
		if w.onMap {
			points = append(points, w.point)
		}
	}
	if len(points) == 0 {
		return nil, nil
	}
	b := points.Bound()
	if len(r.Outline) > 0 && r.Query.Box == nil && r.Query.Center == nil {
		b = b.Union(r.Outline.Bound())
	}
	b = b.Pad(max(0, 0.005-(b.Max[1]-b.Min[1])/2))
	shrink := math.Cos(b.Center()[1] * math.Pi / 180)
	scale := min((mapWidth-2*mapMargin)/((b.Max[0]-b.Min[0])*shrink), (maxHigh-2*mapMargin)/(b.Max[1]-b.Min[1]))
	p := &plan{Width: mapWidth, Height: math.Ceil(max(leastHeight, (b.Max[1]-b.Min[1])*scale+2*mapMargin))}
	at := func(q orb.Point) orb.Point {
		c := b.Center()
		return orb.Point{mapWidth/2 + (q[0]-c[0])*shrink*scale, p.Height/2 - (q[1]-c[1])*scale}
	}

	dots := map[[2]int]int{} // of a square
	for _, w := range rows {
		if !w.onMap {
			continue
		}
		xy := at(w.point)
		cell := [2]int{int(xy[0] / square), int(xy[1] / square)}
		if i, ok := dots[cell]; ok {
			p.Dots[i].More++
			continue
		}
		h, err := r.one(w.id)
		if err != nil {
			return nil, err
		}
		if h != nil {
			dots[cell] = len(p.Dots)
			p.Dots = append(p.Dots, dot{X: unit(xy[0]), Y: unit(xy[1]), ID: h.ID, Name: h.Label()})
		}
	}
	for i := range p.Dots {
		p.Dots[i].Radius = unit(3 + math.Log2(float64(1+p.Dots[i].More)))
	}
	p.Region = path(r.Outline, at)
	if r.Shapes != nil {
		dx, dy := mapWidth/2/(shrink*scale), p.Height/2/scale
		c := b.Center()
		seen := orb.Bound{Min: orb.Point{c[0] - dx, c[1] - dy}, Max: orb.Point{c[0] + dx, c[1] + dy}}
		p.Layers = Layers(r.Shapes(seen), func(q orb.Point) (x, y float64) {
			xy := at(q)
			return xy[0], xy[1]
		})
	}
	return p, nil
}

// path returns the outline as an SVG path, as fine as the map can show.
func path(outline orb.MultiPolygon, at func(orb.Point) orb.Point) string {
	var b strings.Builder
	fine := simplify.DouglasPeucker(0.5)
	for _, polygon := range outline {
		for _, ring := range polygon {
			drawn := make(orb.Ring, len(ring))
			for i, q := range ring {
				drawn[i] = at(q)
			}
			for i, q := range fine.Ring(drawn) {
				command := "L"
				if i == 0 {
					command = "M"
				}
				b.WriteString(command + unit(q[0]) + " " + unit(q[1]))
			}
			b.WriteString("Z")
		}
	}
	return b.String()
}

// unit writes a coordinate of the map.
func unit(v float64) string { return fmt.Sprintf("%.1f", v) }
