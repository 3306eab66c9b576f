package api

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gazehound/gazetteer"
)

// differingOptions are those of a town whose map lacks some of its shops.
func differingOptions() Options {
	o := onMapOptions()
	o.OSM = true
	o.Gazetteer = gazetteer.Of(
		poi("node/71", "Tischlerei Harms", 8.2187, "Nadorster Straße", "12a", "craft=carpenter", "phone=+49 441 1"),
		poi("node/72", "Schuhhaus Schulte", 8.216, "Markt", "3", "shop=shoes"),
		poi("node/73", `<script>alert(9)</script>`, 8.2231, "Stau", "99", "shop=kiosk"))
	return o
}

// What the web and the map do not agree about is the same on the page, in the API, in its files and
// for the count on the search page, page after page.
func TestDifferences(t *testing.T) {
	h := Handler(town(t, 0), differingOptions())
	all := ask(t, h, "/v1/differences")
	counts := all["counts"].(map[string]any)
	if counts["missing"].(float64) < 2 || counts["not_found"].(float64) != 2 || int(all["numberMatched"].(float64)) != len(all["features"].([]any)) {
		t.Fatalf("counts %v of %v", counts, all["numberMatched"])
	}
	// Page after page gives each once.
	seen := map[string]bool{}
	for next := "/v1/differences?limit=2"; next != ""; {
		page := ask(t, h, next)
		for _, f := range page["features"].([]any) {
			id := f.(map[string]any)["id"].(string)
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
		next = ""
		for _, l := range page["links"].([]any) {
			if link := l.(map[string]any); link["rel"] == "next" {
				next = link["href"].(string)
			}
		}
	}
	if float64(len(seen)) != all["numberMatched"].(float64) {
		t.Errorf("%d on all pages, %v matched", len(seen), all["numberMatched"])
	}
	missing := ask(t, h, "/v1/differences?difference=missing")
	n := int(missing["numberMatched"].(float64))
	if float64(n) != counts["missing"].(float64) {
		t.Errorf("%d missing, %v counted", n, counts["missing"])
	}
	_, file := get(h, "/v1/differences.csv?difference=missing")
	if rows := strings.Count(file, "\r\n"); rows != n+1 {
		t.Errorf("%d rows for %d", rows, n)
	}
	_, page := get(h, "/differences?lang=en&difference=missing")
	if strings.Count(page, "<li>\n<h2>") != n || strings.Contains(page, "<script>alert") {
		t.Errorf("the page has %d of %d: %s", strings.Count(page, "<li>\n<h2>"), n, page)
	}
	for _, want := range []string{"http://127.0.0.1:8111/add_node?", "missing on the map", "Bäckerei Müller", "% sure", "/v1/differences.maproulette?difference=missing"} {
		if !strings.Contains(html.UnescapeString(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	_, page = get(h, "/differences?lang=de&difference=not_found")
	for _, want := range []string{"auf keiner Seite", "Schuhhaus Schulte", "https://www.openstreetmap.org/node/72", "load_and_zoom?", "select=node72", "&lt;script&gt;alert(9)"} {
		if !strings.Contains(strings.ReplaceAll(page, "&amp;", "&"), want) {
			t.Errorf("the page of what was not found lacks %q", want)
		}
	}
	// The search page counts the same, by its filters and by the kinds that its words ask for.
	link := regexp.MustCompile(`<a class="layer" href="(/differences\?[^"]*)">missing on the map <span class="count">(\d+)</span>`)
	for _, query := range []string{"", "bbox=8.2,53.13,8.3,53.15", "q=" + url.QueryEscape("bäckerei"), "kind=shop"} {
		_, body := get(h, "/?lang=en&"+query)
		m := link.FindStringSubmatch(body)
		if m == nil {
			t.Errorf("%q has no count", query)
			continue
		}
		_, page := get(h, html.UnescapeString(m[1]))
		if got := strings.Count(page, "<li>\n<h2>"); m[2] != strconv.Itoa(got) {
			t.Errorf("%q promises %s, and there are %d", query, m[2], got)
		}
	}
	if _, body := get(h, "/?lang=en&q=holz+und"); link.MatchString(body) {
		t.Error("words that are no kind have a count")
	}
}

// Bad requests say what is wrong; without a map there is nothing to compare, and the answer says so.
func TestDifferencesRefused(t *testing.T) {
	h := Handler(town(t, 0), differingOptions())
	for query, want := range map[string]string{
		"difference=mising": "missing", "min_confidence=2": "a number from 0 to 1", "q=haus": "not a parameter",
		"lat=53&lon=8": "radius is missing", "cursor=zzz": "cursor", "limit=0": "limit must be 1", "bbox=8,54,9,53": "minLat", "kind=zzzz": "kind",
	} {
		r, body := get(h, "/v1/differences?"+query)
		if r.StatusCode != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, r.StatusCode, body)
		}
		if r, _ := get(h, "/differences?"+query); r.StatusCode != 400 {
			t.Errorf("the page for %s: %d", query, r.StatusCode)
		}
		r, body = get(h, "/differences?"+query, "Accept", "text/html,*/*;q=0.8")
		if r.StatusCode != 400 || !strings.Contains(body, `role="alert"`) || !strings.Contains(body, want) {
			t.Errorf("a browser gets for %s: %d %s", query, r.StatusCode, body)
		}
	}
	for _, query := range []string{"limit=5", "cursor=a"} { // the files have all of them
		for _, format := range []string{"csv", "maproulette"} {
			if r, body := get(h, "/v1/differences."+format+"?"+query); r.StatusCode != 400 || !strings.Contains(body, "not a parameter") {
				t.Errorf("%s with %s: %d %s", format, query, r.StatusCode, body)
			}
		}
	}
	none := Handler(town(t, 0), options())
	if got := ask(t, none, "/v1/differences"); got["numberMatched"].(float64) != 0 || !strings.Contains(got["warning"].(string), "no OpenStreetMap data") {
		t.Errorf("without a map: %v", got)
	}
	o := differingOptions()
	o.Gazetteer = gazetteer.Of(gazetteer.Place{ID: "way/1", Kind: gazetteer.House, Names: []string{"Stau"}, Street: "Stau", HouseNumber: "1", City: "Oldenburg", Country: "DE"})
	if _, body := get(Handler(town(t, 0), o), "/differences?lang=en"); !strings.Contains(body, "no OpenStreetMap data") {
		t.Error("a gazetteer without places of the map makes everything missing")
	}
	if _, body := get(none, "/differences?lang=en"); !strings.Contains(body, "no OpenStreetMap data") {
		t.Error("the page without a map does not say so")
	}
}
