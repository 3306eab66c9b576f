package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/index/export"

	"github.com/paulmach/orb"
)

// onMapOptions are those of a server whose map has a street with two houses that no
// page states, one that pages state, and a village.
func onMapOptions() Options {
	o := options()
	house := func(id, street, number string, lon float64) gazetteer.Place {
		return gazetteer.Place{ID: id, Kind: gazetteer.House, Names: []string{street}, Street: street, HouseNumber: number,
			Postcode: "26122", City: "Oldenburg", Country: "DE", Point: orb.Point{lon, 53.141}, HasPoint: true}
	}
	street := func(name string, lon float64) gazetteer.Place {
		return gazetteer.Place{ID: "way/7" + fmt.Sprint(len(name)), Kind: gazetteer.Street, Names: []string{name}, Street: name,
			Postcode: "26122", City: "Oldenburg", Country: "DE", Point: orb.Point{lon, 53.141}, HasPoint: true}
	}
	city := func(name string, lat float64) gazetteer.Place {
		return gazetteer.Place{ID: "node/9", Kind: gazetteer.City, Names: []string{name}, City: name, Country: "DE", Point: orb.Point{8.3, lat}, HasPoint: true}
	}
	o.Gazetteer = gazetteer.Of(city("Oldenburg", 53.14), city("Windmoor", 53.2), street("Ulmenweg", 8.22), house("node/1", "Ulmenweg", "1", 8.221),
		house("node/5", "Ulmenweg", "5", 8.225), street("Lange Straße", 8.214), house("node/55", "Lange Straße", "5", 8.214))
	return o
}

func TestPhotonKnowsTheMap(t *testing.T) {
	h := Handler(town(t, 0), onMapOptions())
	for _, c := range []struct{ query, want, warning string }{
		{"q=Ulmenweg 5", "house map Ulmenweg 5", ""},
		{"q=Ulmenweg 5, 26122 Oldenburg", "house map Ulmenweg 5", ""},
		{"q=Ulmenweg 5 Oldenburg", "house map Ulmenweg 5", ""},
		{"q=Ulmenweg 5 26122", "house map Ulmenweg 5", ""},
		{"q=26122 Oldenburg Ulmenweg Nr. 5", "house map Ulmenweg 5", ""},
		{"q=Lange Straße 5 Oldenburg", "house web Lange Straße 5", ""},
		{"q=Ulmenweg", "street map Ulmenweg", ""},
		{"q=Ulmenweg 3", "street map Ulmenweg", "no number 3"}, // between two houses
		{"q=Ulmenweg 99", "street map Ulmenweg", "no number 99"},
		{"q=Windmoor", "city map ", ""},
		{"q=Lange Straße 5", "house web Lange Straße 5", ""},
		{"q=Lange Straße 77", "street map Lange Straße", "no number 77"},
		{"q=Ulmenweg&layer=house", "", ""},
		{"q=Ulmenweg 5&layer=house&layer=street", "house map Ulmenweg 5", ""},
	} {
		v, _ := url.ParseQuery(c.query)
		got := ask(t, h, "/api?"+v.Encode())
		first := ""
		if features := got["features"].([]any); len(features) > 0 {
			p := features[0].(map[string]any)["properties"].(map[string]any)
			street, _ := p["street"].(string)
			first = strings.TrimSuffix(fmt.Sprint(p["type"], " ", p["known"], " ", street, " ", p["housenumber"]), " <nil>")
		}
		warning, _ := got["warning"].(string)
		if first != c.want || !strings.Contains(warning, c.warning) || (warning == "") != (c.warning == "") {
			t.Errorf("%s: %q, warning %q; want %q", c.query, first, warning, c.want)
		}
		if got["relaxed"] == true && strings.HasPrefix(c.want, "house") {
			t.Errorf("%s: the house is there, and the answer says that nothing has all the words", c.query)
		}
	}
	got := ask(t, h, "/structured?street=Ulmenweg&housenumber=5&lat=53.141&lon=8.225")
	p := got["features"].([]any)[0].(map[string]any)["properties"].(map[string]any)
	if p["housenumber"] != "5" || p["osm_id"] != float64(5) || p["osm_type"] != "N" || p["distance"] != float64(0) {
		t.Errorf("structured: %v", p)
	}
	if r, _ := get(h, "/api?q=x&layer=planet"); r.StatusCode != 400 {
		t.Errorf("layer=planet: %d", r.StatusCode)
	}
}

// The page shows what the map has and no page states, and says what it lacks.
func TestPageKnowsTheMap(t *testing.T) {
	h := Handler(town(t, 0), onMapOptions())
	for query, want := range map[string]string{
		"Ulmenweg 5":  `<article class="mapped"`, // the words are in the texts of the moving map, too
		"Ulmenweg 99": "no number 99",
		"Windmoor":    `<article class="mapped"`,
	} {
		if _, body := get(h, "/?lang=en&q="+url.QueryEscape(query)); !strings.Contains(body, want) {
			t.Errorf("%s: the page lacks %q", query, want)
		}
	}
	if _, body := get(h, "/?lang=en&q="+url.QueryEscape("Lange Straße 5")); strings.Contains(body, `<article class="mapped"`) {
		t.Error("a house that pages state is said to have none")
	}
}

// "Near" takes a street that no page states from the map.
func TestNearOnTheMap(t *testing.T) {
	got := ask(t, Handler(town(t, 0), onMapOptions()), "/v1/search?q="+url.QueryEscape("tischlerei near Ulmenweg 5"))
	if near, _ := got["near"].(string); near != "Ulmenweg 5, 26122 Oldenburg" || got["numberMatched"] != float64(2) {
		t.Errorf("near %q, %v matched", got["near"], got["numberMatched"])
	}
}

// features returns type, source and street of each feature of an answer in Photon's form.
func features(t *testing.T, answer map[string]any) (all []string) {
	t.Helper()
	for _, f := range answer["features"].([]any) {
		p := f.(map[string]any)["properties"].(map[string]any)
		street, _ := p["street"].(string)
		all = append(all, strings.TrimSuffix(fmt.Sprint(p["type"], " ", p["known"], " ", street, " ", p["housenumber"]), " <nil>"))
	}
	return all
}

// /reverse answers with what pages state and with what only the map knows, the nearest
// first, each once and with its distance.
func TestReverseKnowsTheMap(t *testing.T) {
	h := Handler(town(t, 0), onMapOptions())
	for _, c := range []struct{ query, want string }{
		{"lat=53.1411&lon=8.2251", "house map Ulmenweg 5"},
		{"lat=53.1411&lon=8.2251&layer=street", "street map Ulmenweg"},
		{"lat=53.1411&lon=8.2251&osm_tag=highway:street", "street map Ulmenweg"},
		{"lat=53.1411&lon=8.2251&osm_tag=!place:house", "street map Ulmenweg"},
		{"lat=53.1400&lon=8.2140&limit=2", "house web Lange Straße 5|street map Lange Straße"},
		{"lat=53.4&lon=9", ""},
	} {
		answer := ask(t, h, "/reverse?"+c.query)
		if got := strings.Join(features(t, answer), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.query, got, c.want)
		}
	}
	last := -1.0
	for _, f := range ask(t, h, "/reverse?lat=53.141&lon=8.22&limit=20")["features"].([]any) {
		d, ok := f.(map[string]any)["properties"].(map[string]any)["distance"].(float64)
		if !ok || d < last {
			t.Errorf("distance %v after %v", d, last)
		}
		last = d
	}
}

// osm_tag filters as Photon does, however many hits come before.
func TestOSMTag(t *testing.T) {
	h := Handler(town(t, 60), options())
	count := func(tags ...string) int {
		v := url.Values{"q": {"oldenburg"}, "limit": {"100"}, "osm_tag": tags}
		return len(ask(t, h, "/api?"+v.Encode())["features"].([]any))
	}
	all, houses := count(), count("place:house")
	if all < 60 || houses != all-count("!place:house") || houses != count("place")-count("place:!house") || count("!place", "craft") != count("craft") {
		t.Errorf("%d features, %d houses", all, houses)
	}
	for tags, want := range map[string]string{
		"craft:joiner": "Tischlerei Harms", "craft": "Tischlerei Harms", ":joiner": "Tischlerei Harms", "craft:!plumber": "Tischlerei Harms", "shop:bakery": "Bäckerei Müller",
	} {
		answer := ask(t, h, "/api?limit=1&q=oldenburg&osm_tag="+url.QueryEscape(tags))
		if f := answer["features"].([]any); len(f) != 1 || f[0].(map[string]any)["properties"].(map[string]any)["name"] != want {
			t.Errorf("%s: %v, want %s", tags, f, want)
		}
	}
	if n := count("craft:joiner", "shop:bakery"); n != 2 {
		t.Errorf("two tags have %d features", n)
	}
	if n := count("craft:joiner", "!:joiner"); n != 0 {
		t.Errorf("what is included and excluded has %d features", n)
	}
}

// Photon's further filters: countries, categories of the tag, and results that look the same.
func TestPhotonFilters(t *testing.T) {
	h := Handler(town(t, 0), onMapOptions())
	count := func(query string) int { return len(ask(t, h, "/api?"+query)["features"].([]any)) }
	for query, want := range map[string]string{
		"q=tischlerei&countrycode=de&countrycode=FR": "house web Stau 21|house web Nadorster Straße 12a", "q=tischlerei&countrycode=FR": "",
		"include=osm.shop.bakery": "house web Lange Straße 5", "q=tischlerei&include=osm.craft": "house web Nadorster Straße 12a", "q=tischlerei&include=osm.place": "house web Stau 21",
		"q=tischlerei&include=osm.shop,osm.craft.joiner&include=osm.craft": "house web Nadorster Straße 12a",
		"q=tischlerei&include=osm.craft&include=osm.shop":                  "", "q=tischlerei&exclude=osm.craft": "house web Stau 21",
		"q=tischlerei&exclude=osm.craft,osm.shop": "house web Stau 21|house web Nadorster Straße 12a", "q=tischlerei&exclude=osm.place&exclude=osm.craft.joiner": "",
	} {
		got := features(t, ask(t, h, "/api?"+query))
		slices.Sort(got)
		parts := strings.Split(want, "|")
		slices.Sort(parts)
		if strings.Join(got, "|") != strings.Join(parts, "|") {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"q=x&include=osm", "q=x&include=food.shop", "q=x&exclude=osm.a.b.c", "q=x&include=", "q=x&countrycode=DEU", "q=x&dedupe=2", "limit=3"} {
		if r, body := get(h, "/api?"+query); r.StatusCode != 400 {
			t.Errorf("%s: %d %s", query, r.StatusCode, body)
		}
	}
	if one, all := count("q=oldenburg&limit=50"), count("q=oldenburg&limit=50&dedupe=0"); one > all || one == 0 {
		t.Errorf("%d different results of %d", one, all)
	}
	if got := ask(t, h, "/api?q=tischlerei+harms&street_number=true")["features"].([]any)[0].(map[string]any)["properties"].(map[string]any); got["street"] != "Nadorster Straße 12a" {
		t.Errorf("street for Leaflet: %v", got["street"])
	}
}

// Of results that look the same the first stays.
func TestWithoutTwins(t *testing.T) {
	one := func(name, number string) export.Feature {
		return export.Feature{Properties: &photonProperties{Name: name, Street: "Am Markt", HouseNumber: number, OSMValue: "bakery"}}
	}
	if got := withoutTwins([]export.Feature{one("Brot", "1"), one("BROT", "1"), one("Brot", "2")}); len(got) != 2 {
		t.Errorf("%d of 3 stay, want 2", len(got))
	}
}
