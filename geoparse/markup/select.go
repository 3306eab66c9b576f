package markup

import (
	"slices"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Elements selects the elements of these names, as cascadia's "a, button, h1" does, which compares
// every element with one name after the other as texts.
func Elements(names ...atom.Atom) cascadia.Selector {
	return func(n *html.Node) bool { return n.Type == html.ElementNode && slices.Contains(names, n.DataAtom) }
}

// having selects the elements that have one of these attributes, "[class], [id]", or one of these names.
func having(attributes []string, names ...atom.Atom) cascadia.Selector {
	return func(n *html.Node) bool {
		return n.Type == html.ElementNode && (slices.Contains(names, n.DataAtom) || hasAny(n, attributes...))
	}
}

// hasAny reports whether n has one of these attributes.
func hasAny(n *html.Node, keys ...string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return slices.Contains(keys, a.Key) })
}
