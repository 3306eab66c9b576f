package partition

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/predictor"
)

var (
	la        = City{Name: "Los Angeles", Aliases: []string{"LA", "L.A."}, State: "CA", StateName: "California", Population: 3_800_000}
	sanJose   = City{Name: "San José", State: "CA", StateName: "California", Population: 970_000}
	glendale  = City{Name: "Glendale", State: "AZ", StateName: "Arizona", Population: 250_000}
	glendaleC = City{Name: "Glendale", State: "CA", StateName: "California", Population: 190_000}
	newYork   = City{Name: "New York", Aliases: []string{"NYC", "New York City"}, State: "NY", StateName: "New York", Population: 8_300_000}
	kansas    = City{Name: "Kansas City", State: "MO", StateName: "Missouri", Population: 500_000}
	kansasK   = City{Name: "Kansas City", State: "KS", StateName: "Kansas", Population: 150_000} // known, no target
	portland  = City{Name: "Portland", State: "ME", StateName: "Maine", Population: 68_000}
	portlandO = City{Name: "Portland", State: "OR", StateName: "Oregon", Population: 630_000} // known, no target
)

// five nodes: two in the west, one in the east, one in the middle, general.
func nodes() []Node {
	return []Node{
		{Name: "general"},
		{Name: "pacific", Cities: []City{la, sanJose, glendaleC}},
		{Name: "mountain", Cities: []City{glendale}},
		{Name: "eastern", Cities: []City{newYork, portland}},
		{Name: "central", Cities: []City{kansas}},
	}
}

func build(t testing.TB, change func(*Options)) *Partition {
	t.Helper()
	o := DefaultOptions()
	o.Known = []City{kansasK, portlandO}
	change(&o)
	p, err := New(nodes(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func method(m Method) func(*Options) { return func(o *Options) { o.Method = m } }

func parse(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestURLBased(t *testing.T) {
	p := build(t, method(URLBased))
	for raw, want := range map[string]string{
		"http://www.houston-guide.example/":                      "general",
		"http://www.losangeles.example/":                         "pacific",
		"http://visitlosangelestoday.example/":                   "pacific",
		"http://example.org/los-angeles/hotels":                  "pacific",
		"http://example.org/los_angeles,CA":                      "pacific",
		"http://example.org/la/hotels":                           "pacific",
		"http://example.org/hotels?city=New+York":                "eastern",
		"http://example.org/glendale/":                           "mountain", // the most populous
		"http://example.org/glendale-ca/":                        "pacific",
		"http://example.org/California/Glendale,California":      "pacific",
		"http://example.org/ca/glendale/hotels":                  "pacific",
		"http://example.org/portland":                            "general", // Portland, OR is larger and no target
		"http://example.org/portland-me":                         "eastern",
		"http://example.org/kansas-city":                         "central",
		"http://example.org/kansas-city-ks":                      "general",
		"http://example.org/san-jos%C3%A9":                       "pacific",
		"http://example.org/place/lasting":                       "general",
		"http://atlanta.example/":                                "general",
		"http://example.org/%E0%A4%A/new-york":                   "eastern",
		"http://example.org/" + strings.Repeat("new-york/", 200): "eastern",
	} {
		if got := p.Nodes()[p.Owner(parse(t, raw))].Name; got != want {
			t.Errorf("%.80s goes to %s, want %s", raw, got, want)
		}
	}
}

func TestExtendedAnchor(t *testing.T) {
	p := build(t, method(ExtendedAnchor))
	to := parse(t, "http://example.org/x")
	for _, tt := range []struct{ anchor, before, after, want string }{
		{"Hotels in Los Angeles", "", "", "pacific"},
		{"Hotels", "New York has many. Los Angeles", "too", "pacific"}, // the nearer one
		{"Hotels", "Los Angeles or", "New York", "eastern"},
		{"Hotels", "", "Glendale, AZ", "mountain"},
		{"Hotels", "", "Glendale, California", "pacific"},
		{"Hotels in LA", "", "", "pacific"},
		{"la la la", "", "", "general"},
		{"more", "nothing here", "or there", "general"},
		{"Kansas City, KS", "", "", "general"},
		{"", "", "", "general"},
	} {
		l := page.Link{To: to, Anchor: tt.anchor, Around: strings.TrimSpace(tt.before + " " + tt.after), Split: len(tt.before)}
		if tt.before == "" {
			l.Split = 0
		}
		got := p.Owners(&page.Page{Links: []page.Link{l}})[0]
		if len(got) != 1 || p.Nodes()[got[0]].Name != tt.want {
			t.Errorf("%+v goes to %v, want %s", tt, got, tt.want)
		}
	}
}

// Equation 3 by hand.
func TestContent(t *testing.T) {
	p := build(t, method(FullContent))
	text := "Glendale, AZ is a city. Glendale is not Glendale, California. Arizona and California are states; Arizona is warm. See LA."
	// #((Glendale,AZ),p) = 1, #((Glendale,CA),p) = 1, #(Glendale,p) = 1, #(LA,p) = 1.
	// States apart from pairs: Arizona twice, California once.
	want := map[string]float64{
		"Glendale, AZ":    .7*1 + .3*(.5*(250./440)+.5*(2./3)),
		"Glendale, CA":    .7*1 + .3*(.5*(190./440)+.5*(1./3)),
		"Los Angeles, CA": .3 * (.5*1 + .5*(1./3)),
	}
	got := p.Content(text)
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, s := range got {
		if w := want[s.City.String()]; s.Value < w-1e-12 || s.Value > w+1e-12 {
			t.Errorf("%s: %v, want %v", s.City, s.Value, w)
		}
		if i > 0 && s.Value > got[i-1].Value {
			t.Errorf("%s comes after %s", s.City, got[i-1].City)
		}
	}
	link := page.Link{To: parse(t, "http://example.org/")}
	if got := p.Owners(&page.Page{Text: text, Links: []page.Link{link}}); !slices.Equal(got[0], []int{2}) {
		t.Errorf("policy A: %v, want the mountain node", got)
	}
	b := build(t, func(o *Options) { o.Method, o.Policy = FullContent, PolicyB })
	if got := b.Owners(&page.Page{Text: text, Links: []page.Link{link}}); !slices.Equal(got[0], []int{1, 2}) {
		t.Errorf("policy B: %v, want the pacific and the mountain node", got)
	}
	if got := p.Content("The city of Springfield, in or out, me too. Hi!"); len(got) != 0 {
		t.Errorf("words were taken for places: %v", got)
	}
}

func TestClassification(t *testing.T) {
	classes, err := predictor.NewClasses("pacific", "mountain", "eastern", "central", None)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"beach surf palm pacific ocean", "desert cactus canyon", "subway broadway harbor", "barbecue river prairie", "the of and network computer"} {
		for range 3 {
			classes.Learn(i, strings.Fields(text))
		}
	}
	p := build(t, func(o *Options) { o.Method, o.Classes = Classification, classes })
	link := page.Link{To: parse(t, "http://example.org/")}
	for text, want := range map[string]string{"Surf at the beach": "pacific", "A cactus in the desert": "mountain", "computer network": "general", "": "general", "…": "general"} {
		if got := p.Owners(&page.Page{Text: text, Links: []page.Link{link}})[0]; p.Nodes()[got[0]].Name != want {
			t.Errorf("%q goes to %s, want %s", text, p.Nodes()[got[0]].Name, want)
		}
	}
}

// Under policy B a link goes to the nodes of all classes with pr(c|p) ≠ 0 (section 3.2):
// of a short text to all of them, of one that leaves no doubt to one.
func TestClassificationPolicyB(t *testing.T) {
	classes, err := predictor.NewClasses("pacific", "mountain", "eastern", "central", None)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"beach surf", "desert cactus", "subway harbor", "river prairie", "the of"} {
		for range 100 {
			classes.Learn(i, strings.Fields(text))
		}
	}
	p := build(t, func(o *Options) { o.Method, o.Policy, o.Classes = Classification, PolicyB, classes })
	for text, want := range map[string]string{
		"a beach": "[central eastern mountain pacific]", "": "[general]", strings.Repeat("beach surf ", 200): "[pacific]",
	} {
		var names []string
		for _, i := range p.Owners(&page.Page{Text: text, Links: []page.Link{{To: parse(t, "http://example.org/")}}})[0] {
			names = append(names, p.Nodes()[i].Name)
		}
		slices.Sort(names)
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%.20q goes to %s, want %s", text, got, want)
		}
	}
}

// By page-ip all links of a page go by the page's own server (section 3.4.5), by ip each
// by its own; where there is no page, as for a seed, both ask for the link's.
func TestPageIP(t *testing.T) {
	where := map[string]string{"ny.example": "New York City", "la.example": "Los Angeles"}
	for method, want := range map[Method]string{IPAddress: "eastern pacific general", PageIP: "pacific pacific pacific"} {
		p := build(t, func(o *Options) {
			o.Method = method
			o.Resolve = func(host string) (netip.Addr, bool) {
				return map[string]netip.Addr{
					"ny.example": netip.MustParseAddr("192.0.2.1"), "la.example": netip.MustParseAddr("192.0.2.2"),
				}[host], where[host] != ""
			}
			o.Locate = func(a netip.Addr) (string, string, bool) {
				if a == netip.MustParseAddr("192.0.2.1") {
					return "New York City", "NY", true
				}
				return "Los Angeles", "CA", true
			}
		})
		from := &page.Page{URL: parse(t, "http://la.example/")}
		for _, to := range []string{"http://ny.example/", "http://la.example/a", "http://gone.example/"} {
			from.Links = append(from.Links, page.Link{To: parse(t, to)})
		}
		var names []string
		for _, owners := range p.Owners(from) {
			names = append(names, p.Nodes()[owners[0]].Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", method, got, want)
		}
		if got := p.Nodes()[p.Owner(parse(t, "http://ny.example/"))].Name; got != "eastern" {
			t.Errorf("%s: the seed goes to %s", method, got)
		}
	}
}

func TestIP(t *testing.T) {
	p := build(t, func(o *Options) {
		o.Method = IPAddress
		o.Resolve = func(host string) (netip.Addr, bool) {
			if host == "gone.example" {
				return netip.Addr{}, false
			}
			return netip.MustParseAddr("192.0.2.1"), true
		}
		o.Locate = func(a netip.Addr) (string, string, bool) { return "New York City", "NY", a.Is4() }
	})
	if got := p.Nodes()[p.Owner(parse(t, "http://a.example/"))].Name; got != "eastern" {
		t.Errorf("got %s", got)
	}
	if got := p.Nodes()[p.Owner(parse(t, "http://gone.example/"))].Name; got != "general" {
		t.Errorf("got %s", got)
	}
}

// Hash methods spread evenly, and a node that goes moves only its own share.
func TestHash(t *testing.T) {
	for _, m := range []Method{URLHash, SiteHash} {
		all := build(t, method(m))
		fewer, err := New(nodes()[:4], Options{Method: m, Policy: PolicyA})
		if err != nil {
			t.Fatal(err)
		}
		const n = 5000
		got := make([]int, 5)
		for i := range n {
			u := parse(t, fmt.Sprintf("http://www.site%d.example/page%d", i, i%7))
			a, b := all.Owner(u), fewer.Owner(u)
			got[a]++
			if a != 4 && a != b {
				t.Fatalf("%s: %s moved from node %d to %d", m, u, a, b)
			}
		}
		for i, c := range got {
			if c < n/5*8/10 || c > n/5*12/10 {
				t.Errorf("%s: node %d owns %d of %d", m, i, c, n)
			}
		}
	}
	p := build(t, method(SiteHash))
	if a, b := p.Owner(parse(t, "http://a.example.org/x")), p.Owner(parse(t, "https://b.example.org/y")); a != b {
		t.Errorf("one site lies on nodes %d and %d", a, b)
	}
}

// Methods that look at the URL alone give it one owner, whatever page links to it.
func TestNoOverlap(t *testing.T) {
	for _, m := range []Method{URLHash, SiteHash, URLBased, IPAddress} {
		p := build(t, func(o *Options) {
			o.Method = m
			o.Resolve = func(host string) (netip.Addr, bool) { return netip.AddrFrom4([4]byte{192, 0, 2, host[0]}), true }
			o.Locate = func(a netip.Addr) (string, string, bool) { return "Los Angeles", "CA", a.As4()[3]%2 == 0 }
		})
		for i := range 200 {
			to := parse(t, fmt.Sprintf("http://%c%d.example/los-angeles/%d", 'a'+i%20, i%5, i))
			want := -1
			for _, text := range []string{"New York", "Glendale, AZ", ""} {
				l := page.Link{To: to, Anchor: text, Around: text, Split: 0}
				got := p.Owners(&page.Page{Text: text, Links: []page.Link{l}})[0]
				if len(got) != 1 || want >= 0 && got[0] != want {
					t.Fatalf("%s: %s goes to %v and %d", m, to, got, want)
				}
				want = got[0]
			}
		}
	}
}

func TestBadPlans(t *testing.T) {
	ok := DefaultOptions()
	with := func(change func(*Options)) Options { o := ok; change(&o); return o }
	for name, tt := range map[string]struct {
		nodes []Node
		o     Options
		want  string
	}{
		"no nodes":     {nil, ok, "no nodes"},
		"same name":    {[]Node{{Name: "a"}, {Name: "a"}}, ok, `two nodes are called "a"`},
		"same city":    {[]Node{{Name: "a", Cities: []City{la}}, {Name: "b", Cities: []City{la}}}, ok, "Los Angeles, CA belongs to the nodes"},
		"no general":   {[]Node{{Name: "a", Cities: []City{la}}}, with(method(URLBased)), "needs a general node"},
		"no cities":    {[]Node{{Name: "a"}}, with(method(FullContent)), "needs nodes with cities"},
		"no name":      {[]Node{{Name: "a", Cities: []City{{State: "CA"}}}}, ok, "a city without a name"},
		"no classes":   {nodes(), with(method(Classification)), "needs classes"},
		"no addresses": {nodes(), with(method(IPAddress)), "needs a file"},
	} {
		if _, err := New(tt.nodes, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestNode(t *testing.T) {
	p := build(t, method(FullContent))
	for _, tt := range []struct {
		city, state string
		want        int
	}{
		{"Los Angeles", "CA", 1}, {"l.a.", "California", 1}, {"GLENDALE", "", 2}, {"San Jose", "CA", 1}, {"Portland", "OR", -1}, {"Portland", "", -1}, {"Atlantis", "CA", -1}, {"Los Angeles", "XX", -1},
	} {
		got, ok := p.Node(tt.city, tt.state)
		if !ok {
			got = -1
		}
		if got != tt.want {
			t.Errorf("%s, %s: node %d, want %d", tt.city, tt.state, got, tt.want)
		}
	}
}

// Whatever a page says, each link has owners, in order, all nodes of the crawl.
func FuzzOwners(f *testing.F) {
	f.Add("Glendale, AZ", "Los Angeles", "http://example.org/new-york?x=%zz")
	f.Add("L.A.", "\u0301\xff, CA", "http://kansascity.example/")
	f.Fuzz(func(t *testing.T, text, anchor, raw string) {
		u, err := weburl.Parse(raw)
		if err != nil || !utf8.ValidString(anchor) {
			return
		}
		for _, m := range []Method{URLHash, SiteHash, URLBased, ExtendedAnchor, FullContent} {
			for _, policy := range []Policy{PolicyA, PolicyB} {
				p := build(t, func(o *Options) { o.Method, o.Policy = m, policy })
				got := p.Owners(&page.Page{Text: text, Links: []page.Link{{To: u, Anchor: anchor, Around: anchor, Split: len(anchor)}}})[0]
				if len(got) == 0 || policy == PolicyA && len(got) != 1 || !slices.IsSorted(got) || got[0] < 0 || got[len(got)-1] > 4 {
					t.Fatalf("%s, policy %s: %v", m, policy, got)
				}
			}
		}
	})
}

// BenchmarkOwners shares out the links of a page of 5 kB with 50 links.
func BenchmarkOwners(b *testing.B) {
	text := strings.Repeat("Some words about a shop in Los Angeles, CA and nothing else of note here. ", 70)
	var links []page.Link
	for i := range 50 {
		links = append(links, page.Link{To: parse(b, fmt.Sprintf("http://www.site%d.example/new-york/%d", i, i)), Anchor: "more", Around: "a shop in Glendale, AZ"})
	}
	for _, m := range []Method{URLHash, SiteHash, URLBased, ExtendedAnchor, FullContent} {
		b.Run(string(m), func(b *testing.B) {
			p := build(b, method(m))
			for b.Loop() {
				p.Owners(&page.Page{Text: text, Links: links})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(links)), "ns/link")
		})
	}
}

// As printed, a city in a URL or beside a link is always the most populous one of its name: Glendale,
// AZ, whose node is mountain, even where California is named. Texts still go by the state.
func TestMostPopulous(t *testing.T) {
	for _, most := range []bool{false, true} {
		node := map[bool]string{false: "pacific", true: "mountain"}[most]
		u := build(t, func(o *Options) { o.Method, o.MostPopulous = URLBased, most })
		for _, raw := range []string{"http://example.org/glendale-ca/", "http://example.org/ca/glendale/hotels"} {
			if got := u.Nodes()[u.Owner(parse(t, raw))].Name; got != node {
				t.Errorf("%s, most populous %v: %s, want %s", raw, most, got, node)
			}
		}
		a := build(t, func(o *Options) { o.Method, o.MostPopulous = ExtendedAnchor, most })
		from := &page.Page{Links: []page.Link{{To: parse(t, "http://example.org/"), Anchor: "Glendale, CA"}}}
		if got := a.Nodes()[a.Owners(from)[0][0]].Name; got != node {
			t.Errorf("anchor, most populous %v: %s, want %s", most, got, node)
		}
		if scores := a.Content("Glendale, CA"); len(scores) != 1 || scores[0].City.State != "CA" {
			t.Errorf("text, most populous %v: %v", most, scores)
		}
	}
}
