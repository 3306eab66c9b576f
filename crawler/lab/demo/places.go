package demo

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// A place is the town, a village or a far town.
type place struct {
	name      string
	postcodes []string
	centre    orb.Point
	border    orb.Ring // of the town and the villages
	streets   []street
	first     int // its houses are houses[first:last]; far towns have none
	last      int
}

// A street of the town or a village is a line of three points.
type street struct {
	name string
	line orb.LineString
}

type house struct {
	place, street uint16
	postcode      uint8 // index into place.postcodes
	listed        bool  // in the OpenStreetMap extract
	number        uint16
	letter        byte   // 'a' … or 0
	to            uint16 // end of a range, or 0
	at            orb.Point
	along         float64 // direction of its street
}

// An Address is a postal address as the gazetteer would write it.
type Address struct {
	Name                                string // of the firm, club or person; may be ""
	Street, HouseNumber, Postcode, City string
	Lon, Lat                            float64 // degrees, WGS 84; 0, 0 outside of the town and its villages
	Person                              bool    // of a private person
	Listed                              bool    // the OpenStreetMap extract has the house number
	InTown                              bool
}

func (t *Town) houseAddress(h int, name string) Address {
	b := &t.houses[h]
	p := &t.places[b.place]
	return Address{
		Name: name, Street: p.streets[b.street].name, HouseNumber: b.text(),
		Postcode: p.postcodes[b.postcode], City: p.name,
		Lon: b.at[0], Lat: b.at[1], Listed: b.listed, InTown: b.place == 0,
	}
}

func (h *house) text() string {
	s := strconv.Itoa(int(h.number))
	if h.letter != 0 {
		s += string(h.letter)
	}
	if h.to != 0 {
		s += "-" + strconv.Itoa(int(h.to))
	}
	return s
}

// addressIn makes up an address in a place.
func (t *Town) addressIn(d *dice, p int, name string) Address {
	to := &t.places[p]
	if to.last > to.first {
		return t.houseAddress(to.first+d.n(to.last-to.first), name)
	}
	return Address{Name: name, Street: pick(d, to.streets).name, HouseNumber: strconv.Itoa(1 + d.n(90)),
		Postcode: pick(d, to.postcodes), City: to.name}
}

const (
	villages = 6
	farTowns = 38
	// metres per degree at the town's latitude
	metresLat = 111_200.0
	metresLon = 64_900.0
)

var townCentre = orb.Point{6.90, 54.30}

// offset returns the point that lies metres away in the direction angle.
func offset(p orb.Point, metres, angle float64) orb.Point {
	return orb.Point{
		round(p[0] + metres*math.Cos(angle)/metresLon),
		round(p[1] + metres*math.Sin(angle)/metresLat),
	}
}

// metres returns how far two points are from each other.
func metres(a, b orb.Point) float64 {
	return math.Hypot((a[0]-b[0])*metresLon, (a[1]-b[1])*metresLat)
}

// round keeps the seven decimals that OpenStreetMap has.
func round(x float64) float64 { return math.Round(x*1e7) / 1e7 }

// makePlaces makes the town, its villages and the far towns.
func (t *Town) makePlaces() {
	d := t.dice(topicPlaces)
	names := streetNames(&d)
	t.places = make([]place, 1, 1+villages+farTowns)
	town := &t.places[0]
	town.name, town.centre = t.o.Name, townCentre
	town.postcodes = []string{"43101", "43102", "43103", "43104", "43105"}
	t.drawBorder(town, 30, 3000, 3600, &d)
	t.layStreets(0, names[:t.o.Streets], 2050, &d)

	angle := d.share() * 2 * math.Pi
	for i, name := range shuffled(&d, words().Villages)[:villages] {
		v := place{name: name, postcodes: []string{strconv.Itoa(43121 + i)}}
		if i == 0 {
			v.postcodes[0] = town.postcodes[4] // one code for two places is common
		}
		v.centre = offset(townCentre, 5200+d.share()*2500, angle+float64(i)*2*math.Pi/villages)
		t.drawBorder(&v, 12, 900, 1100, &d)
		t.places = append(t.places, v)
		// Villages have the town's street names and some of their own.
		own := append(shuffled(&d, names[:t.o.Streets])[:8], shuffled(&d, words().VillageStreets)[:6]...)
		t.layStreets(len(t.places)-1, own, 500, &d)
	}
	for i, name := range shuffled(&d, words().FarTowns)[:farTowns] {
		code := 62000 + 23*i + d.n(20)
		if i%3 == 0 {
			code = 5000 + 31*i + d.n(30)
		}
		p := place{name: name}
		for k := range d.between(1, 4) {
			p.postcodes = append(p.postcodes, fmt.Sprintf("%05d", code+2*k))
		}
		for _, s := range shuffled(&d, names)[:40] {
			p.streets = append(p.streets, street{name: s})
		}
		t.places = append(t.places, p)
	}
}

// drawBorder draws the border of p, corners at equal angles.
func (t *Town) drawBorder(p *place, corners int, near, far float64, d *dice) {
	for i := range corners {
		p.border = append(p.border, offset(p.centre, near+d.share()*(far-near), 2*math.Pi*float64(i)/float64(corners)))
	}
	p.border = append(p.border, p.border[0])
}

// postcodeAt returns the index of the postcode at a point: each has a sector of p of the same angle.
func (p *place) postcodeAt(at orb.Point) uint8 {
	angle := math.Atan2((at[1]-p.centre[1])*metresLat, (at[0]-p.centre[0])*metresLon)
	if angle < 0 {
		angle += 2 * math.Pi
	}
	return uint8(min(int(angle/(2*math.Pi)*float64(len(p.postcodes))), len(p.postcodes)-1))
}

// sector returns the area of one postcode of p.
func (p *place) sector(i int) orb.Ring {
	n, corners := len(p.postcodes), len(p.border)-1
	if n == 1 {
		return p.border
	}
	ring := append(orb.Ring{p.centre}, p.border[i*corners/n:(i+1)*corners/n+1]...)
	return append(ring, p.centre)
}

// layStreets lays out streets within radius metres of the centre of a place and
// puts houses on both sides of them.
func (t *Town) layStreets(n int, names []string, radius float64, d *dice) {
	p := &t.places[n]
	p.first = len(t.houses)
	for _, name := range names {
		middle := offset(p.centre, radius*math.Pow(d.share(), 0.6), d.share()*2*math.Pi)
		direction, bend := d.share()*2*math.Pi, (d.share()-0.5)*0.6
		half := radius * (0.04 + 0.16*d.share()*d.share())
		line := orb.LineString{offset(middle, half, direction+math.Pi), middle, offset(middle, half, direction+bend)}
		s := uint16(len(p.streets))
		p.streets = append(p.streets, street{name: name, line: line})

		count := max(4, int(4*half/23))
		for number := 1; number <= count; number++ {
			if d.chance(0.06) { // a gap
				continue
			}
			along := 2*half*(float64(number)-0.5)/float64(count) - half
			from := direction
			if along > 0 {
				from += bend
			}
			at := offset(middle, along, from)
			side := from + math.Pi/2
			if number%2 == 0 {
				side = from - math.Pi/2
			}
			h := house{place: uint16(n), street: s, number: uint16(number), at: offset(at, 14, side), along: from}
			switch r := d.share(); {
			case r < 0.05:
				h.letter = byte('a' + d.n(4))
			case r < 0.06:
				h.to = h.number + 2
			}
			h.postcode = p.postcodeAt(h.at)
			listed := t.dice(topicListed, uint64(len(t.houses)))
			h.listed = listed.chance(t.o.ListedHouses)
			t.houses = append(t.houses, h)
		}
	}
	p.last = len(t.houses)
}

// streetNames returns more than 300 names in the shapes that German streets
// have, in a random order but with the commonest first.
func streetNames(d *dice) []string {
	w := words()
	seen := map[string]bool{}
	for _, name := range w.CommonStreets {
		seen[name] = true
	}
	var rest []string
	add := func(names ...string) {
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				rest = append(rest, name)
			}
		}
	}
	for _, stem := range w.Stems { // compound
		for range 2 {
			add(stem + pick(d, w.Endings))
		}
	}
	for _, person := range w.Persons { // hyphenated
		add(strings.ReplaceAll(person, " ", "-") + "-" +
			pick(d, []string{"Straße", "Straße", "Straße", "Weg", "Platz", "Ring", "Allee"}))
	}
	for _, word := range w.Adjectives { // separate
		add(word + " " + pick(d, []string{"Straße", "Straße", "Heerstraße", "Landstraße", "Chaussee"}))
	}
	add(w.Prepositions...)
	add(w.Plain...) // no type word
	rest = shuffled(d, rest)
	for _, stem := range w.Stems { // for big towns
		add(stem + pick(d, w.Endings))
	}
	return append(shuffled(d, w.CommonStreets), rest...)
}
