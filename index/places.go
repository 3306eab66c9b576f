package index

import (
	"cmp"
	"math"
	"slices"
)

// Rows with a coordinate are also kept in the order of their places: in bands
// of latitude from south to north, and from west to east in each. An area is a
// few stretches of that order.

// band returns the band of a latitude in 1e-7 degrees: 0.0065536 degrees each,
// some 730 m.
func band(lat int32) uint32 { return uint32(int64(lat)+90e7) >> 16 }

// placeKey orders coordinates.
func placeKey(band uint32, lon int32) uint64 {
	return uint64(band)<<32 | uint64(int64(lon)+180e7)
}

// place fills byPlace.
func (r *rows) place() {
	type keyed struct {
		key uint64
		n   uint32
	}
	all := make([]keyed, 0, len(r.all))
	for i := range r.all {
		if at := &r.all[i]; at.located() {
			all = append(all, keyed{placeKey(band(at.lat), at.lon), uint32(i)})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.n, b.n)) })
	r.placeKeys, r.placeLats, r.byPlace = make([]uint64, len(all)), make([]int32, len(all)), make([]uint32, len(all))
	for i, k := range all {
		r.placeKeys[i], r.placeLats[i], r.byPlace[i] = k.key, r.all[k.n].lat, k.n
	}
}

// A window is a piece of the earth that holds all that an area may hold, in
// 1e-7 degrees.
type window struct {
	south, north int32
	lons         [][2]int32 // from west to east
}

// window returns where the rows lie that f may let through, and false where
// that is everywhere.
func (f *filter) window() (w window, ok bool) {
	switch {
	case f.q.Box != nil:
		w = window{south: f.south, north: f.north, lons: [][2]int32{{f.west, f.east}}}
		if f.wraps {
			w.lons = around180(f.west, f.east)
		}
		return w, true
	case f.q.Radius > 0:
		return f.centre.window(f.reach), true
	}
	return window{}, false
}

// window returns where all lies that has at most this haversine.
func (c *centre) window(haversine float64) (w window) {
	const slack = 1e-6                                                // degrees, more than rounding does
	angle := 2 * math.Asin(math.Sqrt(min(1, haversine))) * (1 + 1e-6) // as seen from the middle of the earth
	half := 180.0
	if south, north := c.lat-angle, c.lat+angle; south > -math.Pi/2 && north < math.Pi/2 { // no pole inside
		half = math.Asin(min(1, math.Sin(angle)/math.Cos(c.lat)))*180/math.Pi + slack
	}
	degrees := func(rad float64) float64 { return rad * 180 / math.Pi }
	w.south, w.north = floor(max(-90, degrees(c.lat-angle)-slack)), ceil(min(90, degrees(c.lat+angle)+slack))
	west, east := degrees(c.lon)-half, degrees(c.lon)+half
	switch {
	case half >= 180:
		w.lons = [][2]int32{{-180e7, 180e7}}
	case west < -180:
		w.lons = around180(floor(west+360), ceil(east))
	case east > 180:
		w.lons = around180(floor(west), ceil(east-360))
	default:
		w.lons = [][2]int32{{floor(west), ceil(east)}}
	}
	return w
}

// around180 returns the stretches of a window that crosses the antimeridian,
// which share no longitude.
func around180(west, east int32) [][2]int32 {
	if west <= east { // all around, by rounding
		return [][2]int32{{-180e7, 180e7}}
	}
	return [][2]int32{{west, 180e7}, {-180e7, east}}
}

// narrow tells whether w is so low that it is less work to look at its bands than
// at every row.
func (r *rows) narrow(w window) bool {
	return int(band(w.north)-band(w.south))*len(w.lons)*16 <= len(r.byPlace)
}

// within calls fn once with the number of each row in w.
func (r *rows) within(w window, fn func(n uint32)) {
	if !r.narrow(w) {
		for i, n := range r.byPlace {
			lat, lon := r.placeLats[i], r.all[n].lon
			if w.south <= lat && lat <= w.north && slices.ContainsFunc(w.lons, func(l [2]int32) bool { return l[0] <= lon && lon <= l[1] }) {
				fn(n)
			}
		}
		return
	}
	for b, to := band(w.south), band(w.north); b <= to; b++ {
		for _, lon := range w.lons {
			i, _ := slices.BinarySearch(r.placeKeys, placeKey(b, lon[0]))
			for last := placeKey(b, lon[1]); i < len(r.placeKeys) && r.placeKeys[i] <= last; i++ {
				if lat := r.placeLats[i]; w.south <= lat && lat <= w.north {
					fn(r.byPlace[i])
				}
			}
		}
	}
}
