package index

import (
	"math"

	"github.com/paulmach/orb"
)

// A spot is a coordinate that distances are measured to.
type spot struct {
	lon, lat int32   // 1e-7 degrees
	cos      float32 // of the latitude
	south    uint32  // see southOf
}

func (s spot) point() orb.Point { return orb.Point{float64(s.lon) / 1e7, float64(s.lat) / 1e7} }

// A centre is a point that distances are measured from.
type centre struct{ lon, lat, cos float64 } // radians

func newCentre(p orb.Point) *centre {
	return &centre{p[0] * math.Pi / 180, p[1] * math.Pi / 180, math.Cos(p[1] * math.Pi / 180)}
}

// haversine grows with the distance of a spot: it is the square
// of the sine of half the angle.
func (c *centre) haversine(r spot) float64 {
	const unit = math.Pi / 180 / 1e7
	a, b := sine((float64(r.lat)*unit-c.lat)/2), sine((float64(r.lon)*unit-c.lon)/2)
	return a*a + c.cos*float64(r.cos)*b*b
}

// latitudes returns between which latitudes, in 1e-7 degrees, all lies whose
// haversine is so small.
func (c *centre) latitudes(haversine float64) (south, north int32) {
	angle := 2*math.Asin(math.Sqrt(min(1, haversine)))*(1+1e-9) + 1e-10
	const unit = 180 / math.Pi
	return floor(max(-90, (c.lat-angle)*unit)), ceil(min(90, (c.lat+angle)*unit))
}

// metres returns the distance that a haversine stands for.
func metres(haversine float64) float64 {
	return 2 * orb.EarthRadius * math.Asin(math.Sqrt(min(1, haversine)))
}

// sine is exact to 1e-15 and fast for the small angles of a city.
func sine(x float64) float64 {
	if x2 := x * x; x2 < 1e-4 {
		return x * (1 - x2/6*(1-x2/20*(1-x2/42)))
	}
	return math.Sin(x)
}
