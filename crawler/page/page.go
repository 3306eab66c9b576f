// Package page parses a response: text, title, language, and links with the words that a reader
// sees on and around them. Start with [Parse].
package page

import (
	"net/http"
	"time"

	"gazehound/crawler/weburl"

	"golang.org/x/net/html"
)

// A Response is one HTTP exchange as it came from the web, a WARC file or a
// trace. Redirects are not followed: a Response with a 3xx status has Location.
type Response struct {
	URL      weburl.URL
	Status   int         // 100 to 599
	Header   http.Header // as received, bounded by the fetcher
	Body     []byte      // decoded (no content encoding), at most the fetcher's limit
	Raw      []byte      // the body as sent, if the fetcher keeps it; shorter if Cut
	Rendered []byte      // the document once its scripts had run, as HTML in UTF-8; nil: they did not
	Cut      bool        // the body goes on beyond what was kept
	Request  http.Header // as sent, or nil
	Missing  bool        // not in the archive that was read
	Location weburl.URL  // target of a redirect, or zero
	RemoteIP string      // address that answered, or "" (proxy, WARC)
	Fetched  time.Time
	Took     time.Duration // from request to the last byte of the body
	Parsed   *Page         // result of Parse for pages parsed before, as in a simulation; else nil
}

// Validators identify a version of a page, as its server sent them; both may be empty (RFC 9110,
// section 8.8).
type Validators struct{ ETag, Modified string }

const maxValidator = 256 // bytes; a longer one is not sent back

// Validators returns the validators of r.
func (r *Response) Validators() Validators {
	v := Validators{r.Header.Get("ETag"), r.Header.Get("Last-Modified")}
	if len(v.ETag) > maxValidator {
		v.ETag = ""
	}
	if len(v.Modified) > maxValidator {
		v.Modified = ""
	}
	return v
}

// A Page is a response parsed once. Everything after it shares Doc and Text.
type Page struct {
	URL       weburl.URL
	Title     string           // at most MaxTitle characters, white space folded
	Lang      string           // declared or detected ISO 639-1 code, or ""
	Charset   string           // of the body, such as "utf-8" or "windows-1252"
	Meta      string           // charset that a meta element declares, right or wrong, or ""
	Script    string           // "th" or "ja" by the script of the text, or ""
	Doc       *html.Node       // the tree, see markup.Parse; read-only
	Text      string           // visible text, one line per block (see markup.Text)
	Links     []Link           // in document order, each target once, at most MaxLinks
	Feeds     []weburl.URL     // RSS and Atom that link elements name, at most maxFeeds
	Left      map[string]int64 // links left out of Links, by reason: LeftNoFollow …; nil: none
	NoIndex   bool             // meta robots or X-Robots-Tag says noindex
	NoFollow  bool             // … nofollow: Links is empty
	NoArchive bool             // … noarchive: no copy may be kept
	Marks     []string         // what head and header say of the software that made it: see marks; bounded
	NoCopy    bool             // it named what was forgotten: no copy may be kept
	Reserved  bool             // rights to text and data mining are reserved (TDMRep: header or meta element)
	// NeedsScript: the text exists only after scripts have run. It is not set of Parsed pages of a simulation.
	NeedsScript bool
	Relevant    bool // a person has labelled it relevant, whatever a judge finds on it
}

// A Link is one hyperlink and the words a reader sees on and around it. The
// texts have folded white space.
type Link struct {
	From, To weburl.URL
	Anchor   string // words of the link or the alt texts of its images, at most MaxAnchor characters
	Title    string // title attribute, at most MaxAnchor characters
	Around   string // words before and after it, at most MaxAround characters: see Parse
	Split    int    // position of the link in Around: the bytes before it
	// Place is where the link stands on the page: its zone (ZoneMenu …) and its tag path, the
	// elements from the root to it with their ids and classes, "menu html body nav.top ul li a".
	// Those near the root are left out where it would be longer than MaxPlace bytes.
	Place string
}

// Bounds of a Page.
const (
	MaxTitle  = 300
	MaxLinks  = 2000
	MaxAnchor = 100
	MaxAround = 200
	MaxPlace  = 200 // bytes
)
