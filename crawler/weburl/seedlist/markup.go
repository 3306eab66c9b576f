package seedlist

import (
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// readMarkup finds the links of HTML, such as saved bookmarks, the outlines of OPML, and the
// entries of sitemaps and feeds.
func readMarkup(r io.Reader, found func(Found) error) error {
	tokens := html.NewTokenizer(r)
	tokens.SetMaxBuf(maxPiece)
	tokens.AllowCDATA(true)
	inside := false // an element whose text is an address
	for {
		link := ""
		switch tokens.Next() {
		case html.ErrorToken:
			switch err := tokens.Err(); {
			case errors.Is(err, io.EOF):
				return nil
			case errors.Is(err, html.ErrBufferExceeded):
				return errPiece
			default:
				return err
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			inside = false
			t := tokens.Token()
			link = linkOf(t)
			if link == "" && (t.Data == "loc" || t.Data == "link") {
				inside = true
			}
		case html.TextToken:
			if inside {
				link, inside = string(tokens.Text()), false
			}
		case html.EndTagToken:
			inside = false
		}
		// without a scheme it is relative to a page
		link = address(link)
		if !absolute.MatchString(link) {
			continue
		}
		if err := found(Found{URL: link}); err != nil {
			return err
		}
	}
}

// linkOf returns the address of a page that an element states, or "".
func linkOf(t html.Token) string {
	of := func(key string) string {
		for _, a := range t.Attr {
			if a.Key == key {
				return strings.TrimSpace(a.Val)
			}
		}
		return ""
	}
	switch t.Data {
	case "a":
		return of("href")
	case "link": // of Atom, and of HTML to the same page in another language
		if rel := of("rel"); (rel == "" || rel == "alternate") && !strings.Contains(of("type"), "xml") {
			return of("href")
		}
	case "outline":
		if site := of("htmlurl"); site != "" {
			return site
		}
		// the site of the feed
		if feed, err := url.Parse(of("xmlurl")); err == nil && feed.Host != "" {
			return feed.Scheme + "://" + feed.Host + "/"
		}
		return of("url")
	}
	return ""
}
