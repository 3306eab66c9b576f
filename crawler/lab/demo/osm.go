package demo

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// An extract is OpenStreetMap XML: all nodes, then the ways, then the relations.
type extract struct {
	XMLName   xml.Name `xml:"osm"`
	Version   string   `xml:"version,attr"`
	Generator string   `xml:"generator,attr"`
	License   string   `xml:"license,attr"`

	Nodes     []osmObject `xml:"node"`
	Ways      []osmObject `xml:"way"`
	Relations []osmObject `xml:"relation"`
}

type osmObject struct {
	ID      int         `xml:"id,attr"`
	Version int         `xml:"version,attr"`
	Lat     string      `xml:"lat,attr,omitempty"`
	Lon     string      `xml:"lon,attr,omitempty"`
	Refs    []osmRef    `xml:"nd"`
	Members []osmMember `xml:"member"`
	Tags    []osmTag    `xml:"tag"`
}

type osmRef struct {
	Ref int `xml:"ref,attr"`
}

type osmMember struct {
	Type string `xml:"type,attr"`
	Ref  int    `xml:"ref,attr"`
	Role string `xml:"role,attr"`
}

type osmTag struct {
	Key   string `xml:"k,attr"`
	Value string `xml:"v,attr"`
}

// tagged returns tags from key=value.
func tagged(pairs []string) (tags []osmTag) {
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		tags = append(tags, osmTag{key, value})
	}
	return tags
}

// node adds a node with tags such as "place=town".
func (x *extract) node(p orb.Point, tags ...string) int {
	degrees := func(v float64) string { return strconv.FormatFloat(v, 'f', 7, 64) }
	x.Nodes = append(x.Nodes, osmObject{ID: len(x.Nodes) + 1, Version: 1, Lat: degrees(p[1]), Lon: degrees(p[0]), Tags: tagged(tags)})
	return len(x.Nodes)
}

// way adds a line; a ring ends at the node where it begins.
func (x *extract) way(line []orb.Point, tags ...string) int {
	w := osmObject{ID: len(x.Ways) + 1, Version: 1, Tags: tagged(tags)}
	for i, p := range line {
		if i > 0 && p == line[0] {
			w.Refs = append(w.Refs, w.Refs[0])
		} else {
			w.Refs = append(w.Refs, osmRef{x.node(p)})
		}
	}
	x.Ways = append(x.Ways, w)
	return w.ID
}

// boundary adds an area of rings.
func (x *extract) boundary(ways []int, centre int, tags ...string) {
	r := osmObject{ID: len(x.Relations) + 1, Version: 1, Tags: tagged(append([]string{"type=boundary"}, tags...))}
	for _, way := range ways {
		r.Members = append(r.Members, osmMember{"way", way, "outer"})
	}
	if centre > 0 {
		r.Members = append(r.Members, osmMember{"node", centre, "admin_centre"})
	}
	x.Relations = append(x.Relations, r)
}

// WriteOSM writes an OpenStreetMap extract (XML) of the town and its villages:
// their borders as relations, postcode areas, streets, waters and woods, and
// houses with addresses as far as Options.ListedHouses goes, some of them with
// the name and the web site of an organisation.
func (t *Town) WriteOSM(w io.Writer) error {
	x := &extract{Version: "0.6", Generator: "gazehound demo (made up)", License: "http://creativecommons.org/publicdomain/zero/1.0/"}
	areas := map[string][]int{} // postcode → rings
	var codes []string
	for n := range t.places[:1+villages] {
		p := &t.places[n]
		place, population := "village", 300+p.last-p.first
		if n == 0 {
			place, population = "town", 4*p.last
		}
		centre := x.node(p.centre, "name="+p.name, "place="+place, "population="+strconv.Itoa(population))
		x.boundary([]int{x.way(p.border)}, centre, "boundary=administrative", "admin_level=8", "name="+p.name)
		for i, code := range p.postcodes {
			if areas[code] == nil {
				codes = append(codes, code)
			}
			areas[code] = append(areas[code], x.way(p.sector(i)))
		}
		for i, s := range p.streets {
			x.way(s.line, "highway="+[...]string{"residential", "residential", "living_street", "tertiary"}[i%4], "name="+s.name)
			x.way([]orb.Point{s.line[0], p.joint(i)}, "highway=residential")
		}
	}
	for _, code := range codes {
		x.boundary(areas[code], 0, "boundary=postal_code", "postal_code="+code)
	}
	t.writeHouses(x)
	t.writeLand(x)
	io.WriteString(w, xml.Header)
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(x); err != nil {
		return fmt.Errorf("demo: write extract: %w", err)
	}
	return nil
}

// writeHouses adds the houses that the extract knows: a node with an organisation
// or a building. Every other organisation is on the map by name, fewer by their
// web site.
func (t *Town) writeHouses(x *extract) {
	tenants := map[int]int32{}
	for _, s := range t.orgs[0] {
		if h := int(t.sites[s].house); tenants[h] == 0 {
			tenants[h] = s
		}
	}
	for h := range t.houses {
		a, tenant := t.houseAddress(h, ""), tenants[h]
		s := &t.sites[tenant]
		var tags []string
		if a.Listed {
			tags = []string{"addr:street=" + a.Street, "addr:housenumber=" + a.HouseNumber, "addr:postcode=" + a.Postcode, "addr:city=" + a.City, "addr:country=DE"}
		}
		if tenant != 0 && s.fate != optedOut && (tenant%2 == 0 || s.listed) {
			tags = append(tags, words().Trades[s.trade].Tag, "name="+s.name)
			if s.listed {
				tags = append(tags, [...]string{"website=", "contact:website=", "url="}[tenant%3]+t.url(ref{tenant, homePage}).String())
			}
		}
		switch {
		case len(tags) == 0:
		case tenant != 0:
			x.node(t.houses[h].at, tags...)
		default:
			x.way(t.walls(h), append(tags, "building=yes")...)
		}
	}
}

// writeLand adds what no address depends on and makes a map look like one: a river,
// waters, woods, and the roads between town and villages.
func (t *Town) writeLand(x *extract) {
	d := t.dice(topicLand)
	c := townCentre
	course := d.share() * math.Pi
	var river, bank []orb.Point
	for i := -24.0; i <= 24; i++ {
		aside := 500*math.Sin(i/5+course) + 260
		p := offset(offset(c, i*300, course), aside, course+math.Pi/2)
		river = append(river, p)
		bank = append(append([]orb.Point{offset(p, 22, course+math.Pi/2)}, bank...), offset(p, 22, course-math.Pi/2))
	}
	x.way(river, "waterway=river", "name=Demme")
	x.way(append(bank, bank[0]), "natural=water", "water=river")
	area := func(metres, angle, radius float64, tags ...string) {
		var line []orb.Point
		for i := range 14 {
			line = append(line, offset(offset(c, metres, course+angle), radius*(0.75+0.5*d.share()), 2*math.Pi*float64(i)/14))
		}
		x.way(append(line, line[0]), tags...)
	}
	area(1500, math.Pi*0.75, 210, "natural=water", "name=Stadtsee")
	area(620, -math.Pi*0.6, 200, "leisure=park", "name=Stadtpark")
	area(2500, -math.Pi*0.3, 520, "landuse=forest", "name=Stadtforst")
	area(2700, math.Pi*1.2, 430, "landuse=forest", "name=Krähenholz")
	area(0, 0, 1150, "highway=secondary") // a ring road
	for _, village := range t.places[1 : 1+villages] {
		x.way([]orb.Point{c, village.centre}, "highway=primary")
	}
}

// joint returns the end of another street that is nearest to the beginning of
// street s, so that all of them hang together.
func (p *place) joint(s int) orb.Point {
	from := p.streets[s].line[0]
	best, to := math.Inf(1), p.centre
	for o := range s {
		for _, end := range p.streets[o].line {
			if d := metres(from, end); d < best {
				best, to = d, end
			}
		}
	}
	return to
}

// walls returns the outline of a house: its long side along the street.
func (t *Town) walls(h int) (ring []orb.Point) {
	d := t.dice(topicLand, uint64(h))
	b := &t.houses[h]
	wide, deep := 5+3.5*d.share(), 4+2.5*d.share()
	for _, corner := range [...][2]float64{{-wide, -deep}, {wide, -deep}, {wide, deep}, {-wide, deep}, {-wide, -deep}} {
		ring = append(ring, offset(offset(b.at, corner[0], b.along), corner[1], b.along+math.Pi/2))
	}
	return ring
}
