package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gazehound/index"
)

// writeSeeds writes a URL for each site that states an address: of the pages
// that do, the one with the shortest URL. Lines come in the order of the
// sites' names; those of all sites are in memory.
func writeSeeds(r *run) error {
	best := map[string]string{} // URL of a site
	err := r.each(func(h *index.Hit) error {
		for _, e := range h.Evidence {
			old, known := best[e.Site]
			if link(e.URL) == "" {
				continue
			}
			if !known || cmp.Or(cmp.Compare(len(e.URL), len(old)), cmp.Compare(e.URL, old)) < 0 {
				best[e.Site] = e.URL
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	title := strings.Join(strings.Fields(r.title()), " ")
	fmt.Fprintf(r, "# %s: a relevant page of each of %d sites\n", title, len(best))
	if notice := r.Notice(); notice != "" {
		fmt.Fprintf(r, "# %s\n", strings.Join(strings.Fields(notice), " "))
	}
	for _, site := range slices.Sorted(maps.Keys(best)) {
		fmt.Fprintln(r, best[site])
	}
	r.sum.Sites = len(best)
	return nil
}
