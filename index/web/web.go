// Package web renders the search page: plain HTML and one style sheet, without
// scripts and without requests to anybody else. Everything on it that comes
// from crawled pages is hostile and escaped.
package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"strings"
	"sync"
	"time"

	"gazehound/index"

	"github.com/paulmach/orb"
	"golang.org/x/text/language"
)

// ContentSecurityPolicy allows the page's own style sheet and form, nothing
// else.
const ContentSecurityPolicy = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Style is the page's style sheet. It belongs at StylePath.
//
//go:embed style.css
var Style string

//go:embed page.html
var pageSource string

// StylePath is the path of Style; it changes with the content.
var StylePath = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(Style))
	return "/assets/" + hex.EncodeToString(sum[:6]) + ".css"
})

// A Form holds the fields as the reader filled them in.
type Form struct {
	Text, Box, Lat, Lon, Radius, Street, Postcode, Host, Sort, Lang, Cursor string
}

// A Page is what one request gets to see.
type Page struct {
	Lang        string // a language of Language
	Region      string
	Outline     orb.MultiPolygon
	Attribution string
	Licence     string
	Version     string
	Stats       index.Stats
	Known       []orb.Point // some of all addresses, the background of the map

	Form    Form
	Asked   bool          // something narrows the result
	Result  *index.Result // nil with a Problem
	Problem string
	Hint    string
	Next    string // address of the next page of hits, or ""
}

// Language returns the language of the page's own words: what was asked for,
// else what the browser prefers, else English.
func Language(asked, accept string) string {
	matcher := language.NewMatcher([]language.Tag{language.English, language.German})
	if asked != "" {
		if tag, err := language.Parse(asked); err == nil {
			if _, i, c := matcher.Match(tag); c > language.No {
				return []string{"en", "de"}[i]
			}
		}
	}
	if len(accept) > 200 {
		accept = ""
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		return "en"
	}
	if _, i, c := matcher.Match(tags...); c > language.No {
		return []string{"en", "de"}[i]
	}
	return "en"
}

// Render writes the page.
func Render(w io.Writer, p Page) error {
	v := view{Page: p, T: texts[p.Lang]}
	if v.T == nil {
		v.Lang, v.T = "en", texts["en"]
	}
	if p.Result != nil {
		for i := range p.Result.Hits {
			v.Hits = append(v.Hits, v.hit(p.Result.Offset+i+1, &p.Result.Hits[i]))
		}
		v.Map = draw(p.Outline, v.Hits, p.Result.Points, p.Known, p.Asked)
	}
	return page().Execute(w, v)
}

// page is parsed on first use; a test executes it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageSource))
})

// A view is a Page with all that its template shows.
type view struct {
	Page
	T    map[string]string
	Hits []hit
	Map  *plan
}

// A hit is one line of the list.
type hit struct {
	Number int
	*index.Hit
	Link     string // page that fits best, or "" where it is no http URL
	Title    string
	Address  string
	Distance string
	Lang     string
	Snippet  []piece
	Seen     string
	Nearby   string // address of the search around it
	OfSite   string // address of the search on its site
	Pages    []evidence
}

type evidence struct {
	Link, Title, Show string
	Fetched           string
}

// A piece is text of a snippet, marked where it fits the query.
type piece struct {
	Text string
	Mark bool
}

func (v *view) hit(n int, h *index.Hit) hit {
	e := h.Evidence[0]
	out := hit{Number: n, Hit: h, Link: safeLink(e.URL), Title: h.Name, Address: h.Line(), Lang: e.Lang,
		Snippet: pieces(e.Snippet), Seen: v.date(h.FirstSeen), OfSite: v.with(Form{Text: v.Form.Text, Host: h.Site})}
	if out.Title == "" {
		out.Title = h.Site
	}
	if h.Distance >= 0 {
		out.Distance = length(h.Distance, v.Lang)
	}
	if h.HasPoint {
		out.Nearby = v.with(Form{Lat: fmt.Sprintf("%.6f", h.Point[1]), Lon: fmt.Sprintf("%.6f", h.Point[0]), Radius: "500", Sort: "distance"})
	}
	for _, e := range h.Evidence {
		show := e.URL
		if u, err := url.Parse(e.URL); err == nil {
			show = u.Host + u.Path
		}
		out.Pages = append(out.Pages, evidence{safeLink(e.URL), e.Title, show, v.date(e.Fetched)})
	}
	return out
}

// safeLink returns an address only if it is one of the web: crawled text must
// not become a script.
func safeLink(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return raw
}

// pieces cuts a snippet at its marks.
func pieces(s index.Snippet) []piece {
	var out []piece
	at := 0
	for _, m := range s.Marks {
		if m[0] > at {
			out = append(out, piece{s.Text[at:m[0]], false})
		}
		out = append(out, piece{s.Text[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(s.Text) {
		out = append(out, piece{s.Text[at:], false})
	}
	return out
}

// A chip is a filter that the reader can take away.
type chip struct {
	Text   string
	Remove string
}

// Chips returns the filters beside the words.
func (v view) Chips() []chip {
	var chips []chip
	add := func(name, value string, without Form) {
		if value != "" {
			without.Cursor = ""
			chips = append(chips, chip{strings.TrimSpace(v.T[name] + " " + value), v.with(without)})
		}
	}
	f := v.Form
	without := f
	without.Street = ""
	add("street", f.Street, without)
	without = f
	without.Postcode = ""
	add("postcode", f.Postcode, without)
	without = f
	without.Host = ""
	add("site", f.Host, without)
	if f.Radius != "" {
		without = f
		without.Lat, without.Lon, without.Radius, without.Sort = "", "", "", ""
		add("around", f.Lat+", "+f.Lon+" · "+f.Radius+" m", without)
	}
	without = f
	without.Box = ""
	if f.Box != "" {
		add("area", " ", without)
	}
	return chips
}

// with returns the address of the page with this form.
func (v *view) with(f Form) string {
	q := url.Values{}
	for _, p := range []struct{ name, value string }{
		{"q", f.Text}, {"bbox", f.Box}, {"lat", f.Lat}, {"lon", f.Lon}, {"radius", f.Radius}, {"street", f.Street},
		{"postcode", f.Postcode}, {"host", f.Host}, {"sort", f.Sort}, {"lang", v.Form.Lang},
	} {
		if p.value != "" {
			q.Set(p.name, p.value)
		}
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

// First returns the address of the first page of hits.
func (v view) First() string { return v.with(v.Form) }

// TextOnly returns the address of the search for the words alone.
func (v view) TextOnly() string { return v.with(Form{Text: v.Form.Text}) }

// InLang returns the address of this page in another language.
func (v view) InLang(lang string) string {
	other := v
	other.Form.Lang = lang
	return other.with(v.Form)
}

// Count says how many addresses there are.
func (v view) Count() string {
	n := v.Result.Total
	word := v.T["addresses"]
	if n == 1 {
		word = v.T["address"]
	}
	text := group(n, v.Lang) + " " + word
	return text
}

// Pages says how many pages state an address.
func (h hit) PagesOf(v view) string {
	if h.Mentions == 1 {
		return "1 " + v.T["page"]
	}
	return group(h.Mentions, v.Lang) + " " + v.T["pages"]
}

// StyleSheet returns the path of the style sheet.
func (v view) StyleSheet() string { return StylePath() }

// Heading is the name of the page.
func (v view) Heading() string {
	if v.Form.Text != "" {
		return v.Form.Text
	}
	if v.Region != "" {
		return v.Region
	}
	return v.T["tagline"]
}

func (v *view) date(t time.Time) string {
	if v.Lang == "de" {
		return fmt.Sprintf("%d. %s %d", t.Day(), []string{"Jan.", "Feb.", "März", "April", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."}[t.Month()-1], t.Year())
	}
	return t.Format("2 Jan 2006")
}

// length writes metres for people.
func length(m float64, lang string) string {
	text := ""
	switch {
	case m < 995:
		return fmt.Sprintf("%.0f m", math.Round(m/10)*10)
	case m < 9950:
		text = fmt.Sprintf("%.1f km", m/1000)
	default:
		return fmt.Sprintf("%.0f km", m/1000)
	}
	if lang == "de" {
		text = strings.Replace(text, ".", ",", 1)
	}
	return text
}

// group writes a number with a mark at the thousands.
func group(n int, lang string) string {
	text := fmt.Sprint(n)
	mark := ","
	if lang == "de" {
		mark = "."
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + mark + text[i:]
	}
	return text
}
