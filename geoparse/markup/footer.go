package markup

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of Footers.
const (
	maxFooters    = 4
	maxFooterText = 8 << 10 // bytes
)

// Footers returns the texts of what doc marks as the footer of the page, as
// they stand in Text(doc), at most four; of a long one the beginning. A footer
// of an article or quotation is none.
func Footers(doc *html.Node) []string {
	var texts []string
	inside := 0 // open articles and quotations
	walk(doc, math.MaxInt, func(n *html.Node) bool {
		if n.Type != html.ElementNode {
			return n.Type == html.DocumentNode
		}
		switch {
		case n.DataAtom == atom.Article || n.DataAtom == atom.Blockquote:
			inside++
		case len(texts) < maxFooters && inside == 0 && isFooter(n):
			if text := textUpTo(n, maxFooterText); text != "" {
				texts = append(texts, text)
			}
			return false
		}
		return true
	}, func(n *html.Node) {
		if n.Type == html.ElementNode && (n.DataAtom == atom.Article || n.DataAtom == atom.Blockquote) {
			inside--
		}
	})
	return texts
}

// isFooter tells whether the element is the footer of a page by its name, its
// role, its id or its classes.
func isFooter(n *html.Node) bool {
	if n.DataAtom == atom.Footer {
		return true
	}
	if n.DataAtom == atom.Body {
		return false // "has-footer"
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "role":
			if strings.EqualFold(a.Val, "contentinfo") {
				return true
			}
		case "id", "class":
			if len(a.Val) > 200 {
				continue
			}
			for name := range strings.FieldsSeq(strings.ToLower(a.Val)) {
				switch name {
				case "footer", "site-footer", "page-footer", "main-footer", "footer-wrapper", "site-info", "colophon", "fusszeile", "fuss", "pagefooter", "sitefooter":
					return true
				}
			}
		}
	}
	return false
}
