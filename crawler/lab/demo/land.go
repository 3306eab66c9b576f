package demo

import (
	"math"

	"github.com/paulmach/orb"
)

// A mapped is a line or a ring of the extract that no address depends on: it
// makes a map of it look like one.
type mapped struct {
	line orb.LineString
	tags []osmTag
}

// land returns the town's river, lake, park and wood, and the roads without a
// name that join its streets and lead to the villages.
func (t *Town) land() []mapped {
	d := t.dice(topicLand)
	town := &t.places[0]
	c := town.centre
	var all []mapped
	add := func(line orb.LineString, tags ...osmTag) { all = append(all, mapped{line, tags}) }
	ring := func(centre orb.Point, radius float64, corners int) orb.LineString {
		var line orb.LineString
		for i := range corners {
			line = append(line, offset(centre, radius*(0.75+0.5*d.share()), 2*math.Pi*float64(i)/float64(corners)))
		}
		return append(line, line[0])
	}

	// A river from edge to edge, past the centre.
	course := d.share() * math.Pi
	var river, left, right orb.LineString
	for i := -24; i <= 24; i++ {
		along := float64(i) * 300
		aside := 500*math.Sin(along/1500+course) + 260
		p := offset(offset(c, along, course), aside, course+math.Pi/2)
		river = append(river, p)
		left, right = append(left, offset(p, 22, course+math.Pi/2)), append(right, offset(p, 22, course-math.Pi/2))
	}
	bank := append(orb.LineString{}, left...)
	for i := len(right) - 1; i >= 0; i-- {
		bank = append(bank, right[i])
	}
	add(append(bank, bank[0]), osmTag{"natural", "water"}, osmTag{"water", "river"})
	add(river, osmTag{"waterway", "river"}, osmTag{"name", "Demme"})

	add(ring(offset(c, 1500, course+math.Pi*0.75), 210, 14), osmTag{"natural", "water"}, osmTag{"name", "Stadtsee"})
	add(ring(offset(c, 620, course-math.Pi*0.6), 200, 12), osmTag{"leisure", "park"}, osmTag{"name", "Stadtpark"})
	add(ring(offset(c, 2500, course-math.Pi*0.3), 520, 18), osmTag{"landuse", "forest"}, osmTag{"name", "Stadtforst"})
	add(ring(offset(c, 2700, course+math.Pi*1.2), 430, 16), osmTag{"landuse", "forest"}, osmTag{"name", "Krähenholz"})

	// A ring road and a road to each village.
	var round orb.LineString
	for i := range 28 {
		round = append(round, offset(c, 1150+90*d.share(), 2*math.Pi*float64(i)/28))
	}
	add(append(round, round[0]), osmTag{"highway", "secondary"})
	network := []orb.LineString{append(round, round[0])}
	for n := range t.places[1 : 1+villages] {
		to := t.places[1+n].centre
		road := orb.LineString{c}
		for i := 1; i < 12; i++ {
			share := float64(i) / 12
			p := orb.Point{c[0] + share*(to[0]-c[0]), c[1] + share*(to[1]-c[1])}
			road = append(road, offset(p, 110*d.share()*math.Sin(math.Pi*share), d.share()*2*math.Pi))
		}
		road = append(road, to)
		add(road, osmTag{"highway", "primary"})
		network = append(network, road)
	}

	// Each street is joined to what lies nearest to one of its ends.
	for n := range t.places[:1+villages] {
		p := &t.places[n]
		for s := range p.streets {
			line := p.streets[s].line
			best, from, to := math.Inf(1), orb.Point{}, orb.Point{}
			for _, end := range []orb.Point{line[0], line[len(line)-1]} {
				near := func(other orb.LineString) {
					if at, metres := nearest(end, other); metres < best {
						best, from, to = metres, end, at
					}
				}
				for o := range s { // streets before it, so that all hang together
					near(p.streets[o].line)
				}
				for _, road := range network {
					near(road)
				}
			}
			if best > 1 {
				add(orb.LineString{from, to}, osmTag{"highway", "residential"})
			}
			add(orb.LineString{line[0], p.nearestStreet(s)}, osmTag{"highway", "residential"})
		}
	}
	return all
}

// nearestStreet returns the point of another street that is nearest to the
// beginning of street s.
func (p *place) nearestStreet(s int) orb.Point {
	from := p.streets[s].line[0]
	best, to := math.Inf(1), from
	for o := range p.streets {
		if o == s {
			continue
		}
		if at, metres := nearest(from, p.streets[o].line); metres < best {
			best, to = metres, at
		}
	}
	return to
}

// nearest returns the point of a line that is nearest to p, and how far it is.
func nearest(p orb.Point, line orb.LineString) (at orb.Point, metres float64) {
	metres = math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		dx, dy := (b[0]-a[0])*metresLon, (b[1]-a[1])*metresLat
		u := 0.0
		if l := dx*dx + dy*dy; l > 0 {
			u = max(0, min(1, ((p[0]-a[0])*metresLon*dx+(p[1]-a[1])*metresLat*dy)/l))
		}
		q := orb.Point{round(a[0] + u*(b[0]-a[0])), round(a[1] + u*(b[1]-a[1]))}
		if d := math.Hypot((p[0]-q[0])*metresLon, (p[1]-q[1])*metresLat); d < metres {
			at, metres = q, d
		}
	}
	return at, metres
}

// walls returns the outline of a house: its long side along the street.
func (t *Town) walls(h int) orb.Ring {
	b := &t.houses[h]
	line := t.places[b.place].streets[b.street].line
	at, _ := nearest(b.at, line)
	along := math.Atan2((b.at[1]-at[1])*metresLat, (b.at[0]-at[0])*metresLon) + math.Pi/2
	d := t.dice(topicLand, uint64(h))
	wide, deep := 5+3.5*d.share(), 4+2.5*d.share()
	var ring orb.Ring
	for _, corner := range [][2]float64{{-wide, -deep}, {wide, -deep}, {wide, deep}, {-wide, deep}} {
		ring = append(ring, offset(offset(b.at, corner[0], along), corner[1], along+math.Pi/2))
	}
	return append(ring, ring[0])
}
