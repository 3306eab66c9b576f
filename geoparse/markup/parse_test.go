package markup

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// A page with too many tags ends there, and one with too many open elements
// loses their tags, but no text.
func TestParseIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("pages of several megabytes")
	}
	for name, c := range map[string]struct {
		page  string
		nodes int    // at most
		text  string // that it begins with
	}{
		"many tags":                {strings.Repeat("<b>x</b>", MaxTags), 2*MaxTags + 10, "xxx"},
		"deep":                     {strings.Repeat("<div>", 5000) + "text", 5000, "text"},
		"deep and foreign":         {strings.Repeat("<svg><desc>", 3000) + "text", 5000, ""},
		"open formatting elements": {strings.Repeat("<font color=a>", 3000) + strings.Repeat("<p>x", 3000), 10_000, "x\nx\nx"},
		"that differ":              {formatting(3000) + strings.Repeat("<p>x", 3000), 10_000, "x\nx\nx"},
		"tables in tables":         {strings.Repeat("<table><tr><td>", 2000) + "text", 10_000, "text"},
		"upper case":               {strings.Repeat("<DIV><FONT>", 2000) + "text", 5000, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := Parse([]byte(c.page))
			nodes := 0
			walk(doc, math.MaxInt, func(n *html.Node) bool {
				nodes++
				return true
			}, func(*html.Node) {})
			if text := Text(doc); nodes > c.nodes || !strings.HasPrefix(text, c.text) {
				t.Errorf("%d nodes of %d at most; text %.40q", nodes, c.nodes, text)
			}
		})
	}
}

// formatting returns open elements of which no two are alike.
func formatting(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<font size=")
		b.WriteString(strings.Repeat("x", i%50))
		b.WriteByte('0' + byte(i%10))
		b.WriteString(">")
	}
	return b.String()
}

// What is left out where tags are over the bounds changes no page within them.
func TestUntangle(t *testing.T) {
	for _, page := range []string{
		"", "<p>a<p>b<div>c</p>d", "<b><i>a</b>c</i>d", "<table><td><table><td>a</table>b<td>c", "<svg><![CDATA[<p>a]]></svg>", "<script>if (a < b) '<b>'</script>c",
		"<textarea><b></textarea>", "<!-- <b> --><Custom-Tag>a</CUSTOM-tag>", "<a href='<b>'>a</a>", "</b></b>a", "<b", "<",
	} {
		whole, _ := parse([]byte(page))
		cut, _ := parse(untangle([]byte(page)))
		if want, got := Text(whole), Text(cut); got != want {
			t.Errorf("%q: text %q, want %q", page, got, want)
		}
	}
}

// A link that calls somebody whom it names has no number of who runs the site.
func TestPhonesOfLinks(t *testing.T) {
	page := `<a href="tel:1">Metzgerei Peter Okken</a><a href="tel:2">0441 2</a><a href="tel:3">Jetzt anrufen</a>` +
		`<a href="tel:4"><i></i></a><a href="tel:5">Rufen Sie uns an</a><a href="tel:6">Call Us Today</a>` +
		`<a href="tel:8">Book Your Appointment</a><a href="tel:9">Termin vereinbaren</a><a href="TEL:7">Peter Okken</a>`
	got := Read(Parse([]byte(page))).Site.Phones
	if diff := cmp.Diff([]string{"2", "3", "4", "5", "6", "8", "9"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
