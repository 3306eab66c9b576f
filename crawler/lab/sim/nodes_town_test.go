package sim

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/lab/demo"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/geoparse"
)

// A townJudge knows the addresses of every page of a made-up town.
type townJudge struct{ town *demo.Town }

func (j townJudge) Judge(_ context.Context, p *page.Page) (v geoparse.Verdict, err error) {
	facts, _ := j.town.Truth(p.URL)
	for _, a := range facts.Addresses {
		v.Addresses = append(v.Addresses, geoparse.Address{Street: a.Street, HouseNumber: a.HouseNumber, InRegion: true})
	}
	v.Relevant = len(v.Addresses) > 0
	return v, nil
}

// A townNode is one of two nodes, each with a frontier on disk.
type townNode struct {
	number  int
	share   *partition.Partition
	queues  [2]*frontier.Frontier
	crawler *crawler.Crawler
	sent    int
	visits  []townVisit
}

type townVisit struct {
	key, parent frontier.Key
	depth       int
	site        string
	isPage      bool
	addresses   []string
}

func (n *townNode) Route(ctx context.Context, p *page.Page, found []frontier.Entry) (own []frontier.Entry, sent int, err error) {
	for i, owners := range n.share.Owners(routed(p, found)) {
		if owners[0] == n.number {
			own = append(own, found[i])
			continue
		}
		sent++
		if _, err := n.queues[owners[0]].Push(ctx, found[i]); err != nil {
			return nil, 0, err
		}
	}
	n.sent += sent
	return own, sent, nil
}
func (n *townNode) Moved(context.Context, frontier.Entry) (bool, error) { return false, nil }
func (n *townNode) Visited(frontier.Entry) bool                         { return false }
func (n *townNode) Admit(context.Context) error                         { return nil }
func (n *townNode) Wait(context.Context) (bool, error)                  { return false, nil }

// What the report says of the frontiers of two nodes that crawled the made-up
// town equals a recount of their visits by brute force.
func TestReportOfFrontiers(t *testing.T) {
	o := demo.DefaultOptions()
	o.Sites, o.PagesPerSite = 60, 20
	town, err := demo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	share, err := partition.New([]partition.Node{{Name: "a"}, {Name: "b"}}, partition.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	// A place is the first letter of a street; those up to L belong to a.
	owner := func(address string) (string, int) {
		part := strings.Split(address, "|")
		if len(part) != 5 || part[3] == "" {
			return "", -1
		}
		if part[3][0] <= 'l' {
			return part[3][:1], 0
		}
		return part[3][:1], 1
	}
	var queues [2]*frontier.Frontier
	for i := range queues {
		fo := frontier.DefaultOptions()
		fo.Dir, fo.Memory, fo.MinFree = t.TempDir(), 32<<20, 0
		if queues[i], err = frontier.Open(fo); err != nil {
			t.Fatal(err)
		}
		defer queues[i].Close()
	}
	var nodes [2]*townNode
	for i := range nodes {
		n := &townNode{number: i, share: share, queues: queues}
		n.crawler = &crawler.Crawler{
			Options: crawler.Options{Workers: 1}, Frontier: queues[i], Fetcher: town, Gate: newGate(nil, Options{}), Judge: townJudge{town},
			Strategy: order.LinkDistance{Near: order.Nearness{Weight: 1, Decay: 0.5}}, Peers: n, Scope: func(weburl.URL) string { return "" },
			Report: func(v *crawler.Visit) {
				n.visits = append(n.visits, townVisit{frontier.KeyOf(v.Entry.URL), v.Entry.Parent, v.Entry.Depth, v.Entry.URL.Site(), v.Page != nil, v.Outcome.Addresses})
			},
		}
		nodes[i] = n
	}
	if _, err := nodes[0].crawler.Seed(t.Context(), town.Seeds()); err != nil {
		t.Fatal(err)
	}
	sent := -nodes[0].sent // seeds are no visit's
	for range 120 {
		for _, n := range nodes {
			e, err := n.crawler.Frontier.Next(t.Context(), n.crawler.Gate.Claim)
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n.crawler.Visit(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
	}

	reader := report.NodesReader{Owner: owner}
	for i, q := range queues {
		if err := reader.Read(t.Context(), i, q); err != nil {
			t.Fatal(err)
		}
	}
	got, err := reader.Nodes([]bool{false, false}).Metrics(3, 10)
	if err != nil {
		t.Fatal(err)
	}

	// The recount.
	var pages, geo, entities float64
	place, at, sites, unique := map[frontier.Key]string{}, map[frontier.Key]int{}, map[string]bool{}, map[string]bool{}
	var keys []frontier.Key
	focus := 0.0
	for i, n := range nodes {
		sent += n.sent
		var geoHere, ownHere float64
		for _, v := range n.visits {
			if !v.isPage {
				continue
			}
			pages++
			sites[v.site] = true
			at[v.key] = len(keys)
			keys = append(keys, v.key)
			times, own := map[string]int{}, false
			for _, a := range v.addresses {
				p, node := owner(a)
				if p == "" {
					continue
				}
				entities++
				unique[a] = true
				own = own || node == i
				if times[p]++; times[p] > times[place[v.key]] {
					place[v.key] = p
				}
			}
			if len(times) > 0 {
				geoHere++
			}
			if own {
				ownHere++
			}
		}
		geo += geoHere
		focus += ownHere / geoHere / 2
	}
	if pages < 100 || geo < 3 || len(unique) < 3 || sent < 20 {
		t.Fatalf("too little to count: %v pages, %v with addresses, %d sent", pages, geo, sent)
	}
	n := len(keys)
	far := make([][]int, n)
	for i := range far {
		far[i] = make([]int, n)
		for j := range far[i] {
			if far[i][j] = 9; i == j {
				far[i][j] = 0
			}
		}
	}
	for _, node := range nodes {
		for _, v := range node.visits {
			i, known := at[v.parent]
			if j, is := at[v.key]; known && is && v.depth > 0 && i != j {
				far[i][j] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				far[i][j] = min(far[i][j], far[i][k]+far[k][j])
			}
		}
	}
	var central, linked, same, apart, sameApart float64
	for i := range n {
		for j := range n {
			if far[i][j] < 3 && place[keys[j]] != "" {
				central += math.Pow(10, -float64(far[i][j])) / float64(n)
			}
			if j <= i {
				continue
			}
			alike := 0.0
			if p := place[keys[i]]; p != "" && p == place[keys[j]] {
				alike = 1
			}
			if far[i][j] == 1 || far[j][i] == 1 {
				linked, same = linked+1, same+alike
			} else {
				apart, sameApart = apart+1, sameApart+alike
			}
		}
	}
	for what, pair := range map[string][2]float64{
		"pages": {float64(got.Fetches), pages}, "geo-coverage": {got.GeoCoverage, geo / pages}, "geo-focus": {got.GeoFocus, focus},
		"unique": {got.Unique, float64(len(unique)) / entities}, "overlap": {got.Overlap, (pages - float64(len(at))) / pages},
		"diversity": {got.Diversity, float64(len(sites)) / pages}, "communication": {got.Communication, float64(sent) / pages},
		"geo-centrality": {got.Centrality, central}, "δ": {got.Linked, same / linked}, "δ~": {got.Unlinked, sameApart / apart},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s is %v, the recount says %v", what, pair[0], pair[1])
		}
	}
	if got.Overlap != 0 {
		t.Errorf("site-hash fetches pages twice: %v", got.Overlap)
	}
}
