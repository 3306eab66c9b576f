package gazetteer

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// covers reports whether a house number is one of r.
func (r *Range) covers(number int) bool {
	lo, hi := min(r.From, r.To), max(r.From, r.To)
	return lo <= number && number <= hi && (r.Step == 1 || number%2 == r.From%2)
}

// point returns where a house number that r covers lies along its line.
func (r *Range) point(number int) orb.Point {
	if r.From == r.To {
		return r.at(0.5)
	}
	return r.at(float64(number-r.From) / float64(r.To-r.From))
}

// at returns the point at a share, 0 to 1, of the length of the line.
func (r *Range) at(share float64) orb.Point {
	left := geo.Length(r.Line) * share
	for i := 1; i < len(r.Line); i++ {
		a, b := r.Line[i-1], r.Line[i]
		d := geo.Distance(a, b)
		if d > 0 && d >= left {
			t := left / d
			return orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])}
		}
		left -= d
	}
	return r.Line[len(r.Line)-1]
}

// width is how many numbers r spans.
func (r *Range) width() int { return max(r.From, r.To) - min(r.From, r.To) }
