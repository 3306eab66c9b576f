package page

import (
	"net/http"
	"testing"

	"gazehound/crawler/weburl"
)

func response(t testing.TB, url, contentType, body string) *Response {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	r := &Response{URL: u, Status: 200, Header: http.Header{}, Body: []byte(body)}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func TestParse(t *testing.T) {
	p, err := Parse(response(t, "http://www.town.example/a/", "text/html", `<!doctype html><html lang="de-DE"><head><title> Rathaus
	 Oldenburg</title><link rel=canonical href="/a"></head><body><nav><a href=/>Start</a> <a href="../kontakt">Kontakt</a></nav>
	<p>Das <b>Rat</b>haus: <a href="rathaus.html#x" title="Zum Rathaus">Markt&nbsp;1</a>, 26122 Olden&shy;burg<br>Telefon</p>
	<a href="mailto:x@y.example">Mail</a><a href="#top">oben</a><a rel="nofollow" href=/nf>nf</a><a href="/bild"><img alt="Ein Bild"></a>`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "Rathaus Oldenburg" || p.Lang != "de" || p.Canonical.String() != "http://www.town.example/a" {
		t.Errorf("title %q, lang %q, canonical %q", p.Title, p.Lang, p.Canonical)
	}
	if want := "Start Kontakt\nDas Rathaus: Markt 1, 26122 Oldenburg\nTelefon\nMailobennf"; p.Text != want {
		t.Errorf("text %q; want %q", p.Text, want)
	}
	for _, l := range p.Links {
		t.Logf("%+v", l)
	}
}
