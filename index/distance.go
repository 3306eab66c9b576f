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

// located tells whether s is one; the zero spot is none.
func (s spot) located() bool { return s.cos != 0 }

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

// metres returns the distance that a haversine stands for.
func metres(haversine float64) float64 {
	return 2 * orb.EarthRadius * math.Asin(math.Sqrt(min(1, haversine)))
}

// haversineOf returns the haversine of a distance in metres.
func haversineOf(metres float64) float64 {
	half := math.Sin(min(metres/orb.EarthRadius/2, math.Pi/2))
	return half * half
}

// sine is exact to 1e-15 and fast for the small angles of a city.
func sine(x float64) float64 {
	if x2 := x * x; x2 < 1e-4 {
		return x * (1 - x2/6*(1-x2/20*(1-x2/42)))
	}
	return math.Sin(x)
}
