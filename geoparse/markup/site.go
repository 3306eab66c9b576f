package markup

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of ReadSite.
const (
	maxSiteNames = 40
	maxSiteTexts = 4000 // links and headings
	maxSiteText  = 120  // characters of each
)

// A Site is what the markup of a page says of who runs it, and which of its
// texts are links or headings.
type Site struct {
	Title  string
	Stated []string // by og:site_name, application-name, or a schema.org organisation or web site
	Logos  []string // alternative texts of logos, and what stands in the brand of a page
	Rights []string // meta elements for publisher and copyright
	Phones []string // of links that call, as written

	Links    map[string]bool // texts of links and buttons, one line each, in lower case
	Headings map[string]bool // likewise of h1 to h6
}

// ReadSite reads what doc says of who runs it. It is one linear pass.
func ReadSite(doc *html.Node) Site {
	s := Site{Links: map[string]bool{}, Headings: map[string]bool{}}
	walk(doc, math.MaxInt, s.enter, func(*html.Node) {})
	return s
}

func (s *Site) enter(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return n.Type == html.DocumentNode
	}
	switch n.DataAtom {
	case atom.Style, atom.Template, atom.Svg:
		return false
	case atom.Script:
		if strings.Contains(strings.ToLower(attr(n, "type")), "ld+json") {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				s.jsonLD(c.Data)
			}
		}
		return false
	case atom.Title:
		if s.Title == "" {
			s.Title = oneLine(textUpTo(n, 4*maxSiteText))
		}
		return false
	case atom.Meta:
		s.meta(n)
	case atom.A, atom.Button, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if number, ok := strings.CutPrefix(strings.ToLower(attr(n, "href")), "tel:"); ok {
			addName(&s.Phones, number)
		}
		texts := s.Links
		if isHeading(n.DataAtom) {
			texts = s.Headings
		}
		if len(texts) < maxSiteTexts {
			if text := oneLine(textUpTo(n, 4*maxSiteText)); text != "" && len(text) < 4*maxSiteText {
				texts[strings.ToLower(text)] = true
			}
		}
	case atom.Img:
		if isBrand(n) || n.Parent != nil && (isBrand(n.Parent) || n.Parent.DataAtom == atom.A && leadsHome(attr(n.Parent, "href"))) {
			addName(&s.Logos, attr(n, "alt"))
		}
	}
	if n.DataAtom != atom.Img && n.DataAtom != atom.Body && isBrand(n) {
		addName(&s.Logos, textUpTo(n, maxSiteText+1))
		addName(&s.Logos, attr(n, "title"))
	}
	return true
}

func (s *Site) meta(n *html.Node) {
	name := strings.ToLower(attr(n, "name"))
	if name == "" {
		name = strings.ToLower(attr(n, "property"))
	}
	switch name {
	case "og:site_name", "application-name", "apple-mobile-web-app-title":
		addName(&s.Stated, attr(n, "content"))
	case "publisher", "dc.publisher", "dcterms.publisher", "copyright", "dc.rights", "owner":
		addName(&s.Rights, attr(n, "content"))
	}
}

// jsonLD adds the names of organisations and web sites.
func (s *Site) jsonLD(script string) {
	values, _ := decodeJSON(unwrap(script[:min(len(script), maxJSON)]))
	left := maxJSONNodes
	var read func(v any, depth int)
	read = func(v any, depth int) {
		if left--; left < 0 || depth > maxJSONDepth {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				read(e, depth+1)
			}
		case map[string]any:
			for _, t := range list(v["@type"]) {
				if name, _ := t.(string); strings.HasSuffix(name, "Organization") || strings.HasSuffix(name, "Business") ||
					name == "WebSite" || name == "Corporation" || name == "Restaurant" || name == "Store" {
					addName(&s.Stated, text(v["name"]))
				}
			}
			for _, e := range v {
				read(e, depth+1)
			}
		}
	}
	for _, v := range values {
		read(v, 0)
	}
}

// addName adds a text of one line that can be a name.
func addName(names *[]string, text string) {
	if text = oneLine(text); text != "" && len([]rune(text)) <= maxSiteText && len(*names) < maxSiteNames {
		*names = append(*names, text)
	}
}

// isBrand tells whether the id, the classes or, of a picture, the file name of
// an element call it a logo or the name of the site.
func isBrand(n *html.Node) bool {
	for _, a := range n.Attr {
		switch {
		case len(a.Val) > 200:
		case a.Key == "id", a.Key == "class":
			for token := range strings.FieldsFuncSeq(strings.ToLower(a.Val), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
				switch token {
				case "logo", "brand", "navbar-brand", "site-title", "sitetitle", "site-name", "sitename", "site_title", "logo-text", "site-logo", "header-logo", "custom-logo":
					return true
				}
			}
		case a.Key == "src" && n.DataAtom == atom.Img:
			file := strings.ToLower(a.Val[strings.LastIndexByte(a.Val, '/')+1:])
			if strings.Contains(file, "logo") {
				return true
			}
		}
	}
	return false
}

// leadsHome tells whether a link leads to the home page of its site.
func leadsHome(href string) bool {
	href = strings.ToLower(strings.TrimSpace(href))
	if _, rest, ok := strings.Cut(href, "://"); ok {
		_, href, _ = strings.Cut(rest, "/")
		href = "/" + href
	}
	switch href {
	case "/", "./", "../", "index.html", "index.htm", "index.php", "/index.html", "/index.htm", "/index.php", "default.aspx", "/default.aspx", "home", "/home":
		return true
	}
	return false
}
