package sim

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gazehound/crawler/cluster/partition"
	"gazehound/crawler/monitor/report"
	"gazehound/crawler/order"
	"gazehound/crawler/weburl"
)

func citiesWeb(t testing.TB) *Cities {
	t.Helper()
	w, err := NewCities(CitiesOptions{Seed: 1, Sites: 2000})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func crawlNodes(t testing.TB, w *Cities, m partition.Method, policy partition.Policy, pages int) *report.NodesResult {
	t.Helper()
	o := partition.DefaultOptions()
	o.Method, o.Policy = m, policy
	r, err := RunNodes(t.Context(), w, NodesOptions{Partition: o, Pages: pages, Seed: 1, New: func() (order.Strategy, error) { return order.BreadthFirst{}, nil }})
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

// Lemma 2 by its own terms: a page of l links costs b + l(c+b) at most under A
// and mb + lmb at least under B with m nodes.
func TestLemma2(t *testing.T) {
	for _, c := range []float64{0, 0.1, 1, 5} {
		for _, b := range []float64{c + 0.01, c + 1, 10 * (c + 1)} {
			for m := 2.0; m < 8; m++ {
				for _, l := range []float64{0, 1, 17, 1000} {
					if a, other := b+l*(c+b), m*b+l*m*b; a >= other {
						t.Errorf("b %v, c %v, m %v, l %v: A costs %v, B %v", b, c, m, l, a, other)
					}
				}
			}
		}
	}
}
