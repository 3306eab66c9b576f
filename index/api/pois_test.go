package api

import (
	"cmp"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/gazetteer/importer"
	"gazehound/index"
	"gazehound/index/differences"
	"gazehound/internal/localtime"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmxml"
)

func poi(id, name string, lon float64, street, number string, tags ...string) gazetteer.Place {
	return gazetteer.Place{ID: id, Kind: gazetteer.POI, Names: []string{name}, Street: street, HouseNumber: number, Postcode: "26122", City: "Oldenburg",
		Country: "DE", Point: orb.Point{lon, 53.141}, HasPoint: true, Object: &gazetteer.Object{ID: id, Names: []string{name}, Tags: tags}}
}

// Named places of the map are found by kind and by name before any page states them, with what the
// map says of them, and are usable as surroundings; one that a page states is one answer with it.
func TestPOIs(t *testing.T) {
	o := onMapOptions()
	o.Gazetteer = gazetteer.Of(
		poi("node/71", "Altes Rathaus", 8.215, "", "", "amenity=townhall", "opening_hours=Mo-Fr 08:00-16:00"),
		poi("node/72", "Thai Garten", 8.216, "Markt", "3", "amenity=restaurant", "cuisine=thai;asian", "phone=0441 998877", "website=https://thai.example/", "opening_hours=whenever we like"),
		poi("node/73", "Holz & Form Tischlerei", 8.2231, "Stau", "21", "craft=carpenter"),
		poi("node/74", strings.Repeat("Lang ", 40), 8.2, "", "", "shop=kiosk"))
	empty, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { empty.Close() })
	names := func(v map[string]any) (all []string) {
		list, _ := v["onmap"].([]any)
		for _, f := range list {
			all = append(all, f.(map[string]any)["properties"].(map[string]any)["name"].(string))
		}
		return all
	}
	before, after := Handler(empty, o), Handler(town(t, 0), o)
	for _, c := range []struct{ query, want string }{
		{"rathaus", "Altes Rathaus"}, {"townhall", "Altes Rathaus"}, {"altes rat", "Altes Rathaus"}, {"thai", "Thai Garten"}, {"restaurant", "Thai Garten"},
		{"restaurant near rathaus", "Thai Garten"}, {"rathaus montag 10 Uhr", "Altes Rathaus"}, {"rathaus sonntag 10 Uhr", ""}, {"tischlerei", "Holz & Form Tischlerei"},
		{"zzzz", ""}, {strings.Repeat("wort ", 38), ""}, {`"altes rathaus"`, "Altes Rathaus"}, {"montag 10 Uhr", "Altes Rathaus"}, {"sonntag 10 Uhr", ""},
	} {
		if got := strings.Join(names(ask(t, before, "/v1/search?q="+url.QueryEscape(c.query))), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	// Beside pages: the carpenter that a page states is one answer, with what the map says.
	if got := names(ask(t, after, "/v1/search?q=tischlerei")); len(got) != 0 {
		t.Errorf("beside its page the map still lists %q", got)
	}
	_, body := get(after, "/?lang=en&q=tischlerei")
	if !strings.Contains(body, "OpenStreetMap says:") || !strings.Contains(body, "Holz &amp; Form Tischlerei") {
		t.Error("the card lacks what the map says")
	}
	_, body = get(before, "/?lang=en&q=thai")
	for _, want := range []string{"Thai Garten", "tel:&#43;49441998877", "thai.example", "no page yet", "Markt 3, 26122 Oldenburg", `href="geo:53.141`} {
		if !strings.Contains(strings.ReplaceAll(body, "tel:+", "tel:&#43;"), want) {
			t.Errorf("the page of a place of the map lacks %q", want)
		}
	}
	if got := ask(t, after, "/v1/search?q=lange+near+Rathaus")["near"]; got != "Altes Rathaus" {
		t.Errorf("near %v", got)
	}
	suggested := ask(t, before, "/v1/suggest?q=alt")["suggestions"].([]any)
	if len(suggested) != 1 || suggested[0].(map[string]any)["text"] != "Altes Rathaus" {
		t.Errorf("suggested %v", suggested)
	}
	features := ask(t, before, "/api?q=Altes+Rathaus")["features"].([]any)
	if len(features) != 1 || features[0].(map[string]any)["properties"].(map[string]any)["osm_value"] != "townhall" {
		t.Errorf("/api has %v", features)
	}
}

// mapQuestions reads questions with what right places are tagged or named.
func mapQuestions(t *testing.T) (all [][2]string) {
	text, err := os.ReadFile(filepath.Join("testdata", "eval", "kaiserslautern.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if question, want, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(line, "#") {
			all = append(all, [2]string{question, want})
		}
	}
	if len(all) < 150 {
		t.Fatalf("%d questions", len(all))
	}
	return all
}

// isRight reports whether an object with these tags is what a question wants.
func isRight(want string, tags map[string]string) bool {
	if name, ok := strings.CutPrefix(want, "name "); ok {
		return strings.Contains(gazetteer.Key(tags["name"]), gazetteer.Key(name))
	}
	for tag := range strings.FieldsSeq(want) {
		key, value, _ := strings.Cut(tag, "=")
		key, among := strings.CutPrefix(key, "#")
		if tags[key] == value || among && strings.Contains(tags[key], value) {
			return true
		}
	}
	return false
}

// TestEvalMapPlaces asks for places of Kaiserslautern right after the import of its extract, before
// any crawl, and with pages about half of those that have an address. What is right is read from the
// extract's tags.
func TestEvalMapPlaces(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("reads a whole extract: asked for by make eval")
	}
	file := "../../../shared/data/gazetteer/osm-kaiserslautern-de/kaiserslautern.osm.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skipf("real data not found: %v", err)
	}
	truth := namedObjects(t, file)
	dir := t.TempDir()
	if _, err := (importer.Options{}).Import(t.Context(), dir, []string{file}, func(*importer.Imported) {}); err != nil {
		t.Fatal(err)
	}
	g, err := gazetteer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	o := options()
	o.Gazetteer = g
	empty, half := town(t, -1), town(t, -1)
	n, stated := 0, map[string]map[string]string{} // by the page
	for p := range g.EachPOI() {
		if p.Street == "" || p.HouseNumber == "" {
			continue
		}
		n++
		if n%2 == 0 {
			page := fmt.Sprintf("https://s%d.example/", n)
			putKnown(t, half, &p, page)
			stated[page] = truth[p.ID]
		}
	}
	t.Logf("%d of %d places with an address are on pages in the second half", len(stated), n)
	t.Run("before a crawl", func(t *testing.T) { askForPlaces(t, Handler(empty, o), truth, nil, 0.9) })
	t.Run("half of them on pages", func(t *testing.T) { askForPlaces(t, Handler(half, o), truth, stated, 0.9) })
}

// putKnown puts a page about a place of the map, as the geoparser reads it.
func putKnown(t *testing.T, x *index.Index, p *gazetteer.Place, url string) {
	t.Helper()
	d := shop{url, p.Names[0], p.Names[0], p.Street, p.HouseNumber, p.Postcode, p.City,
		p.Point[0], p.Point[1], "Herzlich willkommen", "Impressum", "", gazetteer.HousePrecision}.document()
	at := &d.Addresses[0]
	at.Object, at.Tags = p.ID, strings.Join(p.Object.Tags, ";")
	at.Kind = cmp.Or(differences.HitOf(p).Kind, at.Kind)
	if err := x.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
}

// askForPlaces asks a server all questions, and holds the figures against the least nDCG of the first
// ten places. The tags of places are in truth by the object, and in stated by the page.
func askForPlaces(t *testing.T, h http.Handler, truth, stated map[string]map[string]string, least float64) {
	sum, wrong, kinds, none, asked := 0.0, 0, 0, 0, 0
	for _, q := range mapQuestions(t) {
		right := 0
		for _, tags := range truth {
			if isRight(q[1], tags) {
				right++
			}
		}
		if right == 0 {
			continue // the extract has none
		}
		asked++
		if !strings.HasPrefix(q[1], "name ") {
			kinds++
		}
		list := ask(t, h, "/api?limit=10&q="+url.QueryEscape(q[0]))["features"].([]any)
		got, ideal, bad := 0.0, 0.0, 0
		for rank, f := range list {
			p := f.(map[string]any)["properties"].(map[string]any)
			id, _ := p["osm_id"].(float64)
			object := map[any]string{"N": "node", "W": "way", "R": "relation"}[p["osm_type"]]
			tags := truth[fmt.Sprintf("%s/%.0f", object, id)]
			if page, _ := p["website"].(string); p["known"] == "web" {
				tags = stated[page]
			}
			switch {
			case isRight(q[1], tags):
				got += 1 / math.Log2(float64(rank)+2)
			case rank < 3 && !strings.HasPrefix(q[1], "name "):
				bad++
			}
		}
		for rank := range min(10, right) {
			ideal += 1 / math.Log2(float64(rank)+2)
		}
		sum += got / ideal
		wrong += bad
		if len(list) == 0 {
			none++
		}
		if os.Getenv("EVAL_ERRORS") != "" && got/ideal < 0.99 {
			t.Logf("%.2f %q wants %s (%d): %d found, %d wrong kinds among the first three", got/ideal, q[0], q[1], right, len(list), bad)
		}
	}
	mean := sum / float64(asked)
	t.Logf("%d questions, %d about kinds: nDCG@10 %.3f; %d wrong kinds among the first three; %d without an answer", asked, kinds, mean, wrong, none)
	if mean < least {
		t.Errorf("nDCG@10 is below %.2f", least)
	}
}

// namedObjects reads the tags of the named objects of an extract, by ID.
func namedObjects(t *testing.T, file string) map[string]map[string]string {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	s := osmxml.New(context.Background(), z)
	defer s.Close()
	for s.Scan() {
		var tags osm.Tags
		switch o := s.Object().(type) {
		case *osm.Node:
			tags = o.Tags
		case *osm.Way:
			tags = o.Tags
		case *osm.Relation:
			tags = o.Tags
		}
		poi := slices.ContainsFunc(tags, func(t osm.Tag) bool { return gazetteer.IsPOIKey(t.Key) })
		if tags.Find("name") != "" && poi {
			id := string(s.Object().ObjectID().Type()) + "/"
			if ref := s.Object().ObjectID().Ref(); ref > 0 {
				all[id+strconv.FormatInt(ref, 10)] = tags.Map()
			}
		}
	}
	if err := s.Err(); err != nil || len(all) < 500 {
		t.Fatalf("%d objects, %v", len(all), err)
	}
	return all
}

// A place of the map is found by its name in each language that the map has.
func TestTwoLanguages(t *testing.T) {
	o := onMapOptions()
	hall := poi("node/81", "Rathaus Bozen", 8.215, "Markt", "1", "amenity=townhall")
	hall.Names = append(hall.Names, "Municipio di Bolzano")
	o.Gazetteer = gazetteer.Of(hall, gazetteer.Place{ID: "node/9", Kind: gazetteer.City, Names: []string{"Bozen - Bolzano", "Bozen", "Bolzano"},
		City: "Bozen - Bolzano", Country: "IT", Point: orb.Point{8.21, 53.14}, HasPoint: true})
	h := Handler(town(t, 0), o)
	for query, want := range map[string]string{"Rathaus Bozen": "Rathaus Bozen", "Municipio Bolzano": "Rathaus Bozen", "Bozen": "Bozen - Bolzano", "Bolzano": "Bozen - Bolzano"} {
		found := ask(t, h, "/api?q="+url.QueryEscape(query))["features"].([]any)
		if len(found) == 0 || found[0].(map[string]any)["properties"].(map[string]any)["name"] != want {
			t.Errorf("%s: %v, want %s first", query, found, want)
		}
	}
}

// A page that writes one name of a town or street is found by another.
func TestOtherNames(t *testing.T) {
	o := onMapOptions()
	at := orb.Point{8.21, 53.14}
	o.Gazetteer = gazetteer.Of(
		gazetteer.Place{ID: "node/9", Kind: gazetteer.City, Names: []string{"Bozen - Bolzano", "Bozen"}, City: "Bozen - Bolzano", Country: "IT", Point: at, HasPoint: true},
		gazetteer.Place{ID: "node/8", Kind: gazetteer.City, Names: []string{"Neuhafen am Meer", "Port Neuf", "PNF"}, City: "Neuhafen am Meer", Country: "IT", Point: at, HasPoint: true},
		gazetteer.Place{ID: "way/7", Kind: gazetteer.Street, Names: []string{"Museumstraße", "Via Museo"}, Street: "Museumstraße", Postcode: "39100", City: "Bozen - Bolzano",
			Country: "IT", Point: at, HasPoint: true})
	x := town(t, 0)
	putAll(t, x, []shop{
		{"https://forno.example/", "Forno", "Forno Moser", "Via Museo", "5", "39100", "Bolzano", 8.21, 53.14, "", "", "", gazetteer.HousePrecision},
		{"https://via.example/", "Bar", "Bar Sport", "Via Roma", "9", "39100", "Bolzano", 8.21, 53.14, "", "", "", gazetteer.HousePrecision},
		{"https://neuf.example/", "Quai", "Bar du Quai", "Rue du Quai", "1", "66000", "Port Neuf", 8.21, 53.14, "", "", "", gazetteer.HousePrecision},
	})
	h := Handler(x, o)
	for query, want := range map[string]string{
		"Forno Bozen": "Forno Moser", "Bar Bozen": "Bar Sport", "Museumstraße 5": "Forno Moser", "Museumstraße Bozen": "Forno Moser",
		"Neuhafen am Meer": "Bar du Quai", "Forno Bolzano": "Forno Moser", "Forno Meran": "", "Forno Neuhafen": "",
	} {
		found := ask(t, h, "/v1/search?q="+url.QueryEscape(query))
		got := ""
		if hits := found["features"].([]any); len(hits) > 0 {
			got, _ = hits[0].(map[string]any)["properties"].(map[string]any)["name"].(string)
		}
		relaxed, _ := found["relaxed"].(bool)
		if relaxed {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// All places of the map that fit are counted and written as addresses are, those with a page too.
func TestPlaces(t *testing.T) {
	o := onMapOptions()
	var all []gazetteer.Place
	for i := range 30 {
		p := poi(fmt.Sprintf("node/%d", 100+i), fmt.Sprintf("Kiosk %02d", i), 8.2+float64(i)/1000, "Markt", fmt.Sprint(i+1), "shop=kiosk")
		if i%3 == 0 {
			p.Postcode = "26121"
		}
		all = append(all, p)
	}
	all = append(all, poi("node/7", "Thai Garten", 8.216, "Markt", "3", "amenity=restaurant", "cuisine=thai"))
	o.Gazetteer = gazetteer.Of(all...)
	h := Handler(town(t, 0), o)
	for _, c := range []struct {
		query string
		want  int
	}{{"q=kiosk", 30}, {"kind=shop%3Dkiosk", 30}, {"", 31}, {"q=kiosk&postcode=26121", 10}, {"q=thai", 1}, {"bbox=8.1995,53,8.2045,54", 5}, {"q=zzzz", 0},
		{"q=kiosk&lat=53.14&lon=8.2&radius=1", 0}} {
		got := ask(t, h, "/v1/places?"+c.query)
		if n := len(got["features"].([]any)); n != c.want || got["numberMatched"] != float64(c.want) || got["numberReturned"] != float64(c.want) {
			t.Errorf("%s: %d features, matched %v, want %d", c.query, n, got["numberMatched"], c.want)
		}
	}
	for _, path := range []string{"/v1/places", "/v1/search", "/api", "/"} {
		if r, _ := get(h, path+"?q="+strings.Repeat("wort+", 1000)); r.StatusCode != 400 {
			t.Errorf("%s with a thousand words: %d", path, r.StatusCode)
		}
	}
	facets := ask(t, h, "/v1/places?facets=kind,postcode,host")["facets"].(map[string]any)
	if got := fmt.Sprint(facets); got != "map[host:[] kind:[map[count:30 value:shop=kiosk] map[count:1 value:amenity=restaurant cuisine=thai]] "+
		"postcode:[map[count:21 value:26122] map[count:10 value:26121]]]" {
		t.Error(got)
	}
	for _, format := range []string{"csv", "ndjson", "geojsonseq", "kml", "gpx", "atom"} {
		_, body := get(h, "/v1/places?q=kiosk&format="+format)
		if n := strings.Count(string(body), "Kiosk 17"); n == 0 {
			t.Errorf("%s: no place", format)
		}
	}
	_, page := get(h, "/?q=kiosk&lang=en")
	if want := `<a href="/v1/places?format=csv&amp;q=kiosk"`; !strings.Contains(string(page), want) {
		t.Errorf("the page has no %s", want)
	}
	if _, page := get(h, "/?kind=shop%3Dkiosk&lang=en"); !strings.Contains(string(page), "Kiosk 00") {
		t.Error("a filter by kind without words shows no place of the map")
	}
}

// Where no place of the map is open at the time that is asked for, the page says which opens next.
func TestNextOpenOnMap(t *testing.T) {
	o := onMapOptions()
	o.Gazetteer = gazetteer.Of(
		poi("node/1", "Stern-Apotheke", 8.215, "Markt", "1", "amenity=pharmacy", "opening_hours=Mo-Fr 09:00-18:00"),
		poi("node/2", "Mond-Apotheke", 8.216, "Markt", "2", "amenity=pharmacy", "opening_hours=Mo-Fr 08:30-12:00"),
		poi("node/3", "Tag-und-Nacht-Kiosk", 8.217, "Markt", "3", "shop=kiosk", "opening_hours=24/7"))
	sunday := time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)
	o.Clock = func() localtime.Clock { return localtime.Clock{Fixed: sunday} }
	for name, x := range map[string]*index.Index{"no pages": town(t, -1), "pages": town(t, 0)} {
		h := Handler(x, o)
		_, body := get(h, "/?lang=en&q="+url.QueryEscape("pharmacy open now"))
		if page := string(body); !strings.Contains(page, "Mond-Apotheke, opens") || strings.Contains(page, "Stern-Apotheke, opens") {
			t.Errorf("%s: the page does not say that Mond-Apotheke opens next:\n%s", name, page)
		}
		if _, body := get(h, "/?lang=en&q="+url.QueryEscape("kiosk open now")); !strings.Contains(string(body), "Tag-und-Nacht-Kiosk") || strings.Contains(string(body), ", opens") {
			t.Errorf("%s: an open place is not shown alone", name)
		}
	}
}

// Hits that are what is asked for come first, then places that only the map knows, then pages that
// mention the word; a place of the map that is called so comes first of all.
func TestPOIsStandBeforeMentions(t *testing.T) {
	o := onMapOptions()
	o.Gazetteer = gazetteer.Of(
		poi("node/91", "Bäckerei Nord", 8.215, "Markt", "1", "shop=bakery"), poi("node/92", "Rathausschänke", 8.216, "Markt", "2", "amenity=pub"),
		poi("node/93", "Zum Anker", 8.217, "Markt", "9", "amenity=pub"))
	x := town(t, 0)
	putAll(t, x, []shop{
		{"https://schuh.example/", "Schuhe", "Schuhhaus Janssen", "Lange Straße", "7", "26122", "Oldenburg", 8.2142, 53.14, "Neben der Bäckerei", "", "", gazetteer.HousePrecision},
		{"https://pub.example/", "Kneipe", "Kneipe Sauer", "Lange Straße", "9", "26122", "Oldenburg", 8.2143, 53.14, "Kneipe", "Kneipe", "", gazetteer.HousePrecision},
	})
	h := Handler(x, o)
	for query, want := range map[string]string{
		"Bäckerei":       "Bäckerei Müller; Bäckerei Nord; Schuhhaus Janssen",
		"Kneipe":         "Kneipe Sauer; Rathausschänke; Zum Anker; Café am Kaiser",
		"Rathausschänke": "Rathausschänke",
		"Schuhhaus":      "Schuhhaus Janssen",
	} {
		var names, onPage []string
		for _, f := range ask(t, h, "/api?q="+url.QueryEscape(query))["features"].([]any) {
			names = append(names, f.(map[string]any)["properties"].(map[string]any)["name"].(string))
		}
		if got := strings.Join(names, "; "); got != want {
			t.Errorf("/api %s: %s, want %s", query, got, want)
		}
		_, body := get(h, "/?lang=en&q="+url.QueryEscape(query))
		for _, m := range regexp.MustCompile(`(?s)<h2><span class="number"[^>]*>[^<]*</span>(?:<a [^>]*>)?([^<]*)<`).FindAllStringSubmatch(body, -1) {
			onPage = append(onPage, m[1])
		}
		if got := strings.Join(onPage, "; "); got != want {
			t.Errorf("the page of %s: %s, want %s", query, got, want)
		}
	}
	if got := ask(t, h, "/v1/search?q=B%C3%A4ckerei")["onmap_after"]; got != 1.0 {
		t.Errorf("onmap_after is %v", got)
	}
}

// A place that a page states is none that only the map knows, though its page is not among the hits.
func TestStatedOnAnotherPage(t *testing.T) {
	o := onMapOptions()
	o.Gazetteer = gazetteer.Of(poi("node/91", "Bäckerei Müller", 8.2140, "Lange Straße", "5", "shop=bakery"),
		poi("node/92", "Bäckerei Süd", 8.23, "Markt", "2", "shop=bakery"))
	x := town(t, 0)
	putAll(t, x, []shop{{"https://mitte.example/", "Bäckerei Bäckerei", "Bäckerei Mitte", "Lange Straße", "7", "26122", "Oldenburg", 8.2142, 53.14, "Bäckerei", "", "", gazetteer.HousePrecision}})
	h := Handler(x, o)
	for _, limit := range []int{1, 10} {
		list := ask(t, h, fmt.Sprintf("/v1/search?q=b%%C3%%A4ckerei&limit=%d", limit))["onmap"].([]any)
		if len(list) != 1 || list[0].(map[string]any)["id"] != "node/92" {
			t.Errorf("with %d hits the map has %v", limit, list)
		}
	}
}
