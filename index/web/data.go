package web

import (
	"fmt"
	"slices"
	"strings"

	"gazehound/index/export"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"
)

// data is what the script gets from the page, as JSON in it. All texts of
// hits are a stranger's; the script shows them as text.
type data struct {
	Hits    []mark            `json:"hits"`
	Places  []mark            `json:"places"` // that only the map knows
	Total   int               `json:"total"`
	Filters string            `json:"filters"` // the search as a query string of the API
	Lang    string            `json:"lang"`    // as chosen
	Bounds  [2][2]float64     `json:"bounds"`  // lat, lon: what to show at first
	Outline [][][2]float64    `json:"outline"` // rings of the region, lon, lat
	Basemap string            `json:"basemap"`
	Levels  []int             `json:"levels"`
	Tiles   string            `json:"tiles"`
	Texts   map[string]string `json:"texts"`
}

// A mark is a hit on the map.
type mark struct {
	Item    string      `json:"item"` // the ID of its element in the list
	Number  int         `json:"n"`
	ID      string      `json:"id"`
	Title   string      `json:"title"`
	Address string      `json:"address"`
	Street  string      `json:"street,omitempty"`
	At      *[2]float64 `json:"at"` // lon, lat; null: not known
	Missing bool        `json:"missing,omitempty"`
}

// scriptTexts are the keys of the texts that the script shows.
var scriptTexts = strings.Fields(`
	map zoomin zoomout addresses near inlist notinosm onmap close_popup other show searcharea follow
	locate here nearest faraway refused unknown_place showonmap list sheet0 sheet1 sheet2 suggestions
	kind_street kind_postcode kind_city kind_site kind_name
	keys key_search key_next key_previous key_open key_map key_close share copy copied`)

// maxOutline bounds the corners of an outline that a page carries.
const maxOutline = 1500

// Coarse returns an outline with so few corners that every page can carry it.
func Coarse(outline orb.MultiPolygon) orb.MultiPolygon {
	for tolerance := 1e-5; ; tolerance *= 2 {
		coarse := simplify.DouglasPeucker(tolerance).MultiPolygon(outline.Clone())
		corners := 0
		for i, polygon := range coarse { // islands and holes that are too small to be seen are lines now
			coarse[i] = slices.DeleteFunc(polygon, func(r orb.Ring) bool { return len(r) < 4 })
			for _, ring := range coarse[i] {
				corners += len(ring)
			}
		}
		if corners <= maxOutline {
			return slices.DeleteFunc(coarse, func(p orb.Polygon) bool { return len(p) == 0 })
		}
	}
}

func (v *view) data() *data {
	d := &data{Hits: []mark{}, Places: []mark{}, Filters: v.Form.query("lang", "sort"), Lang: v.Form.Get("lang"),
		Outline: [][][2]float64{}, Basemap: v.Basemap, Levels: v.Levels, Tiles: v.Tiles, Texts: map[string]string{}}
	for _, key := range scriptTexts {
		d.Texts[key] = v.T[key]
	}
	if v.Result != nil {
		d.Total = v.Result.Total
	}
	for _, h := range v.Hits {
		m := mark{
			Item: fmt.Sprintf("r%d", h.Number), Number: h.Number, ID: h.ID,
			Title: h.Title(), Address: h.Address(), Street: h.Street, Missing: h.Missing(),
		}
		if h.HasPoint {
			m.At = lonLat(h.Point)
		}
		d.Hits = append(d.Hits, m)
	}
	for i, o := range v.OnMap {
		d.Places = append(d.Places, mark{Item: placeID(i), Title: o.Title, At: lonLat(o.Point)})
	}
	if box, ok := v.frame(); ok {
		low, high := lonLat(box.Min), lonLat(box.Max)
		d.Bounds = [2][2]float64{{low[1], low[0]}, {high[1], high[0]}}
	}
	for _, polygon := range v.Outline {
		for _, ring := range polygon {
			var out [][2]float64
			for _, p := range ring {
				out = append(out, *lonLat(p))
			}
			d.Outline = append(d.Outline, out)
		}
	}
	return d
}

// lonLat returns a point with 5 decimals of a degree, a metre.
func lonLat(p orb.Point) *[2]float64 {
	return &[2]float64{export.Round(p[0], 5), export.Round(p[1], 5)}
}

// Origin returns scheme and host of a tile server's address, for Policy; ""
// where it is none. A name in braces that stands for several servers becomes
// "*".
func Origin(tiles string) string {
	scheme, rest, ok := strings.Cut(tiles, "://")
	host, _, _ := strings.Cut(rest, "/")
	host = strings.Replace(host, "{s}.", "*.", 1)
	if !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, " ;,'\"{}<>@\\") {
		return ""
	}
	return scheme + "://" + host
}
