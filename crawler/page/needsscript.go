package page

import (
	"strings"
	"unicode"

	"gazehound/geoparse/markup"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of pages that need scripts, in letters and digits that a reader sees without them.
const (
	mostShellText = 250 // of the page
	mostRootText  = 40  // of the element that scripts fill, such as "Loading …"
	mostBareText  = 60  // of a page without links whose element for scripts has no known name

	maxRootNodes = 60 // in an element that scripts fill, such as those of a picture that turns
	maxNoscripts = 20 // of a page
)

// rootNames are ids and custom elements that application frameworks fill: React, Vue, Next.js, Nuxt,
// Gatsby, Angular, Svelte, Quasar, Flutter, Docusaurus, Blazor.
var rootNames = map[string]bool{"root": true, "react-root": true, "app": true, "__next": true, "__nuxt": true,
	"___gatsby": true, "app-root": true, "svelte": true, "q-app": true, "flutter-view": true, "__docusaurus": true,
	"application": true, "app-container": true, "app-mount": true, "mount": true, "react-app": true, "vue-app": true}

// What needsScript selects.
var (
	loads     = goquery.Single(`script[src]:not([src=""]), script[type="module" i]`)
	noscripts = cascadia.MustCompile("noscript")
	shows     = goquery.Single("img, svg, picture, video, audio, canvas, object, embed, iframe, frame, form, table, a")
	// containers are elements that an application may fill.
	containers = cascadia.Selector(func(n *html.Node) bool {
		switch n.DataAtom {
		case atom.Div, atom.Main, atom.Section, 0:
			id, _ := attr(n, "id")
			return n.Type == html.ElementNode && (id != "" || strings.Contains(n.Data, "-"))
		}
		return false
	})
)

// needsScript reports whether a page has its text only after its scripts have run: it loads scripts,
// has hardly any text, and an empty element for an application, a request to enable JavaScript, or
// nothing else at all.
func needsScript(doc *html.Node, text string, links int) bool {
	letters := countLetters(text, 2*mostShellText+1)
	if letters > 2*mostShellText {
		return false
	}
	page := goquery.NewDocumentFromNode(doc)
	requests := page.FindMatcher(noscripts).Nodes
	if len(requests) > maxNoscripts || page.FindMatcher(loads).Length() == 0 {
		return false
	}
	asks := false
	for _, n := range requests {
		request := markup.Text(n)
		letters -= countLetters(request, letters)
		asks = asks || strings.Contains(strings.ToLower(request), "javascript")
	}
	if letters > mostShellText {
		return false
	}
	root, empty := false, letters <= 0 && page.FindMatcher(shows).Length() == 0
	for _, n := range page.FindMatcher(containers).Nodes {
		if !hardlyFilled(n) {
			continue
		}
		id, _ := attr(n, "id")
		root = root || rootNames[strings.ToLower(id)] || rootNames[n.Data]
		empty = empty || n.FirstChild == nil || n.FirstChild == n.LastChild && n.FirstChild.Type != html.ElementNode
	}
	bare := letters <= mostBareText
	return root || asks && (empty || bare) || empty && bare && links == 0
}

// hardlyFilled reports whether an element is empty, or has no more than a note that it is loading.
func hardlyFilled(n *html.Node) bool {
	nodes := 0
	for range n.Descendants() {
		nodes++
		if nodes > maxRootNodes {
			return false
		}
	}
	return countLetters(markup.Text(n), mostRootText+1) <= mostRootText
}

// countLetters counts letters and digits, at most most of them.
func countLetters(text string, most int) (n int) {
	for _, r := range text {
		if n >= most {
			break
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
