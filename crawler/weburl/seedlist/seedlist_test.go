package seedlist

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// read returns what is found in a list: "URL" or "URL@lon,lat".
func read(t testing.TB, list string) (Form, []string, error) {
	t.Helper()
	var all []string
	form, err := Read(strings.NewReader(list), func(f Found) error {
		text := f.URL
		if f.At != nil {
			text += fmt.Sprintf("@%g,%g", f.At[0], f.At[1])
		}
		all = append(all, text)
		return nil
	})
	return form, all, err
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		form Form
		list string
		want []string
	}{
		{"nothing", Lines, "", nil},
		{"lines", Lines, "\ufeff# notes\nhttps://www.example.org/a,b?c=1\n\nwww.example.net/x\nseen at http://example.com/ok.\nno address here\nusw.\n",
			[]string{"https://www.example.org/a,b?c=1", "www.example.net/x", "http://example.com/ok"}},
		{"a host named website", Lines, "website.example\nurl.example\n", []string{"website.example", "url.example"}},
		{"CDXJ", Lines, `org,example)/ 20240101 {"url": "http://example.org/", "status": "200"}` + "\n" + `org,example)/b 20240102 {"url": "https://example.org/b", "mime": "text/html"}`,
			[]string{"http://example.org/", "https://example.org/b"}},
		{"CDX", Lines, " CDX N b a m s k r M S V g\norg,example)/ 20240101000000 http://example.org/x text/html 200 AAAA - - 5 6 a.warc.gz\n", []string{"http://example.org/x"}},
		{"an archive's list", JSON, `[["urlkey","timestamp","original"],["org,example)/","2024","http://example.org/"],["org,example)/c","2024","http://example.org/c"]]`,
			[]string{"http://example.org/", "http://example.org/c"}},
		{"JSON lines", JSON, "{\"urlkey\":\"a\",\"url\":\"http://example.org/1\",\"status\":200}\n{\"url\":\"http://example.org/2\"}\n", []string{"http://example.org/1", "http://example.org/2"}},
		{"Overpass", JSON, `{"version":0.6,"generator":"Overpass","osm3s":{"copyright":"see www.openstreetmap.org"},"elements":[
			{"type":"node","id":1,"lat":53.1,"lon":8.2,"tags":{"name":"A","website":"https://a.example/; www.a2.example","contact:website":"http://a3.example"}},
			{"type":"way","id":2,"center":{"lat":53.2,"lon":8.3},"bounds":{"minlat":1},"geometry":[{"lat":1,"lon":2}],"tags":{"brand:website":"b.example","image":"https://no.example/x.jpg"}},
			{"type":"node","id":3,"tags":{"website":"none","images":["https://no.example/y.jpg"]}}]}`,
			[]string{"https://a.example/@8.2,53.1", "www.a2.example@8.2,53.1", "http://a3.example@8.2,53.1", "b.example@8.3,53.2"}},
		{"GeoJSON", JSON, `{"type":"FeatureCollection","dataset_attributes":{"@spider":"x"},"features":[
			{"type":"Feature","id":"1","properties":{"website":"https://shop.example/1"},"geometry":{"type":"Point","coordinates":[8.21,53.14,5]}},
			{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[7,50],[8,51]]]},"properties":{"website":"https://shop.example/2"}},
			{"type":"Feature","geometry":null,"properties":{"website":"https://shop.example/3","operator:website":null}}]}`,
			[]string{"https://shop.example/1@8.21,53.14", "https://shop.example/2@7,50", "https://shop.example/3"}},
		{"GeoJSON sequence", JSON, "\x1e{\"type\":\"Feature\",\"geometry\":{\"coordinates\":[1,2]},\"properties\":{\"url\":\"http://a.example/\"}}\n\x1e{\"properties\":{\"url\":\"http://b.example/\"}}\n",
			[]string{"http://a.example/@1,2", "http://b.example/"}},
		{"SPARQL as JSON", JSON, `{"head":{"vars":["item","website"]},"results":{"bindings":[{"item":{"type":"uri","value":"http://www.wikidata.org/entity/Q1"},"website":{"type":"uri","value":"https://q1.example/"}}]}}`,
			[]string{"https://q1.example/"}},
		{"SPARQL as CSV", Table, "item,website\r\nhttp://www.wikidata.org/entity/Q1,https://q1.example/\r\n", []string{"https://q1.example/"}},
		{"a German table", Table, "Firma;Ort;Homepage\n\"Müller; Sohn\";Oldenburg;www.mueller.example\nMeier;Oldenburg;\n\"Schulz\";Oldenburg;\"http://a.example; http://b.example\"\n",
			[]string{"www.mueller.example", "http://a.example", "http://b.example"}},
		{"bookmarks", Markup, `<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p><DT><A HREF="https://a.example/?x=1&amp;y=2" ADD_DATE="1">A</A><DT><A HREF="javascript:alert(1)">J</A><DT><A HREF="/relative">R</A></DL>`,
			[]string{"https://a.example/?x=1&y=2"}},
		{"OPML", Markup, `<?xml version="1.0"?><opml><body><outline text="A" xmlUrl="https://a.example/feed" htmlUrl="https://a.example/blog"/><outline xmlUrl="http://b.example/rss.xml"/></body></opml>`,
			[]string{"https://a.example/blog", "http://b.example/"}},
		{"a sitemap", Markup, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://a.example/1 </loc></url><url><loc><![CDATA[https://a.example/2]]></loc></url></urlset>`,
			[]string{"https://a.example/1", "https://a.example/2"}},
		{"feeds", Markup, `<rss><channel><link>https://a.example/</link><item><title>T</title><link>https://a.example/news</link></item></channel></rss>`, []string{"https://a.example/", "https://a.example/news"}},
		{"Atom", Markup, `<feed><link rel="self" href="https://a.example/feed"/><entry><link href="https://a.example/e"/></entry></feed>`, []string{"https://a.example/e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			form, got, err := read(t, c.list)
			if err != nil || form != c.form || !slices.Equal(got, c.want) {
				t.Errorf("read as %s: %v, %v\n want as %s: %v", form, got, err, c.form, c.want)
			}
		})
	}
}

func TestReadBad(t *testing.T) {
	for name, c := range map[string]struct {
		list string
		want error
	}{
		"half a document": {`{"elements":[{"tags":{"website":"https://a.example/"}}`, io.ErrUnexpectedEOF},
		"a long line":     {strings.Repeat("x", 2*maxPiece), errPiece},
		"a long value":    {`{"website":"` + strings.Repeat("x", 3*maxPiece), errPiece},
		"a long row":      {"website\n\"" + strings.Repeat("x", 3*maxPiece), errPiece},
		"a long tag":      {"<a href='" + strings.Repeat("x", 3*maxPiece), errPiece},
		"deep":            {strings.Repeat("[", 1000), errDepth},
		"deep places":     {`{"coordinates":` + strings.Repeat("[", 1000), errDepth},
		"many in one":     {`{"a":{` + strings.Repeat(`"url":"http://a.example/",`, maxObjects+1), errMany},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(t, c.list); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	stop := errors.New("enough")
	for _, list := range []string{"http://a.example/", `["http://a.example/"]`, "url\nhttp://a.example/", "<a href=http://a.example/>"} {
		if _, err := Read(strings.NewReader(list), func(Found) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%q: got %v, want what found returned", list, err)
		}
	}
}

// Whatever the bytes: what was found stands in no more than a line, and reading
// those lines finds the same again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"https://a.example/\nb.example", `{"elements":[{"lat":1,"lon":2,"tags":{"website":"a.example;b.example"}}]}`, "a,url\n1,http://c.example/.,", "<a href='http://d.example/'>", "\x1e[[\"http://x.example/;y\"]]",
		`{"coordinates":[[1,{"url":"http://e.example"}]]}`, "website.example", "http://a;url;b", "<loc>http://f.example/</loc>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var urls []string
		if _, err := Read(strings.NewReader(list), func(f Found) error { urls = append(urls, f.URL); return nil }); err != nil {
			return
		}
		var again []string
		if form, err := Read(strings.NewReader(strings.Join(urls, "\n")), func(f Found) error { again = append(again, f.URL); return nil }); err != nil || form != Lines || !slices.Equal(urls, again) {
			t.Errorf("%q\n then as %s %q, %v", urls, form, again, err)
		}
	})
}
