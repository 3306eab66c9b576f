package sim

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/frontier"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
)

func citiesWeb(t testing.TB) *Cities {
	t.Helper()
	o := DefaultCitiesOptions()
	o.Sites, o.Examples = 2000, 100
	w, err := NewCities(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func crawlNodes(t testing.TB, w *Cities, m partition.Method, policy partition.Policy, pages int) *report.NodesResult {
	t.Helper()
	o := partition.DefaultOptions()
	o.Method, o.Policy = m, policy
	r, err := RunNodes(t.Context(), w, NodesOptions{Partition: o, Pages: pages, Seed: 1, Centrality: Centrality{3, 10},
		Order: Order{New: func(*Web) (order.Strategy, error) { return order.BreadthFirst{}, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The web is the same for the same seed, every URL that it links to exists, and
// what a page says agrees with its number.
func TestCitiesWeb(t *testing.T) {
	w, again := citiesWeb(t), citiesWeb(t)
	queue := append([]weburl.URL(nil), w.Seeds[:50]...)
	for _, sites := range w.of { // and of each city a site with its contact page
		if len(sites) > 0 {
			queue = append(queue, w.urlOf(sites[0], 0), w.urlOf(sites[0], 1))
		}
	}
	for _, site := range w.portals[:10] {
		queue = append(queue, w.urlOf(site, 0))
	}
	kinds := map[siteKind]int{}
	addresses, named := 0, 0
	for i := 0; i < 400; i++ {
		u := queue[i]
		a, err := w.Fetch(t.Context(), u)
		if err != nil || a.Status != 200 {
			t.Fatalf("%s: %v, %v", u, a, err)
		}
		b, _ := again.Fetch(t.Context(), u)
		if a.Parsed.Text != b.Parsed.Text || len(a.Parsed.Links) != len(b.Parsed.Links) || len(a.Parsed.Links) < 3 {
			t.Fatalf("%s differs, or has %d links", u, len(a.Parsed.Links))
		}
		p, _ := w.find(u)
		kinds[w.sites[p.site].kind]++
		v, err := w.Judge(t.Context(), a.Parsed)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range v.Addresses {
			addresses++
			if !strings.Contains(a.Parsed.Text, x.HouseNumber+" "+x.Street+", "+x.City+", "+x.State) {
				t.Errorf("%s does not show %v", u, x)
			}
		}
		for _, l := range a.Parsed.Links {
			if l.Split > len(l.Around) || l.To == u {
				t.Errorf("%s: %+v", u, l)
			}
			if l.Anchor != "" {
				named++
			}
			queue = append(queue, l.To)
		}
	}
	if len(kinds) != 4 || addresses == 0 || named == 0 {
		t.Errorf("kinds of sites %v, %d addresses, %d named links", kinds, addresses, named)
	}
	none, err := w.Fetch(t.Context(), mustURL(t, "http://nowhere.example/"))
	if err != nil || none.Status != 404 {
		t.Errorf("unknown page: %v, %v", none, err)
	}
	for _, bad := range []CitiesOptions{{Sites: 10}, {Sites: 1000, Nodes: []partition.Node{{Name: "general"}}}} {
		if _, err := NewCities(bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// Free shares do not depend on those that were chosen: each lies between 1 and 95 %, half of them below
// √(.01 · .95) = 9.7 %, and shares of one whole leave 5 % of it.
func TestFreeWorlds(t *testing.T) {
	low, drawn := 0, 0
	for world := uint64(1); world <= 50; world++ {
		o, other := CitiesOptions{World: world, Free: 1}, CitiesOptions{World: world, Free: 1}
		other.Shares = DefaultCitiesOptions().Shares
		o.drawShares()
		other.drawShares()
		if o.Shares != other.Shares {
			t.Fatalf("world %d: %+v and, from other shares, %+v", world, o.Shares, other.Shares)
		}
		for _, x := range []float64{o.Mentions, o.Headlines, o.WithState, o.NamedGuides} {
			drawn++
			if x < 0.01 || x > 0.95 {
				t.Errorf("world %d: a share of %v", world, x)
			} else if x < 0.0975 {
				low++
			}
		}
		if sum := o.Guides + o.Businesses + o.Portals; sum > 0.951 {
			t.Errorf("world %d: %v of all sites are special", world, sum)
		}
	}
	if low < drawn*4/10 || low > drawn*6/10 {
		t.Errorf("%d of %d shares are below 9.75 %%, want half", low, drawn)
	}
	if _, err := NewCities(CitiesOptions{Sites: 1000, Examples: 100, Free: 1}); err == nil {
		t.Error("free shares without a world: no error")
	}
}

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Partitions by what a URL alone says never fetch a page twice; the same seed
// gives the same bytes; and where bandwidth costs more than talk, a page costs
// less under policy A than under B (lemma 2).
func TestNodes(t *testing.T) {
	w := citiesWeb(t)
	const pages = 600
	c := &report.NodesComparison{Web: "a web"}
	for _, m := range partition.Methods() {
		r := crawlNodes(t, w, m, partition.PolicyA, pages)
		if r.Fetches != pages || len(r.Nodes) != 6 || math.IsNaN(r.GeoCoverage) {
			t.Errorf("%s: %+v", m, r)
		}
		switch m {
		case partition.URLHash, partition.SiteHash, partition.URLBased, partition.IPAddress:
			if r.Overlap != 0 {
				t.Errorf("%s fetches pages twice: %v", m, r.Overlap)
			}
		}
		c.Results = append(c.Results, r)
	}
	for _, m := range []partition.Method{partition.ExtendedAnchor, partition.FullContent} {
		a, _ := c.Value(string(m), "overlap", 0)
		b := crawlNodes(t, w, m, partition.PolicyB, pages)
		c.Results = append(c.Results, b)
		if b.Overlap < a {
			t.Errorf("%s: policy B fetches less twice (%v) than A (%v)", m, b.Overlap, a)
		}
		for _, r := range c.Results {
			// Few links name cities of two nodes; many pages do.
			if cost, other := r.Cost(2, 1), b.Cost(2, 1); r.Name() == string(m) && (cost > other || cost == other && m == partition.FullContent) {
				t.Errorf("%s: a page costs %v under A and %v under B", m, cost, other)
			}
		}
	}
	again := crawlNodes(t, w, partition.FullContent, partition.PolicyA, pages)
	var first *report.NodesResult
	for _, r := range c.Results {
		if r.Name() == "full-content" {
			first = r
		}
	}
	var one, two bytes.Buffer
	if (&report.NodesComparison{Results: []*report.NodesResult{first}}).Write(&one, "json") != nil || (&report.NodesComparison{Results: []*report.NodesResult{again}}).Write(&two, "json") != nil || one.String() != two.String() {
		t.Errorf("two runs with the same seed differ:\n%s\n%s", &one, &two)
	}

	for _, format := range report.NodesFormats {
		var out bytes.Buffer
		if err := c.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		switch format {
		case "json":
			var any map[string]any
			if err := json.Unmarshal(out.Bytes(), &any); err != nil {
				t.Error(err)
			}
		case "csv":
			rows, err := csv.NewReader(&out).ReadAll()
			if err != nil || len(rows) < 100 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		default:
			for _, want := range []string{"full-content-b", "published", "8.63 %", "0.1754", "0.4156"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s lacks %q:\n%s", format, want, &out)
				}
			}
		}
	}
	if c.Write(&bytes.Buffer{}, "pdf") == nil || (&report.NodesComparison{}).Write(&bytes.Buffer{}, "text") == nil {
		t.Error("no error")
	}
	e, err := ParseExpectation("url.coverage > 2*url-hash.coverage", []string{"url", "url-hash"}, report.NodesMetricNames())
	if err != nil {
		t.Fatal(err)
	}
	if holds, left, right := e.Check(c); !holds {
		t.Errorf("the URL partition covers %v, twice the hash %v", left, right)
	}
	if _, err := ParseExpectation("url.harvest > 1", []string{"url"}, report.NodesMetricNames()); err == nil {
		t.Error("an unknown metric is taken")
	}
}

// Lemma 2 by the cases of figure 1: under A a page and its l links are fetched once and all
// links are sent, at a cost of b + l(c+b); under B m nodes fetch all of them and send none,
// at mb + lmb.
func TestLemma2(t *testing.T) {
	const b, c = 2.0, 1.0
	for nodes := 2; nodes < 6; nodes++ {
		for _, links := range []int{0, 1, 17} {
			crawl := func(times, sent int) report.Metrics {
				r := report.NewNodes(make([]bool, nodes))
				for node := range times {
					for i := range links + 1 {
						r.Fetched(report.Fetch{Node: node, Page: frontier.Key{byte(i)}})
					}
				}
				r.Exchanged(sent)
				m, err := r.Metrics(3, 10)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			all, l, m := float64(links+1), float64(links), float64(nodes)
			atA, atB := all*crawl(1, links).Cost(b, c), all*crawl(nodes, 0).Cost(b, c)
			if want := b + l*(c+b); math.Abs(atA-want) > 1e-9 {
				t.Errorf("%d links: A costs %v, want %v", links, atA, want)
			}
			if want := m*b + l*m*b; math.Abs(atB-want) > 1e-9 {
				t.Errorf("%d links, %d nodes: B costs %v, want %v", links, nodes, atB, want)
			}
			if atA >= atB {
				t.Errorf("%d links, %d nodes: A costs %v, B %v", links, nodes, atA, atB)
			}
		}
	}
}

// What was published stands only beside nodes with the paper's numbers of cities, and for
// the strategies as printed.
func TestPublishedBesidePaperOnly(t *testing.T) {
	for _, tt := range []struct {
		method partition.Method
		cities []int
		tables string // in which there is a published row
	}{
		{partition.URLBased, []int{0, 33, 22, 10, 33, 2}, "2 3 4 5 6 7 8 9 11"},
		{partition.PageIP, []int{0, 33, 22, 10, 33, 2}, "2 3 4 5 6 7 8 9"},
		{partition.IPAddress, []int{0, 33, 22, 10, 33, 2}, ""},
		{partition.URLBased, []int{0, 2, 10, 22, 33, 33}, "2 6 7 8 9 11"},
		{partition.URLBased, []int{0, 20, 20, 20, 20, 20}, ""},
	} {
		r := &report.NodesResult{Partition: tt.method, Policy: partition.PolicyA, Cities: tt.cities}
		for i := range tt.cities {
			r.Nodes = append(r.Nodes, string(rune('a'+i)))
			r.Metrics.Nodes = append(r.Metrics.Nodes, report.NodeMetric{})
		}
		var out bytes.Buffer
		if err := (&report.NodesComparison{Results: []*report.NodesResult{r}}).Write(&out, "csv"); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var tables []string
		for _, row := range rows[1:] {
			if row[7] != "" && !slices.Contains(tables, row[0]) {
				tables = append(tables, row[0])
			}
		}
		if got := strings.Join(tables, " "); got != tt.tables {
			t.Errorf("%s with %v cities: published in tables %q, want %q", tt.method, tt.cities, got, tt.tables)
		}
	}
}
