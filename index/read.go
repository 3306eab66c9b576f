package index

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/paulmach/orb"
)

// ReadDegrees reads n numbers of at most 180 with commas between them.
func ReadDegrees(text string, n int) ([]float64, bool) {
	parts := strings.Split(text, ",")
	if len(parts) != n {
		return nil, false
	}
	var numbers []float64
	for _, p := range parts {
		f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(math.Abs(f) <= 180) {
			return nil, false
		}
		numbers = append(numbers, f)
	}
	return numbers, true
}

// ReadBox reads minLon,minLat,maxLon,maxLat. Latitudes that are out of order or beyond the poles make
// ordered false.
func ReadBox(text string) (b orb.Bound, ok, ordered bool) {
	n, ok := ReadDegrees(text, 4)
	if !ok {
		return b, false, false
	}
	b = orb.Bound{Min: orb.Point{n[0], n[1]}, Max: orb.Point{n[2], n[3]}}
	return b, true, math.Abs(n[1]) <= 90 && math.Abs(n[3]) <= 90 && n[1] <= n[3]
}

// ReadMetres reads a length such as "500", "500m" or "2km".
func ReadMetres(text string) (float64, bool) {
	number, factor := strings.TrimSpace(text), 1.0
	if n, ok := strings.CutSuffix(number, "km"); ok {
		number, factor = n, 1000
	} else {
		number = strings.TrimSuffix(number, "m")
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return f * factor, err == nil
}

// maxAgo bounds the days or hours that ReadSince counts back.
const maxAgo = 1<<16 - 1

// ReadSince reads a date, a time (RFC 3339), or a number of days or hours before now such as "7d",
// which make relative true.
func ReadSince(text string, now time.Time) (t time.Time, relative, ok bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, false, true
		}
	}
	unit := 24 * time.Hour
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		unit = time.Hour
		number, ok = strings.CutSuffix(text, "h")
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if !ok || err != nil || n > maxAgo || strings.HasPrefix(number, "+") {
		return time.Time{}, false, false
	}
	return now.Add(-time.Duration(n) * unit), true, true
}
