package crawler

import (
	"fmt"
	"io"
	"strings"

	"gazehound/crawler/weburl"
	"gazehound/crawler/weburl/seedlist"
	"gazehound/internal/textutil"

	"github.com/paulmach/orb"
)

// maxImported bounds the addresses that one import adds.
const maxImported = 1_000_000

// A SeedCount counts the outcomes of the addresses of one list.
type SeedCount struct {
	Type     string        `json:"type"`
	Name     string        `json:"name"`
	Form     seedlist.Form `json:"form"`
	Found    int           `json:"found"`
	New      int           `json:"new"`
	Known    int           `json:"known"`
	Social   int           `json:"social_networks"`
	Outside  int           `json:"outside"`
	Others   int           `json:"other_hosts"`
	Unusable int           `json:"unusable"`
}

// String lists the counts that are not zero.
func (c SeedCount) String() string {
	var left []string
	for _, part := range []struct {
		n    int
		what string
	}{{c.Known, "known"}, {c.Social, "of social networks and the like"}, {c.Outside,
		"outside of the region"}, {c.Others, "of other hosts"}, {c.Unusable, "unusable"}} {
		if part.n > 0 {
			left = append(left, textutil.Count(part.n)+" "+part.what)
		}
	}
	text := fmt.Sprintf("%s: %s in it (%s), %s new", textutil.OneLine(c.Name),
		textutil.Several(c.Found, "web address"), c.Form, textutil.Count(c.New))
	if len(left) > 0 {
		text += "; " + strings.Join(left, ", ")
	}
	return text
}

// A SeedImport reads seeds from the lists of other programs, each seed once.
type SeedImport struct {
	// only those of these, "*.example.org" with all below it; none: all
	Hosts    []string
	Roots    bool                                       // take the front page of each host instead of its pages
	Contains func(orb.Point) bool                       // the region; nil: there is none
	Clean    func(raw string) (url string, social bool) // social: a page on a social network

	seen  map[string]bool // by identity
	added int
}

// Know adds existing seeds, which Read will skip.
func (i *SeedImport) Know(urls []weburl.URL) {
	if i.seen == nil {
		i.seen = map[string]bool{}
	}
	for _, u := range urls {
		i.seen[u.Identity()] = true
	}
}

// Read reads a list and returns the new seeds, and the outcomes of all.
func (i *SeedImport) Read(name string, r io.Reader) (fresh []weburl.URL, n SeedCount, err error) {
	n = SeedCount{Type: "seeds", Name: name}
	wanted := map[string]bool{}
	for _, host := range i.Hosts {
		wanted[strings.ToLower(host)] = true
	}
	n.Form, err = seedlist.Read(r, func(f seedlist.Found) error {
		n.Found++
		site, social := i.Clean(f.URL)
		u, err := weburl.Parse(site)
		if err == nil && i.Roots {
			u, err = u.Resolve("/")
		}
		_, isWanted := ForHost(wanted, u)
		switch {
		case social:
			n.Social++
		case site == "" || err != nil:
			n.Unusable++
		case len(wanted) > 0 && !isWanted:
			n.Others++
		case f.At != nil && i.Contains != nil && !i.Contains(*f.At):
			n.Outside++
		case i.seen[u.Identity()]:
			n.Known++
		case i.added == maxImported:
			return fmt.Errorf("more than %s new addresses; --host and --roots choose", textutil.Count(maxImported))
		default:
			i.Know([]weburl.URL{u})
			fresh = append(fresh, u)
			n.New++
			i.added++
		}
		return nil
	})
	return fresh, n, err
}
