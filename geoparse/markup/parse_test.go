package markup

import (
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outline writes a tree as nested tags, the html element left out.
func outline(doc *html.Node) string {
	var b strings.Builder
	walk(doc, math.MaxInt, func(n *html.Node) bool {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && n.Data != "html":
			b.WriteString("<" + n.Data + ">")
		}
		return true
	}, func(n *html.Node) {
		if n.Type == html.ElementNode && n.Data != "html" {
			b.WriteString("</>")
		}
	})
	return b.String()
}

func TestParse(t *testing.T) {
	for page, want := range map[string]string{
		"":                                       "",
		" <title>a</title> <p>b":                 "<head><title>a</></><body><p>b</></>",
		"<head><meta><p>a":                       "<head><meta></></><body><p>a</></>",
		"a<head><title>b</title>":                "<body>a<title>b</></>",
		"<body><body>a<html lang=x":              "<body>a</>",
		"<p>a<p>b<div>c</p>d":                    "<body><p>a</><p>b</><div>c<p></>d</></>",
		"<p><button><p>a</button>b":              "<body><p><button><p>a</></>b</></>",
		"<ul><li>a<li>b<ul><li>c</ul><li>d</ul>": "<body><ul><li>a</><li>b<ul><li>c</></></><li>d</></></>",
		"<dl><dt>a<dd>b<dt>c</dl>":               "<body><dl><dt>a</><dd>b</><dt>c</></></>",
		"<table><tr><td>a<td>b<tr><th>c<tbody><tr><td>d":         "<body><table><tr><td>a</><td>b</></><tr><th>c</></><tbody><tr><td>d</></></></></>",
		"<table><td><table><td>a</table>b<td>c":                  "<body><table><td><table><td>a</></>b</><td>c</></></>",
		"<td>a</p>b</td>c":                                       "<body><td>a<p></>b</>c</>",
		"<a>a<a>b</a>c":                                          "<body><a>a</><a>b</>c</>",
		"<a><table><td><a>b</table>c":                            "<body><a><table><td><a>b</></></>c</></>",
		"<b><i>a</b>c</i>d":                                      "<body><b><i>a</></>cd</>",
		"<b><p>a</b>b</p>c":                                      "<body><b><p>ab</></>c</>",
		"<span><div>a</span>b</div>c":                            "<body><span><div>ab</>c</></>",
		"<h1>a<h2>b</h3>c":                                       "<body><h1>a</><h2>b</>c</>",
		"<select><option>a<optgroup><option>b<select>c":          "<body><select><option>a</><optgroup><option>b</></></><select>c</></>",
		"<br/>a</br>b<img/>c<div/>d":                             "<body><br></>a<br></>b<img></>c<div>d</></>",
		"<svg><path/><g>a</g><p>b":                               "<body><svg><path></><g>a</></><p>b</></>",
		"<svg><foreignObject><p>a</p></foreignObject><p>b</svg>": "<body><svg><foreignobject><p>a</></></><p>b</></>",
		"<svg/><p>a":                                             "<body><svg></><p>a</></>",
		"<svg><![CDATA[<p>a]]></svg><![CDATA[b]]>":               "<body><svg><p>a</></>",
		"<template><tr><td>a</template>b":                        "<head><template><tr><td>a</></></></><body>b</>",
		"<script>a</script><script type=application/ld+json>{}</script><style>b</style>": "<head><script></><script>{}</><style></></>",
		"<noscript><p>&amp;</noscript>": "<head><noscript></></><body><p>&</></>",
		"<textarea><p>a</textarea>b":    "<body><textarea><p>a</>b</>",
		"<!doctype html><!-- a -->b":    "<body>b</>",
		"<Custom-Tag>a</CUSTOM-tag>b":   "<body><custom-tag>a</>b</>",
		"<form><div></form>a</div>b":    "<body><form><div>a</></>b</>",
		"<image>":                       "<body><img></></>",
	} {
		if got := outline(Parse([]byte(page))); got != want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", page, got, want)
		}
	}
}

func TestParseIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("a page of four megabytes")
	}
	doc := Parse([]byte("<p " + strings.Repeat("a b ", 1000) + strings.Repeat("c1=d ", 1000) + ">" + strings.Repeat("<b>x</b>", MaxNodes)))
	nodes, attributes := 0, 0
	walk(doc, math.MaxInt, func(n *html.Node) bool {
		nodes++
		attributes = max(attributes, len(n.Attr))
		return true
	}, func(*html.Node) {})
	if nodes < MaxNodes || nodes > MaxNodes+10 || attributes > MaxAttributes {
		t.Errorf("%d nodes, %d attributes", nodes, attributes)
	}
}

// Trees in memory that other trees had are those that Parse builds, and the
// memory keeps nothing of what was freed, nor more than a page needs.
func TestNodes(t *testing.T) {
	render := func(doc *html.Node) string {
		var b strings.Builder
		if err := html.Render(&b, doc); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var nodes Nodes
	for _, n := range []int{1, 300, 3, 0, 20_000, 90, 64, 63, 0, 5} {
		page := []byte("<title>x</title><svg/>" + strings.Repeat("<p class=a id=b>text<b>more</p>", n))
		two := [2]*html.Node{nodes.Parse(page), nodes.Parse(page)}
		for _, doc := range two {
			if got, want := render(doc), render(Parse(page)); got != want {
				t.Fatalf("%d paragraphs: %.200q, want %.200q", n, got, want)
			}
			_, spans := nodes.TextSpans(doc, func(n *html.Node) bool { return n.DataAtom == atom.P })
			if len(spans) != n {
				t.Fatalf("%d paragraphs have %d spans", n, len(spans))
			}
		}
		nodes.Free()
		if len(nodes.nodes.all) > keptSlabs || len(nodes.attrs.all) > keptSlabs || len(nodes.spans) > keptSpans {
			t.Errorf("%d paragraphs: slabs of nodes (%d) and attributes (%d), and spans (%d) are kept", n, len(nodes.nodes.all), len(nodes.attrs.all), len(nodes.spans))
		}
		for _, slab := range nodes.attrs.all {
			if i := slices.IndexFunc(slab, func(a html.Attribute) bool { return a != html.Attribute{} }); i >= 0 {
				t.Fatalf("%d paragraphs: an attribute is left of them: %+v", n, slab[i])
			}
		}
		if slices.ContainsFunc(nodes.spans[:cap(nodes.spans)], func(s Span) bool { return s.Node != nil }) {
			t.Fatalf("%d paragraphs: a span is left of them", n)
		}
		for _, slab := range nodes.nodes.all {
			for i := range slab {
				if s := &slab[i]; s.Data != "" || s.Attr != nil || s.Parent != nil || s.FirstChild != nil || s.NextSibling != nil {
					t.Fatalf("%d paragraphs: a node is left of them: %+v", n, s)
				}
			}
		}
	}
}
