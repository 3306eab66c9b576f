package gazetteer

import (
	"fmt"

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
		return r.At(0.5)
	}
	return r.At(float64(number-r.From) / float64(r.To-r.From))
}

// At returns the point at a share, 0 to 1, of the length of the line.
func (r *Range) At(share float64) orb.Point {
	at, _ := geo.PointAtDistanceAlongLine(r.Line, geo.Length(r.Line)*share)
	return at
}

// width is how many numbers r spans.
func (r *Range) width() int { return max(r.From, r.To) - min(r.From, r.To) }

// check returns what is wrong with r.
func (r *Range) check() error {
	switch {
	case min(r.From, r.To) < 0 || max(r.From, r.To) > maxHouseNumber || max(r.From, r.To) == 0:
		return fmt.Errorf("house numbers %d to %d", r.From, r.To)
	case r.Step != 1 && r.Step != 2:
		return fmt.Errorf("every %d. house number", r.Step)
	case r.Step == 2 && r.From%2 != r.To%2:
		return fmt.Errorf("house numbers %d to %d on one side of a street", r.From, r.To)
	case len(r.Line) == 0 || len(r.Line) > maxRangeLine:
		return fmt.Errorf("a range of house numbers along %d points", len(r.Line))
	}
	for _, pt := range r.Line {
		if err := checkPoint(pt); err != nil {
			return err
		}
	}
	return nil
}
