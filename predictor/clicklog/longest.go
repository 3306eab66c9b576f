package clicklog

import (
	"cmp"
	"slices"
	"strings"
)

// Longest returns the pages on which people stay longest, at most n ≥ 1 of those
// that keep wants (nil: of all): the longest stay first, then by URL. It reads
// the table of the store in dir, and the error wraps fs.ErrNotExist where there
// is none.
func Longest(dir string, n int, keep func(Page) bool) ([]Page, error) {
	var best []Page
	shorten := func() {
		slices.SortFunc(best, func(a, b Page) int {
			return cmp.Or(cmp.Compare(b.Stay, a.Stay), strings.Compare(a.URL, b.URL))
		})
		best = best[:min(n, len(best))]
	}
	err := Pages(dir, func(p Page) error {
		if keep != nil && !keep(p) {
			return nil
		}
		if best = append(best, p); len(best) == 2*n {
			shorten()
		}
		return nil
	})
	shorten()
	return best, err
}
