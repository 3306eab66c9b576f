package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/crawler/page"
	"gazehound/crawler/weburl"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small returns the options of a town that is walked over in a second.
func small() Options {
	o := DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets, o.NearSeeds = 90, 30, 40, 5
	return o
}

func mustTown(t testing.TB, o Options) *Town {
	t.Helper()
	town, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return town
}

func mustURL(t testing.TB, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// drawn returns a page as it is served, in UTF-8.
func (t *Town) drawn(at ref, trap string) *canvas { return t.draw(at, trap, t.o.Domain) }

func TestOptions(t *testing.T) {
	tests := map[string]func(*Options){
		"name of the town must be": func(o *Options) { o.Name = "zwei Wörter" },
		`got "http://x"`:           func(o *Options) { o.Domain = "http://x" },
		"sites must be 40":         func(o *Options) { o.Sites = 3 },
		"pages must be":            func(o *Options) { o.PagesPerSite = 1e6 },
		"hints must be":            func(o *Options) { o.HintReliability = 1.1 },
		"bridges must be":          func(o *Options) { o.Bridges = -1 },
		"nothing can be crawled":   func(o *Options) { o.FarSeeds, o.NearSeeds = 0, 0 },
	}
	for want, change := range tests {
		o := DefaultOptions()
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want …%s…", err, want)
		}
	}
}

func TestSeedsAndOptionsDecideAll(t *testing.T) {
	a, b := mustTown(t, small()), mustTown(t, small())
	other := small()
	other.Seed++
	c := mustTown(t, other)
	var same, all int
	for s := range a.sites {
		for n := range a.sites[s].pages {
			at := ref{int32(s), n}
			drawn, outline := a.drawn(at, ""), a.outline(at, "")
			if !slices.Equal(drawn.links, outline.links) || !reflect.DeepEqual(drawn.facts(), outline.facts()) {
				t.Fatalf("%s: other links or addresses without its text", a.url(at))
			}
			body := drawn.buf.Bytes()
			if !bytes.Equal(body, a.drawn(at, "").buf.Bytes()) || !bytes.Equal(body, b.drawn(at, "").buf.Bytes()) {
				t.Fatalf("%s differs from itself", a.url(at))
			}
			all++
			if s < len(c.sites) && n < c.sites[s].pages && bytes.Equal(body, c.drawn(at, "").buf.Bytes()) {
				same++
			}
		}
	}
	if same > all/100 {
		t.Errorf("%d of %d pages are the same with another seed", same, all)
	}
}

// Every town that Validate lets through can be walked over.
func TestOptionsAtTheirEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Seed: rapid.Uint64().Draw(t, "seed"), Name: "Möwenhaven", Domain: "town.test:81",
			Streets: rapid.IntRange(20, 300).Draw(t, "streets"),
			Sites:   rapid.IntRange(40, 50).Draw(t, "sites"), PagesPerSite: rapid.IntRange(20, 25).Draw(t, "pages"),
			FarSeeds: rapid.IntRange(0, 20).Draw(t, "far"), NearSeeds: rapid.IntRange(1, 200).Draw(t, "near"),
		}
		for _, share := range []*float64{&o.HintReliability, &o.Locality, &o.Bridges, &o.Misprints, &o.ListedHouses, &o.ListedSites} {
			*share = rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "share")
		}
		town, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		s := town.Stats()
		if s.Streets != o.Streets || s.Hosts < o.Sites || s.Pages < 10*o.Sites || s.Relevant == 0 || s.Relevant > s.Pages/4 || len(town.Seeds()) == 0 {
			t.Errorf("%+v: %+v", o, s)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	town := mustTown(t, small())
	var urls []weburl.URL
	for s := range town.sites {
		urls = append(urls, town.url(ref{int32(s), town.sites[s].pages - 1}))
	}
	bodies := make([][][]byte, 4)
	var wg sync.WaitGroup
	for i := range bodies {
		wg.Go(func() {
			for _, u := range urls {
				r, err := town.Fetch(context.Background(), u)
				if err != nil {
					r = &page.Response{}
				}
				bodies[i] = append(bodies[i], r.Body)
			}
		})
	}
	wg.Wait()
	for i := range bodies[1:] {
		if !reflect.DeepEqual(bodies[0], bodies[1+i]) {
			t.Error("pages differ between goroutines")
		}
	}
}

var references = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// Every link leads to something of the town's web or to a host that it
// declares to be outside; those of a page to the pages that it says.
func TestLinksResolve(t *testing.T) {
	for seed := range uint64(2) {
		o := small()
		o.Seed = seed
		town := mustTown(t, o)
		kinds := map[whatKind]int{}
		traps := map[int]int{} // by site: pages of traps looked into
		var check func(at ref, trap string)
		check = func(at ref, trap string) {
			c := town.drawn(at, trap)
			base := town.url(at)
			var pages []ref
			for _, m := range references.FindAllSubmatch(c.buf.Bytes(), -1) {
				u, err := base.Resolve(html.UnescapeString(string(m[1])))
				if err != nil {
					t.Fatalf("%s: link %q: %v", base, m[1], err)
				}
				if slices.Contains(words().Outside, u.Host()) {
					continue
				}
				to, _, ok := town.targetOf(u)
				if !ok || to.what == missing {
					t.Fatalf("%s: link to %s leads nowhere", base, u)
				}
				kinds[to.what]++
				switch to.what {
				case aPage, moved, aTrap:
					pages = append(pages, to.ref)
				}
				if to.what == aTrap && traps[int(at.site)] < 50 {
					traps[int(at.site)]++
					check(to.ref, to.trap)
				}
			}
			for _, to := range c.links {
				if !slices.Contains(pages, to) {
					t.Fatalf("%s: link to %s is not on the page", base, town.url(to))
				}
			}
		}
		for s := range town.sites {
			for n := int32(seed); n < town.sites[s].pages; n += 2 {
				check(ref{int32(s), n}, "")
			}
		}
		for _, k := range []whatKind{aPage, aTrap, moved, document, image, deadLink} {
			if kinds[k] == 0 {
				t.Errorf("seed %d: no link to a target of kind %d", seed, k)
			}
		}
	}
}

func TestPathsFindTheirPages(t *testing.T) {
	town := mustTown(t, small())
	seen := map[weburl.URL]ref{}
	for s := range town.sites {
		for n := range town.sites[s].pages {
			at := ref{int32(s), n}
			u := town.url(at)
			if other, ok := seen[u]; ok {
				t.Fatalf("%s is page %v and %v", u, other, at)
			}
			seen[u] = at
			if to, bare, ok := town.targetOf(u); !ok || bare || to.what != aPage || to.ref != at {
				t.Fatalf("%s is page %v, found %+v", u, at, to)
			}
		}
	}
}

func FuzzLookup(f *testing.F) {
	town, err := New(small())
	if err != nil {
		f.Fatal(err)
	}
	for s := range len(town.sites) {
		f.Add(s, town.path(ref{int32(s), town.sites[s].pages - 1}))
	}
	f.Add(4, "/?monat=2026-12")
	f.Add(4, "/tag/0001-01-01.html")
	f.Add(9, "/index.php?cat=1&page=2&sid=0123abcd")
	f.Fuzz(func(t *testing.T, s int, path string) {
		if s < 0 || s >= len(town.sites) || !strings.HasPrefix(path, "/") {
			return
		}
		to := town.lookup(int32(s), path)
		switch {
		case to.what == aPage && town.path(to.ref) != path:
			t.Errorf("site %d: %q is the page at %q", s, path, town.path(to.ref))
		case to.what == aTrap:
			if c := town.drawn(to.ref, to.trap); c.buf.Len() == 0 {
				t.Errorf("site %d: %q is empty", s, path)
			}
		}
	})
}

var (
	jsonAddress = regexp.MustCompile(`"streetAddress":"([^"]*)","postalCode":"([^"]*)","addressLocality":"([^"]*)"`)
	spans       = regexp.MustCompile(`<script[^>]*>|</?span[^>]*>`)
	elements    = regexp.MustCompile(`<[^>]*>`)
	breaks      = regexp.MustCompile(`\s*\n\s*`)
	postBox     = regexp.MustCompile(`Postfach \d+, \d+ \pL+`)
)

// plainText is a page's text and structured data, as simply as can be.
func plainText(c *canvas) string {
	s := jsonAddress.ReplaceAllString(c.buf.String(), ">$1, $2 $3<")
	s = elements.ReplaceAllString(spans.ReplaceAllString(s, ""), "\n")
	return postBox.ReplaceAllString(breaks.ReplaceAllString(html.UnescapeString(s), ", "), "")
}

// What the truth says is what a simple pattern finds on the page.
func TestTruthIsOnThePage(t *testing.T) {
	o := small()
	town := mustTown(t, o)
	// number, postcode and town in a row, or the other way round
	there := regexp.MustCompile(`(?i)\d+ ?[a-d]?(?: ?[–/-] ?\d+)?,? (?:in |· )?(?:, )?(?:PLZ, Ort:, )?(?:D-|DE - )?4310[1-5] Demostadt`)
	back := regexp.MustCompile(`(?i)4310[1-5] Demostadt(?:-\w+| \(\w+\))?, [\p{L}. -]+ \d+`)
	relevant := 0
	town.eachPage(func(c *canvas) {
		want := len(c.facts().Addresses) + len(c.facts().Persons)
		text := plainText(town.drawn(c.at, ""))
		got := len(there.FindAllString(text, -1))
		if got < want {
			got += len(back.FindAllString(text, -1))
		}
		// "PLZ, Ort" in front of the next address can be read both ways.
		if got < want || got > want && want == 0 {
			t.Errorf("%s: %d addresses, a pattern finds %d in %s", town.url(c.at), want, got, text)
		}
		if want > 0 {
			relevant++
		}
	})
	if relevant < 80 {
		t.Errorf("only %d relevant pages looked at", relevant)
	}
}

var unmarred = regexp.MustCompile(`\d, 4310[1-5] Demostadt`)

func TestMisprints(t *testing.T) {
	o := small()
	o.Misprints = 1
	a, b := mustTown(t, small()), mustTown(t, o)
	if a.Stats() != b.Stats() {
		t.Error("misprints change what is true")
	}
	b.eachPage(func(c *canvas) {
		if len(c.facts().Addresses) > 0 && unmarred.MatchString(plainText(b.drawn(c.at, ""))) {
			t.Errorf("%s has no misprint", b.url(c.at))
		}
	})
}

// The default web is as large, and as hard, as promised: a crawl from the
// seeds reaches nearly all of it, and more than half of the relevant pages
// are joined to others only through pages that are not relevant.
func TestDefaultWeb(t *testing.T) {
	town := mustTown(t, DefaultOptions())
	if hosts, houses, streets := len(town.sites), town.places[0].last, len(town.places[0].streets); hosts < 500 || houses < 3000 || streets < 120 {
		t.Errorf("too small: %d hosts, %d houses, %d streets", hosts, houses, streets)
	}
	type drawing struct {
		relevant bool
		follow   []ref
	}
	pages := map[ref]drawing{} // those that can be reached; to draw them is what takes long
	direct := map[ref]bool{}   // another relevant page links to it
	all := 0                   // relevant pages
	town.eachPage(func(c *canvas) {
		if !town.reachable(c.at) {
			return
		}
		d := drawing{relevant: c.facts().Relevant}
		if !c.Nofollow() {
			d.follow = c.links
		}
		pages[c.at] = d
		if !d.relevant {
			return
		}
		all++
		for _, to := range c.links {
			direct[to] = direct[to] || to != c.at
		}
	})
	if len(pages) < 50_000 {
		t.Errorf("only %d pages", len(pages))
	}
	if share := float64(all) / float64(len(pages)); share < 0.02 || share > 0.05 {
		t.Errorf("%.1f %% of the pages are relevant, want 2 to 5", 100*share)
	}
	bridges := 0 // relevant pages that no other relevant page links to
	for at, d := range pages {
		if d.relevant && !direct[at] {
			bridges++
		}
	}
	if bridged := float64(bridges) / float64(all); bridged < 0.5 {
		t.Errorf("%.0f %% of the relevant pages are joined through bridges only, want more than half", 100*bridged)
	}

	seen := map[ref]bool{}
	var todo []ref
	push := func(r ref) {
		if !seen[r] && town.reachable(r) {
			seen[r] = true
			todo = append(todo, r)
		}
	}
	for _, s := range town.seedSites() {
		push(ref{s, homePage})
	}
	relevant := 0
	for len(todo) > 0 {
		d := pages[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if d.relevant {
			relevant++
		}
		for _, to := range d.follow {
			push(to)
		}
	}
	t.Logf("reached %d of %d pages, %d of %d relevant ones", len(seen), len(pages), relevant, all)
	if len(seen) < 50_000 || relevant < all*95/100 {
		t.Errorf("only %d pages and %d of %d relevant ones can be reached", len(seen), relevant, all)
	}
}

func BenchmarkMillionPages(b *testing.B) {
	o := DefaultOptions()
	o.Sites, o.PagesPerSite = 10_000, 100
	for b.Loop() {
		s := mustTown(b, o).Stats()
		if s.Pages < 1_000_000 || s.Relevant < s.Pages/100 {
			b.Errorf("stats = %+v", s)
		}
		b.ReportMetric(float64(s.Pages), "pages")
	}
}

func TestGoldenPages(t *testing.T) {
	town := mustTown(t, small())
	pages := map[string]ref{}
	note := func(name string, at ref) {
		if _, ok := pages[name]; !ok {
			pages[name] = at
		}
	}
	town.eachPage(func(c *canvas) {
		s := c.s
		switch {
		case s.kind == organisation && s.place == 0 && c.at.page == s.org.page(orgImprint, 0) && s.org.count[orgImprint] > 0 && c.facts().Relevant && !s.latin1:
			note("imprint", c.at)
		case s.kind == organisation && s.place != 0 && c.at.page == homePage:
			note("home-elsewhere", c.at)
		case s.kind == directory && c.at.page >= s.itemPage(0) && c.facts().Relevant:
			note("entry", c.at)
		case s.kind == newspaper && c.at.page == homePage:
			note("newspaper", c.at)
		case s.kind == linkCatalogue && c.at.page == s.listPage(0, 0):
			note("link-catalogue", c.at)
		}
	})
	if len(pages) != 5 {
		t.Fatalf("found %d of 5 pages", len(pages))
	}
	for name, at := range pages {
		file := filepath.Join("testdata", name+".html")
		got := append([]byte("<!-- "+town.url(at).String()+" -->\n"), town.drawn(at, "").buf.Bytes()...)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
	}
}

// An osmExtract is an extract as XML.
type osmExtract struct {
	Nodes []struct {
		ID  int64   `xml:"id,attr"`
		Lat float64 `xml:"lat,attr"`
		Lon float64 `xml:"lon,attr"`
		Tag osmTags `xml:"tag"`
	} `xml:"node"`
	Ways []struct {
		ID  int64 `xml:"id,attr"`
		Nds []struct {
			Ref int64 `xml:"ref,attr"`
		} `xml:"nd"`
		Tag osmTags `xml:"tag"`
	} `xml:"way"`
	Relations []struct {
		Members []struct {
			Type string `xml:"type,attr"`
			Ref  int64  `xml:"ref,attr"`
		} `xml:"member"`
		Tag osmTags `xml:"tag"`
	} `xml:"relation"`
}

type osmTags []struct {
	K string `xml:"k,attr"`
	V string `xml:"v,attr"`
}

func (tags osmTags) value(key string) string {
	for _, t := range tags {
		if t.K == key {
			return t.V
		}
	}
	return ""
}

// isHouse reports whether the object is a house of the town, not of a village.
func (tags osmTags) isHouse() bool {
	return tags.value("addr:housenumber") != "" && tags.value("addr:city") == "Demostadt"
}

func TestWriteOSM(t *testing.T) {
	houses := map[float64]int{}
	for _, share := range []float64{1, 0.7} {
		o := small()
		o.ListedHouses, o.ListedSites = share, 0.5
		town := mustTown(t, o)
		var b bytes.Buffer
		if err := town.WriteOSM(&b); err != nil {
			t.Fatal(err)
		}
		var x osmExtract
		if err := xml.Unmarshal(b.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		houses[share] = x.checkNodes(t, town) + x.checkWays(t, town)
		x.checkRelations(t)
	}
	if share := float64(houses[0.7]) / float64(houses[1]); share < 0.65 || share > 0.75 {
		t.Errorf("%d of %d houses are listed, want 70 %%", houses[0.7], houses[1])
	}
}

// points are the places of the nodes.
func (x *osmExtract) points() map[int64]orb.Point {
	points := map[int64]orb.Point{}
	for _, n := range x.Nodes {
		points[n.ID] = orb.Point{n.Lon, n.Lat}
	}
	return points
}

// checkNodes holds that houses lie in the town and in their postcode, and that web sites exist. It
// returns the number of houses.
func (x *osmExtract) checkNodes(t *testing.T, town *Town) (houses int) {
	t.Helper()
	border := orb.Polygon{town.places[0].border}
	sites := 0
	for _, n := range x.Nodes {
		if n.Tag.isHouse() {
			houses++
			at := orb.Point{n.Lon, n.Lat}
			if !planar.PolygonContains(border, at) {
				t.Errorf("house %d lies outside of the town", n.ID)
			}
			i := slices.Index(town.places[0].postcodes, n.Tag.value("addr:postcode"))
			if !planar.RingContains(town.places[0].sector(i), at) {
				t.Errorf("house %d lies outside of its postcode", n.ID)
			}
		}
		for _, k := range []string{"website", "contact:website", "url"} {
			v := n.Tag.value(k)
			if v == "" {
				continue
			}
			sites++
			if _, ok := town.Truth(mustURL(t, v)); !ok {
				t.Errorf("web site %s is none", v)
			}
		}
	}
	if sites < 5 {
		t.Errorf("%d web sites", sites)
	}
	return houses
}

// checkWays holds that buildings are closed and lie in the town, and that all streets are there. It
// returns the number of houses.
func (x *osmExtract) checkWays(t *testing.T, town *Town) (houses int) {
	t.Helper()
	border := orb.Polygon{town.places[0].border}
	points := x.points()
	streets := map[string]bool{}
	for _, w := range x.Ways {
		for _, nd := range w.Nds {
			if _, ok := points[nd.Ref]; !ok {
				t.Fatalf("way %d: no node %d", w.ID, nd.Ref)
			}
		}
		if w.Tag.isHouse() {
			houses++
			at := points[w.Nds[0].Ref]
			if !planar.PolygonContains(border, at) || len(w.Nds) != 5 || w.Nds[0] != w.Nds[4] {
				t.Errorf("building %d of %d corners at %v", w.ID, len(w.Nds), at)
			}
		}
		if w.Tag.value("highway") != "" {
			streets[w.Tag.value("name")] = true
		}
	}
	for _, s := range town.places[0].streets {
		if !streets[s.name] {
			t.Errorf("no street %s", s.name)
		}
	}
	return houses
}

// checkRelations holds that the members of boundaries exist.
func (x *osmExtract) checkRelations(t *testing.T) {
	t.Helper()
	points := x.points()
	corners := map[int64]int{} // of ways
	for _, w := range x.Ways {
		corners[w.ID] = len(w.Nds)
	}
	kinds := map[string]int{}
	for _, r := range x.Relations {
		kinds[r.Tag.value("boundary")]++
		for _, m := range r.Members {
			if _, ok := points[m.Ref]; m.Type == "node" && !ok || m.Type == "way" && corners[m.Ref] < 2 {
				t.Errorf("relation %s%s: no %s %d", r.Tag.value("name"), r.Tag.value("postal_code"), m.Type, m.Ref)
			}
		}
	}
	if kinds["administrative"] != 1+villages || kinds["postal_code"] != 5+villages-1 {
		t.Errorf("relations = %v", kinds)
	}
}

func TestWriteTruth(t *testing.T) {
	town := mustTown(t, small())
	var b bytes.Buffer
	if err := town.WriteTruth(&b); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Features []struct {
			Geometry   struct{ Coordinates []float64 }
			Properties struct {
				Street, Housenumber, Postcode, City string
				Names                               []string
				Person                              bool
				URLs                                []string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	persons := 0
	for _, f := range all.Features {
		if f.Properties.Person {
			persons++
		}
		for _, raw := range f.Properties.URLs {
			facts, ok := town.Truth(mustURL(t, raw))
			if !ok || facts.Relevant != (len(facts.Addresses) > 0) || facts.Forbidden || !slices.ContainsFunc(slices.Concat(facts.Addresses, facts.Persons), func(a Address) bool {
				return a.Street == f.Properties.Street && a.HouseNumber == f.Properties.Housenumber && a.Lon == f.Geometry.Coordinates[0]
			}) {
				t.Errorf("%s does not hold %s %s: %+v", raw, f.Properties.Street, f.Properties.Housenumber, facts)
			}
		}
	}
	if persons == 0 {
		t.Error("no private person")
	}
	addresses := map[string]bool{}
	town.eachPage(func(c *canvas) {
		for _, a := range c.facts().Addresses {
			addresses[a.Street+" "+a.HouseNumber] = addresses[a.Street+" "+a.HouseNumber] || town.reachable(c.at)
		}
	})
	maps.DeleteFunc(addresses, func(_ string, reached bool) bool { return !reached })
	if len(all.Features) != len(addresses)+persons {
		t.Errorf("%d features of %d addresses and %d of persons", len(all.Features), len(addresses), persons)
	}
}

// siteWith returns the first site that fits.
func siteWith(t testing.TB, town *Town, fits func(s *site) bool) int32 {
	t.Helper()
	for i := range town.sites {
		if fits(&town.sites[i]) {
			return int32(i)
		}
	}
	t.Fatal("no such site")
	return 0
}

func TestFetch(t *testing.T) {
	town := mustTown(t, DefaultOptions())
	www := siteWith(t, town, func(s *site) bool { return s.www && s.behaviour == works && !s.latin1 })
	intern := siteWith(t, town, func(s *site) bool {
		return s.kind == organisation && s.org.count[orgIntern] > 0 && s.behaviour == works
	})
	latin := siteWith(t, town, func(s *site) bool { return s.latin1 && !s.declares && s.behaviour == works })
	hostThat := func(f behaviour) string {
		return "http://" + town.host(siteWith(t, town, func(s *site) bool { return s.behaviour == f }))
	}
	bare := "http://" + town.sites[www].host + ".example"
	tests := []struct {
		url, kind, to, body string
		status              int
	}{
		{"http://" + town.host(www) + "/", "text/html; charset=utf-8", "", town.sites[www].name, 200},
		{bare + "/x?y=1", "text/html", "http://" + town.host(www) + "/x?y=1", "", 301},
		{"http://" + town.host(www) + "/index.html", "text/html", "http://" + town.host(www) + "/", "", 301},
		{"http://" + town.host(www) + "/alt/1.htm", "text/html", town.url(ref{www, 1}).String(), "", 301},
		{"http://" + town.host(www) + "/nix", "text/html", "", "Nicht gefunden", 404},
		{"http://" + town.host(www) + "/geloescht/1.html", "text/html", "", "", 410},
		{"http://" + town.host(www) + "/prospekt-1.pdf", "application/pdf", "", "%PDF", 200},
		{"http://" + town.host(www) + "/bild1.png", "image/png", "", "PNG", 200},
		{"http://" + town.host(intern) + "/robots.txt", "text/plain; charset=utf-8", "", "Disallow: /intern", 200},
		{"http://" + town.host(latin) + "/", "text/html", "", town.sites[latin].host[:2], 200},
		{"http://optout.example/robots.txt", "text/plain; charset=utf-8", "", "Disallow: /\n", 200},
		{hostThat(broken) + "/", "text/html", "", "", 500},
		{hostThat(noRobots) + "/robots.txt", "text/plain", "", "", 503},
		{"http://kalender.demostadt.example/?monat=2031-02", "text/html; charset=utf-8", "", "/tag/2031-02-28.html", 200},
		{"http://kalender.demostadt.example/tag/2031-02-29.html", "text/html", "", "", 404},
		{"http://kalender.demostadt.example/?monat=9999-12", "text/html; charset=utf-8", "", "?monat=9999-11", 200},
	}
	for _, test := range tests {
		r, err := town.Fetch(context.Background(), mustURL(t, test.url))
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if r.Status != test.status || r.Header.Get("Content-Type") != test.kind || r.Location.String() != test.to || !strings.Contains(string(r.Body), test.body) {
			t.Errorf("%s = %d %v → %q %.200q", test.url, r.Status, r.Header, r.Location, r.Body)
		}
	}
	if _, err := town.Fetch(context.Background(), mustURL(t, hostThat(resets)+"/")); !errors.Is(err, ErrReset) {
		t.Errorf("error = %v, want a reset", err)
	}
	if _, err := town.Fetch(context.Background(), mustURL(t, "http://"+words().Outside[0]+"/")); !errors.Is(err, ErrNoHost) {
		t.Errorf("error = %v, want no such host", err)
	}
	if r, _ := town.Fetch(context.Background(), mustURL(t, hostThat(slow)+"/")); r.Took != slowness {
		t.Errorf("a slow host took %v", r.Took)
	}
}

func TestServe(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreAnyFunction("runtime/pprof.profileWriter"))
	town := mustTown(t, small())
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	server := httptest.NewUnstartedServer(town)
	server.Listener.Close()
	server.Listener = ln
	server.Start()

	proxy := &url.URL{Scheme: "http", Host: ln.Addr().String()}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(url, host string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := client
		if host != "" { // straight, without the proxy
			req.Host = host
			c = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		}
		r, err := c.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	self := "http://" + ln.Addr().String()
	seed := town.Seeds()[0]
	want, _ := town.Fetch(ctx, seed)
	if status, body := get(seed.String(), ""); status != 200 || body != string(want.Body) {
		t.Errorf("proxy: %d %.80q", status, body)
	}
	if status, body := get(self+"/", seed.Host()); status != 200 || body != string(want.Body) {
		t.Errorf("by Host: %d %.80q", status, body)
	}
	_, port, _ := strings.Cut(ln.Addr().String(), ":")
	name := strings.TrimSuffix(seed.Host(), ".example")
	if status, body := get(self+"/", name+".localhost:"+port); status != 200 || strings.Contains(body, ".example/") || !strings.Contains(body, ".localhost:"+port+"/") {
		t.Errorf("by NAME.localhost: %d %.300q", status, body)
	}
	if status, body := get(self+"/bot", "127.0.0.1:"+port); status != 200 || !strings.Contains(body, "does not exist") {
		t.Errorf("the server itself: %d %.80q", status, body)
	}
	if status, _ := get("http://nobody.example/", ""); status != http.StatusBadGateway {
		t.Errorf("unknown host: %d", status)
	}
	if i := slices.IndexFunc(town.sites, func(s site) bool { return s.behaviour == resets }); i >= 0 {
		if status, _ := get("http://"+town.host(int32(i))+"/", ""); status != 0 {
			t.Errorf("a host that resets: %d", status)
		}
	}
	w := httptest.NewRecorder()
	town.ServeHTTP(w, httptest.NewRequest("POST", seed.String(), nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	server.Close()
}

func TestListenOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "9900", "example.org:80"} {
		if ln, err := Listen(address); err == nil {
			ln.Close()
			t.Errorf("listens on %s", address)
		}
	}
}

// The domain of all hosts can be that of a server on this machine.
func TestDomain(t *testing.T) {
	o := small()
	o.Domain = "localhost:9900"
	town := mustTown(t, o)
	for _, u := range town.Seeds() {
		if !strings.HasSuffix(u.Host(), ".localhost:9900") {
			t.Errorf("seed %s", u)
		}
		if r, err := town.Fetch(context.Background(), u); err != nil || r.Status != 200 || bytes.Contains(r.Body, []byte(".example")) {
			t.Errorf("%s = %v, %v", u, r, err)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	town := mustTown(b, DefaultOptions())
	var size, pages int
	d := town.dice(topicTrap)
	for b.Loop() {
		s := d.n(len(town.sites))
		size += town.drawn(ref{int32(s), int32(d.n(int(town.sites[s].pages)))}, "").buf.Len()
		pages++
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(size)/float64(pages), "B/page")
}

// Filled pages are long enough and say the same about addresses.
func TestPageSize(t *testing.T) {
	o := DefaultOptions()
	o.Sites, o.PagesPerSite, o.Streets = 60, 20, 40
	short, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	o.PageSize, o.Mentions, o.Calm = 16_000, 0.5, true
	long, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	pages, mentions := 0, 0
	for _, u := range long.Seeds() {
		a, err := long.Fetch(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		b, err := short.Fetch(context.Background(), u)
		if err != nil || b.Status != 200 || a.Status != 200 {
			continue
		}
		pages++
		for _, code := range long.places[0].postcodes {
			mentions += bytes.Count(a.Body, []byte(code+" "+long.o.Name+". ")) - bytes.Count(b.Body, []byte(code+" "+long.o.Name+". "))
		}
		if len(a.Body) < 15_000 || len(a.Body) > 18_000 {
			t.Errorf("%s has %d bytes", u, len(a.Body))
		}
		if got, want := bytes.Count(a.Body, []byte("<a ")), bytes.Count(b.Body, []byte("<a ")); got != want {
			t.Errorf("%s has %d links, without filling %d", u, got, want)
		}
	}
	if mentions == 0 || mentions == pages {
		t.Errorf("%d of %d pages name the town in their filler, want about half", mentions, pages)
	}
}
