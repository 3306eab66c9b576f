package crawler_test

import (
	"testing"

	"gazehound/crawler"
	"gazehound/crawler/page"
	"gazehound/crawler/weburl"
	"gazehound/gazetteer"
	"gazehound/geoparse"
)

// A page of a content management system, "/index.php?id=7", is not the start page, whose kind is the site's.
func TestStartPageHasNoQuery(t *testing.T) {
	parser, err := geoparse.New(gazetteer.Of(), nil, geoparse.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "shop=bakery", "/index.php": "shop=bakery", "/index.php?id=7": ""} {
		u, err := weburl.Parse("http://kruse.example" + path)
		if err != nil {
			t.Fatal(err)
		}
		body := []byte("<html lang=de><meta charset=utf-8><title>Bäckerei Kruse</title>")
		p, err := page.Parse(&page.Response{URL: u, Status: 200, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		v, err := crawler.Geo{Parser: parser, Country: "DE"}.Judge(t.Context(), p)
		if err != nil || v.Notes.Kind != want {
			t.Errorf("%s: kind %q, %v; want %q", path, v.Notes.Kind, err, want)
		}
	}
}
