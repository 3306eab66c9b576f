package demo

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// An extract is OpenStreetMap XML: all nodes, then the ways, then the relations.
type extract struct {
	nodes, ways, relations strings.Builder
	ids                    map[*strings.Builder]int // the last ones
}

// add writes an object with tags such as "place=town" and returns its id.
func (x *extract) add(to *strings.Builder, kind, attributes, content string, tags []string) int {
	x.ids[to]++
	fmt.Fprintf(to, " <%s id=\"%d\" version=\"1\"%s>%s", kind, x.ids[to], attributes, content)
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		fmt.Fprintf(to, "\n  <tag k=\"%s\" v=\"%s\"></tag>", key, html.EscapeString(value))
	}
	fmt.Fprintf(to, "</%s>\n", kind)
	return x.ids[to]
}

func (x *extract) node(p orb.Point, tags ...string) int {
	return x.add(&x.nodes, "node", fmt.Sprintf(" lat=\"%.7f\" lon=\"%.7f\"", p[1], p[0]), "", tags)
}

// way adds a line; a ring ends at the node where it begins.
func (x *extract) way(line []orb.Point, tags ...string) int {
	var refs strings.Builder
	first := 0
	for i, p := range line {
		ref := first
		if i == 0 || p != line[0] {
			ref = x.node(p)
		}
		if i == 0 {
			first = ref
		}
		fmt.Fprintf(&refs, "<nd ref=\"%d\"></nd>", ref)
	}
	return x.add(&x.ways, "way", "", refs.String(), tags)
}

// boundary adds an area of rings.
func (x *extract) boundary(ways []int, centre int, tags ...string) {
	var members strings.Builder
	for _, way := range ways {
		fmt.Fprintf(&members, "<member type=\"way\" ref=\"%d\" role=\"outer\"></member>", way)
	}
	if centre > 0 {
		fmt.Fprintf(&members, "<member type=\"node\" ref=\"%d\" role=\"admin_centre\"></member>", centre)
	}
	x.add(&x.relations, "relation", "", members.String(), append([]string{"type=boundary"}, tags...))
}

// WriteOSM writes an OpenStreetMap extract (XML) of the town and its villages:
// their borders as relations, postcode areas, streets, waters and woods, and
// houses with addresses as far as Options.ListedHouses goes, some of them with
// the name and the web site of an organisation.
func (t *Town) WriteOSM(w io.Writer) error {
	x := &extract{ids: map[*strings.Builder]int{}}
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
			kinds := [...]string{"residential", "residential", "living_street", "tertiary"}
			x.way(s.line, "highway="+kinds[i%4], "name="+s.name)
			x.way([]orb.Point{s.line[0], p.joint(i)}, "highway=residential")
		}
	}
	for _, code := range codes {
		x.boundary(areas[code], 0, "boundary=postal_code", "postal_code="+code)
	}
	t.writeHouses(x)
	t.writeLand(x)
	_, err := fmt.Fprint(w, osmHead, x.nodes.String(), x.ways.String(), x.relations.String(), "</osm>\n")
	if err != nil {
		return fmt.Errorf("demo: write extract: %w", err)
	}
	return nil
}

const osmHead = xml.Header + `<osm version="0.6" generator="gazehound demo (made up)" ` +
	`license="http://creativecommons.org/publicdomain/zero/1.0/">` + "\n"

// writeHouses adds the listed houses: a node with an organisation
// or a building. Every other organisation is on the map by name, fewer by their
// web site.
func (t *Town) writeHouses(x *extract) {
	tenants := t.tenants()
	for h := range t.houses {
		a, tenant := t.houseAddress(h, ""), tenants[h]
		s := &t.sites[tenant]
		var tags []string
		if a.Listed {
			tags = []string{"addr:street=" + a.Street, "addr:housenumber=" + a.HouseNumber,
				"addr:postcode=" + a.Postcode, "addr:city=" + a.City, "addr:country=DE"}
		}
		if t.isMapped(tenant) {
			tags = append(tags, words().Trades[s.trade].Tag, "name="+s.name)
			if s.listed {
				keys := [...]string{"website=", "contact:website=", "url="}
				tags = append(tags, keys[tenant%3]+t.url(ref{tenant, homePage}).String())
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

// tenants returns the first organisation of each house.
func (t *Town) tenants() map[int]int32 {
	tenants := map[int]int32{}
	for _, s := range t.orgs[0] {
		if h := int(t.sites[s].house); tenants[h] == 0 {
			tenants[h] = s
		}
	}
	return tenants
}

// isMapped reports whether the extract has an organisation by its name.
func (t *Town) isMapped(tenant int32) bool {
	s := &t.sites[tenant]
	return tenant != 0 && s.behaviour != optedOut && (tenant%2 == 0 || s.listed)
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
			line = append(line, offset(offset(c, metres, course+angle), radius*(0.75+0.5*d.share()),
				2*math.Pi*float64(i)/14))
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
