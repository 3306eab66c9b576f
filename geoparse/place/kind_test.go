package place

import (
	"strings"
	"testing"

	"gazehound/geoparse/markup"

	"golang.org/x/net/html"
)

// A title says the kind of the place where something else says it, too; alone it
// is what the page is about.
func TestKindOfPage(t *testing.T) {
	isPlace := func(name string) bool { return strings.EqualFold(name, "Oldenburg") }
	for _, c := range []struct {
		what, name, title, heading, host, want string
	}{
		{"the name", "Bäckerei Harms", "Impressum", "", "harms.example", "shop=bakery"},
		{"a title with the name", "Harms GmbH", "Bäckerei Harms", "", "backwerk.example", "shop=bakery"},
		{"a title and another heading", "Harms GmbH", "Bäckerei in dritter Hand", "Unsere Bäckerei", "harms.example", "shop=bakery"},
		{"a title and the domain", "Harms GmbH", "Bäckerei im Norden", "", "baeckerei-harms.example", "shop=bakery"},
		{"an article", "Oldenburger Bote", "Theater lockt viele an | Oldenburger Bote", "Theater lockt viele an", "bote.example", ""},
		{"an article with the town", "Bote Oldenburg", "Theater lockt Oldenburg an | Bote", "Theater lockt Oldenburg an", "bote.example", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			doc, err := html.Parse(strings.NewReader("<title>" + c.title + "</title><h1>" + c.heading + "</h1>"))
			if err != nil {
				t.Fatal(err)
			}
			p := ReadPage(markup.Read(doc), c.heading, c.title, c.host, "/", isPlace)
			if got := p.Kind(c.name, "de", "DE", true); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
