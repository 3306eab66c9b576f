package textutil

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Count writes n with a comma at the thousands.
func Count[N int | int64](n N) string { return humanize.Comma(int64(n)) }

// Several writes a number with what it counts: "1 page", "2 pages", "2 addresses", "2 cities".
func Several[N int | int64](n N, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return Count(n) + " " + what + "es"
	case strings.HasSuffix(what, "ty"):
		return Count(n) + " " + strings.TrimSuffix(what, "y") + "ies"
	}
	return Count(n) + " " + what + "s"
}

// Moment writes a time in the reader's zone, with the name of that zone.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// Megabytes writes a number of bytes; from ten gigabytes on in those.
func Megabytes(n int64) string {
	if n >= 1e10 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Reasons lists counts, the largest first: "timeout 96 · dns 61".
func Reasons(counts map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		if counts[name] > 0 {
			parts = append(parts, strings.ReplaceAll(name, "_", " ")+" "+Count(counts[name]))
		}
	}
	return strings.Join(parts, " · ")
}

// Sum adds counts up.
func Sum(counts map[string]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
