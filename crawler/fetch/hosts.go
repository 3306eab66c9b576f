package fetch

import (
	"fmt"
	"net/http"
	"strings"

	"gazehound/crawler/weburl"

	"golang.org/x/net/http/httpguts"
)

// A Host is what one host is sent beside the usual. No other host gets it, also
// not after a redirect: every request asks Options.Host for itself.
type Host struct {
	Header     http.Header // set over the usual fields
	Agent      string      // appended to the User-Agent
	User       string      // of basic authentication, or "": none
	Password   string
	AllowPlain bool // user and password may go over plain http, too
}

// Validate says which field cannot be sent. The fields that HTTP itself needs
// are not for configuration.
func (h Host) Validate() error {
	for name, values := range h.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("fetch: %q is no name of a header", name)
		}
		switch http.CanonicalHeaderKey(name) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Accept-Encoding",
			"User-Agent", "If-None-Match", "If-Modified-Since", "Range", "Authorization", "Proxy-Authorization":
			return fmt.Errorf("fetch: header %s is set by gazehound itself", name)
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return fmt.Errorf("fetch: header %s has a value that cannot be sent", name)
			}
		}
	}
	switch {
	case !httpguts.ValidHeaderFieldValue(h.Agent):
		return fmt.Errorf("fetch: user agent %q cannot be sent in a header", h.Agent)
	case strings.ContainsAny(h.User, ":\x00\r\n"):
		return fmt.Errorf("fetch: user %q cannot be sent: it has a colon or a line end", h.User)
	}
	return nil
}

// UserAgent names a program (such as gazehound/1.0), whom to write to and what the
// crawl is about, in ASCII as HTTP wants it; contact and region may be "".
func UserAgent(product, contact, region string) string {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' || r == '(' || r == ')' || r == ';' {
				return '_'
			}
			return r
		}, s)
	}
	switch {
	case contact != "":
		return fmt.Sprintf("%s (+%s; crawl of %s)", product, clean(contact), clean(region))
	case region != "":
		return fmt.Sprintf("%s (crawl of %s)", product, clean(region))
	}
	return product
}

// dress adds to request what its host alone gets.
func (c *Client) dress(request *http.Request, u weburl.URL) {
	if c.cookies != nil {
		c.cookies.send(request, u)
	}
	if c.options.Host == nil {
		return
	}
	h := c.options.Host(u)
	if h.Agent != "" {
		request.Header.Set("User-Agent", c.options.UserAgent+" "+h.Agent)
	}
	for name, values := range h.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if h.User != "" && (u.Scheme() == "https" || h.AllowPlain || weburl.IsLoopback(u.Hostname())) {
		request.SetBasicAuth(h.User, h.Password)
	}
}
