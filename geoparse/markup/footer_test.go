package markup

import (
	"slices"
	"strings"
	"testing"
)

func TestFooters(t *testing.T) {
	for html, want := range map[string][]string{
		`<main>Text</main><footer><p>Lange Straße 5<br>26122 Oldenburg</p></footer>`:                    {"Lange Straße 5\n26122 Oldenburg"},
		`<div id="main">x</div><div class="wide site-footer dark">Lange Straße 5 <b>26122</b></div>`:    {"Lange Straße 5 26122"},
		`<div role="contentinfo">a</div><div id=fuss>b</div>`:                                           {"a", "b"},
		`<article>x<footer>by Hanna</footer></article><blockquote><footer>Goethe</footer></blockquote>`: nil,
		`<footer></footer><p class="footernote">y</p><body class="footer">z`:                            nil,
		`<footer>1<footer>2</footer></footer>`:                                                          {"1\n2"},
	} {
		doc := Parse([]byte(html))
		got := Read(doc).Footers
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", html, got, want)
		}
		for _, footer := range got {
			if !strings.Contains(Text(doc), footer) {
				t.Errorf("%s: %q is not in the text", html, footer)
			}
		}
	}
}
