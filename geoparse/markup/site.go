package markup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"gazehound/internal/textutil"
)

// Bounds of a Page.
const (
	maxSiteNames  = 40
	maxSiteTexts  = 4000 // links and headings
	maxSiteText   = 120  // characters of each
	maxFooters    = 4
	maxFooterText = 8 << 10 // bytes
)

// A Site is the markup's evidence of who runs the site, and the texts of links and headings.
type Site struct {
	Title  string
	Stated []string // by og:site_name, application-name, or a schema.org organisation or web site
	Logos  []string // alternative texts of logos, and what stands in the brand of a page
	Phones []string // of links that call, as written
	About  string   // description of the page in a meta element
	Terms  string   // keywords of the page in a meta element, between commas
	Types  []string // of schema.org, of the things that JSON-LD says most of: "Dentist"

	Links    map[string]bool // texts of links and buttons, one line each, in lower case
	Headings map[string]bool // likewise of h1 to h6
}

// Elements with evidence of who runs the site.
var (
	titles = Elements(atom.Title)
	labels = Elements(atom.A, atom.Button, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	logos  = having([]string{"class", "id"}, atom.Img)
)

// read reads the evidence of the elements of a page.
func (s *Site) read(page *goquery.Selection) {
	for _, n := range page.FilterMatcher(titles).Nodes {
		s.Title = cmp.Or(s.Title, oneLine(textUpTo(n, 4*maxSiteText)))
	}
	for _, n := range page.FilterMatcher(labels).Nodes {
		s.label(n)
	}
	for _, n := range page.FilterMatcher(logos).Nodes {
		s.logo(n)
	}
}

// label reads a link, a button or a heading.
func (s *Site) label(n *html.Node) {
	if number, ok := cutPrefixFold(attr(n, "href"), "tel:"); ok && !namesCalled(n) {
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
}

// namesCalled reports whether a link that calls says whom, as a sponsor or one of the staff: its text is names with
// a capital, and neither a number nor an invitation, "Book Now".
func namesCalled(link *html.Node) bool {
	const leastWords = 2 // of a name
	words := strings.Fields(oneLine(textUpTo(link, maxSiteText)))
	isNoName := func(word string) bool {
		first, _ := utf8.DecodeRuneInString(word)
		return !unicode.IsUpper(first) || strings.ContainsAny(word, "0123456789") || callWords.MatchString(word)
	}
	return len(words) >= leastWords && !slices.ContainsFunc(words, isNoName)
}

// callWords begin words of invitations to call.
var callWords = regexp.MustCompile(`(?i)^(?:call|phone|ring|tap|click|contact|speak|talk|book|schedul|appoint|reserv|order|` +
	`request|quote|emergenc|help|now|today|us$|anruf|ruf|telefon|tel\b|hotline|kontakt|termin|buch|bestell|notdienst|notfall|` +
	`jetzt|bel\b|bellen|contact|afspraak|spoed|appel|t[ée]l|r[ée]serv|rendez|chiam|prenot|ordin|llam)`)

// logo reads a picture that shows the logo, or an element that is called so.
func (s *Site) logo(n *html.Node) {
	switch up := n.Parent; {
	case n.DataAtom == atom.Img:
		if isBrand(n) || up != nil && (isBrand(up) || up.DataAtom == atom.A && leadsHome(attr(up, "href"))) {
			addName(&s.Logos, attr(n, "alt"))
		}
	case n.DataAtom != atom.Body && isBrand(n):
		addName(&s.Logos, textUpTo(n, maxSiteText+1))
		addName(&s.Logos, attr(n, "title"))
	}
}

// addName adds a text of one line that can be a name.
func addName(names *[]string, text string) {
	text = oneLine(text)
	if text != "" && len([]rune(text)) <= maxSiteText && len(*names) < maxSiteNames {
		*names = append(*names, text)
	}
}

// isBrand reports whether the id, the classes or, of a picture, the file name of
// an element call it a logo or the name of the site.
func isBrand(n *html.Node) bool {
	src := attr(n, "src")
	return isCalled(n, brandNames) || n.DataAtom == atom.Img &&
		strings.Contains(strings.ToLower(src[strings.LastIndexByte(src, '/')+1:]), "logo")
}

// parts selects what has a footer of its own, and what may be a footer.
var parts = having([]string{"class", "id", "role"}, atom.Article, atom.Blockquote, atom.Footer)

// footers returns the texts of the footers of a page.
func footers(page *goquery.Selection) (texts []string) {
	var last *html.Node // footer, article or quotation that is in no other
	for _, n := range page.FilterMatcher(parts).Nodes {
		quotes := n.DataAtom == atom.Article || n.DataAtom == atom.Blockquote
		switch {
		case len(texts) == maxFooters:
			return texts
		case last != nil && isWithin(n, last):
		case quotes:
			last = n
		case isFooter(n):
			last = n
			if text := textUpTo(n, maxFooterText); text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// isFooter reports whether the element is the footer of a page by its name, its
// role, its id or its classes.
func isFooter(n *html.Node) bool {
	return n.DataAtom == atom.Footer || n.DataAtom != atom.Body && // "has-footer"
		(strings.EqualFold(attr(n, "role"), "contentinfo") || isCalled(n, footerNames))
}

// Ids and classes of elements.
var (
	brandNames = textutil.Words("logo brand navbar-brand site-title sitetitle site-name sitename site_title " +
		"logo-text site-logo header-logo custom-logo")
	footerNames = textutil.Words("footer site-footer page-footer main-footer footer-wrapper site-info colophon " +
		"fusszeile fuss pagefooter sitefooter")
)

// isCalled reports whether the id or one of the classes of an element is one of names.
func isCalled(n *html.Node, names map[string]bool) bool {
	for _, a := range n.Attr {
		if a.Key != "id" && a.Key != "class" || len(a.Val) > 200 {
			continue
		}
		for name := range strings.FieldsSeq(strings.ToLower(a.Val)) {
			if names[name] {
				return true
			}
		}
	}
	return false
}

// leadsHome reports whether a link leads to the home page of its site.
func leadsHome(href string) bool {
	href = strings.ToLower(strings.TrimSpace(href))
	if _, rest, ok := strings.Cut(href, "://"); ok {
		_, href, _ = strings.Cut(rest, "/")
		href = "/" + href
	}
	return homePath.MatchString(href)
}

var homePath = regexp.MustCompile(`^(?:/|\.\.?/|/?index\.(?:html?|php)|/?default\.aspx|/?home)$`)
