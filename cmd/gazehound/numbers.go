package main

import (
	"math"

	"gazehound/internal/textutil"
)

// How numbers are written for people; see package textutil.
func count[N int | int64](n N) string                { return textutil.Count(n) }
func several[N int | int64](n N, what string) string { return textutil.Several(n, what) }
func megabytes(n int64) string                       { return textutil.Megabytes(n) }
func byReason(counts map[string]int64) string        { return textutil.Reasons(counts) }
func sum(counts map[string]int64) int64              { return textutil.Sum(counts) }

// ratio returns a share of a whole, 0 of none.
func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// round rounds x to so many digits behind the point.
func round(x float64, digits int) float64 {
	p := math.Pow10(digits)
	return math.Round(x*p) / p
}
