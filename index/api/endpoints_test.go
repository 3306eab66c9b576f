package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"log/slog"
	"math"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/index/web"
)

// A documented parameter.
type documented struct {
	Name, In string
	Required bool
	Schema   map[string]any
	Example  any
}

// values returns the example as a request has it.
func (d documented) values() (all []string) {
	if list, ok := d.Example.([]any); ok {
		for _, v := range list {
			all = append(all, fmt.Sprint(v))
		}
		return all
	}
	return []string{fmt.Sprint(d.Example)}
}

// mismatch returns what a value breaks of a JSON Schema, or "".
func mismatch(value any, schema map[string]any) string {
	number, isNumber := value.(float64)
	text, isText := value.(string)
	list, isList := value.([]any)
	_, isBoolean := value.(bool)
	for keyword, want := range schema {
		most, _ := want.(float64)
		fits := false
		switch keyword {
		case "type":
			fits = want == "number" && isNumber || want == "integer" && isNumber && number == math.Trunc(number) ||
				want == "string" && isText || want == "boolean" && isBoolean || want == "array" && isList
		case "enum":
			fits = slices.Contains(want.([]any), value)
		case "minimum":
			fits = number >= most
		case "exclusiveMinimum":
			fits = number > most
		case "maximum":
			fits = number <= most
		case "maxLength":
			fits = len([]rune(text)) <= int(most)
		case "maxItems":
			fits = len(list) <= int(most)
		case "items":
			fits = !slices.ContainsFunc(list, func(v any) bool { return mismatch(v, want.(map[string]any)) != "" })
		}
		if !fits {
			return fmt.Sprintf("%s %v", keyword, want)
		}
	}
	return ""
}

// Every example of the documents is answered, in the media type that is
// promised, and every parameter's example is taken by every route that has it.
func TestDocumentedExamples(t *testing.T) {
	h := Handler(town(t, 40), options())
	var doc struct {
		OpenAPI string
		Paths   map[string]struct {
			Get struct {
				Example    string `json:"x-example"`
				Parameters []documented
				Responses  map[string]struct{ Content map[string]any }
			}
		}
	}
	r, body := get(h, "/openapi.json")
	if err := json.Unmarshal([]byte(body), &doc); err != nil || r.StatusCode != 200 {
		t.Fatalf("%d %v", r.StatusCode, err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %s", doc.OpenAPI)
	}
	if mismatch("5", map[string]any{"type": "integer"}) == "" || mismatch(5.5, map[string]any{"type": "integer"}) == "" || mismatch(91.0, map[string]any{"maximum": 90.0}) == "" {
		t.Fatal("every value fits every schema")
	}
	examples, values := 0, 0
	for path, p := range doc.Paths {
		if example := p.Get.Example; example != "" {
			examples++
			r, body := get(h, example)
			if r.StatusCode != 200 || body == "" {
				t.Errorf("%s: %d %.200s", example, r.StatusCode, body)
			}
			for media := range p.Get.Responses["200"].Content {
				if got, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.HasPrefix(media, got) {
					t.Errorf("%s: media type %q, promised %q", example, got, media)
				}
			}
		}
		needed := url.Values{}
		for _, q := range p.Get.Parameters {
			if q.Required && q.In == "query" {
				needed[q.Name] = q.values()
			}
		}
		if path == "/structured" {
			needed.Set("street", "Lange Straße")
		}
		for _, q := range p.Get.Parameters {
			if q.In != "query" || q.Example == nil || strings.Contains(path, "{id}") {
				continue
			}
			values++
			if wrong := mismatch(q.Example, q.Schema); wrong != "" {
				t.Errorf("%s: the example %v of %s is against its schema: %s", path, q.Example, q.Name, wrong)
			}
			asked := url.Values{q.Name: q.values()}
			for name := range needed {
				asked.Set(name, needed.Get(name))
			}
			if q.Name == "lat" || q.Name == "lon" || strings.HasPrefix(q.Name, "radius") {
				asked.Set("lat", "53.14")
				asked.Set("lon", "8.21")
				if path != "/reverse" && slices.ContainsFunc(p.Get.Parameters, func(o documented) bool { return o.Name == "radius" }) {
					asked.Set("radius", "500")
				}
			}
			if q.Name == "format" || q.Name == "fields" {
				if path != "/v1/search" && path != items {
					continue // the path says the format
				}
			}
			if r, body := get(h, path+"?"+asked.Encode()); r.StatusCode != 200 {
				t.Errorf("%s?%s: %d %.300s", path, asked.Encode(), r.StatusCode, body)
			}
		}
	}
	if examples < 20 || values < 100 {
		t.Errorf("only %d examples and %d values", examples, values)
	}
}

// The same hits in every format, whichever way it is asked for.
func TestFormats(t *testing.T) {
	h := Handler(town(t, 0), options())
	for _, format := range formats {
		media, _, _ := strings.Cut(mediaOf(format), ";")
		_, want := get(h, "/v1/search?q=tischlerei&format="+format)
		for _, c := range [][]string{{"/v1/search." + format + "?q=tischlerei"}, {"/v1/search?q=tischlerei", "Accept", media}, {items + "?q=tischlerei&format=" + format}} {
			r, got := get(h, c[0], c[1:]...)
			if ct, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); ct != media || r.StatusCode != 200 {
				t.Errorf("%v: %d %q", c, r.StatusCode, ct)
			}
			if format != "geojson" && format != "atom" && got != want { // those carry their own address
				t.Errorf("%v:\n%s\nwant\n%s", c, got, want)
			}
			if strings.Count(got, "Nadorster Straße") == 0 || !strings.Contains(got, "Holz") {
				t.Errorf("%v: %s", c, got)
			}
		}
	}
	if r, _ := get(h, "/v1/search?limit=2", "Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"); r.Header.Get("Content-Type") != geoJSON {
		t.Errorf("a browser gets %s", r.Header.Get("Content-Type"))
	}
	_, table := get(h, "/v1/search.csv?q=tischlerei")
	if rows, err := csv.NewReader(strings.NewReader(table)).ReadAll(); err != nil || len(rows) != 3 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	r, _ := get(h, "/v1/search.csv?limit=2")
	if link := r.Header.Values("Link"); len(link) != 2 || !strings.Contains(link[0], `rel="next"`) {
		t.Errorf("links %q", link)
	}
}

func TestFeed(t *testing.T) {
	h := Handler(town(t, 0), options())
	_, body := get(h, "/feed.atom?bbox=8.1,53.1,8.3,53.2")
	dec := xml.NewDecoder(strings.NewReader(body))
	entries := 0
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "entry" {
			entries++
		}
	}
	if entries != 6 {
		t.Errorf("%d entries", entries)
	}
	if v := ask(t, h, "/v1/search?since=2026-11-22"); v["numberMatched"] != 0.0 {
		t.Errorf("since the day after: %v", v["numberMatched"])
	}
	if v := ask(t, h, "/v1/search?since=2026-11-21"); v["numberMatched"] != 7.0 {
		t.Errorf("since the day: %v", v["numberMatched"])
	}
}

func TestFacetsClustersSuggest(t *testing.T) {
	h := Handler(town(t, 40), options())
	v := ask(t, h, "/v1/facets?facets=street,precision")
	streets := v["facets"].(map[string]any)["street"].([]any)
	if first := streets[0].(map[string]any); first["value"] != "Ringstraße" || first["count"] != 40.0 {
		t.Errorf("streets %v", streets)
	}
	v = ask(t, h, "/v1/clusters?bbox=8,53,9,54&zoom=0")
	f := v["features"].([]any)
	if len(f) != 1 || v["numberMatched"] != 46.0 || f[0].(map[string]any)["properties"].(map[string]any)["count"] != 46.0 {
		t.Errorf("clusters %v", v)
	}
	v = ask(t, h, "/v1/clusters?bbox=8,53,9,54&zoom=22&q=harms")
	f = v["features"].([]any)
	id, _ := f[0].(map[string]any)["properties"].(map[string]any)["id"].(string)
	if len(f) != 1 || len(id) != 16 {
		t.Fatalf("one address: %v", f)
	}
	if v := ask(t, h, "/v1/addresses/"+id); v["properties"].(map[string]any)["name"] != "Tischlerei Harms" {
		t.Errorf("%v", v)
	}
	v = ask(t, h, "/v1/addresses/"+id+"/evidence")
	if len(v["evidence"].([]any)) != 2 {
		t.Errorf("%v", v)
	}
	for _, e := range v["evidence"].([]any) {
		page := e.(map[string]any)
		text := []rune(page["snippet"].(string))
		span, _ := page["span"].([]any)
		if len(span) != 2 || !strings.HasPrefix(string(text[int(span[0].(float64)):int(span[1].(float64))]), "Nadorster Straße 12a") {
			t.Errorf("the address is at %v of %q", span, string(text))
		}
	}
	for _, other := range []string{"0123456789abcdef", "x", "..%2f..%2fetc%2fpasswd", strings.Repeat("a", 500)} {
		if r, body := get(h, "/v1/addresses/"+other); r.StatusCode != 404 || !json.Valid([]byte(body)) {
			t.Errorf("%s: %d %s", other, r.StatusCode, body)
		}
	}
	for typed, want := range map[string]string{"nador": "Nadorster Straße", "kais": "Kaiserstraße", "bäck": "Bäckerei Müller", "backerei mu": "Bäckerei Müller", "mull": "Bäckerei Müller", "2612": "26121", "oldenb": "Oldenburg", "holz-und": "holz-und-form.example"} {
		v := ask(t, h, "/v1/suggest?limit=3&q="+url.QueryEscape(typed))
		s := v["suggestions"].([]any)
		if len(s) == 0 || s[0].(map[string]any)["text"] != want {
			t.Errorf("%q suggests %v, want %s", typed, s, want)
		}
	}
}

func TestStructured(t *testing.T) {
	h := Handler(town(t, 0), options())
	v := ask(t, h, "/structured?street=Lange+Str.&housenumber=5&city=Oldenburg")
	if f := v["features"].([]any); len(f) != 1 || f[0].(map[string]any)["properties"].(map[string]any)["name"] != "Bäckerei Müller" {
		t.Errorf("%v", v["features"])
	}
	if v := ask(t, h, "/structured?street=Tischlerei"); v["numberReturned"] != 0.0 {
		t.Errorf("a name is no street: %v", v)
	}
}

// Each hit has a page of its own, in the reader's language; people who ask for
// what is not there get a page, programs a problem.
func TestAddressPage(t *testing.T) {
	h := Handler(town(t, 0), options())
	list := ask(t, h, "/v1/search?q=tischlerei&limit=1")["features"].([]any)
	id := list[0].(map[string]any)["id"].(string)
	label := list[0].(map[string]any)["properties"].(map[string]any)["addr:full"].(string)
	if _, body := get(h, "/?q=tischlerei&lang=de"); !strings.Contains(body, `<a href="/addresses/`+id+`?lang=de">Link zu dieser Adresse</a>`) {
		t.Error("the search page does not link to the page of an address")
	}
	const people = "text/html,application/xhtml+xml"
	r, body := get(h, "/addresses/"+id, "Accept", people)
	for _, want := range []string{"<h1>" + label + "</h1>", `<html lang="en">`, `href="/addresses/` + id + `?lang=de"`, "<details open>", `href="/v1/addresses/` + id + `"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page of an address is without %s", want)
		}
	}
	if tag := r.Header.Get("ETag"); r.StatusCode != 200 || tag == "" {
		t.Errorf("status %d, ETag %q", r.StatusCode, tag)
	} else if again, _ := get(h, "/addresses/"+id, "Accept", people, "If-None-Match", tag); again.StatusCode != 304 {
		t.Errorf("requested again with its ETag: %d", again.StatusCode)
	}
	for _, c := range []struct {
		path, accept, media, want string
		status                    int
	}{
		{"/addresses/0123456789abcdef?lang=de", people, "text/html; charset=utf-8", "Diese Adresse ist hier nicht verzeichnet", 404},
		{"/addresses/" + id + "?language=de", people, "text/html; charset=utf-8", "language&#34; is not a parameter", 400},
		{"/addresses/" + id + "?language=de", "", "application/problem+json", "unknown parameter", 400},
		{"/nowhere", people, "text/html; charset=utf-8", "There is no such page", 404},
		{"/<script>alert(1)</script>", people, "text/html; charset=utf-8", "There is no such page", 404},
		{"/nowhere", "", "application/problem+json", "/nowhere does not exist", 404},
		{"/v1/nowhere", people, "application/problem+json", "/v1/nowhere does not exist", 404},
	} {
		r, body := get(h, c.path, "Accept", c.accept)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != c.media || !strings.Contains(body, c.want) || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("ETag") != "" || strings.Contains(body, "<script>alert") {
			t.Errorf("%s for %q: %d %s, %v: %.300s", c.path, c.accept, r.StatusCode, r.Header.Get("Content-Type"), r.Header, body)
		}
	}
}

func TestOGC(t *testing.T) {
	h := Handler(town(t, 40), options())
	v := ask(t, h, "/ogc/conformance?f=json")
	if len(v["conformsTo"].([]any)) != 2 {
		t.Errorf("%v", v)
	}
	// All links of the landing page lead somewhere.
	for _, path := range []string{"/ogc/", "/ogc", "/ogc/collections", "/ogc/collections/addresses"} {
		v := ask(t, h, path)
		for _, l := range v["links"].([]any) {
			if r, _ := get(h, l.(map[string]any)["href"].(string)); r.StatusCode != 200 {
				t.Errorf("%s: %v leads to %d", path, l, r.StatusCode)
			}
		}
	}
	seen := map[string]bool{}
	for next := items + "?limit=7&bbox=8,53,0,9,54,100"; next != ""; {
		v := ask(t, h, next)
		next = ""
		for _, f := range v["features"].([]any) {
			seen[f.(map[string]any)["id"].(string)] = true
		}
		for _, l := range v["links"].([]any) {
			if l.(map[string]any)["rel"] == "next" {
				next = l.(map[string]any)["href"].(string)
			}
		}
	}
	if len(seen) != 46 {
		t.Errorf("%d items on all pages", len(seen))
	}
	for id := range seen {
		if v := ask(t, h, items+"/"+id); v["id"] != id {
			t.Errorf("item %s is %v", id, v["id"])
		}
	}
	if v := ask(t, h, items+"?limit=100000"); v["numberReturned"] != 47.0 {
		t.Errorf("a limit that is too high must be cut: %v", v["numberReturned"])
	}
	for interval, want := range map[string]float64{"../..": 47, "2026-11-21T00:00:00Z/..": 47, "../2026-11-20T00:00:00Z": 0, "2026-11-21T10:12:40Z": 47, "/2027-01-01T00:00:00Z": 47} {
		if v := ask(t, h, items+"?datetime="+url.QueryEscape(interval)); v["numberMatched"] != want {
			t.Errorf("%s: %v", interval, v["numberMatched"])
		}
	}
}

func TestFieldsAndExplain(t *testing.T) {
	h := Handler(town(t, 0), options())
	v := ask(t, h, "/v1/search?q=tischlerei+harms&fields=name,addr:street&explain=true")
	p := v["features"].([]any)[0].(map[string]any)["properties"].(map[string]any)
	if len(p) != 2 || p["name"] != "Tischlerei Harms" {
		t.Errorf("%v", p)
	}
	for _, q := range []string{"tischlerei+harms", "harms+tischlerei+nirgendwo"} { // all words, and some
		v = ask(t, h, "/v1/search?explain=true&q="+q)
		p = v["features"].([]any)[0].(map[string]any)["properties"].(map[string]any)
		sum := 0.0
		for _, part := range p["score_parts"].([]any) {
			m := part.(map[string]any)
			sum += m["rarity"].(float64) * m["weight"].(float64)
		}
		if len(p["score_parts"].([]any)) != 2 || sum-p["score"].(float64) > 0.01 || p["score"].(float64)-sum > 0.01 {
			t.Errorf("%s: %v add up to %v, not %v", q, p["score_parts"], sum, p["score"])
		}
	}
	if v := ask(t, h, "/v1/search?q="+url.QueryEscape("tischlerei nähe lange straße 5")); v["near"] != "Lange Straße 5" {
		t.Errorf("near %v", v["near"])
	}
}

func TestExport(t *testing.T) {
	h := Handler(town(t, 40), options())
	r, body := get(h, "/v1/export.geojsonseq?precision=house")
	if n := strings.Count(body, "\n"); r.StatusCode != 200 || n != 44 {
		t.Errorf("%d, %d lines", r.StatusCode, n)
	}
	for line := range strings.Lines(body) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("not JSON: %s", line)
		}
	}
}

// A server of this machine only does not answer to a name that a stranger bound
// to its address.
func TestHosts(t *testing.T) {
	o := options()
	o.Loopback, o.Hosts = true, []string{"map.example"}
	h := Handler(town(t, 0), o)
	for host, want := range map[string]int{"localhost": 200, "localhost:8090": 200, "127.0.0.1:8090": 200, "[::1]:8090": 200, "a.localhost": 200, "map.example": 200, "MAP.example:80": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "": 421, "10.0.0.1": 421, "0.0.0.0": 421, "[::ffff:10.0.0.1]": 421, "\r\nx": 421} {
		r := httptest.NewRequest("GET", "/status", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want || want == 421 && w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("host %q: %d", host, w.Code)
		}
	}
}

func TestRate(t *testing.T) {
	o := options()
	o.Rate = 1
	h := Handler(town(t, 0), o)
	ask := func(remote string) int {
		r := httptest.NewRequest("GET", "/status", nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	counts := map[int]int{}
	for range 50 {
		counts[ask("192.0.2.1:1234")]++
		if got := ask("127.0.0.1:99"); got != 200 {
			t.Fatalf("this machine: %d", got)
		}
	}
	if counts[429] < 30 || counts[200] < 4 {
		t.Errorf("%v", counts)
	}
	if a, b := ask("[2001:db8::1]:1"), ask("192.0.2.2:1"); a != 200 || b != 200 {
		t.Errorf("others: %d, %d", a, b)
	}
	for i := range 20 {
		ask(fmt.Sprintf("[2001:db8:0:1::%x]:1", i+1))
	}
	if got := ask("[2001:db8:0:1:ffff::]:1"); got != 429 {
		t.Errorf("one /64 is one client, got %d", got)
	}
	// However many there are, few are remembered.
	c := newClients(o)
	for i := range 3 * maxClients {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)
		c.of(r)
	}
	if n := c.known.Len(); n > maxClients {
		t.Errorf("%d clients are remembered", n)
	}
}

// A client that was sent more than its share waits; what it may owe is bounded.
func TestBandwidth(t *testing.T) {
	o := options()
	o.Bandwidth = 1000
	h := Handler(town(t, 300), o)
	ask := func(target, remote string) int {
		r := httptest.NewRequest("GET", target, nil)
		r.RemoteAddr = remote
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if a, b := ask("/v1/export.ndjson", "192.0.2.1:1"), ask("/status", "192.0.2.1:1"); a != 200 || b != 429 {
		t.Errorf("an export is %d, what follows %d", a, b)
	}
	if a, b := ask("/status", "192.0.2.2:1"), ask("/status", "127.0.0.1:1"); a != 200 || b != 200 {
		t.Errorf("others get %d and %d", a, b)
	}
	c := newClients(o).of(httptest.NewRequest("GET", "/", nil))
	for range 100 {
		c.received(1 << 20)
	}
	if owed := -c.bytes.Tokens(); owed > 3*burstSeconds*1000 {
		t.Errorf("a client owes %.0f bytes", owed)
	}
}

// The header of a proxy that is trusted names the client; anybody else's does not.
func TestTrustedProxies(t *testing.T) {
	o := options()
	o.TrustedProxies = []string{"10.0.0.0/8", "127.0.0.1", "2001:db8::/32"}
	c := newClients(o)
	for _, test := range []struct{ remote, forwarded, want string }{
		{"192.0.2.1:5", "203.0.113.9", "192.0.2.1"},
		{"10.1.2.3:5", "203.0.113.9", "203.0.113.9"},
		{"127.0.0.1:5", "1.1.1.1, 203.0.113.9, 10.0.0.7", "203.0.113.9"},
		{"10.1.2.3:5", "", "10.1.2.3"},
		{"10.1.2.3:5", "<script>, 10.0.0.8", "10.0.0.8"},
		{"10.1.2.3:5", "::ffff:203.0.113.9", "203.0.113.9"},
		{"10.1.2.3:5", "2a00:1:2:3:4::5", "2a00:1:2:3::"},
		{"[2001:db8::1]:5", "127.0.0.1", "127.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = test.remote
		r.Header.Set("X-Forwarded-For", test.forwarded)
		if got := c.address(r).String(); got != test.want {
			t.Errorf("%s for %q: %s, want %s", test.remote, test.forwarded, got, test.want)
		}
	}
	for _, bad := range []string{"", "example.org", "10.0.0.0/33", "10.0.0.1:80"} {
		o.TrustedProxies = []string{bad}
		if o.Validate() == nil {
			t.Errorf("%q is taken as a proxy", bad)
		}
	}
}

func TestReady(t *testing.T) {
	o := options()
	o.Ready = func() error { return fmt.Errorf("no crawl yet") }
	h := Handler(town(t, 0), o)
	if r, body := get(h, "/readyz"); r.StatusCode != 503 || !strings.Contains(body, `"data":"no crawl yet"`) {
		t.Errorf("%d %s", r.StatusCode, body)
	}
	if r, _ := get(h, "/healthz"); r.StatusCode != 200 {
		t.Errorf("healthz %d", r.StatusCode)
	}
	o.Ready = nil
	if v := ask(t, Handler(town(t, 0), o), "/readyz"); v["status"] != "ready" {
		t.Errorf("%v", v)
	}
}

func TestBasemap(t *testing.T) {
	o := options()
	o.Basemap = streets(t)
	h := Handler(town(t, 0), o)
	w := func(level int) string {
		lat := 53.14 * math.Pi / 180
		n := math.Exp2(float64(level))
		return fmt.Sprintf("/v1/basemap/%d/%d/%d", level, int((8.21+180)/360*n), int((1-math.Asinh(math.Tan(lat))/math.Pi)/2*n))
	}
	for _, level := range gazetteer.BasemapLevels {
		if tile := ask(t, h, w(level)); tile["major"] == nil {
			t.Errorf("level %d: %.200v", level, tile)
		}
	}
	for target, status := range map[string]int{
		"/v1/basemap/13/0/0": 204, "/v1/basemap/12/1/1": 204, "/v1/basemap/13/99999999/1": 204, "/v1/basemap/13/x/1": 400, "/v1/basemap/-1/0/0": 400, "/v1/basemap/13/1/99999999999999999999": 400,
		"/v1/basemap/13/0": 404, "/v1/basemap/": 404, "/v1/basemap/13/0/0?a=b": 400,
	} {
		if r, body := get(h, target); r.StatusCode != status {
			t.Errorf("%s: %d %s", target, r.StatusCode, body)
		}
	}
	o.Basemap = nil
	if r, _ := get(Handler(town(t, 0), o), w(13)); r.StatusCode != 204 {
		t.Errorf("without a base map: %d", r.StatusCode)
	}
}

func TestTakesGzip(t *testing.T) {
	h := Handler(town(t, 40), options())
	for header, want := range map[string]bool{"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "identity": false, "xgzip": false, "gzip;q=1.0, *;q=0": true, "deflate,gzip": true} {
		for _, target := range []string{"/?q=haus", "/v1/search?q=haus", web.Assets()[0].Path, "/v1/export.csv"} {
			r, body := get(h, target, "Accept-Encoding", header)
			if got := r.Header.Get("Content-Encoding") == "gzip"; got != want || strings.HasPrefix(body, "\x1f\x8b") != want {
				t.Errorf("%s, %q: packed %v", target, header, got)
			}
		}
	}
}

// What lies in the area is missing in OpenStreetMap or not: the page says how
// many are, and the layer has just those.
func TestNotInOSM(t *testing.T) {
	o := options()
	o.OSM = true
	h := Handler(town(t, 0), o)
	_, body := get(h, "/?lang=en")
	m := regexp.MustCompile(`<a class="layer" href="([^"]*)">house number not in OpenStreetMap <span class="count">(\d+)</span>`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no layer in %s", body)
	}
	_, layer := get(h, html.UnescapeString(m[1]))
	if n := strings.Count(layer, "<article>"); fmt.Sprint(n) != m[2] || n != strings.Count(layer, `<p class="badge">`) || n == 0 {
		t.Errorf("%d addresses, %d marked as missing, %s promised", n, strings.Count(layer, `<p class="badge">`), m[2])
	}
	for _, want := range []string{"https://www.openstreetmap.org/edit?editor=id#map=19/53.14000/8.21400", "http://127.0.0.1:8111/add_node?addtags=addr%3Astreet%3DLange"} {
		if !strings.Contains(html.UnescapeString(layer), want) {
			t.Errorf("no link to %s", want)
		}
	}
	if strings.Contains(layer, "Tischlerei Harms") {
		t.Error("the layer has what OpenStreetMap has")
	}
	o.OSM = false
	if _, body := get(Handler(town(t, 0), o), "/?lang=en"); strings.Contains(body, `class="layer"`) || strings.Contains(body, `class="badge"`) {
		t.Error("without OpenStreetMap something is missing there")
	}
}

// What stands on most pages of a site can be asked for or left out, on every
// route that filters.
func TestSiteWide(t *testing.T) {
	x := town(t, 0)
	footer := shop{title: "Verlag", name: "Verlag Nord", street: "Ringstraße", number: "77", code: "26135", city: "Oldenburg", lon: 8.21, lat: 53.14, precision: gazetteer.HousePrecision}
	for i := range 4 {
		footer.url = fmt.Sprintf("https://verlag.example/%d", i)
		if err := x.Put(t.Context(), footer.document()); err != nil {
			t.Fatal(err)
		}
	}
	h := Handler(x, options())
	count := func(query string) int {
		t.Helper()
		r, body := get(h, "/v1/search?limit=50"+query)
		var answer struct {
			Features []struct{ Properties map[string]any }
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || r.StatusCode != 200 {
			t.Fatalf("%s: %d %v %.200s", query, r.StatusCode, err, body)
		}
		for _, f := range answer.Features {
			if wide := f.Properties["@site_wide"] == true; query != "" && fmt.Sprintf("&site_wide=%v", wide) != query {
				t.Errorf("%s: %v", query, f.Properties)
			}
		}
		return len(answer.Features)
	}
	all, wide, others := count(""), count("&site_wide=true"), count("&site_wide=false")
	if wide != 1 || others != all-1 || others == 0 {
		t.Errorf("%d addresses, %d site-wide, %d others", all, wide, others)
	}
	for target, want := range map[string]bool{"/v1/export.csv?site_wide=false": false, "/v1/export.csv?site_wide=true": true, "/feed.atom?site_wide=false": false, "/feed.atom?site_wide=true": true, "/?site_wide=false": false, "/?site_wide=true": true, "/ogc/collections/addresses/items?site_wide=false": false} {
		if r, body := get(h, target); r.StatusCode != 200 || strings.Contains(body, "Verlag Nord") != want {
			t.Errorf("%s: %d, has the footer: %v", target, r.StatusCode, !want)
		}
	}
	if r, body := get(h, "/v1/search?site_wide=maybe"); r.StatusCode != 400 || !strings.Contains(body, "site_wide must be true") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

// Every link of the page's menus is a search that works, and finds as many as
// the menu says.
func TestMenus(t *testing.T) {
	o := options()
	o.OSM = true
	h := Handler(town(t, 60), o)
	_, body := get(h, "/?q=haus&lang=de")
	links := regexp.MustCompile(`<li><a href="(/\?[^"]*)"[^>]*><span>[^<]*</span>(?: <span class="count">(\d+)</span>)?</a></li>`).FindAllStringSubmatch(body, -1)
	if len(links) < 8 {
		t.Fatalf("%d links in the menus", len(links))
	}
	for _, m := range links {
		r, to := get(h, html.UnescapeString(m[1]))
		if r.StatusCode != 200 {
			t.Errorf("%s: %d", m[1], r.StatusCode)
		}
		if !strings.Contains(to, `lang="de"`) {
			t.Errorf("%s forgets the language", m[1])
		}
		if m[2] != "" && !strings.Contains(to, `polite">`+m[2]+" Adresse") {
			t.Errorf("%s does not find %s", m[1], m[2])
		}
	}
	for _, m := range regexp.MustCompile(`href="(/(?:v1|feed)[^"]*)"`).FindAllStringSubmatch(body, -1) {
		if r, body := get(h, html.UnescapeString(m[1])); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", m[1], r.StatusCode, body)
		}
	}
}

// A filter may have several values. The menus of the page add and take away
// one each, say how many each has by itself, and show what is chosen.
func TestManyValues(t *testing.T) {
	h := Handler(town(t, 60), options())
	for target, want := range map[string]float64{
		"/v1/search?street=Lange+Str.&street=Stau":             2,
		"/v1/search?street=Lange+Str.&street=":                 1,
		"/v1/search?street=Stau&postcode=26121&postcode=26122": 1,
		"/v1/search?host=verein.example&host=ohne.example":     2,
		"/v1/search?month=2026-11&street=Stau":                 1,
		"/v1/search?month=2026-10&month=2026-12":               0,
		items + "?postcode=26121&postcode=26123":               4,
	} {
		if v := ask(t, h, target); v["numberMatched"] != want {
			t.Errorf("%s: %v, want %v", target, v["numberMatched"], want)
		}
	}
	// The next page asks for all values.
	v := ask(t, h, "/v1/search?street=Ringstra%C3%9Fe&street=Stau&limit=40&sort=name")
	links := v["links"].([]any)
	next := links[len(links)-1].(map[string]any)
	if to := ask(t, h, next["href"].(string)); next["rel"] != "next" || to["numberMatched"] != 61.0 || to["numberReturned"] != 21.0 {
		t.Errorf("%v leads to %v of %v", next, to["numberReturned"], to["numberMatched"])
	}
	if values := ask(t, h, "/v1/search?facets=month")["facets"].(map[string]any)["month"].([]any); len(values) != 1 || values[0].(map[string]any)["value"] != "2026-11" {
		t.Errorf("months %v", values)
	}

	_, body := get(h, "/?postcode=26121&postcode=26122&lang=en&month=2026-11")
	item := regexp.MustCompile(`<li><a href="(/\?[^"]*)"( aria-current="true")?[^>]*><span>(\d{5})</span> <span class="count">(\d+)</span></a></li>`)
	menu := map[string][]string{}
	for _, m := range item.FindAllStringSubmatch(body, -1) {
		menu[m[3]] = []string{html.UnescapeString(m[1]), m[2], m[4]}
	}
	for code, want := range map[string][]string{
		"26121": {"/?lang=en&month=2026-11&postcode=26122", ` aria-current="true"`, "3"},
		"26122": {"/?lang=en&month=2026-11&postcode=26121", ` aria-current="true"`, "3"},
		"26135": {"/?lang=en&month=2026-11&postcode=26121&postcode=26122&postcode=26135", "", "60"},
	} {
		if !slices.Equal(menu[code], want) {
			t.Errorf("menu %s: %q, want %q", code, menu[code], want)
		}
	}
	for _, want := range []string{">postcode 26121 <", ">postcode 26122 <", ">First seen: November 2026 <", "6 addresses", `name="postcode" value="26122"`, `Postcode <span class="count">2</span>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if _, body := get(h, "/?precision=house&lang=de"); !strings.Contains(body, "des Hauses") || !strings.Contains(body, "der Straße oder besser") {
		t.Error("the menu of precisions is not there")
	}
}

// Who finds nothing reads how much the crawl has found.
func TestCoverage(t *testing.T) {
	o := options()
	found, streets := 0, 0
	o.Coverage = func() (int, int) { return found, streets }
	h := Handler(town(t, 0), o)
	for _, c := range []struct {
		found, streets int
		lang, want     string
	}{
		{0, 0, "en", "The crawl may not have seen it yet."}, {0, 200, "en", "addresses in 0 % of the streets so far; it may still turn up"}, {1, 200, "en", "in less than 1 % of"},
		{63, 200, "en", "in 31 % of the streets"}, {199, 200, "de", "in 99 % der Straßen"}, {200, 200, "en", "in all streets that are known"}, {1, 200, "de", "in weniger als 1 % der Straßen"},
	} {
		found, streets = c.found, c.streets
		if _, body := get(h, "/?q=zzzzqqqq&lang="+c.lang); !strings.Contains(body, c.want) {
			t.Errorf("%d of %d: the page does not say %q", c.found, c.streets, c.want)
		}
	}
}

// BenchmarkPage is a search as a browser asks for it: the list, the menus, what
// is missing, the map's data, packed.
func BenchmarkPage(b *testing.B) {
	o := options()
	o.OSM, o.Basemap = true, streets(b)
	h := Handler(town(b, 2000), o)
	size := 0
	for i := 0; b.Loop(); i++ {
		r, body := get(h, fmt.Sprintf("/?q=haus&lang=de&radius=%d&lat=53.14&lon=8.21", 1000+i%7), "Accept-Encoding", "gzip")
		if r.StatusCode != 200 {
			b.Fatal(r.StatusCode)
		}
		size = len(body)
	}
	b.ReportMetric(float64(size), "B/page")
}

// At the finest level each request is a line, which nothing that comes with it
// can break.
func TestRequestsAreLogged(t *testing.T) {
	for level, want := range map[slog.Level]int{slog.LevelDebug: 3, slog.LevelInfo: 0} {
		var lines bytes.Buffer
		o := options()
		o.Log = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: level}))
		h := Handler(town(t, 1), o)
		for _, target := range []string{"/v1/search?q=harms", "/v1/search?q=a%0Alevel=ERROR%1B[31m&limit=0", "/nowhere%0a%0dx"} {
			get(h, target)
		}
		if n := strings.Count(lines.String(), "\n"); n != want {
			t.Errorf("%v: %d lines: %s", level, n, lines.String())
		}
		if want > 0 && (!strings.Contains(lines.String(), "path=/v1/search") || !strings.Contains(lines.String(), "status=400") || strings.Contains(lines.String(), "\x1b")) {
			t.Error(lines.String())
		}
	}
}

// Where nothing is found the page offers what begins alike, as a text.
func TestSimilar(t *testing.T) {
	h := Handler(town(t, 1), options())
	_, body := get(h, "/?lang=en&q=tischlxyzq")
	if !strings.Contains(body, "Did you mean:") || !strings.Contains(body, `<a href="/?lang=en&amp;q=Tischlerei&#43;Harms">Tischlerei Harms</a>`) {
		t.Errorf("nothing similar: %.3000s", body[strings.Index(body, "<main"):])
	}
	for _, q := range []string{"%3Cscript%3Exyzq", "qqqq", "zz", "%2B%2B%2B"} {
		if _, body := get(h, "/?lang=en&q="+q); strings.Contains(body, "Did you mean:") || strings.Contains(body, "<script>xyzq") {
			t.Errorf("%s: something similar", q)
		}
	}
}

// A house that nobody states, in a street that is known, is an answer: on the
// page in both languages, and as data.
func TestStreetOnly(t *testing.T) {
	h := Handler(town(t, 3), options())
	for lang, want := range map[string]string{
		"en": `3 pages mention Ringstraße, but without the number 99. <a href="/?lang=en&amp;street=Ringstra%C3%9Fe">Show this street</a>`,
		"de": `3 Seiten nennen Ringstraße, aber ohne die Nummer 99. <a href="/?lang=de&amp;street=Ringstra%C3%9Fe">Diese Straße zeigen</a>`,
	} {
		// Close hits or, with a filter that nothing fits, none.
		for _, q := range []string{"q=ringstr.+99", "q=ringstr.+99&postcode=1"} {
			if _, body := get(h, "/?lang="+lang+"&"+q); !strings.Contains(body, want) {
				t.Errorf("%s %s: %.3000s", lang, q, body[strings.Index(body, "<main"):])
			}
		}
	}
	for _, path := range []string{"/v1/search?q=ringstr.+99+26135+oldenburg", "/ogc/collections/addresses/items?q=Ringstra%C3%9Fe+99,+26135+Oldenburg"} {
		answer, _ := ask(t, h, path)["hint"].(map[string]any)
		if answer["street"] != "Ringstraße" || answer["housenumber"] != "99" || answer["pages"] != 3.0 || answer["addresses"] != 3.0 || answer["text"] != "3 pages mention Ringstraße, but without the number 99." {
			t.Fatalf("%s: %v", path, answer)
		}
		if n := ask(t, h, answer["href"].(string))["numberMatched"]; n != 3.0 {
			t.Errorf("%v has %v", answer["href"], n)
		}
	}
	for _, q := range []string{"ringstr.+2", "ringstr.", "nadorster+stra%C3%9Fe+12a", "zzzz+99", "haus+99"} {
		if answer := ask(t, h, "/v1/search?q="+q); answer["hint"] != nil {
			t.Errorf("%s: %v", q, answer["hint"])
		}
	}
}

// A first visit costs less than 100 kB: the page with its results, both style
// sheets and the script.
func TestPageWeight(t *testing.T) {
	h := Handler(town(t, 300), options())
	for _, target := range []string{"/", "/?q=haus&lang=de"} {
		_, page := get(h, target, "Accept-Encoding", "gzip")
		sum := len(page)
		for _, a := range web.Assets() {
			_, body := get(h, a.Path, "Accept-Encoding", "gzip")
			sum += len(body)
		}
		t.Logf("%s: %d bytes, %d of them the page", target, sum, len(page))
		if sum > 100_000 {
			t.Errorf("%s: %d bytes as sent", target, sum)
		}
	}
}
