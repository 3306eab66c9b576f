package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"gazehound/crawler/frontier"
)

// BridgeReach is the greatest number of links between a bridge and the relevant page it leads to.
const BridgeReach = 3

// BridgeFormats are those of WriteBridges.
var BridgeFormats = []string{"text", "json", "seeds"}

// A Bridge is a page that led to relevant pages: over at most BridgeReach links,
// and over none that is relevant itself. It may be relevant or not.
type Bridge struct {
	URL      string `json:"url"`
	Relevant bool   `json:"relevant"`       // itself
	Pages    int    `json:"relevant_pages"` // that it led to
	Hosts    int    `json:"hosts"`          // of these
}

// TopBridges returns the n pages of a crawl that led to relevant pages of the
// most hosts, and of those with as many to the most pages. The links of the
// crawl tree count, one for each page: the one that it was found by, or the best
// since. It keeps a count for each page that led to something.
func TopBridges(ctx context.Context, f *frontier.Frontier, n int) ([]Bridge, error) {
	type led struct {
		pages int
		hosts map[string]bool
	}
	behind := map[frontier.Key]*led{}
	err := f.Walk(ctx, 0, func(page frontier.Node) error {
		if page.Outcome.Kind != frontier.KindPage || !page.Outcome.Relevant || page.Depth == 0 {
			return nil
		}
		trail, err := f.Trail(frontier.KeyOf(page.URL), BridgeReach+1)
		for _, before := range trail[min(1, len(trail)):] {
			if before.Outcome.Kind != frontier.KindPage {
				continue // a redirect or a sitemap
			}
			key := frontier.KeyOf(before.URL)
			if behind[key] == nil {
				behind[key] = &led{hosts: map[string]bool{}}
			}
			behind[key].pages++
			behind[key].hosts[page.URL.Host()] = true
			if before.Outcome.Relevant {
				break
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bridges: %w", err)
	}
	keys := slices.SortedFunc(maps.Keys(behind), func(a, b frontier.Key) int {
		x, y := behind[a], behind[b]
		return cmp.Or(cmp.Compare(len(y.hosts), len(x.hosts)), cmp.Compare(y.pages, x.pages),
			slices.Compare(a[:], b[:]))
	})
	top := []Bridge{}
	for _, key := range keys[:min(n, len(keys))] {
		page, known, err := f.Get(key)
		if err != nil {
			return nil, fmt.Errorf("bridges: %w", err)
		}
		if known {
			top = append(top, Bridge{page.URL.String(), page.Outcome.Relevant, behind[key].pages,
				len(behind[key].hosts)})
		}
	}
	return top, nil
}

// WriteBridges writes the bridges of a crawl in one of BridgeFormats; seeds is a
// file that another crawl can start from.
func WriteBridges(w io.Writer, name string, top []Bridge, format string) error {
	var b bytes.Buffer
	switch format {
	case "text":
		bridgeTable(&b, top)
	case "json":
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.Encode(struct { // texts and numbers
			Type    string   `json:"type"`
			Name    string   `json:"name"`
			Bridges []Bridge `json:"bridges"`
		}{"bridges", name, top})
	case "seeds":
		fmt.Fprintf(&b, "# pages of %q that led to the most relevant ones\n", name)
		for _, page := range top {
			fmt.Fprintln(&b, page.URL)
		}
	default:
		return fmt.Errorf("bridges: format %q is not one of %s", format, BridgeFormats)
	}
	_, err := b.WriteTo(w)
	return err
}

func bridgeTable(b *bytes.Buffer, top []Bridge) {
	if len(top) == 0 {
		fmt.Fprintln(b, "no page of this crawl led to a relevant one")
		return
	}
	fmt.Fprintf(b, "%9s %9s  %-8s  %s\n", "hosts", "relevant", "itself", "page")
	for _, page := range top {
		itself := "not"
		if page.Relevant {
			itself = "relevant"
		}
		fmt.Fprintf(b, "%9d %9d  %-8s  %s\n", page.Hosts, page.Pages, itself, page.URL)
	}
}
