package demo

import (
	"hash/fnv"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// The web of a town may have sites in another language, with the habits that
// Somboonviwat, Tamura & Kitsuregawa (2005, section 3) saw: most links stay in
// the language, some sites are reached from pages in another one only, and some
// pages do not say their language or say a wrong one.
const (
	fronted    = 0.45 // share of the sites in it whose home page is German
	islands    = 0.35 // share that only German pages link to
	mixed      = 0.06 // share of their pages behind the home page that are German
	codePageOf = 1 << 40
)

// A codePage is how pages are written and what they declare; a site has one of those of its
// language.
type codePage struct {
	Encoding string // as WHATWG calls it; "": UTF-8
	Meta     string // charset in a META element, or ""
	Header   string // … in the header, or ""
	Lang     string // of the html element, or ""
}

// chooseLanguages chooses the sites in the town's other language.
func (t *Town) chooseLanguages() {
	if t.o.Language == "" {
		return
	}
	for i := range t.sites {
		s := &t.sites[i]
		d := t.dice(topicLanguage, uint64(i))
		switch s.kind {
		case portal, newspaper, directory, calendar:
		default:
			s.foreign = d.chance(t.o.Foreign)
		}
		s.fronted, s.island = s.foreign && d.chance(fronted), s.foreign && d.chance(islands)
		switch {
		case s.behaviour >= broken || s.island:
		case s.foreign:
			t.abroad = append(t.abroad, int32(i))
		default:
			t.german = append(t.german, int32(i))
		}
	}
}

// isForeign reports whether a page is in the town's other language.
func (t *Town) isForeign(r ref) bool {
	s := &t.sites[r.site]
	switch {
	case !s.foreign:
		return false
	case r.page == homePage:
		return !s.fronted
	}
	d := t.dice(topicLanguage, uint64(r.site), uint64(r.page))
	return !d.chance(mixed)
}

// language returns the ISO 639-1 code of the page's text.
func (c *canvas) language() string {
	if c.foreign {
		return c.t.o.Language
	}
	return "de"
}

// inLanguage returns site s for a link, or in most cases another one if the
// link would leave the language of its site.
func (c *canvas) inLanguage(s int32) int32 {
	to, own := &c.t.sites[s], c.t.german
	if c.s.foreign {
		own = c.t.abroad
	}
	switch {
	case c.t.o.Language == "" || len(own) == 0 || s == c.at.site:
		return s
	case c.s.foreign && to.island, c.s.foreign != to.foreign && c.d.chance(c.t.o.LanguageLocality):
		return pick(&c.d, own)
	}
	return s
}

// CodePage returns how the page is written.
func (c *canvas) CodePage() codePage {
	switch {
	case c.foreign:
		d := c.t.dice(topicLanguage, uint64(c.at.site), codePageOf)
		return pick(&d, words().CodePages[c.t.o.Language])
	case c.s.latin1 && c.s.declares:
		return codePage{"iso-8859-1", "", "ISO-8859-1", "de"}
	case c.s.latin1:
		return codePage{"iso-8859-1", "", "", "de"}
	}
	return codePage{"", "utf-8", "utf-8", "de"}
}

var letters = regexp.MustCompile(`(\p{L}+)( ?)`)

// translate puts a word of the other language in the place of each word of s:
// always the same one for the same word. Like both languages it leaves no gaps.
func (t *Town) translate(s string) string {
	list := words().Languages[t.o.Language]
	return letters.ReplaceAllStringFunc(s, func(word string) string {
		h := fnv.New32a()
		h.Write([]byte(strings.TrimSuffix(word, " ")))
		return list[h.Sum32()>>8%uint32(len(list))]
	})
}

// encode returns a page as its site serves it. What the code page does not have
// becomes a reference.
func (p codePage) encode(page []byte) (body []byte, header http.Header, err error) {
	kind := "text/html"
	if p.Header != "" {
		kind += "; charset=" + p.Header
	}
	header = http.Header{"Content-Type": {kind}}
	if p.Encoding == "" {
		return page, header, nil
	}
	written, err := htmlindex.Get(p.Encoding)
	if err != nil {
		return nil, nil, err
	}
	body, err = encoding.HTMLEscapeUnsupported(written.NewEncoder()).Bytes(page)
	return body, header, err
}
