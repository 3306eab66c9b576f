package gazetteer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gazehound/internal/textutil"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
)

// Region returns the region for spec:
//
//	Oldenburg, "Irvine, CA"             a city, with state or country where the name is not enough
//	relation/62409                      an outline by its id
//	8.10,53.07,8.33,53.21               a box: minLon,minLat,maxLon,maxLat
//	postcodes:26121,26123-26135         the areas of postcodes; postcodes:US:… names the country
//	outline.geojson                     a file; see ReadRegion
//
// The area of a city is its outline if a source has one; otherwise the outlines of its postcodes;
// otherwise the hull of its addresses; otherwise the hull of its postcodes' coordinates and two
// kilometres around it.
//
// Errors are a *RegionError, or wrap fs.ErrNotExist for a missing file.
func (g *Gazetteer) Region(spec string) (*Region, error) {
	spec = strings.TrimSpace(spec)
	lower := strings.ToLower(spec)
	var r *Region
	var err error
	switch {
	case spec == "":
		return nil, badRegion(spec,
			`a region is missing: a place such as "Oldenburg" or "Irvine, CA", minLon,minLat,maxLon,maxLat, `+
				`postcodes:… or a GeoJSON file`)
	case strings.HasSuffix(lower, ".geojson"), strings.HasSuffix(lower, ".json"):
		r, err = ReadRegion(spec)
	case strings.HasPrefix(lower, "postcodes:"):
		return g.regionOfCodes(spec, strings.TrimSpace(spec[len("postcodes:"):]))
	case numbersOf(spec) != nil:
		r, err = g.regionOfBox(spec, numbersOf(spec))
	case outlineID.MatchString(lower):
		r, err = g.regionByID(spec, lower)
	default:
		return g.regionByName(spec)
	}
	if err != nil {
		return nil, err
	}
	return r, g.checkNotEmpty(spec, r)
}

var outlineID = regexp.MustCompile(`^(relation|way|r|w)/?[0-9]+$`)

func (g *Gazetteer) area(off uint64) (area orb.MultiPolygon) {
	record := g.at(off)
	record.area(&area)
	if record.Failed() {
		return nil
	}
	return area
}

func (g *Gazetteer) regionByID(spec, id string) (*Region, error) {
	id = map[byte]string{'r': "relation/", 'w': "way/"}[id[0]] + id[strings.IndexAny(id, "0123456789"):]
	i := slices.IndexFunc(g.meta.Outlines, func(o outline) bool { return o.Place.ID == id })
	if i < 0 {
		return nil, unknownRegion(spec,
			"no outline %s in the gazetteer; a place's name works, too, or minLon,minLat,maxLon,maxLat", id)
	}
	p, off := g.meta.Outlines[i].Place, g.meta.Outlines[i].Off
	r := &Region{Country: p.Country, State: p.State, Area: g.area(off)}
	if c := g.cityOfOutline(p, off); c != nil {
		r = g.regionOfCity(c, r.Area)
	} else if p.Kind == Postcode {
		r.Postcodes = []string{p.Country + " " + PostcodeKey(p.Postcode)}
		r.Name = p.Postcode
	}
	r.ID = id
	if len(p.Names) > 0 {
		r.Name = p.Names[0]
	}
	return r.prepare(), nil
}

// cityOfOutline returns the city that an outline belongs to, or nil.
func (g *Gazetteer) cityOfOutline(p Place, off uint64) *city {
	if p.Kind != City {
		return nil
	}
	for _, c := range g.citiesOf(Key(p.Names[0])).cities {
		if slices.Contains(c.outlines, off) {
			return c
		}
	}
	return nil
}

// numbersOf returns the numbers separated by commas, or nil if spec is something else.
func numbersOf(spec string) (numbers []float64) {
	parts := strings.Split(spec, ",")
	for _, p := range parts {
		f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || len(parts) == 1 {
			return nil
		}
		numbers = append(numbers, f)
	}
	return numbers
}

func (g *Gazetteer) regionOfBox(spec string, v []float64) (*Region, error) {
	if len(v) != 4 {
		return nil, badRegion(spec, "a box has four numbers minLon,minLat,maxLon,maxLat, got %d", len(v))
	}
	isBox := func(b orb.Bound) bool {
		return checkPoint(b.Min) == nil && checkPoint(b.Max) == nil && b.Min[0] < b.Max[0] && b.Min[1] < b.Max[1]
	}
	hasPlace := func(b orb.Bound) bool {
		for range g.cellsIn(b) {
			return true
		}
		return false
	}
	box := orb.Bound{Min: orb.Point{v[0], v[1]}, Max: orb.Point{v[2], v[3]}}
	swapped := orb.Bound{Min: orb.Point{v[1], v[0]}, Max: orb.Point{v[3], v[2]}}
	if isBox(swapped) && (!isBox(box) || !hasPlace(box)) && hasPlace(swapped) {
		parts := strings.Split(strings.ReplaceAll(spec, " ", ""), ",")
		hint := strings.Join([]string{parts[1], parts[0], parts[3], parts[2]}, ",")
		return nil, &RegionError{Kind: ErrBadRegion, Spec: spec, Candidates: []string{hint},
			text: fmt.Sprintf("the box looks like latitude first. Expected minLon,minLat,maxLon,maxLat. "+
				"Did you mean %s?", hint)}
	}
	if !isBox(box) {
		return nil, badRegion(spec,
			"the box %s is invalid: expected four numbers minLon,minLat,maxLon,maxLat with minLon < maxLon and "+
				"minLat < maxLat, in degrees", spec)
	}
	r := &Region{Name: spec, Area: orb.MultiPolygon{box.ToPolygon()}}
	if countries := g.Countries(); len(countries) == 1 {
		r.Country = countries[0]
	}
	return r.prepare(), nil
}

// cellsIn yields the cells with a place that b touches.
func (g *Gazetteer) cellsIn(b orb.Bound) iter.Seq[cell] {
	corner := func(p orb.Point) cell {
		return cellOf(orb.Point{min(max(p[0], -180), 180), min(max(p[1], -90), 90)})
	}
	from, to := corner(b.Min), corner(b.Max)
	return func(yield func(cell) bool) {
		i, _ := slices.BinarySearch(g.meta.Cells, from)
		for _, at := range g.meta.Cells[i:] {
			if at > to {
				return
			}
			if column := at & 0xffff; from&0xffff <= column && column <= to&0xffff && !yield(at) {
				return
			}
		}
	}
}

// CheckNotEmpty returns an ErrEmptyRegion if no place of g is in the area of r.
func (g *Gazetteer) CheckNotEmpty(r *Region) error { return g.checkNotEmpty(r.Name, r) }

func (g *Gazetteer) checkNotEmpty(spec string, r *Region) error {
	if len(r.Area) == 0 {
		return nil
	}
	for at := range g.cellsIn(r.Bound()) {
		if len(clip.MultiPolygon(at.bound(), r.Area.Clone())) > 0 {
			return nil
		}
	}
	nearest := math.Inf(1)
	center := r.Bound().Center()
	for _, at := range g.meta.Cells {
		nearest = min(nearest, geo.Distance(center, at.bound().Center()))
	}
	text := fmt.Sprintf("no address of the gazetteer lies in %s: it is empty. Import one first: "+
		"gazehound gazetteer import FILE", spec)
	if !math.IsInf(nearest, 1) {
		text = fmt.Sprintf("no address of the gazetteer lies in %s (%d addresses, %d postcodes, nearest "+
			"%.0f km away). Are longitude and latitude swapped?",
			spec, g.meta.Stats.Houses, g.meta.Stats.Postcodes, math.Ceil(nearest/1000))
	}
	return &RegionError{Kind: ErrEmptyRegion, Spec: spec, text: text}
}

// regionOfCodes returns the region of "26121,26123-26135" or "US:92602".
func (g *Gazetteer) regionOfCodes(spec, list string) (*Region, error) {
	country := ""
	if head, rest, ok := strings.Cut(list, ":"); ok {
		country, list = strings.ToUpper(strings.TrimSpace(head)), rest
		if !slices.Contains(g.Countries(), country) {
			return nil, badRegion(spec, "the gazetteer has no country %q; it has %s", country,
				strings.Join(g.Countries(), ", "))
		}
	}
	r := &Region{Name: spec, Country: country, Estimated: true}
	var missing []string
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		codes := g.codeRange(country, part)
		if len(codes) == 0 {
			missing = append(missing, part)
		}
		r.Postcodes = append(r.Postcodes, codes...)
	}
	switch {
	case len(missing) > 0:
		return nil, unknownRegion(spec, "the gazetteer does not know the postcode %s",
			strings.Join(missing[:min(len(missing), 10)], ", "))
	case len(r.Postcodes) == 0:
		return nil, badRegion(spec, "%q holds no postcode; write postcodes:26121,26123-26135", spec)
	}
	countries := r.countriesOf("")
	if len(countries) > 1 {
		var hints []string
		for _, c := range countries {
			hints = append(hints, "postcodes:"+c+":"+list)
		}
		return nil, &RegionError{Kind: ErrAmbiguousRegion, Spec: spec, Candidates: hints,
			text: fmt.Sprintf("%s exists in %s. Give one: %s", spec, strings.Join(countries, ", "),
				strings.Join(hints, " · "))}
	}
	r.Country = countries[0]
	r.prepare()
	var points []orb.Point
	area, pairs := g.areaOfCodes(r)
	for _, p := range pairs {
		if p.place.HasPoint {
			points = append(points, p.place.Point)
		}
		for _, name := range p.place.Names {
			r.Cities = append(r.Cities, Key(name))
		}
		r.State = cmp.Or(r.State, p.place.State)
	}
	r.Area = area
	if len(area) == 0 {
		r.Area = hull(points, pointBuffer)
	}
	return r.prepare(), nil
}

// areaOfCodes returns the outlines of the postcodes of r, nothing where one of them has
// none, and the cities of the postcodes.
func (g *Gazetteer) areaOfCodes(r *Region) (area orb.MultiPolygon, cities []pair) {
	outlines := map[uint64]bool{}
	whole := true
	for _, full := range r.Postcodes {
		country, code, _ := strings.Cut(full, " ")
		has := false
		for _, p := range g.pairs(country, code) {
			cities = append(cities, p)
			if p.outline != 0 {
				has, outlines[p.outline] = true, true
			}
		}
		whole = whole && has
	}
	if whole {
		for _, off := range slices.Sorted(maps.Keys(outlines)) {
			area = append(area, g.area(off)...)
		}
	}
	return area, cities
}

// codeRange returns the known codes, with their countries, of "26121" or
// "26121-26135".
func (g *Gazetteer) codeRange(country, part string) []string {
	from, to, _ := strings.Cut(part, "-")
	from, to = PostcodeKey(from), PostcodeKey(to)
	if to == "" || len(from) != len(to) {
		from, to = PostcodeKey(part), PostcodeKey(part)
	}
	if from == "" {
		return nil
	}
	var codes []string
	for key := range g.between(postcodeKey+from, postcodeKey+to+"\x01") {
		parts := strings.Split(key[len(postcodeKey):], "\x00")
		if code, c := parts[0], parts[1]; len(code) == len(from) && (country == "" || c == country) {
			codes = append(codes, c+" "+code)
		}
	}
	return codes
}

// A candidate is one area that a name may mean.
type candidate struct {
	city    *city // nil: only an outline
	outline outline
}

func (g *Gazetteer) regionByName(spec string) (*Region, error) {
	parts := strings.Split(spec, ",") // the name and where it lies
	key, where := Key(parts[0]), parts[1:]
	found := g.candidates(key, where)
	if len(found) == 0 {
		if info, err := os.Stat(spec); err == nil && !info.IsDir() {
			return ReadRegion(spec)
		} else if strings.ContainsRune(spec, os.PathSeparator) && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("region: %w", err)
		}
		return nil, g.unknownName(spec, key, where)
	}
	if len(found) > 1 {
		var hints []string // greatest first
		for _, c := range found {
			if h := g.hint(c); !slices.Contains(hints, h) {
				hints = append(hints, h)
			}
		}
		shown := hints[:min(len(hints), 10)]
		more := ""
		if len(hints) > len(shown) {
			more = fmt.Sprintf(" · … %d more", len(hints)-len(shown))
		}
		return nil, &RegionError{Kind: ErrAmbiguousRegion, Spec: spec, Candidates: hints,
			text: fmt.Sprintf("%q matches %d areas of the gazetteer. Give one: %s%s; --region list shows all",
				spec, len(found), strings.Join(shown, " · "), more)}
	}
	c := found[0]
	if c.city == nil {
		p := c.outline.Place
		r := &Region{ID: p.ID, Name: p.Names[0], Country: p.Country, State: p.State, Area: g.area(c.outline.Off)}
		return r.prepare(), nil
	}
	r := g.regionOfCity(c.city, nil)
	if len(r.Area) == 0 && len(r.Postcodes) == 0 {
		return nil, &RegionError{Kind: ErrEmptyRegion, Spec: spec,
			text: fmt.Sprintf("the gazetteer knows %q by name only: no outline, no postcode and no "+
				"address. Give minLon,minLat,maxLon,maxLat", spec)}
	}
	return r, nil
}

// candidates returns what name, narrowed by states or countries, may mean.
// Cities that have it as their usual name come before those with an alias, and
// cities before other areas. One city of that name hides the aliases; among
// several none is meant more than a "Neustadt an der Weinstraße".
func (g *Gazetteer) candidates(key string, where []string) []candidate {
	if key == "" {
		return nil
	}
	fits := func(p Place) bool {
		for _, w := range where {
			if g.country(strings.TrimSpace(w)) != p.Country && (p.State == "" ||
				Key(g.State(p.Country, w)) != Key(g.State(p.Country, p.State))) {
				return false
			}
		}
		return true
	}
	var usual, others []candidate
	for _, c := range g.findCities("", key) {
		if !fits(c.place) {
			continue
		}
		if Key(c.place.Names[0]) == key {
			usual = append(usual, candidate{city: c})
		} else {
			others = append(others, candidate{city: c})
		}
	}
	found := usual
	if len(found) == 0 {
		found = others
	}
	// In a gazetteer made of one extract and a country's postcodes, the city
	// that has addresses is meant.
	if len(found) > 1 {
		var inhabited []candidate
		for _, c := range found {
			if c.city.houses >= 100 {
				inhabited = append(inhabited, c)
			}
		}
		if len(inhabited) == 1 {
			found = inhabited
		}
	}
	if len(usual) > 1 && len(found) > 1 {
		found = append(found, others...)
	}
	if len(found) > 0 {
		return found
	}
	for _, o := range g.meta.Outlines {
		p := o.Place
		if p.Kind == Outline && fits(p) && slices.ContainsFunc(p.Names, func(n string) bool { return Key(n) == key }) {
			found = append(found, candidate{outline: o})
		}
	}
	return found
}

// hint returns what to type for a candidate.
func (g *Gazetteer) hint(c candidate) string {
	if c.city == nil {
		return c.outline.Place.ID + " " + c.outline.Place.Names[0]
	}
	p := c.city.place
	where := ""
	for _, s := range []string{p.State, p.Country} {
		if s != "" {
			where += ", " + s
		}
	}
	same := 0
	for _, o := range g.findCities(p.Country, Key(p.Names[0])) {
		if Key(o.place.State) == Key(p.State) {
			same++
		}
	}
	switch codes := c.city.usualCodes(); {
	case same <= 1 && where != "":
		return p.Names[0] + where
	case len(c.city.outlines) > 0 && outlineID.MatchString(p.ID):
		return p.ID + " " + p.Names[0] + where
	case len(codes) > 0:
		return fmt.Sprintf("postcodes:%s:%s (%s%s)", p.Country, strings.Join(codes[:min(len(codes), 4)], ","),
			p.Names[0], where)
	case p.HasPoint:
		return fmt.Sprintf("%.2f,%.2f,%.2f,%.2f (%s%s)", p.Point[0]-0.03, p.Point[1]-0.02, p.Point[0]+0.03,
			p.Point[1]+0.02, p.Names[0], where)
	}
	return p.Names[0] + where
}

func (g *Gazetteer) unknownName(spec, key string, where []string) error {
	e := &RegionError{Kind: ErrUnknownRegion, Spec: spec}
	if len(where) > 0 { // the same name elsewhere, or a similar one there
		for _, c := range g.candidates(key, nil) {
			e.Candidates = append(e.Candidates, g.hint(c))
		}
		for _, similar := range g.similarCities(key) {
			for _, c := range g.candidates(Key(similar), where) {
				e.Candidates = append(e.Candidates, g.hint(c))
			}
		}
	}
	if len(e.Candidates) == 0 {
		e.Candidates = g.similarCities(key)
	}
	switch {
	case g.meta.Stats.Cities == 0 && g.meta.Stats.Postcodes == 0:
		e.text = fmt.Sprintf("no place called %q: the gazetteer knows no city and no postcode. Give "+
			"minLon,minLat,maxLon,maxLat", spec)
	case len(e.Candidates) == 0:
		e.text = fmt.Sprintf("no place called %q in the gazetteer. minLon,minLat,maxLon,maxLat or "+
			"postcodes:… work, too", spec)
	default:
		e.text = fmt.Sprintf("no place called %q in the gazetteer. Did you mean %s?", spec,
			strings.Join(e.Candidates[:min(len(e.Candidates), 5)], " · "))
	}
	return e
}

// similarCities returns the names of cities whose keys are within two edits of
// key (one for short ones), nearest first and of those the greatest.
func (g *Gazetteer) similarCities(key string) []string {
	allowed := 1
	if len(key) > 6 {
		allowed = 2
	}
	type near struct {
		name           string
		distance, size int
	}
	var list []near
	for k, off := range g.each(cityKey) {
		distance := textutil.Distance(key, strings.TrimSuffix(k[len(cityKey):], "\x00"), allowed)
		if distance > allowed {
			continue
		}
		if cities := g.cityRecord(g.at(off)).cities; len(cities) > 0 {
			c := cities[0] // the greatest
			list = append(list, near{c.place.Names[0], distance, c.place.Population + c.houses + len(c.codes)})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.size, a.size))
	})
	var names []string
	for _, n := range list[:min(len(list), 50)] {
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	return names
}

// regionOfCity returns the region of c; area is its outline if it is known.
func (g *Gazetteer) regionOfCity(c *city, area orb.MultiPolygon) *Region {
	p := c.place
	r := &Region{ID: p.ID, Name: p.Names[0], Country: p.Country, State: p.State, Area: area}
	for _, name := range p.Names {
		r.Cities = append(r.Cities, Key(name))
	}
	for _, code := range c.usualCodes() {
		r.Postcodes = append(r.Postcodes, p.Country+" "+PostcodeKey(code))
	}
	postal, pairs := g.areaOfCodes(r)
	for _, q := range pairs {
		if !slices.ContainsFunc(q.place.Names, func(n string) bool { return slices.Contains(r.Cities, Key(n)) }) {
			r.Shared = append(r.Shared, p.Country+" "+PostcodeKey(q.place.Postcode))
		}
	}
	if len(r.Area) == 0 {
		r.Area = g.largestOutline(c)
	}
	if len(r.Area) == 0 {
		r.Estimated = true
		r.Area = postal
		if len(postal) == 0 {
			r.Area = c.hull()
		}
	}
	return r.prepare()
}

// largestOutline returns the largest outline of c that holds its coordinate.
func (g *Gazetteer) largestOutline(c *city) orb.MultiPolygon {
	var best orb.MultiPolygon
	bestSize := 0.0
	for _, off := range c.outlines {
		area := g.area(off)
		size := math.Abs(planar.Area(area))
		if c.place.HasPoint && planar.MultiPolygonContains(area, c.place.Point) {
			size += 1e6 // before any that does not hold it
		}
		if size > bestSize {
			best, bestSize = area, size
		}
	}
	return best
}

// Buffers around estimated areas, in metres.
const (
	pointBuffer = 2000 // a postcode's coordinate stands for an area
	houseBuffer = 300  // beyond the outermost address
)

// hull returns the area that the addresses of c span, or its postcodes where
// it has no addresses. Addresses far from all others do not count: a slip in
// one address must not stretch a city over a county.
func (c *city) hull() orb.MultiPolygon {
	var points []orb.Point
	if c.houses == 0 {
		for at := range c.cells {
			points = append(points, at.bound().Center())
		}
		if len(points) == 0 && c.place.HasPoint {
			points = append(points, c.place.Point)
		}
		slices.SortFunc(points, comparePoints)
		return hull(points, pointBuffer)
	}
	for _, cluster := range clusters(c.cells) {
		weight := 0
		for _, at := range cluster {
			weight += c.cells[at]
		}
		if weight*20 < c.houses {
			continue
		}
		for _, at := range cluster {
			b := at.bound()
			points = append(points, b.Min, b.Max, b.LeftTop(), b.RightBottom())
		}
	}
	return hull(points, houseBuffer)
}

// clusters groups cells that are at most three cells apart, in a stable order.
func clusters(cells map[cell]int) [][]cell {
	var sorted []cell
	for at, n := range cells {
		if n > 0 {
			sorted = append(sorted, at)
		}
	}
	slices.Sort(sorted)
	seen := map[cell]bool{}
	var all [][]cell
	for _, start := range sorted {
		if seen[start] {
			continue
		}
		seen[start] = true
		group := []cell{start}
		for i := 0; i < len(group); i++ {
			row, col := int(group[i]>>16), int(group[i]&0xffff)
			for r := max(row-3, 0); r <= row+3; r++ {
				for k := max(col-3, 0); k <= col+3; k++ {
					if at := cell(r<<16 | k); !seen[at] && cells[at] > 0 {
						seen[at] = true
						group = append(group, at)
					}
				}
			}
		}
		all = append(all, group)
	}
	return all
}

// hull returns the convex hull of circles of the given radius, in metres,
// around points.
func hull(points []orb.Point, radius float64) orb.MultiPolygon {
	if len(points) == 0 {
		return nil
	}
	var around []orb.Point
	for _, p := range points {
		for i := range 16 {
			q := geo.PointAtBearingAndDistance(p, float64(i)*22.5, radius)
			around = append(around, orb.Point{round7(q[0]), round7(q[1])})
		}
	}
	slices.SortFunc(around, comparePoints)
	around = slices.Compact(around)
	// Andrew's monotone chain: the lower, then the upper half.
	turn := func(a, b, c orb.Point) float64 {
		return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
	}
	var ring orb.Ring
	for half := range 2 {
		start := len(ring)
		for _, p := range around {
			for len(ring) >= start+2 && turn(ring[len(ring)-2], ring[len(ring)-1], p) <= 0 {
				ring = ring[:len(ring)-1]
			}
			ring = append(ring, p)
		}
		ring = ring[:len(ring)-1]
		if half == 0 {
			slices.Reverse(around)
		}
	}
	return orb.MultiPolygon{{append(ring, ring[0])}}
}

func comparePoints(a, b orb.Point) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}

func round7(x float64) float64 { return math.Round(x*unitsPerDegree) / unitsPerDegree }
