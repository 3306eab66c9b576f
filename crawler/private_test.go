package crawler_test

import (
	"strings"
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"

	"github.com/paulmach/orb"
)

// The words around links beside a private person's address, and links that are their name, are blank
// before anybody stores or learns them; those of a business stay. The same goes for what was
// forgotten.
func TestPrivateLinks(t *testing.T) {
	place := gazetteer.Place{ID: "node/1", Kind: gazetteer.House, Street: "Postgasse", HouseNumber: "20", Postcode: "43102", City: "Demostadt", Country: "DE", Point: orb.Point{8, 53}, HasPoint: true}
	g := gazetteer.Of(place)
	region, err := g.Region("7,52,9,54")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := geoparse.New(g, region, geoparse.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	const member = `<title>Vorstand | Angelverein</title><p>1. Vorsitzende: Hanna Harms<br>Postgasse 20<br>43102 Demostadt<br>Tel. 04297 12345
		<a href=/satzung>Satzung</a> <a href=/hanna>Hanna Harms</a></p>`
	const shop = `<h1>Bäckerei Kruse GmbH</h1><p>Postgasse 20<br>43102 Demostadt<br>Telefon 04297 12345 <a href=/brot>unser Brot</a></p>`
	for _, c := range []struct {
		html      string
		forgotten bool
		private   bool
	}{{member, false, true}, {shop, false, false}, {shop, true, true}} {
		u, err := weburl.Parse("http://verein.example/vorstand")
		if err != nil {
			t.Fatal(err)
		}
		p, err := page.Parse(&page.Response{URL: u, Status: 200, Body: []byte("<html lang=de>" + c.html)})
		if err != nil {
			t.Fatal(err)
		}
		judge := crawler.Geo{Parser: parser, Country: "DE"}
		if c.forgotten {
			judge.Forgotten = func(geoparse.Address) bool { return true }
		}
		if _, err := judge.Judge(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		var words strings.Builder
		for _, l := range p.Links {
			words.WriteString(l.Anchor + "|" + l.Title + "|" + l.Around + "\n")
		}
		if len(p.Links) == 0 {
			t.Fatal("no links")
		}
		for _, w := range []string{"Harms", "Postgasse", "12345"} {
			if strings.Contains(words.String(), w) && c.private {
				t.Errorf("%q is beside the links:\n%s", w, words.String())
			}
		}
		if !c.private && !strings.Contains(words.String(), "12345") {
			t.Errorf("words of a business are gone:\n%s", words.String())
		}
	}
}
