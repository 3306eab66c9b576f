package demo

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// An extract writes OpenStreetMap XML: all nodes first, then the ways, then
// the relations.
type extract struct {
	w    *bufio.Writer
	next int64 // node
	err  error
}

type osmTag struct{ key, value string }

func (x *extract) printf(format string, args ...any) {
	if x.err == nil {
		_, x.err = fmt.Fprintf(x.w, format, args...)
	}
}

func (x *extract) tags(tags []osmTag) {
	for _, t := range tags {
		var value strings.Builder
		if err := xml.EscapeText(&value, []byte(t.value)); err != nil && x.err == nil {
			x.err = err
		}
		x.printf("  <tag k=%q v=\"%s\"/>\n", t.key, value.String())
	}
}

// node writes a node and returns its id.
func (x *extract) node(p orb.Point, tags ...osmTag) int64 {
	x.next++
	x.printf(" <node id=\"%d\" version=\"1\" lat=\"%.7f\" lon=\"%.7f\"", x.next, p[1], p[0])
	if len(tags) == 0 {
		x.printf("/>\n")
		return x.next
	}
	x.printf(">\n")
	x.tags(tags)
	x.printf(" </node>\n")
	return x.next
}

type osmWay struct {
	nodes []int64
	tags  []osmTag
}

type osmRelation struct {
	outer []int // ways
	label int64 // node
	tags  []osmTag
}

// WriteOSM writes an OpenStreetMap extract (XML) of the town and its villages:
// their borders as relations, postcode areas, streets, waters and woods, and
// houses with addresses as far as Options.ListedHouses goes, some of them with
// the name and the web site of an organisation.
func (t *Town) WriteOSM(w io.Writer) error {
	x := &extract{w: bufio.NewWriterSize(w, 64<<10)}
	x.printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<osm version=\"0.6\" generator=\"gazehound demo (made up)\" license=\"http://creativecommons.org/publicdomain/zero/1.0/\">\n")
	var ways []osmWay
	var relations []osmRelation
	closed := func(ring orb.Ring, tags ...osmTag) int {
		way := osmWay{tags: tags}
		for _, p := range ring[:len(ring)-1] {
			way.nodes = append(way.nodes, x.node(p))
		}
		way.nodes = append(way.nodes, way.nodes[0])
		ways = append(ways, way)
		return len(ways) - 1
	}

	tenants := t.tenants()
	codes := map[string][]int{} // postcode → outer ways
	var codeOrder []string
	for n := range t.places[:1+villages] {
		p := &t.places[n]
		place, population := "village", 300+p.last-p.first
		if n == 0 {
			place, population = "town", 4*(p.last-p.first)
		}
		label := x.node(p.centre, osmTag{"name", p.name}, osmTag{"place", place}, osmTag{"population", strconv.Itoa(population)})
		// The border is three ways that share their ends.
		var border []int64
		for _, at := range p.border[:len(p.border)-1] {
			border = append(border, x.node(at))
		}
		border = append(border, border[0])
		r := osmRelation{label: label, tags: []osmTag{{"type", "boundary"}, {"boundary", "administrative"}, {"admin_level", "8"}, {"name", p.name}}}
		third := len(border) / 3
		for _, part := range [][]int64{border[:third+1], border[third : 2*third+1], border[2*third:]} {
			ways = append(ways, osmWay{nodes: part, tags: []osmTag{{"boundary", "administrative"}, {"admin_level", "8"}}})
			r.outer = append(r.outer, len(ways)-1)
		}
		relations = append(relations, r)
		for i, code := range p.postcodes {
			if codes[code] == nil {
				codeOrder = append(codeOrder, code)
			}
			codes[code] = append(codes[code], closed(p.sector(i)))
		}
		for s := range p.streets {
			way := osmWay{tags: []osmTag{{"highway", []string{"residential", "residential", "living_street", "tertiary"}[s%4]}, {"name", p.streets[s].name}}}
			for _, at := range p.streets[s].line {
				way.nodes = append(way.nodes, x.node(at))
			}
			ways = append(ways, way)
		}
		for h := p.first; h < p.last; h++ {
			if tags := t.houseTags(h, tenants[h]); tenants[h] != 0 && len(tags) > 0 {
				x.node(t.houses[h].at, tags...)
			} else if len(tags) > 0 {
				closed(t.walls(h), append(tags, osmTag{"building", "yes"})...)
			}
		}
	}
	for _, m := range t.land() {
		way := osmWay{tags: m.tags}
		ring := len(m.line) > 2 && m.line[0] == m.line[len(m.line)-1]
		for i, at := range m.line {
			if ring && i == len(m.line)-1 {
				way.nodes = append(way.nodes, way.nodes[0])
				continue
			}
			way.nodes = append(way.nodes, x.node(at))
		}
		ways = append(ways, way)
	}
	for i, way := range ways {
		x.printf(" <way id=\"%d\" version=\"1\">\n", i+1)
		for _, id := range way.nodes {
			x.printf("  <nd ref=\"%d\"/>\n", id)
		}
		x.tags(way.tags)
		x.printf(" </way>\n")
	}
	for _, code := range codeOrder {
		relations = append(relations, osmRelation{outer: codes[code], tags: []osmTag{{"type", "boundary"}, {"boundary", "postal_code"}, {"postal_code", code}}})
	}
	for i, r := range relations {
		x.printf(" <relation id=\"%d\" version=\"1\">\n", i+1)
		for _, way := range r.outer {
			x.printf("  <member type=\"way\" ref=\"%d\" role=\"outer\"/>\n", way+1)
		}
		if r.label != 0 {
			x.printf("  <member type=\"node\" ref=\"%d\" role=\"admin_centre\"/>\n", r.label)
		}
		x.tags(r.tags)
		x.printf(" </relation>\n")
	}
	x.printf("</osm>\n")
	if x.err == nil {
		x.err = x.w.Flush()
	}
	if x.err != nil {
		return fmt.Errorf("demo: write extract: %w", x.err)
	}
	return nil
}

// tenants returns the organisation in each house that has one.
func (t *Town) tenants() map[int]int32 {
	tenants := map[int]int32{}
	for _, s := range t.orgs[0] {
		if h := int(t.sites[s].house); tenants[h] == 0 {
			tenants[h] = s
		}
	}
	return tenants
}

// houseTags returns what the extract says of a house; nothing where it does not
// know it. Every other organisation is on the map by name, fewer by their web
// site.
func (t *Town) houseTags(h int, tenant int32) (tags []osmTag) {
	a := t.houseAddress(h, "")
	if tenant != 0 && (tenant%2 == 0 || t.sites[tenant].listed) && t.sites[tenant].fate != optedOut {
		s := &t.sites[tenant]
		key, value, _ := strings.Cut(trades[s.trade].tag, "=")
		tags = append(tags, osmTag{key, value}, osmTag{"name", s.name})
		if s.listed {
			tags = append(tags, osmTag{[]string{"website", "contact:website", "url"}[tenant%3], t.url(ref{tenant, homePage}).String()})
		}
	}
	if a.Listed {
		tags = append(tags, osmTag{"addr:street", a.Street}, osmTag{"addr:housenumber", a.HouseNumber},
			osmTag{"addr:postcode", a.Postcode}, osmTag{"addr:city", a.City}, osmTag{"addr:country", "DE"})
	}
	return tags
}
