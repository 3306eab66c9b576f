package page

import (
	"net/http"
	"strings"
	"testing"

	"gazehound/crawler/weburl"
)

func TestNeedsScript(t *testing.T) {
	const bundle = `<script defer src="/assets/main.4f2a.js"></script>`
	for _, c := range []struct {
		name, page string
		want       bool
	}{
		{"React", `<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>` + bundle, true},
		{"Vue with a note in the root", `<body><div id="app"><p>Wird geladen …</p></div>` + bundle, true},
		{"Angular", `<body><app-root></app-root><script src="main.js" type="module"></script>`, true},
		{"Next without a server", `<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script>` + bundle, true},
		{"menu and footer of the server", `<body><nav><a href="/a">Speisekarte</a> <a href="/b">Kontakt</a></nav><div id="app"></div><footer>© Gasthof Krone</footer>` + bundle, true},
		{"unknown name", `<body><div id="shop-front"></div>` + bundle, true},
		{"custom element", `<body><my-town></my-town>` + bundle, true},
		{"nothing but scripts", `<head>` + bundle + `<body><script type="module">start()</script>`, true},
		{"request in German", `<body><noscript>Bitte aktivieren Sie JavaScript.</noscript><div id="x"><i></i></div>` + bundle, true},

		{"rendered by the server", `<body><div id="root"><h1>Gasthof Krone</h1><p>` + strings.Repeat("Wir kochen täglich frisch. ", 20) + `</p></div>` + bundle, false},
		{"root without scripts", `<body><div id="root"></div>`, false},
		{"inline scripts alone", `<body><div id="root"></div><script>var a = 1</script>`, false},
		{"splash page", `<body><a href="/start.html"><img src="krone.jpg"></a>` + bundle, false},
		{"picture", `<body><img src="krone.jpg">` + bundle, false},
		{"frames", `<head>` + bundle + `<frameset><frame src="a.html"></frameset>`, false},
		{"short page", `<body><h1>Gasthof Krone</h1><p>Wir machen Ferien bis zum ersten Mai. Danach sind wir wieder für Sie da.</p><div id="top"></div>` + bundle, false},
		{"menu and an empty place for a picture", `<body><nav><a href="/a">Speisekarte</a></nav><div id="slider"></div><h1>Krone</h1>` + bundle, false},
		{"comments need scripts", `<body><p>` + strings.Repeat("Wir kochen täglich frisch. ", 20) + `</p><noscript>Please enable JavaScript to view the comments.</noscript>` + bundle, false},
		{"menu needs scripts", `<body><h1>Gasthof Krone</h1><p>Wir machen Ferien bis zum ersten Mai. Danach sind wir wieder für Sie da.</p><noscript>JavaScript is needed for the menu.</noscript>` + bundle, false},
		{"pixel in noscript", `<body><h1>Krone</h1><noscript><img src="/pixel.gif"></noscript>` + bundle, false},
		{"many noscripts", strings.Repeat("<noscript>javascript</noscript>", maxNoscripts+1) + `<div id="root"></div>` + bundle, false},
		{"empty", "", false},
	} {
		u, err := weburl.Parse("http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		p := parse(t, &Response{URL: u, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(c.page)})
		if p.NeedsScript != c.want {
			t.Errorf("%s: %v, want %v (text %q, %d links)", c.name, p.NeedsScript, c.want, p.Text, len(p.Links))
		}
	}
}
