package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gazehound/gazetteer"
	"gazehound/index/differences"
	"gazehound/internal/kind"
)

// A comparedShop is a shop of a made-up web: what its site states, and in which list it belongs.
type comparedShop struct {
	list, id               string // differences.Kind or "" and the object of the map or ""
	name, line, phone, kin string
	host, hours            string
	closed                 bool
}

// page writes the page of a shop at a path.
func (s *comparedShop) page(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><html lang=de><head><title>%s</title>", html.EscapeString(s.name))
	if s.kin != "" {
		street, town, _ := strings.Cut(s.line, ", ")
		code, city, _ := strings.Cut(town, " ")
		fmt.Fprintf(&b, `<script type="application/ld+json">{"@context":"https://schema.org","@type":%q,"name":%q,"address":{"@type":"PostalAddress",`+
			`"streetAddress":%q,"postalCode":%q,"addressLocality":%q}}</script>`, s.kin, s.name, street, code, city)
	}
	fmt.Fprintf(&b, "</head><body><h1>%s</h1><p><a href=/>Start</a> <a href=/impressum>Impressum</a></p>", html.EscapeString(s.name))
	if s.closed {
		b.WriteString("<p>Unser Geschäft ist dauerhaft geschlossen.</p>")
	}
	fmt.Fprintf(&b, "<address>%s<br>%s<br>Telefon: %s</address>", html.EscapeString(s.name), html.EscapeString(s.line), s.phone)
	if path == "/" && !s.closed {
		fmt.Fprintf(&b, "<p>Öffnungszeiten:<br>%s</p>", s.hours)
	}
	b.WriteString("</body></html>")
	return b.String()
}

// hoursOf has opening hours as a page writes them, and as OpenStreetMap does.
var hoursOf = [][2]string{
	{"Montag bis Freitag 9:00 bis 18:00 Uhr", "Mo-Fr 09:00-18:00"}, {"Mo-Sa 8:00-20:00 Uhr", "Mo-Sa 08:00-20:00"},
	{"Dienstag bis Sonntag 11 bis 22 Uhr", "Tu-Su 11:00-22:00"}, {"Mo-Fr 7:30-12:30 Uhr und 14:00-17:30 Uhr", "Mo-Fr 07:30-12:30,14:00-17:30"},
}

// inKaiserslautern chooses shops of the map and makes further ones up, and returns the tags that the
// map is given for each object.
func inKaiserslautern(t *testing.T, g *gazetteer.Gazetteer) (shops []*comparedShop, tags map[string][]string) {
	t.Helper()
	all := map[string][]gazetteer.Place{} // by name
	for p := range g.EachPOI() {
		all[gazetteer.Key(p.Names[0])] = append(all[gazetteer.Key(p.Names[0])], p)
	}
	var places []gazetteer.Place
	for _, some := range all {
		p := some[0]
		isShop := slices.ContainsFunc(p.Object.Tags, func(tag string) bool {
			key, _, _ := strings.Cut(tag, "=")
			return kind.Find(tag) != nil && (key == "shop" || key == "craft" || tag == "amenity=pharmacy" || tag == "amenity=restaurant" || tag == "amenity=cafe" || tag == "amenity=pub")
		})
		if len(some) == 1 && isShop && p.Street != "" && p.HouseNumber != "" && p.Postcode != "" && len(p.Names[0]) > 4 {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b gazetteer.Place) int { return strings.Compare(a.ID, b.ID) })
	lists := []struct {
		name string
		n    int
	}{{"", 8}, {"phone", 4}, {"opening_hours", 4}, {"website", 4}, {"name", 3}, {"kind", 3}, {"closed", 4}, {"moved", 4}, {"missing", 8}}
	tags = map[string][]string{}
	n := 0
	shift, _ := strconv.Atoi(os.Getenv("EVAL_SHIFT"))
	free := places[len(places)-12:] // houses of others, for those that have moved or are missing
	for _, list := range lists {
		for range list.n {
			p := places[(n*(len(places)-12)/42+shift)%(len(places)-12)]
			hours := hoursOf[n%len(hoursOf)]
			s := &comparedShop{list: list.name, id: p.ID, name: p.Names[0], host: fmt.Sprintf("www.laden%d.example", n), hours: hours[0],
				phone: fmt.Sprintf("0631 31044%02d", n), line: fmt.Sprintf("%s %s, %s Kaiserslautern", p.Street, p.HouseNumber, p.Postcode)}
			onMap := map[string]string{"phone": fmt.Sprintf("+49 631 31044%02d", n), "website": "http://" + s.host, "opening_hours": hours[1]}
			switch list.name {
			case "phone":
				onMap["phone"] = "+49 631 999123"
			case "opening_hours":
				onMap["opening_hours"] = "Mo-Su 00:00-24:00"
			case "website":
				onMap["website"] = "http://www.frueher.example/"
			case "name":
				s.name = []string{"Neu am Platz", "Zum Anker", "Haus Nordlicht"}[n%3]
			case "kind":
				s.kin = "HardwareStore"
			case "closed":
				s.closed = true
			case "moved", "missing":
				other := free[0]
				free = free[1:]
				s.line = fmt.Sprintf("%s %s, %s Kaiserslautern", other.Street, other.HouseNumber, other.Postcode)
				if list.name == "missing" {
					s.id, s.name = "", fmt.Sprintf("%s %s", []string{"Bäckerei", "Apotheke", "Buchhandlung", "Fahrradladen"}[n%4], []string{"Quendel", "Rabenhorst", "Sturmvogel", "Talmühle"}[(n/4)%4])
				}
			}
			if s.id != "" {
				for key, value := range onMap {
					tags[s.id] = append(tags[s.id], fmt.Sprintf(`<tag k="%s" v="%s"/>`, key, value))
				}
			}
			shops = append(shops, s)
			n++
		}
	}
	return shops, tags
}

// TestEvalCompare compares a web of 42 shops, whose truth is written down, with the map of
// Kaiserslautern after a crawl, and prints precision and recall of each list.
//
//	go test ./cmd/gazehound -run EvalCompare -v
//
// EVAL_SHIFT=1 takes other shops of the map, EVAL_ERRORS=1 lists what is wrong.
func TestEvalCompare(t *testing.T) {
	if run := flag.Lookup("test.run"); run == nil || !strings.Contains(run.Value.String(), "Eval") {
		t.Skip("imports a whole extract twice: asked for by make eval")
	}
	file := "../../../shared/data/gazetteer/osm-kaiserslautern-de/kaiserslautern.osm.gz"
	if _, err := os.Stat(file); err != nil {
		t.Skipf("real data not found: %v", err)
	}
	dir := t.TempDir()
	compareCommand(t, "gazetteer", "import", "--data", filepath.Join(dir, "first"), file)
	g, err := gazetteer.Open(filepath.Join(dir, "first", "gazetteer"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	shops, tags := inKaiserslautern(t, g)
	data := filepath.Join(dir, "data")
	extract := withTags(t, dir, file, tags)
	compareCommand(t, "init", "--data", data, "--osm", extract, "--region", "Kaiserslautern", "--quiet")
	crawlShops(t, data, shops)

	got, want := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(compareCommand(t, "compare", "--data", data, "--json")) {
		var d differences.Properties
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		key := d.Object
		if d.Difference == differences.Missing {
			key = d.Name
		}
		got[string(d.Difference)] = append(got[string(d.Difference)], key)
	}
	ofShop := map[string]bool{}
	for _, s := range shops {
		key := s.id
		if s.list == "missing" {
			key = s.name
		}
		ofShop[s.id] = true
		want[s.list] = append(want[s.list], key)
	}
	for _, k := range differences.Kinds {
		if k != differences.NotFound {
			checkList(t, string(k), got[string(k)], want[string(k)])
		}
	}
	wrong := 0
	for _, id := range got["not_found"] {
		if ofShop[id] {
			wrong++
		}
	}
	t.Logf("not_found      %d listed, %d of them are of the web", len(got["not_found"]), wrong)
	if wrong > 2 || len(got["not_found"]) < 100 {
		t.Errorf("%d of %d that are not found are of the web", wrong, len(got["not_found"]))
	}
}

// compareCommand runs a command, which must succeed, and returns what it prints.
func compareCommand(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run(t.Context(), args, nil, &out, &complaints); code != exitOK {
		t.Fatalf("%q: exit %d: %s", args, code, complaints.String())
	}
	return out.String()
}

// crawlShops crawls the web sites of the shops.
func crawlShops(t *testing.T, data string, shops []*comparedShop) {
	t.Helper()
	byHost := map[string]*comparedShop{}
	args := []string{"crawl", "--data", data, "--delay", "0s", "--max-pages", "500", "--quiet"}
	for _, s := range shops {
		byHost[s.host] = s
		args = append(args, "--seed", "http://"+s.host+"/")
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := byHost[r.Host]
		if s == nil || r.URL.Path != "/" && r.URL.Path != "/impressum" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, s.page(r.URL.Path))
	}))
	defer web.Close()
	compareCommand(t, append(args, "--proxy", web.URL)...)
}

// checkList holds one list of differences against the one that is wanted.
func checkList(t *testing.T, list string, got, want []string) {
	t.Helper()
	verbose := os.Getenv("EVAL_ERRORS") != ""
	right := 0
	for _, key := range got {
		if slices.Contains(want, key) {
			right++
		} else if verbose {
			t.Logf("%s: %s is none", list, key)
		}
	}
	for _, key := range want {
		if verbose && !slices.Contains(got, key) {
			t.Logf("%s: %s is not listed", list, key)
		}
	}
	precision, recall := float64(right)/float64(max(1, len(got))), float64(right)/float64(max(1, len(want)))
	t.Logf("%-14s %2d of %2d listed are right, of %2d: precision %.2f, recall %.2f",
		list, right, len(got), len(want), precision, recall)
	if precision < 0.75 || recall < 0.75 {
		t.Errorf("%s: precision %.2f, recall %.2f; .75 is wanted", list, precision, recall)
	}
}

// withTags writes an extract whose objects have further tags, and returns its name.
func withTags(t *testing.T, dir, file string, tags map[string][]string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	old := regexp.MustCompile(`<tag k=["'](phone|website|opening_hours|contact:[a-z]+)["'] v=["'][^"']*["'] ?/>`)
	for id, more := range tags {
		what, number, _ := strings.Cut(id, "/")
		whole := regexp.MustCompile(`(?s)<` + what + ` id=["']` + number + `["'].*?</` + what + `>`)
		at := whole.FindIndex(text)
		if at == nil {
			t.Fatalf("the extract has no %s", id)
		}
		object := old.ReplaceAll(text[at[0]:at[1]], nil)
		object = append(bytes.TrimSuffix(object, []byte("</"+what+">")), strings.Join(more, "")+"</"+what+">"...)
		text = slices.Concat(text[:at[0]], object, text[at[1]:])
	}
	name := filepath.Join(dir, "tagged.osm")
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
