package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gazehound/index"
	"gazehound/index/web"
	"gazehound/internal/corrections"
)

const operatorToken = "0123456789abcdef-operator"

// A counter is a server whose operator corrects.
type counter struct {
	http.Handler
	x   *index.Index
	dir string
	o   Options
}

func correcting(t testing.TB, n int) *counter {
	t.Helper()
	c := &counter{x: town(t, n), dir: t.TempDir(), o: options()}
	log, err := corrections.Open(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	suggestions, err := corrections.OpenSuggestions(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	c.x.Facts = log.Facts
	c.o.Corrections = &Corrections{Log: log, Suggestions: suggestions, Token: operatorToken, Standing: c.x.Standing,
		Changed: func() {
			entries, _ := log.Since(corrections.Position{})
			for _, e := range entries { // of what was taken back, too
				if err := c.x.Correct(t.Context(), []string{e.Address}); err != nil && e.Address != "" {
					t.Error(err)
				}
			}
		}}
	c.Handler = Handler(c.x, c.o)
	return c
}

// send sends a request of the operator, with further headers, and decodes the answer.
func (c *counter) send(t testing.TB, method, path, body string, header ...string) (*http.Response, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, "http://gazehound.example"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	r.Header.Set(controlHeader, "1")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	if w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%s %s: %d is no problem: %v", method, path, w.Code, w.Header())
	}
	return w.Result(), v
}

func (c *counter) idOf(t testing.TB, words string) string {
	t.Helper()
	r, err := c.x.Search(t.Context(), index.Query{Text: words})
	if err != nil || len(r.Hits) == 0 {
		t.Fatalf("%q: %v", words, err)
	}
	return r.Hits[0].ID
}

func (c *counter) tagOf(t testing.TB, id string) string {
	t.Helper()
	r, v := c.send(t, "GET", correctionsPath+"/"+id, "")
	if r.StatusCode != 200 || r.Header.Get("ETag") == "" {
		t.Fatalf("%d %v", r.StatusCode, v)
	}
	return r.Header.Get("ETag")
}

func body(id, what, value string) string {
	text, _ := json.Marshal(map[string]string{"address": id, "what": what, "value": value})
	return string(text)
}

// A correction goes its way: it stands in answers and exports as a person's, and goes with its undo.
func TestCorrectAndUndo(t *testing.T) {
	c := correcting(t, 0)
	id := c.idOf(t, "tischlerei")
	card := func() map[string]any { return ask(t, c, "/v1/addresses/"+id)["properties"].(map[string]any) }
	before := card()
	for _, step := range []struct{ what, value, property, want string }{
		{"name", "  Werkstatt   <b>Quendel</b> & Söhne ", "name", "Werkstatt <b>Quendel</b> & Söhne"},
		{"kind", "bakery", "@kind", "shop=bakery"},
		{"phone", "0441 9988776", "phone", "+494419988776"},
		{"hours", "Mo-Fr 9-17 Uhr", "opening_hours", "Mo-Fr 09:00-17:00"},
		{"gone", "moved", "@status", "moved"},
	} {
		r, v := c.send(t, "POST", correctionsPath, body(id, step.what, step.value), "If-Match", c.tagOf(t, id))
		if r.StatusCode != http.StatusCreated || r.Header.Get("ETag") != c.tagOf(t, id) {
			t.Fatalf("%s: %d %v", step.what, r.StatusCode, v)
		}
		after := card()
		if after[step.property] != step.want || len(after["@corrected"].([]any)) != 1 {
			t.Errorf("%s: %v", step.what, after)
		}
		for _, path := range []string{"/v1/export.csv", "/v1/search.ndjson?q=oldenburg", "/"} {
			if _, text := get(c, path); path != "/" && !strings.Contains(text, "corrected") {
				t.Errorf("%s: %s does not say who says so", step.what, path)
			} else if strings.Contains(text, "<b>Quendel") && path == "/" {
				t.Errorf("%s is not escaped", path)
			}
		}
		if _, page := get(c, web.AddressPath+id+"?lang=en"); !strings.Contains(page, "Corrected by a person:") {
			t.Errorf("%s: the card does not say so", step.what)
		}
		undo := fmt.Sprintf(`{"undo":%v}`, v["number"])
		if r, v := c.send(t, "POST", correctionsPath, undo); r.StatusCode != http.StatusCreated {
			t.Fatalf("undo: %d %v", r.StatusCode, v)
		}
		if r, _ := c.send(t, "POST", correctionsPath, undo); r.StatusCode != http.StatusConflict {
			t.Errorf("a second undo: %d", r.StatusCode)
		}
		if got := card(); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("%s: after the undo %v, before %v", step.what, got, before)
		}
	}
	if _, v := c.send(t, "GET", correctionsPath, ""); v["number"] != 10. {
		t.Errorf("the list: %v", v)
	}
	// Rejected: gone from the search, still known to the operator.
	if r, v := c.send(t, "POST", correctionsPath, body(id, "reject", ""), "If-Match", "*"); r.StatusCode != http.StatusCreated {
		t.Fatalf("%d %v", r.StatusCode, v)
	}
	if r, _ := get(c, "/v1/addresses/"+id); r.StatusCode != http.StatusNotFound {
		t.Errorf("a rejected address: %d", r.StatusCode)
	}
	if _, v := c.send(t, "GET", correctionsPath+"/"+id, ""); v["hidden"] != true {
		t.Errorf("the operator sees %v", v)
	}
}

func TestCorrectionsRefused(t *testing.T) {
	c := correcting(t, 0)
	id := c.idOf(t, "tischlerei")
	any := []string{"If-Match", "*"}
	for name, s := range map[string]struct {
		status int
		body   string
		header []string
	}{
		"no If-Match":      {http.StatusPreconditionRequired, body(id, "confirm", ""), nil},
		"another tag":      {http.StatusPreconditionFailed, body(id, "confirm", ""), []string{"If-Match", `"7-0123456789abcdef"`}},
		"no token":         {http.StatusUnauthorized, body(id, "confirm", ""), append(any, "Authorization", "")},
		"a wrong token":    {http.StatusUnauthorized, body(id, "confirm", ""), append(any, "Authorization", "Bearer "+operatorToken[1:])},
		"no header":        {http.StatusForbidden, body(id, "confirm", ""), append(any, controlHeader, "")},
		"another origin":   {http.StatusForbidden, body(id, "confirm", ""), append(any, "Origin", "https://evil.example")},
		"another site":     {http.StatusForbidden, body(id, "confirm", ""), append(any, "Sec-Fetch-Site", "cross-site")},
		"an unknown ID":    {http.StatusNotFound, body("ffffffffffffffff", "confirm", ""), any},
		"a page's ID":      {http.StatusBadRequest, body("p0123456789abcdef", "confirm", ""), any},
		"a path":           {http.StatusBadRequest, body("../../etc/passwd", "confirm", ""), any},
		"a name of 1 MB":   {http.StatusRequestEntityTooLarge, body(id, "name", strings.Repeat("x", 1<<20)), any},
		"a long name":      {http.StatusBadRequest, body(id, "name", strings.Repeat("ä", 256)), any},
		"an empty name":    {http.StatusBadRequest, body(id, "name", " \n "), any},
		"a control":        {http.StatusBadRequest, body(id, "name", "Anker\x1b[31m"), any},
		"a kind":           {http.StatusBadRequest, body(id, "kind", "no such thing"), any},
		"a number":         {http.StatusBadRequest, body(id, "phone", "12"), any},
		"hours":            {http.StatusBadRequest, body(id, "hours", "whenever we like"), any},
		"gone":             {http.StatusBadRequest, body(id, "gone", "perhaps"), any},
		"a value":          {http.StatusBadRequest, body(id, "confirm", "yes"), any},
		"an unknown thing": {http.StatusBadRequest, body(id, "colour", "red"), any},
		"an unknown undo":  {http.StatusNotFound, `{"undo":99}`, nil},
		"undo and more":    {http.StatusBadRequest, `{"undo":1,"address":"` + id + `"}`, nil},
		"no JSON":          {http.StatusBadRequest, `address=1`, nil},
		"nothing":          {http.StatusBadRequest, ``, nil},
		"two":              {http.StatusBadRequest, body(id, "confirm", "") + body(id, "reject", ""), any},
		"another member":   {http.StatusBadRequest, `{"address":"` + id + `","what":"confirm","who":"operator"}`, any},
		"not UTF-8":        {http.StatusBadRequest, "{\"address\":\"" + id + "\",\"what\":\"name\",\"value\":\"\xff\"}", any},
	} {
		if r, v := c.send(t, "POST", correctionsPath, s.body, s.header...); r.StatusCode != s.status {
			t.Errorf("%s: %d %v, want %d", name, r.StatusCode, v, s.status)
		}
	}
	for _, path := range []string{doubtsPath, correctionsPath, correctionsPath + "/" + id} {
		if r, _ := c.send(t, "GET", path, "", "Authorization", ""); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", path, r.StatusCode)
		}
		if r, _ := c.send(t, "DELETE", path, ""); r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("DELETE %s: %d", path, r.StatusCode)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, corrections.FileName)); !os.IsNotExist(err) {
		t.Errorf("something was stored: %v", err)
	}
	// A server without an operator.
	o := options()
	h := Handler(c.x, o)
	r := httptest.NewRequest("POST", "http://gazehound.example"+correctionsPath, strings.NewReader("{}"))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("without an operator: %d", w.Code)
	}
}

// Of two people who look at one card, the second one is told; no correction is lost.
func TestTwoAtOnce(t *testing.T) {
	c := correcting(t, 0)
	id := c.idOf(t, "tischlerei")
	tag := c.tagOf(t, id)
	var all sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		all.Go(func() {
			r, _ := c.send(t, "POST", correctionsPath, body(id, "name", fmt.Sprint("Werkstatt ", i)), "If-Match", tag)
			codes[i] = r.StatusCode
		})
	}
	all.Wait()
	slices.Sort(codes)
	if codes[0] != http.StatusCreated || codes[1] != http.StatusPreconditionFailed || codes[7] != http.StatusPreconditionFailed {
		t.Errorf("%v", codes)
	}
	if entries, _ := c.o.Corrections.Log.Since(corrections.Position{}); len(entries) != 1 {
		t.Errorf("%d entries", len(entries))
	}
}

// The queue has what is most useful first; what was looked at leaves it, and suggestions of visitors
// enter it.
func TestDoubts(t *testing.T) {
	c := correcting(t, 60)
	doubts := func() (ids []string, waiting float64) {
		t.Helper()
		r, v := c.send(t, "GET", doubtsPath, "")
		if r.StatusCode != 200 {
			t.Fatalf("%d %v", r.StatusCode, v)
		}
		for _, d := range v["doubts"].([]any) {
			d := d.(map[string]any)
			if len(d["reasons"].([]any)) == 0 || d["etag"] == "" {
				t.Errorf("a doubt without reason or tag: %v", d)
			}
			ids = append(ids, d["id"].(string))
		}
		return ids, v["waiting"].(float64)
	}
	ids, waiting := doubts()
	if len(ids) == 0 || len(ids) > shownDoubts || waiting < float64(len(ids)) {
		t.Fatalf("%d doubts of %v", len(ids), waiting)
	}
	if r, v := c.send(t, "POST", correctionsPath, body(ids[0], "confirm", ""), "If-Match", c.tagOf(t, ids[0])); r.StatusCode != http.StatusCreated {
		t.Fatalf("%d %v", r.StatusCode, v)
	}
	next, left := doubts()
	if left != waiting-1 || slices.Contains(next, ids[0]) {
		t.Errorf("%v of %v wait after one was confirmed", left, waiting)
	}
	last := next[len(next)-1]
	if r, v := c.send(t, "POST", suggestionsPath, body(last, "name", "Haus <script>alert(1)</script>"), "Authorization", ""); r.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %v", r.StatusCode, v)
	}
	if first, _ := doubts(); first[0] != last {
		t.Errorf("a suggestion is not first: %v, want %s", first, last)
	}
	if _, v := c.send(t, "GET", correctionsPath+"/"+last, ""); len(v["suggestions"].([]any)) != 1 || len(v["facts"].([]any)) != 0 {
		t.Errorf("a suggestion changes something: %v", v)
	}
	if r, _ := c.send(t, "POST", correctionsPath, body(last, "confirm", ""), "If-Match", "*"); r.StatusCode != http.StatusCreated {
		t.Fatal(r.Status)
	}
	if n := len(c.o.Corrections.Suggestions.History(last)); n != 0 {
		t.Errorf("%d suggestions are left of an address that was looked at", n)
	}
}

// 10,000 suggestions a minute are harmless: few are taken, the operator is not slowed down, and the
// form for removals still works.
func TestFloodOfSuggestions(t *testing.T) {
	c := correcting(t, 300)
	removed := 0
	c.o.Remove = func(Removal) (int, error) { removed++; return removed, nil }
	c.Handler = Handler(c.x, c.o)
	var ids []string
	if err := c.x.Walk(t.Context(), index.Filters{}, func(h *index.Hit) error { ids = append(ids, h.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	codes := map[int]int{}
	for i := range 10_000 {
		r := httptest.NewRequest("POST", "http://gazehound.example"+suggestionsPath, strings.NewReader(body(ids[i%len(ids)], "name", fmt.Sprint("Spam ", i))))
		r.Header.Set(controlHeader, "1")
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", i/256%256, i%256) // many clients
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		codes[w.Code]++
	}
	if codes[http.StatusAccepted] > 3*allSuggestions || codes[http.StatusAccepted]+codes[http.StatusTooManyRequests] != 10_000 {
		t.Errorf("%v", codes)
	}
	info, err := os.Stat(filepath.Join(c.dir, corrections.SuggestionsName))
	if err != nil || info.Size() > 64<<10 {
		t.Errorf("%v, %v", info, err)
	}
	if r, v := c.send(t, "GET", doubtsPath, ""); r.StatusCode != 200 {
		t.Errorf("the queue: %d %v", r.StatusCode, v)
	}
	r := httptest.NewRequest("POST", "http://gazehound.example"+removalPath, strings.NewReader("what=example.org"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.RemoteAddr = "192.0.2.9:1"
	w := httptest.NewRecorder()
	if c.ServeHTTP(w, r); w.Code != http.StatusAccepted {
		t.Errorf("a removal request after the flood: %d", w.Code)
	}
	t.Logf("answers: %v", codes)
}
