package osm

import (
	"bytes"
	"fmt"
	"path/filepath"

	"gazehound/gazetteer"
	"gazehound/internal/textutil"
)

// Sum adds up what was counted in several extracts.
func Sum(extracts []*Extract) (total Extract) {
	for _, e := range extracts {
		total.HouseNumbers += e.HouseNumbers
		total.NoStreet += e.NoStreet
		total.Highways += e.Highways
		total.Websites += e.Websites
		total.SocialMedia += e.SocialMedia
		total.Broken += e.Broken
		total.Sites = append(total.Sites, e.Sites...)
	}
	return total
}

// SeedList returns the web sites of the extracts that lie in the region, and
// the text of seeds.txt. files are the names of the extracts.
func SeedList(region *gazetteer.Region, files []string, extracts []*Extract) (seeds int, text []byte) {
	var b bytes.Buffer
	b.WriteString("# Where the crawl starts: one URL a line. Add what you know: portals, directories, " +
		"the town's own site.\n")
	seen := map[string]bool{}
	for i, e := range extracts {
		fmt.Fprintf(&b, "# web sites of %s, %s\n", textutil.OneLine(filepath.Base(files[i])), Attribution)
		for _, s := range e.Sites {
			if region.Contains(s.Point) && !seen[s.URL] {
				seen[s.URL] = true
				seeds++
				fmt.Fprintln(&b, s.URL)
			}
		}
	}
	return seeds, b.Bytes()
}
