package markup

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// tokens writes what a tokenizer reads in a page, a token a line. noRaw and
// cdata stand for what a parser tells it.
func tokens(page string, noRaw, cdata bool) []string {
	var lines []string
	for z := (&tokenizer{page: page, cdata: cdata}); ; {
		switch kind := z.next(); kind {
		case endOfPage:
			return lines
		case textToken:
			lines = append(lines, fmt.Sprintf("text %q", z.text))
		case startTag, selfClosing:
			lines = append(lines, fmt.Sprintf("start %q %q %v", z.name, z.attrs, kind == selfClosing))
			if noRaw {
				z.raw = 0
			}
		case endTag:
			lines = append(lines, fmt.Sprintf("end %q", z.name))
		case comment:
			lines = append(lines, "comment")
		}
	}
}

// libraryTokens is tokens for html.Tokenizer.
func libraryTokens(page string, noRaw, cdata bool) []string {
	var lines []string
	z := html.NewTokenizer(strings.NewReader(page))
	z.AllowCDATA(cdata)
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return lines
		case html.TextToken:
			lines = append(lines, fmt.Sprintf("text %q", z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			attrs := t.Attr[:min(len(t.Attr), MaxAttributes)]
			lines = append(lines, fmt.Sprintf("start %q %q %v", t.Data, attrs, kind == html.SelfClosingTagToken))
			if noRaw {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			lines = append(lines, fmt.Sprintf("end %q", z.Token().Data))
		case html.CommentToken, html.DoctypeToken:
			lines = append(lines, "comment")
		}
	}
}

var tokenSeeds = []string{
	"", "a", "<", "</", "a</", "a<b", "<b", "<b>", "<b/>", "<b a/>", "<b a=/>", "<b a=b/>", "<b a='/'/>", "<b a= >", "<b =a =b=c>", "<b a=\"x>y\" A=z b>c</b d=e>",
	"<b a='", "<b a=b", "<b a ", "</>a", "</ a>b", "<?a>b", "<!", "<!a", "<!>b", "<!doctype html>a", "<!-", "<!-->a", "<!--->a", "<!--a-->b", "<!--a--!>b", "<!--a--!-->b", "<!--a--!b-->c", "<!--a",
	"<![CDATA[a<b>]]]>c", "<![CDATA[a", "<![CDATA[]]>", "a\r\nb\rc", "<p title='a\r\nb'>", "\x00<p\x00 \x00=\x00>\x00</p\x00>", "<title>\x00a&amp;b</TITLE >c", "<title></title>a", "<title>a</titl", "<textarea><p></textareas></textarea>",
	"<script>a<b</script>c", "<script><!--a</script>b", "<script><!--<script>a</script>b--></script>c", "<script><!--<script >--></script>c", "<script><!--<a<!b</script>", "<script><!-- <scripts></script>", "<script><!-<</script/>", "<script>",
	"<script><!--<script></scrip</script></script>a", "<script><!--<<!--<script>-</script>", "<style><!--</style>--></style>", "<plaintext>a</plaintext>", "<plaintext>", "<noscript><p></noscript>", "<xmp>a<b></xmp>", "<IFRAME>a</iframe>",
	"&amp;&amp&copy=&copy;&notit;&notit&not;&#65;&#x41;&#x41g;&#;&#&&semi;&", "<a href='?a=1&amp;b&copy=2&copy2&copy;&copy&#65;&#65a&notin;&notit;&not;&NotEqualTilde;&semi;&x;&'>", "<a b=&amp>", "<p Ä=Ö>ß</p>", "<a-b:c.d>e</a-b:c.d>",
}

func TestTokens(t *testing.T) {
	for _, page := range tokenSeeds {
		for i := range 4 {
			checkTokens(t, page, i&1 != 0, i&2 != 0)
		}
	}
	attributes := "<p"
	for i := range MaxAttributes + 10 {
		attributes += fmt.Sprintf(" a%d=%d", i, i)
	}
	checkTokens(t, attributes+"/>b", false, false)
	for _, page := range hostile(2000) {
		checkTokens(t, page, false, false)
	}
}

func checkTokens(t *testing.T, page string, noRaw, cdata bool) {
	t.Helper()
	got, want := tokens(page, noRaw, cdata), libraryTokens(page, noRaw, cdata)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Fatalf("%.300q (%v, %v): token %d is %s, html.Tokenizer has none", page, noRaw, cdata, i, got[i])
		case i >= len(got):
			t.Fatalf("%.300q (%v, %v): no token %d, html.Tokenizer has %s", page, noRaw, cdata, i, want[i])
		case got[i] != want[i]:
			t.Fatalf("%.300q (%v, %v): token %d is %s, html.Tokenizer has %s", page, noRaw, cdata, i, got[i], want[i])
		}
	}
}

// FuzzTokens holds that the tokens of any page are those of html.Tokenizer.
func FuzzTokens(f *testing.F) {
	for i, page := range tokenSeeds {
		f.Add(page, i%2 == 0, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, page string, noRaw, cdata bool) {
		if strings.Count(page, "=") > MaxAttributes || strings.Count(page, " ") > MaxAttributes {
			return // html.Tokenizer has more attributes
		}
		checkTokens(t, page, noRaw, cdata)
	})
}
