package frontier

import (
	"context"
	"slices"
	"strings"

	"gazehound/crawler/weburl"
)

// A Rank is the position of a link among the queued ones, from 1; the best one among links of equal
// priority. Politeness may serve others first.
type Rank struct {
	Place        int `json:"place"`
	Queued       int `json:"waiting"`       // links
	BreadthFirst int `json:"breadth_first"` // its place by level, and within it by when it was found
}

// RankOf returns the rank of n, which is queued. It reads the whole queue.
func (f *Frontier) RankOf(ctx context.Context, n *Node) (*Rank, error) {
	r := &Rank{Place: 1, BreadthFirst: 1}
	err := f.WalkQueue(ctx, func(other Node) error {
		r.Queued++
		if other.Priority > n.Priority {
			r.Place++
		}
		if other.Depth < n.Depth || other.Depth == n.Depth && other.Found.Before(n.Found) {
			r.BreadthFirst++
		}
		return nil
	})
	return r, err
}

// maxNear bounds the URLs that Near returns.
const maxNear = 5

// Near returns known URLs with a spelling similar to u, and folders above it, the likeliest first.
func (f *Frontier) Near(u weburl.URL) ([]string, error) {
	near := []string{}
	for _, other := range spellings(u) {
		n, known, err := f.Get(KeyOf(other))
		if err != nil {
			return nil, err
		}
		if text := n.URL.String(); known && !slices.Contains(near, text) {
			near = append(near, text)
		}
		if len(near) == maxNear {
			break
		}
	}
	return near, nil
}

// spellings returns URLs like u: of the host with and without "www.", with and
// without a slash at the end, in lower case, and of the folders above.
func spellings(u weburl.URL) []weburl.URL {
	hosts := []string{u.Host(), "www." + u.Host()}
	if rest, ok := strings.CutPrefix(u.Host(), "www."); ok {
		hosts[1] = rest
	}
	path := strings.TrimSuffix(u.Path(), "/")
	paths := []string{path, path + "/", strings.ToLower(path), strings.ToLower(path) + "/"}
	if q := u.Query(); q != "" {
		paths = append([]string{u.Path() + "?" + q, strings.ToLower(u.Path() + "?" + q)}, paths...)
	}
	for folder := path; folder != "" && len(paths) < 20; {
		folder = folder[:strings.LastIndexByte(folder, '/')]
		paths = append(paths, folder+"/", folder)
	}
	var all []weburl.URL
	for _, path := range paths {
		for _, host := range hosts {
			if other, err := weburl.Parse("http://" + host + path); err == nil {
				all = append(all, other)
			}
		}
	}
	return all
}
