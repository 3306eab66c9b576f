package monitor

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gazehound/crawler"
	"gazehound/crawler/fetch"
	"gazehound/predictor"
)

// Both languages say the same things, with the same values in each form, and
// every text is said by the page, its script or the Go files.
func TestTexts(t *testing.T) {
	verb := regexp.MustCompile(`%\.?[0-9]?[a-z]`)
	for key, english := range texts["en"] {
		german := texts["de"][key]
		if german == "" {
			t.Errorf("there is no German for %q", key)
		}
		if a, b := strings.Split(english, "|"), strings.Split(german, "|"); len(a) != len(b) {
			t.Errorf("%q has %d forms in English and %d in German", key, len(a), len(b))
		}
		want := strings.Join(verb.FindAllString(strings.Split(english, "|")[0], -1), " ")
		for _, form := range append(strings.Split(english, "|"), strings.Split(german, "|")...) {
			if got := strings.Join(verb.FindAllString(form, -1), " "); got != want {
				t.Errorf("%q has the values %q and %q: %s", key, want, got, form)
			}
		}
	}
	if len(texts["en"]) != len(texts["de"]) || len(texts["en"]) < 150 {
		t.Errorf("%d texts in English, %d in German", len(texts["en"]), len(texts["de"]))
	}

	source := ""
	for _, name := range []string{"monitor.go", "board.go", "texts.go", "figures.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(data), "var texts = ")
		source += before
	}
	said := map[string]bool{}
	for _, found := range regexp.MustCompile(`"([a-z_]*[a-z])"`).FindAllStringSubmatch(source, -1) {
		said[found[1]] = true
	}
	for _, found := range regexp.MustCompile(`\.T\.(page_\w+)`).FindAllStringSubmatch(pageSource, -1) {
		if texts["en"][found[1]] == "" {
			t.Errorf("the page says %s, which is no text", found[1])
		}
		said[found[1]] = true
	}
	for _, found := range regexp.MustCompile(`say(?:Of)?\(([^()]*)`).FindAllStringSubmatch(script, -1) {
		for _, word := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(found[1], -1) {
			if texts["en"]["js_"+word[1]] == "" {
				t.Errorf("the script says %q, which is no text", word[1])
			}
			said["js_"+word[1]] = true
		}
	}
	// Values of the API that the page translates.
	for _, bound := range []string{Politeness, Blocked, Network, Processor, Store, Seeds, Finished, Rests, Held} {
		said["js_bound_"+bound] = true
	}
	for _, reason := range []string{fetch.ClassDNS, fetch.ClassConnect, fetch.ClassTLS, fetch.ClassTimeout, fetch.ClassTooLarge, fetch.ClassContentType, fetch.ClassPrivateAddress, fetch.ClassProtocol,
		crawler.ReasonNoIndex, crawler.ReasonNeedsScript, crawler.ReasonNoCopy, crawler.ReasonPanic, "parse", "http_4xx", "http_429", "http_5xx", "bad_redirect", "redirect_loop", "sitemap", "robots", "robots_unreachable", "no_content", "tdm_reserved", "visited_elsewhere"} {
		said["js_reason_"+reason] = true
	}
	for _, feature := range predictor.Families() {
		said["feature_"+feature] = true
	}
	for kind, words := range map[string]string{"kind": "page redirect error skipped", "robots": "allowed in_part forbidden unreachable", "state": "ready asked waiting backoff",
		"end": "done crawl-failed page-limit failures time-limit disk-reserve request signal error"} {
		for word := range strings.FieldsSeq(words) {
			said["js_"+kind+"_"+word] = true
		}
	}
	for key := range said {
		if strings.HasPrefix(key, "js_") || strings.HasPrefix(key, "page_") || strings.HasPrefix(key, "feature_") {
			if texts["en"][key] == "" {
				t.Errorf("there is no text %q", key)
			}
		}
	}
	for key := range texts["en"] {
		if !said[key] {
			t.Errorf("nobody says %q", key)
		}
	}
}

// Every tile has a name and texts in both languages, and every figure is shown
// somewhere.
func TestFigures(t *testing.T) {
	minute := 12.5
	full := &Snapshot{Pages: 12345, PagesRun: 10, Relevant: 5000, Due: 3, Rate: 1.25, Insight: &Insight{
		PerMinute: &minute, Streets: Coverage{All: 100, Found: 40, Recent: 2},
	}}
	for _, s := range []*Snapshot{{}, full} {
		for _, lang := range []string{"en", "de"} {
			for _, tile := range tiles(s, texts[lang]) {
				if tile.ID == "" || tile.Name == "" || tile.Value == "" || strings.Contains(tile.Value+tile.Note, "%!") || tile.Value == "?" || tile.Note == "?" {
					t.Errorf("%s: %+v", lang, tile)
				}
			}
		}
		for _, l := range Lines(s) {
			if l.Title == "" || strings.Contains(l.Text, "%!") {
				t.Errorf("%+v", l)
			}
		}
	}
	all, _ := figures()
	for _, f := range all {
		if (f.ID == "") != (f.Value == "") || (f.Title == "") != (f.Line == "") || f.ID+f.Title+f.Metric == "" {
			t.Errorf("the figure %s%s lacks a name or what it names", f.ID, f.Title)
		}
		if texts["en"].fill(f.Metric, &measured{full, Extras{Node: &Node{Name: "a"}}}) == "?" {
			t.Errorf("the metric fails: %s", f.Metric)
		}
	}
	for _, line := range Lines(full) {
		if line.Text == "?" {
			t.Errorf("%s: the template fails", line.Title)
		}
	}
	german := tiles(full, texts["de"])
	if german[0] != (Tile{"pages", "Seiten", "12.345", "10 in diesem Lauf"}) {
		t.Errorf("the first tile in German: %+v", german[0])
	}
	for width, want := range map[int]string{
		20:  "12,345 pages",
		60:  "12,345 pages  40.5 % relevant  ",
		80:  "12,345 pages  40.5 % relevant  ",
		120: "12,345 pages  40.5 % relevant  (last 1,000: ",
		300: " waiting)",
	} {
		if brief := Brief(full, width); !strings.Contains(brief, want) || utf8.RuneCountInString(brief) > width {
			t.Errorf("the line of a terminal of %d columns: %q", width, brief)
		}
	}
	whole := strings.Split(Brief(full, 1000), "  ")
	for width := 12; width < 150; width++ {
		for _, figure := range strings.Split(Brief(full, width), "  ") {
			if !slices.Contains(whole, figure) {
				t.Errorf("%q is cut in %d columns", figure, width)
			}
		}
	}
}

// A crawl says in German, too, what holds it back.
func TestGermanBottleneck(t *testing.T) {
	for _, c := range []struct {
		s    Snapshot
		says string
	}{
		{Snapshot{Queued: 38410, Workers: 16, Hosts: Hosts{Waiting: 1402}}, "alle 1.402 Hosts mit Links warten ihren Abstand ab. Mehr Hosts"},
		{Snapshot{Queued: 5, Workers: 16, Hosts: Hosts{Waiting: 1, Next: 90 * time.Second}}, "der einzige Host mit Links wartet seinen Abstand ab. Der nächste ist in 1m30s bereit."},
		{Snapshot{Queued: 5, Workers: 4, Hosts: Hosts{Waiting: 1000, Backoff: 700}}, "700 von 1.000 Hosts mit Links: Zwangspause"},
		{Snapshot{Queued: 50, Leased: 16, Workers: 16, CPU: 0.4, Cores: 2, Hosts: Hosts{Ready: 9, Waiting: 3}}, "alle 16 Worker arbeiten, und 9 weitere Hosts sind bereit"},
		{Snapshot{Queued: 50, Leased: 1, Workers: 1, CPU: 0.4, Cores: 2, Hosts: Hosts{Ready: 1}}, "der einzige Worker arbeitet, und 1 weiterer Host ist bereit"},
		{Snapshot{Queued: 50, Leased: 16, Workers: 16, CPU: 1.9, Cores: 2, Hosts: Hosts{Ready: 9}}, "alle 16 Worker arbeiten, ebenso 2 Prozessorkerne."},
		{Snapshot{Queued: 50, Leased: 3, Workers: 16, Hosts: Hosts{Ready: 9}}, "3 von 16 Workern arbeiten, obwohl 9 Hosts"},
		{Snapshot{Queued: 1, Leased: 1, Workers: 16}, "1 Seite wird geholt"},
		{Snapshot{Workers: 16}, "kein Link ist mehr übrig"},
		{Snapshot{Queued: 5, Workers: 16, Resting: true, Hosts: Hosts{Ready: 3}}, "in der nächsten Runde"},
		{Snapshot{Queued: 5, Workers: 16, Resting: true}, "das Seitenlimit ist erreicht"},
		{Snapshot{Paused: true}, "bis der Crawl weiterläuft"},
	} {
		english, _ := c.s.Bottleneck()
		word, sentence := c.s.bottleneck(texts["de"])
		if word != english || !strings.Contains(sentence, c.says) || strings.Contains(sentence, "%!") {
			t.Errorf("%s (%s): %s, want %s", word, english, sentence, c.says)
		}
	}
}

// The page and its data are in the reader's language; the API and the metrics are not translated.
func TestAdminLanguage(t *testing.T) {
	a, _ := testAdmin(t, func(o *Options) {
		o.Language = func(asked, accept string) string {
			if asked == "de" || asked == "" && strings.HasPrefix(accept, "de") {
				return "de"
			}
			return "en"
		}
	})
	for _, c := range []struct{ path, accept, says, script string }{
		{"/", "", "<h2>Advice</h2>", `"paused":"paused"`}, {"/", "de-AT", "<h2>Empfehlungen</h2>", `"paused":"angehalten"`}, {"/?lang=de", "en", `<html lang="de">`, `"now":"jetzt"`}, {"/?lang=en", "de", `<html lang="en">`, `"now":"now"`},
	} {
		w := ask(a, "GET", c.path, "", "Accept-Language", c.accept)
		if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, c.says) || !strings.Contains(body, c.script) || w.Header().Get("Vary") != "Accept-Language" {
			t.Errorf("%s, %q: %d, no %s or %s in %s", c.path, c.accept, w.Code, c.says, c.script, body)
		}
	}
	said := map[string]State{}
	for _, lang := range []string{"", "en", "de"} {
		w := ask(a, "GET", "/v1/crawl?lang="+lang, "")
		var s State
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatalf("%q: %v, %s", lang, err, w.Body)
		}
		said[lang] = s
	}
	if said[""].Because != said["en"].Because || said["de"].Because == said["en"].Because || said["de"].Bottleneck != said["en"].Bottleneck || said["de"].Pages != said["en"].Pages {
		t.Errorf("it says %q, %q and %q", said[""].Because, said["en"].Because, said["de"].Because)
	}
	for _, path := range []string{"/v1/crawl?lang=fr", "/v1/crawl/events?lang=fr"} {
		if w := ask(a, "GET", path, ""); w.Code != 400 || !strings.Contains(w.Body.String(), "en or de") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
