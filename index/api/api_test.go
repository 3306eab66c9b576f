package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gazehound/gazetteer"
	"gazehound/geoparse"
	"gazehound/index"
	"gazehound/index/web"
	"gazehound/internal/kind"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Bleve's analysis workers belong to the process, not to an index.
		goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var day = time.Date(2026, 11, 21, 10, 12, 40, 0, time.UTC)

// A shop is one address on one page of a made-up town.
type shop struct {
	url, title, name   string
	street, number     string
	code, city         string
	lon, lat           float64
	before, after, osm string
	precision          gazetteer.Precision
}

func (s shop) document() index.Document {
	d := index.Document{URL: s.url, Title: s.title, Lang: "de", Fetched: day}
	head := s.before + "\n" + s.name + "\n"
	text := fmt.Sprintf("%s %s, %s %s", s.street, s.number, s.code, s.city)
	d.Text = head + text + "\n" + s.after
	start := len([]rune(head))
	d.Addresses = []geoparse.Address{{
		Text: text, Start: start, End: start + len([]rune(text)), Street: s.street, HouseNumber: s.number, Postcode: s.code, City: s.city, Country: "DE",
		Level: geoparse.VerifiedLevel, Confidence: 0.98, Precision: s.precision, Point: orb.Point{s.lon, s.lat}, InRegion: true,
		Place:      gazetteer.Place{ID: s.osm, Kind: gazetteer.House, Street: s.street, Postcode: s.code, City: s.city},
		Belongings: geoparse.Belongings{Name: s.name, Kind: kind.OfName(s.name, "de", "DE")},
	}}
	return d
}

var shops = []shop{
	{"https://www.tischlerei-harms.example/kontakt", "Kontakt | Tischlerei Harms", "Tischlerei Harms", "Nadorster Straße", "12a", "26123", "Oldenburg", 8.2187, 53.15262, "Möbel nach Maß und Innenausbau seit 1921", "Telefon 0441 12345, Montag bis Freitag", "node/240036", gazetteer.HousePrecision},
	{"https://www.tischlerei-harms.example/impressum", "Impressum | Tischlerei Harms", "Tischlerei Harms", "Nadorster Straße", "12a", "26123", "Oldenburg", 8.2187, 53.15262, "Impressum\nAngaben gemäß § 5 TMG", "Inhaber der Tischlerei", "node/240036", gazetteer.HousePrecision},
	{"https://holz-und-form.example/", "Holz & Form – Ihre Tischlerei am Stau", "Holz & Form", "Stau", "21", "26122", "Oldenburg", 8.2231, 53.1397, "Willkommen in der Tischlerei Holz & Form", "Treppen, Türen, Fenster", "way/77", gazetteer.HousePrecision},
	{"https://baeckerei-mueller.example/", "Bäckerei Müller", "Bäckerei Müller", "Lange Straße", "5", "26122", "Oldenburg", 8.2140, 53.1400, "Frische Brötchen und Kuchen jeden Morgen", "Unser Café hat auch sonntags offen", "", gazetteer.InterpolatedPrecision},
	{"https://cafe-kaiser.example/start", "Café am Kaiser", "Café am Kaiser", "Kaiserstraße", "7", "26122", "Oldenburg", 8.2200, 53.1430, "Kaffee und Torten", "Öffnungszeiten 9 bis 18 Uhr", "node/5", gazetteer.HousePrecision},
	{"https://verein.example/", "Turnverein", "Turnverein von 1880", "Haarenesch", "1", "26121", "Oldenburg", 8.2010, 53.1440, "Sport für alle", "", "", gazetteer.StreetPrecision},
	{"https://ohne.example/", "Ohne Lage", "Verein ohne Lage", "Neue Straße", "3", "26121", "Oldenburg", 0, 0, "Wir sind neu", "", "", gazetteer.NoPrecision},
	{"https://hostil.example/<script>", "<script>alert(1)</script>\"><img src=x onerror=alert(2)>", "<b onmouseover=alert(3)>Böse</b>", "Neue Straße", "4", "26121", "Oldenburg", 8.2100, 53.1410, "<style>*{display:none}</style> javascript:alert(4)", "</textarea><script>document.title='x'</script> boese", "", gazetteer.HousePrecision},
}

// outline is that of the made-up town.
var outline = orb.MultiPolygon{{{{8.15, 53.10}, {8.22, 53.09}, {8.28, 53.12}, {8.29, 53.17}, {8.23, 53.20}, {8.16, 53.18}, {8.14, 53.14}, {8.15, 53.10}}}}

// town returns an index of the shops and n further addresses; n < 0: an empty one.
func town(t testing.TB, n int) *index.Index {
	t.Helper()
	x, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	all := shops
	if n < 0 {
		return x
	}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range n {
		all = append(all, shop{fmt.Sprintf("https://haus%d.example/kontakt", i), fmt.Sprintf("Haus %d", i), fmt.Sprintf("Haus %d", i), "Ringstraße", fmt.Sprint(i + 1), "26135", "Oldenburg",
			8.21 + r.NormFloat64()*0.02, 53.14 + r.NormFloat64()*0.014, "Ein Haus", "am Ring", "", gazetteer.HousePrecision})
	}
	putAll(t, x, all)
	return x
}

// putAll adds the pages of shops.
func putAll(t testing.TB, x *index.Index, all []shop) {
	t.Helper()
	errs := make(chan error, len(all))
	for _, s := range all {
		go func() { errs <- x.Put(context.Background(), s.document()) }()
	}
	for range all {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// options are those as shipped for a town, without a limit of requests: a test asks fast.
func options() Options {
	o := DefaultOptions()
	o.Rate = 0
	o.Region, o.Outline, o.Version = "Oldenburg", outline, "1.0.0"
	o.Licence, o.Attribution = "ODbL-1.0", "© OpenStreetMap contributors"
	return o
}

// State and licences are pages for people and data for programs.
func TestNotes(t *testing.T) {
	o := options()
	o.GazetteerDate = "2026-11-19"
	h := Handler(town(t, 0), o)
	const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct{ target, accept, media, want string }{
		{"/status?lang=de", browser, "text/html; charset=utf-8", "<dt>Adressen</dt><dd>7</dd>"},
		{"/status", browser, "text/html; charset=utf-8", "<dt>Map data of</dt><dd>2026-11-19</dd>"},
		{"/status", "*/*", "application/json; charset=utf-8", `"addresses":7`},
		{"/licences?lang=de", browser, "text/html; charset=utf-8", "<dd>© OpenStreetMap contributors</dd>"},
		{"/licences", "", "text/plain; charset=utf-8", "ODbL-1.0"},
	} {
		r, body := get(h, c.target, "Accept", c.accept)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != c.media || !strings.Contains(body, c.want) || !strings.Contains(strings.Join(r.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("%s for %q: %d %s %v %.300s", c.target, c.accept, r.StatusCode, r.Header.Get("Content-Type"), r.Header.Values("Vary"), body)
		}
	}
}

// A mistake in the address of a page is told to people on a page in their language, to programs as JSON.
func TestMistakesOnPages(t *testing.T) {
	x := town(t, 0)
	o := options()
	o.OSM, o.Remove = true, func(Removal) (int, error) { return 1, nil }
	h := Handler(x, o)
	const browser = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	id := ask(t, h, "/v1/search?limit=1")["features"].([]any)[0].(map[string]any)["id"].(string)
	mistakes := map[string]string{
		"lang=%2A": "lang erwartet eine Sprache", "lang=de&lang=en": "lang ist", "nothing=1": "nothing"}
	check := func(target, accept, media string, says ...string) {
		t.Helper()
		r, body := get(h, target, "Accept", accept, "Accept-Language", "de")
		if r.StatusCode != 400 || r.Header.Get("Content-Type") != media {
			t.Errorf("%s for %q: %d %s", target, accept, r.StatusCode, r.Header.Get("Content-Type"))
		}
		for _, said := range says {
			if !strings.Contains(body, said) {
				t.Errorf("%s for %q does not say %q: %s", target, accept, said, body)
			}
		}
		if strings.Contains(body, "lang=%2A") {
			t.Errorf("%s for %q: a link fails in the same way", target, accept)
		}
	}
	for _, path := range []string{"/", "/bot", "/status", "/licences", web.DifferencesPath, web.AddressPath + id} {
		for query, said := range mistakes {
			check(path+"?"+query, browser, anyHTML, `<html lang="de"`, said)
			check(path+"?"+query, "application/json", "application/problem+json", `"parameter":"`)
		}
		if r, _ := get(h, path+"?lang=", "Accept", browser); r.StatusCode != 200 {
			t.Errorf("%s with an empty field of a form: %d", path, r.StatusCode)
		}
	}
}

// get requests target from h and returns the answer with its body.
func get(h http.Handler, target string, header ...string) (*http.Response, string) {
	r := httptest.NewRequest("GET", "http://gazehound.example"+target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

// ask gets target and decodes its JSON.
func ask(t testing.TB, h http.Handler, target string) map[string]any {
	t.Helper()
	r, body := get(h, target)
	if r.StatusCode != 200 {
		t.Fatalf("%s: %d %s", target, r.StatusCode, body)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s: %v in %s", target, err, body)
	}
	return v
}

func TestSearch(t *testing.T) {
	h := Handler(town(t, 0), options())
	r, body := get(h, "/v1/search?q=tischlerei+harms&limit=1")
	if got := r.Header.Get("Content-Type"); got != "application/geo+json" {
		t.Errorf("content type %q", got)
	}
	body = regexp.MustCompile(`"timeStamp":"[^"]*"`).ReplaceAllString(body, `"timeStamp":"T"`)
	body = regexp.MustCompile(`"score":[0-9.]+`).ReplaceAllString(body, `"score":1`)
	body = regexp.MustCompile(`"(ref|id)":"[0-9a-f]{16}"`).ReplaceAllString(body, `"$1":"0123456789abcdef"`)
	want := `{"type":"FeatureCollection","version":"0.1.0","licence":"ODbL-1.0","attribution":"© OpenStreetMap contributors","query":"tischlerei harms","bbox":[8.2187,53.15262,8.2187,53.15262],"numberMatched":1,"numberReturned":1,"timeStamp":"T","features":[{"type":"Feature","id":"0123456789abcdef","geometry":{"type":"Point","coordinates":[8.2187,53.15262]},"properties":{"ref":"0123456789abcdef","name":"Tischlerei Harms","label":"Tischlerei Harms, Nadorster Straße 12a, 26123 Oldenburg","addr:street":"Nadorster Straße","addr:housenumber":"12a","addr:postcode":"26123","addr:city":"Oldenburg","addr:country":"DE","addr:full":"Nadorster Straße 12a, 26123 Oldenburg","website":"https://www.tischlerei-harms.example/","@kind":"craft=joiner","craft":"joiner","@role":"own","@source_uri":"https://www.tischlerei-harms.example/kontakt","@title":"Kontakt | Tischlerei Harms","@precision":"house","@level":"verified","@confidence":0.98,"@evidence":"…Innenausbau seit 1921 Tischlerei Harms Nadorster Straße 12a, 26123 Oldenburg Telefon 0441 12345, Montag bis Freitag","@first_seen":"2026-11-21T10:12:40Z","@last_seen":"2026-11-21T10:12:40Z","@mentions":2,"@hosts":1,"@pages":["https://www.tischlerei-harms.example/kontakt","https://www.tischlerei-harms.example/impressum"],"@gazetteer":"node/240036","@osm":"node/240036","score":1}}],"links":[{"rel":"self","href":"/v1/search?q=tischlerei+harms&limit=1","type":"application/geo+json"}]}` + "\n"
	var a, b any
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatal(err)
	}
	json.Unmarshal([]byte(want), &b)
	if d := cmp.Diff(b, a); d != "" {
		t.Errorf("answer (-want +got):\n%s\n%s", d, body)
	}
}

func TestPhoton(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, path := range []string{"/api", "/api/"} {
		v := ask(t, h, path+"?q=tischlerei+harms&lat=53.14&lon=8.21&zoom=13&limit=5&lang=de&location_bias_scale=0.2")
		f := v["features"].([]any)[0].(map[string]any)
		p := f["properties"].(map[string]any)
		want := map[string]any{"type": "house", "name": "Tischlerei Harms", "street": "Nadorster Straße", "housenumber": "12a", "postcode": "26123", "city": "Oldenburg",
			"country": "Deutschland", "countrycode": "DE", "osm_type": "N", "osm_id": 240036.0, "osm_key": "craft", "osm_value": "joiner", "website": "https://www.tischlerei-harms.example/",
			"distance": 1520.0, "known": "web"}
		if d := cmp.Diff(any(want), any(p)); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
		if f["geometry"].(map[string]any)["coordinates"].([]any)[0] != 8.2187 {
			t.Errorf("coordinates %v are not lon, lat numbers", f["geometry"])
		}
	}
	if v := ask(t, h, "/api?q=tischlerei&limit=100000"); v["warning"] == nil || v["numberReturned"] == 0.0 {
		t.Errorf("a limit that is too high must be cut with a warning: %v", v)
	}
	if v := ask(t, h, "/api?q=verein"); len(v["features"].([]any)) != 1 {
		t.Errorf("a hit without coordinate must not come: %v", v["features"])
	}
}

func TestReverse(t *testing.T) {
	h := Handler(town(t, 0), options())
	first := func(target string) string {
		v := ask(t, h, target)
		if len(v["features"].([]any)) == 0 {
			return ""
		}
		return v["features"].([]any)[0].(map[string]any)["properties"].(map[string]any)["name"].(string)
	}
	if got := first("/reverse?lat=53.1401&lon=8.2141"); got != "Bäckerei Müller" {
		t.Errorf("nearest is %q", got)
	}
	if got := first("/reverse?lat=53.30&lon=8.2141"); got != "" {
		t.Errorf("in 1 km of nowhere is %q", got)
	}
	if got := first("/reverse?lat=53.18&lon=8.2187&radius=5"); got != "Tischlerei Harms" {
		t.Errorf("in 5 km is %q", got)
	}
}

// limit=20 is limit=10 and the page after it, whatever the order is by.
func TestOrderDoesNotDependOnLimit(t *testing.T) {
	h := Handler(town(t, 40), options())
	for _, q := range []string{"q=haus", "q=haus&lat=53.14&lon=8.21", "lat=53.14&lon=8.21&sort=distance", "", "bbox=8.1,53,8.3,53.3"} {
		ids := func(limit int) string {
			var all []string
			next := fmt.Sprintf("/v1/search?%s&limit=%d", q, limit)
			next = strings.Replace(next, "?&", "?", 1)
			for next != "" {
				v := ask(t, h, next)
				for _, f := range v["features"].([]any) {
					all = append(all, f.(map[string]any)["id"].(string))
				}
				next = ""
				for _, l := range v["links"].([]any) {
					if l.(map[string]any)["rel"] == "next" {
						next = l.(map[string]any)["href"].(string)
					}
				}
			}
			return strings.Join(all, " ")
		}
		whole := ids(500)
		if n := len(strings.Fields(whole)); n < 40 {
			t.Errorf("%s: only %d hits", q, n)
		}
		for _, limit := range []int{7, 20} {
			if got := ids(limit); got != whole {
				t.Errorf("%s: order with limit=%d differs", q, limit)
			}
		}
	}
}

func TestETag(t *testing.T) {
	x := town(t, 0)
	h := Handler(x, options())
	for _, target := range []string{"/v1/search?q=tischlerei", "/api?q=tischlerei", "/reverse?lat=53.14&lon=8.21", "/?q=tischlerei"} {
		r, _ := get(h, target)
		tag := r.Header.Get("ETag")
		if !strings.HasPrefix(tag, `W/"`) || r.Header.Get("Cache-Control") == "" {
			t.Fatalf("%s: ETag %q", target, tag)
		}
		for _, given := range []string{tag, `"x", ` + tag, "*", strings.TrimPrefix(tag, "W/")} {
			if r, body := get(h, target, "If-None-Match", given); r.StatusCode != 304 || body != "" {
				t.Errorf("%s with %s: %d", target, given, r.StatusCode)
			}
		}
		if r, _ := get(h, target, "If-None-Match", `W/"other"`); r.StatusCode != 200 {
			t.Errorf("%s with another tag: %d", target, r.StatusCode)
		}
		if r, _ := get(h, target+"&limit=3", "If-None-Match", tag); r.StatusCode != 200 {
			t.Errorf("%s: the tag of another request fits", target)
		}
	}
	r, _ := get(h, "/v1/search?q=tischlerei")
	before := r.Header.Get("ETag")
	if err := x.Put(t.Context(), shops[0].document()); err != nil {
		t.Fatal(err)
	}
	if r, _ := get(h, "/v1/search?q=tischlerei"); r.Header.Get("ETag") == before {
		t.Error("a write does not change the ETag")
	}
}

func TestCORS(t *testing.T) {
	x := town(t, 0)
	for _, c := range []struct {
		cors           []string
		origin, answer string
	}{
		{nil, "https://a.example", ""},
		{[]string{"*"}, "https://a.example", "*"},
		{[]string{"*"}, "", ""},
		{[]string{"https://a.example", "https://b.example"}, "https://b.example", "https://b.example"},
		{[]string{"https://a.example"}, "https://c.example", ""},
		{[]string{"https://a.example"}, "https://a.example.evil.example", ""},
		{[]string{"https://a.example"}, "null", ""},
	} {
		o := options()
		o.CORS = c.cors
		h := Handler(x, o)
		if r, _ := get(h, "/v1/search?q=a", "Origin", c.origin); r.Header.Get("Access-Control-Allow-Origin") != c.answer {
			t.Errorf("%v, %s: %q", c.cors, c.origin, r.Header.Get("Access-Control-Allow-Origin"))
		}
	}
	for _, cors := range []string{"a.example", "https://a.example/", "https://a.example/x", "ftp://a", "https://", "*.a.example"} {
		o := options()
		o.CORS = []string{cors}
		if o.Validate() == nil {
			t.Errorf("CORS %q passes", cors)
		}
	}
}

func TestHeaders(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, target := range []string{"/", "/v1/search", "/api?q=a", "/nowhere", "/status", "/v1/search?bad=1"} {
		r, _ := get(h, target)
		csp := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: CSP %q", target, csp)
		}
		for _, name := range []string{"X-Content-Type-Options", "Referrer-Policy", "X-Frame-Options"} {
			if r.Header.Get(name) == "" {
				t.Errorf("%s: no %s", target, name)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/v1/search", strings.NewReader("x")))
		if w.Code != 405 || w.Header().Get("Allow") == "" || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	for _, target := range []string{"/", "/v1/search?q=a", "/nowhere", "/healthz"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("HEAD", target, nil))
		if w.Body.Len() != 0 {
			t.Errorf("HEAD %s has a body", target)
		}
	}
}

func TestStatusAndHealth(t *testing.T) {
	x := town(t, 0)
	o := options()
	o.Commit, o.GazetteerDate = "3f2c1ab", "2026-11-19"
	h := Handler(x, o)
	v := ask(t, h, "/status")
	if v["addresses"] != 7.0 || v["pages"] != 8.0 || v["status"] != "ok" || v["region"] != "Oldenburg" || v["crawl"] != "stopped" || v["data_updated"] == nil {
		t.Errorf("status %v", v)
	}
	if v := ask(t, h, "/healthz"); v["status"] != "ok" {
		t.Errorf("health %v", v)
	}
	o.Checks = map[string]func(context.Context) error{"disk": func(context.Context) error { return errors.New("0.9 GB free, reserve 2 GB") }}
	r, body := get(Handler(x, o), "/healthz")
	if r.StatusCode != 503 || !strings.Contains(body, `"disk":"0.9 GB free, reserve 2 GB"`) || !strings.Contains(body, `"index":"ok"`) {
		t.Errorf("health with a full disk: %d %s", r.StatusCode, body)
	}
	x.Close()
	if r, body := get(h, "/healthz"); r.StatusCode != 503 || !strings.Contains(body, "closed") {
		t.Errorf("health of a closed index: %d %s", r.StatusCode, body)
	}
	if r, body := get(h, "/v1/search?q=a"); r.StatusCode != 503 {
		t.Errorf("search in a closed index: %d %s", r.StatusCode, body)
	}
}

func TestTimeLimit(t *testing.T) {
	o := options()
	o.QueryTimeout = time.Nanosecond
	r, body := get(Handler(town(t, 0), o), "/v1/search?q=tischlerei")
	if r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// malformed are requests that must be answered with 400 and name the
// parameter; "" where none is at fault.
var malformed = []struct{ target, parameter string }{}

func init() {
	add := func(parameter string, targets ...string) {
		for _, target := range targets {
			malformed = append(malformed, struct{ target, parameter string }{target, parameter})
		}
	}
	for _, v := range []string{"", "1", "1,2", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6", "1,2,3,4,5,6,7", "a,b,c,d", "NaN,1,2,3", "1,NaN,2,3", "Inf,1,2,3", "1,1,2,+Inf", "0x1,1,2,3", "1_0,1,2,3",
		"8.2,53.2,8.3,53.1", "181,1,182,2", "-181,1,1,2", "1,91,2,92", "1,-91,2,0", "53.07,8.10,53.21,8.33", "8.1;53.1;8.2;53.2", "8,1,53,1,8", "1,2,3,", ",,,", "1e400,1,2,3", "--1,1,2,3", "1,2,3,4e", "null", "[1,2,3,4]"} {
		add("bbox", "/v1/search?bbox="+url.QueryEscape(v), "/api?q=a&bbox="+url.QueryEscape(v))
	}
	for _, v := range []string{"91", "-91", "abc", "NaN", "Inf", "", " ", "53,14", "0x10", "1e999", "53.1.2", "5 3", "١٢", strings.Repeat("1", 400)} {
		add("lat", "/v1/search?lon=8&lat="+url.QueryEscape(v), "/reverse?lon=8&lat="+url.QueryEscape(v))
	}
	for _, v := range []string{"181", "-180.001", "abc", "NaN", ""} {
		add("lon", "/v1/search?lat=8&lon="+url.QueryEscape(v), "/api?q=a&lat=8&lon="+url.QueryEscape(v))
	}
	add("lon", "/v1/search?lat=53", "/api?q=a&lat=53", "/reverse?lat=53", "/?lat=53")
	add("lat", "/v1/search?lon=8", "/reverse", "/reverse?lon=8", "/v1/search?radius=5", "/v1/search?sort=distance", "/v1/search?q=a&radius=10", "/?lon=8", "/?sort=distance")
	for _, v := range []string{"0", "-1", "501", "1.5", "abc", "", "1e3", "99999999999999999999", "0x10", " 5", "+", "ten"} {
		add("limit", "/v1/search?limit="+url.QueryEscape(v))
	}
	add("limit", "/api?q=a&limit=0", "/api?q=a&limit=-5", "/api?q=a&limit=x", "/reverse?lat=1&lon=1&limit=0")
	for _, v := range []string{"0", "-1", "1000001", "abc", "NaN", "Inf", "", "1km", "1e99"} {
		add("radius", "/v1/search?lat=53&lon=8&radius="+url.QueryEscape(v))
	}
	add("radius", "/reverse?lat=1&lon=1&radius=0", "/reverse?lat=1&lon=1&radius=1001", "/reverse?lat=1&lon=1&radius=x", "/api?q=a&radius=5")
	for _, v := range []string{"x", "", "====", "AAAA", "%", "é", strings.Repeat("A", 35), strings.Repeat("A", 300), "'; DROP TABLE x"} {
		if v != "" { // an empty cursor is the first page
			add("cursor", "/v1/search?cursor="+url.QueryEscape(v))
		}
	}
	add("sort", "/v1/search?sort=", "/v1/search?sort=size", "/v1/search?sort=DISTANCE", "/v1/search?sort=relevance,distance")
	add("q", "/v1/search?q="+strings.Repeat("a", 201), "/v1/search?q="+url.QueryEscape(strings.Repeat("ä ", 101)), "/v1/search?q=%ff%fe", "/v1/search?q=a%00b", "/api", "/api?q=", "/api?q=+++", "/api/?lat=1&lon=1", "/v1/search?q=a&q=b")
	add("street", "/v1/search?street="+strings.Repeat("a", 201), "/v1/search?street=%ff")
	add("postcode", "/v1/search?postcode="+strings.Repeat("1", 201))
	add("host", "/v1/search?host="+strings.Repeat("a", 201))
	add("zoom", "/api?q=a&zoom=-1", "/api?q=a&zoom=25", "/api?q=a&zoom=x", "/api?q=a&zoom=1.5", "/api?q=a&zoom=", "/v1/search?zoom=5")
	add("location_bias_scale", "/api?q=a&location_bias_scale=-0.1", "/api?q=a&location_bias_scale=1.1", "/api?q=a&location_bias_scale=x", "/api?q=a&location_bias_scale=NaN")
	add("lang", "/api?q=a&lang=", "/api?q=a&lang=%3Cscript%3E", "/api?q=a&lang="+strings.Repeat("a", 40), "/v1/search?lang=de")
	add("", "/v1/search?q=%zz", "/v1/search?q=%", "/v1/search?q=a;b=c", "/v1/search?%gg=1", "/api?q=%e", "/?q=%zz")
	for _, name := range []string{"query", "near", "page", "offset", "Q", "Limit", "lmit", "format", "debug", "__proto__", "q[]", "bbox[]", "callback", "radius_km", "housenumber", "size", "<script>"} {
		add(clip(name), "/v1/search?"+url.QueryEscape(name)+"=1")
	}
	add("osm_tag", "/api?q=a&osm_tag=", "/api?q=a&osm_tag=a:b:c", "/api?q=a&osm_tag=%21", "/reverse?lat=1&lon=1&osm_tag=a:%21", "/api?q=a&osm_tag=:", "/v1/search?osm_tag=a")
	add("x", "/?x=1", "/status?x=1", "/reverse?lat=1&lon=1&x=1")
	for _, name := range []string{"bbox", "lat", "limit", "q"} {
		add(name, fmt.Sprintf("/v1/search?%s=1&%s=1", name, name))
	}
	add("since", "/v1/search?since=gestern", "/feed.atom?since=-7d", "/v1/search?since=7", "/v1/search?since=7w", "/v1/search?since=2026-13-01", "/v1/search?since=99999999d", "/v1/search?since=0001-01-01", "/v1/search?since=%2B7d")
	add("month", "/v1/search?month=2026", "/v1/search?month=2026-13", "/v1/export.csv?month=26-11", "/v1/search?month=2026-11&month=", "/feed.atom?month=1969-12")
	add("datetime", items+"?datetime=..%2F..x", items+"?datetime=2026", items+"?datetime=2026-01-02T00:00:00Z/2026-01-01T00:00:00Z", items+"?datetime=2026-01-01T00:00:00Z/..%2F..")
	add("bbox", items+"?bbox=1,2,3,4,5", items+"?bbox=1,2,x,3,4,y", "/v1/clusters?zoom=3", "/v1/clusters?zoom=3&bbox=1")
	add("zoom", "/v1/clusters?bbox=1,2,3,4", "/v1/clusters?bbox=1,2,3,4&zoom=23", "/v1/clusters?bbox=1,2,3,4&zoom=x")
	add("q", "/v1/suggest", "/v1/suggest?q=", "/structured?q=a&street=b", "/v1/suggest?q="+strings.Repeat("a", 201))
	add("street", "/structured", "/structured?housenumber=5", "/structured?lat=1&lon=1", "/structured?street="+strings.Repeat("a", 150)+"&city="+strings.Repeat("b", 150))
	add("format", "/v1/search?format=shp", "/v1/search?format=GeoJSON", "/v1/search?format=", "/v1/search.csv?format=kml", items+"?format=html")
	add("fields", "/v1/search?fields=", "/v1/search?fields=name,nonsense", "/v1/search?fields=__proto__", "/v1/search.csv?fields=name", "/v1/search?format=kml&fields=name")
	add("facets", "/v1/search?facets=colour", "/v1/facets?facets=street,street", "/v1/facets?facets=", "/v1/search?facets=street,,city")
	add("radius_km", "/reverse?lat=1&lon=1&radius=1&radius_km=1", "/reverse?lat=1&lon=1&radius_km=-1")
	add("radius", "/v1/export.csv?lat=53&lon=8")
	add("f", "/ogc/?f=html", "/ogc/conformance?f=", items+"?f=xml")
	add("x", "/v1/export.csv?x=1", "/ogc/?x=1", "/licences?x=1", "/openapi.json?x=1", "/opensearch.xml?x=1", "/v1/addresses/0123456789abcdef?x=1", "/v1/addresses/0123456789abcdef/evidence?x=1")
	// Every parameter, wherever it is known: what is of no kind, twice, and in
	// other letters; and what no route knows.
	base := map[route]string{onPhoton: "q=a&", onSuggest: "q=a&", onReverse: "lat=1&lon=1&", onClusters: "bbox=1,2,3,4&zoom=3&", onStructured: "street=a&"}
	for _, e := range endpoints() {
		if e.about == "" || strings.Contains(e.path, "{id}") || e.path == "/healthz" || e.path == "/readyz" {
			continue
		}
		path := strings.TrimSuffix(e.path, "{$}")
		for _, p := range parameters {
			if p.on&e.on == 0 || strings.HasPrefix(base[e.on], p.name+"=") || strings.Contains(base[e.on], "&"+p.name+"=") {
				continue
			}
			name := p.name
			times := 1
			if p.is.many {
				times = index.MaxValues
			}
			add(name, fmt.Sprintf("%s?%s%s=1%s", path, base[e.on], name, strings.Repeat("&"+name+"=1", times)))
			if (p.is.name != "string" || p.is.enum != nil || p.is.check != nil) && name != "what" && name != "lat" && name != "lon" {
				add(name, fmt.Sprintf("%s?%s%s=%s", path, base[e.on], name, url.QueryEscape("<script>\x00\r\n")))
			}
		}
		add("Bbox", path+"?"+base[e.on]+"Bbox=1")
	}
}

func TestMalformed(t *testing.T) {
	t.Logf("%d malformed requests", len(malformed))
	h := Handler(town(t, 0), options())
	if len(malformed) < 400 {
		t.Fatalf("only %d malformed requests", len(malformed))
	}
	for _, c := range malformed {
		r, body := get(h, c.target)
		if r.StatusCode != 400 {
			t.Errorf("%s: %d %.300s", c.target, r.StatusCode, body)
			continue
		}
		if strings.HasPrefix(c.target, "/?") {
			if !strings.Contains(body, `role="alert"`) {
				t.Errorf("%s: the page does not say what is wrong", c.target)
			}
			continue
		}
		var p Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %v, %s %s", c.target, err, r.Header.Get("Content-Type"), body)
			continue
		}
		if p.Parameter != c.parameter || p.Title == "" || p.Detail == "" || p.Status != 400 || p.Instance == "" {
			t.Errorf("%s: parameter %q, want %q: %s", c.target, p.Parameter, c.parameter, body)
		}
		if len(body) > 3000 {
			t.Errorf("%.60s: an answer of %d bytes", c.target, len(body))
		}
	}
}

func TestProblemTexts(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, c := range []struct{ target, detail, hint string }{
		{"/v1/search?limit=0", "limit must be 1 to 500, got 0.", ""},
		{"/v1/search?lat=91&lon=8", "lat must be between -90 and 90, got 91.", ""},
		{"/v1/search?lat=53", "lon is missing; lat and lon go together.", ""},
		{"/v1/search?lmit=5", `"lmit" is not a parameter here.`, "Did you mean limit?"},
		{"/v1/search?near=53,8", `"near" is not a parameter here.`, "Use lat=…&lon=…, so that their order cannot be mistaken."},
		{"/v1/search?bbox=53.07,8.10,53.21,8.33", "bbox=53.07,8.10,53.21,8.33 is minLat,minLon,…; expected minLon,minLat,maxLon,maxLat.", "Did you mean bbox=8.1,53.07,8.33,53.21?"},
		{"/v1/search?lat=8.21&lon=53.14&radius=3000", "Nothing is known there, but there are results where lat and lon are exchanged.", "Did you mean lat=53.14&lon=8.21?"},
		{"/v1/search?lat=53,14&lon=8", `lat must be a number of degrees between -90 and 90, got "53,14".`, "Write a decimal point, not a comma: 53.14"},
	} {
		_, body := get(h, c.target)
		var p Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatalf("%s: %v", c.target, err)
		}
		if p.Detail != c.detail || c.hint != "" && p.Hint != c.hint {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", c.target, p.Detail, p.Hint, c.detail, c.hint)
		}
	}
}

// A box that crosses the antimeridian, an empty sea, and other requests that
// are unusual and right.
func TestUnusualButRight(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, target := range []string{
		"/v1/search", "/v1/search?", "/v1/search?q=", "/v1/search?bbox=170,-10,-170,10", "/v1/search?bbox=-180,-90,180,90", "/v1/search?bbox=8,53,8,53",
		"/v1/search?q=%F0%9F%8D%9E", "/v1/search?q=" + url.QueryEscape("*:* AND /.*/ +foo -bar \"x\" ~2 ^5 field:x"), "/v1/search?q=" + strings.Repeat("a", 200),
		"/v1/search?q=" + url.QueryEscape(strings.Repeat("ab ", 66)), "/v1/search?lat=-0&lon=1e1", "/v1/search?lat=90&lon=180&radius=1000000", "/v1/search?host=..%2F..%2Fetc",
		"/api?q=a&lang=de-DE", "/reverse?lat=0&lon=0", "/v1/search?q=" + url.QueryEscape("'; DROP TABLE x; --"), "/v1/search?q=%0d%0aSet-Cookie:x",
		"/v1/search?cursor=", "/v1/search?explain=1&in_osm=0", "/v1/search?lat=53&lon=8&bbox=8,53,9,54&radius=10",
	} {
		if r, body := get(h, target); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", target, r.StatusCode, body)
		} else if r.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: header forged", target)
		}
	}
	if v := ask(t, h, "/v1/search?bbox=-180,-90,180,90"); v["numberMatched"] != 6.0 {
		t.Errorf("the whole earth holds %v", v["numberMatched"])
	}
	if r, body := get(h, "/"+strings.Repeat("a", 9000)); r.StatusCode != 414 {
		t.Errorf("long address: %d %s", r.StatusCode, body)
	}
	if r, body := get(h, "/v1/serch"); r.StatusCode != 404 || !strings.Contains(body, "Did you mean /v1/search?") {
		t.Errorf("unknown path: %d %s", r.StatusCode, body)
	}
	for _, target := range []string{"/../../etc/passwd", "/assets/", "/assets/..%2f..%2fgo.mod", "/.git/config", "//evil.example/"} {
		r := httptest.NewRequest("GET", "http://gazehound.example/", nil)
		r.URL.Path = target
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == 200 || w.Code >= 500 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

// Any request gets valid JSON with status 200 or 400, and its parsed values are within their bounds.
func FuzzParameters(f *testing.F) {
	x, err := index.Open(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { x.Close() })
	for _, s := range shops {
		if err := x.Put(context.Background(), s.document()); err != nil {
			f.Fatal(err)
		}
	}
	o := options()
	s := newServer(x, o)
	h := Handler(x, o)
	for _, c := range malformed {
		if path, query, ok := strings.Cut(c.target, "?"); ok {
			f.Add(path, query)
		}
	}
	asked := map[string]endpoint{}
	for _, e := range endpoints() {
		path := strings.TrimSuffix(e.path, "{$}")
		if e.on == 0 || e.on == onPlain || e.on == onBot || e.on == onExport || strings.Contains(path, "{") {
			continue
		}
		asked[path] = e
		f.Add(path, "q=tischler&bbox=8,53,9,54&limit=3")
		if _, query, ok := strings.Cut(e.example, "?"); ok {
			f.Add(path, query)
		}
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		e, ok := asked[path]
		if !ok || len(query) > 2000 {
			return
		}
		on := e.on
		r := httptest.NewRequest("GET", "http://gazehound.example/", nil)
		r.URL.Path, r.URL.RawQuery = path, query
		r.RequestURI = path
		a, p := s.parse(r, on)
		if p == nil {
			switch {
			case a.Limit < 1 || a.Limit > index.MaxLimit,
				a.Radius < 0 || a.Radius > index.MaxRadius,
				a.Center != nil && (a.Center[0] < -180 || a.Center[0] > 180 || a.Center[1] < -90 || a.Center[1] > 90),
				a.Center == nil && (a.Radius > 0 || a.Sort == index.Distance),
				a.Box != nil && a.Box.Min[1] > a.Box.Max[1],
				!(a.Bias >= 0 && a.Bias <= 1), len([]rune(a.Text)) > index.MaxQueryLength:
				t.Errorf("%s?%s passes as %+v", path, query, a)
			}
		} else if p.Title == "" || p.Detail == "" || p.Status != 0 {
			t.Errorf("%s?%s: problem %+v", path, query, p)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 400 {
			t.Errorf("%s?%s: %d %s", path, query, w.Code, w.Body)
		}
		late := slices.ContainsFunc([]string{"cursor", "exchanged", "wrong order", "format is given twice", "fields goes with geojson"}, func(why string) bool { return strings.Contains(w.Body.String(), why) })
		if (w.Code == 400) != (p != nil) && !late {
			t.Errorf("%s?%s: %d, problem %+v: %s", path, query, w.Code, p, w.Body)
		}
		if (e.media == anyJSON || e.media == geoJSON || w.Code == 400 && path != "/") && !json.Valid(bytes.TrimSpace(w.Body.Bytes())) {
			t.Errorf("%s?%s: not JSON: %s", path, query, w.Body)
		}
	})
}

// ownScripts are the only ones a page may have: data, in which "<" is escaped,
// and the bundle.
var ownScripts = regexp.MustCompile(`<script type="application/json" id="page-data">[^<]*</script>\s*<script src="/assets/app-[0-9a-f]{12}\.js"></script>`)

// Hostile titles, names and texts of pages stay text.
func TestPageEscapes(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, target := range []string{"/?q=boese", "/", "/?q=" + url.QueryEscape(`"><script>alert(1)</script>`), "/?host=" + url.QueryEscape(`"><script>alert(1)</script>`), "/?cursor=" + url.QueryEscape(`"><script>`)} {
		_, body := get(h, target, "Accept-Language", "de")
		body = ownScripts.ReplaceAllString(body, "")
		if strings.Contains(strings.ToLower(body), "<script") || strings.Contains(body, "<img") || strings.Contains(body, "<b onmouse") || strings.Contains(body, "<style>") {
			t.Errorf("%s: markup of a stranger:\n%s", target, body)
		}
		if m := regexp.MustCompile(`(?i)(href|src|action)="(javascript|data:[^,]|//|http:)[^"]*"`).FindString(body); m != "" {
			t.Errorf("%s: %s", target, m)
		}
		for _, m := range regexp.MustCompile(`<a [^>]*href="https?:[^>]*>`).FindAllString(body, -1) {
			if !strings.Contains(m, `rel="noopener noreferrer nofollow ugc"`) {
				t.Errorf("%s: link without rel: %s", target, m)
			}
		}
		for _, m := range regexp.MustCompile(`(?i)<(link|img|script|iframe|form)[^>]*(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if !strings.HasPrefix(m[2], "/") && m[2] != "data:," {
				t.Errorf("%s: a request to somebody else: %s", target, m[0])
			}
		}
	}
}

// The page shows the contacts at an address and what is gone, escaped and with safe links only.
func TestPageContact(t *testing.T) {
	x := town(t, 0)
	put := func(i int, phone, email, site, hours string) {
		d := shops[i].document()
		a := &d.Addresses[0]
		a.Phone, a.Email, a.Website, a.Hours = phone, email, site, hours
		if err := x.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	put(2, "+49441998877", "info@holz-und-form.example", "https://holz-und-form.example/laden", "Mo-Fr 08:00-18:00; Tu off")
	put(3, "\"><script>alert(1)</script>", "a@b\"onclick=alert(2)", "javascript:alert(3)", "<script>alert(4)</script>")
	gone := shops[4].document()
	gone.Addresses, gone.Fetched = nil, gone.Fetched.AddDate(0, 0, 9)
	if err := x.Renew(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	h := Handler(x, options())
	for _, c := range []struct{ target, lang, want string }{
		{"/?q=holz", "de", `<a href="tel:&#43;49441998877">&#43;49 441 998877</a>`},
		{"/?q=holz", "de", `<a href="mailto:info@holz-und-form.example">info@holz-und-form.example</a>`},
		{"/?q=holz", "de", `<a href="https://holz-und-form.example/laden" rel="noopener noreferrer nofollow ugc">holz-und-form.example</a>`},
		{"/?q=holz", "de", `Geöffnet Mo–Fr 08:00–18:00 · Di geschlossen`},
		{"/?q=holz", "en", `Open Mo–Fr 08:00–18:00 · Tu closed`},
		{"/?q=kaiser", "de", `zuletzt gesehen 21. Nov. 2026`},
		{"/?q=kaiser", "en", `last seen 21 Nov 2026`},
	} {
		if _, body := get(h, c.target, "Accept-Language", c.lang); !strings.Contains(body, c.want) {
			t.Errorf("%s (%s): %q is missing in\n%s", c.target, c.lang, c.want, body)
		}
	}
	_, body := get(h, "/?q="+url.QueryEscape("müller"), "Accept-Language", "de")
	body = ownScripts.ReplaceAllString(body, "")
	if strings.Contains(body, "tel:") || strings.Contains(body, "mailto:") || strings.Contains(body, "href=\"javascript") || strings.Contains(body, "<script") || strings.Contains(body, "onclick=alert") {
		t.Errorf("what a page claims is believed:\n%s", body)
	}
}

// Several firms in one building are one result of the page, with its tenants; the API
// lists each.
func TestPageTenants(t *testing.T) {
	x := town(t, 0)
	for i, floor := range []string{"1. Etage", "2. Etage"} {
		d := shops[2].document()
		d.URL = fmt.Sprintf("https://firma%d.example/", i)
		d.Addresses[0].Unit, d.Addresses[0].Name = floor, fmt.Sprint("Turmbau ", i)
		if err := x.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	h := Handler(x, options())
	if _, body := get(h, "/?q=turmbau"); strings.Count(body, "<article>") != 1 || !regexp.MustCompile(`<a href="/addresses/[0-9a-f]{16}">Turmbau [01], [12]. Etage</a>`).MatchString(body) {
		t.Errorf("%d results in\n%s", strings.Count(body, "<article>"), body)
	}
	if _, body := get(h, "/v1/search?q=turmbau"); strings.Count(body, `"type":"Feature"`) != 2 {
		t.Error(body)
	}
}

func TestPageStates(t *testing.T) {
	empty, err := index.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	x := town(t, 40)
	full, none := Handler(x, options()), Handler(empty, options())
	for _, c := range []struct {
		h            http.Handler
		target, lang string
		status       int
		want         []string
	}{
		{none, "/", "en", 200, []string{"No pages yet.", "Start: gazehound crawl"}},
		{none, "/?q=x", "de", 200, []string{"Noch keine Seiten.", `lang="de"`}},
		{full, "/", "en", 200, []string{"47 addresses", `<html lang="en">`, "© OpenStreetMap contributors", "<svg", "Next results"}},
		{full, "/?q=tischlerei", "de", 200, []string{"2 Adressen", "<mark>Tischlerei</mark>", "Nadorster Straße 12a, 26123 Oldenburg", "2 Seiten", "gesehen seit 21. Nov. 2026"}},
		{full, "/?q=tischlerei&lang=en", "de", 200, []string{"2 addresses", "2 pages", "21 Nov 2026"}},
		{full, "/?q=zzzzqqq", "en", 200, []string{"No address for", "Show everything"}},
		{full, "/?q=zzzzqqq&postcode=26121", "en", 200, []string{"Search for the words alone"}},
		{full, "/?q=&lat=&lon=", "en", 200, []string{"47 addresses"}},
		{full, "/?limit=0", "en", 400, []string{"limit must be 1 to 500, got 0.", `role="alert"`}},
		{full, "/?lat=53.14&lon=8.214&radius=300&sort=distance", "en", 200, []string{"around", "Remove filter"}},
		{full, "/?q=harms+zahnarzt", "en", 200, []string{"No exact match"}},
	} {
		r, body := get(c.h, c.target, "Accept-Language", c.lang, "Accept", "text/html")
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s", c.target, r.StatusCode, r.Header.Get("Content-Type"))
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s (%s): %q is missing in\n%s", c.target, c.lang, want, body)
			}
		}
		if strings.Contains(body, "<no value>") || strings.Contains(body, "%!") {
			t.Errorf("%s: a gap in the page", c.target)
		}
	}
	if r, body := get(full, "/", "Accept", "application/json"); !json.Valid([]byte(body)) || r.StatusCode != 200 {
		t.Errorf("/ for a program: %d %s", r.StatusCode, body)
	}
	if r, body := get(full, "/?q=%zz", "Accept", "application/json"); r.StatusCode != 400 || !json.Valid([]byte(body)) {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestPaging(t *testing.T) {
	h := Handler(town(t, 40), options())
	next, seen := "/?q=haus&lang=en", 0
	for pages := 0; next != ""; pages++ {
		if pages > 5 {
			t.Fatal("paging does not end")
		}
		r, body := get(h, next)
		if r.StatusCode != 200 {
			t.Fatalf("%s: %d", next, r.StatusCode)
		}
		seen += strings.Count(body, "<article>")
		next = ""
		if m := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(body); m != nil {
			next = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if seen < 40 {
		t.Errorf("%d hits on all pages", seen)
	}
}

// A panic in a handler is an answer, and the server goes on.
func TestPanic(t *testing.T) {
	s := newServer(nil, options())
	s.Log = slog.New(slog.DiscardHandler)
	h := s.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oops") }))
	if r, body := get(h, "/"); r.StatusCode != 500 || strings.Contains(body, "oops") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestStylesheet(t *testing.T) {
	h := Handler(town(t, 0), options())
	_, body := get(h, "/")
	m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">`).FindStringSubmatch(body)
	if m == nil {
		t.Fatal("no style sheet")
	}
	r, css := get(h, m[1])
	if r.StatusCode != 200 || !strings.Contains(css, "prefers-color-scheme: dark") || r.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("%d %s", r.StatusCode, r.Header.Get("Content-Type"))
	}
	if strings.Contains(css, "url(") || strings.Contains(css, "@import") {
		t.Error("the style sheet asks for something else")
	}
	if n := len(body) + len(css); n > 100_000 {
		t.Errorf("page and style are %d bytes", n)
	}
}
