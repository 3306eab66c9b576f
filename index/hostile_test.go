package index

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gazehound/geoparse"
)

// hostileBelongings are what an address is said to have, each of it the same text.
func hostileBelongings(text string) geoparse.Belongings {
	return geoparse.Belongings{Name: text, Branch: text, Phone: text, Fax: text, Email: text, Website: text,
		Hours: text, Object: text, Tags: text, Type: text, Kind: text, StatedKind: text,
		Status: geoparse.ClosedStatus, StatusWords: text}
}

// hostileCards are pages, each list of them about one address of one site or of several, that say too
// much, nothing that makes sense, or the contrary of each other.
func hostileCards() map[string][]Document {
	const address = "{Lange Straße 5, 26122 Oldenburg|8.214 53.14}"
	saying := func(n int, text string) (all []Document) {
		for i := range n {
			d := page(fmt.Sprintf("https://laden-%d.example/", i), "Laden", "de", "Laden\n"+address+"\n")
			d.Addresses[0].Belongings = hostileBelongings(strings.ReplaceAll(text, "%", fmt.Sprint(i)))
			all = append(all, d)
		}
		return all
	}
	long, lines := strings.Repeat("Blumen ", 2000), strings.Repeat("Weinhaus Okken GmbH\n", 5000)
	twice := page("https://laden.example/", "Laden", "de", strings.Repeat("Laden\n"+address+"\n", 2*maxMentions))
	noted := page("https://laden.example/", long, "de", address)
	noted.Notes = geoparse.Notes{Phone: long, Hours: long, Kind: long}
	return map[string][]Document{
		"long":            saying(1, long),
		"no UTF-8":        saying(1, strings.Repeat("\xff\xc3", 500)),
		"control":         saying(1, strings.Repeat("\x00\x1b\u202e\u2028", 100)),
		"markup":          saying(1, `</script><img src=x onerror=alert(1)>`),
		"separators":      saying(1, "a\x1fb\x1ec;d=e,f"),
		"contradictions":  saying(3*maxKept, "Laden %"),
		"the same, often": saying(3*maxKept, "Laden"),
		"names in lines":  {page("https://laden.example/", "Laden", "de", lines+address+"\n"+lines)},
		"one again":       {twice},
		"notes":           {noted},
	}
}

// Whatever pages say of an address, it is one card within its bounds, and is found.
func TestHostileCards(t *testing.T) {
	t.Parallel()
	for name, pages := range hostileCards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := open(t)
			began := time.Now()
			put(t, x, pages...)
			found := find(t, x, Query{Text: "lange straße", Group: true})
			_, walked := hitsOf(t, x)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if found.Total != 1 || len(walked) != 1 {
				t.Fatalf("%d found, %d walked, want 1", found.Total, len(walked))
			}
			for _, h := range []Hit{found.Hits[0], walked[0]} {
				for _, text := range append(h.Names, h.Name, h.Branch, h.Phone, h.Fax, h.Email, h.Website, h.Hours,
					h.Object, h.Tags, h.Kind, h.StatedKind, h.StatusWords) {
					if utf8.RuneCountInString(text) > maxShown || !utf8.ValidString(text) {
						t.Errorf("%.300q", text)
					}
				}
				if len(h.Names) > maxOthers || len(h.Evidence) > maxEvidence || len(h.Tenants) > maxOthers {
					t.Errorf("%d names, %d pages, %d tenants", len(h.Names), len(h.Evidence), len(h.Tenants))
				}
				for _, e := range h.Evidence {
					if utf8.RuneCountInString(e.Title) > maxTitle ||
						utf8.RuneCountInString(e.Snippet.Text) > snippetLength {
						t.Errorf("title %.80q, snippet %.400q", e.Title, e.Snippet.Text)
					}
				}
			}
		})
	}
}
